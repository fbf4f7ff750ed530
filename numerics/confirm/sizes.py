"""Q of a map of open size put to flows of the weights at some n, in coordinates.

The flow runs to X beta = y in all weights, where nothing is known of sums or of Q. At its limit the
change of the dual coordinates has to be in the row space of X, that of grad Q has to be the same,
and the law what it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np
from sympy import Expr

from derive.model.parameterization import Parameterization
from derive.potential.entrywise.forms import EntrywisePotential
from derive.weights.entrywise_dual import EntrywiseDual
from numerics.confirm.regression_problem import (
    GUARD,
    Check,
    RegressionProblem,
    agreement,
    complete_problem,
    digits_of,
    draw_target,
    first_sound,
    stationarity,
)
from numerics.evaluate.numbers import Real, compiled, rational
from numerics.evaluate.start import bound_at
from numerics.integrator.gradient_flow import Flow

SIZES = (2, 3, 5)
CONSTANT = Fraction(3, 2)
"""What the first constant of F is in the check; each is greater by 1/3 than the last."""


def check_sizes(dual: EntrywiseDual, potential: EntrywisePotential, digits: int = 20) -> Check:
    """Check Q of every n by flows at n = 2, 3 and 5.

    Raises:
        NumericalError: no drawn problem has a flow that converges.
    """
    rng, rows = np.random.default_rng(0), dict[str, float | None]()
    for n in (n for n in SIZES if n not in dual.excluded_sizes):
        check = AtSize(dual, potential, n)

        def run(check: AtSize = check) -> dict[str, float | None]:
            problem = check.problem(rng)
            return check.compare(problem, problem.flow(digits + GUARD))

        rows |= first_sound(run, f"check n = {n}")
    return agreement(rows, digits)


@dataclass(frozen=True)
class AtSize:
    """F of n entries in coordinates, and what is to be found of it."""

    dual: EntrywiseDual
    potential: EntrywisePotential
    n: int

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return self.n - self.dual.leaves_out

    @property
    def constants(self) -> dict[str, Fraction]:
        """Numbers for the constants of F."""
        names = self.dual.entries.model.parameters
        return {x: CONSTANT + Fraction(k, 3) for k, x in enumerate(names)}

    def problem(self, rng: np.random.Generator) -> RegressionProblem:
        """Return a drawn problem."""
        model = self.dual.entries.model
        entries = [f"{model.indexed}{k}" for k in range(1, self.n + 1)]
        groups = {
            x: entries if x == model.indexed else [x] for x in (model.indexed, *model.scalars)
        }
        weights = [w for group in groups.values() for w in group]
        rates = {w: rate for x, rate in model.rates for w in groups[x]}
        signs = [w for x in model.positive for w in groups.get(x, [])]
        trees = model.of_size(self.n)[: self.outputs]
        p = bound_at(Parameterization(trees, weights, positive=signs, rates=rates), self.constants)
        numbers = rng.integers(8, 33, size=len(p.start_symbols)).tolist()
        start = {x: Fraction(k, 16) for x, k in zip(p.start_symbols, numbers, strict=True)}
        if self.outputs > 1:
            return complete_problem(p, None, None, [start], rng)
        X = [[Fraction(1)]]
        return complete_problem(p, X, draw_target(p, X, [start], rng), [start], rng)

    def compare(self, problem: RegressionProblem, end: Flow) -> dict[str, float | None]:
        """Return the digits of all that agrees at the end of a flow."""
        with mpmath.workdps(end.digits + GUARD):
            (copy,) = problem.copies(end)
            before, after = self.values(copy.begin), self.values(copy.end)
            moved = _difference(self.y(after), self.y(before))
            found = dict[str, float | None](y=None, Q=None, law=None)
            if self.outputs > 1:
                found["y"] = stationarity(problem.X, moved, end.digits)
            first, last = self.slopes(before), self.slopes(after)
            if first and last:
                errors = _difference(_difference(last, first), moved)
                found["Q"] = digits_of(mpmath.norm(errors), mpmath.norm(moved))
            if (law := self.potential.law) is not None:
                c = self.number(law, before)
                found["law"] = digits_of(self.number(law, after) - c, c)
        words = {"y": "y in the row space of X", "Q": "grad Q as y", "law": "the law"}
        return {f"n = {self.n}: {words[x]}": digits for x, digits in found.items()}

    def values(self, weights: Mapping[str, Real]) -> dict[str, Real]:
        """Return numbers for all names: weights, constants, the sums and c."""
        at = self.potential.notation
        known = {**weights, **{k: rational(x) for k, x in self.constants.items()}}
        known[at.n.name] = mpmath.mpf(self.n)
        sums = {x: at.total(at.own(at.entries.sums[x])) for x, _ in at.entries.model.sums}
        rows = {left.name: right for left, right in self.potential.rows if left == at.c}
        return known | {x: self.number(value, known) for x, value in (sums | rows).items()}

    def number(self, expression: Expr, known: Mapping[str, Real]) -> Real:
        """Return the value of an expression."""
        whole = self.potential.notation.at_size(expression, self.n)
        names = tuple(sorted({x.name for x in whole.free_symbols}))
        (value,) = compiled([whole], names, "mpmath")(*(known[x] for x in names))
        return mpmath.mpmathify(value)

    def along(self, expression: Expr, known: Mapping[str, Real], most: int) -> list[Real]:
        """Return a function of v_i at the first entries."""
        entries, v = self.dual.entries.entries, self.dual.entries.model.indexed
        last = {**known, entries["n"]: known[f"{v}{self.n}"]}
        return [
            self.number(expression, {**last, entries["i"]: known[f"{v}{k}"]})
            for k in range(1, most + 1)
        ]

    def y(self, known: Mapping[str, Real]) -> list[Real]:
        """Return the dual coordinates."""
        return self.along(self.potential.y, known, self.outputs)

    def slopes(self, known: Mapping[str, Real]) -> list[Real]:
        """Return grad Q up to its linear part, in beta; nothing where Q is not in beta."""
        if (gradient := self.potential.gradient(self.n)) is None:
            return []
        at = self.potential.notation
        beta = self.along(at.expr(at.entries.F[0]), known, self.n)
        betas = {f"{at.beta.base}{k}": x for k, x in enumerate(beta, 1)}
        found = [self.number(x, {**known, **betas}) for x in gradient]
        affine = self.dual.leaves_out and not self.dual.entries.model.left_out
        return [x - found[-1] * affine for x in found[: self.outputs]]


def _difference(left: list[Real], right: list[Real]) -> list[Real]:
    return [a - b for a, b in zip(left, right, strict=True)]
