"""Elementary functions as exact field elements, where equal ones are equal, and near a point."""

from fractions import Fraction
from math import factorial

import mpmath
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import InputError
from derive.exact.balls import Unbounded, ball, evaluate_any, fraction, precise, values_of
from derive.exact.jets import BITS, jet_of
from derive.exact.towers.germ import Elementary, Unsettled
from derive.exact.towers.tower import build_elements
from derive.language import parse_expression, parse_outputs, to_sympy
from derive.language.tree import exponent_names, names
from derive.model.parameterization import Parameterization

EQUAL = [
    ("exp(2*w)", "exp(w)**2"),
    ("exp(w/2)*exp(w/3)", "exp(5*w/6)"),
    ("exp(u + v)", "exp(u)*exp(v)"),
    ("sinh(w)**2 + 1", "cosh(w)**2"),
    ("tanh(w)", "sinh(w)/cosh(w)"),
    ("sin(2*w)", "2*sin(w)*cos(w)"),
    ("cos(u - v)", "cos(u)*cos(v) + sin(u)*sin(v)"),
    ("w*sigmoid(w) + w*sigmoid(-w)", "w"),
    ("sigmoid(2*w)", "(1 + tanh(w))/2"),
    ("softplus(w) - softplus(-w)", "w"),
    ("atan(-w) + 2*atan(w)", "atan(w)"),
    ("w*abs(exp(w) + 1)", "w*exp(w) + w"),
    ("exp(2*asinh(w))", "(w + sqrt(1 + w**2))**2"),
    ("sinh(asinh(w))", "w"),
    ("tan(w/2)", "sin(w)/(1 + cos(w))"),
    ("log(x**2*y)", "2*log(x) + log(y)"),
    ("exp(2*log(x))", "x**2"),
    ("log(exp(3*w))", "3*w"),
    ("sqrt(8*x)", "2*sqrt(2*x)"),
    ("sqrt(x)*sqrt(2)*y", "sqrt(2*x)*y"),
    ("sqrt(6*x + 2)/sqrt(3*x + 1)*x", "x*sqrt(2)"),
    ("(-12*x*y)**(1/2)", "2*sqrt(3)*sqrt(-x*y)"),
    ("sqrt(x)*sqrt(x)", "x"),
    ("x**(1/2)*x**(1/3)", "x**(5/6)"),
    ("1/(1 + sqrt(x))", "(1 - sqrt(x))/(1 - x)"),
    ("sqrt(a**2 + b**2)**3", "(a**2 + b**2)*sqrt(a**2 + b**2)"),
    ("sqrt(2)*(u**2 + v**2)**(1/4)/2", "(u**2 + v**2)**(1/4)/sqrt(2)"),
    ("p**(2*D - 1)", "p**D*p**D/p"),
    ("(p*q)**D", "p**D*q**D"),
    ("exp(D*log(p))", "p**D"),
    ("log(p**D)", "D*log(p)"),
    ("log(x**2*p**(2*D - 1))", "2*log(x) + (2*D - 1)*log(p)"),
    ("log((p*q)**(D/3))", "D*log(p)/3 + D*log(q)/3"),
    ("1/(x**(1/3) + 1)", "(x**(2/3) - x**(1/3) + 1)/(x + 1)"),
    ("w*sqrt(5 + 2*sqrt(6))", "w*(sqrt(2) + sqrt(3))"),
    ("w*sqrt(5 - 2*sqrt(6))", "w*(sqrt(3) - sqrt(2))"),
    ("6*w*sqrt(1/6)", "w*sqrt(6)"),
    ("w*(5 + 2*sqrt(6))**(3/2)", "w*(sqrt(2) + sqrt(3))**3"),
    ("w*sqrt(3 + 2*sqrt(2))", "w + w*sqrt(2)"),
    ("sqrt(12)*sqrt(6)*w/sqrt(2)", "6*w"),
    ("exp(x)**(2/3)", "exp(x/3)**2"),
    ("(p**D)**(1/2)*x", "p**(D/2)*x"),
    ("(x**4)**(1/2)", "x**2"),
    ("(8*x**5/27)**(1/3)", "2*(x**(1/3))**5/3"),
    ("(4*x**2 + 4*y**2)**(3/2)", "8*(x**2 + y**2)*sqrt(x**2 + y**2)"),
    ("(6*p)**D", "2**D*3**D*p**D"),
    # Exponentials of logarithms are positive, of a modulus there is one generator.
    ("exp(log((1 + w)/(1 - w)))", "(1 + w)/(1 - w)"),
    ("1/(1 + exp(-log((1 + w)/(1 - w))))", "(1 + w)/2"),
    ("exp(log((1 - w)*(2 - w)) + log(1 - w))", "(1 - w)**2*(2 - w)"),
    ("exp(log((1 - w)*(2 - w)) - log(1 - w))", "2 - w"),
    ("exp(3*log((w - 1)*(w - 2)))", "((w - 1)*(w - 2))**3"),
    ("exp(2*log((1 + w)/(1 - w)))", "((1 + w)/(1 - w))**2"),
    ("exp(log((w - 1)*(w - 2))/2)", "((w - 1)*(w - 2))**(1/2)"),
    ("log(1 - w) + log((1 - w)*(2 - w))", "2*log(1 - w) + log(2 - w)"),
    # Logarithms of products with roots are sums; with roots inside they may be used twice.
    ("log(exp(x)*sqrt(x + 1))", "x + log(x + 1)/2"),
    ("log(x**2*sqrt(12*x))", "5*log(x)/2 + log(2) + log(3)/2"),
    ("p**(D + 1/2)", "p**D*sqrt(p)"),
    ("w*log(1 + sqrt(w)) + log(1 + sqrt(w))", "(1 + w)*log(1 + sqrt(w))"),
    ("w*log(sqrt(2) + w) + log(sqrt(2) + w)", "(1 + w)*log(sqrt(2) + w)"),
]

