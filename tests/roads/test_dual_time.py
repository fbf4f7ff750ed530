"""Joint flows of commuting fields, against integration step by step, and roads that disagree."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import pytest
import sympy

from derive import ConsistencyError, Parameterization, Verdict
from derive.records import Block
from derive.roads.dual_time import (
    COMMUTING_TIME,
    CommutingFlow,
    find_commuting_flow,
    follow_dual_time,
    is_commuting_flow,
)
from tests.published import derive_once

COMMUTING = [
    ["a*c+b*d", "a*d+b*c"],
    ["x**2+y**2", "x*y"],
    ["p**2+q**2+r**2+s**2", "2*p*r+2*q*s"],
    ["x+y", "x-y"],
    ["(x+y)**3+(x-y)**3", "(x+y)**3-(x-y)**3"],
    ["x**2+y**2+2*z**2", "x*y"],
    ["3*x**2/2+x*y+3*y**2/2", "x**2-6*x*y+y**2"],
]
OTHERS = [["x*y+z**2", "x*z+y*z"], ["a*u", "a*v"], ["(x+y)**2+x-y", "(x-y)**2"]]
TIMES = ("mu1", "mu2")


def block_of(outputs: list[str]) -> Block:
    (block,) = derive_once(Parameterization.parse(outputs)).blocks
    return block


def flow_of(outputs: list[str]) -> CommutingFlow:
    block = block_of(outputs)
    flow = find_commuting_flow(
        block.parameterization, TIMES, block.potential.dual, block.conserved.laws
    )
    assert flow is not None
    return flow


@pytest.mark.parametrize("outputs", COMMUTING)
def test_commuting_outputs_have_a_dual_road(outputs: list[str]) -> None:
    (road,) = [r for r in block_of(outputs).roads if r.name == COMMUTING_TIME]
    assert road.finding.verdict is Verdict.PROVED
    statements = [i.statement for i in road.finding.evidence]
    assert "dh2/dmu1 = K12" in statements
    assert "dH/dmu1 = h1" in statements


@pytest.mark.parametrize("outputs", OTHERS)
def test_others_have_none(outputs: list[str]) -> None:
    assert all(r.name != COMMUTING_TIME for r in block_of(outputs).roads)


@pytest.mark.parametrize("outputs", COMMUTING[:6])
def test_the_flow_is_that_of_one_field_after_the_other(outputs: list[str]) -> None:
    """Follow grad F_2 for a time mu_2, then grad F_1 for mu_1, by a Runge-Kutta of order 4."""
    flow = flow_of(outputs)
    names = flow.parameterization.weights
    symbols = [sympy.Symbol(n) for n in names]
    known = {n: sympy.Symbol(n) for n in (*names, *TIMES, *(f"{n}_0" for n in names))}
    F = [sympy.sympify(text, locals=known) for text in outputs]
    fields = [sympy.lambdify(symbols, [f.diff(w) for w in symbols], "mpmath") for f in F]
    times = {"mu1": sympy.Rational(1, 40), "mu2": sympy.Rational(-1, 30)}
    at = {f"{n}_0": sympy.Rational(k + 2, 3) for k, n in enumerate(names)}
    with mpmath.workdps(30):
        w = [mpmath.mpf(int(x.p)) / int(x.q) for x in at.values()]
        for x, time in ((fields[1], times["mu2"]), (fields[0], times["mu1"])):
            steps = 200
            h = mpmath.mpf(int(time.p)) / int(time.q) / steps
            for _ in range(steps):
                k1 = x(*w)
                k2 = x(*(a + h / 2 * b for a, b in zip(w, k1, strict=True)))
                k3 = x(*(a + h / 2 * b for a, b in zip(w, k2, strict=True)))
                k4 = x(*(a + h * b for a, b in zip(w, k3, strict=True)))
                slopes = zip(w, k1, k2, k3, k4, strict=True)
                w = [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in slopes]
        for found, expected in zip(flow.weights, w, strict=True):
            value = sympy.sympify(repr(found), locals=known).subs({**times, **at}).evalf(30)
            assert abs(mpmath.mpf(str(value)) - expected) < mpmath.mpf(10) ** -11


def test_a_changed_flow_is_rejected() -> None:
    flow = flow_of(COMMUTING[0])
    assert is_commuting_flow(flow)
    assert not is_commuting_flow(replace(flow, weights=flow.weights[::-1]))
    assert not is_commuting_flow(replace(flow, weights=tuple(2 * w for w in flow.weights)))
    shifted = (flow.weights[0] + flow.field.named("mu1"), *flow.weights[1:])
    assert not is_commuting_flow(replace(flow, weights=shifted))


def test_a_disagreement_of_the_roads_is_a_fault() -> None:
    block = block_of(COMMUTING[0])
    dual = block.potential.dual
    assert dual is not None
    assert dual.R is not None
    assert follow_dual_time(block.metric, dual) is not None
    for changed in (replace(dual, y=dual.y[::-1]), replace(dual, R=dual.R + dual.R)):
        with pytest.raises(ConsistencyError, match="two roads disagree"):
            follow_dual_time(block.metric, changed)


def test_dual_coordinates_that_are_none_give_no_flow() -> None:
    block = block_of(COMMUTING[4])
    dual = block.potential.dual
    assert dual is not None
    assert follow_dual_time(block.metric, dual) is not None
    assert follow_dual_time(block.metric, replace(dual, y=dual.y[::-1])) is None


def test_q_is_the_legendre_transform_of_h() -> None:
    """The gradient of the main road at beta = h(mu) is mu."""
    outputs = ["p**2+q**2+r**2+s**2", "2*p*r+2*q*s"]
    d = derive_once(Parameterization.parse(outputs, {"p": "1", "q": "2", "r": "1/2", "s": "-1/3"}))
    (block,) = d.blocks
    assert d.potential.kind == "explicit"
    flow = find_commuting_flow(block.parameterization, TIMES, None, block.conserved.laws)
    assert flow is not None
    mu = {"mu1": 0.03, "mu2": -0.05}
    numeric = d.potential.numeric()
    h = [float(sympy.sympify(repr(flow.pull_back(f))).subs(mu)) for f in block.parameterization.F]
    assert numeric.gradient(h) == pytest.approx(list(mu.values()), rel=1e-9)
