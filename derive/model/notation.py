"""Names and SymPy symbols of a derivation, and the signs that are known or assumed at its start."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, TypeVar

import sympy
from sympy import Expr, Symbol
from sympy.functions.elementary.hyperbolic import HyperbolicFunction

from derive.exact.field.factors import Factorization, factors, split
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.generators import images_of
from derive.exact.field.polynomial import Polynomial, factorize, terms
from derive.exact.linear.families import LogFunction
from derive.exact.signs import Signs
from derive.language import from_sympy, to_sympy
from derive.language.functions import RECORDS
from derive.language.tree import Name, Tree
from derive.model.condition import Condition
from derive.model.labels import predictor
from derive.model.names import unused
from derive.model.parameterization import Parameterization

Constant: TypeAlias = tuple[Symbol, Expr]
"""A named constant of the start, and its value in start symbols."""


Built = TypeVar("Built")


class AssumePositive(Exception):
    """A branch depends on the signs of start symbols: ask again with these assumed positive."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(", ".join(sorted(names)))
        self.names = names


class BranchOpen(Exception):
    """The start does not determine which branch of an algebraic function Q takes."""


@dataclass(frozen=True)
class Notation:
    """The symbols of one derivation.

    Attributes:
        block: the outputs at hand, counted from 0.
        suffix: appended to names of constants, to tell blocks apart.
        assumed: start symbols assumed positive beyond the declared ones.
        coordinate: what the one output is called where it is no beta_i.
        beside: names of the whole of which the parameterization is a term.
    """

    parameterization: Parameterization
    block: tuple[int, ...] = (0,)
    suffix: str = ""
    assumed: frozenset[str] = frozenset()
    coordinate: str = ""
    beside: frozenset[str] = frozenset()

    @functools.cached_property
    def taken(self) -> frozenset[str]:
        """The user's names."""
        p = self.parameterization
        return self.beside.union(p.weights, p.start_symbols, p.parameters)

    @functools.cached_property
    def betas(self) -> tuple[Symbol, ...]:
        """The predictor coordinates of the block; of vectors, the length s = |beta| >= 0."""
        p = self.parameterization
        if self.coordinate:
            return (Symbol(self.coordinate, real=True),)
        if p.vectors:
            return (Symbol(unused("s", self.taken), nonnegative=True),)
        if p.d == 1 and not p.affine:
            return (self._beta(""),)
        return tuple(self._beta(p.labels[i]) for i in self.block)

    def _beta(self, label: int | str) -> Symbol:
        return Symbol(f"{predictor(self.taken)}{label}", real=True)

    @property
    def affine(self) -> tuple[tuple[Symbol, Expr], ...]:
        """The coordinates that are left out, each with what it is in the others."""
        found = []
        for output in self.parameterization.affine:
            terms = (to_sympy(c) * self._beta(label) for label, c in output.terms)
            image = sympy.Add(to_sympy(output.constant), *terms)
            found.append((self._beta(output.label), image))
        return tuple(found)

    def fresh(self, base: str, **assumptions: bool) -> Symbol:
        """Return a symbol called *base*, altered where the user has the name."""
        taken = self.taken | {s.name for s in self.betas}
        return Symbol(unused(base + self.suffix, taken), real=True, **assumptions)

    @functools.cached_property
    def start_symbols(self) -> dict[str, Symbol]:
        """The start symbols by name; positive where declared, assumed, or needed by F."""
        p = self.parameterization
        needed = {t.name for w, t in p.start if w in p.nonnegative and isinstance(t, Name)}
        return {
            name: Symbol(name, positive=True)
            if name in p.positive or name in self.assumed or name in needed
            else Symbol(name, real=True)
            for name in (*p.start_symbols, *p.parameters)
        }

    def assuming(self, names: frozenset[str]) -> Notation:
        """Return the notation with more start symbols assumed positive."""
        return replace(self, assumed=self.assumed | names)

    @property
    def assumptions(self) -> tuple[Condition, ...]:
        """What is assumed of start symbols."""
        return tuple(Condition(Symbol(name)) for name in sorted(self.assumed))

    @property
    def positive(self) -> frozenset[str]:
        """Start symbols that are, or are assumed, positive."""
        named = (name for name, s in self.start_symbols.items() if s.is_positive)
        return frozenset(named) | positive_generators(self.parameterization.start_field)

    @functools.cached_property
    def beta_0(self) -> tuple[Expr, ...]:
        """F(w_0), expanded, or with hyperbolic functions as typed, with others where shorter."""
        p, images = self.parameterization, self.start_symbols
        starts = {w: to_sympy(tree, images) for w, tree in p.start}
        pairs = (
            (to_expr(p.at_start(p.F[i]), images), to_sympy(p.trees[i], {**images, **starts}))
            for i in self.block
        )

        def typed(x: Expr, y: Expr) -> bool:
            calls = x.has(sympy.exp, sympy.sin, sympy.cos)
            shorter = calls and int(y.count_ops()) < int(x.count_ops())
            return bool(shorter or y.has(HyperbolicFunction) or x.has(sympy.Abs))

        return tuple(y if typed(x, y) else x for x, y in pairs)

    @functools.cached_property
    def weights(self) -> dict[str, Symbol]:
        """The weights by name."""
        p = self.parameterization
        kinds = {w: {"positive" if w in p.nonnegative else "real": True} for w in p.weights}
        weights = {w: Symbol(w, **kinds[w]) for w in p.weights}
        return {**weights, **{name: self.start_symbols[name] for name in p.parameters}}


