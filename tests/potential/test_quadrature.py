"""The integral that is printed where Q has no closed form, against flows of the weights."""

import re

import mpmath
import pytest
import sympy
from mpmath import mp, mpf
from sympy.core.function import AppliedUndef

from derive import Parameterization, Verdict
from derive.exact.named_integrals import Li2
from derive.model.notation import Notation
from derive.potential.find import integrated
from derive.potential.kernel_integral import in_beta, integrate_along_beta
from derive.potential.piece import written_out
from derive.potential.quadrature import _in_powers, integrate_along_segment, integrate_gradient
from derive.render.sections import form_lines
from derive.render.text import text_lines, unmark
from numerics import crosscheck
from tests.conditions import texts
from tests.published import derive_once
from tests.witness_flow import evaluate, risen

TIME = mpf(1) / 4
K = sympy.Function("K")
MODELS = [
    ("u**2 + u*v**3", {"u": "-1/6", "v": "1"}),
    ("u + sin(u*v)", {"u": "-1/2", "v": "1"}),
    ("exp(u*v) + u**2", {"u": "1/3", "v": "-1"}),
    ("w + w**5", {"w": "1/5"}),
]


def quadrature(output, start):
    (piece,) = derive_once(output, start).potential.pieces
    assert piece.integrand is not None
    return piece


def printed_integral(piece):
    """Return integrand, variable and lower end of Q as they are read on the page."""
    line = unmark(next(text_lines(form_lines(piece, "Q"))))
    found = re.fullmatch(r"Q = Integral\((.+), (\w+) = (.+) \.\. beta\)", line)
    assert found
    integrand, variable, low = found.groups()
    known = {"K": K, "beta": sympy.Symbol("beta"), variable: sympy.Symbol(variable)}
    return sympy.sympify(integrand, locals=known), known[variable], sympy.sympify(low)


def along_flow(output, start):
    """Return (F(w), |grad F|^2) as a function of the time of w' = grad F."""
    return lambda time: risen(output, start, time)[1:3]


@pytest.mark.every(6)
@pytest.mark.parametrize(("output", "start"), MODELS)
def test_the_printed_integral_is_q_along_the_flow(output, start):
    """With db = K dt: the integral of (beta - b)/K(b) db is int mu db, mu = dQ/dbeta = t."""
    piece = quadrature(output, start)
    (beta,), (kernel,) = piece.betas, {f.func for f in piece.value.atoms(AppliedUndef)}
    assert sympy.diff(piece.value, beta).simplify() == piece.gradient[0]
    assert sympy.diff(piece.value, beta, 2) == 1 / kernel(beta)
    integrand, b, low = printed_integral(piece)
    at = along_flow(output, start)
    with mp.workdps(15):
        beta = at(TIME)[0]

        def printed(time):
            x, kernel = at(time)
            values = {b: x, sympy.Symbol("beta"): beta}
            return evaluate(integrand.subs(K(b), kernel), values) * kernel

        def expected(time):
            return time * at(time)[1]

        ends = [0, TIME]
        nodes = {"maxdegree": 3, "method": "gauss-legendre"}
        difference = mpmath.quad(lambda t: printed(t) - expected(t), ends, **nodes)
        assert abs(at(0)[0] - evaluate(low, {})) < 1e-13
        assert abs(difference) < 1e-10
        assert abs(mpmath.quad(expected, ends, **nodes)) > 1e-3


