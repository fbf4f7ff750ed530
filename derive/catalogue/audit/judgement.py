"""What became of one printed formula: the five outcomes.

What compares a formula says that it agrees or differs; it raises Unsettled to say why it is not
checked. A difference is the source's own, a MISPRINT, where a typeset page was read or where the
source contradicts itself; else the fault may be of the text that was extracted from it. What is
not quoted, or read in memory alone, blames no source: where that differs it is not checked. What
agrees in an instance agrees up to that.
"""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass, replace

from derive.catalogue.library import Printed
from derive.printable import Printable

UNQUOTED = "it is not what is derived, but the passage is not quoted, so that nothing is accused"
REMEMBERED = "what is remembered of the paper is not what is derived, which tells nothing of it"


class Outcome(enum.Enum):
    """The five answers, the gravest last; what was not compared never counts as agreeing."""

    AGREES = "AGREES"
    AGREES_UP_TO = "AGREES UP TO"
    NOT_CHECKED = "NOT CHECKED"
    DIFFERS = "DIFFERS FROM THE TEXT AT HAND"
    MISPRINT = "MISPRINT"

    @property
    def short(self) -> str:
        """One to three words, for a table."""
        return self.name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Witness:
    """Exact values of names, where the leading digits of what should agree differ."""

    point: tuple[tuple[str, str], ...]
    printed: tuple[str, ...]
    derived: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer to one comparison: *up_to* says in words what the two differ by.

    *reason* is why it was not checked, or what differs, which the witnesses show. *fault* is why
    what differs is the fault of the source.
    """

    outcome: Outcome
    up_to: tuple[str, ...] = ()
    method: str = ""
    reason: str = ""
    derived: str = ""
    witnesses: tuple[Witness, ...] = ()
    fault: str = ""

    @property
    def agrees(self) -> bool:
        """Whether printed and derived were proved to be equal, but for what is named."""
        return self.outcome in (Outcome.AGREES, Outcome.AGREES_UP_TO)

    @property
    def differs(self) -> bool:
        """Whether printed and derived were proved or seen to differ."""
        return self.outcome in (Outcome.DIFFERS, Outcome.MISPRINT)

    def as_read(self, printed: Printed) -> Judgement:
        """Return what it comes to for a formula read there, of which this is that instance."""
        if self.differs and (printed.read == "memory" or not printed.quote):
            cause = REMEMBERED if printed.read == "memory" else UNQUOTED
            return Judgement(Outcome.NOT_CHECKED, reason=f"{cause}: {self.reason}")
        if printed.instance and self.agrees:
            return agreement(self.method, (*self.up_to, f"an instance: {printed.instance}"))
        return self

    def blamed(self, fault: str) -> Judgement:
        """Return MISPRINT in the place of a difference, for that reason."""
        return replace(self, outcome=Outcome.MISPRINT, fault=fault) if self.differs else self


def agreement(method: str, up_to: tuple[str, ...] = ()) -> Judgement:
    """Return AGREES, or AGREES UP TO where something is named."""
    return Judgement(Outcome.AGREES_UP_TO if up_to else Outcome.AGREES, up_to, method)


def difference(
    reason: str, method: str, derived: str, witnesses: tuple[Witness, ...] = ()
) -> Judgement:
    """Return DIFFERS with what was derived instead."""
    return Judgement(Outcome.DIFFERS, (), method, reason, derived, witnesses)


@dataclass(frozen=True, slots=True)
class Audit:
    """One printed formula of one model, and the answer."""

    model: str
    printed: Printed
    judgement: Judgement


@dataclass(frozen=True, repr=False)
class Audits(Printable):
    """What became of the printed formulas of some models."""

    audits: tuple[Audit, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How often each outcome occurs."""
        found = Counter(audit.judgement.outcome for audit in self.audits)
        return {outcome.value: found[outcome] for outcome in Outcome}
