"""Formulas evaluated in doubles where error bounds allow it, else in more and more decimals."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from numerics.evaluate.balls.arithmetic import Array, Ball, Double, Extended
from numerics.evaluate.balls.decimals import Digits, exact_decimal

Constants: TypeAlias = Any  # the start symbols, and what depends on them alone, by name
Formula: TypeAlias = Callable[..., Sequence[Ball]]

TOLERANCE = 9.5e-15
"""A result is used if the bound of its relative error is below this."""
SMALLEST = 2.0**-1022
"""What is smaller need not be told from 0."""
SUMMAND = 2.0**-1074
"""The same for what is added to other numbers."""
_DIGITS = (50, 100, 200, 400, 800, 1600)
_HOPE = 2.0**9
"""What more bits of long doubles than of doubles may be worth."""
_CHUNK = 16384  # fits the cache


class Start:
    """Numbers of the start symbols, each one or as many as there are points."""

    def __init__(
        self,
        values: Mapping[str, Array],
        constants: Callable[[Constants], None],
        shared: Mapping[str, Array] = MappingProxyType({}),
    ) -> None:
        """Keep them; *constants* adds what depends on them and on arrays that all points share."""
        self._values, self._constants, self._shared = values, constants, shared
        self._known: dict[tuple[type[Ball], int], Constants] = {}

    def at(self, kind: type[Ball], index: Array) -> Constants:
        """Return the constants at some of the points, as doubles to all their digits."""
        digits = 0 if issubclass(kind, Double) else decimal.getcontext().prec
        if (kind, digits) in self._known:
            return self._known[kind, digits]
        if any(np.ndim(x) for x in self._values.values()):
            return self._found(kind, index)
        found = self._found(kind, ()) if digits else self._rounded(kind)
        self._known[kind, digits] = found
        return found

    def _rounded(self, kind: type[Ball]) -> Constants:
        with decimal.localcontext(wide_context(_DIGITS[1])):
            exact = self._found(Digits, ())
            del exact.of
            found = _images(exact, lambda x: _rounded(x, kind))
        found.update((name, kind.of(x)) for name, x in self._shared.items())
        return SimpleNamespace(of=kind.of, **found)

    def _found(self, kind: type[Ball], index: Array) -> Constants:
        found = {name: kind.of(x[index] if np.ndim(x) else x) for name, x in self._values.items()}
        found.update((name, kind.of(x)) for name, x in self._shared.items())
        c = SimpleNamespace(of=kind.of, **found)
        self._constants(c)
        del c.of  # which makes balls of numbers, and is none itself
        return SimpleNamespace(of=kind.of, **_images(c, kind.of))


def _images(c: Constants, image: Callable[[Array], Array]) -> dict[str, Array]:
    """Return the image of every constant by name, of lists that of their entries."""

    def of(x: Array) -> Array:
        return [image(y) for y in x] if isinstance(x, list) else x if x is None else image(x)

    return {name: of(x) for name, x in vars(c).items()}


def constants_at(c: Constants, index: Array) -> Constants:
    """Return the constants at some of the points."""

    def taken(x: Array) -> Array:
        return x.take(index) if isinstance(x, Ball) and len(np.shape(x.v)) == 1 else x

    return SimpleNamespace(**_images(c, taken))


def _rounded(x: Array, kind: type[Ball]) -> Array:
    """Return the nearest floats to decimals."""
    if np.ndim(x.v):
        errors = np.broadcast_to(np.asarray(x.d, dtype=object), x.v.shape)
        parts = [_rounded(type(x)(*pair), kind) for pair in zip(x.v.flat, errors.flat, strict=True)]
        return kind(*(np.reshape([getattr(p, n) for p in parts], x.v.shape) for n in "vd"))
    v = type(kind.unit)(str(x.v))
    lost = abs(x.v - exact_decimal(v)) + x.d if np.isfinite(v) else x.zero
    return kind(v, kind.zero + float(lost) * (1 + 2.0**-50) + (kind.tiny if lost else kind.zero))


def evaluate(
    formulas: Sequence[Formula], start: Start, columns: Sequence[Array], least: float = SMALLEST
) -> list[Array]:
    """Evaluate forms of one formula at n points; nan where it is undefined or infinite.

    In doubles the forms are tried in turn, the first one in long doubles too, then in decimals.
    What is smaller than *least* is given to within that.
    """
    points = _Points(start, columns, least)
    with np.errstate(all="ignore"):
        hopeful = points.settle(formulas[0], Double, points.open)
        if len(hopeful) and Extended.unit < Double.unit:
            points.settle(formulas[0], Extended, hopeful)
        for formula in formulas[1:]:
            if len(points.open):
                points.settle(formula, Double, points.open)
        for digits in _DIGITS:
            if len(points.open):
                with decimal.localcontext(wide_context(digits)):
                    points.settle(formulas[0], Digits, points.open)
    return points.finished()


class _Points:
    """Results at points, of which those at *open* are not good yet."""

    def __init__(self, start: Start, columns: Sequence[Array], least: float) -> None:
        """Begin with no results."""
        self._start, self._columns, self._least = start, columns, least
        self.results: list[Array] = []
        self._open = np.all([_whole(np.isfinite(x)) for x in columns], axis=0)
        width = sum(np.size(x) for x in columns) // max(1, len(self._open))
        self._length = max(1, _CHUNK // max(1, width))

    @property
    def open(self) -> Array:
        """Where there is no good result."""
        return np.flatnonzero(self._open)

    def settle(self, formula: Formula, kind: type[Ball], at: Array) -> Array:
        """Write results at some open points, and close those where they are good.

        Returns those that are not, and lack less than a few digits.
        """
        spans = range(0, max(1, len(at)), self._length)
        return np.concatenate([self._span(formula, kind, at[i : i + self._length]) for i in spans])

    def _span(self, formula: Formula, kind: type[Ball], at: Array) -> Array:
        points = (kind.of(x[at]) for x in self._columns)
        found = [kind.of(x) for x in formula(self._start.at(kind, at), *points)]
        if not self.results:
            shapes = [(len(self._open), *np.shape(x.v)[1:]) for x in found]
            self.results = [np.full(shape, np.nan) for shape in shapes]
        good, hopeful = np.ones((2, len(at)), dtype=bool)
        for result, x in zip(self.results, found, strict=True):
            shape = (len(at), *result.shape[1:])
            v, d = (np.broadcast_to(np.asarray(y, dtype=np.float64), shape) for y in (x.v, x.d))
            short, size = issubclass(kind, Double), np.abs(v)
            result[at] = v if short else np.where(_finite(x, shape), v, np.nan)
            close = d < TOLERANCE * size if short else _close(x, shape)
            good &= _whole(close | (size + d < self._least))
            hopeful &= _whole(d < _HOPE * TOLERANCE * size)
        self._open[at[good]] = False
        return at[hopeful & ~good]

    def finished(self) -> list[Array]:
        """Return the results, nan where none was good."""
        for x in self.results:
            x[self.open] = np.nan
        return self.results


def wide_context(digits: int) -> decimal.Context:
    """Return a context without traps and with hardly a limit of exponents."""
    top = 10**17
    return decimal.Context(prec=digits, Emin=-top, Emax=top, traps=[])


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
