"""The statements of a record, checked one by one: see :mod:`derive.certificate.checking.check`."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, compress
from operator import not_
from typing import TypeAlias

from flint import fmpq, fmpz_mpoly

from derive.certificate.checking import steepest
from derive.certificate.checking.flow import Field, Flow, Turning, determinant
from derive.certificate.checking.function import Function, Table, Value, not_zero, sign
from derive.certificate.checking.signs import CONDITION, END, MEET, Conditions, Kept, factors
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import (
    JSON,
    NAME,
    Missing,
    NotACertificate,
    Rejected,
    names_in,
    rational,
    require,
)

LETTERS = f"{string.ascii_letters}_"
Check: TypeAlias = Callable[["Checker", JSON, JSON], None]


class Checker:
    """A record being checked; *theorem* is what was shown so far, *open* what was not."""

    def __init__(self, record: JSON, spare: int = 0, kind: Kind = Space) -> None:
        given, proof = record["parameterization"], record["certificate"]
        self.record, self.given, self.proof = record, given, proof
        self.theorem, self.open = list[str](), list[str]()
        self.conditions, self.assumed = list[str](), dict[str, None]()
        self.ratios, self.generic = list[Function](), dict[str, None]()
        self.needs, self.settled = list[Function](), set[str]()
        space = self.space = space_of(given, proof, spare, kind)
        vector, self.sign = given.get("vector"), 1
        texts = given["outputs"] if vector is None else [given["coefficient"]]
        F = phi = [space.read(text) for text in texts]
        if vector is not None:
            F = [self._length(phi, vector, given["norms"][vector])]
        rates = rates_of(space, given)
        self.degrees = steepest.degrees(space, given, F, rates)
        gradients = space.fields = raised(space, rates, F)
        ties = [{"zero": f"{w} - ({tree})", "main": w} for w, tree in given["ties"].items()]
        self.ties = [*({"zero": w, "main": w} for w in given["idle"]), *ties]
        space.relate(self.ties)
        tied = {given["weights"].index(entry["main"]) for entry in self.ties}
        self.free = [k for k in range(space.weights) if k not in tied]
        F, phi, *space.fields = (
            [space.without_ties(f) for f in row] for row in [F, phi, *gradients]
        )
        turning = None
        if vector is not None:
            norm = given["norms"][vector]
            at, n = given["weights"].index(norm), space.names[norm]
            rate = space.without_ties(rates[at][at])
            turning = Turning(space, space.fields[0], self.sign * phi[0], rate, n)
        self.flow = Flow(space, F, space.fields, turning, "hessian")
        space.reserved |= {*given["beta"]}
        self.named = len(space.generators)
        self.settle()

    def _length(self, phi: Sequence[Function], vector: str, norm: str) -> Function:
        """Return |beta| = |phi| n of beta = phi u, which is printed, with the sign of phi."""
        space = self.space
        alone = len(phi) == len(self.given["outputs"]) == 1 and norm in space.given[: space.weights]
        require(alone and vector not in space.names, "a vector stands alone, by its name")
        n, (at_start,) = space.names[norm].at(space.start), (f.at(space.start) for f in phi)
        require(n >= 0, "the length of the vector is not shown to be one at the start")
        require(not_zero(at_start), "phi is not shown to be other than 0 at the start")
        text, u = str(self.given["outputs"][0]).replace(f"norm({vector})", norm), space.symbols[-1]
        same = space.read(text, {vector: u}).same(phi[0] * u)
        require(same, "the output is not the coefficient times the vector")
        self.sign = sign(at_start)
        return self.sign * phi[0] * space.names[norm]

    def prove(self, what: str, check: Check, said: JSON, proof: JSON) -> None:
        """Check one statement with names of its own; without a proof it is left open."""
        if proof is None:
            self.open.append(what)
            return
        flow, before, size = self.flow, self.space.scope(), len(self.theorem)
        try:
            check(self, said, proof)
            self.settle()
        except Rejected as why:
            self.flow = flow
            del self.theorem[size:]
            why.args = (f"{what}: {why}",)
            raise
        finally:
            self.space.leave(before)

    def settle(self) -> None:
        """Require that no divisor so far vanishes on the leaf."""
        divisors, done = self.space.divisors, {*self.settled}
        while left := [text for text in divisors if text not in done]:  # more turn up on the way
            for text in left:
                require(self.flow.lives(divisors[text]), f"a divisor may be 0: {text:.60}")
            done.update(left)

    def outputs(self) -> None:
        """Require of the outputs what is said besides: names, degree, blocks, relations."""
        given, flow = self.given, self.flow
        numbers = [int("0" + b.lstrip(LETTERS)) for b in given["beta"]]
        require(len(numbers) == flow.d and numbers == sorted(numbers), "beta has numbers in order")
        known = [*self.space.given, *given["beta"], *(x["beta"] for x in given.get("affine", []))]
        require(len({*known}) == len(known), "an output has the name of another")
        require(all(map(NAME.fullmatch, known)), "a name is letters, digits and underscores")
        blocks = [[flow.position(a) for a in block] for block in given["blocks"]]
        require(sorted(a for block in blocks for a in block) == [*range(flow.d)], "blocks overlap")
        pairs = ((a, b) for one, two in combinations(blocks, 2) for a in one for b in two)
        require(all(flow.K[a][b].is_zero() for a, b in pairs), "K does not vanish between blocks")
        self._surface()
        self._take_conditions()
        self.needs = self.owed()
        missing = self.stated().missing([], self.constant_divisors())
        self.assumed |= dict.fromkeys(missing)
        self.settled = {*self.space.divisors}

    def _surface(self) -> None:
        """Require what is said to hold among the outputs."""
        given, F = self.given, dict(zip(self.given["beta"], self.flow.F, strict=True))
        found = self.record.get("relations", {"blocks": []})["blocks"]
        zeros = [text for relations in found for text in relations]
        zeros += [f"({said['output']}) - ({said['is']})" for said in given.get("affine", [])]
        before = self.space.scope()
        for text in zeros:
            require(self.space.read(text, F).is_zero(), f"{text:.60} is not 0")
        self.space.leave(before)
        self.theorem += [f"{text} = 0" for text in zeros]

    def _take_conditions(self) -> None:
        """Take the conditions of the record, in names that it says what they are."""
        given = self.given
        require(set(given["positive"]) <= set(self.space.given), "what is positive is a name")
        at_start = [given["start"].get(name, name) for name in given["positive"]]
        self.conditions = [f"{text} > 0" for text in dict.fromkeys(at_start) if names_in([text])]
        for piece in self.record["potential"]["pieces"]:
            self.conditions += piece["assumptions"]
            named = {*piece["constants"], *self.space.given}
            for text in piece["assumptions"]:
                found = CONDITION.fullmatch(text.removesuffix(END))
                known = names_in([found[1]]) <= named if found else MEET.fullmatch(text)
                require(known, f"{text:.60} is no condition, or has a name that is not said")

    def printed_warp(self) -> Function:
        """Return the g that is printed, in weights, constants and the calls of F."""
        text = self.record["warping"]["g"]
        require(text is not None, "the warp is not given")
        self.require_plain([text])
        return self.space.read(text)

    def is_warp(self) -> bool:
        """Require that the printed g has the forced X_a log g; tell whether it is not 0 at w_0."""
        g = self.printed_warp()
        require(not g.is_zero(), "g is 0")
        at_start = g.at(self.space.start)
        self.rises(g, [h * g for h in self.flow.H], "g, which is not the warp,")
        require(not at_start < 0, "g is negative at the start")
        self.space.signs += [g] if not_zero(at_start) else []
        return not_zero(at_start)

    def values_at(self, point: JSON) -> list[Value]:
        """Return the values of all names at a point, where those that are given are rational."""
        return self.space.values([rational(point.get(name)) for name in self.space.given])

    def rises(self, f: Function, slopes: Sequence[Function], what: str) -> None:
        """Require the derivatives of a function along the fields."""
        for x, slope in zip(self.flow.X, slopes, strict=True):
            require(self.space.along(x, f).same(slope), f"{what} has another derivative")

    def table(self, texts: JSON) -> list[list[Function]]:
        """Return a matrix that is printed."""
        return [[self.space.read(text) for text in row] for row in texts]

    def equal(self, table: Table, other: Table, what: str) -> None:
        """Require that two matrices are equal."""
        pairs = zip(table, other, strict=True)
        entries = [(x, y) for rows in pairs for x, y in zip(*rows, strict=True)]
        require(all(x.same(y) for x, y in entries), f"{what} is another one")

    def require_plain(self, texts: Sequence[str]) -> None:
        """Require that texts are in weights, constants and calls alone."""
        plain = names_in(texts) <= set(self.space.given)
        require(plain, "a name is used that is defined elsewhere")

    def stated(self) -> Conditions:
        """Return the conditions of the record that are about weights and constants."""
        return Conditions(self.space, self.conditions, self.space.given)

    def assume(
        self, signs: Conditions, walls: Sequence[str] = (), warp: Function | None = None
    ) -> None:
        """Say what has to be so at the start, and what must not vanish on the way from there.

        Raises:
            Missing: of the start, or for a *warp* to keep its sign, the record does not say that.
        """
        space, kept = self.space, self.kept(signs, walls)
        odd = {} if warp is None else {str(p): p for p, n in factors(warp) if n % 2}
        left = kept.left([*map(space.of, odd.values()), *self.owed()])
        missing = signs.missing(space.signs, self.constant_divisors())
        if warp is not None:
            turning = [space.written(p) for p in left if str(p) in odd]
            missing += [f"{text} keeps its sign along the flow" for text in turning]
            if missing:
                raise Missing(missing)
        self.assumed |= dict.fromkeys([*missing, *signs.missing(space.leads, kept.from_start)])
        self.generic |= signs.generic
        self.theorem += [f"as long as along the flow {space.written(p)} != 0" for p in left]

    def owed(self) -> list[Function]:
        """Return what has to stay other than 0 for all that was read so far to be smooth."""
        space = self.space
        return [*space.signs, *space.leads, *map(space.of, space.divisors.values())]

    def kept(
        self,
        signs: Conditions,
        walls: Sequence[str] = (),
        more: Sequence[Function] = (),
        fields: Sequence[Field] | None = None,
    ) -> Kept:
        """Return what is shown where walls, powers of these, and *more* are finite and not 0."""
        values = [self.space.read(wall) for wall in walls]
        powers = [call for call in self.space.known if call.kind == "power"]
        values += [c.image for c in powers if any(map(c.argument.same, values))]
        laws = [*self.record["conserved"]["laws"], *self.proof.get("sums", ())]
        fields = self.flow.X if fields is None else fields
        return Kept(fields, signs, laws, [*values, *more], self.flow.F)

    def weights_by_laws(self, signs: Conditions) -> Iterator[Conditions]:
        """Yield conditions; then with the signs that weights keep whose squares exceed a law."""
        yield signs
        kept = self.kept(signs)
        for name in (self.given["weights"][k] for k in self.free):
            if not signs.sign_of(w := self.space.names[name]) and kept.stays_away(w):
                signs.add(name, "keeps its sign along the flow")
        self.assumed |= dict.fromkeys(signs.missing([], kept.from_start))
        yield signs

    def constant_divisors(self) -> list[fmpz_mpoly]:
        """Return the factors of divisors without weights, besides those of F."""
        space = self.space
        new = (d for text, d in space.divisors.items() if text not in self.settled)
        found = (p for d in new for p, _ in space.factor(d)[1])
        return [p for p in found if space.is_of_constants(space.of(p))]


OUTPUTS = 60
Kind: TypeAlias = Callable[[Sequence[str], Sequence[str], int], Space]


def space_of(given: JSON, proof: JSON, spare: int, kind: Kind) -> Space:
    """Return the names of a record, with w_0 and its values in numbers, and the calls of F."""
    weights, parameters = given["weights"], given["parameters"]
    if not 0 < len(given["outputs"]) <= OUTPUTS:
        raise NotACertificate("there are too many outputs, or none")
    start = given["start"]
    if {*start} != {*weights}:
        raise NotACertificate("the start does not give every weight")
    proofs = [part for part in proof.values() if isinstance(part, dict)]
    proofs += [p for key in ("dual", "pieces") for p in proof[key] or () if p is not None]
    room = max((len(p.get("definitions", ())) for p in proofs), default=0)
    symbols = names_in([*start.values()]) - set(parameters)
    require(set(proof["at"]) == {*parameters, *symbols}, "at gives other names than the start has")
    constants = [*parameters, *sorted(symbols)]
    space = kind(weights, constants, room + len(proof["definitions"]) + 1 + spare)
    numbers = [rational(proof["at"][name]) for name in constants]
    space.start = [*([fmpq(0)] * len(weights)), *numbers]
    plain = all("Integral" not in entry.get("of", "Integral") for entry in proof["definitions"])
    require(plain, "only calls are defined before F is read")
    fixed = [names_in([entry["of"]]) <= {*constants} for entry in proof["definitions"]]
    for entry in compress(proof["definitions"], fixed):
        space.define(entry)  # as sqrt(2), which the start may use
    space.w0 = [space.read(start[w]) for w in weights]
    require(all(map(space.is_of_constants, space.w0)), "the start uses a weight")
    space.start = space.started(proof["at"])
    for entry in compress(proof["definitions"], map(not_, fixed)):
        space.define(entry)
    texts = given["outputs"] if "vector" not in given else [given["coefficient"]]
    known = {*weights, *parameters}
    require(names_in([*texts, *rate_texts(given)]) <= known, "F has other names than it should")
    return space


def rate_texts(given: JSON) -> list[str]:
    """Return the rates of the weights, or the entries of G^-1, as texts."""
    rows = given.get("rates", {}).values()
    return [text for row in rows for text in (row if isinstance(row, list) else [row])]


def rates_of(space: Space, given: JSON) -> list[dict[int, Function]]:
    """Return the rows of G^-1, without zeros, which is positive definite at the start.

    The rates of the weights are its diagonal, 1 where none are given; or rows are given.
    """
    texts = given.get("rates", {})
    if any(isinstance(row, list) for row in texts.values()):
        require(all(isinstance(row, list) for row in texts.values()), "a row of G^-1 is no list")
        return _rows(space, [[space.read(text) for text in texts[w]] for w in given["weights"]])
    for name, text in texts.items():
        if text != "1":
            space.positive(space.read(text), f"the rate of {name}")
    return [{k: space.read(texts.get(w, "1"))} for k, w in enumerate(given["weights"])]


def _rows(space: Space, rows: list[list[Function]]) -> list[dict[int, Function]]:
    require(all(len(row) == len(rows) for row in rows), "G^-1 is not square")
    pairs = [(rows[i][j], rows[j][i]) for i in range(len(rows)) for j in range(i)]
    require(all(x.same(y) for x, y in pairs), "G^-1 is not symmetric")
    for k in range(1, len(rows) + 1):
        space.positive(determinant([row[:k] for row in rows[:k]]), f"minor {k} of G^-1")
    return [{j: x for j, x in enumerate(row) if not x.is_zero()} for row in rows]


def raised(
    space: Space, rates: Sequence[Mapping[int, Function]], functions: Sequence[Function]
) -> list[list[Function]]:
    """Return the fields G^-1 df of functions."""
    slopes = ([f.derivative(k) for k in range(space.weights)] for f in functions)
    return [[space.sum(df[k] * r for k, r in row.items()) for row in rates] for df in slopes]
