"""SymPy's symbols of a map of open size: entries, sums, what is indexed; and integrals in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import lcm

import sympy
from sympy import Expr, Symbol
from sympy.integrals.manualintegrate import manualintegrate

from derive.errors import DeriveError
from derive.exact.field.function_field import RationalFunction
from derive.exact.named_integrals import Exponential
from derive.exact.towers.tower import build_elements
from derive.language import from_sympy, to_sympy
from derive.model.labels import predictor
from derive.model.names import unused
from derive.model.notation import to_expr
from derive.weights.entrywise import Entries
from derive.weights.entrywise_dual import find_factors


class EntrywiseNotation:
    """SymPy's symbols for entries, sums and single weights, and for what stands for all of them."""

    def __init__(self, entries: Entries) -> None:
        self.entries = entries
        model, field = self.entries.model, self.entries.field_
        positive = {*model.parameters, model.size, *model.positive}
        if model.indexed in model.positive:
            positive |= {*self.entries.entries.values()}
        self.v = Symbol(model.indexed, **_assumed(model.indexed in positive))
        # A sum of squares or exponentials is positive; one of squares is 0 where all weights are.
        terms = {
            x: to_sympy(m, {**_real(model.parameters), model.indexed: self.v})
            for x, m in model.sums
        }
        positive |= {x for x, m in terms.items() if m.is_nonnegative}
        names = (*field.weights, *model.parameters)
        self.symbols = {x: Symbol(x, **_assumed(x in positive)) for x in names}
        given = {*model.positive, *(x for x, m in terms.items() if m.is_positive)}
        self.asked = {
            x: Symbol(x.name, real=True) for n, x in self.symbols.items() if n not in given
        }
        self.n = self.symbols[model.size] = Symbol(model.size, integer=True, positive=True)
        self.taken = {*model.taken, *names}
        base = predictor(self.taken)
        self.i = Symbol(unused("i", self.taken), integer=True)
        self.beta = sympy.IndexedBase(base, real=True)[self.i]
        self.last = sympy.IndexedBase(base, real=True)[self.n]
        self.y0 = sympy.IndexedBase(unused("y0", self.taken), real=True)[self.i]
        v = sympy.IndexedBase(model.indexed, **_assumed(model.indexed in positive))
        self.k = Symbol(unused("k", self.taken), integer=True)
        self.each, self.summed = v[self.i], v[self.k]
        # c is a sum of squares, and s a norm, but beside exponentials; g > 0 is asked for.
        self.c, self.s, self.G = (Symbol(unused(x, self.taken), positive=True) for x in "csG")
        factors = find_factors(entries)
        self.S = self.symbols[model.sums[0][0] if factors is None else factors.sum]
        if factors is not None and model.scalars and not factors.D.is_zero():
            rate = factors.speed * factors.D / factors.G  # of S by that of the single weight
            summed = rate.is_constant() and rate.value() < 0 and self.S.is_positive
            self.c = Symbol(self.c.name, **_assumed(summed))  # else a difference of squares

    def is_positive(self, f: Expr) -> bool:
        """Tell whether a function of the weights is positive at every start, without conditions."""
        return bool(f.xreplace(self.asked).is_positive)

    @property
    def constants(self) -> tuple[Symbol, ...]:
        """What stays along the flow: parameters, n, and the value c of the law."""
        names = (*self.entries.model.parameters, self.entries.model.size)
        return (*(self.symbols[x] for x in names), self.c)

    @property
    def positive(self) -> tuple[str, ...]:
        """The names of what is positive."""
        symbols = (*self.symbols.values(), self.c, self.s)
        return tuple(x.name for x in symbols if x.is_positive)

    def own(self, function: RationalFunction, at: Expr | None = None) -> Expr:
        """Return a function of one entry, at v or elsewhere."""
        images = {**self.symbols, self.entries.model.indexed: self.v if at is None else at}
        return to_expr(function, images)

    def expr(self, function: RationalFunction) -> Expr:
        """Return a function of entries, sums and single weights, in lowest terms in roots of S."""
        found = to_expr(function, self.symbols)
        powers = {x.exp for x in found.atoms(sympy.Pow) if x.base == self.S}
        if all(e.is_Integer for e in powers) or not all(e.is_Rational for e in powers):
            return found
        root, k = Symbol(unused("r", self.taken), positive=True), lcm(*(int(e.q) for e in powers))
        return sympy.factor(found.subs(self.S, root**k)).subs(root, self.S ** (sympy.S.One / k))

    def over(self, term: Expr, most: Expr | None = None) -> Expr:
        """Return the sum of a term over i = 1, ..., n."""
        return sympy.Sum(term, (self.i, 1, self.n if most is None else most))

    def total(self, function: Expr) -> Expr:
        """Return the sum of a function of v over all entries."""
        return sympy.Sum(function.xreplace({self.v: self.summed}), (self.k, 1, self.n))

    @property
    def F(self) -> Expr:
        """F at v_i, as it was given, with sums written out."""
        p = self.entries.model
        given: dict[str, Expr] = {**self.symbols, p.indexed: self.v}
        sums = {x: self.total(to_sympy(m, given)) for x, m in p.sums}
        return to_sympy(p.output, {**given, p.indexed: self.each, **sums})

    def at_size(self, expression: Expr, n: int) -> Expr:
        """Return an expression at a number n, with names such as beta1 and v1."""
        expanded = expression.subs(self.n, n)
        for kind, joined in ((sympy.Sum, sympy.Add), (sympy.Product, sympy.Mul)):
            expanded = expanded.replace(kind, lambda x, ends, join=joined: join(*_terms(x, *ends)))
        names = {x: f"{x.base}{x.indices[0]}" for x in expanded.atoms(sympy.Indexed)}
        return expanded.xreplace({x: Symbol(name, real=True) for x, name in names.items()})

    def shown(self, expression: Expr) -> Expr:
        """Return an expression with names such as beta_i in place of indexed symbols."""
        found = expression.atoms(sympy.Indexed)
        names = {x: Symbol(f"{x.base}_{x.indices[0]}", real=True) for x in found}
        return expression.xreplace(names)

    def entry(self, index: str) -> Symbol:
        """Return a generic entry."""
        return self.symbols[self.entries.entries[index]]


