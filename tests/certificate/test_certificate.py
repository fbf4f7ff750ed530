"""Every derivation's certificate is accepted, and a changed one only where it stays true."""

import contextlib
import functools
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sympy

from derive import Parameterization, derive
from derive.certificate.checking.check import NotACertificate, Rejected, check, check_text
from derive.certificate.writing import certify
from tests.certificate.certificates import entries, replaced, variants
from tests.published import MODELS

ROOT = Path(__file__).parents[2]
REFUSED = (Rejected, NotACertificate)
BY_NAME = {m.name: m for m in MODELS}


@functools.cache
def derived(name):
    model = BY_NAME[name]
    return derive(Parameterization.parse(model.outputs, model.start, model.positive))


def certified(*outputs, start=None, positive=()):
    d = derive(Parameterization.parse(outputs, start, positive))
    return d, json.loads(json.dumps(certify(d)))


def published(name):
    return json.loads(json.dumps(certify(derived(name))))


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_published_models_are_certified_in_full(model):
    record = published(model.name)
    begun = time.perf_counter()
    report = check(record)
    assert time.perf_counter() - begun < 0.5
    assert report.verdict == derived(model.name).verdict.value == model.warp
    assert report.open == ()
    claims = {c["claim"] for c in record["claims"]}
    assert ("no hessian" in claims) == (model.hessian == "REFUTED")
    assert {"PROVED": "form", "REFUTED": "no warp"}[model.warp] in claims


