"""Texts that the checker reads: as what they stand for, and calls as what they are shown to be."""

import contextlib
import math

import pytest
from flint import fmpq

from derive.certificate.checking.reading import Call, Reading
from derive.certificate.checking.text import NotACertificate, Rejected, names_in, rational, tree_of
from tests.certificate.test_certificate_arithmetic import space

PYTHON = {name: getattr(math, name) for name in ("exp", "log", "sqrt", "sin", "cos", "atan", "tan")}
PYTHON |= {name: getattr(math, name) for name in ("sinh", "cosh", "tanh", "asinh")}
PYTHON |= {"Abs": abs, "abs": abs, "x": 2.0, "y": 3.0, "a": 2.0, "D": 3.0}


@pytest.mark.parametrize(
    "text",
    [
        "x + y*2 - 3/x",
        "-x**2 + (-x)**3",
        "x**-2*y",
        "2/3/x - (2 - (3 - y))",
        "exp(x*y) + exp(x*y)**2",
        "tan(x) - tanh(y/3) + sinh(x)*cosh(y)",
        "abs(x - y) + Abs(y - x)*3",
        "log(Abs(x - y)/4) + log(abs(y/4 - x/4))",
        "sqrt(x*y)**3 - (x*y)**(-3/2) + (x*y)**(1/2)",
        "x**(D + 2)/x**(2 - D) + x**(-D - 1)",
        "asinh(x) + atan(y) - sin(x)**2",
    ],
)
def test_a_text_stands_for_its_value(text):
    calls = ["exp(x*y)", "exp(x)", "exp(y)", "exp(y/3)", "cos(x)", "sin(x)", "log(Abs(x - y)/4)"]
    calls += ["sqrt(x*y)", "x**D", "sqrt(x**2 + 1)", "asinh(x)", "atan(y)"]
    s = space(*calls)
    assert float(s.read(text).at(s.start)) == pytest.approx(eval(text, PYTHON), rel=1e-12)
    again = s.read(s.written(s.read(text)))
    assert again.same(s.read(text))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x + z", "the name z is not known"),
        ("sin(x)", "not among the definitions"),
        ("exp(y)", "not among the definitions"),
        ("x**(1/2)", "not among the definitions"),
        ("x**D", "not among the definitions"),
        ("gamma(x)", "gamma is not known here"),
        ("exp(x, y)", "exp is not known here"),
        ("abs(x, y)", "one argument"),
        ("tanh()", "one argument"),
        ("log(abs(x, y))", "one argument"),
        ("log(x - y)", "argument of a logarithm is not shown to be positive"),
        ("abs(x - a)", "absolute value is not shown to be positive"),
        ("x**401", "exponent 401 is too large"),
        ("x**-401", "exponent -401 is too large"),
        ("x**(1/401)", "exponent 1/401 is too large"),
        ("[x]", "not an expression of the language"),
        ("x % y", "not an expression of the language"),
        ("x // y", "BinOp is not part"),
        ("0x1", "not an expression of the language"),
        ("x y", "not an expression:"),
        ("+x", "UnaryOp is not part"),
        (3, "missing or too long"),
        (None, "missing or too long"),
    ],
)
def test_what_is_not_read_is_said(text, why):
    with pytest.raises(Rejected, match=why):
        space("exp(x)", "log(y - x)").read(text)


def test_bounds_and_names():
    s = space()
    assert s.read("x**400 - x**-400*0").uses(0)
    assert s.read("-" * 199 + "x").uses(0)
    with pytest.raises(Rejected, match="nested too deeply"):
        s.read("-" * 200 + "x")
    assert not s.read("x*z", {"z": s.read("y")}).uses(2)
    with pytest.raises(Rejected, match="z is not known"):
        s.read("x*z")
    for weights in (["x", "x"], ["2x"], ["x", ""]):
        with pytest.raises(NotACertificate):
            Reading(weights, ["a"], 1)
    with pytest.raises(NotACertificate):
        Reading(["x"], ["x"], 1)
    assert names_in(["exp(x) + y", "2*Abs(z)", "Integral(t*a, t = 0 .. b)"]) == {*"xyzab"}
    assert [rational(t) for t in ("-3/6", "7", "0")] == [fmpq(-1, 2), fmpq(7), fmpq(0)]
    for text in ("3/0", "1.5", "--1", "1/-2", 3, ""):
        with pytest.raises(Rejected, match="no rational"):
            rational(text)
    assert tree_of("x").id == "x"


def test_what_changes_with_the_weights_is_told():
    s = space("exp(a)", "exp(x)", "exp(exp(a))", "sqrt(exp(x) + 1)", "a**D")
    told = {"a*D": True, "A": True, "C - a": True, "F": True, "x": False, "A*B": False, "E": False}
    assert {t: s.is_of_constants(s.read(t)) for t in told} == told


