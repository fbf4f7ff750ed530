"""The results of an experiment as CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

VERSION = 1


def json_record(name: str, found: DataclassInstance) -> str:
    """Return the versioned JSON record of an experiment; numbers that do not exist are null."""
    record = {"experiment": name, "version": VERSION, **asdict(found)}
    return json.dumps(record, indent=2, allow_nan=False)


def csv_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a header and the rows, with empty cells where a row lacks a column.

    >>> csv_table(["m", "error"], [{"m": 3}, {"m": 4, "error": 0.5}]).splitlines()
    ['m,error', '3,', '4,0.5']
    """
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().rstrip("\n")
