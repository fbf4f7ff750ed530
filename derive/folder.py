"""Folders of records: one TOML file for each, called by the record's id; tables beside modules."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

from derive.errors import InputError, nearest


class Identified(Protocol):
    """A record with an id."""

    @property
    def id(self) -> str:
        """The name of its file."""


Record = TypeVar("Record", bound=Identified)


def read_folder(
    folder: Path, read: Callable[[str, Mapping[str, object]], Record]
) -> tuple[Record, ...]:
    """Return the record of each file, by id; *read* makes it of an id and what the file holds.

    Raises:
        InputError: a file cannot be read; the message names it.
    """
    found = []
    for path in sorted(folder.glob("*.toml"), key=lambda path: path.stem):
        try:
            found.append(read(path.stem, tomllib.loads(path.read_text(encoding="utf-8"))))
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path.name}: {error}") from None
    return tuple(found)


def read_table(module: str, name: str) -> dict[str, Any]:
    """Return the TOML file of a name that stands beside the file of a module."""
    return tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))


def find_record(records: Iterable[Record], name: str, what: str, otherwise: str) -> Record:
    """Return the record of that id.

    Raises:
        InputError: there is none; the message says of *what*, and names the nearest.
    """
    known = {record.id: record for record in records}
    if name in known:
        return known[name]
    raise InputError(f"there is no {what} {name!r}; {nearest(name, known, otherwise)}")
