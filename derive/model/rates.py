"""Learning rates of the weights: as given, of mirror descent, or of steepest descent in l_p.

Steepest descent moves the weights along w' = phi(J^T l), entry by entry, l = -X^T r, up to the unit
of time and whether the step is normalised or not: phi(x) = sign(x) |x|^s, s = 1/(p - 1), and phi =
sign for p = oo, sign descent. phi is multiplicative. So where outputs share no weights,

    w' = sum_j lambda_j G^-1 dF_j,    lambda_j = phi(l_j),    G^-1 = diag(|d_k F|^(s - 1)).

Laws, K = J G^-1 J^T = sum_k |d_k F|^(s + 1) and y' = lambda are those of these rates, as long as no
d_k F that is raised to less than an even power is 0. But lambda is not in the row space of X.

Where outputs share weights phi(J^T l) turns with l: see :mod:`derive.model.steepest`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce

from derive.errors import DegenerateStart, InputError
from derive.exact.field.factors import factored
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import determinant, dot, inverse
from derive.exact.signs import Signs, is_number, sign_of_number
from derive.exact.towers.tower import build_elements
from derive.language import parse_expression, to_text
from derive.language.arrays import Shape, by_entry, refuse_arrays
from derive.language.tree import Number, Operation, Power, Tree, names
from derive.model.exact_map import ExactMap
from derive.model.geometry import EUCLIDEAN, Geometry
from derive.model.names import positive_bases, read_tree

ONE = Number(Fraction(1))


def read_rates(
    weights: Sequence[str], rates: Mapping[str, object], mirror: object | None
) -> Geometry:
    """Return the metric in which the weights have these rates, or descend in the mirror psi.

    Mirror descent, d/dt grad psi(w) = -J^T X^T r, has G = Hess psi: the rates 1/psi''(w) where psi
    is a sum of functions of one weight each (Amid, Warmuth 2020).

    Raises:
        InputError: a weight is not known, both are given, or Hess psi is singular.
    """
    if rates and mirror is not None:
        raise InputError("give rates or a mirror, not both")
    if mirror is not None:
        return _of_mirror(weights, read_tree(mirror, "the mirror"))
    for name in rates:
        if name not in weights:
            raise InputError(
                f"rates: there is no weight {name:.60} (the weights are {', '.join(weights)})"
            )
    rows = [row for row in map(rates.get, weights) if isinstance(row, list | tuple)]
    if rows:
        return _of_rows(rows, len(weights))
    given = {name: read_tree(rate, f"the rate of {name}") for name, rate in rates.items()}
    found = tuple(given.get(w, ONE) for w in weights)
    return EUCLIDEAN if all(rate == ONE for rate in found) else Geometry(found)


def rates_by_entry(
    rates: Mapping[str, object], mirror: object | None, arrays: Mapping[str, Shape]
) -> dict[str, object]:
    """Return the rates of entries, where none is a function of a whole array; nor is the mirror."""
    found = by_entry(rates, arrays)
    given = (x if isinstance(x, list | tuple) else [x] for x in (*found.values(), mirror or "0"))
    functions = [read_tree(x, "a rate") for row in given for x in row] if arrays else []
    refuse_arrays(functions, arrays, "rates, mirror")
    return found


def _of_rows(rows: Sequence[Sequence[object]], n: int) -> Geometry:
    """Return G^-1 as it is given."""
    if any(len(row) != n for row in (*rows, rows)):
        raise InputError("rates: give each weight a rate, or each a row of G^-1")
    return Geometry(tuple(read_tree(x, "G^-1") for row in rows for x in row), n)


def _of_mirror(weights: Sequence[str], psi: Tree) -> Geometry:
    """Return G^-1 for G = Hess psi."""
    constants = [name for name in names((psi,)) if name not in weights]
    positive = positive_bases((psi,), tuple(weights))
    (function,) = build_elements((psi,), weights, constants, positive)
    field, n = function.field, len(weights)
    H = tuple(tuple(field.gradient(x)[:n]) for x in field.gradient(function)[:n])
    for name, row in zip(weights, H, strict=True):
        if all(x.is_zero() for x in row):
            raise InputError(f"the mirror is not strictly convex in {name}")
    if all(x.is_zero() for k, row in enumerate(H) for j, x in enumerate(row) if j != k):
        return Geometry(
            tuple(parse_expression(repr(field.one / H[k][k])) for k in range(n)), psi=psi
        )
    if determinant(H).is_zero():
        raise InputError("the mirror is not strictly convex: det Hess psi = 0")
    return Geometry(tuple(parse_expression(repr(x)) for row in inverse(H) for x in row), n, psi=psi)


def rate_parameters(geometry: Geometry, weights: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the rates that are no weights: positive parameters."""
    return tuple(name for name in names(geometry.trees) if name not in weights)


