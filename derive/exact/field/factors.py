"""Elements taken apart: as products of irreducible factors, and as sums of monomials."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, prod

from flint import fmpz

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import factorize, terms


def factors(function: RationalFunction) -> list[tuple[RationalFunction, int]]:
    """Return the irreducible factors of the numerator over Q with their powers, no numbers."""
    return [(function.field.polynomial(f), n) for f, n in factorize(function.numerator)[1]]


def factored(function: RationalFunction) -> tuple[Fraction, list[tuple[RationalFunction, int]]]:
    """Return a number and the irreducible factors with powers, those of the numerator first."""
    field = function.field
    top, above = factorize(function.numerator)
    bottom, below = factorize(function.denominator)
    powers = [*above, *((f, -n) for f, n in below)]
    return Fraction(top, bottom), [(field.polynomial(f), n) for f, n in powers]


def exact_square_root(radicand: RationalFunction) -> RationalFunction | None:
    """Return the root of a square of a rational function, or None."""
    square, powers = factored(radicand)
    number = Fraction(isqrt(abs(square.numerator)), isqrt(square.denominator))
    if number**2 != square or any(n % 2 for _, n in powers):
        return None
    return prod((f ** (n // 2) for f, n in powers), start=radicand.field.constant(number))


@dataclass(frozen=True)
class Term:
    """coefficient * monomial, the coefficient a number."""

    coefficient: Fraction
    monomial: RationalFunction


def linear_terms(A: RationalFunction) -> list[Term]:
    """Return A as a sum of rational multiples of distinct monomials over A's denominator."""
    field, found = A.field, []
    content, denominator = A.denominator.primitive()
    for exponents, c in terms(A.numerator):
        monomial = field.quotient(field.ring.from_dict({exponents: 1}), denominator)
        top, _ = monomial.numerator.primitive()
        bottom, _ = monomial.denominator.primitive()
        scale = Fraction(int(top), int(bottom))
        found.append(Term(Fraction(c, int(content)) * scale, monomial / field.constant(scale)))
    return found


def oriented(A: RationalFunction) -> tuple[Fraction, list[tuple[RationalFunction, int]]]:
    """Return content and factors of A, positive where A is and one has an odd multiplicity."""
    content, factors = factored(A)
    odd = [k for k, (_, n) in enumerate(factors) if n % 2]
    for k, (f, n) in enumerate(factors):
        # A factor with terms of one sign is positive then.
        if max(terms(f.numerator))[1] < 0:
            factors[k] = -f, n
            content = -content if n % 2 else content
    if content < 0 and len(odd) == 1:
        f, n = factors[odd[0]]
        factors[odd[0]] = -f, n
        content = -content
    return content, factors


def integer_root(value: Fraction, exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Return (w, r) with value^exponent = w r^(1/index), no factor of r to pull out."""
    index = exponent.denominator
    whole, rest = Fraction(1), Fraction(1)
    for number, sign in ((value.numerator, 1), (value.denominator, -1)):
        for prime, n in fmpz(number).factor():
            total = sign * int(n) * exponent
            down = total.numerator // total.denominator
            whole *= Fraction(int(prime)) ** down
            rest *= Fraction(int(prime)) ** int((total - down) * index)
    return whole, rest


def prime_powers(value: Fraction) -> list[tuple[int, int]]:
    """Return the primes of a positive rational number with their exponents."""
    found = [(int(q), int(n)) for q, n in fmpz(value.numerator).factor()]
    return found + [(int(q), -int(n)) for q, n in fmpz(value.denominator).factor()]
