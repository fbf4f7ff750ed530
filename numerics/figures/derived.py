"""Displays of what was derived: Q, its regimes, and the flow.

>>> from derive import derive
>>> from numerics import PotentialDisplay
>>> shown = PotentialDisplay.from_derivation(derive("w**2"), {"w_0": 1})
>>> shown.value[shown.x == 3.0].round(3).tolist()
[0.324]

``shown.plot(ax=None)`` draws it, with the extra ``plot``; see ``shown.ax_`` and ``shown.figure_``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import sympy
from sympy import Expr

from derive.derivation import Derivation
from derive.errors import InputError, NumericalError
from derive.records import Potential
from derive.regimes.find import Regimes
from derive.regimes.limit import Limit
from numerics.evaluate.backend import Array
from numerics.evaluate.numbers import read_data
from numerics.evaluate.potential import AnyPotential
from numerics.figures.curves import at_start
from numerics.figures.display import Display
from numerics.flow.gradient_flow import flow
from numerics.flow.start import FlowModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NEAR = 4
"""Numbers of a start symbol that a regime is shown at: 1, 1/10, ... from where it tends to."""
_STARTS = (("1",), ("1", "1/2", "1/3", "3/4"), ("1", "2", "3"), ("1/2", "1", "-1"))
_CONSTANTS = ("3", "1/2")
"""Numbers for start symbols, and for a parameter such as a depth, until Q was derived for some."""


@dataclass(eq=False, kw_only=True)
class PotentialDisplay(Display):
    """Q - Q(beta_0) of one output, or its level sets in the plane of the first two.

    Attributes:
        start: the numbers of the start symbols.
        beta0: where Q is least (d,); outputs after the second are as there.
        x: coordinates (n,), of both axes where there are two.
        value: Q at them, (n,), or (n, n) with rows for beta2; nan outside the domain.
    """

    start: dict[str, Any]
    beta0: Array
    x: Array
    value: Array

    @classmethod
    def from_derivation(
        cls,
        derivation: Derivation,
        start: Mapping[str, Any] | None = None,
        *,
        bounds: tuple[float, float] | None = None,
        points: int = 201,
    ) -> Self:
        """Evaluate a Q that was proved.

        Args:
            derivation: of Q.
            start: numbers for start symbols; those not given get simple ones.
            bounds: of each coordinate; by default what is in the domain of an interval around 0.
            points: along each.

        Raises:
            InputError: a name is no start symbol, or Q was not derived for such a start.
            NumericalError: there is no Q.
        """
        begin, q = at_plain_start(derivation.potential, start or {})
        beta0, axes = np.array(q.beta0, float), min(q.d, 2)
        half = max(3.0, 1.5 * float(np.abs(beta0).max()))
        x = np.linspace(*(bounds or (-half, half)), points)
        beta = np.broadcast_to(beta0, (*[points] * axes, q.d)).copy()
        beta[..., :axes] = np.stack(np.meshgrid(*[x] * axes), axis=-1)
        value = np.asarray(q.bregman(beta, beta0))
        if bounds is None:
            inside = np.isfinite(value)
            kept = inside if axes == 1 else inside.any(axis=0) | inside.any(axis=1)
            x, value = x[kept], value[np.ix_(*[kept] * axes)]
        shown = cls(*_AXES[axes], start=begin, beta0=beta0, x=x, value=value)
        shown.add("", x, value if axes == 1 else x, of=derivation)
        shown.series[0].value = None if axes == 1 else value
        return shown

    def named(self, label: str, **values: str) -> Self:
        """Say at which numbers Q is."""
        self.series[0].label, self.series[0].values = label, values
        return self

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on the axes given, or on new ones, and mark the start."""
        super().plot(ax)
        x, y = (*self.beta0, 0.0)[:2]
        self.ax_.plot(x, y, "x", color="tab:orange", markersize=6)
        return self


