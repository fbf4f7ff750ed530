"""Where Q is smooth, and the SymPy expressions of what was read into a tower."""

from __future__ import annotations

from fractions import Fraction

import sympy
from sympy import Expr, Symbol, oo

from derive.exact.field.function_field import RationalFunction
from derive.exact.positivity import is_nonnegative
from derive.exact.towers.germ import GermField
from derive.model.notation import to_expr


def smooth_interval(
    tower: GermField, variable: str, symbols: dict[str, Symbol], point: dict[str, Fraction]
) -> tuple[Expr, Expr] | None:
    """Return the interval around the point in which no argument of a root or logarithm is 0.

    None where the zeros of such an argument are not known.
    """
    low, high = -oo, oo
    images = expressions(tower, symbols)
    at = {symbols[name]: sympy.Rational(x) for name, x in point.items()}
    for branch in tower.branches:
        if variable not in branch.variables() and not _uses_generators(tower, branch):
            continue
        if _never_zero(tower, branch, variable):
            continue
        slope = branch.partial(list(tower.known).index(variable))
        if _uses_generators(tower, branch) or variable in slope.variables():
            return None
        v = symbols[variable]
        zero = sympy.cancel(v - to_expr(branch, images) / to_expr(slope, images))
        if zero.subs(at) < at[v]:
            low = sympy.Max(low, zero)
        else:
            high = sympy.Min(high, zero)
    return low, high


def _uses_generators(tower: GermField, element: RationalFunction) -> bool:
    return bool(set(element.variables()) - set(tower.known))


def _never_zero(tower: GermField, branch: RationalFunction, variable: str) -> bool:
    """Tell whether an irreducible argument, or its norm over square roots, is proved not 0."""
    for generator, element in zip(tower.generators, tower.adjoined, strict=True):
        if generator.kind == "exp" and branch == element:
            return True
        square_root = generator.kind == "root" and generator.index == 2
        if square_root and element.variables()[0] in branch.variables():
            norm = tower.norm(branch, element)
            free = not norm.is_zero() and variable not in norm.variables()
            return free and not _uses_generators(tower, norm)
    if _uses_generators(tower, branch):
        return False
    # An irreducible polynomial >= 0 that depends on beta has no linear factor there.
    linear = (
        branch.partial(list(tower.known).index(variable))
        .partial(list(tower.known).index(variable))
        .is_zero()
    )
    return not linear and (is_nonnegative(branch) or is_nonnegative(-branch))


def expressions(tower: GermField, symbols: dict[str, Symbol]) -> list[Expr]:
    """Return the SymPy expression of every name of a tower's field."""
    images: list[Expr] = [symbols[name] for name in tower.known]
    blank = [sympy.Integer(0)] * (len(tower.field.names) - len(images))
    for generator in tower.generators:
        x = to_expr(generator.argument, [*images, *blank][: len(tower.field.names)])
        n = generator.index
        match generator.kind:
            case "root":
                images.append(x ** sympy.Rational(1, n))
            case "log":
                images.append(sympy.log(x))
            case "exp":
                images.append(sympy.exp(x / n))
            case "tan":
                images.append(sympy.tan(x / (2 * n)))
        blank = blank[1:]
    return [*images, *blank]
