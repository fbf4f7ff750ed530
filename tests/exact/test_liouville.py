"""Integrals are called elementary, or by name, where they are: against derivatives."""

from contextlib import suppress
from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.abc import E, d, u

from derive.errors import InputError
from derive.exact.algebraic_integrals import why_not_elementary_binomial, why_not_elementary_root
from derive.exact.field.generators import Generator
from derive.exact.liouville import logarithmic_part, not_elementary, under_root, why_not_elementary
from derive.exact.named_integrals import NAMED, Exponential, Li2
from derive.exact.towers.tower import Tower, build_elements
from derive.language import from_sympy, parse_expression
from tests.published import derive_once

t = sympy.Symbol("t")


def element(text):
    (found,) = build_elements([parse_expression(text)], "tcd")
    return found


@pytest.mark.parametrize(
    "text",
    [
        "exp(-t)/(1 + t)",  # the exponential integral
        "exp(t)/t**2",
        "exp(c)*exp(-t)/(d + 4*t)",
        "exp(-t**2/2)",  # the error function
        "t**2*exp(c*d)*exp(t**2/2)",
        "exp(2*t) + exp(-t)/t",
        "1/log(t)",  # the logarithmic integral
        "t**2/(1 - log(t))",
        "1/(log(t)**2 - 2)",
        "1/(exp(t) - t)",
        "t/(exp(t) - 1)",  # the dilogarithm
        "log(t)/(t - 1)",
        "t*log(t)**2/(c - t)",
        "t*exp(-t)/(t*log(t) + 1)",
        "(exp(t) + 1)**2*exp(-t)/(t + exp(t) + 1)",
        "exp(-t)/sqrt(4*t**2 + c**2)",
        "(exp(t) + 2 + exp(-t))/sqrt(t**2 + d)",
        "exp(t)/(t*sqrt(t + c))",
        "exp(-t**2)*(t**2 + 1)**(1/3)",
        # over a field with a root, of an atan, and by parts
        "1/((exp(2*t) + 1)*sqrt(t**2 + c))",
        "(t**2 + 1)/((t**2 + 1)*atan(t) + t)",
        "atan(t)/t",
        "1/(asinh(t) + t)",
        "(1 + exp(-t))*log(1 + exp(t))",
        "log(t)*exp(t)",
    ],
)
def test_no_elementary_integral(text):
    assert "Bronstein 2005" in why_not_elementary(element(text))


@pytest.mark.parametrize(
    "text",
    [
        "1/(t*sqrt(log(t) + t**2/2 + c))",
        "t/sqrt(t**2*log(t) - t**2/2 + c)",
        "sqrt(1 + t**2)/(t*sqrt(log(t) + t**2))",
        "1/sqrt(t*log(t))",  # t is no square
        "1/sqrt(log(t - 1) + log(t + 1) + t**2)",
        "(1 + exp(t))**2*exp(-t)/sqrt(2*t + 2*exp(t) + c)",
        "1/sqrt(log(1 + exp(2*t)) - t + c)",
        "exp(c*d)/sqrt(d + exp(t)*log(1 + exp(t)))",
        "exp(t**2)/(t*sqrt(c - log(t)))",
        "1/(cos(t)*sqrt(c - log(cos(t))))",
        "1/sqrt(log(t) + t*log(t + 1))",
        "1/sqrt(log(t + exp(t)) + t)",
        "1/sqrt(log(log(t)) + t)",
        "1/sqrt(t + exp(t) + exp(c*t))",
        "1/sqrt((t**2 + c)*(sqrt(t**2 + c) + log(t + sqrt(t**2 + c))))",
        "(t**2 + 1)/sqrt(t**3*atan(t) - log(t**2 + 1) + c)",
        "t*sqrt(t**2*log(t) - t**2 + c)",
        "sqrt(log(t) + t)",
        # quadratics
        "1/sqrt(log(t)**2 + 1)",
        "t/sqrt((2*t**2*log(t) - t**2 + d)*(2*t**2*log(t) - t**2 + c))",
        "exp(-t)/sqrt((t + exp(t))*(t + exp(t) + c))",
        "1/(t*sqrt(log(t)**2 - t))",
        "(t - 1)/(t*sqrt(log(t)**2 - t))",
    ],
)
def test_no_elementary_integral_of_a_logarithm_under_a_root(text):
    f = element(text)
    assert "Liouville 1835" in next(under_root(f * f))[0]


