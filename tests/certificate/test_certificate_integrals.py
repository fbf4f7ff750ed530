"""Integrals of functions of the point of the leaf above b: accepted, and forged ones refused."""

import json

import pytest
from flint import fmpq

from derive.certificate.checking.check import check, check_text
from derive.certificate.checking.domain import BOUNDED, End
from derive.certificate.checking.function import sign
from derive.certificate.checking.space import Space
from tests.certificate.certificates import assert_refused
from tests.published import certified_once

Q, SLOPE = "Integral((beta - b)/K(b), ", "Integral(1/K(b), "
FORGED = [
    (Q, "Integral((beta - b)/(2*K(b)), "),
    (Q, "Integral((beta - 2*b)/K(b), "),
    (Q, "Integral((beta - b)/K(b)/3, "),
    (Q, "Integral((beta - b)/K(2*b), "),
    (Q, "Integral((beta - b)/L(b), "),
    (SLOPE, "Integral(2/K(b), "),
    (SLOPE, "Integral(1/K(b) + beta, "),
    ("b = exp(u_0*v_0) .. beta", "b = exp(u_0*v_0) .. beta**2"),
    ("b = exp(u_0*v_0) .. beta", "b = 1 .. beta"),
    ('"kernel": "beta**2*', '"kernel": "2*beta**2*'),
    ('"kernel": "beta**2*', '"kernel": "exp(2*u*v)*'),
]


@pytest.fixture(scope="module")
def record():
    return certified_once("exp(u*v)")


def test_an_integral_of_the_kernel_is_certified(record):
    report = check_text(record)
    assert not report.open
    assert report.verdict == "PROVED"
    assert any("every beta below is reached" in line for line in report.theorem)


@pytest.mark.parametrize(("old", "new"), FORGED)
def test_other_integrals_are_refused(record, old, new):
    """In the statement, and in the statement with the definitions of the proof."""
    assert old in record
    for forged in (record.replace(old, new), record.replace(old, new, 1)):
        assert_refused(forged)


def test_a_quotient_is_that_of_its_outermost_division(record):
    """(beta - b)/K(b)/3 is no (beta - b)/g: an integral of 1/3 shows nothing of it."""
    told = json.loads(record)
    (piece,) = told["potential"]["pieces"]
    of = piece["gradient"][0].partition(", ")[2]
    definitions = told["certificate"]["pieces"][0]["definitions"]
    piece["Q"] = f"Integral((beta - b)/K(b)/3, {of}"
    piece["gradient"] = [f"Integral(1/3, {of}"]
    definitions[-2:] = [
        {"name": "f8", "of": piece["gradient"][0]},
        {"name": "f9", "of": piece["Q"]},
    ]
    assert_refused(told)


