"""Metrics that are drawn, not derived from F: Hessians pass, others fail, and a factor is found.

With F = w and any metric G on the weights rho is G, as a function of beta.
"""

from itertools import chain

import pytest
import sympy
from hypothesis import given, settings

from derive import Parameterization, Verdict
from derive.exact.linear.matrix import dot, inverse
from derive.exact.towers.tower import build_elements
from derive.language import from_sympy, parse_expression, to_sympy
from derive.model.geometry import Geometry
from derive.testing import convex_potentials, warps
from derive.weights.conserved import along, find_conserved, find_lie_structure
from derive.weights.hessian import decide_hessian, decide_warp
from derive.weights.metric import find_metric

PROVED, REFUTED = Verdict.PROVED, Verdict.REFUTED
NAMES = ("beta1", "beta2")
BETA = tuple(map(sympy.Symbol, NAMES))
drawn = settings(max_examples=10, deadline=None, derandomize=True)


def decided(G, factor):
    """Decide on rho = G, entry by entry; the factor comes as a function of the same weights."""
    read = [from_sympy(x) for x in (*BETA, *G, factor)]
    *_, a, b, _, c, g = build_elements(read, NAMES)
    p = Parameterization(NAMES).over(g.field)
    entries = tuple(chain(*inverse(((a, b), (b, c)))))
    trees = tuple(parse_expression(repr(x)) for x in entries)
    object.__setattr__(p, "geometry", Geometry(trees, 2, functions=entries))
    metric = find_metric(find_conserved(find_lie_structure(p)))
    assert dot(metric.K[0], (a, b)) == a.field.one
    return decide_hessian(metric), g


def hessian(Q):
    return sympy.hessian(to_sympy(parse_expression(Q)), BETA)


@drawn
@given(convex_potentials(2), warps(2))
def test_a_convex_hessian_passes_and_a_symmetric_perturbation_fails(Q, other):
    """d_2 rho_11 = d_1 rho_12 fails where a function of beta2 alone is added to rho_11."""
    G, bump = hessian(Q), to_sympy(parse_expression(other.replace("beta1", "beta2")))
    assert decided(G, sympy.Integer(1))[0].verdict is PROVED
    G[0, 0] += bump
    assert decided(G, sympy.Integer(1))[0].verdict is REFUTED


@pytest.mark.slow
@drawn
@given(convex_potentials(2), warps(2))
def test_g_times_a_hessian_gives_one_over_g(Q, warp):
    """log g is returned by its derivatives along the flow."""
    factor = to_sympy(parse_expression(warp))
    verdict, g = decided(factor * hessian(Q), factor)
    assert verdict.verdict is REFUTED
    found = decide_warp(verdict)
    assert found.verdict is PROVED
    assert tuple(-along(x, g) / g for x in found.parameterization.fields) == found.H
