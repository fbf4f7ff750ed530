"""Least costs with slopes on either side of 0, against all vertices of the program."""

from itertools import combinations, product

import numpy as np
import pytest

from numerics.interpolants.least_l1 import NoInterpolant, NoMinimizer, least_l1


def least_at_a_vertex(X, y, up, down) -> float:
    """Return the least cost among the beta with m entries that are not 0."""
    m, d = X.shape
    costs = []
    for support, signs in product(combinations(range(d), m), product((1, -1), repeat=m)):
        beta = np.linalg.solve(X[:, support], y)
        slopes = np.where(np.array(signs) > 0, up[list(support)], -down[list(support)])
        if (beta * signs >= 0).all() and np.isfinite(slopes).all():
            costs.append(slopes @ beta)
    return min(costs)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_least_among_vertices_and_its_multiplier_proves_it(seed):
    rng = np.random.default_rng(seed)
    X, up, down = rng.normal(size=(2, 5)), rng.uniform(1, 2, 5), rng.uniform(1, 2, 5)
    down[0] = np.inf
    y = X @ np.abs(rng.normal(size=5))
    found = least_l1(X, y, up, down)
    assert found.cost == pytest.approx(least_at_a_vertex(X, y, up, down))
    assert X @ found.value == pytest.approx(y)
    assert found.value[0] >= 0
    slopes = X.T @ found.multiplier
    assert (slopes <= up + 1e-9).all()
    assert (slopes >= -down - 1e-9).all()
    assert found.multiplier @ y == pytest.approx(found.cost)


def test_of_equal_slopes_it_is_the_l1_norm():
    found = least_l1(np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -4.0]]), np.array([2.0, 5.0]))
    assert found.value.tolist() == [0, 1, -1]
    assert found.cost == np.abs(found.value).sum()


def test_what_has_no_minimizer_is_refused():
    row = np.array([[1.0, 1.0]])
    with pytest.raises(NoInterpolant):
        least_l1(row, np.array([-1.0]), down=np.inf)
    with pytest.raises(NoMinimizer):
        least_l1(row, np.array([1.0]), up=np.array([1.0, -2.0]), down=1.0)
