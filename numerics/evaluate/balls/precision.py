"""Formulas evaluated in doubles where error bounds allow it, else in more and more decimals."""

from __future__ import annotations

import decimal
import functools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from numerics.evaluate.balls.arithmetic import Array, Ball, Digits, Double, agreed, pairwise_sum

Constants: TypeAlias = Any  # the start symbols, and what depends on them alone, by name
Formula: TypeAlias = Callable[..., Sequence[Ball]]

TOLERANCE = 9.5e-15
"""A result is used if the bound of its relative error is below this."""
SMALLEST = 2.0**-1022
"""What is smaller need not be told from 0."""
SUMMAND = 2.0**-1074
"""The same for what is added to other numbers."""
_DIGITS = (50, 100, 200, 400, 800, 1600)
_CHUNK = 16384  # fits the cache
RULES = [np.polynomial.legendre.leggauss(n) for n in (16, 10)]


class Start:
    """Numbers of the start symbols, each one or as many as there are points."""

    def __init__(
        self,
        values: Mapping[str, Any],
        constants: Callable[[Constants], None],
        shared: Mapping[str, Array] = MappingProxyType({}),
        decimals: type[Ball] = Digits,
    ) -> None:
        """Keep them; *constants* adds what depends on them and on arrays that all points share.

        What doubles leave open is found in *decimals*.
        """
        self._values, self._constants, self._shared = values, constants, shared
        self.decimals = decimals

    def at(self, kind: type[Ball], index: Any) -> Constants:
        """Return the constants at some of the points, as doubles to all their digits."""
        if kind is Double and not any(np.ndim(x) for x in self._values.values()):
            return self._rounded
        return self._found(kind, index)

    @functools.cached_property
    def _rounded(self) -> Constants:
        with decimal.localcontext(_context(_DIGITS[1])):
            exact = self._found(self.decimals, ())
            rounded = {name: _doubles(x) for name, x in vars(exact).items() if name != "of"}
        return SimpleNamespace(of=Double.of, **rounded)

    def _found(self, kind: type[Ball], index: Any) -> Constants:
        found = {name: kind.of(x[index] if np.ndim(x) else x) for name, x in self._values.items()}
        found.update((name, kind.of(x)) for name, x in self._shared.items())
        c = SimpleNamespace(of=kind.of, **found)
        self._constants(c)
        del c.of  # which makes balls of numbers, and is none itself
        balls = {name: _converted(x, kind) for name, x in vars(c).items()}
        return SimpleNamespace(of=kind.of, **balls)


def _converted(x: Any, kind: type[Ball]) -> Any:
    if isinstance(x, list):
        return [kind.of(y) for y in x]
    return x if x is None else kind.of(x)


def _doubles(x: Any) -> Any:
    """Return the nearest doubles to decimals."""
    if x is None:
        return x
    if isinstance(x, list):
        return [_doubles(y) for y in x]
    if np.ndim(x.v):
        errors = np.broadcast_to(np.asarray(x.d, dtype=object), x.v.shape)
        parts = [_doubles(type(x)(*pair)) for pair in zip(x.v.flat, errors.flat, strict=True)]
        return Double(*(np.reshape([getattr(p, n) for p in parts], x.v.shape) for n in "vd"))
    v = float(x.v)
    lost = abs(x.v - decimal.Decimal(v)) + x.d if np.isfinite(v) else x.zero
    return Double(v, float(lost) * (1 + 2.0**-50) + (Double.tiny if lost else 0.0))


