"""Q as a sum over blocks of coordinates: formulas bound to a start, or integrals along a leaf."""

from __future__ import annotations

import decimal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Protocol, Self

import mpmath
import numpy as np

from derive.records import Potential
from numerics.evaluate.backend import GUARD, Array, Number
from numerics.evaluate.balls.arithmetic import Ball
from numerics.evaluate.balls.decimals import Digits
from numerics.evaluate.balls.on_arrays import Total
from numerics.evaluate.balls.plain import evaluate_plainly
from numerics.evaluate.balls.precision import Formula, Start, evaluate, wide_context
from numerics.evaluate.leaf import Leaf
from numerics.evaluate.newton_inverse import invert_by_newton
from numerics.evaluate.source.formulas import FormulaText
from numerics.evaluate.source.program import Loaded, loaded, program
from numerics.reals import Real

_RUNGS = 1, 2, 4


class NumericBlock(Protocol):
    """Q on one block."""

    # ruff: noqa: D102
    @property
    def in_doubles(self) -> NumericBlock: ...
    @property
    def invertible(self) -> bool: ...
    def __call__(self, what: str, columns: Sequence[Array], least: float) -> list[Array]: ...
    def precisely(
        self, what: str, point: Sequence[Fraction], digits: int, least: float = 0.0
    ) -> list[Real]: ...


class Blocks(Total):
    """Q on arrays (..., d), the sum over blocks.

    ``bounds`` are the ends of the domain for coordinates that are blocks of their own, infinite
    where there is none or it is not known. ``leaves`` are those of all coordinates where beta
    alone does not say where Q is Q, and none else.
    """

    def __init__(
        self,
        parts: Sequence[tuple[tuple[int, ...], NumericBlock]],
        bounds: Sequence[tuple[float, float]],
        leaves: Sequence[tuple[Sequence[int], Leaf]] = (),
    ) -> None:
        """Keep the positions of the coordinates of each block, and its Q."""
        super().__init__(parts)
        self.blocks, self.bounds, self.leaves = tuple(parts), tuple(bounds), tuple(leaves)

    def run(self, what: str, *points: Array) -> list[tuple[Sequence[int], list[Array]]]:
        """Evaluate on every block; nan at once at beta outside the bounds."""
        if what != "inverse" and np.any(np.isfinite(self.bounds)):
            low, high = np.transpose(self.bounds)
            count = 1 if what == "stretch" else len(points)  # y is no beta
            inside = (np.where((b < low) | (b > high), np.nan, b) for b in points[:count])
            points = (*inside, *points[count:])
        return super().run(what, *points)

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

    program: Loaded
    start: Start = field(repr=False)
    beta0: tuple[Fraction, ...]
    along: NumericBlock | None = None
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
            return invert_by_newton(self.program.plain, self.start, beta0, columns)
        if not self.plain:
            return evaluate(self.program.bounded.forms(what), self.start, columns, least)
        # Q up to its constant, which nothing is subtracted from.
        forms = self.program.plain.forms("primitive" if what == "value" else what)
        return evaluate_plainly(forms, self.start, columns)

    def precisely(
        self, what: str, point: Sequence[Fraction], digits: int, least: float = 0.0
    ) -> list[Real]:
        """Return what is asked for at a point, in mpf."""
        if what == "primitive" and self.along:
            return self.along.precisely(what, point, digits)
        forms = self.program.bounded.forms(what)
        return evaluate_precisely(forms[0], self.start, point, digits, least)


def formula_block(
    potential: Potential,
    block: int,
    values: Mapping[str, Fraction],
    beta0: tuple[Fraction, ...],
    along: NumericBlock | None = None,
) -> FormulaBlock:
    """Return Q on a block by its program.

    Raises:
        NoSource: it needs a function that is not known here.
    """
    program = loaded(potential, block)
    names = potential.parameterization.start_symbols
    known: dict[str, Number] = dict(zip(program.names, (values[n] for n in names), strict=True))
    return FormulaBlock(program, Start(known, program.constants), beta0, along)


def precise_roots(
    potential: Potential,
    block: int,
    values: Mapping[str, Fraction],
    beta: tuple[Fraction, ...],
    digits: int,
) -> list[Real]:
    """Return the roots that Q of a block names, at beta, in mpf."""
    piece = potential.pieces[block]
    if not piece.roots:
        return []
    q = formula_block(potential, block, values, beta)
    found = FormulaText("roots", piece.betas, piece.roots, tuple(r.symbol for r in piece.roots), "")
    written = program(potential, block)
    space = replace(written, functions=((found.name, found.text(dict(written.known))),)).space()
    return evaluate_precisely(space["roots"], q.start, beta, digits)


def evaluate_precisely(
    formula: Formula, start: Start, point: Sequence[Fraction], digits: int, least: float = 0.0
) -> list[Real]:
    """Evaluate a formula at one point, with bounds below 10^-digits relative where there are.

    What is smaller than *least* need not have them. Another number that is 0, or whose digits
    cancel, has those that four times as many leave.
    """
    for rung in _RUNGS:
        with decimal.localcontext(wide_context(rung * (digits + GUARD))):
            found = formula(start.at(Digits, ()), *(_column(Digits.of(x)) for x in point))
            balls = [_single(Digits.of(x)) for x in found]
            if all(x.d.scaleb(digits) <= abs(x.v) or abs(x.v) + x.d < least for x in balls):
                break
    with mpmath.workdps(digits + GUARD):
        return [_mpf(x) for x in balls]


def _column(x: Ball) -> Ball:
    """Return a ball as one point of an array, as searches along curves need."""
    return type(x)(*(np.array([y], dtype=object) for y in (x.v, x.d)))


def _single(x: Ball) -> Ball:
    """Return a ball of two decimals."""
    v, d = (decimal.Decimal(y.item() if isinstance(y, np.ndarray) else y) for y in (x.v, x.d))
    return type(x)(v, d)


def _mpf(x: Ball) -> Real:
    if x.v.is_finite() and x.d.is_finite():
        return mpmath.mpf(str(x.v))
    return mpmath.mpf(float(x.v)) if x.v.is_infinite() else mpmath.nan
