"""Where Q lives: ends of one output or of the parameter of a curve; walls of several outputs.

Of several coupled outputs every beta that no wall parts from beta_0 is reached: a path in beta is
lifted to the leaf by w' = J^T K^-1 beta' as long as w is bounded and det K is not 0. Proofs are
relations P(f; beta, c) = 0 with conserved c: |w|^2 is bounded where beta is if it has one with
leading coefficient 1; a factor f of det K is 0 only where P(0; beta, c_0) is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from flint import fmpz_mpoly

from derive.certificate.checking.ends import BOUNDED, End
from derive.certificate.checking.existence import starts_at
from derive.certificate.checking.flow import determinant
from derive.certificate.checking.function import Function, leading, not_zero
from derive.certificate.checking.signs import Conditions, factors
from derive.certificate.checking.space import Space
from derive.certificate.checking.start import rate_texts
from derive.certificate.checking.text import JSON, Rejected, names_in, require
from derive.certificate.checking.theorem import Checker

POWERS = 13
UNDECIDED = {"kernel", "leaf", "length", "curve", "smooth", "beyond"}


def domain(state: Checker, said: JSON, proof: JSON) -> None:
    """Accept the domain, or say that it is not decided, or leave what is said of it open."""
    where, curve, betas = said["domain"], said["curve"], said["beta"]
    require({*where["undecided"]} <= UNDECIDED, "a domain is undecided otherwise")
    fixed = names_in(where["unless_zero"]) <= state.space.fixed
    require(fixed, "what is not 0 has a name that is not said")
    _are_ends(state.space, said)
    if where["undecided"] and not (where["walls"] or where["unless_zero"] or curve):
        state.theorem.append(f"which {', '.join(betas)} are reached is not decided")
        return
    of_one = len(betas) == 1
    over = runs_over(state.record, said)
    unread = of_one and (where["unless_zero"] or over is None)
    if unread or proof.get("domain") is None:
        state.open.append(f"the domain of Q of {', '.join(betas)}")
    elif of_one and over is not None:
        _of_one(state, said, proof, *over)
    else:
        unless = [f"{text} != 0" for text in where["unless_zero"]]
        Conditions(state.space, unless)
        alone, signs = _between(state, said, proof, betas, unless)
        lift = Lift(state, alone, signs)
        lift.check([*map(state.given["beta"].index, betas)], proof["reached"])
        state.assumed |= dict.fromkeys(unless)
        state.generic |= signs.generic
        state.theorem.append(f"every beta{' below' * bool(where['walls'])} is reached")


def runs_over(record: JSON, said: JSON) -> tuple[str, str] | None:
    """Return what K of one output is a function of, and that; or a parameter with its curve.

    K is a function of beta, or of the one root that is not written out.
    """
    (curve, table), betas = (said["curve"], record["metric"]["kernel"]), said["beta"]
    if curve is not None:
        return curve["parameter"], curve["beta"]
    if said["kernel"]:
        return betas[0], said["kernel"]
    given = record["parameterization"]
    if len(betas) > 1 or len(said["roots"]) != 1 or table is None or "vector" in given:
        return None
    at = given["beta"].index(betas[0])
    return said["roots"][0]["symbol"], table[at][at]


def _of_one(state: Checker, said: JSON, proof: JSON, name: str, text: str) -> None:
    """Accept the ends of beta where K(beta) of one output is 0 or infinite, or those of a curve.

    K is read as a function of beta or of a root, or h and y are of z alone: with the walls as
    conditions no factor of K vanishes, nor what is under roots, in logarithms and denominators. A
    root of a polynomial in beta, whose leading coefficient is a number, is finite where beta is.
    The weights move with |dw/dbeta|^2 = 1/K, which keeps them finite, or with dw/dz = y'(z) grad F,
    and F lives as long as nothing vanishes that it divides by, or takes a root of.
    """
    alone, signs = _between(state, said, proof, [name])
    at, f = state.given["beta"].index(said["beta"][0]), alone.read(text)
    K, lives = state.flow.K[at][at], [f]
    if said["curve"] is not None:
        alone.read(said["gradient"][0])
        lives = []
        if "curve" not in said["domain"]["undecided"]:
            require(
                _is_onto(state, f, said, signs),
                "beta is not shown to tend to infinity at both ends",
            )
            require(_are_finite(state, at, ends(said)), "weights are not shown to be finite")
    elif name not in said["beta"]:
        state.equal([[state.space.read(text)]], [[K]], "K of one output")
        constants = [n for n in state.space.names if n in state.space.fixed]
        P = Space([*said["beta"], name], constants, 1).read(said["roots"][0]["polynomial"]).top
        require(leading(P, 1).is_constant(), f"{name} is not shown to be finite where beta is")
    squares = [f * f for f in lives]
    missing = signs.missing([*alone.signs, *squares], [*alone.divisors.values()])
    require(not missing, f"of all {name} there it is not shown: {'; '.join(missing):.100}")
    at_start = Conditions(state.space, [*state.conditions, *said["assumptions"]], state.space.fixed)
    kept = state.kept(at_start, ends(said), lives and [K], [state.flow.X[at]])
    beyond = "; ".join(map(state.space.written, kept.left(state.needs)))
    require(not beyond, f"F is not shown to live there: {beyond:.100} != 0")
    state.assumed |= dict.fromkeys(at_start.missing([], kept.from_start))
    state.generic |= signs.generic


def _is_onto(state: Checker, h: Function, said: JSON, signs: Conditions) -> bool:
    """Tell whether h(z) tends to infinity at one end of its interval, to -infinity at the other."""
    alone, found, relied = signs.space, list[Function](), list[Function]()
    for text, side in zip(said["curve"]["interval"], (-1, 1), strict=True):
        end = End(alone, text, side)
        leading = end.leading(h)
        if leading is None or leading.order <= BOUNDED:
            return False
        found.append(leading.c)
        relied += end.relied
    low, high = found
    parts = [alone.of(p) for f in (low * high, *relied) for p, _ in factors(f)]
    fixed, moving = ([f for f in parts if alone.is_of_constants(f) == x] for x in (True, False))
    state.assumed |= dict.fromkeys(signs.missing([f * f for f in fixed], ()))
    return signs.sign_anywhere(low * high) == -1 and all(signs.keeps_sign(f.top) for f in moving)


def _are_finite(state: Checker, at: int, walls: Sequence[str]) -> bool:
    """Tell whether weights are finite wherever z is inside its interval.

    They are where the fields are linear, or each weight that moves has a power that is linear in
    y(z), or one whose product with a wall is constant.
    """
    space, x = state.space, state.flow.X[at]
    moves = range(space.weights)
    if all(space.is_of_constants(slope.derivative(k)) for slope in x for k in moves):
        return True
    values = [state.space.read(wall) for wall in walls]
    moving = [(w, slope) for w, slope in zip(space.symbols, x, strict=False) if slope.top]
    powers = [n for n in range(-POWERS, POWERS) if n]
    return all(
        any(space.is_of_constants(w ** (n - 1) * slope) for n in range(1, POWERS))
        or any((space.along(x, v) * w + v * slope * n).is_zero() for v in values for n in powers)
        for w, slope in moving
    )


def _between(
    state: Checker, said: JSON, proof: JSON, names: Sequence[str], unless: Sequence[str] = ()
) -> tuple[Space, Conditions]:
    """Return a space in which beta, or z, are the variables, with conditions and walls in it.

    What the flow keeps is fixed there; named constants are read where several beta are variables.
    """
    space, definitions = state.space, proof["domain"]
    values = said["constants"] if len(names) > 1 else {}
    constants = [n for n in space.names if n in space.fixed and n not in values]
    alone = Space(names, constants, len(definitions) + 1)
    alone.start = [space.names[n].at(space.start) for n in (*names, *constants)]
    alone.w0 = alone.symbols[: len(names)]
    for entry in definitions:
        require("of" in entry and "name" in entry, "only calls are defined for a domain")
        alone.define(entry)
    for name, value in values.items():
        with contextlib.suppress(Rejected):  # of calls that are not known here
            alone.names[name] = alone.read(value)
    signs = Conditions(alone)
    for text in (*state.conditions, *said["assumptions"], *unless):
        with contextlib.suppress(Rejected):  # of calls that are not known here
            signs.take([text], alone.names)
    for form in ends(said):
        f = alone.read(form)
        linear = all(alone.is_of_constants(f.derivative(k)) for k in range(alone.weights))
        require(linear, "a wall is not linear")  # so that no part between walls is left out
        signs.add(form, "> 0" if f.at(alone.start) > 0 else "< 0")
    return alone, signs


def _are_ends(space: Space, said: JSON) -> None:
    """Require that walls, and the ends of a curve, are of beta or z, on the side that is said."""
    walls, known = said["domain"]["walls"], {*space.fixed, *said["beta"]}
    known |= {root["symbol"] for root in said["roots"]}
    forms = [(wall["form"], wall["sign"]) for wall in walls]
    if (curve := said["curve"]) is not None:
        known.add(curve["parameter"])
        forms += [(form, "> 0") for form in ends(said)]
    for form, sign in forms:
        own = names_in([form]) <= known and sign in ("> 0", "as at beta_0")
        require(own, "a wall has another sign, or a name that is not said")
        if sign == "> 0":
            space.positive(space.read(form), f"{form:.60} at the start")
        require(not_zero(space.read(form).at(space.start)), "beta starts at a wall")
    for wall in walls:
        if wall["vanishing"] is not None:
            form, f = space.read(wall["form"]), space.read(wall["vanishing"])
            powers = (space.is_of_constants(form / f**n) for n in range(1, POWERS))
            require(any(powers), f"{wall['vanishing']:.60} does not vanish at the wall alone")


def ends(said: JSON) -> list[str]:
    """Return what keeps its sign: the walls, or z less the ends of its interval."""
    if (curve := said["curve"]) is None:
        return [wall["form"] for wall in said["domain"]["walls"]]
    name, (low, high) = curve["parameter"], curve["interval"]
    return [f"{name} - ({low})"] * (low != "-oo") + [f"{high} - {name}"] * (high != "oo")


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
        plain.append(not names_in(rate_texts(state.given)) & {*state.given["weights"]})
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
        last = len(alone.symbols) - 1
        own = [self.space.symbols[k] for k in state.free if any(flow.F[a].uses(k) for a in at)]
        P = self._relation(self.space.dot(own, own), proof["square"], alone.symbols[-1])
        bounded = leading(P.top, last).is_constant() and P.uses(last)
        require(bounded, "|w|^2 is not shown to be bounded where beta is")
        shown = [self.space.read(entry["is"]) for entry in proof["factors"]]
        for f, entry in zip(shown, proof["factors"], strict=True):
            P = self._relation(f, entry["zero"], alone.number(0))
            lives = not P.top.is_zero() and all(self._lives(p) for p, _ in P.top.factor()[1])
            require(lives, f"{entry['is']:.60} is not shown to be other than 0")
        at_start = Conditions(self.space, state.conditions, self.space.fixed)
        kept, K = (
            state.kept(at_start, more=shown, fields=()),
            [[flow.K[a][b] for b in at] for a in at],
        )
        require(not kept.left([determinant(K)]), "det K is not shown to be other than 0")
        state.assumed |= dict.fromkeys(self.signs.missing([], kept.from_start))

    def _relation(self, f: Function, text: str, x: Function) -> Function:
        """Return P(x; beta, c_0), where P(f; beta, c) = 0 on the leaf."""
        require(self.space.read(text, {"_x": f}).is_zero(), f"{text:.60} is no relation")
        P = self.alone.read(text, {"_x": x})
        plain = self.alone.is_of_constants(self.alone.of(P.bottom))
        require(plain, f"{text:.60} is no polynomial in beta")
        return P

    def _lives(self, p: fmpz_mpoly) -> bool:
        """Tell whether p is a wall, or a constant other than 0 and what has the sign of that."""
        if str(p) in self.signs.others:
            return True
        f = self.alone.of(p)
        c = f.into([self.alone.number(0)] * self.alone.weights)
        if c.top.is_zero() or self.signs.missing([c * c], ()):
            return False
        rest, of = f - c, self.signs.sign_anywhere
        return bool(rest.top.is_zero()) or of(rest) == of(c) != 0
