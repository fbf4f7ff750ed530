"""Records that show themselves in a line, and print themselves.

The renderer is looked up by the type of record, never imported.
The table of renderers belongs to :mod:`derive.render`, which knows all records; no record knows it.
"""

from __future__ import annotations

import dataclasses
import enum
import html
import importlib
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any

ROOM = "derive.render"
"""The room whose ``RENDERERS`` say, for each record and form, which function prints it."""


FIGURES = "numerics.figures.derived"
"""Where ``display`` knows the picture of each record; symbols do not depend on numbers."""
LINE = 199


class Held:
    """A record that people hold: its ``repr`` is one line under 200 characters.

    A notebook shows it in the forms card and formula: by default a table of its fields.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={brief(value)}" for name, value in self._shown())
        line = f"{type(self).__name__}({shown})"
        return line if len(line) <= LINE else f"{line[: LINE - 4]}...)"

    def _shown(self) -> Iterable[tuple[str, object]]:
        """Return what ``repr`` shows."""
        known = dataclasses.fields(self)  # type: ignore[arg-type]
        return [(f.name, getattr(self, f.name)) for f in known if f.repr]

    def _repr_html_(self) -> str:
        """Return a card: verdicts and the formula, or the fields."""
        return str(renderer(type(self), "card")(self))

    def _repr_latex_(self) -> str:
        """Return the same in LaTeX."""
        return str(renderer(type(self), "formula")(self))


def fields_of(held: Held) -> list[tuple[str, str]]:
    """Return what ``repr`` shows, with values as text."""
    return [(name, textwrap.shorten(str(value), LINE)) for name, value in held._shown()]


def brief(value: object) -> str:
    """Return a value in a line: of a record its verdict, or its type."""
    if isinstance(value, tuple):
        return f"({', '.join(map(brief, value))}{',' * (len(value) == 1)})"
    shown = getattr(value, "verdict", value)
    if isinstance(shown, enum.Enum):
        return shown.name
    plain = type(value).__repr__ is not Held.__repr__
    return " ".join(repr(value).split()) if plain else f"<{type(value).__name__}>"


class Shown(Held):
    """A part of a record, which a notebook shows typeset: its formulas and its verdict."""

    __slots__ = ()


class Printable(Held):
    """A finished record, printed in each form that the table of renderers gives for its type."""

    def to_text(self, width: int = 80) -> str:
        """Return plain text, at most *width* columns where words allow."""
        return str(renderer(type(self), "text")(self, width))

    def to_latex(
        self, standalone: bool = False, part: str = "", rename: Mapping[str, str] | None = None
    ) -> str:
        r"""Return LaTeX: a snippet for a paper, or a document that compiles by itself.

        Args:
            standalone: whether to return a document, with the sources that it cites.
            part: theorem, proof or formula, to have that alone.
            rename: LaTeX for names, such as ``{"alpha": r"\sigma"}``; a letter with an index.

        Raises:
            InputError: there is no such part or name, or LaTeX for a name is more than a letter.
        """
        return str(renderer(type(self), "latex")(self, standalone, part, rename))

    def to_html(self, rename: Mapping[str, str] | None = None) -> str:
        """Return a page for a browser in one file, with names written as for :meth:`to_latex`."""
        return str(renderer(type(self), "html")(self, rename))

    def to_json(self) -> str:
        """Return the versioned JSON record: exact numbers as text, no floats."""
        return str(renderer(type(self), "json")(self))


class Plotted:
    """A record of which there is a picture."""

    __slots__ = ()

    def plot(self, *given: object, ax: object = None, **named: object) -> Any:
        """Draw it, by matplotlib: Q, of one output as a curve, of several its level sets.

        Limits of Q are drawn with Q on its way there, the horizon with level sets that tend to it.

        Args:
            given, named: what the display takes: ``start``, numbers for start symbols, where those
                not given get simple ones; of limits ``which``, counted from 0.
            ax: the axes of matplotlib to draw on, or new ones.

        Returns:
            the display of ``numerics.figures``, with the arrays that were drawn.

        Raises:
            InputError: a name is no start symbol, or matplotlib is not installed.
            NumericalError: there is nothing to draw, as no Q.
        """
        display = importlib.import_module(FIGURES).display
        return display(self, *given, **named).plot(ax)


@dataclasses.dataclass(frozen=True, repr=False)
class Live(Held):
    """A page that a notebook shows in a frame of its own.

    Attributes:
        text: the page, one file.
        height: of the frame, in pixels.
    """

    text: str
    height: int = 900

    def _shown(self) -> Iterable[tuple[str, object]]:
        return (("height", self.height),)

    def _repr_html_(self) -> str:
        """Return the frame, whose scripts reach nothing outside of it."""
        return (
            f'<iframe sandbox="allow-scripts" srcdoc="{html.escape(self.text)}" width="100%" '
            f'height="{self.height}" style="border: 0"></iframe>'
        )


class Explored:
    """A record of which there is a page that moves."""

    __slots__ = ()

    def explore(self) -> Live:
        """Return a page on which one sees what the flow minimises; a notebook shows it.

        Its ``text`` is one file for a browser, which fetches nothing. Of matrices of every size it
        has one entry b_k, or where there is no Q a block of two rows and columns.

        Raises:
            NumericalError: nothing was decided, Q has no formula, or a vector no dimension.
        """
        return Live(str(renderer(type(self), "explore")(self)))


class Certified(Printable):
    """A finished record whose JSON record has a certificate."""

    def to_json(self, seconds: float = 20.0) -> str:
        """Return the versioned JSON record: exact numbers as text, no floats.

        Args:
            seconds: for its certificate; where they do not suffice the record is without.
        """
        return str(renderer(type(self), "json")(self, seconds))


def renderer(record: type, form: str) -> Callable[..., Any]:
    """Return the function that prints records of a type in a form.

    Raises:
        LookupError: the table has no such renderer.
    """
    table: dict[str, dict[str, str]] = importlib.import_module(ROOM).RENDERERS
    for kind in record.__mro__:
        if place := table.get(kind.__name__, {}).get(form):
            module, name = place.split(":")
            found: Callable[..., Any] = getattr(importlib.import_module(f".{module}", ROOM), name)
            return found
    raise LookupError(f"{record.__name__} has no renderer for {form}")
