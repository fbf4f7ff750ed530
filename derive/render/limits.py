"""What is said of limits of Q: a part for each, with what proves it."""

from __future__ import annotations

from collections.abc import Iterator
from operator import eq
from typing import TYPE_CHECKING

from derive.limits.growing_beta import REASON
from derive.render.document import Part
from derive.statement import Equations, OnPage, each, note, tell
from derive.verdict import Verdict

if TYPE_CHECKING:
    from derive.limits.find import Regimes
    from derive.limits.limit import Limit
    from derive.limits.random_width import RandomWidth


def parts_of_limits(r: Regimes | RandomWidth) -> Iterator[Part]:
    """Yield where each limit is taken and what it is, and what proves that."""
    for limit in r.limits:
        claims = (s for s in r.statements if s.about == limit.point.text)
        yield Part(tell("Limit `{at}`", at=limit.point), claims, verdict=limit.finding.verdict)
        if limit.potential is not None and limit.unit is not None:
            expansion = OnPage((*limit.finding.evidence, *_slopes(limit)))
            yield Part("", (note("{why}", why=limit.finding), expansion), kind="proof")


def _slopes(limit: Limit) -> Iterator[object]:
    """Yield what the slopes of Q/N tend to on each side, whose integral is its limit."""
    if limit.potential is None or limit.potential.Q is None or limit.potential.curve is not None:
        return
    above, below = limit.potential.gradient, limit.slopes_below
    alike = all(map(eq, map(str, above), map(str, below))) and len(above) == len(below)
    for sign, slopes in (("", above),) if alike else ((" > 0", above), (" < 0", below)):
        pairs = zip(limit.coordinates, slopes, strict=False)
        rows = tuple((tell("`(dQ/d{x})/N`", x=x), g) for x, g in pairs if g is not None)
        if rows:
            yield note("for fixed {at} one has", at=each(f"`{{0}}{sign}`", zip(limit.coordinates)))
            yield Equations(rows, "->")
    yield note("so `Q/N` tends to the integral of this")


def parts_of_growing(r: Regimes) -> Iterator[Part]:
    """Yield limits at beta that grow, and what proves them."""
    for found in r.growing:
        b, x = found.beta
        heading = tell("Limit `{at}` at `{b} = N {x}`", at=found.point, b=b, x=x)
        yield Part(heading, (found.statement,), verdict=Verdict.PROVED)
        slope = tell("`dQ/d{b}`", b=b)
        curve = Equations(((b, found.curve.beta), (slope, found.gradient)))
        tends = Equations(((tell("`(dQ/d{b})/N`", b=b), found.slope),), "->")
        yield Part("", (note("along the flow"), curve, note(REASON), tends), kind="proof")
