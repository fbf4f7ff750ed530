"""Audits of runs that are gradient descent, and of runs that are none."""

import itertools
import json
import random
from dataclasses import replace

import numpy as np
import pytest

from derive import InputError, Parameterization
from numerics import audit_run
from tests.cli.commands import run
from tests.witnesses import WITNESSES, Refuted
from tests.witnesses import run as _witnesses  # noqa: F401

MODELS = {
    "u*v": (lambda w: w[0] * w[1], lambda w: np.stack([w[1], w[0]])),
    "p**2 - m**2": (lambda w: w[0] ** 2 - w[1] ** 2, lambda w: np.stack([2 * w[0], -2 * w[1]])),
    "p**3 - m**3": (
        lambda w: w[0] ** 3 - w[1] ** 3,
        lambda w: np.stack([3 * w[0] ** 2, -3 * w[1] ** 2]),
    ),
    "w**2": (lambda w: w[0] ** 2, lambda w: np.stack([2 * w[0]])),
}


def trained(name, kind, seed=0, count=3000, dtype=float, eta=0.02):
    """Return weights after each step, and the data."""
    rng, (F, dF) = np.random.default_rng(seed), MODELS[name]
    X, p = rng.normal(size=(3, 5)), 1 if name == "w**2" else 2
    y = X @ rng.uniform(0.1, 1, 5) if p == 1 else rng.normal(size=3)
    w = (np.abs(rng.normal(size=(p, 5))) * 0.3 + 0.5).astype(dtype)
    log, first, second = [w], 0 * w, 0 * w
    for k in range(count):
        rows = [k % 3] if kind in ("batches", "labels") else [0, 1, 2]
        r = X @ F(w) - y
        r = r + rng.choice((-0.3, 0.3), 3) if kind == "labels" and k < count / 2 else r
        G = dF(w) * (X[rows].T @ r[rows])
        first = 0.9 * first + 0.1 * G
        second = 0.999 * second + 0.001 * G**2
        scaled = first / (1 - 0.9 ** (k + 1)), second / (1 - 0.999 ** (k + 1))
        step = {
            "momentum": eta * first,
            "adam": 0.005 * scaled[0] / (np.sqrt(scaled[1]) + 1e-8),
            "decay": eta * (G + 0.01 * w),
            "signs": 0.002 * np.sign(G),
        }.get(kind, eta * G)
        w = (w - step).astype(dtype)
        log.append(w)
    return np.array(log), X, y


def audited(name, kind, **given):
    return audit_run(Parameterization.parse([name]), *trained(name, kind, **given))


RUNS = [*itertools.product(MODELS, ("all rows", "batches", "labels"))]


@pytest.mark.every(16)
@pytest.mark.parametrize(("name", "kind"), RUNS)
@pytest.mark.parametrize("seed", [0, 1])
def test_runs_of_gradient_descent_lead_where_it_is_said(name, kind, seed):
    r = audited(name, kind, seed=seed)
    assert r.is_run
    assert r.identity < 1e-9
    assert (r.full > 0) == (kind == "all rows")
    assert r.distance is not None
    if r.misfit < 1e-10:
        assert r.distance < 1e-9
        assert r.flow is None or max(np.abs(np.subtract(r.flow, r.reached))) > 1e-6
    for s in r.statements:
        assert WITNESSES[s.kind](r, s, random.Random(0)) == 1


NONE = [
    *itertools.product(
        ("u*v", "p**2 - m**2", "p**3 - m**3"), ("momentum", "adam", "decay", "signs")
    )
]


@pytest.mark.every(8)
@pytest.mark.parametrize(("name", "kind"), NONE)
def test_momentum_adam_decay_and_signs_are_no_runs(name, kind):
    r = audited(name, kind, count=50)
    assert r.is_run is False
    assert r.predicted is None
    assert ("law" in r.broken.what) or (name, kind) == ("u*v", "momentum")
    (s,) = r.statements
    assert WITNESSES["run"](r, s, random.Random(0)) == 1
    assert "is no step of gradient descent" in " ".join(r.report().split())


def test_false_audits_are_refuted():
    r = audited("u*v", "labels")
    other = audited("u*v", "momentum", count=50)
    steps, drift, limit = r.statements
    false = {
        "run": replace(other, broken=None),
        "run drift": replace(r, laws=tuple((c, 2 * x) for c, x in r.laws)),
        "run limit": replace(r, predicted=r.of_laws),
    }
    for s in (steps, drift, limit):
        with pytest.raises(Refuted):
            WITNESSES[s.kind](false[s.kind], s, random.Random(0))


def test_single_precision_tells_less_and_says_so():
    r, none = (audited("u*v", kind, dtype=np.float32) for kind in ("batches", "adam"))
    assert r.is_run
    assert r.seen > 1e-5
    assert none.is_run is False


def test_where_every_step_is_one_nothing_is_said():
    """Three rows tell three features of one weight each: any step is a gradient."""
    X, rng = np.eye(3), np.random.default_rng(0)
    log = 1 + 0.1 * rng.random((20, 1, 3))
    r = audit_run(Parameterization.parse(["w**2"]), log, X, np.ones(3))
    assert r.is_run is None


def test_several_outputs_with_a_warp():
    """One neuron in the plane by SGD: y = u, g = a."""
    rng = np.random.default_rng(3)
    X, y, w = rng.normal(size=(1, 2)), np.array([0.7]), np.array([1.0, 0.2, -0.1])
    log = [w]
    for _ in range(3000):
        r = X @ (w[0] * w[1:]) - y
        w = w - 0.05 * np.array([r @ X @ w[1:], *(w[0] * (r @ X))])
        log.append(w)
    a = audit_run(Parameterization.parse(["a*u1", "a*u2"]), np.array(log), X, y)
    assert a.is_run
    assert a.distance < 1e-8
    for s in a.statements:
        assert WITNESSES[s.kind](a, s, random.Random(0)) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda log, X, y: (log[:, :1], X, y), "give \\(N \\+ 1, 2, 5\\)"),
        (lambda log, X, y: (log, X, y[:2]), "m rows"),
        (lambda log, X, y: (log * np.nan, X, y), "finite"),
        (lambda log, X, y: ({"u": log[:, 0]}, X, y), "no weights v"),
        (lambda log, X, y: (np.repeat(log[:1], 4, 0), X, y), "larger than its rounding"),
    ],
)
def test_what_does_not_fit_is_refused(change, words):
    with pytest.raises(InputError, match=words):
        audit_run(Parameterization.parse(["u*v"]), *change(*trained("u*v", "batches", count=20)))


def test_the_command_audits_files(tmp_path):
    log, X, y = trained("u*v", "batches", count=2000)
    np.savez(tmp_path / "xy.npz", X=X, y=y)
    np.savez(tmp_path / "run.npz", u=log[:, 0], v=log[:, 1])
    line = ("run", "u*v", "--data", str(tmp_path / "xy.npz"), "--log")
    done = run(*line, str(tmp_path / "run.npz"), "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["is_run"]
    np.savez(tmp_path / "adam.npz", weights=trained("u*v", "adam", count=50)[0])
    done = run(*line, str(tmp_path / "adam.npz"))
    assert (done.returncode, "the law u**2 - v**2" in done.stdout) == (1, True)
    (tmp_path / "no.npz").write_text("1,2")
    done = run(*line, str(tmp_path / "no.npz"))
    assert (done.returncode, "no file of numpy.savez" in done.stderr) == (2, True)