ABOVE = {  # F, what its theorem has, and what is forged
    "v*tanh(w)": (
        "t(b) is this t at the weights of the leaf with F(w) = b",
        [
            ("delta/4 + cosh(2*t(b))/2", "delta/4 + cosh(2*t(b))/3"),
            ("tanh(t(b))**2", "tanh(2*t(b))**2"),
            ("tanh(t(b))**2", "tanh(t(b))**3"),
            ('"K(b)": ', '"L(b)": '),
            ('"K(b)": ', '"K(b)**2": '),
            ('"K(b)": ', '"K(w)": '),
            ("1/K(b)", "1/K(b_)"),
            ("1/K(b)", "1/K(2*b)"),
            ("1/K(b)", "1/t(b)"),
            ("1/K(b)", "1/K"),
            ("Integral((beta - b)/K(b)", "Integral((beta - b)/K(b)**2"),
            ("b = v_0*tanh(w_0) .. beta", "b = v_0*tanh(w_0) .. 2*beta"),
            ('"delta": "4*v_0**2', '"delta": "2*v_0**2'),
            ('{"name": "t", "is": "w"}', '{"name": "t", "is": "2*w"}'),
            ('{"name": "t", "is": "w"}', '{"name": "t", "is": "v"}'),
            ('{"name": "t", "is": "w"}', '{"name": "t", "is": "beta"}'),
            ('{"name": "t", "is": "w"}', '{"name": "s", "is": "w"}'),
        ],
    ),
    "v*softplus(w)": (
        "K = log(exp(t) + 1)**2 + (2*G + v_0**2)/(1 + exp(-t))**2",
        [
            ("(2*G(b) + v_0**2)", "(3*G(b) + v_0**2)"),
            ("(2*G(b) + v_0**2)", "(2*G(b) - v_0**2)"),
            ("t(b) - w_0 - Li2(-exp(t(b)))", "t(b) - w_0 + Li2(-exp(t(b)))"),
            ("t(b) - w_0 - Li2", "t(b) - Li2"),
            ('{"zero": "v**2 - ', '{"zero": "v**3 - '),
            ('"(v**2 - (v_0)**2)/2"', '"(v**2 - (v_0)**2)/3"'),
        ],
    ),
    "atan(a)*b": (
        "t(b_) is this t at the weights of the leaf with F(w) = b_",
        [
            ("2*G(b_)", "2*G(b_)**2"),
            ("2*G(b_)", "2*t(b_)"),
            ("atan(t(b_))**2", "atan(b_)**2"),
            ('"G(b_)": "', '"G(b_)": "1 + '),
        ],
    ),
    "v*sigmoid(q*k)": (
        "G = Integral((exp(s) + 1)/sqrt(delta**2 + 4*s**2), s = k_0*q_0 .. t)",
        [
            ("sqrt(delta**2 + 4*s**2)", "sqrt(delta**2 + 2*s**2)"),
            ("(exp(s) + 1)/", "(exp(s) + 2)/"),
            ("(exp(s) + 1)/", "(exp(2*s) + 1)/"),
            ("(exp(s) + 1)/", "(t(s) + 1)/"),
            ("s = k_0*q_0 .. t(b)", "s = k_0 .. t(b)"),
            ("s = k_0*q_0 .. t(b)", "s = k_0*q_0 .. b"),
            ("s = k_0*q_0 .. t(b)", "s = k_0*q_0 .. 2*t(b)"),
            ('"delta": "q_0**2 - k_0**2"', '"delta": "q_0**2 + k_0**2"'),
        ],
    ),
    "exp(v)*atan(w)": (
        "beta = exp(G + v_0)*atan(t), along the flow from the start",
        [
            ("exp(-v_0 - G(x))", "exp(-v_0 - 2*G(x))"),
            ("exp(-v_0 - G(x))", "exp(v_0 - G(x))"),
            ("exp(-v_0 - G(x))", "exp(-v_0 - t(x))"),
            ('"beta": "exp(G + v_0)*atan(t)"', '"beta": "exp(G + v_0)*atan(2*t)"'),
            ('"beta": "exp(G + v_0)*atan(t)"', '"beta": "exp(v)*atan(t)"'),
            ('"G": "', '"G": "t - w + '),
            ('"G": "', '"G": "beta - exp(v_0)*beta + '),
            (" - G", " - 2*G"),
        ],
    ),
    "sin(v)*softplus(w)": (
        "K(b) is this K at the weights of the leaf with F(w) = b",
        [
            ('{"name": "K", "is": "', '{"name": "K", "is": "w + '),
            ('{"name": "K", "is": "', '{"name": "L", "is": "'),
            ("1/K(b)", "1/K(b)**2"),
        ],
    ),
    "v + atan(w)*w": (
        "these at the weights of the leaf with F(w) = (beta)",
        [
            ("x = w_0 .. w", "x = w_0 .. v"),
            ("x*atan(x)", "2*x*atan(x)"),
            ("beta*(v - v_0) - v**2/2", "beta*(v - v_0) - v**2"),
            ('"v - v_0"', '"w - w_0"'),
            ('"quadrature"', '"explicit"'),
        ],
    ),
}


@pytest.mark.parametrize("output", ABOVE)
def test_functions_of_the_point_above_are_certified(output):
    line, _ = ABOVE[output]
    report = check_text(certified_once(output))
    assert not report.open
    assert line in report.theorem


@pytest.mark.parametrize(
    ("output", "old", "new"), [(F, *pair) for F, (_, pairs) in ABOVE.items() for pair in pairs]
)
def test_other_functions_above_are_refused(output, old, new):
    """In the statement, and in the statement with the definitions of the proof."""
    record = json.dumps(json.loads(certified_once(output)))
    assert old in record
    for forged in (record.replace(old, new), record.replace(old, new, 1)):
        assert_refused(forged)


