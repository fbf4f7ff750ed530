"""A potential phi of mirror flow, proved convex.

The density of the biases: even, positive, on a bounded set.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import sympy
from flint import acb, arb, ctx, fmpq, fmpq_poly
from sympy import Expr

from derive.errors import DeriveError, InputError
from derive.exact.balls import as_fmpq, as_fraction
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.language import Call, Number, Operation, Power, Tree, walk
from derive.univariate.formulas import (
    CLOSED,
    NOWHERE,
    OPEN,
    POLE,
    End,
    Formula,
    Piecewise,
    Value,
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
        jump = operator.sub(*(g.at(sympy.Rational(str(b))) for g in f.formulas[i : i + 2]))
        if jump.has(sympy.zoo, sympy.nan, sympy.oo) or not _is_zero(jump):
            return order - 1
    return _SMOOTH


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


UNIFORM = "uniform"
_DEPTH = 14


@dataclass(frozen=True)
class DensityPiece:
    """A multiple of the density between two points."""

    left: Fraction
    right: Fraction
    formula: Formula


@dataclass(frozen=True)
class Density:
    """An even density of the biases on a bounded set, a multiple of *pieces*."""

    text: str
    pieces: tuple[DensityPiece, ...]

    @property
    def exact(self) -> bool:
        """Whether it is piecewise polynomial."""
        return all(piece.formula.polynomial is not None for piece in self.pieces)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """The ends of its support."""
        return self.pieces[0].left, self.pieces[-1].right

    @property
    def mass(self) -> Value:
        """The integral of the multiple: rational, or a ball of the working precision."""
        return _mass(self, ctx.prec)

    def moments(self, piece: DensityPiece, left: Value, right: Value, count: int) -> list[Value]:
        """Return int p b^k over part of a piece for k < count: rational, or balls."""
        return [m / self.mass for m in _raw_moments(piece.formula, left, right, count)]

    def moment(self, k: int) -> Value:
        """Return E b^k."""
        parts = (self.moments(p, as_fmpq(p.left), as_fmpq(p.right), k + 1)[k] for p in self.pieces)
        return sum(parts, fmpq(0))


@functools.lru_cache(maxsize=64)
def _mass(density: Density, precision: int) -> Value:
    ends = ((p, as_fmpq(p.left), as_fmpq(p.right)) for p in density.pieces)
    return sum((_raw_moments(p.formula, a, b, 1)[0] for p, a, b in ends), fmpq(0))


def _raw_moments(formula: Formula, left: Value, right: Value, count: int) -> list[Value]:
    found: list[Value] = []
    for k in range(count):
        if formula.polynomial is not None:
            whole = (formula.polynomial * fmpq_poly([0] * k + [1])).integral()
            found.append(whole(right) - whole(left))
        else:
            integrand = functools.partial(_weighted, formula, k)
            found.append(acb.integral(integrand, acb(left), acb(right)).real)
    return found


def _weighted(formula: Formula, k: int, b: acb, analytic: bool) -> acb:
    value = formula.on_balls(b, analytic)
    for _ in range(k):
        value *= b
    return value


def read_density(text: str) -> Density:
    """Read "uniform", an expression on [-1, 1], "EXPR on [-2, 2]", or several of these with ";".

    >>> read_density("1 - abs(b) on [-2/3, 2/3]").moment(2)
    1/9

    Raises:
        InputError: it is not even, not proved positive, or no function of one name.
    """
    pieces: list[DensityPiece] = []
    for part in text.split(";"):
        expression, low, high = _interval(part)
        f = read_piecewise("1" if expression == UNIFORM else expression, "--density")
        ends = [low, *(b for b in f.breaks if low < b < high), high]
        pieces += (DensityPiece(a, b, f.at((a + b) / 2)) for a, b in pairwise(ends))
    pieces.sort(key=lambda piece: piece.left)
    if any(a.right > b.left for a, b in pairwise(pieces)):
        raise InputError("--density: its intervals overlap")
    for p in pieces:
        if not _positive_inside(p):
            why = f"{text} is not positive on [{p.left}, {p.right}], or that was not proved"
            raise InputError(f"--density: {why}")
    density = Density(text, tuple(pieces))
    if not _is_even(density):
        raise InputError(f"--density: {text} is not symmetric, p(-b) = p(b)")
    return density


def _interval(part: str) -> tuple[str, Fraction, Fraction]:
    match = re.fullmatch(r"(.*?)(?:\s+on\s*\[([^,\]]{1,60}),([^,\]]{1,60})\])?", part.strip())
    expression, low, high = match.groups() if match else (part, None, None)
    left, right = _end(low or "-1"), _end(high or "1")
    if not left < right:
        raise InputError(f"--density: the interval [{left}, {right}] is empty")
    return expression, left, right


def _end(text: str) -> Fraction:
    number = read_piecewise(text, "--density").formulas[0].polynomial
    if number is None or number.degree() > 0:
        raise InputError(f"--density: {text} is no number: write EXPR on [-2, 2]")
    return as_fraction(number[0])


def _positive_inside(p: DensityPiece) -> bool:
    if p.formula.polynomial is not None:
        return positivity(p.formula, p.left, p.right) > NOWHERE
    parts = [(as_fmpq(p.left), as_fmpq(p.right), 0)]
    while parts:
        a, b, depth = parts.pop()
        whole = arb(a).union(arb(b))
        if p.formula.on_balls(acb(whole)).real > 0:
            continue
        if depth == _DEPTH:
            return False
        middle = (a + b) / 2
        parts += [(a, middle, depth + 1), (middle, b, depth + 1)]
    return True


def _is_even(density: Density) -> bool:
    """Tell whether both sides agree between all ends."""
    ends = sorted({Fraction(0)} | {abs(e) for p in density.pieces for e in (p.left, p.right)})

    def at(x: Fraction) -> Formula | None:
        return next((p.formula for p in density.pieces if p.left < x < p.right), None)

    middles = ((a + b) / 2 for a, b in pairwise(ends))
    return all(_mirrored(at(-x), at(x)) for x in middles)


def _mirrored(left: Formula | None, right: Formula | None) -> bool:
    if left is None or right is None:
        return left is right
    t = sympy.Symbol("t")
    try:
        return ElementarySigns().is_zero(left.at(-t) - right.at(t))
    except Undecided:
        return False
