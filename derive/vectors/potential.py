"""Q = q(|beta|) + <z, beta> of a rotation-equivariant vector model, for every d at once.

grad Q = psi u/n - psi_0 u_0/n_0 with the dual length psi, so q'(s) = psi and
z = -(psi_0/n_0) u_0. Equivalently s q''/q' = T/R, which always has a solution: the leaf is a
curve on which s grows, so psi is a function of s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.model.notation import BranchOpen, Constant, Notation, to_expr
from derive.model.signs import start_sign
from derive.potential.chart import Chart
from derive.potential.find import assuming
from derive.potential.logarithms import at_start
from derive.potential.piece import Piece, Root, without_roots
from derive.vectors.dual import RadialDual, find_radial_dual
from derive.vectors.forms import (
    exponential,
    from_eigenvalues,
    hyperexponential_form,
    in_weights,
    rational_form,
    weight_symbols,
)
from derive.vectors.reduce import Equivariant, radial_eigenvalue
from derive.verdict import Finding, Verdict
from derive.weights.warping import WarpVerdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numerics.evaluate.vectors.vector_potential import NumericVectorPotential


@dataclass(frozen=True)
class Spectrum:
    """The eigenvalues T and R of K as functions of s, with the names that they use."""

    tangential: Expr
    radial: Expr
    roots: tuple[Root, ...]
    constants: tuple[Constant, ...]


@dataclass(frozen=True)
class RadialPotential:
    """Q = q(s) - slope <u_0, beta>, s = |beta|.

    Attributes:
        model: the vector model.
        dual: log psi in the weights, where found in the families.
        g: the warp psi phi/n in the scalars and the norm; None where psi was not found.
        piece: q in s, with q' = psi; None where the start leaves its branch open.
        slope: psi_0/n_0, with the sign of phi.
        spectrum: T and R in s, where they were written so.
        chart: how functions of the weights are written in s, where found.
        finding: PROVED with the identities behind q; the reason otherwise.
    """

    model: Equivariant
    dual: RadialDual | None
    g: Expr | None
    piece: Piece | None
    slope: Expr
    spectrum: Spectrum | None
    chart: Chart | None
    finding: Finding

    def numeric(self, start: Mapping[str, Any] | None = None) -> NumericVectorPotential:
        """Return Q, its gradient, Hessian products and inverse mirror map in NumPy, for any d.

        Args:
            start: a number for each start symbol of a scalar, and the vector u_0 (d,), d >= 2.

        Raises:
            InputError: a value is missing, or breaks an assumption.
            NumericalError: there is no Q to evaluate.
        """
        from numerics.evaluate.vectors.vector_lowering import lower_vector

        return lower_vector(self, start or {})


def find_radial_potential(model: Equivariant, scalar: WarpVerdict) -> RadialPotential:
    """Return q(s) and z in the simplest form that was proved.

    Args:
        model: the vector model.
        scalar: the decisions on its reduced model s(a, n).
    """
    conserved = scalar.metric.conserved
    if model.sign == 0:
        reason = f"the coefficient of {model.vector} is 0 at the start: its sign selects Q"
        return _open(model, Finding(Verdict.UNDECIDED, reason))
    dual = find_radial_dual(model, conserved)
    try:
        built = assuming(lambda n: _build(model, scalar, dual, n), model.notation)
    except BranchOpen as undetermined:
        return _open(model, Finding(Verdict.UNDECIDED, str(undetermined)))
    dual, piece, chart = built.dual, _tidied(built.piece), built.chart
    assumptions = (*model.assumptions, *built.assumptions, *piece.assumptions)
    piece = replace(piece, assumptions=tuple(dict.fromkeys(assumptions)))
    evidence = (*(dual.evidence if dual else ()), *piece.evidence)
    reason = f"grad Q = psi u/|u| - psi_0 u_0/|u_0|, {piece.kind} form"
    spectrum = _spectrum(model, chart)
    finding = Finding(Verdict.PROVED, reason, evidence)
    g = None if dual is None else _warp(model, dual)
    if model.reduced.w0[-1].is_zero():
        slope = sympy.Integer(0)  # u_0 = 0: there is no linear term, and y = u has no pole
    else:
        slope = model.sign * built.slope
    return RadialPotential(model, dual, g, piece, slope, spectrum, chart, finding)


def _spectrum(model: Equivariant, chart: Chart | None) -> Spectrum | None:
    if chart is None:
        return None
    T, R = chart.write(model.phi**2), chart.write(radial_eigenvalue(model.reduced))
    if T is None or R is None:
        return None
    short = _short_roots(chart.roots)
    T, R = (without_roots(x, short) for x in (T, R))
    return Spectrum(T, R, *chart.names_in(T, R))


def _short_roots(roots: Sequence[Root]) -> list[Root]:
    """Return the roots that are a power of s, times a constant: not worth a name."""
    return [
        r
        for r in roots
        if r.explicit is not None
        and not r.explicit.is_Add
        and all(not x.is_Add for x in sympy.Mul.make_args(r.explicit))
    ]


def _open(model: Equivariant, finding: Finding) -> RadialPotential:
    return RadialPotential(model, None, None, None, sympy.Integer(0), None, None, finding)


@dataclass(frozen=True)
class _Built:
    """q with the chart it was written in, psi > 0, psi_0/n_0, and what the signs rest on."""

    dual: RadialDual | None
    piece: Piece
    chart: Chart | None
    slope: Expr
    assumptions: tuple[str, ...]


def _build(
    model: Equivariant, scalar: WarpVerdict, dual: RadialDual | None, notation: Notation
) -> _Built:
    if dual is None:
        piece = from_eigenvalues(model, scalar, notation)
        return _Built(None, piece, None, sympy.Integer(1), ())
    dual, assumed = _oriented(model, dual, notation)
    psi = dual.psi
    if psi is not None:
        psi = psi / _unit(model, psi)
        slope = to_expr(model.reduced.at_start(psi / model.n), notation.start_symbols)
        found = rational_form(model, scalar, psi, notation)
        if found is not None:
            return _Built(dual, *found, slope, assumed)
    field = model.reduced.field
    shortened = dual.log_psi + LogFunction(field.zero, ((-field.one, model.n),))
    slope = exponential(at_start(model.reduced, shortened, notation))
    return _Built(dual, *hyperexponential_form(model, scalar, dual, notation), slope, assumed)


def _oriented(
    model: Equivariant, dual: RadialDual, notation: Notation
) -> tuple[RadialDual, tuple[str, ...]]:
    """Return log psi with arguments that are positive at the start, and what that rests on."""
    logs = []
    assumed: list[str] = []
    for coefficient, argument in dual.log_psi.logs:
        sign = 1
        if argument != model.n:
            sign, found = start_sign(model.reduced.at_start(argument), notation)
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


def _unit(model: Equivariant, psi: RationalFunction) -> RationalFunction:
    """Return a constant warp, which is the choice of the unit of time; 1 for others."""
    g = psi * model.phi / model.n
    return g if g.is_constant() else g.field.one


def _warp(model: Equivariant, dual: RadialDual) -> Expr:
    """Return g = psi phi/n in the scalars and the norm, as given: phi with its sign."""
    psi = dual.psi
    symbols = weight_symbols(model)
    if psi is not None:
        return to_expr(psi / _unit(model, psi) * model.phi / model.n, symbols)
    n = symbols[model.norm]
    return sympy.powsimp(in_weights(model, dual) / n) * to_expr(model.phi, symbols)
