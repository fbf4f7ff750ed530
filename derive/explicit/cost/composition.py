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

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import prod
from random import Random
from typing import TypeAlias

from flint import fmpq, fmpq_mat, fmpq_poly
from sympy import Symbol

from derive.exact.balls import identity, nullspace, reduced
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import terms
from derive.exact.linear.matrix import connected
from derive.explicit.constrained import ConstrainedProblem, reaches_all
from derive.explicit.cost.duality import ClosedCost, Norm, QuadraticForm, form_of
from derive.verdict import Identity

MAXIMAL_TERMS = 25_000
"""Of the product of the |P_g(x) a_g|^2, beyond which no form is looked for."""

Index: TypeAlias = tuple[int, ...]
Monomial: TypeAlias = tuple[tuple[int, int], ...]
"""Of two weights from every group."""
Projector: TypeAlias = list[list[fmpq_poly]]


@dataclass(frozen=True)
class Multilinear:
    """F, linear in each of some groups of weights: its coefficients by places in the groups."""

    groups: tuple[Index, ...]
    outputs: tuple[Mapping[Index, fmpq], ...]


def find_composition(problem: ConstrainedProblem, betas: Sequence[Symbol]) -> ClosedCost | None:
    """Return quadratic forms that F composes, by checked identities; None without them."""
    F = multilinear(problem) if problem.has_length else None
    if F is None or prod(len(g) * (len(g) + 1) // 2 for g in F.groups) > MAXIMAL_TERMS:
        return None
    L, operators = len(F.groups), _operators(F)
    minimal = _minimal(operators)
    norms, evidence = list[Norm](), list[Identity]()
    for f in (fmpq_poly(g) for g, _ in minimal.factor()[1]):
        projectors = [_projector(S, minimal, f) for S in operators]
        q = _composed(F, projectors, f)
        if q is None:
            return None
        norms.append(Norm(f, q, Fraction(L), L))
        evidence.append(_identity(problem, F, projectors, norms[-1], betas))
    onto = any(reaches_all(problem, group) for group in F.groups)
    reason = (
        "F composes quadratic forms: q(F) = p_1 ... p_L, where all p of all q add up to |w|^2, and "
        "p_1 + ... + p_L >= L (p_1 ... p_L)^(1/L) with equality for some w"
    )
    return ClosedCost((tuple(norms),), onto, reason, tuple(evidence))


def multilinear(problem: ConstrainedProblem) -> Multilinear | None:
    """Return F with its groups of weights; None where it is not linear in groups."""
    outputs = [_products(problem, f) for f in problem.F]
    groups = _groups([term for output in outputs for term in output], len(problem.weights))
    place = {k: (g, i) for g, group in enumerate(groups) for i, k in enumerate(group)}
    every = [*range(len(groups))]
    if any(sorted(place[k][0] for k in term) != every for output in outputs for term in output):
        return None
    by_places = (
        {tuple(i for _, i in sorted(place[k] for k in term)): c for term, c in output.items()}
        for output in outputs
    )
    return Multilinear(groups, tuple(by_places)) if len(groups) > 1 else None


def _products(problem: ConstrainedProblem, f: RationalFunction) -> dict[Index, fmpq]:
    """Return an output as products of weights with their coefficients."""
    below = int(f.denominator.leading_coefficient())
    return {
        tuple(k for k in range(len(problem.weights)) for _ in range(e[k])): fmpq(c, below)
        for e, c in terms(f.numerator)
    }


def _groups(products: Sequence[Index], size: int) -> tuple[Index, ...]:
    """Return the weights that belong together: one for the other takes a product to a product."""
    by_rest: dict[Index, int] = {}
    places = [(tuple(x for x in term if x != k), k) for term in products for k in term]
    pairs = [(k, by_rest.setdefault(rest, k)) for rest, k in places]
    used = {k for term in products for k in term}
    return tuple(tuple(group) for group in connected(size, pairs) if used.intersection(group))


def _operators(F: Multilinear) -> list[fmpq_mat]:
    """Return symmetric S_1, ..., S_L that F does not tell apart, with most eigenvalues.

    One of a basis where that will do, else a generic one.
    """
    places = [range(len(group)) for group in F.groups]
    entries = [(g, *ij) for g, x in enumerate(places) for ij in combinations_with_replacement(x, 2)]
    unknown = {key: n for n, (g, i, j) in enumerate(entries) for key in ((g, i, j), (g, j, i))}
    size = len(entries)
    rows = {tuple(row.get(k, fmpq(0)) for k in range(size)) for row in _conditions(F, unknown)}
    basis, rng = list(nullspace(sorted(rows, key=str))), Random(3)
    generic = [fmpq(0)] * size
    for v in basis:
        factor = rng.randrange(1, 1000)
        generic = [x + factor * y for x, y in zip(generic, v, strict=True)]
    found = [
        [fmpq_mat([[v[unknown[g, i, j]] for j in x] for i in x]) for g, x in enumerate(places)]
        for v in (*basis, generic)
    ]
    return max(found, key=lambda operators: _minimal(operators).degree())


def _minimal(operators: Sequence[fmpq_mat]) -> fmpq_poly:
    """Return the polynomial of least degree that vanishes at all of these."""
    polynomials = (fmpq_poly(S.minpoly()) for S in operators)
    return functools.reduce(lambda f, g: f * (g / f.gcd(g)), polynomials)


def _conditions(
    F: Multilinear, unknown: Mapping[tuple[int, int, int], int]
) -> Iterable[Mapping[int, fmpq]]:
    """Return the equations F(S_g a_g) = F(S_{g+1} a_{g+1}), linear in the entries of the S_g."""
    last = len(F.groups) - 1
    equations: dict[tuple[int, int, Index], dict[int, fmpq]] = {}
    for i, output in enumerate(F.outputs):
        for index, c in output.items():
            for g, k in enumerate(index):
                for j in range(len(F.groups[g])):
                    moved, column = (*index[:g], j, *index[g + 1 :]), unknown[g, j, k]
                    for pair, term in ((g, c), (g - 1, -c)):
                        if 0 <= pair < last:
                            row = equations.setdefault((i, pair, moved), {})
                            row[column] = row.get(column, 0) + term
    return equations.values()


def _projector(S: fmpq_mat, minimal: fmpq_poly, f: fmpq_poly) -> Projector:
    """Return m(S)/(S - x) / m'(x), the projector on the eigenvectors at a root x of f."""
    size = S.nrows()
    x = fmpq_poly([0, 1])
    power = identity(size)
    quotient = [fmpq_poly([0])]
    for c in reversed(minimal.coeffs()[1:]):
        quotient.append((quotient[-1] * x + c) % f)
    _, inverse, _ = (minimal.derivative() % f).xgcd(f)
    result: Projector = [[fmpq_poly([0]) for _ in range(size)] for _ in range(size)]
    for q in reversed(quotient[1:]):
        scaled = (q * inverse) % f
        for i, j in product(range(size), repeat=2):
            result[i][j] += scaled * power[i, j]
        power = power * S
    return result


def _composed(
    F: Multilinear, projectors: Sequence[Projector], f: fmpq_poly
) -> QuadraticForm | None:
    """Return q over Q(x) with q(F) = prod_g |P_g a_g|^2, solving for it; None where there is none.

    The equations compare all coefficients, so that a solution is a proof.
    """
    pairs = list(combinations_with_replacement(range(len(F.outputs)), 2))
    table: dict[Monomial, list[fmpq]] = {}
    empty = [fmpq(0)] * (len(pairs) + f.degree())
    for column, (i, j) in enumerate(pairs):
        for (m, c), (n, d) in product(F.outputs[i].items(), F.outputs[j].items()):
            key = tuple((min(pair), max(pair)) for pair in zip(m, n, strict=True))
            table.setdefault(key, list(empty))[column] += c * d
    for factors in product(*(form_of(P).items() for P in projectors)):
        # A coefficient of prod_g |P_g a_g|^2, modulo f.
        value = functools.reduce(lambda x, c: (x * c) % f, (c for _, c in factors), fmpq_poly([1]))
        row = table.setdefault(tuple(k for k, _ in factors), list(empty))
        row[len(pairs) : len(pairs) + len(value.coeffs())] = value.coeffs()
    rows = sorted({tuple(row) for row in table.values()}, key=str)
    solution: dict[tuple[int, int], fmpq_poly] = {}
    for pivot, row in reduced(rows):
        if pivot >= len(pairs):
            return None
        value = fmpq_poly(row[len(pairs) :])
        if not value.is_zero():
            solution[pairs[pivot]] = value
    return solution


def _identity(
    problem: ConstrainedProblem,
    F: Multilinear,
    projectors: Sequence[Projector],
    norm: Norm,
    betas: Sequence[Symbol],
) -> Identity:
    """Return q(F) = p_1 ... p_L, with the p_g in the weights."""
    sides = []
    for group, P in zip(F.groups, projectors, strict=True):
        w = [Symbol(problem.weights[k]) for k in group]
        sides.append(f"({replace(norm, form=form_of(P)).text(w)})")
    statement = "q(beta) = p_1 ... p_L where beta = F(w)"
    if norm.minimal.degree() > 1:
        statement += f" for every root x of {norm.minimal.str(var='x')}"
    return Identity(statement, norm.text(betas), "*".join(sides))
