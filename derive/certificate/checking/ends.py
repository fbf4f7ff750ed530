"""What functions of one variable tend to at the ends of an interval, by their leading terms.

Near a finite end e the variable is z = e + t or e - t with t -> 0+, else t = |z| -> infinity. There
t, exp(k z), roots and logarithms behave like c exp(r T) T^n (log T)^l, T = 1/t or t: the order
(r, n, l) of a product is the sum, and of a sum the largest, if no leading terms cancel.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from flint import fmpq, fmpz_mpoly

from derive.certificate.checking.function import Function, constant, root_of, sign
from derive.certificate.checking.reading import INFINITY, Known
from derive.certificate.checking.space import Space

Order: TypeAlias = tuple[fmpq, fmpq, int]
BOUNDED: Order = fmpq(0), fmpq(0), 0


class Leading(NamedTuple):
    """The order of a function and c, of which the sign alone is right where it is not *exact*."""

    order: Order
    c: Function
    exact: bool


class End:
    """One end of the interval of a variable, the first of a space; *text* is the end.

    *relied* are functions of constants that were taken not to be 0.
    """

    def __init__(self, alone: Space, text: str, side: int) -> None:
        self.alone, z = alone, alone.symbols[0]
        self.infinite = text in (INFINITY, f"-{INFINITY}")
        self.image = z * side if self.infinite else alone.read(text) - z * side
        self.side, self.relied = side, list[Function]()
        order = (fmpq(0), fmpq(1 if self.infinite else -1), 0)
        self.known = {0: Leading(order, alone.number(1), True)}
        for k, call in enumerate(alone.generators, alone.size):
            if (leading := self._call(call)) is not None:
                self.known[k] = leading

    def _call(self, call: Known) -> Leading | None:
        """Return how a call behaves; None where that is not known."""
        alone, z = self.alone, self.alone.symbols[0]
        if alone.is_of_constants(call.image):
            return Leading(BOUNDED, call.image, True)
        if call.kind == "exp":
            k = constant(call.argument.derivative(0))
            if k is None or not call.argument.same(z * k):
                return None
            grows = (k * self.side, fmpq(0), 0) if self.infinite else BOUNDED
            return Leading(grows, alone.number(1), self.infinite)
        inside = self.leading(call.argument)
        if inside is None:
            return None
        (rate, n, logs), root = inside.order, root_of(call.exponent)
        if call.kind == "log" and rate == 0 and logs == 0:  # 0: bounded, of a sign not known
            return Leading((fmpq(0), fmpq(0), int(n != 0)), alone.number(n), bool(n != 0))
        if call.kind == "power" and root is not None and logs == 0:
            one = alone.number(sign(call.image.at(alone.start)))
            return Leading((rate / root, n / root, 0), one, False)
        return None

    def leading(self, f: Function) -> Leading | None:
        """Return how a function behaves; None where leading terms cancel or one is not known."""
        images, parts = [self.image, *self.alone.symbols[1:]], list[Leading]()
        for side in (f.top, f.bottom):
            near = self.alone.of(side).into(images)
            leading = self._sum(near.top)
            if leading is None:
                return None
            parts.append(leading._replace(c=leading.c * self.alone.of(near.bottom)))
        (r, n, logs), (s, m, levels) = parts[0].order, parts[1].order
        return Leading((r - s, n - m, logs - levels), parts[0].c * parts[1].c, False)

    def _sum(self, polynomial: fmpz_mpoly) -> Leading | None:
        """Return how a polynomial behaves: as the terms of the largest order, or the only one."""
        terms = [self._product(e, int(c)) for e, c in polynomial.to_dict().items()]
        orders = [x.order for x in terms if x is not None]
        if len(orders) < len(terms) or not terms:
            return None
        group = [x for x in terms if x is not None and x.order == max(orders)]
        total = self.alone.sum(x.c for x in group)
        if total.is_zero() or (len(group) > 1 and not all(x.exact for x in group)):
            return None
        self.relied.append(total)
        return Leading(group[0].order, total, group[0].exact)

    def _product(self, exponents: tuple[int, ...], c: int) -> Leading | None:
        (rate, power, logs), exact, value = BOUNDED, True, self.alone.number(c)
        for k, n in enumerate(exponents):
            if n and k not in self.known:
                if not self.alone.is_of_constants(symbol := self.alone.symbols[k]):
                    return None
                value = value * symbol**n
            elif n:
                (r, m, level), factor, is_exact = self.known[k]
                rate, power, logs = rate + r * n, power + m * n, logs + level * n
                value, exact = value * factor**n, exact and is_exact
        order = rate, power, logs
        return None if value.is_zero() and order > BOUNDED else Leading(order, value, exact)
