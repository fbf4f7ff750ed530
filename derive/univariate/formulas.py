"""Functions of one real variable as text: analytic pieces between rational points.

An absolute value is resolved on each side of the zeros of what is inside it, so that a piece is one
analytic expression: evaluated on complex balls for certified integrals, on doubles, or as a
polynomial.

How far a function of one variable is proved positive between two points.
"""

from __future__ import annotations

import functools
import operator
from bisect import bisect
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

import sympy
from flint import acb, arb, fmpq, fmpq_poly
from sympy import Dummy, Expr, Symbol

from derive.errors import InputError
from derive.exact.balls import as_fmpq, as_fraction, roots_of
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.language import (
    Number,
    Operation,
    Power,
    RealPower,
    Tree,
    children,
    from_sympy,
    names,
    parse_expression,
    to_sympy,
    walk,
)
from derive.language.tree import Algebra, evaluated, fold, with_parts

Value: TypeAlias = Any
"""A number, a ball, an array or a polynomial: what can be added and multiplied."""
_HALF = Fraction(1, 2)
_ARRAY_NAMES = {"asinh": "arcsinh", "atan": "arctan"}
_I, _X = acb(0, 1), Symbol("x")


@dataclass(frozen=True)
class Formula:
    """An expression in at most one name, real and analytic where it is used."""

    tree: Tree

    def on_balls(self, z: acb, analytic: bool = False) -> acb:
        """Return the value on a complex ball; not finite where it is not *analytic*, if asked."""

        def power(x: acb, e: Fraction) -> acb:
            return acb(
                whole_power(x, e)
                if e.denominator == 1
                else x.pow(acb(as_fmpq(e)), analytic=analytic)
            )

        def call(name: str, x: acb) -> acb:
            if name == "log":
                return acb(x.log(analytic=analytic))
            if name == "asinh":
                return (x + (1 + x * x).sqrt(analytic=analytic)).log(analytic=analytic)
            if name == "atan":
                ends = ((1 + _I * x).log(analytic=analytic), (1 - _I * x).log(analytic=analytic))
                return acb((ends[0] - ends[1]) / (2 * _I))
            return acb(getattr(x, name)())

        balls = Algebra(lambda q: acb(as_fmpq(q)), lambda _: z, power, call)
        return acb(evaluated(self.tree, balls))

    def on_arrays(self, x: Value) -> Value:
        """Return the values at doubles."""
        import numpy as np

        def call(name: str, value: Value) -> Value:
            return getattr(np, _ARRAY_NAMES.get(name, name))(value)

        def power(base: Value, e: Fraction) -> Value:
            return np.power(base, float(e))

        return np.asarray(evaluated(self.tree, Algebra(float, lambda _: x, power, call)) + 0.0 * x)

    def at(self, x: Expr) -> Expr:
        """Return the value at a number or a name of SymPy."""
        f = to_sympy(self.tree)
        return f.xreplace(dict.fromkeys(f.free_symbols, x))

    @functools.cached_property
    def polynomial(self) -> fmpq_poly | None:
        """The polynomial that it is, if it is one, over the rationals."""
        found = self.at(_X).as_poly(_X)
        if found is None or not found.domain.is_QQ | found.domain.is_ZZ:
            return None
        return fmpq_poly([fmpq(int(c.p), int(c.q)) for c in found.all_coeffs()[::-1]])

    def derivative(self) -> Formula:
        """Return the derivative."""
        return Formula(from_sympy(_slope(self.at(_X))))


def _slope(f: Expr) -> Expr:
    """Return the derivative, in which roots are of what they were of: (-x)**(3/2) is 0 at 0."""
    roots = {x: Dummy() for x in f.atoms(sympy.Pow) if not x.exp.is_Integer}
    bare, back = f.xreplace(roots), {t: x for x, t in roots.items()}
    known = ((*x.args, bare.diff(t)) for x, t in roots.items())
    whole = sum((d * e * base ** (e - 1) * _slope(base) for base, e, d in known), bare.diff(_X))
    return whole.xreplace(back)


def whole_power(x: Value, e: Fraction) -> Value:
    """Return x^e for a whole e, by products: FLINT takes balls about 0 by way of the logarithm."""
    found = functools.reduce(operator.mul, [x] * abs(int(e)), x * 0 + 1)
    return found if e >= 0 else 1 / found


@dataclass(frozen=True)
class Piecewise:
    """A function that is *formulas[i]* between *breaks[i - 1]* and *breaks[i]*, which ascend."""

    text: str
    breaks: tuple[Fraction, ...]
    formulas: tuple[Formula, ...]

    def derivative(self) -> Piecewise:
        """Return the derivative of each piece."""
        return Piecewise(self.text, self.breaks, tuple(f.derivative() for f in self.formulas))

    def at(self, x: Fraction) -> Formula:
        """Return the formula at x, at a break that of the right."""
        return self.formulas[bisect(self.breaks, x)]

    def on_arrays(self, x: Value) -> Value:
        """Return the values at doubles."""
        import numpy as np

        places = np.searchsorted(np.array([float(b) for b in self.breaks]), x)
        with np.errstate(all="ignore"):
            found = [f.on_arrays(x) for f in self.formulas]
        return np.choose(places, found) if len(found) > 1 else found[0]


