"""Representation costs of products that compose quadratic forms, such as cyclic convolution.

F is linear in each of L groups of weights, a_1, ..., a_L. Let symmetric S_1, ..., S_L have

    F(S_1 a_1, a_2, ..., a_L) = F(a_1, S_2 a_2, ..., a_L) = ... = F(a_1, ..., a_{L-1}, S_L a_L).

With P_g(x) the projector on the eigenvectors of S_g at x, F(P_1(x) a_1, P_2(y) a_2, ...) = 0
unless x = y = ...: F is the sum of its values on the parts P_g(x) a_g. If for every eigenvalue x

    q_x(F(a_1, ..., a_L)) = |P_1(x) a_1|^2 ... |P_L(x) a_L|^2   for a quadratic form q_x,

then by the inequality of the means |w|^2 = sum_x sum_g |P_g(x) a_g|^2 >= L sum_x q_x(beta)^(1/L).
Scaling the parts at x by numbers of product 1 leaves F as it is and makes their lengths equal:
equality, for every beta with some w.

S_g and q_x are solutions of linear equations over Q, and over Q(x), where x is a root of an
irreducible factor of the polynomial of S_g: one proof for all its roots, which are real.

Source: Gunasekar et al. 2018, *Implicit bias of gradient descent on linear convolutional networks*,
for the cost of convolutions; the forms q_x are derived here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product
from random import Random
from typing import Any

from flint import fmpq, fmpq_mat, fmpq_poly
from sympy import Symbol

from derive.exact.field.polynomial import terms
from derive.explicit.constrained import ConstrainedProblem
from derive.explicit.cost.closed_cost import ClosedCost, Norm, QuadraticForm
from derive.explicit.cost.feasible import reaches_all
from derive.explicit.cost.rational_matrices import identity, nullspace, reduced
from derive.verdict import Identity

MAXIMAL_TERMS = 25_000
"""Of the product of the |P_g(x) a_g|^2, beyond which no form is looked for."""

Index = tuple[int, ...]
Monomial = tuple[tuple[int, int], ...]
"""Of two weights from every group."""


@dataclass(frozen=True)
class Multilinear:
    """F, linear in each of some groups of weights.

    Attributes:
        groups: which weights, in each group.
        outputs: the coefficient of each product of one weight from every group, by places.
    """

    groups: tuple[Index, ...]
    outputs: tuple[Mapping[Index, Any], ...]


def find_composition(problem: ConstrainedProblem, betas: Sequence[Symbol]) -> ClosedCost | None:
    """Return quadratic forms that F composes, by checked identities; None without them."""
    F = multilinear(problem)
    if F is None:
        return None
    size = 1
    for group in F.groups:
        size *= len(group) * (len(group) + 1) // 2
    if size > MAXIMAL_TERMS:
        return None
    operators = _operators(F)
    minimal = fmpq_poly([1])
    for S in operators:
        squarefree = fmpq_poly(S.minpoly())
        minimal *= squarefree / minimal.gcd(squarefree)
    norms, evidence = [], []
    for f in (fmpq_poly(g) for g, _ in minimal.factor()[1]):
        projectors = [_projector(S, minimal, f) for S in operators]
        q = _composed(F, projectors, f)
        if q is None:
            return None
        norm = Norm(f, q, Fraction(len(F.groups)), len(F.groups))
        norms.append(norm)
        evidence.append(_identity(problem, F, projectors, norm, betas))
    onto = any(reaches_all(problem, group) for group in F.groups)
    reason = (
        "F composes quadratic forms, q(F) = p_1 ... p_L with |w|^2 = sum (p_1 + ... + p_L), and "
        "p_1 + ... + p_L >= L (p_1 ... p_L)^(1/L) with equality for some w"
    )
    return ClosedCost((tuple(norms),), onto, reason, tuple(evidence))


def multilinear(problem: ConstrainedProblem) -> Multilinear | None:
    """Return F with its groups of weights; None where it is not linear in groups.

    Two weights belong together where exchanging one for the other takes a term to a term.
    """
    monomials = [[(e[: len(problem.weights)], c) for e, c in terms(f.numerator)] for f in problem.F]
    if any(x > 1 for output in monomials for e, _ in output for x in e):
        return None
    used = [[tuple(k for k, x in enumerate(e) if x) for e, _ in output] for output in monomials]
    group = list(range(len(problem.weights)))
    by_rest: dict[Index, int] = {}
    for term in (term for output in used for term in output):
        for k in term:
            rest = tuple(x for x in term if x != k)
            old, new = group[k], group[by_rest.setdefault(rest, k)]
            group = [new if g == old else g for g in group]
    names = sorted({group[k] for output in used for term in output for k in term})
    groups = tuple(tuple(k for k, g in enumerate(group) if g == name) for name in names)
    if len(groups) < 2:
        return None
    outputs = []
    for f, output, named in zip(problem.F, monomials, used, strict=True):
        below = int(f.denominator.leading_coefficient())
        entries = {}
        for (_, c), term in zip(output, named, strict=True):
            index = tuple(groups[names.index(group[k])].index(k) for k in _by_group(term, group))
            if [group[k] for k in _by_group(term, group)] != names:
                return None
            entries[index] = fmpq(c, below)
        outputs.append(entries)
    return Multilinear(groups, tuple(outputs))


def _by_group(term: Index, group: Sequence[int]) -> list[int]:
    return sorted(term, key=lambda k: group[k])


def _operators(F: Multilinear) -> list[Any]:
    """Return generic symmetric S_1, ..., S_L that F does not tell apart."""
    unknown: dict[tuple[int, int, int], int] = {}
    for g, group in enumerate(F.groups):
        for i, j in combinations_with_replacement(range(len(group)), 2):
            unknown[g, i, j] = len(unknown)
    equations: dict[tuple[int, int, Index], dict[int, Any]] = {}
    for i, output in enumerate(F.outputs):
        for index, c in output.items():
            for g, k in enumerate(index):
                for j in range(len(F.groups[g])):
                    moved = (*index[:g], j, *index[g + 1 :])
                    column = unknown[g, min(j, k), max(j, k)]
                    for pair, sign in ((g, 1), (g - 1, -1)):
                        if 0 <= pair < len(F.groups) - 1:
                            row = equations.setdefault((i, pair, moved), {})
                            row[column] = row.get(column, 0) + sign * c
    rows = {tuple(row.get(k, fmpq(0)) for k in range(len(unknown))) for row in equations.values()}
    values = [fmpq(0)] * len(unknown)
    rng = Random(3)
    for v in nullspace(sorted(rows, key=str)):
        factor = rng.randrange(1, 1000)
        values = [x + factor * y for x, y in zip(values, v, strict=True)]
    return [
        fmpq_mat(
            [
                [values[unknown[g, min(i, j), max(i, j)]] for j in range(len(group))]
                for i in range(len(group))
            ]
        )
        for g, group in enumerate(F.groups)
    ]


def _projector(S: Any, minimal: Any, f: Any) -> list[list[Any]]:
    """Return m(S)/(S - x) / m'(x), the projector on the eigenvectors at a root x of f."""
    size = S.nrows()
    x = fmpq_poly([0, 1])
    power = identity(size)
    quotient = [fmpq_poly([0])]
    for c in reversed(minimal.coeffs()[1:]):
        quotient.append((quotient[-1] * x + c) % f)
    _, inverse, _ = (minimal.derivative() % f).xgcd(f)
    result = [[fmpq_poly([0]) for _ in range(size)] for _ in range(size)]
    for c in reversed(quotient[1:]):
        scaled = (c * inverse) % f
        for i in range(size):
            for j in range(size):
                result[i][j] += scaled * power[i, j]
        power = power * S
    return result


