"""Polynomials linear in no variable whose real zeros are known: spheres, and definite forms."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from derive.exact.balls import real_roots
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import Polynomial, terms


def sphere_axes(polynomial: Polynomial) -> dict[int, Fraction] | None:
    """Return the half axes c_i of sum_i (x_i/c_i)^2 = 1, by variable, where all are rational.

    None for any other polynomial.
    """
    squares: dict[int, int] = {}
    constant = 0
    for exponents, coefficient in terms(polynomial):
        used = [(k, e) for k, e in enumerate(exponents) if e]
        if not used:
            constant = coefficient
        elif len(used) == 1 and used[0][1] == 2:
            squares[used[0][0]] = coefficient
        else:
            return None
    axes = {}
    for k, coefficient in squares.items():
        axis = _square_root(Fraction(-constant, coefficient))
        if not axis:
            return None
        axes[k] = axis
    return axes if len(axes) > 1 else None


def _square_root(value: Fraction) -> Fraction | None:
    if value < 0:
        return None
    root = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return root if root * root == value else None


def stereographic(
    field: FunctionField, axes: dict[int, Fraction]
) -> tuple[dict[int, RationalFunction], list[Polynomial]]:
    """Return all points of a sphere but one as functions of free variables, and its equations.

    x_1/c_1 = (1 - |t|^2)/(1 + |t|^2) and x_i/c_i = 2 t_i/(1 + |t|^2), with t_i called as x_i is;
    the pole is x_1 = -c_1, x_i = 0.
    """
    first, *others = axes
    t = {k: field.gens[k] for k in others}
    total = sum((x * x for x in t.values()), field.zero)
    below = total + 1
    chart = {first: field.constant(axes[first]) * (1 - total) / below}
    for k in others:
        chart[k] = field.constant(2 * axes[k]) * t[k] / below
    pole = [field.gens[first] + field.constant(axes[first]), *t.values()]
    return chart, [x.numerator for x in pole]


def definite_parts(polynomial: Polynomial) -> list[Polynomial] | None:
    """Return variables, or monomials, that vanish wherever a definite polynomial does.

    Definite are sums of even monomials, and forms in two variables without a real root. None where
    the polynomial is neither; an empty list where it has no real zero.
    """
    used = [k for k, degree in enumerate(polynomial.degrees()) if degree]
    if len(used) == 2 and len({sum(e) for e, _ in terms(polynomial)}) == 1:
        ring = polynomial.context()
        return [ring.gen(k) for k in used] if _vanishes_at_0_only(polynomial, used[0]) else None
    return _monomials_of_one_sign(polynomial)


def _monomials_of_one_sign(polynomial: Polynomial) -> list[Polynomial] | None:
    """Return the monomials without their powers, where these are even and no signs differ."""
    if any(e % 2 for exponents, _ in terms(polynomial) for e in exponents):
        return None
    if len({coefficient > 0 for _, coefficient in terms(polynomial)}) > 1:
        return None
    ring = polynomial.context()
    found = [ring.from_dict({tuple(min(e, 1) for e in m): 1}) for m, _ in terms(polynomial)]
    return [] if any(m.is_constant() for m in found) else found


def _vanishes_at_0_only(form: Polynomial, first: int) -> bool:
    """Tell whether a form in two variables, one of them the first, has no real zero but 0."""
    line = [Fraction(0)] * (int(form.total_degree()) + 1)
    for exponents, coefficient in terms(form):
        line[exponents[first]] += coefficient
    return bool(line[-1]) and not real_roots(line)
