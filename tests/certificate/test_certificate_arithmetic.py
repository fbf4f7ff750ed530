"""What the checker computes with: functions against their values, calls against what they are."""

import math

import pytest
from flint import arb, fmpq

from derive.certificate.checking import function
from derive.certificate.checking.function import Ring, sign, times
from derive.certificate.checking.signs import Conditions
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import Rejected

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
