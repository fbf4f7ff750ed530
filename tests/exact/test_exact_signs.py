"""Which signs are proved: all that should be, and none that is not so; and roots of open sign."""

import pytest
import sympy
from sympy import Abs, Add, Mul, Pow, Symbol, asinh, atan, exp, log, pi, sqrt

from derive import InputError, Parameterization, Verdict, derive
from derive.exact.elementary_signs import ElementarySigns, OpenSign, Undecided, lesser
from derive.exact.field.function_field import FunctionField
from derive.exact.signs import Signs, is_feasible
from derive.exact.towers.tower import build_elements
from derive.language import parse_expression
from numerics import crosscheck
from tests.published import derive_once

u, v, w = FunctionField(("u", "v", "w")).gens
e, b, x, y, D = map(Symbol, "ebxyD")


@pytest.mark.parametrize(
    ("f", "names"),
    [
        (u**2 + v, "v"),
        (3 * u / v**3, "uv"),
        (-2 / (-1 - u**2), ""),
        ((-1 - u**2) ** 2 * (-1 - v**2) ** 2, ""),
        ((-1 - u**2) ** 3 / (-w), "w"),
        (u**2 * v**2 + 1 + v, "v"),
        ((u + 1) / (u + v**4), "u"),
    ],
)
def test_what_is_positive_for_some_names(f, names):
    assert Signs(names).is_positive(f)
    assert not Signs(names).is_positive(-f)
    assert not Signs(names).is_positive(f * w**2 * (u - v))
    assert Signs(names).is_nonnegative(f)
    assert not Signs(names).is_nonnegative(-f)


@pytest.mark.parametrize(
    "f", [u**2 + v**2, u**2 + 1 - v, u**2 + 1 + v, u, u**3 + 1, 0 * u, u**2, (w - 1) ** 2]
)
def test_what_is_not_proved_to_be_positive(f):
    assert not Signs().is_positive(f)
    assert not Signs("w").is_positive(f + 1 - 1)


@pytest.mark.parametrize(
    ("f", "square"),
    [
        ((u**2 - v**2) ** 2 + 4 * u**2 * w**2, True),
        (u**4 - 2 * u**2 * v**2 + 2 * v**4 + 1 - u**2 * w + w**2, True),
        (u**4 - 3 * u**2 * v**2 + v**4 + w**2, False),
        (u**4 + u**2 * v**2 - 2 * u * v * w + w**2 - v**4, False),
        (u**4 + u * v + 1, False),
        (u**4 * v**2 + u**2 * v**4 - 3 * u**2 * v**2 + 1, False),  # >= 0, but no sum of squares
    ],
)
def test_sums_of_squares_of_polynomials_are_not_negative(f, square):
    assert Signs().is_nonnegative(f) is square
    assert not Signs().is_nonnegative(-f)


def test_the_nearest_ends_of_an_interval_are_kept():
    one = u / u
    assert Signs().nearest(1, [one, 2 * one, one, 3 * one]) == [one]
    assert Signs().nearest(-1, [-one, -2 * one, -3 * one]) == [-one]
    assert Signs().nearest(1, [u, v, u + w**2]) == [u, v]
    assert Signs().nearest(1, [u, u + w]) == [u, u + w]
    assert Signs("w").nearest(1, [u, u + w]) == [u]


SIGNS = {  # of expressions with e, b > 0; None where it is not decided
    e: 1,
    -b * e: -1,
    x: None,
    x**2 + 1: 1,
    -(x**2): -1,
    sqrt(b + 1) + e: 1,
    sqrt(b**2 + e) - b: 1,
    b - sqrt(b**2 + e): -1,
    sqrt(x**2 + 1) - x: 1,  # as 1 > 0, whatever the sign of x is
    sqrt(x**2 + 1) - 2 * x: None,
    x / sqrt(x**2 + 1) - 1: -1,
    sqrt(b) - e: None,
    3 - sqrt(sympy.Integer(8)): 1,
    sqrt(b**2 + 4 * e) * b - b**2: 1,
    sympy.cbrt(2) * (sqrt(b**2 + e) - b): 1,
    sqrt(b) * e: 1,
    exp(x) + e: 1,
    -exp(-x): -1,
    exp(x) - 1: None,
    Abs(x): 1,
    -2 * Abs(x) - b: -1,
    Abs(x) - x: None,
    pi * e: 1,
    pi - 3: None,
    log(b): None,
    atan(b): None,
    b**D + 1: 1,
    sympy.Rational(-2, 3): -1,
    sympy.Integer(0): 0,
}


