"""The last weight by one integral, and products of weights: what is printed, against the flow."""

import re

import pytest
import sympy
from mpmath import mp, mpf
from sympy.utilities.lambdify import implemented_function
from witness_flow import number, risen

from derive import Parameterization
from derive.weights import solved_leaf
from derive.weights.conserved import find_conserved, find_lie_structure
from numerics.evaluate.numbers import evaluated
from tests.potential.test_along_weight import leaves_of
from tests.published import derive_once

TIME = mpf(1) / 8
OVER_BETA = [
    ("v*log(1 + exp(w))", {"v": "1", "w": "-1/2"}),
    ("v*log(1 + exp(w))", {"v": "-1/8", "w": "1"}),  # which passes 0
    ("atan(a)*b", {"a": "1/2", "b": "1"}),
    ("b*exp(log(a)**2)", {"a": "3/2", "b": "1/2"}),
    ("v/(1 + exp(-q*k))", {"v": "1", "q": "1/2", "k": "-1"}),
    ("v/(1 + exp(-q*k))", {"v": "-1/2", "q": "-1", "k": "1/2"}),
    ("a*tanh(b*c)", {"a": "1", "b": "1/2", "c": "1"}),
    ("(1 + a*b)*c", {"a": "1", "b": "1/2", "c": "-1/4"}),
    ("exp(a*b)*c", {"a": "1/2", "b": "-1", "c": "1"}),
    ("a*(b*c + d)", {"a": "-1/2", "b": "1/2", "c": "1", "d": "1/4"}),
    ("a + a*b*c", {"a": "1/2", "b": "1", "c": "-1/2"}),
]
OVER_A_WEIGHT = [
    ("exp(a**2)/(1 + exp(-b**2))", {"a": "1/2", "b": "1"}),
    ("exp(a**2)/(1 + exp(-b**2))", {"a": "-1/2", "b": "-1"}),
    ("(a*b)**(3/4) + a*b", {"a": "2", "b": "1"}),
    ("(a*b)**(3/4) + a*b", {"a": "-1", "b": "-3/2"}),
    ("a*b + sinh(a*b)", {"a": "1", "b": "-1/2"}),
]


def at_place(name, weights):
    """Return t, a weight or a product of weights."""
    return sympy.sympify(name, {w: sympy.Symbol(w) for w in weights}).subs(weights)


def known(piece, start):
    """Return the start and the constants as numbers."""
    values = {f"{w}_0": number(x) for w, x in start.items()}
    return values | {s.name: evaluated(e, values) for s, e in piece.constants}


@pytest.mark.every(2)
@pytest.mark.parametrize(("output", "start"), OVER_BETA)
def test_a_kernel_with_an_integral_is_that_of_the_flow(output, start):
    """K(b), with G(b) = int a ds to t(b), and what b^2 is, on both sides of a zero of a weight."""
    (piece,) = derive_once(output).potential.pieces
    *integrals, (_, kernel) = piece.abbreviations
    pattern = r"`(t\(\w+\)) = ([^`]+)` where `F = \w+`, so that `(.+) = \w+\*\*2`"
    t, place, square = re.match(pattern, piece.note).groups()
    names = {t: "t_b"} | {G.name: "G_b" for G, _ in integrals}
    for name, plain in names.items():
        square = square.replace(name, plain)
    square = sympy.sympify(square.replace("abs(", "Abs("))
    with mp.workdps(20):
        for time in (0, TIME, -TIME / 2):
            w, F, K, _ = risen(output, start, time)
            there = known(piece, start) | {t: at_place(place, w), "t_b": at_place(place, w)}
            for G, integral in integrals:
                there[G.name] = there["G_b"] = evaluated(integral, there)
            assert abs(evaluated(kernel, there) - K) < 1e-12
            assert abs(evaluated(square, there) - F**2) < 1e-12


@pytest.mark.every(2)
@pytest.mark.parametrize(("output", "start"), OVER_A_WEIGHT)
def test_integrals_over_an_integral_are_the_time_and_q_its_integral(output, start):
    (piece,) = derive_once(output).potential.pieces
    (t, beta), (slope,) = (piece.curve.parameter, piece.curve.beta), piece.gradient

    ((G, integral),) = piece.abbreviations or ((sympy.Symbol("G"), sympy.S.Zero),)

    def value(e, values):
        found = implemented_function(G.name, lambda x: evaluated(integral, {**values, t.name: x}))
        e = e.replace(sympy.Function(G.name, real=True), found)
        return evaluated(e, values | {G.name: evaluated(integral, values)})

    def at(w, F):
        values = known(piece, start) | {t.name: at_place(piece.curve.weight, w)}
        return values | {piece.betas[0].name: F}

    with mp.workdps(15):
        here = at(*risen(output, start, 0)[:2])
        for time in (TIME, -TIME / 2):
            w, F, _, expected = risen(output, start, time)
            there = at(w, F)
            assert abs(value(beta, there) - F) < 1e-11
            assert abs(value(slope, there) - time) < 1e-11
            rise = value(piece.value, there) - value(piece.value, here)
            assert abs(rise - expected) < 1e-9


@pytest.mark.parametrize("output", ["v*log(1 + exp(w))", "v/(1 + exp(-q*k))"])
def test_a_wrong_last_weight_is_not_printed(monkeypatch, output):
    p = Parameterization.parse([output])
    conserved = find_conserved(find_lie_structure(p))
    assert leaves_of(conserved, p)
    own = solved_leaf.Generator
    wrong = lambda name, kind, a, *n: own(name, kind, 2 * a, *n)  # noqa: E731
    monkeypatch.setattr(solved_leaf, "Generator", wrong)
    assert not leaves_of(conserved, p)


@pytest.mark.parametrize(
    ("output", "closed"), [("exp(a*b)*c", "log"), ("(1 + a*b)*c", "log"), ("atan(a)*b", "atan")]
)
def test_the_integral_of_a_root_or_an_angle_is_closed(output, closed):
    (piece,) = derive_once(output).potential.pieces
    (_, G), _ = piece.abbreviations
    assert not G.has(sympy.Integral)
    assert G.has(getattr(sympy, closed))


def test_the_root_of_a_quadratic_is_in_the_time():
    """Of asinh(a) + b along a, dmu = sqrt(a^2 + 1) da is closed as well, but Q is not."""
    (piece,) = derive_once("asinh(a) + b").potential.pieces
    assert not piece.gradient[0].has(sympy.Integral)
