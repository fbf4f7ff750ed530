"""What is claimed of a perturbed flow, each with its conditions and its ground."""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy import Expr, Symbol

from derive.model.geometry import EUCLIDEAN
from derive.model.labels import Letter
from derive.perturbed.continuous import OneSided
from derive.perturbed.coordinates import MIRROR
from derive.perturbed.drift import SLOPE, Drift
from derive.perturbed.record import Perturbation
from derive.perturbed.step import is_curved
from derive.statement import Equations, Note, OnTerminal, Open, Statement, each, note, tell
from derive.verdict import Identity, Verdict

LONGEST = 1500
"""Characters of a drift that is written out."""
SENSE = {
    "decay": "per unit of `kappa = int k(t) dt`, those of `y` beside their steering `g lambda`",
    "momentum": "in the sense of `lam c'' + c' = lam Delta c` and"
    " `lam y'' + y' = g lambda + lam Delta y`, where letters with `_t` are velocities of weights",
    "step": "where `Delta c = c(w_next) - c(w)`, and `Delta y = y(w_next) - y(w)`,"
    " which is `-eta g G` to first order",
    "noise": "to first order in the growth `S` of `int X^T sigma sigma^T X dt`, those of `y` beside"
    " what `X^T` steers",
}
"""What the drifts are."""
SUMS = {
    "decay": "`xi` is the integral of `k(t) Delta y`{c}",
    "momentum": (
        "`xi` is the time integral of `lam Delta y`{c}; under Nesterov's damping,"
        " `{x}'' + (r/t) {x}'` with `r > 1`, `t/(r - 1)` takes the place of `lam`"
    ),
    "step": "`xi` is the sum of all `Delta y + eta g G`{c}",
    "noise": "`xi` is the accumulated `Delta y`{c}",
}
"""What they add up to."""

UNTOLD = {
    Verdict.REFUTED: "nothing, for all data: there is no `Q`",
    Verdict.UNDECIDED: "not known: the laws and dual coordinates that tell it are not all followed",
}
"""Why it is not said what a limit minimises."""


def statements(v: Perturbation) -> tuple[Statement | Open, ...]:
    """Return all that is claimed of a perturbed flow, in the order in which it is told."""
    told = (
        _drift(v),
        _closed(v),
        _limit(v),
        _effective(v),
        _in_other_metric(v),
        _annealed(v),
        _kept_on(v),
    )
    sides = map(_side, v.one_sided)
    return tuple(s for found in (*told, _crossing(v), _rest(v), sides) for s in found)


def coordinates(v: Perturbation) -> str:
    """Return what moves straight in a process: the weights, or theta."""
    return "theta" if v.process == MIRROR else "w"


def _drift(v: Perturbation) -> Iterator[Statement | Open]:
    drifts = (*v.of_laws, *v.of_dual)
    if not drifts:
        return
    size = {sympy.Abs(x): x for x in v.conditions}
    rows = {
        x.symbol: [(a, b.xreplace(size)) for a, b in _rows(x) if len(str(b)) < LONGEST]
        for x in drifts
    }
    below: list[object] = [
        Equations(tuple((x.symbol, x.quantity) for x in drifts)),
        note("drift here by"),
        Equations(tuple(row for short in rows.values() for row in short)),
    ]
    if left := [(c,) for c, short in rows.items() if not short]:
        below += [
            note("too long to be written here: {them}", them=each("`Delta {0}`", left)),
            OnTerminal(("--json has them",)),
        ]
    below.append(note(SENSE.get(v.by) or _sense_of_several(v.kinds)))
    words, why = "the laws and the dual coordinates of gradient flow itself,", tuple(_expansion(v))
    given = [tell("`{0} != 0`", **{"0": x}) for x in v.generic]
    given += [tell("`{0} > 0`", **{"0": x}) for x in v.conditions]
    given += [tell(words, **{"0": x}) for words, x in _kept_away(v)]
    yield Statement(words, kind="drift", conditions=tuple(given), below=tuple(below), proof=why)


def _kept_away(v: Perturbation) -> Iterator[tuple[str, Expr]]:
    """Yield what is to have no zero on the way: of steps where none of both ends tells that."""
    stepping = "step" in v.kinds
    if v.start or (v.conditions and not stepping):
        return
    words = "`{0}` has no zero between `w` and `w_next`" if stepping else "`{0} != 0` all along"
    yield from ((words, x) for x in v.singular if not stepping or is_curved(x))