def positive_rates(geometry: Geometry, start: Sequence[tuple[str, Tree]]) -> tuple[str, ...]:
    """Return the weights that have the sign of a rate, as all else in it is positive.

    Of one that starts at a number, that is positive; the rate is refused otherwise.
    """
    weights = [w for w, _ in start]
    low = {w for w, x in start if isinstance(x, Number) and x.value <= 0}
    trees = geometry.trees if geometry.is_diagonal else ()
    known = rate_parameters(geometry, weights)
    elements = build_elements(trees, weights, known, known) if trees else ()
    rates = [factored(r) for r in elements]
    positive = list[str]()
    while True:
        signs = Signs((*known, *positive))
        odd = ([f for f, n in r if n % 2 and not signs.is_positive(f)] for c, r in rates if c > 0)
        grown = {repr(f) for f, *others in filter(None, odd) if not others}
        grown &= {*weights} - low
        if not grown:
            return tuple(positive)
        positive += sorted(grown)


RATE = "the rate of {name}, {rate:.60},"
CURVATURE = "the mirror is not strictly convex: 1/psi'' in {name}, {rate:.60},"
MINOR = "the mirror is not strictly convex: the minor of G^-1 up to {name}, {rate:.60},"


def check_rates(p: ExactMap, words: str) -> None:
    """Refuse rates that are undefined, zero or negative at the start; *words* say which one is."""
    if not p.geometry.is_diagonal:
        words, n, r = MINOR, p.p, p.geometry.functions
        if any(r[n * i + j] != r[n * j + i] for i in range(n) for j in range(i)):
            raise InputError("rates: G^-1 is not symmetric")
    for name, rate in _rates(p):
        said = words.format(name=name, rate=to_text(parse_expression(repr(rate))))
        try:
            value = p.at_start(rate)
        except ZeroDivisionError:
            raise DegenerateStart(f"{said} is undefined at the start") from None
        sign = Signs(p.positive).of(value)
        if sign < 0 or (not sign and is_number(value)):
            raise InputError(f"{said} is not positive at the start")


def open_factors(p: ExactMap) -> Iterator[RationalFunction]:
    """Yield the factors f of rates that are not seen to keep their sign: as where f | X_a f."""
    roots = (g.name for g in p.field.generators if g.kind in ("exp", "root"))
    known = Signs((*p.parameters, *p.nonnegative, *roots))
    for f in (f for _, rate in _rates(p) for f, _ in factored(p.field.embed(rate))[1]):
        slopes = [dot(x, p.field.gradient(f)) / f for x in p.fields]
        if not (all(slope.is_polynomial() for slope in slopes) or known.is_positive(f)):
            yield f


def _rates(p: ExactMap) -> Iterator[tuple[str, RationalFunction]]:
    # Rates that are 1 are as in gradient flow, which has none.
    found = zip(p.weights, p.geometry.signs, strict=False)
    return ((name, rate) for name, rate in found if rate != rate.field.one)


INFINITE = ("oo", "inf", "infinity")
LARGEST = 64
"""Numerators and denominators of p."""


