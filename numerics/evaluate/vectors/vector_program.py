"""Q of a vector model in any dimension as Python functions with error bounds."""

from __future__ import annotations

from collections.abc import Callable

from derive.errors import NumericalError
from derive.potential.block import DirectionTerms
from derive.records import Potential
from numerics.evaluate.balls.lengths import length
from numerics.evaluate.balls.precision import Constants
from numerics.evaluate.source.formulas import FormulaText
from numerics.evaluate.source.program import Program, program
from numerics.evaluate.source.statements import Statements, parameter, safe
from numerics.evaluate.vectors.vector_formulas import VectorFormulas

ALONG = "tangential"
"""The name of the formula of q'(s)/s."""


def turning_of(potential: Potential) -> DirectionTerms:
    """Return what the direction of beta adds to q(s).

    Raises:
        NumericalError: there is no Q.
    """
    if potential.turning is None or not potential.pieces:
        raise NumericalError(f"there is no Q, {potential.finding.reason}")
    return potential.turning


def norm_symbol(potential: Potential) -> str | None:
    """Return the start symbol of |u_0|; None where the start says what it is."""
    name = f"{potential.parameterization.weights[-1]}_0"
    return name if repr(potential.parameterization.w0[-1]) == name else None


def vector_program(potential: Potential) -> Program:
    """Write the functions of q, the slope of the linear term, and |u_0| from u_0.

    Raises:
        NoSource: the form of q needs something that has no bounds here.
    """
    slope = turning_of(potential).slope
    written = program(potential, 0)
    (piece,), norm = potential.pieces, norm_symbol(potential)
    (s,) = piece.betas
    known = {name: f"c.{parameter(name)}" for name in potential.parameterization.start_symbols}
    writer = Statements(known)
    writer.define("slope of Q", "c.slope", ("", [slope]))
    constants = written.constants
    if norm is not None:
        head, _, rest = constants.partition('"""\n')
        constants = f'{head}"""\n    c.{parameter(norm)} = length(c.vector).take(0)\n{rest}'
    constants += "".join(f"\n    {line}" for line in writer.lines)
    known.update((x.name, f"c.{safe(x.name)}") for x, _ in piece.constants)
    across = FormulaText(ALONG, (s,), piece.roots, (piece.gradient[0] / s,), f"q'({s})/{s}")
    names = tuple(n for n in written.names if norm is None or n != parameter(norm))
    functions = (*written.functions, (ALONG, across.text(known)))
    return Program((), names, constants, functions)


def load_vector(written: Program, sign: int) -> tuple[Callable[[Constants], None], VectorFormulas]:
    """Return the function for the constants, and Q."""
    space = written.space(length=length)
    q = written.form([name for name, _ in written.functions if name != ALONG], space)
    return space["constants"], VectorFormulas(q, space[ALONG], sign)
