"""The variational problem of mirror flow on univariate shallow nets, by exact algebra.

With alpha(1, b) = alpha_e + alpha_o and alpha(-1, -b) = alpha_e - alpha_o, and
sigma(z) = e|z| + o z,

    h(x) = E alpha(w, b) sigma(w x - b) = int p(b) (e alpha_e |x - b| + o alpha_o (x - b)) db,

so h'' = 2 e p alpha_e, and alpha_o is seen only by c = (int p alpha_o, int p b alpha_o):

    h'(inf) + h'(-inf) = 2 o c_0,    int h''(b) |b| db - 2 h(0) = 2 o c_1.

Where o = 0 both are constraints on h. Where phi is quadratic the least int p alpha_o^2 is
c^T M^-1 c, M the matrix of moments of (1, b) under p: a quadratic form in the left sides.

The potential phi is proved convex, the density of the biases even and positive, on a bounded set.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import sympy
from flint import acb, arb, ctx, fmpq, fmpq_poly
from sympy import Expr

from derive.errors import DeriveError, InputError
from derive.exact.balls import as_fmpq, as_fraction
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.language import Call, Number, Operation, Power, Tree, walk
from derive.printable import Printable
from derive.statement import Claims, Equations, Ground, Statement, Text, note
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


SLOPES, MOMENT = "h'(inf) + h'(-inf)", "int h''(x) |x| dx - 2 h(0)"
SOURCE = "Liang and Montúfar"


@dataclass(frozen=True, repr=False)
class VariationalProblem(Claims, Printable):
    """What the limit function minimises.

    Attributes:
        potential, activation, density: as given.
        scaled: whether the potential acts on n (theta - theta(0)).
        law: the potential of alpha in the limit: phi where it is scaled, else x**2/2.
        bending: the factor of int h''^2/p in E alpha_e^2.
        affine: what alpha_o leaves: the factors of (h'(inf) + h'(-inf))^2 and of
            (int h''|x| - 2 h(0))^2; None where both are constrained to 0, or phi is not quadratic.
    """

    potential: Potential
    activation: Activation
    density: Density
    scaled: bool
    law: Potential
    bending: Fraction
    affine: tuple[Value, Value] | None

    @property
    def failing(self) -> tuple[str, ...]:
        """Hypotheses of the source that do not hold here."""
        proved = (self.scaled, self.activation.name) in ((False, "relu"), (True, "abs"))
        fails = {
            "the source proves a limit for unscaled potentials with relu, and for scaled ones with"
            " abs; here the limit is formal": not proved,
            "the source assumes three continuous derivatives of `phi`, which has two": self.scaled
            and self.potential.derivatives < 3,
            "the source assumes `phi'' > 0`, which vanishes at a point": self.scaled
            and not self.potential.strict,
        }
        return tuple(words for words, here in fails.items() if here)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Hypotheses of the source that are not decided."""
        form = "`phi = (psi + omega x^2)/(1 + omega)` with `omega` large enough"
        return (form,) if self.scaled else ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Where the theorems of the source do not apply as they stand; none where one does."""
        return (*self.failing, *(f"the source assumes {x}" for x in self.assumed))

    @functools.cached_property
    def statements(self) -> tuple[Statement]:
        """What nets of this kind tend to."""
        return (limit_statement(self),)


def variational_problem(
    potential: Potential, activation: Activation, density: Density, scaled: bool
) -> VariationalProblem:
    """Derive the variational problem of a setting.

    Raises:
        InputError: an unscaled potential with phi'' = 0 somewhere.
    """
    if not scaled and not potential.strict:
        raise InputError(
            f"--potential: phi'' vanishes for {potential.text}; add a square, or give --scaled"
        )
    law = potential if scaled else read_potential("x**2/2")
    e, o = activation.even, activation.odd
    affine = None
    if o and law.quadratic is not None:
        # M is diagonal: E b = 0 of an even density.
        square = as_fmpq(4 * o * o)
        affine = (1 / square, 1 / (square * density.moment(2)))
    return VariationalProblem(potential, activation, density, scaled, law, 1 / (4 * e * e), affine)


def limit_statement(p: VariationalProblem) -> Statement:
    """Return what the net tends to: cited where every hypothesis of the source may hold.

    Where one fails the limit is formal.
    """
    formal, assumed = p.failing, p.assumed
    first, *below = _minimised(p, "formally tends" if formal else "tends")
    return Statement(
        first,
        kind="wide limit",
        ground=Ground.CONJECTURED if formal else Ground.CITED,
        conditions=assumed,
        by="formally, for the reasons below" if formal else SOURCE,
        below=(*below, *map(note, formal)),
        proof=tuple(_derivation(p)),
    )


def _minimised(p: VariationalProblem, tends: str) -> Iterator[Any]:
    """Yield the claim, then its formulas and what their letters mean."""
    to = f"as `n -> infinity`, `f(x, theta(inf)) - f(x, theta(0))` {tends} to the `h(x)` with"
    goal = f"{to} `h(x_i) = y_i - f(x_i, theta(0))` that minimises"
    if p.affine is not None:
        yield f"{goal} `G1 + G2 + G3`:"
        bending, slopes, moment = map(times, (as_fmpq(p.bending), *p.affine))
        yield Equations(
            (
                ("G1", f"{bending}int h''(x)^2/p(x) dx"),
                ("G2", f"{slopes}({SLOPES})^2"),
                ("G3", f"{moment}({MOMENT})^2"),
            )
        )
        if not all(isinstance(x, fmpq) for x in p.affine):
            yield note("decimals are rounded")
        return
    if p.activation.odd:
        yield f"{goal}, among all `u(x)`, the odd part of `alpha`,"
        yield Equations((("G", "1/2 int (D_phi(h''/p + u, 0) + D_phi(h''/p - u, 0)) p dx"),))
        ends = "int p u dx", "int p x u dx"
    else:
        yield f"{goal}"
        yield Equations((("G", "int D_phi(h''(x)/(2 p(x)), 0) p(x) dx"),))
        ends = "0", "0"
    yield note("subject to")
    yield Equations(((SLOPES, ends[0]), (MOMENT, ends[1])))
    yield note("`D_phi(a, 0) = phi(a) - phi(0) - phi'(0) a`, `phi = {law}`", law=Text(p.law.text))


def _derivation(p: VariationalProblem) -> Iterator[object]:
    odd = p.activation.odd
    if not p.scaled:
        counts = "`theta` moves by `O(1/n)`: `phi` counts by its curvature at 0, as `x^2/2` would"
        yield f"{counts}, and the limit is that of gradient flow for all unscaled potentials"
    yield "minimise `E D_phi(alpha, 0)` subject to `h(x) = E alpha(w, b) sigma(w x - b)`"
    yield "with even `p` and `alpha(1, b) = v(b) + u(b)`, `alpha(-1, -b) = v(b) - u(b)`,"
    yield f"`sigma(z) = {'(|z| + z)/2' if odd else '|z|'}` gives"
    if odd:
        both = "int p v |x - b| db + int p u (x - b) db"
        seen = (SLOPES, "int p u db"), (MOMENT, "int p b u db")
        yield Equations((("2 h(x)", both), ("h''", "p v"), *seen))
    else:
        yield Equations((("h(x)", "int p v |x - b| db"), ("h''", "2 p v")))
        yield "both sides have opposite slopes, and `2 h(0) = int h''(b) |b| db`"
    if p.affine is not None:
        least = "`(int p u)^2 + (int p b u)^2/E b^2`"
        yield f"the least `int p u^2` at these is {least}, as `E b = 0`"


def times(factor: Value) -> str:
    """Return a factor with a space behind it; nothing for 1."""
    return "" if factor == 1 else f"{shown(factor)} "


def shown(value: Value) -> str:
    """Return a rational number, or a ball to 12 digits."""
    return str(value) if isinstance(value, fmpq) else str(value.str(12, radius=False))


@dataclass(frozen=True)
class Activation:
    """sigma(z) = even |z| + odd z: the ReLU has both 1/2, the absolute value 1 and 0."""

    name: str
    even: Fraction
    odd: Fraction


ACTIVATIONS = {
    "relu": Activation("relu", Fraction(1, 2), Fraction(1, 2)),
    "abs": Activation("abs", Fraction(1), Fraction(0)),
}


def read_activation(name: str) -> Activation:
    """Return the activation of that name, or raise InputError."""
    if name not in ACTIVATIONS:
        raise InputError(f"--activation is {' or '.join(ACTIVATIONS)}, not {name!r}")
    return ACTIVATIONS[name]
