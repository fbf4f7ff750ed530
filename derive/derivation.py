"""The derivation: a fold of the stages over each block of outputs, read from top to bottom."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

from sympy import Symbol

from derive.errors import InputError
from derive.joint import (
    join_conserved,
    join_findings,
    join_metric,
    join_pieces,
    join_potentials,
    join_warps,
)
from derive.language.tree import Tree
from derive.model.idle import find_idle, leave_out
from derive.model.notation import Notation
from derive.model.parameterization import Parameterization
from derive.model.ties import find_ties
from derive.potential.find import find_potential
from derive.potential.piece import Quadrature
from derive.printable import Printable
from derive.records import Block, Conserved, Decision, InducedMetric, Potential
from derive.roads import Ansatz, Road, ask_road, find_roads
from derive.vectors.reduce import VectorModel
from derive.verdict import Verdict, conclude
from derive.weights.conserved import find_conserved
from derive.weights.hessian import decide_hessian
from derive.weights.lie import find_lie_structure
from derive.weights.metric import find_metric
from derive.weights.warping import decide_warp

if TYPE_CHECKING:
    from collections.abc import Callable

    from derive.vectors.derivation import RadialDerivation


@dataclass(frozen=True)
class Derivation(Printable):
    """Everything that was derived from one parameterization, with the verdict.

    Attributes:
        parameterization: F and the start, as given.
        blocks: the stages' records for each group of outputs that shares weights.
        hessian: is rho a Hessian map?
        warping: is there a warp, and which?
        potential: Q.
        idle: weights that start at 0 and stay there, left out of what follows.
        ties: weights that stay linear combinations of others, each with that combination, left
            out of what follows.
        kernel_factor: how many times K in all weights K in the weights left is, where some are
            tied: gradient flow in all of them takes as many times as long.
        asked: what became of the Ansatz that was asked for, if any.
    """

    parameterization: Parameterization
    blocks: tuple[Block, ...]
    hessian: Decision
    warping: Decision
    potential: Potential
    idle: tuple[str, ...] = ()
    asked: Road | None = None
    ties: tuple[tuple[str, Tree], ...] = ()
    kernel_factor: Tree | None = None

    @property
    def verdict(self) -> Verdict:
        """PROVED: Q exists and is given. REFUTED: none exists. UNDECIDED: neither was proved."""
        return conclude((self.warping.finding, self.potential.finding))

    @functools.cached_property
    def beta(self) -> tuple[Symbol, ...]:
        """The predictor coordinates."""
        moving = self.potential.parameterization
        return Notation(moving, tuple(range(moving.d))).betas

    @functools.cached_property
    def conserved(self) -> Conserved:
        """Conserved quantities of all blocks."""
        return join_conserved(self.blocks)

    @functools.cached_property
    def metric(self) -> InducedMetric:
        """K and rho of the whole parameterization."""
        return join_metric(self.blocks, self.parameterization.d)


@overload
def derive(
    parameterization: Parameterization,
    progress: Callable[[str], None] | None = None,
    ansatz: Ansatz | None = None,
) -> Derivation: ...


@overload
def derive(
    parameterization: VectorModel, progress: Callable[[str], None] | None = None
) -> RadialDerivation: ...


def derive(
    parameterization: Parameterization | VectorModel,
    progress: Callable[[str], None] | None = None,
    ansatz: Ansatz | None = None,
) -> Derivation | RadialDerivation:
    """Derive the implicit regularizer of gradient flow on F, or prove that there is none.

    Stages, for each block of outputs that shares no weight with the others: the Lie structure
    of the gradient fields, their conserved quantities, the tangent kernel, the Hessian-map
    decision, the warp decision, the potential, other roads to it. Never raises for a "no" or an
    "undecided".

    >>> d = derive(Parameterization.parse(["w**2"], start={"w": "alpha"}))
    >>> d.verdict.value, d.potential.Q
    ('PROVED', beta*log(beta/alpha**2)/4 - beta/4)

    Args:
        parameterization: F and the start; or a vector model, whose dimension is left open.
        progress: called with the name of each stage as it begins.
        ansatz: a form of Q(beta1, ..., betad) to be tried as well.

    Raises:
        DegenerateStart: the predictor cannot move from the start.
        InputError: the Ansatz does not fit the outputs.
        ConsistencyError: two derivations disagree; a fault of this program.
    """
    if isinstance(parameterization, VectorModel):
        from derive.vectors.derivation import derive_radial

        if ansatz is not None:
            raise InputError("an Ansatz goes with outputs of given dimension")
        v = parameterization
        return derive_radial(v.form, v.start, v.positive, progress)
    idle = find_idle(parameterization)
    moving = leave_out(parameterization, idle)
    found = _derive_moving(parameterization, moving, idle, ansatz, progress)
    open_ = found.verdict is Verdict.UNDECIDED
    ties = find_ties(moving) if open_ or _is_integral(found.potential) else None
    if ties is None:
        return found
    again = _derive_moving(parameterization, ties.parameterization, idle, ansatz, progress)
    simpler = again.verdict is Verdict.PROVED and not _is_integral(again.potential)
    if not (open_ or simpler):
        return found
    return replace(again, ties=ties.relations, kernel_factor=ties.factor)


def _is_integral(potential: Potential) -> bool:
    return any(isinstance(piece, Quadrature) for piece in potential.pieces)


def _derive_moving(
    parameterization: Parameterization,
    moving: Parameterization,
    idle: tuple[str, ...],
    ansatz: Ansatz | None,
    progress: Callable[[str], None] | None,
) -> Derivation:
    groups = moving.blocks
    blocks = tuple(
        _derive_block(moving, group, str(i) if len(groups) > 1 else "", progress)
        for i, group in enumerate(groups, 1)
    )
    hessian = join_findings([b.hessian.finding for b in blocks])
    warping, g = join_warps(blocks, hessian)
    potential = join_potentials(blocks, warping)
    return Derivation(
        parameterization,
        blocks,
        Decision(hessian),
        Decision(warping, g),
        Potential(potential, join_pieces(blocks, potential), moving),
        idle,
        None if ansatz is None else _ask(moving, blocks, ansatz),
    )


def _derive_block(
    p: Parameterization,
    group: tuple[int, ...],
    suffix: str,
    progress: Callable[[str], None] | None,
) -> Block:
    enter = progress or (lambda stage: None)
    block = p if len(p.blocks) == 1 else p.restrict(group)
    notation = Notation(p, group, suffix)
    enter("Lie structure")
    lie = find_lie_structure(block)
    enter("conserved quantities")
    conserved = find_conserved(lie)
    enter("metric")
    metric = find_metric(conserved)
    enter("Hessian-map decision")
    hessian = decide_hessian(metric)
    enter("warp decision")
    warping = decide_warp(hessian)
    enter("potential")
    potential = find_potential(warping, notation)
    enter("other roads")
    roads = find_roads(potential)
    return Block(group, notation, lie, conserved, metric, hessian, warping, potential, roads)


def _ask(p: Parameterization, blocks: tuple[Block, ...], ansatz: Ansatz) -> Road:
    if len(blocks) == 1:
        return ask_road(blocks[0].potential.warping, blocks[0].potential.dual, ansatz)
    metric = find_metric(find_conserved(find_lie_structure(p)))
    return ask_road(decide_warp(decide_hessian(metric)), None, ansatz)
