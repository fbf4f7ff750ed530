"""Exact functions for the checker of certificates: quotients of polynomials, and their values.

A function is a quotient of integer polynomials in weights, constants and *generators*: calls such
as exp(w) and powers such as sqrt(u**2 + v**2) or p**D, with their derivatives. An identity holds
when its numerator leaves no remainder by the relations; that needs no independence of generators,
since a combination of true relations is true. That a function is *not* zero is only concluded from
a value, in rationals or in balls. All divisors are kept, so that the checker can see to that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

from flint import Ordering, arb, ctx, fmpq, fmpz, fmpz_mpoly, fmpz_mpoly_ctx

from derive.certificate.checking.text import require

Value: TypeAlias = fmpq | arb
Number: TypeAlias = "Function | int | fmpq"
Table: TypeAlias = "Sequence[Sequence[Function]]"
X = TypeVar("X", bound=Any)  # what can be added and multiplied
BITS, NAMES = 320, 400
TERMS, DEGREE, DIGITS, WORK = 300_000, 2_000, 20_000, 30_000_000


class Ring:
    """Polynomials in weights, then constants, then generators; *relations* vanish on the leaf.

    ``slopes[j][k]`` is the derivative of generator j by weight k.
    """

    def __init__(self, weights: int, size: int, generators: int) -> None:
        require(size + generators <= NAMES, "there are too many names")
        self.weights, self.size, self.work = weights, size, 0
        names = [f"x{i}" for i in range(size + generators)]
        ring = fmpz_mpoly_ctx.get(names, Ordering.degrevlex)
        self.one = ring.constant(1)
        self.symbols = [self.of(x) for x in ring.gens()]
        self.slopes: list[list[Function]] = []
        self.relations: list[tuple[fmpz_mpoly, int]] = []
        self.divisors: dict[str, fmpz_mpoly] = {}
        self.factored: dict[str, tuple[fmpz, list[tuple[fmpz_mpoly, int]]]] = {}

    def spend(self, work: int) -> None:
        """Count what is multiplied, and refuse what would not end."""
        self.work += work
        require(self.work < WORK, "the certificate takes too much work")

    def number(self, x: Number) -> Function:
        """Return a rational number as a function."""
        if isinstance(x, Function):
            return x
        return Function(self, self.one * fmpq(x).p, self.one * fmpq(x).q)

    def of(self, polynomial: fmpz_mpoly) -> Function:
        """Return a polynomial as a function."""
        return Function(self, polynomial, self.one)

    def sum(self, terms: Iterable[Function]) -> Function:
        """Return a sum of functions."""
        return sum(terms, self.number(0))

    def dot(self, row: Iterable[Function], column: Iterable[Function]) -> Function:
        """Return the sum of the products of entries."""
        return self.sum(x * y for x, y in zip(row, column, strict=True))

    def identity(self, size: int) -> Table:
        """Return the identity matrix."""
        return [[self.number(int(i == j)) for j in range(size)] for i in range(size)]

    def factor(self, polynomial: fmpz_mpoly) -> tuple[fmpz, list[tuple[fmpz_mpoly, int]]]:
        """Return the content of a polynomial and its factors, which are kept."""
        if (key := str(polynomial)) not in self.factored:
            self.factored[key] = factor(polynomial)
        return self.factored[key]

    def reduce(self, polynomial: fmpz_mpoly) -> fmpz_mpoly:
        """Return the remainder of a polynomial by all relations, the last first."""
        for relation, k in 2 * self.relations[::-1]:
            polynomial, _ = remainder(polynomial, relation, k)
        return polynomial


def factor(polynomial: fmpz_mpoly) -> tuple[fmpz, list[tuple[fmpz_mpoly, int]]]:
    """Return the content and the irreducible factors, or those of a square-free factorization."""
    try:
        content, parts = polynomial.factor()
    except OverflowError:  # flint does not sort factors with such coefficients
        content, parts = polynomial.factor_squarefree()
    return content, [(p, int(n)) for p, n in parts]


def times(a: fmpz_mpoly, b: fmpz_mpoly) -> fmpz_mpoly:
    """Return the product of two polynomials, refusing what would not end."""
    if a.is_one() or b.is_one():
        return b if a.is_one() else a
    fits = len(a) * len(b) <= TERMS and a.total_degree() + b.total_degree() <= DEGREE
    short = all(x.is_zero() or x.leading_coefficient().bit_length() < DIGITS for x in (a, b))
    require(fits and short, "an expression is too large to be expanded")
    return a * b


class Function:
    """A quotient of two integer polynomials."""

    def __init__(self, ring: Ring, top: fmpz_mpoly, bottom: fmpz_mpoly) -> None:
        ring.spend(len(top) * len(bottom))
        if not bottom.is_one():
            common = top.gcd(bottom) if bottom.leading_coefficient() > 0 else -top.gcd(bottom)
            top, bottom = top / common, bottom / common
        self.ring, self.top, self.bottom = ring, top, bottom

    def __add__(self, other: Number) -> Function:
        other = self.ring.number(other)
        if self.bottom == other.bottom:
            return Function(self.ring, self.top + other.top, self.bottom)
        common = self.bottom.gcd(other.bottom)
        left, right = other.bottom / common, self.bottom / common
        top = times(self.top, left) + times(other.top, right)
        return Function(self.ring, top, times(self.bottom, left))

    def __neg__(self) -> Function:
        return Function(self.ring, -self.top, self.bottom)

    def __sub__(self, other: Number) -> Function:
        return self + -self.ring.number(other)

    def __mul__(self, other: Number) -> Function:
        other = self.ring.number(other)
        top, bottom = times(self.top, other.top), times(self.bottom, other.bottom)
        return Function(self.ring, top, bottom)

    def __rmul__(self, other: Number) -> Function:
        return self * other

    def __truediv__(self, other: Number) -> Function:
        other = self.ring.number(other)
        require(not other.top.is_zero(), "a divisor is zero")
        self.ring.divisors[str(other.top)] = other.top
        return self * Function(self.ring, other.bottom, other.top)

    def __rtruediv__(self, other: Number) -> Function:
        return self.ring.number(other) / self

    def __pow__(self, n: int) -> Function:
        return raised(self if n >= 0 else 1 / self, abs(n), self.ring.number(1))

    def same(self, other: Number) -> bool:
        """Tell whether this is equal to another by the relations; True is a proof."""
        return (self - other).is_zero()

    def is_zero(self) -> bool:
        """Tell whether this is zero by the relations; True is a proof."""
        return bool(self.ring.reduce(self.top).is_zero())

    def uses(self, k: int) -> bool:
        """Tell whether polynomial variable k occurs."""
        return k in self.variables

    @cached_property
    def variables(self) -> frozenset[int]:
        """The polynomial variables that occur."""
        degrees = (enumerate(side.degrees()) for side in (self.top, self.bottom))
        return frozenset(k for side in degrees for k, n in side if n > 0)

    def partial(self, k: int) -> Function:
        """Return the derivative by one polynomial variable, all others held fixed."""
        top, bottom = self.top, self.bottom
        slope = times(top.derivative(k), bottom) - times(top, bottom.derivative(k))
        return Function(self.ring, slope, times(bottom, bottom))

    def derivative(self, k: int) -> Function:
        """Return the derivative by weight k, that of generators by their rules."""
        total = self.partial(k)
        for j, slopes in enumerate(self.ring.slopes, self.ring.size):
            if self.uses(j):
                require(slopes, "a cosine is differentiated before its sine is defined")
                total = total + self.partial(j) * slopes[k]
        return total

    def at(self, values: Sequence[Value]) -> Value:
        """Return the value: exact, or a ball where one of the values is a ball."""
        with ctx.workprec(BITS):
            top, bottom = evaluated(self.top, values), evaluated(self.bottom, values)
            require(not_zero(bottom), "the point is a pole")
            return top / bottom

    def into(self, images: Sequence[Function]) -> Function:
        """Substitute functions for the first polynomial variables."""
        values = [*images, *self.ring.symbols[len(images) :]]
        top, bottom = (substituted(x, values, self.ring.number) for x in (self.top, self.bottom))
        return top / bottom


def evaluated(polynomial: fmpz_mpoly, values: Sequence[Value]) -> Value:
    """Return the value of a polynomial at rationals and balls."""
    return substituted(polynomial, values, fmpq)


def substituted(polynomial: fmpz_mpoly, values: Sequence[X], number: Callable[[int], X]) -> X:
    """Return a polynomial with values for the first variables."""
    total, powers = number(0), [{1: x} for x in values]
    for exponents, coefficient in polynomial.to_dict().items():
        term = number(int(coefficient))
        require(not any(exponents[len(values) :]), "a value is missing")
        for known, n in zip(powers, exponents, strict=False):
            if n and n not in known:
                known[n] = raised(known[1], int(n), number(1))
            term = term * known[n] if n else term
        total = total + term
    return total


def raised(x: X, n: int, one: X) -> X:
    """Return x^n, also of a ball around 0, of which the powers of python-flint are no numbers."""
    result = one
    for digit in bin(n)[2:]:
        result = result * result * x if digit == "1" else result * result
    return result


def remainder(polynomial: fmpz_mpoly, relation: fmpz_mpoly, k: int) -> tuple[fmpz_mpoly, int]:
    """Return r, of lower degree in variable k, and n: lead^n polynomial = q relation + r."""
    degree, steps = int(relation.degrees()[k]), 0
    if polynomial.is_zero() or polynomial.degrees()[k] < degree:
        return polynomial, steps
    parts, below = coefficients(polynomial, k), coefficients(relation, k)
    lead = below.pop(degree)
    while parts and (n := max(parts)) >= degree:
        top, steps = parts.pop(n), steps + 1
        parts = {m: times(lead, c) for m, c in parts.items()}
        for m, c in below.items():
            at = n - degree + m
            parts[at] = parts.get(at, 0) - times(top, c)
        parts = {m: c for m, c in parts.items() if not c.is_zero()}
    zero, symbol = 0 * relation, relation.context().gens()[k]
    return sum((c * symbol**m for m, c in parts.items()), zero), steps


def leading(polynomial: fmpz_mpoly, k: int) -> fmpz_mpoly:
    """Return the coefficient of the highest power of variable k."""
    return coefficients(polynomial, k).get(int(polynomial.degrees()[k]), 0 * polynomial)


def coefficients(polynomial: fmpz_mpoly, k: int) -> dict[int, fmpz_mpoly]:
    """Return the coefficients of the powers of variable k, by the powers that occur."""
    parts = dict[int, dict[tuple[int, ...], fmpz]]()
    for e, c in polynomial.to_dict().items():
        parts.setdefault(int(e[k]), {})[(*e[:k], 0, *e[k + 1 :])] = c
    return {n: polynomial.context().from_dict(part) for n, part in parts.items()}


def constant(f: Function) -> fmpq | None:
    """Return the rational number that a function is, or None."""
    if not (f.top.is_constant() and f.bottom.is_constant()):
        return None
    return fmpq(f.top.leading_coefficient(), f.bottom.leading_coefficient())


def root_of(exponent: Function) -> int | None:
    """Return n of an exponent 1/n, or None."""
    e = constant(exponent)
    return int(e.q) if e is not None and e.p == 1 and e.q > 1 else None


def ball(kind: str, u: Value, exponent: Value) -> Value:
    """Return the value of a call: exact where it is plain, else a ball."""
    if (kind in ("exp", "cos") and u == 0) or (kind == "power" and u == 1):
        return fmpq(1)
    if (kind in ("sin", "asinh", "atan") and u == 0) or (kind == "log" and u in (1, -1)):
        return fmpq(0)
    with ctx.workprec(BITS):
        x = arb(u)
        if kind == "power":
            return x ** arb(exponent) if x > 0 else arb.nan()
        if kind == "Li2":
            return x.polylog(2)
        return abs(x).log() if kind == "log" else getattr(x, kind.lower())()


def sign(x: Value) -> int:
    """Return the sign that a value is shown to have; 0 where it is 0 or none is shown."""
    return bool(x > 0) - bool(x < 0)


def not_zero(x: Value) -> bool:
    """Tell whether a value is shown not to be 0."""
    return bool(sign(x))
