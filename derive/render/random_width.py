"""The regimes of wide random starts told, and as a JSON record."""

from __future__ import annotations

from derive.limits.random_width import DEVIATION, RandomWidth
from derive.render.narration import Narration, part
from derive.render.regimes import limit_parts
from derive.statement import Equations, note, tell


def tell_width(r: RandomWidth) -> Narration:
    """Return what is said of a wide random start."""
    (unit,) = r.unit.trees
    drawn = "weights at the start: independent, `N(0, {s}^2)`"
    heading = tell("Regimes of the sum of `{k}` copies of `F`, from random starts", k=r.width)
    wide = tell("Limit `{k} -> infinity`", k=r.width)
    limits = (p for limit in r.limits for p in limit_parts(limit, limit.coordinates))
    every = r.says("width law", "width moments")
    parts = (
        part(heading, (Equations((("F", unit),)), note(drawn, s=DEVIATION))),
        part(tell("Every width `{k}`", k=r.width), every, verdict=r.finding.verdict),
        part(wide, r.says("wide starts"), verdict=r.finding.verdict),
    )
    return Narration((*parts, *limits))
