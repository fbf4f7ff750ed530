"""How fast a linear model tends to the largest margin under tails exp(-u^nu), by exact expansions.

Where rows of margin 1 have multipliers alpha_i > 0, gradient flow has on them

    u_i = g + k_i g^(1 - nu) + ...,   g^nu = log t,   k_i = -log(alpha_i)/nu,

while what is across their span stays bounded (Soudry et al. 2018, Nacson et al. 2019). So with
n = |w_hat| and numbers q, b

    |w|^2 = (n g + q g^(1 - nu))^2 + b^2.

Normalised steps eta grad/|grad| have n log t = sum eta + ...: |w| grows by no more than that.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from sympy import Expr, Symbol, sqrt

from derive.exact.elementary_signs import ElementarySigns
from derive.model.notation import rational
from derive.regimes.asymptotics import Expander, Growth

Measure = Literal["margin", "direction"]
SMALL = Symbol("e_", positive=True)
"""1/log t."""
ACROSS = Symbol("b", positive=True)


def tail_rate(measure: Measure, nu: Fraction, across: Expr = ACROSS) -> Growth:
    """Return (r, 0) where the gap of the margin or of the direction is of order (log t)^-r.

    >>> [str(tail_rate("margin", Fraction(nu))[0]) for nu in ("1/2", "3/2", "3")]
    ['1', '1', '2/3']

    Args:
        measure: gamma - min u_i/|w|, or |w/|w| - w_hat/|w_hat||.
        nu: of the tail, positive.
        across: 0 where support vectors span all rows.
    """
    n, q, k = (Symbol(name, positive=True) for name in "nqk")
    g = SMALL ** rational(-1 / nu)
    bend = g ** rational(1 - nu)
    if measure == "margin":
        gap = 1 / n - (g + k * bend) / sqrt((n * g + q * bend) ** 2 + across**2)
    else:
        gap = sqrt((k * bend) ** 2 + across**2) / (n * g)
    return growth_of(gap)


def growth_of(f: Expr) -> Growth:
    """Return the growth of what vanishes with e; Undecided where it has no expansion."""
    decide = ElementarySigns(sorted(s.name for s in f.free_symbols - {SMALL}))
    found = Expander(SMALL, decide, Fraction(2)).expand(f)
    assert found.reaches(found.leading)
    return found.leading
