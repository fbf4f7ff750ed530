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
from derive.exact.field.factors import factored, prime_powers
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.generators import Generator, Relations
from derive.exact.field.polynomial import Polynomial, evaluate
from derive.exact.towers.reader import TreeReader
from derive.language.functions import RECORDS
from derive.language.reader import template
from derive.language.tree import Number, Operator, Power, Tree, names, walk

BITS = 256
SLOTS = 20
_PIECES = {"exp": 1, "tan": 2}
"""Into how many pieces, beside the index, the argument of a function is cut."""
LARGEST_MULTIPLE = 64
LONGEST_CONJUGATE = 500
"""Terms of a function whose product with a conjugate is expanded."""


class Unsettled(Exception):
    """A sign is not decided at the point, or an expression has no place in the tower."""


class Elementary(TreeReader):
    """Q(names)(generators), with derivations and with values at one rational point.

    ``branches`` lists the functions whose signs at the point decided a root or a logarithm: what
    was read is valid as far as they keep these signs.

    Args:
        point: a rational value for each name.
        trees: the expressions that will be read; they tell which roots and multiples to expect.

    >>> from derive.language import parse_expression
    >>> tree = parse_expression("log(exp(w)**2) - sqrt(w**2) - w")
    >>> tower = Elementary({"w": Fraction(3)}, [tree])
    >>> tower.is_zero(tower.read(tree))
    True
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

    def read(
        self, tree: Tree, images: Mapping[str, RationalFunction] | None = None
    ) -> RationalFunction:
        """Return *tree* as an element, with elements for some names, or raise Unsettled."""
        known = {**self.known, **(images or {})}
        if unknown := set(names((tree,))) - known.keys():
            raise Unsettled(f"no number is known for {', '.join(sorted(unknown))}")
        try:
            return self.element(tree, known)
        except ZeroDivisionError:
            raise Unsettled("division by zero") from None

    def operate(
        self, operator: Operator, left: RationalFunction, right: RationalFunction
    ) -> RationalFunction:
        """Return left + right, left * right or left / right."""
        if operator == "+":
            return left + right
        return self.tidy(left * right if operator == "*" else left / self._divisor(right))

    def real_power(self, base: RationalFunction, exponent: RationalFunction) -> RationalFunction:
        """Return base**exponent = exp(exponent log(base))."""
        return self.exp(self.tidy(exponent * self.log(base)))

    def call(self, function: str, a: RationalFunction) -> RationalFunction:
        """Return function(a)."""
        a = self.tidy(a)
        if function in ("cos", "sin"):
            return self._circular(a)[function == "sin"]
        if function in ("exp", "log"):
            return self.exp(a) if function == "exp" else self.log(a)
        record = RECORDS[function]
        text = record.logarithm or record.rewritten
        if text:
            return self.tidy(self.element(template(text), {"x": a}))
        return self.adjoin(function, a)

    def _divisor(self, element: RationalFunction) -> RationalFunction:
        if self.ball(element).contains(0):
            raise Unsettled("division by what may be zero")
        return element

    def power(self, base: RationalFunction, exponent: Fraction) -> RationalFunction:
        """Return base**exponent, for a fractional one as a product over irreducible factors."""
        if exponent < 0:
            base = self._divisor(base)
        if exponent.denominator == 1:
            return self.tidy(base ** int(exponent))
        base = self.tidy(base)
        if self.sign(base) == 0:
            return self.field.zero
        if self.sign(base) <= 0:
            raise Unsettled("a root of a number that is not positive")
        result = self.field.one
        for factor, n in self._positive_factors(base):
            result *= self._factor_power(factor, n * exponent)
        return self.tidy(result)

    def _factor_power(self, factor: RationalFunction, exponent: Fraction) -> RationalFunction:
        if exponent.denominator == 1:
            return factor ** int(exponent)
        inner = self.generator_of(factor)
        if inner is not None and inner.kind == "exp":
            return self.exp(inner.argument * self.field.constant(exponent / inner.index))
        if inner is not None and inner.kind == "root":
            return self.power(inner.argument, exponent / inner.index)
        index = lcm(self.roots, exponent.denominator)
        root = self.adjoin("root", factor, index)
        return root ** int(exponent * self.index_of(root))

    def log(self, a: RationalFunction) -> RationalFunction:
        """Return log(a) as a sum over irreducible factors."""
        a = self.tidy(a)
        if self.sign(a) <= 0:
            raise Unsettled("the logarithm of a number that is not positive")
        total = self.field.zero
        for factor, n in self._positive_factors(a):
            inner = self.generator_of(factor)
            if inner is not None and inner.kind == "exp":
                total += n * inner.argument / inner.index
            elif inner is not None and inner.kind == "root":
                total += n * self.log(inner.argument) / inner.index
            else:
                total += n * self.adjoin("log", factor)
        return total

    def exp(self, a: RationalFunction) -> RationalFunction:
        """Return exp(a), rational multiples of logarithms in a turned into powers."""
        result = self.field.one
        for generator in tuple(self.generators):
            slope = a.partial(self.field.positions[generator.name])
            if generator.kind == "log" and slope.is_constant() and not slope.is_zero():
                a -= slope * self.field.named(generator.name)
                result *= self._factor_power(generator.argument, slope.value())
        if a.is_zero():
            return self.tidy(result)
        ratio, primitive = _primitive(a)
        index = lcm(self.parts, ratio.denominator)
        E = self.adjoin("exp", primitive, index)
        return self.tidy(result * E ** int(ratio * self.index_of(E)))

    def _circular(self, a: RationalFunction) -> tuple[RationalFunction, RationalFunction]:
        """Return (cos a, sin a) in the tangent of half an angle that divides a."""
        cos, sin = self.field.one, self.field.zero
        if a.is_zero():
            return cos, sin
        ratio, primitive = _primitive(a)
        tau = self.adjoin("tan", primitive, lcm(self.parts, ratio.denominator))
        n = int(ratio * self.index_of(tau))
        if abs(n) > LARGEST_MULTIPLE:
            raise Unsettled("too large a multiple of an angle")
        c, s = (1 - tau * tau) / (1 + tau * tau), 2 * tau / (1 + tau * tau)
        for _ in range(abs(n)):
            cos, sin = cos * c - sin * s, sin * c + cos * s
        return cos, sin if n > 0 else -sin

    def _positive_factors(self, base: RationalFunction) -> list[tuple[RationalFunction, int]]:
        """Return (factor, multiplicity) with product |base|, every factor positive at the point."""
        content, factors = factored(base)
        found = [(self.field.constant(q), n) for q, n in prime_powers(abs(content))]
        for f, n in factors:
            self.branches.append(f)
            found.append((f if self.sign(f) > 0 else -f, n))
        return found


def _primitive(a: RationalFunction) -> tuple[Fraction, RationalFunction]:
    """Return (ratio, a/ratio), the latter the same for all rational multiples of a."""
    above, top = a.numerator.primitive()
    below, bottom = a.denominator.primitive()
    if top.leading_coefficient() < 0:
        above, top = -above, -top
    return Fraction(int(above), int(below)), a.field.quotient(top, bottom)
