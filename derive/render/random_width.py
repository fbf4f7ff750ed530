"""The regimes of wide random starts told, and as a JSON record."""

from __future__ import annotations

from derive.regimes.random_width import DEVIATION, RandomWidth
from derive.render.narration import Narration, part, statement_records
from derive.render.regimes import limit_parts, limit_record
from derive.render.written_json import Record, brief_finding, json_text
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


def render_json(r: RandomWidth) -> str:
    """Return the record as JSON text; expressions are strings."""
    (tree,) = r.unit.trees
    record: Record = {
        "verdict": r.verdict,
        "output": tree,
        "width": r.width,
        "deviation": DEVIATION,
        "curvature": r.curvature,
        "kappa_mean": r.kappa_mean,
        "kappa_relative_variance": r.kappa_variance,
        "start_variance": r.start_variance,
        "bias": r.bias,
        "mu": r.mu,
        "gradient": r.gradient,
        "finding": brief_finding(r.finding),
        "limits": [limit_record(limit) for limit in r.limits],
        "statements": statement_records(r),
    }
    return json_text("width", record)
