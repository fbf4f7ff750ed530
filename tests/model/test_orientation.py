"""Roots of even powers: one rule for odd and even roots, by the sign at the start."""

import numpy as np
import pytest

from derive import Parameterization
from derive.errors import InputError
from numerics import flow, interpolate
from tests.published import derive_once

SIDES = [("(w**2)**(1/3)", "-1"), ("(w**2)**(1/4)", "-1"), ("((w-2)**2)**(1/3)", "1")]


@pytest.mark.every(2)
@pytest.mark.parametrize(("output", "start"), SIDES)
def test_a_root_of_an_even_power_is_that_of_the_side_of_the_start(output, start):
    """All three are |x|^k from |x| = 1; the flow of the weights agrees, and ends at x = 0."""
    p = Parameterization.parse([output], start={"w": start})
    d = derive_once(p)
    same = derive_once(Parameterization.parse([output], start={"w": "3" if start == "1" else "1"}))
    assert d.potential.gradient == same.potential.gradient
    (piece,) = d.potential.pieces
    assert piece.domain is not None
    assert piece.domain.where == "`beta > 0`"
    twice = [output, output.replace("w", "v")]
    two = Parameterization.parse(twice, start={"w": start, "v": start})
    q = derive_once(two).potential.numeric({})
    reached = flow(two, [[1.0, 0.5]], [2.5], start={"w": start, "v": start}, digits=12)
    found = interpolate(q, [[1.0, 0.5]], [2.5]).value
    assert np.allclose(found, np.array(reached.limit, dtype=float), rtol=1e-9)


@pytest.mark.parametrize("index", ["1/3", "1/4", "1/2"])
def test_without_a_sign_odd_and_even_roots_are_refused_alike(index):
    with pytest.raises(InputError, match="has a kink"):
        Parameterization.parse([f"(w**2)**({index})"])


@pytest.mark.parametrize("index", ["1/3", "1/2"])
def test_a_negative_base_is_refused_alike(index):
    with pytest.raises(InputError, match="root of a negative number"):
        Parameterization.parse([f"w**({index})"], start={"w": "-1"})