@pytest.mark.parametrize(("c", "sign"), SIGNS.items(), ids=str)
def test_the_sign_of_an_expression_is_proved_or_left_open(c, sign):
    known = ElementarySigns(("e", "b"), parameters=("D",))
    if sign is None:
        with pytest.raises(OpenSign, match="is not decided"):
            known.sign(c)
        return
    assert known.sign(c) == sign
    numbers = {e: 0.3, b: 1.7, D: 2.5}
    for at in (-2.1, 0.4, 3.3):
        assert sign * float(c.subs({**numbers, x: at})) >= 0


def test_the_sign_of_a_name_is_it_over_its_size():
    r = Symbol("r", real=True)
    known = ElementarySigns()
    slope = r * Abs(r).diff(r)
    assert slope.has(sympy.sign)
    assert known.is_zero(slope - Abs(r))
    assert not known.is_zero(slope - r)  # which is 0 for r > 0 alone


@pytest.mark.parametrize("c", [b + x**2, exp(x), sqrt(x**2 + 1), b**D, e * sqrt(b)], ids=str)
def test_what_is_nowhere_zero_is_told(c):
    known = ElementarySigns(("e", "b"), parameters=("D",))
    assert known.is_positive(c)
    assert not known.is_positive(-c)
    assert not known.is_positive(x**2 * c)


def test_signs_are_also_those_of_what_names_stand_for():
    known = ElementarySigns(("e", "b", "y"), {y: b + e})
    assert known.sign(y * b) == known.sign(y - b) == 1
    assert known.is_zero(y - b - e)
    with pytest.raises(OpenSign):
        known.sign(y - 2 * b)


def test_what_is_given_to_be_positive_tells_signs():
    known = ElementarySigns(("b",), given=(x - b, e - x))
    assert known.sign(x - b) == 1
    assert known.sign(2 * b * (x - e)) == -1
    assert known.sign((x - b) * (x**2 + 1)) == 1
    assert (known.sign(x + b), known.sign(b - x - 1)) == (1, -1)
    for c in (x - 2 * b, e - b, x - e + 1):
        with pytest.raises(OpenSign):
            ElementarySigns(("b",), given=(x - b, e - x)).sign(c)


@pytest.mark.parametrize(
    ("c", "zero"),
    [
        (sqrt(b**2 + 2 * b * e + e**2) - b - e, True),
        (asinh(b) - log(b + sqrt(b**2 + 1)), True),
        (log(b * e) - log(b) - log(e), True),
        (Add(exp(b + e), Mul(-1, exp(b), exp(e), evaluate=False), evaluate=False), True),
        (b ** (2 * D) - Pow(b**D, 2, evaluate=False), True),
        (b ** (D + 1) - b**D, False),
        (pi - Mul(pi, b + 1, 1 / (1 + b), evaluate=False), True),
        (sympy.Integer(0), True),
        (sympy.Integer(3), False),
        (atan(b) - b, False),
        ((x - e) * Abs(x) + (e - x) * Abs(x), True),
        (y - x - b, True),
        (Abs(x) - 2 * x, False),
        (log(Abs(x)) + atan(x) * asinh(x) * exp(-x) + sympy.cbrt(b) + pi / x**2, False),
        (y * (x + 1), False),
    ],
    ids=str,
)
def test_what_is_zero_is_told(c, zero):
    known = ElementarySigns(("e", "b"), {y: x + b}, ("D",))
    assert known.is_zero(c) is zero
    assert known.is_zero(c) is zero


def test_the_lesser_number_is_told_exactly():
    near = sqrt(2) + sympy.Rational(1, 10**120)
    assert lesser(near, sqrt(2)) == lesser(sqrt(2), near) == sqrt(2)
    assert lesser(sqrt(6), sqrt(2) * sqrt(3)) == sqrt(6)
    with pytest.raises(Undecided):
        lesser(sympy.zeta(3), sympy.Integer(1))


def test_a_size_is_written_by_its_sign_where_that_is_known():
    known = ElementarySigns(("e", "b"))
    assert known.without_sizes(Abs(b) + Abs(-e) + Abs(x)) == b + e + Abs(x)
    assert known.without_sizes(2 * Abs(-1 - b)) == 2 * (1 + b)
    for c in (Abs(x) ** 2 * b - x**2 * b, Abs(x) + sympy.sin(x)):
        with pytest.raises(OpenSign, match="the sign of `x`"):
            known.is_zero(c)
    with pytest.raises(Undecided, match=r"whether `.*` is 0"):
        known.is_zero(Abs(b) - b)
    with pytest.raises(Undecided, match="could not be decided"):
        known.sign(sqrt((x - b) ** 2))


