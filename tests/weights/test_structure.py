"""Parameterization, Lie structure, conserved quantities and tangent kernel."""

from fractions import Fraction
from itertools import pairwise

import pytest
import sympy

from derive import DegenerateStart, InputError, Parameterization, Verdict
from derive.weights.conserved import find_conserved
from derive.weights.lie import bracket, find_lie_structure
from derive.weights.metric import find_metric
from derive.weights.witness import independent_point
from tests.published import derive_once

HOPF = ["p**2+q**2-r**2-s**2", "2*p*r+2*q*s", "2*q*r-2*p*s"]
CUBIC_PAIR = {"p": "alpha", "m": "alpha"}


@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (["x*y"], {"x": "0", "y": "0"}),
        (["w**2"], {"w": "0"}),
        (["1/w"], {"w": "0"}),
        (["x*y", "z**3"], {"z": "0"}),
    ],
)
def test_starts_that_cannot_move(outputs, start):
    with pytest.raises(DegenerateStart):
        Parameterization.parse(outputs, start)


def test_start_that_keeps_the_outputs_together():
    """With both columns of W aligned W W^T keeps rank one."""
    outputs = ["a**2+b**2", "c**2+d**2", "a*c+b*d"]
    with pytest.raises(DegenerateStart, match="move together"):
        derive_once(Parameterization.parse(outputs, {"a": "1", "b": "0", "c": "1", "d": "0"}))


@pytest.mark.parametrize("power", [2, 3, 7])
def test_start_on_a_fold_that_the_flow_leaves(power):
    """J has rank 1 at x = 0, but x' = lambda_1 + ... leaves it at once: rank 2 is reached."""
    outputs = ["x", f"x**{power}*y"]
    d = derive_once(Parameterization.parse(outputs, {"x": "0", "y": "1"}))
    assert d.verdict is not Verdict.PROVED


def test_constant_output_and_cancelled_weight_are_refused():
    with pytest.raises(InputError, match="constant"):
        Parameterization.parse(["x - x + 2", "y"])
    with pytest.raises(InputError, match="leave it out"):
        Parameterization.parse(["x*y - x*y + x + y - y"])


def test_degree_is_eulers():
    assert Parameterization.parse(["a*b*u1", "a*b*u2"]).degree == 3
    assert Parameterization.parse(["x/y"]).degree == 0
    assert Parameterization.parse(["x**2", "x*y*z"]).degree is None
    assert Parameterization.parse(["1/x-1/y"]).degree == -1


def test_blocks_ignore_weights_that_cancel():
    assert Parameterization.parse(["a*u1", "a*u2", "w**2"]).blocks == ((0, 1), (2,))
    assert Parameterization.parse(["x + z - z", "z"]).blocks == ((0,), (1,))
    assert Parameterization.parse(["x*y", "z", "y + t"]).blocks == ((0, 2), (1,))


def test_bracket_is_antisymmetric_and_satisfies_jacobi():
    X, Y, Z = Parameterization.parse(["x**2*y", "y*z", "x - z**3"]).fields
    assert bracket(X, Y) == tuple(-c for c in bracket(Y, X))
    total = [bracket(X, bracket(Y, Z)), bracket(Y, bracket(Z, X)), bracket(Z, bracket(X, Y))]
    assert all((a + b + c).is_zero() for a, b, c in zip(*total, strict=True))


def test_outputs_are_in_real_symbols():
    p = Parameterization.parse(["a*u1", "a*u2"])
    assert all(s.is_real for f in p.outputs for s in f.free_symbols)


@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (["y**2+2*z**2"], {"y": "0", "z": "1"}),
        (["x", "y**2+2*z**2"], {"x": "2", "y": "0", "z": "-1"}),
        (["x*y+y*z+z*x"], {"x": "alpha", "y": "alpha", "z": "alpha"}),
    ],
)
def test_law_with_a_pole_at_the_start(outputs, start):
    d = derive_once(Parameterization.parse(outputs, start))
    assert len(d.conserved.values) == len(d.conserved.laws)


def test_kernel_is_the_gram_matrix_and_rho_its_inverse():
    p = Parameterization.parse(["a*u1", "a*u2"])
    metric = find_metric(find_conserved(find_lie_structure(p)))
    a, u1, u2 = p.field.gens
    assert metric.K[0] == (a * a + u1 * u1, u1 * u2)
    point = (Fraction(2), Fraction(1), Fraction(-3))
    K = sympy.Matrix([[sympy.Rational(str(x.at(point))) for x in row] for row in metric.K])
    rho = sympy.Matrix([[sympy.Rational(str(x.at(point))) for x in row] for row in metric.rho])
    assert K * rho == sympy.eye(2)


def nested(word, fields, w):
    """Return an iterated bracket such as [X1, [X1, X2]], differentiated by SymPy."""
    if not word.startswith("["):
        return fields[word]
    left, right = word[1:-1].split(", ", 1)
    x, y = nested(left, fields, w), nested(right, fields, w)
    return y.jacobian(w) * x - x.jacobian(w) * y


@pytest.mark.parametrize(
    "outputs",
    [
        ["a*u1", "a*u2"],
        ["a**2 + c**2", "a*b + c*d", "b**2 + d**2"],
        ["x*y*z", "x**2*z - y**3"],
        ["exp(x)*u", "exp(x)*v"],
    ],
)
def test_the_brackets_have_full_rank_at_the_point(outputs):
    lie = find_lie_structure(Parameterization.parse(outputs))
    p = lie.parameterization
    assert lie.point is not None
    w = [sympy.Symbol(name, real=True) for name in p.weights]
    fields = {
        f"X{i}": sympy.Matrix([sympy.diff(f, x) for x in w]) for i, f in enumerate(p.outputs, 1)
    }
    at = {x: sympy.Rational(str(v)) for x, (_, v) in zip(w, lie.point, strict=True)}
    rows = [list(nested(word, fields, w).subs(at)) for word in lie.words]
    assert sympy.Matrix(rows).evalf(30).rank() == lie.dimension
    assert sympy.Matrix(rows).rank() == lie.dimension


def test_a_point_where_the_rank_drops_is_passed_over():
    """At a = b = c = d the fields of W W^T are dependent."""
    lie = find_lie_structure(Parameterization.parse(["a**2 + c**2", "a*b + c*d", "b**2 + d**2"]))
    assert lie.point is not None
    values = [value for _, value in lie.point]
    assert any(x != y for x, y in pairwise(values))


def test_dependent_fields_are_never_called_independent():
    p = Parameterization.parse(["exp(x)*u", "exp(x)*v"])
    first, second = p.fields
    total = tuple(2 * x + p.F[0] * y for x, y in zip(first, second, strict=True))
    assert independent_point(p, (first, second)) is not None
    assert independent_point(p, (first, second, total)) is None


def test_the_line_is_printed():
    d = derive_once(Parameterization.parse(["a*u1", "a*u2"]))
    assert "X1, X2 are independent at a = 1, u1 = 1, u2 = 1" in d.to_text()
    assert "so all other conserved quantities are functions of these" in d.to_latex()
    assert d.blocks[0].lie.point == tuple((name, Fraction(1)) for name in ("a", "u1", "u2"))
