"""Drawn F and rates, against their witness and gradient flow in other weights."""

from dataclasses import replace
from random import Random

import pytest
import sympy

from derive import DeriveError, Parameterization, Verdict, derive
from tests.witnesses import WITNESSES, Refuted, repeated

MONOMIALS = ("a", "b", "c", "a*b", "a*c", "b*c", "a**2", "b**2", "c**2", "a**3", "a*b*c")
PAIRS = (
    ["a*b", "a*c"],
    ["a*b", "b*c"],
    ["a**2 + b**2", "a*b"],
    ["a*b", "a + c"],
    ["a**2*b", "a**2*c"],
)
RATES = {"4": "2*{}", "1/9": "{}/3", "{}": "{}**2/4", "{}**2": "exp({})", "1": "{}"}
"""Rates r, each with omega(v), omega' = sqrt(r), in which the flow is gradient flow of F(omega)."""


def draw(random):
    """Return F, a start in thirds, and the rate and omega of each weight."""
    if random.random() < 0.4:
        F = random.choice(PAIRS)
    else:
        terms = random.sample(MONOMIALS, random.choice((1, 2, 2, 3)))
        F = [" + ".join(f"{random.choice((1, 2, -1))}*{term}" for term in terms)]
    kinds = {w: random.choice(list(RATES)) for w in "abc" if w in " ".join(F)}
    start = {w: sympy.Rational(random.randint(2, 7), 3) for w in kinds}
    return F, start, kinds


def verdict_of(F, start, **given):
    try:
        p = Parameterization.parse(F, start={w: str(x) for w, x in start.items()}, **given)
        return derive(p, timeout=6)
    except DeriveError:
        return None


def judged(seed):
    """Return what became of one draw: the verdict, and whether it was compared; assert it holds."""
    random = Random(seed)
    F, start, kinds = draw(random)
    d = verdict_of(F, start, rates={w: kind.format(w) for w, kind in kinds.items()})
    if d is None:
        return "refused", False
    inner = {w: RATES[kind].format(w) for w, kind in kinds.items()}
    names = {w: sympy.Symbol(w) for w in inner}
    omega = {names[w]: sympy.sympify(text, locals=dict(names)) for w, text in inner.items()}
    G = [str(sympy.sympify(f, locals=dict(names)).subs(omega, simultaneous=True)) for f in F]
    v = {"4": 1 / sympy.Integer(2), "1/9": sympy.Integer(3), "1": sympy.Integer(1)}
    begin = {
        w: start[w] * v[k]
        if k in v
        else 2 * sympy.sqrt(start[w])
        if k == "{}"
        else sympy.log(start[w])
        for w, k in kinds.items()
    }
    other = verdict_of(G, begin)
    if other is not None:
        conflict = {d.verdict, other.verdict} == {Verdict.PROVED, Verdict.REFUTED}
        assert not conflict, (seed, F, kinds, d.verdict, other.verdict)
    claimed = d.says("regularizer")
    return d.verdict.value, bool(sum(WITNESSES["regularizer"](d, q, random) for q in claimed))


@pytest.mark.slow
@pytest.mark.parametrize("piece", range(10))
def test_no_verdict_on_drawn_rates_is_wrong(piece):
    found = [judged(seed) for seed in range(50 * piece, 50 * piece + 50)]
    assert sum(compared for _, compared in found) > 20


def test_a_wrong_rate_does_not_pass():
    d = verdict_of(["a*b"], {"a": 1, "b": 2}, rates={"a": "4"})
    (q,) = d.says("regularizer")
    assert WITNESSES["regularizer"](d, q, Random(0)) > 0
    other = Parameterization.parse(["a*b"], {"a": 1, "b": 2}, rates={"a": "1/4"})
    with pytest.raises(Refuted):
        repeated(WITNESSES["regularizer"], replace(d, parameterization=other), q)