def read_steepest(
    plain: Callable[[Iterable[str]], ExactMap],
    positive: tuple[str, ...],
    norm: object,
    others: Sequence[object],
) -> tuple[tuple[str, ...], Geometry]:
    """Return what starts positive, and the metric, of steepest descent in a norm.

    Args:
        plain: makes F without it, of what starts positive.
        others: rates and the mirror, of which there may be none.

    Raises:
        InputError: of :func:`signed_weights` and :func:`steepest_metric`; or there are others.
    """
    if any(others):
        raise InputError("steepest: leave out rates and mirrors")
    s = read_power(norm)
    signed = (*positive, *signed_weights(plain(positive), s))
    return signed, steepest_metric(plain(signed), s)


def read_power(norm: object) -> Fraction:
    """Return s = 1/(p - 1) of steepest descent in l_p, 0 for p = oo.

    Raises:
        InputError: p is no number above 1, nor oo.
    """
    if str(norm).strip() in INFINITE:
        return Fraction(0)
    try:
        p = Fraction(str(norm).strip())
    except (ValueError, ZeroDivisionError):
        p = Fraction(0)
    if not p > 1 or max(p.numerator, p.denominator) > LARGEST:
        raise InputError(f"steepest: give p of l_p, oo or a number above 1 such as 4/3, not {norm}")
    return 1 / (p - 1)


def signed_weights(p: ExactMap, s: Fraction) -> tuple[str, ...]:
    """Return the weights by whose signs |d_k F|^(s - 1) is written, which start positive.

    The l_p norm stays the same where -w is put for w, so that this is no loss.

    Raises:
        InputError: one starts at 0 or below.
    """
    if s % 2 == 1:
        return ()
    used = {name for row in p.covectors for f in row for name in f.variables()}
    for name, value in zip(p.weights, p.w0, strict=True):
        if name in used and is_number(value) and sign_of_number(value) <= 0:
            words = f"put -{name} for {name} in F" if sign_of_number(value) else "start elsewhere"
            raise InputError(f"steepest: {name} does not start positive: {words}")
    return tuple(name for name in p.weights if name in used)


def steepest_metric(p: ExactMap, s: Fraction) -> Geometry:
    """Return the metric diag(|d_k F|^(1 - s)), in which the curve is that of gradient flow.

    Raises:
        InputError: outputs share weights, or the sign of some d_k F is not known.
    """
    if s == 1:
        return EUCLIDEAN
    if p.vectors or len(p.blocks) < p.d:
        raise InputError("steepest: these outputs share weights: Parameterization.parse decides")
    columns = zip(*p.covectors, strict=True)
    slopes = [next((f for f in column if not f.is_zero()), None) for column in columns]
    sizes = [1 if f is None else abs(factored(f)[0]) for f in slopes]
    unit = Fraction(1) if s.denominator == 1 else Fraction(sizes[0])
    trees = (_rate(p, s, f, c / unit) for f, c in zip(slopes, sizes, strict=True))
    return Geometry(tuple(trees), steepest=s)


def _rate(p: ExactMap, s: Fraction, f: RationalFunction | None, size: Fraction) -> Tree:
    """Return |f|^(s - 1), up to a unit of time, by factors that start positive."""
    if f is None:
        return ONE
    calls = (g.name for g in p.field.generators if g.kind in ("exp", "power", "root"))
    known, whole = Signs((*p.positive, *calls)), p.field.one
    powers = [] if s.denominator == 1 or size == 1 else [Power(Number(size), s - 1)]
    if s.denominator == 1:
        whole = p.field.constant(size ** int(s - 1))
    for g, n in factored(f)[1]:
        sign = 1 if s % 2 == 1 else known.strict(g) or Signs(p.positive).strict(p.at_start(g))
        if not sign:
            shown = to_text(parse_expression(repr(g)))
            raise InputError(f"steepest: the sign of {shown:.60} is not known: start at numbers")
        base, e = g if sign > 0 else -g, n * (s - 1)
        if e.denominator == 1:
            whole *= base ** int(e)
        else:
            powers.append(Power(parse_expression(repr(base)), e))
    trees = [parse_expression(repr(whole)), *powers][whole == 1 and bool(powers) :]
    return reduce(lambda x, y: Operation("*", x, y), trees)
