"""Costs by duality, and other costs of monomials, put to witnesses."""

import json
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from sympy import Abs, Symbol

from derive import InputError, Parameterization, Verdict, explicit_counterpart
from derive.errors import NumericalError
from derive.explicit.constrained import pose_cost
from derive.explicit.cost.duality import find_dual
from tests.cli.commands import run
from tests.explicit.witness import cost_of, gram, product, read
from tests.witnesses import WITNESSES, Refuted, changed


def dual_of(outputs):
    p, betas = read(outputs)
    found = find_dual(pose_cost(p), betas)
    return found and found.expression(betas)


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
        ["a*c", "a*d", "b*c", "b*d + a*a"],  # one side meets itself
        ["a*c", "a*d + b*c", "b*d"],  # entries of a matrix are tied
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


MATRIX = ["a1*u1 + a2*u2", "a1*v1 + a2*v2", "b1*u1 + b2*u2", "b1*v1 + b2*v2"]
"""The entries of a product of 2 x 2 matrices."""
COSTS = [
    (["u*v"], "3*u**2 + 5*v**2"),
    (["u*v"], "abs(u)**3 + abs(v)**3"),
    (["u*v"], "abs(u)**(3/2) + 2*abs(v)**(3/2)"),
    (["u*v"], "u**2 + v**4"),
    (["2*u*v*w/3"], "u**2 + 2*v**2 + 3*w**2"),
    (["u**2*v"], "u**2 + 7*v**2"),
    (["u**2*v*w**3"], "u**2 + 2*v**2 + 3*w**2"),
    (["-w**2"], "3*abs(w)"),
    (["w**2"], "w**4"),
    (["w**3"], "w**2"),
    (["p**2 - m**2"], "3*p**2 + 5*m**2"),
    (["p**3 - m**3"], "p**4 + m**4"),
    (["p**3 - 2*m**3"], "p**2 + m**2"),
    (["u*v + x*y"], "u**2 + v**2 + 2*x**2 + 3*y**2"),
    (["u*v + x*y"], "abs(u)**3 + abs(v)**3 + abs(x)**3 + abs(y)**3"),
    (["u*v", "w**2"], "u**2 + v**2 + w**2"),
    (["u*v"], "trace-K"),
    (["u*v*w"], "trace-K"),
    (["p**2 - m**2"], "trace-K"),
    (["p**3 - m**3"], "trace-K"),
    (["w**4"], "trace-K"),
    (["w"], "trace-K"),
    (["W + a*b"], "W**2 + a**2 + b**2"),
    (["W**3 + u**3 + a*b"], "W**4 + u**4 + a**2 + b**2"),
    (["W + a*b"], "trace-K"),
    (["u*v"], "log-det-K"),
    (["a*u1", "a*u2"], "3*a**2 + 5*u1**2 + 5*u2**2"),
    (["a*u1", "a*u2"], "abs(a)**3 + abs(u1)**3 + abs(u2)**3"),
    (["a*u1", "a*u2"], "trace-K"),
    (["a*u1", "a*u2"], "log-det-K"),
    (["a*u1", "a*u2", "a*u3"], "log-det-K"),
    (["g**2*u1", "g**2*u2"], "trace-K"),
    (["a*b*u1", "a*b*u2"], "a**2 + 2*b**2 + u1**2 + u2**2"),
    (["a*u1 + b*v1", "a*u2 + b*v2"], "a**2 + b**2 + u1**2 + u2**2 + v1**2 + v2**2"),
    (["a*u1 + b*v1", "a*u2 + b*v2"], "3*a**2 + 3*b**2 + u1**2 + 5*u2**2 + v1**2 + 5*v2**2"),
    ([f"a*u{i}" for i in range(1, 6)], "trace-K"),
    (MATRIX, "trace-K"),
    (
        MATRIX,
        " + ".join(
            f"{c}*{x}{k}**2" for x, c in zip("abuv", (1, 2, 3, 5), strict=True) for k in "12"
        ),
    ),
]
DATA = [[Fraction(1), Fraction(2)]], [[Fraction(1), Fraction(2)], [Fraction(3), Fraction(-1)]]
ON_DATA = [
    (["u*v"], "trace-K"),
    (["w**3"], "trace-K"),
    (["u*v"], "log-det-K"),
    (["a*u1", "a*u2"], "trace-K"),
    (["a*u1", "a*u2"], "log-det-K"),
    (["g**2*u1", "g**2*u2"], "trace-K"),
]