LAYERS = [
    ("exp(u*v)", {"u": "-1/3", "v": "1/2"}, "beta**2*sqrt(4*log(beta)**2 + 25/1296)"),
    ("tanh(u*v)", {"u": "1", "v": "-1/2"}, ""),
    ("log(1 + exp(u*v))", {"u": "-1", "v": "-1/3"}, ""),
    ("1/(1 + exp(u*v))", {"u": "1/2", "v": "-2"}, ""),
    ("asinh(u*v)", {"u": "1", "v": "1/3"}, ""),
    ("exp(-u**2 - v**2)", {"u": "1/3", "v": "-1/2"}, "-4*beta**2*log(beta)"),
    ("tanh(a**2 + c**2)", {"a": "1/3", "c": "-1/2"}, ""),
    # Of either sign of a, and where a root has only one.
    ("tanh(a**3)", {"a": "7/10"}, ""),
    ("tanh(a**3)", {"a": "-7/10"}, ""),
    ("sinh(a**3)", {"a": "-1/2"}, ""),
    # Of products of functions of a weight each.
    ("sinh(u)*sinh(v)", {"u": "1/2", "v": "-1"}, ""),
    ("sin(a)*sin(b)", {"a": "1/3", "b": "2"}, ""),
    ("cosh(u)*sin(v)", {"u": "1/3", "v": "1"}, ""),
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("output", "start", "printed"), LAYERS)
def test_the_kernel_of_a_function_is_written_by_what_is_inside(output, start, printed):
    """K = h'(G)^2 K_G(G) where F = h(G), G of beta by the inverse of h, on both sides of 0."""
    (piece,) = derive_once(output, start).potential.pieces
    assert piece.kernel is not None
    assert all(root.explicit is not None for root in piece.roots)
    assert printed in ("", str(piece.kernel))
    with mp.workdps(20):
        at = along_flow(output, start)
        for time in (0, TIME, -TIME):
            x, expected = at(time)
            kernel = written_out(piece.kernel, piece.roots, piece.constants)
            value = sympy.lambdify(piece.betas, kernel, "mpmath")(x)
            assert abs(value - expected) < 1e-10 * (1 + expected)


@pytest.mark.parametrize(("output", "named"), [
    ("log(exp(a) + exp(b))", Li2),
    ("1/(exp(a) + exp(b))", sympy.log),
])  # fmt: skip
def test_functions_of_two_exponentials_are_closed_in_beta(output, named):
    d = derive_once(output, start={"a": "1/2", "b": "-1"})
    assert d.potential.kind == "explicit"
    assert d.potential.Q.has(named)
    assert crosscheck(d, digits=12).passed


def test_an_integral_over_the_root_of_a_quartic_is_elliptic():
    """K of cosh(u) sin(v) is |1 - (beta + i delta/2)^2|; K^2 of u v is of degree 2."""
    (piece,) = derive_once("cosh(u)*sin(v)").potential.pieces
    assert "Ritt" in piece.integrand.proof
    assert derive_once("u*v").potential.kind == "explicit"


def test_what_k_in_beta_divides_by_is_not_0_at_the_start():
    """Nor what has a logarithm: sin(a_0)^2 - sin(b_0)^2 by its factors, written with cosines."""
    (piece,) = derive_once("sin(a)/cos(b)").potential.pieces
    assert texts(piece) == ("cos(b_0) != 0",)
    (piece,) = derive_once("sin(a)*sin(b)").potential.pieces
    assert piece.kind == "explicit"
    unlike = {"sin(a_0) - sin(b_0) != 0", "sin(a_0) + sin(b_0) != 0"}
    assert {*texts(piece)} == {"sin(a_0) != 0", "cos(a_0) != 0", *unlike}
    (piece,) = derive_once("log(exp(a) + exp(b))").potential.pieces
    assert not piece.assumptions
    assert piece.curve.weight


def test_the_slope_in_the_length_solves_its_equation():
    """s q''/q' = T/R, with q' = |u_0| at the start, where nothing closed is found."""
    p = Parameterization.parse(["(1 + a*norm(u))*u"], vectors=["u"])
    (piece,) = derive_once(p).potential.pieces
    ((s,), (slope,)) = piece.betas, piece.gradient
    T, R = (sympy.Function(name)(s) for name in "TR")
    assert sympy.simplify(s * slope.diff(s) / slope - T / R) == 0
    (integral,) = slope.atoms(sympy.Integral)
    assert str(slope.subs(s, integral.limits[0][1]).doit()) == "norm_u_0"


def test_integrals_along_a_segment_have_the_hessian_that_they_name():
    """With a constant G, or y, they are a quadratic form, or a linear one."""
    p = Parameterization.parse(["a*u1", "a*u2"])
    notation = Notation(p, (0, 1))
    numbers = {"G11": 2, "G12": 3, "G22": 7, "y1": 5, "y2": -4}

    def settled(f):
        known = {x: sympy.Integer(numbers[x.func.__name__]) for x in f.atoms(AppliedUndef)}
        return sympy.expand(f.xreplace(known).doit())

    piece = integrate_along_segment(derive_once(p).blocks[0].warping, notation)
    (x, first), (y, second) = piece.abbreviations
    assert settled(piece.value) == x**2 + 3 * x * y + sympy.Rational(7, 2) * y**2
    assert list(map(settled, piece.gradient)) == [2 * x + 3 * y, 3 * x + 7 * y]
    assert first + second == sum(notation.betas) - sum(notation.beta_0)
    assert settled(integrate_gradient((x, y), notation).value) == 5 * x - 4 * y


