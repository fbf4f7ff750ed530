"""Margins of polynomial F as functions of the weights, in balls, and the rotations that keep F."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

import numpy as np
import sympy
from flint import arb, arb_mat, fmpq, fmpq_mat
from scipy.optimize import minimize
from sympy import Poly

from derive.errors import InputError, NumericalError
from derive.model.parameterization import Parameterization
from numerics.evaluate.backend import Array

Terms = tuple[tuple[arb, tuple[int, ...]], ...]
"""Coefficients, each with the places of the weights that it is multiplied by."""
Rotation = tuple[tuple[int, int, arb], ...]
"""Entries k < l of a skew matrix."""
TRIALS = 8
"""Random weights from which a local minimum is looked for."""


class Margins:
    """u = X F(w), its gradients and second derivatives, in balls."""

    def __init__(self, p: Parameterization, X: arb_mat) -> None:
        self.p, self.X, self.n = p, X, p.p
        F, symbols = _polynomials(p)
        slopes = [[f.diff(x) for x in symbols] for f in F]
        self.F = [_terms(f) for f in F]
        self.slopes = [[_terms(g) for g in row] for row in slopes]
        self.bends = [[[_terms(g.diff(x)) for x in symbols] for g in row] for row in slopes]
        self.rotations = _rotations(slopes, [Poly(x, *symbols) for x in symbols])

    def beta(self, w: Sequence[arb]) -> arb_mat:
        """Return F(w), a column."""
        return arb_mat([[_value(f, w)] for f in self.F])

    def gradients(self, w: Sequence[arb]) -> arb_mat:
        """Return the gradients of the margins, as rows."""
        return self.X * arb_mat([[_value(g, w) for g in row] for row in self.slopes])

    def bend(self, w: Sequence[arb], pull: Sequence[arb]) -> arb_mat:
        """Return the second derivatives of <pull, F>."""
        whole = arb_mat(self.n, self.n)
        for x, rows in zip(pull, self.bends, strict=True):
            whole += x * arb_mat([[_value(h, w) for h in row] for row in rows])
        return whole

    def least(self, rng: np.random.Generator) -> Array:
        """Return a local minimum of |w|^2 with margins of at least 1, in doubles."""
        constraint = {
            "type": "ineq",
            "fun": lambda w: in_floats(self.X * self.beta(in_balls(w))).ravel() - 1,
            "jac": lambda w: in_floats(self.gradients(in_balls(w))),
        }
        for _ in range(TRIALS):
            found = minimize(
                lambda w: (w @ w / 2, w),
                rng.normal(size=self.n),
                jac=True,
                method="SLSQP",
                constraints=[constraint],
                options={"maxiter": 200, "ftol": 1e-14},
            )
            if found.success:
                return np.asarray(found.x)
        raise NumericalError("no weights with margins of at least 1 were found")


def _polynomials(p: Parameterization) -> tuple[list[Poly], list[sympy.Symbol]]:
    symbols = [sympy.Symbol(name, real=True) for name in p.weights]
    named = dict(zip(p.weights, symbols, strict=True))
    known = [f.xreplace({x: named.get(x.name, x) for x in f.free_symbols}) for f in p.outputs]
    try:
        return [Poly(f, *symbols, domain="QQ") for f in known], symbols
    except sympy.PolynomialError:
        raise InputError("F must be a polynomial in the weights") from None


def _rotations(slopes: Sequence[Sequence[Poly]], w: Sequence[Poly]) -> list[Rotation]:
    """Return a basis of the A with A^T = -A and <grad F_j, A w> = 0, by exact linear algebra."""
    pairs = list(combinations(range(len(w)), 2))
    rows: dict[tuple[int, tuple[int, ...]], dict[int, fmpq]] = {}
    for place, (k, m) in enumerate(pairs):
        for j, g in enumerate(slopes):
            for exponents, c in _monomials(g[k] * w[m] - g[m] * w[k]):
                rows.setdefault((j, exponents), {})[place] = c
    if not pairs:
        return []
    matrix = [[row.get(place, fmpq(0)) for place in range(len(pairs))] for row in rows.values()]
    reduced, rank = fmpq_mat(matrix or [[fmpq(0)] * len(pairs)]).rref()
    leads = [next(c for c in range(len(pairs)) if reduced[r, c] != 0) for r in range(rank)]
    found = []
    for free in (c for c in range(len(pairs)) if c not in leads):
        entries = {free: fmpq(1)} | {c: -reduced[r, free] for r, c in enumerate(leads)}
        found.append(tuple((*pairs[c], arb(x)) for c, x in entries.items() if x != 0))
    return found


def moved_by(A: Rotation, w: Sequence[arb]) -> list[arb]:
    """Return A w."""
    moved = [arb(0)] * len(w)
    for k, m, x in A:
        moved[k], moved[m] = moved[k] + x * w[m], moved[m] - x * w[k]
    return moved


def _monomials(f: Poly) -> list[tuple[tuple[int, ...], fmpq]]:
    return [(e, fmpq(int(c.p), int(c.q))) for e, c in f.terms() if c]


def _terms(f: Poly) -> Terms:
    return tuple((arb(c), tuple(_places(e))) for e, c in _monomials(f))


def _places(exponents: Sequence[int]) -> Iterator[int]:
    return (k for k, times in enumerate(exponents) for _ in range(times))


def _value(f: Terms, w: Sequence[arb]) -> arb:
    return sum((prod((w[k] for k in places), start=c) for c, places in f), arb(0))


def in_balls(w: Array) -> list[arb]:
    """Return doubles as balls."""
    return [arb(float(x)) for x in w]


def in_floats(A: arb_mat) -> Array:
    """Return the middles of balls as doubles."""
    return np.array([[float(x.mid()) for x in row] for row in A.tolist()])
