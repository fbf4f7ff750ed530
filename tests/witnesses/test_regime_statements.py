"""What is said of regimes, put to witnesses; and witnesses put to false claims."""

import random
from dataclasses import replace

import pytest
import sympy

import tests.witnesses.margins
import tests.witnesses.regimes  # noqa: F401 (its witnesses)
from derive import Parameterization, scale_start
from derive.limits.find import regimes
from derive.limits.random_width import random_width
from derive.statement import Statement
from tests.limits.test_regimes import shaped
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted, changed, repeated, withstood

A = "alpha"
TIED = {"p": A, "m": A}
NEURON = {"a": "2*alpha", "u1": "alpha", "u2": "0"}
OWN = [
    (["p**2 - m**2"], TIED, ()),
    (["p**3 - m**3"], TIED, ()),
    (["p**D - m**D"], TIED, ("D",)),
    (["1/p - 1/m"], TIED, ()),
    (["log(p) - log(m)"], TIED, ()),
    (["p**2 - m**2"], {"p": "alpha", "m": "s"}, ()),
    (["u*v"], {"u": "alpha", "v": "2*alpha"}, ()),
    (["w**2"], {"w": "alpha"}, ()),
    (["sinh(w)"], {"w": "alpha"}, ()),
    (["exp(p) - exp(m)"], TIED, ()),
    (["a*u1", "a*u2"], NEURON, ()),
    (["u*v + x*y", "u*y + v*x"], {"u": "alpha", "v": "0", "x": "0", "y": "0"}, ()),
    (["u*v - x*y"], {"u": "alpha", "x": "alpha", "v": "beta0", "y": "beta0"}, ()),
    (["w**3"], {"w": A}, ()),
    (["1/w"], {"w": A}, ()),
    (["p**4 - m**4"], {"p": A, "m": "2*alpha"}, ()),
    (["u*v - x*y"], {"u": A, "v": "1", "x": A, "y": "1"}, ()),
    (["w**2 + z**2"], {"w": A, "z": "2*alpha"}, ()),
    (["u*v + x**2 - y**2"], {"u": A, "v": "0", "x": A, "y": A}, ()),
    (["p**2 - m**2"], {"p": A, "m": "1"}, ()),
    (["p**2 - m**2"], {"p": "1", "m": A}, ()),
    (["u*v"], {"u": A, "v": "1"}, ()),
    (["u*v"], {"u": A, "v": "-alpha"}, ()),
    (["u*v*2 - 5"], None, ()),
    (["u*exp(v)"], {"u": "1/2", "v": A}, ()),
    (["p**3 - m**3"], {"p": A, "m": "alpha**2"}, ()),
    (["p**3 - m**3"], {"p": A, "m": "1"}, ()),
    (["p**2 - 2*m**2"], {"p": A, "m": A}, ()),
    (["p**3 - m**3 + 2"], {"p": A, "m": A}, ()),
    (["a*u", "a*v"], {"a": A, "u": A, "v": "0"}, ()),
    (["a*u", "a*v"], {"a": A, "u": "1", "v": "0"}, ()),
    (["a*u", "a*v + a*u"], {"a": A, "u": A, "v": "0"}, ()),
    (["a**2*u", "a**2*v"], {"a": A, "u": A, "v": "2*alpha"}, ()),
    (["a*b*u", "a*b*v"], {"a": A, "b": "alpha**2", "u": A, "v": "0"}, ()),
    (["a*c - b*d", "a*d + b*c"], {"a": A, "b": "0", "c": A, "d": A}, ()),
    (["u*x + v*y", "u*y + v*x"], {"u": A, "v": "0", "x": "1", "y": "0"}, ()),
    (["c*x/sqrt(x**2 + y**2)", "c*y/sqrt(x**2 + y**2)"], {"c": A, "x": "1", "y": "0"}, ()),
    (["p**2 - m**2", "q**2 - r**2"], {**TIED, "q": "2*alpha", "r": "2*alpha"}, ()),
    (["p**2 - m**2"], {"p": A, "m": "2*alpha"}, ()),
    (["u*v - x*y"], shaped(A, "3/5"), ()),
    (["2*w"], None, ()),
    (["a*u1", "a*u2 - a*u1"], None, ()),
]


