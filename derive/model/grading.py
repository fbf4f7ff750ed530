"""Gradings: the linear scalings of the weights under which F has degree 1.

F(e^(s Lam) w) = e^s F(w) for all s exactly where J Lam w = F, a linear system for Lam over the
constants. Lam = I/D is homogeneity of degree D. Two solutions differ by a Sig with J Sig w = 0: a
symmetric one is the law w^T Sig w, a skew one turns the weights and leaves F and K as they are.

A grading decides which weights rule. With w = c^Lam v gradient flow is v' = c^(1 - 2 Lam) J(v)^T
lambda, beta = c F(v): scaled starts have the flow from v_0 with rates c^(-2 lam_k), up to a factor,
and K(c^Lam v) = sum_k c^(2 - 2 lam_k) dF/dv_k (dF/dv_k)^T.

Of several diagonal Lam that one is meant whose largest entry is least, then the next, and so on:
the one with which the laws sum_k sig_k w_k^2 let weights grow as c^lam_k. For by duality of linear
programs some mu > 0 on the largest entries is orthogonal to all sig, so that each law has both
signs there or none. Where no mu >= 0 is, a law is positive on all weights that are left, by Gordan:
these stay bounded, and have lam_k = 0. Of homogeneous polynomials it is I/D.

Source: Kunin, Yamamura, Ma, Ganguli 2022, for diagonal Lam; in general our own derivation.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import lcm
from operator import mul

from sympy import Expr

from derive.exact.balls import largest
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import Matrix, dot, nullspace_over_constants
from derive.model.exact_map import ExactMap
from derive.model.geometry import Field
from derive.model.notation import Notation, rational
from derive.model.parameterization import Parameterization
from derive.verdict import Finding, Identity, Verdict

Row = list[Fraction]
Positions = tuple[tuple[int, int], ...]
"""Where an unknown stands in Lam."""
MOST = 8
"""Weights of which Lam need not be diagonal: it has their square of unknowns."""


@dataclass(frozen=True)
class Grading:
    """Lam with J Lam w = F, constants of F, as a matrix."""

    matrix: Matrix

    @property
    def diagonal(self) -> tuple[RationalFunction, ...]:
        """The entries lam_k."""
        return tuple(row[k] for k, row in enumerate(self.matrix))

    @functools.cached_property
    def is_diagonal(self) -> bool:
        """Has each weight a degree of its own?"""
        pairs = ((i, j) for i, j in product(range(len(self.matrix)), repeat=2) if i != j)
        return all(self.matrix[i][j].is_zero() for i, j in pairs)

    @functools.cached_property
    def blocks(self) -> tuple[tuple[Fraction, tuple[int, ...]], ...]:
        """The weights of each entry of a diagonal Lam in numbers, the largest first; else none."""
        if not self.is_diagonal or not all(x.is_constant() for x in self.diagonal):
            return ()
        values = [x.value() for x in self.diagonal]
        levels = sorted({*values}, reverse=True)
        return tuple((v, tuple(k for k, x in enumerate(values) if x == v)) for v in levels)

    @property
    def rules(self) -> bool:
        """Is it diagonal, >= 0, and another than I/D, so that some weights rule over others?"""
        return len(self.blocks) > 1 and self.blocks[-1][0] >= 0

    def moved(self, w: Sequence[RationalFunction]) -> tuple[RationalFunction, ...]:
        """Return Lam w."""
        return tuple(dot(row, w) for row in self.matrix)


@dataclass(frozen=True)
class Gradings:
    """Which gradings F has: PROVED with one, REFUTED where J Lam w = F has no solution."""

    finding: Finding
    one: Grading | None = None


def find_gradings(p: Parameterization) -> Gradings:
    """Return the grading of F that is meant, diagonal where one is; or that there is none.

    >>> find_gradings(Parameterization.parse(["W + a*b"])).one.blocks
    ((Fraction(1, 1), (0,)), (Fraction(1, 2), (1, 2)))
    >>> find_gradings(Parameterization.parse(["a*b + 1"])).finding.verdict.value
    'REFUTED'

    Args:
        p: d outputs in p weights.

    Source: derived here; Kunin et al. 2022 for the use of a diagonal Lam.
    """
    size = p.p
    diagonal = [((k, k),) for k in range(size)]
    pairs = [*combinations(range(size), 2)] if size <= MOST else []
    symmetric = [*diagonal, *(((i, j), (j, i)) for i, j in pairs)]
    every = [*diagonal, *((x,) for i, j in pairs for x in ((i, j), (j, i)))]
    for unknowns in (diagonal, symmetric, every):
        basis = _solutions(p, unknowns)
        solved = next((v for v in basis if not v[-1].is_zero()), None)
        if solved is not None:
            values: Field | None = solved[:-1]
            if unknowns is diagonal:
                values = _least(p, solved[:-1], [v[:-1] for v in basis if v[-1].is_zero()])
            if values is None:
                why = "of several diagonal `Lambda` with `J Lambda w = F` the laws allow none"
                return Gradings(Finding(Verdict.UNDECIDED, why))
            return _proved(p, Grading(_matrix(p, unknowns, values)))
    if {"root", "sin"} & p.field.kinds or size > MOST:
        why = "no diagonal `Lambda` with `J Lambda w = F` was found"
        return Gradings(Finding(Verdict.UNDECIDED, why))
    return Gradings(Finding(Verdict.REFUTED, "`J Lambda w = F` has no solution `Lambda`"))


def entries(p: Parameterization, one: Grading | None) -> dict[Expr, Expr]:
    """Return the entries of a diagonal Lam in numbers, by the weight; none of another."""
    weights = Notation(p, ()).weights
    blocks = () if one is None else one.blocks
    return {weights[p.weights[k]]: rational(x) for x, own in blocks for k in own}


def scalings(p: ExactMap) -> list[tuple[int, ...]]:
    """Return a basis of the integers k with F(c^k w) = F(w) for all c."""
    found = []
    for *values, t in _solutions(p, [((k, k),) for k in range(p.p)]):
        if t.is_zero() and all(x.is_constant() for x in values):
            own = [x.value() for x in values]
            scale = lcm(*(x.denominator for x in own))
            found.append(tuple(int(x * scale) for x in own))
    return found


def isometries(p: Parameterization) -> list[Field]:
    """Return Sig w for a basis of the skew Sig with J Sig w = 0."""
    pairs = [*combinations(range(p.p), 2)] if p.p <= MOST else []
    w, zero = p.w, p.field.zero
    columns = [tuple(df[i] * w[j] - df[j] * w[i] for df in p.covectors) for i, j in pairs]
    found = []
    for c in nullspace_over_constants(columns) if columns else ():
        moved = [zero] * p.p
        for (i, j), x in zip(pairs, c, strict=True):
            moved[i] += x * w[j]
            moved[j] -= x * w[i]
        found.append(tuple(moved))
    return found


def _solutions(p: ExactMap, unknowns: Sequence[Positions]) -> list[Field]:
    """Return a basis of the constants x, t with sum_k x_k J E_k w = t F."""
    columns = [
        tuple(sum((df[i] * p.w[j] for i, j in places), p.field.zero) for df in p.covectors)
        for places in unknowns
    ]
    return nullspace_over_constants([*columns, tuple(-f for f in p.F)])


def _matrix(p: Parameterization, unknowns: Sequence[Positions], values: Field) -> Matrix:
    entries = {x: v for places, v in zip(unknowns, values, strict=True) for x in places}
    size = range(p.p)
    return tuple(tuple(entries.get((i, j), p.field.zero) for j in size) for i in size)


def _proved(p: Parameterization, found: Grading) -> Gradings:
    """Return a grading with its identities, which are all that is trusted."""
    moved, evidence = found.moved(p.w), []
    for i, f, df in zip(p.labels, p.F, p.covectors, strict=True):
        if dot(df, moved) != f:
            return Gradings(Finding(Verdict.UNDECIDED, "`J Lambda w = F` was not proved"))
        evidence.append(Identity(f"J Lambda w = F{i}", repr(dot(df, moved)), repr(f)))
    return Gradings(Finding(Verdict.PROVED, "`J Lambda w = F`", tuple(evidence)), found)


def _least(p: Parameterization, start: Field, directions: Sequence[Field]) -> Field | None:
    """Return the lam of an affine space whose entries, sorted downwards, are least."""
    if not directions:
        return start
    if not all(x.is_constant() for v in (start, *directions) for x in v):
        return None
    lam, *rows = ([x.value() for x in v] for v in (start, *directions))
    left, bounds = [*range(p.p)], dict[int, Fraction]()
    while left:
        m, fixed = _largest_entries(lam, rows, left)
        for k in fixed:
            lam, rows = _with_entry(lam, rows, k, m)
        bounds |= dict.fromkeys(left, m)
        left = [k for k in left if k not in fixed]
    fits = all(x <= bounds[k] for k, x in enumerate(lam))
    return tuple(map(p.field.constant, lam)) if fits else None


def _largest_entries(
    lam: Row, rows: Sequence[Row], left: Sequence[int]
) -> tuple[Fraction, Sequence[int]]:
    """Return the least bound on entries that are left, and some that attain it in every lam.

    These are the support of mu, which maximises lam.mu for mu >= 0 with sum_k mu_k = 1 orthogonal
    to all directions. Where there is no such mu, all that are left are 0.
    """
    cost, *equal = ([r[k] for k in left] for r in (lam, *rows))
    sides = [Fraction(0)] * len(rows) + [Fraction(1)]
    mu = largest(cost, [*equal, [Fraction(1)] * len(left)], sides)
    if mu is None:
        return Fraction(0), left
    bound = sum(map(mul, cost, mu), Fraction(0))
    return bound, [k for k, x in zip(left, mu, strict=True) if x > 0]


def _with_entry(lam: Row, rows: list[Row], k: int, value: Fraction) -> tuple[Row, list[Row]]:
    """Return the part of an affine space with a given entry, where it does not have it all over."""
    pivot = next((r for r in rows if r[k]), None)
    if pivot is None:
        return lam, rows

    def less(v: Row, c: Fraction) -> Row:
        return [x - c / pivot[k] * y for x, y in zip(v, pivot, strict=True)]

    return less(lam, lam[k] - value), [less(r, r[k]) for r in rows if r is not pivot]
