"""Records true at the start in numbers alone: the theorem says where it holds, or is refused."""

import functools
import json

import pytest

from derive.certificate.checking.check import NotACertificate, Rejected, check_text
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


def condition_of_the_proof(record):
    record["potential"]["pieces"][0]["assumptions"].append("zz > 0")
    zz = {"name": "zz", "is": "a_0"}
    record["certificate"]["pieces"][0]["definitions"].append(zz)


def name_of_another_output(record):
    aid = {"name": "beta2", "is": "a"}
    record["certificate"]["pieces"][0]["definitions"].append(aid)


def more_of_a_function(record):
    record["warping"]["dual_coordinates"][0]["y"][0]["unit"] = "7"


def a_number_for_an_output(record):
    record["parameterization"]["beta"] = ["1", "2"]


def interval_of_the_other_side(record):
    record["potential"]["pieces"][0]["curve"]["interval"].reverse()


def another_vector_model(record):
    record["parameterization"]["outputs"] = ["a**2*u"]


def kernel_of_the_weights_left(record):
    record["certificate"]["dual"] = record["certificate"]["pieces"] = [None]
    table = record["metric"]
    for name in ("kernel", "kernel_in_weights"):
        table[name] = [[f"2*({x})" for x in row] for row in table[name]]
    table["rho"] = [[f"({x})/2" for x in row] for row in table["rho"]]


def kernel_on_one_leaf(record):
    """K as it is where b^2 = a^2 + 3: true there, while it is said of all weights."""
    leaf = "b**2 - a**2 - 3"
    record["certificate"]["metric"]["definitions"].insert(0, {"zero": leaf, "main": "a"})
    table = record["metric"]["kernel_in_weights"]
    table[0][0] = f"{table[0][0]} + b**2*({leaf})"


NEURON = (("a*u1", "a*u2"), (), ())
DEEP = (("a", 1), ("b", 2), ("u1", 1), ("u2", 0))
BALANCED = (("a", 1), ("b", 1), ("u1", 1), ("u2", 0), ("v1", 1), ("v2", 0))


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("forge", "model"),
    [
        (condition_of_the_proof, NEURON),
        (name_of_another_output, NEURON),
        (more_of_a_function, NEURON),
        (a_number_for_an_output, NEURON),
        (interval_of_the_other_side, (("u**3 - v**3",), (), ())),
        (another_vector_model, (("a*u",), ("u",), ())),
        (kernel_on_one_leaf, (("a*b*u1", "a*b*u2"), (), DEEP)),
        (kernel_of_the_weights_left, (("a*u1 + b*v1", "a*u2 + b*v2"), (), BALANCED)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_is_said_besides_is_checked(forge, model):
    outputs, vectors, start = model
    record = json.loads(text_of(*outputs, vectors=vectors, start=start))
    assert check_text(json.dumps(record)).open == ()
    forge(record)
    with pytest.raises((Rejected, NotACertificate)):
        said(record)


def test_what_a_domain_takes_not_to_be_zero_is_a_condition():
    record = json.loads(text_of("w"))
    record["potential"]["pieces"][0]["domain"]["unless_zero"] = ["w_0"]
    report = check_text(json.dumps(record))
    assert report.open == ()
    assert "assumed: w_0 != 0" in report.theorem
