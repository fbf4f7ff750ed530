"""Numbers of erf, erfi, Ei and the dilogarithm: on balls, and where no double has a bound."""

import mpmath
import numpy as np
import pytest
from flint import acb, arb

from derive import Parameterization
from numerics.evaluate.balls import COMPLEX, REAL, Undefined
from numerics.evaluate.doubles.arithmetic import FUNCTIONS, Double
from tests.published import derive_once

POINTS = {"erf": (-2.5, 0.3), "erfi": (-2.5, 0.3), "Ei": (-2.5, 0.3), "Li2": (-2.5, 0.3)}
KNOWN = {**{f: getattr(mpmath, f.lower()) for f in ("erf", "erfi", "Ei")}, "Li2": None}


def known(name, x):
    return mpmath.polylog(2, x) if name == "Li2" else KNOWN[name](x)


@pytest.mark.parametrize(("name", "x"), [(f, x) for f, xs in POINTS.items() for x in xs])
def test_kinds_of_numbers_agree(name, x):
    meant = float(known(name, mpmath.mpf(x)))
    assert float(REAL[name](arb(x)).mid()) == pytest.approx(meant, rel=1e-14)
    inside = COMPLEX[name](acb(x)) if name in COMPLEX else None
    assert inside is not None
    assert float(inside.real.mid()) == pytest.approx(meant, rel=1e-14)
    assert abs(inside.imag) < 1e-12
    double = FUNCTIONS[name](Double.of(x))
    assert float(double.v) == pytest.approx(meant, rel=1e-12)
    assert double.d == np.inf  # no bound is known: balls decide


def test_there_is_no_dilogarithm_beyond_its_end():
    with pytest.raises(Undefined):
        REAL["Li2"](arb(2))
    assert not REAL["Li2"](arb(1, 0.5)).is_finite()
    assert not COMPLEX["Li2"](acb(arb(1, 0.5), arb(0, 0.5))).is_finite()
    assert not COMPLEX["Ei"](acb(arb(0, 0.5), arb(0, 0.5))).is_finite()


@pytest.mark.parametrize(("text", "start"), [("softplus(w)", 0.5), ("log(cosh(w))", -1.5)])
def test_q_has_all_digits(text, start):
    q = derive_once(Parameterization.parse([text])).potential.numeric({"w_0": start})
    with mpmath.workdps(40):
        slope = {
            "softplus(w)": lambda b: mpmath.log(mpmath.expm1(b)) - 1 / mpmath.expm1(b),
            "log(cosh(w))": lambda b: mpmath.log(4 * mpmath.expm1(2 * b)) / 2,
        }[text]
        b0 = {
            "softplus(w)": lambda w: mpmath.log1p(mpmath.exp(w)),
            "log(cosh(w))": lambda w: mpmath.log(mpmath.cosh(w)),
        }[text](mpmath.mpf(start))
        for b in (0.25, 1.5, 40.0):
            rise = mpmath.quad(slope, [b0, b]) - slope(b0) * (b - b0)
            assert abs(mpmath.mpf(q(b) - q(float(b0))) / rise - 1) < 1e-13
