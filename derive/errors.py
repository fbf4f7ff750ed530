"""The tree of errors: everything that the toolkit raises on purpose.

Each message is one line that says what is wrong, where, and what would be accepted.
"""

from __future__ import annotations

from collections.abc import Iterable


class DeriveError(Exception):
    """Base of every error raised on purpose; its text is one line for a person to read."""


class InputError(DeriveError):
    """The input cannot be understood or is not allowed (exit code 2)."""


class LanguageError(InputError):
    """A text is not an expression of the language.

    Attributes:
        column: 1-based column of the first character at fault, or None.
    """

    def __init__(self, message: str, column: int | None = None) -> None:
        super().__init__(message if column is None else f"column {column}: {message}")
        self.column = column


def nearest(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return the end of a refusal of *name*: the names most like it, or *otherwise*.

    >>> nearest("squar", ["linear", "square"], "see the list")
    'did you mean square?'
    """
    import difflib

    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.4)
    return f"did you mean {' or '.join(near)}?" if near else otherwise


class RankDeficient(InputError):
    """The outputs move together: J has rank below d everywhere, or on the whole start leaf."""


class DegenerateStart(InputError):
    """The start is a point where F is undefined or gradient flow cannot move the predictor."""


class NumericalError(DeriveError):
    """A numerical method could not reach the accuracy asked for; the text says what to change."""


class ConsistencyError(DeriveError):
    """Two independent derivations of the same object disagree: a fault of this program."""


def check_kind(given: object, kind: type, example: str) -> None:
    """Raise InputError for what is of another type, such as the text of F for a derivation."""
    if not isinstance(given, kind):
        raise InputError(f"give a {kind.__name__}, such as {example}, not {given!r:.40}")
