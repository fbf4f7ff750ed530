"""The statements of a record, checked one by one: see :mod:`derive.certificate.checking.check`."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeAlias

from flint import fmpq

from derive.certificate.checking.equivalent import move_start
from derive.certificate.checking.flow import Flow, Turning
from derive.certificate.checking.function import Function, not_zero
from derive.certificate.checking.signs import CONDITION
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import (
    JSON,
    NAME,
    NotACertificate,
    Rejected,
    names_in,
    rational,
    require,
)

PROVED, REFUTED, UNDECIDED = "PROVED", "REFUTED", "UNDECIDED"
OUTPUTS, LETTERS = 60, f"{string.ascii_letters}_"
Kind: TypeAlias = Callable[[Sequence[str], Sequence[str], int], Space]
Check: TypeAlias = Callable[["Checker", JSON, JSON], None]


class Checker:
    """A record being checked; *theorem* is what was shown so far, *open* what was not."""

    def __init__(self, record: JSON, spare: int = 0, kind: Kind = Space) -> None:
        given, proof = record["parameterization"], record["certificate"]
        self.record, self.given, self.proof = record, given, proof
        self.theorem, self.open = list[str](), list[str]()
        space = self.space = space_of(given, proof, spare, kind)
        vector = given.get("vector")
        texts = given["outputs"] if vector is None else [given["coefficient"]]
        F = [space.read(text) for text in texts]
        phi, self.sign = F, 1
        if vector is not None:
            F = [self.length(phi, given["norms"][vector])]
            self.along_vector(phi[0], vector)
        rates = rates_of(space, given)
        gradients = [[f.derivative(k) * r for k, r in enumerate(rates)] for f in [*F, *phi]]
        space.fields = gradients[: len(F)]
        if "equivalent_start" in given and not move_start(space, F, given, proof):
            self.open.append("that beta moves as from the equivalent start")
        ties = [{"zero": f"{w} - ({tree})", "main": w} for w, tree in given["ties"].items()]
        self.ties = [*({"zero": w, "main": w} for w in given["idle"]), *ties]
        space.relate(self.ties)
        tied = {given["weights"].index(entry["main"]) for entry in self.ties}
        self.free = [k for k in range(space.weights) if k not in tied]
        F, phi, *rows = ([space.without_ties(f) for f in row] for row in [F, phi, *gradients])
        space.fields = rows[: len(F)]
        turning = None
        if vector is not None:
            n = space.names[given["norms"][vector]]
            turning = Turning(space.number(self.sign) * phi[0], rows[-1], n)
        self.flow = Flow(space, F, space.fields, turning, "hessian")
        self.factor = self.factor_of_ties()
        self.conditions, self.assumed = list[str](), dict[str, None]()
        space.reserved = set(given["beta"])
        self.named = len(space.generators)
        self.ratios, self.generic = list[Function](), dict[str, None]()
        self.settle()

    def factor_of_ties(self) -> Function:
        """Return what K in the weights that are left is times K in all weights."""
        space, F, text = self.space, self.flow.F, self.given["kernel_factor"]
        factor = space.read("1" if text is None else text)
        if text is not None:
            left = [[f.derivative(k) for k in self.free] for f in F]
            own = [[dot(v, w, space.number(0)) for w in left] for v in left]
            self.equal(own, [[factor * k for k in row] for row in self.flow.K], "the factor of K")
            self.theorem.append(f"K in the weights left is {text} times K in all weights")
        return factor

    def length(self, phi: Sequence[Function], norm: str) -> Function:
        """Return |beta| = |phi| n of beta = phi u, with the sign of phi at the start."""
        space = self.space
        alone = len(phi) == 1 and norm in space.given[: space.weights]
        require(alone, "a vector stands alone")
        n = space.names[norm].at(space.start)
        require(n > 0 or n == 0, "the length of the vector is not shown to be one at the start")
        at_start = phi[0].at(space.start)
        require(not_zero(at_start), "phi is not shown to be other than 0 at the start")
        self.sign = 1 if at_start > 0 else -1
        return space.number(self.sign) * phi[0] * space.names[norm]

    def along_vector(self, phi: Function, vector: str) -> None:
        """Require that the output that is printed is phi u."""
        space, norm = self.space, self.given["norms"][vector]
        require(vector not in space.names, "the vector has the name of another")
        space.names[vector] = space.symbols[-1]
        text = str(self.given["outputs"][0]).replace(f"norm({vector})", norm)
        same = (space.read(text) - phi * space.symbols[-1]).is_zero()
        require(same, "the output is not the coefficient times the vector")
        del space.names[vector]

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

    def printed_warp(self) -> Function:
        """Return the g that is printed, in weights, constants and the calls of F."""
        text = self.record["warping"]["g"]
        require(text is not None, "the warp is not given")
        self.require_plain([text])
        return self.space.read(text)

    def is_warp(self) -> bool:
        """Require that the printed g has the forced X_a log g; tell whether it is not 0 at w_0."""
        flow, g = self.flow, self.printed_warp()
        same = all(
            (flow.along(x, g) - h * g).is_zero() for x, h in zip(flow.X, flow.H, strict=True)
        )
        at_start = g.at(self.space.start)
        require(same and not at_start < 0, "g is not the warp, or negative at the start")
        self.space.signs += [g] if not_zero(at_start) else []
        return not_zero(at_start)

    def outputs(self) -> None:
        """Require of the outputs what is said besides: names, degree, blocks, relations."""
        given, flow = self.given, self.flow
        numbers = [int("0" + b.lstrip(LETTERS)) for b in given["beta"]]
        require(len(numbers) == flow.d and numbers == sorted(numbers), "beta has numbers in order")
        fresh = all(NAME.fullmatch(b) and b not in self.space.given for b in given["beta"])
        require(fresh, "an output has the name of another")
        if (degree := given["homogeneity_degree"]) is not None:
            same = self.is_homogeneous(flow.F, self.space.number(int(degree)))
            require(same, "F is not homogeneous of this degree")
        blocks = [[flow.position(a) for a in block] for block in given["blocks"]]
        require(sorted(a for block in blocks for a in block) == [*range(flow.d)], "blocks overlap")
        pairs = ((a, b) for one, two in combinations(blocks, 2) for a in one for b in two)
        require(all(flow.K[a][b].is_zero() for a, b in pairs), "K does not vanish between blocks")
        self.surface()
        self.take_conditions()

    def take_conditions(self) -> None:
        """Take the conditions of the record, in names that it says what they are."""
        given = self.given
        require(set(given["positive"]) <= set(self.space.given), "what is positive is a name")
        self.conditions = [f"{name} > 0" for name in given["positive"]]
        for piece in self.record["potential"]["pieces"]:
            self.conditions += piece["assumptions"]
            named = [*piece["beta"], *piece["constants"], *piece["abbreviations"]]
            named += [*self.space.given, *(root["symbol"] for root in piece["roots"])]
            said = [CONDITION.fullmatch(text) for text in piece["assumptions"]]
            known = names_in(found[1] for found in said if found) <= {*named}
            require(known, "a condition has a name that is not said")

    def surface(self) -> None:
        """Require what is said to hold among the outputs."""
        given, before = self.given, self.space.scope()
        self.space.names |= dict(zip(given["beta"], self.flow.F, strict=True))
        found = self.record.get("relations", {"blocks": []})["blocks"]
        zeros = [text for relations in found for text in relations]
        zeros += [f"({said['output']}) - ({said['is']})" for said in given.get("affine", [])]
        for text in zeros:
            require(self.space.read(text).is_zero(), f"{text:.60} is not 0")
        self.space.leave(before)
        self.theorem += [f"{text} = 0" for text in zeros]

    def is_homogeneous(self, functions: Sequence[Function], degree: Function) -> bool:
        """Tell whether Euler's identity <w, grad f> = L f holds in weights that are free."""
        w = [(self.space.symbols[k], k) for k in self.free]
        return all(
            (sum((x * f.derivative(k) for x, k in w), self.flow.zero) - degree * f).is_zero()
            for f in functions
        )

    def equal(self, table: list[list[Function]], other: list[list[Function]], what: str) -> None:
        """Require that two matrices are equal."""
        pairs = zip(table, other, strict=True)
        entries = [(x, y) for rows in pairs for x, y in zip(*rows, strict=True)]
        require(all((x - y).is_zero() for x, y in entries), f"{what} is another one")

    def require_plain(self, texts: Sequence[str]) -> None:
        """Require that texts are in weights, constants and calls alone."""
        plain = names_in(texts) <= set(self.space.given)
        require(plain, "a name is used that is defined elsewhere")

    def settle(self) -> None:
        """Require that no divisor so far vanishes on the leaf."""
        divisors, done = self.space.divisors, set[str]()
        while left := [text for text in divisors if text not in done]:  # more turn up on the way
            for text in left:
                require(self.flow.lives(divisors[text]), f"a divisor may be 0: {text:.60}")
            done.update(left)


