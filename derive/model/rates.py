"""Learning rates of the weights, as given or as those of mirror descent on the weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from derive.errors import DegenerateStart, InputError
from derive.exact.field.factors import factored
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import determinant, dot, inverse
from derive.exact.signs import Signs, is_number
from derive.exact.towers.tower import build_elements
from derive.language import parse_expression, to_text
from derive.language.arrays import Shape, by_entry, refuse_arrays
from derive.language.tree import Number, Tree, names
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
    for f in (f for _, rate in _rates(p) for f, _ in factored(rate)[1]):
        slopes = [dot(x, p.field.gradient(f)) / f for x in p.fields]
        if not (all(slope.is_polynomial() for slope in slopes) or known.is_positive(f)):
            yield f


def _rates(p: ExactMap) -> Iterator[tuple[str, RationalFunction]]:
    # Rates that are 1 are as in gradient flow, which has none.
    found = zip(p.weights, p.geometry.signs, strict=False)
    return ((name, rate) for name, rate in found if rate != rate.field.one)
