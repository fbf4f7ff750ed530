"""R beside the implicit Q, and their limits."""

from fractions import Fraction

import pytest

from derive import Parameterization, Verdict, explicit_counterpart
from tests.published import derive_once

TIED = {"p": "alpha", "m": "alpha"}


def block(outputs, start=None):
    (found,) = explicit_counterpart(Parameterization.parse(outputs, start=start)).blocks
    return found


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("outputs", "start", "order"),
    [
        (["p**2 - m**2"], TIED, 3),
        (["p**3 - m**3"], TIED, 3),
        (["u*v"], {"u": "alpha", "v": "alpha"}, 2),
        (["w**2"], {"w": 1}, 2),
        (["a*u1", "a*u2"], {"a": "alpha", "u1": 0, "u2": 0}, 3),
        (["a*u1", "a*u2"], {"a": "alpha", "u1": "alpha", "u2": 0}, 2),
    ],
)
def test_they_differ_from_a_power_on_and_agree_near_the_start(outputs, start, order):
    contrast = block(outputs, start).contrast
    assert contrast.finding.verdict is Verdict.REFUTED
    (identity,) = contrast.finding.evidence
    assert f"tau^{order}" in identity.statement
    assert identity.left != identity.right
    assert len(contrast.rows) >= 3
    for row in contrast.rows:
        assert abs(row.implicit / float(row.explicit.mid()) - 1) > 1e-3
    near = min(contrast.rows, key=lambda row: float(row.explicit.mid()))
    assert near.implicit == pytest.approx(float(near.explicit.mid()), rel=0.2)


def test_the_series_are_those_of_the_functions():
    """Near beta_0 the ratio Q/R goes to 1 as it must where the Hessians agree."""
    p = Parameterization.parse(["u*v"], start={"u": "alpha", "v": "alpha"})
    Q = derive_once(p).potential.numeric({"alpha": 1})
    distance = block(["u*v"], {"u": "alpha", "v": "alpha"}).distance
    ratios = []
    for step in (Fraction(1, 10), Fraction(1, 1000)):
        R = distance.at({"beta": 1 + step, "alpha": Fraction(1)})
        ratios.append(2 * float(Q.bregman(1 + float(step), 1.0)) / float(R.ball.mid()))
    assert abs(ratios[1] - 1) < 2e-3 < abs(ratios[0] - 1)


def test_linear_outputs_have_one_and_the_same():
    contrast = block(["a + 2*b"], {"a": 1, "b": "alpha"}).contrast
    assert contrast.finding.verdict is Verdict.PROVED
    for row in contrast.rows:
        assert row.implicit == pytest.approx(float(row.explicit.mid()), rel=1e-9)


def test_there_may_be_no_Q_at_all():
    found = block(["a**2 + b**2", "a*c + b*d", "c**2 + d**2"])
    assert found.contrast.finding.verdict is Verdict.REFUTED
    assert "no implicit regularizer" in found.contrast.finding.reason
    assert not found.contrast.rows


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("outputs", "start", "statements"),
    [
        (["p**3 - m**3"], TIED, ["R -> R_F"]),
        (["u*v"], {"u": "alpha", "v": "alpha"}, ["R -> R_F"]),
        (["w**3"], {"w": 1}, []),
    ],
)
def test_limits_that_are_proved(outputs, start, statements):
    found = block(outputs, start).limits
    proved = [x.statement for x in found if x.finding.verdict is Verdict.PROVED]
    assert proved == statements


@pytest.mark.parametrize("depth", [2, 3])
def test_limits_in_numbers(depth):
    """alpha -> 0: R goes to |beta|^(2/D); alpha -> oo: to beta^2/(2 D^2)."""
    text = f"p**{depth} - m**{depth}"
    distance = block([text], TIED).distance
    small, large = Fraction(1, 10**12), Fraction(1000)
    value = distance.at({"beta": Fraction(2), "alpha": small}).ball
    assert float(value.mid()) == pytest.approx(2 ** (2 / depth), rel=1e-4)
    scaled = float(distance.at({"beta": Fraction(2), "alpha": large}).ball.mid())
    assert scaled * 1000 ** (2 * depth - 2) == pytest.approx(2 / depth**2, rel=1e-4)
