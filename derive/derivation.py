"""The derivation: a fold of the stages over each block of outputs, read from top to bottom."""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, overload

from sympy import Expr, Symbol

from derive.clock import Stages
from derive.errors import InputError, check_kind
from derive.joint import join_conserved, join_findings, join_metric, join_potential, join_warps
from derive.language.tree import Tree
from derive.model.direction import Direction, find_direction
from derive.model.notation import Notation
from derive.model.parameterization import Parameterization
from derive.model.restriction import Restriction, find_idle, find_ties, leave_out, leave_out_affine
from derive.outcome import Outcome
from derive.potential.find import find_potential, integrated
from derive.printable import Certified, Explored, Plotted, renderer
from derive.records import Block, Compared, Conserved, Decision, InducedMetric, Potential
from derive.roads.published import Ansatz
from derive.roads.road import Road, ask_road, find_roads
from derive.statement import Claims, Open, Statement
from derive.verdict import Verdict, conclude
from derive.weights.adjoin import logarithmic_law
from derive.weights.conserved import (
    ConservedQuantities,
    LieStructure,
    find_conserved,
    find_lie_structure,
    with_logarithm,
)
from derive.weights.hessian import (
    Dependence,
    HessianVerdict,
    WarpVerdict,
    decide_hessian,
    decide_warp,
    find_dependence,
)
from derive.weights.metric import Metric, find_metric, tangent_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from derive.entrywise import EntrywiseDerivation
    from derive.model.entrywise import EntrywiseMap
    from derive.model.matrices import MatrixMap

AUDIT = "derive.catalogue.audit.conjecture"
"""Compares a given Q with the derived one; it knows derivations, which look it up."""
CLAIMS = "derive.claims"
"""Says what derivations claim, likewise."""


@dataclass(frozen=True, repr=False)
class Derivation(Claims, Plotted, Explored, Certified):
    """Everything that was derived from one parameterization, with the verdict.

    Attributes:
        parameterization: F and the start, as given, without outputs that are affine functions of
            others.
        blocks: the stages' records for each group of outputs that shares weights.
        hessian: is rho a Hessian map?
        warping: is there a warp, and which?
        potential: Q.
        idle: weights that start at 0 and stay there, left out of what follows.
        ties: weights that stay affine functions of others, each with that function, left
            out of what follows.
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

    def _shown(self) -> Iterable[tuple[str, object]]:
        given = ("parameterization", self.parameterization), ("verdict", self.verdict)
        return *given, ("Q", self.potential.Q)

    def to_code(self, language: str) -> str:
        """Return a file that other programs read.

        Args:
            language: jax or torch, for Q and grad Q as differentiable functions; numpy, for these
                and others; js, for these, F, J and K in JavaScript; rocq, for the theorem with a
                proof that Rocq accepts.

        Raises:
            NumericalError: Q, or its proof, has no form there.
        """
        return str(renderer(type(self), language)(self))

    @property
    def verdict(self) -> Verdict:
        """PROVED: Q exists and is given. REFUTED: none exists. UNDECIDED: neither was proved."""
        return conclude((self.warping.finding, self.potential.finding))

    @property
    def outcome(self) -> Outcome:
        """The verdict with its reason, and Q where it is known."""
        potential = self.potential if self.potential.pieces else None
        return Outcome(self.parameterization, self.potential.finding, potential)

    @functools.cached_property
    def beta(self) -> tuple[Symbol, ...]:
        """The predictor coordinates; of a vector of open dimension its length s = |beta|."""
        moving = self.potential.parameterization
        return Notation(moving, tuple(range(moving.d))).betas

    @property
    def of_coordinates(self) -> bool:
        """Whether F is one output, so that each coordinate of beta has weights of its own."""
        p = self.parameterization
        return self.direction is None and p.d == 1 and not p.affine

    @property
    def direction(self) -> Direction | None:
        """How beta turns, of a vector of open dimension; None for coordinates."""
        return self.blocks[0].metric.direction

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed of F, from existence to what Q is for."""
        return tuple(importlib.import_module(CLAIMS).statements(self))

    def compare(self, Q: str | Expr) -> Compared:
        """Say whether a Q in beta and start symbols is the derived one, and else where it differs.

        >>> derive("w").compare("(beta - w_0)**2").up_to
        ('scale: conjectured = 2 * derived', 'an additive constant')

        Raises:
            LanguageError: Q is not an expression.
            InputError: it uses a name that stands for nothing here.
        """
        found: Compared = importlib.import_module(AUDIT).compare_conjecture(self, Q)
        return found

    def in_all_weights(self) -> Derivation:
        """Return the derivation without ties, which a perturbation of the flow may end."""
        if not self.ties:
            return self
        moving = leave_out(self.parameterization, self.idle)
        found = _derive_moving(moving, None, Stages(None, lambda stage: None), lambda known: None)
        return replace(found, parameterization=self.parameterization, idle=self.idle)

    @functools.cached_property
    def conserved(self) -> Conserved:
        """Conserved quantities of all blocks."""
        return join_conserved(self.blocks)

    @functools.cached_property
    def metric(self) -> InducedMetric:
        """K and rho of the whole parameterization."""
        return join_metric(self.blocks, self.parameterization.d)


