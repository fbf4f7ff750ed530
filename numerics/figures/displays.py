"""Pictures of records, in the manner of scikit-learn: a display keeps its arrays, and plots them.

>>> from derive import derive
>>> from numerics import PotentialDisplay
>>> shown = PotentialDisplay.from_derivation(derive("w**2"), {"w_0": 1})
>>> shown.value[shown.x == 3.0].round(3).tolist()
[0.324]

``shown.plot(ax=None)`` draws it, with the extra ``plot``; see ``shown.ax_`` and ``shown.figure_``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import sympy
from sympy import Expr

from derive.derivation import Derivation
from derive.errors import InputError, NumericalError
from derive.regimes.find import Regimes
from derive.regimes.limit import Limit
from numerics.evaluate.backend import Array
from numerics.evaluate.numbers import read_data
from numerics.evaluate.potential import AnyPotential
from numerics.figures.data import levels_of
from numerics.figures.draw import draw_levels
from numerics.figures.own import bounds_of, simple_start
from numerics.figures.plots import require_matplotlib
from numerics.flow.gradient_flow import flow
from numerics.flow.start import FlowModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NEAR = 4
"""Numbers of a start symbol that a regime is shown at: 1, 1/10, ... from where it tends to."""


class Display(ABC):
    """A picture that keeps its arrays; it has ``ax_`` and ``figure_`` once it is plotted."""

    ax_: Axes
    figure_: Figure

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on the axes given, or on new ones; InputError without matplotlib."""
        require_matplotlib()
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots()[1]
        self._draw(ax)
        self.ax_, self.figure_ = ax, ax.get_figure()
        return self

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw on the axes."""


@dataclass(eq=False)
class PotentialDisplay(Display):
    """Q - Q(beta_0) of one output, or its level sets in the plane of two.

    Attributes:
        start: the numbers of the start symbols.
        beta0: where Q is least (d,).
        x: coordinates (n,), of both axes where there are two.
        value: Q at them, (n,), or (n, n) with rows for beta2; nan outside the domain.
    """

    start: dict[str, Fraction]
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
            derivation: of one or two outputs.
            start: numbers for start symbols; those not given get simple ones.
            bounds: of each coordinate; by default an interval around the start.
            points: along each.

        Raises:
            InputError: there are more outputs, or a name is no start symbol.
            NumericalError: there is no Q.
        """
        begin = simple_start(derivation, start or {})
        q: AnyPotential = derivation.potential.numeric(begin)  # type: ignore[assignment]
        low, high = bounds or bounds_of([q])
        x, beta0 = np.linspace(low, high, points), np.array(q.beta0, float)
        beta = x[:, None] if q.d == 1 else np.stack(np.meshgrid(x, x), axis=-1)
        return cls(begin, beta0, x, np.asarray(q.bregman(beta, beta0)))

    def _draw(self, ax: Axes) -> None:
        if self.value.ndim == 1:
            ax.plot(self.x, self.value)
            ax.set(xlabel=r"$\beta$", ylabel=r"$Q - Q(\beta_0)$")
        else:
            draw_levels(ax, (self.x, self.x, self.value), levels_of(self.value), self.beta0)
            ax.set(xlabel=r"$\beta_1$", ylabel=r"$\beta_2$")


