"""Explicit regularization of the weights, beside the implicit one: the fold of the steps."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, overload

from sympy import Expr, Symbol

from derive.derivation import Model, map_of
from derive.errors import InputError, NumericalError
from derive.explicit.constrained import pose, pose_cost
from derive.explicit.contrast import Contrast, contrast_of, contrast_with
from derive.explicit.eliminated import minimum_by_bound, minimum_by_elimination
from derive.explicit.fibre_cost import FibreCost, fibre_cost
from derive.explicit.minimum import (
    CertifiedValue,
    RootByInterval,
    SquaredDistance,
    limit_of,
    minimum_of,
    value_of,
)
from derive.model.labels import quoted, taken_names
from derive.model.names import unused
from derive.model.notation import Notation
from derive.model.parameterization import Parameterization
from derive.model.restriction import leave_out_affine
from derive.printable import Held, Printable
from derive.statement import Claims, Open, Statement
from derive.verdict import Finding, Verdict, conclude

MISSING = "give a number for"


@dataclass(frozen=True)
class ScaleLimit:
    """R -> R_F as the symbols of the start go to 0, for any F; :func:`derive.regimes` is of Q."""

    start: tuple[str, ...]
    finding: Finding
    statement: ClassVar[str] = "R -> R_F"

    @property
    def when(self) -> str:
        """Such as ``alpha -> 0``."""
        return f"{', '.join(self.start)} -> 0"


def scale_limits(p: Parameterization) -> tuple[ScaleLimit, ...]:
    """Return that R -> R_F on one block of outputs, where its start goes to 0 with its symbols."""
    symbols = p.start_field.names
    zero = [Fraction(0)] * len(symbols)
    if p.start_field.generators or not symbols:
        return ()
    if any(not x.is_polynomial() or x.at(zero) for x in p.w0):
        return ()
    reason = "|sqrt(R) - sqrt(R_F)| <= |w_0|: a distance moves no more than the point"
    if p.degree:
        reason += f"; R_F is homogeneous of degree {Fraction(2, p.degree)} in beta"
    return (ScaleLimit(symbols, Finding(Verdict.PROVED, reason)),)


@dataclass(frozen=True, repr=False)
class Evaluated(Held):
    """The minimum "R" or "R_F" of a block of outputs, counted from 0, at the symbols it depends on.

    The value is None where no w has F(w) = beta, or, with a reason, where it was not certified.
    """

    of: str
    outputs: tuple[int, ...]
    point: tuple[tuple[str, Fraction], ...]
    value: CertifiedValue | None
    reason: str = ""


@dataclass(frozen=True, repr=False)
class BlockCounterpart(Held):
    """R(beta) = min |w - w_0|^2 and R_F(beta) = min |w|^2 on outputs, from 0, that share weights.

    R stands beside the implicit Q, with its limit as the start goes to 0.
    """

    outputs: tuple[int, ...]
    distance: SquaredDistance
    cost: SquaredDistance
    contrast: Contrast
    limits: tuple[ScaleLimit, ...]


@dataclass(frozen=True, repr=False)
class ExplicitCounterpart(Claims, Printable):
    """R(beta), R_F(beta), sums over blocks, and how they compare with the implicit regularizer.

    With vectors of open dimension F is |beta| as a function of the scalars and vectors' lengths.

    Attributes:
        parameterization: F, the start w_0 and signs.
        blocks: R = min |w - w_0|^2 and R_F = min |w|^2 where F(w) = beta, on each block.
        evaluated: both at the numbers that were given, if any.
    """

    parameterization: Parameterization
    blocks: tuple[BlockCounterpart, ...]
    evaluated: tuple[Evaluated, ...] = ()

    def of_block(self, block: BlockCounterpart) -> tuple[Statement | Open, ...]:
        """Return what is claimed of one block of outputs."""
        several = len(self.blocks) > 1
        about = f", beta{', '.join(str(i + 1) for i in block.outputs)}" if several else ""
        return (
            minimum_of("R", block.distance, block.outputs, about),
            minimum_of("R_F", block.cost, block.outputs, about),
            *contrast_of(block.contrast, about),
            *(limit_of(x.finding, x.start, f"R as {x.when}{about}") for x in block.limits),
        )

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed of R and R_F, block by block, and at numbers."""
        values = (value_of(v.of, v.point, v.value, v.reason) for v in self.evaluated)
        return (*(s for block in self.blocks for s in self.of_block(block)), *values)

    @property
    def verdict(self) -> Verdict:
        """PROVED where R and R_F are, on every block."""
        return conclude(tuple(m.finding for b in self.blocks for m in (b.distance, b.cost)))


