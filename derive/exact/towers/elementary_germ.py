"""Reading expressions of the language into a tower of elementary functions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm

from flint import fmpz

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import factorize
from derive.exact.towers.germ import Tower, Unsettled
from derive.language.tree import Call, Name, Number, Operation, Power, RealPower, Tree

LARGEST_MULTIPLE = 64


class Elementary(Tower):
    """A tower that expressions are read into, their functions brought to generators.

    >>> from derive.language import parse_expression
    >>> tree = parse_expression("log(exp(w)**2) - sqrt(w**2) - w")
    >>> tower = Elementary({"w": Fraction(3)}, [tree])
    >>> tower.is_zero(tower.read(tree))
    True
    """

    def read(
        self, tree: Tree, images: Mapping[str, RationalFunction] | None = None
    ) -> RationalFunction:
        """Return *tree* as an element, with elements substituted for some names.

        Raises:
            Unsettled: a branch is not decided, or the tree is undefined at the point.
        """
        try:
            return self._read(tree, {**self.known, **(images or {})})
        except ZeroDivisionError:
            raise Unsettled("division by zero") from None

    def _read(self, tree: Tree, known: Mapping[str, RationalFunction]) -> RationalFunction:
        match tree:
            case Number(value):
                return self.field.constant(value)
            case Name(name):
                return known[name]
            case Operation("+", left, right):
                return self._read(left, known) + self._read(right, known)
            case Operation("*", left, right):
                return self.tidy(self._read(left, known) * self._read(right, known))
            case Operation(_, left, right):
                below = self._divisor(self._read(right, known))
                return self.tidy(self._read(left, known) / below)
            case Power(base, exponent):
                return self.power(self._read(base, known), exponent)
            case RealPower(base, exponent):
                logarithm = self.log(self._read(base, known))
                return self.exp(self.tidy(self._read(exponent, known) * logarithm))
            case Call(function, argument):
                return self._call(function, self.tidy(self._read(argument, known)))
        raise TypeError(f"not a tree: {type(tree).__name__}")

    def _call(self, function: str, a: RationalFunction) -> RationalFunction:
        if function == "exp":
            return self.exp(a)
        if function == "log":
            return self.log(a)
        if function == "asinh":
            return self.log(self.tidy(a + self.power(a * a + 1, Fraction(1, 2))))
        if function in ("sinh", "cosh", "tanh"):
            e = self.exp(a)
            sinh, cosh = (e - 1 / e) / 2, (e + 1 / e) / 2
            return self.tidy({"sinh": sinh, "cosh": cosh, "tanh": sinh / cosh}[function])
        cos, sin = self._circular(a)
        return self.tidy({"sin": sin, "cos": cos, "tan": sin / cos}[function])

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
        if self.sign(base) == 0 and exponent > 0:
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
                total += n * self.adjoin("log", factor, 1)
        return total

    def exp(self, a: RationalFunction) -> RationalFunction:
        """Return exp(a), rational multiples of logarithms in a turned into powers."""
        result = self.field.one
        for k, generator in enumerate(tuple(self.generators)):
            slope = a.partial(len(self.known) + k)
            if generator.kind == "log" and slope.is_constant() and not slope.is_zero():
                a -= slope * self.field.gens[len(self.known) + k]
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
        found: list[tuple[RationalFunction, int]] = []
        one = self.field.ring.constant(1)
        for polynomial, side in ((base.numerator, 1), (base.denominator, -1)):
            content, factors = factorize(polynomial)
            for prime, n in fmpz(abs(content)).factor():
                found.append((self.field.constant(int(prime)), side * int(n)))
            for factor, n in factors:
                element = self.field.quotient(factor, one)
                self.branches.append(element)
                found.append((element if self.sign(element) > 0 else -element, side * n))
        return found


def _primitive(a: RationalFunction) -> tuple[Fraction, RationalFunction]:
    """Return (ratio, a/ratio), the latter the same for all rational multiples of a."""
    above, top = a.numerator.primitive()
    below, bottom = a.denominator.primitive()
    if top.leading_coefficient() < 0:
        above, top = -above, -top
    return Fraction(int(above), int(below)), a.field.quotient(top, bottom)
