"""The cost of U V^T and of what only differs from it by names and by a change of the outputs.

Let the weights fall into r copies of two groups, u_c in R^m and v_c in R^n, such that

    F_k(w) = sum_ij C_ijk sum_c u_ci v_cj   with an invertible C, mn x mn.

With B = C^-T beta, F(w) = beta says sum_c u_c v_c^T = B, and in Lagrange's dual, for l = C^-1 L,

    R_F(beta) >= max {<L, B>: the greatest singular value of L is at most 2} = 2 |B|_*.

The singular vectors of B, scaled by the roots of its singular values, are weights with F(w) = beta
and |w|^2 = 2 |B|_*. They take as many copies as B has rank, and where there is some w with
F(w) = beta there are as many.

|B|_*^2 = |B|^2 + 2 sqrt(det(B B^T)) for m = 2; for m > 2 it is left as the norm.

Source: Recht, Fazel, Parrilo 2010, *Guaranteed minimum-rank solutions of linear matrix equations
via nuclear norm minimization*.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import sympy
from flint import arb, fmpq, fmpq_mat, fmpq_poly
from sympy import Expr, Symbol

from derive.exact.linear.matrix import connected
from derive.exact.rationals import as_fmpq, as_sympy, rational, roots_of
from derive.explicit.cost.closed_cost import ClosedCost
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
    forms: Sequence[fmpq_mat], weights: Sequence[Symbol], betas: Sequence[Symbol]
) -> ClosedCost | None:
    """Return 2 |B|_* where F_i = <w, A_i w> is U V^T up to names, signs and outputs; else None.

    The first copy says what B is; in the others every u_i v_j is one of its entries, up to a sign.
    """
    pairs = _links(forms)
    groups = connected(len(weights), pairs)
    copies = [sorted(map(sorted, _sides(group, pairs)), key=len) for group in groups]
    part = _first(forms, *copies[0])
    if part is None or any(pairs & {*product(side, side)} for copy in copies for side in copy):
        return None
    placed = [_placed(forms, part, x, y) or _placed(forms, part, y, x) for x, y in copies]
    if None in placed:
        return None
    reason = (
        f"U V^T is the matrix B of beta, {part.matrix(betas).tolist()}; by Lagrange duality R_F "
        "is max <L, B> over the L with no singular value above 2, twice the nuclear norm of B"
    )
    lines = [[s * weights[k] for k, s in copy] for copy in filter(None, placed)]
    evidence = (_identity(weights, forms, part, sympy.Matrix(lines)),)
    return ClosedCost(((part,),), len(copies) >= part.rows, reason, evidence)


def _links(forms: Sequence[fmpq_mat]) -> set[tuple[int, int]]:
    """Return the pairs of weights that meet in a product."""
    places = product(range(forms[0].nrows()), repeat=2)
    return {(i, j) for i, j in places if any(A[i, j] for A in forms)}


def _sides(group: Sequence[int], pairs: Set[tuple[int, int]]) -> tuple[set[int], set[int]]:
    """Return the weights of a group by the parity of their distance from the first."""
    near: tuple[set[int], set[int]] = ({group[0]}, set())
    for step in range(len(group)):
        near[1 - step % 2].update(j for i, j in pairs if i in near[step % 2])
    return near


def _first(forms: Sequence[fmpq_mat], u: Sequence[int], v: Sequence[int]) -> Nuclear | None:
    """Return B = C^-T beta with the entries u_i v_j; None where C is not invertible."""
    if len(u) * len(v) != len(forms):
        return None
    C = fmpq_mat([[2 * A[ij] for A in forms] for ij in product(u, v)])
    return Nuclear(len(u), len(v), C.transpose().inv()) if C.det() else None


def _placed(
    forms: Sequence[fmpq_mat], part: Nuclear, u: Sequence[int], v: Sequence[int]
) -> list[tuple[int, int]] | None:
    """Return the weights of a copy with signs, by rows and columns of B; None where none fit."""
    if (len(u), len(v)) != (part.rows, part.columns):
        return None
    images = {ij: part.entries * fmpq_mat([[2 * A[ij]] for A in forms]) for ij in product(u, v)}
    places = {ij: _place(B.entries(), len(v)) for ij, B in images.items()}
    corner = places[u[0], v[0]][2]
    rows = {places[i, v[0]][0]: (i, places[i, v[0]][2]) for i in u}
    columns = {places[u[0], j][1]: (j, places[u[0], j][2] * corner) for j in v}
    signed = [x for side in (rows, columns) for _, x in sorted(side.items())]
    fits = len(signed) == len(u) + len(v) and all(s * s == 1 for _, s in signed)
    same = all(
        places[i, j] == (r, c, s * t)
        for (r, (i, s)), (c, (j, t)) in product(rows.items(), columns.items())
    )
    return [(k, int(s)) for k, s in signed] if fits and same else None


def _place(entries: Sequence[fmpq], columns: int) -> tuple[int, int, fmpq]:
    """Return the row, the column, and the value of the only entry that is not 0; 0 for several."""
    (k, *others) = [k for k, x in enumerate(entries) if x] or [0]
    return (*divmod(k, columns), fmpq(0) if others else entries[k])


def _identity(
    weights: Sequence[Symbol], forms: Sequence[fmpq_mat], part: Nuclear, copies: sympy.Matrix
) -> Identity:
    """Return B(F(w)) = U V^T; the rows of *copies* are those of U^T, then of V^T."""
    w, U, V = sympy.Matrix(weights), copies[:, : part.rows], copies[:, part.rows :]
    outputs = [sympy.expand((w.T * as_sympy(A) * w)[0]) for A in forms]
    left = part.matrix(outputs).applyfunc(sympy.expand)
    return Identity("B(F(w)) = U V^T", str(left.tolist()), str((U.T * V).tolist()))
