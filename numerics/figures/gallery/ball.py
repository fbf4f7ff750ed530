"""Level sets through (1, 0) in the plane of two coordinates of beta."""

from derive.limits.find import regimes
from numerics.experiments.sparse_regression import weights
from numerics.figures.curves import explicit, implicit, level_set, limiting, tied, untied
from numerics.figures.display import Display

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