@dataclass(eq=False)
class RegimeDisplay(Display):
    """Q along the first coordinate x of a limit, from 0 to 1 there, as the start tends to it.

    Attributes:
        title: where the start symbol tends to, and what the regime is called.
        x: the coordinate (n,): of beta, or of its distance from beta_0.
        numbers: of the start symbol.
        values: a curve for each of them.
        limit: what they tend to, (n,); None where the limit has no closed form.
    """

    title: str
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
        limit, derivation = regimes.limits[which], regimes.derivation
        if regimes.vector:
            raise InputError("a regime is drawn in coordinates: give the vector a dimension, u:2")
        if not limit.coordinates:
            raise NumericalError(f"no limit was proved: {limit.finding.reason}")
        x = np.linspace(*bounds, points)
        numbers = tuple(_near(limit, k) for k in range(_NEAR))
        others = {k: v for k, v in (start or {}).items() if k != regimes.variable}
        begun = [simple_start(derivation, {**others, regimes.variable: a}) for a in numbers]
        values = tuple(_along(derivation, limit, begin, x) for begin in begun)
        title = f"{limit.point.text}: {limit.regime}"
        return cls(title, x, numbers, values, _limit(limit, begun[-1], x))

    def _draw(self, ax: Axes) -> None:
        from matplotlib import colormaps

        for k, (number, value) in enumerate(zip(self.numbers, self.values, strict=True)):
            colour = colormaps["cividis"](0.88 * (1 - k / _NEAR))
            ax.plot(self.x, value, color=colour, label=f"{float(number):g}")
        if self.limit is not None:
            ax.plot(self.x, self.limit, "k--", label="limit")
        ax.set(xlabel="$x$", ylabel="$Q$, scaled", title=self.title)
        ax.legend(frameon=False)


def _near(limit: Limit, k: int) -> Fraction:
    """Return the k-th of some numbers that tend to the point of a limit."""
    step, point = Fraction(1, 10**k), limit.point
    if point.side in ("0", "oo"):
        return step if point.side == "0" else 1 / step
    value = Fraction(str(point.value))
    return value + step * (value or 1) / 2 * (1 if point.side == "above" else -1)


def _numbers(expressions: Iterable[Expr], start: Mapping[str, Fraction]) -> Array:
    """Return the values of expressions at a start."""
    found = []
    for expression in expressions:
        at = {s: sympy.Rational(str(start[s.name])) for s in expression.free_symbols}
        found.append(float(expression.subs(at)))
    return np.array(found)


def _along(derivation: Derivation, limit: Limit, start: Mapping[str, Any], x: Array) -> Array:
    """Return Q at origin + basis (x, 0, ...), scaled."""
    q: AnyPotential = derivation.potential.numeric(start)  # type: ignore[assignment]
    first = [sympy.S.One, *[sympy.S.Zero] * (q.d - 1)]
    column = first if limit.basis is None else list(limit.basis[:, 0])
    origin = np.zeros(q.d) if limit.origin is None else _numbers(limit.origin, start)
    direction = _numbers(column, start)
    beta = origin + x[:, None] * direction
    return _scaled(np.asarray(q.bregman(beta, np.array(q.beta0, float))))


def _scaled(values: Array) -> Array:
    """Return values from 0 to 1: Q is given up to a constant and a factor."""
    low = np.nanmin(values)
    return np.asarray((values - low) / (np.nanmax(values) - low))


def _limit(limit: Limit, start: Mapping[str, Fraction], x: Array) -> Array | None:
    """Return the limit along the first coordinate, scaled."""
    form = limit.potential
    if form is None or form.Q is None:
        return None
    first, *others = limit.coordinates
    Q = form.Q.subs(dict.fromkeys(others, 0))
    rest = {s: sympy.Rational(str(start[s.name])) for s in Q.free_symbols - {first}}
    value = sympy.lambdify([first], Q.subs(rest), "numpy")
    return _scaled(np.asarray(value(x)))


@dataclass(eq=False)
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
        beta = np.array([found.limit for found in ends], float)
        misfit = beta @ np.array(rows, float).T - np.array(target, float)
        return cls(np.array([0.0, *map(float, times)]), beta, np.linalg.norm(misfit, axis=-1))

    def _draw(self, ax: Axes) -> None:
        d = self.beta.shape[-1]
        for i, line in enumerate(self.beta.T, 1):
            ax.plot(self.time, line, label=rf"$\beta_{{{i}}}$" if d > 1 else r"$\beta$")
        ax.set(xlabel="time", ylabel=r"$\beta(t)$")
        if d <= 10:
            ax.legend(frameon=False)
