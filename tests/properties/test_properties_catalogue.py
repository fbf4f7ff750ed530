"""What holds of every Q must hold of every model of the catalogue: no model is named here."""

import functools
import itertools
import re
from fractions import Fraction

import numpy as np
import pytest
import sympy

from derive import Parameterization, Verdict
from derive.components import in_components
from derive.language import bind, to_sympy
from derive.limits.limit import with_scale
from derive.model.notation import to_expr
from numerics.confirm.limits import confirm_limits
from numerics.integrator.gradient_flow import flow
from tests.models import parsed
from tests.published import GIVEN_SIZE, derive_once, regimes_once

pytestmark = pytest.mark.every(4)

ENTRIES = GIVEN_SIZE[::-1]  # the first takes longest
NAMES = [entry.id for entry in ENTRIES]

PROVED = [entry.id for entry in ENTRIES if entry.verdict == "PROVED"]
OTHERS = ("3*p**2 - 2*m**2", "a*b*c", "w + w**3", "u1*v1 + u2*v2, u1*v2 + u2*v1, w**2")
"""Of forms of Q that the catalogue lacks."""
STEPS = (-0.4, -0.15, 0.1, 0.35)


@pytest.fixture(scope="module")
def in_plane(derived):
    """Derive models by name, those of open dimension in the plane."""

    def derivation(name):
        return in_components(derived(name), 2)

    return functools.cache(derivation)


def numbers(derivation, scale=Fraction(1)):
    """Return positive values for the start symbols; those in exponents are 3."""
    p = derivation.potential.parameterization
    start = {name: scale * Fraction(4 + k, 3 + k % 2) for k, name in enumerate(p.start_symbols)}
    return {**start, **dict.fromkeys(p.parameters, Fraction(3))}


def places(q):
    """Yield points around the start inside the domain of Q."""
    beta0 = np.array(q.beta0)
    size = np.abs(beta0).max() or 1.0
    for k, step in enumerate(STEPS):
        direction = np.cos(1.0 + k + 2 * np.arange(q.d))
        beta = beta0 + step * size * direction / np.abs(direction).max()
        if np.isfinite(np.atleast_1d(gradient(q, beta))).all():
            yield beta


def gradient(q, beta):
    return np.atleast_1d(q.gradient(beta if q.d > 1 else beta[0]))


def inverse(q, y):
    return np.atleast_1d(q.inverse_gradient(y if q.d > 1 else y[0]))


def value(q, beta):
    return float(q(beta if q.d > 1 else beta[0]))


@pytest.fixture(scope="module", params=[*OTHERS, *PROVED])
def potential(request, in_plane):
    name = request.param
    derivation = derive_once(parsed(name)) if name in OTHERS else in_plane(name)
    return derivation.potential.numeric(numbers(derivation))


@pytest.mark.every(8)
def test_the_gradient_vanishes_at_the_start_and_nowhere_near(potential):
    scale = max(np.abs(gradient(potential, beta)).max() for beta in places(potential))
    assert np.abs(gradient(potential, np.array(potential.beta0))).max() < 1e-7 * scale


@pytest.mark.every(8)
def test_the_divergence_is_positive(potential):
    """D(b, c) > 0 for b != c, both ways: Q is strictly convex, not only above its least value."""
    points = [np.array(potential.beta0), *places(potential)]
    assert len(points) == 1 + len(STEPS)
    for b, c in itertools.permutations(points, 2):
        pair = (b, c) if potential.d > 1 else (b[0], c[0])
        assert float(potential.bregman(*pair)) > 0


@pytest.mark.every(8)
def test_the_hessian_is_the_slope_of_the_gradient(potential):
    beta = next(places(potential))
    steps = 1e-5 * np.abs(beta).max() * np.eye(potential.d)
    slopes = [
        (gradient(potential, beta + x) - gradient(potential, beta - x)) / (2 * np.abs(x).max())
        for x in steps
    ]
    at = beta if potential.d > 1 else beta[0]
    hessian = np.reshape(potential.hessian(at), (potential.d, potential.d))
    assert np.allclose(hessian, slopes, rtol=1e-6, atol=1e-8 * np.abs(hessian).max())
    assert np.allclose(hessian, hessian.T)
    assert np.linalg.eigvalsh(hessian).min() > 0
    if hasattr(potential, "curvature"):
        assert np.allclose(np.reshape(potential.curvature(at), -1), np.diag(hessian))


@pytest.mark.every(8)
def test_the_inverse_mirror_map_undoes_the_gradient(potential):
    for beta in places(potential):
        again = inverse(potential, gradient(potential, beta))
        assert np.allclose(again, beta, rtol=1e-6, atol=1e-7)


