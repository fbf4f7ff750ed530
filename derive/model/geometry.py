"""The metric G on the weights in which the flow is steepest descent: w' = -G^-1 J^T X^T r.

The differential of a function is a covector dF = (d_1 F, ..., d_p F). The flow moves the weights
along fields X = G^-1 dF, so that <df, dg> = df G^-1 dg is the derivative of f along the field of
g, the tangent kernel is K = J G^-1 J^T, and a law c has <dc, dF_a> = 0. Only this file knows G.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import chain
from operator import add
from typing import Protocol, Self, TypeVar

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import Matrix, determinant, dot
from derive.language import to_text
from derive.language.tree import Tree, names

Field = tuple[RationalFunction, ...]


class Scalar(Protocol):
    """A function of the weights in any representation: exact, or a Taylor polynomial."""

    def __add__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...
    def __mul__(self, other: Self, /) -> Self: ...
    def __truediv__(self, other: Self, /) -> Self: ...


S = TypeVar("S", bound=Scalar)


@dataclass(frozen=True)
class Steering:
    """The lambda of beta' = K lambda, of data X and y with r = X beta - y.

    It is l = -X^T r under gradient flow, and phi(l), phi(x) = sign(x) |x|^s, under steepest descent
    in l_p on the weights (:mod:`derive.model.rates`).

    Attributes:
        exponent: s = 1/(p - 1), 0 for p = oo; None of gradient flow.
    """

    exponent: Fraction | None = None

    @property
    def is_gradient(self) -> bool:
        """Whether lambda is l, which is in the row space of X."""
        return self.exponent is None

    @property
    def flow(self) -> str:
        """What the flow is called; of steepest descent, in which norm."""
        if self.is_gradient:
            return "gradient flow"
        return f"steepest descent in `l{self.norm or 'inf'}`"

    @property
    def norm(self) -> Fraction | None:
        """The p of l_p; None for p = oo."""
        return 1 + 1 / self.exponent if self.exponent else None

    @property
    def phi(self) -> str:
        """What is taken of each slope x."""
        return f"sign(x){f' |x|^{_power(self.exponent)}' if self.exponent else ''}"

    @property
    def inverse(self) -> str:
        """The power of which phi takes the root: phi(sign(x) |x|^inverse) = x."""
        return _power(1 / self.exponent) if self.exponent else ""

    @property
    def formula(self) -> str:
        """Lambda, of data."""
        slope = "X^T (y - X beta)"
        return slope if self.is_gradient else f"phi({slope})"


def _power(exponent: Fraction) -> str:
    return str(exponent) if exponent.denominator == 1 else f"({exponent})"


@dataclass(frozen=True)
class Geometry:
    """A metric G on the weights: G^-1 = diag(r), with positive rates that may change with them.

    Without rates G = I: gradient flow. Mirror descent on the weights has G = Hess psi: the rates
    1/psi''(w) where psi is a sum of functions of one weight each; otherwise rows of G^-1 take the
    place of rates.

    Attributes:
        trees: a rate for each weight, in their order; or the entries of G^-1, row by row.
        q: how many of these there are for each weight.
        functions: the same as exact functions of the weights.
        psi: the mirror, where one was given.
        steepest: s, where the rates are those of steepest descent in l_p, phi(x) = sign(x) |x|^s,
            and what steers is phi(-X^T r): see :mod:`derive.model.rates`.
    """

    trees: tuple[Tree, ...] = ()
    q: int = 1
    functions: Field = dataclasses.field(default=(), compare=False, repr=False, kw_only=True)
    psi: Tree | None = dataclasses.field(default=None, repr=False, kw_only=True)
    steepest: Fraction | None = dataclasses.field(default=None, kw_only=True)

    @property
    def statement(self) -> str:
        """The flow, as an equation."""
        metric = "diag(rates) " if self.is_diagonal else "G^-1 "
        if self.steepest is not None:
            return f"w' = phi(-J^T X^T r) = {metric}J^T phi(-X^T r), phi(x) = {self.steering.phi}"
        return f"w' = -{metric if self.trees else ''}J^T X^T r"

    @property
    def steering(self) -> Steering:
        """What steers the flow."""
        return Steering(self.steepest)

    @property
    def texts(self) -> tuple[str | list[str], ...]:
        """What there is for each weight: a rate, or a row of G^-1."""
        rows = tuple(list(map(to_text, row)) for row in self.rows)
        return tuple(row[0] for row in rows) if self.is_diagonal else rows

    @property
    def is_diagonal(self) -> bool:
        """Has each weight a rate of its own?"""
        return self.q == 1

    @property
    def rows(self) -> tuple[tuple[Tree, ...], ...]:
        """The trees for each weight."""
        return tuple(self.trees[k : k + self.q] for k in range(0, len(self.trees), self.q))

    @property
    def signs(self) -> Field:
        """Functions that are positive where G is positive definite, and only there.

        None where phi of steepest descent is a polynomial: it has fields and K > 0 all the same.
        """
        if self.steepest is not None and self.steepest % 2 == 1:
            return ()
        q, r = self.q, self.functions
        if self.is_diagonal:
            return r
        sizes = range(1, q + 1)
        return tuple(determinant(tuple(r[q * i : q * i + n] for i in range(n))) for n in sizes)

    def mapped(self, image: Callable[[Tree], Tree]) -> Geometry:
        """Return the metric with another tree for each, as with numbers for parameters."""
        psi = None if self.psi is None else image(self.psi)
        return Geometry(tuple(map(image, self.trees)), self.q, psi=psi, steepest=self.steepest)

    def coupled(self, weights: Sequence[str], moved: Set[str]) -> set[str]:
        """Return the weights on which the metric depends where some of the weights move."""
        rows = (row for w, row in zip(weights, self.rows, strict=False) if w in moved)
        return {*names(tuple(chain.from_iterable(rows)))} & {*weights}

    def raised(self, covector: Sequence[S], at: Callable[[RationalFunction], S]) -> tuple[S, ...]:
        """Return G^-1 times a covector, in any representation; *at* takes exact functions to it."""
        q, r = self.q, self.functions
        if not self.trees:
            return tuple(covector)
        if self.is_diagonal:
            return tuple(x * at(c) for x, c in zip(covector, r, strict=True))
        pairs = (zip(covector, r[k : k + q], strict=True) for k in range(0, q * q, q))
        return tuple(reduce(add, (x * at(c) for x, c in row if not c.is_zero())) for row in pairs)

    def weight_square(self, weights: Sequence[RationalFunction]) -> RationalFunction | None:
        """Return s with G^-1 ds = 2 w, the square of the weights, or None where no s is known.

        For a D-homogeneous F Euler's identity then reads <ds, dF_a> = 2 D F_a.
        """
        if not self.trees:
            return dot(weights, weights)
        field = weights[0].field
        rates = tuple(map(field.embed, self.functions))
        if not self.is_diagonal or any(set(r.variables()) - field.parameters for r in rates):
            return None
        return dot(weights, tuple(w / r for w, r in zip(weights, rates, strict=True)))

    @property
    def degree(self) -> int | None:
        """The degree of G^-1, where that is homogeneous in the weights, without parameters."""
        rates = (r for r in self.functions if not r.is_zero())
        degrees = {r.degree() if r.is_homogeneous() else None for r in rates} or {0}
        return degrees.pop() if len(degrees) == 1 else None

    def restricted(self, kept: Sequence[int]) -> Geometry:
        """Return the metric on the subspace of some of the weights, by their positions."""
        if not self.trees:
            return self
        if self.is_diagonal:
            return Geometry(tuple(self.trees[k] for k in kept), steepest=self.steepest)
        return Geometry(tuple(self.rows[k][j] for k in kept for j in kept), len(kept))

    def fields(self, covectors: Matrix) -> tuple[Field, ...]:
        """Return the fields G^-1 dF_a of exact covectors dF_a."""
        return tuple(self.raised(row, row[0].field.embed) for row in covectors)

    def inner(self, df: Field, dg: Field) -> RationalFunction:
        """Return <df, dg> = df G^-1 dg, the derivative of f along the field of g."""
        return dot(df, self.raised(dg, df[0].field.embed))


EUCLIDEAN = Geometry()
"""G = I: gradient flow."""
