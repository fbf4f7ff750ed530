"""Printed statements on the start: how its scale changes the pace, and random starts."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod

import sympy
from sympy import Expr, Symbol

from derive.catalogue.audit.finding import Finding, agreement, misprint, unchecked
from derive.catalogue.audit.leaf import Leaf, checked, texts_of
from derive.catalogue.audit.ratio import NOT_ZERO, witness
from derive.catalogue.audit.subject import Subject
from derive.catalogue.audit.weights import define
from derive.catalogue.audit.widths import copies_of
from derive.catalogue.entry import Printed
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import terms
from derive.exact.towers.elementary_germ import Elementary
from derive.language import Tree, names, parse_expression
from derive.model.notation import rational, to_expr
from derive.render.plain import plain

DEVIATION = Symbol("sigma", positive=True)


def check_time(subject: Subject, printed: Printed) -> Finding:
    """Compare the factor by which flow from alpha w_0 is faster: alpha^(2D - 2), as K is.

    Source: Chizat, Oyallon, Bach 2019, for F(c w) = c^D F(w), where K(c w) = c^(2D-2) K(w).
    """
    p = subject.p
    if p.homogeneity is None:
        return unchecked("F is not homogeneous")
    (tree,) = texts_of(printed)
    scales = [name for name in names((tree,)) if name not in p.parameters]
    if len(scales) != 1:
        return unchecked("the printed factor has not one symbol for the scale")
    point = {scales[0]: Fraction(3, 2), **{name: Fraction(5) for name in p.parameters}}
    leaf = _free_leaf(point, (tree,))
    degree = to_expr(p.homogeneity, {name: Symbol(name) for name in p.parameters})
    factor = leaf.read(tree)
    rate = leaf.tower.tidy(leaf.images[scales[0]] * leaf.tower.derivative(factor, 0) / factor)
    derived = f"{scales[0]}**({plain(sympy.expand(2 * degree - 2))})"
    return _equal(leaf, rate, leaf.read(2 * degree - 2), derived, "the exponent; values are those")


def check_variance(subject: Subject, printed: Printed) -> Finding:
    """Compare the variance of F(w_0) for independent normal weights of deviation sigma.

    Where F is a sum of copies and the texts leave k open, k is their number.
    """
    p = subject.p
    if p.d != 1 or p.field.generators or not p.F[0].is_polynomial():
        return unchecked("the variance is derived for one polynomial output")
    (tree,) = texts_of(printed)
    inner = [parse_expression(text) for _, text in printed.where]
    defined = {name for name, _ in printed.where}
    free = [name for name in names((tree, *inner)) if name not in defined]
    leaf = _free_leaf({name: Fraction(3 + k, 2) for k, name in enumerate(free)}, (tree, *inner))
    define(leaf, printed)
    variance = _variance(p.F[0])
    if "k" in free:
        copies = copies_of(p)
        if copies is None:
            return unchecked("F is no sum of k copies of one function")
        # Variances of independent copies add: that of every width k.
        variance = variance * Symbol("k") / copies[0]
    given = leaf.read(checked(tree, leaf))
    derived = f"Var beta(0) = {plain(variance)}, sigma the deviation of a weight"
    return _equal(leaf, given, leaf.read(variance), derived, "the variance of F at the start")


def _free_leaf(point: Mapping[str, Fraction], trees: tuple[Tree, ...]) -> Leaf:
    tower = Elementary(point, trees)
    return Leaf(tower, dict(tower.known), point, len(point))


def _equal(
    leaf: Leaf, given: RationalFunction, wanted: RationalFunction, derived: str, reason: str
) -> Finding:
    tower = leaf.tower
    if tower.is_zero(given - wanted):
        return agreement("exact identity")
    if tower.ball(given - wanted).contains(0):
        return unchecked("the values are equal as far as 70 digits tell, which proves nothing")
    return misprint(reason, NOT_ZERO, derived, (witness(leaf, [given], [wanted]),))


def _variance(F: RationalFunction) -> Expr:
    """Return E F^2 - (E F)^2."""
    return sympy.factor(_mean(F * F) - _mean(F) ** 2)


def _mean(F: RationalFunction) -> Expr:
    """Return the mean of a polynomial: E w^n = (n - 1)!! sigma^n for even n, 0 for odd n."""
    total = sympy.S.Zero
    scale = F.denominator.leading_coefficient()
    for exponents, c in terms(F.numerator):
        if not any(e % 2 for e in exponents):
            moments = prod(int(sympy.factorial2(e - 1)) if e else 1 for e in exponents)
            total += rational(Fraction(int(c) * moments, int(scale))) * DEVIATION ** sum(exponents)
    return total