def found(outputs, start, parameters=()):
    names = [x for x in (start or {}).values() if x.isidentifier()]
    p = Parameterization.parse(outputs, start, names, parameters=parameters)
    p = p if A in p.start_symbols else scale_start(p, A)
    return regimes(derive_once(p), A)


@pytest.mark.every(22)
@pytest.mark.parametrize(("outputs", "start", "parameters"), OWN, ids=lambda x: str(x))
def test_statements_withstand_their_witnesses(outputs, start, parameters):
    trials = withstood(found(outputs, start, parameters), 1)
    assert trials["limit"] > 0
    assert trials["start kernel"] > 0


@pytest.mark.every(2)
@pytest.mark.parametrize("unit", ["u*v", "p**2 - m**2"])
def test_statements_of_wide_starts_withstand_theirs(unit):
    trials = withstood(random_width(Parameterization.parse([unit])), 2)
    assert all(trials[kind] > 0 for kind in ("width law", "width moments", "wide starts"))


def falsified(kind):
    """Return a record, and a statement of it with a wrong factor, exponent, side or name."""
    tied, wide = found(["p**2 - m**2"], TIED), random_width()
    record, of = tied, tied.says(kind)
    if kind in ("limit", "regime", "limit error"):
        s = of[0]
        limit = s.values["limit"]
        if kind == "regime":
            return tied, replace(s, words=s.words.replace("rich", "kernel"))
        if kind == "limit error":
            return tied, changed(s, error=sympy.Symbol("alpha", positive=True))
        return tied, changed(s, limit=replace(limit, unit=2 * limit.unit))
    if kind == "start kernel":
        return tied, changed(of[0], kernel=replace(tied.kernel, matrix=2 * tied.kernel.matrix))
    if kind == "time scale":
        return tied, changed(of[0], e=sympy.Integer(3))
    if kind in ("graded", "ruling weights"):
        record = found(["a*b + c"], None)
        s = record.says(kind)[0]
        if kind == "graded":
            return record, changed(s, lam=dict.fromkeys(s.values["lam"], sympy.S.Half))
        return record, changed(s, high=s.values["low"], low=s.values["high"])
    if kind == "steep side":
        record = found(["p**2 - m**2"], {"p": "alpha", "m": "s"})
        return record, changed(record.says(kind)[0], slope=sympy.log(sympy.Symbol("alpha")))
    if kind == "side reached":
        x = tied.limits[0].coordinates[0]
        told = {"limit": tied.limits[0], "x": x}
        return tied, Statement("only `{x} > 0` is reached", told, kind=kind)
    if kind == "kernel decides":
        record = found(["u*v"], {"u": "alpha", "v": "s"})
        return record, Statement("Q depends on K alone", kind=kind)
    if kind.startswith("clock"):
        record = found(["a*u1", "a*u2"], NEURON)
        return record, Statement("g > 0", wrong_clock(record, kind), kind=kind)
    s = wide.says(kind)[0]
    factors = {"c": 2 * wide.curvature, "E kappa": 2 * wide.kappa_mean, "g": 2 * wide.gradient}
    return wide, changed(s, **{k: v for k, v in factors.items() if k in s.values})


@pytest.mark.slow
@pytest.mark.parametrize("slack", [sympy.Rational(1, 2), sympy.Rational(2, 3)])
def test_a_sharp_rate_that_errors_outrun_is_refuted(slack):
    record = found(["p**2 - m**2"], TIED)
    s, *_ = record.says("limit error")
    limit = s.values["limit"]
    assert limit.sharp
    WITNESSES["limit error"](record, s, random.Random(5))
    slow = changed(s, error=limit.error**slack)
    with pytest.raises(Refuted):
        WITNESSES["limit error"](record, slow, random.Random(5))
    bound = changed(slow, limit=replace(limit, sharp=False))
    assert WITNESSES["limit error"](record, bound, random.Random(5)) > 0


