"""Three-valued verdicts, each with the evidence that a reader can check."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from derive.printable import Held


class Verdict(enum.Enum):
    """PROVED, REFUTED, or UNDECIDED; a verdict is never a truth value by accident."""

    PROVED = "PROVED"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"

    def __bool__(self) -> bool:
        raise TypeError("a verdict has three values: compare it with Verdict.PROVED")


Number: TypeAlias = Fraction | str
"""An exact rational number, or the leading decimal digits of one that is not rational."""


Argument: TypeAlias = Literal[
    "",
    "candidate",
    "vertical",
    "kernel",
    "slope",
    "path",
    "weight",
    "parts",
    "curve",
    "integral",
    "length",
    "dual",
    "separate",
    "closed",
]
"""What identities are used for: that no Q or g exists, what Q is, that K is no function of beta."""


@dataclass(frozen=True, slots=True, repr=False)
class Identity(Held):
    """An equation between exact functions of the weights, and what became of it.

    Attributes:
        claim: the equation in the notation of the output, for instance
            ``<grad y1, grad F1> = g``.
        left, right: its two sides as text in the weights, times a factor where there is one.
        point: for an identity that fails, weights at which it does; empty where it holds.
        residual: left - right at that point; 0 where the identity holds everywhere.
        derivative: a direction such as ``grad F1`` repeated, when the residual is that of an
            iterated derivative of (left - right) along the flow; empty otherwise.
        factor: for one that fails, what its sides are multiplied by, as text; empty for 1.
        kind: the argument that uses it; empty where none does.
        of: formulas of the claim as text, or the numbers of the outputs that it is about.
    """

    claim: str
    left: str
    right: str
    point: tuple[tuple[str, Number], ...] = ()
    residual: Number = Fraction(0)
    derivative: tuple[str, ...] = ()
    factor: str = ""
    kind: Argument = ""
    of: tuple[str | int, ...] = ()

    @property
    def statement(self) -> str:
        """The claim, with what its sides are multiplied by."""
        return f"{self.claim}, times {self.factor}" if self.factor else self.claim

    @property
    def holds(self) -> bool:
        """Whether the identity holds for all weights."""
        return not self.point


@dataclass(frozen=True, slots=True, repr=False)
class Finding(Held):
    """A verdict on one question, the reason in one sentence, and the identities behind it."""

    verdict: Verdict
    reason: str
    evidence: tuple[Identity, ...] = ()

    @property
    def words(self) -> str:
        """The reason without the marks around its formulas."""
        return self.reason.replace("`", "").replace("$", "")


class Decided:
    """What has a finding."""

    finding: Finding

    @property
    def verdict(self) -> Verdict:
        """PROVED, REFUTED or UNDECIDED."""
        return self.finding.verdict


def conclude(findings: tuple[Finding, ...]) -> Verdict:
    """Return PROVED if all are proved, REFUTED if one is refuted, else UNDECIDED."""
    verdicts = [finding.verdict for finding in findings]
    if Verdict.REFUTED in verdicts:
        return Verdict.REFUTED
    if Verdict.UNDECIDED in verdicts:
        return Verdict.UNDECIDED
    return Verdict.PROVED
