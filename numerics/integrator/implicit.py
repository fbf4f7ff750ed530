"""Stiff flows: collocation at the Radau points, by Newton's method with slopes in doubles.

``w_i = w_0 + h sum_j A_ij f(w_j)`` at s points c_i of (0, 1], c_s = 1, with A_ij the integral of
l_j to c_i: the method Radau IIA, L-stable (Hairer & Wanner 1996, *Solving Ordinary Differential
Equations II*, section IV.5). The equations are evaluated in fixed point; the matrix of a Newton
step is in doubles, so that each step gains the digits of these.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import flint
import numpy as np
import scipy.linalg
from mpmath.libmp import MPZ
from numpy.typing import NDArray
from scipy.special import roots_jacobi

from derive.errors import NumericalError
from numerics.evaluate.numbers import Array, Real
from numerics.integrator.builder import Instruction, Tape
from numerics.integrator.jets import Program, bits_of, real, scaled, shifted
from numerics.integrator.taylor import STEP_GUARD, Stepper, Taylor

_MORE = 8
"""Decimal digits beyond those of other engines: stiff equations multiply roundings."""
_FALL = 4
"""Decimal digits by which weights may fall before steps go on in finer units."""
_ITERATIONS = 14
_ROUGH = 1e-9
"""Relative Newton steps from which on the matrix is kept."""
_SHORTER, _LONGER = 4, 4.0
"""What a step that fails is divided by, and what the next may be multiplied by."""
_FINE = 60
"""Binary digits of a Newton step beyond those of the misfits."""
_UNKNOWNS, _MOST_DIGITS = 4000, 200
"""Weights times digits, and digits, up to which implicit steps are tried."""
_PATIENCE, _WORTH = 128, 24
"""Taylor steps before an implicit one is tried, and how much longer it must be to be worth it."""
Grid: TypeAlias = NDArray[np.object_]
"""Of integers, in units of one power of 2."""


@functools.lru_cache
def _method(stages: int, bits: int) -> tuple[Grid, Grid, Array]:
    """Return A, the last two Legendre coefficients of stage values, both 2^bits; A in doubles.

    The points are doubles near those of Radau, and A is exact for them.
    """
    points = (1 + np.append(roots_jacobi(stages - 1, 1, 0)[0], 1.0)) / 2
    with flint.ctx.workprec(2 * bits + 8 * stages):
        c = [flint.arb(float(x)) for x in points]
        powers = flint.arb_mat([[x**k for k in range(stages)] for x in c])
        integrals = flint.arb_mat([[x ** (k + 1) / (k + 1) for k in range(stages)] for x in c])
        A = (powers.transpose().solve(integrals.transpose())).transpose()
        legendre = [[(2 * x - 1).legendre_p(k) for k in range(stages)] for x in c]
        last = flint.arb_mat(legendre).inv()
        tables = [[[_fixed(x, bits) for x in row] for row in m.table()] for m in (A, last)]
    exact, tail = (np.array(t, dtype=object) for t in tables)
    return exact, tail[-2:], exact.astype(float) / 2.0**bits


def _fixed(x: flint.arb, bits: int) -> int:
    mantissa, exponent = x.mid().man_exp()
    return shifted(MPZ(int(mantissa)), int(exponent) + bits)


class Radau:
    """An integration by implicit steps, each weight accurate relative to its own size.

    Near a saddle the least weights are those that grow: none may fall to its roundings.
    """

    def __init__(self, tape: Tape, start: Sequence[Fraction | Real], digits: int) -> None:
        """Begin at time 0; *longest* and *least* bound the next step."""
        self._floor, more = bits_of(digits), spread(start)
        self.bits, self.order = bits_of(digits + more + _MORE), math.ceil(0.75 * digits) + 8
        self.time, self._tape, self._program = Fraction(0), tape, Program(tape, self.bits)
        self._tolerance = 10.0 ** -(digits + STEP_GUARD)
        self._fine = self._tolerance * 10.0**-more
        tops = (e + m.bit_length() for m, e in (scaled(x, 1) for x in start))
        self._exponent = max(map(int, tops)) - self.bits
        self._state = self._grid(start)
        self.longest, self.least = Fraction(1), Fraction(0)

    @property
    def state(self) -> tuple[Real, ...]:
        """The weights."""
        return tuple(real(MPZ(x), self._exponent) for x in self._state)

    def _grid(self, numbers: Sequence[Fraction | Real]) -> Grid:
        """Return numbers in units of 2^exponent."""
        pairs = (scaled(x, self.bits) for x in numbers)
        return np.array([int(shifted(m, e - self._exponent)) for m, e in pairs], dtype=object)

    def step(self, until: Fraction | None) -> None:
        """Take one step, no further than the time *until*; NumericalError below the least."""
        h = self.longest if until is None else min(self.longest, until - self.time)
        while h >= self.least:
            found = self._collocated(h)
            if found is not None and found[1] <= 1:
                break
            h /= _SHORTER if found is None else _ratio(1.2 * found[1] ** (1 / self.order))
        else:
            raise NumericalError("no implicit step is long enough")
        (self._state, error), self.time = found, self.time + h
        self.longest = h * _ratio(min(_LONGER, 0.9 * max(error, 1e-99) ** (-1 / self.order)))

    @property
    def fallen(self) -> bool:
        """Whether some weight is so small in these units that finer ones are due."""
        return self._room(self._state) < bits_of(_MORE - _FALL) - bits_of(0)

    def _room(self, end: Grid) -> int:
        """Return the bits of the least weight beyond those needed, negative if one fell to 0."""
        kept = (x for x, before in zip(end, self._state, strict=True) if x or before)
        return min((abs(int(x)).bit_length() for x in kept), default=self.bits) - self._floor

    def _collocated(self, h: Fraction) -> tuple[Grid, float] | None:
        """Return the end of a step and its error in units of the tolerance; None if not found."""
        A, tail, rounded = _method(self.order, self.bits)
        n, unit = len(self._state), float(max(map(abs, self._state)).bit_length())
        stages = np.tile(self._state, (self.order, 1))
        matrix, before = None, math.inf
        for _ in range(_ITERATIONS):
            try:
                slopes = np.array([self._slope(w, h) for w in stages], dtype=object)
                if matrix is None or before > _ROUGH:
                    matrix = self._matrix(stages, h, rounded)
            except NumericalError:
                return None
            left = self._state + (A @ slopes >> self.bits) - stages
            size = max(int(abs(left).max()).bit_length() - 53, 0)
            moves = scipy.linalg.lu_solve(matrix, (left >> size).astype(float).ravel())
            moves = moves.reshape(self.order, n)
            largest = float(np.abs(moves).max())
            if not (math.isfinite(largest) and largest * 2.0 ** (size - unit) < before):
                return None
            before = largest * 2.0 ** (size - unit)
            whole = [[int(x) for x in row] for row in (moves * 2.0**_FINE).tolist()]
            stages = stages + (np.array(whole, dtype=object) << size >> _FINE)
            if before < self._fine / 8:
                if self._room(stages[-1]) < 0:
                    return None
                last = abs(tail @ slopes >> self.bits).max(axis=0)
                own = np.maximum(np.maximum(abs(self._state), abs(stages[-1])), 1)
                return stages[-1], float((last / own).max()) / self._tolerance
        return None

    def _slope(self, weights: Grid, h: Fraction) -> Grid:
        """Return h f(w)."""
        slopes = self._program.at([real(MPZ(x), self._exponent) for x in weights])
        found: Grid = self._grid(slopes) * h.numerator // h.denominator
        return found

    def _matrix(self, stages: Grid, h: Fraction, A: Array) -> tuple[Array, Array]:
        """Return the factors of ``I - h A_ij f'(w_j)``."""
        down = self.bits - 64
        weights = np.ldexp((stages >> down).astype(float), self._exponent + down)
        blocks = -float(h) * np.einsum("ij,jab->iajb", A, jacobians(self._tape, weights))
        matrix = blocks.reshape(weights.size, -1) + np.eye(weights.size)
        if not np.isfinite(matrix).all():
            raise NumericalError("a slope is undefined")
        factors: tuple[Array, Array] = scipy.linalg.lu_factor(matrix, overwrite_a=True)
        return factors


