"""Explicit regularization: elimination, roots and values, against SciPy; R beside Q."""

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import arb, ctx

from derive import Parameterization, Verdict, explicit_counterpart
from derive.errors import InputError
from derive.exact.balls import ball
from derive.exact.field.function_field import FunctionField
from derive.explicit.constrained import (
    BITS,
    Stopped,
    feasible_distance,
    is_reached,
    pose,
    pose_cost,
)
from derive.explicit.critical import equations
from derive.explicit.critical.equations import eliminate, lagrange
from tests.explicit.witness import minimum, numeric_minimum

pytestmark = pytest.mark.every(3)

TIED = {"p": "alpha", "m": "alpha"}


def test_the_printed_quartic():
    """Woodworth et al. (2020) print it for R_alpha = alpha^2 r(beta/alpha^2)."""
    r, b = sympy.symbols("r b", real=True)
    printed = r**4 - 6 * r**3 + (12 - 2 * b**2) * r**2 - (8 + 10 * b**2) * r + b**2 + b**4
    _, distance = minimum(pose, ["p**2 - m**2"], TIED)
    (found,) = distance.equations
    assert sympy.expand(found - printed) == 0
    (interval,) = distance.intervals
    assert (interval.low, interval.high, interval.index) == (None, None, 0)


def test_costs_of_several_outputs():
    """2 |beta| for one neuron, the trace for W W^T, 2 |beta| for the complex product."""
    b1, b2, b3 = sympy.symbols("beta1:4", real=True)
    for outputs, expected in (
        (["a*u1", "a*u2"], 2 * sympy.sqrt(b1**2 + b2**2)),
        (["a*u1", "a*u2", "a*u3"], 2 * sympy.sqrt(b1**2 + b2**2 + b3**2)),
        (["x*z - y*w", "x*w + y*z"], 2 * sympy.sqrt(b1**2 + b2**2)),
        (["x**2 - y**2", "x*y"], sympy.sqrt(b1**2 + 4 * b2**2)),
        (["a**2 + b**2", "a*c + b*d", "c**2 + d**2"], b1 + b3),
    ):
        _, cost = minimum(pose_cost, outputs)
        assert cost.verdict is Verdict.PROVED
        assert sympy.expand(cost.closed_forms[0] ** 2 - expected**2) == 0


def test_several_vectors_of_any_dimension():
    """R and R_F of a u + b v depend on |beta| alone: in the plane they are those on the line."""
    start = {"a": 1, "b": Fraction(1, 2), "u": 0, "v": 0}
    model = Parameterization.parse(["a*u + b*v"], start, vectors=["u", "v"])
    found = explicit_counterpart(model, at={"s": Fraction(5)})
    assert [v.name for v in found.parameterization.vectors] == ["u", "v"]
    outputs = ["a*u1 + b*v1", "a*u2 + b*v2"]
    for value, w0 in zip(found.evaluated, ({"a": 1, "b": 0.5}, {}), strict=True):
        witness = numeric_minimum(outputs, [3, 4], **w0)
        assert float(value.value.ball.mid()) == pytest.approx(witness, abs=1e-6)


@pytest.mark.parametrize("text", ["a*norm(u)**2*u + b*v", "norm(v)*u + v"])
def test_norms_beside_several_vectors_are_refused(text):
    with pytest.raises(InputError, match="give u a dimension"):
        explicit_counterpart(Parameterization.parse([text], vectors=["u", "v"]))


def test_a_vector_away_from_zero_is_undecided():
    (block,) = explicit_counterpart(Parameterization.parse(["a*u"], vectors=["u"])).blocks
    assert block.distance.verdict is Verdict.UNDECIDED
    assert "angle" in block.distance.finding.reason
    assert block.cost.verdict is Verdict.PROVED
    with pytest.raises(InputError, match="odd powers"):
        explicit_counterpart(Parameterization.parse(["norm(u)*u"], vectors=["u"]))


def test_the_witness_tells_a_wrong_root():
    """Negative control: the second real root of the quartic is not the minimum."""
    _, distance = minimum(pose, ["p**2 - m**2"], TIED)
    b = distance.argument
    roots = sympy.real_roots(distance.equations[0].subs(b, 2))
    witness = numeric_minimum(["p**2 - m**2"], [2], p=1, m=1)
    assert float(roots[0]) == pytest.approx(witness, rel=1e-7)
    assert float(roots[1]) > 2 * witness


