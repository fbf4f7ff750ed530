"""Q of beta_i = f(v_i) G(S, z) for every n at once, from the dual coordinates in generic entries.

That of an affine change of all outputs is Q at what they were. The own function decides the form.
On the leaf, with h' = 1/f' and y_i - y_i(w_0) = dQ/dbeta_i:

- m = k f + const for any f: y_i = h(v_i) + k tau, and as sum_i beta_i dh(v_i) = G dc, with
  c = sum_k l(v_k), l' = f/f', **Q = sum_(i <= n) beta_i h(v_i) + w, dw = k tau dB - G dc**,
  B = sum_i beta_i. With the last entry as clock B and c are constant, y_i = h(v_i) - h(v_n), w = 0;
  with the clock c and tau = -a c, dG = a k dB, so w = - G c and G = G_0 + a k B;
- f = C X^p, X = v + b, m = kappa X^2 + const, p != 2: y_i = E X_i^(2-p)/(C p (2-p)), so Q = q(s),
  **s = (sum_i beta_i^(2/p))^(p/2)** = C G (sum X^2)^(p/2), q'(s) = E (sum X^2)^(1-p/2)/(C p (2-p));
  with the last entry as clock y_i = (beta_i/beta_n)^(2/p-1)/(2-p) up to a factor;
- p = 2: dQ = sum_i log(beta_i) dbeta_i/(4 C) + (tau - log(C G)/(4 C)) ds, s = sum_i beta_i;
- f = C exp(u v): y_i = -E G/(u^2 beta_i), so Q = q(s), s = sum_i log(beta_i), q'(s) = -E G/u^2.

(Derived here; the norms and entropies of weight normalization and softmax among them.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Expr, Symbol

from derive.model.names import unused
from derive.potential.entrywise.notation import EntrywiseNotation, antiderivative, same
from derive.potential.piece import moving
from derive.weights.entrywise_dual import EntrywiseDual, NotOfThisKind

Rows = tuple[tuple[Expr, Expr], ...]


@dataclass(frozen=True)
class OwnForm:
    """f = C X^p with X = v + b, by f/f' = X/p; C exp(u v), by f'/f = u, has p = oo."""

    C: Expr
    p: Expr
    X: Expr
    u: Expr = sympy.S.One

    @property
    def is_power(self) -> bool:
        """Whether it is a power."""
        return bool(self.p != sympy.oo)


@dataclass(frozen=True)
class EntrywisePotential:
    """Q of every n, without its linear part - sum_i y_i(w_0) beta_i: head + q(s).

    Attributes:
        y, g: the dual coordinates and the warp in v_i, v_n, S and z.
        law: what is conserved as a sum over all entries; None where nothing is.
        head: the part that is a sum over beta_i; of a Q with v_i in it, also that.
        s: of what the other part is a function; None where there is none.
        slope: q'(s), in s and constants, or in the scalar that the last of the rows gives.
        rows: what names in Q are, in order.
        follows: what is in Q as it is above beta along the flow.
        last: y_n, where it is conserved as beta_n is no output; then dQ/dbeta_n = 0 at beta_n.
    """

    notation: EntrywiseNotation
    y: Expr
    g: Expr
    law: Expr | None
    head: Expr
    rows: Rows
    s: Expr | None = None
    slope: Expr | None = None
    follows: tuple[Expr, ...] = ()
    last: Expr | None = None

    @property
    def laws(self) -> tuple[Expr, ...]:
        """What is conserved."""
        return tuple(x for x in (self.law, self.last) if x is not None)

    @cached_property
    def value(self) -> Expr:
        """Q in beta_i and what the rows define, up to its linear part and a constant."""
        if self.slope is None:
            return self.head
        s, at = self.notation.s, self.notation
        if not self.is_closed:
            return self.head + sympy.Function(unused("q", at.taken))(s)
        return self.head + antiderivative(self.slope, s, at.positive)

    @property
    def is_closed(self) -> bool:
        """Whether q' is a function of s, and not of a scalar of the weights."""
        return not self.follows

    def gradient(self, n: int) -> tuple[Expr, ...] | None:
        """Return dQ/dbeta_i up to a constant at a number n, in beta1, ..., c and what follows.

        None where Q itself is written in weights above beta.
        """
        at = self.notation
        if self.slope is None and self.follows:
            return None
        betas = [Symbol(f"{at.beta.base}{k}", real=True) for k in range(1, n + 1)]
        images = {left: right for left, right in self.rows if left == at.G}
        head = at.at_size(self.head.subs(images), n)
        s = at.at_size(self.s or sympy.S.Zero, n)
        slope = (self.slope or sympy.S.Zero).subs(at.n, n).subs(at.s, s)
        return tuple(sympy.diff(head, b) + slope * sympy.diff(s, b) for b in betas)

    @property
    def excluded(self) -> tuple[Expr, ...]:
        """What of the parameters must not be 0: it divides."""
        at, shown = self.notation, (self.y, self.g, self.value, self.slope or self.g)
        powers = (x for part in shown for x in sorted(part.atoms(sympy.Pow), key=str))
        constants = {*at.constants} - {at.c}
        bases = (sympy.factor(x.base) for x in powers if x.exp.is_negative)
        factors = (y for x in bases if x.free_symbols <= constants for y in sympy.Mul.make_args(x))
        open_ = (x for x in factors if x.is_zero is None and x.free_symbols - {at.n})
        return tuple(dict.fromkeys(-x if x.could_extract_minus_sign() else x for x in open_))

    @property
    def written(self) -> Rows:
        """What Q is, and what is in it."""
        at, Q = self.notation, Symbol(unused("Q", self.notation.taken))
        most = at.n - (at.entries.model.left_out if self.last is None else 0)
        linear = at.over(at.y0 * at.beta, most)
        rows: Rows = ((Q, self.value - linear),)
        if self.s is not None:
            rows += ((at.s, self.s),)
        if not self.is_closed and self.slope is not None:
            rows += ((sympy.Derivative(self.value - self.head, at.s), self.slope),)
        return tuple((at.shown(a), at.shown(b)) for a, b in (*rows, *self.rows))