def _expansion(v: Perturbation) -> Iterator[object]:
    """Yield how a function of the weights changes: by what steers, and by what is expanded."""
    if v.by == "decay" and v.penalty is None:
        yield note("along the flow a function `f` of the weights changes by")
        change = "sum_a lambda_a <grad f, grad F_a> - k(t) <df, w>"
        yield Equations((("f'", tell(f"`{change}`")),))
        yield note("the sum is `0` for `c`, `g lambda_i` for `y_i`; the rest is expanded above")
    if v.by == "noise" and v.process != MIRROR:
        yield note("by the formula of Ito a function `f` of the weights changes by")
        steered = "sum_a <grad f, grad F_a> (lambda dt + X^T sigma dB)_a"
        second = "sum_(a,b) <grad F_a, (D^2 f) grad F_b> dS_(a,b)/2"
        yield Equations((("df", tell(f"`{steered} + {second}`")),))
        yield note("with `D^2 f` the second derivatives in `w`")
        yield note(
            "the first sum is `0` for `c`, what steers for `y`; the second is expanded above"
        )


def _rows(x: Drift) -> Iterator[tuple[object, Expr]]:
    """Yield a drift in the weights, and in laws and in beta where it is known so."""
    name = tell("`Delta {c}`", c=x.symbol)
    yield name, x.change
    if x.in_laws is not None and x.in_laws != x.change:
        yield name, x.in_laws
    if x.in_beta is not None:
        yield name, x.in_beta


def _sense_of_several(kinds: tuple[str, ...]) -> str:
    if "momentum" not in kinds:
        beside = "`Delta y` is `y'` beside what `X^T` steers, and `S = X^T sigma sigma^T X`"
        return SENSE["step"] if "step" in kinds else f"where `Delta c` is `c'`, {beside}"
    if "step" in kinds:
        change = "`Delta c = c(w_next) - c(w) - mu (c(w) - c(w_before))`"
        return f"where {change}, `Delta y` likewise, and letters with `_t` are `w - w_before`"
    return SENSE["momentum"].replace("lam Delta", "Delta")


def _closed(v: Perturbation) -> Iterator[Statement | Open]:
    kind = "closed drift"
    if v.closed.verdict is Verdict.UNDECIDED:
        yield Open(
            "that they are functions of the laws was not proved: {why}",
            {"why": v.closed},
            kind=kind,
        )
        return
    words, below = "{why}", [_fails(e) for e in v.closed.evidence if not e.holds][:1]
    if below and v.derivation.parameterization.parameters:
        words += "; so for all parameters but isolated ones"
    yield Statement(words, {"why": v.closed}, kind=kind, by=v.closed, below=tuple(below))


def _fails(e: Identity) -> Note:
    """Say at which weights a drift f changes with beta; its slope may be cleared of poles."""
    at = each("`{0} = {1}`", ((Symbol(name), x) for name, x in e.point))
    along = "".join(f", differentiated along `{name}`" for name in e.derivative)
    slope = f"`<grad f, grad F_j>`{e.statement.removeprefix(SLOPE)}{along} is `{{value}}`"
    return note(f"for that drift `f` and some `j`, {slope} at {{at}}", value=e.residual, at=at)


def _limit(v: Perturbation) -> Iterator[Statement | Open]:
    kind = "perturbed limit"
    if not v.of_dual and not v.start:
        return
    if v.minimised is not Verdict.PROVED:
        yield Open(UNTOLD[v.minimised], kind=kind)
        return
    given = [tell("`X beta = y` in the limit")]
    if v.derivation.hessian.verdict is not Verdict.PROVED:
        given.append(tell("`g > 0`"))
    if v.start:
        given.append(tell("`kappa` is finite"))
        m = sympy.S.One if v.degree is None else v.degree
        size = "" if m == 1 else "{size} "
        moved = f"`z' = {size}sum_a lambda_a grad F_a` at `z`, and `z(0) = w_0`"
        of, z = tell("`exp(-kappa) w_0`"), "`w = exp(-kappa) z`"
        if v.penalty is not None:
            of = each("`{0} = {1}`", ((Symbol(w), x) for w, x in v.start))
            z = "`w` is where `-grad h` takes `z` in the time `kappa`"
        words = "the limit minimises the `Q` of the start {of}"
        shrunk = f"{z}, where {{moved}}: steered in the row space, as gradient flow is"
        scale = sympy.exp((1 - m) * Letter("kappa"))
        below = (note(shrunk, moved=tell(moved, size=scale)),)
        yield Statement(words, {"of": of}, kind=kind, conditions=tuple(given), below=below)
        return
    if v.has_velocities:
        given.append(tell(f"`{coordinates(v)}' -> 0`, or `t {coordinates(v)}' -> 0` under r/t"))
    if v.is_steered and all(c.still for c in v.of_laws):
        least = "`Q` itself, as that of gradient flow"
        ends = [note("here neither `c` nor `y` drifts beside what steers")]
    else:
        least, ends = "`Q_(c_inf)(beta) - <y(0) + xi, beta>`", [*_ends(v)]
    if not v.of_laws:
        least = least.replace("Q_(c_inf)(beta)", "Q(beta)")
    words = f"the limit minimises {least}"
    yield Statement(words, kind=kind, conditions=tuple(given), below=tuple(ends))


