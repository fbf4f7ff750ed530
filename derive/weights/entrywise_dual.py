"""Laws and dual coordinates of beta_i = a + f(v_i) G(S, z), S = sum_k m(v_k), for every n at once.

With rates r of v and eta of z, the steering lambda and L = sum_j f(v_j) lambda_j,

    v_k' = r (G f'(v_k) lambda_k + G_S m'(v_k) L),   z' = eta G_z L.

Let h' = 1/f' and k = m'/f' with **k' f' = mu a constant**. If tau' = -r G_S L, then
y_i = E (h(v_i) + ...), dy_i = E (dh(v_i) + k(v_i) dtau), dE = mu E dtau, has

    <grad y_i, grad F_j> = g delta_ij,   g = r E G.

This is closed where tau is a function of the weights. Let c = sum_k l(v_k) with l' = f/f', or c = S
where m' is a multiple of that: c' = r (l' f'/f) D L with D = G + G_S sum_k m' f/f'. So

- D != 0: c is a clock, dtau = -G_S/(D l' f'/f) dc, if that is a function of c. With one z and
  c = S, where G is a power of z times a function of S, the flow keeps the integral of
  G/(r l' f'/f D) dS - G/(eta G_z) dz;
- D = 0: c is conserved. With one z and c = S that is a clock, dtau = -(r G_S/(eta G_z)) dz; with no
  z the outputs depend on one another, and for i < n the last entry is, dtau = -dv_n/m'(v_n).

Of outputs i < n that are independent of the last, steered by lambda_n = 0, y_n is one more law.
An affine change of all outputs, the same for each, changes no law: beta_i = a + s (x_i + b sum_k
x_k) of x_i = f(v_i) G has the dual coordinates s (y_i - b/(1 + n b) sum_k y_k), where s = +-1 and
1 + n b is not 0. Each is accepted by the identities themselves. (Derived here; the second for f =
v^k is weight normalization.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import nullspace_over_constants
from derive.model.geometry import Field
from derive.verdict import Identity
from derive.weights.entrywise import Covector, Entries, affine_parts, vanishing_sizes

Clock = Literal["last entry", "single weight", "sum"]
"""What tau is a function of."""


class NotOfThisKind(Exception):
    """F is not of the kind whose dual coordinates are known here; the reason says why."""


@dataclass(frozen=True)
class Factors:
    """F_i = a + sign (x_i + b sum_k x_k), x_i = f(v_i) G, and D = G + G_S sum_k m' f/f'.

    There is one S = sum_k m(v_k) in G, whose name is ``sum``. Of both signs of f that with a
    positive leading coefficient is taken. Without single weights sum_j c_j dx_j = 0 with c_j =
    m'/f' (v_j) if D = 0, and the dx_j are independent if D != 0.
    """

    entries: Entries
    sum: str
    a: RationalFunction
    b: RationalFunction
    sign: int
    f: RationalFunction
    G: RationalFunction
    D: RationalFunction

    @cached_property
    def slope(self) -> RationalFunction:
        """f', a function of one entry."""
        return self.f.field.derivative(self.f, 0)

    @property
    def summand(self) -> RationalFunction:
        """m', a function of one entry."""
        return self.entries.slopes[self.sum]

    @property
    def k(self) -> RationalFunction:
        """m'/f', a function of one entry."""
        return self.summand / self.slope

    @property
    def singular(self) -> bool:
        """Whether all n outputs depend on one another."""
        return not self.entries.model.scalars and self.D.is_zero()

    @property
    def dependent(self) -> bool:
        """Whether they satisfy a relation that is not sum_j F_j = const."""
        return self.singular and not self.entries.own.derivative(self.k, 0).is_zero()

    @cached_property
    def mixed(self) -> RationalFunction:
        """1 + n b, by which all outputs depend on one another where it is 0."""
        return 1 + self.entries.n * self.entries.at(self.b, "i")

    @property
    def is_of_sum(self) -> bool:
        """Whether c is S."""
        return self.f.field.derivative(self.summand * self.slope / self.f, 0).is_zero()

    @property
    def speed(self) -> RationalFunction:
        """l' f'/f, a constant."""
        return self.entries.at(self.law * self.slope / self.f, "i")

    @property
    def law(self) -> RationalFunction:
        """l' of c = sum_k l(v_k), a function of one entry."""
        return self.summand if self.is_of_sum else self.f / self.slope


