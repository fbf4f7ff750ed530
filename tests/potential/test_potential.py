"""Q against the published formulas, and against the flow itself along random paths."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy
from mpmath import mp, mpf
from witness_flow import (
    Model,
    claimed_gradient,
    evaluate,
    number,
    pathwise_errors,
    random_steering,
    real_roots,
    start_values,
)

from derive import Derivation, Parameterization, Verdict
from derive.model.condition import Sign
from derive.potential.piece import Root
from tests.published import derive_once

pytestmark = pytest.mark.every(3)

HOPF = ["p**2+q**2-r**2-s**2", "2*p*r+2*q*s", "2*q*r-2*p*s"]
EQUAL = {"p": "alpha", "m": "alpha"}
ALPHA = {"alpha": "3/4"}

Row = tuple[list[str], dict[str, str] | None, dict[str, str]]
PATHS: list[Row] = [
    (["w"], None, {"w_0": "-2/3"}),
    (["w**2"], None, {"w_0": "-3/2"}),
    (["w**3"], {"w": "-1"}, {}),
    (["-w**3"], {"w": "1"}, {}),
    (["w**4"], None, {"w_0": "5/4"}),
    (["1/w"], {"w": "-2"}, {}),
    (["p**2-m**2"], EQUAL, ALPHA),
    (["p**2-m**2"], None, {"p_0": "-1/2", "m_0": "4/3"}),
    (["p**2-m**2"], {"p": "1", "m": "0"}, {}),
    (["u*v-x*y"], None, {"u_0": "1", "v_0": "-1/2", "x_0": "2/3", "y_0": "0"}),
    (["u1*v1+u2*v2"], None, {"u1_0": "1", "v1_0": "-1", "u2_0": "1/2", "v2_0": "1/3"}),
    (["u*v"], {"u": "0", "v": "1"}, {}),
    (["p**3-m**3"], EQUAL, ALPHA),
    (["p**3-m**3"], EQUAL, {"alpha": "-1/2"}),
    (["p**3-m**3"], {"p": "1", "m": "-1"}, {}),
    (["p**5-m**5"], EQUAL, {"alpha": "3/5"}),
    (["p**4-m**4"], {"p": "-1/2", "m": "-1/2"}, {}),
    (["x**2-3*y**2"], None, {"x_0": "1/2", "y_0": "-1"}),
    (["x**2+x*y+y**2"], None, {"x_0": "1/2", "y_0": "-1"}),
    (["x*y*z"], {"x": "a", "y": "a", "z": "a"}, {"a": "1/2"}),
    (["a*u1", "a*u2"], None, {"a_0": "1", "u1_0": "1/2", "u2_0": "1/3"}),
    (["a*u1", "a*u2"], None, {"a_0": "3/2", "u1_0": "1", "u2_0": "-4/3"}),
    (["a*u1", "a*u2"], {"a": "-2", "u1": "1/2", "u2": "-1/3"}, {}),
    (["a*u1", "a*u2"], {"a": "5/4", "u1": "3/4", "u2": "1"}, {}),
    (["a*u1", "a*u2"], {"a": "-s", "u1": "0", "u2": "t"}, {"s": "1", "t": "1/2"}),
    (
        ["a*u1", "a*u2", "a*u3"],
        None,
        {"a_0": "1", "u1_0": "1/2", "u2_0": "-1/3", "u3_0": "1/4"},
    ),
    (["a*b*u1", "a*b*u2"], {"a": "-1", "b": "-2", "u1": "1/2", "u2": "1/3"}, {}),
    (["a*b*u1", "a*b*u2"], {"a": "1", "b": "-2", "u1": "1/2", "u2": "1/3"}, {}),
    (["a**2*u1", "a**2*u2"], {"a": "-1", "u1": "1/2", "u2": "1/3"}, {}),
    (["x**2*y*u", "x**2*y*v"], {"x": "1", "y": "-1", "u": "1/2", "v": "0"}, {}),
    (["a*c+b*d", "a*d+b*c"], {"a": "1", "b": "2", "c": "-1", "d": "1/2"}, {}),
    (["a*c-b*d", "a*d+b*c"], None, {"a_0": "-1", "b_0": "0", "c_0": "1", "d_0": "1/2"}),
    (HOPF, {"p": "1", "q": "0", "r": "1/2", "s": "-1"}, {}),
    (["x**2+y**2", "x*y"], {"x": "1", "y": "-2"}, {}),
    (["x*y", "x+y"], {"x": "-3", "y": "1"}, {}),
    (["a*b", "c**2", "e**3-f**3"], {"e": "t", "f": "t"}, {
        "a_0": "1", "b_0": "-1/2", "c_0": "-1", "t": "1/2",
    }),
    (["x", "x*y"], {"x": "-1", "y": "1"}, {}),
    (["x*y*z", "z"], {"x": "1", "y": "-1/2", "z": "1"}, {}),
    (["x*y*z", "z"], {"x": "1", "y": "1/2", "z": "-1"}, {}),
    (["x*y*z", "z"], {"x": "2", "y": "-1", "z": "-1"}, {}),
]  # fmt: skip


def numbers(symbols: dict[str, str]) -> dict[str, Any]:
    return {name: number(value) for name, value in symbols.items()}


@pytest.mark.every(12)
@pytest.mark.parametrize(("outputs", "start", "symbols"), PATHS)
def test_gradient_is_the_integrated_steering(
    outputs: list[str], start: dict[str, str] | None, symbols: dict[str, str]
) -> None:
    with mpmath.workdps(30):
        d = derive_once(Parameterization.parse(outputs, start))
        assert d.verdict is Verdict.PROVED
        for seed in (1, 2):
            steering = random_steering(len(outputs), seed, size=0.25)
            at_start, at_end = pathwise_errors(d, outputs, numbers(symbols), steering)
            assert at_start < mpf(10) ** -25
            assert at_end < mpf(10) ** -13


def test_the_witness_notices_a_wrong_gradient() -> None:
    """Negative control: the flow of another start, or a wrong exponent, does not agree."""
    d = derive_once(Parameterization.parse(["p**2-m**2"], EQUAL))
    with mpmath.workdps(30):
        wrong = pathwise_errors(d, ["p**2-m**2*99/100"], numbers(ALPHA), random_steering(1, 1))
        assert max(wrong) > mpf(10) ** -4


@pytest.mark.parametrize(
    ("outputs", "symbols"),
    [
        (["x", "x*y"], {"x_0": "-1", "y_0": "1"}),
        (["x", "y*(1+x)"], {"x_0": "-2", "y_0": "1"}),
        (["x*y*z", "z"], {"x_0": "1", "y_0": "1/2", "z_0": "-1"}),
        (["x*y", "x+y"], {"x_0": "1", "y_0": "2"}),
        (["x*y", "x+y"], {"x_0": "2", "y_0": "1"}),
        (["a*u1", "a*u2"], {"a_0": "-1", "u1_0": "2", "u2_0": "1"}),
    ],
)
def test_warp_is_positive_or_assumed_so(outputs: list[str], symbols: dict[str, str]) -> None:
    """A start at which g < 0 must break a stated assumption: a sign, not only its constancy."""
    d = derive_once(Parameterization.parse(outputs))
    point = {sympy.Symbol(n): number(v) for n, v in symbols.items()}
    model = Model.of(outputs, d.parameterization.weights)
    w0 = start_values(d.parameterization, numbers(symbols))
    g = sympy.lambdify(list(model.weights), d.warping.g)(*w0)
    assumptions = [a for piece in d.potential.pieces for a in piece.assumptions]
    stated = [str(a.of) for a in assumptions if a.sign is Sign.POSITIVE]
    assert g > 0 or any(evaluate(text, point) <= 0 for text in stated), assumptions


@pytest.mark.every(9)
@pytest.mark.parametrize(
    ("outputs", "start", "w"),
    [
        (["y/(1+y**2)"], {"y": "1/2"}, ["1/2"]),
        (["y/(1+y**2)"], {"y": "1/2"}, ["-1/2"]),
        (["-2*y/(1+y**2)"], {"y": "2"}, ["2"]),
        (["y**3-3*y"], {"y": "0"}, ["1/2"]),
        (["y**3-3*y"], {"y": "2"}, ["5"]),
        (["y**3-3*y"], {"y": "-2"}, ["-5"]),
        (["y**3-3*y"], {"y": "-2"}, ["-5/4"]),
        (["p**2-m**2"], {"p": "1", "m": "1/2"}, ["2", "1/4"]),
        (["u*v-x*y"], {"u": "1", "v": "1", "x": "1", "y": "1"}, ["2", "2", "1/2", "1/2"]),
        (["w**2+5"], {"w": "1"}, ["2"]),
        (["x*y*z", "z"], {"x": "1", "y": "1/2", "z": "-1"}, ["1", "1/2", "-1"]),
        (["a*u1", "a*u2"], {"a": "-2", "u1": "1", "u2": "3"}, ["-2", "1", "3"]),
        (["x**2*y"], {"x": "1", "y": "-2"}, ["1", "-2"]),
        (["a*b*u1", "a*b*u2"], {"a": "1", "b": "3", "u1": "5", "u2": "1"}, ["1", "3", "5", "1"]),
    ],
)
def test_kernel_in_beta_is_the_gram_matrix(
    outputs: list[str], start: dict[str, str], w: list[str]
) -> None:
    """K(beta) through its named root is J J^T at points of the leaf."""
    check_kernel(outputs, start, {}, w)


@pytest.mark.every(9)
@pytest.mark.parametrize("value", ["1/2", "2", "-1/2", "-2"])
@pytest.mark.parametrize("output", ["y/(1+y**2)", "-2*y/(1+y**2)", "y**3-12*y", "y**3-y/12"])
def test_kernel_of_a_symbolic_start_holds_at_every_start(output: str, value: str) -> None:
    check_kernel([output], {"y": "alpha"}, {"alpha": value}, [value])


def test_kernel_of_a_product_with_a_square_is_positive() -> None:
    check_kernel(["x**2*y"], None, {"x_0": "1", "y_0": "-2"}, ["1", "-2"])


def check_kernel(
    outputs: list[str], start: dict[str, str] | None, symbols: dict[str, str], w: list[str]
) -> None:
    """Compare K(beta) with J J^T; None is an honest answer, a wrong branch is not."""
    d = derive_once(Parameterization.parse(outputs, start))
    kernel = d.metric.kernel
    if kernel is None:
        return
    model = Model.of(outputs, d.parameterization.weights)
    with mpmath.workdps(30):
        weights = [number(x) for x in w]
        values, readings = on_leaf(d, model, weights, numbers(symbols))
        for root, explicit, numbered in readings:
            values[root.symbol.name] = numbered if explicit is None else explicit
        expected = model.kernel(weights)
        point = {sympy.Symbol(n): v for n, v in values.items()}
        for i in range(model.d):
            for j in range(model.d):
                assert abs(evaluate(kernel[i, j], point) - expected[i][j]) < 1e-12


def on_leaf(
    d: Derivation, model: Model, weights: list[Any], values: dict[str, Any]
) -> tuple[dict[str, Any], list[tuple[Root, Any, Any]]]:
    """Return the values at a point, and each root by its formula and by its number."""
    values = values | {b.name: x for b, x in zip(d.beta, model.F(*weights), strict=True)}

    def at(expression: Any) -> Any:
        return evaluate(expression, {sympy.Symbol(n): v for n, v in values.items()})

    for symbol, value in d.metric.constants:
        values[symbol.name] = at(value)
    readings = []
    for root in d.metric.roots:
        real = real_roots([at(c) for c in sympy.Poly(root.polynomial, root.symbol).all_coeffs()])
        explicit = None if root.explicit is None else at(root.explicit)
        if root.from_above is None:
            # Only the formula says which root it is: it must be one.
            numbered = min(real, key=lambda x: abs(x - explicit))
        else:
            assert root.from_above < len(real), "there is no such real root"
            numbered = real[root.from_above]
        readings.append((root, explicit, numbered))
        values[root.symbol.name] = numbered if explicit is None else explicit
    return values, readings


@pytest.mark.parametrize(
    ("outputs", "start", "w"),
    [
        (["y/(1+y**2)"], {"y": "1/2"}, ["1/2"]),
        (["-2*y/(1+y**2)"], {"y": "2"}, ["2"]),
        (["x*y*z", "z"], {"x": "1", "y": "1/2", "z": "-1"}, ["1", "1/2", "-1"]),
        (["x*y*z", "z"], {"x": "1", "y": "1/2", "z": "1"}, ["1", "1/2", "1"]),
        (["a*u1", "a*u2"], {"a": "-2", "u1": "1", "u2": "3"}, ["-2", "1", "3"]),
    ],
)
def test_the_number_of_a_root_names_the_root_of_the_formula(
    outputs: list[str], start: dict[str, str], w: list[str]
) -> None:
    d = derive_once(Parameterization.parse(outputs, start))
    model = Model.of(outputs, d.parameterization.weights)
    with mpmath.workdps(30):
        _, readings = on_leaf(d, model, [number(x) for x in w], {})
        assert readings
        for _, explicit, numbered in readings:
            assert abs(explicit - numbered) < 1e-12


BETAS = [Fraction(-7, 3), Fraction(-1, 5), Fraction(1, 7), Fraction(9, 4)]


def gradients(outputs: list[str], start: Any, symbols: dict[str, str], beta: list[Any]) -> list:
    d = derive_once(Parameterization.parse(outputs, start))
    (piece,) = d.potential.pieces
    named = {b.name: number(x) for b, x in zip(d.beta, beta, strict=True)}
    return claimed_gradient(piece, named, numbers(symbols))


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("alpha", ["1/3", "2"])
def test_hyperbolic_entropy_of_the_tied_pair(beta: Fraction, alpha: str) -> None:
    with mpmath.workdps(40):
        (found,) = gradients(["p**2-m**2"], EQUAL, {"alpha": alpha}, [beta])
        expected = mpmath.asinh(number(beta) / (2 * number(alpha) ** 2)) / 4
        assert abs(found - expected) < mpf(10) ** -38


def test_value_of_the_tied_pair_is_published_up_to_a_constant() -> None:
    d = derive_once(Parameterization.parse(["p**2-m**2"], EQUAL, ["alpha"]))
    with mpmath.workdps(40):
        alpha = number("2/3")

        def published(b: Any) -> Any:
            t = b / alpha**2
            return alpha**2 * (2 - mpmath.sqrt(4 + t**2) + t * mpmath.asinh(t / 2)) / 4

        def ours(b: Any) -> Any:
            return evaluate(d.potential.Q, {d.beta[0]: b, sympy.Symbol("alpha"): alpha})

        offsets = [ours(number(b)) - published(number(b)) for b in BETAS]
        assert max(offsets) - min(offsets) < mpf(10) ** -37


@pytest.mark.parametrize("beta", BETAS)
def test_untied_pair_with_any_start(beta: Fraction) -> None:
    start = {"u_0": "1", "v_0": "-1/2", "x_0": "2/3", "y_0": "3"}
    with mpmath.workdps(40):
        (found,) = gradients(["u*v-x*y"], None, start, [beta])
        u, v, x, y = (number(s) for s in start.values())
        k = ((u + v) ** 2 + (x - y) ** 2) * ((u - v) ** 2 + (x + y) ** 2)
        scale = 2 / mpmath.sqrt(k)
        initial = mpmath.asinh(scale * (u * v - x * y))
        expected = (mpmath.asinh(scale * number(beta)) - initial) / 2
        assert abs(found - expected) < mpf(10) ** -37


@pytest.mark.parametrize("D", [3, 4, 5])
@pytest.mark.parametrize("z", ["-3/4", "-1/9", "2/5", "7/8"])
def test_deep_pair_through_its_published_parameter(D: int, z: str) -> None:
    """beta = alpha^D h_D(z) has grad Q = alpha^(2-D) z / (D (D-2))."""
    with mpmath.workdps(40):
        alpha, t = number("3/5"), number(z)
        power = -mpf(D) / (D - 2)
        beta = alpha**D * ((1 - t) ** power - (1 + t) ** power)
        d = derive_once(Parameterization.parse([f"p**{D}-m**{D}"], EQUAL))
        (piece,) = d.potential.pieces
        assert piece.kind == "parametric"
        (found,) = claimed_gradient(piece, {"beta": beta}, {"alpha": alpha})
        assert abs(found - alpha ** (2 - D) * t / (D * (D - 2))) < mpf(10) ** -30


@pytest.mark.parametrize(
    "start", [("1", "1/2", "1/3"), ("3/2", "1", "-4/3"), ("5/4", "3/4", "1"), ("1/2", "-1", "2")]
)
def test_neuron_for_each_sign_of_delta(start: tuple[str, str, str]) -> None:
    """grad Q = beta / sqrt A - beta_0 / sqrt A_0; Q = (2/3) A^(3/2) - delta A^(1/2) + z.beta."""
    outputs = ["a*u1", "a*u2"]
    d = derive_once(Parameterization.parse(outputs))
    symbols = dict(zip(("a_0", "u1_0", "u2_0"), start, strict=True))
    with mpmath.workdps(40):
        a, *u = (number(x) for x in start)
        delta = a**2 - u[0] ** 2 - u[1] ** 2

        def A(b: list[Any]) -> Any:
            return (delta + mpmath.sqrt(delta**2 + 4 * (b[0] ** 2 + b[1] ** 2))) / 2

        def published(b: list[Any]) -> Any:
            linear = -(u[0] * b[0] + u[1] * b[1])
            return 2 * A(b) ** mpf("1.5") / 3 - delta * mpmath.sqrt(A(b)) + linear

        assert abs(A([a * u[0], a * u[1]]) - a**2) < mpf(10) ** -35
        offsets = []
        for beta in ([Fraction(1, 3), Fraction(-2)], [Fraction(5, 2), Fraction(1, 9)]):
            b = [number(x) for x in beta]
            found = gradients(outputs, None, symbols, beta)
            for got, x, initial in zip(found, b, u, strict=True):
                assert abs(got - (x / mpmath.sqrt(A(b)) - initial)) < mpf(10) ** -34
            values = {sympy.Symbol(n): number(v) for n, v in symbols.items()}
            values |= dict(zip(d.beta, b, strict=True))
            offsets.append(evaluate(d.potential.Q, values) - published(b))
        assert abs(offsets[0] - offsets[1]) < mpf(10) ** -34


def test_deep_neuron_is_the_direction_of_the_last_layer() -> None:
    """grad Q = u(beta) - u(beta_0), with s^2 = A (A - d1) (A - d2), A = a_1^2."""
    start = {"a": "2", "b": "1", "u1": "1/2", "u2": "0"}
    with mpmath.workdps(40):
        beta = [Fraction(3, 2), Fraction(-1, 3)]
        found = gradients(["a*b*u1", "a*b*u2"], start, {}, beta)
        s2 = sum(number(b) ** 2 for b in beta)
        d1, d2 = mpf(3), mpf(4) - mpf("0.25")
        A = mpmath.findroot(lambda t: t * (t - d1) * (t - d2) - s2, 6, tol=mpf(10) ** -70)
        product = mpmath.sqrt(A * (A - d1))
        for got, b, initial in zip(found, beta, ("1/2", "0"), strict=True):
            assert abs(got - (number(b) / product - number(initial))) < mpf(10) ** -30


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("w", lambda b, b0: b - b0),
        ("w**2", lambda b, b0: mpmath.log(b / b0) / 4),
        ("1/w", lambda b, b0: (b0**-3 - b**-3) / 3),
        ("w**3", lambda b, b0: (b0 ** (-mpf(1) / 3) - b ** (-mpf(1) / 3)) / 3),
    ],
)
def test_one_weight(output: str, expected: Any) -> None:
    with mpmath.workdps(40):
        for beta in (Fraction(1, 7), Fraction(9, 4)):
            (found,) = gradients([output], {"w": "3/2"}, {}, [beta])
            (b0,) = Model.of([output], ["w"]).F(number("3/2"))
            assert abs(found - expected(number(beta), b0)) < mpf(10) ** -37


def test_working_precision_is_left_alone() -> None:
    assert mp.dps == 15


@pytest.mark.parametrize(
    ("larger", "claimed"), [("a + b", True), ("a - b", False), ("b - a", False)]
)
def test_an_interval_whose_end_may_be_on_either_side_is_not_claimed(larger, claimed):
    """From p = a - b the curve of p**3 - m**3 has a pole at z = (b - a)/a: below 0, or above."""
    p = Parameterization.parse(["p**3 - m**3"], start={"p": larger, "m": "a"})
    d = derive_once(p)
    (piece,) = d.potential.pieces
    assert (d.verdict, piece.kind) == (Verdict.PROVED, "parametric")
    assert bool(piece.curve.interval) is claimed
