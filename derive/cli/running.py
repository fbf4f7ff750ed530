"""Run what a command asks for in a child with limits of time and memory, and hand it over.

Exact algebra spends its time inside C calls that neither signals nor threads can stop; a process
can always be killed. The child reports the stage that it is in, so that whoever runs out of
patience learns where the time went.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from derive.cli.output import Narrator, deliver

YES, NO, BAD_INPUT, UNDECIDED, FAULT, INTERRUPTED, READER_LEFT = 0, 1, 2, 3, 70, 130, 141
"""Exit statuses."""
MEMORY = 4 * 2**30
"""Bytes of address space of the child."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
SHARE = 0.7
"""What one part of the work may take of the time that is left."""
Result = TypeVar("Result")


class Enter:
    """Called with the name of each stage as it begins, by the work in the child."""

    def __init__(self, send: Callable[[tuple[str, object]], None], seconds: float) -> None:
        self._send, self._end = send, time.monotonic() + seconds

    def __call__(self, stage: str) -> None:
        """Tell the stage."""
        self._send(("stage", stage))

    def keep(self, answer: Answer) -> None:
        """Tell what to answer where the time ends before there is a better answer."""
        self._send(("kept", answer))

    def keep_unfinished(self, answer: Answer) -> None:
        """Tell it where something else was asked for, too, which may not be done in time."""
        self.keep(answer.failing("derive: out of time: what else was asked for was not done"))

    @property
    def share(self) -> float:
        """The seconds that the next part of the work may take."""
        return SHARE * max(0, self._end - time.monotonic())


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command prints, its exit status, and what is said beside it on stderr."""

    result: str
    code: int = YES
    narration: str = ""

    def saying(self, line: str) -> Answer:
        """Return the same with one more line beside it."""
        return replace(self, narration="\n".join(filter(None, (self.narration, line))))

    def failing(self, line: str, code: int = UNDECIDED) -> Answer:
        """Return the same with a line beside it that says what failed."""
        return replace(self.saying(line), code=code)


def finish(work: Callable[[Enter], Answer], timeout: float, output: Path | None) -> int:
    """Run *work* with limits, write its answer to *output* or print it; return its status."""
    answer = run(work, timeout)
    if answer.result:
        deliver(answer.result, output)
    if answer.narration:
        print(answer.narration, file=sys.stderr)
    return answer.code


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
        timeout: seconds of wall time; the processor time is bounded by that and a margin.

    Raises:
        Stop: the child ran out of time or memory, or was interrupted.
        Exception: what the function raised.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stop(f"ended by {signal.Signals(number).name}", 128 + number)

    with closing(Narrator()) as narrator:
        for end in _ENDS:  # which unwind, so that the child does not outlive this process
            signal.signal(end, stop)
        try:
            answer: Result = _run(function, timeout, narrator)
            return answer
        except KeyboardInterrupt:
            raise Stop(f"interrupted in stage: {narrator.stage}", INTERRUPTED) from None


def _run(function: Callable[[Enter], object], timeout: float, narrator: Narrator) -> Any:
    forks = "fork" in multiprocessing.get_all_start_methods()
    get = multiprocessing.get_context
    context = get("fork") if forks else get("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(function, sender, timeout), daemon=True)
    try:
        with _signals_held():
            child.start()
        sender.close()
        return _await(receiver, timeout, narrator)
    finally:
        child.kill()
        child.join()
        receiver.close()


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let signals wait: Python drops what a handler raises while a process forks."""
    if mask := getattr(signal, "pthread_sigmask", None):
        mask(signal.SIG_BLOCK, [signal.SIGINT, *_ENDS])
    try:
        yield
    finally:
        _let_signals_in()


def _let_signals_in() -> None:
    if mask := getattr(signal, "pthread_sigmask", None):
        mask(signal.SIG_UNBLOCK, [signal.SIGINT, *_ENDS])


def _await(receiver: Connection, timeout: float, narrator: Narrator) -> Any:
    """Return what the child answers, or last kept where it ends late; raise what it raised."""
    kept = None
    while narrator.elapsed < timeout:
        narrator(narrator.stage)
        if not receiver.poll(max(0, min(0.1, timeout - narrator.elapsed))):
            continue
        try:
            kind, content = receiver.recv()
        except EOFError:
            if kept is not None:
                return kept
            stage = f"out of memory or processor time in stage: {narrator.stage}"
            raise Stop(f"{stage}; the input is too large", UNDECIDED) from None
        if kind == "result":
            return content
        if kind == "error":
            raise content
        if kind == "kept":
            kept = content
        else:
            narrator.stage = content
    if kept is not None:
        return kept
    late = f"out of time after {timeout:g} s in stage: {narrator.stage}"
    raise Stop(f"{late}; raise --timeout, or give fewer weights or lower degrees", UNDECIDED)


def _child(function: Callable[[Enter], object], sender: Connection, seconds: float) -> None:
    # The parent answers for Ctrl-C: it kills this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for end in _ENDS:
        signal.signal(end, signal.SIG_DFL)
    _let_signals_in()
    _limit_resources(seconds)
    try:
        answer = "result", function(Enter(sender.send, seconds))
    except MemoryError:
        return
    except Exception as error:
        answer = "error", error
    sender.send(answer)


def _limit_resources(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        # The default action of an alarm ends the process inside any C call, parent or no parent.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds + 1)
    try:
        import resource
    except ImportError:  # not on Windows, where the wall limit alone holds
        return
    bounds = ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, int(2 * seconds) + 10))
    for kind, bound in bounds:
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            bound = min(bound, hard)
        try:
            resource.setrlimit(kind, (bound, hard))
        except (ValueError, OSError):
            continue
