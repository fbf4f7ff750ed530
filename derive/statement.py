"""Statements: what a record claims of F, under which conditions, and on what ground.

Every record that is printed yields its ``statements``; renderers set these and claim nothing of
their own. A sentence is in the notation of the terminal, its formulas in backticks, as
"``for `{b} > 0` it is `Q/N -> |{b}|` ``"; what is put in for a name in braces is an expression, a
tree, a finding with its reason, or another sentence.

``KINDS``, of ``kinds.toml``, is the closed list of what is claimed. For each kind the tests have a
witness: code that knows F and the data alone, and tries to refute the statement by simulation or
brute force.
"""

from __future__ import annotations

import enum
import re
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from derive.folder import read_table


class Ground(enum.Enum):
    """Why a statement is made.

    PROVED: by an identity, an enclosure or a theorem of ours, its hypotheses decided or listed as
    conditions. CITED: by a theorem of a source, its hypotheses likewise. SIMULATED: it was run, and
    the figure is told. CONJECTURED: for none of these reasons.
    """

    PROVED = "proved"
    CITED = "cited"
    SIMULATED = "simulated"
    CONJECTURED = "conjectured"


KINDS: Mapping[str, str] = ChainMap(*read_table(__file__, "kinds.toml").values())
"""What a statement of each kind claims."""


@dataclass(frozen=True)
class Sentence:
    """Words with formulas in backticks, and what stands in them for names in braces."""

    words: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Text:
    """Text of a kind that tells where formulas and names of the user are in it.

    Attributes:
        kind: given, a formula or assumption of the user; reason, a sentence with their names in
            backticks, and formulas of ours between dollars; cited, the key of a source; claim, that
            of an identity; digits, the leading ones of a number; theirs, words of a source with its
            formulas in backticks; quoted, a passage of one; typed, formulas with semicolons.
    """

    text: str
    kind: Literal["given", "reason", "cited", "claim", "digits", "theirs", "quoted", "typed"] = (
        "given"
    )


@dataclass(frozen=True)
class Matrix:
    """A matrix within a formula."""

    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class Equations:
    """Formulas below one another, left and right: expressions, or text in our notation.

    Attributes:
        label: to refer to them, as to one equation.
    """

    rows: tuple[tuple[object, object], ...]
    relation: str = "="
    label: str = ""


@dataclass(frozen=True)
class OnPage:
    """Lines for which there is room on a page alone."""

    lines: tuple[object, ...]


@dataclass(frozen=True)
class OnTerminal:
    """Lines for the terminal alone, as what command tells more."""

    lines: tuple[object, ...]


@dataclass(frozen=True)
class Items:
    """Lines of a list, or on a page the blocks of each."""

    lines: tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """Rows of cells below a head.

    Where these are too wide, the first cell is before as many others as fit, if it names the row,
    as its head is empty; else the last cell is below its row.
    """

    head: tuple[object, ...]
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class Note(Sentence):
    """A sentence that claims nothing: what letters mean, or how more is had."""


@dataclass(frozen=True)
class Clause(Note):
    """Words of a paragraph, with capitals and stops of their own, between the formulas in it."""


@dataclass(frozen=True, kw_only=True)
class Statement(Sentence):
    """A sentence that claims something of F.

    Attributes:
        kind: what is claimed, one of ``KINDS``.
        about: of which part of the record, where it has several; empty for the whole.
        ground: why.
        conditions: under which it is claimed, beside those of the record: sentences or relations.
        by: the finding, or the key of the source, that is its ground.
        above: what the words are about, such as Q, which stands before them.
        below: formulas and notes that belong to the words and stand below them.
        proof: lines that show why.
    """

    kind: str
    about: str = ""
    ground: Ground = Ground.PROVED
    conditions: tuple[object, ...] = ()
    by: object = ""
    above: tuple[object, ...] = ()
    below: tuple[object, ...] = ()
    proof: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"there is no kind of statement {self.kind!r}")

    @property
    def sentence(self) -> Sentence:
        """The words with their conditions in front, and the ground behind where it is no proof."""
        given = each("{0}", ((c,) for c in self.conditions), " and ")
        first = "if {given}, " if self.conditions else ""
        ground = "" if self.ground is Ground.PROVED else f" ({self.ground.value}, {{by}})"
        stop = self.words[len(self.words.rstrip(":,")) :]
        words = f"{first}{self.words.removesuffix(stop)}{ground}{stop}"
        return Sentence(words, {**self.values, "given": given, "by": self.by})


@dataclass(frozen=True, kw_only=True)
class Open(Sentence):
    """A sentence that says what is not known of the claims of a kind, and why.

    No record has both a statement of a kind and one that says it is open, about one part.
    """

    kind: str
    about: str = ""


class Claims:
    """A record that claims something: its statements, and what of them is open."""

    @property
    def statements(self) -> tuple[Statement | Open, ...]:
        """All that the record claims of F, in the order in which it is told."""
        raise NotImplementedError

    def says(self, *kinds: str) -> tuple[Statement | Open, ...]:
        """Return its statements of some kinds."""
        return tuple(s for s in self.statements if s.kind in kinds)


def tell(words: str, /, **values: object) -> Sentence:
    """Return a sentence with what is put in."""
    return Sentence(words, values)


def note(words: str, /, **values: object) -> Note:
    """Return a sentence that claims nothing."""
    return Note(words, values)


def each(
    words: str, items: Iterable[Sequence[object]], between: str = ", ", last: str = ""
) -> Sentence:
    """Return the words once for each item, whose entries are put in for `{0}`, `{1}`, ...

    Args:
        between: what stands between two of them.
        last: what stands before the last one, if it is something else.
    """
    found, values = [], dict[str, object]()
    for i, item in enumerate(items):
        values |= {f"{i}_{j}": value for j, value in enumerate(item)}
        found.append(re.sub(r"\{(\d)\}", rf"{{{i}_\1}}", words))
    *most, end = found or [""]
    whole = f"{between.join(most)}{last or between}{end}" if most else end
    return Sentence(whole, values)


def listing(words: str, items: Iterable[Sequence[object]]) -> Sentence:
    """Return the words for each item, with commas, and a word before the last.

    >>> listing("{0}", ["a", "b", "c"]).words
    '{0_0}, {1_0} and {2_0}'
    """
    return each(words, items, last=" and ")
