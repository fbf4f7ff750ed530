"""The sources that are cited: BibTeX by key, and items of a bibliography in LaTeX."""

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


def bibitem(key: str) -> str:
    r"""Return an item of a bibliography: authors, title, where it appeared, and the year.

    >>> bibitem("du2018").splitlines()[0]
    '\\bibitem{du2018} S. S. Du, W. Hu, J. D. Lee.'
    """
    found = re.findall(r"(\w+)\s*=\s*\{((?:[^{}]|\{[^{}]*\})*)\}", _source(key))
    fields = {name: " ".join(value.split()) for name, value in found}
    authors = ", ".join(_initials(name) for name in fields["author"].split(" and "))
    places = (fields.get(x, "") for x in ("booktitle", "journal", "note", "year"))
    place = ", ".join(filter(None, places))
    return f"\\bibitem{{{key}}} {authors}.\n{fields['title']}.\n\\emph{{{place}}}."


def _initials(name: str) -> str:
    """Return a name with its first names as initials.

    >>> _initials("Lee, Jason D.")
    'J. D. Lee'
    """
    family, _, first = name.partition(", ")
    return " ".join([*(f"{part[0]}." for part in first.split()), family])
