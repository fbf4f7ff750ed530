"""Functions near a limit: expansions in e and l = 1/log(1/e), both to 0+, with remainders.

Every call that depends on e is given as T + v z, where T and v have no other such calls than those
before, and z is a remainder that is shown to have a limit:

root: z is near a simple zero of what P(T + v z) = 0 leaves to leading order, so that a root of P
    is T + v z with that limit of z (intermediate values): the root that is meant by its sign, or
    as the largest one, since all derivatives of P are positive there.
value: a call of an argument with a limit, z -> the call of that.
series: for v -> 0 the sum of the first terms of a power series, then v^m z, z -> the next one.

Of a polynomial in e and l the term with the lowest power of e, and of l among these, outgrows all
others, where its coefficient has a limit other than 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import factorial
from typing import TypeAlias

from flint import arb, ctx, fmpq, fmpz_mpoly

from derive.certificate.checking.function import (
    BITS,
    Function,
    Value,
    ball,
    constant,
    leading,
    not_zero,
    remainder,
    root_of,
)
from derive.certificate.checking.reading import Call, Known
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, NAME, require

Roots: TypeAlias = dict[str, tuple[str, list[str] | None]]
"""Polynomials, with what is positive at the root that is meant; None of the largest one."""

SMALL, LOG, TINY = "_e", "_l", fmpq(1, 10**9)


class Near(Space):
    """Coordinates, constants, e and l; *images* are the expansions of calls, *ends* limits of z."""

    def __init__(self, names: Sequence[str], constants: Sequence[str], room: int) -> None:
        super().__init__(names, [*constants, SMALL, LOG], 2 * room)
        self.e, self.slow = self.names[SMALL], self.names[LOG]
        self.varying = [self.size - 2, self.size - 1]
        self.images, self.ends, self.spare = list(self.symbols), list(self.symbols), room
        self.known.append(Known("log", self.e, self.number(0), -1 / self.slow))
        self.kept_signs = list[Function]()

    def at(self, numbers: Sequence[Value]) -> None:
        """Set coordinates and constants in numbers, at which signs are read."""
        with ctx.workprec(BITS):
            self.start = [*numbers, TINY, -1 / arb(TINY).log()]
        self.w0 = self.symbols[: self.weights]

    def _define_generator(self, name: str, call: Call, text: str) -> None:
        super()._define_generator(name, call, text)
        if any(f.uses(i) for f in (call.argument, call.exponent) for i in self.varying):
            self.varying.append(self.size + len(self.generators) - 1)

    def positive(self, f: Function, what: str) -> None:
        """Require that a function is positive near the limit, and keep it."""
        value = self.lead(f)[1].at(self.start)
        require(value > 0, f"{what} is not shown to be positive near the limit")
        self.signs.append(f)

    def lead(self, f: Function) -> tuple[tuple[int, int], Function]:
        """Return (r, k) and c of f = e^r l^k (c + o(1))."""
        f = self._reduced(f.into(self.images))
        (top, c), (bottom, d) = (self.lowest(p) for p in (f.top, f.bottom))
        require(not_zero(c.at(self.start)), "the leading order of a function is not shown")
        return (top[0] - bottom[0], top[1] - bottom[1]), c / d

    def _reduced(self, f: Function) -> Function:
        """Return a function with what roots without e solve put in."""
        for relation, k in (r for r in self.relations[::-1] if r[1] not in self.varying):
            lead = self.of(leading(relation, k))
            (top, n), (bottom, m) = (remainder(p, relation, k) for p in (f.top, f.bottom))
            f = self.of(top) * lead**m / (self.of(bottom) * lead**n)
        return f

    def lowest(self, p: fmpz_mpoly) -> tuple[tuple[int, int], Function]:
        """Return the lowest powers of e and l in a polynomial, and the limit of their factor."""
        i, terms = self.size - 2, p.to_dict()
        order = min((int(t[i]), int(t[i + 1])) for t in terms) if terms else (0, 0)
        kept = {(*t[:i], 0, 0, *t[i + 2 :]): c for t, c in terms.items() if t[i : i + 2] == order}
        found = Function(self, p.context().from_dict(kept), self.one)
        require(
            not any(map(found.uses, self.varying[2:])), "a call near the limit has no expansion"
        )
        return order, found.into(self.ends)

    def limit(self, f: Function) -> Function:
        """Return the limit of a function."""
        if f.is_zero() or f.into(self.images).is_zero():
            return self.number(0)
        order, c = self.lead(f)
        require(order >= (0, 0), "a function has no limit")
        return c if order == (0, 0) else self.number(0)

    def expand(self, entry: JSON, roots: Roots) -> None:
        """Accept the expansion of a call, or of a name that is a root of a polynomial."""
        name, rest, rule = entry["expand"], entry["rest"], entry["by"]
        fresh = rest not in {*self.names, *self.reserved}
        require(NAME.fullmatch(rest) and fresh, "a name is given twice")
        self.spare -= 1
        k = len(self.images) - 1 - self.spare
        z = self.names[rest] = self.symbols[k]
        image, end = self.read(entry["is"]), self.read(entry["to"])
        require(not any(map(end.uses, self.varying)), "a limit depends on e")
        if name not in self.names:
            (text, inside), self.names[name] = roots[name], image
            P, *slopes = self._at(text, name, image)
            self._root(P, k, end)
            for f in slopes if inside is None else map(self.read, inside):
                self.positive(f, "what tells a root from others")
            return
        calls = [g for g in self.generators if (g.image - self.names[name]).is_zero()]
        require(calls, "what is expanded is no call")
        call = calls[0]
        if rule == "root":
            n = root_of(call.exponent) or 0 if call.kind == "power" else 0
            require(n, "only roots are expanded as roots")
            self._root(image**n - call.argument, k, end)
            self.positive(image, "a root")
        else:
            require(rule in ("value", "series"), f"there is no rule {rule!s:.20}")
            limit = self._value if rule == "value" else self._series
            require(limit(call, image, z).same(end), "a remainder has another limit")
        self.ends[k] = end
        self.images[self.symbols.index(call.image)] = image.into(self.images)

    def _root(self, P: Function, k: int, end: Function) -> None:
        """Require that the remainder is near a simple zero of what P leaves to leading order."""
        P = self._reduced(P.into(self.images))
        (_, left), (_, below) = (self.lowest(p) for p in (P.top, P.bottom))
        images = [*self.symbols[:k], end]
        slope, below = left.partial(k).into(images), below.into(images)
        regular = not_zero(slope.at(self.start)) and not_zero(below.at(self.start))
        require(left.into(images).is_zero() and regular, "a remainder has another limit")
        self.kept_signs += [slope * slope, below * below]
        self.ends[k] = end

    def _at(self, text: str, name: str, image: Function) -> Iterator[Function]:
        """Yield a polynomial and its derivatives at an image of its variable."""
        last, before = len(self.symbols) - 1, dict(self.divisors)
        images = [*self.symbols[:last], image]
        P, found = self.read(text, {name: self.symbols[last]}).top, dict(self.divisors)
        self.divisors.clear()
        self.divisors.update(before)
        for p in (p for key, p in found.items() if key not in before):
            there = self.of(p).into(images).top
            self.divisors[str(there)] = there
        while not P.is_zero():
            yield self.of(P).into(images)
            P = P.derivative(last)

    def _value(self, call: Known, image: Function, z: Function) -> Function:
        """Return the limit of a call."""
        require(call.kind in ("exp", "atan", "asinh", "log", "sin", "cos"), "this has no value")
        require(image.same(z), "a value is its own remainder")
        u = self.limit(call.argument)
        plain = None if (x := constant(u)) is None else ball(call.kind, x, fmpq(0))
        return self.number(plain) if isinstance(plain, fmpq) else self.find(call.kind, u)

    def _series(self, call: Known, image: Function, z: Function) -> Function:
        """Return the limit of the remainder of a power series."""
        v = call.argument - int(call.kind == "log")
        require(self.lead(v)[0] > (0, 0), "the argument of a power series does not tend to 0")
        total, m = self.number(0), 0
        while not image.same(total + v**m * z):
            total, m = total + v**m * coefficient(call.kind, m), m + 1
            require(m < 20, "this is no power series with a remainder")
        return self.number(coefficient(call.kind, m))


def coefficient(kind: str, n: int) -> fmpq:
    """Return the coefficient of v^n in exp(v), log(1 + v), atan(v), asinh(v), sin(v) or cos(v)."""
    sign, odd = (-1) ** (n // 2), n % 2
    if kind == "asinh":
        below = 4 ** (n // 2) * factorial(n // 2) ** 2 * n
        return fmpq(odd * sign * factorial(n - odd), below or 1)
    found = {
        "exp": fmpq(1, factorial(n)),
        "log": fmpq(-((-1) ** n) * (n > 0), max(n, 1)),
        "atan": fmpq(odd * sign, max(n, 1)),
        "sin": fmpq(odd * sign, factorial(n)),
        "cos": fmpq((1 - odd) * sign, factorial(n)),
    }
    require(kind in found, f"{kind:.40} has no power series here")
    return found[kind]
