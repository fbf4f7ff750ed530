"""One finite step x -> x - eta sum_a G_a X_a, with any G = X^T r, of all data or of a batch.

The coordinates x are the weights, or theta = grad psi(w) of mirror descent. The increments
c(w+) - c(w) and y(w+) - y(w) are functions of the weights and eta G; to first order they are 0 and
-eta g G. So y - y(w_0), less the sum of what is beyond that, stays in the row space. They hold
while nothing at which c or y is singular changes its sign in a step.

With decay and momentum x+ = x - eta (sum_a G_a X_a + k e) + mu (x - x_-), e the weights or G^-1 dh
in their components by x, and the increment is c(w+) - c(w) - mu (c(w) - c(w_-)): its sum from rest
is (1 - mu) times the change.

Source: Even, Pesme, Gunasekar, Flammarion 2023, for diagonal networks; in general our own.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import sympy
from sympy import Expr

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import dot
from derive.language.tree import Tree
from derive.model.geometry import Field
from derive.model.notation import to_factored_expr
from derive.perturbed.continuous import pushed_by, tensor, with_noise
from derive.perturbed.coordinates import Monomial
from derive.perturbed.drift import Drift, closing, drift_of, not_closed, open_drift
from derive.perturbed.followed import Followed, Leaf
from derive.verdict import Finding, Verdict

Weights = Mapping[Expr, Expr]


@dataclass(frozen=True)
class Stepped:
    """A step in the coordinates x of a leaf, whose field has the letters of the step.

    Attributes:
        force: -eta (sum_a G_a X_a + k e), by x.
        mu: that of momentum, or 0.
        last: the step before, of the weights.
    """

    leaf: Leaf
    force: Field
    mu: RationalFunction
    last: Field

    @functools.cached_property
    def before(self) -> Field:
        """The weights before the step that came before."""
        return tuple(w - v for w, v in zip(self.leaf.parameterization.w, self.last, strict=True))

    @functools.cached_property
    def after(self) -> Field | None:
        """The weights after the step, where they are rational functions."""
        found = self.leaf.coordinates.monomials
        powers = [x.power for x in found or () if x.power is not None]
        if found is None or len(powers) < len(found):
            return None
        after = []
        for n, x, w_, v in zip(powers, found, self.before, self.force, strict=True):
            # mu (x - x_-) for x = n w/r and r = c w^m
            passed = self.mu * (1 - (w_ / x.w) ** (1 if n > 0 else -1)) if abs(n) == 1 else None
            if passed is None and not self.mu.is_zero():
                return None
            after.append(x.w * (x.base(v) + (passed or 0)) ** n)
        return tuple(after)

    @functools.cached_property
    def weights(self) -> Weights:
        """The weights after the step: w, each with what takes its place, or with a name of ours."""
        leaf, found = self.leaf, self.leaf.coordinates.monomials
        w = list(map(leaf.written, leaf.parameterization.w))
        if self.after is not None:
            return dict(zip(w, map(self._written, self.after), strict=True))
        if found is None:
            return {x: leaf.fresh(f"{x}_next") for x in w}
        parts = zip(w, found, self.before, self.force, strict=True)
        return {name: self._moved(name, x, w_, v) for name, x, w_, v in parts}

    def _moved(self, w: Expr, x: Monomial, before: RationalFunction, v: RationalFunction) -> Expr:
        """Return w (1 + (1 - m) v r/w)^(1/(1 - m)), or w exp(v r/w), with mu (x - x_-) in v."""
        base, mu, last = self._written(x.base(v)), self.leaf.written(self.mu), self._written(before)
        if x.exponent is None:
            return w * (w / last) ** mu * sympy.exp(base)
        n = self.leaf.written(x.exponent)
        return w * (base + mu * (1 - (last / w) ** (1 / n))) ** n

    def moved(self, f: Expr) -> Expr:
        """Return a function of the weights after the step."""
        return f.xreplace(dict(self.weights))

    def ratios(self) -> Iterator[RationalFunction]:
        """Yield, in the field, what has to be positive; see :meth:`conditions`."""
        if self.is_rational:
            yield from (self.composed(P) / P for P in self.leaf.poles())

    def conditions(self) -> Iterator[Expr]:
        """Yield what has to be positive: what a power is taken of, and P(w+)/P(w) at a pole P.

        That is of linear P, which have no zero between; others may have two. For x = log w, or a
        power of w, no weight changes its sign.
        """
        leaf, found = self.leaf, self.leaf.coordinates.monomials
        bound = [x for x in found or () if not x.m.is_zero()]
        for x in bound:
            w = leaf.written(x.w)
            if x.exponent is not None:
                yield (self.weights[w] / w) ** (1 / leaf.written(x.exponent))
        for P in leaf.poles():
            if P in [x.w for x in bound] or is_curved(leaf.written(P)):
                continue
            if self.is_rational:
                yield leaf.written(self.composed(P) / P)
            else:
                yield self.moved(leaf.written(P)) / leaf.written(P)

    @property
    def is_rational(self) -> bool:
        """Are functions of the weights after the step rational in the weights before it?"""
        return self.after is not None and self.leaf.parameterization.is_rational

    def composed(self, f: RationalFunction, to: Field | None = None) -> RationalFunction:
        """Return f of the weights after the step, or of others."""
        rest = f.field.gens[self.leaf.parameterization.p :]
        return f.compose((*(to or self.after or ()), *rest), f.field)

    def _written(self, f: RationalFunction) -> Expr:
        return to_factored_expr(f, self.leaf.symbols)


def is_curved(P: Expr) -> bool:
    """Tell whether a function of the weights is not linear: it may have zeros between two signs."""
    return any(P.diff(a, b) != 0 for a in P.free_symbols for b in P.free_symbols)


def step_of(kinds: Collection[str], penalty: Tree | None, leaf: Leaf, x: Followed) -> Drift:
    """Return the increment of a law or dual coordinate in one step, in eta and G.

    Args:
        kinds: what there is beside the gradient: decay, of a penalty if that is given, momentum.
    """
    if leaf.coordinates.is_straight(x.gradient, along_steps="decay" not in kinds):
        step = stepped(kinds, penalty, leaf)
        x = x.over(step.leaf.parameterization.field)  # linear, so this is exact to first order
        change = LogFunction(dot(step.leaf.coordinates.slopes(x.gradient), step.force))
        return drift_of(step.leaf, x, change, _beyond(step.leaf, x, change))
    step, noisy = stepped(kinds, penalty, leaf), with_noise(leaf)
    leaf = step.leaf
    now = {w: w for w in step.weights}
    before = dict(zip(now, map(leaf.written, step.before), strict=True))
    whole = _between(leaf, x, now, step.weights)
    if "momentum" in kinds:
        whole -= leaf.letters["mu"] * _between(leaf, x, before, now)
    if not step.is_rational or x.slope is not None:
        found = open_drift(leaf, x, whole, "was not decided for steps that are not rational")
        return (
            found if len(kinds) > 1 else replace(found, finding=_to_second_order(noisy, x, found))
        )
    x = x.over(leaf.parameterization.field)
    f = x.function
    ratios = tuple((c, step.composed(a) / a) for c, a in f.logs)
    change = LogFunction(step.composed(f.rational) - f.rational, ratios)
    if "momentum" in kinds:
        ratios = tuple((c, a / step.composed(a, step.before)) for c, a in f.logs)
        last = LogFunction(f.rational - step.composed(f.rational, step.before), ratios)
        change += last.scaled(-leaf.letter("mu"))
    positive = list(step.ratios())
    found = drift_of(leaf, x, change, _beyond(leaf, x, change), positive)
    if 2 * whole.count_ops() < found.change.count_ops():
        found = replace(found, change=whole)
    mixed = "momentum" in kinds or ("decay" in kinds and x.output is not None)
    if found.finding.verdict is Verdict.REFUTED and mixed:
        # v is the weights' too, and decay may add q y
        return replace(found, finding=not_closed(x, "is not seen to be a function of laws"))
    return found


def _between(leaf: Leaf, x: Followed, one: Weights, other: Weights) -> Expr:
    """Return by how much a law or dual coordinate differs between two places."""
    f = leaf.quantity(x)
    if x.slope is None:
        return f.xreplace(dict(other)) - f.xreplace(dict(one))
    s, (w,) = leaf.fresh("s"), one
    return sympy.Integral(f.args[0].xreplace({w: s}), (s, one[w], other[w]))


def _beyond(leaf: Leaf, x: Followed, change: LogFunction) -> LogFunction:
    """Return a change without -eta g G, which steers."""
    if x.output is None or leaf.g is None:
        return change
    G = leaf.letter(f"G{leaf.number(x.output)}")
    return LogFunction(change.rational + leaf.letter("eta") * G * leaf.g, change.logs)


def _to_second_order(noisy: Leaf, x: Followed, found: Drift) -> Finding:
    """Decide by the coefficient of eta^2, 1/2 G^T X^T (Hess_x c) X G, which has to be closed."""
    x = x.over(noisy.parameterization.field)
    second = closing(noisy, x, LogFunction(tensor(noisy, x)))
    if second.verdict is not Verdict.REFUTED:
        return found.finding
    order = "to order `eta^2`, as under noise with `S = G G^T`,"
    why = f"the drift of `{x.symbol}` is no function of laws: {order} it changes with `beta`"
    return replace(second, reason=why)


def stepped(kinds: Collection[str], penalty: Tree | None, leaf: Leaf) -> Stepped:
    """Return a step along any gradient, with decay and momentum."""
    G = [f"G{leaf.number(a)}" for a in range(leaf.parameterization.d)]
    velocities = [f"{w}_t" for w in leaf.parameterization.weights]
    names = [*G, "eta", *["k"] * ("decay" in kinds)]
    names += [*velocities, "mu"] if "momentum" in kinds else []
    leaf, push = pushed_by(penalty, leaf)
    leaf = leaf.with_letters({name: leaf.fresh(name) for name in names})
    p, at, x = leaf.parameterization, leaf.letter, leaf.coordinates
    force = [dot(list(map(at, G)), column) for column in zip(*x.fields, strict=True)]
    if "decay" in kinds:
        push = x.components(tuple(map(p.field.embed, push)))
        force = [f + at("k") * e for f, e in zip(force, push, strict=True)]
    last = tuple(map(at, velocities)) if "momentum" in kinds else (p.field.zero,) * p.p
    mu = at("mu") if "momentum" in kinds else p.field.zero
    return Stepped(leaf, tuple(-at("eta") * f for f in force), mu, last)
