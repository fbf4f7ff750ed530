"""A vector of open dimension in the plane where its limits are those of every dimension d >= 2.

Q = q(|beta|) - c <u_0, beta> depends on beta through its component along u_0 and the length of the
rest alone, and so do its limits: they are those in the plane with u_0 along the first axis.
"""

from __future__ import annotations

from dataclasses import replace

import sympy

from derive.derivation import Derivation, in_components
from derive.errors import InputError, NumericalError
from derive.model.direction import Direction

PLANE = 2


def in_plane(derivation: Derivation, direction: Direction) -> Derivation:
    """Return the derivation in the plane, with the Q and the warp of every dimension.

    beta1 is the component of beta along u_0, and beta2 the length of the rest.

    Raises:
        InputError: Q has no form in s = |beta|.
    """
    g, u = derivation.warping.g, direction.vector
    refusal = f"Q has no form that can be expanded in every dimension: give {u} one, {u}:2"
    if g is None:
        raise InputError(refusal)
    try:
        plane = in_components(derivation, PLANE)
    except NumericalError:
        raise InputError(refusal) from None
    entries = [sympy.Symbol(w, real=True) for w in plane.parameterization.weights[-PLANE:]]
    length = sympy.sqrt(sympy.Add(*(x**2 for x in entries)))
    norms = {s: length for s in g.free_symbols if s.name == direction.norm}
    return replace(plane, warping=replace(plane.warping, g=g.subs(norms)))