DIFFERENT = [
    ("exp(w)", "exp(-w)"),
    ("exp(w**2)", "exp(w)**2"),
    ("log(x)", "log(y)"),
    ("sqrt(x)", "sqrt(y)"),
    ("p**D", "p**2"),
    ("sin(w)", "cos(w)"),
    ("asinh(x)", "log(x)"),
    ("sqrt(2)*x", "7*x/5"),
    ("atan(x)", "atan(2*x)"),
    ("atan(x)", "log(1 + x**2)"),
    ("sigmoid(x)", "softplus(x)"),
]


def elements(*texts):
    trees = parse_outputs(texts)
    parameters = exponent_names(trees)
    weights = [n for n in names(trees) if n not in parameters]
    return build_elements(trees, weights, parameters)


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_functions_are_equal_elements(one, other):
    a, b = elements(one, other)
    assert a == b
    assert (a - b).is_zero()
    assert a != -b


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_functions_are_different_elements(one, other):
    a, b = elements(one, other)
    assert a != b


FORMULAS = [
    *dict.fromkeys(text for pair in EQUAL for text in pair),
    "asinh(u*v)",
    "log(u + sqrt(u**2 + 1))",
    "atan(u*v)*softplus(v)",
    "atan(u/3) + atan(v/(1 + u**2))",
]


@pytest.mark.every(8)
@pytest.mark.parametrize("text", FORMULAS)
def test_values_and_derivatives_are_those_of_mpmath(text):
    (element,) = elements(text)
    field = element.field
    tree = parse_outputs([text])[0]
    sign = -1 if "x*y)" in text else 1  # so that the radicand of sqrt(-x*y) is positive
    point = {n: Fraction(k + 3, 7) * sign**k for k, n in enumerate(sorted(names((tree,))))}
    values = values_of(field, {n: point[n] for n in (*field.weights, *field.parameters)})
    expression = to_sympy(tree)
    with mpmath.workdps(50):
        at = {
            s: mpmath.mpf(point[s.name].numerator) / point[s.name].denominator
            for s in expression.free_symbols
        }

        def close(ours, theirs):
            mine = fraction(ours)
            return (
                abs(mpmath.mpf(mine.numerator) / mine.denominator - theirs) < mpmath.mpf(10) ** -40
            )

        assert close(evaluate_any(element, values), mpmath.mpmathify(expression.evalf(50, at)))
        for k, weight in enumerate(field.weights):
            slope = field.derivative(element, k)
            by = next(s for s in expression.free_symbols if s.name == weight)
            theirs = expression.diff(by).evalf(50, at)
            assert close(evaluate_any(slope, values), mpmath.mpmathify(theirs)), weight


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(x - x)**D*x", "a real power of zero"),
        ("sqrt(x**2)", "a kink"),
        ("sqrt(x) + sqrt(y) + sqrt(x*y)", "product of roots"),
        ("sqrt(x) + (x**3*(y**2 + 1)**2)**(1/6)", "product of roots"),
        ("sqrt(x*y) + sqrt(x) + sqrt(y)", "product of roots"),
        ("sqrt(1 + x) + sqrt(1 - x) + sqrt(1 - x**2)", "product of roots"),
        ("x*sqrt(-4)", "real"),
        ("log(x + sqrt(x**2 + 1)) + log(sqrt(x**2 + 1) - x)", "may depend"),
        ("(x + sqrt(x))**D", "with roots"),
        ("atan(x) + atan(1/x)", "may depend"),
        ("atan(x) + atan(2*x/(1 - x**2))", "may depend"),
        ("atan(exp(x)) + atan(sinh(x))", "may depend"),
        ("atan(tan(x))", "inside atan"),
        ("abs(x)", "a kink"),
        ("atan(sqrt(x))", "inside atan"),
        ("cos(2*atan(x))", "algebraic"),
        ("tan(x + atan(x))", "algebraic"),
        ("sqrt(1 - sqrt(2))*x", "negative"),
        ("(1 + sqrt(2))**(1/3)*x", "only square roots"),
        ("sqrt(sqrt(x) + sqrt(x + 1))", "too entangled"),
        ("sqrt(x + sqrt(x**2 - 1))", "a sum of simpler roots"),
        ("(x - 2 - x)**D*x", "is negative"),
    ],
)
def test_what_cannot_be_represented_is_refused(text, message):
    with pytest.raises(ZeroDivisionError if "zero" in message else InputError, match=message):
        elements(text)


