"""What the checker reads and computes with: texts, functions, calls, and fields on a leaf."""

import contextlib
import math

import pytest
from flint import arb, fmpq

from derive.certificate.checking import function
from derive.certificate.checking.flow import Flow
from derive.certificate.checking.function import Ring, sign, times
from derive.certificate.checking.reading import Call, Reading
from derive.certificate.checking.signs import Conditions
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import NotACertificate, Rejected, names_in, rational, tree_of

TWO = fmpq(2)


def space(*calls, weights=("x", "y"), constants=("a", "D"), at=("2", "3")):
    """Return a space whose weights start at a = 2 and D = 3, with calls A, B, ... defined."""
    found = Space(weights, constants, len(calls) + 1)
    found.w0 = [found.read(c) for c in constants[: len(weights)]]
    found.start = found.started(dict(zip(constants, at, strict=True)))
    for name, call in zip("ABCEFGHIJKLMNO", calls, strict=False):
        found.define({"name": name, "of": call})
    return found


def test_powers_are_those_whose_exponent_is_apart_by_a_number():
    found = space("x**D", "y**(2*D - 1)")
    x, A, B = (found.read(name) for name in "xAB")
    for text, power in (("x**(D + 3)", x**3 * A), ("x**(2 - D)", x**2 / A), ("x**(-D)", 1 / A)):
        assert found.read(text).same(power)
    assert found.read("y**(2*D)").same(found.read("y") * B)
    for text in ("x**(D + 1/2)", "x**(2*D)", "y**D", "x**(D + a)", "x**(2*D - 1)"):
        with pytest.raises(Rejected, match="not among the definitions"):
            found.read(text)


def test_the_sign_of_a_value_is_shown_or_0():
    values = [TWO, fmpq(-1, 9), fmpq(0), arb(3, 1), arb(-3, 1), arb(0, 1), arb(1, 2)]
    assert [sign(x) for x in values] == [1, -1, 0, 1, -1, 0, 0]
    assert [function.not_zero(x) for x in values] == [True, True, False, True, True, False, False]


def test_what_would_not_end_is_refused(monkeypatch):
    x, y, a = Ring(2, 3, 0).symbols
    one = x.ring.one
    monkeypatch.setattr(function, "NAMES", 5)
    assert len(Ring(1, 3, 2).symbols) == 5
    with pytest.raises(Rejected, match="too many names"):
        Ring(1, 3, 3)
    assert times(one, x.top) == times(x.top, one) == x.top
    monkeypatch.setattr(function, "TERMS", 4)
    monkeypatch.setattr(function, "DEGREE", 3)
    assert len(times((x + y).top, (a + y).top)) == 4
    for left, right in (((x + y + a), (x + y)), (x**2, y**2)):
        with pytest.raises(Rejected, match="too large to be expanded"):
            times(left.top, right.top)
    small, large = 127 * x, 128 * x
    monkeypatch.setattr(function, "DIGITS", 8)
    assert times(small.top, y.top)
    for pair in ((large, y), (y, large)):
        with pytest.raises(Rejected, match="too large to be expanded"):
            times(*(f.top for f in pair))
    monkeypatch.setattr(function, "WORK", x.ring.work + 3)
    assert x + y
    with pytest.raises(Rejected, match="too much work"):
        assert (x + y) * x


NAMED = {
    "erf": "2*exp(-x**2)/sqrt(pi)",
    "erfi": "2*exp(x**2)/sqrt(pi)",
    "Ei": "exp(x)/x",
    "Li2": "-log(1 - x)/x",
}


@pytest.mark.parametrize("kind", NAMED)
def test_functions_with_names_have_their_derivatives(kind):
    calls = ("atan(1)", "sqrt(4*atan(1))", "exp(x**2)", "exp(-x**2)", "exp(x)", "log(1 - x)")
    found = space(*calls, f"{kind}(x)", at=("1/2", "3"))
    slope = found.read(f"{kind}(x)").derivative(0)
    assert slope.same(found.read(NAMED[kind]))
    assert not slope.same(found.read(f"2*({NAMED[kind]})"))


def test_pi_is_the_number_but_for_a_constant_of_that_name():
    calls = ("atan(1)", "sqrt(4*atan(1))", "exp(-x**2)", "erf(x)")
    for constants, holds in ((("a", "D"), True), (("a", "pi"), False)):
        found = space(*calls, "sqrt(pi)", constants=constants) if not holds else space(*calls)
        right = found.read("2*exp(-x**2)/sqrt(pi)")
        assert found.read("erf(x)").derivative(0).same(right) == holds


