"""Every derivation's certificate is accepted, and a changed one only where it stays true."""

import contextlib
import copy
import functools
import json

import pytest

from derive import Parameterization, derive
from derive.catalogue import entries as entries_of_catalogue
from derive.certificate.checking.check import check, check_text
from derive.model.matrices import MatrixMap
from tests.certificate.certificates import (
    REFUSED,
    assert_refused,
    assert_rejected,
    replaced,
    variants,
)
from tests.cli.commands import printed_by
from tests.cli.commands import run as run_command
from tests.published import MODELS, certified_once, derive_once

BY_NAME = {m.name: m for m in MODELS}


run = functools.partial(run_command, "check")


@functools.cache
def derived_of(name):
    model = BY_NAME[name]
    return derive_once(model.outputs, model.start, model.positive)


def text_of(name):
    model = BY_NAME[name]
    return certified_once(model.outputs, model.start, model.positive)


def published(name):
    return json.loads(text_of(name))


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_published_models_are_certified_in_full(model):
    report = check(published(model.name))
    assert report.verdict == derived_of(model.name).verdict.value == model.warp
    assert report.open == ()
    said = "\n".join(report.theorem)
    assert ("no hessian" in said) == (model.hessian == "REFUTED")
    assert ("no warp" in said) == (model.warp == "REFUTED")
    d = derived_of(model.name)
    assert all(
        f"= {Q}" in said for Q in (p["Q"] for p in published(model.name)["potential"]["pieces"])
    )
    assert all(f"conserved: {law}" in said for law in d.conserved.laws)


@pytest.mark.every(8)
@pytest.mark.parametrize("entry", entries_of_catalogue()[::-1], ids=lambda e: e.id)
def test_the_catalogue_is_certified_in_full(entry):
    p = entry.read().parameterization()
    report = check_text(certified_once(p))
    assert report.verdict == entry.verdict
    left = [text[:23] for text in report.open]
    assert len(left) == isinstance(p, MatrixMap)
    assert {*left} <= {"that F of the record is", "that matrices of every "}


def leaves(value, path=()):
    """Yield (path, value) for everything in a record."""
    yield path, value
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[key], (*path, key))


PROOF = ("certificate",)
"""What the proof uses may be changed as long as it proves the same."""


