"""The records on disk, one file for each model and one for all sources; and deriving a model."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from derive.catalogue.entry import Entry, read_entry
from derive.errors import InputError
from derive.folder import find_record, read_folder

if TYPE_CHECKING:
    from derive.derivation import Derivation

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


def derive_entry(entry: Entry, enter: Callable[[str], None] | None = None) -> Derivation:
    """Derive one model, on the same road as what a user types.

    >>> derive_entry(find("linear")).verdict.value
    'PROVED'
    """
    from derive.derivation import derive

    return derive(entry.model.read().parameterization(), enter)


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
