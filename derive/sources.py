"""The sources that are cited: BibTeX by key, and items of a bibliography."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path

from derive.errors import InputError

FILE = Path(__file__).parent / "catalogue" / "sources.bib"


def bibtex(keys: Iterable[str]) -> str:
    """Return the BibTeX of some sources, each once.

    Raises:
        InputError: a key is not in ``sources.bib``.
    """
    return "\n\n".join(_source(key) for key in dict.fromkeys(keys))


def _source(key: str) -> str:
    if key not in (known := sources()):
        raise InputError(f"there is no source {key!r} in sources.bib")
    return known[key]


@functools.cache
def sources() -> dict[str, str]:
    """Return the BibTeX of all sources by their keys."""
    text = FILE.read_text(encoding="utf-8")
    items = re.split(r"\n(?=@)", text.strip())
    return {re.match(r"@\w+\{([^,]+),", item)[1]: item.strip() for item in items}  # type: ignore[index]


def reference(key: str) -> tuple[str, str, str]:
    """Return an item of a bibliography: authors, title, and where it appeared with the year.

    >>> reference("du2018")[0]
    'S. S. Du, W. Hu, J. D. Lee'
    """
    found = re.findall(r"(\w+)\s*=\s*\{((?:[^{}]|\{[^{}]*\})*)\}", _source(key))
    fields = {name: " ".join(value.split()) for name, value in found}
    authors = ", ".join(_initials(name) for name in fields["author"].split(" and "))
    places = (fields.get(x, "") for x in ("booktitle", "journal", "note", "year"))
    place = ", ".join(filter(None, places))
    return authors, fields["title"], place


def _initials(name: str) -> str:
    """Return a name with its first names as initials.

    >>> _initials("Lee, Jason D.")
    'J. D. Lee'
    """
    family, _, first = name.partition(", ")
    return " ".join([*(f"{part[0]}." for part in first.split()), family])
