"""Lie structure, conserved quantities and the verdicts on Hessian maps and warps."""

from itertools import islice, pairwise

import pytest
import sympy

from derive import DegenerateStart, InputError, Parameterization, Verdict
from derive.weights import hessian
from derive.weights.conserved import along, bracket, find_conserved, find_lie_structure
from derive.weights.metric import find_metric
from derive.weights.witness import hessian_conditions, independent_point, is_free, samples
from tests.models import COUPLED, DECIDED, NO, YES, parsed
from tests.published import derive_once

HOPF = ["p**2+q**2-r**2-s**2", "2*p*r+2*q*s", "2*q*r-2*p*s"]


@pytest.mark.parametrize(
    ("outputs", "start", "error", "why"),
    [
        (["x*y"], {"x": "0", "y": "0"}, DegenerateStart, None),
        (["w**2"], {"w": "0"}, DegenerateStart, None),
        (["1/w"], {"w": "0"}, DegenerateStart, None),
        (["x*y", "z**3"], {"z": "0"}, DegenerateStart, None),
        (["x - x + 2", "y"], {}, InputError, "constant"),
        (["x*y - x*y + x + y - y"], {}, InputError, "leave it out"),
    ],
)
def test_outputs_and_starts_that_cannot_move_are_refused(outputs, start, error, why):
    with pytest.raises(error, match=why):
        Parameterization.parse(outputs, start)


@pytest.mark.parametrize("power", [2, 3, 7])
def test_start_on_a_fold_that_the_flow_leaves(power):
    """J has rank 1 at x = 0, but x' = lambda_1 + ... leaves it at once: rank 2 is reached."""
    outputs = ["x", f"x**{power}*y"]
    d = derive_once(outputs, {"x": "0", "y": "1"})
    assert d.verdict is not Verdict.PROVED


def test_degree_is_eulers():
    assert Parameterization.parse(["a*b*u1", "a*b*u2"]).degree == 3
    assert Parameterization.parse(["x/y"]).degree == 0
    assert Parameterization.parse(["x**2", "x*y*z"]).degree is None
    assert Parameterization.parse(["1/x-1/y"]).degree == -1


def test_blocks_ignore_weights_that_cancel():
    assert Parameterization.parse(["a*u1", "a*u2", "w**2"]).blocks == ((0, 1), (2,))
    assert Parameterization.parse(["x + z - z", "z"]).blocks == ((0,), (1,))
    assert Parameterization.parse(["x*y", "z", "y + t"]).blocks == ((0, 2), (1,))


@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (["y**2+2*z**2"], {"y": "0", "z": "1"}),
        (["x", "y**2+2*z**2"], {"x": "2", "y": "0", "z": "-1"}),
        (["x*y+y*z+z*x"], {"x": "alpha", "y": "alpha", "z": "alpha"}),
        (["sqrt(x*y+y*z+z*x)"], {"x": "1", "y": "1", "z": "1"}),
    ],
)
def test_law_with_a_pole_at_the_start(outputs, start):
    d = derive_once(outputs, start)
    assert len(d.conserved.values) == len(d.conserved.laws)
    for conserved in (block.metric.conserved for block in d.blocks):
        at_start = map(conserved.parameterization.at_start, conserved.laws)
        assert len([*at_start]) == len(conserved.laws)


def test_a_point_where_the_rank_drops_is_passed_over():
    """At a = b = c = d the fields of W W^T are dependent."""
    lie = find_lie_structure(Parameterization.parse(["a**2 + c**2", "a*b + c*d", "b**2 + d**2"]))
    assert lie.point is not None
    values = [value for _, value in lie.point]
    assert any(x != y for x, y in pairwise(values))


def test_dependent_fields_are_never_called_independent():
    p = Parameterization.parse(["exp(x)*u", "exp(x)*v"])
    first, second = p.fields
    total = tuple(2 * x + p.F[0] * y for x, y in zip(first, second, strict=True))
    assert independent_point(p, (first, second)) is not None
    assert independent_point(p, (first, second, total)) is None


@pytest.mark.parametrize(
    ("outputs", "dimension", "laws"),
    [
        (["w"], 1, 0),
        (["p**2-m**2"], 1, 1),
        (["u*v-x*y"], 1, 3),
        (["p**3-m**3"], 1, 1),
        (["a*u1", "a*u2"], 2, 1),
        (["a*b*u1", "a*b*u2"], 2, 2),
        (["a**2+b**2", "a*c+b*d", "c**2+d**2"], 4, 0),
        (["a*e+b*f", "a*g+b*h", "c*e+d*f", "c*g+d*h"], 5, 3),
        (HOPF, 4, 0),
        (["x", "(x-z)**2/2+y"], 3, 0),
    ],
)
def test_dimension_and_laws(outputs: list[str], dimension: int, laws: int) -> None:
    p = Parameterization.parse(outputs)
    lie = find_lie_structure(p)
    found = find_conserved(lie)
    assert lie.commuting == all(
        x.is_zero() for i, X in enumerate(p.fields) for Y in p.fields[:i] for x in bracket(X, Y)
    )
    if lie.dimension + laws == p.p:
        assert found.verdict is Verdict.PROVED
    assert len(found.laws) <= p.p - lie.dimension
    assert (lie.dimension, len(found.laws)) == (dimension, laws)
    assert all(along(X, law).is_zero() for law in found.laws for X in p.fields)


TWO_NEURONS = ["a*u1+b*v1", "a*u2+b*v2"]