@pytest.mark.every(7)
@pytest.mark.parametrize("X", DATA, ids=len)
@pytest.mark.parametrize(("outputs", "cost"), ON_DATA)
def test_costs_on_data_are_the_least_from_many_starts(outputs, cost, X):
    r = explicit_counterpart(Parameterization.parse(outputs), cost=cost, X=X)
    assert r.says("cost on data")
    assert sum(WITNESSES[s.kind](r, s, random.Random(2)) for s in r.statements) > 0
    assert bool(r.says("constant cost")) == (outputs == ["a*u1", "a*u2"] and cost == "trace-K")


def drawn_rows(seed, count, d):
    rng = random.Random(seed)
    return [[Fraction(rng.randint(-3, 3)) for _ in range(d)] for _ in range(count)]


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(3))
def test_label_noise_on_matrices_has_a_weighted_nuclear_norm(seed):
    """A = sum X_i X_i^T and C = sum X_i^T X_i: neither the plain norm nor A and C swapped."""
    X = drawn_rows(seed, 3, 4)
    r = explicit_counterpart(Parameterization.parse(MATRIX), cost="trace-K", X=X)
    assert r.verdict is Verdict.PROVED
    assert sum(WITNESSES[s.kind](r, s, random.Random(2)) for s in r.statements) == 3
    mats = [np.array(row, dtype=float).reshape(2, 2) for row in X]
    A, C = sum(x @ x.T for x in mats), sum(x.T @ x for x in mats)
    B = np.array([[1.5, -0.5], [2, 0.75]])

    def norm(P, R):
        return 2 * np.sqrt(np.linalg.eigvals(P @ B @ R @ B.T).real).sum()

    said = float(r.R.subs(dict(zip(r.betas, B.ravel(), strict=True))))
    assert said == pytest.approx(norm(A, C), rel=1e-9)
    assert abs(norm(C, A) - said) > 1e-3 * said
    (block,) = r.blocks
    plain = explicit_counterpart(Parameterization.parse(MATRIX), cost="trace-K").blocks[0]
    assert block.whole != plain.whole
    (s,) = r.says("cost on data")
    with pytest.raises(Refuted):
        WITNESSES[s.kind](replace(r, blocks=(plain,)), s, random.Random(2))


def test_rows_that_leave_a_column_out_are_left_open():
    """C = 0 on the second column: that the infimum is attained is not seen."""
    r = explicit_counterpart(Parameterization.parse(MATRIX), cost="trace-K", X=[[1, 0, 2, 0]])
    assert r.verdict is Verdict.UNDECIDED


def test_the_cheaper_monomial_is_told_exactly():
    """Coefficients that 50 digits do not tell apart, and ones that are equal in other roots."""
    p, beta = Parameterization.parse(["u*v + a*b"]), Symbol("beta", real=True)
    more = "(1 + 10**(-60))"
    for cost in (f"{more}*u**2 + v**2 + a**2 + b**2", f"u**2 + v**2 + {more}*a**2 + b**2"):
        assert 2 * Abs(beta) == explicit_counterpart(p, cost=cost).R
    cost = "2*u**2 + 3*v**2 + a**2 + 6*b**2"
    r = explicit_counterpart(p, cost=cost)
    assert 2 * sympy.sqrt(6) * Abs(beta) == r.R


@pytest.mark.parametrize("power", ["1", "2/3"])
def test_label_noise_at_depth_three_has_neither_l1_nor_l_two_thirds(power):
    """sum_j S_jj |beta_j|^(4/3), up to a factor."""
    r = explicit_counterpart(Parameterization.parse(["w**3"]), cost="trace-K", X=DATA[1])
    (s,), (block,) = r.says("cost on data"), r.blocks
    assert str(block.power) == "4/3"
    assert WITNESSES[s.kind](r, s, random.Random(2)) == 1
    false = replace(r, blocks=(replace(block, power=sympy.Rational(power)),))
    with pytest.raises(Refuted):
        WITNESSES[s.kind](false, s, random.Random(2))


@pytest.mark.every(11)
@pytest.mark.parametrize(("outputs", "cost"), COSTS)
def test_costs_are_the_least_from_many_starts(outputs, cost):
    r = explicit_counterpart(Parameterization.parse(outputs), cost=cost)
    assert r.verdict is Verdict.PROVED
    assert sum(WITNESSES[s.kind](r, s, random.Random(1)) for s in r.statements) > 0
    assert sum(map(len, (r.to_latex(), r.to_html(), r.to_text()))) > 500


