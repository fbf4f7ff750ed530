"""Level sets in the plane of two coordinates of beta, a panel for each start."""

from itertools import product

from derive.derivation import derive
from numerics.experiments.sparse_regression import weights
from numerics.figures.curves import untied
from numerics.figures.derived import PotentialDisplay
from numerics.figures.display import Display


def diagonal_levels(points: int = 101) -> list[Display]:
    """Level sets of Q for the untied diagonal network, over scale and shape.

    Q for u v - x z in each coordinate, started unbiased at scale alpha = u v (rows) and shape s =
    (v - u)/(v + u) (columns). Polygons are the rich regime, circles the kernel regime; a shape near
    1 undoes a small scale.

    See Azulay et al. (2021), section 7.1.
    """
    found, of = list[Display](), untied(2)
    for alpha, s in product(("0.0001", "0.01", "1"), ("0", "0.99", "0.9999")):
        start = dict(zip(("u0", "v0"), weights(float(alpha), float(s)), strict=True))
        panel = PotentialDisplay.from_derivation(of, start, bounds=(-1, 1), points=points)
        found.append(panel.named(rf"$\alpha = {alpha},\ s = {s}$", alpha=alpha, s=s))
    return found


def neuron_levels(points: int = 81) -> list[Display]:
    """Level sets of Q for one linear neuron, over shape and scale.

    Q for beta = a u, u in the plane, started with scale alpha = a |u| and shape s = (a - |u|)/(a +
    |u|) along (1, 1)/sqrt 2. Top: alpha = 1, s -> 1 gives |beta - beta_0|. Bottom: s = 0, from the
    l2 norm (anti-NTK) to a Mahalanobis distance from beta_0 (NTK); in between it is no kernel.
    Crosses: beta_0.

    See Azulay et al. (2021), figure 7.2 and section 7.2.
    """
    found, of = list[Display](), derive(["a*u1", "a*u2"])
    starts = (*product("1", ("-0.9", "0", "0.5", "0.9")), *product(("0.01", "0.5", "1", "2"), "0"))
    for alpha, s in starts:
        norm, a = weights(float(alpha), float(s))
        start = {"a_0": a, "u1_0": norm / 2**0.5, "u2_0": norm / 2**0.5}
        panel = PotentialDisplay.from_derivation(of, start, bounds=(-3, 3), points=points)
        found.append(panel.named(rf"$\alpha = {alpha},\ s = {s}$", alpha=alpha, s=s))
    return found
