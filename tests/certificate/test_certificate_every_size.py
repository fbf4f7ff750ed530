"""Certificates for every n: accepted as they are written, refused where anything is forged."""

import json

import pytest
from flint import fmpq

from derive import Parameterization
from derive.certificate.checking.check import check_text
from derive.certificate.checking.every_size import EverySize, never_zero
from derive.certificate.checking.text import NotACertificate, Rejected
from tests.certificate.certificates import assert_refused, assert_rejected, replaced
from tests.published import derive_once

MODELS = [
    ("exp(v)/sum(exp(v))", "v"),
    ("v**2/sum(v**2)", "v"),
    ("v**p/sum(v**p)", "v"),
    ("gam*v/norm(v)", "v"),
    ("gam*v**3/norm(v)**3", "v"),
    ("gam*v**3/norm(v)**2", "v"),
    ("gam*v/norm(v)**3", "v"),
    ("gam*v**k/norm(v)**k", "v"),
    ("v**k/norm(v)**k", "v:n-1"),
    ("v/(1 + sum(v))", "v"),
    ("exp(v)/(1 + sum(exp(v)))", "v"),
    ("v/(1 + sum(v**2))", "v"),
    ("exp(v)*(1 + sum(v))", "v"),
    ("exp(v)*exp(sum(v))", "v"),
    ("exp(v)/(1 + sum(v)**2)", "v"),
    ("gam*sqrt(v)/sqrt(norm(v))", "v"),
    ("exp(v)/(1 + sum(exp(v)))", "v:n-1"),
    ("gam*v/norm(v)", "v:n-1"),
    ("v**3*norm(v) + 2*norm(v)*sum(v**3)", "v"),
    ("softplus(v) - sum(softplus(v))/7", "v"),
    ("gam*(v**2 + 2*sum(v**2))", "v"),
]


def record_of(text, each="v", **options):
    return json.loads(derive_once(Parameterization.parse([text], each=[each], **options)).to_json())


@pytest.mark.every(3)
@pytest.mark.parametrize(("text", "each"), MODELS)
def test_what_is_proved_for_every_n_is_certified(text, each):
    record = record_of(text, each)
    assert record["certificate"] is not None, record["certificate_missing"]
    report = check_text(json.dumps(record))
    assert report.verdict == "PROVED"
    assert "the formula of Q" in report.open


def test_rates_are_in_the_theorem():
    record = record_of("gam*v/norm(v)", rates={"v": "2", "gam": "eta"})
    assert "gam has the rate eta" in check_text(json.dumps(record)).theorem
    record["parameterization"]["rates"]["v"] = "3"
    assert_rejected(record, "K_ii is another")
    record["certificate"]["kernel"] = False
    assert_rejected(record, "is not g")


def test_y_n_is_a_law_where_it_is_no_output_and_no_other_entry_is_in_one():
    record = record_of("v/(1 + norm(v))", "v:n-1")
    (law,) = record["laws"]
    assert_rejected({**record, "laws": [law.replace("v_n", "v_i")]}, "conserved|of an output")
    assert_rejected({**record, "laws": [law.replace("v_n", "v_j")]}, "of an output")
    record["parameterization"]["outputs"] = "n"
    assert_rejected(record, "of an output")
    two = record_of("gam*v/norm(v)", "v:n-1")
    two["laws"] = [f"2*{two['laws'][1]}", two["laws"][1]]
    assert_rejected(two, "independent")


def test_an_integral_without_ends_has_the_slope_of_its_integrand():
    text = json.dumps(record_of("exp(v)/(1 + sum(v)**2)"))
    integral = "Integral(2*S1/(S1**2 - 2*S1*n + 1), S1)"
    assert integral in text
    others = (integral.replace("2*S1/", "3*S1/"), integral.replace("1)", "v_i)"))
    for other in (*others, "Integral(3, S1**2)"):
        assert_rejected(json.loads(text.replace(integral, other)))


def test_an_integral_with_one_end_has_no_form_in_certificates():
    space = EverySize(
        *(record_of("gam*v/sum(v)")[key] for key in ("parameterization", "certificate"))
    )
    space.define({"name": "I", "of": "Integral(S1, S1)"})
    assert space.read("2*Integral(S1, S1)").same(2 * space.names["I"])
    with pytest.raises(Rejected, match="two ends here, or none"):
        space.read("2*Integral(S1, S1, s)")


def test_exponentials_are_products_by_sums_of_exponents_alone():
    record = record_of("exp(v)*exp(sum(v))")
    parts = next(x for x in record["certificate"]["definitions"] if "from" in x)["from"]
    parts[0][1] = str(int(parts[0][1]) + 1)
    assert_rejected(record, "is not shown to be")


