"""Pairs of simple outputs: all are decided, and nearly every Q that exists has a short form."""

from collections import Counter
from itertools import combinations

import pytest
import sympy

from derive import Verdict
from derive.model.notation import log_expr
from derive.weights.adjoin import logarithmic_law
from numerics import crosscheck
from tests.published import derive_once

OUTPUTS = (
    "a",
    "b**2",
    "a*b",
    "a*c",
    "b*c",
    "a*b*c",
    "a**2*b",
    "a*b**2",
    "a**2 + b**2",
    "a**2 - b**2",
    "a + b",
    "a*b + c",
    "a**2 + b*c",
    "a**2 + b**2 + c**2",
    "a*b + b*c",
    "a**2 + c",
    "a + b + c",
)
"""17 outputs, 136 pairs."""


def derived(*outputs):
    return derive_once(list(outputs))


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("outputs", "warp", "Q"),
    [
        (("a", "a**2 + b**2"), "1/b", "-sqrt(beta2 - beta1**2)"),
        (("a", "a**2 + c"), "exp(-2*c)", "exp(2*beta1**2 - 2*beta2)/4"),
        (("a", "a**2 + 2*b**2"), "1/sqrt(b)", "-4*((beta2 - beta1**2)/2)**(3/4)/3"),
    ],
)
def test_a_warp_with_poles_or_roots(outputs, warp, Q):
    d = derived(*outputs)
    assert str(d.warping.g) == warp
    assert d.potential.kind == "explicit"
    table = {s.name: s for s in d.potential.Q.free_symbols}
    rest = sympy.simplify(d.potential.Q - sympy.sympify(Q, locals=table))
    assert all(sympy.simplify(rest.diff(table[b], 2)) == 0 for b in ("beta1", "beta2"))
    assert crosscheck(d, digits=15).passed


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("outputs", "start", "kind"),
    [
        (("a*b", "a**2 + b**2 + c**2"), {}, "explicit"),
        (("a", "a**2 + b*c"), {}, "explicit"),
        # The leading coefficient of a root is conserved.
        (("a**2 + b*c", "a**2 + b**2 + c**2"), {"a": "1", "b": "2", "c": "1"}, "algebraic"),
        (("a*c", "a*b**2"), {}, "algebraic"),
    ],
)
def test_laws_of_degree_zero_and_factors_as_roots(outputs, start, kind):
    d = derive_once(list(outputs), start)
    assert d.potential.kind == kind
    assert crosscheck(d, digits=20 if start else 15).passed


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("outputs", "left"),
    [
        (("a*b*c", "a**2 + b**2 + c**2"), "dual"),
        (("sqrt(a**2 + b**2)", "a*b"), "dual"),
        (("(exp(b))*((b + b*a**2))",), "law"),
        (("a**2*b/sqrt(a**2 + b**2)",), "root"),
    ],
)
def test_an_integral_says_why_it_is_left(outputs, left):
    d = derived(*outputs)
    (piece,), text = d.potential.pieces, " ".join(d.to_text().split())
    assert piece.integrand.left == left
    assert "an integral is left: " in text
    assert d.warping.g is not None
    assert "y - y(w_0)" not in text


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "outputs",
    [("a**2 + b**2", "a*b + c"), ("a + b", "a*b + c"), ("a**2 + b*c", "a**2 + b**2 + c**2")],
)
def test_q_is_written_in_the_weights_where_these_are_not_written_in_beta(outputs):
    d = derived(*outputs)
    assert (d.potential.kind, d.potential.pieces[0].in_weights) == ("parametric", "the weights")
    assert "an integral is left" not in " ".join(d.to_text().split())
    assert "y - y(w_0)" in " ".join(d.to_text().split())


def test_a_law_with_logarithms_is_told_from_an_open_branch():
    law = logarithmic_law(derived("a**2 + c").blocks[0].conserved)
    a, c = sympy.symbols("a c", positive=True)
    assert law is not None
    written = log_expr(law, {"a": a, "c": c})
    assert sympy.simplify(2 * a * written.diff(a) + written.diff(c)) == 0
    assert written.has(sympy.log)


@pytest.mark.slow
def test_all_pairs_are_decided(capsys):
    """Run with -s to see the table."""
    kinds = Counter()
    left = Counter()
    for outputs in combinations(OUTPUTS, 2):
        d = derived(*outputs)
        assert d.warping.verdict is not Verdict.UNDECIDED, outputs
        if d.warping.verdict is Verdict.PROVED:
            assert d.warping.g is not None, outputs
            assert crosscheck(d, digits=12).passed, outputs
        warped = d.hessian.verdict is Verdict.REFUTED and d.warping.verdict is Verdict.PROVED
        kinds["decided"] += 1
        kinds["with a warp"] += warped
        kinds[str(d.potential.kind)] += 1
        for piece in d.potential.pieces:
            if piece.integrand is not None:
                left[piece.integrand.left] += 1
    with capsys.disabled():
        print("", *(f"{n:4d} {what}" for what, n in (kinds + left).items()), sep="\n")
    assert kinds["decided"] == 136
    assert kinds["with a warp"] == 34
    assert kinds["quadrature"] <= 12
