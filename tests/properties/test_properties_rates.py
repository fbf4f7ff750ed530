"""Drawn F and rates, against flows that share no code and gradient flow in other weights."""

from itertools import takewhile
from random import Random

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

from derive import DeriveError, Parameterization, Verdict, derive

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


def steered(F, start, rates, turns, at):
    """Return beta and int lambda g dt at some times, by SciPy, for w' = diag(r) J^T lambda(t)."""
    w = [sympy.Symbol(name, real=True) for name in start]
    names = {s.name: s for s in w}
    outputs = [sympy.sympify(f, locals=dict(names)) for f in F]
    r = [sympy.sympify(rates[s.name].format(s.name), locals=dict(names)) for s in w]
    J = sympy.lambdify(w, [[sympy.diff(f, s) for s in w] for f in outputs])
    R, values = sympy.lambdify(w, r), sympy.lambdify(w, outputs)
    g = sympy.lambdify(w, turns["g"].subs({s: names[s.name] for s in turns["g"].free_symbols}))

    def field(t, state):
        x, steering = state[: len(w)], turns["lambda"](t)
        moved = np.array(R(*x)) * (np.array(J(*x)).T @ steering)
        return np.concatenate([moved, g(*x) * steering])

    begin = [*map(float, start.values()), *[0.0] * len(F)]
    end = solve_ivp(field, (0, at[-1]), begin, "DOP853", at, rtol=1e-12, atol=1e-13)
    if not len(end.t):
        return [], []
    # A sign that is assumed to be kept is one of the weights here.
    states = list(takewhile(lambda x: np.all(x[: len(w)] * begin[: len(w)] > 0), end.y.T))
    return [np.array(values(*x[: len(w)])) for x in states], [x[len(w) :] for x in states]


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
    if d.verdict is not Verdict.PROVED or d.potential.kind is None:
        return d.verdict.value, other is not None and other.verdict is d.verdict
    a, b = np.random.default_rng(seed).uniform(-0.2, 0.2, (2, len(F)))
    turns = {"lambda": lambda t: a + b * t, "g": sympy.sympify(d.warping.g or 1)}
    found = steered(F, start, kinds, turns, np.linspace(0.1, 1, 10))
    if not found[0]:
        return "PROVED", False
    try:
        q = d.potential.numeric({})
        slopes = [np.atleast_1d(q.gradient(x if len(x) > 1 else x[0])) for x in found[0]]
    except (DeriveError, ValueError):
        return "PROVED", False
    left, right = np.concatenate(slopes), np.concatenate(found[1])
    if not np.all(np.isfinite(left)):
        return "PROVED", False
    factor = left @ right / (right @ right)
    assert factor > 0, (seed, F, kinds, left, right)
    assert np.abs(left - factor * right).max() < 1e-6 * np.abs(left).max(), (seed, F, kinds)
    return "PROVED", True


@pytest.mark.slow
@pytest.mark.parametrize("piece", range(10))
def test_no_verdict_on_drawn_rates_is_wrong(piece):
    found = [judged(seed) for seed in range(50 * piece, 50 * piece + 50)]
    assert sum(compared for _, compared in found) > 20


def test_a_wrong_rate_does_not_pass():
    d = verdict_of(["a*b"], {"a": 1, "b": 2}, rates={"a": "4"})
    turns = {"lambda": lambda t: np.array([0.2 + t]), "g": sympy.Integer(1)}
    errors = []
    for kind in ("4", "1"):
        betas, right = steered(["a*b"], {"a": 1, "b": 2}, {"a": kind, "b": "1"}, turns, (0.3, 0.6))
        left = [float(d.potential.numeric({}).gradient(float(x[0]))) for x in betas]
        errors.append(abs(left[0] / right[0][0] - left[1] / right[1][0]))
    assert errors[0] < 1e-8 < 1e-3 < errors[1]
