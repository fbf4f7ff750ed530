"""Functions of a certificate as texts, and calls as products of others."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import cast

import sympy
from flint import fmpz_mat, fmpz_mpoly

from derive.certificate.checking import reading
from derive.certificate.checking.function import Function, constant, leading, remainder, root_of
from derive.certificate.checking.reading import Call, call_of
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, Rejected
from derive.exact.field.polynomial import factorize
from derive.exact.linear.families import LogFunction


def text_of(f: Function) -> str:
    """Return a function of a space in its names."""
    space = cast(Space, f.ring)
    names: dict[str, str] = {}
    symbols = {str(s.top) for s in space.symbols}
    for name, image in space.names.items():
        if image.bottom.is_one() and str(image.top) in symbols:
            names.setdefault(str(image.top), name)

    return reading.spelled(names, f)


def with_logs(f: LogFunction) -> str:
    """Return a function with logarithms as text."""
    return " + ".join([f"({f.rational!r})", *(f"({c!r})*log(Abs({a!r}))" for c, a in f.logs)])


def as_product(space: Space, call: Call, image: Function) -> JSON:
    """Return the definition of a root, or of a power or exponential by the factors of what it is.

    Raises:
        Rejected: another call is no product of others.
    """
    entry = {"of": call_of(call, text_of), "is": text_of(image)}
    if call.kind == "power" and root_of(call.exponent) is not None:
        return entry
    if call.kind not in ("exp", "log", "power"):
        raise Rejected(f"{call.kind} is no product of others")
    f = call.argument if call.kind == "log" else image
    return entry | {"from": _texts(prime_factors(space, f))}


def logarithm(space: Space, call: Call, f: Function | None = None) -> JSON:
    """Return a logarithm by those of the factors of its argument, or of f, which that is, or None.

    None is of what is irreducible.
    """
    found = prime_factors(space, call.argument if f is None else f)
    if [x.kind for x, _ in found] == ["log"] and found[0][1] == 1 and f is None:
        return None
    total = space.sum(space.unit(x, space.find(*x[:3])).L * n for x, n in found)
    return {"of": call_of(call, text_of), "is": text_of(total), "from": _texts(found)}


def exponential(space: Space, call: Call) -> JSON:
    """Return exp(u) by logarithms in u, and exponentials of the rest or its terms, or None.

    Those of terms of a sum are defined where they are not known.
    """
    u, sums = _without_sums(space, call.argument)
    logs = [*_logarithms(space, u)]
    u = u - space.sum(g.image * n for g, n in logs)
    rest = [] if u.is_zero() else [_multiple(space, u)]
    if rest == [None] and (*sums, *logs, *(terms := terms_of(u)))[1:]:
        rest = [_multiple(space, v) or (call._replace(argument=v), 1) for v in terms]
    parts = [*sums, *logs, *filter(None, rest)]
    return None if None in rest else combined(space, call, parts)


def _without_sums(space: Space, u: Function) -> tuple[Function, list[tuple[Call, int]]]:
    """Return a function without the terms of exponents that are known, of several, and these."""
    found = list[tuple[Call, int]]()
    for x, n in product((x for x in space.known if x.kind == "exp"), (1, -1)):
        whole, part = (_without_roots(space, f) for f in (u, x.argument * n))
        if len((whole - part).top) + len(part.top) == len(whole.top) > len(part.top) > 1:
            u, found = whole - part, [*found, (x, n)]
    return u, found


def _logarithms(space: Space, u: Function) -> Iterator[tuple[Call, int]]:
    """Yield the logarithms, and asinh, that a sum has whole multiples of."""
    for k, g in enumerate(space.generators, space.size):
        c = constant(u.partial(k)) if g.kind in ("log", "asinh") and u.uses(k) else None
        if c is not None and c.q == 1:
            yield g, int(c.p)


def combined(space: Space, call: Call, parts: Sequence[tuple[Call, int]]) -> JSON:
    """Return the definition of an exponential as a product of powers."""
    units = [(space.unit(x, space.find(*x[:3])).x, n) for x, n in parts]
    total = math.prod((x**n for x, n in units), start=space.number(1))
    total = -total if total.at(space.start) < 0 else total
    return {"of": call_of(call, text_of), "is": text_of(total), "from": _texts(parts)}


def _multiple(space: Space, u: Function) -> tuple[Call, int] | None:
    """Return an exponential exp(v) that is known, with n of u = n v."""
    for x in (x for x in space.known if x.kind == "exp" and x.argument.top):
        n = constant(_without_roots(space, u / x.argument))
        if n is not None and n.q == 1:
            return x, int(n.p)
    return None


def _texts(parts: Iterable[tuple[Call, int]]) -> list[list[str]]:
    """Return calls as texts, with their powers."""
    return [[call_of(x, text_of), str(n)] for x, n in parts]


def by_exponentials(exponents: Sequence[Function]) -> tuple[list[Function], list[list[int]]]:
    """Return a basis of all integer sums of functions, and each as such a sum of the basis."""
    below = functools.reduce(lambda a, b: a * b / a.gcd(b), (u.bottom for u in exponents))
    rows = [(u.top * (below / u.bottom)).to_dict() for u in exponents]
    monomials = sorted({m for row in rows for m in row}, reverse=True)
    table = fmpz_mat([[row.get(m, 0) for m in monomials] for row in rows])
    echelon = [row for row in table.hnf().tolist() if any(row)]
    sums = list[list[int]]()
    for rest in table.tolist():
        sums.append([])
        for row in echelon:
            at = next(k for k, x in enumerate(row) if x)
            n = int(rest[at] / row[at])
            sums[-1].append(n)
            rest = [x - n * y for x, y in zip(rest, row, strict=True)]
    ring, context = exponents[0].ring, below.context()
    tops = (context.from_dict(dict(zip(monomials, row, strict=True))) for row in echelon)
    return [ring.of(top) / ring.of(below) for top in tops], sums


def _without_roots(space: Space, f: Function) -> Function:
    """Return a quotient with the powers of roots lowered."""
    top, bottom = (reduced(space, p) for p in (f.top, f.bottom))
    return top / bottom


def terms_of(f: Function) -> list[Function]:
    """Return the terms of a sum."""
    ring, below = f.ring, f.ring.of(f.bottom)
    return [ring.of(f.top.context().from_dict({m: c})) / below for m, c in f.top.terms()]


def angles(space: Space, call: Call) -> list[list[str]]:
    """Return an angle that goes into that of a cosine n times, or two by sum and n = 1."""
    argument = call.argument
    if argument.is_zero():
        return []
    known = [
        (call_of(call, text_of), call.argument if call.kind == "cos" else call.image)
        for call in space.known
        if call.kind in ("cos", "atan")
    ]
    for name, u in known:
        n = None if u.top.is_zero() else constant(argument / u)
        if n is not None and n.q == 1:
            return [[name, str(n)]]
    for ((one, u), (other, v)), sign in product(combinations(known, 2), (1, -1)):
        if (u + v * sign - argument).is_zero():
            return [[one, "1"], [other, str(sign)]]
    raise Rejected("no angles add up to this one")


def prime_factors(space: Space, f: Function) -> list[tuple[Call, int]]:
    """Return the calls that irreducible factors, and primes, of a function are, with their powers.

    That is an exponential or a power, up to its sign, or asinh; or else a logarithm, that of it.
    """
    found = list[tuple[Call, int]]()
    for polynomial, sign in ((f.top, 1), (f.bottom, -1)):
        content, factors = factorize(polynomial)
        primes = ((space.number(p), n) for p, n in sympy.factorint(abs(int(content))).items())
        parts = [*primes, *((space.of(p), int(n)) for p, n in factors)]
        found += [(_generator(space, p), sign * n) for p, n in parts]
    return found


def _generator(space: Space, f: Function) -> Call:
    for g in space.generators:
        if g.kind in ("exp", "power") and f.top in (g.image.top, -g.image.top):
            return g
        if g.kind == "asinh" and f.same(g.argument + space.hypotenuse(g.argument)):
            return g
    return Call("log", f, space.number(0))


def reduced(space: Space, polynomial: fmpz_mpoly) -> Function:
    """Return a polynomial as its remainder by the relations over powers of their coefficients."""
    bottom = space.number(1)
    for relation, k in 2 * space.relations[::-1]:
        polynomial, n = remainder(polynomial, relation, k)
        bottom = bottom * space.of(leading(relation, k)) ** n
    return space.of(polynomial) / bottom
