"""The records on disk: one file for each model, one for all sources."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path

from derive.catalogue.entry import Entry, read_entry
from derive.errors import InputError
from derive.folder import find_record, read_folder

FOLDER = Path(__file__).parent


@functools.cache
def entries() -> tuple[Entry, ...]:
    """Return all models, by id.

    Raises:
        InputError: a record cannot be read; the message names its file.
    """
    return read_folder(FOLDER / "entries", read_entry)


def find(name: str) -> Entry:
    """Return the model of that id.

    Raises:
        InputError: there is none; the message names the nearest.
    """
    return find_record(entries(), name, "model", "`derive catalogue` lists them")


def bibtex(keys: Iterable[str]) -> str:
    """Return the BibTeX of some sources, each once.

    Raises:
        InputError: a key is not in ``sources.bib``.
    """
    known = sources()
    for key in (wanted := dict.fromkeys(keys)):
        if key not in known:
            raise InputError(f"there is no source {key!r} in sources.bib")
    return "\n\n".join(known[key] for key in wanted)


@functools.cache
def sources() -> dict[str, str]:
    """Return the BibTeX of all sources by their keys."""
    text = (FOLDER / "sources.bib").read_text(encoding="utf-8")
    items = re.split(r"\n(?=@)", text.strip())
    return {re.match(r"@\w+\{([^,]+),", item)[1]: item.strip() for item in items}  # type: ignore[index]
