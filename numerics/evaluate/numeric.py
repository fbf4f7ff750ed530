"""Q in numbers, whether beta has coordinates or is a vector of open dimension."""

from __future__ import annotations

from collections.abc import Mapping

from derive.records import Potential
from numerics.evaluate.backend import Number
from numerics.evaluate.lowering import lower
from numerics.evaluate.potential import NumericPotential
from numerics.evaluate.vectors.vector_lowering import lower_vector
from numerics.evaluate.vectors.vector_potential import NumericVectorPotential


def numeric(
    potential: Potential, start: Mapping[str, Number]
) -> NumericPotential | NumericVectorPotential:
    """Return Q with numbers for its start symbols, in float64.

    Args:
        potential: a derived Q.
        start: a number for each start symbol; of a vector u also u_0, (d,), d >= 2.

    Raises:
        InputError: a symbol has no value, or the value breaks an assumption.
        NumericalError: there is no Q to evaluate.
    """
    if potential.parameterization.vectors:
        return lower_vector(potential, start)
    return lower(potential, start)