def find_factors(entries: Entries) -> Factors | None:
    """Return F as an affine change of f(v_i) G, the same for all outputs, or None.

    With F_0 = F at numbers for S and z, G = F'/F_0'.
    """
    if (parts := affine_parts(entries)) is None:
        return None
    (G, _), own = parts, entries.own
    slope = own.derivative(entries.f, 0)
    moving, sums = entries.moving(G), [name for name, _ in entries.model.sums]
    names = [x for x in sums if x in moving] or [
        x for x in sums if own.derivative(entries.slopes[x] / slope, 0).is_zero()
    ]
    if len(names) != 1:
        return None
    if (change := _affine_change(entries, G)) is None:
        return None
    a, b, f = change
    sign = 1 if f.numerator.leading_coefficient() > 0 else -1
    shrunk = entries.total(entries.slopes[names[0]] * f / slope)
    D = G + entries.partial(G, names[0]) * shrunk
    return Factors(entries, names[0], a, b, sign, sign * f, G, D)


def _affine_change(entries: Entries, G: RationalFunction) -> Field | None:
    """Return a, b and f with F = a + f(v_i) G + b sum_k f(v_k) G, or None.

    With constants F - F_0 G = a + C G + b G sum_k f(v_k), where f = F_0 + C, or without C F_0 less
    the constant that makes it a combination of what is summed.
    """
    own, summed = entries.own, entries.combination(entries.f)
    f = entries.f - summed[0] if summed else entries.f
    one, fixed = G.field.one, G.is_constant()
    terms = [one, *([] if fixed else [G]), *([G * entries.total(f)] if summed else [])]
    rest = entries.F[0] - entries.at(f, "i") * G
    vectors = nullspace_over_constants([(rest,), *((x,) for x in terms)])
    found = next((v for v in vectors if not v[0].is_zero()), ())
    parts = [x for c in found[1:] if (x := _constant(entries, -c / found[0])) is not None]
    if len(parts) != len(terms):
        return None
    C, b = own.zero if fixed else parts[1], parts[-1] if summed else own.zero
    return (parts[0], b, f + C) if C.is_zero() or b.is_zero() else None


def _constant(entries: Entries, x: RationalFunction) -> RationalFunction | None:
    """Return a constant without n, as a function of one entry; else None."""
    own = entries.own
    there = x.compose([own.named(c) if c in own.names else own.zero for c in x.field.names], own)
    return there if entries.at(there, "i") == x else None


