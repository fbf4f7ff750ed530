"""The checker alone, on certificates written by hand: functions beyond rational ones."""

import pytest
from flint import fmpq

from derive.check import check
from derive.checking.functions import Function
from derive.checking.polynomials import Rejected
from derive.checking.record import NotACertificate
from derive.checking.space import Space
from tests.certificates import certificate, replaced

OPEN = {"claim": "not certified", "block": 1, "what": "Q", "instead of": "form"}


def plain(rational):
    return {"rational": rational, "logarithms": []}


EXPONENTIAL = certificate(
    ["exp(w)"],
    [
        {"claim": "hessian", "block": 1, "point": None},
        {"claim": "dual", "block": 1, "g": "1", "y": [plain("-exp(-w)")], "R": plain("w")},
        OPEN,
    ],
    "PROVED",
    weights=["w"],
    generators=["exp(w)"],
    point={"w": "1/3"},
)
RADIUS = "sqrt(v1**2 + v2**2)"
POINT = {"c": "2", "v1": "3", "v2": "5"}
NORMALIZATION = certificate(
    [f"c*v1/{RADIUS}", f"c*v2/{RADIUS}"],
    [
        {
            "claim": "laws",
            "block": 1,
            "laws": ["v1**2 + v2**2"],
            "brackets": [1, 2],
            "point": POINT,
        },
        {
            "claim": "no hessian",
            "block": 1,
            "identity": ["equation", [1, 2, 1], []],
            "cleared": False,
            "along": [],
            "regular along": [],
            "at": {"c_0": "1", "v1_0": "1", "v2_0": "1"},
            "residual": "-0.5303300858899106",
        },
        {"claim": "warp", "block": 1, "point": POINT},
        OPEN,
    ],
    "PROVED",
    weights=["c", "v1", "v2"],
    generators=[RADIUS],
    point=POINT,
)
DEPTH = certificate(
    ["p**D - m**D"],
    [
        {
            "claim": "laws",
            "block": 1,
            "laws": ["p**(2 - D) + m**(2 - D)"],
            "brackets": [1],
            "point": {"p": "2", "m": "3", "D": "7/2"},
        },
        {"claim": "hessian", "block": 1, "point": None},
        {
            "claim": "dual",
            "block": 1,
            "g": "1",
            "y": [plain("p**(2 - D)/(D*(2 - D))")],
            "R": plain("(p**2 + m**2)/(2*D)"),
        },
        OPEN,
    ],
    "PROVED",
    weights=["p", "m"],
    parameters=["D"],
    generators=["(p**D)", "(m**D)"],
    point={"p": "2", "m": "3", "D": "7/2"},
)
BY_HAND = {"exp": EXPONENTIAL, "weight normalization": NORMALIZATION, "symbolic depth": DEPTH}


@pytest.mark.parametrize("record", BY_HAND.values(), ids=BY_HAND)
def test_true_certificates_are_accepted(record):
    assert check(record).verdict == "PROVED"
    assert check(record).open == ("Q",)


@pytest.mark.parametrize(
    ("record", "path", "value", "words"),
    [
        (EXPONENTIAL, ("outputs", 0), "exp(2*w)", "grad y1"),
        (EXPONENTIAL, ("outputs", 0), "exp(w/2)", "not among the generators"),
        (EXPONENTIAL, ("claims", 1, "y", 0, "rational"), "exp(-w)", "grad y1"),
        (EXPONENTIAL, ("claims", 1, "R", "rational"), "exp(w)", "grad R"),
        (EXPONENTIAL, ("claims", 1, "g"), "exp(w)", "not the warp"),
        (EXPONENTIAL, ("generators", 0), "exp(w**2)", "not among the generators"),
        (EXPONENTIAL, ("generators", 0), "log(w)", "not among the generators"),
        (EXPONENTIAL, ("point",), None, "a point is needed"),
        (EXPONENTIAL, ("verdict",), "REFUTED", "the claims imply PROVED"),
        (NORMALIZATION, ("outputs", 0), f"c*v1**2/{RADIUS}", "claim"),
        (NORMALIZATION, ("outputs", 1), f"-c*v1/{RADIUS}", "claim"),
        (NORMALIZATION, ("claims", 0, "laws", 0), "v1**2 - v2**2", "is not 0"),
        (NORMALIZATION, ("claims", 0, "brackets", 1), 1, "brackets"),
        (NORMALIZATION, ("claims", 1, "residual"), "-0.5303300858899108", "the value is"),
        (NORMALIZATION, ("claims", 1, "residual"), "0", "the value is"),
        (NORMALIZATION, ("claims", 1, "residual"), "-0.5", "the value is"),
        (NORMALIZATION, ("claims", 1, "residual"), "0.5303300858899106", "the value is"),
        (NORMALIZATION, ("claims", 1, "identity", 1), [1, 1, 2], "is 0"),
        (NORMALIZATION, ("claims", 1, "at", "v1_0"), "2", "the value is"),
        (NORMALIZATION, ("claims", 2, "claim"), "hessian", "does not hold identically"),
        (NORMALIZATION, ("claims", 2, "claim"), "no warp", ""),
        (NORMALIZATION, ("generators", 0), "sqrt(v1**2 + 2*v2**2)", "not among"),
        (DEPTH, ("outputs", 0), "p**D + m**D", "is not 0"),
        (DEPTH, ("outputs", 0), "p**(D + 1) - m**D", "is not 0"),
        (DEPTH, ("claims", 2, "y", 0, "rational"), "p**(2 - D)/(D*(1 - D))", "grad y1"),
        (DEPTH, ("claims", 2, "R", "rational"), "(p**2 - m**2)/(2*D)", "grad R"),
        (DEPTH, ("claims", 0, "laws", 0), "p**(2 - D) - m**(2 - D)", "is not 0"),
        (DEPTH, ("point", "p"), "-2", ""),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, str) else "",
)
def test_false_certificates_are_rejected(record, path, value, words):
    with pytest.raises((Rejected, NotACertificate)) as failure:
        check(replaced(record, path, value))
    assert words in str(failure.value)


