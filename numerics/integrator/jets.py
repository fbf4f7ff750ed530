"""Jets run through a straight-line program: Taylor coefficients by convolutions of integers.

A series ``sum_k X_k 2^e s^k`` is in ``s = t/2^sigma``. With 2^sigma near the step, X_k falls with k
as fast as its precision is needed less, and a convolution is a sum of products and one shift.
Recurrences: Griewank & Walther, *Evaluating Derivatives* (SIAM, 2008), chapter 13.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import count
from operator import mul
from typing import TypeAlias

import mpmath
from mpmath import libmp

from numerics.evaluate.numbers import Real
from numerics.integrator.builder import Instruction, Tape
from numerics.integrator.series_rules import (
    ZERO,
    Linear,
    Rule,
    Series,
    bits_of,
    product,
    scaled,
    shifted,
    undefined,
)

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


def propagate(
    tape: Tape, inputs: Sequence[Sequence[Real]], digits: int
) -> tuple[tuple[Real, ...], ...]:
    """Run K coefficients of each input through a tape to those of the outputs; values if K = 1."""
    bits = bits_of(digits)
    jets = [Series(bits) for _ in tape.inputs]
    outputs, advance = Program(tape, bits).run(jets)
    orders = len(inputs[0]) if inputs else 1
    for k in range(orders):
        for jet, given in zip(jets, inputs, strict=True):
            jet.place(*scaled(given[k], bits))
        advance()
    return tuple(tuple(x.value(k) for k in range(orders)) for x in outputs)