REFUTED = [
    ("gam*v/sum(v)", "v"),
    ("gam*exp(v)/sum(exp(v))", "v"),
    ("gam*exp(v)/(1 + sum(exp(v)))", "v"),
    ("v**3/prod(v)", "v"),
    ("v**a/sum(v)", "v"),
    ("sinh(v)/norm(v)", "v"),
    ("2 - v*sum(v)", "v"),
    ("v/(1 + sum(v**4))", "v:n-1"),
]


@pytest.mark.every(3)
@pytest.mark.parametrize(("text", "each"), REFUTED)
def test_what_is_refuted_for_every_n_is_certified(text, each):
    record = record_of(text, each)
    assert record["certificate"] is not None, record["certificate_missing"]
    report = check_text(json.dumps(record))
    assert report.verdict == "REFUTED"
    assert f">= {record['size']}, no Q(beta)" in report.theorem[0]


WITHOUT = [
    ("gam*(v + sum(v))", "v"),
    ("v + sum(v)**2", "v"),
    ("exp(v) + gam + sum(exp(v))", "v"),
    ("v + sum(v**2)", "v"),
    ("v + exp(sum(v))", "v:n-1"),
    ("gam*(v - sum(v)/3)", "v"),
]


@pytest.mark.every(2)
@pytest.mark.parametrize(("text", "each"), WITHOUT)
def test_a_q_without_a_formula_is_certified(text, each):
    record = record_of(text, each)
    assert record["certificate"] is not None, record["certificate_missing"]
    report = check_text(json.dumps(record))
    assert report.verdict == "PROVED"
    assert record["Q"] is None
    assert "there are g > 0 and Q(beta)" in " ".join(report.theorem)


@pytest.mark.parametrize("text", ["gam*v + sum(v)", "v**2 + sum(v)**2", "gam*exp(v)/sum(exp(v))"])
def test_no_q_is_accepted_of_what_has_none(text):
    """Whatever is said of H: the brackets are computed from F."""
    record, shown = record_of(text), record_of("gam*(v + sum(v))")
    proof = record["certificate"]
    for key in ("verdict", "size", "conditions", "hessian"):
        record[key] = shown[key]
    record["warping"] = shown["warping"]
    proof["exists"] = shown["certificate"]["exists"]
    del proof["fails"]
    assert_rejected(record, "is not H_i X_j|has another entry")


@pytest.mark.parametrize("text", ["exp(v)/sum(exp(v))", "v/(1 + sum(v))", "gam*v/norm(v)"])
def test_no_refutation_of_what_has_a_q_is_accepted(text):
    """Whatever outputs the equation is of: it holds for every n."""
    refuted, record = record_of("gam*exp(v)/sum(exp(v))"), record_of(text)
    for key in ("verdict", "warping", "laws", "size", "Q"):
        record[key] = refuted[key]
    for of in ([0, 1, 2], [1, 2, 0], [0, 2, 1], [0, 0, 1]):
        sums = record["certificate"]["sums"]
        apart = ["2", "3", "5", "7"][: len(sums)]
        record["certificate"]["fails"] = {"of": of, "apart": apart, "points": {}}
        assert_rejected(record, "fail for large n|is missing|is not shown to fail")


