"""Turn a derivation into a certificate, which :mod:`derive.certificate.checking` accepts by itself.

Every claim is tried by the checker before it is written. What it does not accept is written as
"not certified", so that a certificate is never more than it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

from derive.certificate.checking import check as checker
from derive.certificate.checking.claims import Checker
from derive.certificate.checking.flow import independent
from derive.certificate.checking.text import JSON, Rejected
from derive.certificate.writing import conditions
from derive.certificate.writing.definitions import Calls
from derive.certificate.writing.form import form_claims
from derive.certificate.writing.products import with_logs
from derive.certificate.writing.timed import TimedSpace
from derive.clock import Clock
from derive.derivation import Derivation
from derive.errors import DeriveError
from derive.exact.balls import Unbounded, values_of
from derive.language import Tree, to_text
from derive.model.parameterization import Parameterization
from derive.records import Block
from derive.render.plain import plain
from derive.verdict import Verdict
from derive.weights.witness import samples

SPARE = 60


def certify(d: Derivation, seconds: float | None = None) -> dict[str, Any]:
    """Return the certificate of a derivation, as plain dictionaries, lists and strings.

    Its verdict is what its claims imply: that of the derivation, or UNDECIDED together with a
    claim "not certified".

    Raises:
        OutOfTime: that takes longer than some *seconds*.
    """
    p = d.parameterization
    record: dict[str, Any] = {
        "format": checker.FORMAT,
        "version": checker.VERSION,
        "flow": p.geometry.statement,
        "outputs": [to_text(tree) for tree in _outputs(p)],
        "weights": list(p.weights),
        "parameters": list(p.parameters),
        "definitions": [],
        "start": {w: to_text(tree) for w, tree in p.start},
        "at": _start(p),
        "ties": [
            *({"zero": w, "main": w} for w in d.idle),
            *({"zero": f"{w} - ({to_text(tree)})", "main": w} for w, tree in d.ties),
        ],
        "verdict": Verdict.UNDECIDED.value,
        "claims": [],
    }
    for v in p.vectors:
        record["vector"] = {"name": v.name, "norm": v.norm}
    try:
        kind = partial(TimedSpace, Clock.of(seconds))
        calls = Calls(record, p, kind)
        state = Checker(record, SPARE, kind)
        writer = _Writer(d, state, calls)
        record["claims"] = list(writer.claims())
        record["verdict"] = state.verdict()
    except (Rejected, DeriveError) as why:
        record |= {"definitions": [], "ties": [], "claims": [], "verdict": "UNDECIDED"}
        record["claims"].append(_open(f"the verdict {d.verdict.value} ({why})", ()))
        return record
    if record["verdict"] != d.verdict.value:
        record["claims"].append(_open(f"the verdict {d.verdict.value}", ()))
    return record


def _outputs(p: Parameterization) -> tuple[Tree, ...]:
    """Return F; of a vector u of open dimension its coefficient."""
    return tuple(v.coefficient for v in p.vectors) or p.trees


def _start(p: Parameterization) -> dict[str, str]:
    """Return a start in small numbers: primes, which satisfy no relation, or a sample."""
    names, primes = (*p.start_symbols, *p.parameters), conditions.PRIMES
    for shift in range(1, 4):
        at = {n: Fraction(primes[(k + shift) % len(primes)]) for k, n in enumerate(names)}
        try:
            values_of(p.start_field, at)
        except (ZeroDivisionError, Unbounded):
            continue
        return {name: str(value) for name, value in at.items()}
    sample = next(iter(samples(p)), None)
    return {} if sample is None else {n: str(sample.of(sample.field.named(n))) for n in names}


def _open(what: str, outputs: Iterable[int]) -> JSON:
    return {"claim": "not certified", "outputs": list(outputs), "what": what}


class _Writer:
    """Writes the claims, each accepted by the checker first."""

    def __init__(self, d: Derivation, state: Checker, calls: Calls) -> None:
        self.d, self.state, self.calls = d, state, calls

    def claims(self) -> Iterator[JSON]:
        """Yield the claims in the order in which they build on one another."""
        d, state = self.d, self.state
        yield from self._accepted("the conserved quantities", self._laws())
        if d.hessian.verdict is Verdict.PROVED:
            yield from self._accepted("the Hessian map", conditions.existence(state, "hessian"))
        elif d.hessian.verdict is Verdict.REFUTED:
            yield from self._accepted("no Hessian map", conditions.failures(state, "no hessian"))
        if d.hessian.verdict is not Verdict.PROVED and d.warping.verdict is Verdict.PROVED:
            yield from self._accepted("the warp", conditions.existence(state, "warp"))
        if d.warping.verdict is Verdict.REFUTED:
            yield from self._accepted("no warp", conditions.failures(state, "no warp"))
        yield from self._surface()
        if d.verdict is Verdict.UNDECIDED and d.warping.g is not None:
            yield from self._accepted("the dual coordinates", iter(()))
        for block in d.blocks:
            if d.verdict is not Verdict.PROVED:
                break
            outputs = [i + 1 for i in block.outputs]
            if self._prints_warp(block):
                claims = self._dual(block, outputs)
                yield from self._accepted("the dual coordinates", claims)
            for what, forms in form_claims(block, state, self.scaled(block), self.calls):
                yield from self._accepted(what, forms, outputs)

    def _accepted(
        self, what: str, candidates: Iterator[JSON], outputs: Iterable[int] = ()
    ) -> Iterator[JSON]:
        """Yield the first candidate that the checker accepts, or that none is."""
        try:
            for claim in candidates:
                try:
                    self.state.accept(claim)
                except Rejected:
                    continue
                yield claim
                return
        except Rejected:
            pass
        claim = _open(what, outputs)
        self.state.accept(claim)
        yield claim

    def scaled(self, block: Block) -> str:
        """Return g of a block, in the unit of time of all weights where some are tied."""
        dual, turning, d = block.potential.dual, block.potential.turning, self.d
        if turning is not None:
            return "1" if turning.g is None else plain(turning.g)
        g = "1" if dual is None else repr(dual.g)
        if len(d.blocks) == 1 and dual is not None and d.warping.g is not None:
            g = plain(d.warping.g)
        return g if d.kernel_factor is None else f"({g})/({to_text(d.kernel_factor)})"

    def _prints_warp(self, block: Block) -> bool:
        """Tell whether y, or a warp alone, is printed of a block."""
        potential, d = block.potential, self.d
        known = potential.dual is not None or potential.turning is not None
        return known or (d.hessian.verdict is Verdict.REFUTED and d.warping.g is not None)

    def _surface(self) -> Iterator[JSON]:
        """Yield what is left open of outputs that move together, and where the warp starts at 0."""
        if self.d.potential.other_side is not None:
            yield from self._accepted("Q where the warp ends negative", iter(()))
        if any(block.dependence is not None for block in self.d.blocks):
            yield from self._accepted("the relations among the outputs", iter(()))
        if self.d.parameterization.affine:
            yield from self._accepted("the outputs that are affine functions of others", iter(()))

    def _laws(self) -> Iterator[JSON]:
        laws = [plain(law) for law in self.d.conserved.laws]
        values = [None if v is None else plain(v) for v in self.d.conserved.values]
        used = [*laws, *(v for v in values if v is not None)]
        base: JSON = {"claim": "laws", "laws": laws, "values": values}
        base["definitions"] = self.calls.missing(used, self.state.space)
        size = len(self.state.free) - len(laws)
        for point in conditions.points(self.state):
            brackets = self._brackets(point, size)
            yield {**base, "point": point, "brackets": brackets}
        for point in conditions.points(self.state):
            yield {**base, "point": point, "brackets": None}

    def _brackets(self, point: Mapping[str, str], size: int) -> list[Any] | None:
        """Return as many independent brackets, or None."""
        values = conditions.values_at(self.state, point)
        labels = conditions.labels_of(self.state)
        pending: list[Any] = [*labels, *(list(x) for x in combinations(labels, 2))]
        chosen: list[Any] = []
        rows: list[list[Any]] = []
        while pending and len(chosen) < size:
            tree = pending.pop(0)
            try:
                field = self.state.flow.nested(tree)
                row = [field[k].at(values) for k in self.state.free]
            except Rejected:
                return None
            if independent([*rows, row]):
                chosen.append(tree)
                rows.append(row)
                if isinstance(tree, list):
                    pending += [[a, tree] for a in labels]
        return chosen if len(chosen) == size else None

    def _dual(self, block: Block, outputs: list[int]) -> Iterator[JSON]:
        dual, turning, R = block.potential.dual, block.potential.turning, None
        if dual is not None:
            R = None if dual.R is None else with_logs(dual.R)
            y = [with_logs(yi) for yi in dual.y]
        elif turning is not None and turning.g is not None:
            y = [f"({self.scaled(block)})*{turning.direction.norm}/({turning.direction.phi!r})"]
        else:
            return
        used = [t for t in (self.scaled(block), *y, R) if t is not None]
        yield {
            "claim": "dual",
            "outputs": outputs,
            "definitions": self.calls.missing(used, self.state.space),
            "g": self.scaled(block),
            "y": y,
            "R": R,
            "equal": [],
        }
