"""Run what a command asks for in a child with limits of time and memory, and hand it over."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeVar

import typer

from derive.cli.forms import Form, rendered
from derive.cli.output import Narrator, deliver
from derive.cli.sandbox import ChildDied, Enter, Limits, OutOfTime, run_limited

if TYPE_CHECKING:
    from derive.verdict import Verdict

YES, NO, BAD_INPUT, UNDECIDED, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit statuses."""
EXIT = {"PROVED": YES, "REFUTED": NO, "UNDECIDED": UNDECIDED}
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
Result = TypeVar("Result")


class Concluded(Protocol):
    """A record that says yes, no or undecided."""

    @property
    def verdict(self) -> Verdict:
        """The answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command prints, and its exit status."""

    result: str
    code: int = YES


def answer_with(record: Concluded, form: Form) -> Answer:
    """Render a finished record; its verdict is the status."""
    return Answer(rendered(record, form), EXIT[record.verdict.value])


def finish(work: Callable[[Enter], Answer], timeout: float, output: Path | None) -> NoReturn:
    """Run *work* with limits, write its answer to *output* or print it, and exit."""
    answer = run(work, timeout)
    deliver(answer.result, output)
    raise typer.Exit(answer.code)


def use_one_thread() -> None:
    """Keep NumPy, not yet imported, to one thread: those of a small product wait for each other."""
    for variable in _THREADS:
        os.environ.setdefault(variable, "1")


class Stop(Exception):
    """An end with one line and an exit status."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def run(function: Callable[[Enter], Result], timeout: float) -> Result:
    """Return *function* of what it calls as each stage begins, run in a child with limits.

    On a terminal the stages are shown.

    Args:
        function: the work; what it returns can be pickled.
        timeout: seconds of wall time.

    Raises:
        Stop: the child ran out of time or memory, or was interrupted.
    """
    narrator = Narrator() if sys.stderr.isatty() else None
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

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stop(f"ended by {signal.Signals(number).name}", 128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), stop)