def evaluate(
    blocks: Sequence[BlockCounterpart], point: Mapping[str, Fraction]
) -> tuple[Evaluated, ...]:
    """Return R and R_F on every block at numbers; InputError for missing ones or other names."""
    minima = [("R", b.outputs, b.distance) for b in blocks]
    minima += [("R_F", b.outputs, b.cost) for b in blocks]
    known = dict.fromkeys(str(s) for _, _, minimum in minima for s in minimum.variables)
    if unknown := [name for name in point if name not in known]:
        raise InputError(f"there is no {unknown[0]} to give a number to: {', '.join(known)}")
    values = []
    for of, outputs, minimum in minima:
        names = [str(s) for s in minimum.variables]
        given = tuple((s, point[s]) for s in names if s in point)
        value, reason = None, f"{MISSING} {', '.join(f'`{s}`' for s in names if s not in point)}"
        if len(given) == len(names):
            try:
                value, reason = minimum.at(point), ""
            except NumericalError as step:
                reason = str(step)
        values.append(Evaluated(of, outputs, given, value, reason))
    if all(value.reason.startswith(MISSING) for value in values):
        raise InputError(values[-1].reason.replace("`", ""))
    return tuple(values)


Enter = Callable[[str], None]


@overload
def explicit_counterpart(
    model: Model, progress: Enter | None = None, at: Mapping[str, Fraction] | None = None
) -> ExplicitCounterpart: ...


@overload
def explicit_counterpart(
    model: Model, *, cost: str | Expr, X: Sequence[Sequence[Fraction]] = ()
) -> FibreCost: ...


def explicit_counterpart(
    model: Model,
    progress: Enter | None = None,
    at: Mapping[str, Fraction] | None = None,
    *,
    cost: str | Expr | None = None,
    X: Sequence[Sequence[Fraction]] = (),
) -> ExplicitCounterpart | FibreCost:
    """Return what explicit l2 regularization of the weights gives, with proofs.

    R(beta) = min |w - w_0|^2 subject to F(w) = beta, and the representation cost
    R_F(beta) = min |w|^2 subject to F(w) = beta: the polynomial of all critical values by exact
    elimination, and which of its roots the minimum is, certified in balls. Never raises for an
    "undecided".

    >>> tied = Parameterization.parse(["p**2 - m**2"], start={"p": "alpha", "m": "alpha"})
    >>> found = explicit_counterpart(tied)
    >>> found.blocks[0].distance.equations[0]
    b**4 - 2*b**2*r**2 - 10*b**2*r + b**2 + r**4 - 6*r**3 + 12*r**2 - 8*r
    >>> found.blocks[0].distance.intervals[0].index, found.verdict.value
    (0, 'PROVED')

    Args:
        model: F and the start w_0, or its derivation; or a sum of multiples of vectors, whose
            dimension is open.
        progress: called with the name of each step as it begins.
        at: numbers for beta and the start symbols, at which values are certified as well.
        cost: another than |w|^2, as :func:`derive.explicit.fibre_cost.fibre_cost` reads it.
        X: rows of data for it.

    Returns:
        with a cost, its minimum over the weights with F(w) = beta; else R and R_F on each block of
        outputs that share weights, each beside Q and its limits.

    Raises:
        InputError: a vector model has odd powers of a norm, or a norm beside several vectors; a
            number of *at* is missing, or its name is not known.

    Source: Woodworth et al. 2020, appendix on R_alpha; Dai, Karzand, Srebro 2021 for R_F.
    """
    parameterization, enter = map_of(model), progress or (lambda step: None)
    if cost is not None:
        return fibre_cost(parameterization, cost, X)
    if parameterization.rates:
        raise InputError("the explicit problem has no learning rates: leave out rates and mirror")
    p = leave_out_affine(parameterization)
    groups = () if p.vectors else p.blocks
    blocks = tuple(_block(p, group, enter) for group in groups) or (_of_vectors(p, enter),)
    enter("values")
    return ExplicitCounterpart(p, blocks, evaluate(blocks, at) if at else ())