_AXES = {1: ("profile", r"$\beta$", r"$Q - Q(\beta_0)$"), 2: ("levels", r"$\beta_1$", r"$\beta_2$")}
"""Kind and labels, of Q of one output and of more."""


def at_plain_start(
    potential: Potential, given: Mapping[str, Any]
) -> tuple[dict[str, Any], AnyPotential]:
    """Return Q at the first plain start that it is derived for, with the numbers that are given.

    InputError where there is none, or a name is no start symbol.
    """
    p = potential.parameterization
    known = (*p.parameters, *p.start_symbols)
    if unknown := [name for name in given if name not in known]:
        names = ", ".join(known) or "none"
        raise InputError(f"the start names {', '.join(unknown)}; its symbols are: {names}")
    refused: InputError | None = None
    for start in _plain_starts(potential):
        begin = {**start, **given}
        try:
            return begin, potential.numeric(begin)  # type: ignore[return-value]
        except InputError as error:
            refused = error
    raise InputError(f"{refused}; give numbers for {', '.join(known)}")


def _plain_starts(potential: Potential) -> Iterator[dict[str, Any]]:
    p = potential.parameterization
    vectors = {f"{vector.name}_0": (1, 0) for vector in p.vectors}
    lengths = {f"{vector.norm}_0" for vector in p.vectors}
    names = [n for n in p.start_symbols if n not in lengths.union(p.parameters)]
    for numbers in _STARTS:
        start = dict(zip(names, map(Fraction, cycle(numbers)), strict=False))
        for constant in _CONSTANTS[: 1 + bool(p.parameters)]:
            yield start | dict.fromkeys(p.parameters, Fraction(constant)) | vectors


@dataclass(eq=False, kw_only=True)
class RegimeDisplay(Display):
    """Q along the first coordinate x of a limit, from 0 to 1 there, as the start tends to it.

    Attributes:
        x: the coordinate (n,): of beta, or of its distance from beta_0.
        numbers: of the start symbol.
        values: a curve for each of them.
        limit: what they tend to, (n,); None where the limit has no closed form.
    """

    x: Array
    numbers: tuple[Fraction, ...]
    values: tuple[Array, ...]
    limit: Array | None

    @classmethod
    def from_regimes(
        cls,
        regimes: Regimes,
        which: int = 0,
        start: Mapping[str, Any] | None = None,
        *,
        bounds: tuple[float, float] = (-2.0, 2.0),
        points: int = 201,
    ) -> Self:
        """Evaluate Q near one of the limits that were found.

        Args:
            regimes: what Q tends to, in coordinates.
            which: of ``regimes.limits``, counted from 0.
            start: numbers for the other start symbols; those not given get simple ones.
            bounds, points: of x.

        Raises:
            InputError: there is no such limit, or a name is no start symbol.
            NumericalError: the limit was not proved.
        """
        if not 0 <= which < len(regimes.limits):
            raise InputError(f"there are {len(regimes.limits)} limits, counted from 0")
        limit, potential = regimes.limits[which], regimes.derivation.potential
        if regimes.vector:
            raise InputError("a regime is drawn in coordinates: give the vector a dimension, u:2")
        if not limit.coordinates:
            raise NumericalError(f"no limit was proved: {limit.finding.reason}")
        x = np.linspace(*bounds, points)
        numbers = tuple(_near(limit, k) for k in range(_NEAR))
        near = [
            at_plain_start(potential, {**(start or {}), regimes.variable: number})
            for number in numbers
        ]
        values = tuple(_along(limit, begin, q, x) for begin, q in near)
        end, title = _limit(limit, near[-1][0], x), f"{limit.point.text}: {limit.regime}"
        axes = ("profile", "$x$", "$Q$, scaled", "linear", title)
        shown = cls(*axes, x=x, numbers=numbers, values=values, limit=end)
        for number, value in zip(numbers, values, strict=True):
            shown.add(f"{float(number):g}", x, value, of=regimes.derivation)
        if end is not None:
            shown.add("limit", x, end, of=regimes.derivation, quantity="limit")
        return shown