def evaluate(
    formulas: Sequence[Formula],
    start: Start,
    columns: Sequence[Array],
    least: float = SMALLEST,
) -> list[Array]:
    """Evaluate forms of one formula at n points; nan where it is undefined or infinite.

    In doubles the forms are tried in turn, then the first one in decimals. What is smaller than
    *least* is given to within that.
    """
    size = len(columns[0])
    length = max(1, _CHUNK // max(1, sum(np.size(x) for x in columns) // max(1, size)))
    parts = []
    with np.errstate(all="ignore"):
        for low in range(0, max(size, 1), length):
            index = np.arange(low, min(low + length, size))
            parts.append(_chunk(formulas, start, columns, index, least))
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _chunk(
    formulas: Sequence[Formula],
    start: Start,
    columns: Sequence[Array],
    index: Array,
    least: float,
) -> list[Array]:
    results: list[Array] = []
    finite = np.all([_whole(np.isfinite(x[index])) for x in columns], axis=0)
    open_ = np.flatnonzero(finite)
    for formula in formulas:
        open_ = _settle(formula, start, columns, index, open_, results, Double, least)
    first, kind = formulas[0], start.decimals
    for digits in _DIGITS:
        if len(open_):
            with decimal.localcontext(_context(digits)):
                open_ = _settle(first, start, columns, index, open_, results, kind, least)
    for x in results:
        x[open_] = np.nan
    return results


def _context(digits: int) -> decimal.Context:
    """Return a context without traps and with hardly a limit of exponents."""
    top = 10**17
    return decimal.Context(prec=digits, Emin=-top, Emax=top, traps=[])


def _settle(
    formula: Formula,
    start: Start,
    columns: Sequence[Array],
    index: Array,
    open_: Array,
    results: list[Array],
    kind: type[Ball],
    least: float,
) -> Array:
    """Write results at the open points, and return where they are not good."""
    where = index[open_]
    found = formula(start.at(kind, where), *(kind.of(x[where]) for x in columns))
    found = [kind.of(x) for x in found]
    if not results:
        results.extend(np.full((len(index), *np.shape(x.v)[1:]), np.nan) for x in found)
    good = np.ones(len(where), dtype=bool)
    for result, x in zip(results, found, strict=True):
        shape = (len(where), *result.shape[1:])
        v, d = (np.broadcast_to(np.asarray(y, dtype=np.float64), shape) for y in (x.v, x.d))
        result[open_] = v if kind is Double else np.where(_finite(x, shape), v, np.nan)
        size = np.abs(v)
        close = d < TOLERANCE * size if kind is Double else _close(x, shape)
        good &= _whole(close | (size + d < least))
    return open_[~good]


def _whole(good: Array) -> Array:
    """Tell at which points every entry is true."""
    return np.all(good, axis=tuple(range(1, good.ndim)))


def _close(x: Ball, shape: tuple[int, ...]) -> Array:
    """Tell which decimals are known nearly to the digits of a double, undefined or infinite.

    What is infinite in decimals is a pole, or beyond all doubles: more digits change nothing.
    """
    known = np.broadcast_to(np.asarray(x.d * 2**50 < abs(x.v), dtype=bool), shape)
    return known | ~_finite(x, shape)


def _finite(x: Ball, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(np.asarray(x.v - x.v == 0, dtype=bool), shape)


class ClosedFormulas:
    """Q of one block in closed form.

    Attributes:
        value: Q, up to a constant.
        gradient: dQ/dbeta_i.
        hessian: d^2 Q/dbeta_i dbeta_j, row by row.
        inverse: the beta with grad Q = y.
        divergence: that of Bregman, of 2 d balls, where terms cancel in its formula.
        walls: what keeps on the domain of Q the sign that it has at the start; None: nothing.
    """

    def __init__(
        self,
        value: Formula,
        gradient: Formula,
        hessian: Formula,
        inverse: Formula | None = None,
        divergence: Formula | None = None,
        walls: Formula | None = None,
    ) -> None:
        """Keep the formulas, functions of the constants and d balls."""
        self.value, self.gradient, self.hessian = value, gradient, hessian
        self.inverse, self.divergence, self.walls = inverse, divergence, walls

    def bregman_formulas(self) -> list[Formula]:
        """Return forms of ``Q(b) - Q(b0) - <grad Q(b0), b - b0>``, functions of 2 d balls."""
        return [self._inside(f) for f in (*self.difference_formulas(), self._segment)]

    def difference_formulas(self) -> list[Formula]:
        """Return forms of the same by subtraction."""
        return [self._difference] if self.divergence is None else [self.divergence]

    def value_formulas(self) -> list[Formula]:
        """Return forms of ``Q(beta) - Q(beta_0)``."""
        return [lambda c, *b, f=f: f(c, *b, *c.origin) for f in self.bregman_formulas()]

    def hessian_formulas(self) -> list[Formula]:
        """Return forms of the Hessian, row by row."""
        return [self._inside(self.hessian)]

    def inverse_formulas(self) -> list[Formula]:
        """Return forms of the inverse of grad Q; none where it is not known."""
        inverse = self.inverse
        return [] if inverse is None else [lambda c, *y: self._kept(c, inverse(c, *y))]

    def gradient_formulas(self) -> list[Formula]:
        """Return forms of grad Q."""
        return [self._inside(f) for f in (self.gradient, self._rise)]

    def _inside(self, formula: Formula) -> Formula:
        """Return a formula that is undefined outside the domain."""
        return lambda c, *points: formula(c, *self._kept(c, points))

    def _kept(self, c: Constants, points: Sequence[Ball]) -> Sequence[Ball]:
        """Return the points, undefined where one of d numbers has certainly left the domain."""
        if self.walls is None:
            return points
        d, at_start = len(c.origin), self.walls(c, *c.origin)
        found: list[Ball] = []
        for first in range(0, len(points), d):
            b = points[first : first + d]
            for wall, start in zip(self.walls(c, *b), at_start, strict=True):
                certain = (abs(wall.v) > wall.d) & (abs(start.v) > start.d)
                beyond = np.asarray(certain & ((wall.v < 0) != (start.v < 0)), dtype=bool)
                b = [x.outside(beyond, False) for x in b] if np.any(beyond) else b
            found += b
        return found

    def _difference(self, c: Constants, *points: Ball) -> Sequence[Ball]:
        d = len(points) // 2
        b, b0 = points[:d], points[d:]
        (top,), (low,), slopes = self.value(c, *b), self.value(c, *b0), self.gradient(c, *b0)
        total = top - low
        for slope, x, x0 in zip(slopes, b, b0, strict=True):
            total = total - slope * (x - x0)
        return [total]

    def _segment(self, c: Constants, *points: Ball) -> Sequence[Ball]:
        d = len(points) // 2
        s = [x - x0 for x, x0 in zip(points[:d], points[d:], strict=True)]
        return [self.segment(c, points[d:], s)]

    def segment(self, c: Constants, b0: Sequence[Ball], s: Sequence[Ball]) -> Ball:
        """Integrate ``(1-t) s^T H(b0 + t s) s``: no terms cancel, as H > 0."""
        total: Any = 0
        for x, row in zip(s, self._integrals(c, b0, s, lambda t: 1 - t), strict=True):
            total = x * row + total
        return total  # type: ignore[no-any-return]

    def _rise(self, c: Constants, *b: Ball) -> Sequence[Ball]:
        """Integrate ``H(beta_0 + t s) s``."""
        s = [x - x0 for x, x0 in zip(b, c.origin, strict=True)]
        return self._integrals(c, c.origin, s, lambda t: 1.0)

    def _integrals(
        self, c: Constants, b0: Sequence[Ball], s: Sequence[Ball], factor: Callable[[Any], Any]
    ) -> list[Ball]:
        """Return ``sum_j (int_0^1 factor(t) H_ij dt) s_j`` as :func:`integrate` does."""
        d = len(s)

        def entries(t: Any) -> Sequence[Ball]:
            at = (y + x.of(t) * x for y, x in zip(b0, s, strict=True))
            return [s[0].of(x) for x in self.hessian(c, *at)]

        found = integrate(entries, factor, range(0, d * d, d + 1))
        return [pairwise_sum([found[i * d + j] * s[j] for j in range(d)]) for i in range(d)]


def integrate(
    function: Callable[[Any], Sequence[Ball]],
    factor: Callable[[Any], Any],
    positive: Sequence[int],
) -> list[Ball]:
    """Return ``int_0^1 factor(t) f_i(t) dt`` by two Gauss-Legendre rules.

    Their distance is added to the running error: an estimate of the error of the finer one, which
    is far better, and no proof. There is no bound where the f_i that are *positive* vary by more
    than a factor of 4: a rule may step over what happens close to an end.
    """
    totals, even = [], np.ones(1, dtype=bool)
    for nodes, weights in RULES:
        columns = list(zip(*(function((1 + x) / 2) for x in nodes), strict=True))
        factors = [w / 2 * factor((1 + x) / 2) for x, w in zip(nodes, weights, strict=True)]
        for i in positive:
            sizes = np.broadcast_arrays(*(abs(x.v) for x in columns[i]))
            even = even & (np.maximum.reduce(sizes) <= 4 * np.minimum.reduce(sizes))
        totals.append([_weighted(factors, column) for column in columns])
    return [agreed(f, c).outside(False, ~even) for f, c in zip(*totals, strict=True)]


def _weighted(factors: Sequence[float], terms: Sequence[Ball]) -> Any:
    return pairwise_sum([x.of(w) * x for w, x in zip(factors, terms, strict=True)])
