"""Margins of steepest descent in l_p on the weights of copies of one homogeneous output.

Limit points of w/|w|_p are KKT points, in a generalised sense, of min |w|_p subject to
<x_i, F(w)> >= 1 (Tsilivis, Vardi, Kempe 2024). In beta its minimizers are those of the sum over
copies of R_p = min sum_k |w_k|^p subject to F(w) = beta, or of the largest over copies of R_oo =
min max_k |w_k|. F(c w) = c^D F(w) gives R_p(beta) = R_p(1) |beta|^(p/D) for beta > 0, and the same
for beta < 0 where F(P w) = -F(w) for some P that permutes weights and alters signs, which no l_p
norm sees. So it is the margin in l_(p/D); of sign descent, p = oo, in l_inf. Where F takes one sign
alone, it is that margin among such beta.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

from derive.derivation import Derivation
from derive.exact.signs import Signs
from derive.model.notation import Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.separable.weights_problem import WeightsProblem
from derive.verdict import Finding, Verdict

SOURCE = "Tsilivis, Vardi, Kempe 2024"
MOST = 6
"""Weights of which all signs are tried."""


def pose_steepest(derivation: Derivation) -> WeightsProblem:
    """Return the margin problem in the weights of steepest descent, and its norm in beta."""
    p = derivation.parameterization
    if p.homogeneity is None:
        return WeightsProblem(Finding(Verdict.UNDECIDED, "F is not homogeneous"), None)
    D = to_expr(p.homogeneity, Notation(p, ()).weights)
    if p.degree is None or p.degree < 1 or not all(f.is_polynomial() for f in p.F):
        reason = "F is homogeneous, but no polynomial of given degree"
        return WeightsProblem(Finding(Verdict.UNDECIDED, reason), D)
    if p.d > 1:
        reason = "it is known for copies of one output"
        return WeightsProblem(Finding(Verdict.UNDECIDED, reason), D)
    words, (F,) = odd_symmetry(p), p.F
    side = next((c for c, f in ((1, F), (-1, -F)) if Signs().is_nonnegative(f)), 0)
    if words is None and not side:
        reason = "that `F` takes both signs at one cost was not found"
        return WeightsProblem(Finding(Verdict.UNDECIDED, reason), D)
    found = Finding(Verdict.PROVED, words or f"no `w` has `F(w) {'<' if side > 0 else '>'} 0`")
    return WeightsProblem(found, D, norm=norm_in_beta(p), side=side)


def norm_in_beta(p: Parameterization) -> str:
    """Return l_(p/D), or linf of sign descent."""
    s, D = p.geometry.steepest, p.degree
    assert s is not None
    assert D is not None
    return f"l{(1 + 1 / s) / Fraction(D)}" if s else "linf"


def odd_symmetry(p: Parameterization) -> str | None:
    """Return the exchange of weights and signs that takes F to -F, by expansion; or None."""
    n, (F,) = p.p, p.F
    swaps = [(), *combinations(range(n), 2)]
    for signs, swap in product(product((1, -1), repeat=n if n <= MOST else 0), swaps):
        order = [*range(n)]
        for i in swap:
            order[i] = sum(swap) - i
        moved = [w if c > 0 else -w for c, w in zip(signs, (p.w[k] for k in order), strict=True)]
        if F.compose([*moved, *F.field.gens[n:]], F.field) == -F:
            pairs = zip(p.weights, moved, strict=True)
            changes = (f"{w} -> {x}" for w, x in pairs if repr(x) != w)
            return f"`F` becomes `-F` under `{', '.join(changes)}`"
    return None
