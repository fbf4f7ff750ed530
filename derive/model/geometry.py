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
from typing import Protocol, Self, TypeVar

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import Matrix, dot
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
    """

    functions: Field = dataclasses.field(default=(), compare=False, repr=False, kw_only=True)

    @property
    @abstractmethod
    def statement(self) -> str:
        """The flow, as an equation."""

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The functions of the weights that G^-1 is made of."""
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

    Mirror descent on the weights with a separable potential psi has the rates 1/psi''(w).

    Attributes:
        rates: a rate for each weight, in their order.
    """

    rates: tuple[Tree, ...]

    @property
    def statement(self) -> str:
        """Gradient flow with a rate for each weight."""
        return "w' = -diag(rates) J^T X^T r"

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The rates."""
        return self.rates

    def mapped(self, image: Callable[[Tree], Tree]) -> Rates:
        """Return the rates with another tree for each."""
        return Rates(tuple(map(image, self.rates)))

    def over(self, functions: Field) -> Rates:
        """Return the same rates as exact functions."""
        return Rates(self.rates, functions=functions)

    def raised(self, covector: Sequence[S], at: Callable[[RationalFunction], S]) -> tuple[S, ...]:
        """Return each derivative times the rate of its weight."""
        return tuple(x * at(r) for x, r in zip(covector, self.functions, strict=True))

    def weight_square(self, weights: Sequence[RationalFunction]) -> RationalFunction | None:
        """Return sum w^2/r where the rates are constant."""
        field = weights[0].field
        rates = tuple(map(field.embed, self.functions))
        if any(set(r.variables()) - field.parameters for r in rates):
            return None
        return dot(weights, tuple(w / r for w, r in zip(weights, rates, strict=True)))

    def coupled(self, weights: Sequence[str], moved: Set[str]) -> set[str]:
        """Return the weights in the rates of those that move."""
        trees = tuple(r for w, r in zip(weights, self.rates, strict=True) if w in moved)
        return {*names(trees)} & {*weights}

    @property
    def degree(self) -> int | None:
        """The common degree of the rates; None for rates with parameters or of several degrees."""
        same = len({r.degree() for r in self.functions}) == 1
        forms = all(r.is_homogeneous() for r in self.functions)
        return self.functions[0].degree() if same and forms else None

    def restricted(self, kept: Sequence[int]) -> Rates:
        """Return the rates of some of the weights."""
        return Rates(tuple(self.rates[k] for k in kept))
