"""Representation costs of quadratic outputs by Lagrange duality, such as U V^T.

With F_i = <w, A_i w> and M(l) = sum_i l_i A_i, |w|^2 - <l, F(w)> = <w, (I - M(l)) w>, hence

    R_F(beta) >= max {<l, beta>: I - M(l) positive semidefinite}.

Another form h = <w, M w> > 0 may stand in the place of |w|^2, and M in that of I.

One output. As x leaves 0, I - x A stays positive definite up to the nearest root of det(I - x A),
where it has a kernel: all roots are real, being the inverses of eigenvalues. So for beta > 0

    R_F(beta) = x beta,   x the least positive root of det(I - x A),

attained in the kernel of I - x A; for beta < 0 the greatest negative root takes its place. Where
all roots have one sign, so has beta, for every w.

Several outputs: where sum_i c_i A_i = I, |w|^2 is <c, F(w)>.

The same of U V^T, and of what only differs from it by names and a change of outputs: let the
weights fall into r copies of two groups, u_c in R^m and v_c in R^n, such that

    F_k(w) = sum_ij C_ijk sum_c u_ci v_cj   with an invertible C, mn x mn.

With B = C^-T beta, F(w) = beta says sum_c u_c v_c^T = B, and in Lagrange's dual, for l = C^-1 L,

    R_F(beta) >= max {<L, B>: the greatest singular value of L is at most 2} = 2 |B|_*.

The singular vectors of B, scaled by the roots of its singular values, are weights with F(w) = beta
and |w|^2 = 2 |B|_*. They take as many copies as B has rank, and where there is some w with
F(w) = beta there are as many.

|B|_*^2 = |B|^2 + 2 sqrt(det(B B^T)) for m = 2; for m > 2 it is left as the norm.

Source: Recht, Fazel, Parrilo 2010, *Guaranteed minimum-rank solutions of linear matrix equations
via nuclear norm minimization*.

Closed forms are sums of roots of quadratic forms. The coefficients of a form lie in Q(x), x a root
of an irreducible polynomial f whose roots are all real; the sum runs over these roots. Whatever is
shown in Q(x) holds for every one of them.

Other costs over the fibre of U V^T are weighted nuclear norms. A quadratic one that is the same
for all copies u_c, and for all v_c, is <U U^T, A> + <V V^T, C>, and

    h = |A^(1/2) U|^2 + |C^(1/2) V|^2 >= 2 |A^(1/2) B C^(1/2)|_*,

with equality at the scaled singular vectors, as A and C are positive definite. So is tr K S, with
A = sum_i X_i X_i^T and C = sum_i X_i^T X_i for the rows X_i of data, as matrices.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, product
from typing import TypeAlias

import sympy
from flint import arb, ctx, fmpq, fmpq_mat, fmpq_poly
from sympy import Add, Expr, Symbol

from derive.exact.balls import as_fmpq, as_sympy, ball, identity, rational, reduced, roots_of
from derive.exact.linear.matrix import connected
from derive.explicit.constrained import BITS, ConstrainedProblem
from derive.verdict import Identity

QuadraticForm: TypeAlias = Mapping[tuple[int, int], fmpq_poly]
"""Coefficients of beta_i beta_j, i <= j: polynomials in x."""


def form_of(A: Sequence[Sequence[fmpq_poly]]) -> QuadraticForm:
    """Return <x, A x> for a symmetric A."""
    places = combinations_with_replacement(range(len(A)), 2)
    return {(i, j): A[i][j] * (1 if i == j else 2) for i, j in places if not A[i][j].is_zero()}


@dataclass(frozen=True)
class Norm:
    """The sum over the roots x of f, *minimal*, of weight q(beta; x)^(1/power), q >= 0."""

    minimal: fmpq_poly
    form: QuadraticForm
    weight: Fraction
    power: int

    def expression(self, betas: Sequence[Symbol]) -> Expr:
        """Return the sum as an expression."""
        total = sympy.S.Zero
        for k in range(self.minimal.degree()):
            name = functools.partial(at_value, value=root_name(self.minimal, k))
            first, second = (sympy.root(x, self.power) for x in self._form(betas, name))
            total += rational(as_fmpq(self.weight)) * first * second
        return total

    def _form(
        self, betas: Sequence[Symbol], name: Callable[[fmpq_poly], Expr]
    ) -> tuple[Expr, Expr]:
        """Return q as a number and a form with like coefficients collected."""
        by_coefficient: dict[str, tuple[fmpq_poly, list[Expr]]] = {}
        for (i, j), c in self.form.items():
            known = by_coefficient.setdefault(str(c), (c, []))
            known[1].append(betas[i] * betas[j])
        parts = [(name(c), sympy.Add(*products)) for c, products in by_coefficient.values()]
        first = parts[0][0] if parts and parts[0][0].is_Rational else sympy.S.One
        total = sympy.Add(*(sympy.expand(c / first) * products for c, products in parts))
        if self.minimal.degree() > 1:
            return first, total
        number, form = sympy.factor(total).as_content_primitive()
        return first * number, form

    def at(self, beta: Sequence[Fraction]) -> arb:
        """Return the sum in a ball at rational beta."""
        products = (c * as_fmpq(beta[i] * beta[j]) for (i, j), c in self.form.items())
        value = sum(products, fmpq_poly()) % self.minimal
        if value.is_zero():
            return arb(0)
        # Not 0 in Q(x), so at no root of f.
        roots = roots_of(self.minimal)
        line = [arb(c) for c in value.coeffs()]
        values = (sum((c * x**k for k, c in enumerate(line)), arb(0)) for x in roots)
        total = sum((y.root(self.power) for y in values), arb(0))
        return total * ball(self.weight)

    def text(self, betas: Sequence[Symbol]) -> str:
        """Return q in beta and x as text."""
        x = Symbol("x")
        return str(sympy.Mul(*self._form(betas, lambda c: at_value(c, x))))


@dataclass(frozen=True)
class Multiple:
    """x beta_i, i the *output*: x is a root of a polynomial with real roots; the smallest is 0."""

    minimal: fmpq_poly
    index: int
    output: int = 0

    def expression(self, betas: Sequence[Symbol]) -> Expr:
        """Return it as an expression."""
        return root_name(self.minimal, self.index) * betas[self.output]

    def at(self, beta: Sequence[Fraction]) -> arb:
        """Return its value as a ball."""
        return roots_of(self.minimal)[self.index] * ball(beta[self.output])


@dataclass(frozen=True)
class ClosedCost:
    """R_F, the greatest of some sums, why, and the identities behind it.

    *onto* tells whether it was proved that every beta has some w with F(w) = beta.
    """

    sums: tuple[tuple[Norm | Multiple | Nuclear, ...], ...]
    onto: bool
    reason: str
    evidence: tuple[Identity, ...]

    def expression(self, betas: Sequence[Symbol]) -> Expr | None:
        """Return R_F as an expression; None where a part has none."""
        named = [[part.expression(betas) for part in parts] for parts in self.sums]
        if any(None in parts for parts in named):
            return None
        sums = [sympy.Add(*parts) for parts in named]
        if len(sums) == 2 and sympy.expand(sums[0] + sums[1]) == 0:
            return sympy.Abs(sums[0])
        return sympy.Max(*sums)

    def at(self, beta: Sequence[Fraction]) -> arb:
        """Return R_F in a ball, at beta with some w."""
        with ctx.workprec(BITS):
            totals = [sum((part.at(beta) for part in parts), arb(0)) for parts in self.sums]
            return functools.reduce(lambda x, y: x.max(y), totals)


def root_name(f: fmpq_poly, index: int) -> Expr:
    """Return the name of one of the roots of f, which are real; the smallest is 0.

    >>> [str(root_name(fmpq_poly([-1, -2, 1, 1]), k)) for k in (0, 2)]
    ['CRootOf(x**3 + x**2 - 2*x - 1, 0)', 'CRootOf(x**3 + x**2 - 2*x - 1, 2)']
    """
    if f.degree() == 1:
        return -rational(f[0]) / rational(f[1])
    if f.degree() == 2:
        c, b, a = (rational(x) for x in f.coeffs())
        half = sympy.sqrt(b**2 - 4 * a * c) / (2 * abs(a))
        return -b / (2 * a) + (half if index else -half)
    if 2 * index < f.degree() and not any(f.coeffs()[1::2]):
        # Roots of f(x) = f(-x) come in pairs: the positive one names both.
        return -root_name(f, f.degree() - 1 - index)
    return sympy.CRootOf(at_value(f, Symbol("x")), index)


def at_value(c: fmpq_poly, value: Expr) -> Expr:
    """Return a polynomial at an expression."""
    return sympy.expand(sympy.Add(*(rational(a) * value**k for k, a in enumerate(c.coeffs()))))


@dataclass(frozen=True)
class Nuclear:
    """2 |A^(1/2) B C^(1/2)|_*, B of m <= n rows and columns, its entries linear in beta."""

    rows: int
    columns: int
    entries: fmpq_mat
    A: fmpq_mat
    C: fmpq_mat

    def matrix(self, betas: Sequence[Symbol]) -> sympy.Matrix:
        """Return B."""
        values = [
            sympy.Add(*(rational(c) * b for c, b in zip(row, betas, strict=True)))
            for row in self.entries.tolist()
        ]
        return sympy.Matrix(self.rows, self.columns, values)

    def expression(self, betas: Sequence[Symbol]) -> Expr | None:
        """Return it by the roots of the eigenvalues of A B C B^T, for m <= 2."""
        A, B, C = as_sympy(self.A), self.matrix(betas), as_sympy(self.C)
        M = (A * B * C * B.T).applyfunc(sympy.expand)
        if self.rows == 1:
            return 2 * sympy.sqrt(sympy.factor(M[0]))
        if self.rows > 2:
            return None
        # det(B C B^T) by Cauchy and Binet.
        pairs = [*map(list, combinations(range(self.columns), 2))]
        minors = {tuple(pair): sympy.factor(B[:, pair].det()) for pair in pairs}
        products = product(minors.items(), repeat=2)
        square = A.det() * sympy.Add(*(C[[*i], [*j]].det() * x * y for (i, x), (j, y) in products))
        total = M.trace() + 2 * sympy.powdenest(sympy.sqrt(square))
        number, form = total.as_content_primitive()
        return 2 * sympy.sqrt(number) * sympy.sqrt(form)

    def at(self, beta: Sequence[Fraction]) -> arb:
        """Return its value as a ball: the eigenvalues of A B C B^T, each as often as it occurs."""
        column = fmpq_mat([[as_fmpq(b)] for b in beta])
        B = fmpq_mat(self.rows, self.columns, (self.entries * column).entries())
        total = arb(0)
        for f, count in fmpq_poly((self.A * B * self.C * B.transpose()).charpoly()).factor()[1]:
            if f.degree() > 1 or f[0]:
                total += count * sum((x.sqrt() for x in roots_of(fmpq_poly(f))), arb(0))
        return 2 * total


def find_nuclear(
    forms: Sequence[fmpq_mat], M: fmpq_mat, weights: Sequence[Symbol], betas: Sequence[Symbol]
) -> ClosedCost | None:
    """Return 2 |B|_* where F_i = <w, A_i w> is U V^T up to names, signs and outputs; else None.

    The first copy says what B is; in the others every u_i v_j is one of its entries, up to a sign.
    Of h = <w, M w> it is weighted.
    """
    found = find_factors(forms)
    if found is None or (part := _weighted(*found, M)) is None:
        return None
    placed = found[1]
    rows = "; ".join(", ".join(map(str, row)) for row in part.matrix(betas).tolist())
    reason = f"U V^T is the matrix B = [{rows}] of beta; "
    reason += (
        "by Lagrange duality R_F is max <L,B> over the L with no singular value above 2, twice the "
        "nuclear norm of B"
        if identity(M.nrows()) == M
        else "|A^(1/2) U|^2 + |C^(1/2) V|^2 is at least twice the nuclear norm of A^(1/2) B "
        "C^(1/2), and equal at its singular vectors"
    )
    lines = [[s * weights[k] for k, s in copy] for copy in placed]
    evidence = (_identity(weights, forms, part, sympy.Matrix(lines)),)
    return ClosedCost(((part,),), len(placed) >= part.rows, reason, evidence)


def find_factors(forms: Sequence[fmpq_mat]) -> tuple[Nuclear, list[list[tuple[int, int]]]] | None:
    """Return B of U V^T, and for each copy its weights with signs, by rows and columns of B."""
    # The weights that meet in a product.
    places = product(range(forms[0].nrows()), repeat=2)
    pairs = {(i, j) for i, j in places if any(A[i, j] for A in forms)}
    groups = connected(forms[0].nrows(), pairs)
    copies = [sorted(map(sorted, _sides(group, pairs)), key=len) for group in groups]
    part = _first(forms, *copies[0])
    if part is None or any(pairs & {*product(side, side)} for copy in copies for side in copy):
        return None
    placed = [_placed(forms, part, x, y) or _placed(forms, part, y, x) for x, y in copies]
    known = [copy for copy in placed if copy is not None]
    return (part, known) if len(known) == len(placed) else None


def _weighted(
    part: Nuclear, copies: Sequence[Sequence[tuple[int, int]]], M: fmpq_mat
) -> Nuclear | None:
    """Return the norm with A and C where <w, M w> = <U U^T, A> + <V V^T, C>, or None."""
    n, m = part.rows + part.columns, part.rows
    placed = [
        fmpq_mat([[s * int(j == k) for j in range(M.nrows())] for k, s in copy]) for copy in copies
    ]
    G = placed[0] * M * placed[0].transpose()
    A, C = (fmpq_mat([[G[i, j] for j in x] for i in x]) for x in (range(m), range(m, n)))
    apart = fmpq_mat([[G[i, j] * int((i < m) == (j < m)) for j in range(n)] for i in range(n)])
    whole = sum((P.transpose() * apart * P for P in placed), 0 * M)
    return replace(part, A=A, C=C) if whole == M else None


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
    if not C.det():
        return None
    return Nuclear(len(u), len(v), C.transpose().inv(), identity(len(u)), identity(len(v)))


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


def find_dual(problem: ConstrainedProblem, betas: Sequence[Symbol]) -> ClosedCost | None:
    """Return R_F by duality where the dual is solved and has no gap, by checks; else None."""
    forms, M = problem.quadratic_forms, problem.metric
    if forms is None or M is None:
        return None
    weights = [Symbol(name) for name in problem.weights]
    nuclear = _linear(problem, forms, M) or find_nuclear(forms, M, weights, betas)
    return nuclear or find_extreme(forms, M)


def _linear(
    problem: ConstrainedProblem, forms: Sequence[fmpq_mat], M: fmpq_mat
) -> ClosedCost | None:
    """Return <c, beta> where sum_i c_i A_i = M: h = <c, F(w)>."""
    places = combinations_with_replacement(range(forms[0].nrows()), 2)
    rows = [[*(A[i, j] for A in forms), M[i, j]] for i, j in places]
    solution = reduced(rows)
    if solution[-1][0] == len(forms):
        return None
    multiples = tuple(Multiple(fmpq_poly([-row[-1], 1]), 0, k) for k, row in solution if row[-1])
    betas = [Symbol(f"F{i + 1}" if len(forms) > 1 else "F") for i in range(len(forms))]
    linear = Add(*(term.expression(betas) for term in multiples))
    h = "|w|^2" if problem.has_length else "h"
    evidence = (Identity(f"{h} = <c, F(w)>", repr(problem.height), str(linear)),)
    reason = f"{h} is the same for all w with F(w) = beta: a linear function of beta"
    return ClosedCost((multiples,), False, reason, evidence)


def find_extreme(forms: Sequence[fmpq_mat], M: fmpq_mat) -> ClosedCost | None:
    """Return R_F of a single quadratic form; None where there are several outputs.

    >>> found = find_extreme([fmpq_mat([[1, 1], [1, -1]])], fmpq_mat([[1, 0], [0, 1]]))
    >>> found.expression((Symbol("beta", real=True),))
    sqrt(2)*Abs(beta)/2
    """
    if len(forms) != 1:
        return None
    plain = identity(M.nrows()) == M
    h, at_0 = ("|w|^2", "I") if plain else ("<w, M w>", "M")
    determinant = fmpq_poly(fmpq_poly((M.inv() * forms[0]).charpoly()).coeffs()[::-1])
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
        f"Lagrange duality: F = <w, A w>, and {h} >= x beta where {at_0} - x A >= 0; x goes up "
        f"to the roots of det({at_0} - x A) next to 0, where some w is in the kernel"
    )
    scale, found = determinant.factor()
    powers = "*".join(f"({f.str(var='x')})" + (f"**{n}" if n > 1 else "") for f, n in found)
    left, right = determinant.str(var="x"), f"{scale}*{powers}"
    statement = f"det({at_0} - x A){'' if plain else '/det(M)'}, its factors"
    evidence = Identity(statement, left.replace("^", "**"), right.replace("^", "**"))
    return ClosedCost(sums, len(sums) == 2, reason, (evidence,))
