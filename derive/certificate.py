"""Turn a finished derivation into a certificate, which :mod:`derive.check` accepts by itself.

Every claim is tried by the checker before it is written. What it does not accept is written as
"not certified", so that a certificate is never more than it shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations, islice, product
from typing import Any

from derive import check as checker
from derive.certificate_form import form_claims
from derive.checking import claims as checked_claims
from derive.checking.flow import Flow, independent
from derive.checking.polynomials import Rejected
from derive.checking.record import State, number, open_certificate
from derive.derivation import Derivation
from derive.exact.families import LogFunction
from derive.language import to_text
from derive.records import Block
from derive.stages.parameterization import Parameterization
from derive.stages.witness import Sample, samples
from derive.verdict import Identity, Number, Verdict

Claim = dict[str, Any]
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83)
DEPTH, ORDER, STARTS, MAXIMAL_TERMS = 4, 13, 16, 3000


def certify(d: Derivation) -> dict[str, Any]:
    """Return the certificate of a derivation, as plain dictionaries, lists and strings.

    Its verdict is what its claims imply: that of the derivation, or UNDECIDED together with a
    claim "not certified".
    """
    p = d.parameterization
    record: dict[str, Any] = {
        "format": checker.FORMAT,
        "version": checker.VERSION,
        "outputs": [to_text(tree) for tree in p.trees],
        "weights": list(p.weights),
        "parameters": list(p.parameters),
        "generators": [],
        "point": None,
        "start": {w: to_text(tree) for w, tree in p.start},
        "verdict": Verdict.UNDECIDED.value,
        "claims": [{"claim": "idle", "weights": list(d.idle)}] if d.idle else [],
    }
    if d.ties:
        tied = ", ".join(w for w, _ in d.ties)
        record["claims"].append(_open(f"the verdict {d.verdict.value}, with {tied} left out"))
        return record
    functions = [g.name for g in p.field.generators if g.argument is not None]
    if functions:
        record["as typed"], record["outputs"] = record["outputs"], [repr(f) for f in p.F]
        record |= {"generators": functions, "point": _point(p)}
    try:
        state = open_certificate(record)
        for index, block in enumerate(d.blocks, 1):
            record["claims"] += _Writer(d, block, state, index).claims()
        record["verdict"] = checker.implied(state.blocks)
    except Rejected as why:
        record["claims"].append(_open(f"the verdict {d.verdict.value} ({why})"))
        return record
    if record["verdict"] != d.verdict.value:
        record["claims"].append(_open(f"the verdict {d.verdict.value}"))
        record["verdict"] = Verdict.UNDECIDED.value
    return record


def _point(p: Parameterization) -> dict[str, str] | None:
    """Return rational weights and parameters at which every function of F has a value."""
    for sample in reversed(list(islice(samples(p), 40))):
        found = dict(sample.point(p))
        if all(isinstance(value, Fraction) for value in found.values()):
            return {name: str(value) for name, value in found.items()}
    return None


def _open(what: str, index: int = 1, kind: str = "claim") -> Claim:
    return {"claim": "not certified", "block": index, "what": what, "instead of": kind}


class _Writer:
    """Writes the claims of one block, each accepted by the checker first."""

    def __init__(self, d: Derivation, block: Block, state: State, index: int) -> None:
        self.d, self.block, self.state, self.index = d, block, state, index
        self.checked = state.blocks[index - 1]
        self.flow: Flow = self.checked.flow

    def claims(self) -> list[Claim]:
        """Return the block's claims in the order in which they build on one another."""
        found = self._accepted("the conserved quantities", self._laws())
        hessian, warp = self.block.hessian, self.block.warping
        if hessian.verdict is Verdict.PROVED:
            found += self._accepted("the Hessian map", self._closures("hessian"))
        elif hessian.verdict is Verdict.REFUTED:
            evidence = hessian.finding.evidence[-1]
            found += self._accepted("no Hessian map", self._failures("no hessian", evidence))
        if hessian.verdict is not Verdict.PROVED and warp.verdict is Verdict.PROVED:
            found += self._accepted("the warp", self._closures("warp"))
        if warp.verdict is Verdict.REFUTED and len(self.d.blocks) == 1:
            evidence = warp.finding.evidence[-1]
            found += self._accepted("no warp", self._failures("no warp", evidence))
        if self.block.potential.dual is not None:
            found += self._accepted("the dual coordinates", self._dual())
        if self.d.potential.pieces:
            for what, forms in form_claims(self.block, self.index, self._starts()):
                found += self._accepted(what, forms)
        return found

    def _accepted(self, what: str, candidates: Iterator[Claim]) -> list[Claim]:
        """Return the first candidate that the checker accepts, or that none is."""
        for claim in candidates:
            try:
                checked_claims.CLAIMS[claim["claim"]](claim, self.checked, self.state)
            except Rejected:
                continue
            self.checked.established.add(claim["claim"])
            return [claim]
        kind = "form" if what.startswith("Q ") else "claim"
        self.checked.established.add(kind)
        return [_open(what, self.index, kind)]

    def _points(self) -> Iterator[dict[str, str]]:
        """Yield a few points with weights in general position."""
        names = self.state.space.variables
        for shift in range(4):
            yield {
                n: str(PRIMES[(k + shift) % len(PRIMES)] + 90 * (k // len(PRIMES)))
                for k, n in enumerate(names)
            }

    def _laws(self) -> Iterator[Claim]:
        laws = [repr(law) for law in self.block.conserved.laws]
        for point in self._points():
            claim = {"claim": "laws", "block": self.index, "laws": laws, "point": point}
            yield {**claim, "brackets": self._brackets(point, self.flow.p - len(laws))}
        for point in self._points():
            yield {**claim, "brackets": None, "point": point}

    def _brackets(self, point: Mapping[str, str], size: int) -> list[Any] | None:
        """Return as many independent brackets, or None."""
        values = self.state.space.values({n: number(v) for n, v in point.items()})
        labels = self.flow.labels
        pending: list[Any] = [*labels, *([a, b] for a, b in combinations(labels, 2))]
        chosen: list[Any] = []
        rows: list[list[Any]] = []
        while pending and len(chosen) < size:
            tree = pending.pop(0)
            try:
                row = [x.at(values) for x in self.flow.nested(tree)]
            except Rejected:
                return None
            if independent([*rows, row]):
                chosen.append(tree)
                rows.append(row)
                if isinstance(tree, list):
                    pending += [[a, tree] for a in labels]
        return chosen if len(chosen) == size else None

    def _closures(self, kind: str) -> Iterator[Claim]:
        if self.flow.d == 1:
            yield {"claim": kind, "block": self.index, "point": None}
            return
        for point in self._points():
            yield {"claim": kind, "block": self.index, "point": point}

    def _starts(self) -> list[dict[str, str]]:
        """Return a few starts in numbers, every symbol with a value."""
        p = self.block.lie.parameterization
        other = dict.fromkeys(self.state.start.variables, "1")
        found = []
        for sample in samples(p):
            found.append({**other, **_symbols(p, sample)})
            if len(found) == STARTS:
                break
        return found

    def _failures(self, kind: str, evidence: Identity) -> Iterator[Claim]:
        """Yield the claims that say what a failing identity of the derivation says."""
        at = self._start_of(dict(evidence.point))
        if at is None:
            return
        along = [int(name.removeprefix("grad F")) for name in evidence.derivative]
        regular = self._regular(at)
        if regular is None:
            return
        base = {"claim": kind, "block": self.index, "at": at, "along": along}
        base |= {"regular along": regular, "residual": str(evidence.residual)}
        for identity in self._identities(evidence.statement):
            for cleared in (False, True) if not along else (True,):
                yield {**base, "identity": identity, "cleared": cleared}

    def _regular(self, at: Mapping[str, str]) -> list[int] | None:
        """Return fields along which det K has a derivative other than 0 at the start, or None."""
        values = self.state.start_point(at)
        labels = self.flow.labels
        paths = [list(path) for n in range(DEPTH) for path in product(labels, repeat=n)]
        for path in [*paths, *([label] * n for n in range(DEPTH, ORDER) for label in labels)]:
            derivative = checked_claims.regularity(self.flow, path, self.state)
            if len(derivative.top) > MAXIMAL_TERMS:
                return None
            value = derivative.at(values)
            if value > 0 or value < 0:
                return path
        return None

    def _start_of(self, point: Mapping[str, Number]) -> dict[str, str] | None:
        """Return the start symbols that put the weights where the evidence has them."""
        p = self.block.lie.parameterization
        for sample in samples(p):
            if dict(sample.point(p)) == dict(point):
                return {**dict.fromkeys(self.state.start.variables, "1"), **_symbols(p, sample)}
        return None

    def _identities(self, statement: str) -> Iterator[list[Any]]:
        """Yield the conditions that a statement of the derivation may be."""
        labels = self.flow.labels
        pairs = list(combinations(labels, 2))
        if statement.startswith(("<", "H")):
            for (a, b), c in product(pairs, labels):
                yield ["equation", [a, b, c], []]
            return
        for length in range(DEPTH):
            for start, rest in product(pairs, product(labels, repeat=length)):
                path = [*start, *rest]
                for i, j in [(i, i) for i in labels] + pairs:
                    yield ["factor", path, [i, j]]
                yield ["closed", path, []]

    def _dual(self) -> Iterator[Claim]:
        dual = self.block.potential.dual
        if dual is not None:
            yield {
                "claim": "dual",
                "block": self.index,
                "g": repr(dual.g),
                "y": [_logarithmic(y) for y in dual.y],
                "R": None if dual.R is None else _logarithmic(dual.R),
            }


def _symbols(p: Parameterization, sample: Sample) -> dict[str, str]:
    """Return the values of the start symbols and parameters of a sample."""
    names = (*p.start_symbols, *p.parameters)
    return {name: str(sample.of(sample.field.named(name))) for name in names}


def _logarithmic(f: LogFunction) -> dict[str, Any]:
    return {"rational": repr(f.rational), "logarithms": [[repr(c), repr(a)] for c, a in f.logs]}
