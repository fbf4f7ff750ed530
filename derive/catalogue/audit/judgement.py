"""What became of one printed formula: the four outcomes.

What compares a formula returns one of three; it raises Unsettled to say why it is not checked.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from derive.catalogue.library import Printed


class Outcome(enum.Enum):
    """The four answers; what was not compared is never counted as agreeing."""

    AGREES = "AGREES"
    UP_TO = "AGREES UP TO"
    MISPRINT = "MISPRINT"
    NOT_CHECKED = "NOT CHECKED"


@dataclass(frozen=True, slots=True)
class Witness:
    """Exact values of names, where the leading digits of what should agree differ."""

    point: tuple[tuple[str, str], ...]
    printed: tuple[str, ...]
    derived: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer to one comparison: *up_to* says in words what the two differ by.

    *reason* is why it was not checked, or what the misprint is, which the witnesses show.
    """

    outcome: Outcome
    up_to: tuple[str, ...] = ()
    method: str = ""
    reason: str = ""
    derived: str = ""
    witnesses: tuple[Witness, ...] = ()


def agreement(method: str, up_to: tuple[str, ...] = ()) -> Judgement:
    """Return AGREES, or AGREES UP TO where something is named."""
    return Judgement(Outcome.UP_TO if up_to else Outcome.AGREES, up_to, method)


def misprint(
    reason: str, method: str, derived: str, witnesses: tuple[Witness, ...] = ()
) -> Judgement:
    """Return MISPRINT with what was derived instead."""
    return Judgement(Outcome.MISPRINT, (), method, reason, derived, witnesses)


@dataclass(frozen=True, slots=True)
class Audit:
    """One printed formula of one model, and the answer."""

    model: str
    printed: Printed
    judgement: Judgement
