"""Laws and dual coordinates of beta_i = f(v_i) G(S, z), S = sum_k m(v_k), for every n at once.

With rates r of v and eta of z, the steering lambda and L = sum_j f(v_j) lambda_j,

    v_k' = r (G f'(v_k) lambda_k + G_S m'(v_k) L),   z' = eta G_z L.

Let h' = 1/f' and k = m'/f' with **k' f' = mu a constant**. If tau' = -r G_S L, then
y_i = E (h(v_i) + ...), dy_i = E (dh(v_i) + k(v_i) dtau), dE = mu E dtau, has

    <grad y_i, grad F_j> = g delta_ij,   g = r E G,

and tau is a function of the weights in three cases, told by D = G + G_S sum_k m' f/f' (k):

- D = 0 and no z: sum_k l(v_k), l' = f/f', is conserved, the outputs depend on one another, and
  with i < n alone the last entry is a clock, dtau = -dv_n/m'(v_n);
- D = 0 and one z: where m' f' = rho f, rho constant, S is conserved, dtau = -(r G_S/(eta G_z)) dz;
- D != 0 and no z: where m' f' = rho f, dtau = -G_S/(rho G + G_S sum_k m'(v_k)^2) dS.

Each is accepted by the identities themselves. (Derived here; the second for f = v^k is weight
normalization.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from derive.exact.field.function_field import RationalFunction
from derive.verdict import Identity
from derive.weights.entrywise import Covector, Entries, vanishing_sizes

Clock = Literal["last entry", "single weight", "sum"]
"""What tau is a function of."""


class NotOfThisKind(Exception):
    """F is not of the kind whose dual coordinates are known here; the reason says why."""


@dataclass(frozen=True)
class EntrywiseDual:
    """dy_i = E (dh(v_i) + k(v_i) dtau) with dE = mu E dtau, and the law, if there is one.

    Attributes:
        f, k: functions of one entry; h' = 1/f'.
        mu: a constant, as a function of one entry.
        G: F = f G.
        clock: what tau is a function of.
        rate: dtau by it.
        law: l' of the law sum_k l(v_k), a function of one entry; None where there is none.
    """

    entries: Entries
    f: RationalFunction
    k: RationalFunction
    mu: RationalFunction
    G: RationalFunction
    clock: Clock
    rate: RationalFunction
    law: RationalFunction | None

    @property
    def leaves_out(self) -> int:
        """How many outputs are functions of the others."""
        return int(self.clock == "last entry")

    @property
    def variable(self) -> str:
        """The name of what tau is a function of."""
        model = self.entries.model
        last = {"last entry": self.entries.entries["n"], "sum": model.sums[0][0]}
        return last.get(self.clock) or model.scalars[0]

    @property
    def excluded_sizes(self) -> tuple[int, ...]:
        """The n at which the clock stands still: there the outputs depend on one another."""
        found = vanishing_sizes(self.entries, self.rate.denominator)
        return tuple(sorted(n for n in found if n > 1))

    @cached_property
    def y(self) -> Covector:
        """The covector dy_i/E = dh(v_i) + k(v_i) dtau."""
        e, slope = self.entries, self.f.field.derivative(self.f, 0)
        tau, k = self.tau, e.at(self.k, "i")
        own = {"i": e.at(1 / slope, "i"), **{i: k * x for i, x in tau.own.items()}}
        spread = tuple((k * c, m) for c, m in tau.spread)
        return Covector(own, spread, {z: k * x for z, x in tau.scalars.items()})

    @cached_property
    def tau(self) -> Covector:
        """The covector dtau."""
        match self.clock:
            case "last entry":
                return Covector({"n": self.rate})
            case "sum":
                return Covector({}, ((self.rate, self.entries.slopes[self.variable]),))
        return Covector({}, (), {self.variable: self.rate})

    @cached_property
    def warp(self) -> RationalFunction:
        """g/E."""
        return self.entries.rates[0] * self.G

    @cached_property
    def drift(self) -> RationalFunction:
        """<grad log g, grad F_i>, 0 where g is constant."""
        e, dF = self.entries, self.entries.gradient(self.entries.F[0])
        mu = e.at(self.mu, "i")
        return mu * e.inner(self.tau, dF) + e.inner(e.gradient(self.G), dF) / self.G

    @cached_property
    def identities(self) -> tuple[Identity, ...]:
        """What is expanded in generic entries; some side differs where the dual is none."""
        e = self.entries
        fields = [e.gradient(f) for f in e.F[:2]]
        sides = [
            ("<grad y_i, grad F_i> = g", e.inner(self.y, fields[0]), self.warp),
            ("<grad y_i, grad F_j> = 0", e.inner(self.y, fields[1]), self.warp * 0),
        ]
        if self.law is not None:
            law = e.inner(Covector({}, ((e.field_.one, self.law),)), fields[0])
            sides.append(("<grad c_1, grad F_i> = 0", law, law.field.zero))
        if any(left != right for _, left, right in sides):
            raise NotOfThisKind("the dual coordinates do not solve their equations")
        return tuple(Identity(s, repr(left), repr(right)) for s, left, right in sides)


@dataclass(frozen=True)
class Factors:
    """F = f(v_i) G with one sum S = sum_k m(v_k) in G, and D = G + G_S sum_k m' f/f'.

    Where F has no single weights, sum_j c_j dF_j = 0 with c_j = m'/f' (v_j) if D = 0, and the dF_j
    are independent if D != 0.
    """

    entries: Entries
    G: RationalFunction
    D: RationalFunction

    @property
    def name(self) -> str:
        """The name of S."""
        return self.entries.model.sums[0][0]

    @property
    def dependent(self) -> bool:
        """Whether all n outputs satisfy a relation that is not sum_j F_j = const."""
        k = self.summand / self.slope
        affine = self.entries.own.derivative(k, 0).is_zero()
        return not self.entries.model.scalars and self.D.is_zero() and not affine

    @property
    def slope(self) -> RationalFunction:
        """f', a function of one entry."""
        return self.entries.own.derivative(self.entries.f, 0)

    @property
    def summand(self) -> RationalFunction:
        """m', a function of one entry."""
        return self.entries.slopes[self.name]


