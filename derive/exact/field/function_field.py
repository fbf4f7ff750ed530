"""Function fields Q(w)(g_1, ..., g_n) with derivations, on python-flint polynomials.

An element is a quotient of two integer polynomials in normal form, so that two elements are equal
exactly when their numerators and denominators are: the zero test is exact and never guesses. A
*generator* g is an elementary function of what comes before it, such as exp(w), sqrt(u^2 + v^2)
or w^D. It brings a derivation rule and, if it is algebraic, a relation g^n = a; numerators are
reduced by the relations and denominators are free of algebraic generators.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from flint import Ordering, fmpz_mpoly_ctx

from derive.clock import ENDLESS, Clock
from derive.exact.field.generators import Generator, Relations
from derive.exact.field.polynomial import Polynomial, evaluate, is_atom, number, reindexed, to_text


@dataclass(frozen=True, eq=False)
class RationalFunction:
    """An element of a :class:`FunctionField`, in lowest terms."""

    field: FunctionField
    numerator: Polynomial
    denominator: Polynomial

    def __add__(self, other: RationalFunction | int) -> RationalFunction:
        other = self._coerce(other)
        if self.denominator == other.denominator:
            return self.field.quotient(self.numerator + other.numerator, self.denominator)
        return self.field.quotient(
            self.numerator * other.denominator + other.numerator * self.denominator,
            self.denominator * other.denominator,
        )

    def __neg__(self) -> RationalFunction:
        return RationalFunction(self.field, -self.numerator, self.denominator)

    def __sub__(self, other: RationalFunction | int) -> RationalFunction:
        return self + (-self._coerce(other))

    def __mul__(self, other: RationalFunction | int) -> RationalFunction:
        other = self._coerce(other)
        return self.field.quotient(
            self.numerator * other.numerator, self.denominator * other.denominator
        )

    def __truediv__(self, other: RationalFunction | int) -> RationalFunction:
        other = self._coerce(other)
        return self.field.quotient(
            self.numerator * other.denominator, self.denominator * other.numerator
        )

    def __pow__(self, exponent: int) -> RationalFunction:
        if exponent < 0:
            return self.field.quotient(self.denominator**-exponent, self.numerator**-exponent)
        top, bottom = self.numerator**exponent, self.denominator**exponent
        if self.field.relations.known:
            return self.field.quotient(top, bottom)
        return RationalFunction(self.field, top, bottom)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: int) -> RationalFunction:
        return -self + other

    def __rtruediv__(self, other: int) -> RationalFunction:
        return self._coerce(other) / self

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            other = self.field.constant(other)
        if not isinstance(other, RationalFunction) or not self.field.is_field(other.field):
            return NotImplemented
        return bool(self.numerator == other.numerator and self.denominator == other.denominator)

    def __hash__(self) -> int:
        return hash((len(self.numerator), len(self.denominator), self.degree()))

    def __repr__(self) -> str:
        return self.written(self.field.names)

    @property
    def parts(self) -> tuple[Polynomial, Polynomial]:
        """Numerator and denominator."""
        return self.numerator, self.denominator

    def is_zero(self) -> bool:
        """Tell exactly whether this is the zero function."""
        return bool(self.numerator.is_zero())

    def is_polynomial(self) -> bool:
        """Tell whether the denominator is a number."""
        return bool(self.denominator.is_constant())

    def is_constant(self) -> bool:
        """Tell whether this is a rational number."""
        return bool(self.numerator.is_constant() and self.denominator.is_constant())

    def value(self) -> Fraction:
        """Return the rational number that a constant element is."""
        if not self.is_constant():
            raise ValueError(f"{self!r} is not a number")
        return number(self.numerator) / number(self.denominator)

    def depends_on(self, position: int) -> bool:
        """Tell whether a variable occurs."""
        return any(int(x.degrees()[position]) > 0 for x in self.parts)

    def degree(self) -> int:
        """Return the total degree of the numerator less that of the denominator."""
        return int(self.numerator.total_degree()) - int(self.denominator.total_degree())

    def at(self, point: Sequence[Fraction]) -> Fraction:
        """Return the value at a rational point; ZeroDivisionError at a pole."""
        top, bottom = (evaluate(x, point, Fraction) for x in self.parts)
        return top / bottom

    def written(self, names: Sequence[str]) -> str:
        """Return the quotient as text in the language."""
        top = to_text(self.numerator, names)
        if self.denominator.is_one():
            return top
        bottom = to_text(self.denominator, names)
        top = top if len(self.numerator) == 1 else f"({top})"
        return f"{top}/{bottom if is_atom(self.denominator) else f'({bottom})'}"

    def in_moduli(self) -> str:
        """Return this as text, where logarithms are those of absolute values: log(Abs(w - 2))."""
        logs = (g for g in self.field.generators if g.kind == "log")
        names = {g.name: f"log(Abs({g.argument!r}))" for g in logs}
        return self.written([names.get(name, name) for name in self.field.names])

    def _coerce(self, other: RationalFunction | int) -> RationalFunction:
        return other if isinstance(other, RationalFunction) else self.field.constant(other)

    def partial(self, position: int) -> RationalFunction:
        """Return the derivative by one variable, every other variable held fixed."""
        top, bottom = self.numerator, self.denominator
        if bottom.is_constant():
            return self.field.quotient(top.derivative(position), bottom)
        return self.field.quotient(
            top.derivative(position) * bottom - top * bottom.derivative(position), bottom * bottom
        )

    def variables(self) -> tuple[str, ...]:
        """Return the names that occur, in the order of the field."""
        degrees = zip(self.numerator.degrees(), self.denominator.degrees(), strict=True)
        pairs = zip(self.field.names, degrees, strict=True)
        return tuple(name for name, powers in pairs if max(powers) > 0)

    def is_homogeneous(self) -> bool:
        """Tell whether numerator and denominator are forms in the weights alone."""
        if any(self.depends_on(k) for k in range(len(self.field.weights), len(self.field.names))):
            return False
        return all(len({sum(powers) for powers in x.monoms()}) <= 1 for x in self.parts)

    def compose(
        self, images: Sequence[RationalFunction], target: FunctionField
    ) -> RationalFunction:
        """Substitute one element of *target* for each variable; ZeroDivisionError at a pole."""
        denominators = [image.denominator for image in images]
        if all(d.is_one() for d in denominators):
            arguments = [image.numerator for image in images]
            return target.quotient(
                self.numerator.compose(*arguments, ctx=target.ring),
                self.denominator.compose(*arguments, ctx=target.ring),
            )
        top, bottom = (evaluate(x, images, target.constant) for x in self.parts)
        return top / bottom


@dataclass(frozen=True)
class FunctionField:
    """The field Q(weights)(generators) and the derivation d/dw_k on it.

    Args:
        weights: names of the independent variables.
        generators: elementary functions of the weights and of earlier generators; they are
            independent apart from their own relations (see :mod:`derive.exact.towers.tower`).
        clock: says how long one may compute in the field.

    >>> from derive.exact.towers.tower import Tower
    >>> from derive.language import parse_expression
    >>> tower = Tower(("w",))
    >>> f = tower.element(parse_expression("w*exp(w)"))
    >>> tower.field.derivative(tower.field.embed(f), 0)
    w*exp(w) + exp(w)
    """

    weights: tuple[str, ...]
    generators: tuple[Generator[RationalFunction], ...] = ()
    clock: Clock = field(default=ENDLESS, compare=False, repr=False)

    def is_field(self, other: FunctionField) -> bool:
        """Tell whether this is another field, or one with the same variables."""
        return self is other or self == other

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """All variables: the weights, then the generators, each called by its own text."""
        return self.weights + tuple(g.name for g in self.generators)

    @functools.cached_property
    def positions(self) -> dict[str, int]:
        """The position of each name."""
        return {name: k for k, name in enumerate(self.names)}

    @functools.cached_property
    def ring(self) -> fmpz_mpoly_ctx:
        """The flint context of Z[names]."""
        return fmpz_mpoly_ctx.get(self.names, Ordering.degrevlex)

    @functools.cached_property
    def relations(self) -> Relations:
        """The relations g^n = a of the algebraic generators."""
        found = []
        for g in self.generators:
            relation = g.relation()
            if relation is not None:
                n, value = relation
                top, bottom = (reindexed(x, self.ring) for x in value.parts)
                found.append((self.positions[g.name], n, top, bottom))
        return Relations(self.ring, tuple(found), self.clock)

    @functools.cached_property
    def norms(self) -> tuple[tuple[int, int, Polynomial], ...]:
        """The positions of x and r, and r^2 - x^2, of roots r for whose x nothing else has one."""
        found, inside = [], [x for g in self.generators for x in g.parts]
        for g in self.generators:
            if g.kind == "root" and g.index == 2 and g.argument.denominator.is_one():
                top = reindexed(g.argument.numerator, self.ring)
                others = {name for x in inside if x is not g.argument for name in x.variables()}
                for k, name in enumerate(self.weights):
                    rest = top - self.ring.gens()[k] ** 2
                    if name not in others and not int(rest.degrees()[k]):
                        found.append((k, self.positions[g.name], rest))
        return tuple(found)

    @functools.cached_property
    def parameters(self) -> frozenset[str]:
        """Names of the generators that are constants by definition."""
        return frozenset(g.name for g in self.generators if g.kind == "parameter")

    @functools.cached_property
    def constants(self) -> dict[str, RationalFunction]:
        """The generators without weights, by name: the parameters, and such as sqrt(2)."""
        return {name: self.named(name) for name in self.made_of(self.parameters)}

    def made_of(self, names: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the names of the generators that are, or are made of, numbers and these."""
        found = dict.fromkeys(names)
        for g in self.generators:
            parts = g.parts
            if parts and all(found.keys() >= {*x.variables()} for x in parts):
                found[g.name] = None
        return tuple(name for name in self.names if name in found)

    def below(self, names: Iterable[str]) -> frozenset[str]:
        """Return these names with those that the generators among them are made of."""
        found = {*names}
        for g in reversed(self.generators):
            found = found.union(*(x.variables() for x in g.parts if g.name in found))
        return frozenset(found)

    @functools.cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of its generators that are functions, not constants."""
        return frozenset(g.kind for g in self.generators if g.name not in self.constants)

    @functools.cached_property
    def gens(self) -> tuple[RationalFunction, ...]:
        """The variables as elements."""
        one = self.ring.constant(1)
        return tuple(RationalFunction(self, x, one) for x in self.ring.gens())

    @functools.cached_property
    def zero(self) -> RationalFunction:
        """The element 0."""
        return self.constant(Fraction(0))

    @functools.cached_property
    def one(self) -> RationalFunction:
        """The element 1."""
        return self.constant(Fraction(1))

    def constant(self, value: Fraction | int) -> RationalFunction:
        """Return the rational number *value* as an element."""
        top = self.ring.constant(value.numerator)
        return RationalFunction(self, top, self.ring.constant(value.denominator))

    def named(self, name: str) -> RationalFunction:
        """Return the variable of that name."""
        return self.gens[self.positions[name]]

    def embed(self, element: RationalFunction) -> RationalFunction:
        """Return an element of a field whose names are among those of this one."""
        if element.field is self:
            return element
        return self.quotient(*(reindexed(x, self.ring) for x in element.parts))

    def extended(self, names: Sequence[str]) -> FunctionField:
        """Return the field with further independent variables in front."""
        return replace(self, weights=(*names, *self.weights))

    def monomial(self, exponents: Sequence[int]) -> RationalFunction:
        """Return the Laurent monomial of the first variables with the given exponents."""
        padded = tuple(exponents) + (0,) * (len(self.names) - len(exponents))
        up = tuple(max(e, 0) for e in padded)
        down = tuple(max(-e, 0) for e in padded)
        return self.quotient(self.ring.from_dict({up: 1}), self.ring.from_dict({down: 1}))

    def polynomial(self, polynomial: Polynomial) -> RationalFunction:
        """Return a polynomial as an element."""
        return self.quotient(polynomial, self.ring.constant(1))

    def quotient(self, numerator: Polynomial, denominator: Polynomial) -> RationalFunction:
        """Return numerator / denominator in normal form, with a positive leading denominator."""
        self.clock.check()
        if self.relations.known:
            numerator, denominator = self.relations.normal_form(numerator, denominator)
        if denominator.is_zero():
            raise ZeroDivisionError("division by zero in a function field")
        if not denominator.is_one():
            common = numerator.gcd(denominator)
            if not common.is_one():
                numerator, denominator = numerator / common, denominator / common
            if denominator.leading_coefficient() < 0:
                numerator, denominator = -numerator, -denominator
        return RationalFunction(self, numerator, denominator)

    def derivative(self, element: RationalFunction, weight: int) -> RationalFunction:
        """Return d(element)/d(weights[weight]), generators differentiated by their rules."""
        result = element.partial(weight)
        for position, g in enumerate(self.generators, start=len(self.weights)):
            if element.depends_on(position):
                rule = self._rule(g, weight)
                if not rule.is_zero():
                    result += element.partial(position) * rule
        return result

    def gradient(self, element: RationalFunction) -> tuple[RationalFunction, ...]:
        """Return the gradient of *element* in the weights."""
        named, weights = set(element.variables()), enumerate(self.weights)
        if named.issubset(self.weights):
            return tuple(element.partial(k) if w in named else self.zero for k, w in weights)
        return tuple(self.derivative(element, k) for k, _ in weights)

    @functools.cached_property
    def _rules(self) -> dict[tuple[str, int], RationalFunction]:
        return {}

    def _rule(self, g: Generator[RationalFunction], weight: int) -> RationalFunction:
        """Return dg/dw_k; an integral is one over the first weight."""
        key = g.name, weight
        if key not in self._rules:
            A = self.zero if g.kind == "parameter" else self.embed(g.argument)
            if g.kind == "integral":
                return self.zero if weight else A
            slope = self.derivative(A, weight)
            if not slope.is_zero():
                other = self.embed(g.exponent) if g.kind == "power" else A
                other = self.named(g.partner) if g.partner else other
                slope *= g.slope(A, self.named(g.name), other)
            self._rules[key] = slope
        return self._rules[key]


def names_in(f: RationalFunction) -> set[str]:
    """Return the names in a function, and in the calls in it."""
    return {*f.field.below(f.variables())}
