"""Level sets in the plane of two coordinates of beta, a panel for each start."""

from itertools import product

from derive.derivation import derive
from numerics.experiments.sparse_regression import weights
from numerics.figures.curves import untied
from numerics.figures.derived import PotentialDisplay
from numerics.figures.display import Display


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
