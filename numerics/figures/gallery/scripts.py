"""What derives the panels of each figure, as ``captions.toml`` says.

First the functions of beta that figures draw, their level sets, and the models of many figures.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import sympy
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from sympy import Rational, Symbol

from derive.derivation import Derivation, derive
from derive.errors import NumericalError
from derive.explicit.regularize import explicit_counterpart
from derive.language import to_sympy
from derive.limits.find import regimes
from derive.limits.random_width import random_width
from derive.model.parameterization import Parameterization
from derive.optimizers.optimizer import optimizer
from derive.perturbed.find import perturb
from numerics.evaluate.lowering import lower
from numerics.evaluate.numbers import Array, compiled
from numerics.experiments.convolution import descended
from numerics.experiments.settings import SparseSetting, UnivariateSetting
from numerics.experiments.sparse_regression import draw, predict, weights
from numerics.experiments.univariate_nets import POTENTIALS, Task, limit_of_task, trained_net
from numerics.figures.derived import FunctionOfBeta, PotentialDisplay, at_start, level_set, limiting
from numerics.figures.display import Display, Series
from numerics.interpolants.interpolant import interpolate, least_l1
from numerics.margins.margin_path import loss_flow
from numerics.margins.max_margin import max_margin
from numerics.univariate.limit_function import distance_to_net

_STEP, _MOST = 0.01, 20_000


@cache
def tied(power: str = "2", d: int = 1) -> Derivation:
    """Derive p^power - m^power in d coordinates, from p = m = alpha."""
    places = [""] if d == 1 else [str(i + 1) for i in range(d)]
    start = {name + i: "alpha" for i in places for name in "pm"}
    outputs = [f"p{i}**{power} - m{i}**{power}" for i in places]
    return derive(Parameterization.parse(outputs, start, ["alpha"]))


def untied(d: int) -> Derivation:
    """Derive u v - x z in d coordinates, from u = x = u0 and v = z = v0."""
    places = [str(i + 1) for i in range(d)]
    symbols = {"u": "u0", "v": "v0", "x": "u0", "z": "v0"}
    start = {name + i: symbol for i in places for name, symbol in symbols.items()}
    outputs = [f"u{i}*v{i} - x{i}*z{i}" for i in places]
    return derive(Parameterization.parse(outputs, start, ["u0", "v0"]))


def implicit(derivation: Derivation, start: Mapping[str, Any]) -> FunctionOfBeta:
    """Return Q - Q(beta_0)."""
    q = lower(derivation.potential, start)
    # grad Q = 0 at beta_0: the divergence from there is Q - Q(beta_0), without cancellation.
    return lambda beta: np.asarray(q.bregman(beta, np.array(q.beta0)))


def explicit(derivation: Derivation, start: Mapping[str, Any]) -> FunctionOfBeta:
    """Return R, the least |w - w_0|^2 with F(w) = beta, of outputs that share no weights."""
    numbers = {name: Fraction(x) for name, x in start.items()}
    blocks = explicit_counterpart(derivation.parameterization).blocks

    def total(beta: Array) -> Array:
        whole = np.zeros(beta.shape[:-1])
        for block in blocks:  # once at each distinct number
            distinct, where = np.unique(beta[..., block.outputs[0]], return_inverse=True)
            name = str(block.distance.variables[0])
            least = [block.distance.at({**numbers, name: Fraction(float(b))}) for b in distinct]
            values = np.array([np.nan if x is None else float(x.ball.mid()) for x in least])
            whole += values[where.reshape(whole.shape)]
        return whole

    return total


def profile(f: FunctionOfBeta, x: Array) -> Array:
    """Return a function of one output at numbers, over its value at 1."""
    return np.asarray(f(x[:, None]) / f(np.array([[1.0]])))


# Level sets through (1, 0) in the plane of two coordinates of beta.

_AXES = ("ball", r"$\beta_1$", r"$\beta_2$")


def diagonal_balls(points: int = 181) -> list[Display]:
    shown, of = Display(*_AXES), tied(d=2)
    rich, kernel = (limiting(limit, {}) for limit in regimes(of, "alpha").limits)
    shown.add(r"limit $\alpha \to 0$", *level_set(rich, points), of=of, quantity="limit")
    for alpha in ("0.001", "0.1", "0.3", "1"):
        ball = level_set(implicit(of, {"alpha": alpha}), points)
        shown.add(rf"$\alpha = {alpha}$", *ball, of=of, alpha=alpha)
    shown.add(r"limit $\alpha \to \infty$", *level_set(kernel, points), of=of, quantity="limit")
    return [shown]


def diagonal_shape_balls(points: int = 181) -> list[Display]:
    shown, of, alpha = Display(*_AXES), untied(2), "0.001"
    for s in ("0", "0.9", "0.99", "0.997", "0.9999"):
        u, v = weights(float(alpha), float(s))
        ball = level_set(implicit(of, {"u0": u, "v0": v}), points)
        shown.add(f"$s = {s}$", *ball, of=of, alpha=alpha, s=s)
    return [shown]


def implicit_explicit_balls(points: int = 97) -> list[Display]:
    shown, of = Display(*_AXES), tied("3", d=2)
    for name, function in (("Q", implicit), ("R", explicit)):
        for alpha in ("0.05", "0.3", "1"):
            ball, label = level_set(function(of, {"alpha": alpha}), points), rf"{name}_\alpha"
            text = rf"${label},\ \alpha = {alpha}$"
            shown.add(text, *ball, of=of, quantity=name, alpha=alpha)
    return [shown]


# Level sets in the plane of two coordinates of beta, a panel for each start.


def diagonal_levels(points: int = 101) -> list[Display]:
    found, of = list[Display](), untied(2)
    for alpha, s in product(("0.0001", "0.01", "1"), ("0", "0.99", "0.9999")):
        start = dict(zip(("u0", "v0"), weights(float(alpha), float(s)), strict=True))
        panel = PotentialDisplay.from_derivation(of, start, bounds=(-1, 1), points=points)
        found.append(panel.named(rf"$\alpha = {alpha},\ s = {s}$", alpha=alpha, s=s))
    return found


def neuron_levels(points: int = 81) -> list[Display]:
    found, of = list[Display](), derive(["a*u1", "a*u2"])
    starts = (*product("1", ("-0.9", "0", "0.5", "0.9")), *product(("0.01", "0.5", "1", "2"), "0"))
    for alpha, s in starts:
        norm, a = weights(float(alpha), float(s))
        start = {"a_0": a, "u1_0": norm / 2**0.5, "u2_0": norm / 2**0.5}
        panel = PotentialDisplay.from_derivation(of, start, bounds=(-3, 3), points=points)
        found.append(panel.named(rf"$\alpha = {alpha},\ s = {s}$", alpha=alpha, s=s))
    return found


# Functions of one coordinate of beta, each over its value at 1.


def depth_profiles(points: int = 101) -> list[Display]:
    shown = Display("profile", r"$\beta/\alpha^D$", r"$q_D(\beta)\,/\,q_D(1)$")
    pair, deep, x = tied(), tied("D"), np.linspace(-20, 20, points)
    shown.add("$D = 2$", x, profile(implicit(pair, {"alpha": 1}), x), of=pair)
    for D in map(str, range(3, 11)):
        q = implicit(deep, {"alpha": 1, "D": D})
        shown.add(f"$D = {D}$", x, profile(q, x), of=deep, D=D)
    return [shown]


def implicit_explicit(points: int = 81) -> list[Display]:
    shown = Display("profile", r"$\beta$", r"relative to the value at $\beta = 1$")
    of, x = tied(), np.linspace(-1, 1, points)
    for name, function in (("Q", implicit), ("R", explicit)):
        for alpha in ("0.01", "0.2", "1"):
            label, y = rf"${name}_\alpha,\ \alpha = {alpha}$", function(of, {"alpha": alpha})
            shown.add(label, x, profile(y, x), of=of, quantity=name, alpha=alpha)
    return [shown]


def perturbed_profiles(points: int = 101) -> list[Display]:
    shown = Display("profile", r"$\beta$", r"$Q(\beta)\,/\,Q(1)$")
    of, x = tied(), np.linspace(-2, 2, points)
    shown.add("before", x, profile(implicit(of, {"alpha": 1}), x), of=of)
    (left,) = (perturb(of, "noise").effective or {}).values()
    for S in ("1/2", "1", "2"):
        q = implicit(of, {"alpha": float(at_start(left, {"alpha": 1, "S": S}))})
        shown.add(f"after $S = {S}$", x, profile(q, x), of=of, quantity="noise", alpha="1", S=S)
    return [shown]


# What Q prefers, over a number of the start.


def depth_ratio(points: int = 17, d: int = 100) -> list[Display]:
    labels = r"scale $\alpha^D$", r"$Q(e_1)\,/\,Q(\mathbf{1}/\sqrt{d})$"
    shown, scales = Display("sweep", *labels, "log"), np.geomspace(1e-6, 100, points)
    for D in (2, 3, 4, 10):
        of, depth = (tied(), {}) if D == 2 else (tied("D"), {"D": D})
        qs = (implicit(of, {"alpha": c ** (1 / D), **depth}) for c in scales)
        one, spread = np.array([q(np.array([[1.0], [d**-0.5]])) for q in qs]).T
        shown.add(f"$D = {D}$", scales, one / (d * spread), of=of, measure="ratio", D=str(D))
    return [shown]


def norm_sweep(points: int = 25, dimension: int = 400, samples: int = 60) -> list[Display]:
    shown = Display("sweep", r"scale $\alpha$", "excess over the least norm", "log")
    data = draw(SparseSetting(dimension, samples, sizes=()), samples)
    of, scales = tied(), np.geomspace(1e-4, 1, points)
    qs = (lower(of.potential, {"alpha": alpha}) for alpha in scales)
    path = [interpolate(q, data.X, data.y) for q in qs]
    if failed := [s.message for s in path if not s.converged]:
        raise NumericalError(failed[0])
    best = {1: least_l1(data.X, data.y), 2: np.linalg.lstsq(data.X, data.y)[0]}
    for order, least in best.items():
        norms = np.array([np.linalg.norm(s.value, order) for s in path])
        label, excess = rf"|\beta|_{order}", norms / np.linalg.norm(least, order) - 1
        shown.add(rf"${label} / \min{label} - 1$", scales, excess, of=of, measure=f"l{order}")
    return [shown]


def width_regimes(points: int = 41, d: int = 100) -> list[Display]:
    shown = Display("sweep", "width $k$", r"scale $\alpha$", "log")
    found, widths = random_width(), np.geomspace(1, 1e6, points)
    beta, alpha = sympy.symbols("beta alpha")
    slope = found.gradient.xreplace({x: Symbol(x.name) for x in found.gradient.free_symbols})
    q = compiled([sympy.integrate(slope, (beta, 0, beta))], ["beta", "mu"])
    scale = found.mu.subs(found.deviation, alpha / found.width ** Rational(1, 4))
    (unit,) = compiled([sympy.simplify(scale / alpha)], [found.width.name])(widths)

    def ratio(log_mu: float) -> float:
        one, spread = (float(q(b, np.exp(log_mu))[0]) for b in (1.0, d**-0.5))
        return one / (d * spread)

    for level in ("0.15", "0.25", "0.5", "0.75", "0.95"):
        log_mu = brentq(lambda x, level=level: ratio(x) - float(level), -60, 3)
        label = rf"$Q(e_1)\,/\,Q(\mathbf{{1}}/\sqrt{{d}}) = {level}$"
        shown.add(label, widths, np.exp(log_mu) / unit, measure="ratio", level=level)
    return [shown]


def training_steps(
    points: int = 60, dimension: int = 100, samples: int = 40, steps: int = 20_000
) -> list[Display]:
    shown = Display("sweep", rf"steps of size ${_STEP}$", "error", "log")
    of, data = tied(), draw(SparseSetting(dimension, samples, sizes=()), samples)
    p = of.parameterization
    (beta,) = (to_sympy(tree) for tree in p.trees)
    F = compiled([beta, *(beta.diff(Symbol(w)) for w in p.weights)], p.weights)
    times = np.geomspace(10, steps, points).astype(int)
    for alpha in ("0.001", "0.1", "1"):
        w, errors = np.full((2, dimension), float(alpha)), dict[int, tuple[float, float]]()
        for k in range(steps + 1):
            value, *slopes = F(*w)
            residual = data.X @ value - data.y
            errors[k] = float(np.mean(residual**2)), data.error(value)
            w = w - _STEP / samples * np.array(slopes) * (data.X.T @ residual)
        seen = np.maximum(1e-12, [errors[k] for k in times]).T
        for measure, y in zip(("training", "population"), seen, strict=True):
            label, x = rf"{measure}, $\alpha = {alpha}$", times.astype(float)
            shown.add(label, x, y, of=of, measure=measure, alpha=alpha)
    return [shown]


def sparse_regression(points: int = 20, dimension: int = 1000, samples: int = 100) -> list[Display]:
    shown = Display("sweep", r"scale $\alpha$", r"population error $|\beta - \beta^*|^2$", "log")
    data = draw(SparseSetting(dimension, samples, sizes=()), samples)
    of, scales = derive("u*v - x*z"), np.geomspace(1e-5, 0.25, points)
    for s in ("0", "0.5", "0.7", "0.9", "0.99"):
        errors = np.array([data.error(predict(data, alpha, float(s)).value) for alpha in scales])
        shown.add(f"$s = {s}$", scales, errors, of=of, measure="error", s=s)
    return [shown]


def margin_accuracy(points: int = 17) -> list[Display]:
    shown = Display("sweep", r"scale $\alpha$", "1 - margin / largest margin", "log")
    rows, levels = ((2, 3), (-2, 5)), ("10", "1000", "100000")
    of, scales = tied(), np.geomspace(0.03, 300, points)
    qs = (lower(of.potential, {"alpha": alpha}) for alpha in scales)
    beta = np.array([loss_flow(q, rows, [*map(float, levels)], 1e-7).value for q in qs])
    best = {1: max_margin(rows, norm="l1"), 2: max_margin(rows)}
    for order, largest in best.items():
        margins = np.min(beta @ np.array(rows).T, axis=-1) / np.linalg.norm(beta, order, axis=-1)
        gaps, measure = 1 - margins / float(largest.margin), f"l{order} margin"
        for level, gap in zip(levels, np.maximum(1e-16, gaps).T, strict=True):
            label = rf"$\ell_{order}$, $\log(1/L) = {level}$"
            shown.add(label, scales, gap, of=of, measure=measure, level=level)
    return [shown]


def perturbed_scale(points: int = 50) -> list[Display]:
    shown = Display("sweep", r"$\kappa$, $S$ or $\eta$", r"$\alpha'/\alpha$")
    of, x = tied(), np.linspace(0, 0.49, points)
    labels = {"decay": r"decay $\kappa$", "noise": "noise $S$", "step": r"one step $\eta$"}
    for by, label in labels.items():
        ((alpha, left),) = (perturb(of, by).effective or {}).items()
        values = {"G": "1"} if by == "step" else {}
        ratio = at_start(left / alpha, values)
        (y,) = compiled([ratio], [s.name for s in ratio.free_symbols])(x)
        shown.add(label, x, y, of=of, quantity=by, measure="start", **values)
    return [shown]


# Steepest descent in l4/3 on a linear model: not the interpolant of least norm.


def steepest_descent(points: int = 81) -> list[Display]:
    shown, example = Display("path", "$w_1$", "$w_2$"), optimizer("steepest-descent").example
    if example is None:
        raise NumericalError("this optimizer has no data of that kind")
    X, y = np.array(example.X, float), np.array(example.y, float)
    limit, least = (
        np.array([float(Fraction(x)) for x in w]) for w in (example.limit, example.shorter)
    )
    for eta in ("0.01", "0.1", "0.2"):
        w, path = np.zeros(X.shape[1]), list[Array]()
        while len(path) < _MOST and np.linalg.norm(X @ w - y) > 1e-9 * np.linalg.norm(y):
            path.append(w)
            g = X.T @ (y - X @ w)
            w = w + float(eta) * g**3 / np.linalg.norm(g, 4) ** 2
        at = np.linspace(0, 1, points) ** 2 * (len(path) - 1)
        x1, x2 = (np.interp(at, np.arange(len(path)), x) for x in np.array(path).T[:2])
        shown.add(rf"$\eta = {eta}$", x1, x2, quantity="steps", measure="path", eta=eta)
    line = least + np.linspace(-3, 3, points)[:, None] * (limit - least)
    shown.add("interpolants", *line.T[:2], quantity="limit")
    shown.add("least norm", *least[:2, None], quantity="data")
    return [shown]


# Linear models on separable data, whose rows carry their labels, over the logarithm of time.

_LEAST = 1e-16


def margin_rates(points: int = 60) -> list[Display]:
    shown = Display("rate", r"$\log t$", "largest margin - margin", "log")
    rows, tails, times = ((2, 3), (-2, 5)), ("1/2", "1", "3/2"), np.geomspace(10, 1e6, points)
    of, best = derive("w"), max_margin(rows)
    for nu in tails:
        w = _linear_flow(rows, nu, times)
        gap = float(best.margin) - np.min(w @ np.array(rows).T, axis=1) / np.linalg.norm(w, axis=1)
        y = np.maximum(_LEAST, gap)
        shown.add(rf"$\nu = {nu}$", times, y, of=of, measure="gap", nu=nu)
    for nu in tails:
        label, c = rf"$c/(\nu \log t)$, $\nu = {nu}$", best.gap_of(Fraction(nu), sympy.S.Zero)
        y = float(c or 0) / times  # support vectors span both rows
        shown.add(label, times, y, of=of, quantity="limit", measure="constant", nu=nu)
    return [shown]


def margin_tails(points: int = 60) -> list[Display]:
    shown = Display("rate", r"$\log t$", r"$|w/|w| - \hat w/|\hat w||$", "log")
    of, rows, times = derive("w"), ((2, 0), (3, 1)), np.geomspace(10, 1e6, points)
    end = np.array(max_margin(rows).value, float)
    for nu in ("1/2", "1", "2", "3", "4"):
        w = _linear_flow(rows, nu, times)
        apart = w / np.linalg.norm(w, axis=1, keepdims=True) - end / np.linalg.norm(end)
        y = np.linalg.norm(apart, axis=1)
        shown.add(rf"$\nu = {nu}$", times, y, of=of, measure="direction", nu=nu)
    return [shown]


def _linear_flow(rows: Sequence[Sequence[int]], nu: str, log_times: Array) -> Array:
    """Return w = X^T s at log times: ds_i/dlog t = nu u_i^(nu - 1) exp(log t - u_i^nu)."""
    X, power = np.array(rows, float), float(Fraction(nu))
    gram = X @ X.T

    def slope(tau: float, s: Array) -> Array:
        u = np.maximum(gram @ s, _LEAST)
        return np.asarray(power * u ** (power - 1) * np.exp(np.minimum(tau - u**power, 60)))

    start = np.linalg.lstsq(gram, np.full(len(X), 1.5), rcond=None)[0]
    span = (0, log_times[-1])
    run = solve_ivp(slope, span, start, "BDF", t_eval=log_times, rtol=1e-10, atol=1e-10)
    if not run.success:
        raise NumericalError("the flow was not followed")
    return np.asarray(run.y.T @ X, float)


def learned_predictors(points: int = 12, samples: int = 3, steps: int = 4000) -> list[Display]:
    panels = [
        Display("nets", "entry", r"$\beta/|\beta|_2$"),
        Display("nets", "frequency", r"$|\mathrm{DFT}\,\beta|$, likewise"),
    ]
    rng, entries = np.random.default_rng(1), np.arange(float(points))
    rows = rng.integers(-5, 6, (samples, points))
    nets = {"l2": "fully connected", "dft": "convolutional", "l1": "diagonal"}
    found = {
        name: np.array(max_margin(rows.tolist(), norm=norm).value, float)
        for norm, name in nets.items()
    }
    w = descended(rows, rng.standard_normal((2, points)) / 100, steps)
    trained = np.fft.irfft(np.prod(np.fft.rfft(w), axis=0), points)
    for name, beta in {**found, "trained, convolutional": trained}.items():
        unit = beta / np.linalg.norm(beta)
        for panel, y in zip(panels, (unit, np.abs(np.fft.fft(unit))), strict=True):
            kind = "data" if name.startswith("trained") else "limit of nets"
            panel.add(name, entries, y, quantity=kind, measure=name)
    return panels


# Univariate nets: at the end of mirror flow, their limits, and errors by width.

_SETTING = UnivariateSetting(widths=(100, 400, 1600), nets=5)


def _against_limits(
    cases: Mapping[str, Mapping[str, str]],
    limits: int,
    points: int = 201,
    setting: UnivariateSetting = _SETTING,
) -> list[Display]:
    """Show nets of the largest width, then the limits of the first so many.

    A case says the kind and the potential, and maybe by how much the targets are shifted.
    """
    shown, x = Display("nets", "x", "f(x)"), np.linspace(-1, 1, points)
    drawn = [("net", *case) for case in cases.items()]
    for what, label, case in [*drawn, *(("limit", *case) for case in [*cases.items()][:limits])]:
        task = Task(case["potential"], case["kind"], "random", max(setting.widths))
        shift = Fraction(case.get("shift", "0"))
        if what == "net":
            y = trained_net(setting, task, float(shift))(x)
        else:
            label, y = f"limit, {label}", limit_of_task(setting, task, shift).on_arrays(x)
        shown.series.append(Series(label, x, y, what, what, case))
    for shift in dict.fromkeys(Fraction(case.get("shift", "0")) for case in cases.values()):
        fitted = [[float(Fraction(v)) for v in row] for row in (setting.x, setting.y)]
        at, y = np.array(fitted)
        shown.add("" if shift else "data", at, y + float(shift), quantity="data")
    return [shown]


def _median_error(setting: UnivariateSetting, task: Task) -> float:
    """Return the median of sup |f - h| of the nets that a task is the first of."""
    table = limit_of_task(setting, task).table
    alike = (replace(task, number=i) for i in range(setting.nets))
    drawn = alike if task.biases == "random" else [task]
    return float(np.median([distance_to_net(table, trained_net(setting, t)) for t in drawn]))


def _by_width(
    kind: str,
    setting: UnivariateSetting = _SETTING,
    error: Callable[[UnivariateSetting, Task], float] = _median_error,
) -> list[Display]:
    """Show the error of nets by width, for each potential and choice of biases."""
    shown, widths = Display("nets", "width", "sup |f - h|", "log"), np.array(setting.widths, float)
    for biases in ("random", "quantiles"):
        for phi in POTENTIALS:
            y = np.array([error(setting, Task(phi, kind, biases, n)) for n in setting.widths])
            case = {"kind": kind, "biases": biases, "potential": phi}
            shown.series.append(Series(f"{biases}, {phi}", widths, y, biases, "error", case))
    return [shown]


def univariate_curvature(points: int = 201, setting: UnivariateSetting = _SETTING) -> list[Display]:
    shown, x = Display("nets", "|h''|", "share of x"), np.linspace(-1, 1, points)
    for phi, case in _SCALED.items():
        h, share = limit_of_task(setting, Task(phi, "scaled")), np.arange(1, points + 1) / points
        sizes = np.sort(np.abs(h.second_derivative(x)))
        shown.series.append(Series(phi, sizes, share, "net", "bending", case))
    return [shown]


_UNSCALED = {phi: {"kind": "unscaled", "potential": phi} for phi in POTENTIALS}
_SCALED = {phi: {"kind": "scaled", "potential": phi} for phi in POTENTIALS}
_SHIFTED = {
    f"y + {shift}": {**_UNSCALED["x**2"], "shift": shift}
    for shift in ("-1", "-1/2", "0", "1/2", "1")
}
univariate_unscaled = partial(_against_limits, _UNSCALED, 1)
univariate_scaled = partial(_against_limits, _SCALED, len(_SCALED))
univariate_shifted = partial(_against_limits, _SHIFTED, len(_SHIFTED))
univariate_unscaled_errors = partial(_by_width, "unscaled")
univariate_scaled_errors = partial(_by_width, "scaled")
