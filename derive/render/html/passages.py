"""Passages of a page as HTML with MathML; all that is text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import singledispatchmethod
from html import escape

from derive.render.html import mathml
from derive.render.page.blocks import (
    Bullets,
    Display,
    Element,
    Grid,
    Page,
    Passage,
    inline,
    punctuated,
)
from derive.render.page.lines import COLUMN, width
from derive.sources import reference

JOINED = re.compile(r"(\(*)(<math.*?</math>)([).,;:]*)")
OUTCOMES = {
    **dict.fromkeys(("AGREES", "AGREES UP TO"), "yes"),
    **dict.fromkeys(("DIFFERS FROM THE TEXT AT HAND", "MISPRINT"), "no"),
    "NOT CHECKED": "open",
}
"""How outcomes of an audit look."""


class Writer:
    """Writes passages; what they cite is numbered in the order of the sources."""

    def __init__(self, page: Page) -> None:
        self.page, self.keys = page, page.sources

    def passages(self) -> str:
        """Return all passages, a section each, and the sources."""
        return "\n".join([*map(self._passage, self.page.passages), *self._sources()])

    def _passage(self, passage: Passage) -> str:
        heading, body = self.words(passage.heading), self.body(passage.blocks)
        if passage.kind == "paragraph" and heading:
            return _section("", heading, body)
        if passage.kind in ("paragraph", "formula"):
            return f"<section>{body}</section>"
        named = passage.kind.capitalize() + f" ({heading})" * bool(heading)
        return _section(passage.kind, named, body)

    def body(self, blocks: Iterable[Element]) -> str:
        """Return blocks, those of words that follow each other as one paragraph."""
        parts, words = list[str](), list[str]()
        for block in (*punctuated([*blocks]), None):
            if isinstance(block, str):
                words.append(block)
                continue
            if words:
                parts.append(f"<p>{self.words(chr(10).join(words))}</p>")
                words.clear()
            if block is not None:
                parts.append(self.block(block))
        return "\n".join(parts)

    @singledispatchmethod
    def block(self, block: Element) -> str:
        """Return a block that is not words."""
        raise AssertionError(f"{type(block).__name__} has no HTML")

    @block.register
    def _(self, block: Display) -> str:
        several = len(block.rows) > 1
        shown = mathml.aligned(block.rows) if several else mathml.display(block.rows[0])
        return f'<div class="wide formula">{shown}</div>'

    @block.register
    def _(self, block: Bullets) -> str:
        items = (f"<li>{self.body(item)}</li>" for item in block.items)
        return f"<ul>{''.join(items)}</ul>"

    @block.register
    def _(self, block: Grid) -> str:
        head, *body = block.rows
        rows = "\n".join(self._row("td", row) for row in body)
        table = f"<table><thead>{self._row('th', head)}</thead><tbody>\n{rows}</tbody></table>"
        return f'<div class="wide">{table}</div>'

    def _row(self, tag: str, cells: Iterable[str]) -> str:
        return f"<tr>{''.join(f'<{tag}>{self.words(cell)}</{tag}>' for cell in cells)}</tr>"

    def words(self, text: str) -> str:
        """Return words with formulas and citations in them."""
        written = inline(
            text, plain=_plain, formula=_formula, cite=self._cite, emph=_emphasis, code=_code
        )
        return JOINED.sub(_kept_together, written)

    def _cite(self, keys: str) -> str:
        numbered = ((escape(key), self.keys.index(key) + 1) for key in keys.split(","))
        links = ", ".join(f'<a href="#{key}">{number}</a>' for key, number in numbered)
        return f"[{links}]"

    def _sources(self) -> Iterable[str]:
        if self.keys:
            items = (f'<li id="{escape(key)}">{_source(key)}</li>' for key in self.keys)
            yield _section("", "References", f"<ol>{''.join(items)}</ol>")


def _plain(text: str) -> str:
    return escape(text).replace("\u200b", "<wbr>")


def _formula(latex: str) -> str:
    shown = mathml.inline(latex)
    return f'<span class="wide">{shown}</span>' if width(latex) > COLUMN else shown


def _emphasis(text: str) -> str:
    return badge(text, OUTCOMES[text]) if text in OUTCOMES else f"<em>{_plain(text)}</em>"


def _code(text: str) -> str:
    return f"<code>{_plain(text)}</code>"


def _source(key: str) -> str:
    authors, title, place = (escape(re.sub(r"[{}\\\\]", "", x)) for x in reference(key))
    return f"{authors}.\n{title}.\n<em>{place}</em>."


def _kept_together(found: re.Match[str]) -> str:
    """Return a formula with the brackets and stops that may not be torn from it."""
    return f'<span class="joined">{found[0]}</span>' if found[1] or found[3] else found[0]


def _section(kind: str, heading: str, body: str) -> str:
    title = f"<h2>{heading}</h2>"
    if kind == "proof":
        return f'<details class="proof"><summary>{title}</summary>{body}</details>'
    return f'<section class="{kind or "paragraph"}">{title}{body}</section>'


def badge(text: str, kind: str) -> str:
    """Return a word in a box: of a yes, a no, or what is open."""
    return f'<span class="badge {kind}">{escape(text)}</span>'


def as_html(page: Page) -> str:
    """Return the passages of a page."""
    return Writer(page).passages()
