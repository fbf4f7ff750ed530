"""Jets and germs: functions near a point, by their coefficients."""

from fractions import Fraction
from math import factorial

import pytest
from flint import arb

from derive.exact.balls import Unbounded, ball, evaluate_any, precise, values_of
from derive.exact.jets import BITS, jet_of
from derive.exact.towers.germ import Elementary, Unsettled
from derive.language import parse_expression
from derive.model.parameterization import Parameterization

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