@pytest.mark.parametrize("cost", ["a**2 + b**2 + c**2", "max"])
def test_of_outputs_that_do_not_take_all_signs_it_is_where_there_are_weights(cost):
    """beta1 beta2 beta3 = (a b c)^2: R is that of beta with a product above 0."""
    r = explicit_counterpart(Parameterization.parse(["a*b", "a*c", "b*c"]), cost=cost)
    (told,) = r.says("fibre cost")
    assert "`F(w) = beta` for some `w`" in told.conditions
    assert sum(WITNESSES["fibre cost"](r, told, random.Random(k)) for k in range(4)) > 0
    free = explicit_counterpart(Parameterization.parse(["a*b", "a*c"]), cost="max")
    assert free.says("fibre cost")[0].conditions == ("no output is 0",)


@pytest.mark.parametrize(("low", "high"), [(9, 9), (8, 8)])
def test_weights_that_keep_their_signs_may_cost_more(low, high):
    """Parts of beta of the other sign are no help; of another factor it is refuted."""
    r = explicit_counterpart(Parameterization.parse(["p**3 - m**3"]), cost="trace-K")
    (block,), (told,) = r.blocks, r.says("fibre cost")
    assert block.kept == (9, 9)
    plain = explicit_counterpart(Parameterization.parse(["u*v"]), cost="trace-K")
    assert plain.blocks[0].kept == (None, 2)
    assert "no weight is negative" not in plain.to_text()
    said = changed(told, block=replace(block, kept=(low, high)))
    if low == 9:
        assert WITNESSES["fibre cost"](r, said, random.Random(2)) == 2
        return
    with pytest.raises(Refuted):
        WITNESSES["fibre cost"](r, said, random.Random(2))


@pytest.mark.every(2)
@pytest.mark.parametrize(("outputs", "cost"), [COSTS[0], (["p**3 - m**3"], "trace-K")])
def test_false_costs_are_refuted(outputs, cost):
    """As without the factor 2^(-1/3) of p^3 - m^3, where both weights share the cost."""
    r = explicit_counterpart(Parameterization.parse(outputs), cost=cost)
    (s,) = r.statements
    (block,) = r.blocks
    false = replace(block, sides=tuple(C * sympy.Rational(11, 10) for C in block.sides))
    with pytest.raises(Refuted):
        WITNESSES[s.kind](r, replace(s, values={**s.values, "block": false}), random.Random(1))


@pytest.mark.parametrize(
    ("outputs", "cost"),
    [
        (["a*u1 + b*v1", "a*u2 + b*v2"], "a**2 + 2*b**2 + u1**2 + u2**2 + v1**2 + v2**2"),
        (["a*u1", "a*u2"], "a**2 + u1**2 + u2**4"),
        (MATRIX, "a1**2 + 2*a2**2 + b1**2 + b2**2 + u1**2 + u2**2 + v1**2 + v2**2"),
        (MATRIX, " + ".join(f"{x}{k}**4" for x in "abuv" for k in "12")),
        (MATRIX, "log-det-K"),
        (["W**2*Z + a*b"], "W**2 + Z**2 + a**2 + b**2"),
        (["u*v + u*w"], "u**2 + v**2 + w**2"),
        (["u*v + 1"], "u**2 + v**2"),
    ],
)
def test_what_has_no_rule_is_left_open(outputs, cost):
    r = explicit_counterpart(Parameterization.parse(outputs), cost=cost)
    assert (r.verdict, r.R) == (Verdict.UNDECIDED, None)


NONE = "u**2", "u**3 + v**2", "u**2 - v**2", "u*v", "u**2 + z**2", "u**2*v**2"


@pytest.mark.parametrize("cost", NONE)
def test_what_is_no_such_cost_is_refused(cost):
    with pytest.raises(InputError):
        explicit_counterpart(Parameterization.parse(["u*v"]), cost=cost)


def test_the_command_takes_a_cost():
    done = run("explicit", "u*v", "--cost", "3*u**2 + 12*v**2", "--json")
    assert (done.returncode, json.loads(done.stdout)["R"]) == (0, "12*Abs(beta)")
    assert run("explicit", "a*u1 + b", "a*u2", "--cost", "trace-K").returncode == 3
