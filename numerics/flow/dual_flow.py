"""What a flow of the weights starts from; that along a fixed dual vector inverts the mirror map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from derive.errors import DegenerateStart, InputError, NumericalError
from derive.language.tree import Tree
from numerics.evaluate.numbers import read_number, read_vector
from numerics.flow.builder import compile_gradient
from numerics.flow.fixed_point import bits_of
from numerics.flow.jets import Program
from numerics.flow.tape import Tape
from numerics.flow.taylor import integrate
from numerics.reals import Real, check_digits


class FlowModel(Protocol):
    """What the flow needs of beta = F(w): the d expressions of F and the p names of w."""

    @property
    def trees(self) -> tuple[Tree, ...]: ...  # noqa: D102

    @property
    def weights(self) -> tuple[str, ...]: ...  # noqa: D102


def read_start(
    start: Mapping[str, object], weights: tuple[str, ...], digits: int
) -> list[Fraction]:
    """Return the start of each weight; InputError for a name, a number or *digits* of no sense."""
    check_digits(digits)
    if missing := [name for name in weights if name not in start]:
        raise InputError(f"the start gives no value for {', '.join(missing)}")
    if unknown := [str(name) for name in start if name not in weights]:
        raise InputError(f"the start names {', '.join(unknown)}, not among {', '.join(weights)}")
    return [read_number(start[name], f"the start of {name}") for name in weights]


def check_start(tape: Tape, origin: list[Fraction], digits: int) -> None:
    """Raise DegenerateStart where a program of F and J is undefined at the start."""
    try:
        Program(tape, bits_of(digits)).at(origin)
    except NumericalError as error:
        text = "F or its derivative is undefined at the start; start inside the domain of F"
        raise DegenerateStart(text) from error


@dataclass(frozen=True, slots=True)
class DualFlow:
    """The end of a dual flow: the weights w(1) (p) and beta = F(w(1)) (d), as mpf."""

    weights: tuple[Real, ...]
    beta: tuple[Real, ...]


def dual_flow(
    p: FlowModel,
    multiplier: Iterable[object],
    start: Mapping[str, object],
    digits: int = 50,
    *,
    max_steps: int = 10_000,
) -> DualFlow:
    """Run the weights along a fixed dual vector for unit time.

    ``w' = J(w)^T mu``, ``w(0) = start``, to time 1; where the flows of the rows of J commute,
    ``h(mu) = F(w(1))`` is the inverse of the mirror map.

    Args:
        p: beta = F(w).
        multiplier, start: mu, d numbers; a number for every weight.
        digits: those of the result, to the condition of the flow.
        max_steps: the Taylor steps after which to give up.

    Raises:
        InputError: a number, a shape or a name is wrong.
        DegenerateStart: F or J is undefined at the start.
        NumericalError: the flow blows up or leaves the domain of F before time 1.
    """
    d, mu = len(p.trees), read_vector(multiplier, "the multiplier")
    if len(mu) != d:
        raise InputError(f"the multiplier has {len(mu)} numbers but F has {d} outputs")
    origin = read_start(start, p.weights, digits)
    tape = compile_gradient(p.trees, p.weights, lambda b, _: [b.constant(x) for x in mu])
    check_start(tape, origin, digits)
    field = tape.take(range(d, d + len(p.weights)))
    try:
        end = integrate(field, origin, digits, None, max_steps, time=Fraction(1))
    except NumericalError as error:
        raise NumericalError(f"dual flow did not reach time 1: {error}; scale mu down") from error
    outputs = Program(tape.take(range(d)), bits_of(digits))
    return DualFlow(end.state, outputs.at(end.state))
