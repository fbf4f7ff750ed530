"""What explicit regularization of the weights gives, block by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from derive.errors import InputError, NumericalError
from derive.explicit.contrast import Contrast
from derive.explicit.minimum import CertifiedValue, SquaredDistance
from derive.explicit.scale_limits import ScaleLimit
from derive.model.parameterization import Parameterization
from derive.printable import Printable
from derive.verdict import Verdict, conclude

MISSING = "give a number for"


@dataclass(frozen=True)
class Evaluated:
    """The minimum "R" or "R_F" of a block of outputs, counted from 0, at the symbols it depends on.

    The value is None where no w has F(w) = beta, or, with a reason, where it was not certified.
    """

    of: str
    outputs: tuple[int, ...]
    point: tuple[tuple[str, Fraction], ...]
    value: CertifiedValue | None
    reason: str = ""


@dataclass(frozen=True)
class BlockCounterpart:
    """R(beta) = min |w - w_0|^2 and R_F(beta) = min |w|^2 on outputs, from 0, that share weights.

    R stands beside the implicit Q, with their limits as the scale of the start goes to 0 or oo.
    """

    outputs: tuple[int, ...]
    distance: SquaredDistance
    cost: SquaredDistance
    contrast: Contrast
    limits: tuple[ScaleLimit, ...]


@dataclass(frozen=True)
class ExplicitCounterpart(Printable):
    """R(beta), R_F(beta), sums over blocks, and how they compare with the implicit regularizer.

    With vectors of open dimension F is |beta| as a function of the scalars and vectors' lengths.
    """

    parameterization: Parameterization
    blocks: tuple[BlockCounterpart, ...]
    evaluated: tuple[Evaluated, ...] = ()

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
    values = tuple(_evaluated(*minimum, point) for minimum in minima)
    if all(value.reason.startswith(MISSING) for value in values):
        raise InputError(values[-1].reason)
    return values


def _evaluated(
    name: str, outputs: tuple[int, ...], minimum: SquaredDistance, point: Mapping[str, Fraction]
) -> Evaluated:
    variables = [str(s) for s in minimum.variables]
    own = tuple((s, point[s]) for s in variables if s in point)
    missing = [s for s in variables if s not in point]
    if missing:
        return Evaluated(name, outputs, own, None, f"{MISSING} {', '.join(missing)}")
    try:
        return Evaluated(name, outputs, own, minimum.at(point))
    except NumericalError as step:
        return Evaluated(name, outputs, own, None, str(step))
