"""Flows w' = Phi(J^T l) of which no learning rates make a gradient flow; l = -X^T r.

Phi takes phi(x) of each entry: sign(x) |x|^s where outputs share weights, or another odd function,
such as x/sqrt(x**2 + 1); or, of weights in matrices, the polar factor O of each G = O S, which is
steepest descent in the spectral norm. See :mod:`derive.optimizers.pushed`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import ClassVar, TypeAlias

from flint import arb, arb_mat

from derive.errors import InputError
from derive.exact.balls import ball, evaluate_any, values_of
from derive.exact.signs import Signs
from derive.exact.towers.tower import build_elements
from derive.language import parse_expression
from derive.language.tree import Tree
from derive.model.exact_map import ExactMap
from derive.model.rates import INFINITE, read_power

SPECTRAL, X = "spectral", re.compile(r"\bx\b")
NEWTON, CLOSE = 80, arb(2) ** -64
"""Steps to a polar factor at most, and how near it is near enough."""
Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class PushedMap:
    """F, and Phi as it was given.

    Attributes:
        plain: F under gradient flow.
        push: p of l_p, spectral, or phi in x.
        shapes: those of matrices of weights, of which spectral takes polar factors.
    """

    fold: ClassVar[str] = "derive.optimizers.pushed:derive_pushed"
    """The stages by which it is derived."""

    plain: ExactMap
    push: str
    shapes: tuple[tuple[str, Shape], ...] = ()

    @classmethod
    def read(
        cls, plain: ExactMap, push: object, arrays: Mapping[str, Shape], own: Callable[[], ExactMap]
    ) -> PushedMap | ExactMap:
        """Return the map, or what *own* makes of l_p and outputs with weights of their own.

        Raises:
            InputError: phi is no odd function of x, or F has weights that stand in no matrix.
        """
        text = str(push).strip()
        if text == SPECTRAL:
            if sum(prod(shape) for shape in arrays.values() if len(shape) > 1) < plain.p:
                raise InputError("steepest: the spectral norm is of matrices: give --matrix U:2x2")
            return cls(plain, text, tuple(arrays.items()))
        if X.search(text):
            phi, turned = build_elements([*map(parse_expression, (text, X.sub("(-x)", text)))], "x")
            if phi != -turned:
                raise InputError(f"steepest: {text:.40} is no odd function of x")
            return cls(plain, text)
        shared = len(plain.blocks) < plain.d and read_power(text) != 1
        return cls(plain, text) if shared else own()

    @property
    def function(self) -> Tree | None:
        """Phi in x; None of the others."""
        return parse_expression(self.push) if X.search(self.push) else None

    @property
    def is_analytic(self) -> bool:
        """Whether phi is seen to be analytic but for poles: roots and logarithms are of A > 0."""
        if self.function is None:
            return True
        (phi,) = build_elements([self.function], "x")
        inside = (g for g in phi.field.generators if g.kind in ("root", "log", "power"))
        return all(Signs().is_positive(phi.field.embed(g.argument)) for g in inside)

    @property
    def joint(self) -> ExactMap:
        """Refuse what is derived further of gradient flow alone."""
        raise InputError(f"{self.flow} on these outputs is no gradient flow: derive regularizer")

    @property
    def flow(self) -> str:
        """What the flow is called."""
        if self.push == SPECTRAL:
            return "steepest descent in the spectral norm"
        if self.function is not None:
            return f"the flow of `phi(x) = {self.push}`"
        return f"steepest descent in `l{'inf' if self.push in INFINITE else self.push}`"

    @property
    def statement(self) -> str:
        """The flow, as an equation."""
        entries = "the polar factor of each matrix" if self.shapes else "`phi` of each entry"
        return f"`w' = Phi(J^T l)`, `l = X^T (y - X beta)`, `Phi` {entries}"

    def keeps_ranks(self, k: Sequence[int]) -> bool:
        """Tell whether scaling w by c^k scales rows and columns of all matrices alike."""
        of = dict(zip(self.plain.weights, k, strict=True))
        return all(
            of[f"{x}{i}{j}"] - of[f"{x}{i}1"] == of[f"{x}1{j}"] - of[f"{x}11"]
            for x, (rows, columns) in (self.shapes if self.push == SPECTRAL else ())
            for i, j in product(range(1, rows + 1), range(1, columns + 1))
        )

    def pushed(self, G: Sequence[Fraction]) -> list[arb]:
        """Return Phi of a covector, in balls."""
        if self.push == SPECTRAL:
            return [*self._polar_factors(G)]
        if self.function is not None:
            (phi,) = build_elements([self.function], "x")
            return [ball(evaluate_any(phi, values_of(phi.field, {"x": x}))) for x in G]
        s = read_power(self.push)
        return [_power(x, s) for x in G]

    def _polar_factors(self, G: Sequence[Fraction]) -> Iterator[arb]:
        entries = dict(zip(self.plain.weights, G, strict=True))
        for name, (rows, columns) in self.shapes:
            places = [f"{name}{i}{j}" for i in range(1, rows + 1) for j in range(1, columns + 1)]
            yield from polar(arb_mat(rows, columns, [ball(entries[x]) for x in places])).entries()


def polar(G: arb_mat) -> arb_mat:
    """Return the polar factor O of G = O S of full rank, in balls.

    X -> X (3 - X^T X)/2 keeps O, and takes S to 1 from S/|S|; |X - O| = |S - 1| <= |S^2 - 1|.
    """
    if G.nrows() < G.ncols():
        return polar(G.transpose()).transpose()
    n = G.ncols()
    one = arb_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
    X = G * (1 / sum((x * x for x in G.entries()), arb(0)).sqrt())
    for _ in range(NEWTON):
        square = X.transpose() * X
        rest = sum((x * x for x in (square - one).entries()), arb(0)).sqrt()
        if rest < CLOSE:
            break
        X = X * (3 * one - square) * (arb(1) / 2)
    return arb_mat(G.nrows(), n, [x + arb(0, rest.upper()) for x in X.entries()])


def _power(x: Fraction, s: Fraction) -> arb:
    """Return sign(x) |x|^s."""
    size = ball(abs(x)) ** ball(s) if x else arb(0)
    return size if x > 0 else -size
