"""What functions of one variable tend to at the ends of an interval, by their leading terms.

Near a finite end e the variable is z = e + t or e - t with t -> 0+, else t = |z| -> infinity. There
t, exp(k z), roots and logarithms behave like c exp(r T) T^n (log T)^l, T = 1/t or t: the order
(r, n, l) of a product is the sum, and of a sum the largest, if no leading terms cancel.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from flint import fmpq, fmpz_mpoly

from derive.certificate.checking.function import Function, constant, root_of, sign
from derive.certificate.checking.reading import Known
from derive.certificate.checking.space import Space

Order: TypeAlias = tuple[fmpq, fmpq, int]
BOUNDED: Order = fmpq(0), fmpq(0), 0


class Leading(NamedTuple):
    """The order of a function and c, of which the sign alone is right where it is not *exact*.

    *whole*: nothing of a smaller order is left out, so that other terms show where it cancels.
    """

    order: Order
    c: Function
    exact: bool
    whole: bool


class End:
    """One end of the interval of a variable, the first of a space; *text* is the end.

    *relied* are functions of constants that were taken not to be 0.
    """

    def __init__(self, alone: Space, text: str, side: int) -> None:
        self.alone, z = alone, alone.symbols[0]
        self.infinite = text in ("-oo", "oo")
        self.image = z * side if self.infinite else alone.read(text) - z * side
        self.side, self.relied = side, list[Function]()
        order = (fmpq(0), fmpq(1 if self.infinite else -1), 0)
        self.known = {0: Leading(order, alone.number(1), True, True)}
        for call in alone.generators:
            k = next(k for k, s in enumerate(alone.symbols) if s.same(call.image))
            found = self._call(call)
            if found is not None:
                self.known[k] = found

    def _call(self, call: Known) -> Leading | None:
        """Return how a call behaves; None where that is not known."""
        alone, z = self.alone, self.alone.symbols[0]
        if alone.is_of_constants(call.image):
            return Leading(BOUNDED, call.image, True, True)
        one = alone.number(sign(call.image.at(alone.start)))
        if call.kind == "exp":
            k = constant(call.argument.derivative(0))
            if k is None or not call.argument.same(z * k):
                return None
            grows = (k * self.side, fmpq(0), 0) if self.infinite else BOUNDED
            return Leading(grows, alone.number(1), self.infinite, self.infinite)
        inside = self.leading(call.argument)
        if inside is None:
            return None
        (rate, n, logs), root = inside.order, root_of(call.exponent)
        if call.kind == "log" and rate == 0 and logs == 0:  # 0: bounded, of a sign not known
            return Leading((fmpq(0), fmpq(0), int(n != 0)), alone.number(n), bool(n != 0), False)
        if call.kind == "power" and root is not None and logs == 0:
            return Leading((rate / root, n / root, 0), one, False, False)
        return None

    def leading(self, f: Function) -> Leading | None:
        """Return how a function behaves; None where leading terms cancel or one is not known."""
        images, parts = [self.image, *self.alone.symbols[1:]], list[Leading]()
        for side in (f.top, f.bottom):
            near = self.alone.of(side).into(images)
            found = self._sum(near.top)
            if found is None:
                return None
            parts.append(found._replace(c=found.c * self.alone.of(near.bottom)))
        (r, n, logs), (s, m, levels) = parts[0].order, parts[1].order
        return Leading((r - s, n - m, logs - levels), parts[0].c * parts[1].c, False, False)

    def _sum(self, polynomial: fmpz_mpoly) -> Leading | None:
        """Return how a polynomial behaves: as the terms of the largest order, or the only one."""
        terms = dict[Order, list[Leading]]()
        for exponents, c in polynomial.to_dict().items():
            found = self._product(exponents, int(c))
            if found is None:
                return None
            terms.setdefault(found.order, []).append(found)
        for order in sorted(terms, reverse=True):
            group = terms[order]
            total = self.alone.sum(x.c for x in group)
            if len(group) > 1 and not all(x.exact for x in group):
                return None
            if not total.is_zero():
                self.relied.append(total)
                return Leading(order, total, group[0].exact, False)
            if not all(x.whole for x in group):
                return None
        return None

    def _product(self, exponents: tuple[int, ...], c: int) -> Leading | None:
        (rate, power, logs), exact, whole = BOUNDED, True, True
        value = self.alone.number(c)
        for k, n in enumerate(exponents):
            if n and k not in self.known:
                if not self.alone.is_of_constants(symbol := self.alone.symbols[k]):
                    return None
                value = value * symbol**n
            elif n:
                (r, m, level), factor, is_exact, is_whole = self.known[k]
                rate, power, logs = rate + r * n, power + m * n, logs + level * n
                value, exact, whole = value * factor**n, exact and is_exact, whole and is_whole
        order = rate, power, logs
        return None if value.is_zero() and order > BOUNDED else Leading(order, value, exact, whole)