@pytest.mark.parametrize(
    "name",
    [
        "tied pair",
        *(
            pytest.param(x, marks=pytest.mark.slow)
            for x in ("W W^T", "neuron in R^2", "depth 3", "deep neuron")
        ),
    ],
)
def test_every_statement_that_is_changed_is_refused(name):
    """Every number, sign and name in what a record says is changed, every entry left out."""
    record = published(name)
    names = [*record["parameterization"]["weights"], *record["certificate"]["at"]]
    odd = (None, 7, "1", "beta", [], {}, "all of R^2, for every start")
    for n, (path, value) in enumerate(leaves(record)):
        if path[:1] == PROOF or not path:
            continue
        others = [*variants(value, names)] if isinstance(value, str) else []
        others += odd if name != "tied pair" else (odd[n % 7], odd[n // 7 % 7])
        for other in (o for o in others if o != value):
            assert_refused_or_true(record, path, other)
        gone = copy.deepcopy(record)
        at = functools.reduce(lambda part, key: part[key], path[:-1], gone)
        del at[path[-1]]
        if not is_true(path, None, record):
            assert_refused(gone)


def assert_refused_or_true(record, path, value):
    try:
        check(replaced(record, path, value))
    except REFUSED:
        return
    assert is_true(path, value, record), (path, value)


def is_true(path, value, record):
    """Tell whether a change says the same, or what holds as well."""
    if path[-1] in ("explicit", "conjugate", "Q", "kernel", "rho"):
        return value is None  # not said, or named as open
    if path[-1] == "interval":
        return value is None  # the curve is then along the flow alone
    if "undecided" in path:
        return value in ([], None)  # which opens the domain
    if path[0] == "proofs":
        return value is None  # what other proof there is need not be said
    if path[-1] == "asked":
        return True  # named as open
    if "dual_coordinates" in path:  # said up to constants, with logarithms of absolute values
        return value in ("1", "-(0)") or path[-1] == "argument"
    if "assumptions" in path and record["parameterization"]["positive"]:
        return True  # which is said twice
    if "assumptions" in path:  # which K != 0 may imply: from elsewhere beta does not move
        without = replaced(record, path[: path.index("assumptions") + 1], [])
        try:
            return any("K != 0 at w_0" in line for line in check(without).theorem)
        except REFUSED:
            return False
    if path[-1] == "polynomial" or path[0] == "metric":
        return str(value).startswith("-(")  # of what is 0
    if "positive" in path:
        return True  # which the assumptions say as well, and what is said is a condition
    if path[:2] == ("parameterization", "start"):
        return record["verdict"] == "REFUTED"  # that is proved at this start as well
    return False


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_points_that_show_nothing_are_rejected(model):
    if model.name == "linear":
        pytest.skip("0 is a start like any other")
    record = published(model.name)
    for path in (("certificate", "at"), ("certificate", "conserved", "point")):
        zeros = dict.fromkeys(functools.reduce(lambda part, key: part[key], path, record), "0")
        if path[-1] == "at" or record["conserved"]["laws"]:
            assert_refused(replaced(record, path, zeros))


@pytest.mark.every(4)
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_what_the_verdict_needs_cannot_be_left_out(model):
    record = published(model.name)
    name = "hessian" if model.hessian == "PROVED" else "warping"
    without = replaced(record, ("certificate", name), None)
    if model.warp == "PROVED":  # y is a function of beta, by itself
        assert check(without).open == ()
        without["certificate"]["pieces"] = [None] * len(without["certificate"]["pieces"])
    assert_refused(without)
    for verdict in {"PROVED", "REFUTED", "UNDECIDED"} - {record["verdict"]}:
        assert_rejected({**record, "verdict": verdict}, "the record proves")


def test_a_proof_that_is_left_out_is_named():
    record = published("neuron in R^2")
    for path, name in {
        ("conserved",): "the conserved quantities",
        ("hessian",): "the Hessian map",
        ("metric",): "the metric",
        ("dual", 0): "the dual coordinates",
        ("pieces", 0): "Q of beta1, beta2",
    }.items():
        report = check(replaced(record, ("certificate", *path), None))
        assert name in report.open
    assert not any(line.startswith(("Q(", "q(")) for line in report.theorem)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["tied pair", "neuron in R^2"])
def test_entries_of_a_wrong_kind_raise_nothing_else(name):
    record = published(name)
    odd = (None, 7, -1, True, 1.5, "", "w**", [], {}, [[]], {"name": "w"}, "\0")
    for n, (path, _) in enumerate(leaves(record)):
        for value in (odd[n % len(odd)], odd[n // 2 % len(odd)]):
            if path:
                with contextlib.suppress(*REFUSED):
                    check(replaced(record, path, value))


@pytest.mark.parametrize("name", ["neuron in R^2", "deep neuron", "W W^T", "untied pair"])
def test_swapped_entries_are_rejected(name):
    record = published(name)
    for at, piece in enumerate(record["potential"]["pieces"]):
        if len(found := piece["gradient"]) > 1:
            assert_refused(replaced(record, ("potential", "pieces", at, "gradient"), found[::-1]))
    laws = record["conserved"]["laws"]
    for n in range(len(laws)):
        fewer = [law for i, law in enumerate(laws) if i != n]
        for changed in (fewer, [*fewer, *(fewer[:1] or laws * 2)]):
            assert_refused(replaced(record, ("conserved", "laws"), changed))
    for section in ("hessian", "warping"):
        proof = record["certificate"][section]
        if proof and "identity" in proof:
            (a, *_), of = proof["identity"]
            path = ("certificate", section, "identity")
            assert_refused(replaced(record, path, [[a, a], of]))


def test_a_false_q_is_not_certified():
    # The printed slope is that of Q, but not g/K with g > 0: -Q, and Q of another start.
    record = published("tied pair")
    piece = record["potential"]["pieces"][0]
    for change in (lambda t: f"-2*({t})", lambda t: t.replace("alpha**2", "alpha")):
        false = {**piece, "Q": change(piece["Q"]), "gradient": [change(piece["gradient"][0])]}
        assert_refused(replaced(record, ("potential", "pieces", 0), false))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        # True on the leaf, but no formula in beta: weights, and names of functions of weights.
        ("gradient", ["u1 - u1_0", "u2 - u2_0"]),
        ("Q", "2*a**3/3 - a*delta - beta1*u1_0 - beta2*u2_0"),
        ("gradient", ["E - u1_0", "u2 - u2_0"]),
        ("gradient", ["beta1/sqrt(C) - u1_0", "beta2/sqrt(C) - u2_0"]),
    ],
)
def test_a_formula_that_is_not_in_beta_is_not_certified(key, value):
    record = published("neuron in R^2")
    path = ("certificate", "pieces", 0, "definitions")
    definitions = functools.reduce(lambda part, step: part[step], path, record)
    more = [{"name": "E", "is": "u1"}, {"name": "C", "is": "a**2"}, {"of": "sqrt(C)", "is": "a"}]
    aided = replaced(record, path, [*definitions, *more])
    assert check(aided)
    assert_rejected(replaced(aided, ("potential", "pieces", 0, key), value), "not fixed")


def test_command_line(tmp_path):
    text = text_of("neuron in R^2")
    path = tmp_path / "neuron.json"
    path.write_text(text, encoding="utf-8")
    done = run(str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Accepted: PROVED")
    assert "Q(beta1, beta2) = 2*A**(3/2)/3 - sqrt(A)*delta" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    record = json.loads(text)
    for false, code, words in [
        (replaced(record, ("parameterization", "outputs", 0), "2*a*u1"), 1, "rejected"),
        (replaced(record, ("certificate", "hessian", "identity", 0), [1, 1]), 1, "hessian"),
        (replaced(record, ("verdict",), "REFUTED"), 1, "the record proves PROVED"),
        (replaced(record, ("certificate", "version"), 2), 2, "derive regularizer ... --json"),
        (record["certificate"], 2, "derive regularizer ... --json"),
        (record["conserved"], 2, "format"),
        ([], 2, "format"),
    ]:
        done = run("-", text=json.dumps(false))
        assert (done.returncode, done.stdout) == (code, ""), (words, done)
        assert len(done.stderr.splitlines()) == 1
        assert words in done.stderr
    twice = text.replace('"verdict": "PROVED"', '"verdict": "PROVED", "verdict": "PROVED"', 1)
    for false, words in [("{", "no JSON"), ("[" * 100_000, "no JSON"), (twice, "given twice")]:
        done = run("-", text=false)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr
    assert run(str(tmp_path / "none.json")).returncode == 2


def test_strict_refuses_what_is_not_certified():
    record = published("neuron in R^2")
    text = json.dumps(replaced(record, ("certificate", "pieces", 0), None))
    done = run("-", text=text)
    assert (done.returncode, "not certified: Q of beta1, beta2" in done.stdout) == (0, True)
    done = run("--strict", "-", text=text)
    assert (done.returncode, done.stdout) == (1, "")
    assert "not certified: Q of beta1, beta2" in done.stderr
    assert run("--strict", "-", text=json.dumps(record)).returncode == 0


def test_a_certificate_writes_no_control_characters():
    record = published("linear")
    done = run("-", text=json.dumps(replaced(record, ("potential", "asked"), "\x1b[2Jall\n")))
    assert (done.returncode, done.stdout.isprintable()) == (0, False)
    assert all(line.isprintable() for line in done.stdout.split("\n"))
    forged = replaced(record, ("parameterization", "outputs"), ["\x1b[2J"])
    done = run("-", text=json.dumps(forged))
    assert done.returncode == 1
    assert done.stderr.rstrip("\n").isprintable()


def test_the_checker_stands_on_flint_alone():
    program = (
        "import sys, derive.certificate.checking.check\n"
        "loaded = {m for m in sys.modules if m.startswith(('derive', 'numerics'))}\n"
        "rooms = ('certificate', 'errors', 'lazy', 'printable', 'verdict')\n"
        "allowed = tuple(f'derive.{room}' for room in rooms)\n"
        "assert all(m == 'derive' or m.startswith(allowed) for m in loaded), loaded\n"
        "assert not {'sympy', 'mpmath', 'numpy'} & set(sys.modules)\n"
    )
    assert printed_by(program) == ""


@pytest.mark.parametrize("name", ["tied pair", "neuron in R^2", "W W^T"])
def test_q_at_the_top_is_that_of_the_pieces(name):
    record = json.loads(derived_of(name).to_json())
    (value,) = [piece["Q"] for piece in record["potential"]["pieces"]] or [None]
    assert record["Q"] == value
    check(record)
    check({key: x for key, x in record.items() if key != "Q"})  # as written before there was one
    assert_rejected(record | {"Q": "beta**2"}, "Q is another than the sum")


def test_q_at_the_top_is_a_sum():
    record = json.loads(derive(["w**2", "u*v"]).to_json())
    assert record["Q"] == " + ".join(piece["Q"] for piece in record["potential"]["pieces"])
    vector = json.loads(derive(Parameterization.parse(["a*u"], vectors=["u"])).to_json())
    assert vector["Q"] == "2*A**(3/2)/3 - sqrt(A)*delta + (-1)*dot(u_0, beta)"
    assert_rejected(
        vector | {"Q": vector["potential"]["pieces"][0]["Q"]}, "Q is another than the sum"
    )
