"""The regimes of wide random starts told, and as a JSON record."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from derive.regimes.random_width import DEVIATION, RandomWidth
from derive.render.narration import Narration, part
from derive.render.regimes import limit_parts, limit_record
from derive.render.written_json import Record, brief_finding, json_text
from derive.statement import Equations, tell


def tell_width(r: RandomWidth) -> Narration:
    """Return what is said of a wide random start."""
    (unit,) = r.unit.trees
    drawn = "weights at the start: independent, `N(0, {s}^2)`"
    heading = tell("Regimes of the sum of `{k}` copies of `F`, from random starts", k=r.width)
    wide = tell("Limit `{k} -> infinity`", k=r.width)
    limits = (p for limit in r.limits for p in limit_parts(limit, limit.coordinates))
    parts = (
        part(heading, (Equations((("F", unit),)), tell(drawn, s=DEVIATION))),
        part(tell("Every width `{k}`", k=r.width), _every_width(r), verdict=r.finding.verdict),
        part(wide, _wide(r), verdict=r.finding.verdict),
    )
    return Narration((*parts, *limits))


def _every_width(r: RandomWidth) -> Iterator[object]:
    (identity,) = r.finding.evidence
    law = f"`K^2 = {r.curvature} beta^2 + kappa`"
    yield f"`{identity.statement}`, so that on the leaf {law}"
    yield Equations(
        (
            ("E kappa", r.kappa_mean),
            ("Var kappa/(E kappa)^2", r.kappa_variance),
            ("E beta_0^2", r.start_variance),
            ("E beta_0^2/E kappa", r.bias),
        )
    )


def _wide(r: RandomWidth) -> Iterator[object]:
    alpha = sympy.Symbol("alpha", positive=True)
    scaled = sympy.powsimp(r.mu.subs(DEVIATION, alpha / sympy.root(r.width, 4)))
    yield Equations((("mu", r.mu), ("E kappa", f"{r.curvature} mu^4")))
    yield tell("with `sigma^2 = alpha^2/sqrt({k})`,", k=r.width)
    yield Equations((("mu", scaled),))
    tends = "`kappa/E kappa -> 1` and `beta_0/mu^2 -> 0` in probability"
    yield f"{tends}, by Chebyshev's inequality"
    slope = "so, where `mu` is kept, `dQ/dbeta -> {g}` in probability"
    yield tell(slope, g=r.gradient)


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
    }
    return json_text("width", record)
