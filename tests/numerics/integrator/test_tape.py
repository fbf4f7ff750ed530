"""Tapes: sharing, values, reverse mode, and the jets of every operation."""

from fractions import Fraction

import mpmath
import pytest

from derive.errors import InputError, NumericalError
from derive.language.functions import CALLS
from derive.language.tree import Call, Name, Number, Operation, Power
from numerics.integrator.builder import Builder, compile_forward
from tests.numerics.integrator.programs import compile_gradient, propagate

W, V = Name("w"), Name("v")
DIGITS, ORDER = 40, 12
POINT = Fraction(7, 10)

OTHERS = {
    "sigmoid": lambda w: 1 / (1 + mpmath.exp(-w)),
    "softplus": lambda w: mpmath.log1p(mpmath.exp(w)),
}
OPERATIONS = [
    *((name, Call(name, W), OTHERS.get(name) or getattr(mpmath, name)) for name in CALLS),
    ("number", Number(Fraction(1, 3)), lambda w: mpmath.mpf(1) / 3),
    ("add", Operation("+", W, Number(Fraction(1, 3))), lambda w: w + mpmath.mpf(1) / 3),
    ("square", Operation("*", W, W), lambda w: w * w),
    ("multiply", Operation("*", W, Call("exp", W)), lambda w: w * mpmath.exp(w)),
    ("divide", Operation("/", Call("sin", W), W), lambda w: mpmath.sin(w) / w),
    ("halve", Operation("/", W, Number(Fraction(2))), lambda w: w / 2),
    ("power 0", Power(W, Fraction(0)), lambda w: mpmath.mpf(1)),
    ("power 7", Power(W, Fraction(7)), lambda w: w**7),
    ("power -3", Power(W, Fraction(-3)), lambda w: w**-3),
    ("power 2/3", Power(W, Fraction(2, 3)), lambda w: mpmath.root(w, 3) ** 2),
    ("power -5/2", Power(W, Fraction(-5, 2)), lambda w: mpmath.sqrt(w) ** -5),
    (
        "nested",
        Call("tanh", Operation("/", Call("log", W), Call("asinh", Power(W, Fraction(2))))),
        lambda w: mpmath.tanh(mpmath.log(w) / mpmath.asinh(w * w)),
    ),
    ("constant", Call("exp", Number(Fraction(2))), lambda w: mpmath.exp(2)),
]
IDS = [name for name, _, _ in OPERATIONS]


def close(a, b, digits=DIGITS):
    with mpmath.workdps(digits + 10):
        return bool(abs(a - b) <= mpmath.mpf(10) ** -digits * max(1, abs(b)))


@pytest.mark.parametrize(("tree", "function"), [row[1:] for row in OPERATIONS], ids=IDS)
def test_jets_agree_with_mpmath(tree, function):
    line = [POINT, Fraction(1)] + [Fraction(0)] * (ORDER - 1)
    (jet,) = propagate(compile_forward([tree], ["w"]), [line], DIGITS)
    with mpmath.workdps(3 * DIGITS):
        expected = mpmath.taylor(function, mpmath.mpf(7) / 10, ORDER)
    assert len(jet) == ORDER + 1
    assert all(close(a, b) for a, b in zip(jet, expected, strict=True))


@pytest.mark.parametrize(("tree", "function"), [row[1:] for row in OPERATIONS], ids=IDS)
def test_jets_of_the_gradient_are_those_of_the_slope(tree, function):
    line = [POINT, Fraction(1)] + [Fraction(0)] * (ORDER - 1)
    seed = [Fraction(3)] + [Fraction(0)] * ORDER
    _, jet = propagate(compile_gradient([tree], ["w"]), [line, seed], DIGITS)
    with mpmath.workdps(3 * DIGITS):
        expected = mpmath.taylor(function, mpmath.mpf(7) / 10, ORDER + 1)
        slope = [3 * (k + 1) * x for k, x in enumerate(expected[1:])]
    assert all(close(a, b) for a, b in zip(jet, slope, strict=True))


EXPONENTS = [Fraction(n) for n in (-3, -2, -1, 0, 2, 3, 5)]
ROOTS = [Fraction(1, 2), Fraction(-1, 2), Fraction(2, 3), Fraction(-5, 3), Fraction(7, 5)]


@pytest.mark.every(3)
@pytest.mark.parametrize("q", [*EXPONENTS, *ROOTS])
@pytest.mark.parametrize("scale", ["1e-60", "3", "1e60"])
def test_powers_at_any_scale(q, scale):
    """(s + s t/2)^q has the coefficients binom(q, k) s^q/2^k."""
    size = Fraction(scale)
    line = [size, size / 2] + [Fraction(0)] * (ORDER - 1)
    (jet,) = propagate(compile_forward([Power(W, q)], ["w"]), [line], DIGITS)
    with mpmath.workdps(3 * DIGITS):
        s, exponent = mpmath.mpf(scale), mpmath.mpf(q.numerator) / q.denominator
        for k, found in enumerate(jet):
            expected = mpmath.binomial(exponent, k) / 2**k
            assert close(found / s**exponent, expected)