def assuming(build: Callable[[Notation], Built], notation: Notation) -> Built:
    """Build; where a branch asks for the sign of start symbols, assume them positive and retry."""
    for _ in range(len(notation.start_symbols) + 1):
        try:
            return build(notation)
        except AssumePositive as request:
            notation = notation.assuming(request.names)
            p, decide = notation.parameterization, Signs(notation.positive)
            starts = zip(p.weights, p.w0, strict=True)
            if any(w in p.positive and decide.strict(x) < 0 for w, x in starts):
                why = "the signs of start symbols are open, and cannot all be positive"
                raise BranchOpen(why) from None
    raise AssertionError("assumptions on the start do not settle the branch")


def positive_generators(field: FunctionField) -> frozenset[str]:
    """Return the names of the generators that are positive wherever they are defined."""
    kinds = ("exp", "power", "root")
    return frozenset(g.name for g in field.generators if g.kind in kinds)


FUNCTIONS: dict[str, Callable[..., Expr]] = {
    **{f.name: getattr(sympy, f.name) for f in RECORDS.values() if f.derivative},
    "log": lambda A: sympy.log(sympy.Abs(A)),  # as in a field
    "root": lambda A, n: sympy.Pow(A, sympy.Rational(1, n)),
    "power": sympy.Pow,
}
"""SymPy's functions for the generators of a field."""


Images: TypeAlias = Mapping[str, Expr] | Sequence[Expr]
"""The expression for each name of a field, as a mapping or in its order."""


def to_expr(element: RationalFunction, symbols: Images) -> Expr:
    """Return a field element as a SymPy expression, expanded."""
    images = _in_order(element.field, element.variables(), symbols)
    for r, k, rest in _roots_below(element):
        return to_expr(rest, symbols) * images[element.field.positions[r]] ** k
    top, bottom = (_expanded(f, images) for f in (element.numerator, element.denominator))
    whole = _divided(top, bottom, element)
    powers = {g.name for g in element.field.generators if g.kind == "power"}
    return sympy.powsimp(whole, combine="exp") if powers & set(element.variables()) else whole


def log_expr(f: LogFunction, symbols: Images) -> Expr:
    """Return a function with logarithms as a SymPy expression."""
    logs = (to_expr(c, symbols) * sympy.log(sympy.Abs(to_expr(a, symbols))) for c, a in f.logs)
    return sympy.Add(to_expr(f.rational, symbols), *logs)


def without_modulus(expression: Expr) -> Expr:
    """Return an expression with log A for log |A|: of the same derivative, and so in the tower.

    The modulus may be that of one factor: log(|A|/B) is log(A/B).
    """

    def bare(argument: Expr) -> Expr:
        powers = (x.as_base_exp() for x in sympy.Mul.make_args(argument))
        return sympy.log(
            sympy.Mul(*((a.args[0] if a.func is sympy.Abs else a) ** n for a, n in powers))
        )

    return expression.replace(sympy.log, bare)


def split_logarithms(expression: Expr) -> Expr:
    """Return an expression with log |A| + log |B| for log |A B|, without bars.

    >>> x, y = sympy.symbols("x y", real=True)
    >>> split_logarithms(sympy.log(-4 * x**2 / sympy.exp(y)))
    -y + 2*log(x) + 2*log(2)
    """

    def split(argument: Expr) -> Expr:
        number, rest = argument.as_coeff_Mul()
        powers = (x.as_base_exp() for x in sympy.Mul.make_args(rest) if rest != 1)
        whole = (
            sympy.expand_log(sympy.log(abs(number))) if number.is_Rational else sympy.log(number)
        )
        return sympy.Add(whole, *(n * sympy.log(x) for x, n in powers))

    return without_modulus(expression).replace(sympy.log, split)


def from_expr(expression: Expr) -> Tree:
    """Return what :func:`to_expr` wrote as the language has it: log A of a field is log |A|."""
    return from_sympy(without_modulus(expression))


