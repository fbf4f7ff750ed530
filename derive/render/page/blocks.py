r"""Pages as data: passages of words, displayed formulas, lists and tables, set by several writers.

Words are plain text with formulas between dollars, in LaTeX, and marks in brackets: ``[@du2018]``
cites, ``[emph:...]`` stresses and ``[code:...]`` is typed. A text that comes from elsewhere passes
through :func:`literal`, so that it has no such marks.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Literal, TypeAlias

from derive.errors import InputError

Kind: TypeAlias = Literal["paragraph", "theorem", "proof", "remark", "formula"]


@dataclass(frozen=True)
class Display:
    """Displayed formulas below one another, aligned at ``&``; with a label one equation."""

    rows: tuple[str, ...]
    label: str = ""


@dataclass(frozen=True)
class Bullets:
    """A list; each item has blocks of its own."""

    items: tuple[tuple[Element, ...], ...]


@dataclass(frozen=True)
class Grid:
    """A table of words, its head first; ``columns`` has l or r for each."""

    rows: tuple[tuple[str, ...], ...]
    columns: str


class Words(str):
    """Words of a page, as they are."""


Element: TypeAlias = str | Display | Bullets | Grid


@dataclass(frozen=True)
class Passage:
    """Blocks under a heading, in an environment of that kind.

    Attributes:
        heading: of a paragraph; of a theorem and a proof what stands in brackets.
        label: of a theorem, to refer to it.
    """

    kind: Kind
    blocks: tuple[Element, ...]
    heading: str = ""
    label: str = ""


@dataclass(frozen=True)
class Page:
    """The passages of one record, from top to bottom, and the names given before which ours yield.

    Those of the kind ``formula`` repeat what a theorem says, for who asks for them alone.
    """

    passages: tuple[Passage, ...]
    taken: frozenset[str] = frozenset()

    def map(self, change: Callable[[str], str]) -> Page:
        """Return the page with every formula changed."""
        passages = (
            replace(
                p,
                heading=in_formulas(p.heading, change),
                blocks=tuple(_mapped(b, change) for b in p.blocks),
            )
            for p in self.passages
        )
        return replace(self, passages=tuple(passages))

    def select(self, part: str = "") -> Page:
        """Return the page with the passages that are asked for.

        Raises:
            InputError: there is no such part.
        """
        if part and part not in PARTS:
            raise InputError(f"there is no part {part}: choose one of {', '.join(PARTS)}")
        whole = (p for p in self.passages if p.kind == part or (not part and p.kind != "formula"))
        if not (passages := tuple(whole)):
            raise InputError(f"this page has no {part}")
        return Page(passages, self.taken)

    @property
    def formulas(self) -> list[str]:
        """All formulas, from top to bottom."""
        found = list[str]()
        self.map(lambda formula: found.append(formula) or formula)  # type: ignore[func-returns-value]
        return found

    @property
    def sources(self) -> list[str]:
        """The keys of what is cited, each once."""
        texts = (text for p in self.passages for text in (p.heading, *_words(p.blocks)))
        keys = (m["cite"] for text in texts for m in INLINE.finditer(text) if m["cite"])
        return sorted({key for found in keys for key in found.split(",")})


PARTS: tuple[Kind, ...] = ("theorem", "proof", "formula")
"""What may be asked for alone."""
INLINE = re.compile(
    r"\$(?P<formula>[^$]*)\$|\[@(?P<cite>[\w,-]+)\]|\[emph:(?P<emph>[^\[\]]*)\]"
    r"|\[code:(?P<code>[^\[\]]*)\]"
)
"""What is no plain text in words."""
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
    parts, at = list[tuple[str, str]](), 0
    for found in INLINE.finditer(words):
        kind = str(found.lastgroup)
        parts += [("plain", words[at : found.start()]), (kind, found[kind])]
        at = found.end()
    parts.append(("plain", words[at:]))
    return "".join(write[kind](text.translate(PLAIN)) for kind, text in parts if text)


def _words(blocks: Iterable[Element]) -> Iterator[str]:
    for block in blocks:
        match block:
            case str():
                yield block
            case Bullets(items):
                yield from (text for item in items for text in _words(item))
            case Grid(rows):
                yield from (cell for row in rows for cell in row)


def _mapped(block: Element, change: Callable[[str], str]) -> Element:
    match block:
        case Display(rows):
            return replace(block, rows=tuple(map(change, rows)))
        case Bullets(items):
            return Bullets(tuple(tuple(_mapped(b, change) for b in item) for item in items))
        case Grid(rows):
            cells = (tuple(in_formulas(cell, change) for cell in row) for row in rows)
            return replace(block, rows=tuple(cells))
    return in_formulas(block, change)


def in_formulas(words: str, change: Callable[[str], str]) -> str:
    """Return words with every formula changed.

    >>> in_formulas("a $b$ c", str.upper)
    'a $B$ c'
    """
    return re.sub(r"\$([^$]*)\$", lambda m: f"${change(m[1])}$", words)


VERBS = frozenset(("are", "has", "have", "is"))


def punctuate(blocks: Sequence[Element]) -> Iterator[Element]:
    r"""Yield blocks in which displayed formulas end as parts of their sentences do.

    >>> list(punctuate([Display(("a",)), "with $c$ in", Display(("d",)), "The"]))
    [Display(rows=('a ,',), label=''), 'with $c$ in', Display(rows=('d .',), label=''), 'The']
    """
    for block, following in zip_longest(blocks, blocks[1:]):
        if isinstance(block, Bullets):
            yield Bullets(tuple(tuple(punctuate(item)) for item in block.items))
        elif isinstance(block, Display) and block.rows[-1].rstrip()[-1] not in ".,;:":
            word = re.match("[a-z]+", following) if isinstance(following, str) else None
            goes_on = word is not None or isinstance(following, Display)
            mark = "" if word and word[0] in VERBS else " ," if goes_on else " ."
            yield replace(block, rows=(*block.rows[:-1], block.rows[-1].rstrip() + mark))
        else:
            yield block


def template(text: str, values: Mapping[str, object]) -> Iterator[Element]:
    r"""Yield the blocks of a text of ours, whose displayed formulas are between ``\[`` and ``\]``.

    >>> list(template(r"Let @x@ be \[ 1 \\ 2 \] there.", {"x": "$X$"}))
    ['Let $X$ be', Display(rows=('1', '2'), label=''), 'there.']
    """
    for i, part in enumerate(re.split(r"\\\[|\\\]", text)):
        if part := re.sub("@(\\w+)@", lambda m: str(values[m[1]]), part).strip():
            rows = part.split(r"\\")
            yield Display(tuple(map(str.strip, rows))) if i % 2 else Words(part)


WORDING: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("wording.toml").read_text(encoding="utf-8")
)
"""What pages of mathematics say: sentences into which formulas are put."""


def say(what: str, /, **values: object) -> Iterator[Element]:
    r"""Yield the blocks of a text, with what is put in.

    >>> list(say("curve.itself", z="z"))
    ['where $z = \\mu$,']
    """
    room, _, key = what.partition(".")
    yield from template(WORDING[room][key], values)


def phrase(what: str, /, **values: object) -> Words:
    """Return a text without displayed formulas."""
    return Words("\n".join(map(str, say(what, **values))))
