"""Drawn parameterizations and rates: refusals by name, verdicts that flows and symmetries keep."""

import re
from dataclasses import replace
from itertools import pairwise, product
from random import Random

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from test_properties_catalogue import gradient, value

from derive import Parameterization, Verdict, derive
from derive.errors import DeriveError
from derive.exact import balls
from derive.exact.signs import points
from derive.exact.towers import germ
from derive.language import to_text
from derive.language.tree import Name
from derive.model.condition import Condition
from derive.model.notation import Notation
from derive.model.signs import Premises
from derive.potential.piece import start_signs
from derive.testing import KINDS, assert_mirror_flow, parameterizations, starts
from tests.conditions import holds, texts
from tests.witness_flow import confirms
from tests.witnesses import WITNESSES, Refuted, repeated

NUMBERS = st.sampled_from(["1", "2", "-1", "1/2", "-3/2"])
MODELS = parameterizations(start=st.none() | NUMBERS)
FIXED = parameterizations(*(k for k in KINDS if k != "noncommuting"), start=NUMBERS)


def derived(p):
    """Return the derivation, or None where the start is refused by name."""
    try:
        return derive(p)
    except DeriveError:
        return None


def numbers(p, data):
    """Draw numbers for the start symbols, positive where F needs them to be."""
    positive = starts(p.positive, st.sampled_from(["1", "2", "1/2"]))
    drawn = {**data.draw(starts(p.start_symbols)), **data.draw(positive)}
    return {name: drawn[name] for name in p.start_symbols}


few = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)

fewer = settings(few, max_examples=3)
MANY = {}


def on_drawn(some, *strategies):
    """Check what is drawn, some by default, and many more with the slow tests."""

    def of(check):
        MANY[check.__name__] = settings(few, max_examples=250)(given(*strategies)(check))
        return some(given(*strategies)(check))

    return of


@on_drawn(few, MODELS)
def test_only_named_errors_and_every_record_is_readable(p):
    d = derived(p)
    if d is None:
        return
    _ = d.conserved, d.metric, d.potential.Q, d.potential.gradient, d.potential.kind
    for finding in (d.hessian.finding, d.warping.finding, d.potential.finding):
        assert finding.reason
        failing = [i for i in finding.evidence if not i.holds]
        if finding.verdict is Verdict.PROVED:
            assert not failing
        for identity in failing:
            assert confirms(identity, d)


@pytest.mark.slow
@on_drawn(few, MODELS)
def test_some_start_meets_what_is_asked_of_it_and_none_of_that_is_declared(p):
    d = derived(p)
    for piece in d.potential.pieces if d else ():
        asked = [c for _, c in start_signs(piece)]
        names = [*p.start_symbols, *p.parameters]
        tried = points(names, frozenset(p.positive))
        assert any(all(holds(c, values) for c in asked) for values in tried), texts(piece)
        declared = {Condition(sympy.Symbol(name)) for name in p.positive}
        for c in {*asked} - declared:
            assert c.names
            assert not Premises(declared - {c}, Notation(p)).imply(c), texts(piece)


@on_drawn(fewer, FIXED, st.data())
def test_the_gradient_is_that_of_one_convex_function(p, data):
    """Fenchel-Young, and the integral of grad Q from beta_0 by two paths is Q - Q(beta_0)."""
    d = derived(p)
    assume(d is not None and d.verdict is Verdict.PROVED)
    try:
        q = d.potential.numeric({})
    except DeriveError:  # an integral without numbers
        return
    begin = np.array(q.beta0)
    steps = [data.draw(st.sampled_from([0.0, 0.1, -0.1, 0.25])) for _ in begin]
    end = begin + np.array(steps) * np.maximum(1, abs(begin))
    corners = [np.where(np.arange(q.d) < k, end, begin) for k in range(q.d + 1)]
    paths = [(begin, end)], list(pairwise(corners))
    integrals = [sum(_integral(q, a, b) for a, b in path) for path in paths]
    assume(np.isfinite(integrals).all())  # else a path leaves the domain
    y, z = gradient(q, begin), gradient(q, end)
    assume(np.isfinite([*y, *z]).all())  # else it ends on a wall
    change = value(q, end) - value(q, begin)
    assert integrals == pytest.approx([change] * 2, rel=1e-7, abs=1e-9)
    for slope, at, other in ((y, begin, end), (z, end, begin)):
        conjugate = slope @ at - value(q, at)
        assert value(q, other) + conjugate >= slope @ other - 1e-12
        assert value(q, at) + conjugate == pytest.approx(slope @ at)


