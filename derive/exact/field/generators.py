"""Elementary generators of function fields: their rules, relations and values.

| kind | g | derivative | relation |
|---|---|---|---|
| parameter | D | 0 | |
| root | A^(1/n) | g A'/(n A) | g^n = A |
| power | A^e | e g A'/A | |
| sin | sin(A) | cos(A) A' | g^2 = 1 - cos(A)^2 |
| exp, log, cos, asinh, ... | f(A) | f'(A) A', as its record says | |
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from flint import fmpz_mpoly_ctx

from derive.clock import ENDLESS, Clock
from derive.exact.field.polynomial import Polynomial, by_powers
from derive.language.functions import RECORDS
from derive.language.reader import E, value_of

Image = TypeVar("Image")


@dataclass(frozen=True)
class Generator(Generic[E]):
    """An elementary function of earlier variables.

    Attributes:
        name: its text in the language; it is also the name of the variable.
        kind: "parameter", "root", "power", "integral" (of A over the first of the variables), or
            the function of that name.
        argument: A, an element of a field of earlier variables; parameters have none.
        index: n of a root.
        exponent: e of a power, an element in the parameters; the element cos(A) of a sine.
        partner: the name of the generator that the derivative uses (cos, sin and asinh).
    """

    name: str
    kind: str
    argument: E = None  # type: ignore[assignment]  # whoever reads it asks for the kind
    index: int = 1
    exponent: E = None  # type: ignore[assignment]
    partner: str = ""

    @property
    def parts(self) -> list[E]:
        """The elements that it is a function of."""
        return [x for x in (self.argument, self.exponent) if x is not None]

    def slope(self, A: E, g: E, other: E) -> E:
        """Return dg/dA; *other* is the partner or the exponent of a power, all in one field."""
        if self.kind == "root":
            return g / (self.index * A)
        if self.kind == "power":
            return other * g / A
        return value_of(RECORDS[self.kind].derivative, {"x": A, "f": g, "p": other})

    def relation(self) -> tuple[int, E] | None:
        """Return (n, a) with g^n = a for an algebraic generator."""
        if self.kind == "root":
            return self.index, self.argument
        if self.kind == "sin":
            return 2, 1 - self.exponent * self.exponent
        return None


def images_of(
    generators: Iterable[Generator[E]],
    images: Mapping[str, Image],
    convert: Callable[[E, Mapping[str, Image]], Image],
    functions: Mapping[str, Callable[..., Image]],
    needed: Collection[str] | None = None,
) -> dict[str, Image]:
    """Return the image of each name, those of generators built by *functions* from earlier ones.

    Args:
        convert: element, images -> image, called with the names known so far.
        functions: "exp", "log", ... of the image of A; "root" of (image, n), "power" of two images.
        needed: the generators to build; all by default.
    """
    known = dict(images)
    for g in generators:
        if g.name in known or (needed is not None and g.name not in needed):
            continue
        if g.kind == "parameter":
            raise KeyError(g.name)
        A = convert(g.argument, known)
        if g.kind == "root":
            known[g.name] = functions["root"](A, g.index)
        elif g.kind == "power":
            known[g.name] = functions["power"](A, convert(g.exponent, known))
        else:
            known[g.name] = functions[g.kind](A)
    return known


@dataclass(frozen=True, eq=False)
class Relations:
    """Relations g^n = a/b in the ring of all variables, each as (position of g, n, a, b)."""

    ring: fmpz_mpoly_ctx
    known: tuple[tuple[int, int, Polynomial, Polynomial], ...]
    clock: Clock = ENDLESS

    def normal_form(
        self, numerator: Polynomial, denominator: Polynomial
    ) -> tuple[Polynomial, Polynomial]:
        """Return the quotient with reduced numerator over a denominator free of generators."""
        for relation in reversed(self.known):
            numerator, above = self._reduced(numerator, relation)
            denominator, below = self._reduced(denominator, relation)
            numerator, denominator = numerator * below, denominator * above
            if denominator.is_zero() or not int(denominator.degrees()[relation[0]]):
                continue
            cofactor = self._cofactor(denominator, relation)
            numerator, above = self._reduced(numerator * cofactor, relation)
            denominator, below = self._reduced(denominator * cofactor, relation)
            numerator, denominator = numerator * below, denominator * above
        # Reducing by a later relation can raise powers of earlier generators in the numerator.
        numerator, scale = self.reduced(numerator)
        return numerator, denominator * scale

    def reduced(self, polynomial: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Return (P, s) with polynomial = P/s, every generator in P below its power n."""
        total = self.ring.constant(1)
        for relation in reversed(self.known):
            polynomial, scale = self._reduced(polynomial, relation)
            total = total * scale
        return polynomial, total

    def _reduced(
        self, polynomial: Polynomial, relation: tuple[int, int, Polynomial, Polynomial]
    ) -> tuple[Polynomial, Polynomial]:
        """Return (P, s) with polynomial = P/s modulo the relation, degree of g in P below n."""
        position, n, a, b = relation
        one = self.ring.constant(1)
        if polynomial.is_zero() or int(polynomial.degrees()[position]) < n:
            return polynomial, one
        g = self.ring.gens()[position]
        most = int(polynomial.degrees()[position]) // n
        total = self.ring.constant(0)
        for power, c in by_powers(polynomial, position).items():
            self.clock.check()
            times, rest = divmod(power, n)
            total += c * a**times * b ** (most - times) * g**rest
        return total, b**most

    def _cofactor(
        self, polynomial: Polynomial, relation: tuple[int, int, Polynomial, Polynomial]
    ) -> Polynomial:
        """Return C with C * polynomial free of g, by cofactors of multiplication with it."""
        position, n, a, b = relation
        g = self.ring.gens()[position]
        zero, one = self.ring.constant(0), self.ring.constant(1)
        c = by_powers(polynomial, position)
        if n == 2:
            return c.get(0, zero) - c.get(1, zero) * g
        # Column k: polynomial * g^k, times b where the relation is used.
        matrix = [[zero] * n for _ in range(n)]
        for k in range(n):
            for power, value in c.items():
                times, rest = divmod(power + k, n)
                matrix[rest][k] += value * (a if times else b)
        total = zero
        for k in range(n):
            minor = [[x for j, x in enumerate(row) if j != k] for row in matrix[1:]]
            total += (-1) ** k * _determinant(minor, zero, one) * g**k
        return total


def _determinant(matrix: list[list[Polynomial]], zero: Polynomial, one: Polynomial) -> Polynomial:
    if not matrix:
        return one
    total = zero
    for k, entry in enumerate(matrix[0]):
        if not entry.is_zero():
            minor = [[x for j, x in enumerate(row) if j != k] for row in matrix[1:]]
            total += (-1) ** k * entry * _determinant(minor, zero, one)
    return total
