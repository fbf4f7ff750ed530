"""Text, LaTeX and JSON of the regimes of wide random starts."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from derive.regimes.random_width import DEVIATION, RandomWidth
from derive.render.plain import page, plain, title
from derive.render.regimes import limit_lines, limit_record
from derive.render.written_json import Record, brief_finding, json_text


def render_text(r: RandomWidth, width: int = 80) -> str:
    """Return the regimes of a wide random start as plain text."""
    heading = [f"Regimes of the sum of {r.width} copies of F, from random starts"]
    limits = (limit_lines(limit, limit.coordinates) for limit in r.limits)
    return page([heading, _every_width(r), _wide(r), *limits], width)


def _every_width(r: RandomWidth) -> Iterator[str]:
    yield title(f"Every width {r.width}", r.finding.verdict)
    (identity,) = r.finding.evidence
    yield f"{identity.statement}, so that on the leaf K^2 = {r.curvature} beta^2 + kappa"
    yield f"weights at the start: independent, N(0, {DEVIATION}^2)"
    yield f"E kappa = {plain(r.kappa_mean)}"
    yield f"Var kappa/(E kappa)^2 = {plain(r.kappa_variance)}"
    yield f"E beta_0^2 = {plain(r.start_variance)}"
    yield f"E beta_0^2/E kappa = {plain(r.bias)}"


def _wide(r: RandomWidth) -> Iterator[str]:
    k, c = r.width, r.curvature
    yield title(f"Limit {k} -> infinity", r.finding.verdict)
    yield f"mu = {plain(r.mu)}, E kappa = {c} mu^4; with sigma^2 = alpha^2/sqrt({k}),"
    yield f"mu = {plain(_scaled(r))}"
    yield "kappa/E kappa -> 1 and beta_0/mu^2 -> 0 in probability, by Chebyshev's inequality"
    yield f"so, where mu is kept, dQ/dbeta -> {plain(r.gradient)} in probability"


def _scaled(r: RandomWidth) -> sympy.Expr:
    alpha = sympy.Symbol("alpha", positive=True)
    return sympy.powsimp(r.mu.subs(DEVIATION, alpha / sympy.root(r.width, 4)))


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
