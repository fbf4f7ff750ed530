"""Linear algebra modulo a prime of 61 bits, and the way back to the rationals.

The prime is one modulo which the roots of numbers alone exist; values know theirs.
Everything here *proposes*: a vector is a candidate until an exact identity accepts it. Ranks are
the exception: they are lower bounds, as a minor that is not zero at a point is not the function 0.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, islice
from random import Random
from typing import TypeAlias

from flint import fmpz, nmod, nmod_mat, nmod_mpoly, nmod_mpoly_ctx, nmod_poly

from derive.errors import InputError
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import Exponents, Polynomial, terms

PRIME = 2**61 - 636873
"""The largest below 2^61 modulo which 2, 3, 5, ..., 59 have roots of every index 2^a b, where the
prime factors of b are below 17: they are squares, -1 is not, and PRIME - 1 is prime to 3 to 13."""

Row: TypeAlias = Sequence[nmod | int]
"""Values modulo a prime, with numbers among them."""

Relation: TypeAlias = tuple[int, int, Polynomial, Polynomial]

PRIMES = 2000
"""How many primes are tried; with n square roots of numbers about one in 2^n is accepted."""

DRAWS = 5000
"""How many points are tried; with n square roots of functions about one in 2^n is accepted."""


LONGEST, LARGEST = 60, 200_000
"""Terms of a common denominator, and entries of a matrix of coefficients, beyond which it is drawn
at points."""


class Pole(ArithmeticError):
    """A denominator vanishes at the random point: draw another."""


def random_point(field: FunctionField, rng: Random) -> tuple[nmod, ...]:
    """Draw values modulo the prime that satisfy all relations, those of parameters the same."""
    return _drawn(field, rng, _constants(field))


def random_point_and_parameters(field: FunctionField, rng: Random) -> tuple[nmod, ...]:
    """Draw as :func:`random_point` does, the values of parameters too."""
    return _drawn(field, rng, {})


@functools.lru_cache(maxsize=32)
def _modulus(field: FunctionField) -> int:
    """Return the first prime modulo which the roots of numbers alone exist."""
    roots = _relations_among(field, set())
    if not roots:
        return PRIME
    for modulus in islice(_primes(), PRIMES):
        if _satisfy([nmod(1, modulus)] * len(field.names), roots):
            return modulus
    raise _no_values(field)


def _primes() -> Iterator[int]:
    """Yield PRIME, and those below it that are like it, but for the roots of 2, 3, 5, ..., 59."""
    odd = math.prod((3, 5, 7, 11, 13))
    for p in range(PRIME, 0, -4):
        if math.gcd(p - 1, odd) == 1 and fmpz(p).is_prime():
            yield p


def _drawn(field: FunctionField, rng: Random, known: Mapping[int, nmod]) -> tuple[nmod, ...]:
    modulus = _modulus(field)
    for _ in range(DRAWS):
        field.clock.check()
        point = [nmod(rng.randrange(1, modulus), modulus) for _ in field.names]
        for position, value in known.items():
            point[position] = value
        if _satisfy(point, field.relations.known):
            return tuple(point)
    raise _no_values(field)


@functools.lru_cache(maxsize=32)
def _constants(field: FunctionField) -> dict[int, nmod]:
    """Return the values of the parameters: the first in a row for which their roots exist."""
    known, modulus = {field.positions[name] for name in field.constants}, _modulus(field)
    relations = _relations_among(field, set(known))
    for draw in range(DRAWS):
        point = [nmod(1, modulus) for _ in field.names]
        for k in known:
            point[k] = nmod(Random(f"{field.names[k]}{draw or ''}").randrange(1, PRIME), modulus)
        if _satisfy(point, relations):
            return {k: point[k] for k in known}
    raise _no_values(field)


def _relations_among(field: FunctionField, known: set[int]) -> list[Relation]:
    """Return those of roots of what is known, by its positions, and of numbers."""
    found = []
    for relation in field.relations.known:
        position, _, top, bottom = relation
        if all(k in known for x in (top, bottom) for k, n in enumerate(x.degrees()) if int(n)):
            known.add(position)
            found.append(relation)
    return found


def _no_values(field: FunctionField) -> InputError:
    roots = ", ".join(field.names[position] for position, *_ in field.relations.known)
    return InputError(
        f"no numbers modulo a prime were found that satisfy {roots}: "
        "name a root of numbers alone as a parameter"
    )


def _satisfy(point: list[nmod], relations: Sequence[Relation]) -> bool:
    """Put roots in the places of algebraic generators; False where there is none."""
    for position, index, top, bottom in relations:
        modulus = point[position].modulus()
        below, above = (nmod(_modulo(x, modulus)(*point), modulus) for x in (bottom, top))
        if not below:
            return False
        line: list[nmod | int] = [-above * inverse(below), *[0] * (index - 1), 1]
        factors = nmod_poly(line, modulus).factor()[1]
        roots = [int(-f[0]) for f, _ in factors if f.degree() == 1]
        if not any(roots):
            return False
        # The same one at every point for a root of constants.
        point[position] = nmod(min(roots), modulus)
    return True


def inverse(value: nmod) -> nmod:
    """Return the inverse modulo the prime; :class:`Pole` where the value is 0."""
    if not value:
        raise Pole
    return value**-1


def modulus_of(values: Row) -> int:
    """Return the prime of some values; PRIME for numbers alone."""
    return next((x.modulus() for x in values if isinstance(x, nmod)), PRIME)


class Evaluator:
    """A rational function prepared for many evaluations modulo the prime."""

    def __init__(self, function: RationalFunction) -> None:
        self._parts = function.parts[: 1 if function.denominator.is_one() else 2]
        self._reduced: dict[int, list[nmod_mpoly]] = {}

    def __call__(self, point: Sequence[nmod]) -> nmod:
        """Return the value at *point*; raise :class:`Pole` where it has none."""
        modulus = modulus_of(point)
        if modulus not in self._reduced:
            self._reduced[modulus] = [_modulo(x, modulus) for x in self._parts]
        top, *bottom = (nmod(x(*point), modulus) for x in self._reduced[modulus])
        return top * inverse(bottom[0]) if bottom else top


def _modulo(polynomial: Polynomial, modulus: int) -> nmod_mpoly:
    given = polynomial.context()
    ring = nmod_mpoly_ctx.get(given.names(), ordering=given.ordering(), modulus=modulus)
    return ring.from_dict(polynomial.to_dict())


def residue_matrix(rows: Sequence[Row], modulus: int = 0) -> nmod_mat:
    """Return the matrix of some rows modulo the prime of their entries, or a given one."""
    entries = list(chain.from_iterable(rows))
    return nmod_mat(len(rows), len(rows[0]), entries, modulus or modulus_of(entries))


def rank(rows: Sequence[Row]) -> int:
    """Return the rank modulo the prime."""
    if not rows or not rows[0]:
        return 0
    return int(residue_matrix(rows).rank())


def saturated(width: int, draw: Callable[[], Sequence[Row]]) -> nmod_mat:
    """Return rows of *width* entries, drawn until another draw adds nothing to their span."""
    rows = [*draw()]
    told = sum(map(any, rows))  # some equations hold at every point, and say nothing
    while not rows or (told < width and len(rows) < 2 * width):
        more = draw()
        rows, told = [*rows, *more], told + sum(map(any, more))
    while True:
        matrix = residue_matrix(rows)
        kernel, nullity = matrix.nullspace()
        more = draw() if nullity else []
        if not more or not (residue_matrix(more, matrix.modulus()) * kernel).rank():
            return matrix
        rows += more


def by_monomials(rows: Sequence[Sequence[RationalFunction]]) -> nmod_mat | None:
    """Return what c_k with sum_k c_k row_k = 0 solve over a common denominator, by monomials.

    In normal form these are independent over the constants, which have the values that they have
    at random points. None where the denominator, or the matrix, would be large.
    """
    field, found = rows[0][0].field, dict[tuple[int, Exponents], dict[int, int]]()
    modulus, known = _modulus(field), {k: int(x) for k, x in _constants(field).items()}
    for a, row in enumerate(rows):
        numerators = _numerators(row)
        for k, numerator in enumerate(numerators):
            for exponents, value in terms(numerator):
                for j, x in known.items():
                    value = value * pow(x, exponents[j], modulus) % modulus
                free = tuple(0 if j in known else n for j, n in enumerate(exponents))
                equation = found.setdefault((a, free), {})
                equation[k] = equation.get(k, 0) + value
        if not numerators or len(found) * len(row) > LARGEST:
            return None
    width = len(rows[0])
    entries = [equation.get(k, 0) % modulus for equation in found.values() for k in range(width)]
    return nmod_mat(len(found), width, entries, modulus)


def _numerators(row: Sequence[RationalFunction]) -> list[Polynomial]:
    """Return functions times a common denominator, none where that is long."""
    below = list[Polynomial]()
    for f in row:
        below += [] if f.denominator in below else [f.denominator]
    whole = functools.reduce(lambda x, y: x * (y / x.gcd(y)), below)
    if len(whole) > LONGEST:
        return []
    factors = [whole / x for x in below]
    return [f.numerator * factors[below.index(f.denominator)] for f in row]


def shows_full_rank(rows: Sequence[Sequence[RationalFunction]]) -> bool:
    """Tell whether rows are independent at a random point, thus over the field; False: not seen."""
    try:
        point = random_point(rows[0][0].field, Random(2))
        return rank([[Evaluator(x)(point) for x in row] for row in rows]) == len(rows)
    except Pole:
        return False


def nullspace(matrix: nmod_mat) -> list[tuple[int, ...]]:
    """Return a sparse basis of {v : M v = 0}: primitive vectors of rationals below 10**9."""
    basis = []
    for vector in kernel(matrix):
        entries = {k: x for k, c in vector.items() if (x := reconstruct(c)) is not None}
        if len(entries) == len(vector):
            scale = math.lcm(*(x.denominator for x in entries.values()))
            whole = {k: int(x * scale) for k, x in entries.items()}
            divisor = math.gcd(*whole.values())
            basis.append(tuple(whole.get(k, 0) // divisor for k in range(matrix.ncols())))
    return basis


def kernel(matrix: nmod_mat) -> list[dict[int, nmod]]:
    """Return a sparse basis of {v : M v = 0}, each vector by its entries that are not 0."""
    (echelon, size), width = matrix.rref(), matrix.ncols()
    pivots = [next(k for k in range(r, width) if echelon[r, k]) for r in range(size)]
    basis = []
    for free in sorted({*range(width)} - {*pivots}):
        entries = {p: -echelon[r, free] for r, p in enumerate(pivots) if echelon[r, free]}
        basis.append({**entries, free: nmod(1, matrix.modulus())})
    return basis


def supports(matrix: nmod_mat) -> list[tuple[int, ...]]:
    """Return where the vectors of the sparse basis of {v : M v = 0} are not zero."""
    return [tuple(sorted(vector)) for vector in kernel(matrix)]


def reconstruct(residue: nmod) -> Fraction | None:
    """Return the rational n/d with |n|, d < sqrt(p/2) that is *residue* modulo the prime p.

    >>> reconstruct(nmod(-2, PRIME) / 3)
    Fraction(-2, 3)
    """
    modulus = residue.modulus()
    bound = math.isqrt(modulus // 2)
    r0, r1, s0, s1 = modulus, int(residue), 0, 1
    while r1 > bound:
        quotient = r0 // r1
        r0, r1, s0, s1 = r1, r0 - quotient * r1, s1, s0 - quotient * s1
    if s1 == 0 or abs(s1) > bound or math.gcd(r1, s1) != 1:
        return None
    return Fraction(r1, s1)
