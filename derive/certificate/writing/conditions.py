"""Write down at what points laws are all of them, and identities that fail on the leaf."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from itertools import combinations, product

from flint import fmpq, fmpz_mpoly

from derive.certificate.checking.flow import Flow, determinant, independent
from derive.certificate.checking.function import Value, not_zero
from derive.certificate.checking.text import JSON, Rejected, rational
from derive.certificate.checking.theorem import Checker

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83)
PATH, DEPTH, ORDER, TERMS = 4, 3, 13, 3000


def points(state: Checker) -> Iterator[dict[str, str]]:
    """Yield a few points with weights in general position, where the ties hold and F is real."""
    space, candidates = state.space, list[dict[str, Value]]()
    ties = [(space.read(t["zero"]), t["main"]) for t in state.ties]
    for shift in range(4):
        point: dict[str, Value] = {
            n: fmpq(PRIMES[(k + shift) % len(PRIMES)] + 90 * (k // len(PRIMES)))
            for k, n in enumerate(space.given)
        }
        for f, main in ties:
            at = [f.at(list({**point, main: fmpq(x)}.values())) for x in (0, 1)]
            point[main] = at[0] / (at[0] - at[1])
        candidates.append(point)
    start = dict(zip(space.given, space.start, strict=False))
    candidates += [start] * all(isinstance(value, fmpq) for value in start.values())
    for candidate in candidates:
        texts = {name: str(value) for name, value in candidate.items()}
        with contextlib.suppress(Rejected):
            values_at(state, texts)
            yield texts


def values_at(state: Checker, point: Mapping[str, str]) -> list[JSON]:
    """Return the values of all names at a point."""
    return state.space.values([rational(v) for v in point.values()])


def spanning(state: Checker, flow: Flow, point: list[JSON]) -> list[list[int]]:
    """Return paths whose fields span what brackets reach at a point, the X_a first."""
    labels, rows, paths = range(1, flow.d + 1), list[list[Value]](), list[list[int]]()
    pending = [[a] for a in labels] + [list(pair) for pair in combinations(labels, 2)]
    while pending and len(paths) < len(state.free):
        path = pending.pop(0)
        v, _ = flow.field(path)
        row = [v[k].at(point) for k in state.free]
        if len(path) == 1 or (not all(x.is_zero() for x in v) and independent([*rows, row])):
            rows.append(row)
            paths.append(path)
            pending += [[*path, m] for m in labels] if len(path) > 1 else []
    return paths


def failures(state: Checker, kind: str) -> Iterator[JSON]:
    """Yield claims that a condition fails, the simplest conditions first."""
    flow = state.flow.for_claim(kind)
    values = state.space.start
    for path, of in _conditions(flow):
        left, right, _ = flow.sides(path, of)
        polynomial = (left - right).top
        if state.space.reduce(polynomial).is_zero():
            continue
        for along in _along(state, polynomial):
            f = state.flow.derivative(polynomial, along)
            if not not_zero(f.at(values)):
                continue
            regular = _regular(state, flow, values)
            if regular is not None:
                yield {"identity": [path, of], "along": along, "regular": regular}


def _along(state: Checker, polynomial: fmpz_mpoly) -> Iterator[list[int]]:
    for n in range(DEPTH + 1):
        for path in product(range(1, state.flow.d + 1), repeat=n):
            if n and len(state.flow.derivative(polynomial, path[:-1]).top) > TERMS:
                return
            yield list(path)


def _conditions(flow: Flow) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the conditions that every warp needs, those with the shortest paths first."""
    if flow.turning is not None:
        yield [], []
        return
    outputs = range(1, flow.d + 1)
    pairs = list(combinations(outputs, 2))
    if flow.d > 2 or not flow.warped:  # else H solves them
        yield from (([*pair], [c]) for pair, c in product(pairs, outputs))
    entries = [[a, a] for a in outputs] + [list(pair) for pair in pairs]
    for length in range(PATH):
        for start, rest in product(pairs, product(outputs, repeat=length)):
            path = [*start, *rest]
            idle = all(x.is_zero() for x in flow.field(path)[0])
            if not (idle and length):
                yield from ((path, entry) for entry in entries[: 1 if idle else None])


def _regular(state: Checker, flow: Flow, values: list[JSON]) -> list[int] | None:
    """Return fields along which det K has a derivative other than 0 at the start, or None."""
    if independent([[xk.at(values) for xk in x] for x in flow.X]):
        return []
    whole = determinant(flow.K).top
    labels = range(1, flow.d + 1)
    paths = [list(path) for n in range(PATH) for path in product(labels, repeat=n)]
    for path in [*paths, *([a] * n for n in range(PATH, ORDER) for a in labels)]:
        f = state.flow.derivative(whole, path)
        if len(f.top) > TERMS:
            return None
        if not_zero(f.at(values)):
            return path
    return None
