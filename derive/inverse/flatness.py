"""Has a coupled Q an F with as many weights as outputs? Where Hess Q is a flat metric.

J J^T = (Hess Q)^-1 of a square J says that Hess Q = Dw^T Dw, w the inverse of F: that Hess Q is the
Euclidean metric in other coordinates. The curvature of H = Hess Q is -[C_i, C_j]/4 with
C_i = H^-1 dH/dbeta_i, as d_i H_jk is symmetric in all three. So such an F exists, locally, exactly
where the C_i commute. (Derived here; with more weights than outputs: Li et al. 2022.)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from derive.errors import DeriveError
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import Matrix, determinant, dot, inverse
from derive.exact.towers.tower import build_elements
from derive.language.tree import Tree, names


def obstruction(tree: Tree, betas: Sequence[str]) -> str:
    """Return what is known of F with as many weights as there are betas; "" where nothing is."""
    constants = [name for name in names((tree,)) if name not in betas]
    try:
        (Q,) = build_elements((tree,), betas, constants, (*betas, *constants))
        field, d = Q.field, len(betas)
        H = tuple(tuple(field.gradient(x)[:d]) for x in field.gradient(Q)[:d])
        if determinant(H).is_zero():
            return "Hess Q is singular"
        C = [_product(inverse(H), _derivative(H, k)) for k in range(d)]
        pairs = [*combinations(range(d), 2)]
        curved = next((p for p in pairs if _differ(C[p[0]], C[p[1]])), None)
    except (DeriveError, ArithmeticError):
        return ""
    if curved is None:
        commute = "as the C_i = H^-1 dH/dbeta_i commute, H = Hess Q, but is not integrated"
        return f"where H > 0 an F with as many weights as outputs exists, {commute}"
    i, j = (betas[k] for k in curved)
    return (
        f"no F has as many weights as outputs, as H^-1 dH/d{i} and H^-1 dH/d{j} do not commute, "
        "H = Hess Q"
    )


def _derivative(H: Matrix, k: int) -> Matrix:
    return tuple(tuple(x.field.gradient(x)[k] for x in row) for row in H)


def _product(A: Matrix, B: Matrix) -> Matrix:
    columns = [*zip(*B, strict=True)]
    return tuple(tuple(dot(row, column) for column in columns) for row in A)


def _differ(A: Matrix, B: Matrix) -> bool:
    rows = zip(_product(A, B), _product(B, A), strict=True)
    return any(_unequal(x, y) for left, right in rows for x, y in zip(left, right, strict=True))


def _unequal(x: RationalFunction, y: RationalFunction) -> bool:
    return not (x - y).is_zero()
