"""What pages of mathematics say, from ``wording.toml``: sentences into which formulas are put."""

from __future__ import annotations

import functools
import re
import tomllib
from pathlib import Path

FILE = Path(__file__).with_suffix(".toml")


def say(what: str, /, **formulas: object) -> str:
    r"""Return a sentence with formulas in it.

    >>> say("curve.itself", z="z")
    'where $z = \\mu$,'
    """
    room, _, key = what.partition(".")
    return re.sub("@(\\w+)@", lambda m: str(formulas[m[1]]), _wording()[room][key])


@functools.cache
def _wording() -> dict[str, dict[str, str]]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))
