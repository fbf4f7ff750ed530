"""Jets run through a straight-line program: Taylor coefficients by convolutions of integers.

A series ``sum_k X_k 2^e s^k`` has integers X_k of mpmath, of GMP or Python, on one binary grid, and
is in ``s = t/2^sigma``. With 2^sigma near the step, X_k falls with k as fast as its precision is
needed less, and a convolution is a sum of products and one shift.
Recurrences: Griewank & Walther, *Evaluating Derivatives* (SIAM, 2008), chapter 13.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import count
from operator import itemgetter, mul
from typing import TypeAlias

import mpmath
from mpmath import libmp
from mpmath.libmp import MPZ, from_man_exp

from derive.errors import NumericalError
from numerics.evaluate.numbers import Real
from numerics.integrator.builder import Instruction, Tape

Integer: TypeAlias = int
"""Or the mpz of gmpy2, which computes alike."""
Rule: TypeAlias = Iterator[None]
"""Appends one coefficient to a series at every turn."""
GUARD = 12
"""Decimal digits carried beyond those asked for."""
ZERO = MPZ(0)
_LARGEST = 1 << 26  # binary exponent, beyond which a value counts as an overflow


def bits_of(digits: int) -> int:
    """Return the bits of a number of *digits* decimal digits and the guard digits."""
    return math.ceil((digits + GUARD) * math.log2(10)) + 1


def undefined() -> NumericalError:
    """Return the error for what has no finite value."""
    return NumericalError("a value is undefined or overflows")


def real(mantissa: Integer, exponent: int) -> Real:
    """Return ``mantissa 2^exponent`` as an mpf, without rounding."""
    return mpmath.mp.make_mpf(from_man_exp(MPZ(mantissa), exponent))


def shifted(value: Integer, up: int) -> Integer:
    """Return ``value 2^up``, rounded down."""
    return value << up if up >= 0 else value >> -up


def scaled(value: Fraction | Real, bits: int) -> tuple[Integer, int]:
    """Return (mantissa, exponent) of a fraction or an mpf, with *bits* bits or one more."""
    if isinstance(value, Fraction | int):
        top, bottom = value.numerator, value.denominator
        up = bits - top.bit_length() + bottom.bit_length()
        return shifted(MPZ(top), up) // bottom, -up
    sign, mantissa, exponent, count = value._mpf_
    if not mantissa and exponent:
        raise undefined()
    up = bits - count
    return shifted(MPZ(-mantissa if sign else mantissa), up), exponent - up


class Series:
    """The coefficients ``X_k 2^e`` of one variable: integers X_k in *cells*, and one exponent e.

    The first coefficient that is not 0 has *bits* bits; e is None as long as all are 0.
    """

    __slots__ = ("bits", "cells", "exponent")

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.cells: list[Integer] = []
        self.exponent: int | None = None

    @property
    def grid(self) -> int:
        """The exponent e of a series that is not all 0."""
        assert self.exponent is not None
        return self.exponent

    def choose(self, exponent: int) -> None:
        """Set the exponent e; NumericalError where the numbers would overflow."""
        if exponent + self.bits > _LARGEST:
            raise undefined()
        self.exponent = exponent

    def fix(self, raw: Integer, exponent: int) -> int:
        """Set the grid for ``raw 2^exponent`` and no finer; return how many bits are dropped."""
        down = max(raw.bit_length() - self.bits, 0)
        self.choose(exponent + down)
        return down

    def begin(self, value: Fraction | Real) -> None:
        """Append the first coefficient, a fraction or an mpf."""
        mantissa, exponent = scaled(value, self.bits)
        if mantissa:
            self.choose(exponent)
        self.cells.append(mantissa)

    def place(self, raw: Integer, exponent: int | None) -> None:
        """Append the coefficient ``raw 2^exponent``; *exponent* matters where raw is not 0."""
        if raw and self.exponent is None:
            assert exponent is not None
            self.fix(raw, exponent)
        up = 0 if exponent is None or not raw else exponent - self.grid
        self.cells.append(shifted(raw, up))

    def size(self, k: int) -> int:
        """Return n with ``2^(n-1) <= |coefficient k| < 2^n`` where it is not 0."""
        return self.cells[k].bit_length() + self.grid

    def value(self, k: int) -> Real:
        """Return the coefficient number k as an mpf."""
        return real(self.cells[k], self.exponent or 0)


_SPAN = 1 << 16  # bits between the terms of a sum within which they may cancel
_CLOSE = 512  # bits between grids that are bridged by longer factors, not by shifts
_LAST: Callable[[list[Integer]], Integer] = itemgetter(-1)


def product(out: Series, x: Series, y: Series) -> Rule:
    """Write ``out_k = sum_i x_i y_(k-i)``."""
    a, b, write = x.cells, y.cells, out.cells.append
    while not (raw := sum(map(mul, a, reversed(b)))):
        write(ZERO)
        yield
    down = out.fix(raw, x.grid + y.grid)
    while True:
        write(raw >> down)
        yield
        raw = sum(map(mul, a, reversed(b)))


class Linear:
    """Writes ``out_k = sum_i c_i x_ik``, and a constant for k = 0; c_i over one denominator."""

    def __init__(self, values: Sequence[Fraction], bits: int) -> None:
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
        while (
            any(x.exponent is None for x in args)
            or max(x.grid for x in args) - min(x.grid for x in args) > _CLOSE
        ):
            k, up = len(out.cells), -out.grid - self.down
            moved = (
                shifted(n * x.cells[k], x.grid + up) // self.bottom
                for n, x in zip(self.tops, args, strict=True)
                if x.cells[k]
            )
            out.cells.append(sum(moved, start=ZERO))
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


Expansion: TypeAlias = tuple[list[Series], list[Series], Callable[[], object]]
"""Series of inputs and of outputs, and what appends a coefficient to the latter."""
_ARGUMENT = 4096  # bits of an argument beyond which exp overflows and sin has no meaning

_OF_ITSELF = ("exp", "sin", "cos", "sinh", "cosh")
"""Functions whose slope is made of the function itself and its partner."""


def _value(name: str, series: Series, bits: int) -> Real:
    """Apply a function that mpmath has to the first coefficient."""
    x = series.value(0)
    if x._mpf_[2] + x._mpf_[3] > _ARGUMENT and name in _OF_ITSELF:
        raise undefined()
    try:
        return mpmath.mp.make_mpf(getattr(libmp, f"mpf_{name}")(x._mpf_, bits, "n"))
    except (libmp.ComplexResult, OverflowError):
        raise undefined() from None


def _root(series: Series, q: Fraction, bits: int) -> Real:
    """Return the first coefficient to the power q, not an integer; undefined below 0."""
    x = series.value(0)
    if x < 0 or (not x and q < 0):
        raise undefined()
    root = libmp.mpf_nthroot(x._mpf_, q.denominator, bits + 10)
    return mpmath.mp.make_mpf(libmp.mpf_pow_int(root, q.numerator, bits, "n"))


def _constant(out: Series, value: Fraction) -> Rule:
    out.begin(value)
    while True:
        yield
        out.cells.append(ZERO)


def _quotient(out: Series, x: Series, y: Series) -> Rule:
    """Write ``out_k = (x_k - sum_(i<k) out_i y_(k-i)) / y_0``."""
    a, b, cells = x.cells, y.cells, out.cells
    head = b[0]
    if not head:
        raise undefined()
    while not a[-1]:
        cells.append(ZERO)
        yield
    # Bits that tell something of the quotient, and no finer than the grid of x divided by y_0.
    up = head.bit_length() - max(a[-1].bit_length() - out.bits, 0)
    out.choose(x.grid - y.grid - up)
    while True:
        cells.append((shifted(a[-1], up) - sum(map(mul, cells, reversed(b)))) // head)
        yield


def _euler(out: Series, x: Series) -> Rule:
    """Write ``out_k = k x_k``, the coefficients of ``t dx/dt``."""
    for k in count():
        out.place(k * x.cells[k], x.exponent)
        yield


def _logderivative(out: Series, x: Series) -> Rule:
    """Write the coefficients of ``t dx/dt / x``; that of t^0 is 0 even where x is 0."""
    euler = Series(out.bits)
    slope = _euler(euler, x)
    next(slope)
    out.cells.append(ZERO)
    yield
    next(slope)
    for _ in _quotient(out, euler, x):
        yield
        next(slope)


def _integral(out: Series, slope: Series, first: Real) -> Rule:
    """Write ``out_k = slope_k/k``, the slope being ``t dout/dt``."""
    out.begin(first)
    for k in count(1):
        yield
        out.place(slope.cells[k] // k, slope.exponent)


def _solution(out: Series, partner: Series, slope: Series, factor: Fraction, first: Real) -> Rule:
    """Write ``out_k = factor/k sum_i partner_i slope_(k-i)``, of ``D out = factor partner slope``.

    ``D = t d/dt`` has no constant term, so that the partner may lag by one order.
    """
    out.begin(first)
    for k in count(1):
        yield
        raw = factor.numerator * sum(map(mul, partner.cells, reversed(slope.cells)))
        exponent = partner.grid + slope.grid if raw else None
        out.place(raw // (k * factor.denominator), exponent)


class Program:
    """A tape made ready to run in fixed point, again and again."""

    def __init__(self, tape: Tape, bits: int) -> None:
        self.tape, self.bits = tape, bits
        steps = enumerate(tape.instructions)
        self._linear = {i: Linear(x.values, bits) for i, x in steps if x.op == "linear"}

    def run(self, inputs: Sequence[Series]) -> tuple[list[Series], Callable[[], object]]:
        """Return the series of the outputs, and what appends to each after the inputs."""
        steps = self.tape.instructions
        series = [inputs[int(x.values[0])] if x.op == "input" else Series(self.bits) for x in steps]
        rules = [self._rule(i, series) for i, x in enumerate(steps) if x.op != "input"]
        outputs = [series[register] for register in self.tape.outputs]
        return outputs, lambda: deque(map(next, rules), maxlen=0)

    def at(self, point: Sequence[Real]) -> tuple[Real, ...]:
        """Return the outputs at a point of fractions or mpf."""
        return tuple(x.value(0) for x in self.begin(point)[1])

    def begin(self, point: Sequence[Real]) -> Expansion:
        """Return the series of a point and of the outputs there, to order 0."""
        inputs = [Series(self.bits) for _ in self.tape.inputs]
        for series, x in zip(inputs, point, strict=True):
            series.begin(x)
        outputs, advance = self.run(inputs)
        advance()
        return inputs, outputs, advance

    def _rule(self, register: int, series: list[Series]) -> Rule:
        step = self.tape.instructions[register]
        out, args = series[register], [series[i] for i in step.args]
        match step.op:
            case "constant":
                return _constant(out, step.values[0])
            case "linear":
                return self._linear[register].rule(out, args)
            case "multiply":
                return product(out, *args)
            case "divide":
                return _quotient(out, *args)
            case "euler":
                return _euler(out, *args)
            case "logderivative":
                return _logderivative(out, *args)
        return self._transcendental(step, out, args)

    def _transcendental(self, step: Instruction, out: Series, args: list[Series]) -> Rule:
        """Return the rule of a function of args[0], whose value is taken when the rule starts."""
        x, slope = args[:2]
        match step.op:
            case "power":
                q = step.values[0]
                yield from _solution(out, out, slope, q, _root(x, q, self.bits))
            case name if name in _OF_ITSELF:
                partner = out if name == "exp" else args[2]
                sign = Fraction(-1 if name == "cos" else 1)
                yield from _solution(out, partner, slope, sign, _value(name, x, self.bits))
            case name:
                yield from _integral(out, slope, _value(name, x, self.bits))
