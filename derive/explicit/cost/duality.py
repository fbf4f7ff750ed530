"""Representation costs of quadratic outputs by Lagrange duality, such as U V^T.

With F_i = <w, A_i w> and M(l) = sum_i l_i A_i, |w|^2 - <l, F(w)> = <w, (I - M(l)) w>, hence

    R_F(beta) >= max {<l, beta>: I - M(l) positive semidefinite}.

One output. As x leaves 0, I - x A stays positive definite up to the nearest root of det(I - x A),
where it has a kernel: all roots are real, being the inverses of eigenvalues. So for beta > 0

    R_F(beta) = x beta,   x the least positive root of det(I - x A),

attained in the kernel of I - x A; for beta < 0 the greatest negative root takes its place. Where
all roots have one sign, so has beta, for every w.

Several outputs: where sum_i c_i A_i = I, |w|^2 is <c, F(w)>; see also
:mod:`derive.explicit.cost.nuclear`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, pairwise

from flint import ctx, fmpq, fmpq_mat, fmpq_poly
from sympy import Add, Symbol

from derive.exact.rationals import reduced, roots_of
from derive.explicit.constrained import ConstrainedProblem
from derive.explicit.cost.closed_cost import ClosedCost, Multiple
from derive.explicit.cost.feasible import BITS
from derive.explicit.cost.nuclear import find_nuclear
from derive.verdict import Identity


def find_dual(problem: ConstrainedProblem, betas: Sequence[Symbol]) -> ClosedCost | None:
    """Return R_F by duality where the dual is solved and has no gap, by checks; else None."""
    forms = problem.quadratic_forms
    if forms is None:
        return None
    weights = [Symbol(name) for name in problem.weights]
    nuclear = _linear(problem, forms) or find_nuclear(forms, weights, betas)
    return nuclear or find_extreme(forms)


def _linear(problem: ConstrainedProblem, forms: Sequence[fmpq_mat]) -> ClosedCost | None:
    """Return <c, beta> where sum_i c_i A_i = I: |w|^2 = <c, F(w)>."""
    places = combinations_with_replacement(range(forms[0].nrows()), 2)
    rows = [[*(A[i, j] for A in forms), fmpq(int(i == j))] for i, j in places]
    solution = reduced(rows)
    if solution[-1][0] == len(forms):
        return None
    multiples = tuple(Multiple(fmpq_poly([-row[-1], 1]), 0, k) for k, row in solution if row[-1])
    betas = [Symbol(f"F{i + 1}" if len(forms) > 1 else "F") for i in range(len(forms))]
    square = " + ".join(f"{w}**2" for w in problem.weights)
    linear = Add(*(term.expression(betas) for term in multiples))
    evidence = (Identity("|w|^2 = <c, F(w)>", square, str(linear)),)
    reason = "|w|^2 is the same for all w with F(w) = beta: a linear function of beta"
    return ClosedCost((multiples,), False, reason, evidence)


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
