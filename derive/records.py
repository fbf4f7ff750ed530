"""What a derivation hands over: per block of outputs, and for the whole parameterization."""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, Protocol

import sympy
from sympy import Expr

from derive.model.labels import pair
from derive.model.notation import Constant, Notation
from derive.model.parameterization import Parameterization
from derive.potential.block import BlockPotential, DirectionTerms
from derive.potential.chart import base_chart, kernel_in_beta
from derive.potential.piece import KINDS, Kind, Piece, Root, written_out
from derive.printable import Held, Shown, renderer
from derive.roads.road import Road
from derive.verdict import Decided, Finding
from derive.weights.conserved import ConservedQuantities, LieStructure
from derive.weights.hessian import Dependence, HessianVerdict, WarpVerdict
from derive.weights.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Workspace(dict[Any, Any]):
    """What is worth keeping with a record, and no part of its content: copies begin without."""

    def __reduce__(self) -> tuple[type[Workspace], tuple[()]]:
        """Leave everything behind."""
        return Workspace, ()


class NumericPotential(Protocol):
    """Q in numbers, with coordinates along the last axis: what ``numerics`` gives for symbols."""

    def __call__(self, beta: ArrayLike) -> Any:
        """Return Q, which is 0 at beta_0: a float at one point, else an array."""

    def gradient(self, beta: ArrayLike) -> NDArray[np.float64]:
        """Return grad Q(beta), of the shape of beta."""

    def inverse_gradient(self, y: ArrayLike) -> NDArray[np.float64]:
        """Return the beta with grad Q(beta) = y."""

    def bregman(self, b: ArrayLike, b0: ArrayLike) -> Any:
        """Return Q(b) - Q(b0) - <grad Q(b0), b - b0>."""


class Compared(Protocol):
    """What became of a conjectured Q: "AGREES", "AGREES UP TO", "DIFFERS" or "NOT CHECKED"."""

    @property
    def outcome(self) -> str:
        """The answer."""

    @property
    def up_to(self) -> tuple[str, ...]:
        """What the two differ by and may differ by, such as a scale."""

    def to_text(self, width: int = 80) -> str:
        """Return the answer, and why or where."""


@dataclass(frozen=True, repr=False)
class Block(Held):
    """The derivation of outputs that share weights.

    Attributes:
        outputs: which outputs, counted from 0.
        notation: their symbols.
        lie, conserved, metric, hessian, warping, potential: the records of the stages.
        dependence: relations among the outputs, where J has rank below their number.
        roads: the derivations that were walked; the one that gave the printed Q first.
    """

    outputs: tuple[int, ...]
    notation: Notation
    lie: LieStructure
    conserved: ConservedQuantities
    metric: Metric
    hessian: HessianVerdict
    warping: WarpVerdict
    potential: BlockPotential
    roads: tuple[Road, ...]
    dependence: Dependence | None = None

    @property
    def parameterization(self) -> Parameterization:
        """The map F of these outputs."""
        return self.lie.parameterization

    @functools.cached_property
    def kernel(self) -> tuple[tuple[Expr, ...], ...] | None:
        """K in beta and the constants of the leaf, or None where it was not written so."""
        piece, turning = self.potential.piece, self.potential.turning
        if turning is not None:
            values = turning.eigenvalues
            zero = sympy.Integer(0)
            return None if values is None else ((values.across, zero), (zero, values.along))
        kernel = None if piece is None else piece.kernel
        if kernel is not None:
            return ((kernel,),)
        return kernel_in_beta(
            self.metric, self.potential.chart or base_chart(self.metric, self.notation)
        )


@dataclass(frozen=True, repr=False)
class Conserved(Decided, Shown):
    """The conserved quantities of the whole parameterization.

    Attributes:
        laws: functions of the weights.
        values: their values at the start; None for 0/0.
        bound: at most this many independent laws exist.
        finding: whether the list is complete.
    """

    laws: tuple[Expr, ...]
    values: tuple[Expr | None, ...]
    bound: int
    finding: Finding

    @property
    def count(self) -> int:
        """The number of independent laws that were found."""
        return len(self.laws)


@dataclass(frozen=True, repr=False)
class InducedMetric(Shown):
    """The tangent kernel K and the induced metric rho = K^-1.

    Attributes:
        kernel_in_weights: K as functions of the weights.
        kernel: K in beta and constants of the start, or None where it does not close.
        rho: its inverse in beta, or None likewise, and where K is singular or too long to print.
        roots: named algebraic functions of beta that kernel and rho use.
        constants: named constants that they use.
    """

    kernel_in_weights: sympy.ImmutableMatrix
    kernel: sympy.ImmutableMatrix | None
    rho: sympy.ImmutableMatrix | None
    roots: tuple[Root, ...]
    constants: tuple[Constant, ...]

    @property
    def places(self) -> dict[str, tuple[int, int]]:
        """Where the entries on and above the diagonal are, by their indices."""
        n = self.kernel_in_weights.rows
        pairs = combinations_with_replacement(range(n), 2)
        return {f"K{pair(i + 1, j + 1) if n > 1 else ''}": (i, j) for i, j in pairs}