def test_beta_with_more_critical_points_than_most():
    """The neuron from (1, 1, 0): at beta2 = 0 a family appears that other beta do not have."""
    outputs = ["a*u1", "a*u2"]
    _, found = minimum(pose, outputs, {"a": 1, "u1": 1, "u2": 0})
    for beta in ([2, 0], [-3, 0], [2, 1]):
        value = found.at({f"beta{i + 1}": Fraction(x) for i, x in enumerate(beta)})
        witness = numeric_minimum(outputs, beta, a=1, u1=1)
        assert float(value.ball.mid()) == pytest.approx(witness, rel=1e-7)
    with pytest.raises(InputError, match="beta2"):
        found.at({"beta1": Fraction(2)})


BREAKPOINTS = [
    (["p**2 - m**2"], {"p": "2*alpha", "m": "alpha"}, 0, Fraction(1, 2)),
    (["w**3 - 3*w"], {"w": "1/3"}, 2, Fraction(16, 9)),
    (["w**3 - 3*w"], {"w": "1/3"}, -2, Fraction(4, 9)),
    (["w**2"], {"w": "alpha"}, 0, Fraction(1)),
    (["u**2*v"], {"u": 1, "v": -1}, 0, Fraction(1)),
    # Beyond 0 there is no w, and F comes close to 0 at infinity only.
    (["(u*v - 1)**2 + u**2"], {"u": 1, "v": 1}, 0, None),
]


@pytest.mark.parametrize(("outputs", "start", "beta", "value"), BREAKPOINTS)
def test_at_breakpoints_the_value_is_a_limit(outputs, start, beta, value):
    _, found = minimum(pose, outputs, start)
    for alpha in (Fraction(1), Fraction(3)) if "alpha" in str(start) else (Fraction(1),):
        there = found.at({"beta": Fraction(beta), "alpha": alpha})
        assert (there is None) == (value is None)
        assert there is None or (there.ball - ball(value * alpha**2)).contains(0)
        assert there is None or there.ball.rel_accuracy_bits() > 60


def test_the_start_is_at_no_distance():
    """Be beta critical or not."""
    _, found = minimum(pose, ["p**2 - m**2"], TIED)
    assert found.at({"beta": Fraction(0), "alpha": Fraction(1)}).ball == 0


@pytest.mark.parametrize(
    ("outputs", "start", "words"),
    [
        (["exp(w)"], {}, "needs polynomials"),
        (["u/v"], {}, "needs polynomials"),
        (["p**2 + m**3"], {"p": "a", "m": "a"}, "several numbers"),
    ],
)
def test_what_is_not_reached_says_which_step_stops(outputs, start, words):
    _, found = minimum(pose, outputs, start)
    assert found.verdict is Verdict.UNDECIDED
    assert words in found.finding.reason


GRID = np.linspace(-6, 6, 400_000)
LEFT = [
    ("w**3 - w", {"w": 0}, lambda b: [np.roots([1, 0, -1, -b])]),
    ("w**3 - w", {"w": "1/5"}, lambda b: [np.roots([1, 0, -1, -b])]),
    ("p**3 - m**3", {"p": 1, "m": 1}, lambda b: [np.cbrt(b + GRID**3), GRID]),
    ("p**3 - m**3", {"p": 5, "m": 5}, lambda b: [np.cbrt(b + GRID**3), GRID]),
    ("u**2*v", {"u": 1, "v": -1}, lambda b: [GRID, b / GRID**2]),
    ("p**3 + m**2", {"p": 1, "m": -2}, lambda b: [np.cbrt(b - GRID**2), GRID]),
]


@pytest.mark.parametrize(("output", "start", "on"), LEFT)
def test_where_no_variable_is_linear_resultants_are_left(output, start, on):
    """Against the least distance on a dense grid of solutions."""
    _, found = minimum(pose, [output], start)
    assert found.verdict is Verdict.PROVED
    for beta in (Fraction(1, 5), Fraction(1), Fraction(-2), Fraction(5)):
        w = on(float(beta))
        away = sum((x - float(Fraction(s))) ** 2 for x, s in zip(w, start.values(), strict=True))
        least = min(float(x.real) for x in np.atleast_1d(away)[np.isreal(w[0])])
        assert float(found.at({"beta": beta}).ball.mid()) == pytest.approx(least, abs=1e-6)


