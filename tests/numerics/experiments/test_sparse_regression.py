"""The sparse regression experiment: its statements, its formats and its command."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from derive import InputError, Parameterization
from numerics.experiments.settings import SparseSetting, Stages
from numerics.experiments.sparse_regression import draw, predict, sparse_regression, train, weights
from numerics.figures import experiments as displays
from numerics.interpolants.interpolant import least_l1

SMALL = SparseSetting(
    dimension=120,
    samples=30,
    sparsity=2,
    alphas=(1e-5, 1e-3, 1e-1),
    shapes=(0.0, 0.9),
    trained=((1e-3, 0.0), (1e-2, 0.9)),
    sizes=(8, 40),
)
PREDICTED = replace(SMALL, trained=())  # training rounds with the number of threads


@pytest.fixture(scope="module")
def small():
    return sparse_regression(SMALL, Stages())


def test_error_rises_with_scale_and_shape(small):
    errors = np.array([p.error for p in small.grid]).reshape(2, 3)
    assert (np.diff(errors, axis=1) > 0).all()
    assert (np.diff(errors, axis=0) > 0).all()


def test_limits_are_least_norms(small):
    assert small.l1_error < min(p.error for p in small.grid)
    assert max(p.error for p in small.grid) == pytest.approx(small.l2_error, rel=0.05)
    data = draw(SMALL, 30)
    lengths = np.array([p.l1_norm for p in small.grid])
    assert lengths.min() > np.abs(least_l1(data.X, data.y)).sum()


def test_training_ends_at_the_prediction(small):
    assert len(small.trained) == 2
    for comparison in small.trained:
        assert comparison.distance < 1e-6


def test_training_from_another_start_does_not():
    """Control: a shape other than that of the prediction leads elsewhere."""
    data = draw(SMALL, 30)
    u, v = weights(1e-3, 0.5)
    model = Parameterization.parse(["u*v - x*z"])
    end = train(model, data.X, data.y, {"u": u, "v": v, "x": u, "z": v})
    predicted = predict(data, 1e-3, 0.0).value
    assert np.linalg.norm(end.value - predicted) > 1e-2 * np.linalg.norm(predicted)


def test_thresholds_separate_the_scales(small):
    few, many = small.thresholds
    assert few.alpha is None  # 8 samples do not suffice even for least l1 norm
    assert few.l1_error > SMALL.target
    assert many.alpha is not None
    data = draw(SMALL, 40)
    assert data.error(predict(data, many.alpha / 1.2, 0.0).value) < SMALL.target
    assert data.error(predict(data, many.alpha * 1.2, 0.0).value) > SMALL.target


def test_data_follow_the_seed():
    first, again = draw(SMALL, 30), draw(SMALL, 30)
    other = draw(replace(SMALL, seed=1), 30)
    assert np.array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    assert np.linalg.norm(first.truth) == pytest.approx(1)


def test_formats_agree(small):
    record = json.loads(small.to_json())
    assert (record["experiment"], record["version"]) == ("sparse-regression", 1)
    rows = list(csv.DictReader(io.StringIO(small.to_csv())))
    predicted = [r for r in rows if r["kind"] == "predicted"]
    assert [float(r["error"]) for r in predicted] == [p["error"] for p in record["grid"]]
    assert next(r["alpha"] for r in rows if r["kind"] == "largest alpha") == ""
    text = small.to_text()
    assert f"{small.grid[0].error:.4f}" in text
    assert "m = 8, s = 0: none" in text


def test_jobs_need_joblib_or_agree(small):
    few = replace(SMALL, alphas=SMALL.alphas[:1], trained=(), sizes=())
    try:
        import joblib
    except ImportError:
        with pytest.raises(InputError, match="regderive\\[parallel\\]"):
            sparse_regression(few, Stages(2))
        return
    with joblib.parallel_config("threading"):
        found = sparse_regression(few, Stages(2))
    assert [p.error for p in found.grid] == [p.error for p in small.grid if p.alpha == 1e-5]


def test_the_display_shows_what_was_found(small):
    (shown,) = displays.sparse_regression(small)
    first, second, trained, *least = shown.series
    found = [*first.y, *second.y]
    assert found == [p.error for p in small.grid]
    assert [*zip(trained.x, trained.y, strict=True)] == [(c.alpha, c.error) for c in small.trained]
    assert [one.y[0] for one in least] == [small.l1_error, small.l2_error]
    empty = pytest.importorskip("matplotlib.figure").Figure
    assert len(shown.plot(empty().subplots()).ax_.lines) == 2 + 1 + 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"samples": 121}, "at most the dimension"),
        ({"sizes": (500,)}, "at most the dimension"),
        ({"samples": 0}, "samples must be at least 1"),
        ({"alphas": (0.0,)}, "alphas must be above 0"),
        ({"alphas": (float("nan"),)}, "alphas must be above 0"),
        ({"shapes": (1.0,)}, "shapes must be below 1"),
        ({"shapes": (-1.0,)}, "shapes must be above -1"),
        ({"variance": -1.0}, "variance must be at least 0"),
    ],
)
def test_settings_out_of_range(changes, message):
    with pytest.raises(InputError, match=message):
        replace(SMALL, **changes)


@pytest.mark.slow
def test_the_published_grid():
    """Azulay et al. 2021: the error rises as s -> 1 and as alpha grows."""
    found = sparse_regression(SparseSetting(), Stages())
    errors = np.array([p.error for p in found.grid]).reshape(5, 20)
    assert (np.diff(errors, axis=1) > 0).all()
    assert (np.diff(errors, axis=0) > 0).all()
    assert all(c.distance < 1e-6 for c in found.trained)
    scales = [t.alpha for t in found.thresholds]
    assert scales == sorted(scales)


@pytest.mark.slow
def test_a_cluster_finds_the_same():
    distributed, joblib = pytest.importorskip("distributed"), pytest.importorskip("joblib")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        assert sparse_regression(PREDICTED, Stages(2)) == sparse_regression(PREDICTED, Stages())
