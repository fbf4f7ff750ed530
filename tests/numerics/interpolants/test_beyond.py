"""Interpolants beyond and at the ends of a domain, and of least l1 norm."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from derive import Parameterization
from derive.errors import InputError, NumericalError
from derive.potential.piece import UNSEEN
from derive.render.exports.program import render_jax, render_numpy, render_torch
from numerics import flow, interpolate
from numerics.evaluate.leaf import OfCoordinates
from numerics.interpolants.design import Dense
from numerics.interpolants.interpolant import Status, least_l1
from numerics.interpolants.reach import beyond
from tests.published import derive_once

SIDES = [  # outputs, start, the datum, a target that is met, one behind a zero
    ("a*u a*v", {"a": "1", "u": "2", "v": "1/5"}, (1, "1/2"), "1", "-1"),
    ("a*u a*v", {"a": "-1", "u": "2", "v": "1/5"}, (1, "1/2"), "-1", "1"),
    ("(a+b)*u (a+b)*v", {"a": "-3/5", "b": "-4/3", "u": "-9/5", "v": "11/4"}, (1, 0), "3", "-1"),
    ("(a+1)*u (a+1)*v", {"a": "-4/3", "u": "-11/5", "v": "1/2"}, (0, 1), "-1", "1"),
    ("a*b*u a*b*v", {"a": "3/4", "b": "9/4", "u": "-1", "v": "-7/5"}, (1, 0), "-2", "2"),
]
AT_ONE = {"w": 1, "v": 1}


def limit(outputs, start, row, target):
    p = Parameterization.parse(outputs.split())
    return np.array(flow(p, [row], [target], start, 10).limit, dtype=float)


@pytest.mark.every(3)
@pytest.mark.parametrize(("outputs", "start", "row", "near", "behind"), SIDES)
def test_a_limit_behind_a_zero_of_the_warp(outputs, start, row, near, behind):
    q = derive_once(outputs.split(), start=start).potential.numeric({})
    X = [[float(Fraction(x)) for x in row]]
    found = interpolate(q, X, [float(near)])
    assert found.status is Status.CONVERGED
    assert np.allclose(found.value, limit(outputs, start, row, near), atol=1e-7)
    found = interpolate(q, X, [float(behind)])
    assert found.status is Status.BEYOND
    assert not found.converged
    assert "another sign" in found.message
    assert not np.allclose(found.value, limit(outputs, start, row, behind), atol=1e-2)


@pytest.mark.parametrize(("y", "status"), [(1.0, Status.CONVERGED), (-1.0, Status.BEYOND)])
def test_vectors_are_told_as_their_coordinates(y, status):
    start = {"a": "1", "u": "2", "v": "1/5"}
    p = Parameterization.parse(["a*u"], vectors=["u"])
    q = derive_once(p).potential.numeric({"a_0": 1, "u_0": [2, Fraction(1, 5)]})
    two = derive_once(["a*u", "a*v"], start=start).potential.numeric({})
    found, same = (interpolate(f, [[1.0, 0.5]], [y]) for f in (q, two))
    assert found.status is same.status is status
    assert np.allclose(found.value, same.value)


def test_a_leaf_ends_where_the_flow_does():
    d = derive_once(["w", "w*v"])
    leaf = OfCoordinates(d.parameterization, [Fraction(1), Fraction(1)], d.potential.pieces)
    leaves, design = [(range(2), leaf)], Dense(np.array([[1.0, 0.0]]))
    beta0 = leaf.outputs(leaf.start)
    assert beta0.tolist() == [1, 1]
    assert beyond(leaves, design, np.array([1.0]), beta0) == ""  # nothing moves
    end = np.array([float(b) for b in flow(d.parameterization, [[1, 0]], [2], AT_ONE, 10).limit])
    assert beyond(leaves, design, np.array([2.0]), end) == ""
    assert beyond(leaves, design, np.array([2.0]), 1.1 * end) == "it passes by"
    square = derive_once(["w**2", "w**2*v"])
    leaf = OfCoordinates(
        square.parameterization, [Fraction(1), Fraction(0)], square.potential.pieces
    )
    leaves = [(range(2), leaf)]
    assert beyond(leaves, design, np.array([-1.0]), np.array([-1.0, 0.0])) == "it ends before"


@pytest.mark.every(2)
@pytest.mark.parametrize("seed", range(3))
def test_several_rows_are_followed_on_the_path_of_the_squared_loss(seed):
    """Some limits behind a zero have their own steering on this side of it, and the reverse."""
    rng = np.random.default_rng(seed)
    start = {n: Fraction(int(x), 8) for n, x in zip("auvw", rng.integers(-16, 17, 4), strict=True)}
    start["a"] = start["a"] / 4 or Fraction(1, 4)
    outputs = ["a*u", "a*v", "a*w"]
    text = {n: str(x) for n, x in start.items()}
    q = derive_once(outputs, start=text).potential.numeric({})
    X = [[Fraction(int(x), 4) for x in row] for row in rng.integers(-8, 9, (2, 3))]
    y = [Fraction(int(x), 4) for x in rng.integers(-8, 9, 2)]
    end = flow(Parameterization.parse(outputs), X, y, start, 10)
    found = interpolate(q, np.array(X, dtype=float), np.array(y, dtype=float))
    same = np.allclose(found.value, np.array(end.limit, dtype=float), atol=1e-6)
    assert found.status is (Status.CONVERGED if same else Status.BEYOND)
    assert same == (float(end.weights[0]) * float(start["a"]) > 0)


@pytest.mark.parametrize(("outputs", "told"), [("a*u a*v", True), ("a/(a+b+c) b/(a+b+c)", False)])
def test_modules_say_what_beta_does_not_tell(outputs, told):
    d = derive_once(outputs.split())
    texts = (render_numpy(d), render_jax(d), render_torch(d))
    assert [" ".join(UNSEEN.split()) in " ".join(text.split()) for text in texts] == [told] * 3


def powers(exponent):
    """Return Q of ``p**D - m**D`` from p = m = 1, on |beta| < 4 for 4/3 and < 8 for 3/2."""
    F = f"p**({exponent}) - m**({exponent})"
    return derive_once(F, start={"p": "1", "m": "1"}).potential.numeric({})


@pytest.mark.parametrize(("exponent", "end"), [("4/3", 4.0), ("3/2", 8.0)])
def test_what_lies_beyond_is_out_of_reach(exponent, end):
    """Where some beta fits all the same, Q is least with beta1 at its end, where Q' < nu."""
    q = powers(exponent)
    assert interpolate(q, [[1.0, 1.0]], [1.9 * end]).converged
    for y in (-1.001 * end, 1.5 * end):
        with pytest.raises(InputError, match="out of reach"):
            interpolate(q, [[1.0]], [y])
    assert interpolate(q, [[1.0]], [end]).status is Status.BOUNDARY
    found = interpolate(q, [[1.0, 0.1]], [end + 0.2])
    assert found.status is Status.OUT_OF_REACH
    assert np.allclose(found.value, [end, 2.0])


@pytest.mark.parametrize(("D", "reached"), [("1", True), ("4/3", False), ("3", True)])
def test_a_power_that_is_linear_has_no_end(D, reached):
    general = derive_once("p**D - m**D", start={"p": "a", "m": "a"})
    q = general.potential.numeric({"a": 1, "D": D})
    assert np.isfinite(q(9.0)) == reached
    assert np.isfinite(q.gradient(-9.0)) == reached


def least_at_a_vertex(X, y):
    """Return the least l1 norm among the beta with m entries that are not 0."""
    m, d = X.shape
    vertices = (np.linalg.solve(X[:, support], y) for support in combinations(range(d), m))
    return min(np.abs(beta).sum() for beta in vertices)


@pytest.mark.parametrize("seed", range(5))
def test_the_least_l1_norm_is_least_among_vertices(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(2, 5)), rng.normal(size=2)
    found = least_l1(X, y)
    assert np.abs(found).sum() == pytest.approx(least_at_a_vertex(X, y))
    assert X @ found == pytest.approx(y)


def test_without_an_interpolant_there_is_no_least_l1_norm():
    with pytest.raises(NumericalError, match="not solved"):
        least_l1(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([1.0, 2.0]))
