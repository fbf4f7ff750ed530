"""The signs of functions of one field: whatever is decided of them is decided here.

A function is a number times powers of irreducible factors. A factor is not negative where none of
its terms is, or where it is a positive semidefinite quadratic form in monomials; it is positive
where it is more than a part of a term that is, or than a sum of what is given to be. a + b sqrt(A)
has the sign of a where a^2 >= b^2 A, else that of b; a + b sin(A) that of a where |b| <= a; and a
number such as 1 - sqrt(2) is in a ball. What is not proved is open, not false.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod
from random import Random
from typing import Any

from flint import arb, fmpq, fmpq_mat

from derive.exact.balls import PRECISIONS, Unbounded, Value, evaluate_any, precise, values_of
from derive.exact.field.factors import Factorization, factors, split
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import Polynomial, factorize, terms

NUMBERS = {"pi": arb.pi}
"""Names that are numbers, with their balls."""
MAXIMAL_SQUARES, MARGIN = 64, 1024
"""Squares among the terms beyond which no sum of squares is sought; how much more it may be."""


@dataclass(frozen=True)
class Signs:
    """What is proved of signs where some names are positive, or not 0, and functions positive.

    >>> u, v = FunctionField(("u", "v")).gens
    >>> Signs().is_nonnegative(u**2 - u * v + v**2), Signs().is_nonnegative(u**2 - 3 * u * v + v**2)
    (True, False)
    >>> Signs("v").strict(-u**2 - v), Signs().strict(u**2 + u + 1), Signs().strict(u**2 + v**2)
    (-1, 1, 0)
    """

    positive: Collection[str] = ()
    nonzero: Collection[str] = ()
    given: Sequence[RationalFunction] = ()

    def is_nonnegative(self, f: RationalFunction) -> bool:
        """Tell whether f is proved >= 0 wherever it is defined."""
        return f.is_zero() or _is_one_sided(f, lambda p, n: n % 2 == 0 or self._is_form(f, p))

    def is_positive(self, f: RationalFunction) -> bool:
        """Tell whether f is proved > 0 wherever it is defined."""
        rests = [rest for n, rest in vertices(f, self.given) if any(n) and min(n) >= 0]
        rests += [f - g / f.field.constant(MARGIN) for g in self.given]
        return _is_one_sided(f, lambda p, n: self._exceeds_a_term(f, p ** (2 - n % 2))) or any(
            map(self.is_nonnegative, rests)
        )

    def strict(self, f: RationalFunction) -> int:
        """Return the sign that f is proved to have wherever it is defined; 0: none is proved."""
        if is_number(f):
            return sign_of_number(f)
        alone = int(self.is_positive(f)) - int(self.is_positive(-f))
        apart = (any(map(self.is_positive, (norm, -norm))) for _, _, norm in _norms(f))
        return alone or (self._by_norm(f) if any(apart) else 0)

    def zeros_of(self, f: RationalFunction) -> list[RationalFunction]:
        """Return the irreducible factors of f that are not proved to be nowhere 0."""
        nowhere = is_number(f) and sign_of_number(f) != 0
        return [] if nowhere else [p for p, _ in factors(f) if not self.strict(p)]

    def of(self, f: RationalFunction) -> int:
        """Return the sign that f is proved to have wherever it is not 0; 0: none is proved."""
        if f.is_zero():
            return 0
        if is_number(f):
            return sign_of_number(f)
        bounded = (sign for sign in (1, -1) if _exceeds_a_sine(sign * f))
        if sign := next(bounded, 0) or self._manifest(f):
            return sign
        sign = 1
        for part in map(f.field.polynomial, f.parts):
            sign *= self._manifest(part) or self._by_norm(part)
        return sign

    def where_positive(self, f: RationalFunction, others: Iterable[RationalFunction]) -> int:
        """Return the sign of f where some functions are positive; 0: none is proved.

        It is that of a product of f with powers of them, of which the last few are tried.
        """
        read = [f.field.embed(x) for x in others if not is_number(x)][-_OTHERS:]
        powers = product((0, 1, -1), repeat=len(read))
        products = (f * prod(x**n for x, n in zip(read, k, strict=True)) for k in powers)
        return next(filter(None, map(self.of, products)), 0)

    def nearest(self, side: int, ends: Iterable[RationalFunction]) -> list[RationalFunction]:
        """Return the ends of an interval on one side that are not proved to lie beyond another."""
        kept = list(dict.fromkeys(ends))
        for end in tuple(kept):
            others = [other for other in kept if other != end]
            if any(self.of(side * (end - other)) > 0 for other in others):
                kept = others
        return kept

    def _manifest(self, f: RationalFunction) -> int:
        return int(self.is_nonnegative(f)) - int(self.is_nonnegative(-f))

    def _by_norm(self, f: RationalFunction) -> int:
        """Return the sign of f = a + b r by a^2 - b^2 r^2, for a square root r, 0 if none tells."""
        for a, b, norm in _norms(f):
            side = self._manifest(norm)
            if sign := abs(side) * self._manifest(a if side > 0 else b):
                return sign
        return 0

    def _is_form(self, f: RationalFunction, factor: Polynomial) -> bool:
        """Tell whether a factor of f is seen not to be negative."""
        names = f.field.names
        manifest = all(
            c > 0 and all(e % 2 == 0 or names[k] in self.positive for k, e in enumerate(exponents))
            for exponents, c in terms(factor)
        )
        return manifest or _is_sum_of_squares(factor)

    def _exceeds_a_term(self, f: RationalFunction, factor: Polynomial) -> bool:
        """Tell whether a factor of f is more than a fraction of a term that is positive."""

        def is_positive_term(exponents: Sequence[int]) -> bool:
            powers = zip(f.field.names, exponents, strict=True)
            free = [(name, e) for name, e in powers if e and name not in self.positive]
            return all(name in self.nonzero and e % 2 == 0 for name, e in free)

        context = factor.context()
        least = (
            context.from_dict({e: c}) for e, c in terms(factor) if c > 0 and is_positive_term(e)
        )
        return any(self._is_form(f, factor * MARGIN - term) for term in least)


def _norms(
    f: RationalFunction,
) -> Iterator[tuple[RationalFunction, RationalFunction, RationalFunction]]:
    """Yield a, b and a^2 - b^2 r^2 for the square roots r with f = a + b r."""
    field = f.field
    for root in (g for g in field.generators if g.kind == "root" and g.index == 2):
        k = field.positions[root.name]
        b = f.partial(k)
        if not (b.is_zero() or b.depends_on(k)):
            a = f - b * field.gens[k]
            yield a, b, a * a - b * b * field.embed(root.argument)


MOST, ZERO = 400, fmpq(0)
"""Systems of equations that are tried for vertices."""


def vertices(
    f: RationalFunction, given: Sequence[RationalFunction]
) -> Iterator[tuple[tuple[Fraction, ...], RationalFunction]]:
    """Yield (n, f - sum_i n_i g_i) where as many n_i and coefficients are 0 as there are g_i.

    Among them are the vertices of the n for which no coefficient is negative but for the constant
    one: all other such sums of the g_i are means of those at vertices, or less.

    >>> u, v = FunctionField(("u", "v")).gens
    >>> {str(*n): rest for n, rest in vertices(u**2, [2 * u**2 - v**2])}
    {'0': u**2, '1/2': v**2/2}
    """
    if not given:
        return
    above, *rows = map(_coefficients, (f, *given))
    places = range(len(given))
    monomials = len(set[tuple[int, ...]]().union(*rows))
    few = comb(monomials + len(given), len(given)) <= MOST
    yield (Fraction(0),) * len(given), f
    for support in (s for k in places for s in combinations(places, k + 1)) if few else ():
        for values in dict.fromkeys(_solutions(above, [rows[k] for k in support])):
            n = dict(zip(support, values, strict=True))
            sums = (f.field.constant(x) * given[k] for k, x in n.items())
            yield tuple(n.get(k, Fraction(0)) for k in places), f - sum(sums, f.field.zero)


def _solutions(
    above: Mapping[tuple[int, ...], fmpq], rows: Sequence[Mapping[tuple[int, ...], fmpq]]
) -> Iterator[tuple[Fraction, ...]]:
    """Yield numbers, all not 0, with which a sum of rows has as many entries of what is above."""
    equations = [
        ([row.get(m, ZERO) for row in rows], [above.get(m, ZERO)])
        for m in sorted(set[tuple[int, ...]]().union(*rows))
    ]
    for chosen in combinations(equations, len(rows)):
        left, right = zip(*chosen, strict=True)
        with suppress(ZeroDivisionError):
            solved = fmpq_mat([*left]).solve(fmpq_mat([*right])).entries()
            if all(solved):
                yield tuple(Fraction(int(x.p), int(x.q)) for x in solved)


def _coefficients(f: RationalFunction) -> dict[tuple[int, ...], fmpq]:
    """Return the coefficients of a polynomial but for the constant one."""
    below = int(f.denominator.leading_coefficient())
    return {e: fmpq(c, below) for e, c in terms(f.numerator) if any(e)}


def _is_one_sided(function: RationalFunction, passes: Callable[[Polynomial, int], bool]) -> bool:
    """Tell whether numbers make a positive sign and all factors pass, whose first terms are > 0.

    Beside a norm, 4 x^2 + 3 y^2 = (2 r - y)(2 r + y): the factors in x and y are tried first.
    """

    def holds(take: Callable[[Polynomial], Factorization]) -> bool:
        sides = [take(polynomial) for polynomial in function.parts]
        same = len({content > 0 for content, _ in sides}) == 1
        return same and all(passes(f, n) for _, factors in sides for f, n in factors)

    return holds(factorize) or (
        bool(function.field.norms) and holds(lambda x: split(function.field, x))
    )


def _is_sum_of_squares(polynomial: Polynomial) -> bool:
    """Test a polynomial as a quadratic form in the monomials whose squares are among its terms."""
    known = {tuple(map(int, e)): Fraction(c) for e, c in terms(polynomial)}
    squares = [e for e, c in known.items() if c > 0 and all(n % 2 == 0 for n in e)]
    if len(squares) > MAXIMAL_SQUARES:
        return False
    gram = {(e, e): known.pop(e) for e in squares}
    for u, v in combinations(squares, 2):
        between = tuple((m + n) // 2 for m, n in zip(u, v, strict=True))
        gram[u, v] = gram[v, u] = known.pop(between, Fraction(0)) / 2
    rows = [[gram[u, v] for v in squares] for u in squares]
    return not known and is_semidefinite(rows, lambda x: x >= 0)


def is_semidefinite(gram: Sequence[Sequence[Any]], is_nonnegative: Callable[[Any], bool]) -> bool:
    """Tell whether a symmetric matrix is proved positive semidefinite, by exact elimination."""
    while gram:
        (pivot, *row), *rest = gram
        if not is_nonnegative(pivot) or (pivot == 0 and any(x != 0 for x in row)):
            return False
        gram = [
            [x if first == 0 else x - first * y / pivot for x, y in zip(others, row, strict=True)]
            for first, *others in rest
        ]
    return True


def _exceeds_a_sine(f: RationalFunction) -> bool:
    """Tell whether f is a + b sin(A), or cos, with numbers |b| <= a."""
    for g in f.field.generators:
        if g.kind in ("sin", "cos") and f.variables() == (g.name,):
            b = f.partial(f.field.positions[g.name])
            a = f - b * f.field.named(g.name)
            return a.is_constant() and b.is_constant() and abs(b.value()) <= a.value()
    return False


def is_number(value: RationalFunction) -> bool:
    """Tell whether a function of the start has no name in it that is free, as 1 - sqrt(pi)."""
    return {*value.field.made_of(NUMBERS)} >= {*value.variables()}


def sign_of_number(value: RationalFunction) -> int:
    """Return the sign of a number by balls; 0 where no ball is small enough to tell."""
    unused = {*value.field.names} - value.field.below(value.variables())
    for bits in PRECISIONS:
        with suppress(Unbounded, ZeroDivisionError), precise(bits):
            images: dict[str, Value] = dict.fromkeys(unused, Fraction(0))
            images |= {name: ball() for name, ball in NUMBERS.items()}
            x = evaluate_any(value, values_of(value.field, images, bits), bits)
            if x > 0 or x < 0:
                return 1 if x > 0 else -1
    return 0


def free_names(field: FunctionField) -> list[str]:
    """Return the names of a field that are no calls, or integrals, whose values are not known."""
    integrals = (g.name for g in field.generators if g.kind == "integral")
    return [*(n for n in field.names if n in field.parameters or n in field.weights), *integrals]


_OTHERS = 4
"""Functions of which products are tried for a sign."""
TRIES = 300


def points(names: Sequence[str], positive: frozenset[str]) -> Iterator[dict[str, Fraction]]:
    """Yield small numbers for names, positive ones where they are known to be."""
    rng = Random(8)
    for _ in range(TRIES):
        yield {
            name: Fraction(rng.randint(1, 12), rng.randint(1, 4))
            * (1 if name in positive or rng.random() < 0.5 else -1)
            for name in names
        }


def is_feasible(conditions: Sequence[RationalFunction], positive: frozenset[str]) -> bool:
    """Tell whether a start was found at which all the functions are positive."""
    field = conditions[0].field
    for point in points(free_names(field), positive):
        with suppress(Unbounded, ZeroDivisionError):
            values = values_of(field, point)
            if all(evaluate_any(c, values) > 0 for c in conditions):
                return True
    return False