SOFTMAX, SCALED = "exp(v)/sum(exp(v))", "gam*exp(v)/sum(exp(v))"
POWER, AT_THREE = "gam*v**k/norm(v)**k", ("certificate", "fails", "points", "3")
WIDE, LESS = "gam*(v + sum(v))", "gam*(v - sum(v)/3)"
ANOTHER = {"g": "-1/S1", "y_i": "exp(-v_i) - exp(-v_n)"}
FORGERIES = [  # a model, the entries that are changed, and by which rule the record is refused
    (SOFTMAX, {"warping.y_i": "2*exp(-v_n) - exp(-v_i)"}, "F_i> is not g"),
    (SOFTMAX, {"warping.g": "2/S1"}, "is not g"),
    (SOFTMAX, {"warping.g": "exp(v_i)/S1"}, "another for another output"),
    (SOFTMAX, {"warping.y_i": "exp(-v_n) - exp(-v_i) + v_j"}, "another entry in it"),
    (SOFTMAX, {"warping.y_i": "v_n - v_n", "warping.g": "0"}, "g is 0"),
    (SOFTMAX, {f"warping.{key}": text for key, text in ANOTHER.items()}, "g is not positive"),
    (SOFTMAX, {"given.rates": {"u": "2"}}, "a rate is of a weight"),
    (SOFTMAX, {"given.rates": {"v": "0"}}, "a positive constant"),
    (SOFTMAX, {"laws": ["sum(exp(v_k))"]}, "is not conserved"),
    (SOFTMAX, {"laws": []}, "as many dimensions"),
    (SOFTMAX, {"given.output": "exp(v)/sum(exp(v))**2"}, "K_ii is another"),
    (SOFTMAX, {"given.outputs": "n+1"}, "the outputs are others"),
    (SOFTMAX, {"certificate.products.S1*S1": {"S1": "1"}}, "is another"),
    (SOFTMAX, {"certificate.sums.S1": "exp(2*v)"}, "is another"),
    (SOFTMAX, {"certificate.sums.S1": "exp(v)*v_j"}, "of one entry"),
    (SOFTMAX, {"kernel.K_ij": "0"}, "K_ij is another"),
    (SOFTMAX, {"verdict": "REFUTED"}, "proves PROVED"),
    (SOFTMAX, {"size": 1}, "from n = 2 on"),
    (SOFTMAX, {"given.also": "beta_i > 0"}, "missing or unknown"),
    *(
        (POWER, {"given.output": f"gam*v**k/{norm}"}, None)
        for norm in ("norm(v, 3)**k", "sqrt(norm(v), 3)", "norm(v, 3)")
    ),
    (SCALED, {"size": 2}, "no n < 3"),
    (SCALED, {"certificate.fails.apart": ["2", "2", "3"]}, "independent"),
    (SCALED, {"certificate.fails.apart": ["2"]}, "independent"),
    (SCALED, {(*AT_THREE, "v"): ["1", "1", "1"]}, "to fail at n = 3"),
    (SCALED, {(*AT_THREE, "v"): ["1", "2"]}, "other weights"),
    ("v**a/sum(v)", {(*AT_THREE, "a"): "-1"}, "other weights"),
    (SCALED, {"certificate.products.S1*S1": {"S1": "1"}}, "is another"),
    (SCALED, {"given.output": SOFTMAX}, "K_ii is another"),
    (SCALED, {"given.outputs": "n-1"}, "no n < 4"),
    (SCALED, {"verdict": "PROVED"}, "it proves REFUTED"),
    (SCALED, {"warping.g": "1/S1"}, "what there is not"),
    (SCALED, {"kernel.K_ij": "0"}, "K_ij is another"),
    (SCALED, {"certificate.fails.of": [0, 1, 3]}, "three outputs"),
    (WIDE, {"warping.H_i": "2*(S1 + v_i)/gam"}, "H_i is another"),
    (WIDE, {"given.output": "gam*(v + 2*sum(v))"}, "K_ii is another"),
    (WIDE, {"warping.g": "gam"}, "what there is not"),
    (WIDE, {"laws": ["gam"]}, "what there is not"),
    (WIDE, {"verdict": "REFUTED"}, "it proves PROVED"),
    (WIDE, {"certificate.exists.spread.S1*S1": {"1": "2"}}, "the sum of a product"),
    (WIDE, {"certificate.exists.spread.S1*S1": {"1": "v_i/v_i*v_j"}}, "have no entry"),
    (WIDE, {("certificate", "exists", "points", "2", "gam"): "0"}, "at n = 2"),
    (WIDE, {"certificate.exists.apart": ["0", "1"]}, "independent"),
    (WIDE, {"certificate.exists.excluded": ["2"]}, "whole number"),
    (LESS, {"certificate.exists.excluded": []}, "at n = 3|of its own"),
]


@pytest.mark.parametrize(("text", "changes", "words"), FORGERIES)
def test_forgeries_are_refused(text, changes, words):
    forged = record = record_of(text)
    for path, value in changes.items():
        forged = replaced(forged, path, value)
    assert forged != record
    assert_rejected(forged, words)


def test_a_sum_of_itself_is_refused():
    forged = replaced(record_of(SOFTMAX), "certificate.sums.S1", "sum(exp(v))")
    assert_refused(forged, faults=NotACertificate)


@pytest.mark.parametrize(("coefficients", "holds_at"), [([-12, 1, 1], 3), ([-20, 1], 20)])
def test_an_equation_that_holds_at_some_n_is_not_refuted_there(coefficients, holds_at):
    numbers = [fmpq(c) for c in coefficients]
    never_zero(numbers, holds_at + 1)
    with pytest.raises(Rejected, match=f"at n = {holds_at}"):
        never_zero(numbers, holds_at)


def test_an_equation_is_a_polynomial_in_n_beside_numbers():
    record = record_of("gam*v/sum(v)")
    space = EverySize(record["parameterization"], record["certificate"])
    v_i, S1, n = (space.start[space.given.index(x)] for x in ("v_i", "S1", "n"))
    above, below = space.by_size(space.read("((n - 9)*S1 + v_i)/(n + S1)"))
    assert above == [v_i - 9 * S1, S1]
    assert below == [S1, 1]
    assert n == 7
    space.define({"name": "h", "of": "exp(n*v_i)"})
    with pytest.raises(Rejected, match="has the number n in it"):
        [*space.by_size(space.read("h"))]


def test_the_exponential_integral_is_read():
    text = json.dumps(record_of("exp(v**2)/sum(exp(v**2))"))
    check_text(text)
    assert "Ei(" in text
    assert_rejected(text.replace("Ei(", "exp("))
