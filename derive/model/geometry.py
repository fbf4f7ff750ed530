"""The metric G on the weights in which the flow is steepest descent: w' = -G^-1 J^T X^T r.

The differential of a function is a covector dF = (d_1 F, ..., d_p F). The flow moves the weights
along fields X = G^-1 dF, so that <df, dg> = df G^-1 dg is the derivative of f along the field of
g, the tangent kernel is K = J G^-1 J^T, and a law c has <dc, dF_a> = 0. Only this file knows G.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
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
class Geometry(ABC):
    """A metric G on the weights.

    Attributes:
        functions: the exact functions of the weights that G^-1 is made of, as its ``trees``.
        psi: the mirror of mirror descent on the weights, G = Hess psi, where one was given.
    """

    functions: Field = dataclasses.field(default=(), compare=False, repr=False, kw_only=True)
    psi: Tree | None = dataclasses.field(default=None, repr=False, kw_only=True)

    @property
    @abstractmethod
    def statement(self) -> str:
        """The flow, as an equation."""

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The functions of the weights that G^-1 is made of."""
        return ()

    @property
    def texts(self) -> tuple[str | list[str], ...]:
        """What there is for each weight: a rate, or a row of G^-1."""
        return ()

    @property
    def is_diagonal(self) -> bool:
        """Has each weight a rate of its own?"""
        return True

    @property
    def signs(self) -> Field:
        """Functions that are positive where G is positive definite, and only there."""
        return ()

    def mapped(self, image: Callable[[Tree], Tree]) -> Geometry:
        """Return the metric with another tree for each, as with numbers for parameters."""
        return self

    def over(self, functions: Field) -> Geometry:
        """Return the same metric, its trees as exact functions."""
        return self

    def coupled(self, weights: Sequence[str], moved: Set[str]) -> set[str]:
        """Return the weights on which the metric depends where some of the weights move."""
        return set()

    @abstractmethod
    def raised(self, covector: Sequence[S], at: Callable[[RationalFunction], S]) -> tuple[S, ...]:
        """Return G^-1 times a covector, in any representation; *at* takes exact functions to it."""

    @abstractmethod
    def weight_square(self, weights: Sequence[RationalFunction]) -> RationalFunction | None:
        """Return s with G^-1 ds = 2 w, the square of the weights, or None where no s is known.

        For a D-homogeneous F Euler's identity then reads <ds, dF_a> = 2 D F_a.
        """

    @property
    def degree(self) -> int | None:
        """The degree of G^-1, where that is homogeneous in the weights."""
        return 0

    @abstractmethod
    def restricted(self, kept: Sequence[int]) -> Geometry:
        """Return the metric on the subspace of some of the weights, by their positions."""

    def fields(self, covectors: Matrix) -> tuple[Field, ...]:
        """Return the fields G^-1 dF_a of exact covectors dF_a."""
        return tuple(self.raised(row, row[0].field.embed) for row in covectors)

    def inner(self, df: Field, dg: Field) -> RationalFunction:
        """Return <df, dg> = df G^-1 dg, the derivative of f along the field of g."""
        return dot(df, self.raised(dg, df[0].field.embed))


@dataclass(frozen=True)
class Euclidean(Geometry):
    """G = I: gradient flow."""

    @property
    def statement(self) -> str:
        """Gradient flow of half the squared residual."""
        return "w' = -J^T X^T r"

    def raised(self, covector: Sequence[S], at: Callable[[RationalFunction], S]) -> tuple[S, ...]:
        """Return the covector: it is the gradient."""
        return tuple(covector)

    def weight_square(self, weights: Sequence[RationalFunction]) -> RationalFunction:
        """Return |w|^2."""
        return dot(weights, weights)

    def restricted(self, kept: Sequence[int]) -> Euclidean:
        """Return the same metric."""
        return self


EUCLIDEAN = Euclidean()


