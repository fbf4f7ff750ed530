r"""Passages in LaTeX, of the few constructs that our pages have, as HTML.

A page is written once, as LaTeX: here its paragraphs, theorems, proofs, remarks, lists and tables
become elements, and what is between dollars MathML. All else is text, and escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from html import escape

from derive.render.html import mathml
from derive.render.html.words import plain
from derive.render.page.lines import COLUMN, width
from derive.render.page.paper import cited
from derive.sources import bibitem

GROUP = r"\{((?:\\.|[^{}\\]|\{[^{}]*\})*)\}"
BLOCK = re.compile(r"\\begin\{([a-z]+\*?)\}(.*?)\\end\{\1\}|\\\[(.*?)\\\]", re.DOTALL)
INLINE = re.compile(rf"(?<!\\)\$((?:\\.|[^$\\])*)\$|\\(cite|emph|texttt){GROUP}", re.DOTALL)
HEADING = re.compile(r"\\paragraph\{((?:\\.|[^{}\\]|\{[^{}]*\})*)\.\}\s*")
OPTIONS = re.compile(r"(?:\[((?:[^\]$]|\$[^$]*\$)*)\])?(?:\\label\{([^}]*)\})?\s*")
JOINED = re.compile(r"(\(*)(<math.*?</math>)([).,;:]*)")
OUTCOMES = {
    **dict.fromkeys(("AGREES", "AGREES UP TO"), "yes"),
    **dict.fromkeys(("DIFFERS FROM THE TEXT AT HAND", "MISPRINT"), "no"),
    "NOT CHECKED": "open",
}
"""How outcomes of an audit look."""


class Writer:
    """Writes passages; what they cite is numbered in the order of the sources."""

    def __init__(self, snippet: str) -> None:
        self.snippet = re.sub(r"^%.*\n", "", snippet)
        self.keys = cited(snippet)

    def passages(self) -> str:
        """Return all passages, a section each, and the sources."""
        parts = (self._passage(part) for part in self.snippet.split("\n\n") if part.strip())
        return "\n".join([*parts, *self._sources()])

    def _passage(self, part: str) -> str:
        if found := HEADING.match(part):
            return _section("", self.words(found[1]), self.body(part[found.end() :]))
        whole = BLOCK.fullmatch(part.strip())
        if whole is None or whole[1] not in ("theorem", "proof", "remark"):
            return f"<section>{self.body(part)}</section>"
        kind, inner = whole[1], whole[2]
        options = OPTIONS.match(inner)
        heading = kind.capitalize()
        if options is not None:
            heading += f" ({self.words(options[1])})" if options[1] else ""
            inner = inner[options.end() :]
        return _section(kind, heading, self.body(inner))

    def body(self, latex: str) -> str:
        """Return words with displayed formulas, lists and tables between them."""
        found, at = [], 0
        for block in BLOCK.finditer(latex):
            found += [self._paragraph(latex[at : block.start()]), self._block(block)]
            at = block.end()
        return "\n".join(filter(None, [*found, self._paragraph(latex[at:])]))

    def _paragraph(self, latex: str) -> str:
        words = self.words(latex.strip())
        return f"<p>{words}</p>" if words else ""

    def _block(self, block: re.Match[str]) -> str:
        name, inner, formula = block.groups()
        if formula is not None:
            return _displayed(mathml.display(formula))
        return BLOCKS[name](self, inner)

    def equation(self, latex: str) -> str:
        """Return an equation with a label."""
        return _displayed(mathml.display(re.sub(r"^\\label\{[^}]*\}", "", latex)))

    def aligned(self, latex: str) -> str:
        """Return aligned equations."""
        return _displayed(mathml.aligned(latex))

    def items(self, latex: str) -> str:
        """Return a list."""
        items = (self.body(item) for item in latex.split(r"\item ")[1:])
        return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"

    def table(self, latex: str) -> str:
        """Return a table whose first row is its head, as wide as it is."""
        rows = re.sub(r"^(?:\{(?:[^{}]|\{[^{}]*\})*\})|\\hline", "", latex.strip())
        head, *body = (row for row in re.split(r"\\\\(?:\s|$)", rows) if row.strip())
        lines = [f"<table><thead>{self._row('th', head)}</thead><tbody>"]
        lines += [self._row("td", row) for row in body]
        return f'<div class="wide">{"".join(lines)}</tbody></table></div>'

    def _row(self, tag: str, latex: str) -> str:
        cells = (self.words(cell.strip()) for cell in re.split(r"(?<!\\)&", latex))
        return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"

    def words(self, latex: str) -> str:
        """Return words with formulas and citations in them."""
        found, at = [], 0
        for part in INLINE.finditer(latex):
            found += [escape(plain(latex[at : part.start()])), self._inline(part)]
            at = part.end()
        return JOINED.sub(_kept_together, "".join([*found, escape(plain(latex[at:]))]))

    def _inline(self, part: re.Match[str]) -> str:
        formula, command, inner = part.groups()
        if formula is not None:
            shown = mathml.inline(formula)
            return f'<span class="wide">{shown}</span>' if width(formula) > COLUMN else shown
        if command == "cite":
            numbered = ((escape(key), self.keys.index(key) + 1) for key in inner.split(","))
            links = ", ".join(f'<a href="#{key}">{number}</a>' for key, number in numbered)
            return f"[{links}]"
        tag = {"emph": "em", "texttt": "code"}[command]
        if inner in OUTCOMES:
            return badge(inner, OUTCOMES[inner])
        breaks = "<wbr>".join(self.words(x) for x in inner.split(r"\allowbreak{}"))
        return f"<{tag}>{breaks}</{tag}>"

    def _sources(self) -> Iterable[str]:
        if self.keys:
            items = (f'<li id="{escape(key)}">{self._source(key)}</li>' for key in self.keys)
            yield _section("", "References", f"<ol>{''.join(items)}</ol>")

    def _source(self, key: str) -> str:
        return self.words(bibitem(key).partition("} ")[2])


def _kept_together(found: re.Match[str]) -> str:
    """Return a formula with the brackets and stops that may not be torn from it."""
    return f'<span class="joined">{found[0]}</span>' if found[1] or found[3] else found[0]


def _section(kind: str, heading: str, body: str) -> str:
    title = f"<h2>{heading}</h2>"
    if kind == "proof":
        return f'<details class="proof"><summary>{title}</summary>{body}</details>'
    return f'<section class="{kind or "paragraph"}">{title}{body}</section>'


def _displayed(formula: str) -> str:
    return f'<div class="wide formula">{formula}</div>'


def badge(text: str, kind: str) -> str:
    """Return a word in a box: of a yes, a no, or what is open."""
    return f'<span class="badge {kind}">{escape(text)}</span>'


BLOCKS: dict[str, Callable[[Writer, str], str]] = {
    "equation": Writer.equation,
    "align*": Writer.aligned,
    "itemize": Writer.items,
    "tabular": Writer.table,
    "center": Writer.body,
}
"""How environments are written."""


def as_html(snippet: str) -> str:
    """Return a snippet of LaTeX, as our pages have it, in HTML."""
    return Writer(snippet).passages()
