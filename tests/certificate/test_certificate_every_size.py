"""Certificates for every n: accepted as they are written, refused where anything is forged."""

import json

import pytest

from derive import Parameterization
from derive.certificate.checking.check import check, check_text
from derive.certificate.checking.text import NotACertificate, Rejected
from derive.certificate.writing.products import calls_in
from tests.certificate.certificates import assert_rejected
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
    assert_rejected(record, "is not g")


FORGERIES = [
    ("y_i", ("warping", "y_i"), "2*exp(-v_n) - exp(-v_i)", "F_i> is not g"),
    ("g", ("warping", "g"), "2/S1", "is not g"),
    ("g by the output", ("warping", "g"), "exp(v_i)/S1", "another for another output"),
    ("law", ("laws",), ["sum(exp(v_k))"], "is not conserved"),
    ("no law", ("laws",), [], "as many dimensions"),
    ("output", ("parameterization", "output"), "exp(v)/sum(exp(v))**2", "is not"),
    ("outputs", ("parameterization", "outputs"), "n+1", "the outputs are others"),
    ("product", ("certificate", "products", "S1*S1"), {"S1": "1"}, "is another"),
    ("sum", ("certificate", "sums", "S1"), "exp(2*v)", "is another"),
    ("sum of two entries", ("certificate", "sums", "S1"), "exp(v)*v_j", "of one entry"),
    ("kernel", ("kernel", "K_ij"), "0", "K_ij is another"),
    ("verdict", ("verdict",), "REFUTED", "proves PROVED"),
    ("size", ("size",), 1, "from n = 2 on"),
    ("what is unknown", ("parameterization", "also"), "beta_i > 0", "missing or unknown"),
]


@pytest.mark.parametrize(("what", "path", "value", "words"), FORGERIES)
def test_forgeries_are_refused(what, path, value, words):
    record = part = record_of("exp(v)/sum(exp(v))")
    for key in path[:-1]:
        part = part[key]
    assert part.get(path[-1]) != value
    part[path[-1]] = value
    assert_rejected(record, words)


def test_an_integral_without_ends_has_the_slope_of_its_integrand():
    text = json.dumps(record_of("exp(v)/(1 + sum(v)**2)"))
    integral = "Integral(2*S1/(S1**2 - 2*S1*n + 1), S1)"
    assert integral in text
    others = (integral.replace("2*S1/", "3*S1/"), integral.replace("1)", "v_i)"))
    for other in (*others, "Integral(3, S1**2)"):
        assert_rejected(json.loads(text.replace(integral, other)))


def test_an_integral_with_one_end_has_no_form_in_certificates():
    assert "Integral(S1, S1)" in [*calls_in(["2*Integral(S1, S1)"])]
    with pytest.raises(Rejected, match="two ends here, or none"):
        [*calls_in(["2*Integral(S1, S1, s)"])]


def test_exponentials_are_products_by_sums_of_exponents_alone():
    record = record_of("exp(v)*exp(sum(v))")
    parts = next(x for x in record["certificate"]["definitions"] if "from" in x)["from"]
    parts[0][1] = str(int(parts[0][1]) + 1)
    assert_rejected(record, "is not shown to be")


@pytest.mark.parametrize("norm", ["norm(v, 3)**k", "sqrt(norm(v), 3)", "norm(v, 3)"])
def test_a_norm_is_of_one_function(norm):
    record = record_of("gam*v**k/norm(v)**k")
    record["parameterization"]["output"] = f"gam*v**k/{norm}"
    assert_rejected(record)


def test_a_sum_of_itself_is_refused():
    record = record_of("exp(v)/sum(exp(v))")
    record["certificate"]["sums"]["S1"] = "sum(exp(v))"
    with pytest.raises(NotACertificate):
        check(record)


def test_nothing_is_no_dual_coordinate():
    record = record_of("exp(v)/sum(exp(v))")
    record["warping"] |= {"g": "0", "y_i": "v_n - v_n"}
    assert_rejected(record, "g is 0")


def test_what_no_flow_can_meet_is_no_condition():
    record = record_of("exp(v)/sum(exp(v))")
    record["warping"] |= {"g": "-1/S1", "y_i": "exp(-v_i) - exp(-v_n)"}
    assert_rejected(record, "g is not positive")


def test_a_refutation_has_none_and_says_why():
    record = record_of("gam*v/sum(v)")
    assert record["certificate"] is None
    assert "independent" in record["certificate_missing"]
    with pytest.raises(NotACertificate):
        check_text(json.dumps(record))


def test_the_exponential_integral_is_read():
    text = json.dumps(record_of("exp(v**2)/sum(exp(v**2))"))
    check_text(text)
    assert "Ei(" in text
    assert_rejected(text.replace("Ei(", "exp("))
