"""Taylor steps of heyoka, compiled to machine code: Biscani & Izzo, MNRAS 504:2 (2021)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath
from mpmath import libmp

from derive.errors import NumericalError
from numerics.evaluate.numbers import Real
from numerics.integrator.builder import Tape
from numerics.integrator.series_rules import bits_of, real, scaled, undefined
from numerics.integrator.taylor import STEP_GUARD

with suppress(ImportError):
    import heyoka

Object: TypeAlias = Any
"""An object of heyoka, which states no types."""


class Heyoka:
    """An integration by heyoka in MPFR arithmetic, accurate relative to the largest weight."""

    def __init__(self, tape: Tape, start: Sequence[Fraction | Real], digits: int) -> None:
        """Compile *tape*, and start at time 0."""
        self._bits = bits_of(digits)
        made = heyoka.make_vars(*(f"w{i}" for i in range(len(start))))
        variables = [made] if len(start) == 1 else made
        self._integrator = heyoka.taylor_adaptive(
            list(zip(variables, self._expressions(tape, variables), strict=True)),
            [self._number(x) for x in start],
            fp_type=heyoka.real,
            prec=self._bits,
            tol=self._number(Fraction(1, 10 ** (digits + STEP_GUARD))),
            compact_mode=True,
        )
        self.order, self.time = int(self._integrator.order), Fraction(0)

    @property
    def state(self) -> tuple[Real, ...]:
        """The weights."""
        texts = map(str, self._integrator.state)
        return tuple(mpmath.mp.make_mpf(libmp.from_str(x, self._bits, "n")) for x in texts)

    def step(self, until: Fraction | None) -> None:
        """Take one step, no further than the time *until*."""
        before, outcomes = self.state, heyoka.taylor_outcome
        bound = {} if until is None else {"max_delta_t": self._number(until - self.time)}
        outcome, _ = self._integrator.step(**bound)
        if outcome not in (outcomes.success, outcomes.time_limit):
            raise undefined()
        if until is None and self.state == before:
            raise NumericalError("a step no longer changes the state")
        ended = until is not None and outcome == outcomes.time_limit
        self.time = until if ended and until is not None else Fraction(str(self._integrator.time))

    def _number(self, value: Fraction | Real) -> Object:
        digits = libmp.prec_to_dps(self._bits) + 5
        text = libmp.to_str(real(*scaled(value, self._bits))._mpf_, digits)
        return heyoka.real(text, self._bits)

    def _expressions(self, tape: Tape, variables: Sequence[Object]) -> list[Object]:
        """Return the outputs of *tape* as expressions of heyoka."""
        found: list[Object] = []
        for step in tape.instructions:
            args = [found[i] for i in step.args if i < len(found)]
            found.append(self._expression(step.op, args, step.values, variables))
        return [found[i] for i in tape.outputs]

    def _expression(
        self, op: str, args: list[Object], values: Sequence[Fraction], variables: Sequence[Object]
    ) -> Object:
        match op:
            case "constant":
                return heyoka.expression(self._number(values[0]))
            case "input":
                return variables[int(values[0])]
            case "linear":
                factors = zip(values[:-1], args, strict=True)
                terms = [x if c == 1 else self._number(c) * x for c, x in factors]
                return heyoka.sum([*terms, heyoka.expression(self._number(values[-1]))])
            case "multiply":
                return args[0] * args[1]
            case "divide":
                return args[0] / args[1]
            case "euler" | "logderivative":
                return args[0]  # of no use: only the recurrences of our own jets need the slope
            case "power":
                return args[0] ** self._number(values[0])
        return getattr(heyoka, op)(args[0])
