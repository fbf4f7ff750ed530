"""Arrays and numbers that Q is evaluated in, and expressions of others on arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath
import numpy as np
import sympy
from sympy import Expr

from numerics.reals import Real

Array: TypeAlias = np.ndarray[Any, Any]
"""Of float64."""
Number: TypeAlias = Any
"""A float or an mpf, which share no type; or what makes one, of SymPy or the fractions."""
FloatOrArray: TypeAlias = Any
"""A float at one point, an array at many: which one, the shape of the argument tells."""
Values: TypeAlias = Mapping[str, Number | Array]
"""Numbers, or arrays of one shape, by the name of a symbol."""
Compiled: TypeAlias = Callable[[Values], list[Array]]
GUARD = 15
"""Decimal digits carried beyond those asked for."""


def exact(expression: Expr, values: Mapping[str, Fraction]) -> Expr:
    """Return *expression* with exact numbers for the symbols, matched by name."""
    images = {
        s: sympy.Rational(values[s.name].numerator, values[s.name].denominator)
        for s in expression.free_symbols
        if s.name in values
    }
    return expression.xreplace(images)


def precise_number(expression: Expr, values: Mapping[str, Fraction], digits: int) -> Real:
    """Return an expression at exact numbers, to *digits* digits, as mpf."""
    found = sympy.N(exact(expression, values), digits + GUARD)
    if not (found.is_Float or found.is_Rational):
        return mpmath.nan
    with mpmath.workdps(digits + GUARD):
        return found._to_mpmath(mpmath.mp.prec)


def quiet() -> AbstractContextManager[object]:
    """Silence floating point warnings: nan and inf are answers here."""
    return np.errstate(all="ignore")


def compiled(
    expressions: Sequence[Expr], names: Sequence[str], library: str = "numpy"
) -> Callable[..., list[Any]]:
    """Return what evaluates expressions at numbers for some names, by NumPy or mpmath.

    SymPy writes Python source from the expressions: no name of the user's may reach it.
    """
    own = {name: sympy.Dummy(f"x{i}", real=True) for i, name in enumerate(names)}
    renamed = [e.xreplace({s: own[s.name] for s in e.free_symbols}) for e in expressions]
    function: Callable[..., list[Any]]
    function = sympy.lambdify([*own.values()], renamed, modules=library, cse=True)
    return function


def on_arrays(expressions: Sequence[Expr]) -> Compiled:
    """Return what evaluates expressions in doubles, on arrays of one shape by name."""
    names = sorted({s.name for e in expressions for s in e.free_symbols})
    function = compiled(expressions, names)

    def evaluate(values: Values) -> list[Array]:
        shape = np.broadcast_shapes(*map(np.shape, values.values()))
        results = function(*(np.asarray(values[name], dtype=np.float64) for name in names))
        return [np.broadcast_to(np.asarray(x, dtype=np.float64), shape) for x in results]

    return evaluate
