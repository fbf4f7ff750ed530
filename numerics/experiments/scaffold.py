"""What experiments share: tasks run in stages, and results as text, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar, TypeAlias, TypeVar

from derive.errors import InputError

Row: TypeAlias = Mapping[str, object]
"""Cells by the name of their column."""
VERSION = 1
_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


class Stages:
    """Runs the stages of an experiment, in several processes if asked, and tells what is done.

    On a cluster, two lines before switch to dask (and likewise to ray)::

        client = dask.distributed.Client("scheduler:8786")
        joblib.parallel_config("dask")
    """

    def __init__(self, jobs: int = 1, progress: Callable[[str], None] | None = None) -> None:
        """Run so many *jobs* at a time; *progress* is called with what is being done."""
        self._jobs, self.enter = jobs, progress or (lambda stage: None)

    def each(
        self, stage: str, function: Callable[[_Task], _Result], tasks: Sequence[_Task]
    ) -> tuple[_Result, ...]:
        """Return the result of each task, in order; InputError for several jobs without joblib."""
        self.enter(f"{stage} 0/{len(tasks)}")
        found = in_parallel(function, tasks, self._jobs)
        results: list[_Result] = []
        for result in found:
            results.append(result)
            self.enter(f"{stage} {len(results)}/{len(tasks)}")
        return tuple(results)


def in_parallel(
    function: Callable[[_Task], _Result], tasks: Iterable[_Task], jobs: int
) -> Iterable[_Result]:
    """Return the results of tasks, in order, as they come; InputError where joblib is missing."""
    if jobs == 1:
        return map(function, tasks)
    try:
        import joblib
    except ImportError:
        raise InputError(
            "several jobs need joblib: pip install 'regderive[parallel]', or leave one job"
        ) from None
    backend, _ = joblib.parallel.get_active_backend()
    # Backends that others register, such as that of ray, may give a list only.
    form = "generator" if getattr(backend, "supports_return_generator", False) else "list"
    parallel = joblib.Parallel(n_jobs=jobs, return_as=form)
    results: Iterable[_Result] = parallel(joblib.delayed(function)(task) for task in tasks)
    return results


def table(
    columns: Mapping[str, str], rows: Iterable[Iterable[object]], lacking: str = ""
) -> list[str]:
    """Return a line of heads and one for each row, texts aligned to the right but for ``<``.

    What is wider than its column stands apart all the same; *lacking* is written for None.

    >>> table({"of": "<4", "error": "8.2f"}, [("l1", 0.5), ("l2", "none")])
    ['of     error', 'l1      0.50', 'l2      none']
    """

    def cell(value: object, form: str) -> str:
        value = lacking if value is None else value
        width = re.sub(r"\..*|[a-z]$", "", form)
        aligned = width if width.startswith("<") else f">{width}"
        text = format(value, aligned if isinstance(value, str) else form)
        return text if form[0] == "<" or text[0] == " " else f" {text}"

    lines = (map(cell, row, columns.values()) for row in (columns, *rows))
    return ["".join(cells).rstrip() for cells in lines]


@dataclass(frozen=True, slots=True)
class Results(ABC):
    """What an experiment found; the fields of a subclass are its JSON record."""

    experiment: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    listed: ClassVar[str]
    """The field with the results that are the rows."""

    def rows(self) -> Sequence[Row]:
        """Return one row for each result; cells may lack, and others than *columns* are dropped."""
        rows: Sequence[Row] = asdict(self)[self.listed]
        return rows

    @abstractmethod
    def to_text(self) -> str:
        """Return tables for a person to read."""

    def to_csv(self) -> str:
        """Return a header and the rows, with empty cells where a row lacks a column."""
        stream = io.StringIO()
        writer = csv.DictWriter(stream, self.columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows())
        return stream.getvalue().rstrip("\n")

    def to_json(self) -> str:
        """Return the versioned JSON record; numbers that do not exist are null."""
        record = {"experiment": self.experiment, "version": VERSION, **asdict(self)}
        return json.dumps(record, indent=2, allow_nan=False)
