"""Closed forms of coupled outputs, each as a theorist writes it, confirmed by flows of the weights.

The Hessian of Q is compared with that of the form written down, up to a positive factor, at
points of the simplex; the flow of a start in numbers ends where Q is least. Where the weights
are not written in beta, Q is one in these.
"""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
import sympy

from derive import NumericalError, Verdict
from derive.certificate.checking.check import check
from derive.components import in_components
from derive.model.notation import log_expr
from derive.weights.adjoin import logarithmic_law
from numerics import crosscheck
from tests.certificate.certificates import assert_rejected
from tests.published import derive_once, record_once
from tests.witnesses.flows import Flows

WEIGHTS = ("a", "b", "c", "d")


def normalized(f, n):
    """Return the first n - 1 of f(v_i)/sum_j f(v_j)."""
    terms = [f.replace("v", v) for v in WEIGHTS[:n]]
    return [f"{t}/({' + '.join(terms)})" for t in terms[:-1]]


def powers(p):
    """Return v_i^p/sum_j v_j^p with Q = c^(1 - p/2) (sum beta^(2/p))^(p/2)/(p (2 - p)) + linear."""
    b3 = "(1 - beta1 - beta2)"
    root = " + ".join(f"{b}**(2/S({p}))" for b in ("beta1", "beta2", b3))
    c = "(a_0**2 + b_0**2 + c_0**2)"
    return normalized(f"v**{p}", 3), f"{c}**(1 - S({p})/2)*({root})**(S({p})/2)/({p}*(2 - {p}))"


B3 = "(1 - beta1 - beta2)"
LAST = "(1 - beta1 - beta2 - beta3)"
REFERENCE = ["exp(a)/(exp(a) + exp(b) + 1)", "exp(b)/(exp(a) + exp(b) + 1)"]

FORMS = [
    (normalized("exp(v)", 3), f"-3*exp(-(a_0 + b_0 + c_0)/3)*(beta1*beta2*{B3})**(1/S(3))", []),
    (
        normalized("exp(v)", 4),
        f"-4*exp(-(a_0 + b_0 + c_0 + d_0)/4)*(beta1*beta2*beta3*{LAST})**(1/S(4))",
        [],
    ),
    # y_1 = log(beta1 beta2/b^2) - b/beta1, likewise y_2, with b = 1 - beta1 - beta2.
    (
        REFERENCE,
        f"beta1*log(beta1) + beta2*log(beta2) + beta1*log(beta2) + beta2*log(beta1) "
        f"- log(beta1*beta2) + 2*{B3}*log({B3})",
        [],
    ),
    (*powers(1), ["a", "b", "c"]),
    (*powers(3), ["a", "b", "c"]),
    (*powers(5), ["a", "b", "c"]),
    (
        ["x**3 + 3*x*y**2", "3*x**2*y + y**3"],
        "-((beta1 + beta2)**(2/S(3)) + (beta1 - beta2)**(2/S(3)))/4",
        ["x", "y"],
    ),
    (["exp(a) + exp(b)", "exp(a) - exp(b)"], "-log(beta1 + beta2) - log(beta1 - beta2)", []),
    # As many weights as outputs: grad y = g (J^T)^-1 is integrated.
    (["exp(b)", "a + b"], "exp(beta2)/beta1", []),
    (["1/sqrt(a**2 + b**2)", "a"], "(beta1*beta2**2 + 1/beta1)/2", []),
    (["a", "a*sqrt(a**2 + b**2)"], "atanh(beta1**2/beta2)/2", ["a"]),
]
IDS = ["softmax-3", "softmax-4", "reference", "v", "v**3", "v**5", "cubes", "exponentials"]
IDS += ["shifted", "inverse-norm", "times-norm"]


def hessian(Q, point):
    table = {s.name: s for s in Q.free_symbols}
    betas = [table[name] for name in sorted(table) if name.startswith("beta")]
    values = {s: point[s.name] for s in Q.free_symbols}
    return [Q.diff(x, y).subs(values).evalf(30) for x, y in product(betas, betas)]


@pytest.mark.every(6)
@pytest.mark.parametrize(("outputs", "written", "positive"), FORMS, ids=IDS)
def test_the_form_is_the_one_that_one_would_write_and_flows_confirm_it(outputs, written, positive):
    d = derive_once(outputs, positive=positive)
    Q = d.potential.Q
    assert Q is not None
    assert not any(piece.integrand is not None for piece in d.potential.pieces)
    expected = sympy.sympify(written)
    starts = {s: sympy.Rational(k + 2, 3) for k, s in enumerate(d.parameterization.start_symbols)}
    ratios = []
    for inner in ((2, 1, 1), (3, 2, 1), (5, 2, 2)):
        betas = {f"beta{i}": sympy.Rational(n, 10) for i, n in enumerate(inner, 1)}
        pairs = zip(*(hessian(f, {**starts, **betas}) for f in (Q, expected)), strict=True)
        ratios += [x / y for x, y in pairs if abs(y) > 1e-20]
    assert len(ratios) >= 9
    assert all(abs(r - ratios[0]) < 1e-20 for r in ratios)
    assert ratios[0] > 0
    assert crosscheck(d, digits=15).passed


