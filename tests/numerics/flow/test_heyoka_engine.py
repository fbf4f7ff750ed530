"""The engine of heyoka against our own; skipped where heyoka is not installed."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from derive import Parameterization
from derive.errors import InputError, NumericalError
from numerics.flow.gradient_flow import flow
from numerics.flow.taylor import integrate
from tests.numerics.flow.test_taylor import pendulum

X, Y = [["1", "1/2"]], [1]
EXPRESSIONS = ("log(w)", "sqrt(w)", "sin(w) + cos(v)", "sinh(w)/cosh(v)", "asinh(w)*exp(v)", "v**3")


def test_a_missing_heyoka_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "heyoka", None)
    with pytest.raises(InputError, match=r"pip install 'regderive\[heyoka\]'") as caught:
        flow(Parameterization.parse(["w"]), [[1]], [1], {"w": 0}, digits=15, engine="heyoka")
    assert "\n" not in str(caught.value)


def worst(one: Any, two: Any) -> Any:
    with mpmath.workdps(60):
        return max(abs(a - b) for a, b in zip(one, two, strict=True))


def test_the_engines_agree() -> None:
    pytest.importorskip("heyoka")
    p = Parameterization.parse(["p1**2 - m1**2", "p2**2 - m2**2"])
    start = dict.fromkeys(p.weights, "1/10")
    ours, theirs = (flow(p, X, Y, start, digits=40, engine=e) for e in ("taylor", "heyoka"))
    assert theirs.converged
    assert ours.order != theirs.order  # it was another engine
    assert worst(ours.limit, theirs.limit) < mpmath.mpf(10) ** -40


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_operation(expression: str) -> None:
    pytest.importorskip("heyoka")
    p = Parameterization.parse(["w - 2*v", expression])
    start = {"w": "3/2", "v": "1/3"}
    ends = [flow(p, X, Y, start, digits=30, engine=e, time="1/8") for e in ("taylor", "heyoka")]
    assert worst(ends[0].weights, ends[1].weights) < mpmath.mpf(10) ** -30
    assert ends[0].time == ends[1].time == 0.125


def test_other_programs() -> None:
    pytest.importorskip("heyoka")
    from numerics.flow.heyoka_engine import Heyoka

    start = [Fraction(1), Fraction(1, 2)]
    ours = integrate(pendulum(), start, 40, time=Fraction(3))
    theirs = integrate(pendulum(), start, 40, time=Fraction(3), engine=Heyoka)
    assert worst(ours.state, theirs.state) < mpmath.mpf(10) ** -40


def test_leaving_the_domain() -> None:
    pytest.importorskip("heyoka")
    p = Parameterization.parse(["w**2"])
    with pytest.raises(NumericalError, match=r"does not move|no longer changes|undefined"):
        flow(p, [[1]], [1], {"w": 0}, digits=15, engine="heyoka")
