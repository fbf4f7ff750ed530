"""What beta of matrices reaches under given measurements: the orbit of their Lie algebra.

All rows of the matrices one above the other, Z, move along Z' = 2 sum_i lambda_i S_i Z, whatever
their length r, where the symmetric S_i have <X_i, F> = <S_i, Z Z^T>. So steering reaches, and fills
near each of its points, the orbit of the group of Lie{S_1, ..., S_m}, whose tangent vectors are A Z
for A in that algebra. Let beta move in d of these directions.

If d > m, two ways of steering end at different beta of one <X_i, beta>: these m functions are
constant on curves of the orbit. No Q has both as its only minimiser, and none has Hess Q = g K^-1,
g > 0, with which grad Q(beta) - grad Q(beta_0), in the span of the X_i, keeps beta to m dimensions.
Ranks are modulo a prime, where they are no larger than they are. (Derived here.)
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product
from random import Random

from flint import nmod, nmod_mat
from sympy import Symbol

from derive.exact.linear.matrix import dot
from derive.exact.linear.modular import PRIME, Row
from derive.exact.towers.tower import build_elements
from derive.language.arguments import parse_array_outputs
from derive.language.arrays import entry_names
from derive.model.matrices import MatrixMap, Rows
from derive.model.notation import to_expr
from derive.model.parameterization import Parameterization


def lie_algebra(generators: Iterable[nmod_mat]) -> list[nmod_mat]:
    """Return a basis of the Lie algebra of some square matrices.

    >>> len(lie_algebra([matrix([[0, 1], [0, 0]]), matrix([[0, 0], [1, 0]])]))
    3
    """
    given, found, span = list(generators), list[nmod_mat](), matrix([])
    pending = list(given)
    while pending and len(found) < given[0].nrows() ** 2:
        A = pending.pop(0)
        grown, rank = matrix([*span.tolist(), A.entries()]).rref()
        if rank > len(found):
            span = grown
            found.append(A)
            pending += [A * B - B * A for B in given]
    return found


def matrix(rows: Sequence[Row]) -> nmod_mat:
    """Return a matrix modulo the prime."""
    return nmod_mat(len(rows), len(rows[0]) if rows else 0, [x for row in rows for x in row], PRIME)


@dataclass(frozen=True)
class Orbit:
    """F of matrices under measurements X, each as many numbers as beta has entries.

    Attributes:
        size: the rows and the columns of beta.
        width: the columns of the matrices, of which there may be more.

    >>> p = MatrixMap.parse(["W*T(W)"], {"W": "n x r"}, [[1, 0, 0, 2], [0, 1, 1, 0]])
    >>> [Orbit(p, (2, 2), p.given, width).dimension for width in (1, 2, 3)]
    [2, 3, 3]
    """

    model: MatrixMap
    size: tuple[int, int]
    X: Rows
    width: int

    @property
    def algebra(self) -> int:
        """The dimension of the Lie algebra of the S_i."""
        return len(_algebra(self.model, self.size, self.X))

    @property
    def is_whole(self) -> bool:
        """Whether that is the Lie algebra of all measurements."""
        return self.algebra == len(lie_algebra(self._each_output))

    @property
    def start(self) -> tuple[tuple[str, Fraction], ...]:
        """Small weights."""
        rng = Random(self.width)
        shapes = self.model.shapes_at(*self.size, self.width).items()
        names = (w for name, shape in shapes for w in entry_names(name, shape))
        return tuple((w, Fraction(rng.randint(1, 9))) for w in names)

    @property
    def measured(self) -> Parameterization:
        """The outputs <X_i, F>, in the entries of the matrices."""
        shapes = self.model.shapes_at(*self.size, self.width)
        weights = [w for name, shape in shapes.items() for w in entry_names(name, shape)]
        entries = build_elements(parse_array_outputs([self.model.text], shapes)[0].trees, weights)
        constant, symbols = entries[0].field.constant, {w: Symbol(w) for w in weights}
        sums = (dot(list(map(constant, row)), entries) for row in self.X)
        return Parameterization([to_expr(y, symbols) for y in sums])

    @property
    def dimension(self) -> int:
        """In how many directions beta moves there, and so from almost every start."""
        return self._moving(self._each_output)

    @property
    def with_kernel(self) -> int:
        """In how many directions beta and K move."""
        S = self._each_output
        products = (A * B + B * A for A, B in combinations_with_replacement(S, 2))
        return self._moving([*S, *products])

    @property
    def _each_output(self) -> list[nmod_mat]:
        """The S of each entry of beta, up to a factor."""
        count = self.size[0] * self.size[1]
        units = (tuple(Fraction(i == k) for i in range(count)) for k in range(count))
        return _quadratic(self.model, self.size, tuple(units))

    def _moving(self, forms: list[nmod_mat]) -> int:
        """Return how many of the functions <S, Z Z^T> of the orbit are independent."""
        weights, width = [_modulo(x) for _, x in self.start], self.width
        Z = matrix([weights[k : k + width] for k in range(0, len(weights), width)])
        gradients = matrix([(S * Z).entries() for S in forms])
        algebra = _algebra(self.model, self.size, self.X)
        tangent = matrix([(A * Z).entries() for A in algebra])
        return int((tangent * gradients.transpose()).rank())


@functools.lru_cache(maxsize=8)
def _algebra(model: MatrixMap, size: tuple[int, int], X: Rows) -> list[nmod_mat]:
    return lie_algebra(_quadratic(model, size, X))


@functools.lru_cache(maxsize=8)
def _quadratic(model: MatrixMap, size: tuple[int, int], X: Rows) -> list[nmod_mat]:
    """Return 2 S for each row of X, where <X, F> = <S, Z Z^T>."""
    shapes, at = model.shapes_at(*size, 1), dict[str, int]()
    for name in shapes:
        at[name] = sum(shapes[x][0] for x in at)
    rows, found = sum(count for count, _ in shapes.values()), list[nmod_mat]()
    for row in X:
        S = nmod_mat(rows, rows, PRIME)
        for (a, b, c), (k, x) in product(model.terms, enumerate(row)):
            i, j = at[a] + k // size[1], at[b] + k % size[1]
            S[i, j] += _modulo(c * x)
            S[j, i] += _modulo(c * x)
        found.append(S)
    return found


def _modulo(x: Fraction) -> nmod:
    return nmod(x.numerator, PRIME) / x.denominator
