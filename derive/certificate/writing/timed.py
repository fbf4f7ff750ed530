"""A space of the checker in which work is counted by the clock as well."""

from __future__ import annotations

from collections.abc import Sequence

from derive.certificate.checking.space import Space
from derive.clock import Clock


class TimedSpace(Space):
    """Names of a certificate that is being written, as long as a clock allows."""

    def __init__(
        self, clock: Clock, weights: Sequence[str], constants: Sequence[str], size: int
    ) -> None:
        self._clock = clock
        super().__init__(weights, constants, size)

    @property
    def work(self) -> int:
        """How much was multiplied so far; OutOfTime where the clock has run out."""
        self._clock.check()
        return self._work

    @work.setter
    def work(self, done: int) -> None:
        self._work = done
