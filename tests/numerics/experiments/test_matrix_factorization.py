"""Experiments of factorization and of sparse regression: statements, formats and commands."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from derive import InputError, Parameterization
from numerics import flow
from numerics.experiments.matrix_factorization import (
    MatrixData,
    descend,
    draw,
    follow,
    matrix_factorization,
)
from numerics.experiments.settings import MatrixSetting, SparseSetting, Stages
from numerics.experiments.sparse_regression import draw as draw_regression
from numerics.experiments.sparse_regression import predict, sparse_regression, train, weights
from numerics.figures import own as displays
from numerics.figures.display import arranged
from numerics.interpolants.interpolant import least_l1

PUBLISHED = MatrixSetting()
SMALL = MatrixSetting(
    size=14, samples=32, rank=1, scales=(1e-3, 1e-1, 1.0), steps=(0.1, 0.03), sizes=(12, 32)
)


@pytest.fixture(scope="module")
def small():
    return matrix_factorization(SMALL, Stages())


@pytest.mark.slow
def test_small_starts_reconstruct_and_large_ones_do_not(small):
    errors = np.array([d.error for d in small.grid]).reshape(3, 2)
    assert all(d.status == "fits" and d.residual <= SMALL.tolerance for d in small.grid)
    assert (np.diff(errors, axis=0) > 0).all()
    assert errors[0].max() < 0.01
    assert errors[2].min() > 0.5


def test_few_measurements_do_not_determine_the_truth(small):
    few, many = small.sizes
    assert (few.samples, many.samples) == (12, 32)
    assert few.least_nuclear.error > 0.1 > 0.01 > many.least_nuclear.error
    assert many.descent.error is not None
    assert many.descent.error < 0.01


def test_a_step_that_is_too_large_diverges_and_one_too_small_is_late():
    data = draw(SMALL, 32)
    *_, count, status = descend(data, 1.0, 3.0, 1e-3, 1000)
    assert status == "diverged"
    assert count < 100
    assert descend(data, 1e-3, 1e-6, 1e-3, 10)[2:] == (10, "iteration limit")
    found = matrix_factorization(
        replace(SMALL, scales=(1.0,), steps=(3.0, 1e-6), sizes=(), max_iterations=20), Stages()
    )
    assert [d.status for d in found.grid] == ["diverged", "iteration limit"]
    assert found.grid[0].error is None
    text = found.to_text()
    assert "diverges" in text
    assert "Not at the tolerance" in text
    assert json.loads(found.to_json())["grid"][0]["error"] is None


def test_descent_becomes_the_flow_as_its_step_falls():
    """Against the flow at high precision, whose time is that of |r|^2/2: half the step, half the
    distance."""
    matrices = np.array([[[1.0, 0.0], [0.0, -0.5]], [[0.0, 1.0], [1.0, 0.5]]])
    y = np.array([1.0, 0.5])
    data = MatrixData(matrices, y, np.eye(2), matrices, y)
    p = Parameterization.parse(["W*T(W)"], arrays={"W": (2, 2)})
    rows = [[A[0, 0], 2 * A[0, 1], A[1, 1]] for A in matrices]
    start = {"W11": "1/2", "W12": 0, "W21": 0, "W22": "1/2"}
    # U <- U - (step/m) X*(r) U for 1/step turns is a time of 1/(2 m).
    a, b, c = map(float, flow(p, rows, y, start, 20, time="1/4").limit)
    exact = np.array([[a, b], [b, c]])
    gaps = [
        np.abs(descend(data, 0.5, 1 / count, 1e-9, count)[0] - exact).max() for count in (200, 400)
    ]
    assert gaps[0] / gaps[1] == pytest.approx(2, abs=0.02)


def test_draws_follow_the_seed_and_keep_norm_and_rank():
    first, again, other = draw(SMALL, 20), draw(SMALL, 20), draw(replace(SMALL, seed=1), 20)
    assert np.array_equal(first.matrices, again.matrices)
    assert not np.array_equal(first.matrices, other.matrices)
    assert not np.array_equal(first.matrices, first.test_matrices)
    assert np.linalg.norm(first.truth) == pytest.approx(1)
    assert np.linalg.matrix_rank(first.truth) == 1
    assert first.measured(first.truth).error == 0
    assert first.measured(first.truth).test_error == pytest.approx(SMALL.noise, rel=0.5)


def test_formats_agree(small):
    record = json.loads(small.to_json())
    assert (record["experiment"], record["version"]) == ("matrix-factorization", 1)
    rows = list(csv.DictReader(io.StringIO(small.to_csv())))
    descents = [r for r in rows if r["kind"] == "descent"]
    assert [float(r["error"]) for r in descents[:6]] == [d["error"] for d in record["grid"]]
    assert len(descents) == 6 + 2
    text = small.to_text()
    assert f"{small.grid[0].error:.4f}" in text
    assert f"{small.least_nuclear.error:.4f}" in text


def test_progress_counts_the_descents():
    seen = []
    few = replace(SMALL, scales=(1.0,), sizes=(12,))
    matrix_factorization(few, Stages(1, seen.append))
    assert seen[:4] == ["baselines", "descents 0/2", "descents 1/2", "descents 2/2"]
    assert seen[-1] == "sizes 1/1"


def test_displays_show_what_was_found(small):
    errors, norms = displays.matrix_factorization(small)
    assert errors.series[0].y.tolist() == [d.error for d in small.grid if d.step == 0.1]
    assert norms.series[1].y.tolist() == [d.nuclear_norm for d in small.grid if d.step == 0.03]
    assert norms.series[2].y.tolist() == [small.least_nuclear.nuclear_norm] * 2
    lost = replace(small, grid=(replace(small.grid[0], error=None), *small.grid[1:]))
    assert "1 of 3 diverged" in displays.matrix_factorization(lost)[0].series[0].label
    assert "diverged" not in errors.series[0].label
    pytest.importorskip("matplotlib")
    arranged([errors, norms], "")
    assert len(errors.ax_.lines) == 2 + 2


def test_the_excess_over_the_least_norm_is_told_of_every_start(small):
    """It is least in between: neither steps nor tolerance is at fault, as smaller ones agree."""
    scales = (1e-1, 1e-3, 1e-6)
    few = MatrixSetting(
        20, 60, scales=scales, steps=(0.1,), sizes=(), model="U*T(V)", truth="general"
    )
    found = matrix_factorization(few, Stages())
    excess = [d.nuclear_norm / found.least_nuclear.nuclear_norm - 1 for d in found.grid]
    text = " ".join(found.to_text().split())
    assert excess[1] < excess[2] < excess[0]
    for scale, x in zip(scales, excess, strict=True):
        assert f"{x:.1%} from {scale:g}" in text
    assert "it is least from 0.001, not from the smallest start" in text
    assert max(map(len, found.to_text().splitlines())) <= 80
    beta, *_ = follow(draw(few, 60), scales[2], 1e-5, 20_000)
    assert np.linalg.norm(beta, "nuc") == pytest.approx(found.grid[2].nuclear_norm, rel=5e-3)
    assert "not from the smallest" not in small.to_text()


@pytest.mark.slow
def test_two_factors_need_more_measurements_or_smaller_starts():
    wide = replace(SMALL, model="U*T(V)", truth="general", scales=(1e-9, 1e-3), steps=(0.1,))
    scarce, ample = (
        matrix_factorization(replace(wide, samples=m, sizes=()), Stages()) for m in (32, 80)
    )
    assert scarce.least_nuclear.nuclear_norm < 0.98 * scarce.truth_nuclear_norm
    assert "beta* is not the interpolant of least nuclear norm" in scarce.to_text()
    assert ample.grid[0].error < 0.01 < scarce.grid[1].error
    assert "is not" not in ample.to_text()


def test_two_factors_from_one_start_are_one_where_measurements_are_symmetric():
    data = draw(SMALL, 32)
    beta, *_ = descend(data, 0.1, 0.03, 1e-3, 50)
    assert np.array_equal(beta, beta.T)
    tilted = replace(data, matrices=data.matrices + np.triu(np.ones((14, 14)), 1))
    other, *_ = descend(tilted, 0.1, 0.03, 1e-3, 50)
    assert not np.allclose(other, other.T)


@pytest.mark.parametrize("measurements", ["completion", "multitask"])
@pytest.mark.parametrize("model", ["U*T(U)", "U*T(V)"])
def test_measurements_reproduce_on_the_mean(measurements, model):
    every = {"U*T(U)": 105, "U*T(V)": 196}[model] if measurements == "completion" else 105
    setting = replace(SMALL, model=model, measurements=measurements, noise=0.0)
    data = draw(setting, every)
    mean = np.tensordot(data.y, data.matrices, 1) / len(data.y)
    if measurements == "completion":  # each entry once; on U U^T off the diagonal twice
        assert np.array_equal(mean != 0, np.ones((14, 14), dtype=bool))
        ratio = mean / data.truth
        assert ratio[0, 1] == pytest.approx(ratio[2, 5])
    assert np.sum(mean * data.truth) > 0.5


@pytest.mark.slow
def test_the_published_experiment():
    """Gunasekar et al. 2017: n = 50, m = 300, rank 2; smaller steps and starts reconstruct better.

    From the largest start, which fits far from the truth, the order of the steps is not theirs.
    """
    found = matrix_factorization(replace(MatrixSetting(), sizes=()), Stages())
    errors = np.array([d.error or np.inf for d in found.grid]).reshape(
        len(PUBLISHED.scales), len(PUBLISHED.steps)
    )
    assert (np.diff(errors, axis=0) > 0).all()
    assert (np.diff(errors[:-1], axis=1) < 0).all()
    assert errors[0].max() < 3e-3
    assert errors[-1].min() > 1
    least = found.least_nuclear.nuclear_norm
    assert all(abs(d.nuclear_norm / least - 1) < 2e-3 for d in found.grid[: len(PUBLISHED.steps)])


def test_smaller_steps_come_to_the_flow():
    """In proportion to the step; the flow is told where its iterations are over, too."""
    data = draw(SMALL, 32)
    flow, residual, _, status = follow(data, 0.1, 1e-6, 10_000)
    assert (residual < 1e-6, status) == (True, "fits")
    far, near = (
        np.linalg.norm(descend(data, 0.1, step, 1e-6, 10**6)[0] - flow) for step in (0.04, 0.01)
    )
    assert 3 < far / near < 5
    assert follow(data, 0.1, 1e-6, 5)[2:] == (5, "iteration limit")
    text = matrix_factorization(
        replace(SMALL, scales=(0.1,), steps=(0.1, 0.0), sizes=()), Stages()
    ).to_text()
    assert "the flow" in text
    assert "Seen with the flow" in text


SPARSE = SparseSetting(
    dimension=120,
    samples=30,
    sparsity=2,
    alphas=(1e-5, 1e-3, 1e-1),
    shapes=(0.0, 0.9),
    trained=((1e-3, 0.0), (1e-2, 0.9)),
    sizes=(8, 40),
)
PREDICTED = replace(SPARSE, trained=())  # training rounds with the number of threads


@pytest.fixture(scope="module")
def sparse():
    return sparse_regression(SPARSE, Stages())


def test_error_rises_with_scale_and_shape(sparse):
    errors = np.array([p.error for p in sparse.grid]).reshape(2, 3)
    assert (np.diff(errors, axis=1) > 0).all()
    assert (np.diff(errors, axis=0) > 0).all()


def test_limits_are_least_norms(sparse):
    assert sparse.l1_error < min(p.error for p in sparse.grid)
    assert max(p.error for p in sparse.grid) == pytest.approx(sparse.l2_error, rel=0.05)
    data = draw_regression(SPARSE, 30)
    lengths = np.array([p.l1_norm for p in sparse.grid])
    assert lengths.min() > np.abs(least_l1(data.X, data.y)).sum()


def test_training_ends_at_the_prediction(sparse):
    assert len(sparse.trained) == 2
    for comparison in sparse.trained:
        assert comparison.distance < 1e-6


def test_training_from_another_start_does_not():
    """Control: a shape other than that of the prediction leads elsewhere."""
    data = draw_regression(SPARSE, 30)
    u, v = weights(1e-3, 0.5)
    model = Parameterization.parse(["u*v - x*z"])
    end = train(model, data.X, data.y, {"u": u, "v": v, "x": u, "z": v})
    predicted = predict(data, 1e-3, 0.0).value
    assert np.linalg.norm(end.value - predicted) > 1e-2 * np.linalg.norm(predicted)


def test_thresholds_separate_the_scales(sparse):
    few, many = sparse.thresholds
    assert few.alpha is None  # 8 samples do not suffice even for least l1 norm
    assert few.l1_error > SPARSE.target
    assert many.alpha is not None
    data = draw_regression(SPARSE, 40)
    assert data.error(predict(data, many.alpha / 1.2, 0.0).value) < SPARSE.target
    assert data.error(predict(data, many.alpha * 1.2, 0.0).value) > SPARSE.target


def test_data_follow_the_seed():
    first, again = draw_regression(SPARSE, 30), draw_regression(SPARSE, 30)
    other = draw_regression(replace(SPARSE, seed=1), 30)
    assert np.array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    assert np.linalg.norm(first.truth) == pytest.approx(1)


def test_formats_of_regression_agree(sparse):
    record = json.loads(sparse.to_json())
    assert (record["experiment"], record["version"]) == ("sparse-regression", 1)
    rows = list(csv.DictReader(io.StringIO(sparse.to_csv())))
    predicted = [r for r in rows if r["kind"] == "predicted"]
    assert [float(r["error"]) for r in predicted] == [p["error"] for p in record["grid"]]
    assert next(r["alpha"] for r in rows if r["kind"] == "largest alpha") == ""
    text = sparse.to_text()
    assert f"{sparse.grid[0].error:.4f}" in text
    assert "m = 8, s = 0: none" in text


def test_jobs_need_joblib_or_agree(sparse):
    few = replace(SPARSE, alphas=SPARSE.alphas[:1], trained=(), sizes=())
    try:
        import joblib
    except ImportError:
        with pytest.raises(InputError, match="regderive\\[parallel\\]"):
            sparse_regression(few, Stages(2))
        return
    with joblib.parallel_config("threading"):
        found = sparse_regression(few, Stages(2))
    assert [p.error for p in found.grid] == [p.error for p in sparse.grid if p.alpha == 1e-5]


def test_the_display_shows_what_was_found(sparse):
    (shown,) = displays.sparse_regression(sparse)
    first, second, trained, *least = shown.series
    found = [*first.y, *second.y]
    assert found == [p.error for p in sparse.grid]
    assert [*zip(trained.x, trained.y, strict=True)] == [(c.alpha, c.error) for c in sparse.trained]
    assert [one.y[0] for one in least] == [sparse.l1_error, sparse.l2_error]
    empty = pytest.importorskip("matplotlib.figure").Figure
    assert len(shown.plot(empty().subplots()).ax_.lines) == 2 + 1 + 2


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


OUT_OF_RANGE = {
    SMALL: [
        ({"truth": "general"}, "U\\*T\\(U\\) is positive semidefinite"),
        ({"model": "W"}, "the model must be one of U\\*T\\(U\\), U\\*T\\(V\\)"),
        ({"model": "U*T(V)", "samples": 200}, "n\\^2 = 196"),
        ({"samples": 106}, "at most n \\(n \\+ 1\\)/2 = 105"),
        ({"sizes": (500,)}, "samples and sizes must be at most"),
        ({"sizes": (0,)}, "sizes must be at least 1"),
        ({"size": 0}, "size must be at least 1"),
        ({"rank": 15}, "rank must be at most the size"),
        ({"scales": ()}, "at least one scale"),
        ({"scales": (0.0,)}, "scales must be above 0"),
        ({"steps": (float("nan"),)}, "steps must be at least 0"),
        ({"steps": (float("inf"),)}, "steps must be below inf"),
        ({"noise": -1.0}, "noise must be at least 0"),
        ({"noise": float("nan")}, "noise must be at least 0"),
        ({"tolerance": 1.0}, "tolerance must be below 1"),
        ({"max_iterations": 0}, "at least 1"),
    ],
    SPARSE: [
        ({"samples": 121}, "at most the dimension"),
        ({"sizes": (500,)}, "at most the dimension"),
        ({"samples": 0}, "samples must be at least 1"),
        ({"alphas": (0.0,)}, "alphas must be above 0"),
        ({"alphas": (float("nan"),)}, "alphas must be above 0"),
        ({"shapes": (1.0,)}, "shapes must be below 1"),
        ({"shapes": (-1.0,)}, "shapes must be above -1"),
        ({"variance": -1.0}, "variance must be at least 0"),
    ],
}


@pytest.mark.parametrize(("setting", "changes", "message"), [
    (setting, *row) for setting, rows in OUT_OF_RANGE.items() for row in rows
])  # fmt: skip
def test_settings_out_of_range(setting, changes, message):
    with pytest.raises(InputError, match=message):
        replace(setting, **changes)