@given(st.lists(st.integers(-3, 3), min_size=6, max_size=6))
def test_algebraic_elements_have_inverses(c):
    r, s, x = elements("sqrt(x)", "sqrt(x + 1)", "x")
    element = c[0] + c[1] * r + c[2] * s + c[3] * r * s + c[4] * x + c[5] * x * r
    if not element.is_zero():
        assert element * (1 / element) == 1
        field = element.field
        assert field.derivative(element * element, 0) == 2 * element * field.derivative(element, 0)


POINT = {"x": Fraction(2, 3), "y": Fraction(3, 2), "D": Fraction(7, 3)}
ORDER = 4
FUNCTIONS = [
    "x**3*y - x/y",
    "1/(x + y**2)",
    "exp(x*y)*y",
    "cos(x/2) + sin(x/2)*y",
    "tanh(x)*sinh(y)",
    "log(x**2*y + 1)",
    "log(x - y)",
    "asinh(x + y)",
    "atan(x*y)/y",
    "softplus(x - y)",
    "sqrt(x**2 + y**2)",
    "y/x**(2/3)",
    "x**D + y",
]


def parsed(*texts):
    parameters = ["D"] if "D" in texts[0] else []
    p = Parameterization.parse(texts, positive=["x", "y"], parameters=parameters)
    return p, values_of(p.field, {name: POINT[name] for name in (*p.weights, *p.parameters)})


def jet(text):
    p, values = parsed(text)
    with precise():
        return jet_of(p.F[0], values, ORDER)


@pytest.mark.parametrize("text", FUNCTIONS)
def test_coefficients_are_derivatives(text):
    p, values = parsed(text)
    with precise():
        found = jet(text)
        for i in range(ORDER + 1):
            for j in range(ORDER + 1 - i):
                element = p.F[0]
                for name, times in (("x", i), ("y", j)):
                    for _ in range(times):
                        element = p.field.derivative(element, p.weights.index(name))
                exact = evaluate_any(element, values)
                key = sum(n << (BITS * p.weights.index(name)) for name, n in (("x", i), ("y", j)))
                coefficient = found.parts[i + j].get(key, arb(0))
                difference = ball(exact) - coefficient * factorial(i) * factorial(j)
                assert difference.contains(0)
                assert difference.rad() < 1e-50


def test_rational_functions_stay_exact():
    found = jet("1/(x + y**2)")
    assert found.value == 1 / (POINT["x"] + POINT["y"] ** 2)
    assert all(not isinstance(c, arb) for part in found.parts for c in part.values())


def test_a_derivative_is_known_to_one_order_less():
    slope = jet("x**3*y - x/y").derivative(0)
    assert slope.order == ORDER - 1
    assert slope.value == 3 * POINT["x"] ** 2 * POINT["y"] - 1 / POINT["y"]


@pytest.mark.every(8)
@pytest.mark.parametrize("text", FUNCTIONS)
def test_jets_of_products_and_quotients_are_those_of_jets(text):
    p, values = parsed(text, "x**2*y + 1")
    f, g = p.F
    with precise():
        of_f, of_g, *expected = (jet_of(h, values, ORDER) for h in (f, g, f * g, f / g))
        for found, exact in zip((of_f * of_g, of_f / of_g), expected, strict=True):
            for part, terms in zip(found.parts, exact.parts, strict=True):
                for key in part.keys() | terms.keys():
                    difference = arb(part.get(key, 0)) - arb(terms.get(key, 0))
                    assert difference.contains(0)
                    assert difference.rad() < 1e-50


