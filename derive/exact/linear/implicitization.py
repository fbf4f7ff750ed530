"""Write functions of the weights as algebraic functions of others, by exact linear algebra.

For functions f, g_1, ..., g_n of the weights, a relation P(f, g) = 0 is a vector in the nullspace
of the matrix whose columns are the monomials of one weighted degree at random points modulo a
prime. It is found in milliseconds where Groebner bases do not return, and it is accepted only
after P(f(w), g(w)) was expanded exactly and is the zero polynomial.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from random import Random

from flint import nmod

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.matrix import dot
from derive.exact.linear.modular import (
    Evaluator,
    nullspace,
    nullspaces,
    reconstruct,
    residue_matrix,
)
from derive.exact.linear.monomials import Grading, extend, monomial_rows, scaled

MAXIMAL_MONOMIALS = 160


@dataclass(frozen=True)
class Relation:
    """P(t; g_1, ..., g_n) = 0 identically in the weights, linear combination with integers.

    Attributes:
        coefficients: P as a list of coefficients of t^0, t^1, ..., polynomials in g.
        target: the function of the weights that t stands for.
    """

    coefficients: tuple[RationalFunction, ...]
    target: RationalFunction

    @property
    def degree(self) -> int:
        """The degree in t."""
        return len(self.coefficients) - 1


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Named functions of the weights, in which others are to be written.

    Attributes:
        field: Q(names), one name for each function.
        functions: the functions of the weights, in the order of the names.
    """

    field: FunctionField
    functions: tuple[RationalFunction, ...]

    @classmethod
    def of(cls, named: Sequence[tuple[str, RationalFunction]]) -> Coordinates:
        """Collect (name, function) pairs."""
        return cls(FunctionField(tuple(n for n, _ in named)), tuple(f for _, f in named))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Coordinates):
            return NotImplemented
        return self.field.names == other.field.names and self.functions == other.functions

    def __hash__(self) -> int:
        return hash((self.field.names, self.functions))

    def pull_back(self, element: RationalFunction) -> RationalFunction:
        """Return an element of Q(names) as the function of the weights that it is."""
        return element.compose(self.functions, self.functions[0].field)


class RelationSearch:
    """The search for a relation between *target* and coordinates, one weighted degree at a time.

    Args:
        target: the function t of the weights.
        coordinates: what it is to be tied to.
        powers: the exponents of t that may occur; all by default, (0, n) to write t^n as a
            quotient of polynomials in the coordinates.
        grading: degrees of t and the coordinates, where known otherwise than from the functions.
        limit: the largest number of monomials.
        lifts: how residues become coefficients, tried in turn.
    """

    def __init__(
        self,
        target: RationalFunction,
        coordinates: Coordinates,
        powers: Sequence[int] | None = None,
        grading: Grading | None = None,
        *,
        limit: int = MAXIMAL_MONOMIALS,
        lifts: Sequence[Callable[[nmod], Fraction | None]] = (reconstruct,),
    ) -> None:
        functions = (target, *coordinates.functions)
        self._target = target
        self._coordinates = coordinates
        self._powers = powers
        self._grading = grading or Grading.of(functions)
        self._limit = limit
        self._lifts = lifts
        self._evaluators = [Evaluator(f) for f in functions]
        self._samples: list[tuple[nmod, ...]] = []
        self._rng = Random(3)
        self.exhausted = False

    def at(self, total: int) -> Relation | None:
        """Return a relation of weighted degree *total*, proved by expansion, or None."""
        if self.exhausted:
            return None
        exponents = list(self._grading.monomials(total, self._powers))
        if len(exponents) > self._limit:
            self.exhausted = True
            return None
        if not any(e[0] for e in exponents) or len(exponents) < 2:
            return None
        field = self._target.field
        extend(self._samples, len(exponents) + 4, self._evaluators, field, self._rng)
        samples = self._samples[: len(exponents) + 4]
        grading = self._grading
        if grading.exact and grading.weights[-1] == 1 and all(s[-1] for s in samples):
            samples = [scaled(s, grading.weights) for s in samples]
        rows = monomial_rows(exponents, samples)
        for vectors in nullspaces(residue_matrix(rows), self._lifts):
            found = _accept(vectors, exponents, self._target, self._coordinates, samples)
            if found is not None:
                return found
        return None


# A derivation that comes back with one more assumption on the start asks for the same again.
@functools.lru_cache(maxsize=64)
def find_relation(
    target: RationalFunction,
    coordinates: Coordinates,
    powers: tuple[int, ...] | None = None,
    highest: int = 12,
) -> Relation | None:
    """Return the relation of lowest weighted degree, at most *highest*, or None."""
    search = RelationSearch(target, coordinates, powers)
    return next(filter(None, map(search.at, range(1, highest + 1))), None)


