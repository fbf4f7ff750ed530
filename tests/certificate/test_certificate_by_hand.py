"""The checker alone, on certificates written by hand: functions beyond rational ones."""

import re

import pytest
from flint import fmpq

from derive.certificate.checking.check import NotACertificate, Rejected, check
from derive.certificate.checking.function import Function
from derive.certificate.checking.space import Space
from tests.certificate.certificates import assert_refused, assert_rejected, certificate, replaced

OPEN = {"claim": "not certified", "outputs": [1], "what": "Q"}
DUAL = {"claim": "dual", "outputs": [1], "definitions": [], "g": "1", "equal": []}
HESSIAN = {"claim": "hessian"}

EXPONENTIAL = certificate(
    ["exp(w)"],
    [HESSIAN, {**DUAL, "y": ["-exp(-w)"], "R": "w"}, OPEN],
    "PROVED",
    weights=["w"],
    definitions=[
        {"name": "e", "of": "exp(w)"},
        {"name": "e0", "of": "exp(w_0)"},
        {"of": "exp(-w)", "is": "1/e", "from": [["exp(w)", "-1"]]},
    ],
)
RADIUS = "sqrt(v1**2 + v2**2)"
POINT = {"c": "2", "v1": "3", "v2": "5", "c_0": "1", "v1_0": "1", "v2_0": "1"}
NORMALIZATION = certificate(
    [f"c*v1/{RADIUS}", f"c*v2/{RADIUS}"],
    [
        {
            "claim": "laws",
            "laws": ["v1**2 + v2**2"],
            "values": ["v1_0**2 + v2_0**2"],
            "definitions": [],
            "brackets": [[1], [2]],
            "point": POINT,
        },
        {
            "claim": "no hessian",
            "identity": [[1, 2], [1]],
            "along": [],
            "regular": [],
            "at": {"c_0": "1", "v1_0": "1", "v2_0": "1"},
        },
        {"claim": "warp"},
        {**OPEN, "outputs": [1, 2]},
    ],
    "PROVED",
    weights=["c", "v1", "v2"],
    definitions=[{"name": "r", "of": RADIUS}],
)
DEPTH = certificate(
    ["p**D - m**D"],
    [
        {
            "claim": "laws",
            "laws": ["p**(2 - D) + m**(2 - D)"],
            "values": ["p_0**(2 - D) + m_0**(2 - D)"],
            "definitions": [],
            "brackets": [[1]],
            "point": {"p": "2", "m": "3", "D": "7/2", "p_0": "1", "m_0": "1"},
        },
        HESSIAN,
        {**DUAL, "y": ["p**(2 - D)/(D*(2 - D))"], "R": "(p**2 + m**2)/(2*D)"},
        OPEN,
    ],
    "PROVED",
    weights=["p", "m"],
    parameters=["D"],
    at={"p_0": "2", "m_0": "3", "D": "7/2"},
    definitions=[
        *({"name": f"d{w}", "of": f"{w}**D"} for w in ("p", "m", "p_0", "m_0")),
        *({"name": f"l{w}", "of": f"log({w})"} for w in ("p", "m", "p_0", "m_0")),
        *(
            {
                "of": f"{w}**(2 - D)",
                "is": f"{w}**2/d{w}",
                "from": [[f"log({w})", "2"], [f"{w}**D", "-1"]],
            }
            for w in ("p", "m")
        ),
    ],
)
CALLS, LAWS = ("certificate", "definitions"), ("conserved",)
PIECE, Y = ("potential", "pieces", 0), ("warping", "dual_coordinates", 0)
BY_HAND = {"exp": EXPONENTIAL, "weight normalization": NORMALIZATION, "symbolic depth": DEPTH}


@pytest.mark.parametrize("record", BY_HAND.values(), ids=BY_HAND)
def test_true_certificates_are_accepted(record):
    assert check(record).verdict == "PROVED"
    assert "Q of" in check(record).open[-1]


