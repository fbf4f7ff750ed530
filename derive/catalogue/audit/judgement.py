"""What became of one printed formula: the four outcomes.

What compares a formula returns one of three; it raises Unsettled to say why it is not checked.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from derive.catalogue.entry import Printed


class Outcome(enum.Enum):
    """The four answers; what was not compared is never counted as agreeing."""

    AGREES = "AGREES"
    UP_TO = "AGREES UP TO"
    MISPRINT = "MISPRINT"
    NOT_CHECKED = "NOT CHECKED"


@dataclass(frozen=True, slots=True)
class Witness:
    """A point at which two values differ that should agree, or agree up to one factor.

    Attributes:
        point: the names and their exact values.
        printed, derived: leading digits of the two values there.
    """

    point: tuple[tuple[str, str], ...]
    printed: tuple[str, ...]
    derived: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer to one comparison.

    Attributes:
        outcome: which of the four.
        up_to: what the two differ by, each in words.
        method: how it was decided: exactly, or by enclosures at points.
        derived: the form that the program derives.
        witnesses: for a misprint, points that show it.
        reason: why it was not checked, or what the misprint is.
    """

    outcome: Outcome
    method: str = ""
    up_to: tuple[str, ...] = ()
    derived: str = ""
    witnesses: tuple[Witness, ...] = ()
    reason: str = ""


def agreement(method: str, up_to: tuple[str, ...] = ()) -> Judgement:
    """Return AGREES, or AGREES UP TO where something is named."""
    return Judgement(Outcome.UP_TO if up_to else Outcome.AGREES, method, up_to)


def misprint(
    reason: str, method: str, derived: str, witnesses: tuple[Witness, ...] = ()
) -> Judgement:
    """Return MISPRINT with what was derived instead."""
    return Judgement(Outcome.MISPRINT, method, (), derived, witnesses, reason)


@dataclass(frozen=True, slots=True)
class Audit:
    """One printed formula of one model, and the answer."""

    model: str
    printed: Printed
    judgement: Judgement
