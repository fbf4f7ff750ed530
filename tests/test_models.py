"""Models of every kind, each put to the same questions, by code that the derivation does not use.

Verdicts are confirmed by 80-digit differentiation at points of the leaf, which the flow reaches;
what is claimed by witnesses, which run flows; certificates by the checker.
"""

import random
import re
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from mpmath import mp, mpf

from derive import NumericalError, Verdict
from derive.certificate.checking.check import check_text
from numerics import crosscheck
from tests.models import CERTIFIED_IN_PART, COUPLED, DECIDED, YES, parsed
from tests.published import certified_once, derive_once
from tests.witness_flow import Model, confirms, integrate, random_steering, start_values
from tests.witnesses import WITNESSES

pytestmark = pytest.mark.every(36)

AT_LIMITS = ("mirror flow", "minimiser", "every time", "shrunk start")
"""Kinds of statements whose witnesses follow flows to their ends, which takes seconds."""


@pytest.mark.every(12)
@pytest.mark.parametrize("line", DECIDED)
def test_verdicts_have_their_evidence(line):
    """SymPy finds the same residual at the point that refutes, which is a start, and not zero."""
    d = derive_once(parsed(line))
    assert (d.hessian.verdict, d.verdict) == DECIDED[line]
    begin = d.parameterization
    start = {w: tree.value for w, tree in begin.start if hasattr(tree, "value")}
    for finding in (d.hessian.finding, d.warping.finding):
        failing = [identity for identity in finding.evidence if not identity.holds]
        assert bool(failing) == (finding.verdict is Verdict.REFUTED)
        for identity in failing:
            assert confirms(identity, d)
            assert all(start.get(name, value) == value for name, value in identity.point)
    if d.hessian.verdict is YES:
        assert d.warping.g == 1
    if d.verdict is Verdict.REFUTED:
        assert d.warping.g is d.potential.Q is d.potential.gradient is None
        assert d.conserved.count == len(d.conserved.laws)


