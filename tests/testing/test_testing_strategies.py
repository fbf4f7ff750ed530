"""What is drawn is of its kind, small when shrunk, and shown as code that makes it again."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import find, given, settings
from hypothesis import strategies as st
from hypothesis.vendor.pretty import pretty

from derive import Parameterization, derive
from derive.errors import InputError
from derive.language import parse_expression, to_sympy
from derive.testing import (
    KINDS,
    convex_potentials,
    parameterizations,
    regression_problems,
    separable_problems,
    starts,
    warps,
)
from derive.weights.conserved import find_lie_structure

drawn = settings(max_examples=30, deadline=None, derandomize=True)


@drawn
@given(parameterizations(start=st.none() | st.sampled_from(["1", "1/2"])))
def test_the_code_of_a_model_makes_it_again(p):
    assert eval(repr(p)) == p or repr(p) == f"<Parameterization R^{p.p} -> R^{p.d}>"


@pytest.mark.parametrize(
    "p",
    [
        Parameterization.parse(["a*u + b*v"], {"a": 1, "u": "r"}, ["b"], vectors=["u", "v"]),
        Parameterization.parse(["norm(u)*a*u"], vectors=["u"]),
        Parameterization.parse(["c*p**D - m"], {"p": "alpha"}, ["m"], ["c"]),
        Parameterization(["a*u"], ["u", "a"]),
    ],
    ids=repr,
)
def test_every_ingredient_is_in_the_code_that_hypothesis_shows(p):
    assert pretty(p) == repr(p)
    assert eval(repr(p)) == p


def test_an_output_that_is_left_out_is_in_the_code():
    p = Parameterization(["2*u**2 + 1", "v", "u**2"])
    assert repr(derive(p).parameterization) == repr(p)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kinds", "property_", "simplest"),
    [
        (("separable",), lambda p: p.d > 1, "['u**2', 'v**2']"),
        (("generators",), lambda p: p.d > 1, "['exp(u)', 'exp(v)']"),
        (("equivariant",), lambda p: True, "['a*u1', 'a*u2']"),
        (("degenerate",), lambda p: "twin" in p.weights, "['(u + twin)**2']"),
        ((), lambda p: True, "['u**2']"),
    ],
)
def test_shrunk_models_are_read_at_a_glance(kinds, property_, simplest):
    assert repr(find(parameterizations(*kinds), property_)) == f"Parameterization({simplest})"


@drawn
@given(parameterizations("commuting", "separable"), parameterizations("noncommuting"))
def test_flows_of_outputs_commute_or_not(one, other):
    assert find_lie_structure(one).commuting
    assert not find_lie_structure(other).commuting


@drawn
@given(parameterizations("homogeneous"), parameterizations("separable", "generators"))
def test_forms_have_a_degree_and_separate_outputs_share_nothing(form, separate):
    assert form.degree in (2, 3)
    assert len(separate.blocks) == separate.d


@pytest.mark.slow
def test_every_way_to_be_degenerate_is_drawn():
    for found in (
        lambda p: dict(p.start).get("x0") is not None,
        lambda p: "twin" in p.weights,
        lambda p: "x0" not in p.weights and len(p.start_symbols) < p.p,
    ):
        find(parameterizations("degenerate"), found)


def test_a_kind_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="did you mean commuting"):
        parameterizations("comuting")
    assert set(KINDS) > {"separable", "degenerate"}


@drawn
@given(st.data(), st.integers(1, 4))
def test_problems_are_fitted_and_separated_by_some_beta(data, d):
    X, y = data.draw(regression_problems(d))
    assert np.linalg.matrix_rank(X) == len(y) <= max(1, d - 1)
    rows, labels = data.draw(separable_problems(d, rows=2))
    margins = np.array(labels)[:, None] * np.array(rows)
    directions = np.array(np.meshgrid(*[range(-3, 4)] * d)).reshape(d, -1)
    assert (margins @ directions > 0).all(axis=0).any()


@drawn
@given(st.data(), st.integers(1, 3))
def test_potentials_are_strictly_convex_and_warps_positive(data, d):
    names = ["beta"] if d == 1 else [f"beta{i}" for i in range(1, d + 1)]
    point = [float(Fraction(x)) for x in data.draw(starts(names)).values()]
    Q, g = (to_sympy(parse_expression(data.draw(s(d)))) for s in (convex_potentials, warps))
    hessian = sympy.lambdify(names, sympy.hessian(Q, sympy.symbols(names)))
    assert np.linalg.eigvalsh(hessian(*point)).min() > 0
    assert g.free_symbols
    assert sympy.lambdify(names, g)(*point) > 0


def test_starts_are_exact_numbers():
    assert Fraction(find(starts(["a"]), lambda s: s["a"].startswith("-"))["a"]) == -1