@pytest.mark.parametrize(
    "text",
    [
        # derivatives of roots
        "sqrt(log(t) + t**2/2 + c)",
        "sqrt(log(t) + c/t)",
        "sqrt(log(t - 1) + log(t + 1) + t**2)",
        "sqrt(2*t + 2*exp(t) + c)",
        "sqrt(d + log(1 + exp(t)) - t)",
        "sqrt(log(t) + t)**3",
        # derivatives of logarithms, and of what has X' = c'/c
        "log(log(t) + t + sqrt((log(t) + t)**2 - c))",
        "sqrt(log(t)**2 - t) + log((log(t) + sqrt(log(t)**2 - t))**2/t)",
    ],
)
def test_an_elementary_integral_of_a_logarithm_under_a_root_is_none_without(text):
    f = element(text)
    slope = f.field.derivative(f, 0)
    assert not [*under_root(slope * slope)]
    assert not [*under_root(slope * slope * 7)]
    x = next(
        (f.field.named(g.name) for g in f.field.generators if g.kind == "exp"), f.field.gens[0]
    )
    assert [*under_root((slope * x) ** 2)]


@pytest.mark.parametrize(
    "text", ["1/sqrt(log(t)**3 + 1)", "1/sqrt(t + exp(t**2))", "sqrt(log(t)**2 + t)"]
)
def test_other_logarithms_under_roots_are_left_open(text):
    f = element(text)
    assert not [*under_root(f * f)]


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("1/(t**3 - t)", True),
        ("1/((t**2 - c)*(t**2 - d))", True),
        ("t**2/(t**5 - 1)", True),
        ("4/(c*t*(t - 1)*(t - d))", True),
        ("1/(t**2 - d)", False),
        ("1/(t*(t - 1)**2*(t - 2))", False),  # a root of a quadratic
        ("t**2/(t**4 - 1)", False),  # t dt/sqrt(t^4 - 1) is elementary
        ("t**4/(t**6 - c)", False),
        ("(t - 1)**2/(t**4 - t)", False),  # of another kind, and not decided
        ("t**4/((t**2 - c)*(t**2 - d))", True),
        ("t**4/(t**3 - c)", False),  # 2/3 sqrt(t^3 - c)
        ("t**4/(t**3 - t)", True),
        ("(3*t**2 - 1)**2/(t**3 - t)", False),  # 2 sqrt(t^3 - t)
        ("(5*t**3 - 3*t)**2/(t**3 - t)", False),  # 2 t sqrt(t^3 - t)
        ("t**4*(7*t**2 - 5)**2/(t**3 - t)", False),
        ("t**2/(t**4 - c)", False),
        # (t - r)(t + r) where r = |(c, d)|
        ("1/((t - sqrt(c**2 + d**2))*(t**2 - c**2 - d**2))", False),
        ("1/(t**3*(t - 1))", False),
        ("1/(t**4*(t**3 + 1))", True),  # of d(y/t) = (t/2 - 1/t^2) dt/y
        ("(t/2 - 1/t**2)**2/(t**3 + 1)", False),
        ("1/(t**4*(t**3 + t + 1))", False),  # with a residue at 0
        ("(4*t**3 + c)**2/(t**4 + c*t + 1)", False),  # 2 sqrt(t^4 + c t + 1)
        ("t**4/(t**4 + c*t**2 + 1)", True),
        ("t**4/(t**4 + c*t**3 + 1)", False),  # with residues at infinity
        ("(2*t + c)**2*t**2/(t**4 + c*t**3 + 1)", True),  # t^2 + c t/2 has none
        ("(exp(2*t) + 1)**4*exp(-2*t)/(exp(4*t) + c*exp(2*t) + 1)", True),
        ("(exp(2*t) + 1)**2/(exp(4*t) + c*exp(2*t) + 1)", False),  # with one at exp(t) = 0
        ("exp(2*t)/(exp(t) + c)", False),
        ("9*exp(6*t)/(exp(3*t) + c)", False),  # 2 sqrt(exp(3 t) + c)
        ("t**2*exp(2*t)/(exp(3*t) + c)", False),  # in t and exp(t)
        ("1/(t**2 + 1)**2", False),
    ],
)
def test_integrals_of_square_roots(text, never):
    """Of no residue; what may have one, or is exact, is not decided."""
    assert bool(why_not_elementary_root(element(text))) == never