def test_strict_beside_a_norm():
    """r + y = 0 with r = |(x, y)| asks for x = 0."""
    (r,) = build_elements([parse_expression("sqrt(x**2 + y**2)")], "xy")
    x, y, root = (r.field.named(name) for name in r.field.names)
    known = Signs((repr(root),), ("x",))
    assert (known.strict(r + y), known.strict(y - r), known.strict(-(x**2))) == (1, -1, -1)
    assert (known.strict(2 * r + y), known.strict(r + 2 * y)) == (1, 0)
    open_ = Signs((repr(root),))
    assert (open_.strict(r + y), open_.strict(x**2), open_.of(r + y)) == (0, 0, 1)


@pytest.mark.parametrize(
    ("conditions", "names", "feasible"),
    [
        ([u - v], "", True),
        ([u - v, v - u], "", False),
        ([-u], "", True),
        ([-u], "u", False),
        ([1 / (u - u * v)], "uv", True),
    ],
)
def test_starts_at_which_functions_are_positive(conditions, names, feasible):
    assert is_feasible(conditions, frozenset(names)) is feasible


def test_a_power_of_what_has_no_sign_is_that_of_the_argument():
    half = "log((1 + w)/(1 - w))/2"
    for exponent in (half, f"{half} + log((2 + w)/(2 - w))/3"):
        with pytest.raises(InputError, match="not known: write"):
            derive(f"exp({exponent})")


@pytest.mark.parametrize(
    ("F", "K"),
    [
        ("log((1 + w)/(1 - w))/2", "cosh(beta)**4"),
        ("log((w - 1)/(w + 1))/2", "sinh(beta)**4"),
        ("exp(log((1 + w)/(1 - w)))", "(beta + 1)**4/4"),
    ],
)
def test_k_is_that_of_the_side_on_which_f_is_defined(F, K):
    """With 1/K = 1/F'^2 at F, by F alone; the other side has sinh for cosh, and -beta for beta."""
    d = derive_once(F)
    assert d.verdict is Verdict.PROVED
    w, beta = sympy.Symbol("w"), sympy.Symbol("beta")
    f, at = sympy.sympify(F), sympy.Rational(1, 3) if "1 - w" in F else sympy.Integer(3)
    meant = sympy.sympify(K, {"beta": beta}).subs(beta, f.subs(w, at))
    assert abs(sympy.N(meant - f.diff(w).subs(w, at) ** 2)) < 1e-12
    plain = dict.fromkeys(d.potential.pieces[0].betas, beta)
    kernel = d.potential.pieces[0].kernel.xreplace(plain).subs(beta, f.subs(w, at))
    assert abs(sympy.N(kernel - meant)) < 1e-12
    start = {"w": "1/3" if "1 - w" in F else "3"}
    assert crosscheck(derive(Parameterization.parse([F], start)), digits=20).passed


@pytest.mark.parametrize("F", ["sqrt(u/v)", "w*sqrt((1 + w)/(1 - w))", "((1 + u)/(1 + v))**(3/2)"])
def test_a_root_of_a_quotient_of_open_sign_is_refused(F):
    """sqrt(u/v) is sqrt(u v)/|v|: from u = -1, v = -2 it would be its negative."""
    with pytest.raises(InputError, match=r"the sign of .* is not known: write a quotient of roots"):
        derive(F)


@pytest.mark.parametrize(
    "F", ["sqrt(u)/sqrt(v)", "sqrt(-u)/sqrt(-v)", "sqrt((1 + u**2)/(2 + v**2))"]
)
def test_a_root_of_a_quotient_of_known_sign_is_itself(F):
    p = Parameterization.parse(
        [F], {"u": "-1/2" if "-u" in F else "1/2", "v": "-2" if "-v" in F else 2}
    )
    value = p.at_start(p.F[0]).at([])
    assert value > 0
    assert derive(p).verdict is Verdict.PROVED


@pytest.mark.parametrize("start", [{"a": "-log(3)", "b": "-2"}, {"a": "-exp(1)", "b": "-log(3)"}])
def test_logarithms_of_negative_numbers_are_of_their_moduli(start):
    """log(a*b) is log|a| + log|b|: of -e that is 1, and no relation of numbers is left."""
    p = Parameterization.parse(["log(a*b)"], start)
    positive = {w: x.removeprefix("-") for w, x in start.items()}
    same = Parameterization.parse(["log(a*b)"], positive)
    d, other = derive(p), derive(same)
    assert d.verdict is other.verdict is Verdict.PROVED
    values = [x.potential.numeric().gradient([2.0])[0] for x in (d, other)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)
