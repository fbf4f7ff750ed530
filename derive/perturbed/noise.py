"""Noise in the row space, as of SGD or of labels: dw = G^-1 J^T (lambda dt + X^T sigma dB).

With S = int X^T C X dt, C = sigma sigma^T the covariance of the noise of the residuals, and
X_a = grad F_a, Ito's formula has no martingale part for a law:

    dc = 1/2 sum_ab dS_ab X_a^T (Hess c) X_b
    dy_i = g lambda_i dt + g (X^T sigma dB)_i + 1/2 sum_ab dS_ab X_a^T (Hess y_i) X_b

so y - y(w_0), less the sum of the last term, stays in the row space for every path.

Source: Pesme, Pillaud-Vivien, Flammarion 2021, for diagonal networks; in general our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from fractions import Fraction
from itertools import combinations_with_replacement

import sympy
from sympy import Expr, Symbol

from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import dot
from derive.perturbed.drift import Drift, drift_of
from derive.perturbed.followed import Followed, Leaf


def noise_of(leaf: Leaf, x: Followed) -> Drift:
    """Return 1/2 sum_ab S_ab X_a^T (Hess c) X_b, per unit of the accumulated covariance S."""
    pairs = list(combinations_with_replacement(range(leaf.parameterization.d), 2))
    names = [f"S{leaf.number(a)}{leaf.number(b)}" for a, b in pairs]
    leaf = leaf.with_letters({name: leaf.fresh(name) for name in names})
    field, total = leaf.parameterization.field, leaf.parameterization.field.zero
    fields, H = leaf.parameterization.fields, x.over(field).hessian
    for (a, b), name in zip(pairs, names, strict=True):
        tensor = dot(fields[a], tuple(dot(row, fields[b]) for row in H))
        total += tensor * leaf.letter(name) * field.constant(Fraction(1 + (a != b), 2))
    return drift_of(leaf, x.over(field), LogFunction(total))


def takes_to_zero(effective: Mapping[Symbol, Expr], taken: Set[str]) -> bool:
    """Tell whether each start symbol tends to 0 as all variances S, or S_aa, grow.

    What is no name that is taken is an S, and a variance where its two indices are the same.
    """
    names = {s.name for x in effective.values() for s in x.free_symbols} - taken
    indices = ((name, name.strip("S_")) for name in names)
    own = [name for name, i in indices if i[: len(i) // 2] == i[len(i) // 2 :]]
    sizes = {Symbol(name, real=True): Symbol(name, positive=True) for name in own}
    return all(sympy.log(x / s).xreplace(sizes).is_negative for s, x in effective.items())
