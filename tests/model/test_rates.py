"""Learning rates and mirror descent on the weights: another metric, and the same stages."""

import json
import pickle
from fractions import Fraction

import pytest

from derive import DegenerateStart, InputError, Parameterization, Verdict, explicit_counterpart
from derive.certificate.checking.check import check
from derive.components import in_components
from derive.language import Number, to_text
from derive.model.geometry import EUCLIDEAN, Geometry
from derive.model.typed import TypedModel
from derive.weights import hessian
from derive.weights.conserved import along, find_conserved, find_lie_structure
from derive.weights.hessian import decide_hessian, decide_warp
from derive.weights.metric import find_metric
from numerics import crosscheck
from tests.certificate.certificates import assert_rejected
from tests.published import derive_once

parse = Parameterization.parse
EXPONENTIATED = parse(["p - m"], mirror="p*log(p) + m*log(m)")
DISGUISED = parse(["p**2 - m**2"], rates={"p": "p", "m": "m"}, start={"p": "alpha", "m": "alpha"})
LAYERS = parse(["u*v"], rates={"u": "eta", "v": "1/eta"})
NEURON = parse(["a*u1", "a*u2"], rates={"a": "2"})
COUPLED = parse(["a*b"], mirror="a**2 - a*b + b**2/2")
ENTROPIES = parse(["p - m"], mirror="p*log(p) + m*log(m) + p*m/4")


def test_exponentiated_gradient_has_the_hyperbolic_entropy():
    d = derive_once(EXPONENTIATED)
    Q = "beta*asinh(beta/(2*sqrt(p_0*m_0))) - sqrt(beta**2 + 4*p_0*m_0)"
    tilted = f"{Q} - beta*asinh((p_0 - m_0)/(2*sqrt(p_0*m_0)))"
    assert d.compare(tilted).outcome == "AGREES"
    assert d.compare(Q).outcome == "DIFFERS"


@pytest.mark.every(4)
@pytest.mark.parametrize("p", [EXPONENTIATED, DISGUISED, LAYERS, NEURON], ids=lambda p: p.texts[0])
def test_flow_and_formula_agree_and_the_certificate_is_of_this_metric(p):
    d = derive_once(p)
    assert crosscheck(d, digits=20).passed
    record = json.loads(d.to_json())
    report = check(record)
    assert not report.open
    given = record["parameterization"]
    first = p.weights[0]
    for forged in (
        {**given, "rates": {**given["rates"], first: f"3*({given['rates'][first]})"}},
        {**given, "rates": {**given["rates"], first: f"-({given['rates'][first]})"}},
        {**{k: v for k, v in given.items() if k != "rates"}, "flow": "w' = -J^T X^T r"},
    ):
        assert_rejected({**record, "parameterization": forged})
    assert "G^-1 diagonal with the learning rates" in " ".join(d.to_text().split())
    assert "learning rates" in d.to_latex()
    assert r"\partial" in d.to_latex()


@pytest.mark.every(3)
@pytest.mark.parametrize("rates", [{"a": "eta"}, {"a": "2", "u": "zeta"}, {"u": "1 + a**2"}])
def test_a_neuron_of_any_dimension_is_that_in_components(rates):
    d = derive_once(parse(["a*u"], vectors=["u"], rates=rates))
    assert d.hessian.verdict is Verdict.REFUTED
    assert d.warping.verdict is Verdict.PROVED
    record = json.loads(d.to_json())
    assert check(record).verdict == "PROVED"
    own = record["parameterization"]["rates"]
    forged = {**own, "norm_u": f"2*({own['norm_u']})"}
    assert_rejected({**record, "parameterization": {**record["parameterization"], "rates": forged}})
    if "u" not in rates or rates["u"] == "zeta":
        assert crosscheck(in_components(d), digits=20).passed
    assert ("r_{u}" in d.to_latex(part="proof")) == ("u" in rates)


def test_the_inverse_of_an_arctangent_is_checked():
    d = derive_once(parse(["w"], rates={"w": "1 + w**2"}, start={"w": -1}))
    assert "atan" in str(d.potential.Q)
    assert crosscheck(d, digits=20).passed


