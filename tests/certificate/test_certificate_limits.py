"""Records of regimes: what is certified of limits, and changes that are refused."""

from __future__ import annotations

import functools
import json

import pytest
from flint import fmpq

from derive import Parameterization, derive
from derive.certificate.checking.check import NotACertificate, Rejected, check, check_text
from derive.certificate.checking.further.near import Near, coefficient
from derive.regimes.find import regimes
from tests.certificate.certificates import entries, replaced, variants

MODELS = {
    "a tied pair": (["p**2 - m**2"], {"p": "alpha", "m": "alpha"}),
    "a product": (["u*v"], {"u": "alpha", "v": "alpha"}),
    "depth three": (["p**3 - m**3"], {"p": "alpha", "m": "alpha"}),
    "a neuron": (["a*u1", "a*u2"], {"a": "alpha", "u1": "0", "u2": "0"}),
    "reflected": (["u*v"], {"u": "alpha", "v": "-alpha"}),
}
CHANGED = ("a tied pair", "a product", "depth three")


@functools.cache
def written(name):
    outputs, start = MODELS[name]
    p = Parameterization.parse(outputs, start, ["alpha"])
    return regimes(derive(p), "alpha").to_json()


@pytest.mark.parametrize("name", MODELS)
def test_limits_are_certified(name):
    report = check_text(written(name))
    assert report.verdict == "PROVED"
    assert {*report.open} <= {"the warped time"}
    assert len([line for line in report.theorem if " regime, N = " in line]) == 2


def test_a_start_that_is_not_scaled_as_a_whole_is_certified_up_to_a_sign():
    p = Parameterization.parse(["u*v"], {"u": "alpha", "v": "1"}, ["alpha"])
    found = check_text(regimes(derive(p), "alpha").to_json())
    assert "alpha -> infinity, kernel regime, N = alpha**(-2):" in found.theorem
    assert [*found.open] == ["the limit alpha -> 0+"]  # the derivation is read at alpha > 1


def test_a_gradient_on_the_other_side_is_named_where_there_is_no_q():
    p = Parameterization.parse(["sinh(w)"], {"w": "alpha"}, ["alpha"])
    record = json.loads(regimes(derive(p), "alpha", ["1+"]).to_json())
    assert any(line.endswith("where beta > 0") for line in check(record).theorem)
    other = replaced(record, ("limits", 0, "gradient_below_0"), ["7"])
    named = "the gradient below 0 of the limit alpha -> 1+"
    assert {*check(other).open} - {*check(record).open} == {named}


def test_what_rests_on_an_integral_is_named():
    p = Parameterization.parse(["u**2*v"], {"u": "alpha*u_0", "v": "alpha*v_0"}, ["alpha"])
    record = json.loads(regimes(derive(p), "alpha").to_json())
    small, large = record["limits"]
    assert large["gradient_below_0"] is None
    assert small["gradient"] == ["Integral(1/K(b), b = u_0**2*v_0 .. oo)"]
    assert small["gradient_below_0"] == ["Integral(1/K(b), b = u_0**2*v_0 .. -oo)"]
    assert {*check(record).open} == {"Q of beta", "the limit alpha -> 0+"}


def test_the_theorem_is_printed():
    lines = check_text(written("a product")).theorem
    at = lines.index("alpha -> 0+, rich regime, N = log(1/alpha):")
    assert lines[at + 1] == "Q/N -> Abs(beta) where beta > 0"
    assert "relative error: of order 1/log(1/alpha)" in lines


SKIPPED = ("derivation", "certificate", "warped_time", "decided_by_kernel_at_start")


def same(path, other):
    """Tell whether a change says the same: -0, and orders that differ by a factor."""
    return other == "-(0)" or (path[-1] == "relative_error" and other.startswith("2/"))


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGED)
def test_a_change_of_one_field_is_refused(name):
    record = json.loads(written(name))
    names = ["alpha", "beta", *record["derivation"]["parameterization"]["weights"]]
    for path, text in entries(record):
        for other in variants(text, names) if path[0] not in SKIPPED else ():
            if same(path, other):
                continue
            with pytest.raises((Rejected, NotACertificate)):
                print(path, text, other, check(replaced(record, path, other)).verdict)


