"""Our letters and a user's names on one page: a name is marked as it is printed, ours step aside.

A name that comes from F carries a mark while a page is made. What carries none is ours, and is
altered, in all of the page, where F has the name; then the marks are taken away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from derive.model.labels import LABEL, MEANING, WORD, aside, each_label, stem_of

MARK = "\ue000"
"""What stands before a name from F: of the characters without a meaning, in no text of ours."""

FORMULA = re.compile(r"`([^`]*)`|\$([^$]*)\$")
"""In a sentence a formula with a user's names, in backticks, or one of ours, between dollars."""


def mark(text: object) -> str:
    """Return a formula of the user with its names marked."""
    return each_label(str(text), lambda name: MARK + name)


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
