"""Exports: read back by other programs where they are installed, else by a reader of our own."""

import importlib.util
import json
import multiprocessing
import re
import shutil
import subprocess
from concurrent.futures import ProcessPoolExecutor

import mpmath
import numpy as np
import pytest
import sympy

from derive import InputError, NumericalError, Parameterization, derive
from derive.catalogue.library import derive_entry
from derive.language import to_sympy
from derive.render.exports.languages import JAVASCRIPT
from derive.render.exports.script import FORMS, of_weights
from derive.verdict import Verdict
from numerics.evaluate.program import BOUNDED
from tests.cli.commands import run
from tests.published import GIVEN_SIZE, derive_once

TIED = Parameterization.parse(["p**3 - m**3"], start={"p": "alpha", "m": "alpha"})
SHOWN = {
    "neuron": lambda: derive_once(["a*u1", "a*u2"]),
    "roots": lambda: derive_once(["a*b*u1", "a*b*u2"]),
    "curve": lambda: derive_once(TIED),
    "vector": lambda: derive_once("a*u", vectors=["u"]),
    "two blocks": lambda: derive_once(["w**2", "exp(v)"]),
    "numbers": lambda: derive_once("u*v", start={"u": "sin(1)", "v": "sqrt(pi)"}),
    "names": lambda: derive_once("jnp*in_", start={"jnp": "torch", "in_": "in_0"}),
}
START = {"a_0": 1.5, "b_0": 0.75, "u1_0": 0.25, "u2_0": -0.5, "alpha": 0.5, "w_0": 0.75}
START |= {"v_0": 0.25, "torch": 0.5, "in_0": 1.25, "u_0": [0.25, -0.5, 1.0]}


