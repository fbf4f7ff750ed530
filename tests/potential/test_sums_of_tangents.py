"""Sums of functions whose K is no power of beta: seen before any division by sums."""

import pytest

from derive import Parameterization, derive
from tests.published import derive_once


@pytest.mark.slow
def test_a_sum_of_tangents_has_the_integral_in_time():
    found = derive(Parameterization.parse(["tan(a)/2 + tan(b) + tan(c)"]), timeout=20)
    assert (found.verdict.value, found.potential.kind) == ("PROVED", "quadrature")


def test_a_power_with_an_open_exponent_is_still_found():
    found = derive_once(Parameterization.parse(["w**a"], parameters=["a"], positive=["w"]))
    assert found.potential.kind == "explicit"
