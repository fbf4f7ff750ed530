"""Q as a sum over blocks of coordinates, whose parts are evaluated each in its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from derive.potential.piece import Parametric
from derive.records import Potential
from numerics.evaluate.backend import Array, Backend, Compiled, Interval, Number
from numerics.evaluate.balls.closed import ClosedFormulas
from numerics.evaluate.balls.mpfr_decimals import MpfrDigits
from numerics.evaluate.balls.parametric import ParametricFormulas
from numerics.evaluate.balls.precision import SMALLEST, SUMMAND, Formula, Start, evaluate
from numerics.evaluate.root_finding import invert_increasing
from numerics.evaluate.source.program import program
from numerics.evaluate.source.statements import NoSource


class NumericBlock(ABC):
    """Q on one block: arrays of one shape for each coordinate in, such arrays out."""

    @abstractmethod
    def value(self, beta: Sequence[Array]) -> Array:
        """Return Q, up to its constant."""

    @abstractmethod
    def gradient(self, beta: Sequence[Array]) -> list[Array]:
        """Return dQ/dbeta."""

    @abstractmethod
    def hessian(self, beta: Sequence[Array]) -> list[Array]:
        """Return the d^2 entries of the Hessian of Q, row by row."""

    @abstractmethod
    def inverse_gradient(self, y: Sequence[Array]) -> list[Array]:
        """Return the beta with grad Q(beta) = y; nan where none is found."""

    def bregman(self, b: Sequence[Array], b0: Sequence[Array]) -> Array:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``."""
        total = self.value(b) - self.value(b0)
        for g, x, x0 in zip(self.gradient(b0), b, b0, strict=True):
            total = total - g * (x - x0)
        return total

    @property
    def invertible(self) -> bool:
        """Whether the inverse of grad Q has a formula whose errors are bounded."""
        return False

    @property
    def summand(self) -> NumericBlock:
        """The same, as precise near 0 as a sum with other blocks needs."""
        return self

    @property
    def in_doubles(self) -> NumericBlock:
        """The same in doubles alone: fast, with no bound of the error."""
        return self


@dataclass(frozen=True, slots=True)
class Blocks:
    """Q on arrays (..., d), the sum over blocks: of each the positions of coordinates, and Q.

    ``bounds`` are the ends of the domain for coordinates that are blocks of their own, infinite
    where there is none or it is not known.
    """

    parts: tuple[tuple[tuple[int, ...], NumericBlock], ...]
    d: int
    bounds: tuple[tuple[float, float], ...]

    def _sum(self, term: Callable[..., Array], *points: Array) -> Array:
        total: Array = 0 * points[0][..., 0]
        for positions, block in self.parts:
            own = block if len(self.parts) == 1 else block.summand
            total = total + term(own, *([p[..., i] for i in positions] for p in points))
        return total

    def _scattered(
        self, points: Array, found: Callable[[NumericBlock, list[Array]], list[Array]]
    ) -> Array:
        """Return what each block finds for its coordinates, in the order of all."""
        results: list[Array] = [points] * self.d
        for positions, block in self.parts:
            entries = found(block, [points[..., i] for i in positions])
            for i, entry in zip(positions, entries, strict=True):
                results[i] = entry
        # One coordinate takes a view, which is cheaper than a stack.
        return np.asarray(results[0])[..., None] if self.d == 1 else np.stack(results, axis=-1)

    def value(self, beta: Array) -> Array:
        """Return Q."""
        return self._sum(lambda block, b: block.value(b), beta)

    def bregman(self, b: Array, b0: Array) -> Array:
        """Return ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``."""
        return self._sum(lambda block, b, b0: block.bregman(b, b0), b, b0)

    def gradient(self, beta: Array) -> Array:
        """Return dQ/dbeta."""
        return self._scattered(beta, lambda block, b: block.gradient(b))

    def curvature(self, beta: Array) -> Array:
        """Return the diagonal of the Hessian."""
        return self._scattered(beta, lambda block, b: block.hessian(b)[:: len(b) + 1])

    def inverse(self, y: Array) -> Array:
        """Return the beta with grad Q = y."""
        return self._scattered(y, lambda block, part: block.inverse_gradient(part))

    def hessian(self, beta: Array) -> Array:
        """Return the Hessian, (..., d, d)."""
        rows: list[list[Array]] = [[0 * beta[..., i] for i in range(self.d)] for _ in range(self.d)]
        for positions, block in self.parts:
            entries = iter(block.hessian([beta[..., i] for i in positions]))
            for i in positions:
                for j in positions:
                    rows[i][j] = next(entries)
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    @property
    def in_doubles(self) -> Blocks:
        """The same in doubles alone."""
        return replace(self, parts=tuple((i, block.in_doubles) for i, block in self.parts))


