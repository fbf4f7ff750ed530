"""Draw statements of all records and try to refute each: python -m tests.witnesses --help."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import random
import sys
import time
from collections import Counter

import tests.witnesses
from derive.statement import Open
from tests.witnesses import WITNESSES, Refuted
from tests.witnesses.drawn import DRAWN


def load() -> None:
    """Import all witnesses, and what draws records for them."""
    for module in pkgutil.iter_modules(tests.witnesses.__path__):
        if not module.name.startswith(("test_", "__")):
            importlib.import_module(f"tests.witnesses.{module.name}")


def main(count: int, seed: int, only: str, minutes: float) -> int:
    """Print a table by kind, what was refuted and what failed; return how many of these."""
    load()
    kinds, tried, trials, open_ = (Counter[str]() for _ in range(4))
    refuted, faults, began = list[str](), list[str](), time.monotonic()
    rooms = [room for room in DRAWN if only in ("", room)]
    for k, room in enumerate(rooms):
        rng, found = random.Random(1000 * seed + k), 0
        for record in DRAWN[room](rng):
            for s in record.statements:
                if isinstance(s, Open):
                    open_[s.kind] += 1
                    continue
                try:
                    n = WITNESSES[s.kind](record, s, rng)
                except Refuted as error:
                    refuted.append(f"{s.kind}: {record!r}: {error}")
                    n = 1
                except Exception as error:  # of a witness, which shows nothing then
                    faults.append(f"fault of the witness of {s.kind}: {record!r}: {error!r}")
                    n = 0
                kinds[s.kind] += 1
                tried[s.kind] += n > 0
                trials[s.kind] += n
                found += 1
            spent = (time.monotonic() - began) / 60 * len(rooms)
            if found * len(rooms) >= count or spent > minutes * (k + 1):
                break
    print(f"{'kind':24} {'drawn':>7} {'reached':>8} {'trials':>7} {'open':>6}")
    for kind in sorted({*kinds, *open_}):
        row = (kinds[kind], tried[kind], trials[kind], open_[kind])
        print(f"{kind:24} {row[0]:7} {row[1]:8} {row[2]:7} {row[3]:6}")
    print(
        f"{sum(kinds.values())} statements, {sum(tried.values())} reached, {len(refuted)} refuted"
    )
    print(*refuted, *faults, sep="\n")
    return len(refuted) + len(faults)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many statements to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60, help="at most, shared out by rooms")
    parser.add_argument("--only", default="", help="a room, such as derivation")
    given = parser.parse_args()
    sys.exit(min(main(given.count, given.seed, given.only, given.minutes), 1))