def find_factors(entries: Entries) -> Factors | None:
    """Return F as f(v_i) G with one sum in G, or None."""
    f = entries.f
    slope = entries.own.derivative(f, 0)
    if len(entries.model.sums) != 1 or slope.is_zero():
        return None
    G, name = entries.F[0] / entries.at(f, "i"), entries.model.sums[0][0]
    if {*entries.moving(G)} & {*entries.entries.values()}:
        return None
    shrunk = entries.total(entries.slopes[name] * f / slope)
    return Factors(entries, G, G + entries.partial(G, name) * shrunk)


def find_entrywise_dual(factors: Factors) -> EntrywiseDual:
    """Return dual coordinates and law, accepted by their identities.

    Raises:
        NotOfThisKind: k' f' is not constant, or tau is no function of the weights found here.
    """
    entries, G, slope, summand = factors.entries, factors.G, factors.slope, factors.summand
    model, own, f = entries.model, entries.own, entries.f
    k, rho = summand / slope, summand * slope / f
    mu, by_sum = own.derivative(k, 0) * slope, entries.partial(G, factors.name)
    if not own.derivative(mu, 0).is_zero():
        raise NotOfThisKind("(m'/f')' f' is not constant, with m what is summed")
    steady, scalars = own.derivative(rho, 0).is_zero(), model.scalars
    r, *etas = entries.rates
    clock: Clock
    law: RationalFunction | None
    match len(scalars), factors.D.is_zero():
        case 0, True:
            clock, law, rate = "last entry", f / slope, -1 / entries.at(summand, "n")
        case 1, True if steady and not model.left_out:
            clock, law = "single weight", summand
            rate = -r * by_sum / (etas[0] * entries.partial(G, scalars[0]))
        case 0, False if steady and not model.left_out:
            moved = entries.at(rho, "i") * G + by_sum * entries.total(summand * summand)
            clock, law, rate = "sum", None, -by_sum / moved
        case _:
            raise NotOfThisKind("no scalar was found that moves by itself, as a clock")
    found = EntrywiseDual(entries, f, k, mu, G, clock, rate, law)
    if not {*entries.moving(rate)} <= {found.variable, factors.name} or not found.identities:
        raise NotOfThisKind("the clock does not run at a rate of its own")
    return found