RICH, KERNEL = ("limits", 0), ("limits", 1)
PROOF = ("certificate", "limits", 0)
CHANGES = {
    "another limit": [(*RICH, "Q"), "Abs(beta)"],
    "another gradient": [(*RICH, "gradient"), ["1/3"]],
    "another gradient below 0": [(*RICH, "gradient_below_0"), ["-1/3"]],
    "a gradient below 0 where the formula is one": [(*KERNEL, "gradient_below_0"), ["x"]],
    "another N": [(*RICH, "unit"), "1/alpha"],
    "N with another sign": [(*KERNEL, "unit"), "-alpha**(-2)"],
    "one side of beta": [(*RICH, "reached_above_0_only"), ["beta"]],
    "another regime": [(*RICH, "regime"), "kernel"],
    "another shape": [(*RICH, "shape"), "power"],
    "another degree": [(*RICH, "degree"), "2"],
    "no degree": [(*RICH, "degree"), None],
    "a smaller error": [(*RICH, "relative_error"), "alpha"],
    "a larger error that is sharp": [(*KERNEL, "relative_error"), "alpha**(-3)"],
    "the other end": [(*RICH, "limit"), "alpha -> infinity"],
    "a limit in another symbol": [(*RICH, "limit"), "beta -> 0+"],
    "other coordinates": [(*RICH, "origin"), ["1"]],
    "reflected": [(*RICH, "basis"), [["-1"]]],
    "a condition": [(*RICH, "given"), ["alpha > 1"]],
    "a limit of nothing": [(*RICH, "verdict"), "UNDECIDED"],
    "K at the start": [("kernel_at_start",), [["7*alpha**2"]]],
    "beta at the start": [("beta_0",), ["1"]],
    "a biased start": [("unbiased",), False],
    "another degree of F": [("homogeneity", "degree"), "3"],
    "another time": [("homogeneity", "time_exponent"), "3"],
    "no assumptions": [("assumptions",), []],
    "another F": [("outputs",), ["p**2 + m**2"]],
    "another start": [("start", "m"), "2*alpha"],
    "another verdict": [("verdict",), "UNDECIDED"],
    "more keys": [(*RICH, "reason"), "by inspection"],
    "a derivation without proof": [("derivation", "certificate", "pieces"), [None]],
    "an old derivation": [("derivation", "version"), 1],
    "another Q": [("derivation", "potential", "pieces", 0, "gradient"), ["beta"]],
    "a false remainder": [(*PROOF, "sides", 0, "definitions", -1, "to"), "7"],
    "one side alone": [(*PROOF, "sides"), []],
    "signs at another place": [(*PROOF, "sides", 0, "at", "beta"), "3"],
    "an expansion of no call": [(*PROOF, "sides", 0, "definitions", -1, "expand"), "_e"],
    "an error that may be sharp": [(*RICH, "error_is_sharp"), "perhaps"],
    "a limit that names e": [(*RICH, "gradient"), ["1/2 + _e"]],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_false_limit_is_refused(change):
    record = json.loads(written("a tied pair"))
    with pytest.raises((Rejected, NotACertificate)):
        check(replaced(record, *change))


COVARIANCE = ("certificate", "limits", 1)
SHIFTS = {
    "another exponent": [(*COVARIANCE, "exponent"), "2"],
    "a better order": [(*COVARIANCE, "order"), 2],
    "another centre": [(*KERNEL, "origin"), ["alpha"]],
    "another limit": [(*KERNEL, "Q"), "x**2/2"],
    "towards 0": [(*KERNEL, "limit"), "alpha -> 0+"],
    "a side that Q may reach": [(*RICH, "reached_above_0_only"), []],
}


@pytest.mark.parametrize("change", SHIFTS.values(), ids=SHIFTS)
def test_a_false_covariance_is_refused(change):
    record = json.loads(written("a product"))
    with pytest.raises((Rejected, NotACertificate)):
        check(replaced(record, *change))


def test_a_limit_without_proof_is_named():
    record = json.loads(written("a tied pair"))
    report = check(replaced(record, (*PROOF,), None))
    assert report.verdict == "PROVED in part"
    assert report.open == ["the limit alpha -> 0+"]


def test_limits_of_a_model_without_proof_are_not_certified():
    p = Parameterization.parse(["exp(u) + exp(v)"], {"u": "alpha", "v": "alpha"}, ["alpha"])
    report = check_text(regimes(derive(p), "alpha", ["oo"]).to_json())
    assert report.verdict == "UNDECIDED"
    assert "the limit alpha -> infinity" in report.open


def near():
    space = Near(["x"], [], 3)
    space.at([fmpq(3)])
    return space


ROOT = {"name": "f", "of": "sqrt(x**2 + _e)"}
EXPANDED = {"expand": "f", "by": "root", "rest": "z", "is": "x + _e*z", "to": "1/(2*x)"}


def test_a_root_is_expanded():
    space = near()
    space.define(ROOT)
    space.expand(EXPANDED, {})
    f = space.read("(f - x)/_e")
    assert (space.limit(f) - space.read("1/(2*x)")).is_zero()


@pytest.mark.parametrize(
    "change",
    [{"is": "-x + _e*z", "to": "-1/(2*x)"}, {"to": "1/x"}, {"is": "x + _e**2*z"}, {"to": "_e"}],
)
def test_a_false_expansion_is_refused(change):
    space = near()
    space.define(ROOT)
    with pytest.raises(Rejected):
        space.expand({**EXPANDED, **change}, {})


def test_a_function_without_a_limit_is_refused():
    space = near()
    for text in ("1/_e", "_l/_e", "1/_l", "x/(_e*_l)"):
        with pytest.raises(Rejected, match="no limit"):
            space.limit(space.read(text))
    assert space.limit(space.read("_e/_l**9")).is_zero()


@pytest.mark.parametrize(
    ("kind", "series"),
    [
        ("exp", ["1", "1", "1/2", "1/6"]),
        ("log", ["0", "1", "-1/2", "1/3"]),
        ("atan", ["0", "1", "0", "-1/3", "0", "1/5"]),
        ("asinh", ["0", "1", "0", "-1/6", "0", "3/40", "0", "-5/112"]),
        ("sin", ["0", "1", "0", "-1/6"]),
        ("cos", ["1", "0", "-1/2", "0"]),
    ],
)
def test_power_series(kind, series):
    assert [str(coefficient(kind, n)) for n in range(len(series))] == series


def test_rates_that_do_not_scale_have_no_covariance():
    rates = {"w": "1/(1 + w**2)"}
    p = Parameterization.parse(["w**2"], {"w": "alpha"}, ["alpha"], rates=rates)
    record = json.loads(regimes(derive(p), "alpha").to_json())
    record["homogeneity"] = {"degree": "2", "time_exponent": "2"}
    kept = {k: v for k, v in record["limits"][1].items() if k not in ("reason", "evidence")}
    record["limits"][1] = {**kept, "unit": "1 + 1/alpha**2"}  # N K G = g x at the start
    record["certificate"]["limits"][1] = {"exponent": "1", "definitions": [], "order": 1}
    with pytest.raises(Rejected, match="the fields do not scale"):
        check(record)


def test_calls_that_the_start_alone_has_find_room():
    """K(w_0) of a softplus has exp(2*alpha), which is no call of its derivation."""
    model = Parameterization.parse(["log(1 + exp(w))"], {"w": "alpha"}, ["alpha"])
    record = json.loads(regimes(derive(model), "alpha", ["oo"]).to_json())
    assert check(record).open[-2:] == ["K, and beta, at the start", "the limit alpha -> infinity"]
    calls = [{"name": f"k_{n}", "of": f"exp({n} * alpha)"} for n in range(2, 9)]
    with pytest.raises(Rejected, match="K at the start is another"):
        check(replaced(record, ("certificate", "definitions"), calls))
