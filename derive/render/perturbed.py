"""What a perturbation of the flow does, as plain text and as a versioned JSON record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from derive.language import to_text
from derive.model.geometry import EUCLIDEAN
from derive.model.labels import taken_names
from derive.perturbed.drift import Drift
from derive.perturbed.momentum import OneSided
from derive.perturbed.record import Perturbation
from derive.render.labels import marked, said
from derive.render.phrases import output_lines, start_words
from derive.render.plain import page, shown, title
from derive.render.written_json import Record, brief_finding, json_text, named
from derive.verdict import Verdict

ADDED = {"decay": "weight decay", "momentum": "momentum", "step": "finite steps", "noise": "noise"}
HEADS = {
    "decay": "Weight decay: w' = sum_a lambda_a grad F_a - k(t) w",
    "momentum": "Momentum: lam w'' + w' = sum_a lambda_a grad F_a, from rest",
    "step": "A finite step: w+ = w - eta sum_a G_a grad F_a, with any gradient G = X^T r",
    "noise": "Noise in the row space: dw = sum_a (lambda dt + X^T sigma dB)_a grad F_a",
}
DRIFTS = {
    "decay": "drift: by kappa = int k(t) dt; of y, beside its steering g lambda",
    "momentum": "drift D: lam c'' + c' = lam D, lam y'' + y' = g lambda + lam D; p_t is p' of p",
    "step": "drift: c(w+) - c(w), and y(w+) - y(w), which is -eta g G to first order",
    "noise": "drift: by S = int X^T sigma sigma^T X dt; of y, beside what X^T steers",
}
SUMS = {
    "decay": ("c_inf - c(0) and xi are the integrals of k(t) times the drifts",),
    "momentum": (
        "c_inf - c(0) and xi are the integrals of mu D dt with mu = lam;",
        "under Nesterov's damping, w'' + (r/t) w' with r > 1, with mu = t/(r - 1)",
    ),
    "step": ("c_inf - c(0) is the sum of the drifts, xi of those of y with eta g G added",),
    "noise": ("c_inf - c(0) and xi are the accumulated drifts",),
}


def render_text(found: Perturbation, width: int = 80) -> str:
    """Return the record as text."""
    parts = (_model, _drift, _minimised, _where)
    taken = taken_names(found.derivation.parameterization)
    head = HEADS.get(found.by) or f"{said_together(found.kinds)}: {together(found.kinds)}"
    return page([[head], *(part(found) for part in parts)], width, taken)


def said_together(kinds: Sequence[str]) -> str:
    """Name several perturbations at once."""
    names = [ADDED[kind] for kind in kinds]
    return f"{', '.join(names[:-1])} and {names[-1]}".capitalize()


def together(kinds: Sequence[str]) -> str:
    """Return the equation of several at once."""
    decay, momentum = "decay" in kinds, "momentum" in kinds
    if "step" in kinds:
        force = "(sum_a G_a grad F_a + k w)" if decay else "sum_a G_a grad F_a"
        return f"w+ = w - eta {force}{' + mu (w - w_-)' * momentum}"
    if "noise" in kinds:
        left = "lam dw' + dw" if momentum else "dw"
        return f"{left} = sum_a (lambda dt + X^T sigma dB)_a grad F_a{' - k w dt' * decay}"
    return "lam w'' + w' = sum_a lambda_a grad F_a - k(t) w, from rest"


def _drift_of_several(kinds: Sequence[str]) -> str:
    if "step" in kinds and "momentum" in kinds:
        return "drift: c(w+) - c(w) - mu (c(w) - c(w_-)), the same of y; p_t is p - p_-"
    if "step" in kinds:
        return DRIFTS["step"]
    if "momentum" in kinds:
        return "drift D: lam c'' + c' = D, lam y'' + y' = g lambda + D; p_t is p' of p"
    return "drift: c', and y' beside what X^T steers; S is X^T sigma sigma^T X at a time"


def _sums_of_several(kinds: Sequence[str]) -> tuple[str, ...]:
    if "step" in kinds and "momentum" in kinds:
        return (
            "(1 - mu) (c_inf - c(0)) is the sum of the drifts, (1 - mu) xi of those of y",
            "with eta g G added",
        )
    if "step" in kinds:
        return SUMS["step"]
    if "momentum" in kinds:
        return (
            "c_inf - c(0) and xi are the time integrals of the drifts; where w'' + (r/t) w',",
            "r > 1, takes the place of lam w'' + w', of t/(r - 1) times these at lam = 1",
        )
    return ("c_inf - c(0) and xi are the time integrals of the drifts",)


def _model(v: Perturbation) -> Iterator[str]:
    yield "Parameterization beta = F(w)"
    yield from output_lines(v.derivation.parameterization)
    yield f"start w_0: {start_words(v.derivation.parameterization)}"
    if v.penalty is not None:
        yield f"decay by the penalty h = {shown(v.penalty)}: -k(t) grad h in place of -k(t) w"
    if v.derivation.direction is not None:
        yield "u = (u1, u2) in the plane of u and of what moves it"
        if v.by == "noise":
            yield "where u2 = 0, coordinate 2 stands for each direction across u"
    if v.derivation.kernel_factor is not None and v.by in ("step", "noise"):
        factor = marked(to_text(v.derivation.kernel_factor))
        yield f"weights are tied: G, lambda and sigma are divided by {factor} below"
    if v.derivation.parameterization.affine:
        yield "X below is X A, where beta = A beta' + b for the outputs beta' that are kept"


def _drift(v: Perturbation) -> Iterator[str]:
    yield title("Do laws c and dual coordinates y follow a system of their own?", v.verdict)
    if v.verdict is not Verdict.PROVED or v.degree is not None:
        yield said(v.closed.reason)
    if v.of_laws or v.of_dual:
        yield DRIFTS.get(v.by) or _drift_of_several(v.kinds)
    for x in (*v.of_laws, *v.of_dual):
        yield from _drift_lines(x)


def _drift_lines(x: Drift) -> Iterator[str]:
    yield f"{shown(x.symbol)} = {shown(x.quantity)}"
    closed = "" if x.in_laws is None or x.in_laws == x.change else f" = {shown(x.in_laws)}"
    yield f"  drift = {shown(x.change)}{closed}"
    if x.in_beta is not None:
        yield f"        = {shown(x.in_beta)} in beta and laws"


def _minimised(v: Perturbation) -> Iterator[str]:
    if not v.of_dual and not v.start:
        return
    yield title("What the limit minimises", v.minimised)
    warped = "" if v.derivation.hessian.verdict is Verdict.PROVED else "where g > 0, "
    if v.start:
        yield "weights exp(-kappa) v, where v follows gradient flow from w_0 in another time:"
        yield f"{warped}for finite kappa, a limit with X beta = y minimises the"
        yield "Q of the start exp(-kappa) w_0"
    elif not v.ends_on_leaf:
        yield "not known: the laws that tell the leaf at the end are not all known"
    else:
        yield "c(inf) = c_inf, and y(inf) - y(0) - xi is in the row space of X, where"
        yield from SUMS.get(v.by) or _sums_of_several(v.kinds)
        yield f"so {warped}a limit with X beta = y minimises there"
        yield "Q_(c_inf)(beta) - <y(0) + xi, beta>; Q_c is the potential of y on the leaf of c"
        if all(y.in_laws == 0 for y in v.of_dual):
            yield "xi = 0: only the laws move"
    yield from _effective(v)
    if "decay" in v.kinds:
        yield _kept_on(v)


def _effective(v: Perturbation) -> Iterator[str]:
    if v.effective is None:
        return
    of = "Q of that start" if v.start else "laws c_inf"
    if "step" in v.kinds:
        of = "laws after one step"
    yield f"{of}: {', '.join(f'{shown(s)} -> {shown(x)}' for s, x in v.effective.items())}"
    if "momentum" in v.kinds and "step" not in v.kinds:
        yield "Delta_c: the change of c, or of log |c| where that is given a side below"
    if v.by == "decay, noise":
        yield "kappa and S in it: the time integrals of k and of S"
    if v.Q is not None:
        yield f"Q = {shown(v.Q)}"
    if v.vanishing:
        yield "noise that does not stop, as of labels, takes that start to 0: derive regimes"


def _kept_on(v: Perturbation) -> str:
    """Say what becomes of decay that does not end."""
    if v.penalty is not None:
        return "kept on at k it ends at a critical point of L + k h, not at X beta = y"
    if v.derivation.parameterization.geometry == EUCLIDEAN:
        return "kept on at k it ends at a critical point of L + k |w|^2/2: see derive explicit"
    return "kept on at k it ends where sum_a lambda_a grad F_a = k w, not at X beta = y"


def _where(v: Perturbation) -> Iterator[str]:
    if v.by == "decay" or not (v.singular or v.one_sided or v.conditions):
        return
    yield "Where this holds"
    if v.conditions:
        yield f"steps with {'; '.join(f'{shown(x)} > 0' for x in v.conditions)}"
    elif v.singular:
        yield f"as long as {' and '.join(f'{shown(x)} != 0' for x in v.singular)}"
    if "momentum" in v.kinds and v.singular:
        yield _left_at_zero(v)
    yield from map(_side, v.one_sided)


def _side(x: OneSided) -> str:
    """Say to which side a law changes, and while what holds."""
    held = [f"{marked(w)} > 0" for w in x.positive]
    held += [f"{shown(x.law)} != 0"] if x.in_logarithm else []
    side = "grows" if x.side > 0 else "falls"
    condition = f" while {', '.join(held)}" if held else ""
    return f"{shown(x.quantity)} {side}{condition}: its drift is {shown(x.change)}"


def _left_at_zero(v: Perturbation) -> str:
    """Say which drifts are exact through a zero, which momentum may cross."""
    regular = [shown(x.symbol) for x in (*v.of_laws, *v.of_dual) if x.regular]
    left = f"{', '.join(regular)} and no Q" if regular else "nothing"
    return f"a weight may cross 0 under momentum; of the above, {left} is left then"


def render_json(found: Perturbation) -> str:
    """Return the record as JSON text; expressions are strings."""
    p = found.derivation.parameterization
    effective = None if found.effective is None else named(found.effective.items())
    record: Record = {
        "by": found.by,
        "penalty": found.penalty,
        "verdict": found.verdict,
        "outputs": p.trees,
        "start": dict(p.start),
        "laws": [_drift_record(x) for x in found.of_laws],
        "dual": [_drift_record(x) for x in found.of_dual],
        "closed": brief_finding(found.closed),
        "minimised": found.minimised,
        "effective": effective,
        "effective_start": dict(found.start),
        "Q": found.Q,
        "one_sided": [_side_record(x) for x in found.one_sided],
        "conditions": found.conditions,
        "singular": found.singular,
    }
    return json_text("perturbation", record)


def _drift_record(x: Drift) -> Record:
    return {
        "name": x.symbol,
        "quantity": x.quantity,
        "drift": x.change,
        "in_laws": x.in_laws,
        "in_beta": x.in_beta,
        "regular": x.regular,
        **brief_finding(x.finding),
    }


def _side_record(x: OneSided) -> Record:
    given = {"law": x.law, "quantity": x.quantity, "drift": x.change}
    return given | {"side": x.side, "while_positive": x.positive}
