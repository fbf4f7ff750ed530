"""Q through another coordinate of the leaf than beta: an exponential of it, a tangent, a weight."""

import pytest
import sympy

from derive import InputError
from derive.certificate.checking.check import check
from derive.exact.named_integrals import Li2
from tests.certificate.certificates import assert_rejected
from tests.published import derive_once, record_once

CLOSED = {
    "log(w)": "exp(2*beta)/4 - beta*w_0**2/2",
    "3*log(2*w + 1)": "exp(2*beta/3)/16 - beta*(2*w_0 + 1)**2/24",
    "log(u**2 + v**2)": "exp(beta)/4 - beta*(u_0**2 + v_0**2)/4",
    "log(p) - log(m) + 1": "(p_0**2 + m_0**2)*log(1 + exp(2*beta - 2))/4 - beta*p_0**2/2",
    "asinh(w)": "beta**2/4 + cosh(2*beta)/8 - beta*(w_0*sqrt(1 + w_0**2) + asinh(w_0))/2",
}
DILOGARITHMS = "softplus(w)", "log(1 + w**2)", "log(cosh(w))"


def of(text):
    names = ("beta", "w_0", "u_0", "v_0", "p_0", "m_0")
    reals = {name: sympy.Symbol(name, real=True) for name in names}
    return sympy.sympify(text, locals=reals)


@pytest.mark.every(3)
@pytest.mark.parametrize("text", CLOSED)
def test_q_is_closed_and_as_a_theorist_would_write_it(text):
    (piece,) = derive_once(text).potential.pieces
    difference = (of(str(piece.value)) - of(CLOSED[text])).rewrite(sympy.exp)
    assert sympy.simplify(sympy.expand(difference, force=True)).diff(of("beta")) == 0
    assert piece.kind == "explicit"
    assert piece.domain.where == "all real $beta$"


@pytest.mark.every(2)
@pytest.mark.parametrize("text", DILOGARITHMS)
def test_the_gradient_is_closed_where_q_is_a_dilogarithm(text):
    (piece,) = derive_once(text).potential.pieces
    assert piece.kind == "explicit"
    assert piece.value.has(Li2)

    assert piece.domain.where == "`beta > 0`"
    assert piece.domain.exact


@pytest.mark.every(2)
@pytest.mark.parametrize("text", ["log(w)", "asinh(w)", "softplus(w)"])
def test_all_is_certified_and_another_gradient_is_not(text):
    record = record_once(text)
    assert not check(record).open
    piece = record["potential"]["pieces"][0]
    piece["gradient"] = [f"{piece['gradient'][0]} + exp(beta) - exp(beta_0)"]
    assert_rejected(record)


@pytest.mark.every(4)
@pytest.mark.parametrize("text", ["log(u*v)", "w + exp(w)", "2*log(p) - log(m)", "atan(w)"])
def test_other_outputs_are_left_to_other_roads(text):
    (piece,) = derive_once(text).potential.pieces
    assert not any(
        slope.has(sympy.exp(sympy.Symbol("beta", real=True))) for slope in piece.gradient
    )


@pytest.mark.parametrize("text", ["log(-1 - w**2)", "log(w) + log(-w)", "sqrt(-1 - w**2)"])
def test_what_is_defined_nowhere_is_refused(text):
    with pytest.raises(InputError, match="F is defined nowhere"):
        derive_once(text)


def test_a_domain_without_the_zero_of_its_kernel_is_refused():
    """K = beta^2 of exp(w), written as (sqrt(beta^2 + 1) - 1)(sqrt(beta^2 + 1) + 1), is 0 at 0."""
    record = record_once("exp(w)")
    piece, proof = record["potential"]["pieces"][0], record["certificate"]["pieces"][0]
    root = "sqrt(beta**2 + 1)"
    log = f"log({root} + 1)"
    piece["kernel"] = f"({root} - 1)*exp({log})"
    proof["definitions"] = [
        {"name": "g1", "of": root},
        {"name": "g2", "of": log},
        {"of": f"exp({log})", "is": "g1 + 1", "from": [[log, "1"]]},
        *proof["definitions"],
    ]
    calls = (root, log, f"exp({log})")
    proof["domain"] = [{"name": f"h{n}", "of": call} for n, call in enumerate(calls)]
    assert not check(record).open
    piece["domain"]["walls"] = []
    assert_rejected(record, "of all beta there it is not shown")
