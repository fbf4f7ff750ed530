"""Where Q lives: ends of one output, or of a coordinate t with beta = f(t); walls of several.

Of several coupled outputs every beta that no wall parts from beta_0 is reached: a path in beta is
lifted to the leaf by w' = J^T K^-1 beta' as long as w is bounded and det K is not 0. Proofs are
relations P(f; beta, c) = 0 with conserved c: |w|^2 is bounded where beta is if it has one with
leading coefficient 1; a factor f of det K is 0 only where P(0; beta, c_0) is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from flint import fmpq, fmpz_mpoly

from derive.certificate.checking.flow import Field, determinant
from derive.certificate.checking.function import (
    Function,
    constant,
    leading,
    not_zero,
    root_of,
    sign,
    times,
)
from derive.certificate.checking.reading import INFINITY, Known
from derive.certificate.checking.signs import Conditions, bounds
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, Rejected, names_in, require
from derive.certificate.checking.theorem import Checker, rate_texts

POWERS = 13
SIDES = {"> 0": "> 0", "as at beta_0": "has the sign that it has at beta_0"}
UNDECIDED = {"kernel", "leaf", "length", "curve", "smooth", "beyond"}


class Ends(NamedTuple):
    """What is shown of the ends of where Q lives, in *lines*, and what is not 0 *inside*."""

    lines: Sequence[str]
    inside: Sequence[str]


def domain(state: Checker, said: JSON, proof: JSON) -> Ends | None:
    """Accept the domain, or say that it is not decided, or leave all that is said of it open."""
    where, curve, betas = said["domain"], _bounded(said["curve"]), said["beta"]
    reached = f"every {', '.join(betas)}{' below' * bool(where['walls'])} is reached"
    require({*where["undecided"]} <= UNDECIDED, "a domain is undecided otherwise")
    fixed = names_in(where["unless_zero"]) <= state.space.fixed
    require(fixed, "what is not 0 has a name that is not said")
    t = coordinate(state.record, said, proof)
    if where["undecided"] and not (where["walls"] or where["unless_zero"] or curve):
        state.theorem.append(f"which {', '.join(betas)} are reached is not decided")
        return None
    if proof.get("domain") is None or (len(betas) == 1 and (where["unless_zero"] or t is None)):
        state.open.append(f"the domain of Q of {', '.join(betas)}")
        return None
    ends = _ends(state.space, said, t)
    if t is not None:
        whole = curve is None or where["walls"] or "curve" not in where["undecided"]
        _of_one(state, said, proof, t, reached if whole else "")
        # Of a vector that is shown of the line of beta_0 alone.
        state.theorem += [reached] * bool(whole and "vector" not in state.given)
        return ends
    unless = [f"{text} != 0" for text in where["unless_zero"]]
    Conditions(state.space, unless)
    alone, signs = _between(state, said, proof, None, unless)
    lift = Lift(state, alone, signs)
    lift.check([*map(state.given["beta"].index, betas)], proof["reached"])
    state.assumed |= dict.fromkeys(unless)
    state.generic |= signs.generic
    state.theorem.append(reached)
    return ends


class Coordinate(NamedTuple):
    """A coordinate t of the leaf of one output, between two ends.

    beta solves a *relation* to t, unless it is t; *pace* is K(t), or y(t) where K is None.
    """

    name: str
    K: str | None
    pace: str
    relation: str | None = None
    low: str = "-oo"
    high: str = "oo"

    @property
    def ends(self) -> list[str]:
        """What is positive inside: t less its ends."""
        low, high = f"{self.name} - ({self.low})", f"{self.high} - {self.name}"
        return [low] * (self.low != "-oo") + [high] * (self.high != "oo")


def _bounded(curve: JSON) -> JSON:
    """Return a curve, None of one whose parameter has no interval."""
    return None if curve is None or curve["interval"] is None else curve


def coordinate(record: JSON, said: JSON, proof: JSON) -> Coordinate | None:
    """Return z of a curve, else the one root in which K or y is written, or beta; or None.

    None too of a curve without an interval.
    """
    table, betas, curve = record["metric"]["kernel"], said["beta"], said["curve"]
    if len(betas) > 1 or curve != _bounded(curve):
        return None
    K, y = said["kernel"], said["gradient"][0]
    if curve is not None:
        relation = f"({curve['beta']}) - {betas[0]}"
        return Coordinate(curve["parameter"], None, y, relation, *curve["interval"])
    if K is None and table is not None and "vector" not in record["parameterization"]:
        at = record["parameterization"]["beta"].index(betas[0])
        K = table[at][at]
    own = names_in([K or y])
    roots = [root for root in said["roots"] if root["symbol"] in own]
    if not roots:
        return Coordinate(betas[0], K, K or y)
    (name, relation), *more = ((root["symbol"], root["polynomial"]) for root in roots)
    interval = proof.get("interval") or ("-oo", "oo")
    return None if more else Coordinate(name, K, K or y, relation, *interval)


def _of_one(state: Checker, said: JSON, proof: JSON, t: Coordinate, reached: str) -> None:
    """Accept that all beta are *reached*, up to the walls; else those of all t of finite weights.

    Along w' = grad F, in a time mu, beta' = K >= 0, so beta is monotone. Inside the interval of t
    nothing divides by 0 or takes a root of it: beta = f(t) is finite, and so is mu, which is y(t),
    where no warp turns the time, or int dbeta/K(t), K other than 0. Weights are finite with them,
    and F lives as long as nothing vanishes that it divides by, or takes a root of. So the flow runs
    through all t. At each end f tends to infinity, or a wall to 0; of beta itself this is plain.
    Of a root t all of this may be so only where the walls are other than 0: the flow runs through
    all t up to the first at which one is 0, or to the end.
    """
    space, at = state.space, state.given["beta"].index(said["beta"][0])
    alone, signs = _between(state, said, proof, t)
    pace, x = alone.read(t.pace), state.flow.X[at]
    lives, inside = [pace * pace], t.ends or [wall["form"] for wall in said["domain"]["walls"]]
    if t.K is not None:
        state.equal([[space.read(t.K)]], [[state.flow.K[at][at]]], "K of one output")
    else:
        require(all(h.is_zero() for h in state.flow.H), "y is no time of the flow, which is warped")
        lives = []
    if reached:
        finite = _are_finite(state, x, inside) or _are_bounded(state, said, proof)
        require(finite, "weights are not shown to be finite")
        if t.relation is not None:
            sides = zip((t.low, t.high), (-1, 1), strict=True)
            whole = all(_is_an_end(state, said, signs, End(alone, *side)) for side in sides)
            require(whole, "beta is not shown to tend to infinity at both ends, or to a wall")
    missing = signs.missing([*alone.signs, *lives], [*alone.divisors.values()])
    require(not missing, f"of all {t.name} there it is not shown: {'; '.join(missing):.100}")
    at_start = Conditions(space, [*state.conditions, *said["assumptions"]], space.fixed)
    kept = state.kept(at_start, inside, [state.flow.K[at][at]] * len(lives), [x])
    beyond = "; ".join(map(space.written, kept.left(state.needs)))
    require(not beyond, f"F is not shown to live there: {beyond:.100} != 0")
    state.assumed |= dict.fromkeys(at_start.missing([], kept.from_start))
    state.generic |= signs.generic


def _is_an_end(state: Checker, said: JSON, signs: Conditions, end: End) -> bool:
    """Tell whether at an end of t beta tends to infinity, or a wall to 0.

    As beta is monotone these are not the same at both ends.
    """
    alone = signs.space
    beta, walls = said["beta"][0], [wall["form"] for wall in said["domain"]["walls"]]
    tends = [end.leading(alone.read(text)) for text in (beta, *walls)]
    to_infinity = tends[0] is not None and tends[0].order > BOUNDED
    if not to_infinity and not any(x is not None and x.order < BOUNDED for x in tends[1:]):
        return False
    taken = [*(x.c for x in tends if x is not None), *end.relied]
    state.assumed |= dict.fromkeys(signs.missing([c * c for c in taken], ()))
    return all(map(alone.is_of_constants, taken))


def _are_finite(state: Checker, x: Field, inside: Sequence[str]) -> bool:
    """Tell whether weights are finite where beta and mu are, and what is positive inside.

    With rates that stay what they are |w - w_0|^2 <= c mu (beta - beta_0), by Cauchy and Schwarz;
    else w' is linear in w, or |<w, w'>| <= c (1 + |w|^2), or each weight that moves has a power
    such that v w^n is linear in mu, n > 0, or constant, where v is 1 or positive inside.
    """
    space = state.space
    moves, w = range(space.weights), space.symbols[: space.weights]
    fixed = not names_in(rate_texts(state.given)) & {*state.given["weights"]}
    if fixed or all(space.is_of_constants(f.derivative(k)) for f in x for k in moves):
        return True
    size, slope = space.dot(w, w) + 1, space.dot(w, x)
    if bounds(times(size.top, slope.bottom), slope.top):
        return True
    factors = [(v, space.along(x, v)) for v in (space.number(1), *map(space.read, inside))]
    return all(
        any(
            (rate := dv * u + v * du * n).is_zero()
            or (n > 0 and space.is_of_constants(u ** (n - 1) * rate))
            for v, dv in factors
            for n in range(-POWERS, POWERS)
            if n
        )
        for u, du in zip(w, x, strict=True)
        if du.top
    )


def _are_bounded(state: Checker, said: JSON, proof: JSON) -> bool:
    """Tell whether weights are bounded where beta is, by a relation."""
    at = [*map(state.given["beta"].index, said["beta"])]
    relation, around = proof.get("reached"), _between(state, said, proof, None)
    return relation is not None and Lift(state, *around).is_bounded(at, relation["square"])


def _between(
    state: Checker, said: JSON, proof: JSON, t: Coordinate | None, unless: Sequence[str] = ()
) -> tuple[Space, Conditions]:
    """Return a space in which beta, or t, are the variables, with conditions and ends in it.

    What the flow keeps is fixed there; named constants are read where several beta are variables.
    """
    betas, solved = said["beta"], t is not None and t.relation is not None
    names = [t.name, *betas] if t is not None and solved else betas
    alone = _alone(state.space, names, proof["domain"], said["constants"] if t is None else {})
    walls, signs = [wall["form"] for wall in said["domain"]["walls"]], Conditions(alone)
    for f in map(alone.read, walls):
        slopes = (f.derivative(k) for k in range(alone.weights))
        require(all(map(alone.is_of_constants, slopes)), "a wall is not linear")
    if t is not None and solved:
        _solve(alone, str(t.relation), betas[0])
    for text in (*state.conditions, *said["assumptions"], *unless):
        with contextlib.suppress(Rejected):  # of calls that are not known here
            signs.take([text], alone.names)
    for form in [*(t.ends if t else ()), *(walls if said["curve"] is None else ())]:
        signs.add(form, "> 0" if alone.read(form).at(alone.start) > 0 else "< 0")
    return alone, signs


def _alone(space: Space, names: Sequence[str], definitions: JSON, values: JSON) -> Space:
    """Return a space in which some names are variables; of constants, some have *values* there."""
    constants = [n for n in space.names if n in space.fixed and n not in values]
    alone = Space(names, constants, len(definitions) + 1)
    alone.start = [space.names[n].at(space.start) for n in (*names, *constants)]
    alone.w0 = alone.symbols[: len(names)]
    for entry in definitions:
        require("of" in entry, "only calls are defined for a domain")
        alone.define(entry)
    for name, value in values.items():
        with contextlib.suppress(Rejected):  # of calls that are not known here
            alone.names[name] = alone.read(value)
    return alone


def _solve(alone: Space, relation: str, beta: str) -> None:
    """Put for beta, the second variable, what a relation that is linear in it makes of it."""
    P = alone.read(relation)
    slope, calls = P.partial(1), any(call.argument.uses(1) for call in alone.known)
    require(not calls and not slope.uses(1), f"{relation:.60} is not linear in beta")
    alone.names |= {beta: alone.names[beta] - P / slope}


def _ends(space: Space, said: JSON, t: Coordinate | None) -> Ends:
    """Require that walls are of beta, and ends of t are constants, on the side that is said."""
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
        powers = (space.is_of_constants(wall / f**n) for n in range(1, POWERS))
        require(any(powers), f"{vanishing:.60} does not vanish at the wall alone")
        lines.append(f"{vanishing} = 0 where {form} = 0")
    return Ends(lines, [*forms, *ends])


class Lift:
    """Relations in "_x" for a function, beta, and "_1", "_2", ... for the conserved quantities.

    In the space *alone* beta are variables, and "_1", ... have their values at the start.
    """

    def __init__(self, state: Checker, alone: Space, signs: Conditions) -> None:
        self.state, self.space, self.alone, self.signs = state, state.space, alone, signs
        space, calls = state.space, range(state.space.size, len(state.space.symbols))
        plain = [f.bottom.is_constant() and not any(map(f.uses, calls)) for f in state.flow.F]
        plain += [not name.startswith("_") for name in space.names]
        require(all(plain), "F is no polynomial in weights")
        laws, values = (state.record["conserved"][key] for key in ("laws", "values_at_start"))
        for n, (law, value) in enumerate(zip(laws, values, strict=True), 1):
            c = space.names[f"_{n}"] = space.read(law)
            kept = space.kept(c) and value is not None and state.starts_at(c, value)
            require(kept, "a law of the domain is no constant of the flow")
            alone.names[f"_{n}"] = alone.read(value)

    def check(self, at: list[int], proof: JSON) -> None:
        """Require that |w|^2 is bounded where beta is, and det K not 0 between the walls."""
        state, flow, alone = self.state, self.state.flow, self.alone
        require(self.is_bounded(at, proof["square"]), "|w|^2 is not shown to be bounded")
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
        wanted = [determinant(K), *state.needs]
        require(not kept.left(wanted), "det K is not shown to be other than 0, or F to live")
        state.assumed |= dict.fromkeys(self.signs.missing([], kept.from_start))

    def is_bounded(self, at: Sequence[int], text: str) -> bool:
        """Tell whether |w|^2 has a relation with a leading coefficient that is a number."""
        flow, last = self.state.flow, len(self.alone.symbols) - 1
        free = (k for k in self.state.free if any(flow.F[a].uses(k) for a in at))
        own = [self.space.symbols[k] for k in free]
        P = self._relation(self.space.dot(own, own), text, self.alone.symbols[-1])
        return leading(P.top, last).is_constant() and P.uses(last)

    def _relation(self, f: Function, text: str, x: Function) -> Function:
        """Return P(x; beta, c_0), where P(f; beta, c) = 0 on the leaf."""
        require(self.space.read(text, {"_x": f}).is_zero(), f"{text:.60} is no relation")
        P = self.alone.read(text, {"_x": x})
        own = P.variables - {*range(self.alone.weights)}
        plain = all(self.alone.is_of_constants(self.alone.symbols[k]) for k in own)
        plain = plain and self.alone.is_of_constants(self.alone.of(P.bottom))
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


Order: TypeAlias = tuple[fmpq, fmpq, int]
BOUNDED: Order = fmpq(0), fmpq(0), 0


class Leading(NamedTuple):
    """The order of a function and c, of which the sign alone is right where it is not *exact*."""

    order: Order
    c: Function
    exact: bool


class End:
    """What functions of a variable z, the first of a space, tend to at an end of its interval.

    Near a finite end e it is z = e + t or e - t with t -> 0+, else t = |z| -> infinity. There t,
    exp(k z), roots and logarithms behave like c exp(r T) T^n (log T)^l, T = 1/t or t: the order
    (r, n, l) of a product is the sum, and of a sum the largest, if no leading terms cancel.
    *relied* are functions of constants that were taken not to be 0.
    """

    def __init__(self, alone: Space, text: str, side: int) -> None:
        self.alone, z = alone, alone.symbols[0]
        self.infinite = text in (INFINITY, f"-{INFINITY}")
        self.image = z * side if self.infinite else alone.read(text) - z * side
        self.side, self.relied = side, list[Function]()
        order = (fmpq(0), fmpq(1 if self.infinite else -1), 0)
        self.known = {0: Leading(order, alone.number(1), True)}
        for k, call in enumerate(alone.generators, alone.size):
            if (leading := self._call(call)) is not None:
                self.known[k] = leading

    def _call(self, call: Known) -> Leading | None:
        """Return how a call behaves; None where that is not known."""
        alone, z = self.alone, self.alone.symbols[0]
        if alone.is_of_constants(call.image):
            return Leading(BOUNDED, call.image, True)
        if call.kind == "exp":
            k = constant(call.argument.derivative(0))
            if k is None or not call.argument.same(z * k):
                return None
            grows = (k * self.side, fmpq(0), 0) if self.infinite else BOUNDED
            return Leading(grows, alone.number(1), self.infinite)
        inside = self.leading(call.argument)
        if inside is None:
            return None
        (rate, n, logs), root = inside.order, root_of(call.exponent)
        if call.kind == "log" and rate == 0 and logs == 0:  # 0: bounded, of a sign not known
            return Leading((fmpq(0), fmpq(0), int(n != 0)), alone.number(n), bool(n != 0))
        if call.kind == "power" and root is not None and logs == 0:
            one = alone.number(sign(call.image.at(alone.start)))
            return Leading((rate / root, n / root, 0), one, False)
        return None

    def leading(self, f: Function) -> Leading | None:
        """Return how a function behaves; None where leading terms cancel or one is not known."""
        images, parts = [self.image, *self.alone.symbols[1:]], list[Leading]()
        for side in (f.top, f.bottom):
            near = self.alone.of(side).into(images)
            leading = self._sum(near.top)
            if leading is None:
                return None
            parts.append(leading._replace(c=leading.c * self.alone.of(near.bottom)))
        (r, n, logs), (s, m, levels) = parts[0].order, parts[1].order
        return Leading((r - s, n - m, logs - levels), parts[0].c * parts[1].c, False)

    def _sum(self, polynomial: fmpz_mpoly) -> Leading | None:
        """Return how a polynomial behaves: as the terms of the largest order, or the only one."""
        terms = [self._product(e, int(c)) for e, c in polynomial.to_dict().items()]
        orders = [x.order for x in terms if x is not None]
        if len(orders) < len(terms) or not terms:
            return None
        group = [x for x in terms if x is not None and x.order == max(orders)]
        total = self.alone.sum(x.c for x in group)
        if total.is_zero() or (len(group) > 1 and not all(x.exact for x in group)):
            return None
        self.relied.append(total)
        return Leading(group[0].order, total, group[0].exact)

    def _product(self, exponents: tuple[int, ...], c: int) -> Leading | None:
        (rate, power, logs), exact, value = BOUNDED, True, self.alone.number(c)
        for k, n in enumerate(exponents):
            if n and k not in self.known:
                if not self.alone.is_of_constants(symbol := self.alone.symbols[k]):
                    return None
                value = value * symbol**n
            elif n:
                (r, m, level), factor, is_exact = self.known[k]
                rate, power, logs = rate + r * n, power + m * n, logs + level * n
                value, exact = value * factor**n, exact and is_exact
        order = rate, power, logs
        return None if value.is_zero() and order > BOUNDED else Leading(order, value, exact)
