"""Contests: programs for one problem, timed side by side in one run."""

from __future__ import annotations

import importlib.util
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A program: its name, what it runs, how often at most, and what it takes to be installed."""

    name: str
    run: Callable[[], Any]
    rounds: int = 1
    needs: str = ""


@dataclass(frozen=True)
class Contest:
    """Entries for one problem; the first is the one that others are compared with."""

    title: str
    entries: tuple[Entry, ...]
    error: Callable[[Any], float]


@dataclass(frozen=True)
class Time:
    """The seconds of every round, and the error of the result; none for what is not installed."""

    name: str
    seconds: tuple[float, ...] = ()
    error: float = math.nan

    @property
    def median(self):
        """The median of the seconds."""
        return statistics.median(self.seconds)

    @property
    def spread(self):
        """Half of the range of the seconds, relative to the median."""
        return (max(self.seconds) - min(self.seconds)) / 2 / self.median


def measure(contest):
    """Run every entry that is installed, in turns, so that what slows the machine slows all."""
    seconds = {e.name: [] for e in contest.entries}
    results = {}
    here = [e for e in contest.entries if not e.needs or importlib.util.find_spec(e.needs)]
    for turn in range(max(e.rounds for e in here)):
        for entry in (e for e in here if turn < e.rounds):
            begun = time.perf_counter()
            results[entry.name] = entry.run()
            seconds[entry.name].append(time.perf_counter() - begun)
    errors = {name: contest.error(found) for name, found in results.items()}
    return [Time(n, tuple(x), errors.get(n, math.nan)) for n, x in seconds.items()]


HEADER = f"{'':44}{'seconds':>10}{'spread':>8}{'ratio':>9}{'error':>10}"


def rows(title, times):
    """Return the lines of one contest: median, spread, ratio to the first entry, error."""
    lines = [title]
    for t in times:
        shown = "not installed"
        if t.seconds:
            ratio = t.median / times[0].median
            shown = f"{t.median:10.4f}{t.spread:8.0%}{ratio:9.1f}{t.error:10.1e}"
        lines.append(f"  {t.name:42}{shown}")
    return "\n".join(lines)
