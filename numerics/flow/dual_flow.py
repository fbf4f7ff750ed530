"""Flow of the weights along a fixed dual vector, which inverts the mirror map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from derive.errors import InputError, NumericalError
from numerics.evaluate.numbers import read_vector
from numerics.flow.builder import compile_gradient
from numerics.flow.fixed_point import bits_of
from numerics.flow.initial_weights import FlowModel, check_start, read_start
from numerics.flow.jets import Program
from numerics.flow.taylor import integrate
from numerics.reals import Real


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
        p: the parameterization.
        multiplier: mu, d numbers.
        start: a number for every weight.
        digits: the digits of the result, to the condition of the flow.
        max_steps: the number of Taylor steps after which to give up.

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