@pytest.mark.parametrize(
    ("text", "at", "error"),
    [
        ("x - y", {"x": 1, "y": 1}, ZeroDivisionError),
        # cosh(0)^2 = 1 = exp(0), in balls.
        ("sinh(x)**2 + 1 - exp(y)", {"x": 0, "y": 0}, Unbounded),
    ],
)
def test_a_pole_is_refused_and_so_is_one_that_a_ball_does_not_exclude(text, at, error):
    p, _ = parsed(text)
    with precise():
        values = values_of(p.field, {name: Fraction(x) for name, x in at.items()})
        with pytest.raises(error):
            jet_of(1 / p.F[0], values, ORDER)
        found = jet_of(p.F[0], values, ORDER)
        with pytest.raises(error):
            found / found


def is_zero(text, **point):
    tree = parse_expression(text)
    tower = Elementary({name: Fraction(x) for name, x in point.items()}, [tree])
    return tower.is_zero(tower.read(tree))


ZEROS = [
    ("sinh(asinh(w)) - w", 2),
    ("asinh(sinh(w)) - w", -2),
    ("sin(w)**2 + cos(w)**2 - 1", 1),
    ("sin(3*w) - 3*sin(w) + 4*sin(w)**3", 1),
    ("tan(w) - sin(w)/cos(w)", 5),
    ("sin(w/2)**2 - (1 - cos(w))/2", 1),
    ("cos(-w/3) - cos(w/3)", 1),
    ("sin(-w) + sin(w)", 1),
    ("(w**(4/3))**(3/2) - w**2", 3),
    ("exp(2*log(w/2)) - w**2/4", 1),
    ("exp(w/2)**2 - exp(w)", 1),
    ("sqrt(exp(w)) - exp(w/2)", 1),
    ("tanh(w) - (exp(2*w) - 1)/(exp(2*w) + 1)", 1),
    ("sqrt(2)*sqrt(3) - sqrt(6)", 1),
    ("sqrt(w**2) - w", 2),
    ("sqrt(w**2) + w", -2),
    ("log(w**2) - 2*log(w)", 2),
    ("log(6) - log(2) - log(3)", 1),
    ("2*log(sqrt(w)) - log(w)", 3),
    ("log(exp(w)*sqrt(w + 1)) - w - log(w + 1)/2", 3),
    ("1/(1 + sqrt(w)) - (1 - sqrt(w))/(1 - w)", 3),
    ("sqrt(5 + 2*sqrt(6)) - sqrt(2) - sqrt(3)", 1),
    ("sqrt(w - w) + (w - w)**(4/3)", 1),
    ("sqrt(sqrt(w**2 + 1) - 1)*sqrt(sqrt(w**2 + 1) + 1) - w", 2),
]
OTHERS = [
    ("sqrt(w**2) - w", -2),
    ("sqrt(w**2) + w", 2),
    ("sin(w) - w", 1),
    ("exp(w) - 1 - w", 1),
    ("sin(w)**2 - sinh(w)**2", 1),
    ("log(w + 1) - log(w)", 1),
    ("sqrt(w + 1) - sqrt(w) - 1", 2),
    ("exp(2*w) - 2*exp(w)", 1),
    ("w - w**2", 1),
    ("sqrt(sqrt(w**2 + 1) - 1)*sqrt(sqrt(w**2 + 1) + 1) - w", -2),
    ("sqrt(5 - 2*sqrt(6)) - sqrt(2) + sqrt(3)", 1),
    ("sqrt(w + 1) - sqrt(w) - 1", "1/10000000000000000000000000000000000000000"),
]


@pytest.mark.parametrize(
    ("text", "w", "zero"), [(*x, x in ZEROS) for x in (*ZEROS, *OTHERS)], ids=str
)
def test_zeros_are_proved_and_others_are_not(text, w, zero):
    assert is_zero(text, w=w) is zero


NO_DIVISION = "division by what may be zero"


@pytest.mark.parametrize(
    ("text", "w", "why"),
    [
        ("1/(w + 1) - 1/(w + 1)**2 - w/(w + 1)**2 + 1/(w + 1)", -1, NO_DIVISION),
        ("1/(log(7 + 4*sqrt(3)) - 2*log(2 + sqrt(3)))", 1, NO_DIVISION),
        ("(sqrt(w**2 + 1) - 1)**(-2)", 0, NO_DIVISION),
        ("(w - w)**(-1/2)", 1, NO_DIVISION),
        *((text, -1, None) for text in ("log(w)", "sqrt(w)", "log(w + 1)", "w**(1/3)")),  # not real
    ],
)
def test_division_by_what_may_be_zero_and_branches_that_are_not_real_are_refused(text, w, why):
    with pytest.raises(Unsettled, match=why):
        is_zero(text, w=w)
