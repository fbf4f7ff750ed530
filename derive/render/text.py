"""Documents as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from itertools import groupby, zip_longest

from sympy import Expr, Poly

from derive.language import to_text
from derive.language.tree import Tree
from derive.limits.limit import Point
from derive.model.condition import Condition
from derive.printable import Printable
from derive.render.arranged import TOO_LONG
from derive.render.document import abreast, document
from derive.render.plain import (
    at,
    formula_text,
    mark,
    mark_quoted,
    polynomial_text,
    step_aside,
    unmark,
    wrap,
)
from derive.render.sections import flatten
from derive.statement import (
    Clause,
    Equations,
    Items,
    Matrix,
    OnPage,
    OnTerminal,
    Sentence,
    Statement,
    Table,
    Text,
)
from derive.verdict import Finding, Identity

COLUMNS = 78
"""Of a table, which stands below a heading."""


LONG, LONGEST = 400, 4000
"""Characters of an identity beyond which only --json has both sides, or a side where it fails."""


WRITTEN: Mapping[str, Callable[[str], str]] = {
    **dict.fromkeys(("reason", "claim"), mark_quoted),
    **dict.fromkeys(("cited", "digits"), str),
    **dict.fromkeys(("given", "quoted", "typed"), mark),
    "theirs": lambda text: mark(text.replace("`", "")),
}


@dataclass(frozen=True)
class Layout:
    """A table as text."""

    table: Table

    @property
    def texts(self) -> list[list[str]]:
        """The cells as text, the head first."""
        return [list(map(as_text, row)) for row in (self.table.head, *self.table.rows)]

    @property
    def columns(self) -> list[tuple[int, str]]:
        """How wide the columns are, and to which side cells stand: numbers to the right."""
        found = list[tuple[int, str]]()
        for column in zip(*self.texts, strict=True):
            number = all(x[:1] in "-(0123456789" for x in column[1:])
            found.append((max(len(unmark(x)) for x in column), ">" if number else "<"))
        return found

    @property
    def wide(self) -> bool:
        """Whether the rows do not fit on lines, and the first cells do not name them."""
        return self.table.head[0] != "" and sum(width + 2 for width, _ in self.columns) > COLUMNS


def render_text(record: Printable, width: int = 80) -> str:
    """Return a record as text; without lines only its first heading stands."""
    told, sections, verdicts = document(record), list[list[str]](), list[str]()
    for one in told.parts:
        lines = [norms_as_text(line, told.norms) for line in text_lines(one.lines)]
        if sections and not one.heading:
            sections[-1] += lines
        elif lines or not sections:
            sections.append([as_text(one.heading), *lines])
            verdicts.append("" if one.verdict is None else f" {one.verdict.value}")
    blocks = list[str]()
    for (head, *lines), end in zip_longest(step_aside(sections, told.taken), verdicts):
        head = f"{head} ".ljust(80 - len(end), ".") + end if end else head
        indented = (head, *(f"  {line}" for line in lines))
        blocks.append("\n".join(part for line in indented for part in wrap(line, width)))
    if blocks[len(verdicts) :]:
        blocks.insert(1, blocks.pop())
    return "\n\n".join(blocks)


@singledispatch
def as_text(value: object) -> str:
    """Return a value within a sentence."""
    return str(value)


as_text.register(str, lambda value: value.replace("`", ""))
as_text.register(Expr, formula_text)
as_text.register(Poly, polynomial_text)
as_text.register(Tree, lambda value: mark(to_text(value)))
as_text.register(Finding, lambda value: mark_quoted(value.reason))
as_text.register(Identity, lambda value: mark_quoted(value.statement))
as_text.register(Point, lambda value: mark(value.text))
as_text.register(Condition, lambda value: mark(value))
as_text.register(Text, lambda value: WRITTEN[value.kind](value.text))
as_text.register(Sequence, lambda value: "; ".join(map(as_text, value)))


@as_text.register
def _(value: Matrix) -> str:
    return f"[{'; '.join(', '.join(map(as_text, row)) for row in value.rows)}]"


@as_text.register
def _(value: Sentence) -> str:
    words = value.words.replace("`", "")
    return re.sub(r"\{(\w+)\}", lambda m: as_text(value.values[m[1]]), words)


as_text.register(Statement, lambda value: as_text(value.sentence))


def text_lines(
    lines: Iterable[object], where: type[OnPage | OnTerminal] = OnTerminal
) -> Iterator[str]:
    """Yield lines as text: those of a terminal, or of a page."""
    indent = ""
    for is_clause, run in groupby(flatten(lines, where), lambda x: isinstance(x, Clause)):
        if is_clause:
            yield " ".join(map(as_text, run))
            indent = "  "
        else:
            for line in run:
                before = indent if isinstance(line, Equations) else ""
                yield from (f"{before}{text}" for text in lines_of(line))


@singledispatch
def lines_of(line: object) -> Iterator[str]:
    """Yield a line, of some kinds several."""
    yield as_text(line)


@lines_of.register
def _(line: Equations) -> Iterator[str]:
    yield from (f"{as_text(a)} {line.relation} {as_text(b)}" for a, b in line.rows)


@lines_of.register
def _(line: Table) -> Iterator[str]:
    layout, columns = Layout(line), Layout(line).columns
    for group in abreast(line.head[0], [width + 2 for width, _ in columns], COLUMNS):
        for row in layout.texts:
            # Marks, which take no room, are beside the width.
            cells = ((row[i], *columns[i]) for i in group[: -1 if layout.wide else None])
            widths = ((x, n + len(x) - len(unmark(x)), side) for x, n, side in cells)
            yield "  ".join(f"{x:{side}{n}}" for x, n, side in widths).rstrip()
            if layout.wide:
                yield f"  {row[-1]}"


@lines_of.register
def _(line: Items) -> Iterator[str]:
    for item in line.lines:
        first, *rest = text_lines((item,))
        yield from (first, *(f"    {text}" for text in rest))


@lines_of.register
def _(line: Identity) -> Iterator[str]:
    if line.holds:
        if len(line.left + line.right) <= LONG:
            yield f"  {mark(line.left)} = {mark(line.right)}"
        return
    yield f"needed: {mark_quoted(line.statement)}"
    for side, text in (("left ", line.left), ("right", line.right)):
        yield f"{side} = {mark(text) if len(text) < LONGEST else f'[{TOO_LONG}]'}"
    along = "".join(f", differentiated along {name}," for name in line.derivative)
    yield f"left - right{along} = {line.residual} at {at(line.point)}"


def norms_as_text(text: str, norms: Mapping[str, str]) -> str:
    """Return plain text with |u| where the name of a norm stands."""
    if not norms:
        return text
    return re.sub(rf"\b({'|'.join(norms)})\b", lambda found: f"|{norms[found[0]]}|", text)
