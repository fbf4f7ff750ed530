"""Expansions near a limit, as the checker takes them: each against the limit it claims."""

from __future__ import annotations

import math

import mpmath
import pytest
from flint import fmpq

from derive.certificate.checking.further.near import Near, coefficient
from derive.certificate.checking.text import Rejected


@pytest.mark.parametrize("kind", ["exp", "log", "atan", "asinh", "sin", "cos"])
def test_coefficients_are_those_of_taylor(kind):
    def of(x):
        return mpmath.log(1 + x) if kind == "log" else getattr(mpmath, kind)(x)

    with mpmath.workdps(40):
        expected = mpmath.taylor(of, 0, 9)
        for n, c in enumerate(expected):
            assert (
                abs(mpmath.mpf(int(coefficient(kind, n).p)) / int(coefficient(kind, n).q) - c)
                < 1e-9
            )
    with pytest.raises(Rejected, match="has no power series"):
        coefficient("power", 1)


def near(*calls):
    """Return functions of b = 3 and a = 2 near e = 0, with calls and their expansions."""
    found = Near(["b"], ["a"], len(calls) + 1)
    found.at([fmpq(3), fmpq(2)])
    for k, (of, entry) in enumerate(calls):
        found.define({"name": f"f{k}", "of": of})
        if entry is not None:
            found.expand({"expand": f"f{k}", "rest": f"z{k}", **entry}, {})
    return found


def entry(by, text, to):
    return {"by": by, "is": text, "to": to}


def test_leading_orders_and_limits_are_read_off():
    s = near()
    orders = {
        "b*_e**2/_l + a*_e**3": (2, -1, "b"),
        "(_l*b + a)/_e": (-1, 0, "a"),
        "(b*_l**2 - a*_l)/(_e - _e**2)": (-1, 1, "-a"),
        "(a*_e + b)/(b*_e**2 + a*_e**2*_l)": (-2, 0, "1"),
        "b - a": (0, 0, "b - a"),
        "1/(_e + _e*_l)": (-1, 0, "1"),
    }
    for text, (r, k, c) in orders.items():
        order, factor = s.lead(s.read(text))
        assert (order, factor.same(s.read(c))) == ((r, k), True), text
    assert s.limit(s.read("(b + a*_e)/(2 - _l)")).same(s.read("b/2"))
    for text in ("0", "_e/_l", "_l*b", "_e**2 - _e", "b*_e/a"):
        assert s.limit(s.read(text)).is_zero(), text
    for text in ("1/_l", "b/_e", "_l/_e"):
        with pytest.raises(Rejected, match="has no limit"):
            s.limit(s.read(text))
    for text in ("1/_e - 5*b", "b - a", "_l*b - _e"):
        s.positive(s.read(text), "it")
    for text in ("_e - _l", "a - b", "5 - 1/_l"):
        with pytest.raises(Rejected, match="positive near the limit"):
            s.positive(s.read(text), "it")
    assert len(s.signs) == 3
    assert [str(x) for x in s.varying] == ["2", "3"]


def test_roots_without_e_solve_their_polynomials_and_the_slow_variable_is_a_logarithm():
    s = near(("sqrt(b)", None), ("sqrt(f0 + 1)", None))
    for text, c in [("(f0**2 - b)/_e + f0", "f0"), ("(f1**4 - b - 2*f0 - 1)/_e + f1", "f1")]:
        order, factor = s.lead(s.read(text))
        assert order == (0, 0)
        assert factor.same(s.read(c))
    assert s.read("_l*log(_e)").same(-1)
    e, slow = (float(s.read(name).at(s.start)) for name in ("_e", "_l"))
    assert slow == pytest.approx(-1 / math.log(e))


SERIES = [  # a call, its expansion, the limit of what remains, and a limit that this shows
    ("exp(b*_e)", "1 + b*_e + (b*_e)**2*z0", "1/2", "(f0 - 1)/_e", "b"),
    ("exp(b*_e)", "1 + b*_e*z0", "1", "(f0**2 - 1)/_e", "2*b"),
    ("log(1 + b*_e)", "b*_e - (b*_e)**2/2 + (b*_e)**3*z0", "1/3", "(f0 - b*_e)/_e**2", "-b**2/2"),
    ("atan(b*_l)", "b*_l + (b*_l)**2*z0", "0", "f0/_l", "b"),
    ("atan(b*_l)", "b*_l + (b*_l)**3*z0", "-1/3", "(f0 - b*_l)/_l**3", "-b**3/3"),
    ("asinh(_e/a)", "_e/a + (_e/a)**3*z0", "-1/6", "a*f0/_e", "1"),
    ("sin(b*_e)", "b*_e*z0", "1", "f0/(a*_e)", "b/a"),
]


