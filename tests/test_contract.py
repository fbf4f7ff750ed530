"""The names and signatures that other programs rely on."""

import importlib
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from derive import Parameterization, Verdict, catalogue, derive
from derive.catalogue.library import derive_entry
from numerics import crosscheck, flow, interpolate
from tests.cli.commands import printed_by

X, Y = [[1, 2]], [1]


@pytest.fixture(scope="module")
def derived():
    p = Parameterization.parse(["u**2 - v**2"], start={"u": "alpha", "v": "alpha"})
    return derive(p)


def test_a_derivation_answers_by_the_names_of_its_stages(derived):
    assert derived.verdict is Verdict.PROVED
    assert derived.conserved.verdict is Verdict.PROVED
    assert derived.conserved.count == len(derived.conserved.laws) == 1
    assert derived.metric.kernel.shape == derived.metric.rho.shape == (1, 1)
    assert derived.hessian.verdict is Verdict.PROVED
    assert derived.warping.verdict is Verdict.PROVED
    assert derived.warping.g == 1
    assert derived.potential.kind == "explicit"
    assert len(derived.beta) == 1
    symbols = {*derived.beta, *derived.potential.Q.free_symbols}
    assert all(g.free_symbols <= symbols for g in derived.potential.gradient)


def test_a_refuted_derivation_still_has_every_name():
    refuted = derive_entry(catalogue.find("convolution-3"))
    assert refuted.conserved.count == len(refuted.conserved.laws)
    assert refuted.verdict is Verdict.REFUTED
    assert refuted.warping.g is None
    assert refuted.potential.Q is None


def test_q_in_numbers_is_a_function_with_its_gradient_inverse_and_divergence(derived):
    q = derived.potential.numeric({"alpha": 0.5})
    beta, origin = np.array([0.25, -1.5, 3.0]), np.zeros(3)
    assert q(beta).shape == beta.shape
    assert_allclose(q.inverse_gradient(q.gradient(beta)), beta, rtol=1e-12)
    expected = q(beta) - q(origin) - q.gradient(origin) * beta
    assert_allclose(q.bregman(beta, origin), expected, rtol=1e-12)


def test_a_derivation_is_written_for_a_paper_and_for_a_program(derived):
    assert "\\documentclass" in derived.to_latex(standalone=True)
    assert "\\documentclass" not in derived.to_latex()
    assert json.loads(derived.to_json())["verdict"] == "PROVED"


def test_the_interpolant_the_flow_and_their_agreement():
    p = Parameterization.parse(["u**2 - v**2", "r**2 - s**2"], start=dict.fromkeys("uvrs", "alpha"))
    d = derive(p)
    s = interpolate(d.potential.numeric({"alpha": 0.5}), X, Y)
    assert s.value.shape == (2,)
    assert s.multiplier.shape == (1,)
    assert s.residual < 1e-10
    assert s.iterations > 0
    assert s.status
    assert s.message
    f = flow(p, X, Y, start=dict.fromkeys("uvrs", "1/2"), digits=20)
    assert_allclose([float(x) for x in f.limit], s.value, rtol=1e-9)
    assert len(f.weights) == 4
    assert f.time > 0
    assert f.steps > 0
    assert crosscheck(d, X, Y, start={"alpha": "1/2"}, digits=20).digits >= 18


def test_a_vector_weight_may_have_an_open_dimension():
    p = Parameterization.parse(["a*u"], vectors={"u": "d"}, start={"a": "a_0", "u": 0})
    assert derive(p).verdict is Verdict.PROVED
    assert catalogue.find("linear").id == "linear"


@pytest.mark.parametrize("package", ["derive", "numerics"])
def test_the_public_names_are_listed_without_importing_them(package):
    program = f"import {package}, sys; print('sympy' in sys.modules, *dir({package}))"
    heavy, *names = printed_by(program).split()
    assert heavy == "False"
    assert {*importlib.import_module(package).__all__} <= {*names}
    assert "lazy" not in names