PARTS = st.sampled_from(
    [
        "t",
        "1/(t + 1)",
        "exp(t)",
        "exp(-2*t)",
        "exp(t)/(t - c)",
        "t*exp(t)",
        "log(exp(t) + t)",
        "log(exp(t) + c)",
        "1/(exp(t) - 1)",
        "t/(exp(t) + t)",
        "log(t + d)",
        "exp(t)*sqrt(t**2 + c)",
        "exp(t)/sqrt(t**2 + c)",
        "exp(-2*t)*sqrt(t**2 + c)/t",
        "exp(sqrt(t))/t",
        "t*exp(3*sqrt(t))",
        "sqrt(exp(t) + 1)*exp(t)",
        "exp(t)/sqrt(exp(2*t) + t)",
    ]
)
LOGARITHMS = st.sampled_from(
    [
        "t",
        "log(t)",
        "log(t)**2",
        "t*log(t)",
        "log(log(t) + c)",
        "1/(log(t) - 2)",
        "t/(log(t) + t)",
        "log(t*log(t) + 1)",
        "log(t)/(t - d)",
    ]
)


ROOTS = st.sampled_from(
    [
        "sqrt(log(t) + t)",
        "t*sqrt(t**2 + c)",
        "log(t + sqrt(t**2 + c))",
        "atan(t)",
        "t**2*atan(t)**2",
        "log(atan(t) + c)",
        "sqrt(atan(t) + t**2)",
        "sqrt((t**2 + c)*(t**3 + d))",
        "(t**3 + c)**(2/3)",
        "(t**2 + 1)**(1/4)/t",
        "exp(-t)*sqrt(atan(t))",
        "asinh(t)*t",
        "asinh(t)**2/t",
        "exp(2*t)*asinh(t + 2)",
        "2*sqrt(c)*sqrt(t)/(t**2 + t) + 2*sqrt(d)/sqrt(t)",
    ]
)
FAMILIES = [st.lists(x, min_size=1, max_size=4) for x in (PARTS, LOGARITHMS)]


@settings(max_examples=90, deadline=None)
@given(st.one_of(*FAMILIES, st.lists(ROOTS, min_size=1, max_size=2)))
def test_derivatives_of_elementary_functions_are_never_refused(parts):
    whole = sympy.Add(*(n * sympy.sympify(part) for n, part in enumerate(parts, 1)))
    slope = sympy.together(whole.diff(t))
    with suppress(InputError):  # of two roots in logarithms
        (f,) = build_elements([from_sympy(slope)], "tcd", positive="t")
        assert not not_elementary(f, lambda _: True)


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("(t**2 + 1)**2/sqrt((t**2 + 1)*(t**4 + 2*t**2 + c))", True),
        ("1/sqrt(t**2 + c)", False),
        ("t*sqrt(t**2 + c) + exp(-t**2)*sqrt(t**2 + d)", True),  # of one root
        ("t*sqrt(t**2 + c) + sqrt(t**3 + d)/t**2 + 1/sqrt(t**3 + d)", True),
        ("t*sqrt(t**2 + c) + t**2*sqrt(t**3 + d)", False),
        ("1 + 2*t/(t**3 - c)**(1/3) + t**2/(t**3 - c)**(2/3)", True),
    ],
)
def test_each_root_and_each_derivative_by_a_constant_has_an_elementary_integral(text, never):
    assert bool(not_elementary(element(text), lambda _: True)) == never


