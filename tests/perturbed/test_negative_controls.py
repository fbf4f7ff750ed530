"""What would be false of noise and of decay, by runs that know F and the data alone."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import linprog

from derive import perturb
from tests.published import derive_once

pytestmark = pytest.mark.every(3)


def least(costs, X, y):
    """Return argmin sum_j costs_j |b_j| subject to X b = y."""
    found = linprog([*costs, *costs], A_eq=np.hstack([X, -X]), b_eq=y)
    return found.x[: X.shape[1]] - found.x[X.shape[1] :]


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ("equal", [[1, 2, 2], [2, 1, -1]]),
        ("unequal", [[1, 2, 4], [2, 1, -1]]),
        ("unequal", [[1, 2]]),
    ],
)
def test_label_noise_on_the_tied_pair_has_the_l1_norm_of_equal_columns_alone(columns, rows):
    """The weights S_j = sum_i X_ij^2 sigma_i^2 of the printed h decide the limit of SGD."""
    X, rng = np.array(rows, float), np.random.default_rng(1)
    y, eta = np.array([1.0, 0.8])[: len(X)], 0.05 / (X**2).sum(0).max()
    p, m = (np.full(X.shape[1], 0.5) for _ in range(2))
    for t in range(60_000):
        noise = rng.choice((-1.0, 1.0), len(X)) if t < 50_000 else 0
        G = X.T @ (X @ (p**2 - m**2) - y + noise)
        p, m = p - 2 * eta * G * p, m + 2 * eta * G * m
    beta = p**2 - m**2
    assert np.abs(X @ beta - y).max() < 1e-6
    v = perturb(derive_once("p**2 - m**2"), "noise")
    assert str(v.annealed) == "S*Abs(beta)"
    weighted, plain = least((X**2).sum(0), X, y), least(np.ones(X.shape[1]), X, y)
    assert np.abs(beta - weighted).max() < 1e-2
    assert (np.abs(beta - plain).max() < 1e-2) == (columns == "equal")
    assert (np.abs(weighted - plain).max() < 1e-2) == (columns == "equal")


FIELDS = {
    "u*v": lambda w: (w[0] * w[1], np.stack([w[1], w[0], 0 * w[2]])),
    "a*b + c": lambda w: (w[0] * w[1] + w[2], np.stack([w[1], w[0], 1 + 0 * w[2]])),
}


def limit(F, start, kappa):
    """Return beta at the end of w' = -J^T X^T r - kappa(t) w, kappa on [0, 2]."""
    X, y = np.array([[1.0, 2.0, -1.0]]), np.array([1.5])

    def slope(t, state, size):
        w = state.reshape(3, 3)
        beta, J = F(w)
        return (-J * (X.T @ (X @ beta - y)) - size * w).ravel()

    w = np.repeat(np.array(start)[:, None], 3, 1).ravel()
    for span, size in ((2, kappa / 2), (200, 0)):
        run = solve_ivp(slope, (0, span), w, "LSODA", args=(size,), rtol=1e-11, atol=1e-13)
        w = run.y[:, -1]
    beta, _ = F(w.reshape(3, 3))
    assert np.abs(X @ beta - y).max() < 1e-8
    return beta


@pytest.mark.parametrize(("output", "shrinks"), [("u*v", True), ("a*b + c", False)])
def test_decay_shrinks_the_start_of_homogeneous_maps_alone(output, shrinks):
    start = np.array([0.9, 0.4, 0.3])
    decayed = limit(FIELDS[output], start, 0.5)
    smaller = limit(FIELDS[output], np.exp(-0.5) * start, 0)
    assert (np.abs(decayed - smaller).max() < 1e-7) == shrinks
    assert (np.abs(decayed - smaller).max() < 1e-3) == shrinks
    v = perturb(derive_once(output), "decay")
    assert bool(v.start) == shrinks
    assert ("decay shrinks the start" in " ".join(v.to_text().split())) == shrinks
    assert ("exp(-kappa)" in derive_once(output).to_text()) == shrinks