def read_piecewise(text: str, option: str) -> Piecewise:
    """Read a function of one name; *option* names it in refusals.

    >>> read_piecewise("abs(x)**3 + x**2", "--potential").breaks
    (Fraction(0, 1),)

    Raises:
        InputError: not the language, several names, or an absolute value whose zeros are not found.
    """
    try:
        tree = parse_expression(text)
    except InputError as error:
        raise InputError(f"{option}: {error}") from None
    if any(isinstance(node, RealPower) for node in walk(tree)):
        raise InputError(f"{option}: an exponent with a name in it is not accepted: write a number")
    if len(found := names((tree,))) > 1:
        raise InputError(f"{option}: {text} is to be a function of one name, not {len(found)}")
    sizes = [node for node in walk(tree) if _inside(node) is not None]
    zeros = sorted({zero for node in sizes for zero in _zeros(_inside(node), option)})
    ends = [zeros[0] - 1, *zeros, zeros[-1] + 1] if zeros else [Fraction(0), Fraction(1)]
    formulas = (Formula(_resolved(tree, (a + b) / 2)) for a, b in pairwise(ends))
    return Piecewise(text, tuple(zeros), tuple(formulas))


def _inside(node: Tree) -> Tree | None:
    """Return A of |A|, which the language reads as sqrt(A**2)."""
    match node:
        case Power(Power(inner, exponent), half) if exponent == 2 and half == _HALF:
            return inner
    return None


def _zeros(inner: Tree | None, option: str) -> list[Fraction]:
    polynomial = None if inner is None else Formula(inner).polynomial
    if polynomial is None or polynomial.degree() < 1:
        raise InputError(f"{option}: abs(...) is accepted of polynomials with numbers")
    rationals = [as_fraction(root) for root, _ in polynomial.roots()]
    if len(roots_of(polynomial)) > len(rationals):
        raise InputError(f"{option}: inside abs(...) there is a zero that is not rational")
    return rationals


def _resolved(tree: Tree, point: Fraction) -> Tree:
    """Return a tree with the absolute values as they are near a point."""

    def combine(node: Tree, parts: list[Tree]) -> Tree:
        built = with_parts(node, parts)
        inner = _inside(built)
        if inner is None:
            return built
        value = Formula(inner).polynomial
        sign = 1 if value is not None and value(as_fmpq(point)) > 0 else -1
        return inner if sign > 0 else Operation("*", Number(Fraction(-1)), inner)

    return fold(tree, children, combine)


NOWHERE, TOUCHING, OPEN, CLOSED, POLE = range(5)
"""How far a function is positive: not; but for single zeros; inside; with its ends. Or != 0."""
End: TypeAlias = Fraction | None


def positivity(formula: Formula, low: End, high: End) -> int:
    """Return how far a function is proved positive between two points, infinite where None.

    >>> from derive.univariate.formulas import read_piecewise
    >>> positivity(read_piecewise("x**2", "").formulas[0], None, None) == TOUCHING
    True
    """
    if formula.polynomial is not None:
        return _of_polynomial(formula.polynomial, low, high)
    t = sympy.Symbol("t")
    ends = [e for e in (low, high) if e is not None]
    shift: Expr = t if not ends else sympy.Rational(ends[0].numerator, ends[0].denominator)
    if ends:
        shift = shift + (t if low is not None else -t)
    try:
        if not ElementarySigns(["t"] if ends else []).is_positive(formula.at(shift)):
            return NOWHERE
    except Undecided:
        return NOWHERE
    return CLOSED if all(formula.on_balls(acb(as_fmpq(e))).real > 0 for e in ends) else OPEN


def _of_polynomial(p: fmpq_poly, low: End, high: End) -> int:
    if p.degree() < 1:
        return CLOSED if p[0] > 0 else NOWHERE
    ends = [as_fmpq(e) for e in (low, high) if e is not None]
    # The balls of all roots are apart, and so are those of the ends.
    roots = roots_of(functools.reduce(operator.mul, (fmpq_poly([-e, 1]) for e in ends), p))
    around = [_beyond(roots, -1), *roots, _beyond(roots, 1)]
    at = [k for e in ends for k, r in enumerate(roots, 1) if r.contains(e)]
    first, last = at[0] if low is not None else 0, at[-1] + 1 if high is not None else len(around)
    between = around[first:last]
    if any(p(as_fmpq(_middle(a, b))) <= 0 for a, b in pairwise(between)):
        return NOWHERE
    return TOUCHING if between[2:] else CLOSED if all(p(e) != 0 for e in ends) else OPEN


def _beyond(points: list[arb], side: int) -> arb:
    """Return a number below or above all of some points."""
    return side * sum((x.abs_upper() for x in points), arb(1))


def _middle(a: arb, b: arb) -> Fraction:
    mantissa, exponent = ((a + b) / 2).mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