def spread(weights: Sequence[Fraction | Real]) -> int:
    """Return the decimal digits between the largest weight and the least that is not 0."""
    pairs = (scaled(x, 53) for x in weights)
    tops = [int(e) + int(m).bit_length() for m, e in pairs if m]
    return math.ceil((max(tops, default=0) - min(tops, default=0)) * math.log10(2))


def _ratio(x: float) -> Fraction:
    return Fraction(math.ceil(x * 64), 64)


_DERIVATIVES: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "exp": (np.exp, np.exp),
    "log": (np.log, np.reciprocal),
    "sin": (np.sin, np.cos),
    "cos": (np.cos, lambda x: -np.sin(x)),
    "sinh": (np.sinh, np.cosh),
    "cosh": (np.cosh, np.sinh),
    "asinh": (np.arcsinh, lambda x: 1 / np.hypot(1, x)),
    "atan": (np.arctan, lambda x: 1 / (1 + x * x)),
}


def jacobians(tape: Tape, points: Array) -> Array:
    """Return the Jacobians (k, outputs, inputs) at k points (k, inputs), in doubles."""
    k, n = points.shape
    found: list[tuple[Array, Array]] = []  # values (k,) and derivatives (k, n)
    with np.errstate(all="ignore"):
        for step in tape.instructions:
            args = [found[i] for i in step.args if i < len(found)]
            found.append(_forward(step, args, points))
    return np.stack([np.broadcast_to(found[i][1], (k, n)) for i in tape.outputs], axis=1)


