"""Representation costs by bounds: products, compositions of quadratic forms; and by one root."""

import itertools
from fractions import Fraction
from random import Random

import numpy as np
import pytest
import sympy

from derive import Parameterization, Verdict, explicit_counterpart
from derive.explicit.constrained import is_onto, pose_cost
from derive.explicit.cost.composition import find_composition
from tests.explicit.witness import cost_of, numeric_minimum, read

b1, b2, b3, b4 = sympy.symbols("beta1:5", real=True)
beta = sympy.Symbol("beta", real=True)


def convolution(n):
    return [" + ".join(f"a{i}*b{(k - i) % n}" for i in range(n)) for k in range(n)]


def agrees_with_scipy(outputs, cost):
    rng = Random(str(outputs))
    for _ in range(2):
        at = [Fraction(rng.choice((-1, 1)) * rng.randrange(3, 40), 13) for _ in outputs]
        names = [str(s) for s in cost.variables]
        value = cost.at(dict(zip(names, at, strict=True)))
        witness = numeric_minimum(outputs, at)
        assert float(value.ball.mid()) == pytest.approx(witness, rel=1e-6)
        assert float(value.ball.rad()) < 1e-14
        (form,) = cost.closed_forms
        known = {s: sympy.Rational(str(x)) for s, x in zip(cost.variables, at, strict=True)}
        assert float(form.subs(known)) == pytest.approx(float(value.ball.mid()), rel=1e-12)


PRODUCTS = [
    (["u**2*v"], 3 * (beta**2 / 4) ** sympy.Rational(1, 3)),
    (["u**2*v**3"], 5 * (beta**2 / 108) ** sympy.Rational(1, 5)),
    (["-2*u*v**4*x**2"], 7 * (beta**2 / 4096) ** sympy.Rational(1, 7)),
    (["a**2*(u1 + u2)*b"], 2 * (2 * beta**2) ** sympy.Rational(1, 4)),
    (["a*b*u1", "a*b*u2"], 3 * (b1**2 + b2**2) ** sympy.Rational(1, 3)),
    (["a**2*(u1 + 2*u2)", "3*a**2*u2"], None),
    (["a*b*c*u1", "a*b*c*u2", "a*b*c*u3"], 4 * (b1**2 + b2**2 + b3**2) ** sympy.Rational(1, 4)),
]


@pytest.mark.every(6)
@pytest.mark.parametrize(("outputs", "expected"), PRODUCTS, ids=lambda x: str(x)[:24])
def test_products_as_the_inequality_of_the_means_has_them(outputs, expected):
    cost = cost_of(outputs)
    assert cost.verdict is Verdict.PROVED
    agrees_with_scipy(outputs, cost)
    if expected is not None:
        ratio = (cost.closed_forms[0] / expected).subs({beta: 3, b1: 3, b2: 5, b3: 7})
        assert abs(sympy.N(ratio, 30) - 1) < 1e-25


@pytest.mark.parametrize(
    ("outputs", "onto"),
    [
        (["a**2*(u1 + 2*u2)", "3*a**2*u2"], True),
        (["u**2*v", "u**2*x"], True),
        (["u**2*v**2"], False),  # beta < 0 has no w
        (["a*u1", "a*u2*u1"], False),
        (["a**2", "a*b"], False),
        (["u*v", "2*u*v + 0*x"], False),
    ],
)
def test_every_beta_has_weights_or_that_is_not_said(outputs, onto):
    if outputs[0] == "u*v":
        problem = pose_cost(Parameterization.parse(["u*v", "u*x"]))
        object.__setattr__(problem, "F", (problem.F[0], problem.F[0]))
    else:
        problem = pose_cost(Parameterization.parse(outputs))
    assert is_onto(problem) is onto


def test_the_root_holds_at_every_beta_with_some_w():
    """a^2 c = beta1, b^2 c = beta2: not where these differ in sign."""
    cost = cost_of(["a**2*c", "b**2*c"])
    assert cost.verdict is Verdict.PROVED
    assert cost.given == ("`F(w) = beta` for some `w`",)
    point = {"beta1": Fraction(1), "beta2": Fraction(1)}
    assert (cost.at(point).ball - 3).contains(0)
    assert cost.at({**point, "beta2": Fraction(-1)}) is None


def test_where_the_leading_coefficient_may_vanish_it_is_almost_every_beta():
    """beta1 r = beta1^2 + beta2^2 of x^2, x y says nothing of r at beta = 0."""
    cost = cost_of(["x**2", "x*y"])
    assert cost.verdict is Verdict.PROVED
    assert "almost all" in cost.finding.reason
    assert cost.given == ("`F(w) = beta` for some `w`, at almost all `beta`",)


