"""Exports: read back by other programs where they are installed, else by a reader of our own."""

import importlib.util
import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from derive import InputError, NumericalError, Parameterization
from derive.catalogue.library import derive_entry
from derive.verdict import Verdict
from tests.cli.commands import run
from tests.published import GIVEN_SIZE, derive_once

TIED = Parameterization.parse(["p**3 - m**3"], start={"p": "alpha", "m": "alpha"})
SHOWN = {
    "neuron": lambda: derive_once(["a*u1", "a*u2"]),
    "roots": lambda: derive_once(["a*b*u1", "a*b*u2"]),
    "curve": lambda: derive_once(TIED),
    "vector": lambda: derive_once("a*u", vectors=["u"]),
    "two blocks": lambda: derive_once(["w**2", "exp(v)"]),
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
    with pytest.raises(NumericalError, match="it is an integral"):
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
        (["u*v*w", "--torch"], 3, "it is an integral"),
        (["a*u", "--jax", "--torch"], 2, "choose one of"),
    ],
)
def test_from_the_command_line(arguments, code, said):
    done = run("regularizer", *arguments)
    assert done.returncode == code
    assert said in done.stdout + done.stderr
    assert ("import" in done.stdout) is (said[:2] != "No" and code < 2)
