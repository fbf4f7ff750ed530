"""What is claimed of gradient flow on separable data, each with its conditions and its ground.

Conditions of the cited theorems that are decided for F stand as proved below the statement; those
of the loss and of the data stand in front of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from derive.claims import assumed, entries_of, graded, introduction, warp_factor
from derive.derivation import Derivation
from derive.limits.limit import growth_expression
from derive.model.labels import Letter
from derive.separable.far import Far
from derive.separable.horizon import SOURCE, Horizon, Hypothesis
from derive.separable.scaled_start import ScaledStart
from derive.separable.weights_problem import (
    FORMAL,
    GRADED,
    HOMOGENEOUS,
    STEEPEST,
    BlockCost,
    WeightsProblem,
    is_polynomial,
)
from derive.statement import Equations, Ground, Items, Open, Sentence, Statement, each, note, tell
from derive.verdict import Finding, Verdict

C = Letter("c", positive=True)
LINEAR = "Soudry et al. 2018"
"""Who proved what linear models tend to."""
TAIL = "the loss decreases like `exp(-u)` and `X` is separable"


def every_time(d: Derivation, found: Finding) -> Statement | Open:
    """Return what beta(t) minimises."""
    if found.verdict is Verdict.UNDECIDED:
        return Open("{why}", {"why": found}, kind="every time")
    if found.verdict is Verdict.REFUTED:
        return Statement("{why}", {"why": found}, kind="mirror flow")
    data, g = "<x_i, beta> >= <x_i, beta(t)> for all i", warp_factor(d)
    least = (("beta(t)", f"argmin Q(beta) subject to {data}"), ("grad Q(beta(t))", "X^T s(t)"))
    below = (
        Equations(least),
        "over every convex subset of the domain that contains `beta(t)`, where",
        Equations((("s_i(t)", f"int_0^t {g}a_i ds"), ("a_i", "-l'(<x_i, beta>) > 0"))),
    )
    words = (
        "for every decreasing loss `l`, wherever it is stopped, with labels in the rows `x_i` of"
        " `X`,"
    )
    above = (*introduction(d),)
    steered = "the flow of `sum_i l(<x_i, beta>)` has `lambda = X^T a` with `a_i > 0`"
    kkt = f"so `grad Q(beta(t)) = int_0^t {g}lambda ds` is `X^T s(t)` with `s_i(t) >= 0`"
    active = "at `beta(t)` all constraints are active: these are the KKT conditions"
    return Statement(
        words,
        kind="every time",
        conditions=assumed(d),
        by=found,
        above=above,
        below=below,
        proof=(f"{steered}, {kkt}; {active}, and `Q` is convex",),
    )


def coercivity(found: Finding, far: Sequence[Far]) -> Statement | Open:
    """Return whether grad Q grows without bound."""
    why = {"why": found}
    if found.verdict is Verdict.UNDECIDED:
        return Open("{why}", why, kind="coercive")
    given = dict.fromkeys(s for x in far for s in x.depths)
    deep = tuple(tell("`{D} > 2`", D=s) for s in given)
    tends = found.verdict is Verdict.PROVED and not all(x.bounded for x in far)
    words = "`|grad Q| -> infinity` as `|beta| -> infinity` where `Q` lives" if tends else "{why}"
    return Statement(words, why, kind="coercive", conditions=deep, by=found)


def growth(far: Far) -> Statement:
    """Return how Q of one block grows, where that is known."""
    if far.leading is None:
        raise AssertionError("this is asked of what has a leading part")
    x = each("`{0}`", ((b,) for b in far.betas))
    point = tell("`({x})`", x=x) if len(far.betas) > 1 else x
    h = {"h": far.leading.h, "x": point, "far": far}
    start = _not_zero([far])
    if far.leading.growth is None:
        words = "`log Q(c x)/c -> {h}` at `x = {x}`"
        return Statement(words, h, kind="growth", conditions=start)
    beyond = (tell(f"`{{x}} {'>' if far.leading.side > 0 else '<'} 0`", x=x),)
    N = growth_expression(far.leading.growth, 1 / C)
    words = "`Q(c x)/(c N) -> {h}` at `x = {x}`, `N = {N}`"
    given = (beyond if far.leading.side else ()) + start
    return Statement(words, {**h, "N": N}, kind="growth", conditions=given)


def _not_zero(far: Sequence[Far]) -> tuple[Sentence, ...]:
    factors = dict.fromkeys(f for x in far if x.leading is not None for f in x.leading.nonzero)
    return tuple(tell("`{f} != 0`", f=f) for f in factors)


def direction(d: Derivation, shape: Horizon, far: Sequence[Far]) -> Statement | Open:
    """Return the theorem of the horizon, or what keeps it from being applied."""
    if shape.cone is not None:
        return _on_half_lines(shape, far)
    if shape.function is None:
        failing = [h for h in shape.hypotheses if h.finding.verdict is Verdict.REFUTED]
        left = failing or [h for h in shape.hypotheses if not h.of_data and not _holds(h)]
        why = each("{0}", ((_hypothesis(h),) for h in left), "; ")
        words = "what `beta(t)/|beta(t)|` tends to is not decided by the shape of `Q`; {why}"
        return Open(words, {"why": why}, kind="direction")
    least = "argmin phi(beta) subject to <x_i, beta> >= 1 for all i"
    proved = tuple(_hypothesis(h) for h in shape.hypotheses if _holds(h))
    given = (tell(h.statement) for h in shape.hypotheses if not _holds(h))
    below: tuple[object, ...] = (
        Equations((("beta_inf", least), ("phi", shape.function))),
        "the other hypotheses of the theorem:",
        Items(proved),
    )
    if len(d.beta) == 1 and d.direction is None:
        which = " from one start" if shape.weighted else ""
        below += (note(f"for copies of `F` side by side{which} `phi` is `{shape.norm}`"),)
    return Statement(
        "`beta(t)/|beta(t)|` tends to the direction of `beta_inf`",
        {"phi": shape.function},
        kind="direction",
        ground=Ground.CITED,
        conditions=(*given, *_not_zero(far)),
        by=SOURCE,
        below=below,
    )


def _on_half_lines(shape: Horizon, far: Sequence[Far]) -> Statement:
    """Return the limit where Q lives on half-lines: KKT conditions of a convex problem.

    Let beta/R -> c, R = |beta|, so that <x_i, beta> = R (<x_i, c> + o(1)). In grad Q = X^T s, s' is
    exp(-<x_i, beta>): rows of larger <x_i, c> than others add nothing to s over its sum.
    Over N the slopes tend to those of h at c where c_j is not 0, and to no more than these
    where it is: X^T sigma is a subgradient of h on the cone, sigma >= 0 on rows of least margin.
    """
    cone = each("`{0} " + "{1} 0`", ((b, ">=" if s > 0 else "<=") for b, s in shape.sides), " and ")
    least = "argmin phi(beta) subject to <x_i, beta> >= 1 for all i"
    return Statement(
        "its limit has the direction of a minimizer of the problem below, over {cone}",
        {"phi": shape.cone, "cone": cone, "shape": shape},
        kind="direction on half-lines",
        conditions=(
            "the loss decreases like `exp(-u)` and tends to 0",
            "`beta(t)/|beta(t)|` converges, to `c` with all `<x_i, c> > 0`",
            *_not_zero(far),
        ),
        by="KKT conditions of a convex problem",
        below=(Equations((("beta_inf", least), ("phi", shape.cone))),),
    )


def _holds(h: Hypothesis) -> bool:
    return h.finding.verdict is Verdict.PROVED


def _hypothesis(h: Hypothesis) -> Sentence:
    """Return what became of a hypothesis, and why."""
    word = {Verdict.PROVED: "proved", Verdict.REFUTED: "fails"}.get(h.finding.verdict, "open")
    return tell(f"{word}: {h.statement} ({{why}})", why=h.finding)


def in_weights(d: Derivation, w: WeightsProblem) -> Iterator[Statement | Open]:
    """Yield the problem in the weights, and what is known of its KKT points."""
    if w.degree is not None:
        given = () if w.degree.is_number else ("`c > 0`",)
        words = "`F(c w) = c^D F(w)` with `D = {D}`"
        yield Statement(words, {"D": w.degree}, kind="homogeneous", conditions=given)
    if not d.parameterization.geometry.steering.is_gradient and w.degree is not None:
        yield from _steepest(d, w)
        return
    if w.grading is not None:
        yield graded(w.grading)
        yield from _levels(d, w)
        return
    if w.degree is None or w.finding.verdict is not Verdict.PROVED:
        words = "whether the flow tends to a KKT point of it is not decided: {why}"
        yield Open(words, {"why": w.finding}, kind="KKT")
        return
    upper = "J^T" if w.square is None else "G^-1 J^T"
    yield Statement(
        f"`w(t)/|w(t)|` converges, to the direction of a KKT point, `w = {upper} X^T lambda` with"
        " `lambda >= 0`, `lambda_i = 0` unless `<x_i, F(w)> = 1`; {why}",
        {"why": w.finding},
        kind="KKT",
        ground=Ground.CITED,
        conditions=(
            "the loss `l` is exponential or logistic",
            "`sum_i l(<x_i, beta>) < l(0)` at some time",
        ),
        by=HOMOGENEOUS,
    )
    for law in w.vanishing:
        yield Statement("at a KKT point `{law} = 0`", {"law": law}, kind="KKT law")
    yield from (_cost(cost, w) for cost in w.costs)
    yield from _minimizers(d, w)


def _levels(d: Derivation, w: WeightsProblem) -> Iterator[Statement | Open]:
    """Yield the problem of the weights of the largest entry of Lam, and of those below."""
    first, *below = w.levels
    least = first.square
    given: tuple[object, ...] = (
        "the loss `l` is exponential",
        "`sum_i l(<x_i, beta>) < l(0)` at some time",
        tell("`c^-Lambda w(t)` converges, where `{least} = 1` by the choice of `c`", least=least),
    )
    if not is_polynomial(d.parameterization):
        given += ("`F` is smooth there",)
    kind, ground, without = "KKT", Ground.CITED, tell("")
    if w.fading:
        kind, ground = "KKT levels", Ground.CONJECTURED
        left = each("`{0}`", ((x,) for x in w.fading))
        why = "fading beside the others, as `F` reaches every `beta` without"
        kept = entries_of(w.kept or {})
        without = tell(
            f", of `F` without {{left}}, which has entries {{kept}}: {why}", left=left, kept=kept
        )
    else:
        given += (tell("`{least}` is not nearly 0 for some `w` with such margins", least=least),)
    yield Statement(
        "that limit is, up to such a scaling, a KKT point of `min {least}` subject to"
        " `<x_i, F(w)> >= 1`{without}",
        {"least": least, "without": without, "problem": w},
        kind=kind,
        ground=ground,
        conditions=given,
        by=GRADED,
    )
    if below:
        then = each("`{0}`", ((s.square,) for s in below), ", then ")
        yield Statement(
            "among the minimizers it has the least {then}",
            {"then": then, "problem": w},
            kind="KKT levels",
            ground=Ground.CONJECTURED,
            conditions=given,
            by=FORMAL,
        )
    for level in w.levels:
        written = (c for c in level.costs if c.formula is not None and not c.side)
        yield from (_level_cost(w, cost) for cost in written)


def _level_cost(w: WeightsProblem, cost: BlockCost) -> Statement:
    """Return the least sum of squares of weights of one entry, as a function of beta."""
    zero = each("`{0} = 0`", ((x,) for x in w.fading), " and ")
    values = {
        "beta": each("`{0}`", ((b,) for b in cost.betas)),
        "with": tell(" with {zero}", zero=zero) if w.fading else tell(""),
        "least": cost.square,
        "R": cost.formula,
        "problem": w,
        "cost": cost,
    }
    return Statement(
        "of the weights above {beta}{with} the least `{least}` is `{R}`",
        values,
        kind="level cost",
        about=", ".join(map(str, cost.betas)),
        conditions=cost.given,
        by=cost.finding,
    )


def _exponent(power: Fraction) -> str:
    """Return an exponent as one writes it, a quotient in brackets."""
    return f"({power})" if power.denominator > 1 else f"{power}"


OPERATOR = "max_k |W_k|_op"
"""The spectral norm of all matrices of weights."""


def size_of(power: Fraction | None) -> str:
    """Return |w|_p, up to a power, as it is written."""
    return f"sum_k |w_k|^{_exponent(power)}" if power else "max_k |w_k|"


def steepest_kkt(size: str) -> Statement:
    """Return what steepest descent in a norm of the weights tends to."""
    return Statement(
        "limit points of `w(t)/|w(t)|` are KKT points, in a generalised sense, of"
        f" `min {size}` subject to `<x_i, F(w)> >= 1`",
        kind="steepest KKT",
        ground=Ground.CITED,
        conditions=("the loss `l` is exponential", "`sum_i l(<x_i, beta>) < l(0)` at some time"),
        by=STEEPEST,
    )


def operator_margin(product: str, L: int, rank: int | None) -> Statement:
    """Return the margin in beta, a product of L matrices of weights, in the spectral norm.

    |B|_op <= prod_k |W_k|_op, with equality at equal norms for B = A S C^T and W_1 = A S^(1/L) E^T,
    ...: all inner dimensions are at least the rank of B, and *rank* is one that bounds it.
    """
    root = "" if L == 1 else f"^(1/{L})"
    among = "" if rank is None else f" among matrices of rank at most {rank}"
    why = "the product of the `|W_k|_op`; singular values to equal powers in all factors reach that"
    return Statement(
        f"of `beta = {product}`, a matrix, `min {OPERATOR}` subject to `F(w) = beta` is"
        f" `|beta|_op{root}`: the minimizers of the problem are in `beta` the predictors of largest"
        f" margin in the operator norm{among}",
        {"norm": "op"},
        kind="shared margin",
        proof=(note(f"`|beta|_op` is no more than {why}"),),
    )


def _steepest(d: Derivation, w: WeightsProblem) -> Iterator[Statement | Open]:
    """Yield what steepest descent on the weights tends to, and its margin problem in beta."""
    power = d.parameterization.geometry.steering.norm
    yield steepest_kkt(size_of(power))
    if w.norm is None:
        yield Open("{why}", {"why": w.finding}, kind="steepest cost")
        return
    (b,) = d.beta
    c = _exponent((power or 1) / Fraction(str(w.degree)))
    words = f"`min {size_of(power)}` subject to `F(w) = {{b}}` is `c |{{b}}|^{c}`, `c > 0`"
    among = f", among those `{'>=' if w.side > 0 else '<='} 0`" if w.side else ""
    yield Statement(
        f"{words}: of copies of `F`, the minimizers of the problem are in `beta` the predictors of"
        f" largest margin in `{{norm}}`{among}",
        {"b": b, "D": w.degree, "norm": w.norm, "side": w.side},
        kind="steepest cost",
        by=w.finding,
        below=(note("{why}", why=w.finding),),
    )


def _minimizers(d: Derivation, w: WeightsProblem) -> Iterator[Statement]:
    """Yield whether KKT points are minimizers, where that is plain.

    Linear F: the problem is convex. Of one output of degree D >= 2, J(0) = 0: so on x = (2, s) two
    copies have a KKT point with all weights of the first 0 and least ones of the second, where
    they are least with F = s; in beta it is (0, s), and (s/2, 0) costs 2^(-2/D) of it.
    """
    if w.degree == 1:
        words = "a KKT point is the minimizer: `F` is linear, so the problem is convex"
        yield Statement(words, kind="KKT minimizer")
    elif len(d.beta) == 1 and d.direction is None:
        (cost,) = w.costs
        if cost.formula is not None:
            s = -1 if cost.side < 0 else 1
            rows = f"`X = [[{2 * s}, {s}]]`"
            point = f"least weights above `beta = (0, {s})`, those of the first copy 0, are one"
            words = f"a KKT point need not be a minimizer: of two copies on {rows}, {point}"
            cheaper = f"`({'-' * (s < 0)}1/2, 0)` costs less"
            yield Statement(f"{words}, and {cheaper}", {"s": s}, kind="KKT minimizer")


def _cost(cost: BlockCost, w: WeightsProblem) -> Statement | Open:
    """Return R_F of one block of outputs."""
    blocks = len(w.costs)
    beta = each("`{0}`", ((b,) for b in cost.betas))
    name = tell("`R_F({beta})`", beta=beta) if blocks > 1 else tell("`R_F`")
    least = "`{name} = min {square}` subject to `F(w) = beta`"
    about = ", ".join(map(str, cost.betas)) if blocks > 1 else ""
    square = tell("`|w|^2`") if w.square is None else tell("`{square}`", square=w.square)
    named = {"name": name, "square": square}
    if cost.formula is None:
        proved = cost.finding.verdict is Verdict.PROVED
        why = "a root of a polynomial is left" if proved else cost.finding
        words = f"{least} is not written: {{why}}"
        return Open(words, {**named, "why": why}, kind="representation cost", about=about)
    given: tuple[object, ...] = cost.given
    nowhere: tuple[object, ...] = ()
    if cost.side:
        (b,) = cost.betas
        given = (tell("`{b}` is not " + ("negative" if cost.side > 0 else "positive"), b=b),)
        side = "<" if cost.side > 0 else ">"
        nowhere = (tell(f"no `w` has `F(w) = beta` for `{{beta}} {side} 0`", beta=b),)
    return Statement(
        f"{least} is",
        {**named, "R_F": cost.formula, "betas": cost.betas, "outputs": cost.outputs},
        kind="representation cost",
        about=about,
        conditions=given,
        by=cost.finding,
        below=(Equations(((name, cost.formula),)), *nowhere),
    )


def agreement(found: Finding) -> Statement | Open:
    """Return whether both roads lead to one problem."""
    if found.verdict is Verdict.UNDECIDED:
        return Open("{why}", {"why": found}, kind="agreement")
    same = "the same margin problem" if found.verdict is Verdict.PROVED else "two margin problems"
    words = f"the horizon and `R_F` give {same}: {{why}}"
    return Statement(words, {"why": found}, kind="agreement", by=found)


def large_starts(scaled: ScaledStart, limit: str) -> Iterator[Statement]:
    """Yield what large starts do, where *limit* names that of all starts, if it is known."""
    if scaled.kernel is None or scaled.time is None or scaled.displacement is None:
        return
    positive = (tell("`{D} > 0`", D=scaled.degree),) if not scaled.degree.is_number else ()
    words = (
        "from `c w_0`, `c -> infinity`, at times `tau/{time}` with bounded `tau` it is"
        " `w = c w_0 + (v(tau) + o(1))/{late}` and `beta -> J(w_0) v`: a linear model, `K_0` its"
        " kernel"
    )
    rows = [each("`{0}`", ((x,) for x in row)) for row in scaled.kernel.tolist()]
    kernel = each("`[{0}]`", ((row,) for row in rows)) if len(rows) > 1 else rows[0]
    yield Statement(
        words,
        {"time": C**scaled.time, "late": C**scaled.displacement, "scaled": scaled},
        kind="large starts",
        conditions=positive,
        by=scaled.finding,
        below=(Equations((("K_0", kernel),)),),
    )
    lazy = (
        "first `c -> infinity`, then `L -> 0`, `beta/|beta|` tends to the direction of"
        " `argmin <beta, K_0^-1 beta>` subject to `<x_i, beta> >= 1`"
    )
    above = f"first `L -> 0`, for each `c`, `{limit}(t)/|{limit}(t)|` tends to what is said above"
    yield Statement(
        lazy,
        {"scaled": scaled},
        kind="large starts, late",
        ground=Ground.CITED,
        conditions=(*positive, TAIL),
        by=LINEAR,
        below=(note(above),) if limit else (),
    )