def _forward(
    step: Instruction, args: Sequence[tuple[Array, Array]], points: Array
) -> tuple[Array, Array]:
    """Return the value and the derivatives of one operation."""
    k, n = points.shape
    numbers = list(map(float, step.values))
    match step.op:
        case "constant" | "euler" | "logderivative":  # the latter of no use but for series
            return np.full(k, sum(numbers)), np.zeros((k, n))
        case "input":
            i = int(numbers[0])
            return points[:, i], np.broadcast_to(np.eye(n)[i], (k, n))
        case "linear":
            pairs = list(zip(numbers, args, strict=False))
            value = sum((c * x for c, (x, _) in pairs), np.full(k, numbers[-1]))
            return value, sum((c * dx for c, (_, dx) in pairs), np.zeros((k, n)))
    (x, dx), *others = args
    match step.op:
        case "multiply":
            y, dy = others[0]
            return x * y, x[:, None] * dy + y[:, None] * dx
        case "divide":
            y, dy = others[0]
            return x / y, (dx - (x / y)[:, None] * dy) / y[:, None]
        case "power":
            (q,) = numbers
            return x**q, (q * x ** (q - 1))[:, None] * dx
    function, derivative = _DERIVATIVES[step.op]
    return function(x), derivative(x)[:, None] * dx


class Automatic:
    """Taylor steps, but implicit ones where these are far longer."""

    def __init__(self, tape: Tape, start: Sequence[Fraction | Real], digits: int) -> None:
        """Begin at time 0."""
        self._tape, self._digits, self._begun = tape, digits, Fraction(0)
        self._run: Stepper = Taylor(tape, start, digits)
        self._left = self._patience = _PATIENCE
        self.order = self._run.order

    @property
    def time(self) -> Fraction:
        """The time that is over."""
        return self._begun + self._run.time

    @property
    def state(self) -> tuple[Real, ...]:
        """The weights."""
        return self._run.state

    def step(self, until: Fraction | None) -> None:
        """Take one step, no further than the time *until*."""
        run = self._run
        if isinstance(run, Radau) and run.fallen:
            self._follow(self._implicit(run.least, run.longest))
        before, left = self._run.time, None if until is None else until - self._begun
        try:
            self._run.step(left)
        except NumericalError:
            if isinstance(self._run, Taylor):
                raise
            self._wait(Taylor(self._tape, self.state, self._digits))
            self.step(until)
            return
        self._left -= 1
        if not self._left and isinstance(self._run, Taylor):
            last = self._run.time - before
            self._wait(self._implicit(_WORTH * last, 3 * _WORTH * last))

    def _implicit(self, least: Fraction, longest: Fraction) -> Stepper:
        """Return implicit steps from here on; Taylor steps where these are of too many digits."""
        digits = self._digits + spread(self.state)
        if len(self._tape.inputs) * digits > _UNKNOWNS or digits > _MOST_DIGITS:
            return Taylor(self._tape, self.state, self._digits)
        run = Radau(self._tape, self.state, self._digits)
        run.least, run.longest = least, longest
        return run

    def _wait(self, run: Stepper) -> None:
        """Go on by another engine, for longer than before."""
        self._follow(run)
        self._patience *= 2
        self._left = self._patience

    def _follow(self, run: Stepper) -> None:
        self._begun, self._run = self.time, run
