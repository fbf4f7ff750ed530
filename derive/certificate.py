"""Turn a finished derivation into a certificate, which :mod:`derive.check` accepts by itself.

Every claim is tried by the checker before it is written. What it does not accept is written as
"not certified", so that a certificate is never more than it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations, islice, product
from typing import Any

from flint import fmpq

from derive import check as checker
from derive.certificate_form import form_claims
from derive.certificate_text import Calls, text_of
from derive.check import Checker
from derive.checking.flow import Flow, determinant, independent
from derive.checking.function import Function, not_zero
from derive.checking.text import Rejected, rational
from derive.derivation import Derivation
from derive.errors import DeriveError
from derive.exact.balls import Unbounded, values_of
from derive.exact.families import LogFunction
from derive.language import to_text
from derive.language.substitution import bind
from derive.records import Block
from derive.render.plain import plain
from derive.stages.parameterization import Parameterization
from derive.stages.witness import samples
from derive.verdict import Verdict

Claim = dict[str, Any]
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83)
PATH, DEPTH, ORDER, TERMS, SPARE = 4, 3, 13, 3000, 60
STARTS = 16


def certify(d: Derivation) -> dict[str, Any]:
    """Return the certificate of a derivation, as plain dictionaries, lists and strings.

    Its verdict is what its claims imply: that of the derivation, or UNDECIDED together with a
    claim "not certified".
    """
    p = d.parameterization
    starts = _starts(p)
    record: dict[str, Any] = {
        "format": checker.FORMAT,
        "version": checker.VERSION,
        "outputs": [to_text(tree) for tree in p.trees],
        "weights": list(p.weights),
        "parameters": list(p.parameters),
        "definitions": [],
        "start": {w: to_text(tree) for w, tree in p.start},
        "at": starts[0] if starts else {},
        "ties": [
            *({"zero": w, "main": w} for w in d.idle),
            *({"zero": f"{w} - ({to_text(tree)})", "main": w} for w, tree in d.ties),
        ],
        "verdict": Verdict.UNDECIDED.value,
        "claims": [],
    }
    try:
        calls = Calls(record, p)
        state = Checker(calls.record, SPARE)
        writer = _Writer(d, state, starts, calls)
        record["claims"] = list(writer.claims())
        record["verdict"] = state.verdict()
    except (Rejected, DeriveError) as why:
        record |= {"definitions": [], "ties": [], "claims": [], "verdict": "UNDECIDED"}
        record["claims"].append(_open(f"the verdict {d.verdict.value} ({why})", ()))
        return record
    if record["verdict"] != d.verdict.value:
        record["claims"].append(_open(f"the verdict {d.verdict.value}", ()))
    return record


def _starts(p: Parameterization) -> list[dict[str, str]]:
    """Return a few starts in small numbers, first of all primes, which satisfy no relation."""
    names = (*p.start_symbols, *p.parameters)
    found = []
    for shift in range(1, 4):
        primes = {name: Fraction(PRIMES[(k + shift) % len(PRIMES)]) for k, name in enumerate(names)}
        try:
            values_of(p.start_field, primes)
        except (ZeroDivisionError, Unbounded):
            continue
        found.append({name: str(value) for name, value in primes.items()})
    for sample in islice(samples(p), STARTS):
        found.append({name: str(sample.of(sample.field.named(name))) for name in names})
    return found


def _open(what: str, outputs: Iterable[int]) -> Claim:
    return {"claim": "not certified", "outputs": list(outputs), "what": what}


class _Writer:
    """Writes the claims, each accepted by the checker first."""

    def __init__(
        self, d: Derivation, state: Checker, starts: list[dict[str, str]], calls: Calls
    ) -> None:
        self.d, self.state, self.starts, self.calls = d, state, starts, calls
        self.labels = list(range(1, state.flow.d + 1))

    def claims(self) -> Iterator[Claim]:
        """Yield the claims in the order in which they build on one another."""
        d = self.d
        yield from self._accepted("the conserved quantities", self._laws())
        if d.hessian.verdict is Verdict.PROVED:
            yield from self._accepted("the Hessian map", self._existence("hessian"))
        elif d.hessian.verdict is Verdict.REFUTED:
            yield from self._accepted("no Hessian map", self._failures("no hessian"))
        if d.hessian.verdict is not Verdict.PROVED and d.warping.verdict is Verdict.PROVED:
            yield from self._accepted("the warp", self._existence("warp"))
        if d.warping.verdict is Verdict.REFUTED:
            yield from self._accepted("no warp", self._failures("no warp"))
        if d.verdict is Verdict.UNDECIDED and d.warping.g is not None:
            yield from self._accepted("the dual coordinates", iter(()))
        for block in d.blocks:
            if d.verdict is not Verdict.PROVED:
                break
            outputs = [i + 1 for i in block.outputs]
            if block.potential.dual is not None:
                claims = self._dual(block, outputs)
                yield from self._accepted("the dual coordinates", claims)
            for what, forms in form_claims(block, self.state, self.scaled(block), self.calls):
                yield from self._accepted(what, forms, outputs)

    def _accepted(
        self, what: str, candidates: Iterator[Claim], outputs: Iterable[int] = ()
    ) -> Iterator[Claim]:
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
        dual, d = block.potential.dual, self.d
        g = "1" if dual is None else repr(dual.g)
        if len(d.blocks) == 1 and dual is not None and d.warping.g is not None:
            g = plain(d.warping.g)
        if not d.ties:
            return g
        kept = block.lie.parameterization.weights
        units = {w: Fraction(w == kept[0]) for w in kept}
        squares = (f"({to_text(bind(tree, units))})**2" for _, tree in d.ties)
        return f"({g})/(1 + {' + '.join(squares)})"

    def _points(self) -> Iterator[dict[str, str]]:
        """Yield a few points with weights in general position, where the ties hold."""
        space = self.state.space
        names = list(space.names)[: space.size]
        ties = [(space.read(t["zero"]), t["main"]) for t in self.state.record["ties"]]
        for shift in range(4):
            found = {
                n: fmpq(PRIMES[(k + shift) % len(PRIMES)] + 90 * (k // len(PRIMES)))
                for k, n in enumerate(names)
            }
            for f, main in ties:
                at = [f.at(list({**found, main: fmpq(x)}.values())) for x in (0, 1)]
                found[main] = at[0] / (at[0] - at[1])
            yield {name: str(value) for name, value in found.items()}

    def _laws(self) -> Iterator[Claim]:
        laws = [plain(law) for law in self.d.conserved.laws]
        values = [None if v is None else plain(v) for v in self.d.conserved.values]
        used = [*laws, *(v for v in values if v is not None)]
        base: Claim = {"claim": "laws", "laws": laws, "values": values}
        base["definitions"] = self.calls.missing(used, self.state.space)
        size = len(self.state.free) - len(laws)
        for point in self._points():
            brackets = self._brackets(point, size)
            yield {**base, "point": point, "brackets": brackets}
        for point in self._points():
            yield {**base, "point": point, "brackets": None}

    def _brackets(self, point: Mapping[str, str], size: int) -> list[Any] | None:
        """Return as many independent brackets, or None."""
        values = self.state.space.values([rational(v) for v in point.values()])
        pending: list[Any] = [*self.labels, *(list(x) for x in combinations(self.labels, 2))]
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
                    pending += [[a, tree] for a in self.labels]
        return chosen if len(chosen) == size else None

    def _existence(self, kind: str) -> Iterator[Claim]:
        """Yield the structure of the fields and of vertical fields that close under brackets."""
        flow = self.state.flow.with_warp(kind == "warp")
        points = [self.state.space.start]
        points += [self._values(point) for point in self._points()]
        for point in points:
            paths = self._spanning(flow, point)
            fields = [*flow.X, *(flow.field([a - 1 for a in path])[0] for path in paths)]
            structure = list(self._structure(flow, paths, fields, point))
            yield {"claim": kind, "paths": paths, "structure": structure}

    def _values(self, point: Mapping[str, str]) -> list[Any]:
        return self.state.space.values([rational(v) for v in point.values()])

    def _spanning(self, flow: Flow, point: list[Any]) -> list[list[int]]:
        """Return paths whose vertical fields, with the X_a, span what brackets reach at a point."""
        rows = [[x.at(point) for x in field] for field in flow.X]
        pending = [list(pair) for pair in combinations(self.labels, 2)]
        paths: list[list[int]] = []
        while pending and len(paths) < len(self.state.free):
            path = pending.pop(0)
            v, _ = flow.field([a - 1 for a in path])
            if all(x.is_zero() for x in v):
                continue
            row = [x.at(point) for x in v]
            if independent([*rows, row]):
                rows.append(row)
                paths.append(path)
                pending += [[*path, m] for m in self.labels]
        return paths

    def _structure(
        self, flow: Flow, paths: list[list[int]], fields: list[Any], point: list[Any]
    ) -> Iterator[list[Any]]:
        """Yield [i, j, coefficients] of brackets with a vertical part, by Cramer's rule."""
        if not paths:
            return
        vertical = fields[flow.d :]
        eta = [*flow.H, *(flow.field([a - 1 for a in path])[1] for path in paths)]
        columns = self._columns(vertical, point)
        for i, j in combinations(range(len(fields)), 2):
            left = flow.bracket(fields[i], fields[j])
            parts = [(i, eta[j])] if i < flow.d else []
            parts += [(j, flow.zero - eta[i])] if j < flow.d else []
            for n, factor in parts:
                left = [x + factor * y for x, y in zip(left, fields[n], strict=True)]
            if all(x.is_zero() for x in left):
                continue
            whole = determinant([[v[k] for k in columns] for v in vertical])
            coefficients = []
            for m in range(len(vertical)):
                rows = [left if n == m else v for n, v in enumerate(vertical)]
                minor = determinant([[row[k] for k in columns] for row in rows])
                coefficients.append(self.text(minor / whole))
            yield [i + 1, j + 1, coefficients]

    def _columns(self, vertical: list[list[Function]], point: list[Any]) -> tuple[int, ...]:
        """Return components in which vertical fields are independent at a point."""
        values = [[x.at(point) for x in v] for v in vertical]
        for columns in combinations(range(len(values[0])), len(vertical)):
            if independent([[row[k] for k in columns] for row in values]):
                return columns
        raise Rejected("the vertical fields are dependent")

    def text(self, f: Function) -> str:
        """Return a function in the names of the certificate."""
        return text_of(f)

    def _failures(self, kind: str) -> Iterator[Claim]:
        """Yield claims that a condition fails, the simplest conditions first."""
        flow = self.state.flow.with_warp(kind == "no warp")
        values = self.state.space.start
        for identity in self._identities(flow):
            indices = ([a - 1 for a in identity[1]], [a - 1 for a in identity[2]])
            left, right = flow.sides(identity[0], *indices)
            polynomial = (left - right).top
            if self.state.space.reduce(polynomial).is_zero():
                continue
            for along in self._along(polynomial):
                f = self.state.derivative(polynomial, along)
                if not not_zero(f.at(values)):
                    continue
                regular = self._regular(flow, values)
                if regular is not None:
                    base = {"claim": kind, "identity": identity, "along": along}
                    yield {**base, "regular": regular}

    def _along(self, polynomial: Any) -> Iterator[list[int]]:
        for n in range(DEPTH + 1):
            for path in product(self.labels, repeat=n):
                if n and len(self.state.derivative(polynomial, path[:-1]).top) > TERMS:
                    return
                yield list(path)

    def _identities(self, flow: Flow) -> Iterator[list[Any]]:
        """Yield the conditions that every warp needs, those with the shortest paths first."""
        pairs = list(combinations(self.labels, 2))
        if flow.d > 2 or not flow.warped:  # else H solves them
            for (a, b), c in product(pairs, self.labels):
                yield ["equation", [a, b, c], []]
        for length in range(PATH):
            for start, rest in product(pairs, product(self.labels, repeat=length)):
                path = [*start, *rest]
                if all(x.is_zero() for x in flow.field([a - 1 for a in path[: len(path)]])[0]):
                    if length == 0:
                        yield ["closed", path, []]
                    continue
                for i, j in [*((i, i) for i in self.labels), *pairs]:
                    yield ["factor", path, [i, j]]
                yield ["closed", path, []]

    def _regular(self, flow: Flow, values: list[Any]) -> list[int] | None:
        """Return fields along which det K has a derivative other than 0 at the start, or None."""
        if independent([[xk.at(values) for xk in x] for x in flow.X]):
            return []
        whole = determinant(flow.K).top
        paths = [list(path) for n in range(PATH) for path in product(self.labels, repeat=n)]
        for path in [*paths, *([a] * n for n in range(PATH, ORDER) for a in self.labels)]:
            f = self.state.derivative(whole, path)
            if len(f.top) > TERMS:
                return None
            if not_zero(f.at(values)):
                return path
        return None

    def _dual(self, block: Block, outputs: list[int]) -> Iterator[Claim]:
        dual = block.potential.dual
        if dual is None:
            return
        R = None if dual.R is None else _text(dual.R)
        y = [_text(yi) for yi in dual.y]
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


def _text(f: LogFunction) -> str:
    """Return a function with logarithms as text."""
    logs = [f"({c!r})*log(Abs({a!r}))" for c, a in f.logs]
    return " + ".join([f"({f.rational!r})", *logs])