def test_values_do_not_exist_where_the_range_of_F_ends():
    _, found = minimum(pose, ["w**2"], {"w": "alpha"})
    assert [interval.factor for interval in found.intervals] == [None, 0]
    assert found.at({"beta": Fraction(-1), "alpha": Fraction(1)}) is None


@pytest.mark.parametrize(
    ("output", "start"),
    [
        ("p**2 - m**2", {"p": "1", "m": "2"}),
        ("u*v", {"u": "1", "v": "2"}),
        ("w**4 - w**2", {"w": "1"}),
        ("w**3 - w", {"w": "1/5"}),
        ("x**2 + x*y", {"x": "1", "y": "0"}),
    ],
)
def test_parts_lose_nothing_that_a_basis_has(output, start, monkeypatch):
    """What vanishes at common zeros is among the factors, by splits and resultants alone."""
    problem = pose(Parameterization.parse([output], start=start))
    system = lagrange(problem, [None])
    exact = {str(f) for f in system.values}
    monkeypatch.setattr(equations, "BASIS", (0, 0, 0))
    parts = {str(f) for f in system.values}
    assert exact
    assert exact <= parts


def test_records_with_balls_survive_pickling():
    found = explicit_counterpart(
        Parameterization.parse(["u*v"], {"u": "alpha", "v": "alpha"}), at={"beta": 2, "alpha": 1}
    )
    again = pickle.loads(pickle.dumps(found))
    assert any(row.explicit is not None for row in found.blocks[0].contrast.rows)
    assert (again.to_text(), again.to_json()) == (found.to_text(), found.to_json())


@pytest.mark.parametrize(("start", "least"), [({"u": "s", "v": "s"}, 4), ({"u": "s", "v": "0"}, 4)])
def test_from_a_scaled_start_at_0_it_is_the_cost(start, least):
    p = Parameterization.parse(["u*v"], start)
    (value,) = explicit_counterpart(p, at={"beta": Fraction(2), "s": Fraction(0)}).says("value")[:1]
    assert value.values["value"].ball.contains(least)


def test_a_polynomial_of_pages_is_told_by_its_size():
    found = explicit_counterpart(["a*u1", "a*u2"])
    (P,) = found.blocks[0].distance.equations
    assert f"P has degree 4 in r, and {len(P.args)} terms: too long to print" in found.to_text()
    assert len(found.to_text()) < 4000
    (whole,) = json.loads(found.to_json())["blocks"][0]["R"]["polynomials"]
    same = {s.name: s for s in P.free_symbols}
    assert sympy.expand(sympy.sympify(whole, same) - P) == 0
    assert "P = r**4" in explicit_counterpart("u*v").to_text()


def test_names_of_ours_that_lack_a_number_are_those_of_the_user():
    found = explicit_counterpart("q*h", at={"beta": Fraction(1)})
    assert "give a number for q_0, h_0" in found.to_text()
    assert "`" not in found.to_html()


def test_the_cost_is_0_at_the_output_of_0_and_a_limit_at_other_ends():
    """F = w^4 - w^2 from 2: R_F(0) = 0, as F(0) = 0, though R_F -> 1 from the side of F(2)."""
    p = Parameterization.parse(["w**4 - w**2"], {"w": "2"})
    record = explicit_counterpart(p, at={"beta": Fraction(0)})
    (value,) = [s for s in record.says("value") if s.values["of"] == "R_F"]
    assert value.values["value"].ball == 0
    below = [str(x) for x in record.says("representation cost")[0].below]
    assert any("from the side of `F(0)`" in line for line in below)
    assert not any("F(w_0)" in line for line in below)
    assert any("from the side of `F(w_0)`" in str(x) for x in record.says("distance")[0].below)


def block(outputs, start=None):
    (found,) = explicit_counterpart(Parameterization.parse(outputs, start=start)).blocks
    return found


def test_linear_outputs_have_one_and_the_same():
    contrast = block(["a + 2*b"], {"a": 1, "b": "alpha"}).contrast
    assert contrast.finding.verdict is Verdict.PROVED
    for row in contrast.rows:
        assert row.implicit == pytest.approx(float(row.explicit.mid()), rel=1e-9)


