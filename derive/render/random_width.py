"""Text, LaTeX and JSON of the regimes of wide random starts."""

from __future__ import annotations

import json
from collections.abc import Iterator

import sympy

from derive.language import to_text
from derive.regimes.random_width import DEVIATION, RandomWidth
from derive.render.formula import display, latex
from derive.render.plain import plain
from derive.render.regimes import finding_record, limit_lines, limit_record
from derive.render.words import title, wrap

FORMAT = "regderive-width"
VERSION = 1


def render_text(r: RandomWidth, width: int = 80) -> str:
    """Return the regimes of a wide random start as plain text."""
    lines = list(_start(r))
    for limit in r.limits:
        beta = limit.coordinates
        lines += ["", title(f"Limit {limit.point.text}", limit.finding.verdict)]
        lines += limit_lines(limit, beta)
    return "\n".join(part for line in lines for part in wrap(line, width))


def _start(r: RandomWidth) -> Iterator[str]:
    k = r.width
    yield f"Regimes of the sum of {k} copies of F, from random starts"
    yield ""
    yield title(f"Every width {k}", r.finding.verdict)
    (identity,) = r.finding.evidence
    yield f"  {identity.statement}, so that on the leaf K^2 = {r.curvature} beta^2 + kappa"
    yield f"  weights at the start: independent, N(0, {DEVIATION}^2)"
    yield f"  E kappa = {plain(r.kappa_mean)}"
    yield f"  Var kappa/(E kappa)^2 = {plain(r.kappa_variance)}"
    yield f"  E beta_0^2 = {plain(r.start_variance)}"
    yield f"  E beta_0^2/E kappa = {plain(r.bias)}"
    yield ""
    yield title(f"Limit {k} -> infinity", r.finding.verdict)
    yield f"  mu = {plain(r.mu)}, E kappa = {r.curvature} mu^4; with sigma^2 = alpha^2/sqrt({k}),"
    yield f"  mu = {plain(_scaled(r))}"
    yield "  kappa/E kappa -> 1 and beta_0/mu^2 -> 0 in probability, by Chebyshev's inequality"
    yield f"  so, where mu is kept, dQ/dbeta -> {plain(r.gradient)} in probability"


def _scaled(r: RandomWidth) -> sympy.Expr:
    alpha = sympy.Symbol("alpha", positive=True)
    return sympy.powsimp(r.mu.subs(DEVIATION, alpha / sympy.root(r.width, 4)))


def render_latex(r: RandomWidth) -> str:
    """Return a LaTeX snippet."""
    k = latex(r.width)
    rows = [
        (r"\mathbb{E}\,\kappa", latex(r.kappa_mean)),
        (r"\mathrm{Var}\,\kappa / (\mathbb{E}\,\kappa)^2", latex(r.kappa_variance)),
        (r"\mathbb{E}\,\beta_0^2", latex(r.start_variance)),
        (r"\mu", latex(r.mu)),
    ]
    lines = [
        f"For the sum of ${k}$ copies of $F$, whatever ${k}$, "
        rf"$K^2 = {latex(r.curvature)} \beta^2 + \kappa$, and from independent "
        r"$N(0, \sigma^2)$ weights",
        *display(rows),
        rf"As ${k} \to \infty$, $\kappa/\mathbb{{E}}\,\kappa \to 1$ and "
        r"$\beta_0/\mu^2 \to 0$ in probability.",
    ]
    for limit in r.limits:
        side = {"0": "0^+"}.get(limit.point.side, r"\infty")
        if limit.potential is not None and limit.potential.Q is not None:
            lines.append(
                rf"As $\mu \to {side}$ ({limit.regime} regime), "
                rf"$Q/N \to {latex(limit.potential.Q)}$ with $N = {latex(limit.unit)}$."
            )
    return "\n".join(lines)


def render_json(r: RandomWidth) -> str:
    """Return the record as JSON text; expressions are strings."""
    (tree,) = r.unit.trees
    record = {
        "format": FORMAT,
        "version": VERSION,
        "verdict": r.verdict.value,
        "output": to_text(tree),
        "width": str(r.width),
        "deviation": str(DEVIATION),
        "curvature": plain(r.curvature),
        "kappa_mean": plain(r.kappa_mean),
        "kappa_relative_variance": plain(r.kappa_variance),
        "start_variance": plain(r.start_variance),
        "bias": plain(r.bias),
        "mu": plain(r.mu),
        "gradient": plain(r.gradient),
        "finding": finding_record(r.finding),
        "limits": [limit_record(limit) for limit in r.limits],
    }
    return json.dumps(record, indent=2, ensure_ascii=True)
