"""Integer polynomials of python-flint: their terms, factors and values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, Self, TypeAlias, TypeVar

from flint import fmpz_mpoly, fmpz_mpoly_ctx

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


def factorize(polynomial: Polynomial) -> tuple[int, list[tuple[Polynomial, int]]]:
    """Return the content and the primitive irreducible factors with their multiplicities.

    Where coefficients are too large for flint's ordering of factors, the primitive part is
    returned as one factor, which need not be irreducible then.
    """
    if polynomial.is_zero():
        return 0, []
    content, primitive = polynomial.primitive()
    if primitive.is_constant():
        return int(content) * int(primitive.leading_coefficient()), []
    try:
        unit, factors = primitive.factor()
    except OverflowError:
        return int(content), [(primitive, 1)]
    return int(content) * int(unit), [(p, int(n)) for p, n in factors]


def evaluate(polynomial: Polynomial, values: Sequence[R], constant: Callable[[int], R]) -> R:
    """Return the value of an integer polynomial.

    Args:
        polynomial: the polynomial; its last variables, if they do not occur, need no values.
        values: what stands for the variables.
        constant: a whole number among such values.
    """
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
        powers = [
            name if e == 1 else f"{name}**{e}"
            for name, e in zip(names, exponents, strict=True)
            if e
        ]
        size = abs(coefficient)
        product = "*".join(([str(size)] if size != 1 or not powers else []) + powers)
        if text:
            text += " - " if coefficient < 0 else " + "
        elif coefficient < 0:
            text = "-"
        text += product
    return text


def reindexed(
    polynomial: Polynomial, names: Sequence[str], ring: fmpz_mpoly_ctx, positions: Mapping[str, int]
) -> Polynomial:
    """Return a polynomial in *names* as one in the variables of *ring*, which have *positions*."""
    places = [positions.get(name) for name in names]
    size = len(positions)
    moved: dict[Exponents, int] = {}
    for exponents, coefficient in terms(polynomial):
        image = [0] * size
        for place, e in zip(places, exponents, strict=True):
            if e:
                if place is None:
                    raise ValueError("a variable is missing in the target field")
                image[place] = e
        moved[tuple(image)] = coefficient
    return ring.from_dict(moved)
