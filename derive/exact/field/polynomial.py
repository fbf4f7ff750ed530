"""Integer polynomials of python-flint: terms, factors, values and texts."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from typing import Protocol, Self, TypeAlias, TypeVar

from flint import Ordering, fmpq_poly, fmpz_mpoly, fmpz_mpoly_ctx

Polynomial: TypeAlias = fmpz_mpoly

Exponents: TypeAlias = tuple[int, ...]


class Ring(Protocol):
    """What polynomials take values in."""

    def __add__(self, other: Self, /) -> Self: ...
    def __mul__(self, other: Self, /) -> Self: ...
    def __pow__(self, exponent: int, /) -> Self: ...


R = TypeVar("R", bound=Ring)


def terms(polynomial: Polynomial) -> Iterator[tuple[Exponents, int]]:
    """Yield (exponents, coefficient) of an integer polynomial, leading term first."""
    for exponents, coefficient in zip(polynomial.monoms(), polynomial.coeffs(), strict=True):
        yield tuple(int(e) for e in exponents), int(coefficient)


def grouped(polynomial: Polynomial, places: Collection[int]) -> dict[Exponents, Polynomial]:
    """Return the coefficients of the monomials in some variables, in the same ring."""
    parts: dict[Exponents, dict[Exponents, int]] = {}
    for exponents, c in terms(polynomial):
        own = tuple(n if k in places else 0 for k, n in enumerate(exponents))
        rest = tuple(0 if k in places else n for k, n in enumerate(exponents))
        parts.setdefault(own, {})[rest] = c
    return {own: polynomial.context().from_dict(part) for own, part in parts.items()}


def by_powers(polynomial: Polynomial, k: int) -> dict[int, Polynomial]:
    """Return the coefficients of the powers of one variable, in the same ring."""
    return {own[k]: c for own, c in grouped(polynomial, (k,)).items()}


# python-flint does not say how its polynomials are pickled.
copyreg.pickle(fmpz_mpoly_ctx, lambda r: (_ring, (r.names(), r.ordering().name)))
copyreg.pickle(fmpz_mpoly, lambda p: (p.context().from_dict, (dict(terms(p)),)))
copyreg.pickle(fmpq_poly, lambda p: (fmpq_poly, (p.coeffs(),)))


def _ring(names: tuple[str, ...], ordering: str) -> fmpz_mpoly_ctx:
    return fmpz_mpoly_ctx.get(names, Ordering[ordering])


def factorize(polynomial: Polynomial) -> tuple[int, list[tuple[Polynomial, int]]]:
    """Return the content and the primitive irreducible factors with their multiplicities."""
    if polynomial.is_zero():
        return 0, []
    content, primitive = polynomial.primitive()
    if primitive.is_constant():
        return int(content) * int(primitive.leading_coefficient()), []
    if int(primitive.total_degree()) == 1:  # irreducible
        sign = 1 if primitive.leading_coefficient() > 0 else -1
        return sign * int(content), [(sign * primitive, 1)]
    try:
        unit, factors = primitive.factor()
    except (OverflowError, RuntimeError):  # too large for flint: perhaps not irreducible
        return int(content), [(primitive, 1)]
    return int(content) * int(unit), [(p, int(n)) for p, n in factors]


def evaluate(polynomial: Polynomial, values: Sequence[R], constant: Callable[[int], R]) -> R:
    """Return the value of a polynomial; *constant* makes numbers, unused last variables lack."""
    total = constant(0)
    for exponents, coefficient in terms(polynomial):
        product = constant(coefficient)
        for x, e in zip(values, exponents, strict=False):
            if e:
                product = product * x**e
        total = total + product
    return total


def to_text(polynomial: Polynomial, names: Sequence[str]) -> str:
    """Return an integer polynomial as text in the language, leading term first."""
    if polynomial.is_zero():
        return "0"
    text = ""
    for exponents, coefficient in terms(polynomial):
        pairs = zip(names, exponents, strict=True)
        powers = [name if e == 1 else f"{name}**{e}" for name, e in pairs if e]
        size = abs(coefficient)
        product = "*".join(([str(size)] if size != 1 or not powers else []) + powers)
        if text:
            text += " - " if coefficient < 0 else " + "
        elif coefficient < 0:
            text = "-"
        text += product
    return text


def reindexed(polynomial: Polynomial, ring: fmpz_mpoly_ctx) -> Polynomial:
    """Return a polynomial as one in the variables of *ring*, by their names."""
    degrees = zip(polynomial.context().names(), polynomial.degrees(), strict=True)
    if not {name for name, n in degrees if int(n)} <= {*ring.names()}:
        raise ValueError("a variable is missing in the target field")
    return polynomial.project_to_context(ring)


def number(polynomial: Polynomial) -> Fraction:
    """Return the rational number that a constant polynomial is."""
    return Fraction(0 if polynomial.is_zero() else int(polynomial.leading_coefficient()))


def is_atom(polynomial: Polynomial) -> bool:
    """Tell whether a polynomial is a number or a power of one variable."""
    (exponents, coefficient), *others = terms(polynomial)
    powers = sum(1 for e in exponents if e)
    return not others and (powers == 0 or (powers == 1 and coefficient == 1))
