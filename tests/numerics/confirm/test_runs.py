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
from tests.witnesses.run import of_log

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
    log, first, second, before = [w], 0 * w, 0 * w, 0 * w
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
            "rates": eta * G * np.array([[1.0], [0.25]])[:p],
            "heavy ball": eta * G + (0.9 * (log[-2] - w) if k else 0),
            "Nesterov": eta * (1.9 * G - 0.9 * before) + (0.9 * (log[-2] - w) if k else 0),
            "heavy ball and decay": eta * (G + 0.01 * w) + (0.9 * (log[-2] - w) if k else 0),
            "noise": eta * G + 0.001 * rng.normal(size=w.shape),
        }.get(kind, eta * G)
        w, before = (w - step).astype(dtype), G
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


NONE = {
    "momentum": ("momentum", {"momentum": 0.9}),
    "heavy ball": ("momentum", {"momentum": 0.9}),
    "heavy ball and decay": ("momentum and decay", {"momentum": 0.9, "decay": 2e-4}),
    "Nesterov": ("Nesterov", {"momentum": 0.9}),
    "decay": ("decay", {"decay": 2e-4}),
    "signs": ("signs", {"size": 0.002}),
    "rates": ("rates", {"first": 1, "second": 0.25}),
    "adam": (None, {}),
    "noise": (None, {}),
}
MODELS_OF_TWO = ("u*v", "p**2 - m**2", "p**3 - m**3")


@pytest.mark.every(8)
@pytest.mark.parametrize(("name", "kind"), [*itertools.product(MODELS_OF_TWO, NONE)])
def test_what_is_no_run_is_told_for_what_it_is(name, kind):
    r = audited(name, kind, count=50)
    said, values = NONE[kind]
    assert r.is_run is False
    assert r.predicted is None
    assert r.broken.is_law or r.broken.step <= 2
    assert any(b.is_law for b in r.breaks)
    assert (r.beside and r.beside.kind) == said
    for (_, low, high), value in zip(
        r.beside.coefficients if said else (), values.values(), strict=True
    ):
        assert low <= value * (1 + 1e-6)
        assert high >= value * (1 - 1e-6)
        assert high - low < 1e-3 * value
    for s in r.statements:
        assert WITNESSES[s.kind](r, s, random.Random(0)) == (said is not None or s.kind == "run")
    text = " ".join(r.report().split())
    assert "is no step of gradient descent" in text
    assert ("what they are is not told" in text) == (said is None)


def test_rates_that_are_given_make_it_a_run():
    log, X, y = trained("p**2 - m**2", "rates")
    p = Parameterization.parse(["p**2 - m**2"], rates={"m": "1/4"})
    r = audit_run(p, log, X, y)
    assert r.is_run
    assert r.distance < 1e-9
    assert audit_run(p, trained("p**2 - m**2", "all rows", count=50)[0], X, y).is_run is False


def test_batches_and_labels_are_told_apart():
    r = audited("u*v", "batches", count=30)
    assert (r.batches.full, r.batches.given, r.batches.others) == (0, 30, 0)
    assert r.batches.rows == (1, 1)
    assert r.batches.sizes == pytest.approx((0.02, 0.02))
    r = audited("u*v", "labels", count=30)
    assert (r.batches.given, r.batches.others) == (15 + 15, 0), "one row: any label is its own"
    log, X, y = trained("u*v", "all rows", count=30)
    r = audit_run(Parameterization.parse(["u*v"]), log, X, y + np.array([0.1, 0, 0]))
    assert (r.batches.full, r.batches.given, r.batches.others) == (0, 0, 30)
    (drift,) = r.drifts
    assert abs(drift.by_labels) == pytest.approx(drift.change)
    assert r.xi_by_labels == pytest.approx(max(map(abs, r.xi)))
    r = audit_run(Parameterization.parse(["u*v"]), log, X[[0, 1, 2, 2]], y[[0, 1, 2, 2]])
    assert r.batches.given is None


def test_a_run_that_is_not_at_its_end_is_where_its_drifts_say():
    r = audited("u*v", "batches", count=200)
    assert r.misfit > 1e-4
    flow, of_laws, both = r.fits
    assert both < 1e-9 < min(flow, of_laws)


