"""Q of several coupled outputs from the dual coordinates: Q = sum_i y_i beta_i - R.

On a leaf y, R and g are algebraic over the field of beta and the conserved values. That field is
extended by one function of the weights at a time, the one whose polynomial over it is of lowest
degree (:func:`derive.potential.entries.extend`), until y and R lie in it. What may be adjoined are
the factors of g, the weights and functions in g, y and R, arguments of logarithms, poles, and y.
Of the charts that result it is the one in which Q is shortest.

Where y = m beta, as of a vector phi(a, |u|) u in coordinates, m is a function of |beta| alone,
because m beta is a gradient: then the chart has |beta|^2 in the place of beta, in any dimension.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from derive.exact.field.factors import factored
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction, normalized
from derive.exact.linear.implicitization import find_relation
from derive.exact.linear.matrix import dot
from derive.model.condition import Condition, Sign
from derive.model.notation import Notation, to_expr, to_factored_expr
from derive.potential.accept import ZeroTest
from derive.potential.branch import keeps_sign
from derive.potential.chart import (
    Chart,
    at_start,
    base_chart,
    definite_logs,
    exponentials_as_logs,
    length_of,
    log_arguments,
    write_function,
    write_logs,
)
from derive.potential.entries import Want, adjoin, extend
from derive.potential.piece import Lift, Piece, moving
from derive.potential.quadrature import find_lift, integrate_gradient, integrate_in_length
from derive.potential.rewriting import fewest, with_hyperbolic
from derive.potential.shortest import WEIGHT_SPACE, Form, has_gradient, shortest
from derive.verdict import Identity
from derive.weights.dual import DualCoordinates, is_conjugate, leaves_zero
from derive.weights.hessian import WarpVerdict

ABOVE = "the weights at the point of the leaf with $F(w) = beta$"
ON_LEAF = "$psi(s) = |y|$ at the point of the leaf where $|beta| = s$"


def write_in_beta(dual: DualCoordinates, notation: Notation) -> tuple[Piece, Chart] | None:
    """Return Q = sum_i y_i beta_i - R in beta through a chart of the leaf, or None without one.

    Of the charts that serve it is the one in which Q is shortest.
    """
    p = dual.parameterization
    base = base_chart(dual.metric, notation)
    if base is None:
        return None
    if dual.R is not None:
        R = definite_logs(dual, exponentials_as_logs(dual.R, p), notation)
        dual = replace(dual, R=R if is_conjugate(p, R, dual.g) else dual.R)
    # A warp that is 0 at the start is positive at the limit, by assumption.
    beside = leaves_zero(dual)
    conditions = () if beside else (p.at_start(dual.g),)
    kept = () if beside else keeps_sign(dual.metric, dual.g)
    base = replace(base, warp=dual.g, conditions=conditions, assumptions=kept)
    forms = []
    for chart, slopes in _slopes(base, dual):
        first = [at_start(p, y, chart.notation) for y in dual.y]
        gradient = tuple(g - g0 for g, g0 in zip(slopes, first, strict=True))
        piece = _closed(chart, base, dual, gradient, first) or _integral(chart, gradient, first)
        if beside and piece.integrand is not None and not chart.of_length:
            continue
        own = (*chart.notation.assumptions, *chart.assumptions[len(kept) :], *kept)
        evidence = (*dual.evidence, *chart.evidence, *_legendre(dual))
        piece = replace(piece, assumptions=tuple(dict.fromkeys(own)), evidence=evidence)
        forms.append(Form(WEIGHT_SPACE, piece, chart.in_outputs()))
    best = next(iter(shortest(forms)), None)
    return None if best is None or best.chart is None else (best.piece, best.chart)


def _slopes(base: Chart, dual: DualCoordinates) -> Iterator[tuple[Chart, list[Expr]]]:
    """Yield charts, extended until y can be written in them, with y in beta.

    Where y = m beta and g is 0 at the start, m may be psi(s)/s of a function psi without a name.
    """
    m, betas = multiple_of_outputs(dual), base.notation.betas
    if m is not None:
        base, dual = base.in_length(), replace(dual, y=(LogFunction(m),))
    charts = list(_complete(base, dual))
    for chart in charts:
        slopes = [g for g in (write_function(chart, y) for y in dual.y) if g is not None]
        yield chart, slopes if m is None else [slopes[0] * b for b in betas]
    if not charts and m is not None and leaves_zero(dual):
        s = length_of(betas)
        yield base, [sympy.Function("psi")(s) / s * b for b in betas]


def multiple_of_outputs(dual: DualCoordinates) -> RationalFunction | None:
    """Return m with y_i = m F_i for every i, proved, or None."""
    F = dual.parameterization.F
    if any(y.logs for y in dual.y) or len(F) < 2:
        return None
    m = dual.y[0].rational / F[0]
    return m if all(y.rational == m * f for y, f in zip(dual.y, F, strict=True)) else None


def _closed(
    chart: Chart,
    base: Chart,
    dual: DualCoordinates,
    gradient: tuple[Expr, ...],
    first: Sequence[Expr],
) -> Piece | None:
    """Return Q with the value that goes with its gradient, which was *first* at the start."""
    value, betas = _value(chart, base, dual), chart.notation.betas
    if value is None or any(g.atoms(AppliedUndef) for g in gradient):
        return None
    value -= sympy.Add(*(g0 * b for g0, b in zip(first, betas, strict=True)))
    value = moving(value, *betas, *(r.symbol for r in chart.roots))
    piece = chart.named(Piece(betas, value, gradient))
    return piece if has_gradient(piece) else None


def _integral(chart: Chart, gradient: tuple[Expr, ...], first: Sequence[Expr]) -> Piece:
    """Return Q as an integral of its gradient: in |beta| where that is m beta + z, else in beta."""
    notation, betas = chart.notation, chart.notation.betas
    if not chart.of_length:
        return chart.named(integrate_gradient(gradient, notation))
    s, p = notation.fresh("s", positive=True), chart.parameterization
    axis = dict.fromkeys(betas, sympy.S.Zero) | {betas[0]: s}
    roots = [root.mapped(lambda e: e.subs(axis)) for root in chart.roots]
    start = sympy.sqrt(to_factored_expr(p.at_start(dot(p.F, p.F)), notation.start_symbols))
    q = integrate_in_length((gradient[0] + first[0]).subs(axis), roots, s, start, chart)
    linear = sympy.Add(*(z * b for z, b in zip(first, betas, strict=True)))
    value = q.value.subs(s, length_of(betas)) - linear
    if q.value.atoms(AppliedUndef):
        q = replace(q, note=ON_LEAF)
    return chart.named(replace(q, betas=betas, value=value, gradient=gradient))


def _legendre(dual: DualCoordinates) -> tuple[Identity, ...]:
    """Return sum_i F_i X_j y_i = X_j R for all j: sum_i y_i beta_i - R has the gradient y."""
    if dual.R is None:
        return ()
    p = dual.parameterization
    pairs = list(zip(p.F, dual.y, strict=True))
    sides = [
        (sum((f * y.along(x) for f, y in pairs), p.field.zero), dual.R.along(x)) for x in p.fields
    ]
    if any(left != right for left, right in sides):
        raise AssertionError("y and R were accepted before")
    left, right = (", ".join(map(repr, side)) for side in zip(*sides, strict=True))
    return (Identity("sum_i beta_i dy_i = dR, so Q = sum_i y_i beta_i - R", left, right),)


def _complete(chart: Chart, dual: DualCoordinates) -> Iterator[Chart]:
    """Yield the chart, extended until Q, or at least its gradient, is written in it.

    Where there are logarithms their arguments are preferred, or the weights.
    """
    functions = (*dual.y, *(() if dual.R is None else (dual.R,)))
    chart = _with_ratios(_away_from_zero(chart, log_arguments(dual.y)))
    logs, poles = ([Want(P, exact=False) for P in f(functions)] for f in (log_arguments, _poles))
    exact = [Want(f) for f in (*_factors_and_names(dual), *_duals(chart, dual))]
    conic = dual.metric.conic
    exact = [*((Want(conic.G, exact=False), Want(conic.K)) if conic else ()), *exact]
    for first, then in ((logs, exact), (exact, logs))[: 2 if logs else 1]:
        wants = [*first, *then, *poles]
        extended = extend(chart, wants, lambda grown: _writes(grown, functions))
        if _writes(extended, dual.y):
            yield extended


def _writes(chart: Chart, functions: Sequence[LogFunction]) -> bool:
    return all(write_function(chart, f) is not None for f in functions)


def _factors_and_names(dual: DualCoordinates) -> Iterator[RationalFunction]:
    """Yield the factors of g, and the weights and functions of g, y and R, those of g first."""
    p, g = dual.parameterization, dual.g
    if p.degree == 0:
        yield p.w[-1]  # in which, and in their ratios, all weights are
    yield from (P for P, _ in factored(g)[1] if P not in p.field.gens)
    rational = (f.rational for f in (*dual.y, *(() if dual.R is None else (dual.R,))))
    used = {name for f in (g, *rational) for name in f.variables()} - g.field.constants.keys()
    first = sorted(p.field.names, key=lambda name: name not in g.variables())
    yield from (p.field.named(name) for name in first if name in used)


ROOTS = (2, 3, 4, 5, 6)
"""Indices of the radicals that ratios of weights may be."""


def _with_ratios(chart: Chart) -> Chart:
    """Return the chart with ratios of weights for the outputs, where all of them are radicals.

    F of degree 0 is a function of these.
    """
    p, radicals = chart.parameterization, chart
    if p.degree != 0:
        return chart
    for ratio in (w / p.w[-1] for w in p.w[:-1]):
        tried = (find_relation(ratio, chart.coordinates, (0, n)) for n in ROOTS)
        relation = None if chart.write(ratio) else next(filter(None, tried), None)
        extended = relation and adjoin(radicals, Want(ratio), relation)
        if not extended:
            return chart
        radicals = extended
    return radicals.with_outputs()


def _poles(functions: Sequence[LogFunction]) -> list[RationalFunction]:
    """Return the irreducible factors of the denominators."""
    bottoms = (f.rational.field.polynomial(f.rational.denominator) for f in functions)
    return [P for x in bottoms for P, _ in factored(x)[1]]


def _duals(chart: Chart, dual: DualCoordinates) -> list[RationalFunction]:
    """Return the dual coordinates, or their inverses; |y|^2 where y = m beta."""
    F, y = dual.parameterization.F, [y.rational for y in dual.y]
    if chart.of_length:
        return [dot(F, F) * y[0] ** 2]
    return [normalized(1 / f if f.degree() < 0 else f) for f in y if not f.is_constant()]


def _away_from_zero(chart: Chart, functions: Sequence[RationalFunction]) -> Chart:
    """Assume that functions are not 0 at the start."""
    symbols = chart.notation.start_symbols
    values = [chart.parameterization.at_start(f) for f in functions]
    shown = (to_expr(x, symbols) for x in values if not x.is_constant())
    apart = (Condition(x, Sign.NONZERO) for x in shown)
    return replace(chart, assumptions=(*chart.assumptions, *apart))


def _value(chart: Chart, base: Chart, dual: DualCoordinates) -> Expr | None:
    """Return sum_i y_i F_i - R in beta, the shortest way that is found."""
    if dual.R is None:
        return None
    signed = [(sympy.Integer(-1), dual.R), *zip(chart.notation.betas, dual.y, strict=True)]
    logs = [write_logs(chart, f) for _, f in signed]
    rational = _rational_value(chart, base, dual)
    if rational is None or any(log is None for log in logs):
        return None
    return sympy.Add(rational, *(x * log for (x, _), log in zip(signed, logs, strict=True)))


SHORT = 30
"""Operations up to which a form in the adjoined functions alone is kept where there is a warp."""


def _rational_value(chart: Chart, base: Chart, dual: DualCoordinates) -> Expr | None:
    """Return the rational part of sum_i y_i F_i - R: in few functions, in all, or term by term."""
    p, R = dual.parameterization, dual.R or LogFunction(dual.g.field.zero)
    pairs = [(-p.field.one, R), *zip(p.F, dual.y, strict=True)]
    total = sum((x * f.rational for x, f in pairs), p.field.zero)
    alone = chart.with_outputs().write(total)
    if alone is not None and not dual.g.is_constant() and sympy.count_ops(alone) <= SHORT:
        return alone  # without a warp R is often a multiple of an output
    own = [e for e in chart.entries if e not in base.entries]
    few = replace(chart, entries=(*base.entries, *own[-1:])).write(total)
    written = [e for e in (alone, few, chart.write(total)) if e is not None]
    if written:
        return min(written, key=sympy.count_ops)
    return chart.substitute(total) or _term_by_term(chart, [f.rational for _, f in pairs])


def _term_by_term(chart: Chart, functions: Sequence[RationalFunction]) -> Expr | None:
    """Return sum_i y_i beta_i - R for the functions R, y_1, ..., y_d."""
    written = [chart.write(f) for f in functions]
    if any(f is None for f in written):
        return None
    factors = (sympy.Integer(-1), *chart.notation.betas)
    return sympy.Add(*(x * f for x, f in zip(factors, written, strict=True)))


def in_weights(
    warping: WarpVerdict, dual: DualCoordinates | None, notation: Notation
) -> Piece | None:
    """Return Q at the point of the leaf above beta where y and R are known, or None."""
    if dual is None or dual.R is None:
        return None
    return _write_in_weights(dual, dual.R, find_lift(warping), notation)


def _write_in_weights(
    dual: DualCoordinates, R: LogFunction, lift: Lift, notation: Notation
) -> Piece | None:
    """Return Q = sum_i (y_i - y_i(w_0)) beta_i - R at the point of the leaf above beta.

    None where y or R is infinite at the start.
    """
    p, weights, arguments = dual.parameterization, notation.weights, log_arguments((*dual.y, R))
    decide = ZeroTest(p, {})

    def shortest_way(whole: Expr) -> Expr:
        summed = sympy.powsimp(sympy.expand(whole), combine="exp")
        ways = (e for e in (summed, with_hyperbolic(summed)) if decide.vanishes(e - whole))
        return fewest([whole, *ways])

    def at_first(f: RationalFunction) -> Expr:
        return to_expr(p.at_start(f), notation.start_symbols)

    def moving_part(f: LogFunction) -> Expr:
        # What is in a logarithm keeps its sign, by what is assumed where that is not proved.
        logs = ((at_first(c), to_expr(A, weights) / at_first(A)) for c, A in f.logs)
        rational = shortest_way(to_expr(f.rational, weights))
        return sympy.Add(rational, *(c * sympy.log(x) for c, x in logs))

    try:
        apart = [p.at_start(A) for A in arguments]
        written = [moving_part(y) - shortest_way(at_first(y.rational)) for y in dual.y]
        conjugate = moving_part(R)
    except ZeroDivisionError:
        return None
    if any(x.is_zero() for x in apart):
        return None
    shown = (to_expr(x, notation.start_symbols) for x in apart if not x.is_constant())
    products = (y * b for y, b in zip(written, notation.betas, strict=True))
    return Piece(
        notation.betas,
        sympy.Add(*products, -conjugate),
        tuple(written),
        assumptions=(
            *(Condition(x, Sign.NONZERO) for x in shown),
            *(kept for A in arguments for kept in keeps_sign(dual.metric, A)),
        ),
        evidence=(*dual.evidence, *_legendre(dual)),
        note=ABOVE,
        lift=replace(lift, warp=dual.g),
    )
