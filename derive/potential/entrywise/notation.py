"""SymPy's symbols of a map of open size: generic entries, sums, and what is indexed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import lcm

import sympy
from sympy import Expr, Symbol

from derive.exact.field.function_field import RationalFunction
from derive.language import to_sympy
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
        # A sum of squares or exponentials is positive.
        terms = (
            (x, to_sympy(m, {**_real(model.parameters), model.indexed: self.v}))
            for x, m in model.sums
        )
        positive |= {x for x, m in terms if m.is_nonnegative}
        names = (*field.weights, *model.parameters)
        self.symbols = {x: Symbol(x, **_assumed(x in positive)) for x in names}
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
        self.S = self.symbols[model.sums[0][0]]
        # c is a sum of squares, and s a norm, but beside exponentials; g > 0 is asked for.
        self.c, self.s, self.G = (Symbol(unused(x, self.taken), positive=True) for x in "csG")
        factors = find_factors(entries)
        if factors is not None and model.scalars and not factors.D.is_zero():
            rate = factors.speed * factors.D / factors.G  # of S by that of the single weight
            summed = rate.is_constant() and rate.value() < 0 and self.S.is_positive
            self.c = Symbol(self.c.name, **_assumed(summed))  # else a difference of squares

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