class RadialMetric(InducedMetric):
    """Those of a vector of open dimension, diag(T, R): the eigenvalues across beta and along it."""

    @property
    def places(self) -> dict[str, tuple[int, int]]:
        """Where T and R are."""
        return {"T": (0, 0), "R": (1, 1)}


@dataclass(frozen=True, repr=False)
class Decision(Decided, Shown):
    """A verdict on existence; ``g`` is the warp in the weights (1 where none is needed)."""

    finding: Finding
    g: Expr | None = None


@dataclass(frozen=True, repr=False)
class Potential(Shown):
    """Q(beta), the sum over blocks, with grad Q = 0 at the start.

    Attributes:
        finding: PROVED where every block has a proved form.
        pieces: the blocks' forms; empty where no Q exists or none was found.
        parameterization: the F that it belongs to, without idle weights.
        turning: of a vector of open dimension, what its direction adds to q(s), the one piece.
        other_side: where the warp is 0 at the start, the Q of flows that end where it is negative;
            this one is then of those that end where it is positive.
    """

    finding: Finding
    pieces: tuple[Piece, ...]
    parameterization: Parameterization
    turning: DirectionTerms | None = None
    other_side: Potential | None = None

    def _shown(self) -> Iterable[tuple[str, object]]:
        return [("verdict", self.finding.verdict), ("kind", self.kind), ("Q", self.Q)]

    @property
    def kind(self) -> Kind | None:
        """The least explicit kind among the pieces."""
        return max((p.kind for p in self.pieces), key=KINDS.index, default=None)

    @functools.cached_property
    def Q(self) -> Expr | None:
        """Q in beta and start symbols, up to an additive constant; None without a form.

        Parametric pieces appear in their parameters z, algebraic ones in their root symbols.
        """
        if not self.pieces:
            return None
        whole = sympy.Add(*(written_out(p.value, p.roots, p.constants) for p in self.pieces))
        return whole + self.linear

    @property
    def linear(self) -> Expr:
        """Of a vector of open dimension, what Q has beside q(s): -slope <u_0, beta>; else 0."""
        if self.turning is None:
            return sympy.Integer(0)
        return -self.turning.slope * self.turning.direction.along_start

    @functools.cached_property
    def gradient(self) -> tuple[Expr, ...] | None:
        """dQ/dbeta_i in the order of the outputs.

        Of a vector of open dimension q'(s) alone: grad Q = q'(s) beta/s - slope u_0.
        """
        if not self.pieces:
            return None
        by_name = {
            b.name: written_out(g, piece.roots, piece.constants)
            for piece in self.pieces
            for b, g in zip(piece.betas, piece.gradient, strict=True)
        }
        betas = Notation(self.parameterization, tuple(range(self.parameterization.d))).betas
        return tuple(by_name[b.name] for b in betas if b.name in by_name)

    def to_jax(self, start: Mapping[str, Any] | None = None) -> Callable[..., Any]:
        """Return Q(beta) as a function of JAX, differentiable in beta; see :meth:`to_torch`."""
        found: Callable[..., Any] = renderer(type(self), "jax")(self, start or {})
        return found

    def to_torch(self, start: Mapping[str, Any] | None = None) -> Callable[..., Any]:
        """Return Q(beta) as a function of PyTorch, differentiable in beta.

        Args:
            start: numbers for the start symbols, as for :meth:`numeric`.

        Raises:
            InputError: a start symbol has no value, or the value breaks an assumption.
            NumericalError: there is no Q, or it is an integral.
        """
        found: Callable[..., Any] = renderer(type(self), "torch")(self, start or {})
        return found

    @functools.cached_property
    def workspace(self) -> Workspace:
        """Programs that were made of it once, for any start."""
        return Workspace()

    def numeric(self, start: Mapping[str, Any] | None = None) -> NumericPotential:
        """Return Q, its gradient, the inverse mirror map and the Bregman divergence in NumPy.

        Args:
            start: numbers for the start symbols; of a vector u of open dimension also u_0, (d,).

        Raises:
            InputError: a start symbol has no value, or the value breaks an assumption.
            NumericalError: there is no Q to evaluate.
        """
        # Looked up, not imported: symbols do not depend on numbers.
        room = importlib.import_module("numerics.evaluate.lowering")
        found: NumericPotential = room.numeric(self, start or {})
        return found
