"""A derivation as the list of sections that every form of output writes, in this order.

A section holds records and no words: text, LaTeX and JSON each say how it looks. A model whose
beta is a vector of open dimension has sections of its own where coordinates have none to show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sympy import Expr

from derive.derivation import Derivation
from derive.model.direction import Direction
from derive.model.notation import to_expr
from derive.potential.block import DirectionTerms
from derive.potential.piece import Piece
from derive.records import Block
from derive.roads.road import Road
from derive.verdict import Verdict
from derive.weights.dependence import Dependence


@dataclass(frozen=True)
class Section:
    """What is said of one part of a derivation; the name is that of the part, where it has one."""

    name: ClassVar[str] = ""

    d: Derivation


@dataclass(frozen=True)
class DirectionSection(Section):
    """What is said of a vector of open dimension, which turns."""

    direction: Direction


class Headline(Section):
    """The verdict, and whether Q exists in the plain time."""


class PredictorMap(Section):
    """beta = F(w) in coordinates, its start, and the weights left out."""

    name = "parameterization"


class VectorMap(DirectionSection):
    """beta = phi u with a vector u of open dimension, its start, and the scalars left out."""

    name = "parameterization"


class Laws(Section):
    """The conserved quantities of all blocks."""

    name = "conserved"

    def named(self) -> Iterator[tuple[str, Expr]]:
        """Yield each law with its name."""
        for block in self.d.blocks:
            laws, notation = block.conserved.laws, block.notation
            for i, law in enumerate(laws, 1):
                name = notation.fresh(f"delta{i}" if len(laws) > 1 else "delta").name
                yield name, to_expr(law, notation.weights)

    @property
    def algebras(self) -> tuple[Block, ...]:
        """The blocks in coordinates, whose fields generate a Lie algebra that is shown."""
        return self.d.blocks if self.d.direction is None else ()


class KernelEntries(Section):
    """K and rho in coordinates."""

    name = "metric"


class Relations(Section):
    """What holds among outputs that move together, so that K has no inverse."""

    name = "relations"


class KernelEigenvalues(DirectionSection):
    """K and rho of a vector, by their eigenvalues across beta and along it."""

    name = "metric"


class HessianMap(Section):
    """Whether rho is a Hessian map."""

    name = "hessian"


class Warp(Section):
    """Whether a warp makes it one; nothing to say where none is needed."""

    name = "warping"

    @property
    def needed(self) -> bool:
        """Whether there is a rho that is no Hessian map itself."""
        return self.d.hessian.verdict is not Verdict.PROVED and not dependent(self.d)

    def slopes(self) -> Iterator[tuple[int, Expr]]:
        """Yield H_a = <grad F_a, grad log g> with a."""
        for block in self.d.blocks:
            labels = block.parameterization.labels
            for i, h in zip(labels, block.warping.H or (), strict=False):
                yield i, to_expr(h, block.notation.weights)

    def dual(self) -> Iterator[list[tuple[int, Expr]]]:
        """Yield, for each block that has dual coordinates, those that are without logarithms."""
        for block in self.d.blocks:
            if block.potential.dual is not None:
                labels = block.parameterization.labels
                numbered = zip(labels, block.potential.dual.y, strict=True)
                found = ((i, y.rational) for i, y in numbered if not y.logs)
                yield [(i, to_expr(y, block.notation.weights)) for i, y in found]


class Regularizer(Section):
    """Q in coordinates, and the roads to it."""

    name = "potential"

    @property
    def names(self) -> tuple[str, ...]:
        """What the blocks' parts of Q are called."""
        many = len(self.d.blocks) > 1
        return tuple(f"Q_{i}" if many else "Q" for i, _ in enumerate(self.d.blocks, 1))

    def roads(self) -> Iterator[tuple[str, tuple[Road, ...], str]]:
        """Yield, for each block with a Q, what it is called, the roads to it, and what of them."""
        for name, block in zip(self.names, self.d.blocks, strict=True):
            proved = tuple(r for r in block.roads if r.finding.verdict is Verdict.PROVED)
            if proved:
                several = len({form.road for form in block.potential.forms}) > 1
                yield name, proved, "; of several forms the shortest is printed" if several else ""


@dataclass(frozen=True)
class VectorRegularizer(Regularizer):
    """Q = q(s) - slope <u_0, beta> of a vector of open dimension."""

    turning: DirectionTerms


class OtherTraining(Section):
    """What a proved Q says of other losses (margins/finite_time.py), and of weight decay."""

    @property
    def shrinks(self) -> bool:
        """Whether F is homogeneous: then weight decay does nothing but shrink the start."""
        p = (self.d.direction or self.d).parameterization
        return p.homogeneity is not None and not p.rates and self.d.equivalent is None


class Asked(Section):
    """What became of the Ansatz that was asked for."""


class Evidence(Section):
    """The statements that were expanded to prove Q."""


def part_names(pieces: Sequence[Piece]) -> list[str]:
    """Return what the parts of Q are called in LaTeX."""
    return [f"Q_{{{i}}}" if len(pieces) > 1 else "Q" for i, _ in enumerate(pieces, 1)]


def dependent(d: Derivation) -> tuple[Dependence, ...]:
    """Return what is known of the blocks whose outputs move together."""
    return tuple(b.dependence for b in d.blocks if b.dependence is not None)


def sections_of(d: Derivation) -> Iterator[Section]:
    """Yield the sections of a derivation from top to bottom."""
    direction, turning = d.direction, d.potential.turning
    yield Headline(d)
    yield PredictorMap(d) if direction is None else VectorMap(d, direction)
    yield Laws(d)
    yield KernelEntries(d) if direction is None else KernelEigenvalues(d, direction)
    if dependent(d):
        yield Relations(d)
    yield HessianMap(d)
    yield Warp(d)
    yield Regularizer(d) if turning is None else VectorRegularizer(d, turning)
    if d.verdict is Verdict.PROVED:
        yield OtherTraining(d)
    yield Asked(d)
    yield Evidence(d)