@pytest.mark.parametrize(
    ("outputs", "start", "verdict", "is_open"),
    [
        (["p**2-m**2", "w**2"], {}, "PROVED", ()),
        (["a*u1", "a*u2", "w"], {}, "REFUTED", ()),
        (["x", "(x-z)**2/2+y"], {}, "REFUTED", ()),
        (["p**2+q**2-r**2-s**2", "2*p*r+2*q*s", "2*q*r-2*p*s"], {}, "PROVED", ()),
        (["u1*v1+u2*v2", "u1*v2+u2*v1"], {}, "PROVED", ()),
        (["a*u1", "a*u2"], {"a": "-5", "u1": "3", "u2": "4"}, "PROVED", ()),
        (["a*b*u1", "a*b*u2"], {"a": "2", "b": "1", "u1": "0", "u2": "0"}, "PROVED", ()),
        (["a*u1+b*v1", "a*u2+b*v2"], {"b": "0", "v1": "0", "v2": "0"}, "PROVED", ()),
        (
            ["a*u1", "a*u2"],
            {"a": "0", "u1": "1", "u2": "1"},
            "PROVED",
            ("Q where the warp ends negative", "the dual coordinates", "Q in explicit form"),
        ),
        (["p**4-m**4"], {"p": "1", "m": "2"}, "PROVED", ()),
        (["w**5+w"], {}, "PROVED", ("Q in quadrature form",)),
        (["x**2*y", "y**3"], {}, "REFUTED", ()),
        # J has rank 1 at these starts, and full rank nearby on the leaf.
        (["5*b**3", "a*b"], {"a": "-2", "b": "0"}, "REFUTED", ()),
        (["a", "a*b*c", "a + c + a*c"], {"a": "-1", "b": "2", "c": "0"}, "REFUTED", ()),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else "",
)
def test_other_models_are_certified(outputs, start, verdict, is_open):
    d, record = certified(*outputs, start=start)
    report = check(record)
    assert report.verdict == verdict == d.verdict.value
    assert report.open == is_open


SCALED = {"zero", "root of"}
"""Entries whose multiples say the same: they are set to zero."""


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_a_changed_text_is_rejected_unless_it_stays_true(model):
    record = published(model.name)
    names = [
        *record["weights"],
        *(str(s) for s in derived(model.name).parameterization.start_field.names),
    ]
    tried = rejected = 0
    for path, text in entries(record):
        if {"point", "at"} & set(path) or path[-1] == "of":
            continue  # where ranks and branches are read; and calls are what they are called
        for changed in variants(text, names):
            tried += 1
            try:
                check(replaced(record, path, changed))
            except REFUSED:
                rejected += 1
                continue
            assert stays_true(record, path, text, changed), (path, text, changed)
    assert rejected > 0.45 * tried


def stays_true(record, path, text, changed):
    """Tell by SymPy, or by deriving again, whether an accepted change is a true statement."""
    symbols = {w: sympy.Symbol(w) for w in record["weights"]}
    constants = {n: sympy.Symbol(n) for n in ("beta", "alpha", "delta", "k")}
    key = next(k for k in reversed(path) if isinstance(k, str))

    def read(t):
        return sympy.sympify(t.replace("Abs", ""), locals={**constants, **symbols})

    if key == "main":
        return True  # a relation may be solved for any of its names
    if key == "name":
        at = record
        for step in path[:-1]:
            at = at[step]
        return "of" in at  # a call may have any name
    if key in SCALED and sympy.simplify(read(text) + read(changed)) == 0:
        return True
    if key == "laws" or (key in ("R", "y") and record["claims"][path[1]]["claim"] == "dual"):
        outputs = [read(t) for t in record["outputs"]]
        change = read(changed) if key == "laws" else read(changed) - read(text)
        return all(
            sympy.simplify(sum(sympy.diff(f, w) * sympy.diff(change, w) for w in symbols.values()))
            == 0
            for f in outputs
        )
    if key in ("outputs", *record["weights"]):
        other = replaced(record, path, changed)
        start = {w: t for w, t in other["start"].items() if w in other["weights"]}
        again = derive(Parameterization(other["outputs"], other["weights"], start))
        return again.verdict.value == record["verdict"]
    return False


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_points_that_show_nothing_are_rejected(model):
    if model.name == "linear":
        pytest.skip("0 is a start like any other")
    record = published(model.name)
    for k, claim in enumerate(record["claims"]):
        for key in ("point", "at"):
            if claim.get(key) and claim["claim"] not in ("warp", "hessian", "laws"):
                zeros = dict.fromkeys(claim[key], "0")
                with pytest.raises(REFUSED):
                    check(replaced(record, ("claims", k, key), zeros))
        if claim["claim"] == "laws" and claim["laws"]:
            with pytest.raises(REFUSED):
                check(replaced(record, ("claims", k, "point"), dict.fromkeys(claim["point"], "0")))


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_what_the_verdict_needs_cannot_be_left_out(model):
    record = published(model.name)
    needed = {"PROVED": {"warp", "form"}, "REFUTED": {"no warp"}}[model.warp]
    if model.hessian == "PROVED":
        needed = {"hessian", "form"}
    assert needed <= {c["claim"] for c in record["claims"]}
    for claim in record["claims"]:
        if claim["claim"] in needed:
            rest = [c for c in record["claims"] if c is not claim]
            with pytest.raises(REFUSED):
                check({**record, "claims": rest})
    for verdict in {"PROVED", "REFUTED", "UNDECIDED"} - {record["verdict"]}:
        with pytest.raises(Rejected, match="verdict"):
            check({**record, "verdict": verdict})


@pytest.mark.parametrize("name", ["tied pair", "depth 3", "deep neuron", "W W^T"])
def test_entries_of_a_wrong_kind_raise_nothing_else(name):
    record = published(name)

    def paths(value, path=()):
        yield path
        if isinstance(value, dict | list):
            for key in value if isinstance(value, dict) else range(len(value)):
                yield from paths(value[key], (*path, key))

    for path in paths(record):
        for odd in (None, 7, -1, True, 1.5, "", "w**", [], {}, [[]], {"name": "w"}, "\0"):
            if path:
                with contextlib.suppress(*REFUSED):
                    check(replaced(record, path, odd))


@pytest.mark.parametrize("name", ["neuron in R^2", "deep neuron", "W W^T", "untied pair"])
def test_swapped_entries_are_rejected(name):
    record = published(name)
    for k, claim in enumerate(record["claims"]):
        found = claim.get("y", [])
        if len(found) > 1:
            with pytest.raises(REFUSED):
                check(replaced(record, ("claims", k, "y"), found[::-1]))
        if claim["claim"] == "laws":
            for n in range(len(claim["laws"])):
                fewer = [law for i, law in enumerate(claim["laws"]) if i != n]
                for laws in (fewer, [*fewer, *(fewer[:1] or claim["laws"] * 2)]):
                    changed = {**claim, "laws": laws, "values": [None] * len(laws)}
                    with pytest.raises(Rejected):
                        check(replaced(record, ("claims", k), changed))
        if claim["claim"] in ("no hessian", "no warp"):
            kind, (a, _, *c), pair = claim["identity"]
            with pytest.raises(REFUSED):
                check(replaced(record, ("claims", k, "identity"), [kind, [a, a, *c], pair]))


def test_a_false_q_is_not_certified():
    # The printed slope is that of Q, but not 1/K: twice Q, and Q of another start.
    record = published("tied pair")
    at = next(k for k, c in enumerate(record["claims"]) if c["claim"] == "form")
    claim = record["claims"][at]
    for change in (lambda t: f"2*({t})", lambda t: t.replace("alpha**2", "alpha")):
        false = {**claim, "Q": change(claim["Q"]), "y": [change(claim["y"][0])]}
        with pytest.raises(REFUSED):
            check(replaced(record, ("claims", at), false))


def test_the_wrong_branch_is_not_certified():
    record = published("neuron in R^2")
    at = next(k for k, c in enumerate(record["claims"]) if c["claim"] == "form")
    definitions = record["claims"][at]["definitions"]
    root = next(n for n, entry in enumerate(definitions) if "root of" in entry)
    other = [[a, b.replace("+ sqrt", "- sqrt")] for a, b in record["claims"][at]["equal"]]
    assert other != record["claims"][at]["equal"]
    with pytest.raises(Rejected):
        check(replaced(record, ("claims", at, "equal"), other))
    for key, value in (("above", 1), ("is", "-a**2"), ("is", "a")):
        with pytest.raises(Rejected):
            check(replaced(record, ("claims", at, "definitions", root, key), value))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        # True on the leaf, but no formula in beta: weights, and names of functions of weights.
        ("y", ["u1 - u1_0", "u2 - u2_0"]),
        ("Q", "2*a**3/3 - a*delta - beta1*u1_0 - beta2*u2_0"),
        ("y", ["E - u1_0", "u2 - u2_0"]),
        ("y", ["beta1/sqrt(C) - u1_0", "beta2/sqrt(C) - u2_0"]),
    ],
)
def test_a_formula_that_is_not_in_beta_is_not_certified(key, value):
    record = published("neuron in R^2")
    at = next(k for k, c in enumerate(record["claims"]) if c["claim"] == "form")
    claim = record["claims"][at]
    more = [{"name": "E", "is": "u1"}, {"name": "C", "is": "a**2"}, {"of": "sqrt(C)", "is": "a"}]
    assert check(replaced(record, ("claims", at, "definitions"), [*claim["definitions"], *more]))
    changed = {**claim, "definitions": [*claim["definitions"], *more], key: value}
    with pytest.raises(Rejected, match="not fixed"):
        check(replaced(record, ("claims", at), changed))


