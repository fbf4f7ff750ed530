"""Q as a sum over blocks of coordinates: formulas bound to a start, or integrals along a leaf.

Formulas evaluated in doubles where error bounds allow it, else on balls of python-flint.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Self, TypeAlias

import mpmath
import numpy as np
from flint import arb, ctx

from numerics.evaluate.balls import as_doubles, ball, refined, suffices
from numerics.evaluate.doubles.arithmetic import Array, Constants, Double, Plain
from numerics.evaluate.leaf import IntegratedBlock, Leaves
from numerics.evaluate.numbers import GUARD, Real
from numerics.evaluate.program import Program

TOLERANCE = 9.5e-15
"""A result is used if the bound of its relative error is below this."""
SMALLEST = 2.0**-1022
"""What is smaller need not be told from 0."""
SUMMAND = 2.0**-1074
"""The same for what is added to other numbers."""
_CHUNK = 16384  # fits the cache
_RUNGS = 1, 2, 4
_BITS_OF_A_DIGIT = math.log2(10)
_BITS_OF_CONSTANTS = 448
"""Of what depends on the start alone, before it is rounded to doubles."""


class Start:
    """Exact numbers of the start symbols, and a vector u_0 where there is one."""

    def __init__(
        self,
        values: Mapping[str, Fraction],
        constants: Callable[[Constants], None],
        vector: Sequence[float] = (),
    ) -> None:
        """Keep them; *constants* adds, on balls, what depends on them alone."""
        self._values, self._constants, self._vector = values, constants, vector
        self._known: dict[tuple[type[Any], int], Constants] = {}

    def on_balls(self) -> Constants:
        """Return the constants as balls of the working precision."""
        key = arb, ctx.prec
        if key not in self._known:
            given = {name: ball(x) for name, x in self._values.items()}
            c = SimpleNamespace(**given, vector=_vector(self._vector), of=ball)
            self._constants(c)
            numbers = _images(c, ball)
            self._known[key] = SimpleNamespace(**numbers, vector=c.vector, of=ball)
        return self._known[key]

    def at(self, kind: type[Double]) -> Constants:
        """Return the constants in doubles of a kind, right to their last digit."""
        key = kind, 0
        if key not in self._known:
            with ctx.workprec(_BITS_OF_CONSTANTS):
                numbers = _images(self.on_balls(), lambda x: _rounded(x, kind))
            vector = kind.of(np.array(self._vector, dtype=np.float64)[None, :])
            self._known[key] = SimpleNamespace(**numbers, vector=vector, of=kind.of)
        return self._known[key]


def _images(c: Constants, image: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the image of every number by name, of lists that of their entries."""

    def of(x: Any) -> Any:
        return [image(y) for y in x] if isinstance(x, list) else x if x is None else image(x)

    return {name: of(x) for name, x in vars(c).items() if name not in ("of", "vector")}


def _rounded(x: arb, kind: type[Double]) -> Double:
    """Return the nearest floats of a kind to a ball, and how far they may be off."""
    number, high = type(kind.unit), float(x.mid())
    if not np.isfinite(high):
        return kind(number(high), number("inf"))
    v = number(high) + number(float((x - high).mid()))
    lost = float((x - float(v) - float(v - float(v))).abs_upper())
    return kind(v, number(lost * (1 + 2.0**-50) + (kind.tiny if lost else 0)))


def evaluate_precisely(
    exact: Callable[[], Sequence[arb]], count: int, digits: int, least: float = 0.0
) -> list[Real]:
    """Evaluate so many numbers on balls, with bounds below 10^-digits relative where there are.

    What is smaller than *least* need not have them. Another number that is 0, or whose digits
    cancel, has those that four times as many leave; it is nan where that is none, and the bound of
    its error is not below 10^-digits either.
    """
    bits = math.ceil((digits + GUARD) * _BITS_OF_A_DIGIT)
    wanted = math.ceil(digits * _BITS_OF_A_DIGIT)
    known = functools.partial(suffices, bits=wanted, least=least)
    numbers = refined(exact, known, [rung * bits for rung in _RUNGS])
    small = max(arb(2) ** -wanted, arb(least))
    with mpmath.workprec(bits):
        return [mpmath.nan] * count if numbers is None else [+_mpf(x, small) for x in numbers]


