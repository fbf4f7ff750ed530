"""Run a function in a child process with limits on wall time, processor time and memory.

Exact algebra spends its time inside C calls that neither signals nor threads can stop; a process
can always be killed. The child reports the stage that it is in, so that whoever runs out of
patience learns where the time went.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, TypeAlias, TypeVar

GIBIBYTE = 2**30
Enter: TypeAlias = Callable[[str], None]
"""Called with the name of each stage as it begins."""
Result = TypeVar("Result")


class OutOfTime(Exception):
    """The wall limit passed; the text names the stage."""


class ChildDied(Exception):
    """The child ended without an answer, for instance at its memory limit."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run.

    Attributes:
        seconds: wall time; the processor time is bounded by the same number and a margin.
        memory: bytes of address space.
    """

    seconds: float
    memory: int = 4 * GIBIBYTE


def run_limited(
    function: Callable[[Enter], Result],
    limits: Limits,
    narrate: Callable[[str, float], None] | None = None,
) -> Result:
    """Return ``function(enter)`` computed in a child process.

    Args:
        function: what to run; it calls ``enter(stage)`` when a stage begins.
        limits: bounds of the run.
        narrate: called about ten times a second with the current stage and the seconds so far.

    Raises:
        OutOfTime: the wall limit passed.
        ChildDied: the child ended without an answer.
        Exception: what the function raised.
    """
    forks = "fork" in multiprocessing.get_all_start_methods()
    get = multiprocessing.get_context
    context = get("fork") if forks else get("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(function, sender, limits), daemon=True)
    child.start()
    sender.close()
    try:
        answer: Result = _await(receiver, limits, narrate)
        return answer
    finally:
        child.kill()
        child.join()
        receiver.close()


def _await(
    receiver: Connection, limits: Limits, narrate: Callable[[str, float], None] | None
) -> Any:
    begun = time.monotonic()
    stage = "starting"
    while True:
        elapsed = time.monotonic() - begun
        if elapsed >= limits.seconds:
            raise OutOfTime(stage)
        if narrate is not None:
            narrate(stage, elapsed)
        if not receiver.poll(min(0.1, limits.seconds - elapsed)):
            continue
        try:
            kind, content = receiver.recv()
        except EOFError:
            raise ChildDied(stage) from None
        if kind == "stage":
            stage = content
        elif kind == "error":
            raise content
        else:
            return content


def _child(function: Callable[[Enter], object], sender: Connection, limits: Limits) -> None:
    # The parent answers for Ctrl-C: it kills this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    _limit_resources(limits)
    try:
        answer = "result", function(lambda stage: sender.send(("stage", stage)))
    except MemoryError:
        return
    except Exception as error:
        answer = "error", error
    sender.send(answer)


def _limit_resources(limits: Limits) -> None:
    if hasattr(signal, "setitimer"):
        # The default action of an alarm ends the process inside any C call, parent or no parent.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limits.seconds + 1)
    try:
        import resource
    except ImportError:  # not on Windows, where the wall limit alone holds
        return
    for kind, bound in (
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_CPU, int(2 * limits.seconds) + 10),
    ):
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            bound = min(bound, hard)
        try:
            resource.setrlimit(kind, (bound, hard))
        except (ValueError, OSError):
            continue
