"""A finished record as one file for a browser: nothing is fetched, and nothing typed is markup."""

from __future__ import annotations

import base64
import hashlib
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import singledispatchmethod
from html import escape
from itertools import groupby
from pathlib import Path
from string import Template
from typing import Any

from derive.derivation import Derivation
from derive.errors import InputError
from derive.inverse.design import InverseDesign
from derive.language import to_text
from derive.limits.random_width import RandomWidth
from derive.printable import Held, Printable, Shown, fields_of, renderer
from derive.render import RECORDS
from derive.render.document import Display, Document, Grid, Part, inline, punctuate
from derive.render.html import mathml
from derive.render.page.blocks import set_letters
from derive.render.page.formula import fraction
from derive.render.page.lines import COLUMN, width
from derive.render.page.printer import latex_name
from derive.render.text import MARK
from derive.sources import reference
from derive.statement import Items
from derive.verdict import Verdict

STAGES = {"conserved": "laws complete", "hessian": "Hessian map", "warping": "warp"}
"""What a record may have a verdict of, beside its own, and how it is called."""
FOLDER = Path(__file__).parent
STYLE = (FOLDER / "style.css").read_text(encoding="utf-8").strip()
SEARCH = (FOLDER / "search.js").read_text(encoding="utf-8").strip()
SKELETON = Template((FOLDER / "page.html").read_text(encoding="utf-8").strip())
LOOKS = {Verdict.PROVED: "yes", Verdict.REFUTED: "no", Verdict.UNDECIDED: "open"}


def render_html(record: Printable, rename: Mapping[str, str] | None = None) -> str:
    """Return a finished record as a document."""
    title, given = RECORDS[type(record).__name__].title, typed(record)
    page = set_letters(renderer(type(record), "page")(record).select(), rename or {})
    head = f'<h1>{title}</h1><p class="typed"><code>{escape(given)}</code></p>'
    return document(f"{title}: {given}", head + sections(record, page))


def sections(record: Printable, page: Document) -> str:
    """Return what a record says: verdicts, a picture, what is written of it, and all of it."""
    whole = '<details class="record"><summary><h2>The whole record, as text</h2></summary>'
    text = f"<pre>{escape(record.to_text())}</pre></details>"
    return "\n".join((*_head(record), as_html(page), whole, text))


def render_card(record: Printable) -> str:
    """Return a finished record as an element of a notebook: the formula, and all else folded."""
    page: Document = renderer(type(record), "page")(record)
    brief, whole = (as_html(set_letters(x, {})) for x in (page.brief, page.select()))
    rest = f"<details><summary>Derivation</summary>{whole}</details>" * (whole != brief)
    head = f'<p class="typed"><code>{escape(typed(record))}</code></p>'
    body = (head, *_head(record), brief, rest)
    return f'<style>{STYLE}</style><div class="regderive">{"".join(body)}</div>'


def render_part(part: Shown) -> str:
    """Return a part of a record as an element of a notebook."""
    page: Document = renderer(type(part), "page")(part)
    return f'<style>{STYLE}</style><div class="regderive">{as_html(set_letters(page, {}))}</div>'


def render_fields(held: Held) -> str:
    """Return what is held as a table of its fields."""
    rows = (f"<tr><th>{n}</th><td>{escape(x)}</td></tr>" for n, x in fields_of(held))
    return f"<table><caption>{type(held).__name__}</caption>{''.join(rows)}</table>"


def document(title: str, body: str, *scripts: str, module: str = "", style: str = "") -> str:
    """Return a document that fetches nothing, and runs nothing but the scripts given.

    Args:
        title, body: of the page.
        scripts: those that run one after the other.
        module: one that runs after them, with names of its own.
        style: rules beside those of every page.
    """
    styles = f"{STYLE}\n{style}".strip()
    run = [x for x in (*scripts, module) if x]
    allowed = f"; script-src {' '.join(map(_hash, run))}" * bool(run)
    lines = [*map("<script>{}</script>".format, scripts)]
    lines.append(f'<script type="module">{module}</script>' * bool(module))
    return SKELETON.substitute(
        policy=f"default-src 'none'; style-src {_hash(styles)}{allowed}",
        title=escape(title),
        styles=styles,
        body=body,
        scripts="\n".join(lines),
    )


