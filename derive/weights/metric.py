"""Stage 4: the tangent kernel K = J J^T on predictor space and the induced metric rho = K^-1."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import NamedTuple

from derive.errors import DegenerateStart
from derive.exact.field.factors import exact_square_root, factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import Polynomial
from derive.exact.linear.matrix import Matrix, determinant, dot, inverse
from derive.model.direction import Direction
from derive.model.geometry import Field
from derive.model.parameterization import Parameterization
from derive.weights.conserved import ConservedQuantities, LieStructure, along
from derive.weights.witness import Flow, is_zero_along_flow

MAXIMAL_TERMS = 12
"""Terms of K beyond which its rates are not taken: those of quotients grow fast."""


class Conic(NamedTuple):
    """K^2 - q^2 G^2 = k on the leaves of F = h(G), where K = |grad G|^2 grows at the rate q^2 G.

    They are those of G: grad F = h'(G) grad G. As of products u_1 v_1 + u_2 v_2, or p^2 - m^2, K
    and G are hyperbolic functions of the time of G, and K + q G is an exponential.

    Attributes:
        K: in the weights.
        G: in the weights, where it differs from that of F by a constant.
        square: q^2, which the flow keeps.
    """

    K: RationalFunction
    G: RationalFunction
    square: RationalFunction

    @property
    def law(self) -> RationalFunction:
        """What the flow keeps, k."""
        return self.K * self.K - self.square * self.G * self.G

    @property
    def exponential(self) -> RationalFunction | None:
        """K + q G, in which K and G are rational; None where q is no function of parameters."""
        q = exact_square_root(self.square)
        return None if q is None else self.K + q * self.G


@dataclass(frozen=True)
class Metric(Flow[RationalFunction]):
    """K and rho as exact functions of the weights: beta' = K lambda, so rho beta' = lambda.

    Attributes:
        K: the d x d matrix <grad F_a, grad F_b>; of a vector of open dimension its eigenvalue
            along beta, ((R,),).
        direction: how beta turns, of a vector of open dimension: T = phi^2 is the other eigenvalue.
    """

    conserved: ConservedQuantities
    K: Matrix
    direction: Direction | None = None

    @property
    def parameterization(self) -> Parameterization:
        """The map F."""
        return self.conserved.parameterization

    @property
    def lie(self) -> LieStructure:
        """The Lie structure of the fields grad F_a."""
        return self.conserved.lie

    @property
    def labels(self) -> tuple[int, ...]:
        """The numbers of the outputs."""
        return self.parameterization.labels

    @functools.cached_property
    def rho(self) -> Matrix:
        """K^-1 in the weights."""
        return inverse(self.K)

    @functools.cached_property
    def radial(self) -> tuple[RationalFunction, RationalFunction] | None:
        """T and c where K = T I + c F F^T, as of every vector phi(a, |u|) u; None of another K."""
        F, K = self.parameterization.F, self.K
        if len(F) < 2:
            return None
        c = K[0][1] / (F[0] * F[1])
        T = K[0][0] - c * F[0] * F[0]
        pairs = product(range(len(F)), repeat=2)
        found = all(K[i][j] == c * F[i] * F[j] + (T if i == j else 0) for i, j in pairs)
        return (T, c) if found else None

    @functools.cached_property
    def conic(self) -> Conic | None:
        """The conic that K and G solve along the leaf of one output, None of another leaf."""
        p = self.parameterization
        if p.d > 1 or self.direction is not None:
            return None
        for c in dict.fromkeys((p.field.one, content(p.fields[0]))):
            v, K = tuple(x / c for x in p.fields[0]), self.K[0][0] / (c * c)
            if sum(map(len, K.parts)) > MAXIMAL_TERMS and not K.is_polynomial():
                continue
            first = along(v, K)
            second = along(v, first)
            if not second.is_zero() and along(v, second) * K == second * first:
                square = second / K
                return Conic(K, first / square, square)
        return None

    @functools.cached_property
    def determinant(self) -> RationalFunction:
        """det K in the weights, the Gram determinant of J."""
        return determinant(self.K)

    @functools.cached_property
    def rests_at(self) -> frozenset[str]:
        """The irreducible factors of K at the start, as text: from a zero of one nothing moves."""
        return frozenset(repr(f) for f, _ in factors(self.parameterization.at_start(self.K[0][0])))

    @property
    def X(self) -> tuple[Field, ...]:
        """The fields grad F_a."""
        return self.parameterization.fields

    def change(self, v: Field, b: int, c: int) -> RationalFunction:
        """Return the derivative of K_bc along a field."""
        return dot(v, self._slopes[b][c])

    def slope(self, x: Field, f: RationalFunction) -> RationalFunction:
        """Return the derivative of a function along a field."""
        return along(x, f)

    def commutator(self, a: int, b: int) -> Field:
        """Return [X_a, X_b]."""
        return self.lie.brackets[a, b]

    @functools.cached_property
    def _slopes(self) -> tuple[tuple[tuple[RationalFunction, ...], ...], ...]:
        """grad K_bc."""
        gradient = self.parameterization.field.gradient
        return tuple(tuple(map(gradient, row)) for row in self.K)


def content(x: Field) -> RationalFunction:
    """Return c of x = c v, v of polynomials without a common factor; 1 where c is a number."""
    field = x[0].field
    below = reduce(lambda n, d: n * d / n.gcd(d), (f.denominator for f in x))
    above = reduce(Polynomial.gcd, ((f * field.polynomial(below)).numerator for f in x))
    c = field.quotient(above, below)
    return field.one if c.is_constant() else c


def tangent_kernel(p: Parameterization) -> Matrix:
    """Return K_ab = <grad F_a, grad F_b>."""
    return tuple(tuple(p.geometry.inner(x, y) for y in p.covectors) for x in p.covectors)


def find_metric(conserved: ConservedQuantities, direction: Direction | None = None) -> Metric:
    """Return the tangent kernel K_ab = <grad F_a, grad F_b> and the metric rho = K^-1.

    beta' = K lambda along the flow with steering lambda(t) = -X^T r.

    Args:
        conserved: the laws of the flow, whose values are constants of K in beta.
        direction: of a vector of open dimension, how beta turns.

    Returns:
        d x d functions of the weights.

    Raises:
        DegenerateStart: det K vanishes along the flow from this start.

    Source: Jacot, Gabriel, Hongler 2018, for K on a data set.
    """
    p = conserved.parameterization
    K = tangent_kernel(p)
    singular = p.rank == p.d and not p.starts_regular
    if singular and is_zero_along_flow(p, p.field.polynomial(determinant(K).numerator)):
        raise DegenerateStart(
            f"from this start the outputs move together: J has rank below {p.d} there, and along "
            "the flow as far as its Taylor series was followed; choose another start"
        )
    return Metric(conserved, K, direction)