def _ends(v: Perturbation) -> Iterator[Note]:
    """Yield the leaf on which Q is that, and what c_inf and xi add up from."""
    leaf, end, law = "`Q` is the potential of `y`", "at the end ", ""
    if v.of_laws:
        leaf, end = (
            "`Q_c` is the potential of `y` on the leaf of `c`",
            "at the end `c = c_inf`, and ",
        )
        law = ", `c_inf - c(0)` likewise of `Delta c`"
    sums = (SUMS.get(v.by) or _sums_of_several(v)).replace("{x}", coordinates(v))
    yield note(leaf)
    yield note(f"{end}`y - y(0) - xi` is in the row space of `X`, where {sums.replace('{c}', law)}")
    if v.is_steered:
        yield note("here `xi = 0`: only the laws move")


def _sums_of_several(v: Perturbation) -> str:
    if "step" in v.kinds:
        return SUMS["step"].replace("`xi`", "`(1 - mu) xi`" if "momentum" in v.kinds else "`xi`")
    integrals = "`xi` is the time integral of `Delta y`{c}"
    if "momentum" in v.kinds:
        place = "where `{x}'' + (r/t) {x}'`, `r > 1`, takes the place of `lam {x}'' + {x}'`"
        return f"{integrals}; {place}, of `t/(r - 1)` times this at `lam = 1`"
    return integrals


def _effective(v: Perturbation) -> Iterator[Statement]:
    """Yield the start of gradient flow with the laws at the end, and with y shifted by xi."""
    left, xi = any(v.shift or ()), each("`{0}`", ((x,) for x in v.shift or ()))
    kept = v.effective is None or all(s == x for s, x in v.effective.items())
    if v.effective is None or (kept and not left):
        return
    below: list[object] = [note(words) for words in _letters_of(v)]
    if left and not kept:
        below.append(note("`y(0) + xi` is `y(0)` of that start and {xi}", xi=xi))
    if v.formula:
        below.append(Equations(v.formula))
    moved = each("`{0} -> {1}`", v.effective.items())
    words = "`xi` is constant: {xi}" if kept else f"{_of_start(v)}: {{moved}}"
    given = (tell("`c_inf` has the sign of `c(0)`"),) * (v.has_velocities and not kept)
    values = {"moved": moved, "xi": xi}
    yield Statement(words, values, kind="start of the end", conditions=given, below=tuple(below))


def _of_start(v: Perturbation) -> str:
    """Return what the effective start is that of."""
    if v.start:
        return "the `Q` of that start"
    if "step" in v.kinds:
        return "after one step `c` is `c(0)` of the start"
    if v.shifted and not v.is_steered:
        law, of = ("`c_inf` is `c(0)`, and ", ",") if v.of_laws else ("", "")
        return f"{law}`y(0) + xi` is `y(0)`{of} of the start"
    return "`c_inf` is `c(0)` of the start"


def _letters_of(v: Perturbation) -> Iterator[str]:
    """Yield what letters in the effective start are."""
    if v.by == "decay, noise":
        yield "`kappa` and `S` in it: the time integrals of `k` and of `S`"
    if v.has_velocities:
        yield "`Delta_c`: the change of `c`, or of `log |c|` where that is given a side below"


