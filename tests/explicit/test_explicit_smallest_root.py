"""R as the smallest real root for every start: at single points it was found in another way."""

from fractions import Fraction
from random import Random

import pytest

from derive import Parameterization, Verdict
from derive.explicit.constrained import pose
from derive.explicit.critical.equations import critical_factors, follow_from_distance
from derive.explicit.minimum import RootValue
from derive.explicit.regularize import minimum_by_elimination
from derive.model.notation import Notation


def distance(F):
    p = Parameterization.parse([F])
    return minimum_by_elimination(pose, p, Notation(p, (0,)).betas)


@pytest.mark.parametrize("F", ["w**3 - w", "u*v", "u**2*v", "w**4 - w**2"])
def test_at_single_points_the_certified_root_is_the_smallest(F):
    found, rng = distance(F), Random(3)
    assert found.verdict is Verdict.PROVED
    assert "the smallest real root" in found.finding.reason
    values = []  # 0 is a special number, where R may be another root
    for _ in range(6):
        numbers = (
            Fraction(rng.choice((-1, 1)) * rng.randint(1, 20), rng.randint(1, 20))
            for _ in found.variables
        )
        values.append(found.at({str(s): x for s, x in zip(found.variables, numbers, strict=True)}))
    roots = [x for x in values if isinstance(x, RootValue)]
    assert {x.index for x in roots} == {0}
    assert max(x.roots for x in roots) > 1


def test_weights_that_two_critical_points_share_the_distance_of_do_not_follow():
    # From b_0 = 0 the points (a, b) and (a, -b) are equally far; b = 0 has a factor of its own.
    problem = pose(Parameterization.parse(["a**2*b**2 + a"], {"a": "alpha", "b": "0"}))
    factors = sorted(critical_factors(problem), key=len)
    assert [follow_from_distance(problem, f) for f in factors] == [True, False]
