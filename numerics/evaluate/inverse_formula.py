"""The inverse of a mirror map that is written with its variable once: undone from outside in."""

from __future__ import annotations

from sympy import Abs, Add, Expr, Function, Mul, Pow, Symbol


def invert(expression: Expr, symbol: Symbol, value: Expr) -> Expr | None:
    """Solve ``expression = value`` for *symbol* where it occurs once; None where that fails.

    Each outer operation is undone by its own inverse, for example asinh by sinh. Of roots the real
    one is taken, and the positive one of two, so that the result is to be tested where it is used.

    >>> from sympy import asinh, log, symbols
    >>> b, k, y = symbols("b k y", positive=True)
    >>> invert(asinh(b / (2 * k)) / 4 - 1, b, y), invert(log(b / k), b, y)
    (2*k*sinh(4*y + 4), k*exp(y))
    >>> invert(b + log(b), b, y) is None
    True
    """
    while expression != symbol:
        inside = [a for a in expression.args if a.has(symbol)]
        if len(inside) != 1:
            return None
        (inner,) = inside
        if isinstance(expression, Add):
            value = value - Add(*(a for a in expression.args if a is not inner))
        elif isinstance(expression, Mul):
            value = value / Mul(*(a for a in expression.args if a is not inner))
        elif isinstance(expression, Pow) and inner is expression.base:
            value = _root(value, expression.exp)
        elif isinstance(expression, Function) and hasattr(expression, "inverse"):
            value = expression.inverse()(value)
        else:
            return None
        expression = inner
    return value


def _root(value: Expr, n: Expr) -> Expr:
    """Return x with ``x^n = value``, of the sign of *value* where n is odd."""
    if n.is_odd and n not in (1, -1):
        return value * Abs(value) ** (1 / n - 1)
    return value ** (1 / n)