def test_reverse_mode_of_two_outputs_in_two_weights():
    outputs = [Operation("*", W, Call("exp", V)), Operation("/", V, Operation("+", W, V))]
    tape = compile_gradient(outputs, ["w", "v"])
    w, v, a, b = Fraction(2), Fraction(1, 2), Fraction(3), Fraction(-1)
    values = [x for (x,) in propagate(tape, [[w], [v], [a], [b]], DIGITS)]
    with mpmath.workdps(60):
        e, s = mpmath.exp(mpmath.mpf(1) / 2), mpmath.mpf(5) / 2
        expected = [2 * e, 1 / (2 * s), 3 * e + 1 / (2 * s**2), 6 * e - 2 / s**2]
        assert all(close(x, y) for x, y in zip(values, expected, strict=True))


def test_a_weight_that_no_output_contains_has_gradient_zero():
    tape = compile_gradient([W], ["w", "v"], lambda builder, _: [builder.constant(Fraction(5))])
    assert [x for (x,) in propagate(tape, [[POINT], [POINT]], DIGITS)][1:] == [5, 0]


def test_common_subexpressions_are_shared():
    trees = [Call("exp", Operation("*", Name("w"), Name("v"))) for _ in range(5)]
    trees.append(Call("exp", Operation("*", Name("v"), Name("w"))))
    tape = compile_forward(trees, ["w", "v"])
    assert [i.op for i in tape.instructions] == ["input", "input", "multiply", "euler", "exp"]
    assert len(set(tape.outputs)) == 1


def test_sine_and_cosine_share_one_pair():
    tape = compile_forward([Call("cos", W), Call("sin", W), Call("tan", W)], ["w"])
    assert [i.op for i in tape.instructions] == ["input", "euler", "sin", "cos", "divide"]


def test_a_program_drops_what_its_outputs_do_not_need():
    builder = Builder(["w", "v"])
    _, last = map(builder.tree, (Call("exp", W), Call("log", V)))
    tape = builder.tape([last])
    assert [i.op for i in tape.instructions] == ["input", "logderivative", "log"]
    assert tape.inputs == ("w", "v")


@pytest.mark.parametrize(("exponent", "products"), [(2, 2), (3, 3), (4, 4), (5, 4), (15, 9)])
def test_the_gradient_of_a_power_takes_few_products(exponent, products):
    tape = compile_gradient([Power(W, Fraction(exponent))], ["w"])
    assert sum(i.op == "multiply" for i in tape.instructions) == products


def test_a_power_that_is_an_older_register_keeps_its_gradient():
    eight, double = (Operation("*", Number(Fraction(n)), W) for n in (8, 2))
    older = Operation("*", eight, Power(W, Fraction(2)))  # 8 w^3, before 2 w is
    both = [Operation("*", older, V), Power(double, Fraction(3))]
    tape = compile_gradient(
        both, ["w", "v"], lambda builder, _: [builder.constant(Fraction(1))] * 2
    )
    values = [x for (x,) in propagate(tape, [[Fraction(3)], [Fraction(5)]], DIGITS)]
    assert values == [1080, 216, 24 * 9 * 6, 216]


def test_integer_powers_are_defined_at_zero():
    line = [Fraction(0), Fraction(1), Fraction(0), Fraction(0)]
    (jet,) = propagate(compile_forward([Power(W, Fraction(3))], ["w"]), [line], DIGITS)
    assert list(jet) == [0, 0, 0, 1]


def test_the_slope_of_tanh_does_not_cancel():
    tape = compile_gradient([Call("tanh", W)], ["w"])
    _, (slope,) = propagate(tape, [[Fraction(100)], [Fraction(1)]], DIGITS)
    with mpmath.workdps(60):
        assert abs(slope * mpmath.cosh(100) ** 2 - 1) < mpmath.mpf(10) ** -DIGITS


def test_a_deep_tree_needs_no_recursion():
    tree = W
    for _ in range(5000):
        tree = Operation("+", Call("sin", tree), V)
    tape = compile_gradient([tree], ["w", "v"])
    assert len(tape.outputs) == 3


@pytest.mark.parametrize(
    "tree",
    [
        Name("u"),
        Call("erf", W),
        Operation("/", W, Number(Fraction(0))),
        Power(Number(Fraction(0)), Fraction(-1)),
    ],
)
def test_what_cannot_be_compiled(tree):
    with pytest.raises(InputError):
        compile_forward([tree], ["w"])


@pytest.mark.parametrize("tree", [Call("log", W), Call("sqrt", W), Power(W, Fraction(1, 3))])
def test_values_outside_the_domain(tree):
    with pytest.raises(NumericalError, match="undefined"):
        propagate(compile_forward([tree], ["w"]), [[Fraction(-1)]], DIGITS)


def test_builder_rejects_an_unknown_input():
    with pytest.raises(InputError, match="v is not a weight"):
        Builder(["w"]).input("v")


def test_negative_mpf_are_taken_with_their_sign():
    (jet,) = propagate(compile_forward([W], ["w"]), [[mpmath.mpf("-1.5"), mpmath.mpf(-4)]], DIGITS)
    assert list(jet) == [mpmath.mpf("-1.5"), -4]


def test_factors_of_outputs_are_taken_out():
    product = Operation("*", W, V)
    trees = [Operation("*", Number(Fraction(-2, 3)), product), V, Operation("+", W, Number(POINT))]
    tape, factors = compile_forward(trees, ["w", "v"]).unscaled()
    assert factors == (Fraction(-2, 3), 1, 1)
    values = propagate(tape, [[Fraction(3)], [Fraction(5)]], 20)
    assert [mpmath.nstr(v, 10) for (v,) in values] == ["15.0", "5.0", "3.7"]
