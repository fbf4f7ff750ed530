"""Elementary functions near a rational point, as elements of a field with generators.

Every function call and fractional power becomes a rational function of the names and of
*generators*: roots G with G^N = f, and functions f(A) or, with an index N, exp(A/N) and tan(A/(2
N)). Signs and branches are those at the point, proved by ball arithmetic. An element whose reduced
numerator is 0, or that of a product with functions that are not 0 there, is zero near the point,
and so wherever it continues analytically; the converse is not claimed, since generators may be
related in ways that were not found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm

from flint import arb, ctx

from derive.exact.balls import ball
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.generators import Generator, Relations
from derive.exact.field.polynomial import Polynomial, evaluate
from derive.language.tree import Number, Power, Tree, walk

BITS = 256
SLOTS = 20
_PIECES = {"exp": 1, "tan": 2}
"""Into how many pieces, beside the index, the argument of a function is cut."""
LONGEST_CONJUGATE = 500
"""Terms of a function whose product with a conjugate is expanded."""


class Unsettled(Exception):
    """A sign is not decided at the point, or an expression has no place in the tower."""


class GermField:
    """Q(names)(generators), with derivations and with values at one rational point.

    ``branches`` lists the functions whose signs at the point decided a root or a logarithm: what
    was read is valid as far as they keep these signs.

    Args:
        point: a rational value for each name.
        trees: the expressions that will be read; they tell which roots and multiples to expect.
    """

    def __init__(self, point: Mapping[str, Fraction], trees: Sequence[Tree] = ()) -> None:
        self.field = FunctionField((*point, *(f"_{i}" for i in range(SLOTS))))
        self.known = dict(zip(point, self.field.gens, strict=False))
        self.generators: list[Generator[RationalFunction]] = []
        self._relations = Relations(self.field.ring, ())
        self.branches: list[RationalFunction] = []
        nodes = [n for t in trees for n in walk(t)]
        self.roots = lcm(*(n.exponent.denominator for n in nodes if isinstance(n, Power)))
        self.parts = lcm(*(n.value.denominator for n in nodes if isinstance(n, Number)))
        with ctx.workprec(BITS):
            self._values = [ball(x) for x in point.values()]
        self._rules: list[list[RationalFunction]] = []

    def derivative(self, element: RationalFunction, weight: int = 0) -> RationalFunction:
        """Return the derivative along one name."""
        result = element.partial(weight)
        for k in range(len(self.generators)):
            by_generator = element.partial(len(self.known) + k)
            if not by_generator.is_zero():
                result += by_generator * self._rules[k][weight]
        return self.tidy(result)

    def is_zero(self, element: RationalFunction) -> bool:
        """Tell whether *element*, or it times conjugates that are not zero, is proved zero."""
        if self.ball(element, of=1).contains(0):
            return False
        rest = self.field.polynomial(self._reduce(element.numerator))
        pairs = zip(self.generators, self.adjoined, strict=True)
        roots = [x for g, x in pairs if g.kind == "root" and g.index == 2]
        for root in reversed(roots):
            short = len(rest.numerator) <= LONGEST_CONJUGATE
            if rest.is_zero() or not short or not self.ball(rest).contains(0):
                break
            if not self.ball(self._conjugate(rest, root)).contains(0):
                rest = self.norm(rest, root)
        return rest.is_zero()

    def ball(self, element: RationalFunction, of: int = 2) -> arb:
        """Return a ball around the value at the point; of the denominator alone for *of* = 1."""
        with ctx.workprec(BITS):
            below = evaluate(element.denominator, self._values, arb)
            return below if of == 1 else evaluate(element.numerator, self._values, arb) / below

    def sign(self, element: RationalFunction) -> int:
        """Return the proved sign at the point, 0 for an element that is zero; else Unsettled."""
        value = self.ball(element)
        if value > 0:
            return 1
        if value < 0:
            return -1
        if self.is_zero(element):
            return 0
        raise Unsettled("a sign is not decided")

    def tidy(self, element: RationalFunction) -> RationalFunction:
        """Return the element with roots reduced and square roots out of the denominator."""
        top, bottom = self._reduce(element.numerator), self._reduce(element.denominator)
        for g in reversed(self.generators):
            place = self.field.positions[g.name]
            if g.kind == "root" and g.index == 2 and bottom.degrees()[place]:
                gens = list(self.field.ring.gens())
                gens[place] = -gens[place]
                conjugate = bottom.compose(*gens, ctx=self.field.ring)
                top, bottom = self._reduce(top * conjugate), self._reduce(bottom * conjugate)
        if bottom.is_zero():
            raise Unsettled("division by zero")
        return self.field.quotient(top, bottom)

    @property
    def adjoined(self) -> tuple[RationalFunction, ...]:
        """The generators as elements."""
        first = len(self.known)
        return self.field.gens[first : first + len(self.generators)]

    def norm(self, element: RationalFunction, root: RationalFunction) -> RationalFunction:
        """Return the product with the conjugate under a square root -> -root, reduced."""
        return self.tidy(element * self._conjugate(element, root))

    def _conjugate(self, element: RationalFunction, root: RationalFunction) -> RationalFunction:
        return element.compose([-x if x == root else x for x in self.field.gens], self.field)

    def generator_of(self, element: RationalFunction) -> Generator[RationalFunction] | None:
        """Return the generator that an element is, or None."""
        pairs = zip(self.generators, self.adjoined, strict=True)
        return next((g for g, x in pairs if element == x), None)

    def index_of(self, generator: RationalFunction) -> int:
        """Return N of a root, or the divisor of the argument of an exponential or tangent."""
        found = self.generator_of(generator)
        return 1 if found is None else found.index

    def adjoin(self, kind: str, argument: RationalFunction, index: int = 1) -> RationalFunction:
        """Return the generator, a known one if there is one with a multiple of the index."""
        for g, known in zip(self.generators, self.adjoined, strict=True):
            if g.kind == kind and g.argument == argument and g.index % index == 0:
                return known
        if len(self.generators) == SLOTS:
            raise Unsettled("too many functions")
        generator = Generator(f"_{len(self.generators)}", kind, argument, index)
        element = self.field.named(generator.name)
        divisor = index * _PIECES[kind] if kind in _PIECES else 1
        with ctx.workprec(BITS):
            x = self.ball(argument) / divisor
            value = x.root(index) if kind == "root" else getattr(x, kind)()
        if not value.is_finite():
            raise Unsettled(f"{kind} is not finite at the point")
        # exp and tan, with divisors, have slopes in their values alone.
        slope = generator.slope(argument, element, argument) / divisor
        rules = [slope * self.derivative(argument, k) for k in range(len(self.known))]
        if kind == "root":
            position, one = self.field.positions[generator.name], self.field.ring.constant(1)
            relation = position, index, argument.numerator, one
            self._relations = Relations(self.field.ring, (*self._relations.known, relation))
        self.generators.append(generator)
        self._values.append(value)
        self._rules.append(rules)
        return element

    def _reduce(self, polynomial: Polynomial) -> Polynomial:
        """Replace G^N by f for every root, the latest one first."""
        return self._relations.reduced(polynomial)[0]