def _block(p: Parameterization, group: tuple[int, ...], enter: Enter) -> BlockCounterpart:
    block = p if len(p.blocks) == 1 else p.restrict(group)
    betas = Notation(p, group).betas
    enter("elimination: distance from the start")
    distance = minimum_by_elimination(pose, block, betas)
    enter("elimination: representation cost")
    cost = representation_cost(block, betas)
    contrast = contrast_with(block, distance, enter)
    return BlockCounterpart(group, distance, cost, contrast, scale_limits(block))


def _of_vectors(p: Parameterization, enter: Enter) -> BlockCounterpart:
    """Return R of sum_k phi_k u_k in the length of beta alone.

    Where the phi_k are free of norms, projecting all u_k on the line of beta keeps F(w) = beta and
    shortens them. Where there is one vector, F(w) = beta forces it on that line. So u_k = n_k
    beta/|beta|, and where the u_k start at 0, |w - w_0|^2 is that of (a, n): R(beta) is R of the
    single output sum_k phi_k n_k at |beta|, provided that phi_k is even in n_k.
    """
    vectors = [v.name for v in p.vectors]
    images = [*p.w[: -len(vectors)], *(-n for n in p.w[-len(vectors) :])]
    opposite = p.F[0].compose([*images, *p.field.gens[p.p :]], p.field)
    if not (opposite + p.F[0]).is_zero():
        raise InputError(
            f"odd powers of norm({vectors[0]}) are not covered: give {vectors[0]} a dimension"
        )
    s = (Symbol(unused("s", taken_names(p)), real=True),)
    enter("elimination: distance from the start")
    moved = [v for v, x in zip(vectors, p.w0[-len(vectors) :], strict=True) if not x.is_zero()]
    distance = minimum_by_elimination(pose, p, s) if not moved else None
    if distance is None:
        u = quoted(moved[0], p)
        angle = f"R depends on the angle between {quoted(f'{moved[0]}_0', p)} and beta"
        reason = f"{u} starts away from 0: {angle}"
        distance = SquaredDistance(s, Finding(Verdict.UNDECIDED, reason))
    enter("elimination: representation cost")
    cost = representation_cost(p, s)
    # s = |beta| is not negative.
    if isinstance(cost, RootByInterval):
        kept = tuple(x for x in cost.intervals if x.high is None or x.high > 0)
        cost = replace(cost, intervals=kept)
    contrast = contrast_with(p, distance, enter)
    return BlockCounterpart((0,), distance, cost, contrast, ())


def representation_cost(p: Parameterization, betas: tuple[Symbol, ...]) -> SquaredDistance:
    """Return R_F(beta) = min |w|^2 subject to F(w) = beta, from critical points or from a bound.

    >>> product = Parameterization.parse(["u**2*v"])
    >>> representation_cost(product, (Symbol("beta"),)).equations
    (-27*beta**2 + 4*r**3,)
    """
    return minimum_by_bound(pose_cost, p, betas)