def _integral(q, a, b):
    """Return the integral of grad Q along a segment, by Gauss's rule on ever more parts of it."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    found = np.inf
    for parts in 2 ** np.arange(10):
        places = (np.arange(parts)[:, None] + (nodes + 1) / 2).ravel() / parts
        points = a + np.outer(places, b - a)
        slopes = q.gradient(points if q.d > 1 else points[:, 0]).reshape(points.shape)
        before, found = found, float(np.tile(weights, parts) @ (slopes @ (b - a))) / (2 * parts)
        if not np.isfinite(found) or abs(found - before) <= 1e-9 * abs(found):
            break
    return found


@on_drawn(fewer, st.data())
def test_printed_potentials_are_mirror_potentials_of_the_flow(data):
    """From start to end: a start that is drawn, the printed Q, and a flow to X beta = y."""
    p = data.draw(parameterizations("separable", "equivariant", "homogeneous", "degenerate"))
    d = derived(p)
    assume(d is not None and d.verdict is Verdict.PROVED and d.potential.kind == "explicit")
    start = numbers(d.parameterization, data)
    try:
        d.potential.numeric(start)
        assert_mirror_flow(d.parameterization, d.potential.Q, start=start, problems=1)
    except DeriveError:  # signs that Q does not assume; a flow that stalls
        return


def renamed(p):
    """Give weights other names, in another order of the alphabet."""
    fresh = {w: f"{'zyx'[i % 3]}{i}" for i, w in enumerate(p.weights)}
    pattern = re.compile(rf"\b({'|'.join(fresh)})\b")
    outputs = [pattern.sub(lambda m: fresh[m[0]], text) for text in p.texts]
    start = {fresh[w]: tree for w, tree in p.start if tree != Name(f"{w}_0")}
    return Parameterization(outputs, start=start)


def permuted(p):
    """Reverse the outputs, and the weights."""
    return p.with_(outputs=p.trees[::-1], weights=p.weights[::-1])


def rotated(p):
    """Turn the first two weights by the angle of the triangle 3, 4, 5."""
    if p.p < 2 or p.positive:
        return p
    u, v = p.weights[:2]
    old = {u: f"(3/5*{u} + 4/5*{v})", v: f"(4/5*{u} - 3/5*{v})"}
    pattern = re.compile(rf"\b({u}|{v})\b")
    start = {w: to_text(tree) for w, tree in p.start}
    a, b = start[u], start[v]
    new = {u: f"3/5*({a}) + 4/5*({b})", v: f"4/5*({a}) - 3/5*({b})"}
    outputs = [pattern.sub(lambda m: old[m[0]], text) for text in p.texts]
    return Parameterization(outputs, start={**start, **new})


def scaled(p):
    """Take -3/2 of one output."""
    return p.with_(outputs=[f"-3/2*({p.texts[0]})", *p.trees[1:]])


def mixed(p):
    """Take other coordinates of beta, in which a Hessian stays one."""
    if p.d < 2:
        return p
    one, two = p.texts[:2]
    return Parameterization([f"{one} + {two}", f"{one} - ({two})", *p.texts[2:]],
                            start=dict(p.start))  # fmt: skip


def with_idle(p):
    """Add weights that start at 0 and stay there."""
    start = {**dict(p.start), "idle1": 0, "idle2": 0}
    return Parameterization([f"{p.texts[0]} + idle1*idle2", *p.texts[1:]], start=start)


def with_twins(p):
    """Replace a weight w by (3 w + 4 twin)/5, a rotation of (w, a weight that F lacks)."""
    w = p.weights[0]
    if p.positive:
        return p
    outputs = [re.sub(rf"\b{w}\b", f"(3/5*{w} + 4/5*twin)", text) for text in p.texts]
    first = to_text(dict(p.start)[w])
    start = {**dict(p.start), w: f"3/5*({first})", "twin": f"4/5*({first})"}
    return Parameterization(outputs, start=start)


CHANGES = (renamed, permuted, rotated, scaled, mixed, with_idle, with_twins)


@on_drawn(few, MODELS, st.sampled_from(CHANGES))
def test_verdicts_are_invariant(p, change):
    d = derived(p)
    assume(d is not None)
    other = derived(change(p))
    assert other.verdict is d.verdict
    assert other.hessian.verdict is d.hessian.verdict
    assert other.warping.verdict is d.warping.verdict


@pytest.mark.slow
@on_drawn(fewer, parameterizations(start=NUMBERS))
def test_more_precision_never_flips_a_verdict(p):
    """What balls of few bits leave open is undecided, and not the opposite."""
    for stage in zip(*(verdicts(p, bits) for bits in (53, 256, 1024)), strict=True):
        assert not {Verdict.PROVED, Verdict.REFUTED} <= set(stage)


def verdicts(p, bits):
    """Return what is decided where all balls are of that precision."""
    with pytest.MonkeyPatch.context() as patch:
        for function in (balls.precise, balls.values_of, balls.evaluate_any):
            patch.setattr(function, "__defaults__", (bits,))
        patch.setattr(balls, "PRECISIONS", (bits,))
        patch.setattr(germ, "BITS", bits)
        d = derived(p.with_())
    return (None,) * 3 if d is None else (d.hessian.verdict, d.warping.verdict, d.verdict)


def test_quadratic_products_of_two_weights():
    """Every pair of monomials x^i y^j of degree at most 2: decided, and never by accident."""
    monomials = ["x", "y", "x**2", "x*y", "y**2"]
    verdicts = {}
    for first, second in product(monomials, monomials):
        if not {"x", "y"} <= {*first, *second}:
            continue  # functions of one weight move together
        d = derived(Parameterization([first, second], start={"x": 2, "y": 3}))
        if d is not None:
            verdicts[first, second] = d.verdict
            assert d.verdict is not Verdict.UNDECIDED
    assert verdicts["x", "y**2"] is verdicts["x**2", "y"] is Verdict.PROVED
    assert verdicts["x", "x*y"] is Verdict.PROVED
    assert verdicts["x**2", "x*y"] is verdicts["x*y", "y**2"] is Verdict.REFUTED
    assert all(verdicts[a, b] is verdicts[b, a] for a, b in verdicts)


@pytest.mark.slow
@pytest.mark.parametrize("name", MANY)
def test_the_same_on_many_more(name):
    MANY[name]()


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
