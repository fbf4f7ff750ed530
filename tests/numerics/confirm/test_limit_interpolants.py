"""Interpolants of Q at two scales of the start tend to the minimizer of each limit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy

from derive.verdict import Verdict
from tests.limits.test_regimes import CASES, TIED, found, shaped
from tests.numerics.confirm.limit_interpolants import InterpolantConfirmation, confirm_minimizers

alpha = sympy.Symbol("alpha", positive=True)
CHECKED = [
    "tied",
    "tied, two outputs",
    "tied, depth 3",
    "tied, any depth",
    "biased",
    "square",
    "one shape",
    "linear",
    "neuron",
    "skew neuron",
]


@pytest.mark.every(4)
@pytest.mark.parametrize("case", CHECKED)
def test_interpolants_tend_to_the_minimizer_of_the_limit(case):
    outputs, start, _ = CASES[case]
    r = found(outputs, start)
    reached = confirm_minimizers(r)
    proved = [limit for limit in r.limits if limit.finding.verdict is Verdict.PROVED]
    assert [a.limit for a in reached] == proved
    assert proved
    for a in reached:
        assert a.passed, a.report()
        assert "interpolant confirmed" in a.report()


@pytest.mark.slow
def test_a_limit_in_which_an_integral_stands_is_not_tested():
    rich, kernel = confirm_minimizers(found(*CASES["no closed form"][:2]))
    assert rich.report().endswith("NOT TESTED; an integral stands in it")
    assert isinstance(kernel, InterpolantConfirmation)
    assert kernel.passed


def test_the_minimizer_of_an_l1_limit_is_sparse_and_of_a_kernel_limit_solves_equations():
    rich, kernel = confirm_minimizers(found(["p**2 - m**2"], TIED))
    assert isinstance(rich, InterpolantConfirmation)
    assert isinstance(kernel, InterpolantConfirmation)
    assert np.count_nonzero(np.abs(rich.minimizer) > 1e-9) == rich.X.shape[0]
    # The least l2 norm: in the row space of X.
    rows = kernel.X.T @ np.linalg.lstsq(kernel.X.T, kernel.minimizer, rcond=None)[0]
    assert np.allclose(rows, kernel.minimizer)
    assert rich.sharp
    assert kernel.predicted == pytest.approx(kernel.ratio, rel=0.05)


@pytest.mark.slow
def test_parametric_limits_and_shapes():
    depth = found(["p**D - m**D"], {"p": "1", "m": "1"}, "D", (), ("oo",))
    shape = found(["u*v - x*y"], shaped("alpha", "s"), "s", ("alpha",), ("1-",))
    norm = found(["a*u1", "a*u2"], {"a": "c", "u1": "3/c", "u2": "4/c"}, "c", (), (0, "oo"))
    for r in (depth, shape, norm):
        for a in confirm_minimizers(r):
            assert a.passed, a.report()


def test_a_wrong_limit_is_not_confirmed():
    rich, kernel = (r := found(["p**2 - m**2"], TIED)).limits
    wrong = [
        replace(
            rich, potential=kernel.potential, below=kernel.below, error=1 / sympy.log(1 / alpha)
        ),
        replace(kernel, potential=rich.potential, below=rich.below),
        replace(kernel, error=alpha**-8),
    ]
    for limit in wrong:
        (a,) = confirm_minimizers(replace(r, limits=(limit,)))
        assert not a.passed, a.report()
    # The same minimizer at a rate that is too slow.
    (a,) = confirm_minimizers(replace(r, limits=(replace(kernel, error=alpha**-2),)))
    assert not a.passed, a.report()


@pytest.mark.slow
def test_a_limit_that_cannot_be_tested_says_why():
    rich, _ = (r := found(["p**2 - m**2"], TIED)).limits
    slow = replace(rich, potential=replace(rich.potential, gradient=(rich.coordinates[0] ** 3,)))
    slow = replace(slow, error=1 / sympy.log(sympy.log(3 + 1 / alpha)))
    (a,) = confirm_minimizers(replace(r, limits=(slow,)))
    assert not a.passed
    assert "NOT TESTED; the minimizer tends to that of the limit too slowly" in a.report()
