"""What Q prefers, over a number of the start."""

import numpy as np

from derive.derivation import derive
from derive.errors import NumericalError
from derive.perturbed.find import perturb
from numerics.evaluate.backend import compiled
from numerics.evaluate.lowering import lower
from numerics.experiments.settings import SparseSetting
from numerics.experiments.sparse_regression import draw, predict
from numerics.figures.curves import at_start, implicit, tied
from numerics.figures.display import Display
from numerics.interpolants.interpolant import interpolate
from numerics.interpolants.least_l1 import least_l1
from numerics.margins.loss_flow import loss_flow
from numerics.margins.max_margin import max_margin


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
    best = {1: least_l1(data.X, data.y).value, 2: np.linalg.lstsq(data.X, data.y)[0]}
    for order, least in best.items():
        norms = np.array([np.linalg.norm(s.value, order) for s in path])
        label, excess = rf"|\beta|_{order}", norms / np.linalg.norm(least, order) - 1
        shown.add(rf"${label} / \min{label} - 1$", scales, excess, of=of, measure=f"l{order}")
    return [shown]


def sparse_regression(points: int = 20, dimension: int = 1000, samples: int = 100) -> list[Display]:
    shown = Display("sweep", r"scale $\alpha$", r"population error $|\beta - \beta^*|^2$", "log")
    data = draw(SparseSetting(dimension, samples, sizes=()), samples)
    of, scales = derive("u*v - x*z"), np.geomspace(1e-5, 0.25, points)
    for s in ("0", "0.5", "0.7", "0.9", "0.99"):
        errors = np.array([data.error(predict(data, alpha, float(s))) for alpha in scales])
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
