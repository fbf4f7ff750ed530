"""Level sets through (1, 0) in the plane of two coordinates of beta."""

from derive.regimes.find import regimes
from numerics.experiments.sparse_regression import weights
from numerics.figures.curves import explicit, implicit, level_set, limiting, tied, untied
from numerics.figures.display import Display

_AXES = ("ball", r"$\beta_1$", r"$\beta_2$")


def diagonal_balls(points: int = 181) -> list[Display]:
    """Unit balls of Q for the tied diagonal network, over the scale of the start.

    Level sets of Q through (1, 0) for p^2 - m^2 in each coordinate, started at p = m = alpha: from
    the l1 ball in the rich regime to the l2 ball in the kernel regime. Broken black lines: the
    limits of Q, as derived.

    See Woodworth et al. (2020): Q_alpha and its limits in alpha.
    """
    shown, of = Display(*_AXES), tied(d=2)
    rich, kernel = (limiting(of, limit) for limit in regimes(of, "alpha").limits)
    shown.add(r"limit $\alpha \to 0$", *level_set(rich, points), of=of, quantity="limit")
    for alpha in ("0.001", "0.1", "0.3", "1"):
        ball = level_set(implicit(of, {"alpha": alpha}), points)
        shown.add(rf"$\alpha = {alpha}$", *ball, of=of, alpha=alpha)
    shown.add(r"limit $\alpha \to \infty$", *level_set(kernel, points), of=of, quantity="limit")
    return [shown]


def diagonal_shape_balls(points: int = 181) -> list[Display]:
    """Unit balls of Q for the untied diagonal network, over the shape of the start.

    Level sets of Q through (1, 0) for u v - x z in each coordinate, started unbiased at scale alpha
    = u v = 0.001 and shape s = (v - u)/(v + u): as s -> 1 the same small scale moves from the rich
    to the kernel regime, as alpha/(1 - s^2) decides.

    See Azulay et al. (2021), section 7.1 and theorem 1.
    """
    shown, of, alpha = Display(*_AXES), untied(2), "0.001"
    for s in ("0", "0.9", "0.99", "0.997", "0.9999"):
        u, v = weights(float(alpha), float(s))
        ball = level_set(implicit(of, {"u0": u, "v0": v}), points)
        shown.add(f"$s = {s}$", *ball, of=of, alpha=alpha, s=s)
    return [shown]


def implicit_explicit_balls(points: int = 97) -> list[Display]:
    """Implicit against explicit: unit balls of Q and R, depth 3.

    Level sets through (1, 0) of Q_alpha and of R_alpha(beta) = min |w - w_0|^2 subject to F(w) =
    beta, for p^3 - m^3 in each coordinate from p = m = alpha. As alpha -> 0 gradient flow prefers
    the l1 norm, explicit regularization the l_(2/3) quasi-norm, whose balls are not convex.

    See Woodworth et al. (2020): Q_alpha and R_alpha of depth D.
    """
    shown, of = Display(*_AXES), tied("3", d=2)
    for name, function in (("Q", implicit), ("R", explicit)):
        for alpha in ("0.05", "0.3", "1"):
            ball, label = level_set(function(of, {"alpha": alpha}), points), rf"{name}_\alpha"
            text = rf"${label},\ \alpha = {alpha}$"
            shown.add(text, *ball, of=of, quantity=name, alpha=alpha)
    return [shown]
