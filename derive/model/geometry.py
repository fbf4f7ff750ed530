"""The metric G on the weights in which the flow is steepest descent: w' = -G^-1 J^T X^T r.

The differential of a function is a covector dF = (d_1 F, ..., d_p F). The flow moves the weights
along fields X = G^-1 dF, so that <df, dg> = df G^-1 dg is the derivative of f along the field of
g, the tangent kernel is K = J G^-1 J^T, and a law c has <dc, dF_a> = 0. Only this file knows G.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import Matrix, dot

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
    """A metric G on the weights."""

    @property
    @abstractmethod
    def statement(self) -> str:
        """The flow, as an equation."""

    @abstractmethod
    def raised(self, covector: Sequence[S], at: Callable[[RationalFunction], S]) -> tuple[S, ...]:
        """Return G^-1 times a covector, in any representation; *at* takes exact functions to it."""

    @abstractmethod
    def weight_square(self, weights: Sequence[RationalFunction]) -> RationalFunction | None:
        """Return s with G^-1 ds = 2 w, the square of the weights, or None where no s is known.

        For a D-homogeneous F Euler's identity then reads <ds, dF_a> = 2 D F_a.
        """

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