def test_without_dual_coordinates_laws_are_followed():
    rng = np.random.default_rng(1)
    X, w, log = rng.normal(size=(2, 4)), 0.3 + rng.random((3, 4)), []
    y = rng.normal(size=2)
    for _ in range(50):
        log.append(w)
        w = w - 0.02 * w.prod(0) / w * (X.T @ (X @ w.prod(0) - y))
    r = audit_run(Parameterization.parse(["a*b*w"]), np.array(log), X, y)
    assert r.is_run
    assert r.xi is None
    assert all(0 < d.change < 0.1 for d in r.drifts)
    assert "no dual coordinates of this F are known" in r.report()
    for s in r.statements[:2]:
        assert WITNESSES[s.kind](r, s, random.Random(0)) == 1
    r = audit_run(Parameterization.parse(["a*b*w"]), np.array(log) * [[1], [1], [1.001]], X, y)
    assert "the law a**2 - w**2" in " ".join(r.report().split())


def test_false_audits_are_refuted():
    r = audited("u*v", "labels")
    kinds = "adam", "heavy ball", "Nesterov"
    other, *heavy = (audited("u*v", kind, count=50) for kind in kinds)
    steps, drift, limit = r.statements
    moved = replace(r.drifts[0], change=2 * r.drifts[0].change)
    wrong = (("momentum", 0.8, 0.8),)
    false = [
        (replace(other, breaks=()), steps),
        (replace(r, drifts=(moved,)), drift),
        (replace(r, predicted=r.of_laws), limit),
        *(
            (replace(x, beside=replace(x.beside, coefficients=wrong)), x.statements[1])
            for x in heavy
        ),
    ]
    for record, s in false:
        with pytest.raises(Refuted):
            WITNESSES[s.kind](record, s, random.Random(0))


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


MORE = [("adam", True), ("signs", True), ("rates", True), ("noise", True)]
MORE += [("all rows", False), ("batches", False), ("labels", False), ("momentum", False)]


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("name", "kind", "more"), [(n, *x) for n in ("u*v", "p**3 - m**3") for x in MORE]
)
def test_of_every_nth_step_it_is_told_what_holds_to_first_order(name, kind, more):
    """Neither yes nor no; the limit is that of all steps, xi beside the row space of X."""
    log, X, y = trained(name, kind)
    p = Parameterization.parse([name])
    r = audit_run(p, log[::5], X, y, every=5)
    assert (r.is_run, r.breaks, r.beside, r.identity) == (None, (), None, None)
    text = " ".join(r.report().split())
    assert ("that is more" in text) == more
    assert ("that is no more" in text) == (not more)
    if kind in ("all rows", "batches", "labels"):
        whole = audit_run(p, log, X, y)
        assert whole.is_run
        assert np.abs(np.subtract(r.predicted, whole.predicted)).max() < 1e-6
        off = np.subtract(r.xi, whole.xi)
        assert np.abs(off - X.T @ np.linalg.lstsq(X.T, off, rcond=None)[0]).max() < 1e-9
    for s in r.statements[1:]:
        if hasattr(s, "ground"):
            assert WITNESSES[s.kind](r, s, random.Random(0)) == 1


def test_a_log_of_every_nth_step_that_is_not_told_is_asked_about():
    log, X, y = trained("u*v", "batches")
    r = audit_run(Parameterization.parse(["u*v"]), log[::5], X, y)
    assert "give n by --every" in " ".join(r.report().split())


def safetensors(path, arrays):
    """Write arrays as the format has it: 8 bytes with the length of a header, JSON, raw data."""
    header, data = {"__metadata__": {"by": "a test"}}, b""
    kinds = {"float64": "F64", "float32": "F32", "int64": "I64"}
    for name, x in arrays.items():
        x = np.ascontiguousarray(x)
        ends = [len(data), len(data) + x.nbytes]
        header[name] = {"dtype": kinds[x.dtype.name], "shape": x.shape, "data_offsets": ends}
        data += x.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return str(path)


