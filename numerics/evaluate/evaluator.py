"""Formulas evaluated in doubles where error bounds allow it, else on balls of python-flint."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
from flint import arb, ctx

from numerics.evaluate.backend import GUARD
from numerics.evaluate.balls.functions import as_doubles, ball, refined, suffices
from numerics.evaluate.doubles.arithmetic import Array, Constants, Double, Extended, Plain
from numerics.evaluate.program import Program
from numerics.reals import Real

TOLERANCE = 9.5e-15
"""A result is used if the bound of its relative error is below this."""
SMALLEST = 2.0**-1022
"""What is smaller need not be told from 0."""
SUMMAND = 2.0**-1074
"""The same for what is added to other numbers."""
_HOPE = 2.0**9
"""What more bits of long doubles than of doubles may be worth."""
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


def evaluate(
    q: Program, what: str, start: Start, columns: Sequence[Array], least: float = SMALLEST
) -> list[Array]:
    """Evaluate what is asked for at n points; nan where it is undefined or infinite.

    In doubles its forms are tried in turn, the first one in long doubles too; then it is
    evaluated on balls. What is smaller than *least* is given to within that.
    """
    open_ = np.ones(len(columns[0]), dtype=bool)
    for x in columns:
        open_ &= _whole(np.isfinite(x))
    length = max(1, _CHUNK * len(open_) // max(1, sum(map(np.size, columns))))
    results: list[Array] = []
    hopeful = open_
    for kind, form in q.attempts(what):
        at = np.flatnonzero(hopeful if kind is Extended else open_)
        if results and not len(at):
            continue
        c, hopeful = start.at(kind), np.zeros_like(open_)
        for first in range(0, max(1, len(at)), length):
            part = at[first : first + length]
            found = [kind.of(x) for x in form(c, *[kind.of(x[part]) for x in columns])]
            results = results or [np.full((len(open_), *np.shape(x.v)[1:]), np.nan) for x in found]
            good, near = _write(results, found, part, least)
            open_[part[good]] = False
            hopeful[part[near & ~good]] = True
    results = results or [np.full(len(open_), np.nan)]
    for i in np.flatnonzero(open_).tolist():
        point = [x[i].tolist() for x in columns]
        exact = functools.partial(on_balls, q, what, start, point)
        _place(results, i, as_doubles(exact, least))
    return results


def evaluate_plainly(q: Program, what: str, start: Start, columns: Sequence[Array]) -> list[Array]:
    """Evaluate in doubles alone, without bounds; Q up to a constant, nothing being subtracted."""
    forms = q.plain.forms("primitive" if what == "value" else what)
    if not forms:
        return evaluate(q, what, start, columns)
    arrays = [np.asarray(Plain.of(x).v) for x in forms[0](start.at(Plain), *map(Plain, columns))]
    n = len(columns[0])
    # One entry stands for all points where the formula has none.
    return [x if x.ndim and len(x) == n else np.broadcast_to(x, (n, *x.shape[1:])) for x in arrays]


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


def _write(
    results: Sequence[Array], found: Sequence[Double], at: Array, least: float
) -> tuple[Array, Array]:
    """Write results, and tell which are good, and which lack a few digits only."""
    good, near = np.ones((2, len(at)), dtype=bool)
    for result, x in zip(results, found, strict=True):
        v = np.broadcast_to(np.asarray(x.v, dtype=np.float64), (len(at), *result.shape[1:]))
        d, size = np.asarray(x.d, dtype=np.float64), np.abs(v)
        result[at] = v
        good &= _whole((d < TOLERANCE * size) | (size + d < least))
        near &= _whole(d < _HOPE * TOLERANCE * size)
    return good, near


def on_balls(q: Program, what: str, start: Start, point: Sequence[Any]) -> list[arb]:
    """Return what is asked for at one point, of numbers or of vectors, on balls."""
    places = (_vector(x) if isinstance(x, list) else ball(x) for x in point)
    first, *_ = q.exact.forms(what)
    results = first(start.on_balls(), *places)
    return [ball(y) for x in results for y in np.asarray(x, dtype=object).ravel()]


def _vector(x: Sequence[Any]) -> Array:
    return np.array(list(map(ball, x)), dtype=object)


def _place(results: Sequence[Array], i: int, numbers: Sequence[float] | None) -> None:
    """Write the results at one point: numbers in their order, or nan."""
    rest = iter(numbers or ())
    for x in results:
        x[i] = np.reshape([next(rest, np.nan) for _ in range(x[i].size)], x[i].shape)


def _whole(good: Array) -> Array:
    """Tell at which points every entry is true."""
    return good if good.ndim == 1 else np.all(good, axis=tuple(range(1, good.ndim)))