def wrong_clock(record, kind):
    """Return a floor that g falls below, or a g that is large where beta is not."""
    g, floor = record.derivation.warping.g, 4 * sympy.Symbol("alpha") ** 2
    large = sympy.exp(40 * g)
    return {"g": large if kind == "clock is bounded" else g, "floor": floor}


KINDS = (
    "limit", "regime", "limit error", "start kernel", "time scale", "steep side", "side reached",
    "graded", "ruling weights", "kernel decides", "clock runs", "clock is onto",
    "clock is bounded", "width law", "width moments", "wide starts",
)  # fmt: skip


@pytest.mark.every(8)
@pytest.mark.parametrize("kind", KINDS)
def test_witnesses_refute_what_is_false(kind):
    record, statement = falsified(kind)
    with pytest.raises(Refuted):
        repeated(WITNESSES[kind], record, statement)


@pytest.mark.every(2)
@pytest.mark.parametrize("output", ["W + a*b", "a*b*d + c", "a*b + c*d*e", "a**2*b + c"])
def test_gradings_and_the_weights_that_rule_withstand_theirs(output):
    record = found([output], None)
    for s in record.says("graded", "ruling weights"):
        assert WITNESSES[s.kind](record, s, random.Random(3)) > 0
    assert len(record.says("graded", "ruling weights")) == 2


SKIPS = {
    "a skip connection": (["W + a*b"], {"W": "0", "a": A, "b": "0"}, "Abs(x)*t - t**2/2", ()),
    "a free start": (["W + a*b"], None, "Abs(x)*t - t**2/2", ("a_0 - b_0", "a_0 + b_0")),
    "scaled": (["2*W + 3*a*b"], {"W": "0", "a": A, "b": A}, "x*u - 2*u**2", ()),
    "one side": (["W + a**2"], {"W": "0", "a": A}, "x*v - v**2/2", ()),
    "two rates": (
        ["W + a**2 - 2*b**2"], {"W": "0", "a": A, "b": "alpha**3"}, "x*w - w**2/2", (),
    ),
}  # fmt: skip
"""Sums with a linear term, and their limits at beta = N x; t, u, v, w are the slopes there."""


@pytest.mark.every(3)
@pytest.mark.parametrize("name", SKIPS)
def test_beside_a_linear_term_small_starts_have_hubers_function(name):
    outputs, start, Q, nonzero = SKIPS[name]
    p = Parameterization.parse(outputs, start, [A] if start else [])
    r = regimes(p, A)
    (limit,) = r.growing
    _, x = limit.beta
    size, third = sympy.Abs(x), sympy.Rational(1, 3)
    slopes = {
        "t": sympy.Min(1, size),
        "u": sympy.Min(third, x / 4),
        "v": sympy.Min(sympy.S.Half, x),
        "w": sympy.Max(-sympy.Rational(3, 4), sympy.Min(sympy.S.Half, x)),
    }
    assert sympy.expand(limit.Q - sympy.sympify(Q, {"x": x, **slopes})) == 0
    assert (str(limit.size), tuple(map(str, limit.nonzero))) == ("log(1/alpha)", nonzero)
    (told,) = r.says("growing limit")
    assert WITNESSES[told.kind](r, told, random.Random(1)) > 0
    false = {"slope": limit.slope * 2}, {"slope": x}, {"slope": sympy.sign(x)}
    for change in false if name == "a skip connection" else false[:1]:
        wrong = changed(told, limit=replace(limit, **change))
        with pytest.raises(Refuted):
            repeated(WITNESSES[told.kind], r, wrong)


@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (["a*b"], {"a": A, "b": "0"}),  # no linear term
        (["W + a*b"], {"W": "0", "a": "1", "b": A}),  # no small start
        (["W + a*b*c"], None),  # no exponentials
        (["W + a*b"], {"W": "1/alpha", "a": A, "b": "0"}),  # beta_0 is larger than N
    ],
)
def test_others_have_no_such_limit(outputs, start):
    assert regimes(Parameterization.parse(outputs, start, [A] if start else []), A).growing == ()