@dataclass(frozen=True)
class _Builder:
    """What the forms of Q are made of."""

    dual: EntrywiseDual
    at: EntrywiseNotation

    @cached_property
    def own(self) -> OwnForm | None:
        """The own function, where it is a power or an exponential."""
        f, field = self.dual.f, self.dual.f.field
        slope = field.derivative(f, 0)
        ratio = f / slope
        if field.derivative(ratio, 0).is_zero():
            C = self.at.own(f).subs(self.at.v, 0)
            return OwnForm(C, sympy.oo, self.at.v, self.at.own(1 / ratio))
        grown = field.derivative(ratio, 0)
        if not field.derivative(grown, 0).is_zero():
            return None
        p, X = self.at.own(1 / grown), sympy.expand(self.at.own(ratio / grown))
        at_one = self.at.v + 1 - X
        return OwnForm(sympy.powsimp(self.at.own(f).subs(self.at.v, at_one)), p, X)

    @cached_property
    def h(self) -> Expr:
        """h in v, h' = 1/f'."""
        form, v = self.own, self.at.v
        slope = self.at.own(1 / self.dual.f.field.derivative(self.dual.f, 0))
        if form is None:
            return antiderivative(slope, v, self.at.positive)
        if not form.is_power:
            return -sympy.exp(-form.u * v) / (form.C * form.u**2)
        if form.p == 2:
            return sympy.log(sympy.Abs(form.X) if not v.is_positive else form.X) / (2 * form.C)
        return form.X ** (2 - form.p) / (form.C * form.p * (2 - form.p))

    @cached_property
    def summed(self) -> Expr:
        """What c is the sum of."""
        at = self.at
        if self.dual.is_of_sum and self.dual.clock != "last entry":
            return at.own(at.entries.sums[at.S.name])
        return antiderivative(at.own(self.dual.law), at.v, at.positive)

    @cached_property
    def law(self) -> Expr | None:
        """The law as a sum, without a factor."""
        if self.dual.exchange is not None:
            of_sum, of_weight = self.exchanged
            return of_sum.subs(self.at.S, self.at.total(self.summed)) - of_weight
        if not self.dual.conserved:
            return None
        if self.dual.clock == "single weight":
            return self.at.total(self.summed)  # S itself, which is in G
        constant, rest = self.summed.as_independent(self.at.v, as_Add=False)
        return self.at.total(rest if constant.is_positive else self.summed)

    @cached_property
    def exchanged(self) -> tuple[Expr, Expr]:
        """The law that S and a single weight z have in common: what it is of S, less that of z."""
        if self.dual.exchange is None:
            raise NotOfThisKind("no law of the sum and the single weight was found")
        at, (z,) = self.at, self.dual.entries.model.scalars
        pairs = zip((at.S, at.symbols[z]), self.dual.exchange, strict=True)
        of_sum, of_weight = (antiderivative(at.expr(f), x, at.positive) for x, f in pairs)
        slope = of_sum.diff(at.S)
        unit = sympy.S.One if slope.has(at.S) else slope
        return sympy.cancel(of_sum / unit), sympy.cancel(of_weight / unit)

    @cached_property
    def tau(self) -> Expr:
        """tau, where the clock is a sum or a single weight."""
        if not self.dual.variable:
            return self.at.expr(self.dual.rate) * self.at.total(self.summed)
        x = self.at.symbols[self.dual.variable]
        return moving(antiderivative(self.at.expr(self.dual.rate), x, self.at.positive), x)

    @cached_property
    def mu(self) -> Expr:
        return self.at.own(self.dual.mu)

    @cached_property
    def E(self) -> Expr:
        """The factor of y_i."""
        if self.dual.mu.is_zero():
            return sympy.S.One
        if self.dual.clock == "last entry" and self.own is not None and self.own.is_power:
            k = self.at.own(self.dual.k, self.at.entry("n"))
            return self.mu / (k * (2 - self.own.p))
        return sympy.powsimp(sympy.exp(sympy.expand(self.mu * self.tau)))

    @property
    def y(self) -> Expr:
        """y_i in the weights."""
        k, mu, sign = self.at.own(self.dual.k), self.dual.mu, self.dual.sign
        if not mu.is_zero():
            c, own = self.of_one(self.at.own(self.dual.k / mu)).as_coeff_Mul()
            return sign * c * sympy.powsimp(self.E * own)
        if self.dual.clock == "last entry":
            return sign * (self.of_one(self.h) - self.h.subs(self.at.v, self.at.entry("n")))
        return sign * (self.of_one(self.h) + self.of_one(k) * self.tau)

    def of_one(self, own: Expr) -> Expr:
        """Return a function at v_i less b/(1 + n b) times its sum over all entries."""
        at, there = self.at, own.subs(self.at.v, self.at.entry("i"))
        if not self.less:
            return there
        return there - self.less * (at.total(own) if own.has(at.v) else at.n * own)

    @cached_property
    def less(self) -> Expr:
        """b/(1 + n b), the part of the sum of all that an output is less than it was."""
        b = self.at.own(self.dual.b)
        return sympy.cancel(b / (1 + self.at.n * b))

    @property
    def g(self) -> Expr:
        """The warp in the weights."""
        return sympy.powsimp(self.E * self.at.expr(self.dual.warp))

    def found(self) -> EntrywisePotential:
        """Return Q in the form of the own function and the clock."""
        form, last, z = self.own, self.dual.clock == "last entry", self.dual.entries.model.scalars
        without = not self.dual.variable or (self.dual.rate.is_zero() and not z)
        if self.dual.mu.is_zero() and (last or without):
            return self.affine() if last else self.with_clock_of_laws()
        if form is None or not form.C.is_positive:
            raise NotOfThisKind("the own function is no positive power or exponential")
        return self.on_a_sphere(form) if last else self.of_power(form)

    def of(self, head: Expr, rows: Rows = (), **radial: Any) -> EntrywisePotential:
        """Return a potential with y, g and the law, in beta_i in place of f(v_i) G."""
        at, a, sign = self.at, self.at.own(self.dual.a), self.dual.sign
        summed = at.total(at.beta.subs(at.i, at.k) - a)
        image = {at.beta: sign * (at.beta - a - (self.less and self.less * summed))}
        given = ((x, e.xreplace(image)) for x, e in rows)
        rows = tuple((x, a + sign * e if x == at.last else e) for x, e in given)
        radial = {x: e.xreplace(image) if x == "s" else e for x, e in radial.items()}
        if self.dual.entries.model.left_out and not self.dual.leaves_out:
            radial["last"] = self.y.subs(at.entry("i"), at.entry("n"))
        return EntrywisePotential(
            at, self.y, self.g, self.law, head.xreplace(image), rows, **radial
        )

    def affine(self) -> EntrywisePotential:
        """Return sum_i beta_i h(v_i), explicit for powers and exponentials."""
        form, at = self.own, self.at
        if form is None or not form.C.is_positive:
            # v_i is what lies above beta_i on the leaf.
            h, f = self.h.subs(at.v, at.each), at.own(self.dual.f, at.each)
            assert self.law is not None
            rows = ((f, at.beta / at.expr(self.dual.G)), (self.law, at.c), *self.last_output)
            return self.of(at.over(at.beta * h), rows, follows=(at.each, at.S))
        if not form.is_power:
            product = sympy.Product(at.beta, (at.i, 1, at.n)) ** (1 / at.n)
            factor = at.n * sympy.exp(-form.u * at.c / at.n) / (form.C * form.u**2)
            return self.of(-factor * product, ((at.c, at.total(at.v)), *self.last_output))
        if form.p == 2:
            head = at.over(at.beta * sympy.log(at.beta)) / (4 * form.C)
            return self.of(head, self.last_output)
        norm = at.over(self.power_of_beta(form)) ** (form.p / 2)
        factor = at.c ** (1 - form.p / 2) / (form.C * form.p * (2 - form.p))
        return self.of(factor * norm, ((at.c, at.total(form.X**2)), *self.last_output))

    @property
    def last_output(self) -> Rows:
        """What beta_n is where it is no output: the sum of all f(v_i) G is constant."""
        at, dual = self.at, self.dual
        if not dual.entries.model.left_out:
            return ()
        k = at.own(dual.k)
        b = at.own(at.entries.sums[at.S.name] - dual.k * dual.f)
        whole = sympy.cancel(at.expr(dual.G) * (at.S - at.n * b) / k)
        return ((at.last, whole - at.over(at.beta, at.n - 1)),)

    def with_clock_of_laws(self) -> EntrywisePotential:
        """Return sum_i beta_i h(v_i) - G c, explicit for powers and exponentials.

        In G_0 = G - a k B, with k B = G (S - n (m - k f)), S is gone.
        """
        form, at, dual = self.own, self.at, self.dual
        f, k = at.own(dual.f, at.each), at.own(dual.k)
        b = at.own(at.entries.sums[at.S.name] - dual.k * dual.f)
        slope = -at.expr(dual.rate) * k  # of G by B
        constant = sympy.cancel(at.expr(dual.G) * (1 - slope * (at.S - at.n * b) / k))
        if constant.has(at.S):
            raise NotOfThisKind("G is no affine function of the sum of all outputs")
        affine = constant + slope * at.over(at.beta)
        G, given = (at.G, ((at.G, affine),)) if slope else (constant, ())
        if form is None or not form.C.is_positive or not self.one_sign(form):
            h, c = self.h.subs(at.v, at.each), at.over(self.summed.subs(at.v, at.each))
            rows = (*given, (f, at.beta / G))
            return self.of(at.over(at.beta * h) - G * c, rows, follows=(at.each,))
        C, u, p = form.C, form.u, form.p
        if not form.is_power:
            logs = at.over(sympy.log(at.beta))
            whole = logs + at.n - at.n * sympy.log(C * G) if given else logs
            return self.of(-G * whole / u**2, given)
        if p == 2:
            return self.of(at.over(at.beta * (sympy.log(at.beta / G) - 1)) / (4 * C), given)
        norm = G ** (1 - 2 / p) * at.over(at.beta ** (2 / p)) / (2 * (2 - p) * C ** (2 / p))
        return self.of(norm, given)

    def one_sign(self, form: OwnForm) -> bool:
        """Tell whether beta_i has one sign, or its sign is that of v_i."""
        p = form.p
        own = not form.is_power or p.is_integer is not True or p.is_even or p == 1
        return bool(own or self.at.v.is_positive)

    def power_of_beta(self, form: OwnForm) -> Expr:
        """Return |beta_i|^(2/p), without bars where beta_i has one sign."""
        beta = self.at.beta
        return (beta if self.one_sign(form) else sympy.Abs(beta)) ** (2 / form.p)

    def squares(self) -> Expr:
        """Return sum X^2, beside an exponential sum v, in S, where m = kappa X^2 + const, k = mu h.

        With r = 2 (f/f')' - 1 that is k'/k = r f'/f.
        """
        at, k, f, field = self.at, self.dual.k, self.dual.f, self.dual.f.field
        m, ratio = at.entries.sums[at.S.name], f / field.derivative(f, 0)
        grown = field.derivative(ratio, 0)
        square = field.named(field.weights[0]) if grown.is_zero() else (ratio / grown) ** 2
        kappa = field.derivative(m, 0) / field.derivative(square, 0)
        exact = field.derivative(k, 0) * ratio == (2 * grown - 1) * k
        if not (exact and field.derivative(kappa, 0).is_zero()):
            raise NotOfThisKind("what is summed is no square, or v, beside the own function")
        return (at.S - at.own(m - kappa * square) * at.n) / at.own(kappa)

    def on_a_sphere(self, form: OwnForm) -> EntrywisePotential:
        """Return Q where sum_i beta_i^(2/p) = R^2 for all i <= n, and the last is no output."""
        if not form.is_power:
            raise NotOfThisKind("beside an exponential the last entry is no clock")
        at, squares = self.at, self.squares()
        (unit,) = sympy.solve(squares - 1, at.S)
        radius = (form.C * at.expr(self.dual.G).subs(at.S, unit)) ** (2 / form.p)
        inside = radius - at.over(self.power_of_beta(form), at.n - 1)
        return self.of(inside ** (form.p / 2) / (form.p - 2))

    def of_power(self, form: OwnForm) -> EntrywisePotential:
        """Return q(s) for f = C X^p, and for f = C exp(u v)."""
        at, p, squares = self.at, form.p, self.squares()
        G = form.C * at.expr(self.dual.G)
        if not form.is_power:
            s, slope = at.n * sympy.log(G) + form.u * squares, -self.E * G / (form.C * form.u**2)
            return self.radial(sympy.S.Zero, at.over(sympy.log(at.beta)), s, slope)
        if p == 2:
            slope = at.own(self.dual.k) * self.tau - sympy.log(G) / (4 * form.C)
            head = at.over(at.beta * (sympy.log(at.beta) - 1)) / (4 * form.C)
            return self.radial(head, at.over(at.beta), G * squares, slope)
        slope = self.E * squares ** (1 - p / 2) / (form.C * p * (2 - p))
        of_beta = at.over(self.power_of_beta(form)) ** (p / 2)
        return self.radial(sympy.S.Zero, of_beta, sympy.powsimp(G * squares ** (p / 2)), slope)

    def radial(self, head: Expr, of_beta: Expr, s: Expr, slope: Expr) -> EntrywisePotential:
        """Return head + q(s); q'(s) in s where s is a power of the clock, or a root of it."""
        at, x = self.at, self.at.symbols[self.dual.variable]
        rows: Rows = () if self.law is None else ((at.c, self.law),)
        law, positive = at.c, at.positive
        if self.dual.clock == "sum" and self.dual.entries.model.scalars:
            z, (of_sum, of_weight) = self.dual.entries.model.scalars[0], self.exchanged
            square = sympy.factor((of_sum - at.c) * at.symbols[z] ** 2 / of_weight)
            s, slope = (e.subs(at.symbols[z], sympy.sqrt(square)) for e in (s, slope))
            law, positive = of_sum - of_weight, (*positive, z)  # as g > 0 is of |z| alone
        elif self.law is not None:
            s, slope = s.subs(at.S, at.c), slope.subs(at.S, at.c)
        for image in _inverses(s, x, at.s):
            proposed = _cancelled(slope.subs(x, image))
            proposed = sympy.powsimp(sympy.powdenest(proposed, force=True))
            proposed = sympy.expand_log(proposed, force=True)
            n = 2 if _is_root(s) else 1
            there = sympy.cancel(s**n).subs(x, image)
            again, own = (e.subs(at.c, law) for e in (_cancelled(proposed.subs(at.s, s)), slope))
            if same(there, at.s**n, at.positive, at.s) and same(again, own, positive, x):
                return self.of(head, rows, s=of_beta, slope=proposed)
        return self.of(head, (*rows, (s, at.s)), s=of_beta, slope=slope, follows=(x,))


