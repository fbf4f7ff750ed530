"""Targets at and beyond the ends of a domain at which grad Q is bounded."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from derive import Parameterization
from derive.errors import InputError, NumericalError
from numerics import flow, interpolate
from numerics.evaluate.potential import NumericPotential
from numerics.interpolants.interpolant import Status
from tests.published import derive_once


def powers(exponent: str) -> NumericPotential:
    """Return Q of ``p**D - m**D`` from p = m = 1, on |beta| < 4 for 4/3 and < 8 for 3/2."""
    F = f"p**({exponent}) - m**({exponent})"
    return derive_once(Parameterization.parse([F], start={"p": "1", "m": "1"})).potential.numeric(
        {}
    )


@pytest.mark.parametrize(("exponent", "end"), [("4/3", 4.0), ("3/2", 8.0)])
def test_what_lies_beyond_is_out_of_reach(exponent: str, end: float) -> None:
    q = powers(exponent)
    assert interpolate(q, [[1.0, 1.0]], [1.9 * end]).converged
    for y in (-1.001 * end, 1.5 * end):
        with pytest.raises(InputError, match="out of reach"):
            interpolate(q, [[1.0]], [y])
    assert interpolate(q, [[1.0]], [end]).status is Status.BOUNDARY


@pytest.mark.parametrize(("exponent", "end"), [("4/3", 4.0), ("3/2", 8.0)])
def test_interpolants_that_the_flow_does_not_reach(exponent: str, end: float) -> None:
    """Some beta fits, but Q is least where beta1 is at its end: there Q' < nu."""
    found = interpolate(powers(exponent), [[1.0, 0.1]], [end + 0.2])
    assert found.status is Status.OUT_OF_REACH
    assert np.allclose(found.value, [end, 2.0])


def test_the_flow_of_the_weights_ends_where_the_domain_does() -> None:
    """From p = m = 1 it reaches 3.9 < 4, and leaves the domain of F on its way to 4.1."""
    p = Parameterization.parse(["p**(4/3) - m**(4/3)"])
    start = {"p": 1, "m": 1}
    assert abs(flow(p, [[1]], ["3.9"], start, 15).limit[0] - mpmath.mpf("3.9")) < 1e-12
    with pytest.raises(NumericalError):
        flow(p, [[1]], ["4.1"], start, 15)


@pytest.mark.parametrize(("D", "reached"), [("1", True), ("4/3", False), ("3", True)])
def test_a_power_that_is_linear_has_no_end(D: str, reached: bool) -> None:
    general = derive_once(Parameterization.parse(["p**D - m**D"], start={"p": "a", "m": "a"}))
    q = general.potential.numeric({"a": 1, "D": D})
    assert np.isfinite(q(9.0)) == reached
    assert np.isfinite(q.gradient(-9.0)) == reached