class Joint(Protocol):
    """What is derived as one parameterization, as copies are."""

    @property
    def joint(self) -> Parameterization:
        """All outputs and weights."""


@overload
def derive(
    parameterization: Parameterization | Joint | Expr | str | Sequence[Expr | str],
    progress: Callable[[str], None] | None = None,
    ansatz: Ansatz | None = None,
    timeout: float | None = None,
    known: Callable[[Outcome], None] | None = None,
) -> Derivation: ...


@overload
def derive(
    parameterization: EntrywiseMap,
    progress: Callable[[str], None] | None = None,
    *,
    timeout: float | None = None,
) -> EntrywiseDerivation: ...


@overload
def derive(
    parameterization: MatrixMap,
    progress: Callable[[str], None] | None = None,
    *,
    timeout: float | None = None,
) -> Any: ...


def derive(
    parameterization: Parameterization
    | Joint
    | EntrywiseMap
    | MatrixMap
    | Expr
    | str
    | Sequence[Expr | str],
    progress: Callable[[str], None] | None = None,
    ansatz: Ansatz | None = None,
    timeout: float | None = None,
    known: Callable[[Outcome], None] | None = None,
) -> Derivation | EntrywiseDerivation:
    """Derive the implicit regularizer of gradient flow on F, or prove that there is none.

    Stages, for each block of outputs that shares no weight with the others: the Lie structure
    of the gradient fields, their conserved quantities, the tangent kernel, the Hessian-map
    decision, the warp decision, the potential, other roads to it. Never raises for a "no" or an
    "undecided".

    >>> d = derive(Parameterization.parse(["w**2"], start={"w": "alpha"}))
    >>> d.verdict.value, d.potential.Q
    ('PROVED', beta*log(beta/alpha**2)/4 - beta/4)
    >>> derive(["a*u1", "a*u2"]).warping.g
    a

    Args:
        parameterization: F and the start; with vectors of open dimension, for every d >= 2 at once,
            and of open size for every n, where what is found is another record.
            Outputs alone, as text or SymPy, start at the symbols ``<weight>_0``.
        progress: called with the name of each stage as it begins.
        ansatz: a form of Q(beta1, ..., betad) to be tried as well.
        timeout: seconds; a stage that takes longer ends UNDECIDED, as do all after it, and their
            reason names it. One step of algebra, such as a greatest common divisor, is not cut.
        known: called with the verdict, once it is known, before what only adds to it is looked for.

    Returns:
        the records of all stages; Q with grad Q = 0 at the start where it was proved.

    Raises:
        DegenerateStart: the predictor cannot move from the start.
        InputError: the Ansatz does not fit the outputs.
        ConsistencyError: two derivations disagree; a fault of this program.

    Source: Gunasekar et al. 2018 for the row space; Azulay et al. 2021 for a warp.
    """
    model = Parameterization.of(parameterization)
    module, _, fold = model.fold.partition(":")
    stages = getattr(importlib.import_module(module), fold)
    found: Derivation | EntrywiseDerivation = stages(model, progress, ansatz, timeout, known)
    return found


Model: TypeAlias = "Derivation | Parameterization | Joint | Expr | str | Sequence[Expr | str]"
"""What is derived further: a derivation, or what :func:`derive` takes of given size."""


def map_of(model: Model) -> Parameterization:
    """Return F of a model, of copies all together; InputError for a map of open size."""
    given: Any = Parameterization.of(getattr(model, "parameterization", model))
    p: Parameterization = getattr(given, "joint", given)
    check_kind(p, Parameterization, "Parameterization.parse(['p**2'])")
    return p


def derived(model: Model, progress: Callable[[str], None] | None = None) -> Derivation:
    """Return the derivation of a model; InputError for a map of open size."""
    return model if isinstance(model, Derivation) else derive(map_of(model), progress)


def derive_blocks(
    given: Parameterization,
    progress: Callable[[str], None] | None,
    ansatz: Ansatz | None,
    timeout: float | None,
    known: Callable[[Outcome], None] | None,
) -> Derivation:
    """Derive outputs of given number, or of one vector of open dimension: see :func:`derive`."""
    if given.vectors and ansatz is not None:
        raise InputError("an Ansatz goes with outputs of given dimension")
    still = find_idle(given)
    parameterization = leave_out_affine(given, still)
    stages = Stages(timeout, progress or (lambda stage: None))
    moving = leave_out(parameterization, still).within(stages.clock)
    idle = tuple(w for w in parameterization.weights if w not in moving.weights)
    tell = functools.partial(_tell, known, parameterization)

    fewer = None
    if not moving.vectors:
        find = functools.partial(find_ties, moving)
        fewer = stages("proportional weights", find, lambda late: None)
    fewer = fewer or Restriction(moving)
    found = _derive_moving(fewer.parameterization, ansatz, stages, tell)
    return replace(found, parameterization=parameterization, idle=idle, ties=fewer.ties)


