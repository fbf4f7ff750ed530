"""What explicit regularization of the weights gives, block by block."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from derive.errors import InputError, NumericalError
from derive.explicit import statements as claims
from derive.explicit.contrast import Contrast
from derive.explicit.minimum import CertifiedValue, SquaredDistance
from derive.model.parameterization import Parameterization
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
            claims.minimum_of("R", block.distance, block.outputs, about),
            claims.minimum_of("R_F", block.cost, block.outputs, about),
            *claims.contrast_of(block.contrast, about),
            *(claims.limit_of(x.finding, x.start, f"R as {x.when}{about}") for x in block.limits),
        )

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed of R and R_F, block by block, and at numbers."""
        told = (s for block in self.blocks for s in self.of_block(block))
        values = (claims.value_of(v.of, v.point, v.value, v.reason) for v in self.evaluated)
        return (*told, *values)

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
        value, reason = None, f"{MISSING} {', '.join(s for s in names if s not in point)}"
        if len(given) == len(names):
            try:
                value, reason = minimum.at(point), ""
            except NumericalError as step:
                reason = str(step)
        values.append(Evaluated(of, outputs, given, value, reason))
    if all(value.reason.startswith(MISSING) for value in values):
        raise InputError(values[-1].reason)
    return tuple(values)
