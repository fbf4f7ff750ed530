"""Q on one block whose float64 results have error bounds: good to all but the last digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from derive.records import Potential
from numerics.evaluate.backend import Array, Number
from numerics.evaluate.balls.closed import ClosedFormulas
from numerics.evaluate.balls.mpfr_decimals import MpfrDigits
from numerics.evaluate.balls.parametric import ParametricFormulas
from numerics.evaluate.balls.precision import (
    SMALLEST,
    SUMMAND,
    Formula,
    Start,
    evaluate,
)
from numerics.evaluate.blocks import NumericBlock
from numerics.evaluate.source.program import program
from numerics.evaluate.source.statements import NoSource


class BoundedBlock(NumericBlock):
    """Q on one block from its program; *in_doubles* solves for beta where that has no formula."""

    def __init__(
        self,
        q: ClosedFormulas | ParametricFormulas,
        start: Start,
        in_doubles: NumericBlock,
        least: float = SMALLEST,
    ) -> None:
        """Bind the formulas to a start; *least* is that of :func:`evaluate`."""
        self._q, self._start, self._in_doubles, self._least = q, start, in_doubles, least

    @property
    def summand(self) -> BoundedBlock:
        """The same, to the least double."""
        return BoundedBlock(self._q, self._start, self._in_doubles, SUMMAND)

    @property
    def in_doubles(self) -> NumericBlock:
        """Q by its printed formulas."""
        return self._in_doubles

    def _evaluate(
        self, formulas: Sequence[Formula], columns: Sequence[Array], least: float = SMALLEST
    ) -> list[Array]:
        shape = np.shape(columns[0])
        flat = [np.reshape(x, -1) for x in columns]
        return [x.reshape(shape) for x in evaluate(formulas, self._start, flat, least)]

    def value(self, beta: Sequence[Array]) -> Array:
        """Return Q - Q(beta_0)."""
        return self._evaluate(self._q.value_formulas(), beta, self._least)[0]

    def gradient(self, beta: Sequence[Array]) -> list[Array]:
        """Return dQ/dbeta."""
        return self._evaluate(self._q.gradient_formulas(), beta)

    def hessian(self, beta: Sequence[Array]) -> list[Array]:
        """Return the d^2 entries of the Hessian, row by row."""
        return self._evaluate(self._q.hessian_formulas(), beta)

    def bregman(self, b: Sequence[Array], b0: Sequence[Array]) -> Array:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``."""
        return self._evaluate(self._q.bregman_formulas(), [*b, *b0], self._least)[0]

    @property
    def invertible(self) -> bool:
        """Whether the inverse of grad Q has a formula."""
        return bool(self._q.inverse_formulas())

    def inverse_gradient(self, y: Sequence[Array]) -> list[Array]:
        """Return the beta with grad Q(beta) = y."""
        forms = self._q.inverse_formulas()
        return self._evaluate(forms, y) if forms else self._in_doubles.inverse_gradient(y)


def bounded(
    potential: Potential, block: int, values: Mapping[str, Fraction], otherwise: NumericBlock
) -> NumericBlock:
    """Return Q on a block with error bounds where there is one, else *otherwise*."""
    try:
        written = program(potential, block)
    except NoSource:
        return otherwise
    constants, q = written.load()
    names = potential.parameterization.start_symbols
    start: dict[str, Number] = dict(zip(written.names, (values[n] for n in names), strict=True))
    return BoundedBlock(q, Start(start, constants, decimals=MpfrDigits), otherwise)