def layers(n, depth):
    """Return the cyclic convolution of several vectors."""
    outputs = [[] for _ in range(n)]
    for places in itertools.product(range(n), repeat=depth):
        product = "*".join(f"{'abc'[g]}{i}" for g, i in enumerate(places))
        outputs[sum(places) % n].append(product)
    return [" + ".join(terms) for terms in outputs]


@pytest.mark.parametrize(("n", "depth"), [(2, 3), (3, 3)])
def test_deep_convolutions_sum_powers_of_the_discrete_fourier_transform(n, depth):
    outputs = layers(n, depth)
    cost = cost_of(outputs)
    assert cost.verdict is Verdict.PROVED
    agrees_with_scipy(outputs, cost)
    x = [Fraction(3), Fraction(-5), Fraction(2)][:n]
    # |DFT beta|_(2/L) to the power 2/L, times L/n for a transform that is not normalized.
    expected = depth * sum(abs(np.fft.fft([float(v) for v in x])) ** (2 / depth)) / n
    value = cost.at({str(s): v for s, v in zip(cost.variables, x, strict=True)})
    assert float(value.ball.mid()) == pytest.approx(expected)


def test_compositions_are_checked_and_others_left_out():
    def composition(outputs):
        p, betas = read(outputs)
        found = find_composition(pose_cost(p), betas)
        return found and found.expression(betas)

    assert composition(["x*z - y*w", "x*w + y*z"]) == 2 * sympy.sqrt(b1**2 + b2**2)
    assert composition(["a*u1", "a*u2"]) == 2 * sympy.sqrt(b1**2 + b2**2)
    quaternions = [
        "p0*q0 - p1*q1 - p2*q2 - p3*q3",
        "p0*q1 + p1*q0 + p2*q3 - p3*q2",
        "p0*q2 - p1*q3 + p2*q0 + p3*q1",
        "p0*q3 + p1*q2 - p2*q1 + p3*q0",
    ]
    assert composition(quaternions) == 2 * sympy.sqrt(b1**2 + b2**2 + b3**2 + b4**2)
    for outputs in (
        ["x*z - 2*y*w", "x*w + y*z"],  # no composition: another norm of the first factor
        ["u11*v11 + u12*v12", "u11*v21 + u12*v22", "u21*v11 + u22*v12", "u21*v21 + u22*v22"],
        ["x*y", "y*z", "z*x"],
        ["x**2", "x*y"],
        ["a*b*u1", "a*c*u2"],
        [*convolution(5)[:-1], convolution(5)[-1] + " + a0*b0"],  # one product too many
    ):
        assert composition(outputs) is None


@pytest.mark.every(2)
@pytest.mark.parametrize("n", [3, 5, 7])
def test_the_identities_of_a_composition_hold_for_every_root(n):
    """q(F) = p_1 p_2 at numbers for the weights, at each conjugate of x, in floating point."""
    p, betas = read(convolution(n))
    rng = Random(n)
    w = {name: rng.randrange(-9, 10) for name in p.weights}
    F = [sympy.sympify(text).subs(w) for text in convolution(n)]
    evidence = find_composition(pose_cost(p), betas).evidence
    assert sum(1 for e in evidence if "every root x" in e.statement) == (n > 3)
    for identity in evidence:
        x = sympy.Symbol("x")
        names = {str(b): value for b, value in zip(betas, F, strict=True)}
        left = sympy.sympify(identity.left)
        right = sympy.sympify(identity.right)
        difference = sympy.expand(left.subs(names) - right.subs(w))
        _, _, minimal = identity.statement.partition("every root x of ")
        if minimal:
            minimal = sympy.Poly(sympy.sympify(minimal.replace("^", "**")), x)
            difference = sympy.Poly(difference, x).rem(minimal).as_expr()
        assert difference == 0


def test_the_cost_vanishes_at_zero_and_a_vector_may_have_any_dimension():
    cost = cost_of(["u**2*v"])
    assert float(cost.at({"beta": Fraction(0)}).ball.mid()) == pytest.approx(0, abs=1e-20)
    (block,) = explicit_counterpart(Parameterization.parse(["a**2*u"], vectors=["u"])).blocks
    s = block.cost.argument
    assert block.cost.verdict is Verdict.PROVED
    assert sympy.expand(block.cost.closed_forms[0] ** 3 - sympy.Rational(27, 4) * s**2) == 0


def test_single_points_are_certified_where_the_root_is_not_known():
    outputs = ["a*b*u1", "a*c*u2"]
    cost = cost_of(outputs)
    assert cost.verdict is Verdict.UNDECIDED
    for beta in ([1, 2], [3, -5]):
        value = cost.at({f"beta{i + 1}": Fraction(x) for i, x in enumerate(beta)})
        witness = numeric_minimum(outputs, beta)
        assert float(value.ball.mid()) == pytest.approx(witness, rel=1e-6)


def test_a_constant_belongs_to_no_group_of_weights():
    assert find_composition(pose_cost(Parameterization.parse(["u*v + 1", "u*w"])), ()) is None
