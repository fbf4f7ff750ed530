"""Separable data: what gradient flow solves at finite time, and where its direction tends.

Two roads to the direction. The mirror road, where Q is proved and its gradient is coercive: the
largest margin in the horizon of Q. The road in the weights, for homogeneous F: a KKT point of least
|w|^2. Where both apply they are compared.

What gradient flow has solved at every time: least Q at given margins.

For any decreasing loss l, L = sum_i l(<x_i, beta>), the flow is steered by sum_i a_i x_i with
a_i = -l'(<x_i, beta>) > 0, so that with Q normalised to grad Q(beta_0) = 0 and a warp g > 0

    grad Q(beta(t)) = X^T s(t),   s_i(t) = int_0^t g a_i >= 0.

For b with <x_i, b> >= <x_i, beta(t)> for all i, and Q convex on a domain with the segment between,
Q(b) - Q(beta(t)) >= <X^T s, b - beta(t)> = sum_i s_i (<x_i, b> - <x_i, beta(t)>) >= 0. So beta(t)
minimises Q subject to margins at least those that it has; strictly convex, nothing else does.

Separable data under steepest descent in l_p on outputs that share weights.

There is no Q then (:mod:`derive.optimizers.pushed`), and limit points of w/|w|_p are KKT points of
min |w|_p subject to <x_i, F(w)> >= 1 all the same (Tsilivis, Vardi, Kempe 2024). In beta its
minimizers are those of R_p = min sum_k |w_k|^p subject to F(w) = beta, or of the least max_k |w_k|.
Where R_p is continuous as it is written it is so at beta with zeros, too: near weights above these
there are weights of beta without.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, overload

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation, Model, derived, map_of
from derive.errors import InputError
from derive.exact.linear.matrix import Matrix, dot
from derive.explicit.fibre_cost import LARGEST, BlockFibre, FibreCost, fibre_cost
from derive.model.geometry import Steering
from derive.model.notation import Notation
from derive.model.parameterization import Parameterization
from derive.model.rates import read_power
from derive.model.steepest import PushedMap
from derive.printable import Plotted, Printable
from derive.separable import statements as claims
from derive.separable.far import Far, far_out
from derive.separable.horizon import Horizon, Hypothesis, find_horizon, of_copies
from derive.separable.scaled_start import ScaledStart, scaled_start
from derive.separable.weights_problem import (
    WeightsProblem,
    agreement,
    pose_in_weights,
    pose_steepest,
)
from derive.statement import Claims, Open, Statement
from derive.verdict import Finding, Verdict, conclude


@dataclass(frozen=True, repr=False)
class Margins(Claims, Plotted, Printable):
    """What is known of gradient flow under monotone losses on separable data.

    Attributes:
        derivation: of Q.
        finite_time: does beta(t) minimise Q at the margins that it has, for every t?
        coercive: does |grad Q| -> infinity as |beta| -> infinity?
        far: how Q of each block grows; empty without Q.
        shape: the horizon of Q, with the hypotheses under which it decides the direction.
        weights: the margin problem in the weights, and R_F.
        agreement: do both have the same predictors? None where one of them does not apply.
        scaled: what large starts do at first: the limits of scale and of accuracy do not commute.
    """

    derivation: Derivation
    finite_time: Finding
    coercive: Finding
    far: tuple[Far, ...]
    shape: Horizon
    weights: WeightsProblem
    agreement: Finding | None
    scaled: ScaledStart

    @property
    def horizon(self) -> Expr | None:
        """The horizon of Q in the betas of the derivation, homogeneous of degree 1."""
        return self.shape.function

    def horizon_in(self, betas: Sequence[Symbol]) -> Expr | None:
        """Return the horizon of as many outputs, or copies of one, or entries of a vector."""
        d = self.derivation
        if self.horizon is None or len(d.beta) not in (1, len(betas)):
            return None
        if d.of_coordinates:
            return of_copies(self.far[0], betas)
        length = sympy.sqrt(sympy.Add(*(b**2 for b in betas)))
        given = betas if d.direction is None else (length,)
        return self.horizon.xreplace(dict(zip(d.beta, given, strict=True)))

    @property
    def norm(self) -> str | None:
        """What the horizon is called; of one output, for copies of it side by side.

        None where the predictors are those on one side of 0.
        """
        return self.shape.norm or (None if self.weights.side else self.weights.norm)

    @property
    def sides(self) -> tuple[int, ...]:
        """1 or -1 for outputs that are reached on that side of 0 alone, 0 for others.

        Only where the horizon is their l1 norm; else ().
        """
        cone, betas = self.shape.cone, self.derivation.beta
        linear = all(x.leading is not None and x.leading.degree == 1 for x in self.far)
        if not linear or cone != sympy.Add(*map(sympy.Abs, betas)):
            return ()
        return tuple(dict(self.shape.sides).get(b, 0) for b in betas)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """Those of the theorem that goes from the horizon to the direction."""
        return self.shape.hypotheses

    @property
    def cost(self) -> Expr | None:
        """R_F(beta) = min |w|^2 subject to F(w) = beta, where it is written."""
        return self.weights.formula

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed, from finite times to the limit, and for large starts."""
        d, shape, w = self.derivation, self.shape, self.weights
        told: list[Statement | Open] = [claims.every_time(d, self.finite_time)]
        if self.far:
            told.append(claims.coercivity(self.coercive, self.far))
            told += [claims.growth(far) for far in self.far if far.leading is not None]
            told.append(claims.direction(d, shape, self.far))
        told += claims.in_weights(d, w)
        if self.agreement is not None:
            told.append(claims.agreement(self.agreement))
        limit = "w" if w.finding.verdict is Verdict.PROVED else ""
        limit = "beta" if shape.function is not None else limit
        return (*told, *claims.large_starts(self.scaled, limit))

    @property
    def verdict(self) -> Verdict:
        """PROVED: the finite-time statement, and whether grad Q is coercive, are decided; of
        steepest descent, its margin problem in beta.

        REFUTED: there is no Q. UNDECIDED: one of the two is not known.
        """
        if not self.derivation.parameterization.geometry.steering.is_gradient:
            return self.weights.finding.verdict
        if self.finite_time.verdict is not Verdict.PROVED:
            return self.finite_time.verdict
        return Verdict.UNDECIDED if self.coercive.verdict is Verdict.UNDECIDED else Verdict.PROVED