def test_rates_of_one_are_gradient_flow():
    plain = derive_once(["u*v"])
    assert derive_once(parse(["u*v"], rates={"u": "1", "v": 1})) == plain
    record = json.loads(plain.to_json())
    assert "rates" not in record["parameterization"]
    assert not check(record).open


def test_equal_rates_leave_matrix_factorization_without_a_potential():
    rates = dict.fromkeys(("W11", "W12", "W21", "W22"), "eta")
    d = derive_once(parse(["W*T(W)"], arrays={"W": (2, 2)}, rates=rates))
    assert d.verdict is Verdict.REFUTED
    assert "eta" in str(d.metric.kernel_in_weights)


def test_a_rate_may_couple_outputs_that_share_no_weight():
    d = derive_once(parse(["u", "v"], rates={"u": "1 + v**2"}))
    assert len(d.blocks) == 1
    assert len(derive_once(["u", "v"]).blocks) == 2


AU = {"vectors": ["u"]}


@pytest.mark.parametrize(
    ("F", "given", "why"),
    [
        ("w", {"rates": {"w": "-1"}}, "the rate of w, -1, is not positive"),
        ("w", {"rates": {"w": "0"}}, "not positive"),
        ("w", {"rates": {"w": "w"}, "start": {"w": 0}}, "not positive"),
        ("w", {"rates": {"v": "1"}}, "there is no weight v"),
        ("w", {"rates": {"w": "2"}, "mirror": "w**2"}, "not both"),
        ("w", {"mirror": "3*w"}, "not strictly convex in w"),
        ("w", {"mirror": "-w**2"}, "not strictly convex: 1/psi'' in w, -1/2, is not positive"),
        ("w", {"mirror": "-w*log(w)"}, "not strictly convex: 1/psi'' in w, -w, is not positive"),
        ("w", {"mirror": "w**4", "start": {"w": 0}}, "not strictly convex: .* is undefined at the"),
        ("w", {"rates": {"w": "-eta"}}, "not positive"),
        ("w", {"rates": {"w": "1/w"}, "start": {"w": 0}}, "undefined at the start"),
        ("a*b", {"mirror": "a**2 + 3*a*b + b**2"}, "the minor of .* up to a, .* is not positive"),
        ("a*b", {"mirror": "(a + b)**2"}, "det Hess psi = 0"),
        ("a*b", {"rates": {"a": ["2", "1"], "b": ["0", "2"]}}, "not symmetric"),
        ("a*b", {"rates": {"a": ["2", "1"]}}, "each a row"),
        ("a*u", {**AU, "mirror": "a**2"}, "give components"),
        ("a*u", {**AU, "rates": {"v": "2"}}, r"no weight v \(the weights are a, u\)"),
        ("a*u", {**AU, "rates": {"u": "u"}}, "names scalars alone"),
    ],
)
def test_rates_that_make_no_sense_are_refused(F, given, why):
    with pytest.raises(
        DegenerateStart if "undefined at the start" in why else InputError, match=why
    ):
        parse([F], **given)


def test_costs_know_no_learning_rates():
    with pytest.raises(InputError, match="no learning rates"):
        explicit_counterpart(LAYERS)


@pytest.mark.slow
@pytest.mark.every(2)
@pytest.mark.parametrize("p", [COUPLED, ENTROPIES], ids=lambda p: p.texts[0])
def test_a_mirror_that_is_no_sum_has_a_metric_of_rows(p):
    d = derive_once(p)
    assert crosscheck(d, digits=20).passed
    record = json.loads(d.to_json())
    check(record)
    given = record["parameterization"]
    (first, row), (second, other) = given["rates"].items()
    for rows in ([row, [row[1], f"2*({other[1]})"]], [row, ["0", other[1]]], [other, row]):
        forged = {**given, "rates": {first: rows[0], second: rows[1]}}
        assert_rejected({**record, "parameterization": forged})
    assert "G^-1" in d.to_text()
    assert "the matrix with the rows $(" in d.to_latex()
    assert (
        derive_once(eval(repr(p), {"Parameterization": Parameterization})).to_json() == d.to_json()
    )


