"""Build an atlas: candidates one after the other, decided in any number of processes, and kept.

An entry is decided where F is derived from a start, and what was derived is told in its columns.
"""

from __future__ import annotations

import lzma
import signal
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TypeAlias

import numpy as np
from sympy import Expr

from derive.atlas.canonical import LETTERS, Form, canonical, law_form, written
from derive.atlas.grammar import Candidate, candidates
from derive.atlas.leaf import Leaf, Numbers
from derive.atlas.search import classes
from derive.atlas.store import FAULT, SAMPLED, VERSION, Entry, Writer, identifier
from derive.catalogue.listing import formulas
from derive.clock import OutOfTime
from derive.derivation import Derivation, derive
from derive.errors import DegenerateStart, InputError
from derive.render.text import plain
from derive.separable.find import margins
from derive.separable.horizon import domains, lives_everywhere
from derive.verdict import Verdict

REACH = 0.15
"""How far the weights move, at first, from one sample to the next."""
BUSY = 4
"""Seconds on the clock for one of the processor, on a machine that others use."""
MISSED = 1e-7
"""By how much of the way a sample may lie beside the line."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds of the processor that an entry may take, and whether its certificate is kept."""

    timeout: float
    certificates: bool = False


def decided(candidate: Candidate, limits: Limits) -> list[Entry]:
    """Return the entry of F from any start, and those of special starts that change the answer."""
    first, *others = (decide(candidate, start, limits) for start in starts(candidate.form))
    changed = (x for x in others if x.verdict and x.answer != first.answer)
    return [*map(sampled, (first, *changed))]


def starts(form: Form) -> Iterator[tuple[str, ...]]:
    """Yield where the weights start: anywhere; all at one alpha; one of them at 0.

    Zeros are of weights of which F is a polynomial; of those that a symmetry of F carries into one
    another the first is taken.
    """
    factors = {f for row in form for m, _ in row for f in m}
    p = 1 + max(w for _, weights, _ in factors for w in weights)
    yield ("",) * p
    if p > 1:
        yield ("alpha",) * p
        others = {w for name, v, n in factors if name != "weight" or n < 0 for w in v}
        marked = dict[Form, tuple[str, ...]]()
        for w in sorted({*range(p)} - others):
            marks = tuple("0" * (v == w) for v in range(p))
            marked.setdefault(canonical([dict(row) for row in form], marks), marks)
        yield from marked.values()


def decide(candidate: Candidate, start: Sequence[str], limits: Limits) -> Entry:
    """Derive F from one start; where it cannot start there, the entry has no verdict."""
    outputs, p = written(candidate.form), len(start)
    given = ",".join(f"{w}={x}" for w, x in zip(LETTERS, start, strict=False) if x)
    own = identifier(outputs, given)
    entry = Entry(own, 0, candidate.size, ", ".join(outputs), given, p, len(outputs), "")
    began = time.process_time()
    try:
        with _alarm(limits.timeout):
            d = derive(entry.parameterization(), timeout=BUSY * limits.timeout)
            entry = _told(entry, d, limits)
            if d.verdict is Verdict.PROVED:
                entry = replace(entry, horizon=margins(d).norm or "")
    except (DegenerateStart, InputError) as refusal:
        entry = entry if given else replace(entry, verdict=FAULT, reason=str(refusal)[:300])
    except OutOfTime:  # a verdict that was found is not lost
        late = replace(entry, verdict=Verdict.UNDECIDED.value, reason="out of time")
        entry = entry if entry.verdict else late
    except Exception as fault:
        entry = replace(entry, verdict=FAULT, reason=f"{type(fault).__name__}: {fault}"[:300])
    return replace(entry, seconds=round(time.process_time() - began, 3))


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise OutOfTime after some seconds of the processor, where this thread can be told so.

    A stage of a derivation that it ends is named by it.
    """

    def ring(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    if not hasattr(signal, "setitimer") or threading.current_thread() != threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _told(entry: Entry, d: Derivation, limits: Limits) -> Entry:
    """Return the entry with what was derived."""
    laws, verdict = d.conserved.laws, d.verdict
    stopped = d.warping.verdict is verdict and verdict is not Verdict.PROVED
    entry = replace(
        entry,
        verdict=verdict.value,
        reason=(d.warping.finding if stopped else d.potential.finding).reason,
        laws=", ".join(map(typed, laws)),
        law_forms=", ".join(filter(None, map(law_form, laws))),
        closed=int(all(block.kernel is not None for block in d.blocks)),
    )
    if limits.certificates:
        record = d.to_json(limits.timeout).encode()
        entry = replace(entry, certificate=lzma.compress(record, preset=9))
    if verdict is not Verdict.PROVED:
        return entry
    left = {p.integrand.left for p in d.potential.pieces if p.integrand is not None}
    return replace(
        entry,
        reason="",
        g="1" if d.hessian.verdict is Verdict.PROVED else typed(d.warping.g),
        Q="\n".join(formulas(d)).replace("Abs(", "abs("),
        kind=d.potential.kind or "",
        left=", ".join(sorted(left)) if d.potential.kind == "quadrature" else "",
        domain="; ".join(domain.where for domain in domains(d)),
        everywhere=int(lives_everywhere(d).verdict is Verdict.PROVED),
    )


def typed(expression: Expr | None) -> str:
    """Return an expression as one types it."""
    return "" if expression is None else plain(expression).replace("Abs(", "abs(")


def sampled(entry: Entry) -> Entry:
    """Return the entry with Hess Q = g K^-1 at points of leaves, from F and the warp alone."""
    if not entry.g:
        return entry
    d, leaf = entry.dimension, Leaf.of(entry.outputs.split(", "), entry.g)
    starts = map(entry.numbers, range(SAMPLED))
    w_0 = np.array([[float(at.get(s, 0)) for s in entry.symbols] for at in starts])
    rng, upper = np.random.default_rng(0), np.triu_indices(d)
    ways = np.array([[1.0], [-1.0]]) if d == 1 else rng.normal(size=(2 * d, d))
    k, w = np.repeat(np.arange(SAMPLED), len(ways)), np.repeat(w_0, len(ways), 0)
    v, rows = np.tile(ways, (SAMPLED, 1)), [np.empty((0, 1 + d + len(upper[0])))]
    with np.errstate(all="ignore"):
        v *= REACH / np.linalg.norm(leaf.lifted(w, v), axis=1)[:, None]
        g_0: Numbers = leaf.g(*w.T)
        for _ in range(5 if d == 1 else 3):
            aim = leaf.beta(*w.T)[..., 0] + v
            w = leaf.along(w, v)
            # Where K is singular on the way, beta is not where it was to go.
            missed = np.linalg.norm(leaf.beta(*w.T)[..., 0] - aim, axis=1)
            good = leaf.regular(w) & (missed < MISSED * np.linalg.norm(v, axis=1))
            good &= np.isfinite(1 / g_0[:, 0, 0])
            k, w, v, g_0 = k[good], w[good], v[good], g_0[good]
            H = leaf.hessian(w) / g_0
            rows.append(np.column_stack([k, leaf.beta(*w.T)[..., 0], H[:, upper[0], upper[1]]]))
    whole = np.concatenate(rows)
    raw = whole[np.argsort(whole[:, 0], kind="stable")].astype("<f8").tobytes()
    return replace(entry, samples=zlib.compress(raw, 9) if raw else None)


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
