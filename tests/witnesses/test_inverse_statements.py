"""What is claimed of designs of F, put to witnesses; and false claims."""

import random
from dataclasses import replace

import pytest

from derive.inverse.parameterize import parameterize
from derive.language import parse_expression
from derive.statement import Statement
from tests.witnesses import WITNESSES, Refuted
from tests.witnesses.inverse import curvature_is_constant, length_is_the_root

OWN = ("beta*log(beta) - beta", "beta*asinh(beta/2) - sqrt(4 + beta**2)", "-log(beta)")
OWN += ("cosh(beta)", "beta**4 + beta**2", "-beta**2", "beta**2 + beta**(3/2)")


@pytest.mark.every(6)
@pytest.mark.parametrize("Q", OWN)
def test_designs_withstand_their_witnesses(Q):
    design = parameterize(Q)
    for s in design.statements:
        if isinstance(s, Statement):
            assert WITNESSES[s.kind](design, s, random.Random(1)) > 0


@pytest.mark.parametrize("Q", OWN[:3])
def test_another_map_is_refuted(Q):
    design = parameterize(Q)
    (c,), (s,) = design.coordinates, design.statements
    other = parse_expression("p**3 - m**2" if len(c.weights) > 1 else "w**3 + w")
    other = other if c.weights[0] in ("p", "w") else parse_expression(f"{c.weights[0]}**3")
    false = replace(design, coordinates=(replace(c, output=other),))
    with pytest.raises(Refuted):
        curvature_is_constant(false, s, random.Random(1))


def test_another_integral_is_refuted():
    design = parameterize("beta**4 + beta**2")
    (c,) = design.coordinates
    (s,) = (s for s in design.statements if s.kind == "line element")
    other = parameterize("beta**6 + beta**2").coordinates[0].w_of_beta
    false = replace(design, coordinates=(replace(c, w_of_beta=other),))
    with pytest.raises(Refuted):
        length_is_the_root(false, s, random.Random(1))