def rates_of(space: Space, given: JSON) -> list[Function]:
    """Return the learning rates of the weights, positive at the start; 1 where none are given."""
    texts = given.get("rates", {})
    for name, text in texts.items():
        if text != "1":
            space.positive(space.read(text), f"the rate of {name}")
    return [space.read(texts.get(w, "1")) for w in given["weights"]]


def started(space: Space, start: JSON, proof: JSON) -> None:
    """Read w_0 and its values in numbers, and define the calls of F."""
    numbers = [rational(proof["at"].get(name)) for name in space.given[space.weights :]]
    space.start = [*[fmpq(0)] * space.weights, *numbers]
    defined = set[int]()
    for n, entry in enumerate(proof["definitions"]):
        require("of" in entry, "only calls are defined before F is read")
        if names_in([entry["of"]]) <= set(space.given[space.weights :]):
            space.define(entry)  # as sqrt(2), which the start may use
            defined.add(n)
    space.w0 = [space.read(start[w]) for w in space.given[: space.weights]]
    require(all(map(space.is_of_constants, space.w0)), "the start uses a weight")
    space.start = space.started(proof["at"])
    for n, entry in enumerate(proof["definitions"]):
        if n not in defined:
            space.define(entry)


def space_of(given: JSON, proof: JSON, spare: int, kind: Kind) -> Space:
    """Return the names of a record, with w_0 and its values in numbers."""
    weights, parameters, start = given["weights"], given["parameters"], given["start"]
    if not 0 < len(given["outputs"]) <= OUTPUTS:
        raise NotACertificate("there are too many outputs, or none")
    proofs = [part for part in proof.values() if isinstance(part, dict)]
    proofs += [p for key in ("dual", "pieces") for p in proof[key] or () if p is not None]
    room = max((len(p.get("definitions", ())) for p in proofs), default=0)
    symbols = names_in(start.values()) - set(parameters)
    room += len(proof["definitions"]) + 1 + spare
    space = kind(weights, [*parameters, *sorted(symbols)], room)
    if set(start) != set(weights):
        raise NotACertificate("the start does not give every weight")
    require(set(proof["at"]) == {*parameters, *symbols}, "at gives other names than the start has")
    started(space, start, proof)
    texts = given["outputs"] if "vector" not in given else [given["coefficient"]]
    texts = [*texts, *given.get("rates", {}).values()]
    require(names_in(texts) <= {*weights, *parameters}, "F has other names than it should")
    return space


def dot(row: Sequence[Function], column: Sequence[Function], zero: Function) -> Function:
    """Return the sum of the products of entries."""
    return sum((x * y for x, y in zip(row, column, strict=True)), zero)