@pytest.mark.parametrize(
    ("outputs", "start", "reason"),
    [
        (
            ["(u**2 + v**2)*u", "(u**2 + v**2)*v"],
            {"u": "-1", "v": "-1/2"},
            "series",
        ),  # g has a root
        (["(1 - a**2)*u", "(1 - a**2)*v"], {"a": "0"}, "series"),  # u and v by themselves
        (["u", "u + a*b"], {"a": "0", "b": "0"}, "affine"),  # the flow keeps to a line
    ],
)
def test_what_has_no_series_to_compare_is_undecided(outputs, start, reason):
    contrast = block(outputs, start).contrast
    assert contrast.finding.verdict is Verdict.UNDECIDED
    assert reason in contrast.finding.reason


def test_there_may_be_no_Q_at_all():
    found = block(["a**2 + b**2", "a*c + b*d", "c**2 + d**2"])
    assert found.contrast.finding.verdict is Verdict.REFUTED
    assert "no implicit regularizer" in found.contrast.finding.reason
    assert not found.contrast.rows


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("outputs", "start", "statements"),
    [
        (["p**3 - m**3"], TIED, ["R -> R_F"]),
        (["u*v"], {"u": "alpha", "v": "alpha"}, ["R -> R_F"]),
        (["w**3"], {"w": 1}, []),
    ],
)
def test_limits_that_are_proved(outputs, start, statements):
    found = block(outputs, start).limits
    proved = [x.statement for x in found if x.finding.verdict is Verdict.PROVED]
    assert proved == statements


FIELD = FunctionField(("x", "y", "z"))
X, Y, Z = FIELD.gens


def problem(outputs, start=None, build=pose):
    return build(Parameterization.parse(outputs, start=start))


def text(polynomials):
    return {str(f) for f in polynomials}


def test_elimination_loses_no_zero_and_splits_products():
    x, y, z = X.numerator, Y.numerator, Z.numerator
    # Points with x = 0, or y = 0 and z = 1.
    assert text(eliminate([x * y, x * (z - 1), y - z], [0])) == text([y - z])
    left = eliminate([x * y, x * (z - 1), y + z - 2, y * (z - 3)], [0, 1])
    assert text(left) == text([z - 2, z - 3])
    assert eliminate([x * y - 1, x], [0]) == ()
    with pytest.raises(Stopped, match="finitely many"):
        eliminate([x * y], [0, 1])


def test_what_grows_too_large_stops(monkeypatch):
    x, y, z = X.numerator, Y.numerator, Z.numerator
    monkeypatch.setattr(equations, "BASIS", (0, 0, 0))
    monkeypatch.setattr(equations, "LARGEST", 0)
    monkeypatch.setattr(equations, "FILLED", (0, 0))
    with pytest.raises(Stopped, match="too large"):
        eliminate([x**2 + y**2 - z, x**3 - y**3 - z], [0, 1])


def test_feasible_points_are_proved_or_refused():
    cost = problem(["u*v"], build=pose_cost)
    zero = [Fraction(0), Fraction(0)]
    with ctx.workprec(BITS):
        found = feasible_distance(cost, [arb(2), arb(3)], zero, [Fraction(6)])
        assert found.contains(13)
        with pytest.raises(Stopped):
            feasible_distance(cost, [arb(2), arb(3)], zero, [Fraction(7)])
        with pytest.raises(Stopped):
            feasible_distance(cost, [arb(0), arb(0)], zero, [Fraction(0)])
        assert is_reached(cost, zero, [Fraction(6)])
    squares = problem(["u**2 + v**2"], build=pose_cost)
    assert not is_reached(squares, zero, [Fraction(-6)])


@pytest.mark.parametrize("F", ["u/v", "(u - v)/(u + v)"])
def test_outputs_of_degree_0_have_their_limit_at_0(F):
    """2/D is no exponent there."""
    (block,) = explicit_counterpart(Parameterization.parse([F])).blocks
    assert block.limits[0].statement == "R -> R_F"
    assert "homogeneous" not in block.limits[0].finding.reason


def test_what_was_not_found_is_a_record_too():
    found = explicit_counterpart(Parameterization.parse(["tanh(w)"]))
    (written,) = json.loads(found.to_json())["blocks"]
    assert written["R"]["verdict"] == "UNDECIDED"
    assert written["R"]["polynomials"] == written["R_F"]["branches"] == []
