"""A bar on stderr for flows that take long: only on a terminal, and only after a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import mpmath

from numerics.reals import Real

if TYPE_CHECKING:
    from rich.progress import Progress

Report: TypeAlias = Callable[[int, Real], None]
"""Called with the number of a step and the residual after it."""
PATIENCE = 2.0
"""Seconds before a bar is shown."""


@contextmanager
def narrated(progress: Report | None, decades: float) -> Iterator[Report]:
    """Yield *progress* or, without it, what shows how many of the *decades* the residual fell."""
    if progress is not None:
        yield progress
    elif not sys.stderr.isatty():
        yield lambda step, residual: None
    else:
        bar = _Bar(decades)
        try:
            yield bar
        finally:
            bar.close()


class _Bar:
    """Shows the fall of a residual; rich is imported when there is something to show."""

    def __init__(self, decades: float) -> None:
        self._decades, self._begin, self._first = decades, time.monotonic(), mpmath.mpf(0)
        self._shown: Progress | None = None

    def __call__(self, step: int, residual: Real) -> None:
        self._first = max(self._first, residual)
        if time.monotonic() - self._begin < PATIENCE or not residual:
            return
        if self._shown is None:
            from rich.console import Console
            from rich.progress import Progress

            self._shown = Progress(console=Console(stderr=True), transient=True)
            self._shown.add_task("gradient flow", total=self._decades)
            self._shown.start()
        text = f"gradient flow, step {step}, residual {mpmath.nstr(residual, 2)}"
        fallen = float(mpmath.log10(self._first / residual))
        self._shown.update(self._shown.task_ids[0], completed=fallen, description=text)

    def close(self) -> None:
        """Remove the bar, if there is one."""
        if self._shown is not None:
            self._shown.stop()
