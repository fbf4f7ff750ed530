"""Where Q lives: all beta between its walls, which are functions linear in beta, are reached.

A path in beta between the walls is lifted to the leaf by w' = G^-1 J^T rho beta', rho = K^-1, as
long as rho is finite, the weights are, and F lives: what it divides by, or takes a root of, is not
0. With y(beta) = grad Q and a warp g, rho = Dy/g, which is finite where the calls of y are smooth
and g is not 0; of one output it is 1/K as well. Weights are finite with rates that stay what they
are, as <w', G w'> = <beta', rho beta'>; where the fields are linear in w; or where |w|^2 solves a
polynomial over beta, or t, whose leading coefficient is not 0. Of steepest descent in l_p and F of
degree D > 0 they are where beta is not 0: d|w|_p/dbeta <= 1/|dF|_q <= |w|_p/(D |beta|) (Hoelder).

Of one output all may be in a coordinate t, with beta = f(t). Then t runs from end to end; all beta
are reached if f tends to the two ends of where beta is: to a wall, or to infinity where none is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from operator import add
from typing import NamedTuple, TypeAlias

from flint import fmpq, fmpz_mpoly

from derive.certificate.checking.function import (
    Function,
    constant,
    leading,
    not_zero,
    root_of,
    sign,
    substituted,
)
from derive.certificate.checking.reading import INFINITY, Call
from derive.certificate.checking.signs import Conditions, factors
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, Rejected, names_in, require
from derive.certificate.checking.theorem import Checker, rate_texts

POWERS = 13
SIDES = {"> 0": "> 0", "as at beta_0": "has the sign that it has at beta_0"}
UNDECIDED = {"kernel", "leaf", "length", "curve", "smooth", "beyond", "rates"}


class Coordinate(NamedTuple):
    """A coordinate t of the leaf of one output, between two ends; beta solves a relation to t."""

    name: str
    relation: str
    low: str = f"-{INFINITY}"
    high: str = INFINITY

    @property
    def ends(self) -> list[str]:
        """What is positive inside: t less its ends."""
        low, high = f"{self.name} - ({self.low})", f"{self.high} - {self.name}"
        return [low] * (self.low != f"-{INFINITY}") + [high] * (self.high != INFINITY)


def paces(record: JSON, said: JSON) -> list[str]:
    """Return K of one output, if it is printed in beta, or else y: rho is 1/K, or Dy/g."""
    given, table = record["parameterization"], record["metric"]["kernel"]
    if len(said["beta"]) > 1:
        return list(said["gradient"])
    K, at = said["kernel"], given["beta"].index(said["beta"][0])
    if K is None and table is not None and said["curve"] is None and "vector" not in given:
        K = table[at][at]
    return list(said["gradient"]) if K is None or said["curve"] is not None else [K]


def coordinate(record: JSON, said: JSON, proof: JSON) -> Coordinate | None:
    """Return z of a curve, or a root in which K or y is, whose interval is given; None: beta."""
    betas, curve, own = said["beta"], said["curve"], names_in(paces(record, said))
    if curve is not None:
        return Coordinate(curve["parameter"], f"({curve['beta']}) - {betas[0]}", *curve["interval"])
    roots = [root for root in said["roots"] if root["symbol"] in own]
    if not roots or len(betas) > 1 or "interval" not in proof:
        return None
    return Coordinate(roots[0]["symbol"], roots[0]["polynomial"], *proof["interval"])


def domain(state: Checker, said: JSON, proof: JSON) -> tuple[list[str], list[str]] | None:
    """Accept the domain, or say that it is not decided, or leave all that is said of it open.

    Return what is shown of its ends, in lines, and what is not 0 inside.
    """
    where, curve, betas, space = said["domain"], said["curve"], said["beta"], state.space
    require({*where["undecided"]} <= UNDECIDED, "a domain is undecided otherwise")
    fixed = names_in(where["unless_zero"]) <= space.fixed
    require(fixed, "what is not 0 has a name that is not said")
    ended = curve is not None and curve["interval"] is not None
    if where["undecided"] and not (where["walls"] or where["unless_zero"] or ended):
        state.theorem.append(f"which {', '.join(betas)} are reached is not decided")
        return None
    if proof.get("domain") is None or (curve is not None and not ended):
        state.open.append(f"the domain of Q of {', '.join(betas)}")
        return None
    t = coordinate(state.record, said, proof)
    ends = _ends(space, said, t)
    whole = curve is None or where["walls"] or "curve" not in where["undecided"]
    _lift(state, said, proof, t, bool(whole))
    if whole and "vector" not in state.given:  # of which the line of beta_0 alone is shown
        below = " below" * bool(where["walls"])
        state.theorem.append(f"every {', '.join(betas)}{below} is reached")
    return ends


def _lift(state: Checker, said: JSON, proof: JSON, t: Coordinate | None, whole: bool) -> None:
    """Accept that paths between the walls, or of t between its ends, are lifted to the leaf.

    Not *whole* is what is said of all t of finite weights alone.
    """
    space, where, at = state.space, said["domain"], [*map(state.given["beta"].index, said["beta"])]
    fields = [state.flow.X[a] for a in at]
    unless = [f"{text} != 0" for text in where["unless_zero"]]
    alone, signs = _between(state, said, proof, t, unless)
    K = _pace(state, said, proof, signs)
    if whole:
        steep = t is None and _is_steep(state, at[0], signs)
        finite = steep or _are_finite(state, fields) or _is_bounded(state, proof, signs)
        require(finite, "weights are not shown to be finite")
    if whole and t is not None:
        _reaches(state, said, signs, t)
    owed = [*alone.signs, *(alone.read(text) ** 2 for text in K)]
    missing = signs.missing(owed, [*alone.divisors.values()])
    of = ", ".join(said["beta"]) if t is None else t.name
    require(not missing, f"of all {of} there it is not shown: {'; '.join(missing):.100}")
    inside = t.ends if t is not None and t.ends else [wall["form"] for wall in where["walls"]]
    inside = [*inside, *(wall["vanishing"] for wall in where["walls"] if wall["vanishing"])]
    at_start = Conditions(space, [*state.conditions, *said["assumptions"], *unless], space.fixed)
    kept = state.kept(at_start, inside, [state.flow.K[at[0]][at[0]]] * len(K), fields)
    beyond = "; ".join(map(space.written, kept.left(state.needs)))
    require(not beyond, f"F is not shown to live there: {beyond:.100} != 0")
    state.assumed |= dict.fromkeys([*unless, *at_start.missing([], kept.from_start)])
    state.generic |= signs.generic


def _pace(state: Checker, said: JSON, proof: JSON, signs: Conditions) -> list[str]:
    """Return K of one output, which has to be other than 0; or read y, and require that g is so."""
    flow, alone, texts = state.flow, signs.space, paces(state.record, said)
    for text in texts:
        alone.read(text)
    if texts != said["gradient"]:
        at = state.given["beta"].index(said["beta"][0])
        state.equal([[state.space.read(texts[0])]], [[flow.K[at][at]]], "K of one output")
        return texts
    if any(not h.is_zero() for h in flow.H):
        P = alone.of(_relation(state, alone, state.printed_warp(), proof["warp"]))
        at_0 = P.into([*alone.symbols[:-1], alone.number(0)])
        require(_is_nowhere_zero(signs, at_0), "the warp is not shown to be other than 0")
    return []


def _are_finite(state: Checker, fields: Sequence[Sequence[Function]]) -> bool:
    """Tell whether rates stay what they are, or fields are linear in the weights."""
    space = state.space
    slopes = (f.derivative(k) for x in fields for f in x for k in range(space.weights))
    moving = names_in(rate_texts(state.given)) & {*state.given["weights"]}
    return not moving or all(map(space.is_of_constants, slopes))


def _is_steep(state: Checker, at: int, signs: Conditions) -> bool:
    """Tell whether the flow is steepest descent, the output homogeneous, and beta never 0."""
    above = bool(state.degrees) and state.degrees[at] > 0
    return above and _is_nowhere_zero(signs, signs.space.symbols[0])


def _is_bounded(state: Checker, proof: JSON, signs: Conditions) -> bool:
    """Tell whether |w|^2 solves a polynomial over beta or t, of a leading term other than 0."""
    if "square" not in proof:
        return False
    alone, w = signs.space, [state.space.symbols[k] for k in state.free]
    last = len(alone.symbols) - 1
    P = _relation(state, alone, state.space.dot(w, w), proof["square"])
    lead = alone.of(leading(P, last))
    return bool(P.degrees()[last] > 0) and _is_nowhere_zero(signs, lead)


def _relation(state: Checker, alone: Space, f: Function, text: str) -> fmpz_mpoly:
    """Return P(x; beta, c), where P(f; beta, c) = 0 on the leaf, of "_x"."""
    require(state.space.read(text, {"_x": f}).is_zero(), f"{text:.60} is no relation")
    P = alone.read(text, {"_x": alone.symbols[-1]})
    require(P.bottom.is_constant(), f"{text:.60} is no polynomial")
    return P.top


def _between(
    state: Checker, said: JSON, proof: JSON, t: Coordinate | None, unless: Sequence[str]
) -> tuple[Space, Conditions]:
    """Return a space in which beta, or t, are the variables, with conditions and ends in it.

    What the flow keeps is fixed there; beta, the second variable, is what its relation to t makes
    of it, in which it is linear.
    """
    names = said["beta"] if t is None else [t.name, *said["beta"]]
    alone = _alone(state.space, names, said, proof["domain"])
    walls, signs = [wall["form"] for wall in said["domain"]["walls"]], Conditions(alone)
    for f in map(alone.read, walls):
        slopes = (f.derivative(k) for k in range(alone.weights))
        require(all(map(alone.is_of_constants, slopes)), "a wall is not linear")
    if t is not None:
        P = alone.read(t.relation)
        slope, calls = P.partial(1), any(call.argument.uses(1) for call in alone.known)
        require(not calls and not slope.uses(1), f"{t.relation:.60} is not linear in beta")
        alone.names |= {names[1]: alone.names[names[1]] - P / slope}
    for text in (*state.conditions, *said["assumptions"], *unless):
        with contextlib.suppress(Rejected):  # of calls that are not known here
            signs.take([text], alone.names)
    for form, relation in _inside(said, t).items():
        signs.add(form, relation)
    for name, text in state.space.laws.items():
        with contextlib.suppress(Rejected):
            if _is_nowhere_zero(signs, alone.read(text)):
                signs.add(name, "!= 0")
    return alone, signs


def _inside(said: JSON, t: Coordinate | None) -> dict[str, str]:
    """Return how what is not 0 inside is to 0: what has the sign that it starts with has either."""
    walls = said["domain"]["walls"] if said["curve"] is None else []
    sides = {wall["form"]: "> 0" if wall["sign"] == "> 0" else "!= 0" for wall in walls}
    return sides | dict.fromkeys(t.ends if t else (), "> 0")


def _alone(space: Space, names: Sequence[str], said: JSON, definitions: JSON) -> Space:
    """Return a space in which some names are variables, with the calls and roots there."""
    constants = {n: f for n, f in space.names.items() if n in {*space.fixed, *space.laws}}
    alone = space.beside(names, [*constants], len(definitions) + 1)
    variables = [space.names[n] for n in names]
    alone.start = [f.at(space.start) for f in (*variables, *constants.values())]
    alone.w0 = alone.symbols[: len(names)]
    formulas = {root["symbol"]: root["explicit"] for root in said["roots"]}
    for entry in definitions:
        fresh = entry.get("name") not in space.names  # a name is one function, here and there
        named = fresh if "of" in entry else formulas.get(entry["name"], "") == entry["is"]
        require(named, "only calls, and roots by their formulas, are defined for a domain")
        alone.define(entry)
    return alone


def _is_nowhere_zero(signs: Conditions, f: Function) -> bool:
    """Tell whether a function is shown to be other than 0, without another condition."""
    parts = [p for p, _ in factors(f)]
    return bool(f.top) and all(str(p) in signs.others or signs.keeps_sign(p) for p in parts)


def _ends(space: Space, said: JSON, t: Coordinate | None) -> tuple[list[str], list[str]]:
    """Require that walls are of beta, and ends of t are constants, on the side that is said.

    What vanishes at a wall is 0 there alone: a power of it is the wall over what the flow keeps.
    """
    walls = said["domain"]["walls"]
    forms, sides = [w["form"] for w in walls], [w["sign"] for w in walls]
    ends, points = ([], []) if t is None else (t.ends, [t.low, t.high])
    own = names_in(forms) <= {*space.fixed, *said["beta"]}
    own = own and names_in(points) <= {*space.fixed, INFINITY}
    require(own, "a wall, or an end, has a name that is not said")
    for form, side in zip([*forms, *ends], [*sides, *("> 0" for _ in ends)], strict=True):
        require(side in SIDES, "a wall has another sign")
        if side == "> 0":
            space.positive(space.read(form), f"{form:.60} at the start")
        require(not_zero(space.read(form).at(space.start)), "beta starts at a wall")
    lines = [f"at least where {f} {SIDES[side]}" for f, side in zip(forms, sides, strict=True)]
    for form, vanishing in ((w["form"], w["vanishing"]) for w in walls if w["vanishing"]):
        wall, f = space.read(form), space.read(vanishing)
        powers = (space.kept(wall / f**n) for n in range(1, POWERS))
        require(any(powers), f"{vanishing:.60} does not vanish at the wall alone")
        lines.append(f"{vanishing} = 0 where {form} = 0")
    return lines, [*forms, *ends]


def _reaches(state: Checker, said: JSON, signs: Conditions, t: Coordinate) -> None:
    """Require that beta tends to infinity, or a wall to 0, on both sides as t tends to its ends."""
    alone, walls = signs.space, [wall["form"] for wall in said["domain"]["walls"]]
    beta, met = said["beta"][0], set[int]()
    for end in (End(alone, t.low, -1), End(alone, t.high, 1)):
        taken = end.relied
        if (x := end.leading(alone.read(beta))) is not None and x.order > BOUNDED:
            met.add(sign(x.c.at(alone.start)))
            taken.append(x.c)
        for form in walls:
            if (x := end.leading(alone.read(form))) is not None and x.order < BOUNDED:
                zero, one = (alone.read(form, {beta: alone.number(n)}) for n in (0, 1))
                inside, slope = (sign(f.at(alone.start)) for f in (alone.read(form), one - zero))
                met.add(-inside * slope)
                taken += [one - zero, x.c * x.c]
        require(all(map(alone.is_of_constants, taken)), "what beta tends to is not shown")
        state.assumed |= dict.fromkeys(signs.missing(taken, ()))
    require(met == {1, -1}, "beta is not shown to tend to infinity at both ends, or to a wall")


Order: TypeAlias = tuple[fmpq, fmpq, fmpq]
BOUNDED: Order = fmpq(0), fmpq(0), fmpq(0)


@dataclass(frozen=True)
class Leading:
    """c exp(r T) T^n (log T)^l of *order* (r, n, l), T -> oo, and what is less.

    Of what is not *exact* the sign of c alone is right; where c is 0 all is less.
    """

    order: Order
    c: Function
    exact: bool = True

    def __mul__(self, other: Leading) -> Leading:
        r, n, m = map(add, self.order, other.order)
        return Leading((r, n, m), self.c * other.c, self.exact and other.exact)

    def __add__(self, other: Leading) -> Leading:
        if self.exact and self.c.is_zero():
            return other
        if self.order != other.order:
            return max(self, other, key=lambda x: x.order)
        exact = self.exact and other.exact
        total = (self.c + other.c) * int(exact)
        return Leading(self.order, total, not total.is_zero())


class End:
    """What functions of a variable z, the first of a space, tend to at an end of its interval.

    Near a finite end e it is z = e + t or e - t with t -> 0+, else t = |z| -> infinity, and T is
    1/t or t. *relied* are functions of constants that were taken not to be 0.
    """

    def __init__(self, alone: Space, text: str, side: int) -> None:
        self.alone, z = alone, alone.symbols[0]
        self.infinite = text in (INFINITY, f"-{INFINITY}")
        self.image = z * side if self.infinite else alone.read(text) - z * side
        self.side, self.relied, zero = side, list[Function](), fmpq(0)
        t = Leading((zero, fmpq(1 if self.infinite else -1), zero), alone.number(1))
        self.known = {0: t}
        for k, x in enumerate(alone.symbols):
            if k and alone.is_of_constants(x):
                self.known[k] = Leading(BOUNDED, x)
        for k, call in enumerate(alone.generators, alone.size):
            if k not in self.known and (leading := self._call(call)) is not None:
                self.known[k] = leading

    def _call(self, call: Call) -> Leading | None:
        """Return how a call behaves; None where that is not known."""
        one, zero, inside = self.alone.number(1), fmpq(0), self.leading(call.argument)
        if call.kind == "exp":
            k = constant(call.argument.derivative(0))
            if k is None or not call.argument.same(self.alone.symbols[0] * k):
                return None
            return Leading(
                (k * self.side if self.infinite else zero, zero, zero), one, self.infinite
            )
        if inside is None:
            return None
        self.relied.append(inside.c * inside.c)
        (rate, n, logs), root = inside.order, root_of(call.exponent)
        if call.kind == "log" and rate == logs == 0:  # it is bounded, of a sign not known, if n = 0
            return Leading((zero, zero, fmpq(n != 0)), one * n, bool(n != 0))
        if call.kind == "power" and root is not None and logs == 0:
            image = one * sign(call.image.at(self.alone.start))
            return Leading((rate / root, n / root, zero), image, False)
        return None

    def leading(self, f: Function) -> Leading | None:
        """Return how a function behaves; None where leading terms cancel or one is not known."""
        alone, sides = self.alone, list[Leading]()
        for p in (f.top, f.bottom):
            near = alone.of(p).into([self.image, *alone.symbols[1:]])
            if not near.variables <= self.known.keys():
                return None
            values = [self.known.get(k, self.known[0]) for k in range(len(alone.symbols))]
            whole = substituted(near.top, values, lambda n: Leading(BOUNDED, alone.number(n)))
            if whole.c.is_zero():
                return None
            sides.append(Leading(whole.order, whole.c * alone.of(near.bottom), whole.exact))
        (r, n, logs), (s, m, levels) = sides[0].order, sides[1].order
        return Leading((r - s, n - m, logs - levels), sides[0].c * sides[1].c, False)
