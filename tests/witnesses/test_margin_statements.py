"""What is said of separable data, put to witnesses; and witnesses put to false claims."""

import random
from collections import Counter
from dataclasses import replace

import pytest
import sympy

import tests.witnesses.explicit
import tests.witnesses.margins  # noqa: F401 (its witnesses)
from derive import Parameterization, margins
from derive.separable.weights_problem import Level
from derive.verdict import Finding, Verdict
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted, changed, repeated

TIED = {"p": "alpha", "m": "alpha"}
OWN = [
    (["p**2 - m**2"], TIED, ()),
    (["p**3 - m**3"], TIED, ()),
    (["p**D - m**D"], TIED, ("D",)),
    (["p**2 - m**2/2"], {}, ()),
    (["log(p) - log(m)"], TIED, ()),
    (["1/p - 1/m"], TIED, ()),
    (["p**(3/2) - m**(3/2)"], TIED, ()),
    (["w"], {}, ()),
    (["u*v*w"], {}, ()),
    (["sinh(w)"], {}, ()),
    (["a*u1", "a*u2"], {"u1": "0", "u2": "0"}, ()),
    (["a + b", "a - 2*b"], {}, ()),
    (["W + a*b"], {}, ()),
    (["a*b", "c"], {}, ()),
]
RATED = [
    (["u*v"], {"v": "1/4"}),
    (["p**2 - m**2"], {"p": "2", "m": "3"}),
    (["a*u1", "a*u2"], {"a": "5/2"}),
    (["W + a*b"], {"W": "2", "a": "3"}),
    (["a*b", "c"], {"a": "1/3", "c": "2"}),
    (["w**2"], {"w": "3"}),
]
"""F, and constant learning rates."""
OWNED = {
    "coercive", "growth", "direction", "homogeneous", "KKT", "KKT law", "KKT minimizer",
    "representation cost", "agreement", "large starts", "large starts, late",
    "graded", "KKT levels", "level cost",
}  # fmt: skip


def found(outputs, start=None, parameters=()):
    p = Parameterization.parse(outputs, start or {}, parameters=parameters)
    return margins(derive_once(p))


def tried(m, seed):
    """Return how many trials each statement withstood."""
    claimed = [s for s in m.says(*OWNED) if hasattr(s, "ground")]
    trials = Counter()
    for s in claimed:
        trials[s.kind] += WITNESSES[s.kind](m, s, random.Random(seed))
    return trials


@pytest.mark.every(14)
@pytest.mark.parametrize(("outputs", "start", "parameters"), OWN, ids=lambda x: str(x))
def test_statements_withstand_their_witnesses(outputs, start, parameters):
    m = found(outputs, start, parameters)
    assert sum(tried(m, 1).values()) > 0, "nothing was tried"


@pytest.mark.every(8)
@pytest.mark.parametrize(("outputs", "rates"), RATED, ids=lambda x: str(x))
def test_under_constant_rates_squares_are_weighed(outputs, rates):
    m = margins(derive_once(outputs, rates=rates))
    assert any(r in str(m.weights.square) for r in ("/", "*")), m.weights.square
    trials = tried(m, 2)
    assert trials["KKT"] + trials["KKT levels"] > 0, trials
    assert trials["representation cost"] + trials["level cost"] > 0, trials


def test_plain_squares_are_not_least_under_rates():
    """That of all weights alike, as without rates, is refuted where one moves faster."""
    m = margins(derive_once(["u*v"], rates={"v": "1/4"}))
    plain = margins(derive_once(["u*v"]))
    told, wrong = first(m, "representation cost"), first(plain, "representation cost")
    assert (str(told.values["R_F"]), str(wrong.values["R_F"])) == ("4*Abs(beta)", "2*Abs(beta)")
    with pytest.raises(Refuted):
        repeated(WITNESSES[wrong.kind], m, wrong)
    for false, right in ((plain, m), (m, plain)):
        other = replace(false, derivation=right.derivation)
        with pytest.raises(Refuted):
            repeated(WITNESSES["KKT law"], other, first(false, "KKT law"))


def first(m, kind):
    return m.says(kind)[0]


def falsified(kind):
    """Yield a record and a statement of it that is false: of another sign, factor, degree, or F."""
    tied, beta = found(["p**2 - m**2"], TIED), sympy.Symbol("beta", real=True)
    if kind == "direction":
        return tied, changed(first(tied, kind), phi=abs(beta) + beta / 2)
    if kind == "growth":
        return tied, changed(first(tied, kind), h=abs(beta) / 3)
    if kind == "coercive":
        no = Finding(Verdict.REFUTED, "`grad Q` stays bounded as beta -> infinity")
        return replace(tied, coercive=no), first(tied, kind)
    if kind == "homogeneous":
        return tied, changed(first(tied, kind), D=sympy.Integer(3))
    if kind == "KKT":
        return of_other(["p**2 - m"], tied), first(tied, kind)
    if kind == "KKT law":
        p, m = sympy.symbols("p m", real=True)
        return tied, changed(first(tied, kind), law=p**2 + m**2)
    if kind == "KKT minimizer":
        return of_other(["p + m"], tied), first(tied, kind)
    if kind == "representation cost":
        return tied, changed(first(tied, kind), R_F=beta**2 + 1)
    if kind == "agreement":
        return replace(tied, shape=replace(tied.shape, function=abs(beta) - beta / 2)), first(
            tied, kind
        )
    if kind in ("graded", "KKT levels", "level cost"):
        return falsified_of_two(kind)
    if kind == "large starts":
        return replace_scaled(tied, displacement=sympy.Integer(2)), None
    return degree_below_0(), None


def falsified_of_two(kind):
    """Exchange what W and what a and b are said to be, or double a cost."""
    m = found(["W + a*b"])
    W, a, b = sympy.symbols("W a b", real=True)
    if kind == "graded":
        half = sympy.Rational(1, 2)
        return m, changed(first(m, kind), lam={W: half, a: half, b: half})
    if kind == "level cost":
        s = first(m, kind)
        return m, changed(s, R=2 * s.values["R"])
    one = sympy.S.One
    wrong = replace(m.weights, kept={W: one}, fading=(a, b), levels=(Level(1, (W,), W**2, ()),))
    return replace(m, weights=wrong), first(m, kind)


def of_other(outputs, m):
    """Return a record whose F is another one of the same weights."""
    p = Parameterization.parse(outputs, TIED)
    return replace(m, derivation=replace(m.derivation, parameterization=p))


def replace_scaled(m, **changes):
    return replace(m, scaled=replace(m.scaled, **changes))


def degree_below_0():
    """Return what was said of 1/p - 1/m before degrees had to be positive."""
    m = found(["1/p - 1/m"], TIED)
    K = sympy.ImmutableMatrix([[2 / sympy.Symbol("alpha") ** 4]])
    return replace_scaled(m, time=sympy.Integer(-4), displacement=sympy.Integer(-2), kernel=K)


@pytest.mark.every(12)
@pytest.mark.parametrize("kind", sorted(OWNED))
def test_witnesses_refute_what_is_false(kind):
    m, statement = falsified(kind)
    with pytest.raises(Refuted):
        repeated(WITNESSES[kind], m, statement or first(m, kind))
