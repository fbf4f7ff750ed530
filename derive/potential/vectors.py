"""Q = q(|beta|) + <z, beta> of one vector of open dimension, for every d at once.

grad Q = psi u/n - psi_0 u_0/n_0 with the dual length psi, so q'(s) = psi and
z = -(psi_0/n_0) u_0. Equivalently s q''/q' = T/R, which always has a solution: the leaf is a
curve on which s grows, so psi is a function of s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import sympy
from sympy import Expr

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.model.direction import Direction
from derive.model.notation import BranchOpen, Notation, assuming, to_expr
from derive.model.signs import start_sign
from derive.potential.block import BlockPotential, DirectionTerms, Eigenvalues
from derive.potential.chart import Chart
from derive.potential.logarithms import at_start
from derive.potential.piece import Piece, Root, without_roots
from derive.potential.vector_forms import (
    exponential,
    from_eigenvalues,
    hyperexponential_form,
    in_weights,
    rational_form,
)
from derive.verdict import Finding, Verdict
from derive.weights.dual_length import DualLength, find_dual_length
from derive.weights.warping import WarpVerdict


def find_radial_potential(warping: WarpVerdict, direction: Direction) -> BlockPotential:
    """Return q(s) and the slope of the linear term in the simplest form that was proved.

    Args:
        warping: the decisions on s(a, n) = |beta|.
        direction: how beta = phi u turns with u.
    """
    metric = warping.metric
    dual = find_dual_length(direction, metric.conserved)
    try:
        built = assuming(lambda n: _build(direction, warping, dual, n), direction.notation)
    except BranchOpen as undetermined:
        finding = Finding(Verdict.UNDECIDED, str(undetermined))
        return BlockPotential(warping, None, None, None, finding)
    dual, piece, chart = built.dual, _tidied(built.piece), built.chart
    assumptions = (*direction.assumptions, *built.assumptions, *piece.assumptions)
    (s,) = piece.betas
    evidence = (*(dual.evidence if dual else ()), *piece.evidence)
    reason = f"grad Q = psi u/|u| - psi_0 u_0/|u_0|, {piece.kind} form"
    g = None if dual is None else _warp(direction, dual)
    if direction.parameterization.w0[-1].is_zero():
        slope = sympy.Integer(0)  # u_0 = 0: there is no linear term, and y = u has no pole
    else:
        slope = direction.sign * built.slope
    domain = (
        f"the `beta` whose length `{s}` is in the interval around `{s}_0` on which "
        "`R = |grad s|^2` is positive and finite; there `Hess Q = g rho` is positive definite, "
        "so `Q` is strictly convex on every convex part"
    )
    turning = DirectionTerms(direction, dual, g, slope, _eigenvalues(direction, chart))
    finding = Finding(Verdict.PROVED, reason, evidence)
    piece = replace(piece, assumptions=tuple(dict.fromkeys(assumptions)), domain=domain)
    return BlockPotential(warping, None, piece, chart, finding, turning)


def _eigenvalues(direction: Direction, chart: Chart | None) -> Eigenvalues | None:
    if chart is None:
        return None
    T, R = chart.write(direction.phi**2), chart.write(direction.R)
    if T is None or R is None:
        return None
    short = _short_roots(chart.roots)
    T, R = (without_roots(x, short) for x in (T, R))
    return Eigenvalues(T, R, *chart.names_in(T, R))


def _short_roots(roots: Sequence[Root]) -> list[Root]:
    """Return the roots that are a power of s, times a constant: not worth a name."""
    return [
        r
        for r in roots
        if r.explicit is not None
        and not r.explicit.is_Add
        and all(not x.is_Add for x in sympy.Mul.make_args(r.explicit))
    ]


@dataclass(frozen=True)
class _Built:
    """q with the chart it was written in, psi > 0, psi_0/n_0, and what the signs rest on."""

    dual: DualLength | None
    piece: Piece
    chart: Chart | None
    slope: Expr
    assumptions: tuple[str, ...]


def _build(
    direction: Direction, scalar: WarpVerdict, dual: DualLength | None, notation: Notation
) -> _Built:
    if dual is None:
        piece = from_eigenvalues(direction, scalar, notation)
        return _Built(None, piece, None, sympy.Integer(1), ())
    dual, assumed = _oriented(direction, dual, notation)
    psi = dual.psi
    if psi is not None:
        psi = psi / _unit(direction, psi)
        slope = to_expr(
            direction.parameterization.at_start(psi / direction.n), notation.start_symbols
        )
        found = rational_form(direction, scalar, psi, notation)
        if found is not None:
            return _Built(dual, *found, slope, assumed)
    field = direction.parameterization.field
    shortened = dual.log_psi + LogFunction(field.zero, ((-field.one, direction.n),))
    slope = exponential(at_start(direction.parameterization, shortened, notation))
    return _Built(dual, *hyperexponential_form(direction, scalar, dual, notation), slope, assumed)


def _oriented(
    direction: Direction, dual: DualLength, notation: Notation
) -> tuple[DualLength, tuple[str, ...]]:
    """Return log psi with arguments that are positive at the start, and what that rests on."""
    logs = []
    assumed: list[str] = []
    for coefficient, argument in dual.log_psi.logs:
        sign = 1
        if argument != direction.n:
            sign, found = start_sign(direction.parameterization.at_start(argument), notation)
            assumed += found
        logs.append((coefficient, argument if sign > 0 else -argument))
    return replace(dual, log_psi=LogFunction(dual.log_psi.rational, tuple(logs))), tuple(assumed)


def _tidied(piece: Piece) -> Piece:
    """Return the piece without names for powers of s."""
    short = _short_roots(piece.roots)
    return replace(
        piece,
        value=without_roots(piece.value, short),
        gradient=tuple(without_roots(g, short) for g in piece.gradient),
        roots=tuple(r for r in piece.roots if r not in short),
    )


def _unit(direction: Direction, psi: RationalFunction) -> RationalFunction:
    """Return a constant warp, which is the choice of the unit of time; 1 for others."""
    g = psi * direction.phi / direction.n
    return g if g.is_constant() else g.field.one


def _warp(direction: Direction, dual: DualLength) -> Expr:
    """Return g = psi phi/n in the scalars and the norm, as given: phi with its sign."""
    psi = dual.psi
    symbols = direction.notation.weights
    if psi is not None:
        return to_expr(psi / _unit(direction, psi) * direction.phi / direction.n, symbols)
    n = symbols[direction.norm]
    return sympy.powsimp(in_weights(direction, dual) / n) * to_expr(direction.phi, symbols)
