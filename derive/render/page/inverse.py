"""An inverse design as a page of mathematics: F for each term of Q, and the identity behind it."""

from __future__ import annotations

from collections.abc import Iterator

from derive.inverse.design import (
    Coordinate,
    IntegralOnly,
    InverseDesign,
    OneWeight,
    Parameterized,
    WeightPair,
)
from derive.language import to_sympy
from derive.render.inverse import taken_by
from derive.render.page.formula import assumption, at_start, listed, sentence
from derive.render.page.lines import Row, display
from derive.render.page.names import latex_name
from derive.render.page.paper import Page, Passage
from derive.render.page.printer import inline, latex
from derive.render.page.wording import say


def render_page(design: InverseDesign) -> Page:
    """Return the page of an inverse design."""
    found = [passage for c in design.coordinates for passage in _passages(c)]
    return Page(tuple(found), taken_by(design))


def _passages(c: Coordinate) -> Iterator[Passage]:
    rows: list[Row] = [("Q", to_sympy(c.term.tree))]
    if c.second is not None:
        rows.append(("Q''", c.second))
    given = (f"Let $Q$ be this function of ${latex_name(c.term.variable)}$:", *display(rows))
    if isinstance(c, Parameterized):
        yield Passage("theorem", (*given, *_claim(c)), label="thm:design")
        yield Passage("proof", (*_proof(c),))
        return
    reason = (f"No $F$ was found: {sentence(c.finding.reason)}.",)
    integral: tuple[str, ...] = ()
    if isinstance(c, IntegralOnly):
        integral = ("It would be the inverse of", *display([("w", c.w_of_beta)]))
    yield Passage("paragraph", (*given, *reason, *integral), "Question")


def _claim(c: Parameterized) -> Iterator[str]:
    b, low, high = latex_name(c.term.variable), *map(latex, c.interval)
    yield "and let"
    rows: list[Row] = [(b, to_sympy(c.output))]
    if isinstance(c, OneWeight):
        rows.append((latex_name(c.weights[0]), c.w_of_beta))
    yield from display(rows)
    smooth = "" if c.smooth else ", as far as $Q$ is smooth"
    yield rf"for ${low} < {b} < {high}$ where $Q'' > 0${smooth}."
    if c.assumed:
        yield f"Assume that {listed(map(assumption, c.assumed))}."
    if c.start.weights is not None:
        yield f"Let the weights start at {at_start(c.start.weights)}."
    minimised = r"\sum_i Q(\beta_i)"
    if not c.start.at_minimum:
        minimised = r"\sum_i \bigl(Q(\beta_i) - Q'(\beta_i(0))\,\beta_i\bigr)"
    yield say("design.claim", minimised=minimised)


def _proof(c: Parameterized) -> Iterator[str]:
    left = r"\lVert\nabla F\rVert^2\, Q''(F)"
    if isinstance(c, OneWeight):
        w = latex_name(c.weights[0])
        left = f"F'({w})^2\\, Q''(F({w}))"
    yield "By expansion"
    yield from display([(left, c.scale)])
    if isinstance(c, WeightPair):
        p, m = (latex_name(w) for w in c.weights)
        yield rf"where ${p}{m}$ keeps its value, as $\langle\nabla({p}{m}), \nabla F\rangle = 0$."
    yield say("design.so", scale=inline(c.scale))
    yield f"Derived forward: {sentence(c.forward.reason)}."