@pytest.mark.every(8)
def test_the_conjugate_has_the_inverse_mirror_map_as_its_gradient(potential):
    def conjugate(y):
        beta = inverse(potential, y)
        return float(beta @ y) - value(potential, beta)

    beta = list(places(potential))[1]
    y = gradient(potential, beta)
    for i in range(potential.d):
        step = 1e-4 * (np.abs(y).max() + 1e-2) * np.eye(potential.d)[i]
        slope = (conjugate(y + step) - conjugate(y - step)) / (2 * step[i])
        assert slope == pytest.approx(beta[i], rel=1e-4, abs=1e-5)


def degree(p):
    """Return D with F(c w) = c^D F(w), symbols in exponents being 3; None where there is none."""
    if p.homogeneity is None:
        return None
    return float(to_expr(p.homogeneity, dict.fromkeys(p.parameters, sympy.Integer(3))))


def from_start_and_from_larger(derivation):
    """Return Q from a start and from 3/2 times that start."""
    p = derivation.potential.parameterization
    if p.start_symbols:
        assert all(x.is_constant() or (x.is_polynomial() and x.degree() == 1) for x in p.w0)
        return [derivation.potential.numeric(numbers(derivation, c)) for c in (1, Fraction(3, 2))]
    scaled = derive_once(with_scale(p, "scale")).potential
    return [scaled.numeric({"scale": c}) for c in (1, Fraction(3, 2))]


def units(small, large, D):
    """Return grad Q from the larger start at (3/2)^D beta over grad Q at beta, where it moves."""
    pairs = [(gradient(large, 1.5**D * b), gradient(small, b)) for b in places(small)]
    scale = max(np.abs(right).max() for _, right in pairs)
    return np.concatenate([(x / y)[np.abs(y) > 1e-3 * scale] for x, y in pairs])


@pytest.mark.every(16)
@pytest.mark.parametrize("name", PROVED)
def test_a_larger_start_gives_the_same_mirror_map_in_larger_units(name, in_plane):
    """For F(c w) = c^D F(w): grad Q from c w_0 at c^D beta is a multiple of grad Q from w_0.

    An F that is not homogeneous is the control: there it is none, for any D that is tried.
    """
    derivation = in_plane(name)
    both = from_start_and_from_larger(derivation)
    D = degree(derivation.potential.parameterization)
    if D is None:
        for wrong in (1, 2, 3):
            control = units(*both, wrong)
            assert not np.allclose(control, control[0], rtol=1e-6)
        return
    factors, control = units(*both, D), units(*both, D + 1)
    assert len(factors) >= len(STEPS)
    assert np.allclose(factors, factors[0], rtol=1e-6)
    assert factors[0] > 0
    assert not np.allclose(control, control[0], rtol=1e-6)


@pytest.mark.every(32)
@pytest.mark.parametrize("name", NAMES)
def test_conserved_quantities_are_constant_along_the_flow(name, in_plane):
    """Of every model, also of those that have no Q; a weight that moves is the control."""
    derivation = in_plane(name)
    p = derivation.parameterization
    depth = dict.fromkeys(p.parameters, Fraction(3))
    values = {**depth, **{n: Fraction(4 + k, 3 + k % 2) for k, n in enumerate(p.start_symbols)}}
    start = {w: to_sympy(bind(tree, values)) for w, tree in p.start}
    metric = p.geometry.mapped(lambda tree: bind(tree, depth))
    bound = Parameterization([bind(tree, depth) for tree in p.trees], p.weights, geometry=metric)
    model = bound if p.parameters else p  # with the geometry that p has
    laws = [law.subs({s: 3 for s in law.free_symbols if s.name in depth})
            for law in derivation.conserved.laws]  # fmt: skip
    moving = next(w for w in p.weights if start[w] != 0)
    X = [[Fraction(3 + k, 2 + k) for k in range(p.d)]]
    end = flow(
        model, X, [Fraction(1, 5)], start, 12, time=Fraction(1, 50), conserved=[*laws, moving]
    )
    *drifts, change = end.drift
    assert all(drift < 1e-10 for drift in drifts)
    assert change > 1e-6


@pytest.mark.every(32)
@pytest.mark.parametrize("name", PROVED)
def test_limits_of_small_and_large_starts_are_confirmed(name, derived):
    """What is proved is seen at two scales; what is not depends on a sign that is not given."""
    r = regimes_once(with_scale(derived(name).parameterization, "alpha"), "alpha")
    confirmations = confirm_limits(r, digits=20)
    proved = [limit for limit in r.limits if limit.finding.verdict is Verdict.PROVED]
    assert len(confirmations) == len(proved) >= 1
    assert all(c.passed for c in confirmations)
    assert all(limit.potential for limit in proved)
    undecided = [limit for limit in r.limits if limit not in proved]
    assert all(re.fullmatch("the sign of .* is not decided", x.finding.reason) for x in undecided)
