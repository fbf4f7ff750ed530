"""The parts of explicit regularization on their own: each refuses what is not so."""

from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb, ctx

from derive import Parameterization, explicit_counterpart
from derive.exact.field.function_field import FunctionField
from derive.explicit.constrained import Stopped, pose, pose_cost
from derive.explicit.contrast import explicit_series, implicit_series
from derive.explicit.cost.feasible import BITS, feasible_distance, lies_below
from derive.explicit.critical.critical_families import critical_families, split
from derive.explicit.critical.elimination import eliminate, excluded
from derive.explicit.critical.quadrics import definite_parts, sphere_axes, stereographic

FIELD = FunctionField(("x", "y", "z"))
X, Y, Z = FIELD.gens


def problem(outputs, start=None, build=pose):
    return build(Parameterization.parse(outputs, start=start))


def test_every_family_meets_the_conditions():
    tied = problem(["p**2 - m**2"], {"p": "alpha", "m": "alpha"})
    for family in critical_families(tied):
        assert all(family.of(condition).is_zero() for condition in tied.conditions)


def test_known_critical_points_lie_on_a_family():
    """No point is lost: (p - 1) = 2 mu p, (m - 1) = -2 mu m has mu = 1/4 at p = 2, m = 2/3."""
    tied = problem(["p**2 - m**2"], {"p": "alpha", "m": "alpha"})
    point = [Fraction(2), Fraction(2, 3), Fraction(1, 4), Fraction(1)]
    assert not any(c.at(point) for c in tied.conditions)
    on = [
        family
        for family in critical_families(tied)
        if all(image.at(point) == x for image, x in zip(family.images, point, strict=True))
    ]
    assert on


def test_relations_vanish_on_the_family_and_not_elsewhere():
    cost = problem(["a*b*c"], build=pose_cost)
    family = next(f for f in critical_families(cost) if f.dominant)
    relation = eliminate(family, family.distance, 2)
    value = [c.at([Fraction(8)]) for c in relation.coefficients]
    assert sum(c * 12**n for n, c in enumerate(value)) == 0
    assert sum(c * 13**n for n, c in enumerate(value)) != 0


def test_excluded_never_excludes_what_is_taken():
    functions = [X, X * X, FIELD.constant(3)]
    assert not excluded(functions, [Fraction(2), Fraction(4), Fraction(3)])
    assert excluded(functions, [Fraction(2), Fraction(5), Fraction(3)])
    assert excluded(functions, [Fraction(2), Fraction(4), Fraction(1)])
    assert not excluded([X, Y], [Fraction(2), Fraction(5)])


def test_spheres_and_their_points():
    sphere = X * X + 4 * Y * Y - 9
    axes = sphere_axes(sphere.numerator)
    assert axes == {0: 3, 1: Fraction(3, 2)}
    chart, pole = stereographic(FIELD, axes)
    images = [chart.get(k, g) for k, g in enumerate(FIELD.gens)]
    assert sphere.compose(images, FIELD).is_zero()
    assert [p.total_degree() for p in pole] == [1, 1]
    for other in (X * X + Y * Y + 1, X * X + Y * Y - 2, X * X + X * Y - 1, X * X - Y * Y - 1):
        assert sphere_axes(other.numerator) is None


def test_definite_polynomials():
    assert definite_parts((X * X + Y * Y + 1).numerator) == []
    assert definite_parts((X * X + Y * Y).numerator) == [X.numerator, Y.numerator]
    assert definite_parts((X * X + X * Y + Y * Y).numerator) == [X.numerator, Y.numerator]
    assert definite_parts((X * X - 2 * Y * Y).numerator) is None
    assert definite_parts((X * X - 2).numerator) is None


def test_splitting_refuses_what_it_cannot_solve():
    cost = problem(["a*b*c"], build=pose_cost)
    a = cost.w[0]
    with pytest.raises(Stopped, match="sphere"):
        split(cost, [a * a - 2])


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
        assert lies_below(cost, zero, [Fraction(6)], arb("12.1"))
        assert not lies_below(cost, zero, [Fraction(6)], arb("11.9"))


def test_series_of_explicit_and_implicit_regularization():
    """u v from (1, 1): w = w_0/(1 - tau) explicitly, w_0 exp(tau) implicitly."""
    p = Parameterization.parse(["u*v"], start={"u": 1, "v": 1})
    (left,) = explicit_series(p, {}, [1])
    (right,) = implicit_series(p, p.field.one, {}, [1])
    assert left == [n + 1 for n in range(8)]
    assert right[0] == 1
    assert all(b == a * Fraction(2, n) for n, (a, b) in enumerate(pairwise(right), 1))


def test_series_agree_for_a_linear_output():
    p = Parameterization.parse(["a + 2*b"], start={"a": 1, "b": 3})
    assert explicit_series(p, {}, [1]) == implicit_series(p, p.field.one, {}, [1])


@pytest.mark.parametrize("F", ["u/v", "(u - v)/(u + v)"])
def test_outputs_of_degree_0_have_their_limit_at_0(F):
    """2/D is no exponent there."""
    (block,) = explicit_counterpart(Parameterization.parse([F])).blocks
    assert block.limits[0].statement == "R -> R_F"
    assert "homogeneous" not in block.limits[0].finding.reason
