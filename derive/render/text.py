"""Plain text: expressions, documents in lines that fit, our letters beside a user's names.

A name that comes from F carries a mark while a page is made. What carries none is ours, and is
altered, in all of the page, where F has the name; then the marks are taken away.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import singledispatch
from itertools import groupby, zip_longest

from sympy import Expr, Poly, Symbol
from sympy.printing.str import StrPrinter

from derive.language import to_text
from derive.language.tree import Tree
from derive.limits.limit import Point
from derive.model.condition import Condition
from derive.model.labels import LABEL, MEANING, WORD, aside, each_label, stem_of
from derive.printable import Printable
from derive.render.arranged import (
    TOO_LONG,
    as_written,
    in_number,
    is_too_long,
    positive_first,
    tidy,
)
from derive.render.document import abreast, document
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
from derive.verdict import Finding, Identity, Number

MARK = "\ue000"
"""What stands before a name from F: of the characters without a meaning, in no text of ours."""

FORMULA = re.compile(r"`([^`]*)`|\$([^$]*)\$")
"""In a sentence a formula with a user's names, in backticks, or one of ours, between dollars."""


def mark(text: object) -> str:
    """Return a formula of the user with its names marked, and moduli as they are typed."""
    return each_label(str(text).replace("Abs(", "abs("), lambda name: MARK + name)


def mark_quoted(statement: str) -> str:
    """Return a sentence of ours, in which a user's names are in backticks, with these marked."""
    return FORMULA.sub(lambda m: m[2] or mark(m[1]), statement)


def unmark(text: str) -> str:
    """Return words without marks and without the backticks around their formulas."""
    return re.sub(f"[`${MARK}]", "", text)


def step_aside(blocks: Sequence[Sequence[str]], taken: Set[str]) -> list[list[str]]:
    """Return the lines of a page with our letters altered where F has them, and a word on it."""
    altered: dict[str, str] = {}

    def ours(found: re.Match[str]) -> str:
        label = found[0]
        if not LABEL.fullmatch(label):
            return label
        new = aside(label, taken)
        if new != label:
            stem = stem_of(label, taken)
            altered[stem] = aside(stem, taken)
        return new

    own = re.compile(f"(?<!{MARK}){WORD.pattern}")
    pages = [[own.sub(ours, line).replace(MARK, "") for line in lines] for lines in blocks]
    # What has another of our letters as its stem goes with it.
    stems = {x for stem in altered for x in (f"d{stem}", f"{stem}_0", f"{stem}_i")}
    names = (
        f"{label}{f' ({MEANING[label]})' if label in MEANING else ''} is written {new}"
        for label, new in altered.items()
        if label not in stems
    )
    words = f"Our letters make way for the names given: {', '.join(names)}"
    return [*pages, *[[words]] * bool(altered)]


class _PlainForms(StrPrinter):  # type: ignore[misc]
    """SymPy's plain printer with integrals in words."""

    def doprint(self, expr: Expr) -> str:
        expr, self.names = in_number(expr)
        return str(super().doprint(expr))

    def _print_Symbol(self, expr: Symbol) -> str:
        return str(self.names.get(expr, expr).name)

    def _print_Exp1(self, expr: Expr) -> str:
        return "exp(1)"

    def _print_Integral(self, expr: Expr) -> str:
        (variable, *ends), *_ = expr.limits
        bounds = f"{variable}{' = ' * bool(ends)}{' .. '.join(map(self._print, ends))}"
        return f"Integral({self._print(expr.function)}, {bounds})"

    def _print_Sum(self, expr: Expr, name: str = "sum") -> str:
        (index, _, most), *_ = expr.limits
        over = "" if most.is_Symbol else f", {index} < {self._print(most + 1)}"
        return f"{name}({self._print(expr.function)}{over})"

    def _print_Product(self, expr: Expr) -> str:
        return self._print_Sum(expr, "prod")

    def _print_Derivative(self, expr: Expr) -> str:
        return f"{expr.expr.func}'({self._print(expr.variables[0])})"

    def _as_ordered_terms(self, expr: Expr, order: str | None = None) -> list[Expr]:
        return positive_first(super()._as_ordered_terms(expr, order=order))


class _MarkedForms(_PlainForms):
    """The same, with names and functions as they stand on a page."""

    def doprint(self, expr: Expr) -> str:
        return super().doprint(as_written(expr))

    def _print_Symbol(self, expr: Symbol) -> str:
        return mark(super()._print_Symbol(expr))

    def _print_Letter(self, expr: Symbol) -> str:
        return str(expr.name)

    def _print_Infinity(self, expr: Expr) -> str:
        return "infinity"

    def _print_NegativeInfinity(self, expr: Expr) -> str:
        return "-infinity"

    def _print_Abs(self, expr: Expr) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_ComplexRootOf(self, expr: Expr) -> str:
        # Real roots are counted from below, before all others.
        return f"[real root {expr.index + 1}, counted from below, of {self._print(expr.expr)}]"


def plain(expression: Expr) -> str:
    """Return an expression in the language that the command line reads, where it has words."""
    return _PlainForms().doprint(expression)


def formula_text(expression: Expr) -> str:
    """Return the same for a page, with the names in it marked as such, unless it is too long."""
    if is_too_long(expression):
        return f"[{TOO_LONG}]"
    return _MarkedForms().doprint(tidy(expression))


def polynomial_text(polynomial: Poly) -> str:
    """Return a polynomial in one name with its powers in descending order."""
    text = ""
    for (power,), coefficient in polynomial.terms():
        c = tidy(coefficient)
        minus = c.as_coeff_Mul()[0] < 0 if c.is_Mul else c.could_extract_minus_sign()
        sign, c = ("-", -c) if minus else ("+", c)
        factor = formula_text(c)
        monomial = plain(polynomial.gen**power)
        if c.is_Add and (power or minus):
            factor = f"({factor})"
        term = factor if not power else monomial if factor == "1" else f"{factor}*{monomial}"
        text += f" {sign} {term}"
    return text.removeprefix(" + ").replace(" - ", "-", 1) if text[1] == "-" else text[3:]


SENTENCE = re.compile(r"[,;] [\w(]+ [a-z]")
"""What no formula has."""


def wrap(line: str, width: int) -> list[str]:
    """Break a line at spaces, continuation lines indented below the first equals sign.

    >>> wrap("  Q = aaaa + bbbb", 12)
    ['  Q = aaaa +', '      bbbb']
    """
    if len(line) <= width:
        return [line]
    lead = len(line) - len(line.lstrip())
    equals = line.find(" = ")
    indent = equals + 3 if 0 < equals < width // 3 and not SENTENCE.search(line) else lead + 2
    return textwrap.wrap(
        line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )


def at(point: Iterable[tuple[str, Number]]) -> str:
    """Return ``a = 1, b = 2`` for a point."""
    return ", ".join(f"{mark(name)} = {value}" for name, value in point)


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