def _accept(
    vectors: Sequence[tuple[int, ...]],
    exponents: Sequence[tuple[int, ...]],
    target: RationalFunction,
    coordinates: Coordinates,
    samples: Sequence[Sequence[nmod]],
) -> Relation | None:
    """Return the sparsest vector that is a true relation with a leading coefficient that lives."""
    for vector in sorted(_sparser(vectors, exponents), key=_support):
        relation = _relation(vector, exponents, target, coordinates)
        if relation.degree < 1:
            continue
        leading = Evaluator(relation.coefficients[-1])
        # A multiple of a relation among the coordinates alone says nothing about the target.
        lives = any(map(bool, (leading(sample[1:]) for sample in samples)))
        if lives and holds(relation, coordinates):
            return relation
    return None


def _support(vector: Sequence[int]) -> int:
    return sum(1 for c in vector if c)


def _sparser(
    vectors: Sequence[tuple[int, ...]], exponents: Sequence[tuple[int, ...]]
) -> Iterator[tuple[int, ...]]:
    """Yield each vector that has the target, with multiples of relations without it taken off."""
    pairs = [(v, any(c and e[0] for c, e in zip(v, exponents, strict=True))) for v in vectors]
    others = [v for v, has_target in pairs if not has_target]
    for vector, has_target in pairs:
        if has_target:
            yield functools.reduce(_sparsest, others[:20], vector)


def _sparsest(vector: tuple[int, ...], other: Sequence[int]) -> tuple[int, ...]:
    """Return a vector less a multiple of another, for each entry where that has fewer entries."""
    for k, c in enumerate(other):
        if c and vector[k]:
            reduced = tuple(c * x - vector[k] * y for x, y in zip(vector, other, strict=True))
            if _support(reduced) < _support(vector):
                divisor = gcd(*reduced)
                vector = tuple(x // divisor for x in reduced)
    return vector


def _relation(
    vector: Sequence[int],
    exponents: Sequence[tuple[int, ...]],
    target: RationalFunction,
    coordinates: Coordinates,
) -> Relation:
    field = coordinates.field
    powers: dict[int, dict[tuple[int, ...], int]] = {}
    for c, (power, *tail) in zip(vector, exponents, strict=True):
        if c:
            powers.setdefault(power, {})[tuple(tail)] = c
    found = [field.ring.from_dict(powers.get(n, {})) for n in range(max(powers) + 1)]
    # Powers of a function of degree 0 are free in a monomial, and may be common to all.
    common = functools.reduce(lambda x, y: x.gcd(y), found)
    return Relation(tuple(field.polynomial(x / common) for x in found), target)


def holds(relation: Relation, coordinates: Coordinates) -> bool:
    """Tell exactly whether P(t(w); g(w)) is the zero function: the check behind each relation."""
    field = relation.target.field
    total = field.zero
    for n in range(relation.degree, -1, -1):
        total = total * relation.target + coordinates.pull_back(relation.coefficients[n])
    return total.is_zero()


def express(
    target: RationalFunction, coordinates: Coordinates, highest: int = 12
) -> RationalFunction | None:
    """Return *target* as a rational function of the coordinates, proved by expansion, or None."""
    if target.is_zero():
        return coordinates.field.zero
    relation = find_relation(target, coordinates, powers=(0, 1), highest=highest)
    if relation is None:
        return None
    return -relation.coefficients[0] / relation.coefficients[1]


def conserved_polynomial(
    flow: Sequence[RationalFunction], f: RationalFunction, g: RationalFunction
) -> dict[tuple[int, int], int] | None:
    """Return C(f, g) with f in it, as {(i, j): c_ij}, <grad C, flow> = 0 exactly, or None."""
    field = f.field
    slopes = [dot(flow, field.gradient(x)) for x in (f, g)]
    grading = Grading.of((f, g))
    evaluators = [Evaluator(x) for x in (f, g, *slopes)]
    samples: list[tuple[nmod, ...]] = []
    rng = Random(6)
    for total in range(1, (24 if grading.exact else 10) + 1):
        exponents = [(i, j) for i, j in grading.monomials(total) if i or j]
        if not any(i for i, _ in exponents):
            continue
        extend(samples, len(exponents) + 4, evaluators, field, rng)
        rows = [[_slope(i, j, s) for i, j in exponents] for s in samples[: len(exponents) + 4]]
        for vector in sorted(nullspace(residue_matrix(rows)), key=lambda v: sum(map(bool, v))):
            found = {e: c for e, c in zip(exponents, vector, strict=True) if c}
            if _is_conserved(found, f, g, slopes):
                return found
    return None


def _slope(i: int, j: int, sample: Sequence[nmod]) -> nmod:
    f, g, df, dg = sample
    left = i * f ** (i - 1) * df * g**j if i else 0 * f
    return left + (j * g ** (j - 1) * dg * f**i if j else 0)


def _is_conserved(
    polynomial: dict[tuple[int, int], int],
    f: RationalFunction,
    g: RationalFunction,
    slopes: Sequence[RationalFunction],
) -> bool:
    """Tell whether a polynomial in f, with f in it, has no slope along the flow."""
    if not any(i for i, _ in polynomial):
        return False
    total = f.field.zero
    for (i, j), c in polynomial.items():
        if i:
            total += c * i * f ** (i - 1) * g**j * slopes[0]
        if j:
            total += c * j * f**i * g ** (j - 1) * slopes[1]
    return total.is_zero()
