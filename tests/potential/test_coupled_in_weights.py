"""Q of coupled outputs in the weights, where these are not written in beta."""

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

from derive import NumericalError, Verdict
from derive.certificate.checking.check import check
from tests.certificate.certificates import assert_rejected
from tests.published import derive_once, record_once

MODELS = [
    ("exp(s)*w1", "exp(s)*w2"),
    ("b*log(a)", "c*log(a)"),
    ("c/(1 + exp(-b))", "a*c"),
    ("b/(1 + exp(-a))", "c/(1 + exp(-a))"),
]


def steered(outputs, weights, start, time, pull):
    """Return the weights that w' = J^T pull(t) reaches, by F alone."""
    symbols = sympy.symbols(weights)
    F = [sympy.sympify(x, dict(zip(weights, symbols, strict=True))) for x in outputs]
    J = sympy.lambdify(symbols, sympy.Matrix(F).jacobian(symbols), "numpy")

    def field(t, w):
        return np.array(J(*w), float).T @ pull(t)

    end = solve_ivp(field, (0, time), start, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return end, np.array(sympy.lambdify(symbols, F)(*end), float)


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
    end, beta = steered(
        outputs, weights, first, 0.2, lambda t: np.array([1 + np.sin(9 * t), -0.5 + t])
    )
    origin = np.array(q.beta0, float)

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
