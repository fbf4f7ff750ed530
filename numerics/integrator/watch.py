"""What is observed along a gradient flow: residual, conserved quantities and motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import mpmath

from derive.errors import NumericalError
from derive.language.tree import Tree
from numerics.integrator.builder import compile_slopes
from numerics.integrator.fixed_point import as_mpf, bits_of
from numerics.integrator.jets import Program
from numerics.integrator.tape import Tape
from numerics.integrator.taylor import STEP_GUARD, Stepper
from numerics.reals import Real

Report: TypeAlias = Callable[[int, Real], None]
"""Called with the number of a step and the residual after it."""
_REST = 200  # steps without visible motion after which a flow counts as stalled


class ConvergenceWatch:
    """Stops a flow at its tolerance, and tells a critical point from slow progress."""

    def __init__(
        self, tape: Tape, target: Sequence[Fraction], digits: int, share: Fraction
    ) -> None:
        """Observe beta and one slope for each target, whose norm falls to *share* of its scale."""
        self._program, self._d = Program(tape, bits_of(digits)), len(tape.outputs) - len(target)
        self._context = mpmath.MPContext()
        self._context.prec = bits_of(digits)
        self._digits, self._share = digits, share
        y = [self._context.mpf(x.numerator) / x.denominator for x in target]
        self.scale, self.tolerance = self._context.norm(y), self._context.zero
        self.residual: Real = self._context.inf
        self.beta: tuple[Real, ...] = ()
        self.start: tuple[Real, ...] = ()
        self.steps, self._rest, self._peak = -1, 0, self._context.zero
        self._state: tuple[Real, ...] = ()

    def __call__(self, run: Stepper) -> bool:
        """Observe the state of *run*, and tell whether it has converged."""
        state = run.state
        values = self._program.at(state)
        norm = self._context.norm([self._context.mpf(x) for x in values[self._d :]])
        self.beta, before, self.residual = values[: self._d], self.residual, norm
        self.steps += 1
        if not self.steps:
            self.start, self.scale = state, max(self.scale, norm) or self._context.one
            ratio = self._context.mpf(self._share.numerator) / self._share.denominator
            self.tolerance = ratio * self.scale
        if norm > self.tolerance:
            self._check_motion(tuple(self._context.mpf(w) for w in state), before)
            return False
        return True

    def _check_motion(self, state: tuple[Real, ...], before: Real) -> None:
        """Raise where the weights and the loss have both been at rest for long.

        Rest is relative to the largest weight or move so far, as weights that fall to a critical
        point 0 never cease to halve. It must last, as a small start grows unseen for many steps.
        """
        moves = (abs(new - old) for new, old in zip(state, self._state, strict=False))
        move = max(moves, default=self._context.inf)
        self._peak, self._state = max(self._peak, *map(abs, state)), state
        small = self._context.mpf(10) ** -(self._digits + STEP_GUARD - 2)
        rest = move <= small * self._peak and abs(before - self.residual) <= small * before
        self._rest = self._rest + 1 if rest else 0
        if self._rest >= _REST:
            raise NumericalError("the weights have come to rest at a critical point")


class DriftWatch:
    """The largest changes of laws c along a flow, relative to ``|c| + sum_j |w_j dc/dw_j|``."""

    def __init__(self, laws: Sequence[Tree], weights: tuple[str, ...], digits: int) -> None:
        self._context = mpmath.MPContext()
        self._context.prec = bits_of(digits)
        self._programs = [Program(compile_slopes(law, weights), bits_of(digits)) for law in laws]
        self._start: list[tuple[Real, Real]] = []
        self.drift: tuple[Real, ...] = (mpmath.mpf(0),) * len(laws)

    def observe(self, state: Sequence[Real]) -> None:
        """Compare with the first state that was observed."""
        here = [self._value(program, state) for program in self._programs]
        self._start = self._start or here
        pairs = zip(here, self._start, strict=True)
        changes = (abs(c - c0) / (max(size, size0) or 1) for (c, size), (c0, size0) in pairs)
        self.drift = tuple(map(as_mpf, map(max, self.drift, changes)))

    def _value(self, program: Program, state: Sequence[Real]) -> tuple[Real, Real]:
        """Return c and the size that its changes are relative to."""
        value, *slopes = (self._context.mpf(x) for x in program.at(state))
        pairs = zip(state, slopes, strict=True)
        return value, abs(value) + sum(abs(self._context.mpf(w) * slope) for w, slope in pairs)
