"""The verdict on F as soon as it is known, before anything longer is written.

What comes after a verdict, such as other roads to Q, certificates and pages, adds to it and takes
time; who has less of that holds at least this.
"""

from __future__ import annotations

from dataclasses import dataclass

from derive.model.parameterization import Parameterization
from derive.printable import Printable
from derive.records import Potential
from derive.verdict import Decided, Finding, Identity, Verdict


@dataclass(frozen=True, repr=False)
class Outcome(Decided, Printable):
    """A verdict, with Q or the identity that fails.

    Attributes:
        parameterization: F and the start, as given.
        finding: the verdict of the derivation and its reason.
        potential: Q, where it is proved.
    """

    parameterization: Parameterization
    finding: Finding
    potential: Potential | None = None

    @property
    def missing(self) -> str:
        """What was not written."""
        return CUT.replace("`", "")

    @property
    def failure(self) -> Identity | None:
        """The identity that fails, where there is no Q."""
        return next((e for e in self.finding.evidence if not e.holds), None)


CUT = "the time was over before the rest was written: `K`, `rho`, the laws and the certificate"
HEADLINES = {
    Verdict.PROVED: "Yes: gradient flow on `F` is a mirror flow",
    Verdict.REFUTED: "No: no `Q` for all data: no `Q` and no warp `g > 0` satisfy `Hess Q = g rho`",
    Verdict.UNDECIDED: "Undecided: neither a mirror potential `Q` nor its absence was proved",
}
"""What a derivation says first, with formulas in backticks and without a full stop."""


def headline(verdict: Verdict, p: Parameterization) -> str:
    """Return what a derivation says first of the flow that F has."""
    if verdict is Verdict.PROVED and not (steering := p.geometry.steering).is_gradient:
        return f"Yes: under {steering.flow} on `F` there is `Q` with `grad Q(beta)' = lambda`"
    return HEADLINES[verdict]