def index(title: str, about: str, table: str, rows: Iterable[Iterable[str]], *scripts: str) -> str:
    """Return a page with a table that is searched: its tag, its head, and cells, as HTML."""
    cells = (f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    search = '<p hidden><label>Search <input type="search"></label> <output></output></p>'
    listed = f"{table}<tbody>{''.join(cells)}</tbody></table>"
    return document(title, f"<h1>{title}</h1><p>{about}</p>{search}{listed}", SEARCH, *scripts)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def typed(record: Any) -> str:
    """Return the code that makes what a record is of, the Q that was given, or its first line."""
    subject = getattr(record, "derivation", record)
    if isinstance(subject, InverseDesign):
        return ", ".join(f"Q = {to_text(c.term.tree)}" for c in subject.coordinates)
    if isinstance(subject, RandomWidth):
        return repr(subject.unit)
    if not hasattr(subject, "parameterization"):
        return str(subject.to_text().partition("\n")[0])
    return repr(subject.parameterization)


def _head(record: Any) -> Iterator[str]:
    """Yield the verdicts, and a picture where Q is evaluated."""
    if hasattr(record, "verdict"):
        yield badges(record)
    derivation = getattr(record, "derivation", record)
    if isinstance(derivation, Derivation):
        yield picture(derivation)


def badges(record: Any) -> str:
    """Return the verdict of a record, and of its stages, in boxes."""
    stages = [(said, getattr(record, x)) for x, said in STAGES.items() if hasattr(record, x)]
    answer = "Q exists" if stages else "answer"
    verdicts = ((said, stage.verdict) for said, stage in ((answer, record), *stages))
    boxes = (badge(f"{said}: {verdict.value}", LOOKS[verdict]) for said, verdict in verdicts)
    return f'<ul class="badges">{"".join(f"<li>{box}</li>" for box in boxes)}</ul>'


def picture(derivation: Derivation) -> str:
    """Return a picture of Q at a plain start, or nothing where there is none."""
    if derivation.verdict is not Verdict.PROVED:
        return ""
    # Looked up, not imported: symbols do not depend on numbers.
    room = importlib.import_module("numerics.figures.own")
    try:
        found = room.portrait(derivation)
    except InputError as missing:
        return f'<p class="typed">{escape(str(missing))}</p>'
    if found is None:
        return ""
    picture, caption, start = found
    values = ((latex_name(name).replace(MARK, ""), _values(x)) for name, x in start.items())
    at = [mathml.inline(f"{name} = {value}") for name, value in values]
    where = f" for {', '.join(at)}" if at else ""
    source = f"data:image/svg+xml;base64,{base64.b64encode(picture).decode()}"
    return (
        f'<figure><img alt="{caption}" src="{source}"/><figcaption>{caption}{where}. '
        "The cross is the start.</figcaption></figure>"
    )


def _values(x: Fraction | tuple[Fraction, ...]) -> str:
    r"""Return a number, or a vector.

    >>> _values((Fraction(1), Fraction(1, 2)))
    '(1, \\frac{1}{2})'
    """
    return f"({', '.join(map(fraction, x))})" if isinstance(x, tuple) else fraction(x)


JOINED = re.compile(r"(\(*)(<math.*?</math>)([).,;:]*)")
OUTCOMES = {
    **dict.fromkeys(("AGREES", "AGREES UP TO"), "yes"),
    **dict.fromkeys(("DIFFERS FROM THE TEXT AT HAND", "MISPRINT"), "no"),
    "NOT CHECKED": "open",
}
"""How outcomes of an audit look."""


class Writer:
    """Writes parts; what they cite is numbered in the order of the sources."""

    def __init__(self, page: Document) -> None:
        self.page, self.keys = page, page.sources

    def parts(self) -> str:
        """Return all parts, a section each, and the sources."""
        found = [*map(self._part, self.page.parts)]
        if self.keys:
            items = (f'<li id="{escape(key)}">{self._source(key)}</li>' for key in self.keys)
            found.append(_section("", "References", f"<ol>{''.join(items)}</ol>"))
        return "\n".join(found)

    def _part(self, part: Part) -> str:
        heading, body, kind = self.words(str(part.heading)), self.body(part.lines), part.kind
        if kind in ("paragraph", "formula"):
            return _section("", heading, body) if heading else f"<section>{body}</section>"
        return _section(kind, kind.capitalize() + f" ({heading})" * bool(heading), body)

    def body(self, blocks: Iterable[object]) -> str:
        """Return blocks, those of words that follow each other as one paragraph."""
        parts = list[str]()
        for kind, run in groupby(punctuate([*blocks]), type):
            if kind is str:
                parts.append(f"<p>{self.words(chr(10).join(map(str, run)))}</p>")
            else:
                parts += map(self.block, run)
        return "\n".join(parts)

    @singledispatchmethod
    def block(self, block: object) -> str:
        """Return a block that is not words."""
        raise AssertionError(f"{type(block).__name__} has no HTML")

    @block.register
    def _(self, block: Display) -> str:
        several = len(block.rows) > 1
        shown = mathml.aligned(block.rows) if several else mathml.display(block.rows[0])
        return f'<div class="wide formula">{shown}</div>'

    @block.register
    def _(self, block: Items) -> str:
        items = (f"<li>{self.body(item)}</li>" for item in block.lines)
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
            text,
            plain=_plain,
            formula=_formula,
            cite=self._cite,
            emph=lambda x: badge(x, OUTCOMES[x]) if x in OUTCOMES else f"<em>{_plain(x)}</em>",
            code=lambda x: f"<code>{_plain(x)}</code>",
        )
        # A formula is not torn from its brackets and stops.
        kept = '<span class="joined">{}</span>'.format
        return JOINED.sub(lambda m: kept(m[0]) if m[1] or m[3] else m[0], written)

    def _cite(self, keys: str) -> str:
        numbered = ((escape(key), self.keys.index(key) + 1) for key in keys.split(","))
        links = ", ".join(f'<a href="#{key}">{number}</a>' for key, number in numbered)
        return f"[{links}]"

    def _source(self, key: str) -> str:
        authors, title, place = (escape(re.sub(r"[{}\\\\]", "", x)) for x in reference(key))
        return f"{authors}.\n{title}.\n<em>{place}</em>."


def _plain(text: str) -> str:
    return escape(text).replace("\u200b", "<wbr>")


def _formula(latex: str) -> str:
    shown = mathml.inline(latex)
    return f'<span class="wide">{shown}</span>' if width(latex) > COLUMN else shown


def _section(kind: str, heading: str, body: str) -> str:
    title = f"<h2>{heading}</h2>"
    if kind == "proof":
        return f'<details class="proof"><summary>{title}</summary>{body}</details>'
    return f'<section class="{kind or "paragraph"}">{title}{body}</section>'


def badge(text: str, kind: str) -> str:
    """Return a word in a box: of a yes, a no, or what is open."""
    return f'<span class="badge {kind}">{escape(text)}</span>'


def as_html(page: Document) -> str:
    """Return the parts of a page."""
    return Writer(page).parts()


def words(text: str) -> str:
    """Return words with formulas in them."""
    return Writer(Document(())).words(text)
