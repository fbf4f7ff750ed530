"""Exact expansions in a small parameter: sums of c e^r log(e)^k, r rational, with a remainder.

An expansion in e -> 0+ is computed term by term, as the expression is built: binomial, logarithmic
and exponential series of what is left after the leading term is taken out. No coefficient is
dropped or divided by before it was proved zero or not zero in an exact function field. Exponents
may be rational functions of depths D = 2 + x, x > 0: they are ordered by the sign of their
difference, where that is the same for all x > 0.

Source: the scale of e^r log(e)^k is a Hardy field; Gruntz 1996, *On computing limits in a symbolic
manipulation system*, for why leading coefficients must be decided exactly.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import count
from math import factorial
from typing import TypeAlias, TypeVar

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided


@functools.total_ordering
@dataclass(frozen=True)
class Deep:
    """An exponent that is no number: a rational function of positive symbols, cancelled."""

    of: Expr

    def __add__(self, other: Exponent | int) -> Exponent:
        return exponent(self.of + written(other))

    def __neg__(self) -> Deep:
        return Deep(cancelled(-self.of))

    def __sub__(self, other: Exponent | int) -> Exponent:
        return exponent(self.of - written(other))

    def __rsub__(self, other: Exponent | int) -> Exponent:
        return exponent(written(other) - self.of)

    def __mul__(self, other: Exponent | int) -> Exponent:
        return exponent(self.of * written(other))

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Exponent | int) -> bool:
        return sign_of(self.of - written(other)) < 0


Exponent: TypeAlias = Fraction | Deep


cancelled = functools.cache(sympy.cancel)


def exponent(e: Expr) -> Exponent:
    """Return an exponent, a number where it is one."""
    e = cancelled(e)
    return Fraction(int(e.p), int(e.q)) if e.is_Rational else Deep(e)


def written(x: Exponent | int) -> Expr:
    """Return an exponent as an expression."""
    return x.of if isinstance(x, Deep) else sympy.Rational(x.numerator, x.denominator)


@functools.cache
def sign_of(e: Expr) -> int:
    """Return the sign that a function of positive symbols has; Undecided where it depends on them.

    >>> x = Symbol("x")
    >>> sign_of((x + 2) / x), sign_of(-1 / (x + 2))
    (1, -1)
    """
    decide = ElementarySigns(s.name for s in e.free_symbols)
    sign = next((s for s in (1, -1) if decide.is_positive(s * e)), 0)
    if sign == 0 and e != 0:
        raise Undecided("the order of two powers depends on the depth")
    return sign


def depths_in(*expressions: Expr, names: Container[str] | None = None) -> tuple[Symbol, ...]:
    """Return the symbols of exponents, of these *names*, which are assumed to be above 2."""
    powers = (power for f in expressions for power in f.atoms(sympy.Pow))
    depths = {s for x in powers for s in x.exp.free_symbols}
    return tuple(sorted((s for s in depths if names is None or s.name in names), key=str))


def above_two(depths: Iterable[Symbol]) -> Mapping[Symbol, Expr]:
    """Return 2 + x, x > 0, for each depth."""
    return {D: 2 + Symbol(f"{D.name}_above_2", positive=True) for D in depths}


def is_positive_exponent(e: Expr) -> bool:
    """Tell whether an exponent is proved to be positive, for all depths D > 2."""
    try:
        return sign_of(sympy.cancel(e.xreplace(above_two(e.free_symbols)))) > 0
    except Undecided:
        return False


Result = TypeVar("Result")
Growth: TypeAlias = tuple[Exponent, int]
"""The exponents (r, -k) of e^r log(e)^k: in their order, what comes first is larger."""


SMALL = Symbol("e_", positive=True)
"""e, where nothing else is."""
SPANS = tuple(map(Fraction, (1, 2, 4, 8)))
"""Powers of e, beyond the leading one, to which expansions are tried."""
FLAT = Fraction(10**6)
"""The order of what vanishes faster than every power of e."""


def is_flat(growth: Growth) -> bool:
    """Tell whether a growth is below every power of e."""
    return isinstance(growth[0], Fraction) and growth[0] > FLAT / 2


class Unexpanded(Undecided):
    """An expression has no expansion of this kind."""


class NotReal(Unexpanded):
    """An expression is not real: the logarithm or the root of what is negative."""


def widened(
    attempt: Callable[[Fraction], Result], enough: Callable[[Result], bool] = lambda _: True
) -> Result:
    """Return what expansions to the first span that is *enough* give, or else the widest do.

    Undecided where none does.
    """
    best, failure = list[Result](), Undecided("no expansion")
    for span in SPANS:
        try:
            best = [attempt(span)]
        except Undecided as open_end:
            failure = open_end
            if best:
                break
        if best and enough(best[0]):
            break
    if not best:
        raise failure
    return best[0]


@dataclass(frozen=True)
class Expansion:
    """A sum of terms by growth, up to O(e^order log^m e), any m; exact where order is None."""

    terms: Mapping[Growth, Expr]
    order: Exponent | None

    @property
    def is_zero(self) -> bool:
        """Whether nothing is there and nothing left out."""
        return not self.terms and self.order is None

    @property
    def leading(self) -> Growth:
        """The growth of the largest term; Unexpanded where none is known."""
        if not self.terms:
            raise Unexpanded("every known term cancels")
        return min(self.terms)

    @property
    def first(self) -> Expr:
        """The coefficient of the largest term."""
        return self.terms[self.leading]

    @property
    def limit(self) -> Expr:
        """The value at e = 0; Unexpanded where there is none."""
        if any(g < CONSTANT for g in self.terms) or not self.reaches(CONSTANT):
            raise Unexpanded("a function has no limit")
        return self.coefficient(CONSTANT)

    def coefficient(self, growth: Growth) -> Expr:
        """Return what stands beside e^r log(e)^k."""
        return self.terms.get(growth, sympy.S.Zero)

    def below(self, power: Exponent, order: Exponent | None = None) -> Expansion:
        """Return the terms of lower powers of e: exact, or up to O(e^order)."""
        return Expansion({g: c for g, c in self.terms.items() if g[0] < power}, order)

    def reaches(self, growth: Growth) -> bool:
        """Tell whether all terms at least as large as *growth* are known."""
        return self.order is None or growth[0] < self.order


def leading_order(entries: Sequence[Expansion]) -> tuple[Growth, list[Expr]]:
    """Return the growth of the largest of some functions, and the coefficients of all there."""
    growth = min((x.leading for x in entries if x.terms), default=None)
    if growth is None or not all(x.reaches(growth) for x in entries):
        raise Unexpanded("terms that cancel hide the leading one")
    return growth, [x.coefficient(growth) for x in entries]


LONG = 300
"""Operations of a coefficient above which it is not multiplied out."""

CONSTANT: Growth = (Fraction(0), 0)
"""The growth of what has a limit other than 0."""

ONE = Expansion({CONSTANT: sympy.S.One}, None)


class Expander:
    """Expands expressions in *variable* -> 0+, each to *span* powers beyond its leading term."""

    def __init__(
        self,
        variable: Symbol,
        coefficients: ElementarySigns,
        span: Fraction,
        known: Mapping[Expr, Expansion] | None = None,
    ) -> None:
        """Prepare; *span* bounds the work, and *known* symbols stand for their expansions."""
        self._e, self._decide, self.span, self._deep = variable, coefficients, span, False
        self._known: dict[Expr, Expansion] = dict(known or {})
        self._functions: dict[Expr, Callable[[Expansion], Expansion]] = {
            sympy.log: self._log,
            sympy.exp: self._exp,
            sympy.asinh: self._asinh,
            sympy.atan: self._atan,
            sympy.Abs: self._abs,
        }

    def knowing(self, known: Mapping[Symbol, Expansion]) -> Expander:
        """Return an expander to which these symbols stand for expansions, too."""
        expander = Expander(self._e, self._decide, self.span, {**self._known, **known})
        expander._deep = self._deep
        return expander

    def expand(self, expression: Expr) -> Expansion:
        """Return the expansion; Unexpanded where there is none, or a sign was not decided."""
        if expression == self._e:
            return Expansion({(Fraction(1), 0): sympy.S.One}, None)
        if expression in self._known:
            return self._known[expression]
        if not expression.has(self._e, *self._known):
            return self._collect([(CONSTANT, self._decide.without_sizes(expression))], None)
        if expression.is_Add:
            return self.add(*map(self.expand, expression.args))
        if expression.is_Mul:
            return reduce(self._product, map(self.expand, expression.args))
        power = expression.exp if expression.is_Pow else sympy.S.Zero
        # A rational number, or a function of depths.
        deep = power.free_symbols and not power.has(self._e, *self._known)
        if expression.is_Pow and (power.is_Rational or deep):
            q = exponent(power)
            self._deep = self._deep or isinstance(q, Deep)
            return self._power(self.expand(expression.base), q)
        if expression.is_Pow and not expression.base.has(self._e, *self._known):
            return self._exp(self.expand(expression.exp * sympy.log(expression.base)))
        if expression.func not in self._functions:
            words = {sympy.Pow: "a power with an open exponent", sympy.Integral: "an integral"}
            raise Unexpanded(f"{words.get(expression.func, expression.func)} is not expanded")
        return self._functions[expression.func](self.expand(expression.args[0]))

    def add(self, *parts: Expansion) -> Expansion:
        """Return the sum."""
        orders = [x.order for x in parts if x.order is not None]
        return self._collect((t for x in parts for t in x.terms.items()), min(orders, default=None))

    def _collect(self, terms: Iterable[tuple[Growth, Expr]], order: Exponent | None) -> Expansion:
        """Add up terms of one growth; drop those that are proved zero or beyond the order."""
        sums: dict[Growth, Expr] = {}
        for growth, c in terms:
            if order is None or growth[0] < order:
                sums[growth] = sums.get(growth, sympy.S.Zero) + c
        simpler = _joined if self._deep else _expanded
        expanded = {growth: simpler(c) for growth, c in sums.items()}
        kept = {growth: c for growth, c in expanded.items() if not self._decide.is_zero(c)}
        return Expansion(kept, order)

    def _product(self, x: Expansion, y: Expansion) -> Expansion:
        if x.is_zero or y.is_zero:
            return Expansion({}, None)
        orders = [
            a.order + (min(b.terms)[0] if b.terms else b.order or Fraction(0))
            for a, b in ((x, y), (y, x))
            if a.order is not None
        ]
        pairs = (
            ((r + s, j + k), a * b)
            for (r, j), a in x.terms.items()
            for (s, k), b in y.terms.items()
        )
        return self._collect(pairs, min(orders, default=None))

    def _split(self, x: Expansion) -> tuple[Exponent, Expr, Expansion]:
        """Return r, c and u of x = c e^r (1 + u), u a sum of positive powers of e."""
        (r, k), c = x.leading, x.first
        if k or any(s == r for s, j in x.terms if (s, j) != (r, k)):
            raise Unexpanded("a function of log(e)")
        rest = {(s - r, j): a / c for (s, j), a in x.terms.items() if s != r}
        u = Expansion(rest, None if x.order is None else x.order - r)
        return r, c, _cut(u, self._reach(u))

    def _reach(self, u: Expansion) -> Exponent:
        """Return up to where a sum of positive powers is kept: with depths, by its first power."""
        deep = self._deep and any(isinstance(r, Deep) for r, _ in u.terms)
        return min(u.terms)[0] * self.span if deep else self.span

    def _series(self, u: Expansion, coefficient: Callable[[int], Expr]) -> Expansion:
        """Return sum_j coefficient(j) u^j, j >= 0, for u a sum of positive powers of e."""
        total = self._collect([(CONSTANT, coefficient(0))], None)
        if not u.terms:
            return Expansion(total.terms, u.order)
        power, parts, reach = ONE, [total], self._reach(u)
        for j in count(1):
            power = _cut(self._product(power, u), reach)
            c = coefficient(j)
            if c == 0 and coefficient(j + 1) == 0:
                break  # a polynomial
            parts.append(self._scaled(power, c))
            if not power.terms:
                break
        return _cut(self.add(*parts), reach)

    def _scaled(self, x: Expansion, c: Expr, by: Exponent = Fraction(0)) -> Expansion:
        terms = (((r + by, k), c * a) for (r, k), a in x.terms.items())
        return self._collect(terms, None if x.order is None else x.order + by)

    def _power(self, x: Expansion, q: Exponent) -> Expansion:
        whole = q.numerator if isinstance(q, Fraction) and q.denominator == 1 else None
        multiplied = not x.terms or (x.order is None and (len(x.terms) > 1 or x.leading[1] != 0))
        if whole is not None and whole > 0 and multiplied:
            return reduce(self._product, [x] * whole)
        r, c, u = self._split(x)
        power = written(q)
        if whole is None and self._decide.sign(c) < 0:
            raise NotReal("a root of what is negative")
        factored = sympy.factor(c)
        c = factored if self._decide.is_zero(factored - c) else c
        series = self._series(u, lambda j: sympy.expand_func(sympy.binomial(power, j)))
        return self._scaled(series, self._decide.without_sizes(c**power), r * q)

    def _log(self, x: Expansion) -> Expansion:
        if x.is_zero:
            raise NotReal("a logarithm of 0")
        if self._decide.sign(x.first) < 0:
            raise NotReal("a logarithm of what is negative")
        return self._log_of_positive(x)

    def _log_of_positive(self, x: Expansion) -> Expansion:
        r, c, u = self._split(x)
        head: list[tuple[Growth, Expr]] = [(CONSTANT, sympy.log(c))]
        if r:
            head.append(((Fraction(0), -1), written(r)))
        series = self._series(u, lambda j: sympy.Rational(-((-1) ** j), j) if j else sympy.S.Zero)
        return self.add(self._collect(head, None), series)

    def _exp(self, x: Expansion) -> Expansion:
        if x.order is not None and x.order <= 0:
            raise Unexpanded("an exponential of what is not known")
        head = {growth: c for growth, c in x.terms.items() if growth[0] <= 0}
        largest = min(head, default=CONSTANT)
        if largest[0] < 0 and largest[1] == 0 and self._decide.sign(head[largest]) < 0:
            return Expansion({}, FLAT)
        if any(r < 0 or k not in (0, -1) for r, k in head):
            raise Unexpanded("an exponential that outgrows every power")
        power = head.get((Fraction(0), -1), sympy.S.Zero)
        if not power.is_Rational:
            raise Unexpanded("a power of e whose exponent is no number")
        rest = Expansion({g: c for g, c in x.terms.items() if g[0] > 0}, x.order)
        rest = _cut(rest, self._reach(rest))
        series = self._series(rest, lambda j: sympy.Rational(1, factorial(j)))
        constant = sympy.exp(head.get(CONSTANT, sympy.S.Zero))
        return self._scaled(series, constant, Fraction(int(power.p), int(power.q)))

    def _abs(self, x: Expansion) -> Expansion:
        if not x.terms:
            return x
        return self._scaled(x, sympy.Integer(self._decide.sign(x.first)))

    def _asinh(self, x: Expansion) -> Expansion:
        """asinh x = log(x + sqrt(x^2 + 1)); where x is large its sign is taken out first."""
        if not x.terms:
            return x
        sign = sympy.Integer(self._decide.sign(x.first) if x.leading[0] < 0 else 1)
        y = self._scaled(x, sign)
        root = self._power(self.add(self._product(y, y), ONE), Fraction(1, 2))
        return self._scaled(self._log_of_positive(self.add(y, root)), sign)

    def _atan(self, x: Expansion) -> Expansion:
        """Expand at the limit c of x: atan x = atan c + atan((x - c)/(1 + c x)), or c = +-oo."""
        if not x.terms:
            return x
        if x.leading[0] < 0:
            end = self._decide.sign(x.first) * sympy.pi / 2
            rest = self._scaled(self._atan(self._power(x, Fraction(-1))), sympy.S.NegativeOne)
            return self.add(Expansion({CONSTANT: end}, None), rest)
        c = x.coefficient(CONSTANT)
        if any(r == 0 for r, k in x.terms if k):
            raise Unexpanded("a function of log(e)")
        if c == 0:
            return self._series(x, lambda j: sympy.Rational(j % 2 * (-1) ** (j // 2), max(j, 1)))
        u = self.add(x, Expansion({CONSTANT: -c}, None))
        v = self._product(u, self._power(self.add(ONE, self._scaled(x, c)), Fraction(-1)))
        return self.add(Expansion({CONSTANT: sympy.atan(c)}, None), self._atan(v))


def _cut(x: Expansion, reach: Exponent) -> Expansion:
    if x.order is not None and x.order <= reach:
        return x
    kept = x.below(reach, reach)
    return x if kept.terms == x.terms else kept


def _expanded(c: Expr) -> Expr:
    return sympy.expand(c) if sympy.count_ops(c) < LONG else c


def _joined(c: Expr) -> Expr:
    """Return a coefficient with a single power of each base, its exponent cancelled."""
    joined = sympy.powsimp(sympy.expand(c, power_exp=False), combine="exp")
    return joined.replace(sympy.Pow, lambda base, n: base ** cancelled(n))