def _mpf(x: arb, small: arb) -> Real:
    if not x.is_finite() or (x.rel_accuracy_bits() < 1 and x.rad() > small):
        return mpmath.nan
    mantissa, exponent = x.mid().man_exp()
    return mpmath.mp.make_mpf(mpmath.libmp.from_man_exp(int(mantissa), int(exponent)))


def _vector(x: Sequence[Any]) -> Array:
    return np.array(list(map(ball, x)), dtype=object)


def _write(results: Sequence[Array], found: Sequence[Double], at: Array, least: float) -> Array:
    """Write results, and tell which are good."""
    good = np.ones(len(at), dtype=bool)
    for result, x in zip(results, found, strict=True):
        v = np.broadcast_to(np.asarray(x.v, dtype=np.float64), (len(at), *result.shape[1:]))
        d, size = np.asarray(x.d, dtype=np.float64), np.abs(v)
        result[at] = v
        good &= _whole((d < TOLERANCE * size) | (size + d < least))
    return good


def _place(results: Sequence[Array], i: int, numbers: Sequence[float] | None) -> None:
    """Write the results at one point: numbers in their order, or nan."""
    rest = iter(numbers or ())
    for x in results:
        x[i] = np.reshape([next(rest, np.nan) for _ in range(x[i].size)], x[i].shape)


def _whole(good: Array) -> Array:
    """Tell at which points every entry is true."""
    return good if good.ndim == 1 else np.all(good, axis=tuple(range(1, good.ndim)))


class Blocks:
    """Q on arrays (..., d), the sum over blocks.

    ``bounds`` are the ends of the domain for coordinates that are blocks of their own, infinite
    where there is none or it is not known. ``leaves`` are those of all coordinates where beta
    alone does not say where Q is Q, and none else.
    """

    def __init__(
        self, parts: Sequence[Part], bounds: Sequence[tuple[float, float]], leaves: Leaves = ()
    ) -> None:
        """Keep Q of each block."""
        self.blocks, self.bounds, self.leaves = tuple(parts), tuple(bounds), tuple(leaves)
        self.d = sum(len(outputs) for outputs, _ in parts)
        self._walled = bool(np.any(np.isfinite(self.bounds)))

    def __call__(self, what: str, *points: Array) -> Array:
        """Return what is asked for: "value" or "bregman", (...); "hessian", (..., d, d).

        "gradient", "inverse" and, of outputs that are blocks of their own, "stretch" have the shape
        of the points.
        """
        parts = self.run(what, *points)
        if what in ("value", "bregman"):
            return functools.reduce(np.add, (numbers[0] for _, numbers in parts))
        if what == "hessian":
            matrix = np.zeros((*np.shape(parts[0][1][0]), self.d, self.d))
            for outputs, entries in parts:
                pairs = ((i, j) for i in outputs for j in outputs)
                for (i, j), entry in zip(pairs, entries, strict=True):
                    matrix[..., i, j] = entry
            return matrix
        # One coordinate takes a view, which is cheaper than a stack.
        if self.d == 1:
            return parts[0][1][0][..., None]
        columns = {i: x for places, own in parts for i, x in zip(places, own, strict=True)}
        return np.stack([columns[i] for i in range(self.d)], axis=-1)

    def run(self, what: str, *points: Array) -> list[tuple[Sequence[int], list[Array]]]:
        """Evaluate on every block, one array for each number; nan at beta outside the bounds.

        Points are of one shape.
        """
        if what != "inverse" and self._walled:
            low, high = np.transpose(self.bounds)
            count = 1 if what == "stretch" else len(points)  # y is no beta
            inside = (np.where((b < low) | (b > high), np.nan, b) for b in points[:count])
            points = (*inside, *points[count:])
        shape = points[0].shape[:-1]
        least = SUMMAND if len(self.blocks) > 1 and what in ("value", "bregman") else SMALLEST
        results: list[tuple[Sequence[int], list[Array]]] = []
        for outputs, block in self.blocks:
            columns = [p[..., i].ravel() for p in points for i in outputs]
            results.append((outputs, [x.reshape(shape) for x in block(what, columns, least)]))
        return results

    @property
    def in_doubles(self) -> Self:
        """The same in doubles alone: fast, with no bound of the error."""
        parts = [(i, block.in_doubles) for i, block in self.blocks]
        return type(self)(parts, self.bounds, self.leaves)


