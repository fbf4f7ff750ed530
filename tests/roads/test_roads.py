"""The published road against the main one: what fits, what does not, and broken inputs."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy

from derive import Ansatz, ConsistencyError, InputError, Parameterization, Verdict, derive
from derive.roads.published import follow_published
from derive.roads.road import compare_decisions, compare_roads
from derive.verdict import Finding
from derive.weights.dual import is_dual
from tests.published import derive_once

RADIAL, SEPARABLE = Ansatz.radial(), Ansatz.separable()
NEURONS = [tuple(f"a*u{i}" for i in range(1, d + 1)) for d in (2, 3, 4)]
DEEP = ("a*b*u1", "a*b*u2")
DEEPER = ("a*b**3*u1", "a*b**3*u2")
HOPF = ("2*(a*c + b*d)", "2*(b*c - a*d)", "a**2 + b**2 - c**2 - d**2")
FREQUENCY = ("u1*v1 - u2*v2", "u1*v2 + u2*v1")
CONVOLUTION = ("u1*v1 + u2*v2", "u1*v2 + u2*v1")
ROTATED = ("(x + y)**2", "(x - y)**2")
RATIONAL = ("a*u1/(1 + a**2)", "a*u2/(1 + a**2)")
CUBIC = ("u1*(u1**2 + u2**2)", "u2*(u1**2 + u2**2)")
SCALED = ("a*u1", "2*a*u2")
WWT = ("a**2 + b**2", "a*c + b*d", "c**2 + d**2")


def block(outputs, start=None):
    return derive_once(outputs, start).blocks[0]


@pytest.mark.every(16)
@pytest.mark.parametrize(
    ("outputs", "ansatz"),
    [(n, RADIAL) for n in NEURONS]
    + [
        (DEEP, RADIAL),
        (DEEPER, RADIAL),
        (HOPF, RADIAL),
        (HOPF, SEPARABLE),
        (FREQUENCY, RADIAL),
        (FREQUENCY, SEPARABLE),
        (ROTATED, SEPARABLE),
        (RATIONAL, RADIAL),
        (CUBIC, RADIAL),
        (("u1/(u1**2 + u2**2)", "u2/(u1**2 + u2**2)"), RADIAL),
        (("a*u1 + a*v1", "a*u2 + a*v2"), RADIAL),
        (SCALED, Ansatz.of("beta1**2 + beta2**2/4")),
        (("a*u1 + 3*a*u2", "a*u2"), Ansatz.of("(beta1 - 3*beta2)**2 + beta2**2")),
        (CONVOLUTION, Ansatz.of("beta1 + beta2", "beta1 - beta2")),
        (("a**3 - b**3 + c", "a**3 - b**3 - c"), Ansatz.of("beta1 + beta2", "beta1 - beta2")),
        (("(x + y)**3", "(x - y)**2"), SEPARABLE),
    ],
)
def test_the_published_road_agrees_with_the_main_one(outputs, ansatz):
    b = block(outputs)
    metric = b.potential.warping.metric  # in the field of g
    road = follow_published(metric, ansatz)
    assert road.verdict is Verdict.PROVED
    assert all(e.holds and e.left == e.right for e in road.finding.evidence)
    assert compare_decisions(b.potential.warping, road).verdict is Verdict.PROVED
    if b.potential.dual is not None:
        assert compare_roads(b.potential.dual, road).verdict is Verdict.PROVED


@pytest.mark.every(8)
@pytest.mark.parametrize(
    ("outputs", "ansatz"),
    [
        (NEURONS[0], SEPARABLE),
        (NEURONS[0], Ansatz.of("beta1**2 + 2*beta2**2")),
        (NEURONS[0], Ansatz.of("beta1*beta2")),
        (NEURONS[0], Ansatz.of("beta1 + beta2")),
        (SCALED, RADIAL),
        (CONVOLUTION, RADIAL),
        (ROTATED, RADIAL),
        (("w + v", "w - 2*v"), Ansatz.of("beta1**2")),
        (("x*y", "x**2 - y**2"), RADIAL),
        (FREQUENCY, Ansatz.of("2*beta1 + beta2", "beta1 - beta2")),
    ],
)
def test_a_wrong_form_is_refuted_for_itself_only(outputs, ansatz):
    b = block(outputs)
    road = follow_published(b.metric, ansatz)
    assert b.warping.verdict is Verdict.PROVED
    assert road.verdict is Verdict.REFUTED
    assert "not of this form" in road.finding.reason
    assert "no Q" not in road.finding.reason
    assert road.ratios == ()
    assert compare_decisions(b.warping, road).verdict is Verdict.UNDECIDED
    failures = [e for e in road.finding.evidence if not e.holds]
    if failures:
        (failure,) = failures
        values = dict(failure.point)
        sides = [_at(side, values) for side in (failure.left, failure.right)]
        assert sides[0] - sides[1] == failure.residual != 0


def _at(text, values):
    numbers = {name: sympy.Rational(v.numerator, v.denominator) for name, v in values.items()}
    value = sympy.sympify(text).subs(numbers)
    return Fraction(int(value.p), int(value.q))


@pytest.mark.parametrize("outputs", [WWT, ("a*u1 + b*v1", "a*u2 + b*v2"), ("a*u1", "a*u2 + u1")])
@pytest.mark.parametrize("ansatz", [RADIAL, SEPARABLE, Ansatz.of("beta1**2 + beta1*beta2")])
def test_where_there_is_no_q_no_form_fits(outputs, ansatz):
    b = block(outputs)
    assert b.warping.verdict is Verdict.REFUTED
    assert follow_published(b.metric, ansatz).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("outputs", "ansatz"),
    [
        # Radial and tangential directions are eigenvectors of K, but K knows the angle.
        (("g*(1 - x**2)/(1 + x**2)", "2*g*x/(1 + x**2)"), RADIAL),
        # K is diagonal, but no warp makes its entries functions of one output each.
        (("x**2 + 2*y**2", "y/x**2"), SEPARABLE),
    ],
)
def test_a_ratio_that_is_no_function_of_t_is_refuted(outputs, ansatz):
    road = follow_published(block(outputs).metric, ansatz)
    assert road.verdict is Verdict.REFUTED
    assert "is no function of" in road.finding.reason


def test_at_a_degenerate_start_the_road_stays_open():
    road = follow_published(block(NEURONS[0], {"a": "0"}).metric, RADIAL)
    assert road.verdict is Verdict.UNDECIDED


def perturbed(dual):
    """Yield dual coordinates that are not dual."""
    field = dual.g.field
    w = field.gens[0]
    first, *rest = dual.y
    yield replace(dual, y=(replace(first, rational=first.rational + w), *rest))
    yield replace(dual, y=(first.scaled(field.constant(2)), *rest))
    yield replace(dual, y=(*reversed(dual.y),))
    yield replace(dual, g=dual.g * w)
    yield replace(dual, y=(replace(first, logs=((w, w),)), *rest))


@pytest.mark.parametrize("outputs", [NEURONS[0], DEEP, HOPF, FREQUENCY])
def test_a_broken_dual_is_caught(outputs):
    b = block(outputs)
    road = follow_published(b.metric, RADIAL)
    for broken in perturbed(b.potential.dual):
        assert not _dual(broken)
        with pytest.raises(ConsistencyError, match=r"weight space.*published \(Ansatz q\(\|beta"):
            compare_roads(broken, road)


def _dual(dual):
    try:
        return is_dual(dual.parameterization, dual.y, dual.g)
    except ValueError:
        return False


def test_a_broken_published_road_is_caught():
    b = block(DEEP)
    road = follow_published(b.metric, RADIAL)
    one = b.metric.parameterization.field.one
    for broken in (
        replace(road, ratios=(2 * road.ratios[0],)),
        replace(road, factors=(road.factors[0] * b.metric.K[0][0],)),
    ):
        with pytest.raises(ConsistencyError, match="two roads disagree"):
            compare_roads(b.potential.dual, broken)
        with pytest.raises(ConsistencyError, match="two roads disagree"):
            compare_decisions(b.warping, broken)
    slopes = ((road.slopes[0][0], road.slopes[0][1] + one),)
    with pytest.raises(ConsistencyError):
        compare_roads(b.potential.dual, replace(road, slopes=slopes))


def test_a_main_road_that_refutes_what_the_ansatz_proves_is_caught():
    b = block(NEURONS[0])
    road = follow_published(b.metric, RADIAL)
    wrong = replace(b.warping, finding=Finding(Verdict.REFUTED, "wrongly"), H=None)
    with pytest.raises(ConsistencyError, match="wrongly"):
        compare_decisions(wrong, road)
    (other,) = derive(Parameterization.parse(NEURONS[0])).blocks
    with pytest.raises(InputError, match="one metric"):
        compare_roads(other.potential.dual, road)


@pytest.mark.parametrize(
    ("outputs", "names"),
    [
        (("p**2 - m**2",), ["metric in beta (Q'' = 1/K)", "weight space (dual coordinates)"]),
        (("u*v - x*y",), ["metric in beta (Q'' = 1/K)", "weight space (dual coordinates)"]),
        (("p**3 - m**3",), ["dual time (beta = h(mu))", "weight space (dual coordinates)"]),
        (("u/(1 + v)",), ["metric in beta (Q'' = 1/K)"]),
    ],
)
def test_one_output_names_its_roads(outputs, names):
    b = block(outputs)
    assert [r.name for r in b.roads] == names
    assert all(r.finding.verdict is Verdict.PROVED for r in b.roads)


def test_an_ansatz_is_asked_for():
    p = Parameterization.parse(NEURONS[0])
    fits = derive(p, ansatz=Ansatz.of("beta1**2 + beta2**2"))
    assert fits.asked.finding.verdict is Verdict.PROVED
    assert "agree" in fits.asked.finding.reason
    wrong = derive(p, ansatz=SEPARABLE)
    assert (wrong.verdict, wrong.asked.finding.verdict) == (Verdict.PROVED, Verdict.REFUTED)
    text = wrong.to_text()
    assert "q1(beta1) + q2(beta2)" in text
    assert "not of this form" in text
    assert "q_{1}(\\beta_{1}) + q_{2}(\\beta_{2})" in wrong.to_latex()
    record = json.loads(wrong.to_json())["potential"]
    assert record["asked"]["verdict"] == "REFUTED"
    assert [road.finding.verdict for road in wrong.blocks[0].roads] == [Verdict.PROVED] * 2
    assert derive_once(p).asked is None


def test_an_ansatz_over_several_blocks():
    squares = derive(Parameterization.parse(["v", "w"]), ansatz=RADIAL)
    assert squares.asked.finding.verdict is Verdict.PROVED
    entropies = derive(Parameterization.parse(["v**2", "w**2"]), ansatz=RADIAL)
    assert entropies.asked.finding.verdict is Verdict.REFUTED
    entropies = derive(Parameterization.parse(["v**2", "w**2"]), ansatz=SEPARABLE)
    assert entropies.asked.finding.verdict is Verdict.PROVED


def test_sympy_makes_the_same_ansatz_as_text():
    b1, b2 = sympy.symbols("beta1 beta2")
    made = Ansatz.of(b1**2 + b2**2).functions(2)[0]
    read = Ansatz.of("beta1**2 + beta2**2").functions(2)[0]
    assert repr(made) == repr(read)


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        (("beta3**2",), "beta3: write it in the outputs beta1, beta2"),
        (("x**2",), "uses x"),
        (("1/beta1",), "needs a polynomial"),
        (("sqrt(beta1)",), "functions that the field"),
        (("3",), "needs a polynomial"),
        (("beta1 - beta1",), "needs a polynomial"),
        (("beta1**2", "beta2"), "2 independent linear forms"),
        (("beta1", "2*beta1"), "2 independent linear forms"),
        (("beta1", "beta2", "beta1 + beta2"), "2 independent linear forms"),
        (("beta1 +",), "column"),
        ((), "at least one function"),
        ((1.5,), "is the float 1.5"),
    ],
)
def test_bad_ansatz_is_refused_in_one_line(functions, message):
    with pytest.raises(InputError, match=message) as caught:
        derive(Parameterization.parse(NEURONS[0]), ansatz=Ansatz.of(*functions))
    assert "\n" not in str(caught.value)


def test_one_output_needs_no_ansatz():
    with pytest.raises(InputError, match="two outputs"):
        derive(Parameterization.parse(["w**2"]), ansatz=RADIAL)