class ParametricBlock(NumericBlock):
    """beta = h(z): the parameter is found first, then Q and dQ/dbeta are functions of it."""

    def __init__(
        self, piece: Parametric, known: Mapping[str, Number], interval: Interval, backend: Backend
    ) -> None:
        """Compile a parametric piece; *interval* is the range of z in numbers."""
        curve = piece.curve
        self._backend, self._known, self._interval = backend, known, interval
        self._beta, self._z = piece.betas[0].name, curve.parameter.name
        self._h = backend.compile([curve.beta])
        self._slope = backend.compile([curve.beta.diff(curve.parameter)])
        self._value = backend.compile([piece.value])
        self._gradient = backend.compile(piece.gradient)
        # The mirror map is a multiple of z, of the sign that h is monotone with.
        self._rate = backend.compile([piece.gradient[0].diff(curve.parameter)])
        zero = backend.array([0])
        self._sign = np.where(self._at(self._rate, zero)[0] < 0, -1, 1)

    def _at(self, function: Compiled, z: Array, **more: Array) -> Array:
        return function({**self._known, self._z: z, **more})[0]

    def _parameter(self, beta: Array) -> Array:
        return invert_increasing(
            lambda z: self._sign * self._at(self._h, z),
            lambda z: self._sign * self._at(self._slope, z),
            self._interval,
            self._sign * beta,
            self._backend,
        )

    def gradient(self, beta: Sequence[Array]) -> list[Array]:  # noqa: D102
        return [self._at(self._gradient, self._parameter(beta[0]))]

    def value(self, beta: Sequence[Array]) -> Array:  # noqa: D102
        z = self._parameter(beta[0])
        return self._value({**self._known, self._z: z, self._beta: beta[0]})[0]

    def hessian(self, beta: Sequence[Array]) -> list[Array]:
        """Return Q'', the mirror map's slope in z over that of h."""
        z = self._parameter(beta[0])
        return [self._at(self._rate, z) / self._at(self._slope, z)]

    def inverse_gradient(self, y: Sequence[Array]) -> list[Array]:
        """Return h(z) at the z that the mirror map y belongs to."""
        z = y[0] / self._at(self._rate, 0 * y[0])
        inside = (z > self._interval[0]) & (z < self._interval[1])
        return [np.where(inside, self._at(self._h, z), self._backend.number(np.nan))]


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

    def value(self, beta: Sequence[Array]) -> Array:  # noqa: D102
        return self._evaluate(self._q.value_formulas(), beta, self._least)[0]

    def gradient(self, beta: Sequence[Array]) -> list[Array]:  # noqa: D102
        return self._evaluate(self._q.gradient_formulas(), beta)

    def hessian(self, beta: Sequence[Array]) -> list[Array]:  # noqa: D102
        return self._evaluate(self._q.hessian_formulas(), beta)

    def bregman(self, b: Sequence[Array], b0: Sequence[Array]) -> Array:  # noqa: D102
        return self._evaluate(self._q.bregman_formulas(), [*b, *b0], self._least)[0]

    @property
    def invertible(self) -> bool:
        """Whether the inverse of grad Q has a formula."""
        return bool(self._q.inverse_formulas())

    def inverse_gradient(self, y: Sequence[Array]) -> list[Array]:  # noqa: D102
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
