"""What a flow of the weights starts from."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Protocol

from derive.copying import Copies
from derive.errors import DegenerateStart, InputError, NumericalError
from derive.language.tree import Tree
from numerics.evaluate.copies import start_of_weights
from numerics.evaluate.numbers import read_number
from numerics.integrator.fixed_point import bits_of
from numerics.integrator.jets import Program
from numerics.integrator.tape import Tape
from numerics.reals import check_digits


class FlowModel(Protocol):
    """What the flow needs of beta = F(w): the d expressions of F and the p names of w.

    The rate of each weight is 1 if it has no ``rates``; see :func:`rates_of`.
    """

    @property
    def trees(self) -> tuple[Tree, ...]: ...  # noqa: D102

    @property
    def weights(self) -> tuple[str, ...]: ...  # noqa: D102


def rates_of(p: FlowModel) -> tuple[Tree, ...]:
    """Return the learning rates of the weights, functions of these; () where all are 1.

    Raises:
        InputError: it is steepest descent in another norm, which is no flow of rates on data.
    """
    if getattr(getattr(getattr(p, "one", p), "geometry", None), "steepest", None) is not None:
        raise InputError("flows are gradient flows: leave out steepest")
    found: tuple[Tree, ...] = getattr(p, "rates", ())
    return found


def read_start(p: FlowModel, start: Mapping[str, object], digits: int) -> list[Fraction]:
    """Return the start of each weight; InputError for a name, a number or *digits* of no sense."""
    check_digits(digits)
    weights = p.weights
    if isinstance(p, Copies):
        start = start_of_weights(p, start)
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
