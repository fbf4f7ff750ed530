"""An independent witness of min |w - w_0|^2 s.t. F(w) = beta: SciPy from many starts, in floats."""

import numpy as np
import sympy
from scipy.optimize import minimize


def numeric_minimum(outputs, weights, w0, beta, starts=40, seed=0):
    """Return the least value found; None where no start reached F(w) = beta."""
    symbols = sympy.symbols(weights)
    expressions = [
        sympy.sympify(text, dict(zip(weights, symbols, strict=True))) for text in outputs
    ]
    F = sympy.lambdify([symbols], expressions)
    J = sympy.lambdify([symbols], [[sympy.diff(e, s) for s in symbols] for e in expressions])
    beta, w0 = np.array(beta, float), np.array(w0, float)
    rng = np.random.default_rng(seed)
    best = None
    for _ in range(starts):
        reach = 0.5 + np.abs(w0).max() + np.abs(beta).max() ** 0.5
        found = minimize(
            lambda w: (w - w0) @ (w - w0),
            w0 + rng.normal(0, reach, len(weights)),
            jac=lambda w: 2 * (w - w0),
            constraints={
                "type": "eq",
                "fun": lambda w: np.array(F(w), float) - beta,
                "jac": lambda w: np.array(J(w), float),
            },
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 300},
        )
        missed = np.abs(np.array(F(found.x), float) - beta).max()
        if missed < 1e-8 * (1 + np.abs(beta).max()) and (best is None or found.fun < best):
            best = float(found.fun)
    return best
