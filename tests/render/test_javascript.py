"""Modules of JavaScript, run by node: F, J, K, Q and its derivatives are those of the package."""

import json
import shutil
import subprocess

import mpmath
import numpy as np
import pytest
import sympy

from derive import NumericalError, derive
from derive.catalogue.library import derive_entry
from derive.language import to_sympy
from derive.render.exports.script import FORMS, of_weights
from derive.verdict import Verdict
from tests.cli.commands import run
from tests.published import GIVEN_SIZE, derive_once

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")

A = {"alpha": 0.5}
TIED = {"start": {"p": "alpha", "m": "alpha"}}
NEURON = ["a*u1", "a*u2"]
U = {"u1_0": 0.5, "u2_0": 1}
DEEP = {"a_0": 1, "b_0": 0.75, "u1_0": 0.25, "u2_0": 0.5}
WORDS = {"start": {"Math": "let", "in_": "F"}}
MODELS = {
    "tied pair": (["p**2-m**2"], TIED, A),
    "tiny start": (["p**2-m**2"], TIED, {"alpha": 1e-3}),
    "neuron": (NEURON, {}, U | {"a_0": 2}),
    "cancelling": (NEURON, {}, U | {"a_0": 1e-3}),
    "deep": (["a*b*u1", "a*b*u2"], {}, DEEP),
    "cubes": (["p**3-m**3"], TIED, A),
    "degree": (["p**D-m**D"], TIED, A | {"D": 4}),
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
