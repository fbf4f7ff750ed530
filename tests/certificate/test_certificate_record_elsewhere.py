"""Records true at the start in numbers alone: the theorem says where it holds, or is refused."""

import functools
import json

import pytest

from derive.certificate.checking.check import Rejected, check_text
from tests.published import certified_once


@functools.cache
def text_of(*outputs, vectors=(), start=()):
    return certified_once(outputs, dict(start), vectors=vectors)


def said(record):
    return "\n".join(check_text(json.dumps(record)).theorem)


def form(record, q, gradient, assumptions, definitions):
    piece = record["potential"]["pieces"][0]
    piece.update(Q=q, gradient=gradient, assumptions=assumptions)
    record["certificate"]["pieces"][0]["definitions"] += definitions


def test_a_form_ends_where_what_is_under_a_root_vanishes():
    record = json.loads(text_of("w"))
    assert "as long as" not in said(record)
    roots = [{"of": "sqrt(beta**2)", "is": "w"}, {"of": "sqrt(w_0**2)", "is": "w_0"}]
    other = ["sqrt(beta**2)*beta/2 - beta*w_0", ["sqrt(beta**2) - w_0"], ["w_0 > 0"], roots]
    form(record, *other)
    assert "as long as along the flow w != 0" in said(record)


def test_a_form_ends_where_it_divides_by_zero():
    record = json.loads(text_of("w"))
    jump = "(atan(beta) + atan(1/beta) - atan(w_0) - atan(1/w_0))"
    calls = ["atan(w)", "atan(1/w)", "atan(w_0)", "atan(1/w_0)"]
    names = [{"name": f"e{n}", "of": call} for n, call in enumerate(calls)]
    q = f"beta**2/2 - beta*w_0 + beta*{jump}"
    form(record, q, [f"beta - w_0 + {jump}"], ["w_0 != 0"], names)
    assert "as long as along the flow w != 0" in said(record)


def test_a_weight_that_keeps_its_sign_has_one_at_the_start():
    record = json.loads(text_of("w**2/2 + w**3/3"))
    y = "log(Abs(A/(A + 1))) - log(Abs(w_0/(w_0 + 1)))"
    root = {"symbol": "A", "polynomial": "A**3/3 + A**2/2 - beta", "explicit": None}
    root["branch"] = "the largest real root"
    logs = ["log(Abs(w/(w + 1)))", "log(Abs(w_0/(w_0 + 1)))"]
    names = [{"name": f"l{n}", "of": call} for n, call in enumerate(logs)]
    part = {"definitions": [{"name": "A", "is": "w"}], "slopes": {}, "domain": None}
    record["certificate"]["pieces"] = [part]
    kept = ["w_0 != 0", "w_0 + 1 != 0", "w keeps its sign along the flow"]
    form(record, None, [y], kept, names)
    record["potential"]["pieces"][0].update(kind="algebraic", roots=[root], curve=None)
    record["potential"]["kind"] = "algebraic"
    with pytest.raises(Rejected, match="not stated: w_0 > 0"):
        said(record)


def test_a_root_in_the_metric_is_taken_at_starts_of_its_sign():
    record = json.loads(text_of("w**2", "w + u"))
    K = [["4*beta1", "2*sqrt(beta1)"], ["2*sqrt(beta1)", "2"]]
    rho = [["1/(2*beta1)", "-1/(2*sqrt(beta1))"], ["-1/(2*sqrt(beta1))", "1"]]
    record["metric"] |= {"kernel": K, "rho": rho}
    record["certificate"]["metric"]["definitions"] = [{"of": "sqrt(beta1)", "is": "w"}]
    assert "assumed: w_0 > 0" in said(record)


def test_a_relation_holds_where_its_coefficient_is_not_zero():
    record = json.loads(text_of("a*u1", "a*u2"))
    law = "a_0**2 - u1_0**2 - u2_0**2"
    piece, none = record["potential"]["pieces"][0], f"(sqrt(({law})**2) + delta)"
    piece["Q"] += f" + {none}*(beta2 - a_0*u2_0)**2"
    piece["gradient"][1] += f" + 2*{none}*(beta2 - a_0*u2_0)"
    piece["assumptions"].append(f"{law} != 0")
    zero = {"zero": f"(r - ({law}))*(a**2 - u1**2 - u2**2 + r)", "main": "a"}
    root = {"name": "r", "of": f"sqrt(({law})**2)"}
    record["certificate"]["pieces"][0]["definitions"] += [root, zero]
    assert f"{law} < 0" in said(record)


def test_dual_coordinates_are_those_of_starts_of_their_sign():
    record = json.loads(text_of("w"))
    record["warping"]["dual_coordinates"][0]["y"][0]["rational"] = "sqrt(w**2)"
    part = {"definitions": [{"of": "sqrt(w**2)", "is": "w"}]}
    record["certificate"]["dual"] = [part]
    assert "assumed: w_0 > 0" in said(record)


def test_laws_are_those_of_starts_of_their_sign():
    record = json.loads(text_of("u*v"))
    record["conserved"].update(laws=["u*sqrt(u**2) - v**2"], values_at_start=["u_0**2 - v_0**2"])
    roots = [{"of": "sqrt(u**2)", "is": "u"}]
    record["certificate"]["conserved"]["definitions"] += roots
    assert "u_0 > 0" in said(record)


def test_what_a_domain_takes_not_to_be_zero_is_a_condition():
    record = json.loads(text_of("w"))
    record["potential"]["pieces"][0]["domain"]["unless_zero"] = ["w_0"]
    report = check_text(json.dumps(record))
    assert report.open == ()
    assert "assumed: w_0 != 0" in report.theorem