@pytest.mark.parametrize(("inside", "new"), [("exp(t)/t", True), ("exp(t)", False)])
def test_what_is_new_under_a_root_may_be_an_integral(inside, new):
    """Where that is not elementary; int G'/sqrt(G) dt is."""
    tower = Tower.over(element(inside).field, units={"root G": 2})
    G = tower.adjoin(Generator("G", "integral", element(inside)))
    root = tower.power(G, Fraction(1, 2))
    assert bool(not_elementary(root.field.one / root, lambda _: True)) == new
    assert not not_elementary(root.field.derivative(root, 0), lambda _: True)


def test_the_page_says_why_an_integral_is_left():
    """Of the functions of today's layers; what is only not found is not called impossible."""
    for F, word in (
        ("a*exp(a**3)", "dQ/dbeta is no elementary function of beta, since no rational function y"),
        ("a*sigmoid(a)", "the residue of the integrand where t + exp(t) + 1 = 0 is no constant"),
        ("a*b*c", "since for general delta1, delta2 the differential of"),
        ("log(a) - a**2", "the gradient of Q is closed, and Q is no elementary function"),
        ("b*c/a", "since for general delta1, delta2 the differential of"),
        ("sigmoid(a) + a", "Q is no elementary function of beta, since the residue"),
        ("a*b*c**2", "no antiderivative was found"),
        ("sigmoid(a*b)", "since with t = a*b, for general delta no rational function y of t has"),
    ):
        d = derive_once(F)
        assert word in " ".join(d.to_text().split())
        latex = d.to_latex()
        assert ("ritt1948" in latex) == (F in ("a*b*c", "b*c/a"))
        assert ("bronstein2005" in latex) == (
            " no " in word and "ritt1948" not in latex and F != "a*b*c**2"
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [("1/sqrt(log(exp(t) + c) + d)", "for general `c` `"), ("1/sqrt(log(t) + t + d)", "`")],
)
def test_constants_in_what_is_new_are_general_too(text, said):
    """For c = 0 log(exp(t) + c) is t; the constant that is added to it is any."""
    why = not_elementary(element(text), lambda names: "d" not in names)
    assert why.startswith(f"{said}1/sqrt(")


def test_constants_that_the_start_relates_are_not_general():
    """Of delta1 = b_0^2 - c_0^2 and delta2 = a_0^2 + b_0^2 no more are free than the start has."""
    for start, free in (({}, True), ({"a": "s", "b": "s + 1", "c": "s + 2"}, False)):
        d = derive_once("b*c/a", start=start or None)
        (piece,) = d.potential.pieces
        assert bool(piece.integrand.proof) == free
    (piece,) = derive_once("w*exp(k*w**3)", parameters=["k"]).potential.pieces
    assert piece.integrand.proof.startswith("for general `k` no rational function")


@pytest.mark.parametrize(
    ("text", "logarithms", "left"),
    [
        ("2*cosh(t)**2/(t + sinh(t)*cosh(t))", ["(exp(t)**4 + 4*t*exp(t)**2 - 1)/exp(t)**2"], "0"),
        ("1/(exp(t) + 1)", ["exp(t) + 1"], "1"),
        ("1/(t*(log(t) + 2)) + t", ["log(t) + 2"], "t"),
        ("1/(exp(t) - t)", [], "-1/(t - exp(t))"),  # of which the residue moves
        ("exp(t)/(exp(2*t) - c)", [], "exp(t)/(exp(t)**2 - c)"),  # two residues
        ("1/(exp(t) + 1)**2", [], "1/(exp(t)**2 + 2*exp(t) + 1)"),
        ("1/t", [], "1/t"),
    ],
)
def test_residues_that_are_one_number_give_logarithms(text, logarithms, left):
    f = element(text)
    found, rest = logarithmic_part(f)
    assert [repr(p) for _, p in found] == logarithms
    assert repr(rest) == left
    parts = (f.field.constant(c) * f.field.derivative(p, 0) / p for c, p in found)
    assert sum(parts, rest) == f


