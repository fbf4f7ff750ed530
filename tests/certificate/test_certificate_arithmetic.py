"""What the checker computes with: functions against their values, calls against what they are."""

import math

import pytest
from flint import arb, fmpq

from derive.certificate.checking import function
from derive.certificate.checking.function import (
    Ring,
    ball,
    constant,
    evaluated,
    leading,
    raised,
    remainder,
    root_of,
    sign,
    times,
)
from derive.certificate.checking.signs import Conditions
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import Rejected

TWO, THREE, SEVEN = fmpq(2), fmpq(3), fmpq(7)


def space(*calls, weights=("x", "y"), constants=("a", "D"), at=("2", "3")):
    """Return a space whose weights start at a = 2 and D = 3, with calls A, B, ... defined."""
    found = Space(weights, constants, len(calls) + 1)
    found.w0 = [found.read(c) for c in constants[: len(weights)]]
    found.start = found.started(dict(zip(constants, at, strict=True)))
    for name, call in zip("ABCEFGHIJKLMNO", calls, strict=False):
        found.define({"name": name, "of": call})
    return found


def test_quotients_are_computed_as_their_values():
    x, y, a = Ring(2, 3, 0).symbols
    at = [TWO, THREE, SEVEN]
    found = {
        (x + y) / (x - y): fmpq(-5),
        1 / x + 2 / y - a: fmpq(1, 2) + fmpq(2, 3) - 7,
        x / y + x / y: fmpq(4, 3),
        x**-2 * 3 - 1: fmpq(-1, 4),
        -(x * y) / (a * x): fmpq(-3, 7),
        (x * x - y * y) / (x - y): fmpq(5),
        fmpq(1, 3) / a + fmpq(2, 3): fmpq(1, 21) + fmpq(2, 3),
        x**0: fmpq(1),
        x**5: fmpq(32),
    }
    assert {f: f.at(at) for f in found} == found
    assert ((x * x - y * y) / (x - y)).bottom.is_one()
    assert (1 / (-x)).bottom.leading_coefficient() > 0
    assert {str(d) for d in x.ring.divisors.values()} >= {"x0 - x1", "x0", "x1", "x0*x2"}
    for broken in (lambda: x / (y - y), lambda: (1 / x).at([fmpq(0), TWO, TWO])):
        with pytest.raises(Rejected, match=r"divisor is zero|is a pole"):
            broken()
    assert x.ring.dot([x, y], [y, a]).same(x * y + a * y)
    ones = [[f.at(at) for f in row] for row in x.ring.identity(2)]
    assert ones == [[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1)]]
    with pytest.raises(ValueError, match="zip"):
        x.ring.dot([x, y], [y])


def test_derivatives_follow_the_rules_of_calls():
    calls = ["exp(x*y)", "log(x + y)", "sqrt(x**2 + y)", "x**D", "atan(x/y)"]
    s = space(*calls)
    h, point = 1e-6, {"x": 2.0, "y": 3.0}

    def value(x, y):
        A, B, C = math.exp(x * y), math.log(x + y), math.sqrt(x * x + y)
        return A * B / C + x**3 * math.atan(x / y)

    f = s.read("A*B/C + E*F")
    for k, name in enumerate("xy"):
        up, down = ({**point, name: point[name] + sign * h} for sign in (1, -1))
        slope = (value(**up) - value(**down)) / (2 * h)
        assert float(arb(f.derivative(k).at(s.start)).mid()) == pytest.approx(slope, rel=1e-6)
    assert [f.uses(k) for k in range(s.size + 6)] == [False] * 4 + [True] * 5 + [False]
    assert s.read("1/y").uses(1)
    with pytest.raises(Rejected, match="before its sine"):
        space("cos(x)").read("A").derivative(0)


def test_parts_of_polynomials_and_exponents():
    ring = Ring(2, 3, 0)
    x, y, a = ring.symbols
    p, q = (x**3 * y + x * y + 2).top, (y * x**2 - 1).top
    r, n = remainder(p, q, 0)
    assert n == 1
    assert ring.of(r).same(y * (x * (y + 1) + 2))
    assert remainder((x + y).top, q, 0) == ((x + y).top, 0)
    assert remainder((x * x + y).top, (x - 1).top, 0) == ((y + 1).top, 2)
    assert leading(p, 0) == y.top
    assert leading(p, 1) == (x**3 + x).top
    assert leading(p, 2) == p
    assert constant(ring.number(fmpq(-3, 4))) == fmpq(-3, 4)
    assert constant(a) is None
    assert constant(1 / a) is None
    assert [root_of(ring.number(fmpq(*e))) for e in ((1, 2), (1, 5), (2, 3), (1, 1), (-1, 2))] == [
        *(2, 5, None, None, None)
    ]
    assert root_of(a) is None
    assert evaluated((x * x * y - 3).top, [THREE, TWO]) == 15
    with pytest.raises(Rejected, match="a value is missing"):
        evaluated((x * a).top, [THREE, TWO])
    assert [raised(fmpq(3), n, fmpq(1)) for n in range(8)] == [3**n for n in range(8)]
    around = raised(arb(0, 0.5), 3, arb(1))
    assert around.is_finite()
    assert around.contains(0.1)


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


def test_calls_have_values():
    half = fmpq(1, 2)
    exact = [("exp", 0, 1), ("cos", 0, 1), ("power", 1, 1), ("sin", 0, 0), ("asinh", 0, 0)]
    exact += [("atan", 0, 0), ("log", 1, 0), ("log", -1, 0)]
    for kind, u, found in exact:
        assert ball(kind, fmpq(u), half) == fmpq(found)
        assert isinstance(ball(kind, fmpq(u), half), fmpq)
    for kind in ("exp", "cos", "sin", "asinh", "atan"):
        assert float(ball(kind, half, half)) == pytest.approx(getattr(math, kind)(0.5))
    assert float(ball("log", fmpq(-3), half)) == pytest.approx(math.log(3))
    assert float(ball("log", fmpq(0), half).rad()) > 0 or not ball("log", fmpq(0), half).is_finite()
    assert float(ball("power", THREE, fmpq(2, 3))) == pytest.approx(3 ** (2 / 3))
    assert float(ball("exp", fmpq(1), half)) == pytest.approx(math.e)
    assert not ball("power", fmpq(0), half).is_finite()
    assert not ball("power", fmpq(-2), half).is_finite()
    assert ball("exp", half, half).rad() < 1e-90


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