@overload
def margins(model: PushedMap, progress: Callable[[str], None] | None = None) -> SharedMargins: ...


@overload
def margins(model: Model, progress: Callable[[str], None] | None = None) -> Margins: ...


def margins(
    model: Model | PushedMap, progress: Callable[[str], None] | None = None
) -> Margins | SharedMargins:
    """Return what gradient flow tends to on separable data, under decreasing losses.

    >>> from derive import Parameterization
    >>> p = Parameterization.parse(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}, ["alpha"])
    >>> found = margins(p)
    >>> found.finite_time.verdict.value, found.coercive.verdict.value, found.norm, found.cost
    ('PROVED', 'PROVED', 'l1', Abs(beta))

    Args:
        model: a derivation of any verdict, or F; without Q the problem in the weights is all there
            is, as of steepest descent on outputs that share weights.
        progress: called with the name of each step as it begins.

    Source: Pesme, Dragomir, Flammarion 2024, for the horizon; Lyu, Li 2020 and Ji, Telgarsky 2020
    for the problem in the weights, Tsilivis, Vardi, Kempe 2024 for that of steepest descent.
    """
    given = getattr(model, "parameterization", model)
    if isinstance(given, PushedMap):
        return shared_margins(given)
    derivation = derived(model, progress)
    enter = progress or (lambda step: None)
    stated = finite_time(derivation)
    enter("growth of Q")
    far: tuple[Far, ...] = ()
    if stated.verdict is Verdict.PROVED:
        far = tuple(far_out(block) for block in derivation.blocks)
    growths = tuple(f.coercive for f in far)
    # All blocks must be coercive.
    verdict = conclude(growths) if far else Verdict.UNDECIDED
    reasons = dict.fromkeys(f.reason for f in growths if f.verdict is verdict)
    coercive = Finding(verdict, "; ".join(reasons) or "there is no Q to ask about")
    shape = find_horizon(derivation, far, coercive) if far else Horizon(())
    enter("the problem in the weights")
    steering = derivation.parameterization.geometry.steering
    pose = pose_in_weights if steering.is_gradient else pose_steepest
    weights = pose(derivation)
    agree = agreement(far, weights) if shape.function is not None and weights.costs else None
    scaled = scaled_start(derivation)
    return Margins(derivation, stated, coercive, far, shape, weights, agree, scaled)


def finite_time(derivation: Derivation) -> Finding:
    """Return whether beta(t) = argmin Q subject to <x_i, beta> >= <x_i, beta(t)> for all i.

    PROVED for every convex Q that was proved, warped or not, and for every decreasing loss;
    REFUTED where no Q exists for any warp.
    """
    if derivation.verdict is Verdict.REFUTED:
        found = derivation.warping.finding
        return Finding(Verdict.REFUTED, f"there is no Q: {found.reason}", found.evidence)
    if derivation.verdict is Verdict.UNDECIDED:
        found = derivation.potential.finding
        return Finding(Verdict.UNDECIDED, f"Q was not found: {found.reason}", found.evidence)
    if not derivation.parameterization.geometry.steering.is_gradient:
        reason = "under steepest descent `grad Q` leaves the row space of `X` where that has rows"
        return Finding(Verdict.UNDECIDED, f"{reason} enough: what `beta(t)` minimises is not known")
    reason = "`grad Q(beta(t)) = X^T s(t)` with `s >= 0`, and Q is strictly convex"
    return Finding(Verdict.PROVED, reason, derivation.potential.finding.evidence)


