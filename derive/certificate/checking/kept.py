"""What has to stay other than 0 along the flow, shown one thing after the other.

F, its fields and all that is printed are smooth as long as no divisor, radicand, argument of a
logarithm, base of a power and no coefficient that solves a relation vanishes. Reading a text yields
these: :class:`derive.certificate.checking.reading.Reading`. Take a time up to which all of them
are other than 0, with weights that stay finite. A function p is other than 0 at that time too if

law: p^2 >= c for a conserved c > 0;
sign: all calls in p are smooth there, and p has a sign and no zero by the conditions;
slope: X_a p = h_a p or |X_a p| <= c |h_a p|, where the h_a stay finite, and p is not 0 at w_0;
value: p is a factor of the numerator of a function that is not 0 there, whose denominator is not
    0; or of the denominator of one that is finite there, whose numerator is not 0.

A call is smooth, an h finite, a denominator not 0 only by what was shown before: nothing goes in a
circle. What nothing shows is a condition, on which the rest may then rely.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Sequence
from functools import cached_property, reduce
from itertools import combinations, islice

from flint import fmpq, fmpz_mat, fmpz_mpoly

from derive.certificate.checking.flow import Field
from derive.certificate.checking.function import Function, leading, remainder, root_of, times
from derive.certificate.checking.reading import Known
from derive.certificate.checking.signs import Conditions, bounds, factors
from derive.certificate.checking.text import Rejected

MOST = 2000
"""Sums of laws that are tried, times laws: those of the fewest laws first."""


class Kept:
    """What is other than 0 along fields with bounded speeds, under conditions that hold there.

    Without any fields it is what is other than 0 however fast the weights move.

    *values* are functions that are finite and not 0, *finite* ones finite, all along the flow;
    *from_start* are those shown by their slopes, which are not 0 at w_0.
    """

    def __init__(
        self,
        fields: Sequence[Field],
        signs: Conditions,
        laws: Iterable[str],
        values: Sequence[Function] = (),
        finite: Sequence[Function] = (),
    ) -> None:
        self.fields, self.signs, self.laws, self.space = fields, signs, laws, signs.space
        self.values, self.finite = values, [*values, *finite]
        self.shown, self.from_start = set[str](), list[fmpz_mpoly]()

    def left(self, wanted: Iterable[Function]) -> list[fmpz_mpoly]:
        """Return what is not shown, in the order in which it is taken as a condition."""
        parts = {str(p): p for f in wanted for p, _ in factors(f)}
        aids = {str(p): p for f in self.finite for p, _ in factors(f)}
        open_ = [p for p in {**parts, **aids}.values() if not self._holds(p)]
        open_.sort(key=lambda p: (str(p) not in parts, max(self.space.of(p).variables), len(p)))
        found = list[fmpz_mpoly]()
        while open_ and str(open_[0]) in parts:
            p = next(filter(self._is_shown, open_), None)
            if p is None:
                found.append(p := open_[0])
            open_.remove(p)
            self.shown.add(str(p))
        return found

    def _holds(self, p: fmpz_mpoly) -> bool:
        """Tell whether p was shown before; constants are not 0 by conditions on the start."""
        return str(p) in self.shown or self.space.is_of_constants(self.space.of(p))

    def _is_shown(self, p: fmpz_mpoly) -> bool:
        f = self.space.of(p)
        if all(map(self._is_smooth, self._calls(f))) and self.signs.keeps_sign(p):
            return True
        return self._has_value(p) or self.stays_away(f) or self._is_by_slopes(p)

    def _calls(self, f: Function) -> list[Known]:
        """Return the calls in a function."""
        first, calls = self.space.size, self.space.generators
        return [calls[k - first] for k in f.variables if first <= k < first + len(calls)]

    def _is_finite(self, f: Function) -> bool:
        """Tell whether a function stays finite: its denominator is not 0, and its calls are."""
        apart = all(self._holds(p) for p, _ in f.bottom.factor()[1])
        return apart and all(map(self._is_call_finite, self._calls(f)))

    def _is_call_finite(self, call: Known) -> bool:
        if call.kind.startswith("Integral"):  # its integrand is finite at its end
            k = self.space.symbols.index(call.image) - self.space.size
            return all(map(self._is_finite, self.space.slopes[k]))
        rooted = call.kind == "power" and root_of(call.exponent)
        plain = rooted or call.kind not in ("power", "log")
        return self._is_finite(call.argument) if plain else self._is_smooth(call)

    def _is_smooth(self, call: Known) -> bool:
        based = call.kind in ("power", "log")
        apart = not based or all(self._holds(p) for p, _ in factors(call.argument))
        return apart and self._is_finite(call.argument)

    def _has_value(self, p: fmpz_mpoly) -> bool:
        """Tell whether p divides one side of a function that is finite, or not 0, as its other."""
        sides = [(f.top, f.bottom) for f in self.values]
        sides += [(f.bottom, f.top) for f in self.finite]
        of = self.space.of
        for side, other in sides:
            if not (side % p).is_zero() or not self._is_finite(of(side / p)):
                continue
            rests = [self._where(p, q) for q, _ in other.factor()[1]]
            parts = [q for r in rests for q, _ in r.factor()[1]]
            if not any(r.is_zero() for r in rests) and all(map(self._holds, parts)):
                self.from_start += [q for q in parts if str(q) not in self.shown]
                return True
        return False

    def _where(self, p: fmpz_mpoly, q: fmpz_mpoly) -> fmpz_mpoly:
        """Return q where p is 0, as far as p gives a variable and q stays finite; else q."""
        if self._holds(q) or not self._is_finite(self.space.of(q)):
            return q
        monic = (k for k, n in enumerate(p.degrees()) if n and leading(p, k).is_constant())
        return next((remainder(q, p, k)[0] for k in monic), q)

    def _is_by_slopes(self, p: fmpz_mpoly) -> bool:
        """Tell whether all |X_a p| <= |h_a p| with h_a that stay finite, if speeds are bounded."""
        space = self.space
        for x in self.fields:
            slope = space.along(x, space.of(p))
            top, bottom = slope.top, slope.bottom
            h = (space.one, bottom) if bounds(p, top) else (top, bottom * p)
            if not self._is_finite(Function(space, *h)):
                return False
        self.from_start.append(p)
        return bool(self.fields)

    @cached_property
    def _positive_laws(self) -> list[Function]:
        """Sums of laws that are positive at w_0, as numbers and by signs: those of fewest terms.

        All sums are sums of these in which no terms cancel (Rockafellar 1969, elementary vectors);
        so p^2, where it is more than one by even powers, is so than each of these times a number.
        """
        space, laws = self.space, list[tuple[Function, Function]]()
        for text in self.laws:
            with contextlib.suppress(Rejected):  # its calls may not be known here
                found = (law for law in [space.read(text)] if space.kept(law))
                laws += [(law, space.near_start(law)) for law in found]
        sums = (
            [space.sum(f[i] * (k * x) for f, x in zip(laws, n, strict=True)) for i in (0, 1)]
            for n in (_fewest_terms([law for law, _ in laws]) if laws else ())
            for k in (1, -1)
        )
        return [c for c, first in sums if self.signs.sign_of(first) == 1]

    def stays_away(self, f: Function) -> bool:
        """Tell whether f^2 >= t c for a conserved c > 0, a sum of laws, and a number t > 0."""
        c = next((c for c in self._positive_laws if self._is_above(f * f, c)), None)
        self.from_start += [] if c is None else [c.top]
        return c is not None

    def _is_above(self, f: Function, c: Function) -> bool:
        """Tell whether f >= t c for a t > 0 with which f - t c has a term less."""
        above, below = (f.top * c.bottom).to_dict(), (c.top * f.bottom).to_dict()
        ratios = {fmpq(above[m], below[m]) for m in above.keys() & below.keys()}
        return any(t > 0 and self.signs.sign_anywhere(f - c * t) == 1 for t in ratios)


def _fewest_terms(functions: Sequence[Function]) -> set[tuple[int, ...]]:
    """Return n where sum_i n_i f_i lacks functions and terms that leave it up to a factor."""
    size, below = len(functions), reduce(times, (f.bottom for f in functions))
    rows = [times(f.top, below / f.bottom).to_dict() for f in functions]
    monomials = dict.fromkeys(m for row in rows for m in row)
    lacking = [[int(i == k) for i in range(size)] for k in range(size)]
    lacking += [[int(row.get(m, 0)) for row in rows] for m in monomials]
    systems = islice(combinations(lacking, size - 1), MOST // size)
    found = (_line_of([x for row in system for x in row], size) for system in systems)
    return {n for n in found if n is not None}


def _line_of(entries: Sequence[int], size: int) -> tuple[int, ...] | None:
    """Return the whole numbers on which size - 1 equations vanish, up to a factor, if a line."""
    vectors, nullity = fmpz_mat(size - 1, size, entries).nullspace()
    if nullity != 1:
        return None
    n = [int(vectors[i, 0]) for i in range(size)]
    unit = math.gcd(*n) * (1 if max(n, key=abs) > 0 else -1)
    return tuple(x // unit for x in n)
