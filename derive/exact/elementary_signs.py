"""Exact decisions on elementary expressions: is one zero, and what is its sign?

A ball that excludes 0 at one rational point proves that an expression is not the zero function; a
normal form of 0 in a tower of independent generators proves that it is. What neither decides is not
decided.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import combinations, product

import sympy
from flint import arb, fmpq
from sympy import Expr, Symbol

from derive.errors import InputError
from derive.exact.balls import PRECISION, ball, precise, whole_power
from derive.exact.field.function_field import RationalFunction
from derive.exact.signs import Signs
from derive.exact.towers.reader import refined
from derive.exact.towers.tower import Tower
from derive.language.budget import Budget
from derive.language.symbolic import from_sympy

LARGEST_PRECISION = 2**16
"""Bits beyond which two numbers are not told apart."""
_WIDE = Budget(depth=800, digits=4000, bits=10**6, terms=10**12, degree=10**4, nodes=20_000)
"""Bounds for expressions that this program wrote itself."""

_BALLS = {getattr(sympy, f): f for f in ("log", "exp", "asinh", "atan", "cosh", "sinh", "tanh")}
_BALLS |= {sympy.Abs: "__abs__"}


class Undecided(Exception):
    """What was asked of an expression was not decided."""


def with_squares(expression: Expr) -> Expr:
    """Return an expression with a^2 + 2 a b + b^2 in sums as (a + b)^2, where that is shorter.

    >>> a, b, c = sympy.symbols("a b c")
    >>> with_squares((a**2 - 2 * a * b + b**2 + c**2) * (a + b))
    (a + b)*(c**2 + (a - b)**2)
    """

    def gathered(total: Expr) -> Expr:
        terms, squares = {*total.args}, list[Expr]()
        roots = [(s, a) for s in total.args if (a := _root_of_square(s)) is not None]
        for (s, a), (t, b) in combinations(roots, 2):
            for sign in () if a.free_symbols & b.free_symbols else (1, -1):
                if {s, t, product := 2 * sign * a * b} <= terms:
                    terms -= {s, t, product}
                    squares.append((a + sign * b) ** 2)
        return sympy.Add(*terms, *squares)

    ways = expression, expression.replace(lambda e: e.is_Add, gathered)
    return min(ways, key=lambda e: int(e.count_ops()))


def _root_of_square(term: Expr) -> Expr | None:
    """Return the root of a term that is the square of a monomial with a number, or None."""
    number, powers = term.as_coeff_Mul()
    root = sympy.sqrt(number)
    halves = [(x, n / 2) for x, n in powers.as_powers_dict().items()]
    if not root.is_Rational or any(not n.is_Integer for _, n in halves):
        return None
    return sympy.Mul(root, *(x**n for x, n in halves))


def of_one_sign(expression: Expr) -> Expr:
    """Return c (a - b) for c exp(a) - c exp(b), which has its sign; others as they are.

    >>> a, b, c = sympy.symbols("a b c")
    >>> of_one_sign(2 - 2 * sympy.exp(a) * sympy.exp(b))
    -a - b
    >>> of_one_sign(c * sympy.exp(a) - c * sympy.exp(-a))
    a*c
    """
    terms = sympy.Add.make_args(expression)
    parts = [t.as_independent(sympy.exp, as_Add=False) for t in terms]
    if len(parts) != 2 or parts[0][0] != -parts[1][0]:
        return expression
    (c, E), (_, F) = parts
    difference = sympy.expand_log(sympy.log(E / F), force=True)
    if difference.has(sympy.log, sympy.exp):
        return expression
    return sympy.expand_mul(c * difference).as_content_primitive()[1]


def in_words(expression: Expr) -> str:
    """Return an expression as one types it."""
    return str(expression).replace("Abs(", "abs(")


class OpenSign(Undecided):
    """The sign of an expression was not decided."""

    def __init__(self, expression: Expr) -> None:
        """Say which."""
        super().__init__(f"the sign of `{in_words(expression)}` is not decided")
        self.expression = expression


class ElementarySigns:
    """Exact decisions on elementary expressions in symbols."""

    def __init__(
        self,
        positive: Iterable[str] = (),
        meaning: Mapping[Symbol, Expr] | None = None,
        parameters: Iterable[str] = (),
        given: Iterable[Expr] = (),
    ) -> None:
        """Decide where *positive* symbols are so, and others have a meaning or are exponents.

        Expressions that are *given* are positive, too.
        """
        self._given = tuple(given)
        self.positive = frozenset(positive).union(x.name for x in self._given if x.is_Symbol)
        self._parameters = frozenset(parameters)
        self._meaning = dict(meaning or {})
        self._known: dict[Expr, bool] = {}

    def element(self, c: Expr) -> RationalFunction:
        """Return an expression as an element of an exact function field."""
        names = sorted(s.name for s in c.free_symbols)
        weights = [n for n in names if n not in self._parameters]
        parameters = [n for n in names if n in self._parameters]
        known = len(weights)
        # A logarithm is taken for every x, an asinh not beside all others.
        plain = c.replace(sympy.asinh, lambda x: sympy.log(x + sympy.sqrt(x**2 + 1)))
        # Of what is not 0: d|x| = |x| dx/x.
        plain = plain.replace(sympy.sign, lambda x: sympy.Abs(x) / x)
        opaque = {x: Symbol(f"size{k}_", positive=True) for k, x in enumerate(_opaque(plain))}
        plain = plain.xreplace(opaque)
        weights += [s.name for s in opaque.values()]
        self.positive = self.positive.union(weights[known:])

        def build(units: dict[str, int]) -> RationalFunction:
            tower = Tower(weights, parameters, units, self.positive)
            element = tower.element(from_sympy(plain, _WIDE))
            return tower.field.embed(element)

        try:
            return refined(build, "the indices of its roots")
        except (InputError, ZeroDivisionError) as error:
            raise Undecided(f"a coefficient could not be decided: {error}") from None

    def is_zero(self, c: Expr) -> bool:
        """Tell exactly whether an expression is the zero function."""
        if c.is_Rational:
            return bool(c == 0)
        if c not in self._known:
            full = c.xreplace(self._meaning)
            zero = not _differs_from_zero(full) and self.element(full).is_zero()
            if not zero and _opaque(full) and not _differs_from_zero(full):
                for size in sorted(full.atoms(sympy.Abs), key=str):
                    self.sign(size.args[0])
                raise Undecided(f"whether `{in_words(c)}` is 0 is not decided")
            self._known[c] = zero
        return self._known[c]

    def sign(self, c: Expr) -> int:
        """Return the sign that an expression is proved to have wherever it is not 0."""
        if c.is_Rational:
            return int(sympy.sign(c))
        for full in dict.fromkeys((c, c.xreplace(self._meaning))):
            for known in (sympy.S.One, *self._given):  # what is positive may be a factor
                element = self.element(full if known == 1 else sympy.cancel(full / known))
                if sign := self._signs(element).of(element):
                    return sign
            for known, side in product(self._given, (1, -1)):  # or a part of a sum
                gap = self.element(side * full - known)
                if self._signs(gap).of(gap) > 0:
                    return side
        raise OpenSign(c)

    def without_sizes(self, c: Expr) -> Expr:
        """Return an expression with x or -x for each |x| where that is decided."""
        for size in sorted(c.atoms(sympy.Abs), key=str):
            with suppress(Undecided):
                c = c.xreplace({size: self.sign(size.args[0]) * size.args[0]})
        return c

    def is_positive(self, c: Expr) -> bool:
        """Tell whether an expression is proved to be > 0; False means "not proved"."""
        element = self.element(c)
        return self._signs(element).is_positive(element)

    def _signs(self, element: RationalFunction) -> Signs:
        kinds, generators = ("root", "power", "exp"), element.field.generators
        return Signs(self.positive.union(g.name for g in generators if g.kind in kinds))


def _opaque(c: Expr) -> list[Expr]:
    """Return what is positive and of which no more is used: absolute values, and pi.

    An identity that holds whatever they are proves a zero; that there is none proves nothing.
    """
    return sorted(c.atoms(sympy.Abs) | ({sympy.pi} & c.atoms(sympy.NumberSymbol)), key=str)


def _differs_from_zero(c: Expr) -> bool:
    """Tell whether c is proved not to vanish at one rational point, by ball arithmetic."""
    symbols = sorted(c.free_symbols, key=str)
    point = {s: arb(fmpq(11 + 6 * k * k, 7 + 4 * k)) for k, s in enumerate(symbols)}
    value = ball_of(c, point)
    return bool(value.is_finite() and not value.contains(0))


def ball_of(c: Expr, point: Mapping[Symbol, arb]) -> arb:
    """Return the value of an expression at numbers or balls; not a number where it has none."""
    if c.is_Symbol:
        return point[c]
    if c.is_Rational:
        return arb(fmpq(int(c.p), int(c.q)))
    if c is sympy.pi:
        return arb.pi()
    if not (c.is_Add or c.is_Mul or c.is_Pow or c.func in _BALLS):
        return arb("nan")
    parts = [ball_of(a, point) for a in c.args]
    if c.is_Add or c.is_Mul:
        return functools.reduce(operator.add if c.is_Add else operator.mul, parts)
    if c.is_Pow:
        return ball(whole_power(parts[0], int(c.exp))) if c.exp.is_Integer else parts[0] ** parts[1]
    value: arb = getattr(parts[0], _BALLS[c.func])()
    return value


def lesser(c: Expr, other: Expr) -> Expr:
    """Return the lesser of two numbers: equal by exact algebra, or told apart by balls."""
    difference, bits = other - c, PRECISION
    if ElementarySigns().is_zero(difference):
        return c
    while bits <= LARGEST_PRECISION:  # it is not 0, so that some ball tells
        with precise(bits):
            value = ball_of(difference, {})
        if not value.is_finite():
            break
        if not value.contains(0):
            return other if value < 0 else c
        bits *= 2
    raise OpenSign(difference)
