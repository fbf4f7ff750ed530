"""Jets of drawn expressions against the power series of FLINT, whose errors are enclosed.

An error is measured against a majorant: the same expression of the absolute coefficients, with a
plus for every minus, which is what cancellation may leave of the digits that are carried.
"""

from fractions import Fraction

import flint
import pytest
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st

from derive.language.functions import CALLS
from derive.language.tree import Call, Name, Number, Operation, Power
from numerics.integrator.builder import compile_forward
from numerics.integrator.jets import propagate
from numerics.integrator.series_rules import Series, product, products, square
from tests.numerics.integrator.programs import compile_gradient

ORDERS, DIGITS = 9, 30
KEPT = DIGITS + 8  # of the twelve guard digits, rounding may take four
many = settings(
    max_examples=40, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
few = settings(many, max_examples=10)


@pytest.fixture(scope="module", autouse=True)
def precision():
    before = flint.ctx.prec, flint.ctx.cap
    flint.ctx.prec, flint.ctx.cap = 600, ORDERS
    yield
    flint.ctx.prec, flint.ctx.cap = before


class OutOfReach(Exception):
    """A value is not defined, or too close to where it is not."""


def demand(condition):
    if not condition:
        raise OutOfReach


def arb(x):
    return flint.arb(flint.fmpq(x.numerator, x.denominator))


def series(coefficients):
    return flint.arb_series(list(coefficients))


def absolute(x):
    return series([abs(x[k]).upper() for k in range(ORDERS)])


def tail(x):
    return series([0, *(x[k] for k in range(1, ORDERS))])


def inverse(head, rest):
    """Return a majorant of 1/(head + x) for |x| below *rest*."""
    return 1 / (abs(head) - rest)


class Exact:
    """A series and its majorant."""

    def __init__(self, value, size):
        self.value, self.size = value, size
        demand(all(self.size[k] < flint.arb("1e400") for k in range(ORDERS)))

    @property
    def head(self):
        """The first coefficient, which is far from 0."""
        demand(abs(self.value[0]) > self.size[0] * flint.arb("1e-3"))
        return self.value[0]

    def positive(self):
        demand(self.head > 0)
        return self.head


def power(x, q):
    if q.denominator == 1 and q >= 0:
        return Exact(x.value ** int(q), x.size ** int(q))
    if q.denominator == 1:
        head = x.head
        value = 1 / x.value ** int(-q)
    else:
        head = x.positive()
        value = (x.value.log() * arb(q)).exp()
    lead = (abs(head).log() * arb(q)).exp()
    return Exact(value, lead * (1 / (1 - tail(x.size) / abs(head))) ** (int(abs(q)) + 2))


def pair(x):
    """Return e^x, e^-x and what is above both."""
    demand(abs(x.value[0]) < 20)
    return x.value.exp(), (-x.value).exp(), absolute(x.size.exp() * (1 + x.size))


def call(name, x):
    if name == "sqrt":
        return power(x, Fraction(1, 2))
    if name == "log":
        head = x.positive()
        return Exact(x.value.log(), 1 + abs(head.log()) - (1 - tail(x.size) / head).log())
    up, down, above = pair(x)
    inside = Exact(1 + x.value * x.value, 1 + x.size * x.size)
    if name == "atan":
        slope = inverse(inside.value[0], tail(inside.size))
        return Exact(x.value.atan(), x.size * (1 + slope))
    if name == "asinh":
        root = power(inside, Fraction(1, 2))
        value = (x.value + root.value).log()
        return Exact(value, x.size * (1 + power(inside, Fraction(-1, 2)).size))
    sin, cos = (up - down) / 2, (up + down) / 2
    if name in ("sin", "cos", "tan"):
        sin, cos = x.value.sin(), x.value.cos()
    if name == "exp":
        return Exact(up, above)
    if name.startswith("tan"):
        demand(abs(cos[0]) > flint.arb("0.1"))
        return Exact(sin / cos, above * inverse(cos[0], tail(above)))
    return Exact(sin if name.startswith("sin") else cos, above)


def exact(tree, inputs):
    match tree:
        case Number(value):
            x = series([arb(value)])
            return Exact(x, absolute(x))
        case Name(name):
            x = series([arb(c) for c in inputs[name]])
            return Exact(x, absolute(x))
        case Operation(operator, left, right):
            a, b = exact(left, inputs), exact(right, inputs)
            if operator == "+":
                return Exact(a.value + b.value, a.size + b.size)
            if operator == "*":
                return Exact(a.value * b.value, a.size * b.size)
            head = b.head
            return Exact(a.value / b.value, a.size * inverse(head, tail(b.size)))
        case Power(base, exponent):
            return power(exact(base, inputs), exponent)
        case Call(function, argument):
            return call(function, exact(argument, inputs))
    raise AssertionError(tree)


def ball(x):
    sign, mantissa, exponent, _ = x._mpf_
    return flint.arb(-int(mantissa) if sign else int(mantissa)) * flint.arb(2) ** exponent


def agree(found, expected, size, digits):
    """Compare coefficients, each with the largest majorant up to its order."""
    largest = flint.arb(0)
    for k, x in enumerate(found):
        largest = largest.max(abs(size[k]))
        assert abs(ball(x) - expected[k]) <= largest * flint.arb(10) ** -digits, (k, x, expected[k])


numbers = st.fractions(-3, 3, max_denominator=7)
jets = st.lists(numbers, min_size=ORDERS, max_size=ORDERS)
NAMES = ("w", "v")
leaves = st.one_of(st.sampled_from([Name(n) for n in NAMES]), numbers.map(Number))
EXPONENTS = [Fraction(n) for n in (-3, -2, -1, 0, 2, 3, 5)]
ROOTS = [Fraction(1, 2), Fraction(-1, 2), Fraction(2, 3), Fraction(-5, 3), Fraction(7, 5)]


def algebraic(inner):
    return st.one_of(
        st.builds(Operation, st.sampled_from("+*/"), inner, inner),
        st.builds(Power, inner, st.sampled_from(EXPONENTS)),
    )


def elementary(inner):
    return st.one_of(
        algebraic(inner),
        st.builds(Power, inner, st.sampled_from(ROOTS)),
        st.builds(Call, st.sampled_from(CALLS), inner),
    )


rational_trees = st.recursive(leaves, algebraic, max_leaves=8)
trees = st.recursive(leaves, elementary, max_leaves=6)


def check(tree, inputs):
    """Compare the jets of F; and those of ``F_w w' + F_v v'`` with those of dF/dt."""
    expected, rows = exact(tree, inputs), [inputs[name] for name in NAMES]
    (found,) = propagate(compile_forward([tree], NAMES), rows, DIGITS)
    agree(found, expected.value, expected.size, KEPT)
    one = [Fraction(1), *[Fraction(0)] * (ORDERS - 1)]
    _, *gradient = propagate(compile_gradient([tree], NAMES), [*rows, one], DIGITS)
    slopes = [series(map(ball, g)) * exact(Name(n), inputs).value.derivative()
              for n, g in zip(NAMES, gradient, strict=True)]  # fmt: skip
    total, rise = sum(slopes[1:], slopes[0]), expected.value.derivative()
    scale = expected.size.derivative() + sum((absolute(x) for x in slopes), expected.size)
    agree_series(total, rise, scale)


def agree_series(found, expected, size):
    largest = flint.arb(0)
    for k in range(ORDERS - 1):
        largest = largest.max(abs(size[k]))
        assert abs(found[k] - expected[k]) <= largest * flint.arb(10) ** -DIGITS, k


def check_drawn(tree, w, v):
    try:
        check(tree, {"w": w, "v": v})
    except OutOfReach:
        reject()


@pytest.mark.slow
@many
@given(trees, jets, jets)
def test_elementary_functions(tree, w, v):
    check_drawn(tree, w, v)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", CALLS)
@few
@given(rational_trees, jets, jets)
def test_every_function(name, inner, w, v):
    check_drawn(Call(name, inner), w, v)


@pytest.mark.slow
@many
@given(rational_trees, jets, jets, st.integers(-40, 40), st.integers(-40, 40))
def test_rational_functions_at_any_scale(tree, w, v, a, b):
    ten = Fraction(10)
    check_drawn(tree, [ten**a * x for x in w], [ten**b * x for x in v])


@pytest.mark.slow
@many
@given(rational_trees, jets, jets, st.integers(1, ORDERS - 1))
def test_jets_that_start_at_zero(tree, w, v, zeros):
    check_drawn(tree, [Fraction(0)] * zeros + w[zeros:], v)


@pytest.mark.parametrize("q", [*EXPONENTS, *ROOTS])
@pytest.mark.parametrize("scale", ["1e-60", "3", "1e60"])
def test_powers_at_any_scale(q, scale):
    size = Fraction(scale)
    jet = [size * (k + 2) * (-1) ** (k // 2) for k in range(ORDERS)]
    check(Power(Name("w"), q), {"w": jet, "v": jet})


def filled(coefficients, bits):
    """Return a series that takes the coefficients as they are, as integers."""
    out = Series(bits)
    for x in coefficients:
        out.place(x, 0)
    return out


SIZES = st.integers(0, 400).flatmap(lambda bits: st.integers(-(2**bits), 2**bits))


@many
@given(st.lists(st.lists(SIZES, min_size=6, max_size=6), min_size=3, max_size=9))
def test_products_in_lanes_are_those_apart(rows):
    bits, (y, *xs) = 64, rows
    inputs, factor = [filled([], bits) for _ in xs], filled([], bits)
    lanes, apart, doubled, alone = ([Series(bits) for _ in xs] for _ in range(4))
    rules = [products(lanes, inputs, factor)]
    rules += [product(o, x, factor) for o, x in zip(apart, inputs, strict=True)]
    rules += [square(o, x) for o, x in zip(doubled, inputs, strict=True)]
    rules += [product(o, x, x) for o, x in zip(alone, inputs, strict=True)]
    for k in range(6):
        factor.place(y[k], 0)
        for series_, row in zip(inputs, xs, strict=True):
            series_.place(row[k], 0)
        for rule in rules:
            next(rule)
    assert [(x.cells, x.exponent) for x in lanes] == [(x.cells, x.exponent) for x in apart]
    assert [(x.cells, x.exponent) for x in doubled] == [(x.cells, x.exponent) for x in alone]


def test_the_reference_tells_a_wrong_sign():
    jet = [Fraction(1, k + 1) for k in range(ORDERS)]
    expected = exact(Call("sin", Name("w")), {"w": jet, "v": jet})
    (found,) = propagate(compile_forward([Call("sinh", Name("w"))], NAMES), [jet, jet], DIGITS)
    with pytest.raises(AssertionError):
        agree(found, expected.value, expected.size, 1)
