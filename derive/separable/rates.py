"""How fast a linear model tends to the largest margin under tails exp(-u^nu), by exact expansions.

Where rows of margin 1 have multipliers alpha_i > 0, gradient flow is w = w_hat g + o(g), so that on
them a(u_i) = alpha_i g', a(u) = nu u^(nu - 1) exp(-u^nu), whence g^nu = log t + O(log log t), and

    u_i = g + k_i g^(1 - nu) + ...,   a(u_i)/a(g) -> alpha_i/max alpha,

min k = 0, as g is free by O(g^(1 - nu)). What is across their span stays bounded (Soudry et al.
2018, Nacson et al. 2019). So with n = |w_hat|, <w_hat, w> = sum alpha_i u_i, p = alpha/n^2 and a
number b

    |w|^2/n^2 = (g + k g^(1 - nu))^2 + b^2,   k = sum_i p_i k_i.

Normalised steps eta grad/|grad| have n log t = sum eta + ...: |w| grows by no more than that.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, TypeAlias

import sympy
from sympy import Expr, Symbol, sqrt

from derive.exact.asymptotics import CONSTANT, SMALL, Expander
from derive.exact.elementary_signs import ElementarySigns
from derive.model.notation import rational

Measure = Literal["margin", "direction"]
Leading: TypeAlias = tuple[tuple[Fraction, int], Expr]
ACROSS = Symbol("b", positive=True)
MEAN = Symbol("k", positive=True)


@functools.cache
def tail_rate(measure: Measure, nu: Fraction, across: Expr = ACROSS) -> Leading:
    """Return (r, 0) and c where the gap of the margin or of the direction is c (log t)^-r + ....

    >>> [(str(r), c) for (r, _), c in (tail_rate("margin", Fraction(nu)) for nu in (1, 3))]
    [('1', k), ('2/3', b**2/2)]

    Args:
        measure: 1 - min u_i/(gamma |w|), or |w/|w| - w_hat/|w_hat|| up to a factor.
        nu: of the tail, positive.
        across: 0 where support vectors span all rows.
    """
    g = SMALL ** rational(-1 / nu)
    bend = MEAN * g ** rational(1 - nu)
    if measure == "margin":
        return leading_of(1 - g / sqrt((g + bend) ** 2 + across**2))
    return leading_of(sqrt(bend**2 + across**2) / g)


def offsets(alpha: Sequence[Expr], nu: Fraction) -> list[Expr]:
    """Return k_i: a(u_i)/a(g) tends to exp(-rise k_i)."""
    g, k = SMALL ** rational(-1 / nu), MEAN
    growth, rise = leading_of((g + k * g ** rational(1 - nu)) ** rational(nu) - 1 / SMALL)
    assert growth == CONSTANT
    assert not (rise / k).has(k)
    largest = max(alpha)
    return [sympy.log(largest / a) * k / rise for a in alpha]


def leading_of(f: Expr) -> Leading:
    """Return the growth of f as e -> 0, and its coefficient; Undecided without an expansion."""
    decide = ElementarySigns(sorted(s.name for s in f.free_symbols - {SMALL}))
    found = Expander(SMALL, decide, Fraction(2)).expand(f)
    r, k = found.leading
    assert found.reaches((r, k))
    assert isinstance(r, Fraction)
    return (r, k), found.first
