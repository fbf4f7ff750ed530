"""Coordinates of a leaf of one output beside its weights, and weights that are known with others.

A root in F, as a norm, and what F divides by are such. So is a product v w by which alone F has two
weights: as v' = w F_x and w' = v F_x, x = v w, the flow keeps D = v^2 - w^2, and x has the rate
v^2 + w^2 = R = sqrt(4 x^2 + D^2). With it v^2 = (R + D)/2 and w^2 = (R - D)/2. The flow does not
cross zeros of y = v + w, by which v = (y + D/y)/2 and w = (y - D/y)/2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

from sympy import Symbol

from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.model.parameterization import Parameterization

Law: TypeAlias = tuple[Symbol, LogFunction]
"""What the flow keeps, with the symbol of its value."""


def roots_and_divisors(p: Parameterization) -> Iterator[RationalFunction]:
    """Yield the roots in F of functions of several weights, and what F divides by of several."""
    for g in (g for g in p.field.generators if g.kind == "root"):
        if len({*g.argument.variables()} & {*p.weights}) > 1:
            yield p.field.named(g.name)
    below = p.field.polynomial(p.F[0].denominator)
    yield from (f for f, _ in factors(below) if len({*f.variables()} & {*p.weights}) > 1)


def shares(p: Parameterization, place: RationalFunction) -> dict[str, RationalFunction]:
    """Return what weights are to a norm t of them, from the start on; of no norm nothing.

    They stay in proportion, as all of their rates are.
    """
    roots = (g for g in p.field.generators if g.kind == "root" and g.index == 2)
    inside = {n for g in roots if g.name == repr(place) for n in g.argument.variables()}
    moves = zip(p.weights, p.w, p.fields[0], strict=True)
    met = [(w, of_w, x) for w, of_w, x in moves if w in inside]
    square = sum((w * w for _, w, _ in met), p.field.zero)
    alike = all(x * w == y * v for (_, v, x), (_, w, y) in combinations(met, 2))
    if not (met[1:] and alike and square == place * place):
        return {}
    return {name: p.at_start(w) / p.at_start(place) for name, w, _ in met}


class Product(NamedTuple):
    """x = v w, by which alone F has two weights.

    Attributes:
        v, w: their names.
        law: c (v^2 - w^2), with the symbol of its value.
        c: a number.
    """

    v: str
    w: str
    law: Law
    c: RationalFunction

    def places(self, p: Parameterization) -> tuple[RationalFunction, RationalFunction]:
        """Return the product, and the sum."""
        v, w = p.field.named(self.v), p.field.named(self.w)
        return v * w, v + w


def products(p: Parameterization, laws: Sequence[Law]) -> Iterator[Product]:
    """Yield the products of two weights by which F has them."""
    moves = zip(p.weights, p.w, p.fields[0], strict=True)
    for (v, of_v, x), (w, of_w, y) in combinations(moves, 2):
        if of_v * x == of_w * y:
            square = of_v * of_v - of_w * of_w
            found = ((law, law[1].rational / square) for law in laws if not law[1].logs)
            yield from (Product(v, w, law, c) for law, c in found if c.is_constant())


class Tie(NamedTuple):
    """v = factor w + value/c, c and the value of a law, which is 0 where there is none."""

    other: str
    factor: RationalFunction
    c: RationalFunction
    law: Law | None = None


def ties(p: Parameterization, place: RationalFunction, laws: Sequence[Law]) -> dict[str, Tie]:
    """Return the weights beside t that are affine functions of another."""
    found = dict[str, Tie]()
    moves, one = [*zip(p.weights, p.w, p.fields[0], strict=True)], p.start_field.one
    for k, (v, of_v, x) in enumerate(moves):
        for w, of_w, y in (m for m in moves[:k] if repr(place) not in (v, m[0])):
            if w in found or v in found or y.is_zero():
                continue
            if of_v * y == of_w * x and not (start := p.at_start(of_w)).is_zero():
                found[v] = Tie(w, p.at_start(of_v) / start, one)
            elif (x / y).is_constant():
                factor = x / y
                ratios = [(law, law[1].rational / (of_v - factor * of_w)) for law in laws]
                linear = (x for x in ratios if not x[0][1].logs and x[1].is_constant())
                for law, c in linear:
                    found.setdefault(v, Tie(w, p.at_start(factor), p.at_start(c), law))
    return found
