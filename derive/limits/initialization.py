"""Starts that are scaled as a whole, and the norm of one layer."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import sympy
from sympy import Expr

from derive.errors import InputError
from derive.language.tree import Name, Number, Operation
from derive.model.parameterization import Parameterization


def norm(layer: Sequence[Expr]) -> Expr:
    """Return the Euclidean norm."""
    return sympy.sqrt(sympy.Add(*(x**2 for x in layer)))


def scale_start(p: Parameterization, variable: str) -> Parameterization:
    """Return p started from c w_0, c > 0, where w_0 is its start.

    Args:
        p: F and w_0.
        variable: the name of c, which becomes a positive start symbol.

    Raises:
        InputError: the name is taken.

    >>> p = scale_start(Parameterization.parse(["p**2 - m**2"], start={"p": 1, "m": 1}), "alpha")
    >>> dict(p.start)["p"]
    Name(name='alpha')
    """
    vectors = (v.name for v in p.vectors)
    if variable in (*p.weights, *p.start_symbols, *p.parameters, *vectors):
        raise InputError(f"{variable} is a name already: choose another for the scale")
    one = Number(Fraction(1))
    start = {
        w: Name(variable) if tree == one else Operation("*", Name(variable), tree)
        for w, tree in p.start
    }
    return p.with_(start=start, positive=(*p.positive, variable))


def with_scale(p: Parameterization, variable: str) -> Parameterization:
    """Return p with a positive start symbol *variable*, which scales the start where it is new."""
    if variable in p.parameters or variable in p.positive:
        return p
    if variable not in p.start_symbols:
        return scale_start(p, variable)
    return p.with_(positive=(*p.positive, variable))