def test_entries_of_K_are_outputs_where_they_are():
    d = derive_once(["x**2 + y**2", "x*y"])
    assert str(d.metric.kernel) == "Matrix([[4*beta1, 4*beta2], [4*beta2, beta1]])"


@pytest.mark.slow
def test_a_rate_that_is_a_parameter_stands_in_the_exponent():
    d = derive_once("g*v/norm(v)", vectors=["v"], rates={"g": "eta"})
    (piece,) = d.potential.pieces
    assert str(piece.gradient[0]) == "exp(s**2/(2*eta*norm_v_0**2))"
    assert crosscheck(in_components(d), digits=15).passed


MODELS = [
    ("exp(s)*w1", "exp(s)*w2"),
    ("b*log(a)", "c*log(a)"),
    ("c/(1 + exp(-b))", "a*c"),
    ("b/(1 + exp(-a))", "c/(1 + exp(-a))"),
]


@pytest.mark.parametrize("outputs", MODELS)
def test_the_formula_is_the_q_that_flows_follow(outputs):
    d = derive_once(outputs)
    assert d.verdict is Verdict.PROVED
    (piece,) = d.potential.pieces
    assert (d.potential.kind, piece.in_weights) == ("parametric", "the weights")
    assert not piece.value.has(sympy.Integral)
    weights = d.parameterization.weights
    first = np.array([1.25, 1.5, 0.75])
    names = dict(zip(d.potential.parameterization.start_symbols, first, strict=True))
    q = d.potential.numeric({x: str(value) for x, value in names.items()})
    flows = Flows.of(d.parameterization, names)
    end, _ = flows.steered([np.array(pull) for pull in ((0.6, -0.4), (0.2, -0.6))], 0.1)[-1]
    beta, origin = flows.F(end), np.array(q.beta0, float)

    def at(expression, w, b):
        values = {**names, **dict(zip(weights, w, strict=True))}
        values |= {x.name: y for x, y in zip(piece.betas, b, strict=True)}
        return float(expression.subs({s: values[s.name] for s in expression.free_symbols}))

    slopes = [at(g, end, beta) for g in piece.gradient]
    assert q.gradient(beta) == pytest.approx(slopes, rel=1e-9)
    assert [at(g, first, origin) for g in piece.gradient] == pytest.approx([0, 0], abs=1e-12)
    rise = at(piece.value, end, beta) - at(piece.value, first, origin)
    assert q(beta) - q(origin) == pytest.approx(rise, rel=1e-8)
    # beta is not where another leaf has it
    assert abs(at(piece.value, end * 1.01, beta) - at(piece.value, end, beta)) > 1e-4


def test_what_is_asked_of_a_formula_in_beta_is_refused():
    d = derive_once(MODELS[0])
    with pytest.raises(NumericalError, match="formula in the weights"):
        d.to_code("numpy")
    with pytest.raises(NumericalError, match="formula in the weights"):
        d.explore()


def test_the_page_says_where_the_weights_are_and_claims_no_formula_in_beta():
    page = derive_once(MODELS[0]).to_latex()
    assert "at the point of the leaf with" in page
    assert "In $\\beta$ this is" not in page


def test_without_the_conjugate_an_integral_is_left():
    d = derive_once(["log(b)", "sqrt(a**2 + b**2)"])
    assert d.potential.kind == "quadrature"
    assert d.potential.pieces[0].in_weights == ""


FORGED = {
    "another Q": {"Q": "beta1*(w1 - w1_0) + beta2*(w2 - w2_0) - 2*exp(s)"},
    "Q in beta alone": {"Q": "beta1*w1 + beta2*w2 - exp(s) + beta1"},
    "another slope": {"gradient": ["w1 - w1_0", "2*(w2 - w2_0)"]},
    "a slope that is not 0 at the start": {"gradient": ["w1", "w2 - w2_0"]},
    "a slope of the other sign": {"gradient": ["w1_0 - w1", "w2_0 - w2"]},
    "a formula in beta": {"kind": "explicit"},
    "a root": {"kind": "algebraic"},
}


def test_it_is_certified():
    record = record_once(MODELS[0])
    report = check(record)
    assert not [line for line in report.open if "Q of" in line]
    assert "these at the weights of the leaf with F(w) = (beta1, beta2)" in report.theorem


@pytest.mark.parametrize("forged", FORGED)
def test_another_form_is_refused(forged):
    record = record_once(MODELS[0])
    record["potential"]["pieces"][0] |= FORGED[forged]
    assert_rejected(record)


def test_a_formula_in_beta_may_not_use_weights():
    record = record_once(["a*u1", "a*u2"])
    piece = record["potential"]["pieces"][0]
    piece["kind"] = "parametric"
    assert_rejected(record, "the form is in beta")
    piece |= {"kind": "explicit", "gradient": ["u1 - u1_0", "u2 - u2_0"]}
    assert_rejected(record, "not fixed by beta")


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
