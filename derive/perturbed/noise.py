"""Noise in the row space, as of SGD or of labels: dx = sum_a (lambda dt + X^T sigma dB)_a X_a.

With S = int X^T C X dt, C = sigma sigma^T the covariance of the noise of the residuals, and X_a
the components of grad F_a in the coordinates x, Ito's formula has no martingale part for a law:

    dc = 1/2 sum_ab dS_ab X_a^T (Hess_x c) X_b
    dy_i = g lambda_i dt + g (X^T sigma dB)_i + 1/2 sum_ab dS_ab X_a^T (Hess_x y_i) X_b

so y - y(w_0), less the sum of the last term, stays in the row space for every path.

Source: Pesme, Pillaud-Vivien, Flammarion 2021, for diagonal networks; in general our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from fractions import Fraction
from itertools import combinations_with_replacement

import sympy
from sympy import Expr, Symbol

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import dot
from derive.perturbed.drift import Drift, drift_of
from derive.perturbed.followed import Followed, Leaf


def noise_of(leaf: Leaf, x: Followed) -> Drift:
    """Return 1/2 sum_ab S_ab X_a^T (Hess c) X_b, per unit of the accumulated covariance S."""
    leaf = with_noise(leaf)
    x = x.over(leaf.parameterization.field)
    return drift_of(leaf, x, LogFunction(tensor(leaf, x)))


def with_noise(leaf: Leaf) -> Leaf:
    """Return a leaf with the letters S_ab."""
    pairs = combinations_with_replacement(range(leaf.parameterization.d), 2)
    names = [f"S{leaf.number(a)}{leaf.number(b)}" for a, b in pairs]
    return leaf.with_letters({name: leaf.fresh(name) for name in names})


def tensor(leaf: Leaf, x: Followed) -> RationalFunction:
    """Return 1/2 sum_ab S_ab X_a^T (Hess_x c) X_b, S_ab the letters in the order of the pairs."""
    field, H = leaf.parameterization.field, leaf.hessian(x)
    fields, total = leaf.coordinates.fields, field.zero
    pairs = combinations_with_replacement(range(len(fields)), 2)
    for (a, b), name in zip(pairs, leaf.letters, strict=True):
        term = dot(fields[a], tuple(dot(row, fields[b]) for row in H))
        total += term * leaf.letter(name) * field.constant(Fraction(1 + (a != b), 2))
    return total


def takes_to_zero(effective: Mapping[Symbol, Expr], taken: Set[str]) -> bool:
    """Tell whether each start symbol tends to 0 as all variances S, or S_aa, grow.

    What is no name that is taken is an S, and a variance where its two indices are the same.
    """
    names = {s.name for x in effective.values() for s in x.free_symbols} - taken
    indices = ((name, name.strip("S_")) for name in names)
    own = [name for name, i in indices if i[: len(i) // 2] == i[len(i) // 2 :]]
    sizes = {Symbol(name, real=True): Symbol(name, positive=True) for name in own}
    return all(sympy.log(x / s).xreplace(sizes).is_negative for s, x in effective.items())
