"""What is claimed of wide nets, put to its witness, and false claims."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from derive.univariate.potential import read_density, read_potential
from derive.univariate.problem import read_activation, variational_problem
from tests.witnesses import Refuted, repeated
from tests.witnesses.univariate import net_and_problem


def problem(density):
    setting = read_potential("x**4 + x**2"), read_activation("relu"), read_density(density)
    return variational_problem(*setting, scaled=False)


@pytest.mark.parametrize("density", ["uniform", "1 - b**2", "exp(-b**2) on [-1, 1]"])
def test_the_net_solves_the_problem(density):
    p = problem(density)
    (limit,) = p.statements
    assert sum(net_and_problem(p, limit, random.Random(seed)) for seed in range(4)) > 1


@pytest.mark.parametrize("factors", [(Fraction(1), 0, 0), (Fraction(1), 0, 1), (Fraction(3), 1, 1)])
def test_other_factors_are_refuted(factors):
    bending, slopes, moment = factors
    p = problem("uniform")
    changed = tuple(x * (1 + 8 * c) for x, c in zip(p.affine, (slopes, moment), strict=True))
    false = replace(p, bending=bending / 4, affine=changed)
    with pytest.raises(Refuted):
        repeated(net_and_problem, false, false.statements[0], 4)