WARPED = [
    (["a*u1", "a*u2"], "a"),
    (["a*u1", "a*u2", "a*u3"], "a"),
    (["a*u1", "a*u2", "a*u3", "a*u4"], "a"),
    (["a*b*u1", "a*b*u2"], "a*b"),
    (["a**2*u1", "a**2*u2"], "a**2"),
    (["(x+y)*u", "(x+y)*v"], "x+y"),
    (["a*c-b*d", "a*d+b*c"], "a**2+b**2+c**2+d**2"),
    (["a**2-b**2", "2*a*b"], "a**2+b**2"),
    (HOPF, "p**2+q**2+r**2+s**2"),
    (["x", "x*y"], "x"),
    (["x*y", "x+y"], "x-y"),
]


@pytest.mark.parametrize(("outputs", "g"), WARPED)
def test_warped(outputs, g):
    d = derive_once(outputs)
    assert d.hessian.verdict is Verdict.REFUTED
    assert d.warping.verdict is d.verdict is Verdict.PROVED
    known = {w: sympy.Symbol(w, real=True) for w in d.parameterization.weights}
    ratio = sympy.cancel(d.warping.g / sympy.sympify(g, locals=known))
    assert ratio.is_number
    assert ratio != 0


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "start",
    [
        {"a": "1", "b": "1", "u1": "1", "u2": "0", "v1": "1", "v2": "0"},
        {"a": "1", "b": "1", "u1": "1", "u2": "2", "v1": "1", "v2": "2"},
        {"a": "2", "b": "1", "u1": "2", "u2": "0", "v1": "1", "v2": "0"},
    ],
)
def test_aligned_neurons_are_one_neuron(start):
    """On this leaf two neurons are one, which has a warp: it must not be refuted."""
    assert derive_once(TWO_NEURONS, start).warping.verdict is not Verdict.REFUTED


def test_warp_that_is_zero_at_the_start_gives_no_integral():
    """Without a closed form there is nothing on either side of 0."""
    d = derive_once(["a*b*c*u", "2*a*b*c*v"], {"b": "0"})
    assert d.warping.verdict is Verdict.PROVED
    assert d.verdict is Verdict.UNDECIDED
    assert d.potential.Q is None


def test_independent_blocks_need_one_clock():
    neurons = derive_once(["a*u1", "a*u2", "b*v1", "b*v2"])
    assert neurons.verdict is Verdict.REFUTED
    assert "independent blocks" in neurons.warping.finding.reason
    scalars = derive_once(["a*b", "c*d", "e**2"])
    assert scalars.verdict is Verdict.PROVED


SHARED = ["(y + exp(y*x) + cos(x/2))*u", "(y + exp(y*x) + cos(x/2))*v"]


def coupled(*verdicts):
    """Return the models of several outputs in one block of which this is decided at any start."""
    lines = (x for x in COUPLED if DECIDED[x] == verdicts and " from " not in x)
    return [p for p in map(parsed, lines) if len(p.blocks) == 1]


MAPS = [(p, True, False) for p in (Parameterization.parse(SHARED), *coupled(NO, YES))]
MAPS += [(p, False, False) for p in coupled(YES, YES)] + [(p, True, True) for p in coupled(NO, NO)]


@pytest.mark.every(8)
@pytest.mark.parametrize(("p", "hessian_fails", "warp_fails"), MAPS, ids=repr)
def test_a_condition_fails_at_a_start_where_the_exact_road_refutes(
    p, hessian_fails, warp_fails, monkeypatch
):
    monkeypatch.setattr(hessian, "LARGE", 0)  # points are looked at even where K is small
    metric = find_metric(find_conserved(find_lie_structure(p)))
    found = hessian.find_failing_condition(metric, hessian_conditions)
    assert (found is not None) == hessian_fails
    found = hessian.find_failing_condition(metric, hessian.warp_and_closure)
    assert (found is not None) == warp_fails


def test_the_point_of_a_refutation_has_a_jacobian_of_full_rank():
    """At y = 1 the outputs y x/(1 + y^2), x^(2/3) move together, for ever."""
    d = derive_once(["1/(1 + y**2)*y*x", "x**(2/3)"])
    for finding in (d.hessian.finding, d.warping.finding):
        assert dict(finding.evidence[-1].point)["y"] != 1


@pytest.mark.slow
def test_a_shared_factor_of_several_functions_is_a_warp():
    d = derive_once(SHARED)
    assert d.verdict is d.warping.verdict is Verdict.PROVED
    assert str(d.warping.g) == "y + exp(x*y) + cos(x/2)"


def test_a_failure_is_looked_for_where_the_outputs_move_independently():
    """The first starts in small numbers make the factors singular: none of them decides."""
    shapes = dict.fromkeys("ABC", (3, 3))
    p = Parameterization.parse(["A*B*C"], arrays=shapes)
    starts = [is_free(p, start) for start in islice(samples(p), 12)]
    assert not any(starts[:11])
    assert starts[11]


@pytest.mark.slow
def test_three_factors_have_no_potential():
    shapes = dict.fromkeys("ABC", (3, 3))
    d = derive_once("A*B*C", arrays=shapes)
    assert (d.hessian.verdict, d.verdict) == (Verdict.REFUTED, Verdict.REFUTED)
    assert d.conserved.count == 12


@pytest.mark.parametrize(
    ("outputs", "verdict", "asked"),
    [
        (["a**2*b", "a + b"], Verdict.REFUTED, 1),
        (["a*u1", "a*u2"], Verdict.PROVED, 1),
        (["a*u1", "a*u2", "a*u3"], Verdict.PROVED, 0),
    ],
)
def test_the_curl_of_a_warp_is_asked_of_two_outputs_alone(outputs, verdict, asked):
    """In two weights H solves its equations and nothing is vertical: the curl alone refutes."""
    warping = derive_once(outputs).warping
    assert warping.verdict is verdict
    claims = [e.claim for e in warping.finding.evidence]
    assert sum(c.startswith("X1 H2 - X2 H1 = omega") for c in claims) == asked
