"""Vectors of open dimension, followed in the plane of u and of what moves it.

A steering lambda, a velocity or a step moves u in the plane that it spans with u, and c and y know
u by rotation-equivariant functions. So what holds for u = (u1, u2) holds in every dimension d >= 2,
coordinates taken along u and, in that plane, across it.
"""

from __future__ import annotations

from derive.derivation import Derivation, derive
from derive.language import parse_expression
from derive.language.tree import Name, Operation, Tree, names, substituted
from derive.model.names import unused
from derive.model.parameterization import Parameterization
from derive.model.restriction import leave_out


def followed_in_plane(d: Derivation) -> Derivation:
    """Return what is derived in the plane."""
    return derive(_in_plane(leave_out(d.parameterization, d.idle)))


def _in_plane(p: Parameterization) -> Parameterization:
    """Return phi u with u = (u1, u2), from u1 = |u_0| and u2 = 0 where that is given."""
    (vector,) = p.vectors
    taken = (*p.weights, *p.start_symbols, *p.parameters)
    u = [unused(f"{vector.name}{i}", taken) for i in (1, 2)]
    length = parse_expression(f"sqrt({u[0]}**2 + {u[1]}**2)")

    def written(tree: Tree) -> Tree:
        return substituted(tree, {vector.norm: length})

    start, rates = dict(p.start), dict(zip(p.weights, map(written, p.rates), strict=False))
    norm, rate = start.pop(vector.norm), rates.pop(vector.norm, None)
    if not (isinstance(norm, Name) and norm.name.startswith(f"{vector.norm}_0")):
        start |= {u[0]: norm, u[1]: parse_expression("0")}
    outputs = [Operation("*", written(vector.coefficient), Name(name)) for name in u]
    known = {*p.weights[:-1], *p.parameters, *names(tuple(start.values()))}
    return Parameterization(
        outputs,
        [*p.weights[:-1], *u],
        start,
        [name for name in p.positive if name in known],
        parameters=[name for name in p.parameters if name in names(tuple(outputs))],
        rates=rates if rate is None else rates | dict.fromkeys(u, rate),
    )
