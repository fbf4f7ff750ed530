"""Arbitrary-precision Taylor integration of ``w' = f(w)`` for a straight-line program f.

Order and step: Jorba & Zou, *A software package for the numerical integration of ODEs by means of
high-order Taylor methods*, Experimental Mathematics 14:1 (2005). Coefficient recurrences: Griewank
& Walther (2008), chapter 13.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import islice
from operator import mul
from typing import Any, TypeAlias

import gmpy2  # type: ignore[import-untyped]
import mpmath
from mpmath.libmp import MPZ, from_man_exp

from derive.errors import NumericalError
from numerics.tape import Instruction, Tape

Real: TypeAlias = Any
"""A real number of mpmath or gmpy2, both of which are untyped."""
Jet: TypeAlias = list[Real]  # Taylor coefficients, that of t^k at place k
GUARD, STEP_GUARD = 12, 8
"""Decimal digits beyond those asked for: carried, and to which a step is accurate."""


class Arithmetic:
    """The number type that jets run in: correctly rounded binary floating point of MPFR.

    A subclass may put another in its place, whose numbers know + - * / and comparison.
    """

    def __init__(self, digits: int) -> None:
        """Work to *digits* decimal digits and the guard digits."""
        self.bits = math.ceil((digits + GUARD) * math.log2(10)) + 1

    def active(self) -> Any:
        """Return a context manager within which operators work to ``bits`` bits."""
        return gmpy2.context(precision=self.bits)

    def number(self, value: Fraction | Real) -> Real:
        """Convert a fraction or an mpf."""
        if isinstance(value, Fraction | int):
            return gmpy2.mpfr(gmpy2.mpq(value.numerator, value.denominator))
        sign, mantissa, exponent, _ = value._mpf_
        scale = gmpy2.mul_2exp if exponent >= 0 else gmpy2.div_2exp
        return scale(gmpy2.mpfr(-mantissa if sign else mantissa), abs(exponent))

    def real(self, value: Real) -> Real:
        """Convert to an mpf without rounding; NumericalError unless it is finite."""
        if not gmpy2.is_finite(value):
            raise NumericalError("a value is undefined or overflows")
        mantissa, exponent = value.as_mantissa_exp()
        return mpmath.mp.make_mpf(from_man_exp(MPZ(mantissa), int(exponent)))

    def dot(self, left: Iterable[Real], right: Iterable[Real]) -> Real:
        """Sum the products, to the end of the shorter one, with one rounding of the sum."""
        return gmpy2.fsum(map(mul, left, right))

    def function(self, name: str, x: Real) -> Real:
        """Apply exp, log, asinh, sin, cos, sinh or cosh; not finite where it is undefined."""
        return getattr(gmpy2, name)(x)

    def power(self, x: Real, exponent: Fraction) -> Real:
        """Return ``x^exponent``, the exponent not an integer; not finite for x < 0."""
        root = gmpy2.rootn(x, exponent.denominator)
        return root**exponent.numerator if x >= 0 else gmpy2.nan()

    def exponent(self, x: Real) -> float:
        """Return e with ``2^(e-1) <= |x| < 2^e``, or -inf for 0."""
        return float(gmpy2.frexp(x)[0]) if x else -math.inf


Rule: TypeAlias = Callable[[int], Real]
"""The coefficient number k of a register, from those of its arguments up to k."""


def _algebraic(instruction: Instruction, jets: list[Jet], out: Jet, field: Arithmetic) -> Rule:
    """Return the rule of an arithmetic instruction, k >= 0."""
    dot, zero = field.dot, field.number(Fraction(0))
    values = [field.number(value) for value in instruction.values]
    args = [jets[register] for register in instruction.args]
    match instruction.op:
        case "constant":
            return lambda k: zero if k else values[0]
        case "linear":
            shift = values.pop()
            return lambda k: dot(values, [x[k] for x in args]) + (zero if k else shift)
        case "euler":
            return lambda k: k * args[0][k]
    x, y = args[0], args[-1]
    if instruction.op == "divide":
        return lambda k: (x[k] - dot(out, reversed(y))) / y[0]
    if x is not y:
        return lambda k: dot(x, reversed(y))

    def square(k: int) -> Real:
        half = 2 * dot(islice(x, (k + 1) // 2), reversed(x))
        return half if k % 2 else half + x[k // 2] * x[k // 2]

    return square


def _transcendental(instruction: Instruction, jets: list[Jet], out: Jet, field: Arithmetic) -> Rule:
    """Return the rule of any other instruction; *out* holds its coefficients below k.

    With ``D = t d/dt``: ``D exp x = (Dx) exp x``, ``D x^a = a (Dx/x) x^a``, ``D sin x = (Dx) cos
    x``, ``D log x = Dx/x``. As D has no constant term, the sums may run over all of k..0.
    """
    dot, op = field.dot, instruction.op
    x, slope = jets[instruction.args[0]], jets[instruction.args[-1]]
    zero = field.number(Fraction(0))
    if op == "logderivative":
        return lambda k: (k * x[k] - dot(out, reversed(x))) / x[0] if k else zero
    if op == "power":
        q = instruction.values[0]
        factor = field.number(q)
        return lambda k: factor * dot(out, reversed(slope)) / k if k else field.power(x[0], q)
    if op == "exp":
        return lambda k: dot(out, reversed(slope)) / k if k else field.function(op, x[0])
    if op in ("log", "asinh"):
        return lambda k: slope[k] / k if k else field.function(op, x[0])
    euler = jets[instruction.args[1]]
    sign = -1 if op == "cos" else 1
    return lambda k: sign * dot(slope, reversed(euler)) / k if k else field.function(op, x[0])


class Program:
    """A tape made ready to run in an arithmetic, one order of the jets at a time."""

    def __init__(self, tape: Tape, field: Arithmetic) -> None:
        """Bind each instruction of *tape* to its recurrence; call within ``field.active()``."""
        self._jets: list[Jet] = [[] for _ in tape.instructions]
        self.inputs: list[Jet] = [[] for _ in tape.inputs]
        self.outputs = [self._jets[register] for register in tape.outputs]
        self._rules: list[tuple[Jet, Rule]] = []
        for out, step in zip(self._jets, tape.instructions, strict=True):
            if step.op == "input":
                rule: Rule = self.inputs[int(step.values[0])].__getitem__
            else:
                basic = step.op in ("constant", "linear", "multiply", "divide", "euler")
                rule = (_algebraic if basic else _transcendental)(step, self._jets, out, field)
            self._rules.append((out, rule))

    def clear(self) -> None:
        """Forget all coefficients."""
        for jet in (*self._jets, *self.inputs):
            jet.clear()

    def advance(self, k: int) -> None:
        """Compute the coefficients of order k; those of the inputs must be there."""
        for out, rule in self._rules:
            out.append(rule(k))


def propagate(
    tape: Tape, inputs: Sequence[Sequence[Real]], digits: int, number: type[Arithmetic] = Arithmetic
) -> tuple[tuple[Real, ...], ...]:
    """Run jets through a tape: coefficients of w_1(t) .. w_n(t) to those of each output.

    *inputs* are n sequences of K coefficients, fractions or mpf, that of t^k at place k; K = 1
    evaluates the program at a point. Each output gets K mpf. NumericalError if one is undefined.
    """
    field = number(digits)
    with field.active():
        program = Program(tape, field)
        for k in range(len(inputs[0]) if inputs else 1):
            for jet, given in zip(program.inputs, inputs, strict=True):
                jet.append(field.number(given[k]))
            program.advance(k)
        return tuple(tuple(field.real(x) for x in jet) for jet in program.outputs)


@dataclass(frozen=True, slots=True)
class TaylorResult:
    """Where an integration ended: n mpf, the time as an mpf, the steps taken and their order."""

    state: tuple[Real, ...]
    time: Real
    steps: int
    order: int


def _log_step(jets: list[Jet], order: int, accuracy: float, field: Arithmetic) -> float:
    """Return log2 of the step at which the last two coefficients fall to ``2^accuracy``.

    Jorba & Zou (2005), section 3.2: ``h_j = (eps |w| / |w_j|)^(1/j)``, which for their order is
    ``rho_j / e^2``, and their factor of safety. Here it is taken weight by weight, as small weights
    that grow keep their relative errors; near 0, the first coefficients stand for |w|.
    """
    sizes = [[field.exponent(x) for x in jet] for jet in jets]
    floor = max(size[0] for size in sizes) + accuracy
    steps = [math.inf]
    for size in sizes:
        known = [j for j in range(1, order + 1) if size[j] > -math.inf]
        start = [(0, max(size[0], floor)), *((m, size[m]) for m in known[:2])]
        # A polynomial of low degree is exact at any step.
        for j in [j for j in known[2:] if j > order // 2][-2:]:
            steps.append(max((accuracy + large - size[j]) / (j - m) for m, large in start))
    return min(steps) - 0.7 / (order - 1) * math.log2(math.e)


class _Integration:
    """The state of an integration between two steps; used within ``field.active()``."""

    def __init__(self, tape: Tape, start: Sequence[Real], digits: int, field: Arithmetic) -> None:
        self.field, self.steps, self.program = field, 0, Program(tape, field)
        self.order = math.ceil(1.15 * digits) + 10
        self.accuracy = -(digits + STEP_GUARD) * math.log2(10)
        self.state, self.time = [field.number(x) for x in start], field.number(Fraction(0))

    def result(self) -> TaylorResult:
        state = tuple(self.field.real(x) for x in self.state)
        return TaylorResult(state, self.field.real(self.time), self.steps, self.order)

    def expand(self) -> list[Jet]:
        """Return the jets of the solution here, one coefficient after the other."""
        jets, slopes = self.program.inputs, self.program.outputs
        self.program.clear()
        for jet, x in zip(jets, self.state, strict=True):
            jet.append(x)
        for k in range(self.order):
            self.program.advance(k)
            for jet, slope in zip(jets, slopes, strict=True):
                jet.append(slope[k] / (k + 1))
        for jet in jets:
            self.field.real(jet[1] + jet[-1])
        return jets

    def step(self, until: Real | None) -> None:
        """Take one step, no further than the time *until*."""
        jets = self.expand()
        if until is None and not any(x for jet in jets for x in jet[1:]):
            raise NumericalError("the solution does not move: the right-hand side is 0")
        log_step = _log_step(jets, self.order, self.accuracy, self.field)
        h = self.field.number(Fraction(1))  # for polynomials, which have no scale of their own
        if log_step < math.inf:
            h = self.field.number(mpmath.ldexp(2 ** (log_step % 1), math.floor(log_step)))
        last = until is not None and h >= until - self.time
        time, h = (until, until - self.time) if last else (self.time + h, h)
        state = [reduce(lambda value, x: value * h + x, reversed(jet)) for jet in jets]  # Horner
        if time == self.time or (until is None and state == self.state):
            raise NumericalError("a step no longer changes the state")
        self.state, self.time, self.steps = state, time, self.steps + 1


def integrate(
    tape: Tape,
    start: Sequence[Real],
    digits: int,
    stop: Callable[[tuple[Real, ...]], bool] | None = None,
    max_steps: int = 10_000,
    *,
    time: Fraction | Real | None = None,
    number: type[Arithmetic] = Arithmetic,
) -> TaylorResult:
    """Integrate ``w' = f(w)``, ``w(0) = start``, until *stop* holds or for a fixed *time*.

    Args:
        tape: f, of n inputs and n outputs.
        start: n fractions or mpf.
        digits: decimal digits; the order is about 1.15 digits + 10, as Jorba & Zou advise.
        stop: tested at the start and after each step, on a tuple of n mpf.
        max_steps: the number of steps after which to give up.
        time: the time to integrate for, >= 0, instead of *stop*.
        number: the number type to work in.

    Raises:
        NumericalError: f is undefined on the way, a step stalls, or *max_steps* is reached.
        ValueError: not one of *stop* and *time* is given, or the sizes do not fit.

    >>> from derive.language.tree import Name
    >>> from numerics.tape import compile_forward
    >>> end = integrate(compile_forward([Name("w")], ["w"]), [Fraction(1)], 30, time=Fraction(1))
    >>> mpmath.nstr(end.state[0], 30)
    '2.71828182845904523536028747135'
    """
    if (stop is None) == (time is None) or not len(start) == len(tape.inputs) == len(tape.outputs):
        raise ValueError("give one of stop and time, and as many starts as inputs and outputs")
    field = number(digits)
    with field.active():
        run = _Integration(tape, start, digits, field)
        until = None if time is None else field.number(time)
        try:
            while run.time < until if stop is None else not stop(run.result().state):
                if run.steps >= max_steps:
                    raise NumericalError(f"max_steps = {max_steps} is reached; raise it")
                run.step(until)
            return run.result()
        except NumericalError as error:
            where = f"{error} (step {run.steps}, time {mpmath.nstr(run.result().time, 6)})"
            raise NumericalError(where) from error