def _in_other_metric(v: Perturbation) -> Iterator[Statement]:
    """Say that decay does more than shrink the start, and which decay in which metric does not."""
    if v.grading is None:
        return
    pairs = [(w, x, sympy.Abs(w)) for w, x in v.grading.items()]
    h = sympy.Add(*(x**2 * size ** (1 / x) for _, x, size in pairs))
    rates = each("`{0}` of `{1}`", ((size ** (2 - 1 / x), w) for w, x, size in pairs))
    yield Statement(
        "this decay does more than shrink the start: for `w = exp(-kappa) z` it is"
        " `z' = exp(kappa) J(exp(-kappa) z)^T lambda`, of which the rates change with `kappa`;"
        " under the rates {rates} decay by the penalty `h = {h}` shrinks the start and does"
        " nothing else, by `F(exp(kappa Lambda) w) = exp(kappa) F(w)`: a limit with"
        " `X beta = y` minimises the `Q` of these rates and of the start `exp(-kappa Lambda) w_0`,"
        " if `Lambda` is diagonal with entries {lam}",
        {"rates": rates, "h": h, "lam": each("`{1}` for `{0}`", v.grading.items())},
        kind="decay metric",
        conditions=("`kappa` is finite", "the weights keep their signs"),
    )


def _annealed(v: Perturbation) -> Iterator[Statement]:
    if not v.vanishing:
        return
    yield Statement(
        "noise that does not stop, as of labels, takes that start to 0",
        kind="noise that stays",
        conditions=(tell("every variance in `S` grows without bound"),),
    )
    if v.annealed is None:
        return
    (b,) = v.derivation.beta
    letter = Letter("S")
    h = sympy.factor_terms(v.annealed)
    weight = "`S_j = int sum_i X_ij^2 sigma_i^2 dt` of noise `sigma_i` in sample `i`"
    words = (
        "of copies `j` the limits tend to minimisers of `sum_j h(s_j, {b}_j)`, `h(S, {b}) = {h}`"
    )
    yield Statement(
        words,
        {"b": b, "h": h, "S": letter},
        kind="annealed noise",
        conditions=(
            tell("`S_j = s_j T` with `T -> infinity`"),
            tell("the noise then stops"),
            tell("`X {b} = y` in the limit", b=b),
        ),
        below=(note(f"{weight}: the columns of `X` have weights of their own"),),
    )


def _kept_on(v: Perturbation) -> Iterator[Statement]:
    """Yield what becomes of decay that does not end."""
    if "decay" not in v.kinds:
        return
    given = [tell("`k(t) = k > 0` does not end"), tell("`w` converges")]
    if "noise" in v.kinds:
        given.append(tell("the noise ends"))
    if v.penalty is not None:
        words = "the end is a critical point of `L + k h`"
    elif is_ridge(v):
        words = "the end is a critical point of `L + k |w|^2/2`"
    else:
        words = "at the end `sum_a lambda_a grad F_a = k w`"
    more = (OnTerminal(("more of it: derive explicit",)),) if is_ridge(v) else ()
    yield Statement(words, kind="decay kept on", conditions=tuple(given), below=more)


def is_ridge(v: Perturbation) -> bool:
    """Tell whether decay adds a multiple of |w|^2 to the loss."""
    return v.penalty is None and v.derivation.parameterization.geometry == EUCLIDEAN


def _crossing(v: Perturbation) -> Iterator[Statement]:
    """Yield which drifts are exact through a zero, which momentum may cross."""
    if "momentum" not in v.kinds or not v.singular or v.process == MIRROR:
        return
    regular = each("`{0}`", ((x.symbol,) for x in (*v.of_laws, *v.of_dual) if x.regular))
    signs = each("`{0} = 0`", ((x,) for x in v.singular), " or ")
    left = "the drift of {regular} holds through that, and `Q` is lost"
    lost = "nothing that is followed holds through that"
    words = f"momentum may pass {{signs}}: {left if regular.words else lost}"
    yield Statement(words, {"regular": regular, "signs": signs}, kind="crossing")


def _rest(v: Perturbation) -> Iterator[Statement]:
    if not (v.has_velocities and v.of_dual):
        return
    x = coordinates(v)
    words = f"under Nesterov's damping the flow linearised there has `{x}'` of order `t^(-r/2)`"
    given = (tell("`X K X^T` is positive definite at the limit"), tell("`r > 2`"))
    yield Statement(f"{words}: `t {x}' -> 0`", kind="damped rest", conditions=given)


def _side(x: OneSided) -> Statement:
    """Say to which side a law changes, and while what holds."""
    held = [tell("`{w} > 0`", w=Symbol(w)) for w in x.positive]
    held += [tell("`{c} != 0`", c=x.law)] if x.in_logarithm else []
    words = f"`{{q}}` {'grows' if x.side > 0 else 'falls'}: its drift is `{{drift}}`"
    values = {"q": x.quantity, "drift": x.change}
    return Statement(words, values, kind="one side", conditions=tuple(held))
