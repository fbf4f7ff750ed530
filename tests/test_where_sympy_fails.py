"""Where SymPy's own answer is empty, wrong or unknown."""

import pytest
import sympy

from derive import Parameterization, Verdict
from numerics import crosscheck
from tests.published import derive_once


@pytest.mark.slow
def test_a_symbolic_depth_is_rendered():
    start = {"p": "alpha", "m": "alpha"}
    d = derive_once(Parameterization.parse(["p**D - m**D"], start=start))
    assert "p^{D} - m^{D}" in d.to_latex()
    assert "D != 0; D - 2 != 0" in d.to_text()
    assert crosscheck(d, digits=20).passed
    assert crosscheck(d, start={"D": "5"}, digits=20).passed


def test_solve_finds_no_inverse_of_the_cubic_mirror_map():
    z, b = sympy.symbols("z b", real=True)
    assert sympy.solve((1 - z) ** -3 - (1 + z) ** -3 - b, z) == []
    start = {"p": "alpha", "m": "alpha"}
    d = derive_once(Parameterization.parse(["p**3 - m**3"], start=start, positive=["alpha"]))
    assert d.potential.kind == "parametric"
    q = d.potential.numeric({"alpha": 1})
    assert abs(q.inverse_gradient(q.gradient(2.5)) - 2.5) < 1e-12


@pytest.mark.slow
def test_a_real_quadratic_is_integrated():
    a, b, c, x = sympy.symbols("a b c x", real=True)
    assert sympy.integrate(1 / (a * x**2 + b * x + c), x) == 0
    d = derive_once(Parameterization.parse(["tanh(w)"], start={"w": "0"}))
    assert d.potential.kind == "explicit"
    assert crosscheck(d, digits=20).passed


def test_simplify_does_not_see_equal_functions():
    x = sympy.Symbol("x", real=True)
    assert sympy.simplify(sympy.asinh(x) - sympy.log(x + sympy.sqrt(x**2 + 1))) != 0
    one = derive_once(Parameterization.parse(["asinh(x)"], start={"x": "1"}))
    other = derive_once(Parameterization.parse(["log(x + sqrt(x**2 + 1))"], start={"x": "1"}))
    q, r = (d.potential.numeric({}) for d in (one, other))
    assert abs(q.gradient(1.25) - r.gradient(1.25)) < 1e-12


def test_equals_does_not_decide_where_the_derivation_does():
    x = sympy.Symbol("x", real=True)
    zero = sympy.asinh(x) - sympy.log(x + sympy.sqrt(x**2 + 1))
    assert zero.equals(0) is not True
    p = Parameterization.parse(["sinh(x)**2 - cosh(x)**2 + x"])
    assert p.F[0] == p.w[0] - 1


def test_the_nested_root_is_integrated_with_the_right_sign():
    # A quadrature of s/sqrt(A(s)) by closed forms goes wrong for delta < 0; ours is exact.
    d = derive_once(
        Parameterization.parse(["a*u1", "a*u2"], start={"a": "1", "u1": "2", "u2": "1"})
    )
    assert crosscheck(d, digits=25).passed
    q = d.potential.numeric({})
    step = 1e-5
    slope = (q([3 + step, 1.0]) - q([3 - step, 1.0])) / (2 * step)
    assert abs(slope - q.gradient([3.0, 1.0])[0]) < 1e-8


@pytest.mark.every(2)
@pytest.mark.parametrize("output", ["log(a*b)", "log(a*b) + a"])
def test_logarithms_of_products_of_negative_weights_are_real(output):
    """log(a b) is log|a| + log|b|: what is printed is real where a and b are negative."""
    d = derive_once(Parameterization.parse([output], start={"a": "-1", "b": "-2"}))
    assert d.verdict is Verdict.PROVED
    assert crosscheck(d, digits=20).passed