@dataclass(frozen=True)
class EntrywiseDual(Factors):
    """sign dy_i = E (dh(v_i) + k(v_i) dtau) with dE = mu E dtau.

    Attributes:
        mu: a constant, as a function of one entry.
        clock: what tau is a function of.
        rate: dtau by it.
    """

    mu: RationalFunction
    clock: Clock
    rate: RationalFunction

    @property
    def conserved(self) -> bool:
        """Whether the flow keeps c."""
        return self.D.is_zero()

    @property
    def leaves_out(self) -> int:
        """How many outputs are functions of the others."""
        return int(self.clock == "last entry")

    @property
    def variable(self) -> str:
        """The name of what tau is a function of; of c itself ""."""
        model = self.entries.model
        if self.clock == "sum":
            return self.sum if self.is_of_sum else ""
        return self.entries.entries["n"] if self.clock == "last entry" else model.scalars[0]

    @property
    def excluded_sizes(self) -> tuple[int, ...]:
        """The n at which the dual coordinates are not defined."""
        sides = self.rate.denominator, self.mixed.numerator
        return tuple(n for side in sides for n in vanishing_sizes(self.entries, side))

    @cached_property
    def c(self) -> Covector:
        """The covector dc."""
        return Covector({}, ((self.entries.field_.one, self.law),))

    @property
    def exchange(self) -> tuple[RationalFunction, RationalFunction] | None:
        """G/(r l' f'/f D) and G/(eta G_z): the flow keeps int one dS - int other dz."""
        e, scalars = self.entries, self.entries.model.scalars
        if self.conserved or len(scalars) != 1 or not self.is_of_sum:
            return None
        (z,), (r, eta) = scalars, e.rates
        pair = self.G / (r * self.speed * self.D), self.G / (eta * e.partial(self.G, z))
        apart = {*e.moving(pair[0])} <= {self.sum} and not e.moving(pair[1] / e.field_.named(z))
        return pair if apart else None

    @cached_property
    def kept(self) -> Covector | None:
        """The covector of what the flow keeps, if anything."""
        if self.exchange is None:
            return self.c if self.conserved else None
        one, other = self.exchange
        return Covector({}, ((one, self.summand),), {self.entries.model.scalars[0]: -other})

    @cached_property
    def tau(self) -> Covector:
        """The covector dtau."""
        match self.clock:
            case "last entry":
                return Covector({"n": self.rate})
            case "sum":
                return Covector({}, ((self.rate, self.law),))
        return Covector({}, (), {self.variable: self.rate})

    @cached_property
    def y(self) -> Covector:
        """The covector dy_i/E = sign (dh(v_i) + k(v_i) dtau - b/(1 + n b) sum_k of the same)."""
        e, tau = self.entries, self.tau
        less = e.at(self.b, "i") / self.mixed
        summed = e.at(self.k, "i") - (less if less.is_zero() else less * e.total(self.k))
        k = self.sign * summed
        own = {"i": self.sign / e.at(self.slope, "i"), **{i: k * x for i, x in tau.own.items()}}
        spread = (*((k * c, m) for c, m in tau.spread), (-self.sign * less, 1 / self.slope))
        return Covector(own, spread, {z: k * x for z, x in tau.scalars.items()})

    @cached_property
    def warp(self) -> RationalFunction:
        """g/E."""
        return self.entries.rates[0] * self.G

    @cached_property
    def identities(self) -> tuple[Identity, ...]:
        """What is expanded in generic entries; some side differs where the dual is none."""
        e = self.entries
        fields = [e.gradient(f) for f in e.F[:2]]
        sides = [
            ("<grad y_i, grad F_i> = g", e.inner(self.y, fields[0]), self.warp),
            ("<grad y_i, grad F_j> = 0", e.inner(self.y, fields[1]), self.warp * 0),
        ]
        if self.kept is not None:
            law = e.inner(self.kept, fields[0])
            sides.append(("<grad c_1, grad F_i> = 0", law, law.field.zero))
        if any(left != right for _, left, right in sides):
            raise NotOfThisKind("the dual coordinates do not solve their equations")
        return tuple(Identity(s, repr(left), repr(right)) for s, left, right in sides)


def find_entrywise_dual(factors: Factors) -> EntrywiseDual:
    """Return dual coordinates and law, accepted by their identities.

    Raises:
        NotOfThisKind: k' f' is not constant, or tau is no function of the weights found here.
    """
    entries, G, model = factors.entries, factors.G, factors.entries.model
    own, by_sum = entries.own, entries.partial(factors.G, factors.sum)
    mu = own.derivative(factors.k, 0) * factors.slope
    if not own.derivative(mu, 0).is_zero():
        raise NotOfThisKind("(m'/f')' f' is not constant, with m what is summed")
    r, *etas = entries.rates
    clock: Clock
    match len(model.scalars), factors.D.is_zero():
        case 0, True:
            clock, rate = "last entry", -1 / entries.at(factors.summand, "n")
        case 1, True if factors.is_of_sum:
            clock = "single weight"
            rate = -r * by_sum / (etas[0] * entries.partial(G, model.scalars[0]))
        case (0, False) | (1, False):
            clock, rate = "sum", -by_sum / (factors.speed * factors.D)
        case _:
            raise NotOfThisKind("no scalar was found that moves by itself, as a clock")
    parts = factors.sum, factors.a, factors.b, factors.sign, factors.f, G, factors.D
    found = EntrywiseDual(entries, *parts, mu, clock, rate)
    laws = [] if found.kept is None else [found.kept]
    if len(laws) != len(model.scalars) + found.leaves_out:  # y_i are no functions of beta
        raise NotOfThisKind("no law of the sum and the single weight was found")
    steady = {found.variable, *([factors.sum] if factors.is_of_sum else [])}
    if not {*entries.moving(rate)} <= steady or not found.identities:
        raise NotOfThisKind("the clock does not run at a rate of its own")
    return found