@pytest.mark.parametrize(
    ("record", "path", "value", "words"),
    [
        (EXPONENTIAL, ("parameterization", "outputs", 0), "2*exp(w)", "another unit"),
        (EXPONENTIAL, ("parameterization", "outputs", 0), "exp(w/2)", "not among the definitions"),
        (EXPONENTIAL, (*Y, "y", 0, "rational"), "exp(-w)", "not shown to be positive"),
        (EXPONENTIAL, (*Y, "conjugate", "rational"), "exp(w)", "the conjugate has another"),
        (EXPONENTIAL, ("warping", "g"), "exp(w)", "not the warp"),
        (EXPONENTIAL, (*CALLS, 0, "of"), "exp(w**2)", "not among the definitions"),
        (EXPONENTIAL, (*CALLS, 0, "of"), "log(w)", "not among the definitions"),
        (EXPONENTIAL, (*CALLS, 2, "is"), "2/e", "is not shown to be"),
        (EXPONENTIAL, (*CALLS, 2, "is"), "1/e + 1", "is not shown to be"),
        (EXPONENTIAL, (*CALLS, 2, "of"), "log(w)", "is not shown to be"),
        (EXPONENTIAL, (*CALLS, 2, "is"), "w_0/(2*e)", "is not shown to be"),
        (EXPONENTIAL, (*CALLS, 2, "from", 0, 1), "1", "is not shown to be"),
        (EXPONENTIAL, (*CALLS, 2, "from", 0, 1), "-1/2", "is not shown to be"),
        (EXPONENTIAL, (*CALLS, 2, "from"), [], "is not shown to be"),
        (EXPONENTIAL, ("certificate", "at"), {}, "at gives other names"),
        (EXPONENTIAL, ("verdict",), "REFUTED", "the record proves PROVED"),
        (NORMALIZATION, ("parameterization", "outputs", 0), f"c*v1**2/{RADIUS}", "conserved"),
        (NORMALIZATION, ("parameterization", "outputs", 1), f"-c*v1/{RADIUS}", "conserved"),
        (NORMALIZATION, (*LAWS, "laws", 0), "v1**2 - v2**2", "another value"),
        (NORMALIZATION, ("certificate", "conserved", "brackets", 1), [1], "brackets"),
        (NORMALIZATION, (*LAWS, "values_at_start", 0), "v1_0**2", "another value at the start"),
        (NORMALIZATION, ("certificate", "hessian", "identity", 0), [1, 1], "the value is 0"),
        (NORMALIZATION, ("hessian",), {"verdict": "PROVED"}, "has nothing in it"),
        (NORMALIZATION, ("warping", "verdict"), "REFUTED", "identity"),
        (NORMALIZATION, (*CALLS, 0, "of"), "sqrt(v1**2 + 2*v2**2)", "not among"),
        (NORMALIZATION, (*PIECE, "beta"), ["beta1"], "share out"),
        (DEPTH, ("parameterization", "outputs", 0), "p**D + m**D", "is not 0"),
        (DEPTH, ("parameterization", "outputs", 0), "p*p**D - m**D", "is not 0"),
        (DEPTH, (*Y, "y", 0, "rational"), "p**(2 - D)/(D*(1 - D))", "another unit"),
        (DEPTH, (*Y, "conjugate", "rational"), "(p**2 - m**2)/(2*D)", "the conjugate has another"),
        (DEPTH, (*LAWS, "laws", 0), "p**(2 - D) - m**(2 - D)", "another value"),
        (DEPTH, ("certificate", "at", "p_0"), "-2", ""),
        (DEPTH, (*CALLS, 8, "is"), "p**3/dp", "is not shown to be"),
        (DEPTH, (*CALLS, 8, "is"), "p**2/dp*dm/dm_0", "is not shown to be"),
        (DEPTH, (*CALLS, 8, "is"), "p**2/dp*p_0/2", "is not shown to be"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, str) else "",
)
def test_false_certificates_are_rejected(record, path, value, words):
    with pytest.raises((Rejected, NotACertificate)) as failure:
        check(replaced(record, path, value))
    assert re.search(words, str(failure.value))


@pytest.mark.parametrize(
    ("outputs", "start"),
    [(["w**2"], {"w": "0"}), (["w**2 - 2*w"], {"w": "1"}), (["w*v"], {"w": "0", "v": "0"})],
)
def test_a_start_that_never_moves_proves_nothing(outputs, start):
    weights, free = list(start), {w: f"{w}_0" for w in start}
    record = certificate(outputs, [HESSIAN, OPEN], "PROVED", weights=weights, start=start, at={})
    assert_rejected(record, "not shown to move")
    moving = replaced(record, ("parameterization", "start"), free)
    at = dict.fromkeys(free.values(), "3")
    assert check(replaced(moving, ("certificate", "at"), at)).verdict == "PROVED"


def space_of(weight, *calls):
    space = Space(["w"], [], len(calls) + 1)
    space.start = space.values([weight])
    for n, call in enumerate(calls):
        space.define({"name": f"f{n}", "of": call})
    return space


def test_a_sum_of_angles_has_their_cosine_and_sine():
    claim = {
        "of": "cos(2*w)",
        "is": "cos(w)**2 - sin(w)**2",
        "sin": "2*sin(w)*cos(w)",
        "from": [["cos(w)", "2"]],
    }
    space_of(fmpq(2, 3), "cos(w)", "sin(w)").define(claim)
    for change in {"of": "cos(3*w)"}, {"is": "cos(w)**2 + sin(w)**2"}, {"sin": "-2*sin(w)*cos(w)"}:
        with pytest.raises(Rejected, match="is not shown to be"):
            space_of(fmpq(2, 3), "cos(w)", "sin(w)").define({**claim, **change})


def test_a_derivative_follows_from_the_text():
    names = ["exp(w)", "cos(w)", "sin(w)", "log(w)", "sqrt(1 + w**2)", "asinh(w)", "w**(1/3)"]
    space = space_of(fmpq(2, 3), *names, "atan(w)")
    for text, slope in {
        "exp(w)**3": "3*exp(w)**3",
        "sin(w)*cos(w)": "1 - 2*sin(w)**2",
        "w*log(w)": "1 + log(w)",
        "asinh(w)": "1/sqrt(1 + w**2)",
        "atan(w)": "1/(1 + w**2)",
        "w**(4/3)": "4*w**(1/3)/3",
        "1/sqrt(1 + w**2)": "-w/sqrt(1 + w**2)**3",
        "sin(w)**2 + cos(w)**2": "0",
        "tanh(w)": "4/(exp(w) + 1/exp(w))**2",
    }.items():
        change = space.read(text).derivative(0) - space.read(slope)
        assert change.is_zero()
        assert not (change + space.read("w")).is_zero()


def test_a_zero_in_disguise_divides_nothing():
    # sqrt(2) sqrt(3) = sqrt(6), which no relation of the three roots says.
    roots = ["sqrt(2)", "sqrt(3)", "sqrt(6)"]
    definitions = [{"name": f"r{n}", "of": root} for n, root in enumerate(roots)]
    for sign, accepted in (("+", True), ("-", False)):
        output = f"w/(sqrt(2)*sqrt(3) {sign} sqrt(6))"
        claims = [HESSIAN, OPEN]
        record = certificate([output], claims, "PROVED", weights=["w"], definitions=definitions)
        if accepted:
            assert check(record).verdict == "PROVED"
        else:
            assert_rejected(record, r"divisor|pole")
    assert isinstance(space_of(fmpq(1), *roots).read("sqrt(2)*sqrt(3) - sqrt(6)"), Function)


def shifted_form(*definitions, y="w - w_0"):
    """A form of F = w, Q = w^2/2, with further definitions."""
    form = {"claim": "form", "outputs": [1], "beta": ["b"], "parameter": None, "curve": None}
    return form | {"definitions": list(definitions), "g": "1", "y": [y], "Q": None, "R": None}


def shifted(*definitions, y="w - w_0"):
    return certificate(["w"], [HESSIAN, shifted_form(*definitions, y=y)], "PROVED", weights=["w"])


@pytest.mark.parametrize(
    ("record", "words"),
    [
        # What vanishes where its own coefficient does: 0 at the start, and not after.
        (shifted({"zero": "(w - w_0)*w_0", "main": "w_0"}, y="b - w_0"), "at the start|stay 0"),
        # A value that is right at one start only, and a constant that is none.
        (shifted({"name": "k", "is": "0*w", "value": "w_0 - 2"}, y="b - w_0"), "not 0 at"),
        (shifted({"name": "k", "is": "w", "value": "w_0"}, y="b - k"), "not conserved"),
        (shifted(y="b - 2"), "the slope along b"),
        (shifted(y="w - w_0"), "not fixed by beta"),
        (shifted({"name": "b", "is": "w"}, y="b - w_0"), "given twice"),
        (shifted({"name": "w", "is": "w + 1"}, y="b - w_0"), "given twice"),
        (
            shifted(
                {"name": "r", "is": "w", "root of": "r - b", "above": 0, "explicit": "w_0"},
                y="r - w_0",
            ),
            "is not w_0",
        ),
        # Another root of the polynomial; the root is 3 + w_0, or the largest at the start.
        (
            shifted(
                {"name": "r", "is": "w", "root of": "(r - b)*(r - 9)", "above": 0}, y="r - w_0"
            ),
            "not shown to be the largest",
        ),
        (
            shifted({"name": "r", "is": "w", "root of": "(r - b)**2", "above": 0}, y="r - w_0"),
            "not shown to be the largest",
        ),
        (
            shifted({"name": "r", "is": "w", "root of": "r - w", "above": 0}, y="r - w_0"),
            "not fixed by beta",
        ),
    ],
)
def test_a_form_is_fixed_by_what_it_prints(record, words):
    assert check(shifted(y="b - w_0")).verdict == "PROVED"
    assert_refused(record, words)


def test_a_relation_needs_a_coefficient_that_is_not_zero_at_the_start():
    # w c is 0 at the start, and its derivative c is w c/w: "0 where w c is".
    form = shifted_form({"zero": "w*c", "main": "c"}, y="b")
    options = {"weights": ["w", "v"], "start": {"w": "0", "v": "c"}, "at": {"c": "3"}}
    assert_rejected(
        certificate(["w"], [HESSIAN, form], "PROVED", **options), "does not give c at the start"
    )
    assert check(certificate(["w"], [HESSIAN, {**form, "definitions": []}], "PROVED", **options))


def test_a_root_is_told_apart_at_the_start():
    root = {"name": "r", "is": "w", "root of": "(r - b)*(r - 9)", "above": 1}
    assert check(shifted(root, y="r - w_0")).verdict == "PROVED"


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "w.real",
        "[w for w in w]",
        "lambda: w",
        "w if w else w",
        "exp(w, w)",
        "exp(*w)",
        "1.5*w",
        "w**w**w",
        "w**9999",
        "9**400**9",
        "(" * 500 + "w" + ")" * 500,
        "-" * 3000 + "w",
        "(w + 1)**400*(w + 2)**400*(w + 3)**400*(w + 1)**400*" * 4 + "w",
        "w" * 30_000,
        "True",
        "v",
        "1/(w - w)",
        "",
    ],
)
def test_what_is_no_expression_is_rejected(text):
    assert_refused(replaced(EXPONENTIAL, ("parameterization", "outputs", 0), text))


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        {},
        {"format": "regderive-certificate"},
        replaced(EXPONENTIAL, ("version",), 1),
        replaced(EXPONENTIAL, ("certificate",), None),
        replaced(EXPONENTIAL, ("certificate", "version"), 2),
        replaced(EXPONENTIAL, ("parameterization", "flow"), "w' = J^T X^T r"),
        replaced(EXPONENTIAL, ("parameterization", "blocks"), [[2]]),
        replaced(EXPONENTIAL, ("parameterization", "weights"), ["w", "w"]),
        replaced(EXPONENTIAL, ("parameterization", "weights"), "w"),
        replaced(EXPONENTIAL, ("parameterization", "start"), {"w": 3}),
        replaced(EXPONENTIAL, ("parameterization", "start"), {}),
        replaced(EXPONENTIAL, ("potential", "pieces"), 7),
        replaced(EXPONENTIAL, ("hessian", "reason"), "believe me"),
        replaced(EXPONENTIAL, ("certificate", "hessian"), 7),
    ],
)
def test_what_is_no_certificate_is_refused(record):
    assert_refused(record)