def run(*arguments, text=None):
    return subprocess.run(
        [sys.executable, "-m", "derive", "check", *arguments],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=60,
    )


def test_command_line(tmp_path):
    text = derived("neuron in R^2").to_json()
    path = tmp_path / "neuron.json"
    path.write_text(text, encoding="utf-8")
    done = run(str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Accepted: PROVED")
    bare = json.dumps(json.loads(text)["certificate"])
    assert run("-", text=bare).stdout == done.stdout
    for false, code, words in [
        (bare.replace('"a"', '"2*a"', 1), 2, "names"),
        (bare.replace('"equation", [1, 2, 1]', '"equation", [1, 1, 1]'), 1, "claim 2 (no hessian)"),
        (text.replace('"verdict": "PROVED"', '"verdict": "REFUTED"', 1), 1, "the record says"),
        ("{", 2, "no JSON"),
        ("[]", 2, "format"),
        ("[" * 100_000, 2, "no JSON"),
    ]:
        done = run("-", text=false)
        assert done.returncode == code, (false[:50], done)
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1
        assert words in done.stderr
    assert run(str(tmp_path / "none.json")).returncode == 2


def test_a_certificate_writes_no_control_characters():
    record = published("linear")
    claim = {"claim": "not certified", "outputs": [], "what": "\x1b[2Jall\n"}
    done = run("-", text=json.dumps({**record, "claims": [*record["claims"], claim]}))
    assert done.returncode == 0
    assert all(line.isprintable() for line in done.stdout.split("\n"))
    done = run("-", text=json.dumps({**record, "outputs": ["\x1b[2J"]}))
    assert done.returncode == 1
    assert done.stderr.rstrip("\n").isprintable()


def test_what_is_not_certified_is_said():
    d, _ = certified("w**5+w")
    assert "not certified: Q in quadrature form" in run("-", text=d.to_json()).stdout


def test_a_record_must_print_what_is_certified():
    record = json.loads(derived("tied pair").to_json())
    assert check_text(json.dumps(record)).verdict == "PROVED"
    for path, value in [
        (("potential", "pieces", 0, "Q"), "beta**2"),
        (("potential", "pieces", 0, "gradient", 0), "beta"),
        (("parameterization", "start", "p"), "p_0"),
        (("parameterization", "outputs", 0), "p**2 + m**2"),
        (("verdict",), "UNDECIDED"),
    ]:
        with pytest.raises(Rejected):
            check_text(json.dumps(replaced(record, path, value)))


def test_the_checker_stands_on_flint_alone():
    program = (
        "import sys, derive.certificate.checking.check\n"
        "loaded = {m for m in sys.modules if m.startswith(('derive', 'numerics'))}\n"
        "allowed = ('derive.certificate', 'derive.errors', 'derive.lazy', 'derive.verdict')\n"
        "assert all(m == 'derive' or m.startswith(allowed) for m in loaded), loaded\n"
        "assert not {'sympy', 'mpmath', 'numpy'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
