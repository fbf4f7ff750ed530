"""Towers of elementary functions: from expressions to elements of one exact function field.

Each function is rewritten in independent generators: exponentials and cosines of rational
multiples of distinct monomials, logarithms of distinct irreducible polynomials, roots of
square-free radicands, real powers of irreducible bases. By the structure theorem of Risch such
generators are independent over the rational functions, so that equal functions are equal
elements. Where independence is not certain the function is refused.

Source: Risch 1979 (American Journal of Mathematics 101), structure theorem; Bronstein 2005,
Symbolic Integration I, chapter 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import lcm

from derive.errors import InputError
from derive.exact.field import FunctionField, RationalFunction
from derive.exact.generators import Generator
from derive.exact.polynomial import terms
from derive.exact.positivity import is_nonnegative
from derive.exact.splitting import Term, integer_root, linear_terms, oriented
from derive.language.tree import Call, Name, Number, Operation, Power, RealPower, Tree

ROUNDS = 12
"""How often a denominator of an argument may be refined before the input is refused."""


class Refine(Exception):
    """A generator exists already with too coarse a unit: build again with a finer one."""

    def __init__(self, key: str, index: int) -> None:
        super().__init__(key)
        self.key, self.index = key, index


def build_elements(
    trees: Sequence[Tree],
    weights: Sequence[str],
    parameters: Sequence[str] = (),
    positive: Iterable[str] = (),
) -> tuple[RationalFunction, ...]:
    """Return the expressions as elements of one field Q(weights)(generators).

    Args:
        trees: the expressions.
        weights, parameters: the names in them.
        positive: names known to be positive.

    Raises:
        InputError: a function is outside what the field can represent exactly.
        ZeroDivisionError: an expression divides by zero identically.
    """
    units: dict[str, int] = {}
    for _ in range(ROUNDS):
        tower = Tower(weights, parameters, units, positive)
        try:
            elements = [tower.element(tree) for tree in trees]
        except Refine as request:
            units[request.key] = lcm(units.get(request.key, 1), request.index)
            continue
        return tuple(tower.field.embed(e) for e in elements)
    raise InputError("the fractions in the arguments of exp, sin, cos or roots are too many")


def start_images(
    field: FunctionField,
    start: Sequence[Tree],
    symbols: Sequence[str],
    parameters: Sequence[str],
    positive: Iterable[str],
) -> tuple[RationalFunction, ...]:
    """Return all variables of *field* at a start, in one field of the start symbols.

    Args:
        field: whose weights start at *start* and whose generators follow.
        start: the values of the weights.
        symbols, parameters: the names in them.
        positive: names known to be positive.

    Raises:
        InputError: a value needs a sign that is not known.
        ZeroDivisionError: a generator has a pole there.
    """
    units: dict[str, int] = {}
    for _ in range(ROUNDS):
        tower = Tower(symbols, parameters, units, positive)
        try:
            images = [tower.element(tree) for tree in start]
            for g in field.generators:
                images.append(tower.generator_at(g, dict(zip(field.names, images, strict=False))))
        except Refine as request:
            units[request.key] = lcm(units.get(request.key, 1), request.index)
            continue
        return tuple(tower.field.embed(x) for x in images)
    raise InputError("the fractions in the start values are too many")


class Tower:
    """A function field that grows by the generators that expressions need.

    Args:
        weights: the independent variables.
        parameters: constants with names.
        units: for an argument, the denominator of the unit in which it is measured.
        positive: names known to be positive, so that roots of their squares are known.
    """

    def __init__(
        self,
        weights: Sequence[str],
        parameters: Sequence[str] = (),
        units: dict[str, int] | None = None,
        positive: Iterable[str] = (),
    ) -> None:
        self.field = FunctionField(
            tuple(weights), tuple(Generator(name, "parameter") for name in parameters)
        )
        self._units = units or {}
        self._positive = frozenset(positive)

    @classmethod
    def over(cls, field: FunctionField, positive: Iterable[str] = ()) -> Tower:
        """Return a tower that starts with a field that exists."""
        tower = cls((), units=_units_of(field), positive=positive)
        tower.field = field
        return tower

    def element(self, tree: Tree) -> RationalFunction:
        """Return an expression as an element; the field may have grown."""
        match tree:
            case Number(value):
                return self.field.constant(value)
            case Name(name):
                return self.field.named(name)
            case Power(base, exponent):
                return self.power(self.element(base), exponent)
            case RealPower(base, exponent):
                return self.real_power(self.element(base), self.element(exponent))
            case Call(function, argument):
                return self.call(function, self.element(argument))
            case Operation(operator, left, right):
                x, y = self.element(left), self.element(right)
                x, y = self.field.embed(x), self.field.embed(y)
                return x + y if operator == "+" else x * y if operator == "*" else x / y
        raise InputError(f"{type(tree).__name__} is not part of the language")

    def generator_at(
        self, g: Generator, images: Mapping[str, RationalFunction]
    ) -> RationalFunction:
        """Return a generator of another field, where earlier variables have these images."""
        if g.argument is None:
            return self.field.named(g.name)

        def at(element: RationalFunction) -> RationalFunction:
            names = element.field.names
            known = [self.field.embed(images[name]) for name in names]
            return element.compose(known, self.field)

        A = at(g.argument)
        if g.kind == "root":
            return self.power(A, Fraction(1, g.index))
        if g.kind == "power":
            return self.real_power(A, at(g.exponent))
        return self.call(g.kind, A)

    def call(self, function: str, A: RationalFunction) -> RationalFunction:
        """Return function(A)."""
        match function:
            case "exp":
                return self.exp(A)
            case "log":
                return self.log(A)
            case "sin" | "cos" | "tan":
                cosine, sine = self.cosine_and_sine(A)
                cosine, sine = self.field.embed(cosine), self.field.embed(sine)
                return cosine if function == "cos" else sine if function == "sin" else sine / cosine
            case "sinh" | "cosh" | "tanh":
                E = self.exp(A)
                up, down = E + 1 / E, E - 1 / E
                return (
                    up / 2 if function == "cosh" else down / 2 if function == "sinh" else down / up
                )
            case "asinh":
                return self.asinh(A)
        raise InputError(f"{function} is not supported")

    def exp(self, A: RationalFunction) -> RationalFunction:
        """Return exp(A), a product of exponentials of the terms of A."""
        A = self.field.embed(A)
        result = self.field.one
        for term in linear_terms(A):
            logarithm = self._logarithm_in(term)
            if logarithm is not None:
                base, exponent = logarithm
                factor = self.real_power(base, exponent)
            else:
                factor = self._unit(term, "exp") ** self._count(term, "exp")
            result = self.field.embed(result) * self.field.embed(factor)
        return result

    def _logarithm_in(self, term: Term) -> tuple[RationalFunction, RationalFunction] | None:
        """Return (f, q) for a term q log(f), q free of weights, else None."""
        field = term.monomial.field
        for g in field.generators:
            if g.kind == "log":
                rest = term.monomial / field.named(g.name)
                if set(rest.variables()) <= field.parameters:
                    return field.embed(g.argument), rest * field.constant(term.coefficient)
        return None

    def _count(self, term: Term, kind: str) -> int:
        """Return how many units a term is, or ask for a finer unit."""
        key = f"{kind} {term.monomial!r}"
        count = term.coefficient * self._units.get(key, 1)
        if count.denominator != 1:
            raise Refine(key, term.coefficient.denominator)
        return int(count)

    def _unit(self, term: Term, kind: str) -> RationalFunction:
        """Return exp or cos of the unit of a term."""
        unit = self._units.get(f"{kind} {term.monomial!r}", 1)
        A = term.monomial / unit
        if kind == "exp":
            return self._adjoin(Generator(f"exp({A!r})", "exp", A))
        self._adjoin(Generator(f"cos({A!r})", "cos", A, partner=f"sin({A!r})"))
        cosine = self.field.named(f"cos({A!r})")
        sine = f"sin({A!r})"
        self._adjoin(Generator(sine, "sin", A, exponent=cosine, partner=f"cos({A!r})"))
        return self.field.named(f"cos({A!r})")

    def cosine_and_sine(self, A: RationalFunction) -> tuple[RationalFunction, RationalFunction]:
        """Return (cos A, sin A) by the addition theorem on the terms of A."""
        A = self.field.embed(A)
        cosine, sine = self.field.one, self.field.zero
        for term in linear_terms(A):
            count = self._count(term, "cos")
            self._unit(term, "cos")
            unit = term.monomial / self._units.get(f"cos {term.monomial!r}", 1)
            c = self.field.named(f"cos({unit!r})")
            s = self.field.named(f"sin({unit!r})")
            s = s if count > 0 else -s
            cosine, sine = self.field.embed(cosine), self.field.embed(sine)
            for _ in range(abs(count)):
                cosine, sine = cosine * c - sine * s, sine * c + cosine * s
        return cosine, sine

    def log(self, A: RationalFunction) -> RationalFunction:
        """Return log |A|, a sum over the irreducible factors of A."""
        A = self.field.embed(A)
        if A.is_zero():
            raise ZeroDivisionError("logarithm of zero")
        if self._is_algebraic(A):
            return self._adjoin_log(A)
        total = self.field.zero
        content, factors = oriented(A)
        for prime, n in _prime_powers(abs(content)):
            factors.append((self.field.constant(prime), n))
        for f, n in factors:
            logarithm = self._log_factor(f)
            total = self.field.embed(total) + n * self.field.embed(logarithm)
        return total

    def _log_factor(self, f: RationalFunction) -> RationalFunction:
        f = self.field.embed(f)
        for g in self.field.generators:
            if f == self.field.named(g.name):
                if g.kind == "exp":
                    return self.field.embed(g.argument)
                if g.kind == "power":
                    logarithm = self.log(self.field.embed(g.argument))
                    return self.field.embed(g.exponent) * self.field.embed(logarithm)
        return self._adjoin(Generator(f"log({f!r})", "log", f))

    def _adjoin_log(self, A: RationalFunction) -> RationalFunction:
        """Adjoin the logarithm of an element with roots, when no other logarithm is related."""
        for g in self.field.generators:
            if g.kind in ("log", "asinh") and self._is_algebraic(self.field.embed(g.argument)):
                if g.argument is not None and self.field.embed(g.argument) == A:
                    break
                raise InputError(
                    f"log({A!r}) may depend on {g.name}: use one logarithm with roots inside"
                )
        return self._adjoin(Generator(f"log({A!r})", "log", A))

    def asinh(self, A: RationalFunction) -> RationalFunction:
        """Return asinh(A); its derivative needs sqrt(1 + A^2)."""
        A = self.field.embed(A)
        if A.is_zero():
            return self.field.zero
        root = self.power(1 + A * A, Fraction(1, 2))
        A = self.field.embed(A)
        names = root.variables()
        if len(names) != 1 or not names[0].startswith("sqrt("):
            raise InputError(f"asinh({A!r}): 1 + ({A!r})**2 has a root in the field already")
        if any(
            g.kind == "log" and self._is_algebraic(self.field.embed(g.argument))
            for g in self.field.generators
        ):
            raise InputError(f"asinh({A!r}) beside a logarithm with roots inside is not supported")
        return self._adjoin(Generator(f"asinh({A!r})", "asinh", A, partner=names[0]))

    def power(self, A: RationalFunction, exponent: Fraction) -> RationalFunction:
        """Return A^exponent for a rational exponent, A > 0 where it is not an integer."""
        A = self.field.embed(A)
        if exponent.denominator == 1:
            return A ** int(exponent)
        if A.is_zero():
            if exponent < 0:
                raise ZeroDivisionError("zero to a negative power")
            return A
        if self._is_algebraic(A):
            return self._nested_root(A, exponent)
        content, factors = oriented(A)
        result = self.field.one
        radicand = self.field.one
        index = exponent.denominator
        for f, n in factors:
            result, radicand = self._split_factor(f, n * exponent, index, result, radicand)
        if content < 0 and radicand == 1:
            raise InputError(f"{A!r} under a root is negative: a root of a negative number")
        whole, rest = integer_root(abs(content), exponent)
        result = self.field.embed(result) * self.field.constant(whole)
        radicand = self.field.embed(radicand) * self.field.constant(rest)
        if content < 0:
            radicand = -radicand
        if radicand == 1:
            return result
        root = self._root(radicand, index)
        return self.field.embed(result) * self.field.embed(root)

    def _split_factor(
        self,
        f: RationalFunction,
        exponent: Fraction,
        index: int,
        result: RationalFunction,
        radicand: RationalFunction,
    ) -> tuple[RationalFunction, RationalFunction]:
        """Return result and radicand with f^exponent moved into result * radicand^(1/index)."""
        f = self.field.embed(f)
        result, radicand = self.field.embed(result), self.field.embed(radicand)
        for g in self.field.generators:
            if f == self.field.named(g.name) and g.kind == "exp":
                factor = self.exp(self.field.embed(g.argument) * self.field.constant(exponent))
                return self.field.embed(result) * self.field.embed(factor), radicand
            if f == self.field.named(g.name) and g.kind == "power":
                e = self.field.embed(g.exponent) * self.field.constant(exponent)
                factor = self.real_power(self.field.embed(g.argument), e)
                return self.field.embed(result) * self.field.embed(factor), radicand
        whole = exponent.numerator // exponent.denominator
        rest = exponent - whole
        if index % 2 == 0 and (rest.denominator % 2 or rest == 0) and not self._is_positive(f):
            raise InputError(
                f"a root of an even power of {f!r} is its absolute value: write {f!r} or "
                f"-({f!r}), or declare {f!r} positive if it is a name"
            )
        return result * f**whole, radicand * f ** int(rest * index)

    def _root(self, radicand: RationalFunction, index: int) -> RationalFunction:
        """Return radicand^(1/index) for a radicand with no factor to the power *index*."""
        content, factors = oriented(radicand)
        if len(factors) == 1 and content == 1:
            f, n = factors[0]
            key = f"root {f!r}"
            unit = self._units.get(key, 1)
            if (unit * n) % index:
                raise Refine(key, index)
            if unit > 1:
                return self._adjoin(_root_generator(f, unit)) ** (unit * n // index)
        shared = reduce(_gcd, [n for _, n in factors], index)
        if not factors:
            shared = 1
        if shared != 1:
            radicand = self._exact_root(radicand, shared)
            index //= shared
        self._require_new_root(radicand, index)
        return self._adjoin(_root_generator(radicand, index))

    def _exact_root(self, radicand: RationalFunction, n: int) -> RationalFunction:
        content, factors = oriented(radicand)
        whole, rest = integer_root(abs(content), Fraction(1, n))
        if rest != 1 or content < 0:
            raise InputError(f"the root of {radicand!r} cannot be represented: simplify it")
        return reduce(lambda x, fn: x * fn[0] ** (fn[1] // n), factors, self.field.constant(whole))

    def _require_new_root(self, radicand: RationalFunction, index: int) -> None:
        """Refuse a root that may be a product of roots that are there already."""
        for g in self.field.generators:
            if g.kind != "root" or _gcd(g.index, index) == 1:
                continue
            known = self.field.embed(g.argument)
            if known == self.field.embed(radicand) and g.index == index:
                continue
            mine = {repr(f) for f, _ in oriented(self.field.embed(radicand))[1]}
            theirs = {repr(f) for f, _ in oriented(known)[1]}
            if not mine and not theirs and _coprime(radicand, known):
                continue
            if mine and not mine <= theirs and not theirs & mine:
                continue
            if mine and mine - self._factors_under_roots():
                continue
            raise InputError(
                f"the root of {radicand!r} may be a product of roots such as {g.name}: "
                "write it with these"
            )

    def _factors_under_roots(self) -> set[str]:
        return {
            repr(f)
            for g in self.field.generators
            if g.kind == "root"
            for f, _ in oriented(self.field.embed(g.argument))[1]
        }

    def _nested_root(self, A: RationalFunction, exponent: Fraction) -> RationalFunction:
        """Return A^exponent for A with roots in it, where A is no square in the field."""
        if exponent.denominator != 2:
            raise InputError(f"only square roots of expressions with roots are supported: {A!r}")
        others = [g for g in self.field.generators if g.kind in ("root", "sin")]
        if len(others) > 1 or int(A.numerator.degrees()[self.field.positions[others[0].name]]) > 1:
            raise InputError(f"sqrt({A!r}): roots inside roots are too entangled: simplify")
        position = self.field.positions[others[0].name]
        conjugate = {tuple(e): (-c if int(e[position]) % 2 else c) for e, c in terms(A.numerator)}
        norm = A * self.field.quotient(self.field.ring.from_dict(conjugate), A.denominator)
        content, factors = oriented(norm)
        square = integer_root(abs(content), Fraction(1, 2))[1] == 1
        if square and all(n % 2 == 0 for _, n in factors):
            raise InputError(f"sqrt({A!r}) may be a sum of simpler roots: simplify it")
        root = self._adjoin(_root_generator(A, 2))
        return root**exponent.numerator

    def real_power(self, A: RationalFunction, exponent: RationalFunction) -> RationalFunction:
        """Return A^exponent, A > 0, for an exponent in the parameters."""
        A, exponent = self.field.embed(A), self.field.embed(exponent)
        if set(exponent.variables()) - self.field.parameters:
            raise InputError(
                "an exponent must be made of parameters and numbers, not of weights: "
                "write exp(exponent*log(base))"
            )
        if exponent.is_constant():
            return self.power(A, exponent.value())
        if self._is_algebraic(A):
            raise InputError(f"a real power of an expression with roots is not supported: {A!r}")
        if A.is_zero():
            raise ZeroDivisionError("a real power of zero")
        content, factors = oriented(A)
        if content < 0:
            raise InputError(f"a real power of {A!r}, which is negative")
        factors += [(self.field.constant(q), n) for q, n in _prime_powers(content)]
        result = self.field.one
        for f, n in factors:
            for term in linear_terms(self.field.embed(exponent) * n):
                factor = self._power_factor(self.field.embed(f), term)
                result = self.field.embed(result) * self.field.embed(factor)
        return result

    def _power_factor(self, f: RationalFunction, term: Term) -> RationalFunction:
        """Return f^(coefficient * monomial) for an irreducible f."""
        if term.monomial == 1:
            return self.power(f, term.coefficient)
        for g in self.field.generators:
            if f == self.field.named(g.name) and g.kind == "exp":
                exponent = self.field.embed(term.monomial) * self.field.constant(term.coefficient)
                return self.exp(self.field.embed(g.argument) * exponent)
            if f == self.field.named(g.name) and g.kind == "power":
                exponent = self.field.embed(term.monomial) * self.field.constant(term.coefficient)
                return self.real_power(
                    self.field.embed(g.argument), self.field.embed(g.exponent) * exponent
                )
        key = f"power {f!r} {term.monomial!r}"
        unit = self._units.get(key, 1)
        count = term.coefficient * unit
        if count.denominator != 1:
            raise Refine(key, term.coefficient.denominator)
        exponent = term.monomial / unit
        text = repr(exponent) if repr(exponent) in exponent.field.names else f"({exponent!r})"
        base = repr(f) if repr(f) in self.field.weights or f.is_constant() else f"({f!r})"
        generator = Generator(f"({base}**{text})", "power", f, exponent=exponent)
        return self._adjoin(generator) ** int(count)

    def _adjoin(self, generator: Generator) -> RationalFunction:
        """Return the variable of a generator, adding it to the field where it is new."""
        if generator.name not in self.field.positions:
            self.field = FunctionField(self.field.weights, (*self.field.generators, generator))
        return self.field.named(generator.name)

    def _is_algebraic(self, A: RationalFunction) -> bool:
        """Tell whether an algebraic generator occurs."""
        algebraic = {g.name for g in self.field.generators if g.kind in ("root", "sin")}
        return bool(algebraic & set(A.variables()))

    def _is_positive(self, f: RationalFunction) -> bool:
        """Tell whether a factor is known not to be negative."""
        positive = self._positive | {
            g.name for g in f.field.generators if g.kind in ("exp", "power")
        }
        return is_nonnegative(f, positive)


def _units_of(field: FunctionField) -> dict[str, int]:
    """Return the units in which the generators of a field measure their arguments."""
    units: dict[str, int] = {}
    for g in field.generators:
        if g.kind == "root" and len(oriented(g.argument)[1]) == 1:
            units[f"root {g.argument!r}"] = g.index
        elif g.kind in ("exp", "cos"):
            for term in linear_terms(g.argument):
                units[f"{g.kind} {term.monomial!r}"] = term.coefficient.denominator
        elif g.kind == "power":
            for term in linear_terms(g.exponent):
                key = f"power {g.argument!r} {term.monomial!r}"
                units[key] = term.coefficient.denominator
    return units


def _root_generator(radicand: RationalFunction, index: int) -> Generator:
    name = f"sqrt({radicand!r})" if index == 2 else f"(({radicand!r})**(1/{index}))"
    if index != 2 and len(radicand.variables()) == 1 and repr(radicand) == radicand.variables()[0]:
        name = f"({radicand!r}**(1/{index}))"
    return Generator(name, "root", radicand, index)


def _prime_powers(value: Fraction) -> list[tuple[int, int]]:
    """Return the primes of a positive rational number with their exponents."""
    from flint import fmpz

    found = [(int(q), int(n)) for q, n in fmpz(value.numerator).factor()]
    return found + [(int(q), -int(n)) for q, n in fmpz(value.denominator).factor()]


def _coprime(a: RationalFunction, b: RationalFunction) -> bool:
    x, y = a.value(), b.value()
    return _gcd(int(x * x.denominator**2), int(y * y.denominator**2)) == 1


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return abs(a)