def test_what_is_kept_of_a_sign_is_of_the_call_that_is_there():
    """Where a definition was left, another one has its place."""
    found = Space(("x",), ("a",), 2)
    found.w0 = [found.read("a")]
    found.start = found.started({"a": "2"})
    conditions, before = Conditions(found), found.scope()
    for call, shown in (("exp(x)", 1), ("atan(x)", 0)):
        found.define({"name": "A", "of": call})
        assert conditions.of(found.read("A").top).value == shown
        found.leave(before)
        before = found.scope()


@pytest.mark.parametrize("size", [2, 10**30])
def test_factors_of_any_size_multiply_to_what_they_are_of(size):
    x, y, _ = Ring(2, 3, 0).symbols
    whole = ((x - y * size) * (x + y * size) * 3).top
    content, parts = function.factor(whole)
    assert content * math.prod(p**n for p, n in parts) == whole


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


def space_of(weights, at, *calls):
    """Return a space of weights that start at constants x_0, ..., with values."""
    constants = [f"{w}_0" for w in weights]
    found = Space(list(weights), constants, len(calls) + 2)
    found.w0 = [found.read(c) for c in constants]
    found.start = found.started(dict(zip(constants, at.split(), strict=True)))
    for k, call in enumerate(calls):
        found.define({"name": f"c{k}", "of": call})
    return found


def flow_of(weights, outputs, at, kind="warp"):
    space = space_of(weights, at)
    F = [space.read(text) for text in outputs]
    X = [[f.derivative(k) for k in range(len(weights))] for f in F]
    space.fields = X
    return space, Flow(space, F, X, None, kind)


def test_what_lives_on_a_leaf_is_told_from_what_is_0_there():
    space, flow = flow_of("xy", ["x*y"], "2 2", "hessian")
    read = space.read
    lives = {"x": True, "x - 2": True, "(x - 2)**2*y": True, "x - y": False, "(x - y)**2": False}
    assert {text: flow.lives(read(text).top) for text in lives} == lives
    space, flow = flow_of("xy", ["x", "y**2"], "0 1", "hessian")
    lives = {"x**3": True, "y - 1": True, "x*(y - 1)": True}
    assert {text: flow.lives(space.read(text).top) for text in lives} == lives


def test_functions_at_the_start_and_what_the_flow_keeps():
    calls = ["exp(x)", "exp(x_0)", "Integral(t**2, t = y_0 .. y)", "sqrt(y**2 + 3)", "log(y - 2)"]
    space = space_of("xy", "2 3", *calls)
    read = space.read
    assert space.at_start(read("c0*x + c2")).same(read("c1*x_0"))
    assert space.at_start(read("7")).same(7)
    with pytest.raises(Rejected, match="at the start is not known"):
        space.at_start(read("c3"))
    assert space.near_start(read("c3 + y")).same(read("c3 + y_0"))
    assert space.near_start(read("c3**2 + y")).same(read("y**2 + 3 + y_0"))
    assert read("c2").derivative(1).same(read("y**2"))
    assert read("c2").derivative(0).is_zero()
    space.fields = [[read("x"), read("-y")]]
    assert [space.kept(read(t)) for t in ("x*y", "x_0", "x", "x**2*y**2 + x_0")] == [
        *(True, True, False, True)
    ]
    P, k = space.root("c3", "c3**2 - y**2 - 3")
    assert k == len(space.symbols) - 1
    assert [int(P.degrees()[j]) for j in (1, k)] == [2, 2]
    for name, text, why in [
        ("c3", "c3**2 - y**2 - 4", "does not solve"),
        ("c3", "y - y", "too high a degree"),
    ]:
        with pytest.raises(Rejected, match=why):
            space.root(name, text)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"name": "x", "is": "y"}, "given twice"),
        ({"name": "2x", "is": "y"}, "letters, digits"),
        ({"name": "f"}, "wrong entries"),
        ({"name": "f", "is": "x", "of": "exp(x)"}, "wrong entries"),
        ({"name": "f", "of": "x**y"}, "exponent changes"),
        ({"of": "x**y", "is": "x"}, "exponent changes"),
        ({"of": "exp(2*x)", "is": "x"}, "not shown to be x"),
        ({"name": "f", "of": "Integral(t, x = y_0 .. y)"}, "runs over a new name"),
        ({"name": "f", "of": "Integral(t*x, t = y_0 .. y)"}, "of x and of constants"),
        ({"name": "f", "of": "Integral(t, t = x_0 .. y)"}, "not 0 at the start"),
        ({"name": "f", "of": "sqrt(1 - x)"}, "no real value"),
    ],
)
def test_definitions_are_of_a_kind(entry, why):
    with pytest.raises(Rejected, match=why):
        space_of("xy", "2 3").define(entry)
