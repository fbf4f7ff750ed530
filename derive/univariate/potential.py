"""A potential phi of mirror flow, proved convex."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import sympy
from flint import acb, fmpq
from sympy import Expr

from derive.errors import DeriveError, InputError
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.exact.rationals import as_fmpq
from derive.language import Call, Number, Operation, Power, Tree, to_sympy, walk
from derive.univariate.formulas import (
    CLOSED,
    NOWHERE,
    OPEN,
    POLE,
    End,
    Formula,
    Piecewise,
    positivity,
    read_piecewise,
)

_SMOOTH = 4


@dataclass(frozen=True)
class Potential:
    """A convex function phi with its first two derivatives.

    Attributes:
        function: phi.
        slope, curvature: phi' and phi''.
        strict: whether phi'' > 0 everywhere; else it vanishes at single points.
        derivatives: how many of them are continuous, 4 where that many or more.
    """

    function: Piecewise
    slope: Piecewise
    curvature: Piecewise
    strict: bool
    derivatives: int

    @property
    def text(self) -> str:
        """What was typed."""
        return self.function.text

    @property
    def quadratic(self) -> fmpq | None:
        """phi'' where that is a constant."""
        found = self.curvature.formulas[0].polynomial
        if len(self.curvature.formulas) > 1 or found is None or found.degree() > 0:
            return None
        return found[0]


def read_potential(text: str) -> Potential:
    """Read a potential in one name and prove that it is convex; InputError where it is not.

    >>> read_potential("abs(x)**3 + x**2").derivatives
    2
    """
    phi = read_piecewise(text, "--potential")
    orders = [phi]
    for _ in range(_SMOOTH):
        orders.append(orders[-1].derivative())
    smooth = min((_agreeing(orders, b) for b in phi.breaks), default=_SMOOTH)
    if smooth < 2:
        raise InputError(f"--potential: {text} is not twice continuously differentiable")
    for f, low, high in _intervals(phi):
        _check_defined(f, low, high, text)
    signs = [_side(f, low, high, text) for f, low, high in _intervals(orders[2])]
    return Potential(orders[0], orders[1], orders[2], min(signs) == CLOSED, smooth)


def _intervals(f: Piecewise) -> Iterator[tuple[Formula, End, End]]:
    ends = (None, *f.breaks, None)
    return zip(f.formulas, ends, ends[1:], strict=False)


def _agreeing(orders: list[Piecewise], b: Fraction) -> int:
    """Return the last derivative up to which both sides agree at a break, -1 for none."""
    for order, f in enumerate(orders):
        i = f.breaks.index(b)
        jump = operator.sub(*(_number(g, b) for g in f.formulas[i : i + 2]))
        if jump.has(sympy.zoo, sympy.nan, sympy.oo) or not _is_zero(jump):
            return order - 1
    return _SMOOTH


def _number(formula: Formula, x: Fraction) -> Expr:
    expression = to_sympy(formula.tree)
    at = sympy.Rational(x.numerator, x.denominator)
    return expression.xreplace(dict.fromkeys(expression.free_symbols, at))


def _is_zero(number: Expr) -> bool:
    try:
        return ElementarySigns().is_zero(number)
    except Undecided as error:
        raise InputError(f"--potential: {error}") from None


def _check_defined(formula: Formula, low: End, high: End, text: str) -> None:
    """Refuse a function with a pole or a branch point on an interval, but for roots of its ends."""
    for part, least in _delicate(formula.tree):
        signs = (part, Operation("*", Number(Fraction(-1)), part)) if least == POLE else (part,)
        if all(positivity(Formula(g), low, high) < min(least, CLOSED) for g in signs):
            raise InputError(f"--potential: {text} is not proved to be smooth for all real numbers")


def _delicate(tree: Tree) -> Iterator[tuple[Tree, int]]:
    """Yield what must not vanish, or be positive, with how far."""
    for node in walk(tree):
        match node:
            case Operation("/", _, g):
                yield g, POLE
            case Power(g, e) if e.denominator > 1:
                yield g, OPEN if e > 0 else CLOSED
            case Power(g, e) if e < 0:
                yield g, POLE
            case Call("log", g):
                yield g, CLOSED
            case Call("tan", g):
                yield Number(Fraction(0)), CLOSED


def _side(formula: Formula, low: End, high: End, text: str) -> int:
    """Return how far phi'' > 0 on an interval, or refuse phi."""
    if (found := positivity(formula, low, high)) > NOWHERE:
        return found
    for k in range(-40, 41):
        x = Fraction(k, 8)
        if (low is None or x > low) and (high is None or x < high):
            value = formula.on_balls(acb(as_fmpq(x))).real
            if value < 0 or (formula.polynomial is not None and value <= 0):
                shown = value.str(4, radius=False)
                why = f"not strictly convex: phi'' = {shown} at {x}"
                raise InputError(f"--potential: {text} is {why}")
    raise DeriveError(f"that {text} is strictly convex could not be proved")
