"""Functions of one coordinate of beta, each over its value at 1."""

import numpy as np

from derive.perturbed.find import perturb
from numerics.figures.curves import at_start, explicit, implicit, profile, tied
from numerics.figures.display import Display


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
