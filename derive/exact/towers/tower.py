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

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from math import prod

from derive.clock import ENDLESS, Clock
from derive.errors import InputError
from derive.exact.field.factors import Term, linear_terms, oriented, prime_powers
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.generators import Generator
from derive.exact.field.polynomial import Polynomial
from derive.exact.towers.radicals import Radicals
from derive.exact.towers.reader import Refine, refined
from derive.language.functions import RECORDS
from derive.language.reader import template
from derive.language.tree import Operator, Tree

PI = "pi"
"""The name of the number: all other names are of variables."""
ANGLES = {1: Fraction(1), 2: Fraction(0), 3: Fraction(1, 4), 4: Fraction(1, 2), 6: Fraction(3, 4)}
"""The squares of cos(pi/d)."""


class Tower(Radicals):
    """A function field that grows by the generators that expressions need.

    Args:
        weights: the independent variables.
        parameters: constants with names.
        units: for an argument, the denominator of the unit in which it is measured.
        positive: names known to be positive, so that roots of their squares are known.
        clock: says how long one may compute in the field.
    """

    def __init__(
        self,
        weights: Sequence[str],
        parameters: Sequence[str] = (),
        units: dict[str, int] | None = None,
        positive: Iterable[str] = (),
        clock: Clock = ENDLESS,
    ) -> None:
        constants = tuple(Generator[RationalFunction](name, "parameter") for name in parameters)
        self.field = FunctionField(tuple(weights), constants, clock)
        self.units = units or {}
        self.positive = frozenset(positive)
        self.defined = list[RationalFunction]()

    @classmethod
    def over(
        cls,
        field: FunctionField,
        positive: Iterable[str] = (),
        units: Mapping[str, int] | None = None,
    ) -> Tower:
        """Return a tower that starts with a field that exists."""
        tower = cls((), units=_units_of(field) | {**(units or {})}, positive=positive)
        tower.field = field
        return tower

    def operate(
        self, operator: Operator, left: RationalFunction, right: RationalFunction
    ) -> RationalFunction:
        """Return left + right, left * right or left / right; the field may have grown."""
        x, y = self.field.embed(left), self.field.embed(right)
        return x + y if operator == "+" else x * y if operator == "*" else x / y

    def generator_at(
        self, g: Generator[RationalFunction], images: Mapping[str, RationalFunction]
    ) -> RationalFunction:
        """Return a generator of another field, where earlier variables have these images."""
        if g.kind == "parameter":
            return self.field.named(g.name)

        def at(element: RationalFunction) -> RationalFunction:
            known = [self.field.embed(images[name]) for name in element.field.names]
            return element.compose(known, self.field)

        A = at(g.argument)
        if g.kind == "root":
            return self.power(A, Fraction(1, g.index))
        if g.kind == "power":
            return self.real_power(A, at(g.exponent))
        # A logarithm of the other field is that of a modulus.
        return self.log(A) if g.kind == "log" else self.call(g.kind, A)

    def call(self, function: str, A: RationalFunction) -> RationalFunction:
        """Return function(A)."""
        if function in ("sin", "cos"):
            cosine, sine = self.cosine_and_sine(A)
            return self.field.embed(cosine if function == "cos" else sine)
        if function == "log":
            self.defined.append(A)
        known = {
            "exp": self._exp_where_defined,
            "log": self.log,
            "asinh": self.asinh,
            "atan": self.atan,
        }
        if function in known:
            return known[function](A)
        if (record := RECORDS.get(function)) is None or not record.rewritten:
            raise InputError(f"{function} is not supported")
        return self.element(template(record.rewritten), {"x": A})

    def exp(self, A: RationalFunction) -> RationalFunction:
        """Return exp(A), a product of exponentials of the terms of A; of log |f|, a power of f."""
        result = self.field.one
        for term in linear_terms(self.field.embed(A)):
            if (multiple := self._multiple_of(term, ("log", "asinh"))) is not None:
                g, exponent = multiple
                f = self.field.embed(g.argument)
                base = f + self.field.named(g.partner) if g.kind == "asinh" else f
                factor = self.real_power(base, exponent)
            else:
                A, n = self._measured(term, "exp")
                factor = self.adjoin(Generator(f"exp({A!r})", "exp", A)) ** n
            result = self.times(result, factor)
        return result

    def _exp_where_defined(self, A: RationalFunction) -> RationalFunction:
        """Return exp(A), in which powers of what logarithms are of are positive."""
        rest, result = self.field.embed(A), self.field.one
        open_ = dict[RationalFunction, RationalFunction]()
        for term in linear_terms(rest):
            multiple = self._multiple_of(term, ("log",))
            if multiple is None:
                continue
            f, q = self.field.embed(multiple[0].argument), multiple[1]
            sign = self.sign_where_defined(f)
            even = q.is_constant() and (q.value() / 2).denominator == 1
            if even or sign > 0:
                continue
            rest -= q * self.field.named(multiple[0].name)
            if sign:
                result = self.times(result, self.real_power(-f, q))
            else:
                open_[f] = q
        if open_:
            result = self.times(result, self._power_where_defined(open_, A))
        return self.times(result, self.exp(rest))

    def _power_where_defined(
        self, exponents: Mapping[RationalFunction, RationalFunction], A: RationalFunction
    ) -> RationalFunction:
        """Return prod_i |f_i|^q_i in exp(A): of one argument of a logarithm, or of known sign."""
        for x in reversed(self.defined):
            content, factors = oriented(self.field.embed(x))
            n = {f if f in exponents else -f: n for f, n in factors}
            rates = {q / n[f] for f, q in exponents.items() if f in n}
            if n.keys() == exponents.keys() and len(rates) == 1:
                return self.real_power(x / x.field.constant(abs(content)), rates.pop())
        if all(q.is_constant() and q.value().denominator == 1 for q in exponents.values()):
            whole = ((f, int(q.value())) for f, q in exponents.items())
            power = prod((f**n for f, n in whole), start=self.field.one)
            if sign := self.sign_where_defined(power):
                return power * sign
        raise InputError(f"exp({A!r}): signs in it are not known: write it without log")

    def _multiple_of(
        self, term: Term, kinds: Collection[str]
    ) -> tuple[Generator[RationalFunction], RationalFunction] | None:
        """Return (g, q) for a term q g, g a generator of such a kind, q free of weights."""
        field = term.monomial.field
        for g in field.generators:
            if g.kind in kinds:
                rest = term.monomial / field.named(g.name)
                if set(rest.variables()) <= field.parameters:
                    return g, rest * field.constant(term.coefficient)
        return None

    def _measured(self, term: Term, kind: str) -> tuple[RationalFunction, int]:
        """Return the unit in which a term is measured, and how many; or ask for a finer one."""
        key = f"{kind} {term.monomial!r}"
        unit = self.units.get(key, 1)
        count = term.coefficient * unit
        if count.denominator != 1:
            raise Refine(key, term.coefficient.denominator)
        return term.monomial / unit, int(count)

    def cosine_and_sine(self, A: RationalFunction) -> tuple[RationalFunction, RationalFunction]:
        """Return (cos A, sin A) by the addition theorem on the terms of A."""
        A = self.field.embed(A)
        cosine, sine = self.field.one, self.field.zero
        for term in linear_terms(A):
            if self._multiple_of(term, ("atan",)) is not None:
                raise InputError(f"sin and cos of {A!r} are algebraic: write them with roots")
            if (known := self._known_angle(term)) is None:
                unit, count = self._measured(term, "cos")
                names = f"cos({unit!r})", f"sin({unit!r})"
                c = self.adjoin(Generator(names[0], "cos", unit, partner=names[1]))
                s = self.adjoin(Generator(names[1], "sin", unit, exponent=c, partner=names[0]))
            else:
                c, s, count = known
            c, s = self.field.embed(c), self.field.embed(s if count > 0 else -s)
            cosine, sine = self.field.embed(cosine), self.field.embed(sine)
            for _ in range(abs(count)):
                cosine, sine = cosine * c - sine * s, sine * c + cosine * s
        return cosine, sine

    def _known_angle(self, term: Term) -> tuple[RationalFunction, RationalFunction, int] | None:
        """Return (cos, sin) of pi/d, and n, for a term n pi/d; None where these are not known."""
        q, field = term.coefficient, term.monomial.field
        if PI not in field.positions or term.monomial != field.named(PI):
            return None
        if (square := ANGLES.get(q.denominator)) is None:
            return None
        both = (field.constant(x) for x in (square, 1 - square))
        c, s = (x if x.is_zero() else self.power(x, Fraction(1, 2)) for x in both)
        return (-c if q.denominator == 1 else c), s, q.numerator % (2 * q.denominator)

    def log(self, A: RationalFunction) -> RationalFunction:
        """Return log |A|, a sum over the irreducible factors of A."""
        A = self.field.embed(A)
        if A.is_zero():
            raise ZeroDivisionError("logarithm of zero")
        pairs = ((self.generator_of(f), n) for f, n in oriented(A)[1])
        roots = [(g, n) for g, n in pairs if g is not None and g.kind == "root"]
        for g, n in roots:
            A = A / self.field.named(g.name) ** n
        total, factors = self.field.zero, list[tuple[RationalFunction, int]]()
        if self.is_algebraic(A):
            total = self._adjoin_log(A)
        else:
            content, factors = oriented(A)
            factors += [(self.field.constant(q), n) for q, n in prime_powers(abs(content))]
        for f, n in factors:
            logarithm = self._log_factor(f)
            total = self.field.embed(total) + n * self.field.embed(logarithm)
        for g, n in roots:
            logarithm = self.log(g.argument)
            total = self.field.embed(total) + n * self.field.embed(logarithm) / g.index
        return total

    def _log_factor(self, f: RationalFunction) -> RationalFunction:
        f = self.field.embed(f)
        if f"log({-f!r})" in self.field.positions:  # of one modulus
            return self.field.named(f"log({-f!r})")
        g = self.generator_of(f) or self.generator_of(-f)
        if g is not None and g.kind == "exp":
            return self.field.embed(g.argument)
        if g is not None and g.kind == "power":
            return self.times(g.exponent, self.log(g.argument))
        return self.adjoin(Generator(f"log({f!r})", "log", f))

    def _adjoin_log(self, A: RationalFunction) -> RationalFunction:
        """Adjoin the logarithm of an element with roots, when no other logarithm is related."""
        for g in self.field.generators:
            if g.kind in ("log", "asinh") and self.is_algebraic(self.field.embed(g.argument)):
                if self.field.embed(g.argument) == A:
                    break
                raise InputError(
                    f"log({A!r}) may depend on {g.name}: use one logarithm with roots inside"
                )
        return self.adjoin(Generator(f"log({A!r})", "log", A))

    def asinh(self, A: RationalFunction) -> RationalFunction:
        """Return asinh(A); its derivative needs sqrt(1 + A^2)."""
        A = self.field.embed(A)
        if A.is_zero():
            return self.field.zero
        root = self.element(template(RECORDS["asinh"].partner), {"x": A})
        A = self.field.embed(A)
        if not (names := root.variables()) or A.is_constant():  # asinh(3/4) = log(2)
            return self.log(A + root)
        if len(names) != 1 or not names[0].startswith("sqrt("):
            raise InputError(f"asinh({A!r}): 1 + ({A!r})**2 has a root in the field already")
        logs = (g for g in self.field.generators if g.kind == "log")
        if any(self.is_algebraic(self.field.embed(g.argument)) for g in logs):
            raise InputError(f"asinh({A!r}) beside a logarithm with roots inside is not supported")
        return self.adjoin(Generator(f"asinh({A!r})", "asinh", A, partner=names[0]))

    def atan(self, A: RationalFunction) -> RationalFunction:
        """Return atan(A), independent of others whose norms a^2 + b^2 are prime to its own.

        i atan(a/b) = log((b + i a)/(b - i a))/2: no product of powers of these is a constant then.
        """
        A = self.field.embed(A)
        if A.is_zero():
            return A
        if A.numerator.leading_coefficient() < 0:
            return -self.atan(-A)
        if self.is_algebraic(A):
            raise InputError(f"atan({A!r}): roots, sin and tan inside atan are not supported")
        for g in self.field.generators:
            other = self.field.embed(g.argument) if g.kind == "atan" else A
            if other != A and not _norm(A).gcd(_norm(other)).is_one():
                raise InputError(f"atan({A!r}) may depend on {g.name}: write one by the other")
        return self.adjoin(Generator(f"atan({A!r})", "atan", A))


