"""R beside the implicit Q, and their limits."""

import json
from fractions import Fraction

import pytest
from flint import arb, ctx

from derive import Parameterization, Verdict, explicit_counterpart
from derive.exact.field.function_field import FunctionField
from derive.exact.field.polynomial import terms
from derive.explicit.constrained import (
    BITS,
    Stopped,
    feasible_distance,
    is_reached,
    pose,
    pose_cost,
)
from derive.explicit.critical import equations
from derive.explicit.critical.equations import critical_factors, eliminate, lagrange

TIED = {"p": "alpha", "m": "alpha"}


def block(outputs, start=None):
    (found,) = explicit_counterpart(Parameterization.parse(outputs, start=start)).blocks
    return found


def test_linear_outputs_have_one_and_the_same():
    contrast = block(["a + 2*b"], {"a": 1, "b": "alpha"}).contrast
    assert contrast.finding.verdict is Verdict.PROVED
    for row in contrast.rows:
        assert row.implicit == pytest.approx(float(row.explicit.mid()), rel=1e-9)


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


def test_known_critical_points_are_not_lost():
    """(p - 1) = 2 mu p, (m - 1) = -2 mu m has mu = 1/4 at p = 2, m = 2/3."""
    tied = problem(["p**2 - m**2"], {"p": "alpha", "m": "alpha"})
    data = [Fraction(4) - Fraction(4, 9), Fraction(1)]
    equations = lagrange(tied, data)
    for k, x in enumerate((Fraction(2), Fraction(2, 3))):
        assert any(value(f, x) == 0 for f in equations.values_of(k))
    r = 1 + Fraction(1, 9)
    assert any(value(f, r) == 0 for f in equations.values)
    assert not any(value(f, r + 1) == 0 for f in equations.values)


def value(f, x):
    """Return a polynomial in one variable at a number."""
    (k,) = (k for k, n in enumerate(f.degrees()) if n)
    return sum(c * x ** e[k] for e, c in terms(f))


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


def test_factors_without_critical_points_are_left_out():
    """|dP/d w_0|^2 = 4 r (dP/dr)^2 on P: of resultants for u^2 v^3 one factor is left."""
    (factor,) = critical_factors(problem(["u**2*v**3"]))
    assert int(factor.degrees()[0]) == 10


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
