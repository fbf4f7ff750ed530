"""The dimension-free Q of a vector model in components, where flows of the weights can check it."""

from __future__ import annotations

from dataclasses import replace

import sympy
from sympy.core.function import AppliedUndef

from derive.derivation import Derivation, derive
from derive.errors import NumericalError
from derive.model.notation import to_expr
from derive.potential.piece import Piece
from derive.records import Potential
from derive.roads.components import components_along_axis


def in_components(derivation: Derivation, n: int = 3) -> Derivation:
    """Return the derivation of a vector model in R^n with the dimension-free Q as its potential.

    u starts along the first axis. It serves to check Q(beta) by flows of the weights. A derivation
    in coordinates is returned as it is.

    Raises:
        NumericalError: Q was not found, or it is an integral along a curve in the weights.
    """
    direction, other = derivation.direction, derivation.potential.other_side
    if direction is None:
        return derivation
    # Conditions may name weights that are tied in components: the flow is that of all of them.
    explicit = replace(derive(components_along_axis(direction, n)), ties=())
    found = _with_length(derivation, derivation.potential, explicit)
    if other is None:
        return replace(explicit, potential=found)
    # The sides are told apart by the sign of g, which is that of phi.
    components = explicit.parameterization.weights[-n:]
    length = sympy.sqrt(sympy.Add(*(sympy.Symbol(w, real=True) ** 2 for w in components)))
    phi = to_expr(direction.phi, direction.notation.weights)
    g = phi.subs(direction.notation.weights[direction.norm], length)
    found = replace(found, other_side=_with_length(derivation, other, explicit))
    return replace(explicit, potential=found, warping=replace(explicit.warping, g=g))


def _with_length(derivation: Derivation, potential: Potential, explicit: Derivation) -> Potential:
    """Return q(s) + <z, beta> in the components of beta."""
    if (turning := potential.turning) is None or not potential.pieces:
        raise NumericalError("there is no Q to check")
    (piece,) = potential.pieces
    if any(x.atoms(AppliedUndef) for x in (piece.value, *piece.gradient)):
        raise NumericalError("Q is an integral of psi(x): give a dimension, --vector u:3, to check")
    if len(explicit.parameterization.blocks) > 1:
        raise NumericalError("Q is a sum in components: give a dimension, --vector u:3, to check")
    betas = explicit.beta
    length = sympy.sqrt(sympy.Add(*(b**2 for b in betas)))
    (s,), direction = derivation.beta, turning.direction
    n0 = direction.parameterization.w0[-1]
    first = turning.slope * to_expr(n0, direction.notation.start_symbols)
    slope = piece.gradient[0].subs(s, length) / length
    # With roots named or not, and Q an integral or not, the gradient is a formula in beta.
    expanded = Piece(
        betas,
        piece.value.subs(s, length) - first * betas[0],
        tuple(slope * b - (first if i == 0 else 0) for i, b in enumerate(betas)),
        piece.constants,
        tuple(root.mapped(lambda e: e.subs(s, length)) for root in piece.roots),
        piece.assumptions,
        piece.evidence,
    )
    given = explicit.parameterization
    return Potential(potential.finding, (expanded,), given)
