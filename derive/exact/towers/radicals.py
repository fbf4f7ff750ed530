"""Roots and real powers in a tower: rewritten in square-free radicands and irreducible bases.

sqrt(12 x) = 2 sqrt(3) sqrt(x): roots of the same function with different numbers in front are
multiples of one another by roots of primes, which are independent of one another and of all other
roots. x^(D/(2 - D)) = x^(2/(2 - D))/x: real powers differ by whole ones.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import floor, gcd, prod

from derive.errors import InputError
from derive.exact.field.factors import (
    Term,
    factored,
    integer_root,
    linear_terms,
    oriented,
    prime_powers,
)
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.generators import Generator
from derive.exact.field.polynomial import terms
from derive.exact.signs import Signs
from derive.exact.towers.reader import Refine, TreeReader


class Radicals(TreeReader):
    """A function field that grows by roots and real powers.

    Attributes:
        field: the field so far.
        units: for a base, the index of the root in which its powers are measured.
        positive: names known to be positive.
        defined: arguments of logarithms as they were read, which are positive. In the field log A
            is log |A|, a sum over factors, whose signs are open.
    """

    field: FunctionField
    units: dict[str, int]
    positive: frozenset[str]
    defined: list[RationalFunction]

    @abstractmethod
    def exp(self, A: RationalFunction) -> RationalFunction:
        """Return exp(A)."""

    def times(self, x: RationalFunction, y: RationalFunction) -> RationalFunction:
        """Return a product of elements of fields that the tower went through."""
        return self.field.embed(x) * self.field.embed(y)

    def generator_of(self, f: RationalFunction) -> Generator[RationalFunction] | None:
        """Return the generator that an element of the field is, or None."""
        return next((g for g in self.field.generators if f == self.field.named(g.name)), None)

    def adjoin(self, generator: Generator[RationalFunction]) -> RationalFunction:
        """Return the variable of a generator, adding it to the field where it is new."""
        if generator.name not in self.field.positions:
            self.field = replace(self.field, generators=(*self.field.generators, generator))
        return self.field.named(generator.name)

    def is_algebraic(self, A: RationalFunction) -> bool:
        """Tell whether an algebraic generator occurs."""
        algebraic = {g.name for g in self.field.generators if g.kind in ("root", "sin")}
        return bool(algebraic & set(A.variables()))

    def is_positive(self, f: RationalFunction) -> bool:
        """Tell whether a factor is known not to be negative."""
        return self._signs.is_nonnegative(f)

    @property
    def _signs(self) -> Signs:
        calls = (g.name for g in self.field.generators if g.kind in ("exp", "power"))
        return Signs(self.positive.union(calls))

    def power(self, A: RationalFunction, exponent: Fraction) -> RationalFunction:
        """Return A^exponent for a rational exponent, A > 0 where it is not an integer."""
        A = self.field.embed(A)
        if exponent.denominator == 1 or A.is_zero():
            return A**exponent.numerator
        if self.is_algebraic(A):
            return self._nested_root(A, exponent)
        content, factors = oriented(A)
        if content < 0 and A.is_constant():
            raise InputError(f"{A!r} under a root is negative: a root of a negative number")
        if abs(content) != 1:
            # With A > 0 the rest is positive, too.
            result = self.power(A / self.field.constant(abs(content)), exponent)
            for prime, n in prime_powers(abs(content)):
                result = self.times(self._prime_power(prime, n * exponent), result)
            return result
        if abs(exponent.numerator) > 1:
            # (-w)^(2/3) is the square of a root of -w, which w^2 no longer tells from one of w.
            return self.power(A, Fraction(1, exponent.denominator)) ** exponent.numerator
        result, radicand, index = self.field.one, self.field.one, exponent.denominator
        for f, n in factors:
            f = self.field.embed(f)
            self._require_sign(f, n, n * exponent)
            raised = self._raised(f, self.field.constant(n * exponent))
            if raised is not None:
                result = self.times(result, raised)
                continue
            whole, rest = divmod(n * exponent, 1)
            result = self.times(result, f**whole)
            radicand = self.times(radicand, f ** int(rest * index))
        if content < 0 and radicand == 1:
            raise InputError(f"{A!r} under a root is negative: a root of a negative number")
        powers = ((f, n * exponent) for f, n in factors)
        result = self.field.embed(result) * self._sign_outside(A, powers)
        radicand = self.field.embed(radicand) * self.field.constant(content)
        return result if radicand == 1 else self.times(result, self._root(radicand, index))

    def _sign_outside(
        self, A: RationalFunction, powers: Iterable[tuple[RationalFunction, Fraction]]
    ) -> int:
        """Return the sign of what stands before the root of A > 0: sqrt(u/v) is sqrt(u v)/|v|."""
        odd = (f for f, q in powers if q.denominator > 1 and floor(q) % 2)
        outside = prod((f for f in odd if not self.is_positive(f)), start=A.field.one)
        if sign := self.sign_where_defined(outside, A):
            return sign
        raise InputError(
            f"a root of {A!r}, where the sign of {outside!r} is not known: write a quotient of "
            "roots or, if its names are positive, declare them (--positive)"
        )

    def sign_where_defined(self, f: RationalFunction, *others: RationalFunction) -> int:
        """Return the sign of f where logarithms are defined, and others positive; 0: not known."""
        f = self.field.embed(f)
        return 1 if f == 1 else self._signs.where_positive(f, (*self.defined, *others))

    def _prime_power(self, prime: int, exponent: Fraction) -> RationalFunction:
        """Return a power of a prime by its root of one index for all exponents."""
        key = f"root {prime}"
        unit = self.units.get(key, 1)
        if (exponent * unit).denominator != 1:
            raise Refine(key, exponent.denominator)
        number, whole = self.field.constant(prime), floor(exponent)
        if exponent == whole:
            return number**whole
        root = self._new_root(number, unit)
        return self.field.embed(number) ** whole * root ** int((exponent - whole) * unit)

    def _raised(self, f: RationalFunction, exponent: RationalFunction) -> RationalFunction | None:
        """Return f^exponent where f is an exponential or a real power, else None."""
        g = self.generator_of(f)
        if g is None or g.kind not in ("exp", "power"):
            return None
        A, exponent = self.field.embed(g.argument), self.field.embed(exponent)
        if g.kind == "exp":
            return self.exp(A * exponent)
        return self.real_power(A, self.field.embed(g.exponent) * exponent)

    def _require_sign(self, f: RationalFunction, n: int, exponent: Fraction) -> None:
        """Refuse (f^n)^(exponent/n) for even n, which is |f|^exponent, unless its sign is known."""
        smooth = n % 2 or exponent % 2 == 0  # (f^4)^(1/2) = f^2, whatever the sign of f
        if not (smooth or self.is_positive(f)):
            raise InputError(
                f"abs({f!r}), and a root of an even power of it, has a kink where {f!r} = 0: write "
                f"{f!r} or -({f!r}), or declare {f!r} positive if it is a name (--positive)"
            )

    def _root(self, radicand: RationalFunction, index: int) -> RationalFunction:
        """Return radicand^(1/index) for a radicand with no factor to the power *index*."""
        content, factors = oriented(radicand)
        if len(factors) == 1 and content == 1:
            f, n = factors[0]
            key = f"root {f!r}"
            unit = self.units.get(key, 1)
            if (unit * n) % index:
                raise Refine(key, index)
            if unit > 1:
                return self._new_root(f, unit) ** (unit * n // index)
        shared = reduce(gcd, [n for _, n in factors], index) if factors else 1
        if shared != 1:
            if content < 0:
                raise InputError(f"the root of {radicand!r} cannot be represented: simplify it")
            radicand = reduce(lambda x, fn: x * fn[0] ** (fn[1] // shared), factors, self.field.one)
            index //= shared
        return self._new_root(radicand, index)

    def _new_root(self, radicand: RationalFunction, index: int) -> RationalFunction:
        generator = root_generator(radicand, index)
        if generator.name not in self.field.positions:
            self._require_new_root(radicand, index)
        return self.adjoin(generator)

    def _require_new_root(self, radicand: RationalFunction, index: int) -> None:
        """Refuse a root that may be a product of roots that are there already, up to signs."""
        roots = [g for g in self.field.generators if g.kind == "root"]
        under = [{repr(f) for f, _ in factored(self.field.embed(g.argument))[1]} for g in roots]
        factors = factored(self.field.embed(radicand))[1]
        mine = {repr(f) for f, _ in factors}
        # A relation takes this root to a power at which every factor of its own comes out whole.
        own = reduce(gcd, [n for f, n in factors if not any(repr(f) in u for u in under)], index)
        for g, theirs in zip(roots, under, strict=True):
            if gcd(g.index, index) == 1 or own == 1 or bool(mine) != bool(theirs):
                # Irreducible functions stay square-free over all numbers: no root of theirs is one.
                continue
            if theirs & mine if mine else not _coprime(radicand, self.field.embed(g.argument)):
                raise InputError(
                    f"the root of {radicand!r} may be a product of roots such as {g.name}: "
                    "write it with these"
                )

    def _power_of_roots(
        self, A: RationalFunction, exponent: RationalFunction
    ) -> RationalFunction | None:
        """Return A^exponent by powers of what is under the roots that are factors of A, or None."""
        field, powers = A.field, dict(oriented(A)[1])
        result = field.one
        for g in (g for g in field.generators if g.kind == "root"):
            r, inside = field.named(g.name), field.embed(g.argument)
            if not (n := powers.get(r, 0)):
                continue
            m = powers.get(inside, 0)
            q = field.embed(exponent) * (m * g.index + n) / g.index
            known = q.is_constant() and (q.value() * g.index).denominator == 1
            if not known and (self.is_algebraic(inside) or len(oriented(inside)[1]) > 1):
                return None
            A, result = A / (r**n * inside**m), self.times(result, self.real_power(inside, q))
        return None if self.is_algebraic(A) else self.times(result, self.real_power(A, exponent))

    def _nested_root(self, A: RationalFunction, exponent: Fraction) -> RationalFunction:
        """Return A^exponent for A with roots in it, where A is no square in the field."""
        if (power := self._power_of_roots(A, self.field.constant(exponent))) is not None:
            return power
        if exponent.denominator != 2:
            raise InputError(f"only square roots of expressions with roots are supported: {A!r}")
        if (sum_ := self._denested(A)) is not None:
            return sum_**exponent.numerator
        others = [g for g in self.field.generators if g.kind in ("root", "sin")]
        position = self.field.positions[others[0].name]
        if len(others) > 1 or int(A.numerator.degrees()[position]) > 1:
            raise InputError(f"sqrt({A!r}): roots inside roots are too entangled: simplify")
        conjugate = {tuple(e): (-c if int(e[position]) % 2 else c) for e, c in terms(A.numerator)}
        norm = A * self.field.quotient(self.field.ring.from_dict(conjugate), A.denominator)
        content, factors = oriented(norm)
        square = integer_root(abs(content), Fraction(1, 2))[1] == 1
        if square and all(n % 2 == 0 for _, n in factors):
            raise InputError(f"sqrt({A!r}) may be a sum of simpler roots: simplify it")
        root = self.adjoin(root_generator(A, 2))
        return root**exponent.numerator

    def _denested(self, A: RationalFunction) -> RationalFunction | None:
        """Return sqrt(p + q M) = sqrt((p + s)/2) +- sqrt((p - s)/2), s^2 = p^2 - q^2 M^2, or None.

        M is a root of a number, and p, q and s are numbers.
        """
        numbers = [t.coefficient for t in linear_terms(A) if t.monomial == 1]
        others = [t for t in linear_terms(A) if t.monomial != 1]
        if len(others) != 1 or not numbers or numbers[0] < 0:
            return None
        p, q, square = numbers[0], others[0].coefficient, others[0].monomial ** 2
        if not square.is_constant():
            return None
        if p * p < q * q * square.value():
            if q > 0:
                return None
            raise InputError(f"{A!r} under a root is negative: a root of a negative number")
        s, rest = integer_root(p * p - q * q * square.value(), Fraction(1, 2))
        if rest != 1:
            return None
        first, second = (
            self.power(self.field.constant(half), Fraction(1, 2))
            for half in ((p + s) / 2, (p - s) / 2)
        )
        found = self.field.embed(first) + (1 if q > 0 else -1) * self.field.embed(second)
        return found if found * found == self.field.embed(A) else None

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
        if self.is_algebraic(A):
            if (power := self._power_of_roots(A, exponent)) is not None:
                return power
            raise InputError(f"a real power of an expression with roots is not supported: {A!r}")
        if A.is_zero():
            raise ZeroDivisionError("a real power of zero")
        whole = _polynomial_part(exponent)
        if not whole.is_zero() and whole != exponent:
            return self.times(self.real_power(A, whole), self.real_power(A, exponent - whole))
        content, factors = oriented(A)
        if content < 0:
            raise InputError(f"a real power of {A!r}, which is negative")
        factors += [(self.field.constant(q), n) for q, n in prime_powers(content)]
        result = self.field.one
        for f, n in factors:
            for term in linear_terms(self.field.embed(exponent) * n):
                result = self.times(self._power_factor(self.field.embed(f), term), result)
        return result

    def _power_factor(self, f: RationalFunction, term: Term) -> RationalFunction:
        """Return f^(coefficient * monomial) for an irreducible f."""
        if term.monomial == 1:
            return self.power(f, term.coefficient)
        monomial = self.field.embed(term.monomial)
        known = self._raised(f, self.field.constant(term.coefficient) * monomial)
        if known is not None:
            return known
        key = f"power {f!r} {monomial!r}"
        unit = self.units.get(key, 1)
        count = term.coefficient * unit
        if count.denominator != 1:
            raise Refine(key, term.coefficient.denominator)
        exponent = monomial / unit
        text = repr(exponent) if repr(exponent) in exponent.field.names else f"({exponent!r})"
        base = repr(f) if repr(f) in self.field.weights or f.is_constant() else f"({f!r})"
        generator = Generator(f"({base}**{text})", "power", f, exponent=exponent)
        return self.adjoin(generator) ** int(count)


def root_generator(radicand: RationalFunction, index: int) -> Generator[RationalFunction]:
    """Return the generator radicand^(1/index)."""
    name = f"sqrt({radicand!r})" if index == 2 else f"(({radicand!r})**(1/{index}))"
    if index != 2 and len(radicand.variables()) == 1 and repr(radicand) == radicand.variables()[0]:
        name = f"({radicand!r}**(1/{index}))"
    return Generator(name, "root", radicand, index)


def _polynomial_part(f: RationalFunction) -> RationalFunction:
    """Return the quotient of numerator by denominator, without the remainder."""
    lead = abs(int(f.denominator.leading_coefficient())) ** (1 + int(f.numerator.total_degree()))
    quotient, _ = divmod(f.numerator * lead, f.denominator)
    return f.field.quotient(quotient, f.field.ring.constant(lead))


def _coprime(a: RationalFunction, b: RationalFunction) -> bool:
    x, y = a.value(), b.value()
    return gcd(int(x * x.denominator**2), int(y * y.denominator**2)) == 1
