r"""Documents: what is told of a record, as parts with lines, of which text and pages are written.

A record is told by the ``tell`` of its module here. Its lines are statements, notes on letters,
formulas, lists, tables, and records that stand for such lines. On a page lines are set as blocks:
words, displayed formulas, lists and tables. Words are plain text with formulas between dollars, in
LaTeX, and marks in brackets: ``[@du2018]`` cites, ``[emph:...]`` stresses and ``[code:...]`` is
typed. A text from elsewhere passes through :func:`literal`, so that it has no such marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import Any, Literal, TypeAlias

from derive.errors import InputError
from derive.folder import read_table
from derive.printable import Printable, renderer
from derive.statement import Clause, Equations, Items, Sentence
from derive.verdict import Verdict

Kind: TypeAlias = Literal["paragraph", "theorem", "proof", "remark", "formula"]


@dataclass(frozen=True)
class Display:
    """Displayed formulas below one another, aligned at ``&``; with a label one equation."""

    rows: tuple[str, ...]
    label: str = ""


@dataclass(frozen=True)
class Grid:
    """A table of words, its head first; ``columns`` has l or r for each."""

    rows: tuple[tuple[str, ...], ...]
    columns: str


def abreast(first: object, widths: Sequence[float], most: float) -> list[list[int]]:
    """Return the columns of tables that are at most so wide; all of one whose *first* head is said.

    The first column, which names the rows, is in each of them.

    >>> abreast("", [4, 3, 3, 3], 10), abreast("name", [4, 3, 3, 3], 10)
    ([[0, 1, 2], [0, 3]], [[0, 1, 2, 3]])
    """
    found = [[0]]
    for i, width in enumerate(widths[1:], 1):
        if not first and found[-1][1:] and sum(widths[k] for k in found[-1]) + width > most:
            found.append([0])
        found[-1].append(i)
    return found


Element: TypeAlias = str | Display | Items | Grid
"""A block; the lines of a list are the blocks of each item."""


@dataclass(frozen=True)
class Part:
    """Lines below a heading; a part without one goes on with the last.

    Attributes:
        lines: what is told, or blocks.
        verdict: on what the heading says or asks; what is decided is a theorem on the page.
        kind: what it is on the page, where the verdict does not tell.
        label: of a theorem, to refer to it.
        title: of a theorem on the page, where the heading asks what the lines say.
    """

    heading: object = ""
    lines: Iterable[object] = ()
    verdict: Verdict | None = None
    kind: Kind = "paragraph"
    label: str = ""
    title: object = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", (*self.lines,))


@dataclass(frozen=True)
class Document:
    """What is said of one record, as it is told, or set as a page.

    Parts of the kind ``formula`` repeat what a theorem says, for who asks for them alone.

    Attributes:
        parts: from top to bottom.
        taken: the names given, before which our letters yield.
        norms: names that stand for the norms of vectors.
    """

    parts: Iterable[Part]
    taken: frozenset[str] = frozenset()
    norms: Mapping[str, str] = field(default_factory=dict)

    def map(
        self, change: Callable[[str], str], words: Callable[[str], str] | None = None
    ) -> Document:
        """Return a page with every formula changed; *words* changes words with theirs."""
        whole = words or partial(in_formulas, change=change)
        parts = (
            replace(
                part,
                heading=whole(str(part.heading)),
                lines=tuple(_mapped(block, whole, change) for block in part.lines),
            )
            for part in self.parts
        )
        return replace(self, parts=tuple(parts))

    def select(self, kind: str = "") -> Document:
        """Return a page with the parts that are asked for.

        Raises:
            InputError: there is no such part.
        """
        if kind and kind not in PARTS:
            raise InputError(f"there is no part {kind}: choose one of {', '.join(PARTS)}")
        whole = (p for p in self.parts if p.kind == kind or (not kind and p.kind != "formula"))
        if not (parts := tuple(whole)):
            raise InputError(f"this page has no {kind}")
        return replace(self, parts=parts)

    @property
    def brief(self) -> Document:
        """The formula of a page, or else its theorems, or else all of it."""
        kinds = {part.kind for part in self.parts}
        return self.select(next((x for x in ("formula", "theorem") if x in kinds), ""))

    @property
    def formulas(self) -> list[str]:
        """All formulas of a page, from top to bottom."""
        found = list[str]()
        self.map(lambda formula: found.append(formula) or formula)  # type: ignore[func-returns-value]
        return found

    @property
    def sources(self) -> list[str]:
        """The keys of what a page cites, each once."""
        texts = list[str]()
        self.map(str, lambda words: texts.append(words) or words)  # type: ignore[func-returns-value]
        keys = (m["cite"] for text in texts for m in INLINE.finditer(text) if m["cite"])
        return sorted({key for found in keys for key in found.split(",")})


def document(record: Printable) -> Document:
    """Return what is said of a record."""
    told: Document = renderer(type(record), "document")(record)
    return told


PARTS: tuple[Kind, ...] = ("theorem", "proof", "formula")
"""What may be asked for alone."""
INLINE = re.compile(
    r"\$(?P<formula>[^$]*)\$|\[@(?P<cite>[\w,-]+)\]|\[emph:(?P<emph>[^\[\]]*)\]"
    r"|\[code:(?P<code>[^\[\]]*)\]|(?P<plain>[$\[]|[^$\[]+)"
)
"""What stands in words: marks, and plain text."""
MARKS, LITERAL = "$[]", "\ue001\ue002\ue003"
PLAIN = str.maketrans(LITERAL, MARKS)


def literal(text: str) -> str:
    """Return a text in which no character is a mark."""
    return text.translate(str.maketrans(MARKS, LITERAL))


def inline(words: str, **write: Callable[[str], str]) -> str:
    """Return words as some way writes them: what is in each mark, and plain text.

    >>> inline("at $x$", formula=str.upper, plain=repr)
    "'at 'X"
    """
    found = ((str(m.lastgroup), m[m.lastgroup or 0]) for m in INLINE.finditer(words))
    return "".join(write[kind](text.translate(PLAIN)) for kind, text in found if text)


def _mapped(block: Any, words: Callable[[str], str], formula: Callable[[str], str]) -> Element:
    match block:
        case Display(rows):
            return replace(block, rows=tuple(map(formula, rows)))
        case Items(items):
            return Items(tuple(tuple(_mapped(b, words, formula) for b in item) for item in items))
        case Grid(rows):
            return replace(block, rows=tuple(tuple(map(words, row)) for row in rows))
    return words(block)


def in_formulas(words: str, change: Callable[[str], str]) -> str:
    """Return words with every formula changed.

    >>> in_formulas("a $b$ c", str.upper)
    'a $B$ c'
    """
    return re.sub(r"\$([^$]*)\$", lambda m: f"${change(m[1])}$", words)


VERBS = frozenset(("are", "has", "have", "is"))


def punctuate(blocks: Sequence[Any]) -> Iterator[Element]:
    r"""Yield blocks in which displayed formulas end as parts of their sentences do.

    >>> list(punctuate([Display(("a",)), "with $c$ in", Display(("d",)), "The"]))
    [Display(rows=('a ,',), label=''), 'with $c$ in', Display(rows=('d .',), label=''), 'The']
    """
    for block, following in zip_longest(blocks, blocks[1:]):
        if isinstance(block, Items):
            yield Items(tuple(tuple(punctuate(item)) for item in block.lines))
        elif isinstance(block, Display) and block.rows[-1].rstrip()[-1] not in ".,;:":
            word = re.match("[a-z]+", following) if isinstance(following, str) else None
            goes_on = word is not None or isinstance(following, Display)
            mark = "" if word and word[0] in VERBS else " ," if goes_on else " ."
            yield replace(block, rows=(*block.rows[:-1], block.rows[-1].rstrip() + mark))
        else:
            yield block


WORDING: Mapping[str, Mapping[str, str]] = read_table(__file__, "wording.toml")
"""What is said of derivations: sentences into which formulas are put."""


def say(what: str, /, **values: object) -> Iterator[Clause | Equations]:
    """Yield the lines of a text of ours, with what is put in; displayed formulas are equations.

    What is put in for a name that is displayed alone are rows, or nothing.

    >>> [line.words for line in say("curve.itself", z="z")]
    ['where `{z} = mu`,']
    """
    room, _, key = what.partition(".")
    for i, part in enumerate(re.split(r"\\\[|\\\]", WORDING[room][key])):
        words = " ".join(part.split())
        if i % 2 and (name := words.strip("{}")) in values:
            yield Equations(tuple(values[name]))  # type: ignore[arg-type]
        elif i % 2:
            sides = (row.strip().partition(" = ") for row in words.split(r"\\"))
            rows = ((Sentence(left, values), Sentence(right, values)) for left, _, right in sides)
            yield Equations(tuple(rows))
        elif words:
            yield Clause(words, values)