def _near(limit: Limit, k: int) -> Fraction:
    """Return the k-th of some numbers that tend to the point of a limit."""
    step, point = Fraction(1, 10**k), limit.point
    if point.side in ("0", "oo"):
        return step if point.side == "0" else 1 / step
    value = Fraction(str(point.value))
    return value + step * (value or 1) / 2 * (1 if point.side == "above" else -1)


def _numbers(expressions: Iterable[Expr], start: Mapping[str, Any]) -> Array:
    """Return the values of expressions at a start."""
    return np.array([float(at_start(expression, start)) for expression in expressions])


def _along(limit: Limit, start: Mapping[str, Any], q: AnyPotential, x: Array) -> Array:
    """Return Q at origin + basis (x, 0, ...), scaled."""
    first = [sympy.S.One, *[sympy.S.Zero] * (q.d - 1)]
    column = first if limit.basis is None else list(limit.basis[:, 0])
    origin = np.zeros(q.d) if limit.origin is None else _numbers(limit.origin, start)
    beta = origin + x[:, None] * _numbers(column, start)
    return _scaled(np.asarray(q.bregman(beta, np.array(q.beta0, float))))


def _scaled(values: Array) -> Array:
    """Return values from 0 to 1: Q is given up to a constant and a factor."""
    low = np.nanmin(values)
    return np.asarray((values - low) / (np.nanmax(values) - low))


def _limit(limit: Limit, start: Mapping[str, Any], x: Array) -> Array | None:
    """Return the limit along the first coordinate, scaled."""
    if limit.potential is None or limit.potential.Q is None:
        return None
    first, *others = limit.coordinates
    Q = at_start(limit.potential.Q.subs(dict.fromkeys(others, 0)), start)
    return _scaled(np.asarray(sympy.lambdify([first], Q, "numpy")(x)))


@dataclass(eq=False, kw_only=True)
class FlowDisplay(Display):
    """beta along gradient flow in the weights.

    Attributes:
        time: (n,).
        beta: (n, d).
        residual: the norm of X beta - y, (n,).
    """

    time: Array
    beta: Array
    residual: Array

    @classmethod
    def from_data(
        cls,
        p: FlowModel,
        X: Iterable[object],
        y: Iterable[object],
        start: Mapping[str, object] | None = None,
        *,
        points: int = 40,
    ) -> Self:
        """Run gradient flow until it fits the data, and again to times on the way.

        Args:
            p, X, y, start: as for :func:`numerics.flow`.
            points: how many times.

        Raises:
            InputError, NumericalError: as :func:`numerics.flow` does.
        """
        (rows, target), digits = read_data(X, y, len(p.trees)), 10
        end = flow(p, rows, target, start, digits)
        times = [Fraction(k, points) ** 2 * Fraction(str(end.time)) for k in range(1, points + 1)]
        state: dict[str, object] = dict(zip(p.weights, end.start, strict=True))
        ends, before = [flow(p, rows, target, state, digits, time=times[0] / 10**6)], Fraction(0)
        for t in times:
            ends.append(flow(p, rows, target, state, digits, time=t - before))
            state, before = dict(zip(p.weights, ends[-1].weights, strict=True)), t
        time = np.array([0.0, *map(float, times)])
        beta = np.array([found.limit for found in ends], float)
        misfit = np.linalg.norm(beta @ np.array(rows, float).T - np.array(target, float), axis=-1)
        shown = cls("flow", "time", r"$\beta(t)$", time=time, beta=beta, residual=misfit)
        named = 1 < beta.shape[-1] <= 10
        for i, line in enumerate(beta.T, 1):
            shown.add(rf"$\beta_{{{i}}}$" if named else "", time, line)
        return shown
