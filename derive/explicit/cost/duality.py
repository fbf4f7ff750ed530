"""Representation costs of quadratic outputs by Lagrange duality, such as U V^T.

With F_i = <w, A_i w> and M(l) = sum_i l_i A_i, |w|^2 - <l, F(w)> = <w, (I - M(l)) w>, hence

    R_F(beta) >= max {<l, beta>: I - M(l) positive semidefinite}.

Equality. Let F be a sum of copies of forms on fewer weights, r_t copies of kind t, on n_t weights
each. Replacing w w^T of each kind by any X_t >= 0 makes the problem convex, with a strictly
feasible dual (l = 0): no gap, and some extreme X attains the minimum. Of an extreme X,
sum_t rank(X_t) (rank(X_t) + 1) <= 2 d. Where (r_t + 1) (r_t + 2) > 2 d or r_t >= n_t, therefore
rank(X_t) <= r_t, so that X comes from some w.

The maximum. Let R^d be a direct sum of subspaces L_a such that, for l_a in L_a,

    M(l_a) M(l_b) = M(l_b) M(l_a),   M(l_a)^3 = s_a(l_a) M(l_a)   with a quadratic form s_a.

Then M(l) has the eigenvalues sum_a e_a sqrt(s_a(l_a)), e_a in {-1, 0, 1}, and on sets S of a where
traces of products of their M vanish, all e_a = 1 occur together. So I - M(l) >= 0 means
sum_{a in S} sqrt(s_a(l_a)) <= 1 for these S, and with the dual norms sqrt(q_a) of sqrt(s_a),

    max <l, beta> = max over the vertices v of {x >= 0: sum_{a in S} x_a <= 1 for all S}
                    of sum_a v_a sqrt(q_a(beta)).

The L_a are proposed from a quadratic factor of det M(l); the rest is checked.

One output. As x leaves 0, I - x A stays positive definite up to the nearest root of det(I - x A),
where it has a kernel: all roots are real, being the inverses of eigenvalues. So for beta > 0

    R_F(beta) = x beta,   x the least positive root of det(I - x A),

attained in the kernel of I - x A; for beta < 0 the greatest negative root takes its place. Where
all roots have one sign, so has beta, for every w.

Source: Pataki 1998, *On the rank of extreme matrices in semidefinite programs*, for
the rank; Recht, Fazel, Parrilo 2010 for 2 |beta|_* as the cost of U V^T.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, product

import sympy
from flint import arb, ctx, fmpq, fmpq_mat, fmpq_poly
from sympy import Expr, Symbol

from derive.exact.balls import ball
from derive.exact.rationals import as_fraction, as_sympy, reduced, roots_of
from derive.explicit.constrained import ConstrainedProblem
from derive.explicit.cost.algebraic_numbers import root_name
from derive.explicit.cost.closed_cost import ClosedCost, Linear, Norm
from derive.explicit.cost.commuting import (
    Subspace,
    dual_norm,
    find_subspaces,
    full_supports,
    vertices,
)
from derive.explicit.cost.feasible import BITS, reaches_all
from derive.explicit.cost.nuclear import find_nuclear
from derive.explicit.cost.quadratic_forms import (
    aligned,
    components,
    copies,
    links,
    quadratic_forms,
    restricted,
    sides,
)
from derive.verdict import Identity

MAXIMAL_GROUPS = 6
"""Groups of weights for which all choices of a side are tried."""


def find_dual(problem: ConstrainedProblem, betas: Sequence[Symbol]) -> ClosedCost | None:
    """Return R_F by duality where the dual is solved and has no gap, by checks; else None."""
    forms = quadratic_forms(problem)
    if forms is None:
        return None
    linear = _linear(problem, forms)
    if linear is not None:
        return linear
    forms, signs = aligned(forms)
    weights = [s * Symbol(name) for s, name in zip(signs, problem.weights, strict=True)]
    known = find_nuclear(forms, weights, betas) or find_extreme(forms)
    return known or _without_gap(problem, forms, weights)


def _without_gap(
    problem: ConstrainedProblem, forms: Sequence[fmpq_mat], weights: Sequence[Expr]
) -> ClosedCost | None:
    """Return the maximum of the dual over subspaces that commute, where there is no gap."""
    kinds = copies(forms)
    if not has_no_gap(kinds, len(forms)):
        return None
    kept = [k for kind in kinds for k in kind[0]]
    matrices = [restricted(A, kept) for A in forms]
    subspaces = find_subspaces(matrices, [len(kind[0]) for kind in kinds])
    supports = None if subspaces is None else full_supports(subspaces)
    if subspaces is None or supports is None:
        return None
    norms = [dual_norm(part) for part in subspaces]
    x = fmpq_poly([0, 1])
    sums = tuple(
        tuple(Norm(x, q, v, 2) for v, q in zip(vertex, norms, strict=True) if v)
        for vertex in vertices(supports, len(subspaces))
    )
    reason = (
        "Lagrange duality: F_i = <w, A_i w>, M(l) = sum l_i A_i, and |w|^2 >= <l, F(w)> where "
        "I - M(l) >= 0; the greatest <l, beta> is reached without a gap"
    )
    evidence = tuple(_identities([weights[k] for k in kept], subspaces))
    return ClosedCost(sums, _is_onto(problem, forms), reason, evidence)


def _linear(problem: ConstrainedProblem, forms: Sequence[fmpq_mat]) -> ClosedCost | None:
    """Return <c, beta> where sum_i c_i A_i = I: |w|^2 = <c, F(w)>."""
    places = combinations_with_replacement(range(forms[0].nrows()), 2)
    rows = [[*(A[i, j] for A in forms), fmpq(int(i == j))] for i, j in places]
    c = [Fraction(0)] * len(forms)
    for pivot, row in reduced(rows):
        if pivot == len(forms):
            return None
        c[pivot] = as_fraction(row[-1])
    betas = [Symbol(f"F{i + 1}" if len(forms) > 1 else "F") for i in range(len(forms))]
    square = " + ".join(f"{w}**2" for w in problem.weights)
    evidence = (Identity("|w|^2 = <c, F(w)>", square, str(Linear(tuple(c)).expression(betas))),)
    reason = "|w|^2 is the same for all w with F(w) = beta: a linear function of beta"
    return ClosedCost(((Linear(tuple(c)),),), False, reason, evidence)


def has_no_gap(kinds: Sequence[Sequence[Sequence[int]]], outputs: int) -> bool:
    """Tell whether there are enough copies of each kind for an extreme point to come from some w.

    >>> has_no_gap([[[0, 1], [2, 3]]], 4), has_no_gap([[[0, 1, 2], [3, 4, 5]]], 6)
    (True, False)
    """
    return all(
        (len(kind) + 1) * (len(kind) + 2) > 2 * outputs or len(kind) >= len(kind[0])
        for kind in kinds
    )


def _is_onto(problem: ConstrainedProblem, forms: Sequence[fmpq_mat]) -> bool:
    """Tell whether F takes every value when of each product one weight is held at some number."""
    pairs = links(forms)
    groups = components(forms[0].nrows(), pairs)
    if len(groups) > MAXIMAL_GROUPS:
        return False
    choices = [sides(group, pairs) for group in groups]
    return any(
        reaches_all(problem, [k for side in chosen for k in side]) for chosen in product(*choices)
    )


def _identities(weights: Sequence[Expr], parts: Sequence[Subspace]) -> Iterator[Identity]:
    """Yield <w, M(l)^3 w> = s(l) <w, M(l) w> on every L_a, and that these commute."""
    w, zero = sympy.Matrix(weights), sympy.zeros(len(weights), len(weights))
    coordinates = [
        [Symbol(f"t{a}{i}") for i in range(1, len(part.images) + 1)]
        for a, part in enumerate(parts, 1)
    ]
    matrices = [
        sum((x * as_sympy(X) for X, x in zip(part.images, t, strict=True)), zero)
        for part, t in zip(parts, coordinates, strict=True)
    ]
    for a, (part, t, M) in enumerate(zip(parts, coordinates, matrices, strict=True), 1):
        basis = ", ".join(f"({', '.join(map(str, row))})" for row in part.basis.tolist())
        left = (w.T * M**3 * w)[0].expand()
        square = (sympy.Matrix([t]) * as_sympy(part.square) * sympy.Matrix(t))[0].expand()
        right = f"({sympy.factor(square)})*({(w.T * M * w)[0].expand()})"
        statement = f"<w, M(l)^3 w> = s_{a}(l) <w, M(l) w>, l = sum_i t_i v_i, v in {basis}"
        yield Identity(statement, str(left), right)
    for (a, M), (b, N) in combinations(enumerate(matrices, 1), 2):
        left, right = (str((X * Y).expand().tolist()) for X, Y in ((M, N), (N, M)))
        yield Identity(f"M(l_{a}) M(l_{b}) = M(l_{b}) M(l_{a})", left, right)


@dataclass(frozen=True)
class Multiple:
    """x beta, for one output: x is a root of a polynomial with real roots; the smallest is 0."""

    minimal: fmpq_poly
    index: int

    def expression(self, betas: Sequence[Symbol]) -> Expr:
        """Return it as an expression."""
        return root_name(self.minimal, self.index) * betas[0]

    def at(self, beta: Sequence[Fraction]) -> arb:
        """Return its value as a ball."""
        return roots_of(self.minimal)[self.index] * ball(beta[0])


def find_extreme(forms: Sequence[fmpq_mat]) -> ClosedCost | None:
    """Return R_F of a single quadratic form; None where there are several outputs.

    >>> found = find_extreme([fmpq_mat([[1, 1], [1, -1]])])
    >>> found.expression((Symbol("beta", real=True),))
    sqrt(2)*Abs(beta)/2
    """
    if len(forms) != 1:
        return None
    determinant = fmpq_poly(fmpq_poly(forms[0].charpoly()).coeffs()[::-1])
    factors = [fmpq_poly(f) for f, _ in determinant.factor()[1]]
    with ctx.workprec(BITS):
        roots = [(x, Multiple(f, k)) for f in factors for k, x in enumerate(roots_of(f))]
        roots.sort(key=lambda pair: pair[0].mid())
        if not all(x < y for (x, _), (y, _) in pairwise(roots)):
            return None
        above = next((multiple for x, multiple in roots if x > 0), None)
        below = next((multiple for x, multiple in reversed(roots) if x < 0), None)
    sums = tuple((multiple,) for multiple in (above, below) if multiple is not None)
    reason = (
        "Lagrange duality: F = <w, A w>, and |w|^2 >= x beta where I - x A >= 0; x goes up to the "
        "roots of det(I - x A) next to 0, where some w is in the kernel"
    )
    scale, found = determinant.factor()
    powers = "*".join(f"({f.str(var='x')})" + (f"**{n}" if n > 1 else "") for f, n in found)
    left, right = determinant.str(var="x"), f"{scale}*{powers}"
    statement = "det(I - x A), its factors"
    evidence = Identity(statement, left.replace("^", "**"), right.replace("^", "**"))
    return ClosedCost(sums, len(sums) == 2, reason, (evidence,))
