"""Draw statements of all records and try to refute each: python -m tests.witnesses --help.

Each record is drawn from a seed of its own and tried in a process of its own, with limits of time
and memory; what a process has told before it is ended counts.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import sys
import time
from collections import Counter
from dataclasses import dataclass

from derive.statement import Open
from tests.witnesses import WITNESSES, Refuted, load
from tests.witnesses.drawn import DRAWN

MEMORY = 6 << 30
"""Bytes of addresses, the imported libraries among them, that a record may take."""
SECONDS = 120
"""How long a record may take to be drawn and tried."""


@dataclass(frozen=True)
class Trial:
    """What became of a statement: how many trials it withstood, and what was found against it.

    Attributes:
        kind: of the statement.
        trials: 0 where the witness cannot reach it, None for what is left open.
        fault: why it is false, or why its witness failed.
    """

    kind: str
    trials: int | None
    fault: str = ""


def tried(record, rng):
    """Put each statement of a record to its witness."""
    for s in record.statements:
        if isinstance(s, Open):
            yield Trial(s.kind, None)
            continue
        try:
            yield Trial(s.kind, WITNESSES[s.kind](record, s, rng))
        except Refuted as error:
            yield Trial(s.kind, 1, f"{s.kind} is refuted: {record!r}: {error}")
        except Exception as error:  # of a witness, which shows nothing then
            yield Trial(s.kind, 0, f"the witness of {s.kind} fails: {record!r}: {error!r}")


def send_trials(room, seed, to):
    """Draw a record of a room and send what became of its statements, then None."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    rng = random.Random(seed)
    for trial in tried(next(iter(DRAWN[room](rng))), rng):
        to.send(trial)
    to.send(None)


def in_a_process(room, seed):
    """Yield what became of the statements of a drawn record, and None at a limit."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=send_trials, args=(room, seed, sender))
    process.start()
    sender.close()
    end = time.monotonic() + SECONDS
    try:
        while receiver.poll(max(end - time.monotonic(), 0)):
            trial = receiver.recv()
            if trial is None:
                return
            yield trial
    except EOFError:
        pass
    finally:
        process.kill()
        process.join()
    yield None


def main(count, seed, only, minutes):
    """Print a table by kind, and what was found against statements; return how much that is."""
    load()
    kinds, reached, trials, open_ = (Counter() for _ in range(4))
    faults, late, began = [], [], time.monotonic()
    rooms = [room for room in DRAWN if only in ("", room)]
    for k, room in enumerate(rooms):
        drawn, enough, records = 0, count / len(rooms), 0
        while drawn < enough and time.monotonic() - began < 60 * minutes * (k + 1) / len(rooms):
            for t in in_a_process(room, f"{seed} {room} {records}"):
                if t is None:
                    late.append(f"{room} {records}")
                elif t.trials is None:
                    open_[t.kind] += 1
                else:
                    kinds[t.kind] += 1
                    reached[t.kind] += t.trials > 0
                    trials[t.kind] += t.trials
                    faults += [f"{room} {records}: {t.fault}"] if t.fault else []
                    drawn += 1
            records += 1
    print(f"{'kind':24} {'drawn':>7} {'reached':>8} {'trials':>7} {'open':>6}")
    for kind in sorted({*kinds, *open_}):
        row = (kinds[kind], reached[kind], trials[kind], open_[kind])
        print(f"{kind:24} {row[0]:7} {row[1]:8} {row[2]:7} {row[3]:6}")
    refuted = sum("is refuted" in fault for fault in faults)
    print(
        f"{kinds.total()} statements, {reached.total()} reached, {refuted} refuted; "
        f"{len(late)} records unfinished at a limit of time or memory: {', '.join(late) or 'none'}"
    )
    print(*faults, sep="\n")
    return len(faults)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many statements to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60, help="at most, shared out by rooms")
    parser.add_argument("--only", default="", help="a room, such as derivation")
    given = parser.parse_args()
    sys.exit(min(main(given.count, given.seed, given.only, given.minutes), 1))
