"""Points that are no real numbers are refused, as X and y are."""

import numpy as np
import pytest

from derive import InputError, Parameterization, derive

POINTS = {
    "complex": np.array([1 + 0j, 2.0]),
    "masked": np.ma.masked_array([1.0, 2.0], mask=[False, True]),
    "dates": np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
    "spans": np.array([1, 2], dtype="timedelta64[s]"),
    "text": np.array(["1", "2"]),
    "a text": "1.5",
    "bytes": np.array([b"1", b"2"]),
    "records": np.zeros(2, dtype=[("x", float)]),
    "objects": np.array([1.0, {}], dtype=object),
    "a large number": [10**400, 1],
}
MODELS = {
    "weights": (Parameterization.parse(["a*u1", "a*u2"]), {"a_0": 1, "u1_0": 0, "u2_0": 0}),
    "vector": (Parameterization.parse(["a*u"], vectors=["u"]), {"a_0": 1, "u_0": [1, 0]}),
}


@pytest.fixture(scope="module", params=MODELS)
def q(request: pytest.FixtureRequest):
    p, start = MODELS[request.param]
    return derive(p).potential.numeric(start)


@pytest.mark.parametrize("name", POINTS)
def test_points_are_real_numbers(q, name: str) -> None:
    points, plain = POINTS[name], np.ones(2)
    for use in (q, q.gradient, q.inverse_gradient):
        with pytest.raises(InputError):
            use(points)
    for pair in ((points, plain), (plain, points)):
        with pytest.raises(InputError):
            q.bregman(*pair)


def test_whole_numbers_are_points(q) -> None:
    assert np.array_equal(q(np.array([1, 2])), q([1.0, 2.0]), equal_nan=True)
