"""How far two sides of an equation agree, in decimal digits, where the flow ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import mpmath
import sympy

from derive.potential.piece import Explicit, Quadrature
from derive.records import Potential
from numerics.confirm.regression_problem import RegressionProblem
from numerics.evaluate.lowering import HighPrecision, high_precision_unchecked
from numerics.flow.builder import compile_slopes
from numerics.flow.jets import propagate
from numerics.reals import Real, rational


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy of F on its way: its start symbols, its weights at both ends, and its limit."""

    start: Mapping[str, Fraction]
    begin: Mapping[str, Real]
    end: Mapping[str, Real]
    limit: tuple[Real, ...]


def digits_of(error: Real, scale: Real) -> float:
    """Return -log10 |error/scale|: inf for an exact agreement, 0 where a side is undefined."""
    if error != error or scale != scale or mpmath.isinf(error):
        return 0.0
    if not error:
        return float("inf")
    return float(-mpmath.log10(abs(error) / (abs(scale) or 1)))


def stationarity(X: Sequence[Sequence[Fraction]], gradient: Sequence[Real], digits: int) -> float:
    """Return the digits to which a vector is ``X^T nu``, by its distance from the row space."""
    with mpmath.workdps(digits):
        g = mpmath.matrix(list(gradient))
        if any(x != x for x in g):
            return 0.0
        if mpmath.norm(g) < mpmath.mpf(10) ** -digits:
            return float(digits)  # the flow stayed at the start, where grad Q = 0
        rows = mpmath.matrix([[rational(x) for x in r] for r in X])
        nu = mpmath.lu_solve(rows * rows.T, rows * g)
        return digits_of(mpmath.norm(g - rows.T * nu), mpmath.norm(g))


def feasibility(
    problem: RegressionProblem, beta: Sequence[Real], scale: Real, digits: int
) -> float:
    """Return the digits to which ``X beta = y``, relative to *scale*."""
    with mpmath.workdps(digits):
        misfit = [
            mpmath.fdot((rational(a), b) for a, b in zip(row, beta, strict=True)) - rational(t)
            for row, t in zip(problem.X, problem.y, strict=True)
        ]
        return digits_of(mpmath.norm(misfit), scale)


def distance(left: Sequence[Real], right: Sequence[Real], digits: int) -> float:
    """Return the digits that two vectors share, relative to the norm of the first."""
    with mpmath.workdps(digits):
        gaps = [a - b for a, b in zip(left, right, strict=True)]
        return digits_of(mpmath.norm(gaps), mpmath.norm(list(left)))


def consistency(potential: Potential, copy: Copy, digits: int) -> float | None:
    """Return the digits to which the printed gradient is that of the printed Q.

    By a central difference at twice the precision. None for quadratures, whose value is printed
    as the integral of their gradient.
    """
    closed = [not piece.value.has(sympy.Integral) for piece in potential.pieces]
    blocks = potential.parameterization.blocks
    coordinates = [i for block, ok in zip(blocks, closed, strict=True) if ok for i in block]
    if not coordinates:
        return None
    working = 2 * digits + 20
    form = high_precision_unchecked(potential, copy.start, working)
    with mpmath.workdps(working):
        gradient = form.gradient(copy.limit)
        size = mpmath.norm([gradient[i] for i in coordinates])
        slopes = [_difference(form, copy.limit, i, digits // 2 + 4) for i in coordinates]
        errors = [s - gradient[i] for s, i in zip(slopes, coordinates, strict=True)]
        return digits_of(mpmath.norm(errors), size)


def _difference(form: HighPrecision, beta: Sequence[Real], i: int, fine: int) -> Real:
    """Return the central difference of Q in coordinate i, with a step of 10^-fine."""
    step = (abs(beta[i]) or 1) * mpmath.mpf(10) ** -fine
    sides = [[x + sign * step * (k == i) for k, x in enumerate(beta)] for sign in (1, -1)]
    above, below = (form.value(side) for side in sides)
    return (above - below) / (2 * step)


def kernel_agreement(potential: Potential, copy: Copy, digits: int) -> float | None:
    """Return the digits to which the printed K(limit) of single outputs is |grad F|^2 there."""
    p = potential.parameterization
    kernels = {}
    for block, piece in zip(p.blocks, potential.pieces, strict=True):
        if isinstance(piece, Explicit | Quadrature) and (K := piece.kernel) is not None:
            named = (piece.constants, piece.roots, piece.assumptions)
            kernels[block[0]] = Explicit(piece.betas, K, (K,), *named, ends=piece.ends)
    if not kernels:
        return None
    pieces = tuple(
        kernels.get(block[0], piece)
        for block, piece in zip(p.blocks, potential.pieces, strict=True)
    )
    form = high_precision_unchecked(replace(potential, pieces=pieces), copy.start, digits)
    with mpmath.workdps(digits):
        printed = form.gradient(copy.limit)
        found = []
        for i in kernels:
            tape = compile_slopes(p.trees[i], p.weights)
            jets = propagate(tape, [[copy.end[w]] for w in p.weights], digits)
            K = mpmath.fsum(x**2 for (x,) in jets[1:])
            found.append(digits_of(printed[i] - K, K))
        return min(found)
