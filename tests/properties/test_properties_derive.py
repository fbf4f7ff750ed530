"""Drawn parameterizations: refusals by name, verdicts that flows and symmetries confirm."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product

import mpmath
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from mpmath import mpf
from witness_flow import (
    Model,
    NoForm,
    evaluate,
    pathwise_errors,
    random_steering,
    residual_at_point,
    run,
    start_values,
    warp_function,
)

from derive import Derivation, Parameterization, Verdict, derive
from derive.errors import DeriveError

NAMES = ("x", "y", "z", "t")
STARTS = ("1", "2", "-1", "1/2", "-3/2", "0")


@dataclass(frozen=True)
class Drawn:
    outputs: tuple[str, ...]
    start: tuple[tuple[str, str], ...] | None


@st.composite
def models(draw: st.DrawFn, fixed_start: bool = False, dimensions: str = "11223") -> Drawn:
    """Draw a polynomial map of degree at most 3 with small coefficients, forms half of the time."""
    d = int(draw(st.sampled_from(dimensions)))
    names = NAMES[: draw(st.integers(d, 4 if d < 3 else 3))]
    degree = draw(st.integers(2, 3)) if draw(st.booleans()) else None
    outputs = []
    for _ in range(d):
        terms = []
        for _ in range(draw(st.integers(1, 2))):
            size = degree or draw(st.integers(1, 2))
            factors = [draw(st.sampled_from(names)) for _ in range(size)]
            terms.append("*".join([f"({draw(st.sampled_from((-2, -1, 1, 1, 2)))})", *factors]))
        outputs.append(" + ".join(terms))
    used = [n for n in NAMES if any(n in text for text in outputs)]
    start = None
    if fixed_start or draw(st.booleans()):
        start = tuple((n, draw(st.sampled_from(STARTS))) for n in used)
    return Drawn(tuple(outputs), start)


def derived(model: Drawn) -> Derivation | None:
    """Return the derivation, or None where the model is refused by name."""
    try:
        start = None if model.start is None else dict(model.start)
        return derive(Parameterization.parse(list(model.outputs), start))
    except DeriveError:
        return None


few = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


@few
@given(models())
def test_only_named_errors_and_every_record_is_readable(model: Drawn) -> None:
    d = derived(model)
    if d is None:
        return
    _ = d.conserved, d.metric, d.potential.Q, d.potential.gradient, d.potential.kind
    for finding in (d.hessian.finding, d.warping.finding, d.potential.finding):
        assert finding.reason
        failing = [i for i in finding.evidence if not i.holds]
        if finding.verdict is Verdict.PROVED:
            assert not failing
        for identity in failing:
            assert residual_at_point(identity, d) == identity.residual != 0


@few
@given(models(fixed_start=True, dimensions="1112"), st.integers(0, 5))
def test_proved_potentials_agree_with_the_flow(model: Drawn, seed: int) -> None:
    d = derived(model)
    assume(d is not None and d.verdict is Verdict.PROVED and d.potential.kind != "quadrature")
    with mpmath.workdps(30):
        steering = random_steering(len(model.outputs), seed, pieces=2, size=0.125)
        assume(_stays_inside(d, model, steering))
        try:
            at_start, at_end = pathwise_errors(d, model.outputs, {}, steering)
        except NoForm:
            return
        assert at_start < mpf(10) ** -20
        assert at_end < mpf(10) ** -12


def _stays_inside(d: Derivation, model: Drawn, steering: list) -> bool:
    """Tell whether the flow stays bounded and the warp keeps its sign on the way."""
    given_model = Model.of(model.outputs, d.parameterization.weights)
    g = warp_function(d, given_model)
    w = start_values(d.parameterization, {})
    sign = mpmath.sign(g(*w))
    for lam, duration in steering:
        for _ in range(4):
            w, _ = run(given_model, w, [(lam, duration / 4)], steps=1)
            if max(abs(x) for x in w) > 20 or mpmath.sign(g(*w)) != sign:
                return False
    return True


def renamed(model: Drawn) -> Drawn:
    table = dict(zip(NAMES, ("theta3", "gamma1", "v", "beta"), strict=True))

    def swap(text: str) -> str:
        return re.sub(r"[xyzt]", lambda m: table[m[0]], text)

    start = model.start and tuple((table[n], v) for n, v in model.start)
    return Drawn(tuple(swap(o) for o in model.outputs), start)


def permuted(model: Drawn) -> Drawn:
    return Drawn(model.outputs[::-1], model.start)


def rotated(model: Drawn) -> Drawn:
    """Replace each weight by minus the next one: an orthogonal change of weights."""
    used = [n for n in NAMES if any(n in text for text in model.outputs)]
    table = dict(zip(used, used[1:] + used[:1], strict=True))

    def swap(text: str) -> str:
        return re.sub(r"[xyzt]", lambda m: f"(-{table[m[0]]})", text)

    negative = {v: v[1:] if v.startswith("-") else f"-{v}" for v in STARTS} | {"0": "0"}
    start = model.start and tuple((table[n], negative[v]) for n, v in model.start)
    return Drawn(tuple(swap(o) for o in model.outputs), start)


def scaled(model: Drawn) -> Drawn:
    return Drawn(tuple(f"-3/2*({o})" for o in model.outputs), model.start)


@few
@given(models(dimensions="1222"))
def test_verdicts_are_invariant(model: Drawn) -> None:
    d = derived(model)
    assume(d is not None)
    for change in (renamed, permuted, rotated, scaled):
        other = derived(change(model))
        assert other is not None, change.__name__
        assert other.hessian.verdict is d.hessian.verdict, change.__name__
        assert other.warping.verdict is d.warping.verdict, change.__name__


def test_quadratic_products_of_two_weights() -> None:
    """Every pair of monomials x^i y^j of degree at most 2: decided, and never by accident."""
    monomials = ["x", "y", "x**2", "x*y", "y**2"]
    verdicts = {}
    for first, second in product(monomials, monomials):
        d = derived(Drawn((first, second), (("x", "2"), ("y", "3"))))
        if d is not None:
            verdicts[first, second] = d.verdict
            assert d.verdict is not Verdict.UNDECIDED
    assert verdicts["x", "y**2"] is verdicts["x**2", "y"] is Verdict.PROVED
    assert verdicts["x", "x*y"] is Verdict.PROVED
    assert verdicts["x**2", "x*y"] is verdicts["x*y", "y**2"] is Verdict.REFUTED
    assert all(verdicts[a, b] is verdicts[b, a] for a, b in verdicts)


def test_values_are_read_by_name() -> None:
    """Negative control of the helper that evaluates formulas."""
    import sympy

    expression = sympy.Symbol("b", real=True) - sympy.Symbol("a", positive=True)
    assert evaluate(expression, {sympy.Symbol("a"): 1, sympy.Symbol("b"): 3}) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "drawn"),
    [
        (test_only_named_errors_and_every_record_is_readable, (models(),)),
        (
            test_proved_potentials_agree_with_the_flow,
            (models(fixed_start=True, dimensions="1112"), st.integers(0, 10**6)),
        ),
        (test_verdicts_are_invariant, (models(dimensions="1222"),)),
    ],
    ids=["readable", "flow", "invariant"],
)
def test_the_same_on_many_more(check, drawn) -> None:
    """Draw ten times as many parameterizations."""
    many = settings(few, max_examples=10 * few.max_examples)
    many(given(*drawn)(check.hypothesis.inner_test))()
