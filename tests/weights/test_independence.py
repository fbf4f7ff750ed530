"""The numbers at which brackets are seen to be independent."""

from fractions import Fraction
from itertools import pairwise

import pytest
import sympy

from derive import Parameterization
from derive.weights.lie import find_lie_structure
from derive.weights.witness import independent_point
from tests.published import derive_once


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
