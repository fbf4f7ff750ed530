"""R and R_F at one point that was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from derive.errors import InputError, NumericalError
from derive.explicit.counterpart import Evaluated, ExplicitCounterpart
from derive.explicit.minimum import SquaredDistance

MISSING = "give a number for"


def evaluate(found: ExplicitCounterpart, point: Mapping[str, Fraction]) -> tuple[Evaluated, ...]:
    """Return R and R_F on every block at numbers for beta and the start symbols.

    Raises:
        InputError: a number is missing, or a name is not known.
    """
    minima = [("R", b.outputs, b.distance) for b in found.blocks]
    minima += [("R_F", b.outputs, b.cost) for b in found.blocks]
    known = dict.fromkeys(str(s) for _, _, minimum in minima for s in minimum.variables)
    for name in point:
        if name not in known:
            raise InputError(f"there is no {name} to give a number to: {', '.join(known)}")
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