def test_a_condition_that_is_left_out_is_said_all_the_same():
    told = json.loads(certified_once("v*sigmoid(q*k)"))
    (piece,) = told["potential"]["pieces"]
    assert piece["assumptions"] == ["k_0**2 + q_0**2 != 0"]
    before = [line for line in check(told).theorem if line.startswith("assumed")]
    piece["assumptions"] = []
    assert before == [line for line in check(told).theorem if line.startswith("assumed")] != []


def test_functions_above_move_with_beta_alone():
    """K(b) + h(b) - h(b) is K(b) for a function h of b, which u, of another output, is not."""
    told = json.loads(certified_once(["v*tanh(w)", "u"]))
    piece, proof = (told[key]["pieces"][0] for key in ("potential", "certificate"))
    ((key, text),) = piece["abbreviations"].items()
    name, _, b = key.rstrip(")").partition("(")
    piece["abbreviations"] = {key: f"{text} + h({b}) - h({b})"}
    (at,) = (k for k, e in enumerate(proof["definitions"]) if e.get("name") == name)
    for h in ("w", "u"):
        proof["definitions"].insert(at, {"name": "h", "is": h})
        if h == "w":
            assert (
                f"h({b}) is this h at the weights of the leaf with F(w) = {b}"
                in check(told).theorem
            )
        else:
            assert_refused(told, "not fixed by beta")
        del proof["definitions"][at]


CALLS = ("exp(z)", "exp(-z/2)", "sqrt(1 - z)", "(3 - z)**(1/3)", "log(1 - z)", "log(3 - z)")
CALLS += ("log(log(3 - z) + 1 - z)",)
TENDS = [  # of a function to infinity with a sign; 0 where it is not shown to
    ("z**3 - z", "-oo", -1),
    ("exp(z) - exp(-z/2)", "-oo", -1),
    ("exp(z) - z**5", "-oo", 1),
    ("exp(z)*z**2 - 1", "-oo", 0),
    ("1/(1 - z) - 5", "1", 1),
    ("(2 - z)/(1 - z)**2 - 3/(1 - z)", "1", 1),
    ("(1 - z)/(1 - z)**2*(z - 2)", "1", -1),
    ("1/sqrt(1 - z)", "1", 1),
    ("sqrt(1 - z)", "1", 0),
    ("log(1 - z)", "1", -1),
    ("log(1 - z) + log(3 - z)", "-oo", 1),
    ("log(1 - z) - log(3 - z)", "-oo", 0),
    ("log(1 - z) + log(3 - z)", "1", -1),
    ("log(3 - z)/(1 - z)", "1", 0),
    ("sqrt(1 - z) - (3 - z)**(1/3)", "-oo", 1),
    ("sqrt(1 - z)**2 - z**2*(3 - z)**(1/3)", "-oo", -1),
    ("sqrt(1 - z)**2 + z", "-oo", 0),
    # What is left of logarithms that cancel is bounded, and times z it is not.
    ("z*log(1 - z) - z*log(3 - z) - sqrt(1 - z)", "-oo", 0),
    ("z*log(1 - z) - z*log(3 - z) + sqrt(1 - z)", "-oo", 0),
    ("log(log(3 - z) + 1 - z)", "1", 0),  # which is log(2) there
]


@pytest.mark.parametrize(("text", "end", "tends"), TENDS)
def test_leading_terms(text, end, tends):
    alone = Space(["z"], [], len(CALLS) + 1)
    alone.start = [fmpq(-1, 3)]
    alone.w0 = alone.symbols[:1]
    for n, call in enumerate(CALLS):
        alone.define({"name": f"f{n}", "of": call})
    leading = End(alone, end, -1 if end == "-oo" else 1).leading(alone.read(text))
    infinite = leading is not None and leading.order > BOUNDED
    assert (sign(leading.c.at(alone.start)) if infinite else 0) == tends


def test_coefficients_that_may_vanish_are_named():
    """log(1 - a z) grows like log |z| for a != 0 alone."""
    alone = Space(["z"], ["a"], 3)
    alone.start = [fmpq(-1, 3), fmpq(2)]
    alone.w0 = alone.symbols[:1]
    alone.define({"name": "f", "of": "log(1 - a*z)"})
    end = End(alone, "-oo", -1)
    assert end.leading(alone.names["f"]).order > BOUNDED
    assert any(c.variables == {1} for c in end.relied)