@dataclass(frozen=True)
class Rates(Geometry):
    """G^-1 = diag(r): a learning rate for each weight, positive, which may change with the weights.

    Mirror descent on the weights has G = Hess psi: the rates 1/psi''(w) where psi is a sum of
    functions of one weight each; otherwise rows of G^-1 take the place of rates.

    Attributes:
        rates: a rate for each weight, in their order; or the entries of G^-1, row by row.
        q: how many of these there are for each weight.
    """

    rates: tuple[Tree, ...]
    q: int = 1

    @property
    def statement(self) -> str:
        """Gradient flow with a rate, or a row of G^-1, for each weight."""
        return f"w' = -{'diag(rates)' if self.q == 1 else 'G^-1'} J^T X^T r"

    @property
    def texts(self) -> tuple[str | list[str], ...]:
        """The rates, or the rows of G^-1."""
        rows = tuple(list(map(to_text, row)) for row in self.rows)
        return tuple(row[0] for row in rows) if self.is_diagonal else rows

    @property
    def is_diagonal(self) -> bool:
        """Are there rates?"""
        return self.q == 1

    @property
    def rows(self) -> tuple[tuple[Tree, ...], ...]:
        """What there is for each weight."""
        return tuple(self.rates[k : k + self.q] for k in range(0, len(self.rates), self.q))

    @property
    def signs(self) -> Field:
        """The rates; or the leading minors of G^-1."""
        q, r = self.q, self.functions
        if q == 1:
            return r
        sizes = range(1, q + 1)
        return tuple(determinant(tuple(r[q * i : q * i + n] for i in range(n))) for n in sizes)

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The rates."""
        return self.rates

    def mapped(self, image: Callable[[Tree], Tree]) -> Rates:
        """Return the rates with another tree for each."""
        psi = None if self.psi is None else image(self.psi)
        return Rates(tuple(map(image, self.rates)), self.q, psi=psi)

    def over(self, functions: Field) -> Rates:
        """Return the same rates as exact functions."""
        return dataclasses.replace(self, functions=functions)

    def raised(self, covector: Sequence[S], at: Callable[[RationalFunction], S]) -> tuple[S, ...]:
        """Return each derivative times the rate of its weight, or G^-1 times these."""
        q, r = self.q, self.functions
        if q == 1:
            return tuple(x * at(c) for x, c in zip(covector, r, strict=True))
        pairs = (zip(covector, r[k : k + q], strict=True) for k in range(0, q * q, q))
        return tuple(reduce(add, (x * at(c) for x, c in row if not c.is_zero())) for row in pairs)

    def weight_square(self, weights: Sequence[RationalFunction]) -> RationalFunction | None:
        """Return sum w^2/r where there are rates, and these are constant."""
        field = weights[0].field
        if self.q > 1:
            return None
        rates = tuple(map(field.embed, self.functions))
        if any(set(r.variables()) - field.parameters for r in rates):
            return None
        return dot(weights, tuple(w / r for w, r in zip(weights, rates, strict=True)))

    def coupled(self, weights: Sequence[str], moved: Set[str]) -> set[str]:
        """Return the weights in the rates of those that move."""
        rows = (row for w, row in zip(weights, self.rows, strict=True) if w in moved)
        return {*names(tuple(chain.from_iterable(rows)))} & {*weights}

    @property
    def degree(self) -> int | None:
        """The common degree of the rates; None for rates with parameters or of several degrees."""
        found = [r for r in self.functions if not r.is_zero()]
        same = len({r.degree() for r in found}) == 1
        return found[0].degree() if same and all(r.is_homogeneous() for r in found) else None

    def restricted(self, kept: Sequence[int]) -> Rates:
        """Return the rates of some of the weights; the others do not move them."""
        if self.q == 1:
            return Rates(tuple(self.rates[k] for k in kept))
        return Rates(tuple(self.rows[k][j] for k in kept for j in kept), len(kept))
