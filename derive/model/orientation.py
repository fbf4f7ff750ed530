"""Roots of even powers: |x|^k is x^k or (-x)^k, on the side of x = 0 where the start lies."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from derive.errors import InputError
from derive.exact.signs import Signs
from derive.exact.towers.tower import build_elements
from derive.language.tree import (
    Number,
    Operation,
    Power,
    Tree,
    children,
    fold,
    names,
    substituted,
    with_parts,
)


def oriented(tree: Tree, start: Mapping[str, Tree], positive: frozenset[str]) -> Tree:
    """Return an expression with (x^n)^e, n even, as (s x)^(n e), s the sign of x at the start.

    Flows from there end at x = 0, where such a power is not smooth. The root stays as it is where
    that sign is not known, and where n e is whole, as for sqrt(x^2), of which s x alone would not
    tell that the flow ends.
    """

    def combine(node: Tree, parts: list[Tree]) -> Tree:
        match node := with_parts(node, parts):
            case Power(Power(x, n), e) if n % 2 == 0 and (n * e).denominator > 1:
                if sign := _sign(substituted(x, start), positive):
                    side = x if sign > 0 else Operation("*", Number(Fraction(-1)), x)
                    return Power(side, n * e)
        return node

    return fold(tree, children, combine)


def _sign(value: Tree, positive: frozenset[str]) -> int:
    """Return the sign of an expression in start symbols; 0: not known."""
    try:
        (element,) = build_elements([value], names((value,)), positive=positive)
    except (InputError, ZeroDivisionError):
        return 0
    return Signs(positive).strict(element)