@dataclass(frozen=True, repr=False)
class SharedMargins(Claims, Printable):
    """The margin problem in the weights of outputs that share them.

    Attributes:
        derivation: of the least sum_k |w_k|^p, or max_k |w_k|, in beta.
        norm: l_p, or op, where that is an increasing function of it.
        claims: the cited theorem, the cost in beta, and the margin that it is.
        shape, sides: no horizon, and no side of 0, as there is no Q.
    """

    shape: ClassVar[Horizon] = Horizon(())
    sides: ClassVar[tuple[int, ...]] = ()
    parameterization: PushedMap
    derivation: FibreCost
    norm: str | None
    claims: tuple[Statement | Open, ...]

    @property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed."""
        return self.claims

    @property
    def verdict(self) -> Verdict:
        """PROVED where the margin problem is written in beta."""
        return self.derivation.verdict


def shared_margins(model: PushedMap) -> SharedMargins:
    """Return the margin problem in the weights, and what it is in beta.

    >>> from derive import Parameterization
    >>> shared_margins(Parameterization.parse(["a*u1", "a*u2"], steepest="3")).norm
    'l3'

    Raises:
        InputError: of phi that is no power, and of F that is no homogeneous polynomial.
    """
    p = map_of(model.plain)
    if model.function is not None:
        raise InputError(f"{model.flow} on these outputs is no gradient flow: derive regularizer")
    if p.degree is None or not all(f.is_polynomial() for f in p.F):
        raise InputError("steepest: margins are known of homogeneous polynomials")
    if model.shapes:
        return _spectral_margins(model, p)
    power = Steering(read_power(model.push)).norm
    least = " + ".join(f"abs({w})**({power})" for w in p.weights) if power else LARGEST
    cost = fibre_cost(p, least)
    norm, first = _norm(cost, p.degree, power), claims.steepest_kkt(claims.size_of(power))
    told = [first, *cost.statements]
    if norm is not None:
        words = "the minimizers of the problem are in `beta` the predictors of largest margin in"
        told += [Statement(f"{words} `{{norm}}`", {"norm": norm}, kind="shared margin")]
    return SharedMargins(model, cost, norm, tuple(told))


def _spectral_margins(model: PushedMap, p: Parameterization) -> SharedMargins:
    """Return the same in the spectral norm, of a product of the matrices."""
    told: list[Statement | Open] = [claims.steepest_kkt(claims.OPERATOR)]
    finding = Finding(Verdict.UNDECIDED, "the outputs are no product of the matrices of weights")
    if (found := _product(model, p)) is None:
        told += [Open("not written in `beta`: {why}", {"why": finding}, kind="shared margin")]
    else:
        finding = Finding(Verdict.PROVED, "operator norms of products, and singular values")
        told += [claims.operator_margin(found[0], len(model.shapes), found[1])]
    block = BlockFibre(Notation(p, tuple(range(p.d))).betas, finding)
    cost = FibreCost(p, claims.OPERATOR, (block,))
    return SharedMargins(model, cost, None if found is None else "op", tuple(told))


def _product(model: PushedMap, p: Parameterization) -> tuple[str, int | None] | None:
    """Return a product of all matrices, some transposed, whose entries the outputs are by rows.

    And the least inner dimension, where that bounds the rank of the product.
    """
    names, given = [x for x, _ in model.shapes], _matrices(model, p)
    for turned in itertools.product((False, True), repeat=len(given)):
        pairs = zip(turned, given, strict=True)
        factors = [tuple(zip(*W, strict=True)) if t else W for t, W in pairs]
        if any(len(A[0]) != len(B) for A, B in itertools.pairwise(factors)):
            continue
        B = functools.reduce(_times, factors)
        if tuple(x for row in B for x in row) == p.F:
            inner, outer = min(len(A[0]) for A in factors), min(len(B), len(B[0]))
            text = " ".join(x + "^T" * t for x, t in zip(names, turned, strict=True))
            return text, inner if inner < outer else None
    return None


def _matrices(model: PushedMap, p: Parameterization) -> list[Matrix]:
    """Return the matrices of weights."""
    entries = (
        ([p.field.named(f"{x}{i + 1}{j + 1}") for j in range(n)] for i in range(m))
        for x, (m, n) in model.shapes
    )
    return [tuple(map(tuple, rows)) for rows in entries]


def _times(A: Matrix, B: Matrix) -> Matrix:
    return tuple(tuple(dot(row, column) for column in zip(*B, strict=True)) for row in A)


def _norm(cost: FibreCost, D: int, power: Fraction | None) -> str | None:
    """Return l_p where the cost is c (sum_i |beta_i|^p)^(1/D), or max_i |beta_i|^(1/D)."""
    if cost.R is None or not all(block.signs for block in cost.blocks):
        return None
    sizes = {b: Symbol(b.name, positive=True) for b in cost.betas}
    R, x = cost.R.xreplace(sizes), sizes.values()
    if power is None:
        return "linf" if sympy.Max(*(b ** sympy.Rational(1, D) for b in x)) == R else None
    whole = sympy.Add(*(b ** sympy.Rational(power) for b in x))
    return f"l{power}" if sympy.cancel(R**D / whole).is_number else None
