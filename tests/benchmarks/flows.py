"""The flows that are timed: gradient flow at high precision, and the same by mpmath.odefun.

odefun never steps further than 1/2, however slow the flow has become, so that its time grows with
the horizon: the ratio to it has a meaning only together with the horizon.
"""

from fractions import Fraction

import mpmath
import numpy as np

from derive import Parameterization
from numerics.integrator.gradient_flow import flow

D, ROWS, DIGITS = 8, 3, 50
ALPHA = Fraction(1, 10)
DIAGONAL = Parameterization.parse([f"p{i}**2 - m{i}**2" for i in range(D)])
START = dict.fromkeys(DIAGONAL.weights, ALPHA)


def problem(seed=0, rows=ROWS):
    """Draw X of 8 columns, and y = X beta for a beta of two entries."""
    rng = np.random.default_rng(seed)
    X = [[Fraction(f"{x:.2f}") for x in row] for row in rng.standard_normal((rows, D))]
    return X, [row[1] - row[4] / 2 for row in X]


def run(digits=DIGITS, seed=0, **options):
    """Run the flow of p_i^2 - m_i^2 from its start."""
    X, y = problem(seed)
    return flow(DIAGONAL, X, y, START, digits, **options)


def stiff(scales, digits):
    """Run the same on rows of these scales."""
    X, _ = problem(rows=len(scales))
    X = [[s * x for x in row] for s, row in zip(scales, X, strict=True)]
    y = [row[1] - row[4] / 2 for row in X]
    return flow(DIAGONAL, X, y, START, digits, max_steps=10**6)


def diagonal_by_odefun(time, digits=DIGITS, seed=0):
    """Return the weights p_1, m_1, p_2, .. at a time."""
    with mpmath.workdps(digits):
        X, y = problem(seed)
        rows = [[mpmath.mpf(x.numerator) / x.denominator for x in row] for row in X]
        target = [mpmath.mpf(x.numerator) / x.denominator for x in y]
        columns = list(zip(*rows, strict=True))

        def slope(_, w):
            pairs = list(zip(w[::2], w[1::2], strict=True))
            beta = [p * p - m * m for p, m in pairs]
            left = [mpmath.fdot(r, beta) - t for r, t in zip(rows, target, strict=True)]
            pulls = [2 * mpmath.fdot(c, left) for c in columns]
            return [x for (p, m), g in zip(pairs, pulls, strict=True) for x in (-p * g, m * g)]

        start = [mpmath.mpf(1) / 10] * (2 * D)
        solution = mpmath.odefun(slope, 0, start)
        return list(solution(mpmath.mpf(time.numerator) / time.denominator))


def diagonal_limit(digits=DIGITS, seed=0):
    """Return the beta with ``X beta = y`` and ``asinh(beta/(2 alpha^2)) = X^T s``, by Newton in s.

    Source: Woodworth et al. 2020, "Kernel and rich regimes in overparametrized models", theorem 1.
    """
    with mpmath.workdps(digits):
        X, y = (mpmath.matrix(a) for a in problem(seed))
        scale = 2 * mpmath.mpf(ALPHA.numerator) ** 2 / ALPHA.denominator**2
        dual = mpmath.zeros(ROWS, 1)
        while True:
            slopes = X.T * dual
            beta = scale * slopes.apply(mpmath.sinh)
            left = X * beta - y
            if mpmath.norm(left) < mpmath.mpf(10) ** (5 - digits):
                return list(beta)
            step = mpmath.lu_solve(
                X * mpmath.diag(list(scale * slopes.apply(mpmath.cosh))) * X.T, left
            )
            # Far from the solution sinh grows by e at most.
            dual -= step / max(1, mpmath.norm(X.T * step, mpmath.inf))


def worst(weights, expected):
    """Return the largest difference."""
    with mpmath.workdps(100):
        return max(abs(a - b) for a, b in zip(weights, expected, strict=True))