def _composed(F: Multilinear, projectors: Sequence[Any], f: Any) -> QuadraticForm | None:
    """Return q over Q(x) with q(F) = prod_g |P_g a_g|^2, solving for it; None where there is none.

    The equations compare all coefficients, so that a solution is a proof.
    """
    pairs = list(combinations_with_replacement(range(len(F.outputs)), 2))
    table: dict[Monomial, list[Any]] = {}
    empty = [fmpq(0)] * (len(pairs) + f.degree())
    for column, (i, j) in enumerate(pairs):
        for (m, c), (n, d) in product(F.outputs[i].items(), F.outputs[j].items()):
            key = tuple((min(pair), max(pair)) for pair in zip(m, n, strict=True))
            table.setdefault(key, list(empty))[column] += c * d
    for key, value in _target(projectors, f):
        row = table.setdefault(key, list(empty))
        for k, c in enumerate(value.coeffs()):
            row[len(pairs) + k] = c
    rows = sorted({tuple(row) for row in table.values()}, key=str)
    solution: dict[tuple[int, int], Any] = {}
    for pivot, row in reduced(rows):
        if pivot >= len(pairs):
            return None
        value = fmpq_poly(row[len(pairs) :])
        if not value.is_zero():
            solution[pairs[pivot]] = value
    return solution


def _target(projectors: Sequence[Any], f: Any) -> Iterator[tuple[Monomial, Any]]:
    """Yield the coefficients of prod_g |P_g a_g|^2, reduced modulo f."""
    squares = []
    for P in projectors:
        size = range(len(P))
        square = {(i, j): P[i][j] * (1 if i == j else 2) for i in size for j in size if i <= j}
        squares.append([(k, c) for k, c in square.items() if not c.is_zero()])
    for factors in product(*squares):
        total = fmpq_poly([1])
        for _, c in factors:
            total = (total * c) % f
        yield tuple(k for k, _ in factors), total


def _identity(
    problem: ConstrainedProblem,
    F: Multilinear,
    projectors: Sequence[Any],
    norm: Norm,
    betas: Sequence[Symbol],
) -> Identity:
    sides = []
    for group, P in zip(F.groups, projectors, strict=True):
        w = [Symbol(problem.weights[k]) for k in group]
        square = {
            (i, j): P[i][j] * (1 if i == j else 2)
            for i in range(len(w))
            for j in range(i, len(w))
            if not P[i][j].is_zero()
        }
        sides.append(f"({Norm(norm.minimal, square, norm.weight, norm.power).text(w)})")
    statement = "q(beta) = p_1 ... p_L where beta = F(w)"
    if norm.minimal.degree() > 1:
        statement += f" for every root x of {norm.minimal.str(var='x')}"
    return Identity(statement, norm.text(betas), "*".join(sides))
