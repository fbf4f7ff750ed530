"""Run what a command asks for in a child with limits of time and memory."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import Any

from derive.output import Narrator
from derive.sandbox import ChildDied, Limits, OutOfTime, run_limited

UNDECIDED, INTERRUPTED = 3, 130


class Stop(Exception):
    """An end with one line and an exit status."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def run(function: Callable[[Callable[[str], None]], Any], timeout: float, talk: bool) -> Any:
    """Return *function* of what it calls as each stage begins, run in a child with limits.

    Args:
        function: the work; what it returns can be pickled.
        timeout: seconds of wall time.
        talk: whether the stages are shown, on a terminal.

    Raises:
        Stop: the child ran out of time or memory, or was interrupted.
    """
    narrator = Narrator() if talk and sys.stderr.isatty() else None
    stage = ["starting"]
    _end_with_signals()

    def narrate(name: str, elapsed: float) -> None:
        stage[0] = name
        if narrator is not None:
            narrator(name, elapsed)

    try:
        return run_limited(function, Limits(timeout), narrate)
    except OutOfTime as late:
        message = (
            f"out of time after {timeout:g} s in stage: {late}; "
            "raise --timeout, or give fewer weights or lower degrees"
        )
        raise Stop(message, UNDECIDED) from None
    except ChildDied as dead:
        message = f"out of memory or processor time in stage: {dead}; the input is too large"
        raise Stop(message, UNDECIDED) from None
    except KeyboardInterrupt:
        raise Stop(f"interrupted in stage: {stage[0]}", INTERRUPTED) from None
    finally:
        if narrator is not None:
            narrator.clear()


def _end_with_signals() -> None:
    """Let SIGTERM and SIGHUP unwind, so that the child does not outlive this process."""

    def stop(number: int, frame: Any) -> None:
        raise Stop(f"ended by {signal.Signals(number).name}", 128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), stop)
