"""Regimes of a vector model in every dimension d >= 2 at once.

Q = q(|beta|) - c <u_0, beta> depends on beta through its component along u_0 and the length of the
rest alone, and so do its limits: they are those in the plane with u_0 along the first axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import sympy

from derive.errors import InputError, NumericalError
from derive.language import Name
from derive.language.tree import Operation
from derive.regimes.find import Regimes, regimes
from derive.vectors.derivation import derive_radial, in_components
from derive.vectors.reduce import Equivariant, VectorModel, reduce_vector

_PLANE = 2


def radial_regimes(
    model: VectorModel,
    variable: str,
    toward: Iterable[Any] = (0, "oo"),
    progress: Callable[[str], None] | None = None,
) -> Regimes:
    """Return the limits of Q of a vector model, whatever the dimension.

    beta1 is the component of beta along u_0, and beta2 the length of the rest.

    Args:
        model: one output with a vector of open dimension.
        variable: a start symbol; a new name scales the whole start.
        toward: the limits, as for :func:`derive.regimes.find.regimes`.
        progress: called with the name of each step as it begins.

    Raises:
        InputError: d is needed, or names do not fit.

    >>> found = radial_regimes(VectorModel.parse("a*u", ["u"]), "alpha")
    >>> found.vector, [limit.regime for limit in found.limits]
    ('u', ['anti-NTK', 'kernel'])
    """
    scaled = _scaled(model, variable)
    found = derive_radial(scaled.form, scaled.start, scaled.positive, progress)
    vector, g = found.model.vector, found.warping.g
    refusal = InputError(
        f"Q has no form that can be expanded in every dimension: give {vector} one, {vector}:2"
    )
    if g is None:
        raise refusal
    try:
        plane = in_components(found, _PLANE)
    except NumericalError:
        raise refusal from None
    # Q is that of every dimension, and so is its warp.
    entries = [sympy.Symbol(w, real=True) for w in plane.parameterization.weights[-_PLANE:]]
    length = sympy.sqrt(sympy.Add(*(u**2 for u in entries)))
    norms = {s: length for s in g.free_symbols if s.name == found.model.norm}
    plane = replace(plane, warping=replace(plane.warping, g=g.subs(norms)))
    # What holds of the warped time in the plane was not proved in other dimensions.
    limits = regimes(plane, variable, toward, progress)
    return replace(limits, vector=vector, warped=None)


def _scaled(model: VectorModel, variable: str) -> VectorModel:
    """Return the model with a positive symbol of the start, which scales it where it is new."""
    given = reduce_vector(model.form, model.start, model.positive)
    start = {given.vector if w == given.norm else w: tree for w, tree in given.reduced.start}
    symbols = set(given.reduced.start_symbols)
    positive = {*model.positive, variable, *_norm_at_start(given)}
    if variable in (*given.reduced.weights, given.vector):
        raise InputError(f"{variable} is a name already: choose another for the scale")
    if variable not in symbols:
        start = {w: Operation("*", Name(variable), tree) for w, tree in start.items()}
        symbols |= {variable}
    kept = (symbols | set(start)) - {given.vector}
    return replace(model, start=start, positive=tuple(sorted(positive & kept)))


def _norm_at_start(model: Equivariant) -> set[str]:
    """Return the symbol of |u_0| where the start of u is nothing else."""
    tree = dict(model.reduced.start)[model.norm]
    return {tree.name} if isinstance(tree, Name) else set()
