"""Q of several coupled outputs from the dual coordinates: Q = sum_i y_i beta_i - R.

Where y = m beta, as of a vector phi(a, |u|) u in coordinates, m is a function of |beta| alone,
because m beta is a gradient: then the chart has |beta|^2 in the place of beta, in any dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from derive.exact.field.factors import factored
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction, normalized
from derive.exact.linear.implicitization import Relation, find_relation
from derive.exact.linear.matrix import dot
from derive.model.condition import Condition, Sign
from derive.model.notation import AssumePositive, BranchOpen, Notation, to_expr, to_factored_expr
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
from derive.potential.entries import (
    add_functions,
    add_power,
    add_root,
    add_simple,
    add_weights,
    cheapest_relation,
)
from derive.potential.piece import Explicit, Piece, Quadrature, moving
from derive.potential.quadrature import integrate_gradient, integrate_in_length
from derive.potential.shortest import has_gradient
from derive.verdict import Identity
from derive.weights.dual import DualCoordinates, is_conjugate, leaves_zero

ON_LEAF = "`psi(s) = |y|` at the point of the leaf where `|beta| = s`"


def write_in_beta(dual: DualCoordinates, notation: Notation) -> tuple[Piece, Chart] | None:
    """Return Q = sum_i y_i beta_i - R in beta through a chart of the leaf, or None without one."""
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
    found = _slopes(replace(base, warp=dual.g, conditions=conditions), dual)
    if found is None:
        return None
    chart, slopes = found
    first = [at_start(p, y, notation) for y in dual.y]
    gradient = tuple(g - g0 for g, g0 in zip(slopes, first, strict=True))
    piece = _closed(chart, dual, gradient, first) or _integral(chart, gradient, first)
    if beside and isinstance(piece, Quadrature) and not chart.of_length:
        return None
    kept = () if beside else keeps_sign(dual.metric, dual.g)
    assumptions = (*chart.notation.assumptions, *chart.assumptions, *kept)
    evidence = (*dual.evidence, *chart.evidence, *_legendre(dual))
    piece = replace(piece, assumptions=assumptions, evidence=evidence)
    return piece, chart.in_outputs()


def _slopes(base: Chart, dual: DualCoordinates) -> tuple[Chart, list[Expr]] | None:
    """Return the chart, extended until y can be written in it, and y in beta; or None.

    Where y = m beta and g is 0 at the start, m may be psi(s)/s of a function psi without a name.
    """
    m, betas = multiple_of_outputs(dual), base.notation.betas
    if m is not None:
        base, dual = base.in_length(), replace(dual, y=(LogFunction(m),))
    chart = _complete(base, dual)
    written = [] if chart is None else [write_function(chart, y) for y in dual.y]
    slopes = [g for g in written if g is not None]
    if (chart is None or len(slopes) < len(dual.y)) and m is not None and leaves_zero(dual):
        s = length_of(betas)
        chart, slopes = base, [sympy.Function("psi")(s) / s]
    if chart is None or len(slopes) < len(dual.y):
        return None
    return chart, slopes if m is None else [slopes[0] * b for b in betas]


def multiple_of_outputs(dual: DualCoordinates) -> RationalFunction | None:
    """Return m with y_i = m F_i for every i, proved, or None."""
    F = dual.parameterization.F
    if any(y.logs for y in dual.y) or len(F) < 2:
        return None
    m = dual.y[0].rational / F[0]
    return m if all(y.rational == m * f for y, f in zip(dual.y, F, strict=True)) else None


def _closed(
    chart: Chart, dual: DualCoordinates, gradient: tuple[Expr, ...], first: Sequence[Expr]
) -> Piece | None:
    """Return Q with the value that goes with its gradient, which was *first* at the start."""
    value, betas = _value(chart, dual), chart.notation.betas
    if value is None or any(g.atoms(AppliedUndef) for g in gradient):
        return None
    value -= sympy.Add(*(g0 * b for g0, b in zip(first, betas, strict=True)))
    value = moving(value, *betas, *(r.symbol for r in chart.roots))
    piece = chart.named(Explicit(betas, value, gradient))
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
    q = integrate_in_length((gradient[0] + first[0]).subs(axis), roots, s, start, notation)
    linear = sympy.Add(*(z * b for z, b in zip(first, betas, strict=True)))
    value = q.value.subs(s, length_of(betas)) - linear
    if isinstance(q, Quadrature) and q.value.atoms(AppliedUndef):
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


Extension: TypeAlias = Callable[[Chart, DualCoordinates], Chart | None]


def _complete(chart: Chart, dual: DualCoordinates) -> Chart | None:
    """Extend the chart until y, g and R can be written in it."""
    logs = any(y.logs for y in dual.y)
    if not logs and _suffices(chart, dual):
        return chart
    requests: list[AssumePositive] = []
    written: list[Chart] = []
    roads: tuple[Extension, ...] = (_with_dual_roots, _with_weights, _with_factors)
    if logs:
        roads = (_with_log_arguments, _with_factors, _with_weights)
    elif "root" in dual.g.field.kinds:
        roads = (_with_weights, _with_factors, _with_dual_roots)
    for extend in roads:
        try:
            found = extend(chart, dual)
        except BranchOpen:
            continue
        except AssumePositive as request:
            requests.append(request)
            continue
        if found is not None and _writes(found, dual):
            written.append(found)
            if not _is_crossed(found):
                return found
    if requests and not written:
        raise requests[0]
    return written[0] if written else None


def _writes(chart: Chart, dual: DualCoordinates) -> bool:
    return all(write_function(chart, y) is not None for y in dual.y)


def _is_crossed(chart: Chart) -> bool:
    """Tell whether a chart rests on a sign that is only assumed to be kept along the flow."""
    return any(c.sign is Sign.KEPT for c in chart.assumptions)


def _with_log_arguments(chart: Chart, dual: DualCoordinates) -> Chart | None:
    """Add a power of each P in a log |P|: it gives log |P| whatever the sign of P."""
    arguments = log_arguments(dual.y)
    return _with_powers(_away_from_zero(chart, arguments), arguments)


def _with_powers(chart: Chart, functions: Sequence[RationalFunction]) -> Chart | None:
    """Add a power of each function."""
    for function in functions:
        relation = find_relation(function, chart.coordinates)
        name = f"_P{len(chart.roots)}"
        added = None if relation is None else add_power(chart, name, function, relation)
        if added is None:
            return None
        chart = added[0]
    return chart


def _away_from_zero(chart: Chart, functions: Sequence[RationalFunction]) -> Chart:
    """Assume that functions are not 0 at the start."""
    symbols = chart.notation.start_symbols
    values = [chart.parameterization.at_start(f) for f in functions]
    shown = (to_expr(x, symbols) for x in values if not x.is_constant())
    apart = (Condition(x, Sign.NONZERO) for x in shown)
    return replace(chart, assumptions=(*chart.assumptions, *apart))


def _with_factors(chart: Chart, dual: DualCoordinates) -> Chart | None:
    """Add the factors of the warp, then powers of the arguments of logarithms and of poles."""
    for P, _ in factored(dual.g)[1]:
        if chart.write(P) is None:
            relation = find_relation(P, chart.coordinates)
            rooted = None if relation is None else add_root(chart, f"_g{P!r}", P, relation)
            if rooted is None:
                return None
            chart = rooted
    functions = (*dual.y, *(() if dual.R is None else (dual.R,)))
    bottoms = (f.rational.field.polynomial(f.rational.denominator) for f in functions)
    poles = (P for x in bottoms for P, _ in factored(x)[1])
    arguments = tuple(dict.fromkeys((*log_arguments(functions), *poles)))
    chart = _away_from_zero(chart, arguments)
    return _with_powers(chart, [P for P in arguments if chart.write(P * P) is None])


def _with_dual_roots(chart: Chart, dual: DualCoordinates) -> Chart | None:
    """Make each dual coordinate, or its inverse, a root variable, where that is explicit."""
    if len(dual.y) == 1:
        return None  # a single y, the length of a vector: the root of the warp gives the shorter Q
    # Multiples of the warp first: their sign is known.
    ordered = sorted(enumerate(dual.y, 1), key=lambda e: not (e[1].rational / dual.g).is_constant())
    try:
        for i, y in ordered:
            if chart.write(y.rational) is not None:
                continue
            function = normalized(1 / y.rational if y.rational.degree() < 0 else y.rational)
            relation = find_relation(function, chart.coordinates, highest=6)
            added = None if relation is None else add_root(chart, f"_y{i}", function, relation)
            if added is None or added.roots[-1].explicit is None:
                return None
            chart = added
    except BranchOpen:
        return None
    return chart if _suffices(chart, dual) else None


def _with_weights(chart: Chart, dual: DualCoordinates) -> Chart | None:
    """Add a root variable, the warp or a weight, and the weights that follow from it."""
    p, names = chart.parameterization, _names(dual)
    needed = [name for name in names if name in p.weights]
    chart = add_simple(chart, names)
    if _suffices(chart, dual):
        return chart
    candidates = {w: p.field.named(w) for w in needed if chart.image(w) is None}
    if chart.of_length:
        candidates["|y|**2"] = dot(p.F, p.F) * dual.y[0].rational ** 2
    found = _cheapest(chart, dual.g, candidates)
    rooted = chart if found is None else add_root(chart, *found)
    if rooted is None or _suffices(rooted, dual):
        return rooted
    rooted = add_functions(rooted)
    return rooted if _suffices(rooted, dual) else add_weights(rooted, needed)


def _names(dual: DualCoordinates) -> list[str]:
    """Return the weights and functions of y, g and R, those of the warp before what follows."""
    shown = (*dual.y, LogFunction(dual.g), *(() if dual.R is None else (dual.R,)))
    parts = [x for f in shown for x in (f.rational, *(a for _, a in f.logs))]
    used = {name for x in parts for name in x.variables()} - dual.g.field.constants.keys()
    names = (name for name in dual.parameterization.field.names if name in used)
    return sorted(names, key=lambda name: name not in dual.g.variables())


def _cheapest(
    chart: Chart, g: RationalFunction, weights: Mapping[str, RationalFunction]
) -> tuple[str, RationalFunction, Relation] | None:
    """Return the relation of lowest degree, of a weight or of a warp that is no number."""
    found = cheapest_relation(chart, weights if g.is_constant() else {"_g": g, **weights})
    rational = found is not None and found[0] == "_g" and found[2].degree == 1
    return cheapest_relation(chart, weights) if rational else found


def _suffices(chart: Chart, dual: DualCoordinates) -> bool:
    """Tell whether Q, or without R its gradient, can be written in the chart as it is."""
    if dual.R is None:
        return _writes(chart, dual)
    if dual.R.logs and not chart.parameterization.field.generators:
        return False
    targets = [*(y.rational for y in dual.y), dual.R.rational]
    if any(chart.write(t) is None for t in targets):
        return False
    return not dual.R.logs or write_logs(chart, dual.R) is not None


def _value(chart: Chart, dual: DualCoordinates) -> Expr | None:
    """Return sum_i y_i F_i - R in beta, the shortest way that is found."""
    if dual.R is None:
        return None
    pairs = zip(dual.y, dual.parameterization.F, strict=True)
    total = sum((y.rational * f for y, f in pairs), -dual.R.rational)
    rational = _shortest(chart, dual, total)
    logs = [write_logs(chart, f) for f in (dual.R, *dual.y)]
    if rational is None or any(part is None for part in logs):
        return None
    parts = (part * x for part, x in zip(logs, (-1, *chart.notation.betas), strict=True))
    return sympy.Add(rational, *parts)


SHORT = 30
"""Operations up to which a form in the roots alone is kept where there is a warp."""


def _shortest(chart: Chart, dual: DualCoordinates, total: RationalFunction) -> Expr | None:
    """Return a function in the chart: of its roots alone, of all it has, or from the weights."""
    found = chart.with_outputs().write(total) if chart.roots else None
    if found is not None and not dual.g.is_constant() and sympy.count_ops(found) <= SHORT:
        return found  # without a warp R is often a multiple of an output
    written = [e for e in (found, chart.write(total)) if e is not None]
    return min(written, key=sympy.count_ops) if written else chart.substitute(total)
