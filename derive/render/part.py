"""Parts of a derivation as a notebook shows them, told and set as records are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from derive.printable import Shown, renderer
from derive.records import Conserved, Decision, InducedMetric, Potential
from derive.render.document import Document, Part
from derive.render.html.page import STYLE, as_html
from derive.render.page.blocks import set_letters
from derive.render.page.latex import snippet
from derive.render.sections import definitions
from derive.statement import Equations


def render_part(part: Shown) -> str:
    """Return a part as an element of a notebook."""
    return f'<style>{STYLE}</style><div class="regderive">{as_html(_page(part))}</div>'


def render_formula(part: Shown) -> str:
    """Return a part in LaTeX."""
    return snippet(_page(part))


def tell_part(part: Shown) -> Document:
    """Return what is said of a part: its formulas, and why."""
    finding = getattr(part, "finding", None)
    why = () if finding is None else (finding,)
    return Document((Part("", (*why, *lines_of(part))),))


def _page(part: Shown) -> Document:
    page: Document = renderer(type(part), "page")(part)
    return set_letters(page, {})


@singledispatch
def lines_of(part: object) -> Iterator[object]:
    """Yield the formulas of a part."""
    yield part


@lines_of.register
def _(part: Potential) -> Iterator[object]:
    yield from (part,) if part.pieces else ()


@lines_of.register
def _(part: Conserved) -> Iterator[object]:
    yield Equations(tuple((f"delta{i}", law) for i, law in enumerate(part.laws, 1)))


@lines_of.register
def _(part: InducedMetric) -> Iterator[object]:
    for matrix in (part.kernel_in_weights, part.kernel):
        if matrix is not None:
            places = part.places.items()
            yield Equations(tuple((name, matrix[at]) for name, at in places if matrix[at] != 0))
    yield from definitions(part.constants, part.roots)


@lines_of.register
def _(part: Decision) -> Iterator[object]:
    yield Equations((("g", part.g),) if part.g is not None else ())
