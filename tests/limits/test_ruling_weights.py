"""Which weights move alone from starts c^Lambda w_0, by flows of the weights from F alone."""

import random

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

from derive import Parameterization
from derive.limits.find import regimes
from tests.published import derive_once

MODELS = ["W + a*b", "a*b*d + c", "a*b + c*d*e", "a**2*b + c"]


def steered(f, names, w0, time, kept):
    """Return F after gradient flow under lambda = 1, in which some weights are kept."""
    symbols = sympy.symbols(names)
    F, J = (sympy.lambdify(symbols, x, "numpy") for x in (f, [f.diff(s) for s in symbols]))
    moves = ~np.isin(names, [*kept])

    def field(_, w):
        return moves * np.array(J(*w), float)

    done = solve_ivp(field, (0, time), w0, method="LSODA", rtol=1e-11, atol=1e-11 * w0)
    return float(F(*done.y[:, -1]))


@pytest.mark.every(10)
@pytest.mark.parametrize("seed", range(20))
def test_others_rest_as_the_scale_tends_to_either_end(seed):
    rng = random.Random(seed)
    F = MODELS[seed % len(MODELS)]
    p = Parameterization.parse([F])
    lam = {
        str(s): float(x)
        for s, x in regimes(derive_once(p), "W_0" if "W" in F else "a_0", ()).grading.items()
    }
    f, names = sympy.sympify(F), list(p.weights)
    degrees = np.array([lam[w] for w in names])
    w0 = np.array([rng.uniform(0.5, 1.5) for _ in names])
    tau = rng.uniform(0.1, 0.3)
    for c, entry, other in ((1e-12, max, min), (1e12, min, max)):
        own = entry(lam.values())
        kept = {w for w in names if lam[w] != own}
        far = steered(f, names, c**degrees * w0, tau * c ** (2 * own - 1), set()) / c
        told = steered(f, names, w0, tau, kept)
        assert np.isclose(far, told, rtol=1e-2)
        wrong = {w for w in names if lam[w] != other(lam.values())}
        assert abs(far - told) < abs(far - steered(f, names, w0, tau, wrong))
