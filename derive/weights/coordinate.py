"""A coordinate t of the leaf of one output: what is along the flow is a function of t.

With beta = f(t) and dt/dmu = r(t) along w' = grad F the mirror map is mu = int dt/r, its conjugate
R = int f/r dt, and Q = beta mu - R, K = f' r, dQ/dbeta = mu. That t is beta itself, a weight, a
function of F or a quotient of weights is a matter of which functions are then rational.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sympy import Expr, Symbol

from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.model.notation import Notation, to_expr, to_factored_expr, to_shorter_expr


@dataclass(frozen=True)
class Coordinate:
    """t, and the field of functions of t on the leaf.

    Attributes:
        field: of functions of t, its first variable, of constants, and of the start.
        variable: t as a symbol.
        values: of t and the constants at the start.
        constants: the variables after t: what the flow keeps, under names of their own.
    """

    notation: Notation
    field: FunctionField
    variable: Symbol
    values: tuple[RationalFunction, ...]
    constants: tuple[Symbol, ...]

    @cached_property
    def images(self) -> dict[str, Expr]:
        """What the field's names are in SymPy."""
        own = {symbol.name: symbol for symbol in (self.variable, *self.constants)}
        return {**own, **self.notation.start_symbols}

    @property
    def named(self) -> tuple[tuple[Symbol, Expr], ...]:
        """The constants, each with its value in start symbols."""
        return tuple(zip(self.constants, map(self.expr, self.values[1:]), strict=True))

    def start(self, element: RationalFunction) -> RationalFunction:
        """Return the value of a function of t at the start."""
        return element.compose((*self.values, *self.field.gens[len(self.values) :]), self.field)

    def with_values(self, element: RationalFunction) -> RationalFunction:
        """Return a function of t with the values of constants in place of their names."""
        t, *rest = self.field.gens
        return element.compose((t, *self.values[1:], *rest[len(self.constants) :]), self.field)

    def expr(self, element: RationalFunction) -> Expr:
        """Return a function of t in SymPy."""
        return to_expr(element, self.images)

    def factored(self, element: RationalFunction) -> Expr:
        """Return a function of t in SymPy as a product of irreducible factors."""
        return to_factored_expr(element, self.images)

    def shorter(self, element: RationalFunction) -> Expr:
        """Return a function of t in SymPy, expanded or in factors, whichever is shorter."""
        return to_shorter_expr(element, self.images)

    @property
    def positive(self) -> frozenset[str]:
        """Start symbols known to be positive."""
        return self.notation.positive