def test_files_of_safetensors_are_read(tmp_path):
    log, X, y = trained("u*v", "batches", count=2000)
    data = safetensors(tmp_path / "xy.safetensors", {"X": X, "y": y})
    parts = {"u": log[::10, 0], "v": log[::10, 1], "every": np.array(10)}
    for dtype, told in (("float64", "10-th"), ("float32", "10-th")):
        given = {n: x.astype(dtype) if n != "every" else x for n, x in parts.items()}
        file = safetensors(tmp_path / f"{dtype}.safetensors", given)
        done = run("run", "u*v", "--data", data, "--log", file)
        assert (done.returncode, told in done.stdout) == (3, True)
    done = run("run", "u*v", "--data", data, "--log", file, "--every", "7", "--json")
    assert json.loads(done.stdout)["every"] == 7
    file = safetensors(tmp_path / "false.safetensors", {**parts, "every": np.array([1.5])})
    done = run("run", "u*v", "--data", data, "--log", file)
    assert (done.returncode, "is no whole number" in done.stderr) == (2, True)
    whole = (tmp_path / "xy.safetensors").read_bytes()
    no_names = len(b"[1]").to_bytes(8, "little") + b"[1]"
    cut = whole[:20], whole[:-8], whole.replace(b"F64", b"U64"), b"", b"\xff" * 40
    for broken in (*cut, no_names):
        (tmp_path / "no.safetensors").write_bytes(broken)
        done = run("run", "u*v", "--data", data, "--log", str(tmp_path / "no.safetensors"))
        assert (done.returncode, "no file of safetensors" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda log, X, y: (log[:, :1], X, y), "give \\(N \\+ 1, 2, 5\\)"),
        (lambda log, X, y: (log, X, y[:2]), "m rows"),
        (lambda log, X, y: (log, X[:0], y[:0]), "m rows"),
        (lambda log, X, y: (log * np.nan, X, y), "finite"),
        (lambda log, X, y: (log * 1e200, X, y), "finite"),
        (lambda log, X, y: (log, X + 1j, y), "real"),
        (lambda log, X, y: ({"u": log[:, 0]}, X, y), "no weights v"),
        (lambda log, X, y: (np.repeat(log[:1], 4, 0), X, y), "larger than its rounding"),
    ],
)
def test_what_does_not_fit_is_refused(change, words):
    with pytest.raises(InputError, match=words):
        audit_run(Parameterization.parse(["u*v"]), *change(*trained("u*v", "batches", count=20)))


def test_weights_outside_of_the_domain_of_f_are_refused():
    log, X, y = trained("u*v", "batches", count=20)
    with pytest.raises(InputError, match="the gradient of F is undefined"):
        audit_run(Parameterization.parse(["log(u)*v"]), -log, X, y)


def test_what_is_beside_few_steps_is_not_said_of_all():
    """Of two steps at once the second order is along w here, and soon below what is seen."""
    assert audited("u*v", "decay", count=1).beside is None
    X, y, w, log = np.array([[-1.5, 0.5]]), np.array([0.7]), np.full(3, 0.77), []
    for k in range(400):
        log += [w] if k % 2 == 0 else []
        r = X @ [w[0] * w[1], w[2] ** 2] - y
        w = w - 0.01 * np.array([*(X[0, 0] * r * w[1::-1]), *(2 * X[0, 1] * r * w[2])])
    a = audit_run(Parameterization.parse(["a*b", "c**2"]), np.array(log), X, y)
    assert (a.is_run, a.beside) == (False, None)


NEURON = np.array([[0.0], [0.5], [0.6], [0.7]])


@pytest.mark.parametrize(
    ("outputs", "w", "X", "y", "told"),
    [
        # where u = v the laws leave x - y open; from a = 0 both signs of a have them
        (["u*v - x*y"], np.full((4, 2), 0.7), [[1.0, 0.5]], [0.4], (None, None)),
        (["a*x", "a*y", "a*z"], NEURON, [[-1.5, 0, -0.5], [0, 0.5, 0]], [1.8, 0.4], (0, None)),
        (["p**3 - m**3"], np.array([[0.0, 0.5], [0.7, 0.6]]), [[1.0, 0.5]], [0.2], (None, None)),
    ],
)
def test_a_start_is_told_by_what_tells_the_weights(outputs, w, X, y, told):
    """Else there is none, nor a limit; the audit has as many laws as are finite."""
    p, log = Parameterization.parse(outputs), [w]
    flows = of_log(p, w)
    for _ in range(3000):
        at = w.T.ravel()
        move = flows.velocity(at, np.transpose(X) @ (y - X @ flows.F(at)))
        w = w + 0.04 * move.reshape(w.T.shape).T
        log.append(w)
    r = audit_run(p, np.array(log), np.array(X), np.array(y))
    assert r.is_run
    distance, start = (None if x is None else 0 for x in (r.distance, r.effective_start))
    assert (distance, start) == told
    assert "nan" not in r.report()
    assert all(WITNESSES[s.kind](r, s, random.Random(0)) for s in r.says("run drift"))


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