def values(language, tasks):
    """Return Q, grad Q and the slope of Q by the library, in a process of its own."""
    if language == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
    else:
        import torch
    found = {}
    for name, (text, points, start) in tasks.items():
        space = {}
        exec(compile(text, name, "exec"), space)
        Q, gradient = space["Q"], space["gradient"]
        if language == "jax":
            total = jax.jit(lambda b, Q=Q, start=start: Q(b, *start).sum())
            found[name] = (
                Q(points, *start),
                jax.jit(gradient)(points, *start),
                jax.grad(total)(points),
            )
        else:
            beta = torch.tensor(points, requires_grad=True)
            value = Q(beta, *start)
            slope = torch.autograd.grad(value.sum(), beta)
            found[name] = value.detach(), gradient(beta, *start).detach(), *slope
    return {name: [np.asarray(x, dtype=float).ravel() for x in got] for name, got in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("language", ["jax", "torch"])
def test_libraries_differentiate_q(language):
    if importlib.util.find_spec(language) is None:
        pytest.skip(f"{language} is not installed")
    tasks, wanted = {}, {}
    for name, make in SHOWN.items():
        d = make()
        names = re.search(r"def Q\(beta(.*)\)", text := d.to_code(language))[1].split(", ")[1:]
        start = {
            n if n in START else n.rstrip("_"): START.get(n, START.get(n.rstrip("_")))
            for n in names
        }
        q = d.potential.numeric(start)
        steps = np.array([[0.3], [-0.2], [0.01]]) * np.array([1.0, -0.5, 0.75])[: q.d]
        points = np.array(q.beta0) + steps
        tasks[name] = text, points, [np.array(x) for x in start.values()]
        wanted[name] = np.diff(q(points).ravel()), q.gradient(points).ravel()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(values, language, tasks).result()
    for name, (change, gradient) in wanted.items():
        value, *slopes = found[name]
        assert np.isfinite(gradient).all()
        assert np.diff(value) == pytest.approx(change, rel=1e-9, abs=1e-11), name
        for slope in slopes:
            assert slope == pytest.approx(gradient, rel=1e-9, abs=1e-11), name


BALANCED = {
    "numbers": (["a*u1", "a*u2"], {"start": {"a": "1", "u1": "3/5", "u2": "4/5"}}, []),
    "symbols": (["a*u1", "a*u2"], {}, [1.0, 0.6, 0.8]),
    "deep": (
        ["a*b*u1", "a*b*u2"],
        {"start": dict.fromkeys(("a", "b", "u2"), "3/5") | {"u1": "0"}},
        [],
    ),
    "vector": (["a*u"], {"vectors": ["u"]}, [1.0, [0.6, 0.8]]),
}


def at_zero(tasks):
    """Return grad Q at 0, the slope of Q there, and what betas of other lengths are told."""
    import jax

    found = {}
    for name, (text, start) in tasks.items():
        space, said = {}, []
        exec(compile(text, name, "exec"), space)
        Q, zero = space["Q"], np.zeros(2)
        for d in (1, 3):
            try:
                Q(np.zeros(d), *start)
            except ValueError as error:
                said.append(str(error))
        slope = jax.grad(lambda b, Q=Q, start=start: Q(b, *start).sum())(zero)
        gradient = space["gradient"](zero, *start)
        found[name] = np.asarray(gradient).tolist(), np.asarray(slope).tolist(), said
    return found


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
def test_q_of_a_balanced_start_is_differentiable_at_0():
    """Where A = |beta|, grad Q is z at beta = 0, and not 0/0."""
    tasks = {
        name: (derive_once(outputs, **given).to_code("jax"), start)
        for name, (outputs, given, start) in BALANCED.items()
    }
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(at_zero, tasks).result()
    for name, (gradient, slope, said) in found.items():
        z = {"deep": [0, -0.6]}.get(name, [-0.6, -0.8])
        assert gradient == pytest.approx(z, abs=1e-6)
        assert slope == pytest.approx(z, abs=1e-6)
        assert len(said) == 2
        assert all("last number should be 2" in words for words in said)


STARTS = [
    (["p**2 - m**2"], {"start": {"p": "alpha", "m": "alpha"}}, {"alpha": "1/10"}),
    (["a*u1", "a*u2"], {}, {"a_0": 1, "u1_0": 0.5, "u2_0": 0}),
    (["a*u"], {"vectors": ["u"]}, {"a_0": 1, "u_0": ["1/2", 0]}),
]


def of_jax(texts):
    """Return grad Q by automatic differentiation, and differences of Q."""
    import jax

    jax.config.update("jax_enable_x64", True)
    found, (b, b0) = [], np.array([[1.0, 2.0], [0.3, -0.2]])
    for outputs, options, start in texts:
        Q = derive_once(outputs, **options).potential.to_jax(start)
        whole = lambda beta, Q=Q: Q(beta).sum()  # noqa: E731
        found.append((np.asarray(jax.grad(whole)(b)).tolist(), float(whole(b) - whole(b0))))
    return found


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
def test_q_is_a_function_of_jax():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(of_jax, STARTS).result()
    for (outputs, options, start), (slope, change) in zip(STARTS, found, strict=True):
        q = derive_once(outputs, **options).potential.numeric(start)
        assert slope == pytest.approx(q.gradient([1.0, 2.0]).tolist(), rel=1e-12)
        assert change == pytest.approx(np.sum(q([1.0, 2.0])) - np.sum(q([0.3, -0.2])), rel=1e-12)


def test_a_function_of_q_is_refused_as_numbers_are():
    neuron = derive_once(["a*u1", "a*u2"]).potential
    with pytest.raises(InputError, match="gives no value for a_0"):
        neuron.to_jax()
    with pytest.raises(InputError, match="which fails at a_0 = -1"):
        neuron.to_torch({"a_0": -1, "u1_0": 0, "u2_0": 0})
    with pytest.raises(NumericalError, match="an integral is not known"):
        derive_once("w + w**5").potential.to_torch({"w_0": 1})
    W = Parameterization.parse(["W*T(W)"], arrays={"W": (2, 2)})
    with pytest.raises(NumericalError, match="there is no Q"):
        derive_once(W).potential.to_jax()


@pytest.mark.slow
@pytest.mark.parametrize("entry", GIVEN_SIZE, ids=lambda entry: entry.id)
def test_every_model_is_exported(entry):
    d = derive_entry(entry)
    for language in ("jax", "torch"):
        if entry.id == "weight-normalization":
            with pytest.raises(NumericalError, match="erfi is not known there"):
                d.to_code(language)
            continue
        if d.verdict is not Verdict.PROVED:
            with pytest.raises(NumericalError, match="no module is written"):
                d.to_code(language)
            continue
        text = d.to_code(language)
        compile(text, entry.id, "exec")
        assert "\ndef Q(" in text
        assert max(map(len, text.splitlines())) <= 130


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["a*u", "--jax"], 0, "def gradient(beta, a_0, u_0):"),
        (["a*u", "--vector", "u", "--jax"], 0, "(1/(jnp.sqrt(_off_zero(A))))[..., None] * beta"),
        (["W*T(W)", "--matrix", "W:2x2", "--torch"], 1, "No: no Q for all data"),
        (["W*T(W)", "--matrix", "W:2x2", "--jax"], 1, "No: no Q for all data"),
        (["u*v*w", "--torch"], 3, "an integral is not known"),
        (["v/sum(v)", "--each", "v", "--rocq"], 3, "a file is written of phi(|v|) v alone"),
        (["a*u", "--jax", "--torch"], 2, "choose one of"),
    ],
)
def test_from_the_command_line(arguments, code, said):
    done = run("regularizer", *arguments)
    assert done.returncode == code
    assert said in done.stdout + done.stderr
    assert ("import" in done.stdout) is (said[:2] != "No" and code < 2)


NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")

A = {"alpha": 0.5}
OF_ALPHA = {"start": {"p": "alpha", "m": "alpha"}}
NEURON = ["a*u1", "a*u2"]
U = {"u1_0": 0.5, "u2_0": 1}
DEEP = {"a_0": 1, "b_0": 0.75, "u1_0": 0.25, "u2_0": 0.5}
WORDS = {"start": {"Math": "let", "in_": "F"}}
MODELS = {
    "tied pair": (["p**2-m**2"], OF_ALPHA, A),
    "tiny start": (["p**2-m**2"], OF_ALPHA, {"alpha": 1e-3}),
    "neuron": (NEURON, {}, U | {"a_0": 2}),
    "cancelling": (NEURON, {}, U | {"a_0": 1e-3}),
    "deep": (["a*b*u1", "a*b*u2"], {}, DEEP),
    "cubes": (["p**3-m**3"], OF_ALPHA, A),
    "degree": (["p**D-m**D"], OF_ALPHA, A | {"D": 4}),
    "sum of cubes": (["p**3+q**3"], {}, {"p_0": 1, "q_0": 2}),
    "square": (["w**2"], {}, {"w_0": 0.75}),
    "product": (["u*v"], {}, {"u_0": 1, "v_0": -0.25}),
    "exponential": (["exp(v)"], {}, {"v_0": 0.25}),
    "sinh": (["sinh(w)"], {}, {"w_0": 0.5}),
    "two blocks": (["w**2", "exp(v)"], {}, {"w_0": 0.75, "v_0": 0.25}),
    "words": (["Math*in_"], WORDS, {"let": 0.5, "F": 1.25}),
    "rates": (NEURON, {"rates": {"a": "eta"}}, U | {"a_0": 2, "eta": 0.5}),
    "mirror": (["p - m"], {"mirror": "p*log(p) + m*log(m)"}, {"p_0": 0.5, "m_0": 0.75}),
}
PROGRAM = """
import * as q from "./module.mjs";
import {readFileSync} from "node:fs";
const {c, betas, weights} = JSON.parse(readFileSync("given.json"));
const text = JSON.stringify({
  start: q.start(c),
  beta: betas.map((b) => [q.Q(b, c), q.gradient(b, c), q.hessian(b, c)]),
  weights: weights.map((w) => [q.F(w, c), q.J(w, c), q.K(w, c)]),
  conditions: q.conditions(c),
});
console.log(text);
"""


