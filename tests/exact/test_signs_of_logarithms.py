"""log A and sqrt(A) are of A > 0; in fields they are of factors, whose signs are open."""

import pytest
import sympy

from derive import InputError, Parameterization, Verdict, derive
from numerics import crosscheck
from tests.published import derive_once


def test_a_power_of_what_has_no_sign_is_that_of_the_argument():
    half = "log((1 + w)/(1 - w))/2"
    for exponent in (half, f"{half} + log((2 + w)/(2 - w))/3"):
        with pytest.raises(InputError, match="not known: write"):
            derive(f"exp({exponent})")


@pytest.mark.parametrize(
    ("F", "K"),
    [
        ("log((1 + w)/(1 - w))/2", "cosh(beta)**4"),
        ("log((w - 1)/(w + 1))/2", "sinh(beta)**4"),
        ("exp(log((1 + w)/(1 - w)))", "(beta + 1)**4/4"),
    ],
)
def test_k_is_that_of_the_side_on_which_f_is_defined(F, K):
    """With 1/K = 1/F'^2 at F, by F alone; the other side has sinh for cosh, and -beta for beta."""
    d = derive_once(F)
    assert d.verdict is Verdict.PROVED
    w, beta = sympy.Symbol("w"), sympy.Symbol("beta")
    f, at = sympy.sympify(F), sympy.Rational(1, 3) if "1 - w" in F else sympy.Integer(3)
    meant = sympy.sympify(K, {"beta": beta}).subs(beta, f.subs(w, at))
    assert abs(sympy.N(meant - f.diff(w).subs(w, at) ** 2)) < 1e-12
    plain = dict.fromkeys(d.potential.pieces[0].betas, beta)
    kernel = d.potential.pieces[0].kernel.xreplace(plain).subs(beta, f.subs(w, at))
    assert abs(sympy.N(kernel - meant)) < 1e-12
    start = {"w": "1/3" if "1 - w" in F else "3"}
    assert crosscheck(derive(Parameterization.parse([F], start)), digits=20).passed


@pytest.mark.parametrize("F", ["sqrt(u/v)", "w*sqrt((1 + w)/(1 - w))", "((1 + u)/(1 + v))**(3/2)"])
def test_a_root_of_a_quotient_of_open_sign_is_refused(F):
    """sqrt(u/v) is sqrt(u v)/|v|: from u = -1, v = -2 it would be its negative."""
    with pytest.raises(InputError, match=r"the sign of .* is not known: write a quotient of roots"):
        derive(F)


@pytest.mark.parametrize(
    "F", ["sqrt(u)/sqrt(v)", "sqrt(-u)/sqrt(-v)", "sqrt((1 + u**2)/(2 + v**2))"]
)
def test_a_root_of_a_quotient_of_known_sign_is_itself(F):
    p = Parameterization.parse(
        [F], {"u": "-1/2" if "-u" in F else "1/2", "v": "-2" if "-v" in F else 2}
    )
    value = p.at_start(p.F[0]).at([])
    assert value > 0
    assert derive(p).verdict is Verdict.PROVED


@pytest.mark.parametrize("start", [{"a": "-log(3)", "b": "-2"}, {"a": "-exp(1)", "b": "-log(3)"}])
def test_logarithms_of_negative_numbers_are_of_their_moduli(start):
    """log(a*b) is log|a| + log|b|: of -e that is 1, and no relation of numbers is left."""
    p = Parameterization.parse(["log(a*b)"], start)
    positive = {w: x.removeprefix("-") for w, x in start.items()}
    same = Parameterization.parse(["log(a*b)"], positive)
    d, other = derive(p), derive(same)
    assert d.verdict is other.verdict is Verdict.PROVED
    values = [x.potential.numeric().gradient([2.0])[0] for x in (d, other)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)
