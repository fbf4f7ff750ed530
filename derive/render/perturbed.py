"""What a perturbation of the flow does, told, and as a versioned JSON record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Expr, Symbol

from derive.model.geometry import EUCLIDEAN
from derive.model.labels import taken_names
from derive.perturbed.decay import STEERING
from derive.perturbed.drift import SLOPE, Drift
from derive.perturbed.momentum import OneSided
from derive.perturbed.record import Perturbation
from derive.render.narration import Narration, Part, part
from derive.render.written_json import Record, brief_finding, json_text, named
from derive.statement import Equations, OnTerminal, Sentence, each, tell
from derive.verdict import Identity, Verdict

ADDED = {"decay": "weight decay", "momentum": "momentum", "step": "finite steps", "noise": "noise"}
HEADS = {
    "decay": ("Weight decay", "`w' = sum_a lambda_a grad F_a - k(t) w`"),
    "momentum": ("Momentum", "`lam w'' + w' = sum_a lambda_a grad F_a`, from rest"),
    "step": (
        "A finite step",
        "`w_next = w - eta sum_a G_a grad F_a`, with any gradient `G = X^T r`",
    ),
    "noise": ("Noise in the row space", "`dw = sum_a (lambda dt + X^T sigma dB)_a grad F_a`"),
}
SENSE = {
    "decay": "per unit of `kappa = int k(t) dt`, those of `y` beside their steering `g lambda`",
    "momentum": "in the sense of `lam c'' + c' = lam Delta c` and"
    " `lam y'' + y' = g lambda + lam Delta y`, where `w_t = w'` is the velocity of a weight `w`",
    "step": "where `Delta c = c(w_next) - c(w)`, and `Delta y = y(w_next) - y(w)`,"
    " which is `-eta g G` to first order",
    "noise": "per unit of `S = int X^T sigma sigma^T X dt`, those of `y` beside what `X^T` steers",
}
"""What the drifts are."""
ASKED = "Do laws `c` and dual coordinates `y` drift by functions of `c` alone?"
STEERED = "Does the penalty move the weights as a loss of `beta` does?"
OPEN = {Verdict.UNDECIDED: "that they are functions of the laws was not proved: "}
DIFFERENCE = "`c_inf - c(0)`"
SUMS = {
    "decay": f"{DIFFERENCE} and `xi` are the integrals of `k(t)` times the drifts",
    "momentum": (
        f"{DIFFERENCE} and `xi` are the time integrals of `mu` times the drifts with `mu = lam`;"
        " under Nesterov's damping, `w'' + (r/t) w'` with `r > 1`, with `mu = t/(r - 1)`"
    ),
    "step": f"{DIFFERENCE} is the sum of the drifts, `xi` of those of `y` with `eta g G` added",
    "noise": f"{DIFFERENCE} and `xi` are the accumulated drifts",
}
LONGEST = 1500
"""Characters of a drift that is written out."""
RESTS = (
    "both where the flow comes to rest, with `w' -> 0`, or with `t w' -> 0`: where `K` is positive"
    " definite at the limit `w'` falls as `t^(-r/2)` in the linearised flow, so for `r > 2`"
)
KEPT = "decay kept on at `k` ends"


def tell_perturbation(v: Perturbation) -> Narration:
    """Return what is said of a perturbation."""
    heading, flow = HEADS.get(v.by) or _together(v.kinds)
    parts = (
        Part(heading, (flow, *_below(v))),
        Part("Parameterization `beta = F(w)`", (v.derivation,)),
        part(
            STEERED if v.closed == STEERING else ASKED,
            _drift(v),
            verdict=v.verdict,
            label="thm:perturbed",
            title="Drift of laws and dual coordinates",
        ),
        part("What the limit minimises", _minimised(v), verdict=v.minimised),
        part("Where this holds", _where(v)),
    )
    return Narration(parts, taken_names(v.derivation.parameterization))


def _together(kinds: Sequence[str]) -> tuple[str, str]:
    """Name several perturbations at once, with their equation."""
    *most, last = (ADDED[kind] for kind in kinds)
    name = f"{', '.join(most)} and {last}".capitalize()
    decay, momentum = "decay" in kinds, "momentum" in kinds
    if "step" in kinds:
        force = "(sum_a G_a grad F_a + k w)" if decay else "sum_a G_a grad F_a"
        return name, f"`w_next = w - eta {force}{' + mu (w - w_before)' * momentum}`"
    if "noise" in kinds:
        left = "lam dw' + dw" if momentum else "dw"
        noise = "sum_a (lambda dt + X^T sigma dB)_a grad F_a"
        return name, f"`{left} = {noise}{' - k w dt' * decay}`"
    return name, "`lam w'' + w' = sum_a lambda_a grad F_a - k(t) w`, from rest"


def _sense_of_several(kinds: Sequence[str]) -> str:
    if "momentum" not in kinds:
        beside = "`Delta y` is `y'` beside what `X^T` steers, and `S = X^T sigma sigma^T X`"
        return SENSE["step"] if "step" in kinds else f"where `Delta c` is `c'`, {beside}"
    if "step" in kinds:
        change = "`Delta c = c(w_next) - c(w) - mu (c(w) - c(w_before))`"
        return f"where {change}, `Delta y` likewise, and `w_t = w - w_before`"
    return SENSE["momentum"].replace("lam Delta", "Delta")


def _sums_of_several(kinds: Sequence[str]) -> str:
    if "step" in kinds and "momentum" in kinds:
        laws = "`(1 - mu) (c_inf - c(0))` is the sum of the drifts"
        return f"{laws}, `(1 - mu) xi` of those of `y` with `eta g G` added"
    if "step" in kinds:
        return SUMS["step"]
    integrals = f"{DIFFERENCE} and `xi` are the time integrals of the drifts"
    if "momentum" in kinds:
        place = "where `w'' + (r/t) w'`, `r > 1`, takes the place of `lam w'' + w'`"
        return f"{integrals}; {place}, of `t/(r - 1)` times these at `lam = 1`"
    return integrals


def _below(v: Perturbation) -> Iterator[object]:
    """Yield what is meant by letters in the statements below."""
    d = v.derivation
    if v.penalty is not None:
        by = "decay by the penalty `h = {h}`: `-k(t) grad h` in place of `-k(t) w`"
        yield tell(by, h=v.penalty)
    if d.direction is not None:
        u, a, b = (Symbol(f"{d.direction.vector}{i}") for i in ("", 1, 2))
        yield tell("`{u} = ({a}, {b})` in the plane of `{u}` and of what moves it", u=u, a=a, b=b)
        if v.by == "noise":
            yield tell("where `{b} = 0`, coordinate 2 is any across `{u}`", u=u, b=b)
    if d.parameterization.affine:
        yield "`X` below is `X M`, where `beta = M beta' + b` for the outputs `beta'` that are kept"


def _drift(v: Perturbation) -> Iterator[object]:
    drifts = (*v.of_laws, *v.of_dual)
    if drifts:
        yield "the laws and the dual coordinates of gradient flow itself,"
        yield Equations(tuple((x.symbol, x.quantity) for x in drifts))
        yield "drift here by"
        rows = {x.symbol: [r for r in _rows(x) if len(str(r[1])) < LONGEST] for x in drifts}
        yield Equations(tuple(row for short in rows.values() for row in short))
        if left := [(c,) for c, short in rows.items() if not short]:
            yield tell("too long to be written here: {them}", them=each("`Delta {0}`", left))
            yield OnTerminal(("--json has them",))
        yield SENSE.get(v.by) or _sense_of_several(v.kinds)
        yield tell(f"{OPEN.get(v.verdict, '')}{{why}}", why=v.closed)
        yield from map(_fails, [e for e in v.closed.evidence if not e.holds][:1])
    else:
        yield v.closed


def _fails(e: Identity) -> Sentence:
    """Say at which weights a drift f changes with beta; its slope may be cleared of poles."""
    at = each("`{0} = {1}`", ((Symbol(name), x) for name, x in e.point))
    along = "".join(f", differentiated along `{name}`" for name in e.derivative)
    slope = f"`<grad f, grad F_j>`{e.statement.removeprefix(SLOPE)}{along} is `{{value}}`"
    return tell(f"for that drift `f` and some `j`, {slope} at {{at}}", value=e.residual, at=at)


def _rows(x: Drift) -> Iterator[tuple[object, Expr]]:
    """Yield a drift in the weights, and in laws and in beta where it is known so."""
    name = tell("`Delta {c}`", c=x.symbol)
    yield name, x.change
    if x.in_laws is not None and x.in_laws != x.change:
        yield name, x.in_laws
    if x.in_beta is not None:
        yield name, x.in_beta


def _minimised(v: Perturbation) -> Iterator[object]:
    if not v.of_dual and not v.start:
        return
    warped = "" if v.derivation.hessian.verdict is Verdict.PROVED else "where `g > 0`, "
    if v.start:
        yield "`w` is `exp(-kappa)` times what gradient flow from `w_0` reaches in another time:"
        limit = "for finite `kappa`, a limit with `X beta = y` minimises the"
        yield f"{warped}{limit} `Q` of the start `exp(-kappa) w_0`"
    elif not v.ends_on_leaf:
        yield "not known: the laws that tell the leaf at the end are not all known"
    else:
        ends = "at the end `c = c_inf`, and `y - y(0) - xi` is in the row space of `X`, where"
        yield f"{ends} {SUMS.get(v.by) or _sums_of_several(v.kinds)}"
        minimised = "`Q_(c_inf)(beta) - <y(0) + xi, beta>`"
        leaf = "`Q_c` is the potential of `y` on the leaf of `c`"
        yield f"so {warped}a limit with `X beta = y` minimises there {minimised}; {leaf}"
        if "momentum" in v.kinds and "step" not in v.kinds:
            yield RESTS
        if all(y.in_laws == 0 for y in v.of_dual):
            moving = any(c.change != 0 for c in v.of_laws)
            yield f"here `xi = 0`{': only the laws move' * moving}"
    yield from _effective(v)
    if "decay" in v.kinds:
        yield _kept_on(v)
        if _is_ridge(v):
            yield OnTerminal(("more of it: derive explicit",))


def _effective(v: Perturbation) -> Iterator[object]:
    if v.effective is None or all(s == x for s, x in v.effective.items()):
        return
    of = "`Q` of that start" if v.start else "laws `c_inf`"
    if "step" in v.kinds:
        of = "laws after one step"
    yield tell(f"{of}: {{moved}}", moved=each("`{0} -> {1}`", v.effective.items()))
    if v.by == "decay, noise":
        yield "`kappa` and `S` in it: the time integrals of `k` and of `S`"
    if "momentum" in v.kinds and "step" not in v.kinds:
        yield "`Delta_c`: the change of `c`, or of `log |c|` where that is given a side below"
    if v.Q is not None:
        yield Equations((("Q", v.Q),))
    if v.vanishing:
        yield "noise that does not stop, as of labels, takes that start to 0"
        yield OnTerminal(("what is known there: derive regimes",))


def _is_ridge(v: Perturbation) -> bool:
    """Tell whether decay adds a multiple of |w|^2 to the loss."""
    return v.penalty is None and v.derivation.parameterization.geometry == EUCLIDEAN


def _kept_on(v: Perturbation) -> str:
    """Say what becomes of decay that does not end."""
    if v.penalty is not None:
        return f"{KEPT} at a critical point of `L + k h`, not at `X beta = y`"
    if _is_ridge(v):
        return f"{KEPT} at a critical point of `L + k |w|^2/2`"
    return f"{KEPT} where `sum_a lambda_a grad F_a = k w`, not at `X beta = y`"


def _where(v: Perturbation) -> Iterator[object]:
    if v.by == "decay":
        return
    if v.conditions:
        yield tell("steps with {all}", all=each("`{0} > 0`", ((x,) for x in v.conditions), "; "))
    elif v.singular:
        signs = each("`{0} != 0`", ((x,) for x in v.singular), " and ")
        yield tell("as long as {signs}", signs=signs)
    if "momentum" in v.kinds and v.singular:
        yield _left_at_zero(v)
    yield from map(_side, v.one_sided)


def _side(x: OneSided) -> Sentence:
    """Say to which side a law changes, and while what holds."""
    held = [tell("`{w} > 0`", w=Symbol(w)) for w in x.positive]
    held += [tell("`{c} != 0`", c=x.law)] if x.in_logarithm else []
    condition = each("{0}", ((h,) for h in held))
    side = f"{'grows' if x.side > 0 else 'falls'}{' while {held}' if held else ''}"
    words = f"`{{q}}` {side}: its drift is `{{drift}}`"
    return tell(words, q=x.quantity, held=condition, drift=x.change)


def _left_at_zero(v: Perturbation) -> Sentence:
    """Say which drifts are exact through a zero, which momentum may cross."""
    regular = each("`{0}`", ((x.symbol,) for x in (*v.of_laws, *v.of_dual) if x.regular))
    left = "{regular} is left then, and `Q` is not" if regular.words else "nothing is left then"
    words = f"a weight may cross 0 under momentum; of the above, {left}"
    return tell(words, regular=regular)


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