DEFINED = ("exp(x)", "log(y)", "sqrt(x**2 + 1)", "log(x)", "x**D", "asinh(x)")
CALLS = [  # a call, what it is, by which others, and whether that is shown
    ("exp(2*x)", "A**2", {"exp(x)": "2"}, True),
    ("exp(2*x)", "-A**2", {"exp(x)": "2"}, False),
    ("exp(2*x)", "A**3", {"exp(x)": "2"}, False),
    ("exp(3*x)", "A**2", {"exp(x)": "2"}, False),
    ("exp(x + 2*log(y))", "A*y**2", {"exp(x)": "1", "log(y)": "2"}, True),
    ("exp(x/2)", "A", {"exp(x)": "1/2"}, False),
    ("log(x*y)", "B + E", {"log(x)": "1", "log(y)": "1"}, True),
    ("log(x/y**2)", "E - 2*B", {"log(x)": "1", "log(y)": "-2"}, True),
    ("log(x/y**2)", "E - B", {"log(x)": "1", "log(y)": "-2"}, False),
    ("log(x/y)", "E - 2*B", {"log(x)": "1", "log(y)": "-2"}, False),
    ("log(sqrt(x**2 + 1)*A)", "x + log(C)", {}, False),
    ("log(1)", "0", {}, True),
    ("log(1)", "x", {}, False),
    ("log(Abs(-x))", "E", {"log(x)": "1"}, True),
    ("log(x**2*A**(-1))", "2*E - x", {"log(x)": "2", "exp(x)": "-1"}, True),
    ("log(sqrt(y))", "B/2", {"log(y)": "1/2"}, None),
    ("asinh(x)", "log(x + C)", {}, None),
    ("log(x + sqrt(x**2 + 1))", "F2", {"asinh(x)": "1"}, True),
    ("(x*y)**D", "F*exp(D*log(y))", {}, None),
    ("x**(2*D)", "F**2", {"x**D": "2"}, True),
    ("x**(2*D)", "F**3", {"x**D": "2"}, False),
    ("(x**2)**D", "F**2", {"x**D": "2"}, None),
    ("(x**4)**(1/2)", "x**2", {}, True),
    ("(x**4)**(1/2)", "-x**2", {}, False),
    ("(x**4)**(1/2)", "x**3", {}, False),
    ("atan(x)", "x", {}, False),
]


@pytest.mark.parametrize(
    ("call", "image", "parts", "shown"), [c for c in CALLS if c[3] is not None]
)
def test_a_call_is_what_others_combine_to(call, image, parts, shown):
    s = space(*DEFINED[:5], "asinh(x)")
    s.names["F2"], s.names["F"] = s.names["G"], s.names["F"]
    pairs = [(s.call(t), rational(n)) for t, n in parts.items()]
    found = False
    with contextlib.suppress(Rejected):
        found = s.is_call(s.call(call), s.read(image), pairs)
    assert found is shown


def test_angles_are_added():
    s = space("cos(x)", "sin(x)", "cos(y)", "sin(y)")
    x, y = (Call("cos", s.read(name), s.number(0)) for name in "xy")
    u, parts = s.read("2*x - y"), [(x, fmpq(2)), (y, fmpq(-1))]
    c, i = s.read("(A**2 - B**2)*C + 2*A*B*E"), s.read("2*A*B*C - (A**2 - B**2)*E")
    value = float(u.at(s.start))
    assert float(c.at(s.start)) == pytest.approx(math.cos(value))
    assert float(i.at(s.start)) == pytest.approx(math.sin(value))

    def is_angle(u, c, i, parts):
        return s.is_call(Call("cos", u, s.number(0)), c, parts, i)

    assert is_angle(u, c, i, parts)
    assert not is_angle(s.read("2*x + y"), c, i, parts)
    assert not is_angle(u, i, i, parts)
    assert not is_angle(u, c, -i, parts)
    assert not is_angle(u, c, i, parts[:1])
    for n in (fmpq(1, 2), fmpq(401), fmpq(-401)):
        with pytest.raises(Rejected, match="n times"):
            is_angle(s.read("x") * n, c, i, [(x, n)])
    with pytest.raises(Rejected, match="no function of this kind"):
        is_angle(u, c, i, [(Call("sin", s.read("x"), s.number(0)), fmpq(1))])


def test_an_arc_tangent_is_the_angle_of_a_triangle():
    s = space("sqrt(x**2 + 1)", "atan(x)", "cos(y)", "sin(y)", "exp(y)")
    parts, others = ([(s.call(text), fmpq(1))] for text in ("atan(x)", "cos(y)"))
    call, c, i = Call("cos", s.read("B"), s.number(0)), s.read("1/A"), s.read("x/A")
    assert float(c.at(s.start)) == pytest.approx(
        math.cos(math.atan(float(s.read("x").at(s.start))))
    )
    assert s.is_call(call, c, parts, i)
    for image, sine in ((c, -i), (-c, i), (i, c)):
        assert not s.is_call(call, image, parts, sine)
    assert not s.is_call(call, c, others, i)
    assert not s.is_call(call, c, [(s.call("exp(y)"), fmpq(1))], i)
    with pytest.raises(Rejected, match="not shown to be"):  # it may be another by turns
        s.define({"of": "atan(x)", "is": "B", "from": [["atan(x)", "1"]]})


def test_a_logarithm_is_that_of_the_absolute_value():
    s = space("log(Abs(x - y))", "exp(x - y)")
    assert s.read("log(y - x)").same(s.read("A"))
    assert s.read("log(Abs(x - y))").same(s.read("A"))
    with pytest.raises(Rejected, match="not among"):
        s.read("exp(y - x)")


def test_a_power_of_what_is_negative_is_not_that_of_its_absolute_value():
    s = space("x**D", "log(x)")
    with pytest.raises(Rejected, match="the base of a power"):
        s.define({"of": "(-x)**D", "is": "x**D", "from": [["x**D", "1"]]})