def answers(folder, text, **given):
    """Return what the functions of a module give at points."""
    (folder / "module.mjs").write_text(text)
    (folder / "given.json").write_text(json.dumps(given))
    (folder / "program.mjs").write_text(PROGRAM)
    done = subprocess.run([NODE, "program.mjs"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def points(q):
    """Return beta next to the start and far from it, inside of the domain."""
    rng = np.random.default_rng(1)
    sizes = 10.0 ** np.arange(-6, 7)
    steps = rng.uniform(0.5, 1, (len(sizes), q.d)) * sizes[:, None] * rng.choice([-1, 1], (1, q.d))
    several = np.concatenate(
        [np.array(q.beta0) + steps, np.array(q.beta0) - steps, steps, abs(steps)]
    )
    value = q(several)
    return several[np.isfinite(value if value.ndim == 1 else value.sum(-1))]


@pytest.mark.every(12)
@needs_node
@pytest.mark.parametrize("name", MODELS)
def test_a_module_gives_what_the_package_gives(tmp_path, name):
    outputs, options, values = MODELS[name]
    d = derive_once(outputs, **options)
    q = d.potential.numeric(values)
    betas = points(q)
    assert len(betas) > 12
    p = d.parameterization
    weights = np.random.default_rng(2).uniform(0.25, 1, (5, p.p))
    found = answers(
        tmp_path, d.to_code("js"), c=values, betas=betas.tolist(), weights=weights.tolist()
    )
    assert all(holds for _, holds in found["conditions"])
    value, gradient, hessian = zip(*found["beta"], strict=True)
    at_start = answers(tmp_path, d.to_code("js"), c=values, betas=[q.beta0], weights=[])
    value = np.array(value) - at_start["beta"][0][0]
    scale = np.abs(q.gradient(betas) * betas).sum(-1) + np.abs(at_start["beta"][0][0])
    assert np.all(np.abs(value - q(betas)) <= 1e-9 * scale + 1e-12)
    near = np.abs(q.gradient(betas)) + 1e-4  # next to the start grad Q cancels to 0
    assert np.all(np.abs(np.array(gradient) - q.gradient(betas)) <= 1e-9 * near)
    step = np.array(betas[0]) * 1e-6
    slope = (q.gradient(betas[0] + step) - q.gradient(betas[0] - step)) / 2
    assert np.array(hessian[0]) @ step == pytest.approx(slope, rel=1e-4, abs=1e-12)
    symbols = [*map(sympy.Symbol, p.weights)]
    plain = [to_sympy(t) for t in p.trees]
    F = [f.xreplace({s: sympy.Symbol(s.name) for s in f.free_symbols}).subs(values) for f in plain]
    J = [[f.diff(s) for s in symbols] for f in F]
    for w, (beta, rows, K) in zip(weights, found["weights"], strict=True):
        at = dict(zip(symbols, w, strict=True))
        wanted = np.array([[float(x.subs(at)) for x in row] for row in J])
        assert beta == pytest.approx([float(f.subs(at)) for f in F])
        assert np.array(rows) == pytest.approx(wanted)
        if not p.geometry.trees:
            assert np.array(K) == pytest.approx(wanted @ wanted.T)
    if name == "rates":
        assert np.array(K) == pytest.approx(wanted @ np.diag([0.5, 1, 1]) @ wanted.T)
    if name == "mirror":
        assert np.array(K) == pytest.approx(wanted @ np.diag(w) @ wanted.T)


@needs_node
def test_roots_are_those_of_the_polynomial(tmp_path):
    rng = np.random.default_rng(3)
    rows = [sorted(rng.uniform(-3, 3, n), reverse=True) for n in (1, 2, 3, 4, 5) for _ in range(9)]
    rows += [[1e8, 1e-8], [1.0, -1e-12], [5.0, 5.0, -1.0]]
    coefficients = [np.poly(row)[::-1].tolist() for row in rows]
    program = f"{FORMS}\nconsole.log(JSON.stringify({json.dumps(coefficients)}.map(_roots)))"
    done = subprocess.run([NODE, "-e", program], capture_output=True, text=True, check=True)
    for row, roots in zip(rows, json.loads(done.stdout), strict=True):
        assert roots == pytest.approx(row, rel=1e-6)
        if len(row) == 2:
            assert roots == pytest.approx(row, rel=1e-14)


def test_what_cancels_is_written_otherwise_in_every_language():
    x, a = sympy.symbols("x a", real=True)
    shown = {
        sympy.exp(x) - 1: "Math.expm1(x)",
        a + 2 * (1 - sympy.exp(x)): "a - 2*Math.expm1(x)",
        sympy.cot(x): "Math.tan(-x + Math.PI/2)",
        sympy.sign(x * a): "Math.abs(a*x)/(a*x)",
    }
    assert [JAVASCRIPT.shown(f) for f in shown] == [*shown.values()]
    words = {f: text.replace("Math.PI", "(4 * atan(c.of(1)))") for f, text in shown.items()}
    names = {"x": "x", "a": "a"}.__getitem__
    written = [BOUNDED.shown(f, names) for f in shown]
    assert written == [text.replace("Math.", "") for text in words.values()]


@needs_node
def test_the_imaginary_error_function_is_that_of_mpmath():
    points = [0, 1e-300, 0.3, -1, 3, -7.5, 26]
    program = f"{FORMS}\nconsole.log(JSON.stringify([...{points}, 27, NaN].map(_erfi)))"
    done = subprocess.run([NODE, "-e", program], capture_output=True, text=True, check=True)
    *found, infinite, none = json.loads(done.stdout)
    assert found == pytest.approx([float(mpmath.erfi(x)) for x in points], rel=1e-14)
    assert (infinite, none) == (None, None)


@needs_node
def test_beyond_walls_and_at_other_starts_there_is_no_number(tmp_path):
    text = derive_once(["w**2"]).to_code("js")
    found = answers(tmp_path, text, c={"w_0": 0}, betas=[[-1.0]], weights=[])
    assert found["beta"][0] == [None, [None], [[None]]]
    assert found["conditions"] == [["w_0 != 0", False]]


@needs_node
def test_f_of_what_has_no_q(tmp_path):
    d = derive(["a**2 + b**2", "a*c + b*d", "c**2 + d**2"])
    assert d.verdict is Verdict.REFUTED
    text = "\n".join([*of_weights(d), "export const conditions = () => [];"])
    found = answers(tmp_path, text, c={}, betas=[], weights=[[1, 2, 3, 4]])
    assert found["weights"][0][0] == [5, 11, 25]


def test_the_command_prints_it_or_says_why_not():
    done = run("regularizer", "a*u1", "a*u2", "--js")
    assert done.returncode == 0
    assert "export function gradient(beta, c)" in done.stdout
    with pytest.raises(NumericalError, match="--vector u:2"):
        derive_once(["a*u"], vectors=["u"]).to_code("js")


@needs_node
@pytest.mark.slow
def test_all_models_that_have_a_formula_are_read_by_node(tmp_path):
    count = 0
    for entry in GIVEN_SIZE:
        try:
            (tmp_path / "m.mjs").write_text(derive_entry(entry).to_code("js"))
        except NumericalError:
            continue
        subprocess.run([NODE, "--check", "m.mjs"], cwd=tmp_path, check=True)
        count += 1
    assert count > 20
