"""The domain of several coupled outputs: every beta that no wall parts from beta_0 is reached.

A path in beta is lifted to the leaf by w' = J^T K^-1 beta' as long as w is bounded and det K is not
0. Proofs are relations P(f; beta, c) = 0 with conserved c: |w|^2 is bounded where beta is if it has
one with leading coefficient 1; a factor f of det K is 0 only where P(0; beta, c_0) is.
"""

from __future__ import annotations

from flint import fmpz_mpoly

from derive.certificate.checking.assumed import stated, stays_away
from derive.certificate.checking.existence import starts_at
from derive.certificate.checking.flow import determinant
from derive.certificate.checking.function import Function, leading
from derive.certificate.checking.signs import Conditions
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, require
from derive.certificate.checking.theorem import Checker


class Lift:
    """Relations in "_x" for a function, beta, and "_1", "_2", ... for the conserved quantities.

    In the space *alone* beta are variables, and "_1", ... have their values at the start.
    """

    def __init__(self, state: Checker, alone: Space, signs: Conditions) -> None:
        self.state, self.space, self.alone, self.signs = state, state.space, alone, signs
        space, calls = state.space, range(state.space.size, len(state.space.symbols))
        plain = [f.bottom.is_constant() and not any(map(f.uses, calls)) for f in state.flow.F]
        plain += [alone.is_of_constants(call.argument) for call in alone.known]
        plain += [not name.startswith("_") for name in space.names]
        require(all(plain), "F is no polynomial in weights")
        laws, values = (state.record["conserved"][key] for key in ("laws", "values_at_start"))
        for n, (law, value) in enumerate(zip(laws, values, strict=True), 1):
            c = space.names[f"_{n}"] = space.read(law)
            kept = space.kept(c) and value is not None and starts_at(state, c, value)
            require(kept, "a law of the domain is no constant of the flow")
            alone.names[f"_{n}"] = alone.read(value)

    def check(self, at: list[int], proof: JSON) -> None:
        """Require that |w|^2 is bounded where beta is, and det K not 0 between the walls."""
        state, flow, alone = self.state, self.state.flow, self.alone
        own = (k for k in state.free if any(flow.F[a].uses(k) for a in at))
        square = sum((self.space.symbols[k] ** 2 for k in own), flow.zero)
        P = self._relation(square, proof["square"], alone.symbols[-1])
        lead = leading(P.top, len(alone.symbols) - 1)
        bounded = lead.is_constant() and P.uses(len(alone.symbols) - 1)
        require(bounded, "|w|^2 is not shown to be bounded where beta is")
        shown = [self.space.read(entry["is"]) for entry in proof["factors"]]
        for f, entry in zip(shown, proof["factors"], strict=True):
            P = self._relation(f, entry["zero"], alone.number(0))
            lives = not P.top.is_zero() and all(self._lives(p) for p, _ in P.top.factor()[1])
            require(lives, f"{entry['is']:.60} is not shown to be other than 0")
        kept = stated(state)
        K = [[flow.K[a][b] for b in at] for a in at]
        for p, _ in determinant(K).top.factor()[1]:
            divides = any((f.top % p).is_zero() for f in shown)
            lives = divides or stays_away(state, Function(self.space, p, self.space.one), kept)
            require(lives, "det K is not shown to be other than 0")

    def _relation(self, f: Function, text: str, x: Function) -> Function:
        """Return P(x; beta, c_0), where P(f; beta, c) = 0 on the leaf."""
        self.space.names["_x"], self.alone.names["_x"] = f, x
        require(self.space.read(text).is_zero(), f"{text:.60} is no relation")
        P = self.alone.read(text)
        divisor = Function(self.alone, P.bottom, self.alone.one)
        require(self.alone.is_of_constants(divisor), f"{text:.60} is no polynomial in beta")
        return P

    def _lives(self, p: fmpz_mpoly) -> bool:
        """Tell whether p is a wall, or a constant other than 0 and what has the sign of that."""
        if str(p) in self.signs.others:
            return True
        f = Function(self.alone, p, self.alone.one)
        c = f.into([self.alone.number(0)] * self.alone.weights)
        if c.top.is_zero() or self.signs.missing([c * c], ()):
            return False
        rest, of = f - c, self.signs.sign_anywhere
        return bool(rest.top.is_zero()) or of(rest) == of(c) != 0