def test_the_rate_of_an_array_is_that_of_its_entries():
    p = parse(["W*T(W)"], arrays={"W": (2, 2)}, rates={"W": "2", "W12": "3"})
    assert [str(x.value) for x in p.rates] == ["2", "3", "2", "2"]


@pytest.mark.parametrize("given", [{"rates": {"W": "W"}}, {"mirror": "W**2 + W11**2"}])
def test_a_rate_is_no_function_of_a_whole_array(given):
    """W is no weight: as a constant of that name it would be another flow than was meant."""
    with pytest.raises(InputError, match="W is an array: name its entries, W11, W12"):
        parse(["W*T(W)"], arrays={"W": (2, 2)}, **given)
    texts = {"rates": "W=W"} if "rates" in given else given
    with pytest.raises(InputError, match="W is an array"):
        TypedModel(("W*T(W)",), matrix="W:2x2", **texts).read()


def constant(*rates):
    """Return G^-1 = diag(rates)."""
    return Geometry(tuple(Number(Fraction(rate)) for rate in rates))


def with_rates(outputs, **rates):
    p = Parameterization.parse(outputs)
    return p.with_(geometry=constant(*(rates.get(name, 1) for name in p.weights)))


def rescaled(p, roots):
    """Return F in v_k = w_k/root_k."""
    outputs = [to_text(tree) for tree in p.trees]
    for name, root in zip(p.weights, roots, strict=True):
        outputs = [text.replace(name, f"({root}*{name})") for text in outputs]
    return Parameterization.parse(outputs)


def test_rates_may_take_the_warp_away():
    product = ["a*c - b*d", "a*d + b*c"]
    d = derive_once(with_rates(product, a=4))
    assert d.hessian.verdict is Verdict.REFUTED
    assert d.warping.verdict is Verdict.REFUTED
    assert derive_once(with_rates(product)).warping.verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("outputs", "roots"),
    [
        (["a*u1", "a*u2"], (2, 3, 3)),
        (["a*u1", "a*u2"], (2, 3, 5)),
        (["p**2 - m**2"], (2, 3)),
        (["u*v - x*y"], (1, 2, 3, 5)),
        (["x + y", "x - y"], (2, 3)),
        (["a*b*u1", "a*b*u2"], (2, 3, 5, 5)),
        (["a*c - b*d", "a*d + b*c"], (2, 1, 3, 1)),
    ],
)
def test_rates_decide_as_the_euclidean_flow_of_the_rescaled_weights(outputs, roots, monkeypatch):
    monkeypatch.setattr(hessian, "LARGE", 0)  # the conditions at one start as well
    p = Parameterization.parse(outputs)
    p = p.with_(geometry=constant(*(r * r for r in roots)))
    q = rescaled(p, roots)
    ours, theirs = (find_metric(find_conserved(find_lie_structure(x))) for x in (p, q))
    v = [w / r for w, r in zip(p.w, roots, strict=True)]
    assert tuple(tuple(k.compose(v, p.field) for k in row) for row in theirs.K) == ours.K
    assert len(ours.conserved.laws) == len(theirs.conserved.laws)
    pulled = [law.compose(v, p.field) for law in theirs.conserved.laws]
    assert all(along(x, law).is_zero() for x in p.fields for law in pulled)
    hessians = decide_hessian(ours), decide_hessian(theirs)
    assert hessians[0].verdict is hessians[1].verdict
    assert decide_warp(hessians[0]).verdict is decide_warp(hessians[1]).verdict


def test_the_metric_is_an_ingredient_like_the_others():
    p = with_rates(["a*u1", "b*v1"], a=5)
    assert p != p.with_(geometry=EUCLIDEAN)
    assert pickle.loads(pickle.dumps(p)) == p
    assert p.restrict((1,)).geometry == constant(1, 1)
    assert p.restrict((0,)).geometry == constant(5, 1)
    assert EUCLIDEAN.statement == "w' = -J^T X^T r"
