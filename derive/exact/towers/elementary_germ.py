"""Reading expressions of the language into a tower of elementary functions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm

from derive.exact.field.factors import factored, prime_powers
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.germ import GermField, Unsettled
from derive.exact.towers.reader import TreeReader
from derive.language.functions import RECORDS
from derive.language.reader import template
from derive.language.tree import Operator, Tree, names

LARGEST_MULTIPLE = 64


class Elementary(TreeReader, GermField):
    """A field of germs that expressions are read into, their functions brought to generators.

    >>> from derive.language import parse_expression
    >>> tree = parse_expression("log(exp(w)**2) - sqrt(w**2) - w")
    >>> tower = Elementary({"w": Fraction(3)}, [tree])
    >>> tower.is_zero(tower.read(tree))
    True
    """

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
