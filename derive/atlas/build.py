"""Build an atlas: candidates one after the other, decided in any number of processes, and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from derive.atlas.canonical import written
from derive.atlas.decide import Limits, decided
from derive.atlas.entry import Entry, identifier
from derive.atlas.grammar import Candidate, candidates
from derive.atlas.search import classes
from derive.atlas.store import VERSION, Writer

Work: TypeAlias = Callable[[Candidate], list[Entry]]
Mapped: TypeAlias = Callable[[Work, Iterable[Candidate]], Iterable[list[Entry]]]
"""What calls a function on each of many, in order, as ``map`` does."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an atlas is built from: it alone decides the entries, but for what is out of time.

    Attributes:
        size: the largest size of F.
        seed: of the order in which F of one size are drawn.
        entries: at which number of entries no further F is begun.
        limits: of each entry.
    """

    size: int
    seed: int
    entries: int
    limits: Limits

    @property
    def built(self) -> dict[str, str]:
        """What all entries of a file have in common; the rest says how far it goes."""
        return {
            "version": str(VERSION),
            "seed": str(self.seed),
            "timeout": f"{self.limits.timeout:g}",
            "certificates": str(int(self.limits.certificates)),
        }


def build(path: Path, plan: Plan, mapped: Mapped, progress: Callable[[str], None]) -> int:
    """Write an atlas, or go on with one; return how many entries it has.

    Args:
        path: the file.
        plan: what it is built from.
        mapped: calls the work on candidates, as ``map`` does, in order.
        progress: called with how far it is.

    Raises:
        InputError: the file cannot be gone on with.
    """
    writer = Writer(path, plan.built)
    done = frozenset(writer.ids)

    def left() -> Iterator[Candidate]:
        for candidate in candidates(plan.size, plan.seed) if len(done) < plan.entries else ():
            if len(writer.ids) >= plan.entries:
                return
            if identifier(written(candidate.form)) not in done:
                yield candidate

    try:
        for entries in mapped(partial(decided, limits=plan.limits), left()):
            # What other processes have begun by then is not kept: their number decides nothing.
            if len(writer.ids) < plan.entries:
                writer.add(entries)
                progress(f"{len(writer.ids)}/{plan.entries} entries, {entries[0].outputs}")
        if writer.ids != done:
            writer.classify(classes(writer.entries(), progress))
        return len(writer.ids)
    finally:
        writer.close()
