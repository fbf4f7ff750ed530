"""Regimes of wide random starts as a page of mathematics."""

from __future__ import annotations

from collections.abc import Iterator

from derive.language import to_sympy
from derive.regimes.random_width import RandomWidth
from derive.render.page.lines import Row, display
from derive.render.page.paper import Page, Passage
from derive.render.page.printer import inline, latex
from derive.render.page.regimes import limit_sentences
from derive.render.page.wording import say


def render_page(r: RandomWidth) -> Page:
    """Return the page of a wide random start."""
    limits = (line for limit in r.limits for line in limit_sentences(limit, limit.coordinates))
    return Page((Passage("theorem", (*_theorem(r), *limits), "Random starts", "thm:width"),))


def _theorem(r: RandomWidth) -> Iterator[str]:
    k = latex(r.width)
    unit = inline(to_sympy(r.unit.trees[0]))
    yield say("width.every", k=k, unit=unit, curvature=latex(r.curvature))
    rows: list[Row] = [
        (r"\mathbb{E}\,\kappa", r.kappa_mean),
        (r"\mathrm{Var}\,\kappa / (\mathbb{E}\,\kappa)^2", r.kappa_variance),
        (r"\mathbb{E}\,\beta_0^2", r.start_variance),
        (r"\mu", r.mu),
    ]
    yield from display(rows)
    yield say("width.wide", k=k)
