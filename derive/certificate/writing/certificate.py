"""Write the certificate of a record, which :mod:`derive.certificate.checking` accepts by itself.

Every proof is tried by the checker before it is written. What it does not accept is left without a
proof, and the checker says so: a certificate is never more than it shows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import combinations, islice, product
from math import lcm

from flint import fmpq

from derive.certificate.checking import check, sections
from derive.certificate.checking.check import FORMAT, VERSION, claimed
from derive.certificate.checking.domain import coordinate
from derive.certificate.checking.flow import Flow, determinant, independent
from derive.certificate.checking.function import Value
from derive.certificate.checking.reading import INFINITY
from derive.certificate.checking.text import (
    JSON,
    PROVED,
    UNDECIDED,
    Missing,
    NotACertificate,
    Rejected,
    names_in,
)
from derive.certificate.checking.theorem import Check, Checker, rate_texts
from derive.certificate.writing.definitions import Calls, Definitions, Names, timed
from derive.certificate.writing.form import form_proofs
from derive.certificate.writing.reached import intervals, length_along, lift, sums
from derive.clock import Clock, OutOfTime
from derive.derivation import Derivation
from derive.errors import DeriveError
from derive.exact.balls import Unbounded, values_of
from derive.model.names import PI
from derive.model.parameterization import Parameterization
from derive.potential.piece import Piece
from derive.potential.shortest import root_index
from derive.records import Block
from derive.verdict import Verdict
from derive.weights.witness import samples

SPARE, TRIES = 60, 3
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83)
PATH = 4
LATE = "no certificate was written: it took too long; the result does not depend on it"
MISSING = "no certificate was accepted; the result does not depend on it"
STEP = "a step of the proof has no form in certificates"
NO_AIDS: JSON = {"definitions": []}
SECTIONS = ("conserved", "hessian", "warping", "metric")


def certify(d: Derivation, record: JSON, seconds: float | None = None) -> JSON:
    """Return the record of a derivation with its certificate.

    Args:
        d: the derivation.
        record: what is said of it, as dictionaries, lists and texts.
        seconds: how long that may take.

    Returns:
        The record, with conditions that its proof needs among its assumptions, and "certificate":
        None where there is none, with the reason in "certificate_missing".
    """
    kind, starts = partial(timed, Clock.of(seconds)), _starts(d.parameterization)
    tries = (partial(_written, d, record, at, kind) for at in starts)
    return certified(record, tries, f"{MISSING}: no start in numbers was found")


def certified(record: JSON, tries: Iterable[Callable[[], JSON]], why: str, **head: JSON) -> JSON:
    """Return the first of some records that the checker accepts, with *head*, or why there is none.

    Args:
        record: what is said.
        tries: write it with a certificate, as long as the time lasts.
        why: there is nothing to be tried.
        head: what the checker asks for beside.
    """
    try:
        for write in tries:
            try:
                check.check((whole := write()) | head)
                return whole
            except (Rejected, NotACertificate) as fault:
                why = f"{MISSING}: {STEP} ({fault})"
            except DeriveError as fault:
                why = f"{MISSING}: {fault}"
    except OutOfTime:
        why = LATE
    return {**record, "certificate": None, "certificate_missing": why}


def _starts(p: Parameterization) -> Iterator[dict[str, str]]:
    """Yield starts in small numbers: primes, which satisfy no relation, and samples."""
    names = (*p.start_symbols, *p.parameters)
    pi = {PI: Fraction(355, 113)} if PI in names else {}
    for shift, upward in product(range(1, 4), (True, False)):
        order = names if upward else names[::-1]
        at = {n: Fraction(PRIMES[(k + shift) % len(PRIMES)]) for k, n in enumerate(order)}
        at |= pi
        try:
            values_of(p.start_field, at)
        except (ZeroDivisionError, Unbounded):
            continue
        yield {name: str(value) for name, value in at.items()}
    for sample in islice(samples(p), 2):
        known = {n: sample.of(sample.field.named(n)) for n in names}
        yield {n: str(x) for n, x in (known | pi).items()}


def _written(d: Derivation, record: JSON, at: Mapping[str, str], kind: Names) -> JSON:
    return _Writer(d, record, at, kind).written()


class _Writer:
    """Writes the proofs of the sections, each accepted by the checker first."""

    def __init__(self, d: Derivation, record: JSON, at: Mapping[str, str], kind: Names) -> None:
        proofs: JSON = {**dict.fromkeys(SECTIONS), "dual": [], "pieces": []}
        head = {"format": FORMAT, "version": VERSION, "at": dict(at), "definitions": []}
        self.d, self.record = d, {**record, "certificate": {**head, **proofs}}
        self.proofs = self.record["certificate"]
        index = lcm(*map(root_index, d.potential.pieces))
        self.calls = Calls(self.record, d.parameterization, kind, index)
        self.proofs["definitions"] = self.calls.entries
        self.state = Checker(self.record, SPARE, kind)
        self.state.outputs()
        if laws := [*filter(self._has_sign, sums(d.blocks))]:
            self.proofs["sums"] = laws

    def _has_sign(self, law: str) -> bool:
        """Tell whether a law is shown to be other than 0 at the start."""
        space = self.state.space
        with contextlib.suppress(Rejected):
            return bool(self.state.stated().sign_of(space.near_start(space.read(law))))
        return False

    def written(self) -> JSON:
        """Return the record with a proof of each section for which one is found."""
        d, state, record, proofs = self.d, self.state, self.record, self.proofs
        conserved = record["conserved"]
        proofs["conserved"] = self.first(sections.laws, conserved, self._plain(self._laws()))
        for name, kind in (("hessian", "hessian"), ("warping", "warp")):
            verdict = record[name]["verdict"]
            implied = name == "warping" and verdict == record["hessian"]["verdict"] == PROVED
            if verdict != UNDECIDED and not implied:
                proved = verdict == PROVED
                tries = self._plain([{}] if proved else failures(state, f"no {kind}"))
                proofs[name] = self.first(sections.decide(name, verdict), record[name], tries)
        forms = form_proofs(d.metric, record["metric"], d.blocks, state, self.calls)
        proofs["metric"] = self.first(sections.metric, record["metric"], forms)
        if d.warping.verdict is Verdict.PROVED:
            state.flow = state.flow.for_claim(claimed(record))
            self.pieces()
        return record

    def pieces(self) -> None:
        """Add the proofs of dual coordinates and of pieces."""
        d, proofs, pieces = self.d, self.proofs, iter(self.record["potential"]["pieces"])
        duals = self.record["warping"]["dual_coordinates"]
        for block, said in zip(d.blocks, duals, strict=True):
            outputs = [i + 1 for i in block.outputs]
            tries = [NO_AIDS] * any(f is not None for f in said.values())
            proofs["dual"].append(self.first(sections.dual, [outputs, said], self._plain(tries)))
            shown = block.potential.piece
            if shown is not None and d.potential.pieces:
                said = next(pieces)
                proofs["pieces"].append(self._piece(said, shown, block))

    def _piece(self, said: JSON, shown: Piece, block: Block) -> JSON:
        """Return the proof of a piece, to which the conditions are added that it needs."""
        assumed = said["assumptions"]
        try:
            ends = [*self._ends(said, shown, block), {"domain": None}]
            forms = form_proofs(shown, said, [block], self.state, self.calls)
            for (found, proof), end in ((form, end) for form in forms for end in ends):
                part = {**proof, **end}
                part["definitions"] = [*proof["definitions"], *end.get("definitions", ())]
                said["assumptions"] = [*assumed]
                with contextlib.suppress(Rejected):
                    for _ in range(TRIES):
                        try:
                            return self._proof(sections.piece, said, part, found)
                        except Missing as needed:
                            said["assumptions"] += needed.conditions
        except (Rejected, OutOfTime):  # a name may be of nothing here
            pass
        said["assumptions"] = assumed
        return None

    def _ends(self, said: JSON, shown: Piece, block: Block) -> Iterator[JSON]:
        """Yield how paths in beta are lifted; then those in which t is followed."""
        where, curve = said["domain"], said["curve"]
        ended = curve is not None and curve["interval"] is not None
        if where["undecided"] and not (where["walls"] or where["unless_zero"] or ended):
            yield {"domain": []}  # of which nothing is said
        elif curve is None or ended:
            yield from self._paths(said, shown, block)

    def _paths(self, said: JSON, shown: Piece, block: Block) -> Iterator[JSON]:
        betas, walls = said["beta"], [wall["form"] for wall in said["domain"]["walls"]]
        moving = {*block.parameterization.weights} & {*names_in(rate_texts(self.state.given))}
        turned = not all(h.is_zero() for h in self.state.flow.H)
        relations = lift(block, betas, turned, bool(moving))
        if moving and (curve := shown.curve) is not None and curve.weights:
            relations["square"] = length_along(curve)
        if said["curve"] is None:
            roots = (root for root in said["roots"] if root["explicit"] is not None)
            formulas = [{"name": root["symbol"], "is": root["explicit"]} for root in roots]
            yield {"domain": formulas, **relations}
        t = coordinate(self.record, said, {"interval": [f"-{INFINITY}", INFINITY]})
        if t is not None:
            fixed = {*self.state.space.fixed, *said["constants"]}
            for low, high in intervals(t, betas[0], walls, fixed):
                between = {"interval": [low, high]} if said["curve"] is None else {}
                yield {"domain": [], **between, **relations}

    def _plain(self, tries: Iterable[JSON]) -> Iterator[tuple[Definitions, JSON]]:
        """Yield proofs whose calls are defined by themselves."""
        for proof in tries:
            yield Definitions(self.state.space, self.calls.taken), proof

    def _proof(self, accept: Check, said: JSON, proof: JSON, found: Definitions) -> JSON:
        """Return a proof with definitions of all that the checker meets, which it then accepts."""
        with found:
            self.state.prove("", accept, said, proof)
        whole = proof | ({"definitions": found.entries} if "definitions" in proof else {})
        whole |= {"domain": found.beside} if proof.get("domain") is not None else {}
        self.state.prove("", accept, said, whole)
        return whole

    def first(self, accept: Check, said: JSON, tries: Iterable[tuple[Definitions, JSON]]) -> JSON:
        """Return the first proof that the checker accepts, or None."""
        try:
            for found, proof in tries:
                with contextlib.suppress(Rejected):
                    return self._proof(accept, said, proof, found)
        except (Rejected, OutOfTime):  # the section is left without a proof
            pass
        return None

    def _laws(self) -> Iterator[JSON]:
        said, state = self.record["conserved"], self.state
        for point in points(state):
            values = state.values_at(point)
            brackets = spanning(state, state.flow, values)
            if len(brackets) >= (dimension := len(state.free) - said["bound"]):
                brackets = brackets[:dimension]
                yield {**NO_AIDS, "point": point, "brackets": brackets}


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
            state.values_at(texts)
            yield texts


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
    moving = independent([[xk.at(state.space.start) for xk in x] for x in flow.X])
    regular: list[int] | None = [] if moving else None
    for path, of in _conditions(flow):
        left, right, _ = flow.sides(path, of)
        along = None if left.same(right) else flow.alive((left - right).top)
        if along is not None and regular is None:
            regular = flow.alive(determinant(flow.K).top)
        if along is not None and regular is not None:
            yield {"identity": [path, of], "along": along, "regular": regular}


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