def _divided(top: Expr, bottom: Expr, element: RationalFunction) -> Expr:
    """Return top/bottom, term by term where that is not longer."""
    if element.denominator.is_constant():
        return sympy.Add(*(term / bottom for term in sympy.Add.make_args(top)))
    if len(element.denominator) == 1 and 1 < len(element.numerator) <= FEW:
        apart = sympy.Add(*(term / bottom for term in sympy.Add.make_args(top)))
        # (p + m)/(p m) is 1/m + 1/p, and m^(2 - D) + p^(2 - D) has no fraction at all
        return apart if apart.count_ops() <= (top / bottom).count_ops() else top / bottom
    return top / bottom


FEW = 4
"""With so many terms over a monomial, a quotient is also tried term by term."""


def _roots_below(element: RationalFunction) -> Iterator[tuple[str, int, RationalFunction]]:
    """Yield (r, k, B) with element = r^k B, k < 0, r^n = A: sqrt(A)/A is 1/sqrt(A)."""
    for g in () if element.denominator.is_constant() else element.field.generators:
        if (relation := g.relation()) is not None:
            k = min(int(e[element.field.positions[g.name]]) for e in element.numerator.monoms())
            n, A = relation[0], element.field.embed(relation[1])
            if k and not element.denominator.gcd(A.numerator).is_constant():
                yield g.name, k - n, element / element.field.named(g.name) ** k * A


def to_factored_expr(element: RationalFunction, symbols: Images) -> Expr:
    """Return a field element with its numerator and denominator as products of factors over Q.

    Beside a norm those are its factors in the weights, or in their length, whichever is shorter.
    """
    ways = [_in_factors(element, symbols, factorize)]
    if element.field.norms:
        ways.append(_in_factors(element, symbols, lambda x: split(element.field, x)))
    return min(ways, key=lambda e: int(e.count_ops()))


def to_shorter_expr(element: RationalFunction, symbols: Images) -> Expr:
    """Return a field element expanded, or in factors where that has fewer operations.

    Of as many it is that of fewer letters where there is a number before a sum below the bar.

    >>> from derive.exact.field.function_field import FunctionField
    >>> (a, b), images = FunctionField(("a", "b")).gens, dict(zip("ab", sympy.symbols("a b")))
    >>> to_shorter_expr(a / (2 * a * a + 2 * b * b), images)
    a/(2*(a**2 + b**2))
    """
    whole = to_expr(element, symbols)
    if sum(map(len, element.parts)) > LONG:
        return whole
    factored = to_factored_expr(element, symbols)
    if element.denominator.primitive()[0] == 1:
        return min(whole, factored, key=lambda e: int(e.count_ops()))
    return min(factored, whole, key=lambda e: (int(e.count_ops()), len(str(e))))


LONG = 400
"""Terms of a quotient beyond which it is left expanded."""


def _in_factors(
    element: RationalFunction, symbols: Images, take: Callable[[Polynomial], Factorization]
) -> Expr:
    field, sides = element.field, [take(x) for x in element.parts]
    parts = (field.polynomial(f) for _, factors in sides for f, _ in factors)
    images = _in_order(field, {name for f in parts for name in f.variables()}, symbols)
    (above, top), (below, bottom) = sides
    product = sympy.Mul(sympy.Integer(above), *(_expanded(f, images) ** n for f, n in top))
    divisors = (_expanded(f, images) ** -n for f, n in bottom)
    return sympy.Mul(product, sympy.Rational(1, int(below)), *divisors)


def _in_order(field: FunctionField, used: Collection[str], symbols: Images) -> Sequence[Expr]:
    if not isinstance(symbols, Mapping):
        return symbols
    known = images_of(field.generators, symbols, to_expr, FUNCTIONS, used)
    return [known[x] if x in used else sympy.S.Zero for x in field.names]


def _expanded(polynomial: Polynomial, images: Sequence[Expr]) -> Expr:
    products = (
        sympy.Mul(sympy.Integer(c), *(x**e for x, e in zip(images, exponents, strict=False) if e))
        for exponents, c in terms(polynomial)
    )
    return sympy.Add(*products)


def rational(value: Fraction) -> Expr:
    """Return a Fraction as a SymPy number."""
    return sympy.Rational(value.numerator, value.denominator)


def factors_of(expression: Expr) -> list[Expr]:
    """Return the irreducible factors over Q, functions and roots of numbers being variables.

    By FLINT: the time of SymPy's own factorization depends on random draws.
    """
    polynomial = sympy.Poly(expression)
    if not (polynomial.domain.is_ZZ or polynomial.domain.is_QQ):
        return []
    field = FunctionField(tuple(f"x{i}" for i in range(len(polynomial.gens))))
    f = field.zero
    for exponents, c in polynomial.terms():
        term = field.constant(Fraction(int(c.p), int(c.q)))
        for x, n in zip(field.gens, exponents, strict=True):
            term = term * x**n
        f = f + term
    return [to_expr(g, polynomial.gens) for g, _ in factors(f)]
