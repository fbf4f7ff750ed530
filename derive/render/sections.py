"""A derivation as the list of sections that every form of output writes, in this order.

A section holds records and no words: text, LaTeX and JSON each say how it looks. A model whose
beta is a vector of open dimension has sections of its own where coordinates have none to show.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.language.tree import Tree
from derive.model.direction import Direction
from derive.model.notation import to_expr
from derive.model.parameterization import Parameterization
from derive.potential.block import DirectionTerms
from derive.records import Block, Conserved, Decision, InducedMetric, Potential
from derive.roads.road import Road
from derive.verdict import Finding, Verdict


@dataclass(frozen=True)
class Headline:
    """The verdict, and whether Q exists in the plain time."""

    verdict: Verdict
    hessian: Verdict


@dataclass(frozen=True)
class Model:
    """beta = F(w) in coordinates, its start, and the weights left out.

    Attributes:
        parameterization: as given.
        betas: the predictor coordinates.
        blocks: the groups of outputs that share no weight.
        idle, ties, kernel_factor: as in the derivation.
    """

    parameterization: Parameterization
    betas: tuple[Symbol, ...]
    blocks: tuple[tuple[int, ...], ...]
    idle: tuple[str, ...]
    ties: tuple[tuple[str, Tree], ...]
    kernel_factor: Tree | None


@dataclass(frozen=True)
class VectorModel:
    """beta = phi u with a vector u of open dimension, its start, and the scalars left out.

    Attributes:
        given: the parameterization as given, of |beta|.
        direction: how beta turns; its parameterization is without what is left out.
    """

    given: Parameterization
    direction: Direction
    s: Symbol
    idle: tuple[str, ...]


@dataclass(frozen=True)
class Laws:
    """The conserved quantities of all blocks."""

    conserved: Conserved
    blocks: tuple[Block, ...]

    def named(self) -> Iterator[tuple[str, Expr]]:
        """Yield each law with its name."""
        for block in self.blocks:
            laws, notation = block.conserved.laws, block.notation
            for i, law in enumerate(laws, 1):
                name = notation.fresh(f"delta{i}" if len(laws) > 1 else "delta").name
                yield name, to_expr(law, notation.weights)

    @property
    def algebras(self) -> tuple[Block, ...]:
        """The blocks in coordinates, whose fields generate a Lie algebra that is shown."""
        return tuple(b for b in self.blocks if b.metric.direction is None)


@dataclass(frozen=True)
class Kernel:
    """K and rho of *d* outputs in coordinates."""

    metric: InducedMetric
    d: int


@dataclass(frozen=True)
class Eigenvalues:
    """K and rho of a vector, by their eigenvalues across beta and along it."""

    metric: InducedMetric
    direction: Direction
    s: Symbol


@dataclass(frozen=True)
class HessianMap:
    """Whether rho is a Hessian map."""

    finding: Finding


@dataclass(frozen=True)
class Warp:
    """Whether a warp makes it one; nothing to say where none is needed."""

    decision: Decision
    needed: bool
    blocks: tuple[Block, ...]

    def slopes(self) -> Iterator[tuple[int, Expr]]:
        """Yield H_a = <grad F_a, grad log g> with a from 0."""
        for block in self.blocks:
            for i, h in zip(block.outputs, block.warping.H or (), strict=False):
                yield i, to_expr(h, block.notation.weights)

    def dual(self) -> Iterator[tuple[Block, tuple[tuple[int, Expr], ...]]]:
        """Yield each block that has dual coordinates, with those that are without logarithms."""
        for block in self.blocks:
            if block.potential.dual is not None:
                written = [
                    (i, to_expr(y.rational, block.notation.weights))
                    for i, y in zip(block.outputs, block.potential.dual.y, strict=True)
                    if not y.logs
                ]
                yield block, tuple(written)


@dataclass(frozen=True)
class Regularizer:
    """Q in coordinates, and the roads to it; refuted where there is none."""

    potential: Potential
    refuted: bool
    blocks: tuple[Block, ...]
    asked: Road | None

    @property
    def names(self) -> tuple[str, ...]:
        """What the blocks' parts of Q are called."""
        many = len(self.blocks) > 1
        return tuple(f"Q_{i}" if many else "Q" for i, _ in enumerate(self.blocks, 1))

    def roads(self) -> Iterator[tuple[str, tuple[Road, ...]]]:
        """Yield, for each block with a Q, what it is called and the roads that lead to it."""
        for name, block in zip(self.names, self.blocks, strict=True):
            proved = tuple(r for r in block.roads if r.finding.verdict is Verdict.PROVED)
            if proved:
                yield name, proved


@dataclass(frozen=True)
class VectorRegularizer(Regularizer):
    """Q = q(s) - slope <u_0, beta> of a vector of open dimension."""

    turning: DirectionTerms


@dataclass(frozen=True)
class Asked:
    """What became of the Ansatz that was asked for."""

    road: Road | None


@dataclass(frozen=True)
class Evidence:
    """The statements that were expanded to prove Q."""

    statements: tuple[str, ...]
    where: str


Section: TypeAlias = (
    Headline
    | Model
    | VectorModel
    | Laws
    | Kernel
    | Eigenvalues
    | HessianMap
    | Warp
    | Regularizer
    | Asked
    | Evidence
)


def sections_of(d: Derivation) -> Iterator[Section]:
    """Yield the sections of a derivation from top to bottom."""
    direction = d.direction
    yield Headline(d.verdict, d.hessian.verdict)
    if direction is None:
        groups = tuple(b.outputs for b in d.blocks)
        yield Model(d.parameterization, d.beta, groups, d.idle, d.ties, d.kernel_factor)
    else:
        yield VectorModel(d.parameterization, direction, d.beta[0], d.idle)
    yield Laws(d.conserved, d.blocks)
    if direction is None:
        yield Kernel(d.metric, d.parameterization.d)
    else:
        yield Eigenvalues(d.metric, direction, d.beta[0])
    yield HessianMap(d.hessian.finding)
    yield Warp(d.warping, d.hessian.verdict is not Verdict.PROVED, d.blocks)
    refuted = d.warping.verdict is Verdict.REFUTED
    if d.potential.turning is None:
        yield Regularizer(d.potential, refuted, d.blocks, d.asked)
    else:
        yield VectorRegularizer(d.potential, refuted, d.blocks, d.asked, d.potential.turning)
    yield Asked(d.asked)
    proved = d.blocks if d.verdict is Verdict.PROVED else ()
    statements = (e.statement for b in proved for e in b.potential.finding.evidence)
    where = "weights" if direction is None else "scalars and the norm"
    yield Evidence(tuple(dict.fromkeys(statements)), where)