@pytest.mark.parametrize(("call", "text", "to", "f", "limit"), SERIES)
def test_a_series_is_followed_by_its_next_coefficient(call, text, to, f, limit):
    beside = {"sin": "cos(b*_e)", "asi": "sqrt((_e/a)**2 + 1)"}
    before = [(beside[call[:3]], None)] if call[:3] in beside else []
    names = {"f0": f"f{len(before)}", "z0": f"z{len(before)}"}
    text, f = (t.replace("f0", names["f0"]).replace("z0", names["z0"]) for t in (text, f))
    s = near(*before, (call, entry("series", text, to)))
    assert s.limit(s.read(f)).same(s.read(limit))
    with pytest.raises(Rejected, match="another limit"):
        near(*before, (call, entry("series", text, f"{to} + b")))
    with pytest.raises(Rejected, match="no power series with a remainder"):
        near(*before, (call, entry("series", f"{text} + _e", to)))


def test_a_series_is_one_in_what_tends_to_0():
    with pytest.raises(Rejected, match="does not tend to 0"):
        near(("exp(b + _e)", entry("series", "1 + (b + _e)*z0", "1")))


def test_a_root_is_one_by_what_it_solves_to_leading_order():
    s = near(("sqrt(1/_e**2 + b)", entry("root", "1/_e + _e*z0", "b/2")))
    assert s.limit(s.read("(f0 - 1/_e)/_e")).same(s.read("b/2"))
    assert s.lead(s.read("f0"))[0] == (-1, 0)
    assert len(s.kept_signs) == 2
    for text, to, why in [
        ("1/_e + _e*z0", "b/3", "another limit"),
        ("-1/_e - _e*z0", "b/2", "positive near the limit"),
        ("1/_e + _e**2*z0", "0", "another limit"),
        ("1/_e + _e*z0**2", "0", "another limit"),
    ]:
        with pytest.raises(Rejected, match=why):
            near(("sqrt(1/_e**2 + b)", entry("root", text, to)))
    cube = near(("(1 + b*_e)**(1/3)", entry("root", "1 + _e*z0", "b/3")))
    assert cube.limit(cube.read("(f0**2 - 1)/_e")).same(cube.read("2*b/3"))


def test_a_value_is_that_of_the_limit():
    given = [("exp(a)", None), ("log(b)", None), ("exp(a + b*_e)", entry("value", "z2", "f0"))]
    s = near(*given, ("log(b + _l)", entry("value", "z3", "f1")))
    assert s.limit(s.read("f2*f3 - a*f2")).same(s.read("f0*f1 - a*f0"))
    with pytest.raises(Rejected, match="the leading order of a function is not shown"):
        s.limit(s.read("f2 - f0"))
    s = near(("atan(b*_e)", entry("value", "z0", "0")), ("exp(_l)", entry("value", "z1", "1")))
    assert s.limit(s.read("f0 + f1")).same(1)
    for call, text, to, why in [
        ("exp(b*_e)", "z0", "2", "another limit"),
        ("exp(b*_e)", "z0 + _e", "1", "its own remainder"),
        ("exp(b*_e)", "z0", "_e", "a limit depends on e"),
        ("exp(b/_e)", "z0", "0", "has no limit"),
        ("(1 + _e)**a", "z0", "1", "this has no value"),
    ]:
        with pytest.raises(Rejected, match=why):
            near((call, entry("value", text, to)))
    s = near(("exp(b*_e)", None))
    with pytest.raises(Rejected, match="has no expansion"):
        s.limit(s.read("f0"))
    for name, rest, why in (("b", "z9", "no call"), ("f0", "b", "twice"), ("f0", "9z", "twice")):
        with pytest.raises(Rejected, match=why):
            s.expand({"expand": name, "rest": rest, **entry("value", "z9", "1")}, {})
    with pytest.raises(Rejected, match="there is no rule"):
        s.expand({"expand": "f0", "rest": "z0", **entry("other", "z0", "1")}, {})


@pytest.mark.parametrize(
    ("polynomial", "inside", "text", "to", "why"),
    [
        ("T**2 - b/_e*T - 1", None, "b/_e + _e*z", "1/b", None),  # the largest root
        ("T**2 - b/_e*T - 1", None, "-_e*z", "1/b", "what tells a root"),
        ("T**2 - b/_e*T - 1", None, "b/_e + _e*z", "2/b", "another limit"),
        ("T**2 - b/_e*T - 1", ["-T"], "-_e*z", "1/b", None),  # the root that is negative
        ("T**2 - b/_e*T - 1", ["T"], "-_e*z", "1/b", "what tells a root"),
        ("T**3 - (b + _e)*T**2/_e", None, "b/_e + z", "1", None),
        ("T - b**2/(_e**2*T)", None, "b/_e + z", "0", None),
    ],
)
def test_a_name_is_a_root_that_is_told_from_others(polynomial, inside, text, to, why):
    s = near(("exp(b)", None), ("exp(2*b)", None))
    given = {"expand": "T", "by": "root", "rest": "z", "is": text, "to": to}
    roots = {"T": (polynomial, inside)}
    if why is not None:
        with pytest.raises(Rejected, match=why):
            s.expand(given, roots)
        return
    s.number(1) / s.read("b")
    s.expand(given, roots)
    assert s.lead(s.read("T"))[1].same(s.read({"-_e*z": "-1/b"}.get(text, "b")))
    assert "x0" in s.divisors
    assert any(s.of(p).uses(s.symbols.index(s.names["z"])) for p in s.divisors.values()) == (
        "*T)" in polynomial
    )
