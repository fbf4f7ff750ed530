"""How long work may take: who does it looks at a clock between two steps, and nobody else stops it.

A clock is handed on with what is worked on, as a function field does; there is none for all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from derive.verdict import Finding, Verdict


class OutOfTime(Exception):
    """The time that was given is over."""


@dataclass(eq=False, slots=True)
class Clock:
    """The moment at which work has to end.

    >>> Clock.of(0).check()
    Traceback (most recent call last):
    derive.clock.OutOfTime
    """

    end: float = math.inf

    @classmethod
    def of(cls, seconds: float | None) -> Clock:
        """Return a clock that runs out after some seconds; never, for None."""
        return cls(math.inf if seconds is None else time.monotonic() + seconds)

    def check(self) -> None:
        """Raise OutOfTime where the time is over."""
        if time.monotonic() >= self.end:
            raise OutOfTime


ENDLESS = Clock()
"""The clock of work that may take any time."""

Found = TypeVar("Found")

LATE = "out of time in stage: "
"""How the reason of what was not finished begins."""


class Stages:
    """Stages of work one after the other, until the time is over.

    Attributes:
        clock: runs out while a stage works after its time; what is found can be used ever after.
        late: in which stage the time was over, or None.
    """

    def __init__(self, seconds: float | None, enter: Callable[[str], None]) -> None:
        self.clock = ENDLESS if seconds is None else Clock()
        self.late: Finding | None = None
        self._end, self._enter = Clock.of(seconds).end, enter

    def __call__(
        self, stage: str, find: Callable[[], Found], without: Callable[[Finding], Found]
    ) -> Found:
        """Return what a stage finds; out of time, what is known *without* it."""
        if self.late is None:
            self._enter(stage)
            self.clock.end = self._end
            try:
                self.clock.check()
                return find()
            except OutOfTime:
                self.late = Finding(Verdict.UNDECIDED, LATE + stage)
            finally:
                self.clock.end = math.inf
        return without(self.late)
