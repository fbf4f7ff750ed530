"""Other costs over the fibre of U V^T: weighted nuclear norms.

The outputs of U V^T, up to names and a change of outputs, are a matrix B of beta. A quadratic cost
that is the same for all columns of U, and for all of V, is <U U^T, A> + <V V^T, C>, and

    h = |A^(1/2) U|^2 + |C^(1/2) V|^2 >= 2 |A^(1/2) B C^(1/2)|_*,

with equality at the scaled singular vectors where A and C are positive definite. So is tr K S, with
A = sum_i X_i X_i^T and C = sum_i X_i^T X_i for the rows X_i of data, as matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy
from sympy import Expr, Matrix, Symbol

from derive.explicit.constrained import pose_cost
from derive.explicit.cost.duality import find_factors
from derive.language import to_sympy
from derive.model.parameterization import Parameterization

GROUND = (
    "`|A^(1/2) U|^2 + |C^(1/2) V|^2` is at least twice the nuclear norm of `A^(1/2) B C^(1/2)`,"
    " `B = U V^T`, and equal at its singular vectors"
)
SAME = (
    "of `U V^T` a rule is known for costs `<U U^T, A> + <V V^T, C>`, `A` and `C` positive definite"
)
ROWS = "the nuclear norm of more than two rows has no formula in square roots"


def factored_cost(
    p: Parameterization,
    cost: Callable[[Sequence[str], Sequence[Expr]], Expr],
    betas: Sequence[Symbol],
) -> Expr | str | None:
    """Return the least cost of U V^T in beta, or why it is not written; None of other outputs.

    Args:
        cost: h on weights, and on outputs in them.
    """
    problem = pose_cost(p) if all(f.is_polynomial() for f in p.F) else None
    forms = None if problem is None else problem.quadratic_forms
    if forms is None or (found := find_factors(forms)) is None:
        return None
    part, copies = found
    w = {x: Symbol(x, real=True) for x in p.weights}
    h = cost(p.weights, [to_sympy(f, w) for f in p.trees])
    places = [[sign * sympy.eye(p.p).row(k) for k, sign in copy] for copy in copies]
    halves = _halves(sympy.hessian(h, [*w.values()]) / 2, [*map(Matrix, places)], part.rows)
    return SAME if halves is None else part.weighted(betas, *halves) or ROWS


def _halves(H: Matrix, copies: Sequence[Matrix], rows: int) -> tuple[Matrix, Matrix] | None:
    """Return A and C of <w, H w> = <U U^T, A> + <V V^T, C>, or None.

    Args:
        copies: which take w to a column of U, and of V, below one another.
    """
    G = copies[0] * H * copies[0].T
    A, C = G[:rows, :rows], G[rows:, rows:]
    whole = sum((P.T * sympy.diag(A, C) * P for P in copies), 0 * H)
    return (A, C) if whole == H and is_definite(A) and is_definite(C) else None


def is_definite(A: Matrix) -> bool:
    """Tell whether a symmetric matrix is one of fractions, and positive definite: by its minors."""
    minors = (A[:k, :k].det() for k in range(1, A.rows + 1))
    return all(x.is_Rational for x in A) and all(x > 0 for x in minors)
