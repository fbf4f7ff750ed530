"""Displays of what was derived: Q, its regimes, and the flow.

>>> from derive import derive
>>> from numerics import PotentialDisplay
>>> shown = PotentialDisplay.from_derivation(derive("w**2"), {"w_0": 1})
>>> shown.value[shown.x == 3.0].round(3).tolist()
[0.324]

``shown.plot(ax=None)`` draws it, with the extra ``plot``; see ``shown.ax_`` and ``shown.figure_``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, singledispatch
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import sympy
from scipy.integrate import solve_ivp
from scipy.optimize import elementwise
from sympy import Expr

from derive.derivation import Derivation
from derive.errors import InputError, NumericalError
from derive.limits.find import Regimes
from derive.limits.limit import Limit, Point
from derive.optimizers.saddle_path import SaddlePath
from derive.potential.piece import follows_flow
from derive.records import Potential
from derive.separable.find import Margins
from numerics.evaluate.numbers import Array, compiled, quiet, read_data
from numerics.evaluate.potential import PotentialAtStart
from numerics.evaluate.start import refuse_unknown
from numerics.figures.display import Display
from numerics.integrator.gradient_flow import FlowModel, flow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FunctionOfBeta: TypeAlias = Callable[[Array], Array]
"""From (..., d) to (...,)."""
_PLANE = r"$\beta_1$", r"$\beta_2$"
_LABELS = {1: ("profile", r"$\beta$", r"$Q - Q(\beta_0)$"), 2: ("levels", *_PLANE)}
"""Kind and labels, of Q of one output and of more."""
_NEAR = 4
"""Numbers of a start symbol that a regime is shown at: 1, 1/10, ... from where it tends to."""


@dataclass(eq=False, kw_only=True, repr=False)
class PotentialDisplay(Display):
    """Q - Q(beta_0) of one output, or its level sets in the plane of the first two.

    Attributes:
        start: the numbers of the start symbols.
        beta0: where Q is least (d,); outputs after the second are as there.
        x: coordinates (n,), of both axes where there are two; of one closer where Q is steep.
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
        return cls.of_numbers(q, begin, bounds=bounds, points=points, of=derivation)

    @classmethod
    def of_numbers(
        cls,
        q: PotentialAtStart,
        start: Mapping[str, Any],
        *,
        bounds: tuple[float, float] | None = None,
        points: int = 201,
        of: Derivation | None = None,
    ) -> Self:
        """Evaluate a Q in numbers at its start; the derivation says what F is."""
        beta0, axes = np.array(q.beta0, float), min(q.d, 2)
        half = max(3.0, 1.5 * float(np.abs(beta0).max()))
        x = np.linspace(*(bounds or (-half, half)), points)
        beta = np.broadcast_to(beta0, (*[points] * axes, q.d)).copy()
        beta[..., :axes] = np.stack(np.meshgrid(*[x] * axes), axis=-1)
        value = np.asarray(q.bregman(beta, beta0))
        if not np.isfinite(value).any():
            raise NumericalError("Q has no value there: give other bounds")
        if bounds is None:
            inside = np.isfinite(value)
            kept = inside if axes == 1 else inside.any(axis=0) | inside.any(axis=1)
            x, value = x[kept], value[np.ix_(*[kept] * axes)]
        followed = of is not None and any(map(follows_flow, of.potential.pieces))
        if axes == 1 and not followed:  # which takes its time
            inside = x[np.isfinite(value)]
            even = np.linspace(inside[0], inside[-1], points)
            x, value = _along_curve(lambda x: np.asarray(q.bregman(x[:, None], beta0)), even)
        shown = cls(*_LABELS[axes], start=dict(start), beta0=beta0, x=x, value=value)
        shown.add("", x, value if axes == 1 else x, of=of)
        shown.series[0].value = None if axes == 1 else value
        return shown

    def named(self, label: str, **values: str) -> Self:
        """Call Q by a label, at numbers as text."""
        self.series[0].label, self.series[0].values = label, values
        return self

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on the axes given, or on new ones, and mark the start."""
        super().plot(ax)
        x, y = (*self.beta0, 0.0)[:2]
        self.ax_.plot(x, y, "x", color="tab:orange", markersize=6)
        return self


def _along_curve(Q: Callable[[Array], Array], x: Array) -> tuple[Array, Array]:
    """Return as many coordinates between the ends of *x*, at even steps along the curve, and Q.

    So steps are short where Q is steep or bends, as near walls.
    """
    for _ in range(3):
        value = Q(x)
        size = (np.ptp(x) or 1.0, np.ptp(value) or 1.0)
        length = np.cumsum(np.hypot(np.diff(x) / size[0], np.diff(value) / size[1]))
        length = np.concatenate(([0.0], length))
        x = np.interp(np.linspace(0, length[-1], len(x)), length, x)
    return x, Q(x)


def at_plain_start(
    potential: Potential, given: Mapping[str, Any]
) -> tuple[dict[str, Any], PotentialAtStart]:
    """Return the numbers that are given and plain ones for others, and Q there.

    Start symbols are 1, or else 1, 1/2, ..., or else 1, 2, ..., or else 1/2, 1/3, ..., and
    parameters 3.
    InputError where Q is derived for none of them, or a name is no start symbol.
    """
    p = potential.parameterization
    known = (*p.parameters, *p.start_symbols)
    refuse_unknown(known, given)
    vectors = {f"{vector.name}_0": (1, 0) for vector in p.vectors}
    fixed = {**dict.fromkeys(p.parameters, Fraction(3)), **vectors, **given}
    free = [name for name in p.start_symbols if name not in {f"{v.norm}_0" for v in p.vectors}]
    for power, first in ((0, 1), (-1, 1), (1, 1), (-1, 2)):
        start = {name: Fraction(k) ** power for k, name in enumerate(free, first)} | fixed
        try:
            return start, potential.numeric(start)  # type: ignore[return-value]
        except InputError as error:
            refused = error
    raise InputError(f"{refused}; give numbers for {', '.join(known)}")


@dataclass(eq=False, kw_only=True, repr=False)
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
        if regimes.vector:
            raise InputError("a regime is drawn in coordinates: give the vector a dimension, u:2")
        limit, of = regimes.limits[which], regimes.derivation
        if not limit.coordinates:
            raise NumericalError(f"no limit was proved: {limit.finding.words}")
        x, end = np.linspace(*bounds, points), None
        numbers = tuple(_near(limit.point, Fraction(1, 10**k)) for k in range(_NEAR))
        givens = ({**(start or {}), regimes.variable: number} for number in numbers)
        near = [at_plain_start(of.potential, given) for given in givens]
        values = tuple(_scaled(_along(limit, begin, q, x)) for begin, q in near)
        if limit.potential is not None and limit.potential.Q is not None:
            first = np.eye(len(limit.coordinates))[0]
            end = _scaled(limiting(limit, near[-1][0])(x[:, None] * first))
        axes = ("profile", "$x$", "$Q$, scaled", "linear", f"{limit.point.text}: {limit.regime}")
        shown = cls(*axes, x=x, numbers=numbers, values=values, limit=end)
        for number, value in zip(numbers, values, strict=True):
            shown.add(f"{float(number):g}", x, value, of=of)
        if end is not None:
            shown.add("limit", x, end, of=of, quantity="limit")
        return shown


def limiting(limit: Limit, start: Mapping[str, Any]) -> Callable[[Array], Array]:
    """Return what Q tends to, in the coordinates of a limit; NumericalError without a form."""
    if limit.potential is None or limit.potential.Q is None:
        raise NumericalError(f"no form of Q as {limit.point.text} is known")
    Q = compiled([at_start(limit.potential.Q, start)], [c.name for c in limit.coordinates])
    return lambda x: np.asarray(Q(*np.moveaxis(x, -1, 0))[0])


def at_start(expression: Expr, start: Mapping[str, Any]) -> Expr:
    """Return an expression with numbers for the names that a start gives."""
    known = {s: start[s.name] for s in expression.free_symbols if s.name in start}
    return expression.subs({s: sympy.Rational(str(x)) for s, x in known.items()})


def _near(point: Point, step: Fraction) -> Fraction:
    """Return a number at a step, relative to its size, from where a start symbol tends to."""
    if point.side in ("0", "oo"):
        return step if point.side == "0" else 1 / step
    value = Fraction(str(point.value))
    return value + step * (value or 1) / 2 * (1 if point.side == "above" else -1)


def _along(limit: Limit, start: Mapping[str, Any], q: PotentialAtStart, x: Array) -> Array:
    """Return Q at origin + basis (x, 0, ...)."""
    first = sympy.eye(q.d) if limit.basis is None else limit.basis
    origin = sympy.zeros(q.d, 1) if limit.origin is None else limit.origin

    def numbers(expressions: Iterable[Expr]) -> Array:
        return np.array([float(at_start(expression, start)) for expression in expressions])

    beta = numbers(origin) + x[:, None] * numbers(first[:, 0])
    return np.asarray(q.bregman(beta, np.array(q.beta0, float)))


def _scaled(values: Array) -> Array:
    """Return values from 0 to 1: Q is given up to a constant and a factor."""
    low = np.nanmin(values)
    return np.asarray((values - low) / (np.nanmax(values) - low))


@dataclass(eq=False, kw_only=True, repr=False)
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
        whole = flow(p, rows, target, start, digits)
        squares = [Fraction(k, points) ** 2 for k in range(1, points + 1)]
        times = [Fraction(str(whole.time)) * x for x in (squares[0] / 10**6, *squares)]
        state: dict[str, object] = dict(zip(p.weights, whole.start, strict=True))
        beta = np.empty((len(times), len(p.trees)))
        for k, (before, t) in enumerate(zip((Fraction(0), *times), times, strict=False)):
            end = flow(p, rows, target, state, digits, time=t - before)
            state, beta[k] = dict(zip(p.weights, end.weights, strict=True)), end.limit
        time = np.array([0.0, *map(float, times[1:])])
        misfit = np.linalg.norm(beta @ np.array(rows, float).T - np.array(target, float), axis=-1)
        shown = cls("flow", "time", r"$\beta(t)$", time=time, beta=beta, residual=misfit)
        named = 1 < beta.shape[-1] <= 10
        for i, line in enumerate(beta.T, 1):
            shown.add(rf"$\beta_{{{i}}}$" if named else "", time, line)
        return shown


def level_set(f: FunctionOfBeta, points: int) -> tuple[Array, Array]:
    """Return where f, which is least at 0, is as at e_1, on rays from 0; two coordinates (n,).

    NumericalError where it does not close within 4.
    """
    turns = np.linspace(0, 2 * np.pi, points)
    # Closer near the axes, where the balls of sparse norms have corners.
    angles = turns - 0.7 * np.sin(4 * turns) / 4
    level = float(f(np.array([[1.0, 0.0]]))[0])

    def above(radius: Array, angle: Array) -> Array:
        beta = radius[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return f(beta) - level

    ends, close = (np.zeros(points), np.full(points, 4.0)), {"fatol": 1e-8 * level}
    found = elementwise.find_root(above, ends, args=(angles,), tolerances=close)
    if not found.success.all():
        raise NumericalError("the level set does not close")
    return found.x * np.cos(angles), found.x * np.sin(angles)


SIZES = (4.0, 1e2, 1e6, 1e12)
"""How far out level sets of Q are shown, on the scale of beta_0 where that is above 1."""


def level_sets(m: Margins, start: Mapping[str, Any] | None = None, *, points: int = 181) -> Display:
    """Show level sets of Q, scaled to pass through (1, 0), and the horizon to which they tend.

    Args:
        m: what is known on separable data, of one output for two copies of F.
        start: numbers for start symbols; those not given get simple ones.
        points: of each level set.

    Raises:
        InputError: a name is no start symbol, or Q was not derived for such a start.
        NumericalError: Q has no horizon in the plane, or a set does not close.
    """
    plane, of = sympy.symbols("beta1 beta2"), m.derivation
    if (horizon := m.horizon_in(plane)) is None:
        raise NumericalError("Q has no horizon in the plane")
    begin, q = at_plain_start(of.potential, start or {})
    beta0, phi = np.array(q.beta0, float), compiled([at_start(horizon, begin)], [*map(str, plane)])

    def total(c: float, beta: Array) -> Array:
        each = c * beta[..., None] if of.of_coordinates else c * beta
        value = np.asarray(q.bregman(each, beta0))
        return np.asarray(value.sum(axis=-1) if of.of_coordinates else value)

    shown = Display("ball", *_PLANE)
    for c in np.array(SIZES) * max(1.0, np.abs(beta0).max()):
        ball = level_set(partial(total, c), points)
        shown.add(rf"$Q(c\beta)$, c = {c:g}", *ball, of=of, size=f"{c:g}")
    end = level_set(lambda beta: np.asarray(phi(*np.moveaxis(beta, -1, 0))[0]), points)
    shown.add(m.norm or "horizon", *end, of=of, quantity="limit")
    return shown


LARGE = 1e9
STARTS = (Fraction(1, 10), Fraction(1, 10**3), Fraction(1, 10**6))


def plateaus(s: SaddlePath, starts: Sequence[Fraction] = STARTS) -> Display:
    """Show beta against t/N up to twice the last jump: the path, and flows of Q from *starts*."""
    begins, of = [float(t) for t in s.times] or [1.0], s.derivation
    tau = np.geomspace(begins[0] / 20, 2 * begins[-1], 400)
    title = rf"From saddle to saddle, {s.variable} $\to 0$"
    shown = Display("path", r"$t/N$", r"$\beta$", "log", title)
    steps = np.searchsorted(begins, tau, side="right") if s.times else np.zeros(len(tau), int)
    for j, y in enumerate(np.array(s.plateaus, float)[steps].T, 1):
        shown.add(rf"$\beta_{{{j}}}$" if j < 7 else "", tau, y, of=of, quantity="limit")
    for alpha in starts:
        for j, y in enumerate(flow_in_slow_time(s, alpha, tau).T):
            label = "" if j else f"{s.variable} = {float(alpha):g}"
            shown.add(label, tau, y, of=of, **{s.variable: str(alpha)})
    return shown


def flow_in_slow_time(s: SaddlePath, alpha: Fraction, tau: Array) -> Array:
    """Return beta at t = N tau, from the dual flow ds/dtau = X^T (y - X beta), s = grad Q/N."""
    X, y = np.array(s.X, float), np.array(s.y, float)
    q = s.derivation.potential.numeric({s.variable: alpha})
    N = float(s.unit.subs(dict.fromkeys(s.unit.free_symbols, alpha)))
    one = s.derivation.of_coordinates

    def beta(dual: Array) -> Array:
        shaped = N * dual[:, None] if one else N * dual
        with quiet():  # a step that is too long has no beta, and is made shorter
            found = np.asarray(q.inverse_gradient(shaped)).reshape(len(dual))
        return np.clip(np.nan_to_num(found, posinf=LARGE, neginf=-LARGE), -LARGE, LARGE)

    def moved(t: float, dual: Array) -> Array:
        return np.asarray(X.T @ (y - X @ beta(dual)))

    run = solve_ivp(
        moved, (0, tau[-1]), np.zeros(X.shape[1]), "LSODA", t_eval=tau, rtol=1e-8, atol=1e-10
    )
    if not run.success:
        raise NumericalError("the flow was not followed")
    return np.array([beta(dual) for dual in run.y.T])


@singledispatch
def display(record: object, *given: Any, **named: Any) -> Display:
    """Return the picture of a record; InputError where there is none."""
    raise InputError(f"there is no picture of {type(record).__name__}")


display.register(Derivation, PotentialDisplay.from_derivation)
display.register(Regimes, RegimeDisplay.from_regimes)
display.register(Margins, level_sets)
display.register(SaddlePath, plateaus)
