"""Elements taken apart: as products of irreducible factors, and as sums of monomials."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, prod
from typing import TypeAlias

from flint import fmpz

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import Polynomial, factorize, is_atom, terms, to_text

Factorization: TypeAlias = tuple[int, list[tuple[Polynomial, int]]]


def factors(function: RationalFunction) -> list[tuple[RationalFunction, int]]:
    """Return the irreducible factors of the numerator over Q with their powers, no numbers.

    Beside a norm they may be more (:func:`split`).
    """
    field = function.field
    return [(field.polynomial(f), n) for f, n in split(field, function.numerator)[1]]


def factored(function: RationalFunction) -> tuple[Fraction, list[tuple[RationalFunction, int]]]:
    """Return a number and the irreducible factors with powers, those of the numerator first."""
    field = function.field
    top, above = split(field, function.numerator)
    bottom, below = split(field, function.denominator)
    powers = [*above, *((f, -n) for f, n in below)]
    return Fraction(top, bottom), [(field.polynomial(f), n) for f, n in powers]


def to_shorter_text(function: RationalFunction) -> str:
    """Return an element as text, expanded or as a product of factors, whichever is shorter."""
    whole = repr(function)
    if sum(map(len, function.parts)) > LONG:
        return whole
    top, below = (_factors_as_text(function.field, side) for side in function.parts)
    bottom = "*".join(below)
    product = "*".join(top) + (f"/({bottom})" if below[1:] else f"/{bottom}" * (bottom != "1"))
    return min(whole, re.sub(r"^-1\*", "-", product), key=len)


LONG = 400
"""Terms of a quotient beyond which its text is that of the expanded one."""


def _factors_as_text(field: FunctionField, polynomial: Polynomial) -> list[str]:
    """Return the factors of a polynomial as text, numbers and names before sums."""
    content, powers = split(field, polynomial)
    factors = [(f, to_text(f, field.names), f"**{n}" * (n > 1)) for f, n in powers]
    names = [text + power for f, text, power in factors if is_atom(f)]
    sums = [f"({text}){power}" for f, text, power in factors if not is_atom(f)]
    return [*[str(content)] * (content != 1 or not powers), *sorted(names), *sums]


def split(field: FunctionField, polynomial: Polynomial) -> Factorization:
    """Return the content and the factors, irreducible as polynomials in some of the names.

    Beside a norm r = |(x, y)|, x^2 = r^2 - y^2 where only x^2 is met: 2 r y + 2 y^2 + x^2 is
    (r + y)^2 there. What is under a root stays one factor.
    """
    found = factorize(polynomial)
    for x, r, rest in field.norms:
        powers = {e[x] for e, _ in terms(polynomial)}
        if {(n - min(powers)) % 2 for n in powers} != {0}:
            continue
        square, root = field.ring.gens()[x] ** 2 + rest, field.ring.gens()[r]
        number, parts = factorize(_in_norm(field, polynomial, x, root**2 - rest))
        inside, odd = divmod(sum(n for f, n in parts if f == root), 2)
        other = [(f, n) for f, n in parts if f != root]
        other += [(f, n) for f, n in ((square, inside), (root, odd)) if n]
        if sum(n for _, n in other) > sum(n for _, n in found[1]):
            found = number, other
    return found


def _in_norm(
    field: FunctionField, polynomial: Polynomial, x: int, square: Polynomial
) -> Polynomial:
    """Return x^e p(x^2), e at most 1, as x^e p(square)."""
    total = field.ring.constant(0)
    for e, c in terms(polynomial):
        times, odd = divmod(e[x], 2)
        term = field.ring.from_dict({(*e[:x], odd, *e[x + 1 :]): c})
        total += term * square**times
    return total


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
