"""Weights that start at 0 and that gradient flow never moves: they are left out.

If w_S = 0 at the start, and the derivatives of every output along w_S vanish wherever w_S = 0,
then the flow stays in that subspace and is the flow of F restricted to it. Identities that fail
for general weights may hold there, as for a second neuron that is dead from the start.
"""

from __future__ import annotations

from dataclasses import replace

from derive.errors import DegenerateStart, LanguageError, RankDeficient
from derive.exact.field.function_field import RationalFunction
from derive.language import parse_expression
from derive.model.parameterization import Parameterization
from derive.model.vectors import Vector


def find_idle(p: Parameterization) -> tuple[str, ...]:
    """Return the largest set of weights that start at 0 and stay there, proved exactly."""
    if any(g.kind != "parameter" for g in p.field.generators):
        return ()
    idle = {k for k, value in enumerate(p.w0) if value.is_zero()}
    while idle:
        moved = {k for k in idle if not all(_vanishes(row[k], p, idle) for row in p.fields)}
        if not moved:
            break
        idle -= moved
    return tuple(name for k, name in enumerate(p.weights) if k in idle)


def _vanishes(function: RationalFunction, p: Parameterization, idle: set[int]) -> bool:
    try:
        return _restricted(function, p, idle).is_zero()
    except ZeroDivisionError:
        return False


def _restricted(
    function: RationalFunction, p: Parameterization, idle: set[int]
) -> RationalFunction:
    images = [p.field.zero if k in idle else w for k, w in enumerate(p.field.gens)]
    return function.compose(images, p.field)


def leave_out(p: Parameterization, idle: tuple[str, ...]) -> Parameterization:
    """Return F restricted to the subspace where the idle weights are 0.

    Raises:
        DegenerateStart: on that subspace the outputs cannot move independently.
    """
    if not idle:
        return p
    positions = {p.weights.index(name) for name in idle}
    try:
        trees = [parse_expression(repr(_restricted(f, p, positions))) for f in p.F]
        weights = [w for w in p.weights if w not in idle]
        return p.with_(outputs=trees, weights=weights, vectors=_reduced(p, positions))
    except LanguageError:
        return p  # too long to be written out: derive it as it is
    except RankDeficient as error:
        names = ", ".join(idle)
        raise DegenerateStart(f"{names} start at 0 and stay there, and then {error}") from None


def _reduced(p: Parameterization, idle: set[int]) -> tuple[Vector, ...]:
    """Return the one vector of open dimension with its coefficient where idle weights are 0."""
    if len(p.vectors) != 1:
        return p.vectors
    coefficient = _restricted(p.F[0] / p.w[-1], p, idle)
    return (replace(p.vectors[0], coefficient=parse_expression(repr(coefficient))),)
