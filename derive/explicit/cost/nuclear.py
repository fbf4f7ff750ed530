"""The cost of U V^T and of what only differs from it by names and by a change of the outputs.

Let the weights fall into r copies of two groups, u_c in R^m and v_c in R^n, such that

    F_k(w) = sum_ij C_ijk sum_c u_ci v_cj   with an invertible C, mn x mn.

With B = C^-T beta, F(w) = beta says sum_c u_c v_c^T = B, and in Lagrange's dual, for l = C^-1 L,

    R_F(beta) >= max {<L, B>: the greatest singular value of L is at most 2} = 2 |B|_*.

The singular vectors of B, scaled by the roots of its singular values, are weights with F(w) = beta
and |w|^2 = 2 |B|_*. They take as many copies as B has rank, and where there is some w with
F(w) = beta there are as many.

|B|_*^2 = |B|^2 + 2 sqrt(det(B B^T)) for m = 2. For m = 3, r = 2 |B|_* is the greatest root of the
polynomial whose roots are 2 (+-s_1 +- s_2 +- s_3), the s_i the singular values: with e_k the
elementary symmetric functions of s_i^2 it is ((r^2 - 4 e_1)^2 - 64 e_2)^2 - (64 r)^2 e_3. For
n = 3 it has two factors, (r^2 - 4 e_1)^2 - 64 e_2 +- 64 r det B.

Source: Recht, Fazel, Parrilo 2010, *Guaranteed minimum-rank solutions of linear matrix equations
via nuclear norm minimization*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import sympy
from flint import arb, fmpq_mat, fmpq_poly
from sympy import Expr, Symbol

from derive.exact.field.function_field import FunctionField
from derive.exact.field.polynomial import Polynomial
from derive.exact.linear.matrix import determinant, dot
from derive.exact.rationals import as_fmpq, as_fraction, as_sympy, rational, roots_of
from derive.explicit.cost.closed_cost import ClosedCost
from derive.explicit.cost.quadratic_forms import copies, links, sides
from derive.verdict import Identity


@dataclass(frozen=True)
class Nuclear:
    """2 |B|_*, B of m <= n rows and columns: its entries, row by row, by coefficients in beta."""

    rows: int
    columns: int
    entries: fmpq_mat

    def matrix(self, betas: Sequence[Symbol]) -> sympy.Matrix:
        """Return B."""
        values = [
            sympy.Add(*(rational(c) * b for c, b in zip(row, betas, strict=True)))
            for row in self.entries.tolist()
        ]
        return sympy.Matrix(self.rows, self.columns, values)

    def expression(self, betas: Sequence[Symbol]) -> Expr | None:
        """Return it in square roots, for m <= 2."""
        B = self.matrix(betas)
        square = sympy.Add(*(x**2 for x in B))
        if self.rows == 1:
            return 2 * sympy.sqrt(sympy.factor(sympy.expand(square)))
        if self.rows > 2:
            return None
        if self.columns == 2:
            return 2 * sympy.sqrt(sympy.expand(square) + 2 * sympy.Abs(sympy.factor(B.det())))
        # det(B B^T) by Cauchy and Binet.
        pairs = combinations(range(self.columns), 2)
        minors = sympy.Add(*(sympy.factor(B[:, list(pair)].det()) ** 2 for pair in pairs))
        return 2 * sympy.sqrt(sympy.expand(square) + 2 * sympy.sqrt(minors))

    def at(self, beta: Sequence[Fraction]) -> arb:
        """Return its value as a ball: the eigenvalues of B B^T, each as often as it occurs."""
        column = fmpq_mat([[as_fmpq(b)] for b in beta])
        B = fmpq_mat(self.rows, self.columns, (self.entries * column).entries())
        total = arb(0)
        for f, count in fmpq_poly((B * B.transpose()).charpoly()).factor()[1]:
            if f.degree() > 1 or f[0]:
                total += count * sum((x.sqrt() for x in roots_of(fmpq_poly(f))), arb(0))
        return 2 * total


def find_nuclear(
    forms: Sequence[fmpq_mat], weights: Sequence[Expr], betas: Sequence[Symbol]
) -> ClosedCost | None:
    """Return 2 |B|_* where F is U V^T up to names and a change of the outputs; else None.

    F_i = <w, A_i w> with the *forms* A_i, and *weights* are names of w or their opposites.
    """
    kinds = copies(forms)
    groups = _two_groups(forms, kinds[0][0]) if len(kinds) == 1 else None
    if groups is None:
        return None
    (kind,), (u, v) = kinds, groups
    C = fmpq_mat([[2 * A[ij] for A in forms] for ij in product(u, v)])
    if not C.det():
        return None
    part = Nuclear(len(u), len(v), C.transpose().inv())
    places = [[kind[0].index(k) for k in side] for side in (u, v)]
    pairs = [[[group[k] for k in place] for place in places] for group in kind]
    evidence = (_identity(weights, forms, part, pairs),)
    reason = (
        f"U V^T is the matrix B of beta, {part.matrix(betas).tolist()}; by Lagrange duality R_F "
        "is max <L, B> over the L with no singular value above 2, twice the nuclear norm of B"
    )
    return ClosedCost(((part,),), len(kind) >= len(u), reason, evidence, _factors(part))


def _two_groups(
    forms: Sequence[fmpq_mat], copy: Sequence[int]
) -> tuple[Sequence[int], Sequence[int]] | None:
    """Return u and v, m <= n, where all products are of one of each; None where they are not."""
    pairs = links(forms)
    u, v = sorted((sorted(side, key=copy.index) for side in sides(copy, pairs)), key=len)
    if set(u) & set(v) or len(u) * len(v) != len(forms):
        return None
    return None if pairs & {*product(u, u), *product(v, v)} else (u, v)


def _factors(part: Nuclear) -> tuple[Polynomial, ...]:
    """Return the polynomials in r and beta for 3x3; none for other sizes."""
    if (part.rows, part.columns) != (3, 3):
        return ()
    field = FunctionField(("r", *(f"beta {i}" for i in range(1, 10))))
    r, *betas = field.gens
    rational_rows = [[field.constant(as_fraction(c)) for c in row] for row in part.entries.tolist()]
    values = [dot(row, betas) for row in rational_rows]
    B = tuple(tuple(values[3 * i : 3 * i + 3]) for i in range(3))
    pairs = tuple(combinations(range(3), 2))
    minors = [B[i][k] * B[j][m] - B[i][m] * B[j][k] for i, j in pairs for k, m in pairs]
    middle = (r * r - 4 * dot(values, values)) ** 2 - 64 * dot(minors, minors)
    last = 64 * r * determinant(B)
    return ((middle + last).numerator, (middle - last).numerator)


def _identity(
    weights: Sequence[Expr],
    forms: Sequence[fmpq_mat],
    part: Nuclear,
    pairs: Sequence[Sequence[Sequence[int]]],
) -> Identity:
    """Return B(F(w)) = U V^T."""
    w = sympy.Matrix(weights)
    outputs = [sympy.expand((w.T * as_sympy(A) * w)[0]) for A in forms]
    left = part.matrix(outputs).applyfunc(sympy.expand)
    U, V = (sympy.Matrix([[w[k] for k in pair[side]] for pair in pairs]).T for side in (0, 1))
    return Identity("B(F(w)) = U V^T", str(left.tolist()), str((U * V.T).tolist()))
