"""Separable data under steepest descent in l_p on outputs that share weights.

There is no Q then (:mod:`derive.optimizers.pushed`), and limit points of w/|w|_p are KKT points of
min |w|_p subject to <x_i, F(w)> >= 1 all the same (Tsilivis, Vardi, Kempe 2024). In beta its
minimizers are those of R_p = min sum_k |w_k|^p subject to F(w) = beta, or of the least max_k |w_k|.
Where R_p is continuous as it is written it is so at beta with zeros, too: near weights above these
there are weights of beta without.
"""

from __future__ import annotations

import functools
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
    """What is known of the flow of a map whose outputs share weights.

    Attributes:
        derivation: of the least |w|_p^p, or of max_k |w_k|, in beta.
    """

    parameterization: PushedMap
    derivation: FibreCost

    @property
    def verdict(self) -> Verdict:
        """PROVED where the margin problem is written in beta."""
        return self.derivation.verdict

    @property
    def norm(self) -> str | None:
        """The norm of which R_p is an increasing function, where that is l_p itself."""
        R, D = self.derivation.R, self.parameterization.plain.degree
        power = Steering(read_power(self.parameterization.push)).norm
        if R is None or D is None:
            return None
        sizes = [Symbol(b.name, positive=True) for b in self.derivation.betas]
        R = R.xreplace(dict(zip(self.derivation.betas, sizes, strict=True)))
        if power is None:
            same = sympy.Max(*(b ** sympy.Rational(1, D) for b in sizes)) == R
            return "linf" if same else None
        p = sympy.Rational(Fraction(power))
        ratio = sympy.cancel(R**D / sympy.Add(*(b**p for b in sizes)))
        return f"l{power}" if ratio.is_number else None

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed: the cited theorem, its cost in beta, and the margin that it is."""
        margin = tuple[Statement, ...]()
        if self.norm is not None:
            words = "the minimizers of the problem are in `beta` the predictors of largest margin"
            told = {"norm": self.norm, "R": self.derivation.R}
            margin = (Statement(f"{words} in `{{norm}}`", told, kind="shared margin"),)
        kkt = steepest_kkt(Steering(read_power(self.parameterization.push)).norm)
        return (kkt, *self.derivation.statements, *margin)


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
    cost = " + ".join(f"abs({w})**({power})" for w in p.weights) if power else LARGEST
    return SharedMargins(model, fibre_cost(p, cost))
