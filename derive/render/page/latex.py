"""Pages as LaTeX: a snippet, a part of it, or a document that compiles by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import singledispatch
from pathlib import Path

from derive.printable import Held, Printable, Shown, fields_of, renderer
from derive.render.document import Display, Document, Grid, Part, abreast, inline, punctuate
from derive.render.page.blocks import set_letters
from derive.render.page.lines import COLUMN, words_width
from derive.sources import reference
from derive.statement import Items

NEEDS = "% needs amsmath, amssymb, amsthm; the environments theorem and remark are yours"
HEAD = Path(__file__).with_name("head.tex").read_text(encoding="utf-8").strip()
SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "\u2026": r"\dots{}",
    "\u200b": r"\allowbreak{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}
"""Characters that mean something to LaTeX, or are commands there."""


def render_latex(
    record: Printable, standalone: bool, part: str = "", rename: Mapping[str, str] | None = None
) -> str:
    """Return a finished record as LaTeX.

    Args:
        record: what a renderer of the form ``page`` is known of.
        standalone: a document that compiles by itself, with its references.
        part: one of theorem, proof and formula; all of them where it is empty.
        rename: LaTeX for names of the record, as ``{"alpha": r"\\sigma"}``.

    Raises:
        InputError: there is no such part, or the LaTeX is no letter with an index.
    """
    page = set_letters(renderer(type(record), "page")(record).select(part), rename or {})
    return document(page) if standalone else f"{NEEDS}\n{snippet(page)}"


def render_formula(record: Printable | Shown) -> str:
    """Return the formula of a record, or a part of one, as a notebook shows it."""
    return snippet(set_letters(renderer(type(record), "page")(record).brief, {}))


def render_fields(held: Held) -> str:
    """Return what is held as a table of its fields."""
    cells = (rf"\verb|{n}| & \verb|{x.replace('|', '/')}|" for n, x in fields_of(held))
    return r"$\begin{array}{ll} " + r" \\ ".join(cells) + r" \end{array}$"


def snippet(page: Document) -> str:
    """Return the parts of a page, with empty lines between them."""
    return "\n\n".join("\n".join(_environment(p)) for p in page.parts)


def document(page: Document) -> str:
    """Return a document of a page, with the sources that it cites."""
    item = "\\bibitem{{{0}}} {1}.\n{2}.\n\\emph{{{3}}}.".format
    items = [item(key, *reference(key)) for key in page.sources]
    ends = (r"\begin{thebibliography}{9}", *items, r"\end{thebibliography}") if items else ()
    return "\n".join([HEAD, snippet(page), *ends, r"\end{document}"])


def _environment(part: Part) -> Iterable[str]:
    heading = words(str(part.heading))
    lines = [line for block in punctuate([*part.lines]) for line in lines_of(block)]
    if part.kind == "formula":
        return lines
    if part.kind == "paragraph":
        stop = "." * (heading[-1:] not in ("", "?"))
        return (rf"\paragraph{{{heading}{stop}}} {lines[0]}", *lines[1:]) if heading else lines
    begin = rf"\begin{{{part.kind}}}" + (f"[{heading}]" if heading else "")
    label = rf"\label{{{part.label}}}" if part.label else ""
    return (f"{begin}{label}", *lines, rf"\end{{{part.kind}}}")


@singledispatch
def lines_of(block: object) -> Iterator[str]:
    """Yield the lines of a block."""
    yield words(str(block))


@lines_of.register
def _(block: Display) -> Iterator[str]:
    first, *rest = rows = block.rows
    body = [*(rf"  {row} \\" for row in rows[:-1]), f"  {rows[-1]}"]
    if block.label:
        body = [r"\begin{split}", *body, r"\end{split}"] if rest else [first]
        begin = rf"\begin{{equation}}\label{{{block.label}}}"
        yield from (begin, *body, r"\end{equation}")
    elif rest:
        yield from (r"\begin{align*}", *body, r"\end{align*}")
    else:
        yield rf"\[ {first} \]"


@lines_of.register
def _(block: Items) -> Iterator[str]:
    yield r"\begin{itemize}"
    for item in block.lines:
        first, *rest = (line for inner in item for line in lines_of(inner))
        yield from (rf"\item {first}", *rest)
    yield r"\end{itemize}"


@lines_of.register
def _(block: Grid) -> Iterator[str]:
    widths = [max(map(words_width, cells)) for cells in zip(*block.rows, strict=True)]
    for group in abreast(block.rows[0][0], widths, COLUMN):
        columns = "".join(block.columns[i] for i in group)
        yield rf"\begin{{center}}\small\begin{{tabular}}{{@{{}}{columns}@{{}}}}"
        for k, row in enumerate(block.rows):
            cells = " & ".join(words(row[i]) for i in group)
            yield rf"{cells}\\" + r" \hline\noalign{\smallskip}" * (k == 0)
        yield r"\end{tabular}\end{center}"


def words(text: str) -> str:
    r"""Return words as LaTeX.

    >>> words("100 % of $x_1$ [@du2018]")
    '100 \\% of $x_1$ \\cite{du2018}'
    """
    return inline(
        text,
        plain=escaped,
        formula="${}$".format,
        cite=r"\cite{{{}}}".format,
        emph=lambda inner: rf"\emph{{{escaped(inner)}}}",
        code=lambda inner: rf"\texttt{{{escaped(inner)}}}",
    )


def escaped(text: str) -> str:
    """Return text with the characters escaped that mean something to LaTeX."""
    return "".join(SPECIAL.get(c, c) for c in text)
