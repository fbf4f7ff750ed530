"""Representation costs of quadratic outputs by duality: U V^T, W W^T, and what is refused."""

from fractions import Fraction
from random import Random

import pytest
import sympy

from derive import Parameterization, Verdict
from derive.errors import NumericalError
from derive.explicit.constrained import pose_cost
from derive.explicit.cost.duality import find_dual
from derive.explicit.regularize import representation_cost
from derive.model.notation import Notation
from tests.explicit.witness import numeric_minimum

NUCLEAR = "2*sqrt(beta1**2 + beta2**2 + beta3**2 + beta4**2 + 2*Abs(beta1*beta4 - beta2*beta3))"


def product(rows, columns, inner, scale=""):
    """Return the entries of U V^T; *scale* multiplies its last term."""
    return [
        " + ".join(f"{scale if k == inner - 1 else ''}u{i}{k}*v{j}{k}" for k in range(inner))
        for i in range(rows)
        for j in range(columns)
    ]


def gram(size, inner):
    """Return the entries of W W^T."""
    return [
        " + ".join(f"w{i}{k}*w{j}{k}" for k in range(inner))
        for i in range(size)
        for j in range(i, size)
    ]


def cost_of(outputs):
    p = Parameterization.parse(outputs)
    return representation_cost(p, Notation(p, tuple(range(p.d))).betas)


def dual_of(outputs):
    p = Parameterization.parse(outputs)
    betas = Notation(p, tuple(range(p.d))).betas
    found = find_dual(pose_cost(p), betas)
    return found and found.expression(betas)


@pytest.mark.parametrize("inner", [2, 3])
def test_twice_the_nuclear_norm_is_the_cost_of_a_product_of_matrices(inner):
    outputs = product(2, 2, inner)
    cost = cost_of(outputs)
    assert cost.verdict is Verdict.PROVED
    assert str(cost.closed_forms[0]) == NUCLEAR
    rng = Random(inner)
    p = Parameterization.parse(outputs)
    for k in range(3):
        x = [Fraction(rng.randrange(-30, 31), 10) for _ in range(4)]
        if k == 2:
            x[3] = x[1] * x[2] / x[0]  # of rank 1
        value = cost.at({f"beta{i + 1}": v for i, v in enumerate(x)}).ball
        matrix = sympy.Matrix(2, 2, [sympy.Rational(str(v)) for v in x])
        nuclear = sum(sympy.sqrt(s).evalf() for s in (matrix * matrix.T).eigenvals(multiple=True))
        assert float(value.mid()) == pytest.approx(2 * float(sympy.re(nuclear)), rel=1e-12)
        found = numeric_minimum(outputs, p.weights, [0] * p.p, [float(v) for v in x], starts=12)
        assert float(value.mid()) == pytest.approx(found, rel=1e-6)


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        (product(1, 3, 3), "2*sqrt(beta1**2 + beta2**2 + beta3**2)"),
        (gram(2, 2), "beta1 + beta3"),
        (gram(3, 3), "beta1 + beta4 + beta6"),
        (["x1*y1 + x2*y2"], "2*Abs(beta)"),
    ],
    ids=lambda x: str(x)[:24],
)
def test_closed_forms_by_duality(outputs, expected):
    assert str(dual_of(outputs)) == expected
    p, rng = Parameterization.parse(outputs), Random(4)
    betas = Notation(p, tuple(range(p.d))).betas
    F = [sympy.sympify(text) for text in outputs]
    for _ in range(2):
        w = {name: Fraction(rng.randrange(-20, 21), 10) for name in p.weights}
        reached = [
            sympy.Rational(f.subs({k: sympy.Rational(str(v)) for k, v in w.items()})) for f in F
        ]
        value = float(dual_of(outputs).subs(dict(zip(betas, reached, strict=True))))
        found = numeric_minimum(outputs, p.weights, [0] * p.p, [float(b) for b in reached])
        assert found == pytest.approx(value, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    "outputs",
    [
        product(2, 2, 2, scale="2*"),  # the copies differ
        ["x**2 - y**2", "x*y"],
        product(3, 3, 3),  # a root of a quartic
        product(2, 3, 2, scale="2*"),
        product(2, 3, 2)[:5],
        [f"{f} + u{k}0*u{k}1" for k, f in zip((0, 1, 0, 1), product(2, 2, 2), strict=True)],
        ["a*b", "a*b + 2*c*d"],
        ["a*b*c"],
        ["a*b + a"],
    ],
    ids=lambda x: str(x)[:24],
)
def test_other_models_are_left_open(outputs):
    assert dual_of(outputs) is None


def test_a_value_needs_some_w():
    """W W^T has no negative eigenvalue, but the trace may be asked for anywhere."""
    cost = cost_of(gram(2, 2))
    assert cost.verdict is Verdict.PROVED
    inside = {"beta1": Fraction(2), "beta2": Fraction(1), "beta3": Fraction(3)}
    assert float(cost.at(inside).ball.mid()) == 5
    with pytest.raises(NumericalError, match="not settled"):
        cost.at({**inside, "beta2": Fraction(4)})
    cost = cost_of(["x*y", "x**2 + y**2"])
    assert float(cost.at({"beta1": Fraction(1), "beta2": Fraction(3)}).ball.mid()) == 3
    assert cost.at({"beta1": Fraction(2), "beta2": Fraction(3)}) is None