def test_antiderivatives_of_powers_and_exponentials():
    s, k = sympy.Symbol("s"), sympy.Symbol("k", positive=True)
    for slope in (3 * s**2, s, sympy.Integer(1) * s ** -sympy.Rational(1, 2), 5 * s**k):
        assert sympy.simplify(_in_powers(slope, s).diff(s) - slope) == 0
    assert _in_powers(2 * sympy.exp(3 * s), s) == sympy.exp(3 * s) * 2 / 3
    for slope in (1 / s, s**-2, s**s, s + 1, sympy.exp(s**2), k * s * sympy.exp(s)):
        assert _in_powers(slope, s) is None


@pytest.mark.parametrize(
    ("outputs", "rates", "says"),
    [
        (["u*v"], {}, ("kernel", "smooth")),
        (["u*v"], {"u": "v", "v": "u"}, ("kernel", "smooth", "rates")),
        (["a*u1", "a*u2"], {}, ("leaf",)),
        (["sqrt(a**2)*b", "b"], {}, ("leaf", "smooth")),
    ],
)
def test_before_its_ends_are_sought_a_domain_is_told_with_all_that_may_end_it(outputs, rates, says):
    p = Parameterization.parse(outputs, positive=["a"] if "a" in outputs[0] else [], rates=rates)
    potential = integrated(derive_once(p).blocks[0].warping, Notation(p, tuple(range(p.d))))
    assert potential.finding.verdict is Verdict.PROVED
    assert potential.piece.integrand.left == "time"
    assert (potential.piece.domain.walls, potential.piece.domain.undecided) == ((), says)


@pytest.mark.parametrize("start", [None, {"b": "1", "c": "2"}])
def test_a_root_without_a_formula_is_no_constant_of_an_integral(start):
    """K of exp(b c^2) has a root of a cubic over log beta, which moves with beta."""
    (block,) = derive_once("exp(b*c**2)", start).blocks
    piece, chart = integrate_along_beta(block.metric, Notation(block.parameterization))
    assert [root.explicit for root in piece.roots] == [None]
    assert piece.integrand.proof == ""
    assert in_beta(piece, chart) is None


def test_a_logarithm_of_an_open_sign_is_that_of_the_modulus():
    """log beta = eta a^2 has the sign of eta; that of exp(a^2) is known."""
    for p, inside in (
        (Parameterization.parse(["exp(eta*a**2)"], parameters=["eta"]), "Abs(log(beta))"),
        (Parameterization.parse(["exp(a**2)"]), "log(beta)"),
        (Parameterization.parse(["exp(-a**2)"]), "-log(beta)"),
    ):
        (piece,) = derive_once(p).potential.pieces
        (found,) = (x for x in piece.value.atoms(sympy.log) if x.args[0].has(sympy.log))
        assert str(found.args[0]) == inside


@pytest.mark.parametrize(
    ("F", "K"),
    [
        ("sinh(u*v)", "(beta**2 + 1)*sqrt(delta**2 + 4*log(beta + sqrt(beta**2 + 1))**2)"),
        ("tanh(a**3)", "9*(beta**2 - 1)**2*Abs(log((beta + 1)/(1 - beta))/2)**(4/3)"),
        ("1/(2 + sqrt(a*b))", "beta**4*sqrt(delta**2 + 4*(1/beta - 2)**4)/(4*(1/beta - 2)**2)"),
    ],
)
def test_K_is_written_through_what_is_inside(F, K):
    """K = |grad G|^2/(dG/dbeta)^2 for F = h(G)."""
    (piece,) = derive_once(F).potential.pieces
    symbols = {s.name: s for s in piece.kernel.free_symbols}
    assert sympy.sympify(K, symbols) == piece.kernel
