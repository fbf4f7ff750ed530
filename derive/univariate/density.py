"""The density of the biases: even, positive, on a bounded set."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import sympy
from flint import acb, arb, ctx, fmpq, fmpq_poly

from derive.errors import InputError
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.exact.rationals import as_fmpq, as_fraction
from derive.language import to_sympy
from derive.univariate.formulas import NOWHERE, Formula, Value, positivity, read_piecewise

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
    mirrored, plain = (
        e.xreplace(dict.fromkeys(e.free_symbols, s))
        for e, s in ((to_sympy(left.tree), -t), (to_sympy(right.tree), t))
    )
    try:
        return ElementarySigns().is_zero(mirrored - plain)
    except Undecided:
        return False
