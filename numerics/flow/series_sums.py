"""Linear combinations of series whose grids differ: the sums of a straight-line program."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import itemgetter, mul

from mpmath.libmp import MPZ

from numerics.flow.fixed_point import ZERO, Integer, Rule, Series, scaled, shifted

_SPAN = 1 << 16  # bits between the terms of a sum within which they may cancel
_CLOSE = 512  # bits between grids that are bridged by longer factors, not by shifts
_LAST: Callable[[list[Integer]], Integer] = itemgetter(-1)


class Linear:
    """Writes ``out_k = sum_i c_i x_ik``, and a constant besides for k = 0.

    The c_i are integers over one denominator: exact, unless those integers would be long.
    """

    def __init__(self, values: Sequence[Fraction], bits: int) -> None:
        """Take the c_i and the constant, and the bits of the grids."""
        self.values, self.constant = values[:-1], values[-1]
        bottom = math.lcm(*(c.denominator for c in self.values))
        tops = [c.numerator * (bottom // c.denominator) for c in self.values]
        if max(map(abs, tops)).bit_length() > bits:
            grid = min(scaled(c, bits)[1] for c in self.values)
            bottom = 1 << max(-grid, 0)
            tops = [int(c * bottom) for c in self.values]
        self.tops = [MPZ(n) for n in tops]
        low = (bottom & -bottom).bit_length() - 1
        self.bottom, self.down = bottom >> low, low  # the denominator is bottom 2^down

    def rule(self, out: Series, args: Sequence[Series]) -> Rule:
        """Start the rule on its series."""
        if len(args) == 1 and not self.constant:
            yield from self._scaling(out, args[0])
        yield from self._until_aligned(out, args)
        low = min(x.grid for x in args)
        factors = [n << (x.grid - low) for n, x in zip(self.tops, args, strict=True)]
        cells, down, bottom = [x.cells for x in args], out.grid - low + self.down, self.bottom
        if down < 0:
            factors, down = [n << -down for n in factors], 0
        write = out.cells.append
        if len(args) == 2 and bottom == 1:
            (a, b), (x, y) = factors, cells
            while True:
                write((a * x[-1] + b * y[-1]) >> down)
                yield
        while True:
            raw = sum(map(mul, factors, map(_LAST, cells))) >> down
            write(raw if bottom == 1 else raw // bottom)
            yield

    def _until_aligned(self, out: Series, args: Sequence[Series]) -> Rule:
        """Write sums until all grids are known and near each other, or for ever."""
        while out.exponent is None:
            self._first(out, args)
            yield
        while any(x.exponent is None for x in args) or _spread(args) > _CLOSE:
            out.cells.append(self._apart(out, args))
            yield

    def _scaling(self, out: Series, x: Series) -> Rule:
        """Write ``out_k = c x_k`` on the grid of x, or a finer one."""
        cells, write, top, bottom = x.cells, out.cells.append, self.tops[0], self.bottom
        while not cells[-1]:
            write(ZERO)
            yield
        up = bottom.bit_length() - 1
        out.choose(x.grid - self.down - up)
        while True:
            raw = top * cells[-1] << up
            write(raw if bottom == 1 else raw // bottom)
            yield

    def _first(self, out: Series, args: Sequence[Series]) -> None:
        """Append a sum that sets the grid, or 0; it may cancel down to the finest of all grids."""
        k = len(out.cells)
        pairs = zip(self.tops, args, strict=True)
        terms = [(n * x.cells[k], x.grid - self.down) for n, x in pairs if x.cells[k]]
        if self.constant and not k:
            terms.append(scaled(self.constant * self.bottom, out.bits + self.bottom.bit_length()))
        if not terms:
            out.cells.append(ZERO)
            return
        top = max(raw.bit_length() + exponent for raw, exponent in terms)
        low = max(min(exponent for _, exponent in terms), top - _SPAN)
        low -= self.bottom.bit_length()
        total = sum(shifted(raw, exponent - low) for raw, exponent in terms)
        out.place(total // self.bottom, low)

    def _apart(self, out: Series, args: Sequence[Series]) -> Integer:
        """Return a sum of terms on grids that are far from each other, or not yet known."""
        k, up = len(out.cells), -out.grid - self.down
        pairs = zip(self.tops, args, strict=True)
        return sum(
            (shifted(n * x.cells[k], x.grid + up) // self.bottom for n, x in pairs if x.cells[k]),
            start=ZERO,
        )


def _spread(args: Sequence[Series]) -> int:
    """Return how many bits the grids are apart."""
    grids = [x.grid for x in args]
    return max(grids) - min(grids)
