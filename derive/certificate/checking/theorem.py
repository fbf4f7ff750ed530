"""The statements of a record, checked one by one: see :mod:`derive.certificate.checking.check`."""

from __future__ import annotations

import contextlib
import string
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeAlias

from flint import fmpz_mpoly

from derive.certificate.checking.flow import Flow, Turning
from derive.certificate.checking.function import Function, Table, not_zero, sign
from derive.certificate.checking.signs import CONDITION, END, MEET, Conditions, bounds, factors
from derive.certificate.checking.space import Space
from derive.certificate.checking.start import Kind, move_start, raised, rates_of, space_of
from derive.certificate.checking.text import JSON, NAME, Rejected, names_in, require

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
        space = self.space = space_of(given, proof, spare, kind)
        vector, self.sign = given.get("vector"), 1
        texts = given["outputs"] if vector is None else [given["coefficient"]]
        F = phi = [space.read(text) for text in texts]
        if vector is not None:
            F = [self._length(phi, vector, given["norms"][vector])]
        rates = rates_of(space, given)
        gradients = raised(space, rates, [*F, *phi])
        space.fields = gradients[: len(F)]
        if "equivalent_start" in given and not move_start(space, F, given, proof):
            self.open.append("that beta moves as from the equivalent start")
        ties = [{"zero": f"{w} - ({tree})", "main": w} for w, tree in given["ties"].items()]
        self.ties = [*({"zero": w, "main": w} for w in given["idle"]), *ties]
        space.relate(self.ties)
        tied = {given["weights"].index(entry["main"]) for entry in self.ties}
        self.free = [k for k in range(space.weights) if k not in tied]
        F, phi, *rows = ([space.without_ties(f) for f in row] for row in [F, phi, *gradients])
        space.fields, turning = rows[: len(F)], None
        if vector is not None:
            norm = given["norms"][vector]
            at, n = given["weights"].index(norm), space.names[norm]
            r = space.without_ties(rates[at][at])
            grown = phi[0] * space.along(rows[0], r) / (r * n)
            steep = space.along(rows[-1], phi[0]) + grown
            turning = Turning(self.sign * phi[0], r, steep, n)
        self.flow = Flow(space, F, space.fields, turning, "hessian")
        space.reserved, self.named = set(given["beta"]), len(space.generators)
        self.settle()

    def _length(self, phi: Sequence[Function], vector: str, norm: str) -> Function:
        """Return |beta| = |phi| n of beta = phi u, which is printed, with the sign of phi."""
        space = self.space
        alone = len(phi) == 1 and norm in space.given[: space.weights]
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
        divisors, done = self.space.divisors, set[str]()
        while left := [text for text in divisors if text not in done]:  # more turn up on the way
            for text in left:
                require(self.flow.lives(divisors[text]), f"a divisor may be 0: {text:.60}")
            done.update(left)

    def outputs(self) -> None:
        """Require of the outputs what is said besides: names, degree, blocks, relations."""
        given, flow = self.given, self.flow
        numbers = [int("0" + b.lstrip(LETTERS)) for b in given["beta"]]
        require(len(numbers) == flow.d and numbers == sorted(numbers), "beta has numbers in order")
        fresh = all(NAME.fullmatch(b) and b not in self.space.given for b in given["beta"])
        require(fresh, "an output has the name of another")
        if (degree := given["homogeneity_degree"]) is not None:
            same = self.space.is_homogeneous(flow.F, int(degree), self.free)
            require(same, "F is not homogeneous of this degree")
        blocks = [[flow.position(a) for a in block] for block in given["blocks"]]
        require(sorted(a for block in blocks for a in block) == [*range(flow.d)], "blocks overlap")
        pairs = ((a, b) for one, two in combinations(blocks, 2) for a in one for b in two)
        require(all(flow.K[a][b].is_zero() for a, b in pairs), "K does not vanish between blocks")
        self._surface()
        self._take_conditions()

    def _surface(self) -> None:
        """Require what is said to hold among the outputs."""
        given, F = self.given, dict(zip(self.given["beta"], self.flow.F, strict=True))
        found = self.record.get("relations", {"blocks": []})["blocks"]
        zeros = [text for relations in found for text in relations]
        zeros += [f"({said['output']}) - ({said['is']})" for said in given.get("affine", [])]
        for text in zeros:
            require(self.space.read(text, F).is_zero(), f"{text:.60} is not 0")
        self.space.divisors.clear()
        self.theorem += [f"{text} = 0" for text in zeros]

    def _take_conditions(self) -> None:
        """Take the conditions of the record, in names that it says what they are."""
        given = self.given
        require(set(given["positive"]) <= set(self.space.given), "what is positive is a name")
        self.conditions = [f"{name} > 0" for name in given["positive"]]
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

    def assume(self, signs: Conditions, walls: Sequence[str] = ()) -> None:
        """Say what has to be so at the start, and what must not vanish on the way from there."""
        space = self.space
        forms = {str(p) for wall in walls for p, _ in factors(space.read(wall))}
        kept = [*space.signs, *space.leads]
        self.assumed |= dict.fromkeys(signs.missing(kept, self.constant_divisors()))
        self.generic |= signs.generic
        used = [*kept, *map(space.of, space.divisors.values())]
        parts = {str(p): space.of(p) for f in used for p, _ in factors(f)}
        moving = (f for p, f in parts.items() if p not in forms and not space.is_of_constants(f))
        left = [space.written(f) for f in moving if not self.is_kept(f, signs)]
        self.theorem += [f"as long as along the flow {text} != 0" for text in left]

    def is_kept(self, f: Function, signs: Conditions) -> bool:
        """Tell whether f keeps its sign along the flow.

        No flow reaches f = 0 if all |X_a f| <= c |f|, or if f^2 >= c for a conserved c > 0.
        """
        p, slopes = f.top, [self.space.along(x, f).top for x in self.flow.X]
        left = all((slope % p).is_zero() or bounds(p, slope) for slope in slopes)
        return signs.keeps_sign(p) or left or self.stays_away(f, signs)

    def stays_away(self, f: Function, signs: Conditions) -> bool:
        """Tell whether f^2 >= c for a conserved c > 0."""
        space = self.space
        for text in self.record["conserved"]["laws"]:
            with contextlib.suppress(Rejected):  # its calls may not be known here
                law = space.read(text)
                for c in (law, -law) if space.kept(law) else ():
                    found = signs.sign_anywhere(f * f - c), signs.sign_of(space.near_start(c))
                    if found == (1, 1):
                        return True
        return False

    def constant_divisors(self) -> list[fmpz_mpoly]:
        """Return the irreducible divisors without weights."""
        space = self.space
        found = (p for d in space.divisors.values() for p, _ in d.factor()[1])
        return [p for p in found if space.is_of_constants(space.of(p))]
