"""Representation costs of products that compose quadratic forms, such as cyclic convolution.

F is linear in a and in b, the weights. If symmetric projectors split |a|^2 = sum_k p_k(a) and
|b|^2 = sum_k s_k(b) so that

    q_k(F(a, b)) = p_k(a) s_k(b)   for quadratic forms q_k, and F(Q_k a, P_l b) = 0 for k != l,

then |a|^2 + |b|^2 = sum_k (p_k + s_k) >= 2 sum_k sqrt(q_k(beta)), the greatest root of the product
of r - 2 sum_k +- sqrt(q_k(beta)) over all signs. Scaling a_k by t and b_k by 1/t leaves F as it is,
and makes p_k = s_k: equality. Every beta is reached if b -> F(a, b) is invertible for some a.

The projectors are those of a generic symmetric matrix that commutes with all B_i^T B_j, F_i = a^T
B_i b; they are proposed by linear algebra, and accepted by these identities.

Source: Gunasekar et al. 2018, *Implicit bias of gradient descent on linear convolutional networks*,
for the cost of convolutions; the forms q_k are derived here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import sympy
from flint import Ordering, fmpz_mpoly_ctx
from sympy import Expr, Matrix, Symbol

from derive.exact.field import RationalFunction
from derive.exact.polynomial import Polynomial, terms
from derive.explicit.elimination import names
from derive.explicit.problem import Problem
from derive.verdict import Identity

MAXIMAL_WEIGHTS = 12


@dataclass(frozen=True)
class Composition:
    """R_F = 2 sum_k sqrt(q_k(beta)).

    Attributes:
        forms: q_k, polynomials in beta.
        evidence: q_k(F) = p_k s_k.
    """

    forms: tuple[Expr, ...]
    evidence: tuple[Identity, ...]

    def cost(self) -> Expr:
        """Return 2 sum_k sqrt(q_k)."""
        return sympy.Add(*(2 * sympy.sqrt(sympy.factor(q)) for q in self.forms))

    def polynomial(self, problem: Problem, betas: Sequence[Symbol]) -> Polynomial:
        """Return the product of r - 2 sum_k +- sqrt(q_k) over all signs, in integers."""
        r, s = Symbol("r"), sympy.Dummy("s")
        result: Expr = r
        for q in self.forms:
            both = sympy.Poly(result.xreplace({r: r - s}) * result.xreplace({r: r + s}), s)
            even = (c * (4 * q) ** (n // 2) for (n,), c in both.terms() if not n % 2)
            result = sympy.expand(sympy.Add(*even))
        _, cleared = sympy.Poly(result, r, *betas).clear_denoms(convert=True)
        ring = fmpz_mpoly_ctx.get(("r", *names(problem)), Ordering.degrevlex)
        return ring.from_dict({e: int(c) for e, c in cleared.terms()})


def find_composition(problem: Problem, betas: Sequence[Symbol]) -> Composition | None:
    """Return quadratic forms that F composes, by checked identities; None without them."""
    sides = _sides(problem)
    if sides is None or len(problem.weights) > MAXIMAL_WEIGHTS:
        return None
    slopes = [_slopes(f, *sides) for f in problem.F]
    if not _is_onto(slopes):
        return None
    left = _projectors([x * y.T for x in slopes for y in slopes])
    right = _projectors([x.T * y for x in slopes for y in slopes])
    pairs = _matched(left, right, slopes)
    if pairs is None:
        return None
    forms, evidence = [], []
    for Q, P in pairs:
        a, b = ([problem.w[i] for i in side] for side in sides)
        target = _square(Q, a) * _square(P, b)
        q = _composed(problem, target, betas)
        if q is None:
            return None
        forms.append(q[0])
        evidence.append(Identity(f"q(F) = p s, q = {q[0]}", repr(q[1]), repr(target)))
    return Composition(tuple(forms), tuple(evidence))


def _sides(problem: Problem) -> tuple[list[int], list[int]] | None:
    """Return two groups of weights such that F is linear in each, with no more terms."""
    links: dict[int, set[int]] = {}
    for f in problem.F:
        if not f.is_polynomial():
            return None
        for exponents, _ in terms(f.numerator):
            used = [k for k, e in enumerate(exponents) for _ in range(e)]
            if len(used) != 2 or used[0] == used[1]:
                return None
            links.setdefault(used[0], set()).add(used[1])
            links.setdefault(used[1], set()).add(used[0])
    side: dict[int, int] = {}
    for first in range(len(problem.weights)):
        open_ = [(first, 0)] if first not in side else []
        while open_:
            k, color = open_.pop()
            if side.setdefault(k, color) != color:
                return None
            open_ += [(j, 1 - color) for j in links.get(k, ()) if side.get(j) != 1 - color]
    return [k for k in side if not side[k]], [k for k in side if side[k]]


def _slopes(f: RationalFunction, left: Sequence[int], right: Sequence[int]) -> Matrix:
    """Return B with f = a^T B b."""
    entries = [[f.partial(i).partial(j).value() for j in right] for i in left]
    return Matrix([[sympy.Rational(x.numerator, x.denominator) for x in row] for row in entries])


def _is_onto(slopes: Sequence[Matrix]) -> bool:
    """Tell whether b -> F(a, b) is invertible for one a."""
    rows, columns = slopes[0].shape
    a = Matrix([[sympy.Integer(k * k + 1) for k in range(1, rows + 1)]])
    onto = Matrix.vstack(*(a * B for B in slopes))
    return bool(onto.rows == columns and onto.det() != 0)


def _projectors(known: Sequence[Matrix]) -> list[Matrix]:
    """Return the projectors of a symmetric matrix that commutes with all that are given."""
    n = known[0].rows
    unknown = {(i, j): sympy.Dummy() for i, j in combinations_with_replacement(range(n), 2)}
    S = Matrix(n, n, lambda i, j: unknown[min(i, j), max(i, j)])
    symbols = list(unknown.values())
    equations = [x for M in known for x in S * M - M * S]
    system, _ = sympy.linear_eq_to_matrix(equations, symbols)
    vectors = system.nullspace()
    values = sympy.zeros(len(symbols), 1)
    for k, v in enumerate(vectors):
        values += (k * k + k + 1) * v
    S = S.xreplace(dict(zip(symbols, values, strict=True)))
    roots = [x for x in S.eigenvals() if x.is_Rational]
    found = []
    for x in roots:
        P = sympy.eye(n)
        for y in roots:
            if y != x:
                P = P * (S - y * sympy.eye(n)) / (x - y)
        found.append(P)
    # With an irrational eigenvalue left out these are no projectors.
    return found if all(P * P == P for P in found) else []


def _matched(
    left: Sequence[Matrix], right: Sequence[Matrix], slopes: Sequence[Matrix]
) -> list[tuple[Matrix, Matrix]] | None:
    """Return the pairs between which F does not vanish; None unless these are one to one."""
    met = [[any(any(Q * B * P) for B in slopes) for P in right] for Q in left]
    if not left or any(sum(line) != 1 for line in (*met, *zip(*met, strict=True))):
        return None
    return [(left[i], right[row.index(True)]) for i, row in enumerate(met)]


def _square(P: Matrix, x: Sequence[RationalFunction]) -> RationalFunction:
    """Return x^T P x."""
    field = x[0].field
    return sum(
        (
            field.constant(_fraction(P[i, j])) * u * v
            for i, u in enumerate(x)
            for j, v in enumerate(x)
        ),
        field.zero,
    )


def _fraction(x: Expr) -> Fraction:
    return Fraction(int(x.p), int(x.q))


def _composed(
    problem: Problem, target: RationalFunction, betas: Sequence[Symbol]
) -> tuple[Expr, RationalFunction] | None:
    """Return q with q(F) = target, and q(F); None where there is none."""
    indices = list(combinations_with_replacement(range(len(betas)), 2))
    products = [problem.F[i] * problem.F[j] for i, j in indices]
    rows: dict[tuple[int, ...], list[Expr]] = {}
    for k, x in enumerate([*products, target]):
        for exponents, c in terms(x.numerator):
            row = rows.setdefault(exponents, [sympy.S.Zero] * (len(products) + 1))
            row[k] += sympy.Rational(c, int(x.denominator.leading_coefficient()))
    system = Matrix(list(rows.values()))
    symbols = [sympy.Dummy() for _ in products]
    solved = sympy.linsolve((system[:, :-1], system[:, -1]), *symbols)
    for values in solved:
        if any(not v.is_Rational for v in values):
            return None
        zero = problem.field.zero
        constants = [problem.field.constant(_fraction(v)) for v in values]
        image = sum((c * x for c, x in zip(constants, products, strict=True)), zero)
        if image != target:
            return None
        q = sympy.Add(*(v * betas[i] * betas[j] for v, (i, j) in zip(values, indices, strict=True)))
        return q, image
    return None