@dataclass(frozen=True, slots=True)
class FormulaBlock:
    """Q on one block by the formulas of its program, bound to a start.

    Attributes:
        program: the formulas.
        start: the numbers of the start symbols.
        beta0: where grad Q = 0.
        along: the same by an integral along the leaf, for what has no formula.
        plain: whether in doubles alone.
    """

    program: Program
    start: Start = field(repr=False)
    beta0: tuple[Fraction, ...] = ()
    along: IntegratedBlock | None = None
    plain: bool = False

    @property
    def in_doubles(self) -> FormulaBlock:
        """The same in doubles alone."""
        return replace(self, plain=True)

    @property
    def invertible(self) -> bool:
        """Whether the inverse of grad Q has a formula."""
        return bool(self.program.bounded.forms("inverse"))

    def __call__(self, what: str, columns: Sequence[Array], least: float = SMALLEST) -> list[Array]:
        """Return what is asked for at points; nan where it is not known."""
        if what == "inverse" and not self.invertible:
            if self.along:
                return self.along(what, columns, least)
            beta0 = list(map(float, self.beta0))
            return invert_by_newton(self.program.plain, self.start.at(Plain), beta0, columns)
        # In doubles alone nothing is subtracted: Q is up to a constant.
        named = "primitive" if what == "value" else what
        if self.plain and (forms := self.program.plain.forms(named)):
            c, n = self.start.at(Plain), len(columns[0])
            arrays = (np.asarray(Plain.of(x).v) for x in forms[0](c, *map(Plain, columns)))
            # One entry stands for all points where the formula has none.
            return [
                x if x.ndim and len(x) == n else np.broadcast_to(x, (n, *x.shape[1:]))
                for x in arrays
            ]
        return self.bounded(what, columns, least)

    def bounded(self, what: str, columns: Sequence[Array], least: float = SMALLEST) -> list[Array]:
        """Evaluate what is asked for at n points; nan where it is undefined or infinite.

        In doubles its forms are tried in turn, the first one in long doubles too; then it is
        evaluated on balls. What is smaller than *least* is given to within that.
        """
        open_ = np.ones(len(columns[0]), dtype=bool)
        for x in columns:
            open_ &= _whole(np.isfinite(x))
        length = max(1, _CHUNK * len(open_) // max(1, sum(map(np.size, columns))))
        results: list[Array] = []
        for kind, form in self.program.attempts(what):
            at = np.flatnonzero(open_)
            if results and not len(at):
                break
            c = self.start.at(kind)
            for first in range(0, max(1, len(at)), length):
                part = at[first : first + length]
                found = [kind.of(x) for x in form(c, *[kind.of(x[part]) for x in columns])]
                shapes = ((len(open_), *np.shape(x.v)[1:]) for x in found)
                results = results or [np.full(shape, np.nan) for shape in shapes]
                open_[part[_write(results, found, part, least)]] = False
        results = results or [np.full(len(open_), np.nan)]
        for i in np.flatnonzero(open_).tolist():
            point = [x[i].tolist() for x in columns]
            _place(results, i, as_doubles(functools.partial(self.on_balls, what, point), least))
        return results

    def on_balls(self, what: str, point: Sequence[Any]) -> list[arb]:
        """Return what is asked for at one point, of numbers or of vectors, on balls."""
        places = (_vector(x) if isinstance(x, list) else ball(x) for x in point)
        first, *_ = self.program.exact.forms(what)
        results = first(self.start.on_balls(), *places)
        return [ball(y) for x in results for y in np.asarray(x, dtype=object).ravel()]

    def precisely(
        self, what: str, point: Sequence[Fraction], digits: int, least: float = 0.0
    ) -> list[Real]:
        """Return what is asked for at a point, in mpf."""
        if what == "primitive" and self.along:
            return self.along.precisely(what, point, digits)
        count = 1 if what in ("value", "primitive") else len(point)
        exact = functools.partial(self.on_balls, what, point)
        return evaluate_precisely(exact, count, digits, least)


Part: TypeAlias = tuple[tuple[int, ...], FormulaBlock | IntegratedBlock]
"""The positions of the coordinates of a block, and its Q."""


_STEPS, _HALVINGS = 400, 60
_CLOSE = 1e-9
"""Relative distance of grad Q(beta) from y at which beta is a result."""
_FALL = 1e-4
"""The part of the step by which a residual has to fall."""


def invert_by_newton(
    q: Any, c: Constants, beta0: Sequence[float], y: Sequence[Array]
) -> list[Array]:
    """Solve grad Q(beta) = y from beta_0, elementwise; nan where that is not reached to 1e-9.

    *q* are formulas in doubles alone, *c* the constants of the start.
    """

    def columns(what: str, at: Array) -> Array:
        found = (Plain.of(x).v for x in q.forms(what)[0](c, *map(Plain, at.T)))
        return np.stack([np.broadcast_to(x, len(at)) for x in found], axis=-1)

    d, shape = len(y), np.shape(y[0])
    goal = np.stack([np.reshape(v, -1) for v in y], axis=-1).astype(np.float64)
    x = np.broadcast_to(np.array(beta0), goal.shape).copy()

    def residual(at: Array) -> Array:
        return columns("gradient", at) - goal

    left = residual(x)
    for _ in range(_STEPS):
        entries = columns("hessian", x).reshape(-1, d, d)
        x, new = _damped_step(x, left, _solve(entries, left), residual)
        if np.array_equal(new, left):
            break
        left = new
    size = 1 + np.linalg.norm(goal, axis=-1, keepdims=True)
    close = np.isfinite(size) & (np.linalg.norm(left, axis=-1, keepdims=True) <= _CLOSE * size)
    x = np.where(close, x, np.nan)
    return [column.reshape(shape) for column in x.T]


def _solve(matrices: Array, vectors: Array) -> Array:
    """Solve the systems; nan where a matrix is not finite, least squares where one is singular."""
    finite = np.asarray(np.isfinite(matrices).all(axis=(1, 2)))
    safe = np.where(finite[:, None, None], matrices, np.eye(matrices.shape[1]))
    try:
        steps = np.linalg.solve(safe, vectors[..., None])[..., 0]
    except np.linalg.LinAlgError:
        steps = (np.linalg.pinv(safe) @ vectors[..., None])[..., 0]
    return np.where(finite[:, None], steps, np.nan)


def _damped_step(
    x: Array, left: Array, step: Array, residual: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """Return x - t step with the first t = 1, 1/2, ... that lowers the residual; else x."""
    scale = np.ones(len(x))
    norm = np.asarray(np.linalg.norm(left, axis=-1))
    for _ in range(_HALVINGS):
        trial = x - scale[:, None] * step
        new = residual(trial)
        better = np.asarray(np.linalg.norm(new, axis=-1) < norm * (1 - _FALL * scale))
        if np.all(better | (norm == 0)):
            break
        scale = np.where(better, scale, scale / 2)
    keep = better[:, None]
    return np.where(keep, trial, x), np.where(keep, new, left)
