"""Q as a sum over blocks of coordinates: formulas bound to a start, or integrals along a leaf."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Self, TypeAlias

import numpy as np

from derive.records import Potential
from numerics.evaluate.backend import Array
from numerics.evaluate.doubles.arithmetic import Constants, Plain
from numerics.evaluate.evaluator import (
    SMALLEST,
    SUMMAND,
    Start,
    evaluate,
    evaluate_plainly,
    evaluate_precisely,
    on_balls,
)
from numerics.evaluate.integrated_block import IntegratedBlock
from numerics.evaluate.leaf import Leaves
from numerics.evaluate.program import Program, program
from numerics.reals import Real


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
        """Evaluate on every block, one array for each number; nan at beta outside the bounds."""
        if what != "inverse" and self._walled:
            low, high = np.transpose(self.bounds)
            count = 1 if what == "stretch" else len(points)  # y is no beta
            inside = (np.where((b < low) | (b > high), np.nan, b) for b in points[:count])
            points = (*inside, *points[count:])
        shape = points[0].shape[:-1]
        if len(points) > 1:
            shape = np.broadcast_shapes(*(p.shape[:-1] for p in points))
            points = tuple(np.broadcast_to(p, (*shape, self.d)) for p in points)
        least = SUMMAND if len(self.blocks) > 1 and what in ("value", "bregman") else SMALLEST
        results: list[tuple[Sequence[int], list[Array]]] = []
        for outputs, block in self.blocks:
            columns = [p[..., i].ravel() for p in points for i in outputs]
            results.append((outputs, [x.reshape(shape) for x in block(what, columns, least)]))
        return results

    def curvature(self, beta: Array) -> Array:
        """Return the diagonal of the Hessian, of the shape of beta."""
        found = np.empty(beta.shape)
        for outputs, entries in self.run("hessian", beta):
            for i, entry in zip(outputs, entries[:: len(outputs) + 1], strict=True):
                found[..., i] = entry
        return found

    @property
    def in_doubles(self) -> Self:
        """The same in doubles alone: fast, with no bound of the error."""
        parts = [(i, block.in_doubles) for i, block in self.blocks]
        return type(self)(parts, self.bounds, self.leaves)

    def precisely(
        self, what: str, point: Sequence[Fraction], digits: int, least: float = 0.0
    ) -> list[list[Real]]:
        """Return what each block finds at its coordinates of a point, in mpf."""
        return [
            block.precisely(what, [point[i] for i in outputs], digits, least)
            for outputs, block in self.blocks
        ]


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

    def __call__(self, what: str, columns: Sequence[Array], least: float) -> list[Array]:
        """Return what is asked for at points; nan where it is not known."""
        if what == "inverse" and not self.invertible:
            if self.along:
                return self.along(what, columns, least)
            beta0 = list(map(float, self.beta0))
            return invert_by_newton(self.program.plain, self.start.at(Plain), beta0, columns)
        if self.plain:
            return evaluate_plainly(self.program, what, self.start, columns)
        return evaluate(self.program, what, self.start, columns, least)

    def precisely(
        self, what: str, point: Sequence[Fraction], digits: int, least: float = 0.0
    ) -> list[Real]:
        """Return what is asked for at a point, in mpf."""
        if what == "primitive" and self.along:
            return self.along.precisely(what, point, digits)
        count = 1 if what in ("value", "primitive") else len(point)
        return evaluate_precisely(
            lambda: on_balls(self.program, what, self.start, point), count, digits, least
        )


Part: TypeAlias = tuple[tuple[int, ...], FormulaBlock | IntegratedBlock]
"""The positions of the coordinates of a block, and its Q."""


def formula_block(
    potential: Potential,
    block: int,
    values: Mapping[str, Fraction],
    beta0: tuple[Fraction, ...],
    along: IntegratedBlock | None = None,
) -> FormulaBlock:
    """Return Q on a block by its program.

    Raises:
        NoSource: it needs a function that is not known here.
    """
    written = program(potential, block)
    numbers = (values[n] for n in potential.parameterization.start_symbols)
    known = dict(zip(written.names, numbers, strict=True))
    return FormulaBlock(written, Start(known, written.constants), beta0, along)


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
