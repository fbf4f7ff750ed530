"""Separable data under steepest descent in l_p on outputs that share weights.

There is no Q then (:mod:`derive.optimizers.pushed`), and limit points of w/|w|_p are KKT points of
min |w|_p subject to <x_i, F(w)> >= 1 all the same (Tsilivis, Vardi, Kempe 2024). In beta its
minimizers are those of R_p = min sum_k |w_k|^p subject to F(w) = beta, or of the least max_k |w_k|.
Where R_p is continuous as it is written it is so at beta with zeros, too: near weights above these
there are weights of beta without.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Symbol

from derive.derivation import map_of
from derive.errors import InputError
from derive.explicit.fibre_cost import LARGEST, FibreCost, fibre_cost
from derive.model.geometry import Steering
from derive.model.rates import read_power
from derive.model.steepest import PushedMap
from derive.printable import Printable
from derive.separable.statements import steepest_kkt
from derive.statement import Claims, Open, Statement
from derive.verdict import Verdict


@dataclass(frozen=True, repr=False)
class SharedMargins(Claims, Printable):
    """The margin problem in the weights of outputs that share them.

    Attributes:
        derivation: of the least sum_k |w_k|^p, or max_k |w_k|, in beta.
        norm: l_p, where that is an increasing function of it.
        claims: the cited theorem, the cost in beta, and the margin that it is.
    """

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
    if model.function is not None or model.shapes:
        raise InputError(f"{model.flow} on these outputs is no gradient flow: derive regularizer")
    if p.degree is None or not all(f.is_polynomial() for f in p.F):
        raise InputError("steepest: margins are known of homogeneous polynomials")
    power = Steering(read_power(model.push)).norm
    least = " + ".join(f"abs({w})**({power})" for w in p.weights) if power else LARGEST
    cost = fibre_cost(p, least)
    norm, told = _norm(cost, p.degree, power), [steepest_kkt(power), *cost.statements]
    if norm is not None:
        words = "the minimizers of the problem are in `beta` the predictors of largest margin in"
        told += [Statement(f"{words} `{{norm}}`", {"norm": norm}, kind="shared margin")]
    return SharedMargins(model, cost, norm, tuple(told))


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
