"""Linear models under other tails, normalised steps, and degenerate data: limits and rates.

For sum_i u_i^-nu, u = X w, gradient flow has the solution w(t) = (nu (nu + 2) t)^(1/(nu + 2)) w_*,

    w_* = sum_i u_i^(-nu - 1) x_i = argmin |w|^2/2 + sum_i u_i^-nu/nu,

and every other tends to its direction, argmin sum_i <x_i, v>^-nu over |v| = 1: not that of largest
margin, to which it tends as nu -> infinity.

For sum_i exp(-u_i^nu) the direction is that of largest margin: :mod:`derive.separable.rates`.

Source: Nacson et al. 2019 for the tails, Soudry et al. 2018 for degenerate data; the constants are
our own derivation.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

import numpy as np
import sympy
from flint import arb, arb_mat, fmpq_mat, fmpz_mat
from scipy.optimize import minimize
from sympy import Expr

from derive.errors import InputError, NumericalError
from derive.exact.balls import as_fmpq, as_fraction, ball, identity, precise
from derive.model.notation import rational
from derive.separable.rates import ACROSS, Measure, tail_rate
from numerics.evaluate.numbers import Array, read_number
from numerics.margins.interval import BITS, enclose
from numerics.margins.max_margin import max_margin, nearest
from numerics.margins.predictor import MaxMargin, fold


@dataclass(frozen=True)
class PowerTail:
    """What gradient flow on sum_i u_i^-nu tends to, in balls that were proved to contain it.

    Attributes:
        nu: of the tail.
        value: w_*.
        largest: the predictor of largest margin, which it is not.
    """

    nu: Fraction
    value: tuple[arb, ...]
    margins: tuple[arb, ...]
    largest: MaxMargin

    @property
    def direction(self) -> tuple[arb, ...]:
        """The limit of w(t)/|w(t)|."""
        size = _size(self.value)
        return tuple(x / size for x in self.value)

    @property
    def margin(self) -> arb:
        """The smallest <x_i, v> of the limit v."""
        return functools.reduce(arb.min, self.margins) / _size(self.value)


def power_tail(X: object, nu: object, labels: Iterable[object] | None = None) -> PowerTail:
    """Return the limit under a loss sum_i u_i^-nu, nu > 0.

    >>> limit = power_tail([[2, 3], [-2, 5]], 1)
    >>> [x.str(8, radius=False) for x in limit.direction]
    ['0.17047968', '0.98536119']

    Raises:
        InputError: X, labels or nu do not fit, or there are more than two classes.
        NotSeparable: with the proof.
        NumericalError: no ball was proved to contain it.
    """
    exponent = _positive(nu)
    largest = max_margin(X, labels)
    folded = fold(X, labels)
    if folded.several:
        raise InputError("a tail u^-nu is that of two classes")
    rows = [[Fraction(x, folded.scale) for x in row] for row in folded.rows]
    with np.errstate(all="ignore"):
        near = _minimum(np.array(rows, float), float(exponent), np.array(largest.value, float))
    with precise(BITS):
        x = arb_mat([[ball(a) for a in row] for row in rows])
        found = enclose(_Stationary(x, ball(exponent)), list(near))
        if found is None:
            raise NumericalError("no ball was proved to contain the limit")
        margins = tuple((x * arb_mat([[w] for w in found])).entries())
    return PowerTail(exponent, tuple(found), margins, largest)


@dataclass(frozen=True)
class _Stationary:
    """w - sum_i u_i^(-nu - 1) x_i and its derivatives."""

    X: arb_mat
    nu: arb

    def __call__(self, w: list[arb]) -> tuple[arb_mat, arb_mat]:
        u = (self.X * arb_mat([[x] for x in w])).entries()
        n, back = len(w), self.X.transpose()
        pull = arb_mat([[x ** (-self.nu - 1)] for x in u])
        bend = [(self.nu + 1) * x ** (-self.nu - 2) for x in u]
        bent = arb_mat([[b * self.X[i, j] for j in range(n)] for i, b in enumerate(bend)])
        return arb_mat([[x] for x in w]) - back * pull, arb_mat(identity(n)) + back * bent


def _minimum(X: Array, nu: float, w: Array) -> Array:
    """Return about the least |w|^2/2 + sum u^-nu/nu, from margins above 0."""
    # On the ray of w: |w|^2 s^(nu + 2) = sum u^-nu.
    w = w * (np.sum((X @ w) ** -nu) / (w @ w)) ** (1 / (nu + 2))

    def value(w: Array) -> tuple[float, Array]:
        u = X @ w
        whole = np.inf if u.min() <= 0 else float(w @ w / 2 + np.sum(u**-nu) / nu)
        return whole, w - X.T @ u ** (-nu - 1)

    def bend(w: Array) -> Array:
        return np.asarray(np.eye(len(w)) + (nu + 1) * (X.T * (X @ w) ** (-nu - 2)) @ X)

    return np.asarray(minimize(value, w, jac=True, hess=bend, method="trust-exact").x)


@dataclass(frozen=True)
class TailRates:
    """How fast a linear model tends to the largest l2 margin gamma under sum_i exp(-u_i^nu).

    (log t)^margin_power (gamma - margin) -> margin_constant, where that is not None; the direction
    has the gap O((log t)^-direction_power).

    Attributes:
        spans: whether the support vectors span all rows: then nothing is across them.
    """

    nu: Fraction
    margin_power: Fraction
    margin_constant: Expr | None
    direction_power: Fraction
    spans: bool


def tail_rates(X: object, nu: object, labels: Iterable[object] | None = None) -> TailRates:
    """Return the rates from a start in the span of the rows.

    >>> tail_rates([[1, 2], [2, -1], [5, 5]], "3/2").margin_power
    Fraction(1, 1)

    Raises:
        InputError: X, labels or nu do not fit.
        NotSeparable: with the proof.
        NumericalError: the data are degenerate, or their multipliers are not the only ones.
    """
    exponent = _positive(nu)
    found = max_margin(X, labels)
    if found.gap_constant is None or found.degenerate:
        raise NumericalError("rates are known where all rows of margin 1 have known multipliers")
    rows = fold(X, labels).rows
    chosen = fmpz_mat([rows[i] for i in found.support])
    spans = chosen.rank() == fmpz_mat(rows).rank()
    across = sympy.S.Zero if spans else ACROSS
    (power, _), (turning, _) = (tail_rate(of, exponent, across)[0] for of in get_args(Measure))
    constant = found.gap_of(exponent, across)
    return TailRates(exponent, power, constant, turning, spans)


def iterated(X: object, labels: Iterable[object] | None = None) -> tuple[tuple[Fraction, ...], ...]:
    """Return w_1, w_2, ... of w(t) = w_1 log t + w_2 log log t + ... + O(1), exactly.

    w_1 has the largest margin. Across the span of the rows that have a multiplier, the other rows
    of margin 1 pose the same problem for w_2, and so on.

    >>> [[str(x) for x in w] for w in iterated([[1, 0], [1, 5]])]
    [['1', '0'], ['0', '1/5']]

    Raises:
        InputError: X or labels do not fit.
        NotSeparable: with the proof.
        NumericalError: rows of margin 1 depend on each other, so that more choices are open.
    """
    found = max_margin(X, labels)
    if not found.determined:
        raise NumericalError("rows of margin 1 are linearly dependent: multipliers are not unique")
    folded = fold(X, labels)
    rows = [[Fraction(x, folded.scale) for x in row] for row in folded.rows]
    tight = list(dict.fromkeys(tuple(rows[i]) for i in found.tight))
    held = [tuple(rows[i]) for i in found.support]
    parts = [found.value]
    while rest := [x for x in tight if x not in held]:
        across = [_across(list(dict.fromkeys(held)), x) for x in rest]
        whole = fold(across)
        point = nearest(whole.rows)
        if point is None:
            raise NumericalError("no margin was certified across the support vectors")
        parts.append(tuple(whole.scale * x for x in point.value))
        held += [rest[i] for i in point.support]
        tight = [x for x in tight if x in held or rest.index(x) in point.tight]
    return tuple(parts)


def iterated_constant(X: object, labels: Iterable[object] | None = None) -> Expr:
    """Return lim of |w/|w| - w_hat/|w_hat|| log t/log log t, which is |w_2|/|w_1|.

    It is 0 for data that are not degenerate; the margin has the gap of support vectors alone.
    """
    first, *rest = iterated(X, labels)
    square = sum((x * x for x in rest[0]), Fraction(0)) if rest else Fraction(0)
    return sympy.sqrt(rational(square / sum(x * x for x in first)))


def _across(span: Sequence[Sequence[Fraction]], x: Sequence[Fraction]) -> list[Fraction]:
    """Return x without its part in a span of independent rows."""
    S = fmpq_mat([list(map(as_fmpq, row)) for row in span])
    column = fmpq_mat([[as_fmpq(a)] for a in x])
    left = column - S.transpose() * (S * S.transpose()).solve(S * column)
    return [as_fraction(a) for a in left.entries()]


def _positive(nu: object) -> Fraction:
    exponent = read_number(nu, "nu")
    if exponent <= 0:
        raise InputError("nu must be positive")
    return exponent


def _size(w: Sequence[arb]) -> arb:
    return sum((x * x for x in w), arb(0)).sqrt()