def _norm(A: RationalFunction) -> Polynomial:
    """Return a^2 + b^2 for A = a/b."""
    return A.numerator * A.numerator + A.denominator * A.denominator


def _units_of(field: FunctionField) -> dict[str, int]:
    """Return the units in which the generators of a field measure their arguments."""
    units: dict[str, int] = {}
    for g in field.generators:
        if g.kind == "root" and (g.argument.is_constant() or len(oriented(g.argument)[1]) == 1):
            units[f"root {g.argument!r}"] = g.index
        elif g.kind in ("exp", "cos"):
            for term in linear_terms(g.argument):
                units[f"{g.kind} {term.monomial!r}"] = term.coefficient.denominator
        elif g.kind == "power":
            for term in linear_terms(g.exponent):
                units[f"power {g.argument!r} {term.monomial!r}"] = term.coefficient.denominator
    return units


def build_elements(
    trees: Sequence[Tree],
    weights: Sequence[str],
    parameters: Sequence[str] = (),
    positive: Iterable[str] = (),
    clock: Clock = ENDLESS,
) -> tuple[RationalFunction, ...]:
    """Return the expressions as elements of one field; InputError where they have no place."""

    def build(units: dict[str, int]) -> tuple[RationalFunction, ...]:
        tower = Tower(weights, parameters, units, positive, clock)
        elements = [tower.element(tree) for tree in trees]
        return tuple(tower.field.embed(e) for e in elements)

    return refined(build, "the fractions in the arguments of exp, sin, cos or roots")


def start_images(
    field: FunctionField,
    start: Sequence[Tree],
    symbols: Sequence[str],
    parameters: Sequence[str],
    positive: Iterable[str],
) -> tuple[RationalFunction, ...]:
    """Return all variables of *field* at *start*; InputError for signs, ZeroDivisionError."""

    def build(units: dict[str, int]) -> tuple[RationalFunction, ...]:
        tower = Tower(symbols, parameters, units, positive)
        images = dict(zip(field.names, map(tower.element, start), strict=False))
        for g in field.generators:
            images[g.name] = tower.generator_at(g, images)
        return tuple(tower.field.embed(x) for x in images.values())

    return refined(build, "the fractions in the start values")


def to_field(tree: Tree, field: FunctionField, what: str) -> RationalFunction:
    """Return *tree*, *what* in an InputError, as an element of *field*."""
    try:
        return field.embed(Tower.over(field).element(tree))
    except ZeroDivisionError:
        raise InputError(f"{what} divides by an expression that is zero") from None
    except (Refine, ValueError):
        raise InputError(f"{what} uses functions that the field does not have") from None
