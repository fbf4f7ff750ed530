"""Roots and real powers in a tower: rewritten in square-free radicands and irreducible bases."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import gcd
from typing import TYPE_CHECKING

from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.generators import Generator
from derive.exact.field.polynomial import terms
from derive.exact.towers.refinement import Refine
from derive.exact.towers.splitting import Term, integer_root, linear_terms, oriented, prime_powers

if TYPE_CHECKING:
    from derive.exact.towers.tower import Tower


def rational_power(tower: Tower, A: RationalFunction, exponent: Fraction) -> RationalFunction:
    """Return A^exponent for a rational exponent, A > 0 where it is not an integer."""
    A = tower.field.embed(A)
    if exponent.denominator == 1:
        return A ** int(exponent)
    if A.is_zero():
        if exponent < 0:
            raise ZeroDivisionError("zero to a negative power")
        return A
    if tower.is_algebraic(A):
        return _nested_root(tower, A, exponent)
    content, factors = oriented(A)
    result = tower.field.one
    radicand = tower.field.one
    index = exponent.denominator
    for f, n in factors:
        result, radicand = _split_factor(tower, f, n * exponent, index, result, radicand)
    if content < 0 and radicand == 1:
        raise InputError(f"{A!r} under a root is negative: a root of a negative number")
    whole, rest = integer_root(abs(content), exponent)
    result = tower.field.embed(result) * tower.field.constant(whole)
    radicand = tower.field.embed(radicand) * tower.field.constant(rest)
    if content < 0:
        radicand = -radicand
    if radicand == 1:
        return result
    root = _root(tower, radicand, index)
    return tower.field.embed(result) * tower.field.embed(root)


def _split_factor(
    tower: Tower,
    f: RationalFunction,
    exponent: Fraction,
    index: int,
    result: RationalFunction,
    radicand: RationalFunction,
) -> tuple[RationalFunction, RationalFunction]:
    """Return result and radicand with f^exponent moved into result * radicand^(1/index)."""
    f = tower.field.embed(f)
    result, radicand = tower.field.embed(result), tower.field.embed(radicand)
    for g in tower.field.generators:
        if f == tower.field.named(g.name) and g.kind == "exp":
            factor = tower.exp(tower.field.embed(g.argument) * tower.field.constant(exponent))
            return tower.field.embed(result) * tower.field.embed(factor), radicand
        if f == tower.field.named(g.name) and g.kind == "power":
            e = tower.field.embed(g.exponent) * tower.field.constant(exponent)
            factor = tower.real_power(tower.field.embed(g.argument), e)
            return tower.field.embed(result) * tower.field.embed(factor), radicand
    whole = exponent.numerator // exponent.denominator
    rest = exponent - whole
    square = rest == 0 and whole % 2 == 0  # (f^4)^(1/2) = f^2, whatever the sign of f
    even = index % 2 == 0 and rest.denominator % 2
    if even and not square and not tower.is_positive(f):
        raise InputError(
            f"a root of an even power of {f!r} is its absolute value: write {f!r} or "
            f"-({f!r}), or declare {f!r} positive if it is a name"
        )
    return result * f**whole, radicand * f ** int(rest * index)


def _root(tower: Tower, radicand: RationalFunction, index: int) -> RationalFunction:
    """Return radicand^(1/index) for a radicand with no factor to the power *index*."""
    content, factors = oriented(radicand)
    if len(factors) == 1 and content == 1:
        f, n = factors[0]
        key = f"root {f!r}"
        unit = tower.units.get(key, 1)
        if (unit * n) % index:
            raise Refine(key, index)
        if unit > 1:
            return _new_root(tower, f, unit) ** (unit * n // index)
    shared = reduce(gcd, [n for _, n in factors], index)
    if not factors:
        shared = 1
    if shared != 1:
        radicand = _exact_root(tower, radicand, shared)
        index //= shared
    return _new_root(tower, radicand, index)


def _new_root(tower: Tower, radicand: RationalFunction, index: int) -> RationalFunction:
    generator = root_generator(radicand, index)
    if generator.name not in tower.field.positions:
        _require_new_root(tower, radicand, index)
    return tower.adjoin(generator)


def _exact_root(tower: Tower, radicand: RationalFunction, n: int) -> RationalFunction:
    content, factors = oriented(radicand)
    whole, rest = integer_root(abs(content), Fraction(1, n))
    if rest != 1 or content < 0:
        raise InputError(f"the root of {radicand!r} cannot be represented: simplify it")
    return reduce(lambda x, fn: x * fn[0] ** (fn[1] // n), factors, tower.field.constant(whole))


def _require_new_root(tower: Tower, radicand: RationalFunction, index: int) -> None:
    """Refuse a root that may be a product of roots that are there already."""
    factors = oriented(tower.field.embed(radicand))[1]
    under = _factors_under_roots(tower)
    # A relation takes this root to a power at which every factor of its own comes out whole.
    own = reduce(gcd, [n for f, n in factors if repr(f) not in under], index)
    mine = {repr(f) for f, _ in factors}
    for g in tower.field.generators:
        if g.kind != "root" or gcd(g.index, index) == 1:
            continue
        known = tower.field.embed(g.argument)
        theirs = {repr(f) for f, _ in oriented(known)[1]}
        if bool(mine) != bool(theirs):
            # Irreducible functions stay square-free over all numbers: no root of theirs is one.
            continue
        if not mine and not theirs and _coprime(radicand, known):
            continue
        if mine and not theirs & mine:
            continue
        if own == 1:
            continue
        raise InputError(
            f"the root of {radicand!r} may be a product of roots such as {g.name}: "
            "write it with these"
        )


def _factors_under_roots(tower: Tower) -> set[str]:
    return {
        repr(f)
        for g in tower.field.generators
        if g.kind == "root"
        for f, _ in oriented(tower.field.embed(g.argument))[1]
    }


def _nested_root(tower: Tower, A: RationalFunction, exponent: Fraction) -> RationalFunction:
    """Return A^exponent for A with roots in it, where A is no square in the field."""
    if exponent.denominator != 2:
        raise InputError(f"only square roots of expressions with roots are supported: {A!r}")
    others = [g for g in tower.field.generators if g.kind in ("root", "sin")]
    if len(others) > 1 or int(A.numerator.degrees()[tower.field.positions[others[0].name]]) > 1:
        raise InputError(f"sqrt({A!r}): roots inside roots are too entangled: simplify")
    position = tower.field.positions[others[0].name]
    conjugate = {tuple(e): (-c if int(e[position]) % 2 else c) for e, c in terms(A.numerator)}
    norm = A * tower.field.quotient(tower.field.ring.from_dict(conjugate), A.denominator)
    content, factors = oriented(norm)
    square = integer_root(abs(content), Fraction(1, 2))[1] == 1
    if square and all(n % 2 == 0 for _, n in factors):
        raise InputError(f"sqrt({A!r}) may be a sum of simpler roots: simplify it")
    root = tower.adjoin(root_generator(A, 2))
    return root**exponent.numerator


def real_power(tower: Tower, A: RationalFunction, exponent: RationalFunction) -> RationalFunction:
    """Return A^exponent, A > 0, for an exponent in the parameters."""
    A, exponent = tower.field.embed(A), tower.field.embed(exponent)
    if set(exponent.variables()) - tower.field.parameters:
        raise InputError(
            "an exponent must be made of parameters and numbers, not of weights: "
            "write exp(exponent*log(base))"
        )
    if exponent.is_constant():
        return tower.power(A, exponent.value())
    if tower.is_algebraic(A):
        raise InputError(f"a real power of an expression with roots is not supported: {A!r}")
    if A.is_zero():
        raise ZeroDivisionError("a real power of zero")
    content, factors = oriented(A)
    if content < 0:
        raise InputError(f"a real power of {A!r}, which is negative")
    factors += [(tower.field.constant(q), n) for q, n in prime_powers(content)]
    result = tower.field.one
    for f, n in factors:
        for term in linear_terms(tower.field.embed(exponent) * n):
            factor = _power_factor(tower, tower.field.embed(f), term)
            result = tower.field.embed(result) * tower.field.embed(factor)
    return result


def _power_factor(tower: Tower, f: RationalFunction, term: Term) -> RationalFunction:
    """Return f^(coefficient * monomial) for an irreducible f."""
    if term.monomial == 1:
        return tower.power(f, term.coefficient)
    for g in tower.field.generators:
        if f == tower.field.named(g.name) and g.kind == "exp":
            exponent = tower.field.embed(term.monomial) * tower.field.constant(term.coefficient)
            return tower.exp(tower.field.embed(g.argument) * exponent)
        if f == tower.field.named(g.name) and g.kind == "power":
            exponent = tower.field.embed(term.monomial) * tower.field.constant(term.coefficient)
            return tower.real_power(
                tower.field.embed(g.argument), tower.field.embed(g.exponent) * exponent
            )
    key = f"power {f!r} {term.monomial!r}"
    unit = tower.units.get(key, 1)
    count = term.coefficient * unit
    if count.denominator != 1:
        raise Refine(key, term.coefficient.denominator)
    exponent = term.monomial / unit
    text = repr(exponent) if repr(exponent) in exponent.field.names else f"({exponent!r})"
    base = repr(f) if repr(f) in tower.field.weights or f.is_constant() else f"({f!r})"
    generator = Generator(f"({base}**{text})", "power", f, exponent=exponent)
    return tower.adjoin(generator) ** int(count)


def root_generator(radicand: RationalFunction, index: int) -> Generator:
    """Return the generator radicand^(1/index)."""
    name = f"sqrt({radicand!r})" if index == 2 else f"(({radicand!r})**(1/{index}))"
    if index != 2 and len(radicand.variables()) == 1 and repr(radicand) == radicand.variables()[0]:
        name = f"({radicand!r}**(1/{index}))"
    return Generator(name, "root", radicand, index)


def _coprime(a: RationalFunction, b: RationalFunction) -> bool:
    x, y = a.value(), b.value()
    return gcd(int(x * x.denominator**2), int(y * y.denominator**2)) == 1
