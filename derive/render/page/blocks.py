r"""Records told once, as pages: what is told becomes paragraphs, theorems, proofs and remarks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import singledispatch
from itertools import chain, groupby, repeat, zip_longest

from sympy import Expr, Poly

from derive.errors import DeriveError
from derive.language import to_sympy
from derive.language.tree import Tree
from derive.limits.point import Point
from derive.model.condition import Condition
from derive.model.notation import Notation
from derive.model.parameterization import Parameterization
from derive.printable import Printable
from derive.render.arranged import read
from derive.render.document import Display, Document, Element, Grid, Part, Words, document, literal
from derive.render.page.formula import (
    assumption,
    at_start,
    fraction,
    hold,
    put_back,
    quote,
    relation,
    sentence,
    typeset,
)
from derive.render.page.lines import COLUMN, Row, by_powers, display, vanishing, width
from derive.render.page.names import latex_name, norms_as_latex
from derive.render.page.printer import inline, latex
from derive.render.page.refutation import plain_failure
from derive.render.sections import affine_outputs, flatten
from derive.render.text import Layout
from derive.sources import sources
from derive.statement import Equations, Items, OnPage, Sentence, Table, Text, each
from derive.verdict import Finding, Identity, Verdict

ANSWERS = {Verdict.PROVED: "yes", Verdict.REFUTED: "no", Verdict.UNDECIDED: "not decided"}
DECIDED = {Verdict.PROVED: "", Verdict.REFUTED: "refuted", Verdict.UNDECIDED: "not decided"}
WORDS = (str, Sentence, Finding)
DISPLAYED = (Equations, Parameterization, Display)
GOES_ON = re.compile(
    r"(and|with|where|assuming|to first|has|for all|among|subject to|so that|per|in the sense"
    r"|drift)\b"
)
"""How lines begin that go on with a sentence after its formulas."""
TALL = re.compile(r"\((\\int (?:[^()]|\([^()]*\))*)\)")
"""What larger brackets are around."""


def render_page(record: Printable) -> Document:
    """Return the page of a record: its parts with lines, set as blocks."""
    told = document(record)
    parts = tuple(part for part in map(_set, told.page or told.parts) if part.lines)
    return Document(parts, told.taken).map(lambda x: norms_as_latex(x, told.norms))


def _set(part: Part) -> Part:
    heading, kind = words_of(part.title or part.heading), part.kind
    if part.verdict is not None and (not part.title or part.verdict is Verdict.UNDECIDED):
        asked = heading.endswith("?")
        word = (ANSWERS if asked else DECIDED)[part.verdict]
        heading += f" {word}" if asked else f": {word}" * (word not in heading)
    if part.verdict is not None:
        kind = "paragraph" if part.verdict is Verdict.UNDECIDED else "theorem"
    blocks = map(_citing, paragraph(part.lines))
    return Part(heading, blocks, kind=kind, label=part.label)


def _citing(line: Element) -> Element:
    """Return words with citations for the sources that they name, as (Lyu, Li 2020)."""
    if not isinstance(line, str):
        return line

    def cite(found: re.Match[str]) -> str:
        pairs = re.findall(r"(?:^|; )(\w+)[^;]* (\d{4})", found[1])
        keys = [name.lower() + year for name, year in pairs]
        return f"[@{','.join(keys)}]" if sources().keys() >= set(keys) else found[0]

    line = re.sub(r"\(cited, (\[@[\w-]+\])\)", r"\1", line)
    return re.sub(r"\((?:cited, )?([A-Z]\w+[^()]* \d{4})\)", cite, line)


def paragraph(given: Iterable[object]) -> Iterator[Element]:
    """Yield lines as sentences, with a capital and a stop, unless they go on in formulas."""
    before, lines = ".", tuple(flatten(given, OnPage))
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        if isinstance(line, Words) or not isinstance(line, WORDS):
            yield from blocks_of(line)
            before = line[-1] if isinstance(line, Words) else "display"
            continue
        words = words_of(line)
        goes_on = before in ",:;" or (before == "display" and GOES_ON.match(words))
        whole = words[-1] not in ",:;.?" and not isinstance(following, DISPLAYED)
        words += "." * whole
        yield Words(words if goes_on else words[0].upper() + words[1:])
        before = words[-1]


@singledispatch
def as_math(value: object) -> str:
    """Return a value within a formula."""
    return typeset(str(value))


as_math.register(Expr, inline)
as_math.register(Tree, lambda value: inline(to_sympy(value)))
as_math.register(Fraction, fraction)
as_math.register(Poly, by_powers)
as_math.register(Text, lambda value: relation(value.text))
as_math.register(
    Sentence, lambda value: _filled(value, value.words.replace("`", ""), as_math, typeset)
)


@as_math.register
def _(value: Point) -> str:
    limit = latex(value.value)
    sides = {"0": "0^+", "oo": r"\infty", "below": f"{limit}^-", "above": f"{limit}^+"}
    given = "".join(rf",\ {inline(c)} > 0" for c in value.given)
    return rf"{latex_name(value.variable)} \to {sides[value.side]}{given}"


@singledispatch
def words_of(value: object) -> str:
    """Return a value within a sentence."""
    return f"${as_math(value)}$"


@words_of.register
def _(value: Sentence) -> str:
    parts = value.words.split("`")
    ways = ((words_of, literal), (as_math, typeset))
    written = (_filled(value, part, *ways[i % 2]) for i, part in enumerate(parts))
    return "".join(f"${x}$" if i % 2 else x for i, x in enumerate(written))


WRITTEN: Mapping[str, Callable[[str], str]] = {
    "given": quote,
    "reason": sentence,
    "cited": "[@{}]".format,
}
words_of.register(str, lambda value: words_of(Sentence(value)))
words_of.register(Finding, lambda value: sentence(value.reason))
words_of.register(Identity, lambda value: sentence(value.statement))
words_of.register(Condition, assumption)
words_of.register(Text, lambda value: WRITTEN[value.kind](value.text))
words_of.register(Sequence, lambda value: "; ".join(map(words_of, value)))


def _filled(
    told: Sentence, words: str, put: Callable[[object], str], write: Callable[[str], str]
) -> str:
    """Return words as they are written, with what is put in, as that is."""
    held: list[str] = []
    filled = re.sub(r"\{(\w+)\}", lambda m: hold(put(told.values[m[1]]), held), words)
    return put_back(write(filled), held)


@singledispatch
def blocks_of(line: object) -> Iterator[Element]:
    """Yield the blocks of a line that is not words."""
    raise AssertionError(f"{type(line).__name__} has no LaTeX")


@blocks_of.register
def _(line: Equations) -> Iterator[Element]:
    (left, right), *rest = line.rows
    if right == 0 and isinstance(left, Expr) and not rest:
        yield from vanishing(left)
        return
    rows = list[Row]()
    for left, same in groupby(line.rows, lambda row: _side(row[0])):
        sides = (b if isinstance(b, Expr) else _side(b) for _, b in same)
        rows += zip(chain([left], repeat("")), sides, strict=False)
    yield from display(rows, line.label, typeset(line.relation).strip())


def _side(value: object) -> str:
    if isinstance(value, Expr):
        return latex(value)
    return TALL.sub(lambda m: rf"\Bigl({m[1]}\Bigr)", as_math(value).strip())


blocks_of.register(Words, lambda line: iter((line,)))
blocks_of.register(Display, lambda line: iter((line,)))


LONGEST = 200
"""Characters of a side of an identity that is written out."""


@blocks_of.register
def _(line: Identity) -> Iterator[Element]:
    if not line.holds:
        yield from plain_failure(None, line)
        return
    try:
        left, right = (read(x) for x in (line.left, line.right))
    except DeriveError:
        return
    tells = (
        left != right and not left.is_number and max(map(len, (line.left, line.right))) < LONGEST
    )
    if tells and width(latex(left)) < COLUMN / 2:
        yield from display([(latex(left), right)])


@blocks_of.register
def _(line: Parameterization) -> Iterator[Element]:
    betas = Notation(line, tuple(range(line.d))).betas
    yield from display([(latex(b), f) for b, f in zip(betas, line.outputs, strict=True)])
    yield from paragraph(affine_outputs(line))
    yield f"The start is {at_start(line.start)}."


@blocks_of.register
def _(line: Items) -> Iterator[Element]:
    yield Items(tuple(tuple(paragraph((item,))) for item in line.lines))


@blocks_of.register
def _(line: Table) -> Iterator[Element]:
    layout = Layout(line)
    if layout.wide:
        rows = (zip(line.head, row, strict=True) for row in line.rows)
        told = (each("{0}: {1}", (pair for pair in row if pair[1]), "; ") for row in rows)
        yield from blocks_of(Items(tuple(told)))
        return
    columns = "".join("r" if number else "l" for _, number in layout.columns)
    yield Grid(tuple(tuple(map(words_of, row)) for row in (line.head, *line.rows)), columns)
