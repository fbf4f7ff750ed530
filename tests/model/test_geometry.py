"""Another metric on the weights than the Euclidean one changes every stage through one record.

Constant rates eta, w_k' = -eta_k (J^T X^T r)_k, are gradient flow of F(w(v)) in the rescaled
weights w_k = sqrt(eta_k) v_k; for rates that are squares both sides are exact.
"""

import pickle
from fractions import Fraction

import pytest

from derive import Parameterization, Verdict
from derive.language import Number, to_text
from derive.model.geometry import EUCLIDEAN, Geometry
from derive.weights import hessian
from derive.weights.conserved import along, find_conserved, find_lie_structure
from derive.weights.hessian import decide_hessian, decide_warp
from derive.weights.metric import find_metric
from tests.published import derive_once


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
