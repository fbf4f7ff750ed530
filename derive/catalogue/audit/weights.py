"""Leaves in the weights at any time, for statements about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from sympy import Expr

from derive.catalogue.audit.leaf import Leaf, checked
from derive.catalogue.audit.subject import Subject
from derive.catalogue.entry import Printed
from derive.errors import DeriveError
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.elementary_germ import Elementary
from derive.exact.towers.germ import Unsettled
from derive.language import parse_expression
from derive.language.tree import Tree

SEEDS = ((3, 2), (12, -1), (2, 3), (19, -2), (4, 3))


def weight_leaves(subject: Subject, printed: Printed, trees: Sequence[Tree]) -> Iterator[Leaf]:
    """Yield leaves in the weights at any time; start symbols are read off conserved quantities.

    What ``where`` defines by the weights at the start must then be conserved.
    """
    p = subject.p
    for first, step in SEEDS:
        point = {
            name: Fraction(first + step * k, 1 + k % 2)
            for k, name in enumerate((*p.weights, *p.parameters))
        }
        try:
            tower = Elementary(point, trees)
            leaf = Leaf(tower, dict(tower.known), point, len(p.weights))
            for beta, tree in zip(subject.betas, p.trees, strict=True):
                leaf.images[beta.name] = leaf.read(tree)
            for name, value in constants_of(subject):
                leaf.images[name] = leaf.read(value)
            define(leaf, printed)
            for name, _ in printed.where:
                if not all(tower.is_zero(x) for x in moved(subject, leaf, leaf.images[name])):
                    raise Unsettled(f"{name} is not conserved")
            for tree in trees:
                checked(tree, leaf)
        except (Unsettled, DeriveError, ZeroDivisionError):
            continue
        yield leaf


def define(leaf: Leaf, printed: Printed) -> None:
    """Add what the printed formula calls by name."""
    for name, text in printed.where:
        leaf.images[name] = leaf.read(checked(parse_expression(text), leaf))


def moved(subject: Subject, leaf: Leaf, element: RationalFunction) -> list[RationalFunction]:
    """Return the derivatives of an element along grad F_1, ..., grad F_d."""
    tower, size = leaf.tower, len(subject.p.weights)
    slopes = [tower.derivative(element, k) for k in range(size)]
    found = []
    for tree in subject.p.trees:
        F = leaf.read(tree)
        terms = (tower.derivative(F, k) * x for k, x in enumerate(slopes))
        found.append(tower.tidy(sum(terms, tower.field.zero)))
    return found


def constants_of(subject: Subject) -> Iterator[tuple[str, Expr]]:
    """Yield start symbols as functions of the weights: from a law that starts at c*symbol**n."""
    conserved = subject.derivation.conserved
    for law, value in zip(conserved.laws, conserved.values, strict=True):
        free = [] if value is None else sorted(value.free_symbols, key=str)
        if value is None or len(free) != 1 or free[0].name not in subject.p.start_symbols:
            continue
        c, power = value.as_independent(free[0], as_Add=False)
        base, n = power.as_base_exp()
        if base == free[0] and n.is_Rational:
            yield free[0].name, (law / c) ** (1 / n)
