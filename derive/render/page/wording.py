"""What pages of mathematics say, from ``wording.toml``: sentences into which formulas are put."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator
from pathlib import Path

from derive.render.page.blocks import Element, template

FILE = Path(__file__).with_suffix(".toml")


def say(what: str, /, **values: object) -> Iterator[Element]:
    r"""Yield the blocks of a text, with what is put in.

    >>> list(say("curve.itself", z="z"))
    ['where $z = \\mu$,']
    """
    room, _, key = what.partition(".")
    yield from template(_wording()[room][key], values)


def phrase(what: str, /, **values: object) -> str:
    """Return a text without displayed formulas."""
    return "\n".join(map(str, say(what, **values)))


@functools.cache
def _wording() -> dict[str, dict[str, str]]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))
