"""Which root of a polynomial a function of the weights is, and signs that the flow keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb, prod

import sympy
from sympy import Expr, Symbol

from derive.exact.balls import branch_from_above
from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import terms
from derive.exact.linear.implicitization import Coordinates
from derive.exact.signs import Signs, is_feasible, vertices
from derive.exact.towers.tower import Tower
from derive.model.condition import Condition, Sign
from derive.model.notation import Notation, from_expr, positive_generators, to_expr, to_shorter_expr
from derive.model.parameterization import Parameterization
from derive.model.signs import StartSign, sign_at_start
from derive.potential.chart import Chart
from derive.potential.piece import Root
from derive.potential.rewriting import beside_logarithms
from derive.weights.conserved import along
from derive.weights.metric import Metric


def sign_in(chart: Chart, function: RationalFunction) -> tuple[int, Chart] | None:
    """Return the sign of a function along the flow and the chart with what that rests on, or None.

    It is open where the function is 0 at the start, or of another order than the warp there.
    """
    if chart.warp is not None:
        for ratio in (function / chart.warp, function * chart.warp):
            if ratio.is_constant():
                return Signs().of(ratio), chart
    at_start = chart.parameterization.at_start
    if chart.warp is not None and at_start(function).is_zero():
        function = function / chart.warp  # of which the sign is the same where g ends positive
    try:
        value = at_start(function)
    except ZeroDivisionError:
        return None
    start = sign_at_start(value, chart.notation, chart.conditions)
    return (start.sign, _resting_on(chart, start, value, function)) if start.sign else None


def _resting_on(
    chart: Chart, start: StartSign, value: RationalFunction, function: RationalFunction
) -> Chart:
    """Return the chart with what the sign of a function along the flow rests on."""
    chart = chart.assuming(start.notation)
    return replace(
        chart,
        assumptions=(*chart.assumptions, *start.conditions, *keeps_sign(chart.metric, function)),
        conditions=(*chart.conditions, *([start.sign * value] if start.conditions else [])),
    )


def keeps_sign(metric: Metric, function: RationalFunction) -> tuple[Condition, ...]:
    """Say which factors of a function are only assumed to keep their sign along the flow.

    Proved are: K of one output, which is 0 at rest alone; nonnegative factors, Darboux functions
    (the flow cannot cross their zeros), and factors f with f^2 >= c or |f| >= c for a conserved c
    that is positive at the start. Of a factor that is 0 at the start the sign at the limit is
    assumed elsewhere.
    """
    p, open_ones = metric.parameterization, list[RationalFunction]()
    if len(metric.K) == 1 and function == metric.K[0][0]:
        return ()
    for element, multiplicity in factors(function):
        fixed = {*element.variables()} <= element.field.constants.keys()
        if fixed or p.at_start(element).is_zero():
            continue
        if multiplicity % 2 and not _is_kept(metric, element):
            open_ones.append(element)
    weights = Notation(p).weights
    return tuple(Condition(to_expr(f, weights), Sign.KEPT) for f in open_ones)


def with_guards(assumptions: Sequence[Condition], metric: Metric) -> tuple[Condition, ...]:
    """Return assumptions, those of :func:`keeps_sign` with what makes them automatic.

    Offered is what can hold at the start that was given, for all of them at once.
    """
    p = metric.parameterization
    tower, guards = Tower.over(p.field, p.positive), dict[Condition, list[RationalFunction]]()
    for kept in (c for c in assumptions if c.sign is Sign.KEPT):
        factor = p.field.embed(tower.element(from_expr(kept.of)))
        found = [c for c in guards_of(metric, factor) if _can_hold(metric, [c])]
        guards |= {kept: found} if found else {}
    together = product(*guards.values()) if guards else ()
    chosen = zip(*(c for c in together if _can_hold(metric, c)), strict=True)
    offered = dict(zip(guards, chosen, strict=False))
    return tuple(
        replace(c, guards=tuple(dict.fromkeys(map(_primitive, offered.get(c, ())))))
        for c in assumptions
    )


def _is_kept(metric: Metric, f: RationalFunction) -> bool:
    """Tell whether f, which is not 0 at the start, is shown to have no zero on the way.

    A conserved c, f^2 >= c, has only to be positive where f is not 0; or it is 0, and where f is 0
    all that are 0 then stay so, as for balanced layers.
    """
    p = metric.parameterization
    certain = Signs(p.nonnegative | positive_generators(p.field))
    if any(map(certain.is_nonnegative, (f, -f))) or _is_uncrossed(p, f):
        return True
    square, guards, known = p.at_start(f * f), guards_of(metric, f), Signs(p.positive)
    levels = [p.at_start(guard) for guard in guards]
    if any(known.is_positive(x) for c in levels for x in (c, c / square)):
        return True
    balanced = (guard for guard, c in zip(guards, levels, strict=True) if c.is_zero())
    return any(_stay_zero(p, [f, f * f - guard]) for guard in balanced)


def _is_uncrossed(p: Parameterization, f: RationalFunction) -> bool:
    """Tell whether X_a f is a multiple of f for every a, its cofactor finite where f is 0."""
    slopes = (along(x, f) / f for x in p.fields)
    return all(s.denominator.gcd(f.numerator).is_constant() for s in slopes)


def _stay_zero(p: Parameterization, functions: Sequence[RationalFunction]) -> bool:
    """Tell whether weights that are 0 where sums of even powers, or weights, are remain so.

    From elsewhere such points are then not reached, as the flow is unique both ways.
    """
    zero = set[int]().union(*map(_zero_where, functions)) & {*range(p.p)}
    images = [p.field.zero if k in zero else w for k, w in enumerate(p.field.gens)]
    moves = (row[k] for row in p.fields for k in zero)
    try:
        return bool(zero) and all(x.compose(images, p.field).is_zero() for x in moves)
    except ZeroDivisionError:
        return False


def _zero_where(f: RationalFunction) -> set[int]:
    """Return variables that are 0 where f is, which is a monomial or a sum of even powers."""
    monomials = list(terms(f.numerator))
    even = all(c > 0 and all(n % 2 == 0 for n in e) for e, c in monomials)
    if not even and len(monomials) > 1:
        return set()
    used = [[k for k, n in enumerate(e) if n] for e, _ in monomials]
    return {ks[0] for ks in used if len(ks) == 1}


def stays_away_from_zero(metric: Metric, factor: RationalFunction) -> bool:
    """Tell whether a conserved quantity, positive at the start, is proved to bound factor^2."""
    p, guards = metric.parameterization, guards_of(metric, factor)
    return any(Signs(p.positive).is_positive(p.at_start(guard)) for guard in guards)


def guards_of(metric: Metric, factor: RationalFunction) -> list[RationalFunction]:
    """Return conserved c with factor^2 - c, or |factor| - c, a sum of squares.

    Where positive they keep the factor from zero. Of these the largest are kept.
    """
    p, found = metric.parameterization, dict[RationalFunction, None]()
    laws = [law for law in metric.conserved.laws if law.is_polynomial()]
    for f in () if p.field.generators else (factor * factor, factor, -factor):
        for n, rest in vertices(f, laws):
            constant = rest.compose([p.field.zero] * p.p, p.field)
            if any(n) and Signs().is_nonnegative(rest - constant):
                found[f - rest + constant] = None
    others = {c: [o for o in found if o != c] for c in found}
    return [c for c in found if not any(Signs().is_nonnegative(o - c) for o in others[c])]


def _can_hold(metric: Metric, guards: Sequence[RationalFunction]) -> bool:
    """Tell whether there is a start, of the kind that was given, at which guards are positive."""
    p = metric.parameterization
    return is_feasible([*map(p.at_start, guards)], p.nonnegative | frozenset(p.positive))


def _primitive(f: RationalFunction) -> Expr:
    """Return f in its weights, without a number in front."""
    return to_expr(f, [Symbol(name) for name in f.field.names]).as_content_primitive()[1]


def find_root(
    chart: Chart, symbol: Symbol, coefficients: Sequence[RationalFunction], T: RationalFunction
) -> tuple[Root, Chart] | None:
    """Return which root of sum_k c_k T^k = 0 T is, the chart with what that rests on, or None."""
    expressions = [to_expr(c, chart.images) for c in coefficients]
    polynomial = _polynomial(chart, symbol, coefficients)
    degree = len(coefficients) - 1
    if degree == 1:
        explicit = -expressions[0] / expressions[1]
        return Root(symbol, polynomial, explicit, "the root", 0), chart
    slopes = tuple(taylor(chart.coordinates, coefficients, T))
    if degree == 2:
        quadratic = _quadratic_root(chart, coefficients, T)
        if quadratic is None:
            return None
        explicit, branch, above, chart = quadratic
        polynomial = _polynomial(chart, symbol, coefficients)
        return Root(symbol, polynomial, explicit, branch, above, slopes), chart
    # A weight that is the warp is positive along the flow.
    p = chart.parameterization
    warps = {n for n, w in zip(p.weights, p.w, strict=True) if w == chart.warp}
    nonnegative = p.nonnegative | warps
    largest = is_largest_root(chart.coordinates, coefficients, T, nonnegative)
    if largest:
        formula: Expr | None = None
        if not any(expressions[1:-1]) and Signs(nonnegative).is_nonnegative(T):
            power = -expressions[0] / expressions[-1]
            formula = sympy.powdenest(sympy.Pow(power, sympy.Rational(1, degree)))
        return Root(symbol, polynomial, formula, "the largest real root", 0, slopes), chart
    if is_only_root(chart, coefficients):
        return Root(symbol, polynomial, None, "the only real root", 0), chart
    above = _branch_at_start(chart, coefficients, T)
    if above is None:
        return None
    start = to_expr(chart.parameterization.at_start(T), chart.notation.start_symbols)
    branch = f"the real root that starts at {start}"
    apart = replace(chart, assumptions=(*chart.assumptions, Condition(symbol, Sign.SIMPLE)))
    return Root(symbol, polynomial, None, branch, above), apart


def _polynomial(chart: Chart, symbol: Symbol, coefficients: Sequence[RationalFunction]) -> Expr:
    """Return sum_k c_k T^k in beta."""
    return sympy.Add(*(to_expr(c, chart.images) * symbol**n for n, c in enumerate(coefficients)))


def _quadratic_root(
    chart: Chart, coefficients: Sequence[RationalFunction], T: RationalFunction
) -> tuple[Expr, str, int | None, Chart] | None:
    """Return T = (-b + sign sqrt(b^2 - 4 a c))/(2 a), sign that of 2 a T + b, and its branch.

    Where the sign of T + b/(2 a) is the same for every start, b and c are divided by a first.
    """
    p = chart.parameterization
    sign, branch = 1, "the largest real root"
    lifted = list(map(chart.coordinates.pull_back, coefficients))
    if not is_largest_root(chart.coordinates, coefficients, T, p.nonnegative):
        branch = "the root on the branch of the start"
        slope = 2 * lifted[2] * T + lifted[1]
        settled = _settled(chart, slope)
        if settled:
            sign = settled
        elif way := _settled(chart, slope * lifted[2]):
            c, b = (to_shorter_expr(x / coefficients[2], chart.images) for x in coefficients[:2])
            explicit = -b / 2 + way * sympy.sqrt(sympy.expand(b**2 / 4 - c))
            branch = f"the {'larger' if way > 0 else 'smaller'} real root"
            return explicit, branch, 0 if way > 0 else 1, chart
        else:
            value = p.at_start(slope)
            start = sign_at_start(value, chart.notation, chart.conditions)
            if not start.sign:
                return None
            sign, chart = start.sign, _resting_on(chart, start, value, slope)
    c, b, a = (to_expr(x, chart.images) for x in coefficients)
    root = sign * square_root(beside_logarithms(sympy.expand, b**2 - 4 * a * c))
    leading = coefficients[2]
    explicit = (root - b) / (2 * a)
    if not leading.is_constant():
        middle = _settled(chart, lifted[1]) or _on_leaf(chart, coefficients[1], lifted[1])
        if middle == sign:  # the same, without a pole where the leading coefficient is 0
            explicit = -2 * c / (root + b)
    above = None
    if leading.is_constant():
        above = 0 if (sign > 0) == (leading.value() > 0) else 1
    return explicit, branch, above, chart


def _settled(chart: Chart, f: RationalFunction) -> int:
    """Return the sign of a function that is the same for every start; 0 where none is proved.

    det K >= 0, and so is what it is a nonnegative multiple of.
    """
    known = Signs(chart.parameterization.nonnegative)
    for sign in (1, -1):
        if any(map(known.is_nonnegative, (sign * f, sign * f / chart.metric.determinant))):
            return sign
    return 0


def _on_leaf(chart: Chart, written: RationalFunction, f: RationalFunction) -> int:
    """Return the sign of a constant of the leaf that the start settles, else 0."""
    if {b.name for b in chart.notation.betas} & {*written.variables()}:
        return 0
    start = sign_at_start(chart.parameterization.at_start(f), chart.notation)
    same = start.notation.assumed == chart.notation.assumed
    return start.sign if same and not start.conditions else 0


def square_root(radicand: Expr) -> Expr:
    """Return the square root of a polynomial, with squares of numbers taken out of it."""
    content, primitive = radicand.as_content_primitive()
    outside, inside = sympy.sqrt(content).as_coeff_Mul()
    return outside * sympy.sqrt(inside**2 * primitive)


def is_largest_root(
    coordinates: Coordinates,
    coefficients: Sequence[RationalFunction],
    T: RationalFunction,
    nonnegative: frozenset[str] = frozenset(),
) -> bool:
    """Tell whether T(w) is proved to be the largest real root of its polynomial P, everywhere.

    If P, P', P''/2!, ... are all >= 0 at T and the leading one is > 0, then
    P(T + h) = sum_k P^(k)(T)/k! h^k > 0 for h > 0.
    """
    *slopes, leading = taylor(coordinates, coefficients, T)
    if not leading.is_constant() or leading.value() <= 0:
        return False
    return all(map(Signs(nonnegative).is_nonnegative, slopes))


def taylor(
    coordinates: Coordinates, coefficients: Sequence[RationalFunction], T: RationalFunction
) -> Iterator[RationalFunction]:
    """Yield P^(k)(T)/k! for k from 1 to the degree of P, as functions of the weights."""
    pulled = list(map(coordinates.pull_back, coefficients))
    for k in range(1, len(pulled)):
        parts = (comb(n, k) * pulled[n] * T ** (n - k) for n in range(k, len(pulled)))
        yield sum(parts, T.field.zero)


def is_only_root(chart: Chart, coefficients: Sequence[RationalFunction]) -> bool:
    """Tell whether the polynomial is proved to be monotone in T, so that it has one real root.

    The laws have their values at the start, beta is free: the slope in T has no factor in T that
    changes its sign.
    """
    p, betas = chart.parameterization, [b.name for b in chart.notation.betas]
    names = (*betas, "_T")
    field = p.start_field.extended(names)
    rest = field.gens[len(names) :]
    free = dict(zip(names, field.gens, strict=False))
    try:
        lifted = [
            free[name] if name in betas else p.at_start(f).compose(rest, field)
            for name, f, _ in chart.entries
        ]
        slopes = (
            n * c.compose(lifted, field) * free["_T"] ** (n - 1)
            for n, c in enumerate(coefficients)
            if n
        )
        parts = factors(sum(slopes, field.zero))
    except ZeroDivisionError:
        return False
    moving = prod((f**n for f, n in parts if f.depends_on(len(betas))), start=field.one)
    known = Signs(chart.notation.positive)
    return known.is_nonnegative(moving) or known.is_nonnegative(-moving)


def _branch_at_start(
    chart: Chart, coefficients: Sequence[RationalFunction], T: RationalFunction
) -> int | None:
    """Return which real root T is at a start in numbers, by balls; None for a start in symbols."""
    p = chart.parameterization
    if p.field.generators or not all(w.is_constant() for w in p.w0):
        return None
    point = [w.value() for w in p.w0]
    try:
        values: list[Fraction] = [chart.coordinates.pull_back(c).at(point) for c in coefficients]
        at = T.at(point)
    except ZeroDivisionError:
        return None
    slope = sum(n * c * at ** (n - 1) for n, c in enumerate(values) if n)
    # A root that passes through infinity, or is double at the start, has no lasting number.
    leading = chart.coordinates.pull_back(coefficients[-1])
    if slope == 0 or any(not along(x, leading).is_zero() for x in p.fields):
        return None
    return branch_from_above(values, at)
