"""Our letters and a user's names on one page: a name is marked as it is printed, ours step aside.

A name that comes from F carries a mark while a page is made. What carries none is ours, and is
altered, in all of the page, where F has the name; then the marks are taken away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from derive.model.labels import LABEL, MEANING, WORD, aside, each_label, stem_of
from derive.potential.coupled import ON_LEAF
from derive.potential.domain import CONVEX, UNDECIDED
from derive.potential.piece import WHY_LEFT
from derive.potential.quadrature import KERNEL_ALONG_FLOW

MARK = "\ue000"
"""What stands before a name from F: of the characters without a meaning, in no text of ours."""

_SAID = " ".join(
    (*UNDECIDED.values(), *CONVEX.values(), *WHY_LEFT.values(), KERNEL_ALONG_FLOW, ON_LEAF)
)
OWN = frozenset(re.findall("`([^`]*)`", _SAID)) | {
    *("G = g rho", "G = rho", "beta_0 + t b", "y_i = dQ/dbeta_i", "psi = dq/ds", "T = phi^2"),
    "R = |grad s|^2",
}
"""Formulas in backticks that are ours."""


def mark(text: object) -> str:
    """Return a formula of the user with its names marked."""
    return each_label(str(text), lambda name: MARK + name)


def mark_quoted(statement: str) -> str:
    """Return a sentence of ours, in which a user's names are in backticks, with these marked."""
    return re.sub("`([^`]*)`", lambda m: mark(m[1]), statement)


def mark_note(words: str) -> str:
    """Return a note, in which all formulas are in backticks, with the user's marked."""
    return re.sub("`([^`]*)`", lambda m: m[1] if m[1] in OWN else mark(m[1]), words)


def unmark(text: str) -> str:
    """Return words without marks and without the backticks around their formulas."""
    return text.replace("`", "").replace(MARK, "")


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
    pages = [[_fitted(own.sub(ours, line), line) for line in lines] for lines in blocks]
    # What has another of our letters as its stem goes with it.
    stems = {x for stem in altered for x in (f"d{stem}", f"{stem}_0", f"{stem}_i")}
    names = (
        f"{label}{f' ({MEANING[label]})' if label in MEANING else ''} is written {new}"
        for label, new in altered.items()
        if label not in stems
    )
    words = f"Our letters make way for the names given: {', '.join(names)}"
    return [*pages[:1], [words], *pages[1:]] if altered else pages


def _fitted(new: str, line: str) -> str:
    """Return a line without marks, a heading with its verdict where it was."""
    new, width = new.replace(MARK, ""), len(line)
    head = re.fullmatch(r"(.* )\.+( [A-Z]+)", new)
    return new if head is None else head[1].ljust(width - len(head[2]), ".") + head[2]