def test_a_differential_in_an_exponential_is_written_in_it():
    why = why_not_elementary_root(element("(exp(t) + exp(-t))**4/(exp(2*t) + exp(-2*t) + c)"))
    what = "`(E**4 + 2*E**2 + 1)/(E**2*sqrt(E**4 + c*E**2 + 1))`"
    assert why == (
        f"with `E = exp(t)` the differential of {what} has no residue and is not exact (Ritt 1948)"
    )


LINE, BELL, RISING = -u, d / 2 - u**2 / 2, u**2 / 2 - u / 3 + d


def _exponential(A):
    def rational(x, part):
        return sympy.integrate(part, x)

    return Exponential(u, E, A, rational, lambda a: int(sympy.sign(a)) if a.is_number else 0)


@pytest.mark.parametrize(
    ("integrand", "A", "names"),
    [
        (E, BELL, {sympy.erf}),
        (u**4 * E**2, BELL, {sympy.erf}),
        (u * E, BELL, set()),
        ((1 + u**3) * E, RISING, {sympy.erfi}),
        (E / (u + 1), LINE, {sympy.Ei}),
        (u**2 * E / (u + 1) ** 3, LINE, {sympy.Ei}),
        (E**2 / u**3 + E / (u * (u + 2)) + u, d - u, {sympy.Ei}),
        (u**3 * E, LINE, set()),
        ((u + E) / (E + 1), u, {Li2}),
        (u / (E - 2) + u * E + u / E, u, {Li2}),
        (u / (E - 2) ** 2 + u / (E + 3) ** 3, 2 * u, {Li2}),
    ],
)
def test_the_integral_has_its_derivative(integrand, A, names):
    found = _exponential(A).integral(integrand)
    assert {f for f in NAMED if found.has(f)} == names
    error = found.xreplace({E: sympy.exp(A)}).diff(u) - integrand.xreplace({E: sympy.exp(A)})
    for at in (sympy.Rational(7, 5), sympy.Rational(9, 4)):
        assert abs(sympy.N(error.xreplace({u: at, d: sympy.Rational(1, 3)}), 30)) < 1e-25


@pytest.mark.parametrize(
    ("integrand", "A"),
    [
        (E / (u**2 + 1), LINE),  # poles that are no rational numbers
        (E / (u + 1), BELL),  # a pole beside a bell
        (u**2 / (E + 1), u),  # would take Li_3
        (u / (E + 1), u + 1),  # E is no power of exp(u)
        (E / (E + u), u),
        (E, d * u**2),  # a sign that is not known
        (u / (E - d), u),
    ],
)
def test_other_integrals_are_left(integrand, A):
    assert _exponential(A).integral(integrand) is None


def test_li2_is_the_dilogarithm():
    slope = Li2(u).diff(u)
    for z in (-3.0, -0.5, 0.7):
        exact = mpmath.diff(lambda x: mpmath.polylog(2, x), z)
        assert float(slope.subs(u, z)) == pytest.approx(float(exact.real), rel=1e-9)


@pytest.mark.parametrize(
    ("text", "free"),
    [
        ("(1 + t**2)**(-1/4)", True),
        ("t**(-1/2)*(t**2 - c)**(-3/4)", True),
        ("(c - d*t**3)**(1/3)", True),
        ("(t + t**3)**(1/3)", False),  # 2/3 and 1/3 are 1
        ("t**(1/2)*(1 + t**2)**(-3/4)", False),  # 3/4 - 3/4 is whole
        ("(1 + t**2)**(-3/2)", False),
        ("t*(1 + t**2)**(1/3)", False),
        ("(1 + t + t**2)**(1/3)", False),  # not a binomial
        ("t**(1/3)*(1 + t)**2", False),
    ],
)
def test_binomials_have_three_elementary_cases(text, free):
    assert (why_not_elementary_binomial(element(text)) is not None) == free