def conditions(model, w):
    """Return by how much the Hessian-map and the warp conditions fail at a point.

    With B_abc = X_a K_bc - X_b K_ac the forced warp has H_a from the Gram minors; its equations,
    V K = omega K on the vertical fields V_ab = [X_a, X_b] - H_a X_b + H_b X_a, and
    X_a H_b - X_b H_a = omega(V_ab) must hold. Derivatives of H are central differences.
    """
    d = model.d
    J = model.J(*w)

    def forced(point):
        K, X = model.kernel(point), model.J(*point)
        moved = [model.kernel_along(point, x) for x in X]
        H = []
        for a in range(d):
            b = 1 if a == 0 else 0
            gram = K[a][a] * K[b][b] - K[a][b] ** 2
            B = [moved[a][b][c] - moved[b][a][c] for c in range(d)]
            H.append((K[a][a] * B[b] - K[a][b] * B[a]) / gram)
        return H

    K, H = model.kernel(w), forced(w)
    moved = [model.kernel_along(w, x) for x in J]
    hessian = warp = mpf(0)
    step = mpf(10) ** (-mp.dps // 3)
    slopes = []
    for x in J:
        ahead = forced([u + step * v for u, v in zip(w, x, strict=True)])
        behind = forced([u - step * v for u, v in zip(w, x, strict=True)])
        slopes.append([(p - q) / (2 * step) for p, q in zip(ahead, behind, strict=True)])
    for a, b in combinations(range(d), 2):
        for c in range(d):
            B = moved[a][b][c] - moved[b][a][c]
            hessian = max(hessian, abs(B))
            warp = max(warp, abs(H[a] * K[b][c] - H[b] * K[a][c] - B))
        Z = model.bracket(w, a, b)
        V = [z - H[a] * y + H[b] * x for z, x, y in zip(Z, J[a], J[b], strict=True)]
        VK = model.kernel_along(w, V)
        omega = VK[0][0] / K[0][0]
        warp = max(warp, *(abs(VK[i][j] - omega * K[i][j]) for i in range(d) for j in range(d)))
        warp = max(warp, abs(slopes[a][b] - slopes[b][a] - omega))
    return hessian, warp


@pytest.mark.every(16)
@pytest.mark.parametrize("line", [x for x in COUPLED if len(parsed(x).blocks) == 1])
def test_verdicts_are_those_of_high_precision_differentiation(line):
    p = parsed(line)
    d = derive_once(p)
    symbols = {name: mpf(6 + 2 * k) / 10 for k, name in enumerate(p.start_symbols)}
    with mp.workdps(80):
        model = Model.of(p.texts, p.weights)
        start = start_values(p, symbols)
        worst = [mpf(0), mpf(0)]
        for seed in range(3):
            w = list(start)
            for steer, duration in random_steering(model.d, seed, size=0.125):
                w = integrate(lambda y, s=steer: model.velocity(y, s), w, duration, 4, 6)
            found = conditions(model, w)
            worst = [max(x, y) for x, y in zip(worst, found, strict=True)]
        # The flow is followed to about 20 digits; on generic leaves the conditions are exact.
        tolerance = mpf(10) ** -12
        assert (worst[0] < tolerance) == (d.hessian.verdict is YES)
        assert (worst[1] < tolerance) == (d.warping.verdict is YES)


def test_a_wrong_verdict_is_seen():
    with mp.workdps(80):
        product = Model.of(["a*u", "b*u + a"], ["a", "u", "b"])
        neuron = Model.of(["a*u1", "a*u2"], ["a", "u1", "u2"])
        point = [mpf(3) / 2, mpf(2) / 3, mpf(5) / 4]
        assert conditions(product, point)[1] > 1e-3
        hessian, warp = conditions(neuron, point)
        assert hessian > 1e-3
        assert warp < 1e-15


def withstood(d, told):
    """Return how many trials each kind of statement withstood, of those that are told of."""
    trials = Counter()
    for s in (s for s in d.statements if told(s.kind)):
        for seed in range(4):
            trials[s.kind] += WITNESSES[s.kind](d, s, random.Random(seed))
            if trials[s.kind]:
                break
    return trials


@pytest.mark.parametrize("line", DECIDED)
def test_what_is_claimed_of_a_flow_withstands_its_witness(line, monkeypatch):
    """Under steering that carries no weight far, so that every flow is a trial."""

    def gently(d, rng, pieces=3):
        return [np.array([rng.uniform(-0.03, 0.03) for _ in range(d)]) for _ in range(pieces)]

    # Where the witness lives: collected as a module too, it may be another than the one imported.
    monkeypatch.setitem(WITNESSES["regularizer"].__globals__, "draw_steering", gently)
    d = derive_once(parsed(line))
    trials = withstood(d, lambda kind: kind not in AT_LIMITS)
    if d.potential.kind in ("explicit", "algebraic"):
        assert trials["regularizer"], "no flow was followed"


@pytest.mark.every(72)
@pytest.mark.parametrize("line", DECIDED)
def test_what_is_claimed_of_limits_withstands_its_witness(line):
    withstood(derive_once(parsed(line)), AT_LIMITS.__contains__)


@pytest.mark.every(36)
@pytest.mark.parametrize("line", [line for line, (_, v) in DECIDED.items() if v is YES])
def test_the_limit_of_the_flow_is_that_of_q_to_twenty_digits(line):
    try:
        assert crosscheck(derive_once(parsed(line)), digits=20).passed
    except NumericalError as reason:  # of a vector there may be nothing to compare in components
        if "give a dimension" not in str(reason):
            raise


@pytest.mark.parametrize("line", DECIDED)
def test_certificates_are_accepted(line):
    p = parsed(line)
    report = check_text(certified_once(p))
    assert report.verdict == derive_once(p).verdict.value
    assert bool(report.open) == (line in CERTIFIED_IN_PART)
    assert not {*report.open} & {"the conserved quantities", "the Hessian map"}


@pytest.mark.parametrize("line", DECIDED)
def test_every_rendering_is_written(line):
    d = derive_once(parsed(line))
    text, page, snippet = d.to_text(), d.to_latex(standalone=True), d.to_latex()
    assert all(len(x) <= 80 for x in text.splitlines())
    for left, right in (("{", "}"), (r"\\left(?![a-z])", r"\\right(?![a-z])"), ("begin{", "end{")):
        assert all(len(re.findall(left, x)) == len(re.findall(right, x)) for x in (page, snippet))
    assert snippet.count("$") % 2 == 0
    assert "**" not in snippet
    assert r"\documentclass" not in snippet
    assert page.startswith(r"\documentclass")
    assert "norm_u" not in text
    assert r"\mathit{norm}" not in page
