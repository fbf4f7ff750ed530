"""Starts and arguments that are numbers: what is a constant in Q is computed like the rest."""

import contextlib
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad

from derive import Parameterization
from derive.errors import InputError, NumericalError
from numerics import interpolate
from numerics.confirm.paths import mirror_path
from tests.cli.commands import run
from tests.published import derive_once


def potential(outputs, start, numbers=None):
    d = derive_once(outputs, start=start)
    return d.potential.numeric(numbers or {})


def test_pi_in_a_slope_at_the_start_is_a_number():
    """atan(2 beta - 1) at beta = 0."""
    q = potential("a/(a + b)", {"a": "0", "b": "alpha"}, {"alpha": 2})
    K = lambda x: (2 * x**2 - 2 * x + 1) ** 2 / 4  # noqa: E731
    assert q.gradient([0.25])[0] == pytest.approx(quad(lambda x: 1 / K(x), 0, 0.25)[0], rel=1e-10)


@pytest.mark.parametrize(
    ("output", "start"),
    [
        ("w**(1/3)", {"w": "-8"}),
        ("(w**3)**(1/3)", {"w": "-8"}),  # the root of the same negative numbers
        ("(q*x)**(3/2)", {"q": "-sqrt(2)", "x": "3/2"}),
        ("log(x)*b", {"x": "3 - pi"}),
    ],
)
def test_a_root_of_a_negative_power_is_refused(output, start):
    with pytest.raises(InputError):
        Parameterization.parse([output], start=start)


def test_a_boundary_that_is_not_reached_is_no_limit():
    # beta = exp(w) > 0: no such beta has beta_1 + 2 beta_2 + beta_3 = 0.
    q = potential(["exp(w)"], None, {"w_0": 0})
    with contextlib.suppress(InputError):
        assert not interpolate(q, [[1, 2, 1]], [0]).converged


def test_a_flow_that_leaves_what_q_was_derived_for_has_no_warped_path():
    d = derive_once(["a*u1", "a*u2"])
    start = {"a_0": "1/10", "u1_0": 1, "u2_0": -1}
    with pytest.raises(NumericalError, match="keeps its sign"):
        mirror_path(d, [[1, 0], [0, 1]], [-3, 2], start, 12)


def test_a_check_that_cannot_be_done_leaves_the_derivation():
    done = run("regularizer", "exp(a)*u", "--vector", "u", "--check")
    assert done.returncode == 3
    assert "Implicit regularizer Q" in done.stdout
    assert "could not be done" in done.stderr


@pytest.mark.parametrize("start", ["1", "1/100"])
def test_a_start_that_brings_roots_of_large_primes_has_a_closed_form(start):
    """40001 = 13 17 181, and 181 is no square modulo the prime that is tried first."""
    d = derive_once("sqrt(w**2 + 4)", {"w": start})
    assert d.potential.kind == "explicit"
    w = float(Fraction(start))
    q, beta_0 = d.potential.numeric({}), (w * w + 4) ** 0.5
    for beta in (2 + (beta_0 - 2) / 2, 2.5, 4.0):
        expected, _ = quad(lambda b: b * b / (b * b - 4), beta_0, beta, epsabs=1e-11)
        assert abs(q.gradient(beta) - expected) < 1e-7 * (1 + abs(expected))


@pytest.mark.parametrize(
    ("outputs", "start", "free"),
    [
        # Q has asinh(4/3) or the square root of a number in it.
        (["u*v"], {"u": "1", "v": "2"}, {"u_0": 1, "v_0": 2}),
        (["p**2 - m**2"], {"p": "1", "m": "2"}, {"p_0": 1, "m_0": 2}),
    ],
)
def test_q_of_a_start_in_numbers_is_that_of_its_symbols(outputs, start, free):
    q, symbolic = potential(outputs, start), potential(outputs, None, free)
    beta = np.array([0.5, 2.0, 3.5])
    np.testing.assert_allclose(q.gradient(beta), symbolic.gradient(beta), rtol=1e-12)
    np.testing.assert_allclose(q(beta), symbolic(beta), rtol=1e-12)
    np.testing.assert_allclose(q.bregman(beta, beta / 2), symbolic.bregman(beta, beta / 2))


@pytest.mark.parametrize("outer", ["tanh({})", "exp({})"])
def test_blocks_share_a_start_symbol_in_exponentials_of_other_units(outer):
    """exp(alpha/2) at the start of one block, exp(alpha) at that of the other."""
    outputs = [outer.format(x) for x in ("a*b", "c*d")]
    start = {"a": "-alpha", "b": "1/2", "c": "-1", "d": "alpha"}
    whole = derive_once(outputs, start=start)
    for block, (F, own) in enumerate(zip(outputs, ("ab", "cd"), strict=True)):
        one = derive_once([F], start={w: start[w] for w in own})
        p, q = whole.potential.pieces[block], one.potential.pieces[0]
        assert (whole.verdict, p.assumptions) == (one.verdict, q.assumptions)