def _cancelled(e: Expr) -> Expr:
    """Return an expression with what is under roots, or in logarithms, in lowest terms."""
    return e.replace(
        lambda x: (x.is_Pow and not x.exp.is_Integer) or isinstance(x, sympy.log),
        lambda x: x.func(sympy.factor(sympy.cancel(x.args[0])), *x.args[1:]),
    )


def _is_root(s: Expr) -> bool:
    """Tell whether an expression is a product of square roots, and of what is positive."""
    parts = (f.as_base_exp() for f in sympy.Mul.make_args(s))
    return all(base.is_positive or abs(e) == sympy.S.Half for base, e in parts)


def _inverses(s: Expr, x: Symbol, value: Symbol) -> Iterator[Expr]:
    """Yield what x may be where s(x) is the value.

    That is for s a power of x, or linear in it, or s^2 a quotient of which x solves a quadratic.
    """
    slope = sympy.simplify(sympy.diff(s, x))
    power = sympy.simplify(x * slope / s)
    if slope != 0 and not power.has(x):
        factor = sympy.simplify(s / x**power)
        yield sympy.powdenest((value / factor) ** (1 / power), force=True)
    if slope != 0 and not slope.has(x):
        yield (value - s.subs(x, 0)) / slope
    top, bottom = sympy.fraction(sympy.cancel(s**2))
    if top.is_polynomial(x) and bottom.is_polynomial(x):
        equation = sympy.Poly(top - value**2 * bottom, x)
        a, b, c = (equation.nth(k) for k in (2, 1, 0))
        if equation.degree() == 1:
            yield sympy.factor(-c / b)
        if equation.degree() == 2:
            roots = (sign * sympy.sqrt(b**2 - 4 * a * c) for sign in (1, -1))
            yield from (sympy.factor((root - b) / (2 * a)) for root in roots)


def find_entrywise_potential(dual: EntrywiseDual) -> EntrywisePotential:
    """Return Q for every n with y, g and the law, in the forms that the file's text derives.

    Raises:
        NotOfThisKind: the own function has none of these forms.
    """
    return _Builder(dual, EntrywiseNotation(dual.entries)).found()
