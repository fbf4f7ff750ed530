"""Functions on the leaf of the start, exact near a rational point of it.

What is printed and what is derived are read into one tower of elementary functions, so that an
identity between them is decided by algebra; balls at the point refute what is none.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import sympy
from sympy import Expr

from derive.catalogue.audit.subject import Subject
from derive.catalogue.entry import Printed
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.elementary_germ import Elementary
from derive.exact.towers.germ import Unsettled
from derive.language import parse_expression
from derive.language.substitution import bind
from derive.language.symbolic import from_sympy
from derive.language.tree import Tree, exponent_names, names

Point: TypeAlias = Mapping[str, Fraction]

COORDINATES = tuple(Fraction(x) for x in ("1/3", "-2/3", "1/2", "7/3", "-1/5", "2", "-3"))
STARTS = ((2, 1, 1), (5, 3, 4), (7, 2, 2), (5, 3, 6), (3, 2, 1), (4, 3, 5))
"""First value, step and denominator; no value is 1, where powers of a start hide."""

EXPONENTS = tuple(Fraction(x) for x in (3, 5, 4, 6, 3, 5))


@dataclass(frozen=True)
class Leaf:
    """Elements near one point, and what names in texts stand for there.

    Attributes:
        tower: where elements live.
        images: the element of each name.
        point: exact values of the independent names.
        velocity: for coordinates that are not beta itself, d beta/d coordinate.
        d: how many of the first names are coordinates.
    """

    tower: Elementary
    images: dict[str, RationalFunction]
    point: Point
    d: int
    velocity: RationalFunction | None = None

    def read(self, what: Tree | Expr) -> RationalFunction:
        """Return a text's tree, or a derived expression, as an element."""
        tree = from_sympy(what) if isinstance(what, Expr) else what
        return self.tower.read(tree, self.images)

    def along(self, element: RationalFunction, k: int) -> RationalFunction:
        """Return the derivative by beta_k at a fixed start."""
        slope = self.tower.derivative(element, k)
        return slope if self.velocity is None else self.tower.tidy(slope / self.velocity)

    def is_constant(self, element: RationalFunction) -> bool:
        """Tell whether an element is proved not to change along the leaf."""
        return all(self.tower.is_zero(self.tower.derivative(element, k)) for k in range(self.d))


def beta_leaf(subject: Subject, printed: Printed, trees: Sequence[Tree], point: Point) -> Leaf:
    """Return the leaf in the coordinates beta, or in the parameter of a parametric Q.

    Raises:
        Unsettled: a branch is not decided at the point, or a name is unknown.
    """
    tower = Elementary(point, trees)
    leaf = Leaf(tower, dict(tower.known), point, len(subject.betas))
    if subject.curve is not None:
        beta = leaf.read(subject.curve.curve.beta)
        leaf.images[subject.betas[0].name] = beta
        leaf = Leaf(tower, leaf.images, point, 1, tower.derivative(beta, 0))
    _define(leaf, subject, printed)
    return leaf


def _define(leaf: Leaf, subject: Subject, printed: Printed) -> None:
    """Add the weights and outputs at the start, and what the printed formula calls by name."""
    for name, value in subject.starts.items():
        if name not in leaf.images:
            leaf.images[name] = leaf.read(value)
    for name, text in printed.where:
        leaf.images[name] = leaf.read(checked(parse_expression(text), leaf))


def checked(tree: Tree, leaf: Leaf) -> Tree:
    """Return the tree; Unsettled for a name that stands for nothing here."""
    for name in names((tree,)):
        if name not in leaf.images:
            raise Unsettled(f"{name} is not defined here")
    return tree


def points(
    subject: Subject, coordinates: Sequence[str], extra: Sequence[str] = ()
) -> Iterator[list[dict[str, Fraction]]]:
    """Yield groups of points: one start each, several places on its leaf."""
    symbols = [*subject.p.start_symbols, *subject.p.parameters, *extra]
    powers = exponent_names(subject.p.trees)
    for (first, step, below), exponent in zip(STARTS, EXPONENTS, strict=True):
        start = {
            name: exponent if name in powers else Fraction(first + step * k, below)
            for k, name in enumerate(symbols)
        }
        group = []
        for shift in range(len(COORDINATES)):
            places: Iterator[Fraction] = itertools.islice(itertools.cycle(COORDINATES), shift, None)
            if subject.radial:
                places = map(abs, places)
            group.append({**dict(zip(coordinates, places, strict=False)), **start})
        yield group


def coordinates_of(subject: Subject) -> tuple[str, ...]:
    """Return the names of the coordinates of :func:`beta_leaf`."""
    if subject.curve is not None:
        return (subject.curve.curve.parameter.name,)
    return tuple(b.name for b in subject.betas)


def without_modulus(expression: Expr, point: Point) -> Expr:
    """Return an expression with x or -x in the place of each Abs(x), as it is near a point."""

    def near(x: Expr) -> Expr:
        at = {s: sympy.Rational(point[s.name]) for s in x.free_symbols}
        return x if x.xreplace(at) > 0 else -x

    return expression.replace(sympy.Abs, near)


def texts_of(printed: Printed) -> tuple[Tree, ...]:
    """Return the trees of the printed texts."""
    return tuple(parse_expression(text) for text in printed.text)


def bound(tree: Tree, point: Point, powers: Sequence[str]) -> Tree:
    """Return a tree with numbers for the parameters in exponents."""
    return bind(tree, {name: point[name] for name in powers if name in point})
