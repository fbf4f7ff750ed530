"""Taylor integration of ``w' = f(w)`` for a program f to any precision: Jorba & Zou 2005."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, islice
from typing import Protocol, TypeAlias

from mpmath.libmp import MPZ

from derive.errors import NumericalError
from numerics.evaluate.numbers import Real, read_number
from numerics.integrator.builder import Tape
from numerics.integrator.jets import (
    ZERO,
    Expansion,
    Integer,
    Program,
    Rule,
    Series,
    bits_of,
    real,
    scaled,
    shifted,
)

STEP_GUARD = 4
"""Decimal digits beyond those asked for, to which a step is accurate."""
_FINE = 15  # binary digits of a step
_MARGIN = 0.2  # in log2, for steps that grow
_LOWEST = 8  # order
_LOWER = (12, 8, 4, 0)  # by how much an order may change from one step to the next
_DEFECT = 8  # in log2, by how much w' may miss f(w) at the end of a step
_ROUNDING = 16  # bits of that which come from the sum of a series
_LINEAR = 130  # an order up to which linear operations cost more than convolutions
_FIXED = 2000  # what a step costs besides, in the unit of these
_GROWTH = 4  # by how many powers of 2 the scale of time may grow in one step


class Stepper(Protocol):
    """An integration that is under way."""

    order: int

    @property
    def time(self) -> Fraction: ...  # noqa: D102

    @property
    def state(self) -> tuple[Real, ...]: ...  # noqa: D102

    def step(self, until: Fraction | None) -> None: ...  # noqa: D102


Engine: TypeAlias = Callable[[Tape, Sequence[Real], int], Stepper]
"""Starts an integration of a tape, at a start, to so many digits."""


@dataclass(frozen=True, slots=True)
class TaylorResult:
    """Where an integration ended: n mpf and the time; its steps, their greatest order and sizes."""

    state: tuple[Real, ...]
    time: Real
    steps: int
    order: int
    smallest: Real
    largest: Real


def _slope_rule(out: Series, slope: Series, factor: Fraction, sigma: int) -> Rule:
    """Write ``w_(k+1) = 2^sigma c f_k/(k+1)`` for ``w' = c f`` in the time ``t/2^sigma``."""
    cells, given = out.cells, slope.cells
    top, bottom = MPZ(factor.numerator), factor.denominator
    for k in count():
        if given[k]:
            break
        cells.append(ZERO)
        yield
    if out.exponent is None:
        raw = top * given[k] << bottom.bit_length()
        out.fix(raw // bottom, slope.grid + sigma - bottom.bit_length())
    up = slope.grid + sigma - out.grid
    top, down = top << max(up, 0), max(-up, 0)
    for k in count(k + 1):  # noqa: B020
        raw = top * given[k - 1]  # not the last, where the slope is a weight that is further
        cells.append((raw >> down if down else raw) // (k * bottom))
        yield


def _log_steps(jets: Sequence[Series], accuracy: float, orders: Sequence[int]) -> list[float]:
    """Return, for each order, log2 of the step at which its last terms fall to ``2^accuracy``.

    ``h_j = (eps |w| / |w_j|)^(1/j)`` for the last two j, which for their order is ``rho_j / e^2``,
    and their factor of safety (Jorba & Zou, section 3.2). Here it is taken weight by weight, as
    small weights that grow keep their relative errors; near 0, the first coefficients stand for
    |w|. A coefficient of 0 is below the grid.
    """
    moving = [jet for jet in jets if jet.exponent is not None]
    largest = max((jet.grid + jet.cells[0].bit_length() for jet in moving), default=0)
    steps = [math.inf] * len(orders)
    for jet in moving:
        cells = jet.cells
        known = list(islice((m for m in range(1, len(cells)) if cells[m]), 2))
        large = max(cells[0].bit_length(), largest + accuracy - jet.grid) + accuracy
        first = [(0, large), *((m, cells[m].bit_length() + accuracy) for m in known)]
        lowest = max(known, default=0)
        for i, order in enumerate(orders):
            # A polynomial of low degree is exact at any step.
            low = max(order // 2, lowest)
            for j in islice((j for j in range(order, low, -1) if cells[j]), 2):
                size = cells[j].bit_length()
                reach = max((large - size) / (j - m) for m, large in first)
                steps[i] = min(steps[i], reach)
    pairs = zip(orders, steps, strict=True)
    return [step - 0.7 / (order - 1) * math.log2(math.e) for order, step in pairs]


class Taylor:
    """The state of an integration in fixed point, between two steps."""

    def __init__(self, tape: Tape, start: Sequence[Fraction | Real], digits: int) -> None:
        self.bits = bits_of(digits)
        self.order = math.ceil(1.15 * digits) + 10
        self.time, self.state = Fraction(0), tuple(real(*scaled(x, self.bits)) for x in start)
        slopes, self._factors = tape.unscaled()
        self._program = Program(slopes, self.bits)
        self._accuracy = -(digits + STEP_GUARD) * math.log2(10)
        self._sigma: int | None = None
        self._order, self._begun = self.order, self._program.begin(self.state)

    def _expand(self, begun: Expansion, sigma: int, order: int) -> list[Series]:
        """Return the jets of w in ``t/2^sigma``, to *order*."""
        jets, slopes, advance = begun
        triples = zip(jets, slopes, self._factors, strict=True)
        rules = [_slope_rule(w, f, c, sigma) for w, f, c in triples]
        deque(map(next, rules), maxlen=0)
        for _ in range(order - 1):
            advance()
            deque(map(next, rules), maxlen=0)
        return jets

    def _guess(self) -> int:
        """Return log2 of a time in which some weight, relative to its size, moves much."""
        jets, slopes, _ = self._begun
        rates = [
            f.size(0) - w.size(0) + c.numerator.bit_length() - c.denominator.bit_length()
            for w, f, c in zip(jets, slopes, self._factors, strict=True)
            if w.cells[0] and f.cells[0]
        ]
        return 2 - max(rates, default=0)

    def step(self, until: Fraction | None) -> None:
        """Take one step, no further than the time *until*."""
        left = None if until is None else until - self.time
        jets, sigma, gain = self._expand_to_scale(left)
        share = Fraction(round(2 ** (min(gain, 0) + _FINE)), 1 << _FINE)
        scale = Fraction(2) ** sigma
        if left is not None and share * scale >= left:
            share = left / scale
        state, begun, halvings = self._accept(jets, share, scale)
        h = share * scale / (1 << halvings)
        self._sigma = math.ceil(sigma + min(gain + _MARGIN, _GROWTH)) - halvings
        short = h != left and h < self.time / (1 << self.bits)
        if short or (left is None and state == self.state):
            raise NumericalError("a step no longer changes the state")
        self.state, self.time, self._begun = state, self.time + h, begun

    def _expand_to_scale(self, left: Fraction | None) -> tuple[list[Series], int, float]:
        """Return the jets of w in ``t/2^sigma``, sigma, and log2 of the step in that time."""
        sigma = self._guess() if self._sigma is None else self._sigma
        if left is not None:
            sigma = min(sigma, scaled(left, 1)[1] + 2)
        jets = self._expand(self._begun, sigma, self._order)
        if left is None and not any(x for jet in jets for x in jet.cells[1:]):
            raise NumericalError("the solution does not move: the right-hand side is 0")
        orders = [self._order - x for x in _LOWER if self._order - x >= _LOWEST]
        while (gains := _log_steps(jets, self._accuracy, orders))[-1] < -_GROWTH:
            sigma = math.ceil(sigma + gains[-1])  # the scale was too large
            jets = self._expand(self._program.begin(self.state), sigma, self._order)
        # The order that costs least for each unit of time: its convolutions and the rest.
        costs = (
            math.log2(m * (m + _LINEAR) + _FIXED) - x for m, x in zip(orders, gains, strict=True)
        )
        _, best = min(zip(costs, orders, strict=True), key=lambda pair: pair[0])
        self._order = best if best < self._order else min(self._order + 8, self.order)
        return jets, sigma, gains[-1]

    def _accept(
        self, jets: Sequence[Series], share: Fraction, scale: Fraction
    ) -> tuple[tuple[Real, ...], Expansion, int]:
        """Return the end of a step halved until w' = f(w) there, what begins, and the halvings."""
        for halvings in range(self.bits):
            state, slopes = self._evaluate(jets, share)
            if (begun := self._solved(jets, slopes, state, share * scale)) is not None:
                return state, begun, halvings
            share /= 2
        raise NumericalError("no step is short enough")

    def _evaluate(
        self, jets: Sequence[Series], s: Fraction
    ) -> tuple[tuple[Real, ...], list[Integer]]:
        """Return the sums of all series at s, and s times their slopes on the grids, by Horner."""
        short = (1 << _FINE) % s.denominator == 0  # then the factor below is exact
        factor, exponent = scaled(s, _FINE if short else self.bits)
        factor, down = factor << max(exponent, 0), max(-exponent, 0)
        state, slopes = [], []
        for jet in jets:
            total = slope = ZERO
            for x in reversed(jet.cells):
                slope = (slope * factor >> down) + total
                total = (total * factor >> down) + x
            state.append(real(total, jet.exponent or 0))
            slopes.append(slope * factor >> down)
        return tuple(state), slopes

    def _solved(
        self, jets: Sequence[Series], slopes: Sequence[Integer], end: Sequence[Real], h: Fraction
    ) -> Expansion | None:
        """Return what begins at the *end* if h times the slopes of the series is h f there.

        The last coefficients tell nothing of later ones where these come late, as in 1/(1 - t^40).
        """
        try:
            begun = self._program.begin(end)
        except NumericalError:  # beyond a pole
            return None
        moving = [jet for jet in jets if jet.exponent is not None]
        largest = max((jet.size(k) for jet in moving for k in (0, 1) if jet.cells[k]), default=0)
        finest = largest + 2 * math.floor(self._accuracy)
        for jet, slope, f, c in zip(jets, slopes, begun[1], self._factors, strict=True):
            grid = finest if jet.exponent is None else jet.exponent
            factor, wanted = c * h, ZERO
            if f.exponent is not None:
                wanted = shifted(f.cells[0] * factor.numerator, f.exponent - grid)
            wanted //= factor.denominator
            least = largest + self._accuracy - grid  # as for the step
            size = max(jet.cells[0].bit_length(), wanted.bit_length(), least) + self._accuracy
            if (slope - wanted).bit_length() > max(size + _DEFECT, _ROUNDING):
                return None
        return begun


def integrate(
    tape: Tape,
    start: Sequence[Real],
    digits: int,
    stop: Callable[[Stepper], bool] | None = None,
    max_steps: int = 10_000,
    *,
    time: Fraction | Real | None = None,
    engine: Engine = Taylor,
) -> TaylorResult:
    """Integrate ``w' = f(w)``, ``w(0) = start``, until *stop* holds or the *time* is over.

    Steps follow from the last Taylor coefficients (Jorba & Zou, "A software package for the
    numerical integration of ODEs by means of high-order Taylor methods", Experimental Mathematics
    2005); each is halved until w' = f(w) holds at its end, which finds coefficients that come late.

    Args:
        tape, start: f, of n inputs and n outputs; n fractions or mpf.
        digits: decimal digits; the order is at most about 1.15 digits + 10.
        stop: tested at the start and after each step, on the stepper.
        max_steps, time: after which to give up; at which to end at the latest, >= 0.
        engine: what takes the steps.

    Raises:
        NumericalError: f is undefined on the way, a step stalls, or *max_steps* is reached.
        ValueError: neither *stop* nor *time* is given, or the sizes do not fit.

    >>> import mpmath
    >>> from derive.language.tree import Name
    >>> from numerics.integrator.builder import compile_forward
    >>> end = integrate(compile_forward([Name("w")], ["w"]), [Fraction(1)], 30, time=Fraction(1))
    >>> mpmath.nstr(end.state[0], 30)
    '2.71828182845904523536028747135'
    """
    if (stop is None and time is None) or not len(start) == len(tape.inputs) == len(tape.outputs):
        raise ValueError("give stop or time, and as many starts as inputs and outputs")
    run, until = engine(tape, start, digits), None if time is None else read_number(time, "time")
    sizes: list[Fraction] = []
    try:
        while not (stop is not None and stop(run)) and (until is None or run.time < until):
            if len(sizes) >= max_steps:
                raise NumericalError(f"max_steps = {max_steps} is reached; raise it")
            before = run.time
            run.step(until)
            sizes.append(run.time - before)
    except NumericalError as error:
        raise NumericalError(f"{error} (step {len(sizes)}, time {float(run.time):.6g})") from error
    times = (run.time, min(sizes, default=run.time), max(sizes, default=run.time))
    end, smallest, largest = (real(*scaled(t, bits_of(digits))) for t in times)
    return TaylorResult(tuple(run.state), end, len(sizes), run.order, smallest, largest)