def _tell(
    known: Callable[[Outcome], None] | None, given: Parameterization, found: Derivation
) -> None:
    if known is not None and found.verdict is not Verdict.UNDECIDED:
        known(replace(found, parameterization=given).outcome)


def _derive_moving(
    moving: Parameterization,
    ansatz: Ansatz | None,
    stages: Stages,
    tell: Callable[[Derivation], None],
) -> Derivation:
    direction = find_direction(moving)
    if direction is not None:
        moving = direction.parameterization
    groups = moving.blocks
    notations = [
        Notation(moving, group, str(i) if len(groups) > 1 else "")
        for i, group in enumerate(groups, 1)
    ]
    blocks = tuple(_decide_block(notation, direction, stages) for notation in notations)
    tell(_joined(moving, blocks))
    found = _joined(moving, tuple(_with_potential(block, stages) for block in blocks))
    if found.verdict is Verdict.PROVED:
        tell(found)
    return replace(
        found,
        blocks=tuple(_explain_block(block, stages) for block in found.blocks),
        asked=None if ansatz is None else _ask(moving, found.blocks, ansatz, stages),
    )


def _joined(moving: Parameterization, blocks: tuple[Block, ...]) -> Derivation:
    """Return what is known of all outputs by what is known of each block."""
    # Where K is singular there is no rho to ask about.
    asked = [b for b in blocks if b.dependence is not None] or blocks
    hessian = join_findings([b.hessian.finding for b in asked])
    warping, g = join_warps(blocks, hessian)
    potential = join_potential(blocks, warping, moving)
    return Derivation(moving, blocks, Decision(hessian), Decision(warping, g), potential)


def _with_logarithm(conserved: ConservedQuantities) -> ConservedQuantities:
    """Return the laws of a block, with one that has logarithms where one is left."""
    missing = len(conserved.laws) == conserved.bound - 1
    return with_logarithm(conserved, logarithmic_law(conserved)) if missing else conserved


def _decide_block(notation: Notation, direction: Direction | None, stage: Stages) -> Block:
    """Return a block with whether there is a Q, by an integral, or why there is none."""
    p, group = notation.parameterization, notation.block
    block = p if len(p.blocks) == 1 else p.restrict(group)
    lie = stage(
        "Lie structure",
        lambda: find_lie_structure(block),
        lambda late: LieStructure.of_fields(block),
    )
    conserved = stage(
        "conserved quantities",
        lambda: _with_logarithm(find_conserved(lie)),
        lambda late: ConservedQuantities(lie, (), block.p - lie.dimension, late, ()),
    )
    metric = stage(
        "metric",
        lambda: find_metric(conserved, direction),
        lambda late: Metric(conserved, tangent_kernel(block), direction),
    )
    hessian = stage(
        "Hessian-map decision",
        lambda: decide_hessian(metric),
        lambda late: HessianVerdict(metric, late),
    )
    warping = stage(
        "warp decision", lambda: decide_warp(hessian), lambda late: WarpVerdict(hessian, late, None)
    )
    potential = integrated(warping, notation)
    found = (lie, conserved, metric, hessian, warping, potential)
    return Block(group, notation, *found, (), Dependence.of_rank(block))


def _with_potential(block: Block, stage: Stages) -> Block:
    """Return a block with its Q in the most explicit form that is found."""
    potential = stage(
        "potential",
        lambda: find_potential(block.warping, block.notation),
        lambda late: block.potential,
    )
    return replace(block, potential=potential)


def _explain_block(block: Block, stage: Stages) -> Block:
    """Return a block with what adds to its verdict: other roads, relations of its outputs."""
    roads = stage(
        "other roads",
        lambda: find_roads(block.potential),
        lambda late: (Road("other roads", late),),
    )
    dependence = stage(
        "relations of the outputs",
        lambda: find_dependence(block.parameterization, block.notation),
        lambda late: block.dependence,
    )
    return replace(block, roads=roads, dependence=dependence)


def _ask(p: Parameterization, blocks: tuple[Block, ...], ansatz: Ansatz, stage: Stages) -> Road:
    def ask() -> Road:
        if len(blocks) == 1:
            return ask_road(blocks[0].potential.warping, blocks[0].potential.dual, ansatz)
        metric = find_metric(find_conserved(find_lie_structure(p)))
        return ask_road(decide_warp(decide_hessian(metric)), None, ansatz)

    return stage("Ansatz", ask, lambda late: Road("Ansatz", late))
