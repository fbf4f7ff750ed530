"""Integrals for Q of open size: proposed, and accepted by their derivative in one field."""

from __future__ import annotations

import sympy
from sympy import Expr, Symbol
from sympy.integrals.manualintegrate import manualintegrate

from derive.errors import DeriveError
from derive.exact.towers.tower import build_elements
from derive.language import from_sympy


def same(left: Expr, right: Expr, positive: tuple[str, ...], of: Symbol) -> bool:
    """Tell whether two functions of a symbol are proved equal, as elements of one field."""
    names = {s.name for s in left.free_symbols | right.free_symbols}
    constants = sorted(names - {of.name})
    plain = {s: Symbol(s.name) for s in left.free_symbols | right.free_symbols}
    try:
        trees = [from_sympy(_one_exponential(x).xreplace(plain)) for x in (left, right)]
        a, b = build_elements(trees, (of.name,), constants, positive)
    except (DeriveError, ValueError, ArithmeticError):
        return False
    return bool(a == b)


def _one_exponential(x: Expr) -> Expr:
    """Return an expression whose exponentials are joined, their arguments quotients."""
    return sympy.powsimp(x).replace(sympy.exp, lambda u: sympy.exp(sympy.cancel(u)))


def antiderivative(function: Expr, x: Symbol, positive: tuple[str, ...]) -> Expr:
    """Return an integral that is proposed, and whose derivative is proved, else it as it is."""
    gaussian = _gaussian(function, x)
    if gaussian is None and _has_power(function, x):
        return sympy.Integral(function, x)
    proposed = manualintegrate(function, x) if gaussian is None else gaussian
    left = proposed.has(sympy.Integral, sympy.Piecewise)
    if not left and same(sympy.diff(proposed, x), function, positive, x):
        return proposed.replace(_of_any_sign, lambda log: sympy.log(sympy.Abs(log.args[0])))
    return sympy.Integral(function, x)


def _of_any_sign(part: Expr) -> bool:
    """Tell whether a part is a logarithm whose argument may be negative."""
    return isinstance(part, sympy.log) and not part.args[0].is_positive


def _has_power(function: Expr, x: Symbol) -> bool:
    """Tell whether there is a power of a sum with names in its exponent, which is searched long."""
    powers = (e.as_base_exp() for e in function.atoms(sympy.Pow))
    return any(b.has(x) and not b.is_polynomial(x) and e.free_symbols for b, e in powers)


def _gaussian(function: Expr, x: Symbol) -> Expr | None:
    """Return the integral of a multiple of exp(a x^2), an error function, or None."""
    factor, rest = function.as_independent(x, as_Add=False)
    if not isinstance(rest, sympy.exp):
        return None
    a = sympy.cancel(rest.args[0] / x**2)
    if a.has(x) or not (a.is_positive or a.is_negative):
        return None
    error, root = (sympy.erfi if a.is_positive else sympy.erf), sympy.sqrt(sympy.Abs(a))
    return factor * sympy.sqrt(sympy.pi) * error(root * x) / (2 * root)