@pytest.mark.parametrize(
    ("outputs", "start"),
    [(["w**2"], {"w": "0"}), (["w**2 - 2*w"], {"w": "1"}), (["w*v"], {"w": "0", "v": "0"})],
)
def test_a_start_that_never_moves_proves_nothing(outputs, start):
    claims = [{"claim": "hessian", "block": 1, "point": None}, OPEN]
    record = certificate(outputs, claims, "PROVED", weights=list(start), start=start)
    with pytest.raises(Rejected, match="not shown to move"):
        check(record)
    assert check({**record, "start": {w: f"{w}_0" for w in start}}).verdict == "PROVED"


def test_a_derivative_follows_from_the_text():
    names = ["exp(w)", "cos(w)", "sin(w)", "log(w)", "sqrt(1 + w**2)", "asinh(w)", "(w**(1/3))"]
    space = Space(["w"], names, {"w": fmpq(2, 3)})
    for text, slope in {
        "exp(3*w)": "3*exp(w)**3",
        "sin(w)*cos(w)": "1 - 2*sin(w)**2",
        "w*log(w)": "1 + log(w)",
        "asinh(w)": "1/sqrt(1 + w**2)",
        "w**(4/3)": "4*w**(1/3)/3",
        "1/sqrt(1 + w**2)": "-w*(1 + w**2)**(-3/2)",
        "sin(w)**2 + cos(w)**2": "0",
    }.items():
        assert space.read(text).derivative(0).same(space.read(slope))
        assert not space.read(text).derivative(0).same(space.read(f"{slope} + w"))


def test_a_zero_in_disguise_divides_nothing():
    # sqrt(2) sqrt(3) = sqrt(6), which no relation of the three roots says.
    space = Space(["w"], ["sqrt(2)", "sqrt(3)", "sqrt(6)"], {"w": fmpq(1)})
    with pytest.raises(Rejected, match="divisor"):
        space.read("w/(sqrt(2)*sqrt(3) - sqrt(6))")
    assert isinstance(space.read("w/(sqrt(2)*sqrt(3) + sqrt(6))"), Function)


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
    with pytest.raises((Rejected, NotACertificate)):
        check(replaced(EXPONENTIAL, ("outputs", 0), text))


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        {},
        {"format": "regderive-certificate"},
        replaced(EXPONENTIAL, ("version",), 2),
        replaced(EXPONENTIAL, ("claims", 0, "block"), 2),
        replaced(EXPONENTIAL, ("claims", 0, "claim"), "believe me"),
        replaced(EXPONENTIAL, ("weights",), ["w", "w"]),
        replaced(EXPONENTIAL, ("weights",), "w"),
        replaced(EXPONENTIAL, ("start",), {"w": 3}),
        replaced(EXPONENTIAL, ("start",), {}),
        replaced(EXPONENTIAL, ("claims", 2, "what"), ""),
        replaced(EXPONENTIAL, ("claims", 0), 7),
    ],
)
def test_what_is_no_certificate_is_refused(record):
    with pytest.raises((Rejected, NotACertificate)):
        check(record)