def _terms(term: Expr, index: Symbol, first: Expr, last: Expr) -> Iterator[Expr]:
    """Yield a term at each index, also where it is what an integral runs over."""
    return (term.xreplace({index: sympy.Integer(k)}) for k in range(int(first), int(last) + 1))


def _real(names: Iterable[str]) -> dict[str, Symbol]:
    return {x: Symbol(x, positive=True) for x in names}


def _assumed(positive: object) -> dict[str, bool]:
    return {"positive": True} if positive else {"real": True}


def same(left: Expr, right: Expr, positive: tuple[str, ...], of: Symbol) -> bool:
    """Tell whether two functions of a symbol are proved equal, as elements of one field."""
    used = left.free_symbols | right.free_symbols | left.atoms(sympy.NumberSymbol)
    names = {s.name if s.is_Symbol else str(s) for s in used}  # pi is a name, too
    constants = sorted(names - {of.name})
    plain = {s: Symbol(s.name) for s in left.free_symbols | right.free_symbols}
    try:
        trees = [from_sympy(_one_exponential(x).xreplace(plain)) for x in (left, right)]
        a, b = build_elements(trees, (of.name,), constants, positive)
    except (DeriveError, ValueError, ArithmeticError):
        return False
    return bool(a == b)


def _one_exponential(x: Expr) -> Expr:
    """Return an expression whose exponentials are joined, their arguments quotients."""
    return sympy.powsimp(x).replace(sympy.exp, lambda u: sympy.exp(sympy.cancel(u)))


def antiderivative(function: Expr, x: Symbol, positive: tuple[str, ...]) -> Expr:
    """Return an integral that is proposed, and whose derivative is proved, else it as it is."""
    gaussian = _gaussian(function, x)
    if gaussian is None and _has_power(function, x):
        return sympy.Integral(function, x)
    proposed = manualintegrate(function, x) if gaussian is None else gaussian
    left = proposed.has(sympy.Integral, sympy.Piecewise)
    if not left and same(sympy.diff(proposed, x), function, positive, x):
        return proposed.replace(_of_any_sign, lambda log: sympy.log(sympy.Abs(log.args[0])))
    return sympy.Integral(function, x)


def _of_any_sign(part: Expr) -> bool:
    """Tell whether a part is a logarithm whose argument may be negative."""
    return isinstance(part, sympy.log) and not part.args[0].is_positive


def _has_power(function: Expr, x: Symbol) -> bool:
    """Tell whether there is a power of a sum with names in its exponent, which is searched long."""
    powers = (e.as_base_exp() for e in function.atoms(sympy.Pow))
    return any(b.has(x) and not b.is_polynomial(x) and e.free_symbols for b, e in powers)


def _gaussian(function: Expr, x: Symbol) -> Expr | None:
    """Return the integral of a multiple of exp(a x^2), an error function, or None."""
    factor, rest = function.as_independent(x, as_Add=False)
    if not isinstance(rest, sympy.exp) or sympy.cancel(rest.args[0] / x**2).has(x):
        return None

    def sign(c: Expr) -> int:
        return bool(c.is_positive) - bool(c.is_negative)

    E = Symbol("E")
    return Exponential(x, E, sympy.cancel(rest.args[0]), lambda *_: None, sign).integral(factor * E)
