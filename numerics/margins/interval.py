"""Largest margins in norms without exact predictors, between two bounds proved in balls.

For all w with X w >= 1 and y >= 0, not all 0,

    sum y/|X^T y|_* <= min |w| <= |w|:

whatever doubles find, the bounds are those of the numbers that they found, y < 0 taken for 0.

Of many rows few decide, and these are looked for. In l_p the dual min |X^T y|_q^2/2 - sum y over
y >= 0 is smooth; w = grad(|.|_q^2/2)(X^T y) there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context
from fractions import Fraction
from typing import ClassVar, Self, TypeAlias

import numpy as np
from flint import arb, arb_mat, ctx, fmpz_mat
from scipy.optimize import minimize

from derive.exact.balls import ball, fraction, identity, precise
from derive.optimizers.least_norm import Norm
from derive.printable import Held
from numerics.evaluate.numbers import Array
from numerics.margins.linear_program import product
from numerics.margins.predictor import MaxMargin, some

Near: TypeAlias = Callable[[Array], tuple[Array, Array] | None]
"""From X to w of nearly the largest margin, and y; None if not found."""
WORKING = 400
"""Rows at a time."""
ROUNDS = 60


def largest(rows: Sequence[Sequence[int]]) -> int:
    """Return the largest number in absolute value, at least 1."""
    return max(1, *(abs(x) for row in rows for x in row))


def on_worst_rows(near: Near, rows: Sequence[Sequence[int]]) -> tuple[Array, Array] | None:
    """Return w and y of X over its largest number, from rows that grow by the worst ones."""
    unit = largest(rows)
    X = np.array([[x / unit for x in row] for row in rows])
    working = np.sort(np.argsort(X @ X.mean(axis=0), kind="stable")[:WORKING])
    for _ in range(ROUNDS):
        found = near(X[working])
        if found is None:
            return None
        w, y = found[0], np.zeros(len(X))
        y[working] = found[1]
        margins = X @ w
        least = float(margins[working].min())
        worse = np.flatnonzero(margins < least - 1e-9 * max(least, 1e-6))
        if least <= 0 or not len(worse):
            break
        kept = working if len(working) < 2 * WORKING else positive(y)
        added = worse[np.argsort(margins[worse], kind="stable")[:WORKING]]
        working = np.union1d(kept, added)
    return w, y


def positive(y: Array) -> Array:
    """Return the places of multipliers that are not 0 but for rounding."""
    return np.flatnonzero(y > np.max(y, initial=0) * 1e-12)


@dataclass(frozen=True)
class Bounded:
    """A norm in doubles and in balls.

    Attributes:
        near: what finds w and y.
        bounds: upper bounds of the norm and of the dual norm, in balls.
    """

    near: Near
    bounds: Callable[[Sequence[Fraction]], tuple[arb, arb]]


@dataclass(frozen=True, repr=False)
class MarginInterval(MaxMargin):
    """A predictor of nearly the largest margin, and proved bounds of the least norm.

    Attributes:
        norm: l4/3 and so on, nuclear, or dft: sum_k |sum_j w_j exp(-2 pi i j k/d)|.
        lower, upper: lower <= min |w| <= |value| <= upper.
    """

    lower: Fraction = Fraction(0)
    upper: Fraction = Fraction(0)
    exact: ClassVar[bool] = False
    __repr__ = Held.__repr__

    def _shown(self) -> list[tuple[str, object]]:
        return [(x, getattr(self, x)) for x in ("norm", "value", "multiplier", "lower", "upper")]

    def times(self, s: Fraction) -> Self:
        """Return the solution for rows of which s times are those of this one."""
        return replace(super().times(s), lower=s * self.lower, upper=s * self.upper)

    @property
    def margin(self) -> tuple[Fraction, Fraction]:
        """Bounds of the largest margin, 1/min |w|."""
        return 1 / self.upper, 1 / self.lower

    def to_text(self) -> str:
        """Return it as text."""
        lines = [f"On these data: largest {self.norm} margin, between two bounds proved in balls"]
        lines += [f"  {_between(*self.margin)} (margin)"]
        lines += [f"  {_between(self.lower, self.upper)} (min |beta|, all margins at least 1)"]
        return "\n".join([*lines, f"  beta near ({some([_rounded(x, 9) for x in self.value])})"])

    def to_json(self) -> str:
        """Return its record."""
        low, high = _decimals(self.lower, self.upper)
        values = {"value": self.value, "multiplier": self.multiplier}
        record = {
            "separable": True,
            "norm": self.norm,
            "classes": list(self.classes),
            "least": [low, high],
            **{name: [_rounded(x, 17) for x in numbers] for name, numbers in values.items()},
        }
        return json.dumps(record, indent=2)


def _between(low: Fraction, high: Fraction) -> str:
    return "[{}, {}]".format(*_decimals(low, high))


def _decimals(low: Fraction, high: Fraction) -> tuple[str, str]:
    """Return decimals, rounded so that what is between the numbers is between them."""
    return _rounded(low, 14, ROUND_FLOOR), _rounded(high, 14, ROUND_CEILING)


def _rounded(x: Fraction, digits: int, rounding: str = ROUND_HALF_EVEN) -> str:
    return str(Context(prec=digits, rounding=rounding).divide(*x.as_integer_ratio()))


def interval(name: str, norm: Bounded, rows: Sequence[Sequence[int]]) -> MarginInterval | None:
    """Return what was found for a norm; None where no w of positive margin was."""
    unit, some = largest(rows), any(map(any, rows))
    found = on_worst_rows(norm.near, rows) if some else None
    if found is None:
        return None
    w, y = ([Fraction(float(x)) for x in numbers] for numbers in found)
    X, y = fmpz_mat([list(row) for row in rows]), [max(x, Fraction(0)) for x in y]
    margins, q = product(X, w)
    least = Fraction(min(margins), q * unit)
    if least <= 0 or not any(y):
        return None
    w = [x / least for x in w]
    pulled, q = product(X.transpose(), y)
    with precise(128):  # of X over its largest number: balls may be found by way of doubles
        upper, _ = norm.bounds(w)
        _, dual = norm.bounds([Fraction(x, q * unit) for x in pulled])
        lower = ball(sum(y, Fraction(0))) / dual
        ends = fraction(lower.lower()) / unit, fraction(upper.upper()) / unit
    value, multiplier = (tuple(x / unit for x in numbers) for numbers in (w, y))
    return MarginInterval(name, value, multiplier, lower=ends[0], upper=ends[1])


def power_norm(norm: Norm) -> Bounded:
    """Return l_p in doubles, by the dual, and in balls."""
    q = float(norm.dual.p or 1)

    def near(A: Array) -> tuple[Array, Array] | None:
        def objective(y: Array) -> tuple[float, Array]:
            g = A.T @ y
            return float(np.linalg.norm(g, q) ** 2 / 2 - y.sum()), A @ dual_slope(g, norm) - 1

        options = {"ftol": 1e-16, "gtol": 1e-13, "maxiter": 10_000, "maxfun": 10**5}
        start, limits = np.full(len(A), 1 / len(A)), [(0, None)] * len(A)
        y = minimize(objective, start, jac=True, bounds=limits, options=options).x
        return dual_slope(A.T @ y, norm), y

    def bounds(w: Sequence[Fraction]) -> tuple[arb, arb]:
        x = list(map(ball, w))
        return norm.value(x), norm.dual.value(x)

    return Bounded(near, bounds)


def dual_slope(g: Array, norm: Norm) -> Array:
    """Return grad(|.|_*^2/2)(g), minus the step of steepest descent; of ties the first."""
    if norm.dual.p is None:
        return np.asarray(np.where(np.arange(len(g)) == np.argmax(np.abs(g)), g, 0.0))
    q = float(norm.dual.p)
    size = np.linalg.norm(g, q) or 1.0
    return np.asarray(np.sign(g) * (np.abs(g) / size) ** (q - 1) * size)


System: TypeAlias = Callable[[list[arb]], tuple[arb_mat, arb_mat]]
"""From n numbers or balls to the values of n functions, a column, and their derivatives."""

BITS = 256
RADIUS = 120
"""Bits of zeros that are enclosed."""
NEWTON = 12


def enclose(system: System, near: Sequence[float]) -> list[arb] | None:
    """Return balls that contain exactly one zero of a system, or None where that is not proved."""
    with precise(BITS):
        x = solve_near(system, [arb(float(v)) for v in near])
        if x is None:
            return None
        return contracted(system, x, [(1 + abs(a)).upper() / arb(2) ** RADIUS for a in x])


def solve_near(system: System, x: Sequence[arb]) -> list[arb] | None:
    """Return what Newton's method finds from some numbers, with nothing proved."""
    found = list(x)
    try:
        for _ in range(NEWTON):
            values, slopes = system(found)
            steps = slopes.mid().solve(values.mid()).mid().entries()
            found = [(a - b).mid() for a, b in zip(found, steps, strict=True)]
            scale = max(abs(a) for a in found)
            if max(abs(b) for b in steps) <= scale * arb(2) ** (-ctx.prec * 3 // 4):
                break
    except ZeroDivisionError:
        return None
    return found if all(a.is_finite() for a in found) else None


def contracted(system: System, x: Sequence[arb], radii: Sequence[arb]) -> list[arb] | None:
    """Return a box about x with exactly one zero for each value of what balls the system has.

    x - Y f(x) + (1 - Y Df(Z)) (Z - x) lies in the interior of the box Z about x, Y near Df(x)^-1.
    """
    middle = list(x)
    values, slopes = system(middle)
    try:
        Y = slopes.mid().inv().mid()
    except ZeroDivisionError:
        return None
    offsets = arb_mat([[arb(0, r)] for r in radii])
    _, around = system([a + z for a, z in zip(middle, offsets.entries(), strict=True)])
    image = (arb_mat(identity(len(x))) - Y * around) * offsets - Y * values
    if not all(abs(z) < r for z, r in zip(image.entries(), radii, strict=True)):
        return None
    return [a + z for a, z in zip(middle, image.entries(), strict=True)]
