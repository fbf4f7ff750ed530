"""Taylor polynomials at a point are what exact derivatives are there."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import pytest
from flint import arb

from derive.exact.balls import Unbounded, ball, evaluate_any, precise, values_of
from derive.exact.jets import BITS, Jet, evaluate_jet, jets_at
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


def parsed(text: str) -> Parameterization:
    parameters = ["D"] if "D" in text else []
    return Parameterization.parse([text], positive=["x", "y"], parameters=parameters)


def jet_of(text: str, order: int = ORDER) -> Jet:
    p = parsed(text)
    return evaluate_jet(p.F[0], jets_at(p.field, POINT, order))


@pytest.mark.parametrize("text", FUNCTIONS)
def test_coefficients_are_derivatives(text: str) -> None:
    p = parsed(text)
    names = {name: POINT[name] for name in (*p.weights, *p.parameters)}
    values = values_of(p.field, names)
    with precise():
        jet = jet_of(text)
        for i in range(ORDER + 1):
            for j in range(ORDER + 1 - i):
                element = p.F[0]
                for name, times in (("x", i), ("y", j)):
                    for _ in range(times):
                        element = p.field.derivative(element, p.weights.index(name))
                exact = evaluate_any(element, values)
                key = sum(n << (BITS * p.weights.index(name)) for name, n in (("x", i), ("y", j)))
                found = jet.parts[i + j].get(key, arb(0)) * factorial(i) * factorial(j)
                difference = ball(exact) - found
                assert difference.contains(0)
                assert difference.rad() < 1e-50


def test_rational_functions_stay_exact() -> None:
    jet = jet_of("1/(x + y**2)")
    assert jet.value == 1 / (POINT["x"] + POINT["y"] ** 2)
    assert all(not isinstance(c, arb) for part in jet.parts for c in part.values())


def test_a_derivative_is_known_to_one_order_less() -> None:
    slope = jet_of("x**3*y - x/y").derivative(0)
    assert slope.order == ORDER - 1
    assert slope.value == 3 * POINT["x"] ** 2 * POINT["y"] - 1 / POINT["y"]


def test_a_pole_is_refused() -> None:
    p = parsed("1/(x - y)")
    point = {"x": Fraction(1), "y": Fraction(1)}
    with pytest.raises(ZeroDivisionError):
        evaluate_jet(p.F[0], jets_at(p.field, point, ORDER))


def test_a_pole_that_a_ball_does_not_exclude_is_refused() -> None:
    q = parsed("1/(sinh(x)**2 + 1 - exp(y))")
    # cosh(0)^2 = 1 = exp(0), in balls.
    variables = jets_at(q.field, {"x": Fraction(0), "y": Fraction(0)}, ORDER)
    with pytest.raises(Unbounded):
        evaluate_jet(q.F[0], variables)
