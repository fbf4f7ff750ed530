"""Trees to text and to SymPy, and back again as the same function."""

import ast
import operator
from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from derive.language import (
    CALLS,
    Budget,
    Call,
    LanguageError,
    Name,
    Number,
    Operation,
    Power,
    from_sympy,
    parse_expression,
    to_sympy,
    to_text,
)
from tests.language.test_language_refusals import refusal

NAMES = ("x", "y", "E", "I")
POINT = {"x": Fraction(7, 5), "y": Fraction(3, 11), "E": Fraction(13, 17), "I": Fraction(29, 23)}


RULES = {"+": operator.add, "*": operator.mul, "/": operator.truediv}


def real(x):
    return mpmath.mpf(x.numerator) / x.denominator


def value(tree, number=real, power=lambda base, e: mpmath.power(base, real(e))):
    """Return the value of a tree at the point, in real numbers unless others are given."""
    match tree:
        case Number(x):
            return number(x)
        case Name(name):
            return number(POINT[name])
        case Operation(sign, left, right):
            return RULES[sign](*(value(x, number, power) for x in (left, right)))
        case Power(base, exponent):
            return power(value(base, number, power), exponent)
        case Call(function, argument):
            return getattr(mpmath, function)(value(argument))
    raise TypeError(tree)


def exact_value(tree):
    return value(tree, Fraction, lambda base, e: base ** int(e))


WIDE = Budget(degree=10**6, bits=10**6, terms=10**60)
"""Bounds for random trees, which grow in ways that nobody writes."""

INTEGERS = st.integers(-9, 9).map(lambda n: Number(Fraction(n)))
RATIONALS = st.fractions(-5, 5, max_denominator=12).map(Number)
LEAVES = st.one_of(INTEGERS, RATIONALS, st.sampled_from(NAMES).map(Name))


def rational_trees(leaves):
    def grow(below):
        return st.one_of(
            st.builds(Operation, st.sampled_from("+*/"), below, below),
            st.builds(lambda t: Operation("*", Number(Fraction(-1)), t), below),
            st.builds(Power, below, st.integers(-3, 4).map(Fraction)),
        )

    return st.recursive(leaves, grow, max_leaves=12)


@settings(max_examples=120, deadline=None)
@given(rational_trees(LEAVES))
def test_text_reads_back_with_the_same_exact_value(tree):
    try:
        expected = exact_value(tree)
    except ZeroDivisionError:
        assume(False)
    text = to_text(tree)
    again = parse_expression(text, WIDE)
    assert exact_value(again) == expected
    assert exact_value(parse_expression(to_text(again), WIDE)) == expected


def positive_trees():
    """Return trees that are positive at the point, so that roots and logarithms are real."""
    leaves = st.one_of(
        st.fractions(Fraction(1, 7), 5, max_denominator=9).map(Number),
        st.sampled_from(NAMES).map(Name),
    )
    exponents = st.sampled_from([Fraction(p, q) for p in (-2, -1, 1, 2, 3) for q in (1, 2, 3)])

    def grow(below):
        calls = st.sampled_from(("asinh", "tanh", "log", "sin", "sqrt"))
        signed = st.builds(lambda f, t: Power(Call(f, t), Fraction(2)), calls, below)
        signed = signed.filter(lambda t: t.base.function != "sqrt")
        return st.one_of(
            st.builds(Operation, st.sampled_from("+*/"), below, below),
            st.builds(Power, below, exponents),
            signed,
        )

    return st.recursive(leaves, grow, max_leaves=7)


@settings(max_examples=150, deadline=None)
@given(positive_trees())
def test_text_and_sympy_return_the_same_value(tree):
    with mpmath.workdps(60):
        try:
            expected = value(tree)
            expression = to_sympy(tree)
        except (ZeroDivisionError, LanguageError):  # such as 1/log(1)
            assume(False)
        assume(mpmath.mpf("1e-8") < abs(expected) < mpmath.mpf("1e8"))
        for again in (parse_expression(to_text(tree), WIDE), from_sympy(expression, WIDE)):
            assert mpmath.almosteq(value(again), expected, 1e-30)


TEXTS = [
    ("x-3", "x - 3"),
    ("x - (y - z)", "x - (y - z)"),
    ("a-b*c", "a - b*c"),
    ("-(a*b)", "-a*b"),
    ("-(a + b)", "-(a + b)"),
    ("--x", "-(-x)"),
    ("a*(-3)", "a*(-3)"),
    ("(-3)**2", "(-3)**2"),
    ("-3**2", "-3**2"),
    ("(a/b)/(c/d)", "a/b/(c/d)"),
    ("a/(b*c)", "a/(b*c)"),
    ("(a*b)/c", "a*b/c"),
    ("(x**2)**3", "(x**2)**3"),
    ("x**-2", "x**(-2)"),
    ("x**(3/2)", "x**(3/2)"),
    ("x**0.5/2", "sqrt(x)/2"),
    ("0.5*x", "1/2*x"),
    ("exp((-x**2)/2)", "exp(-x**2/2)"),
    ("((x))", "x"),
    ("(x + y)*z", "(x + y)*z"),
    *((text, text) for text in ("a*(b*c)", "a + (b + c)", "a/(b/c)", "a + b - (c + d)")),
    ("sqrt(x + 1)*sin(y)", "sqrt(x + 1)*sin(y)"),
]


@pytest.mark.parametrize(("text", "printed"), TEXTS)
def test_printed_text_is_readable_and_stable(text, printed):
    assert to_text(parse_expression(text)) == printed
    assert to_text(parse_expression(printed)) == printed
    assert ast.parse(printed, mode="eval")


def test_names_that_sympy_knows_are_only_names():
    expression = to_sympy(parse_expression("E + I + pi + S + N"))
    assert {symbol.name for symbol in expression.free_symbols} == {"E", "I", "pi", "S", "N"}


def test_symbols_can_be_given():
    x = sympy.Symbol("x", positive=True)
    assert to_sympy(parse_expression("sqrt(x**2)"), {"x": x}) == x
    with pytest.raises(LanguageError, match="no symbol is given for 'y'"):
        to_sympy(parse_expression("y"), {"x": x})


def test_every_function_crosses_the_bridge():
    x = sympy.Symbol("x")
    for name in (*CALLS, "sqrt"):
        if name in ("sigmoid", "softplus"):  # SymPy has none
            continue
        tree = parse_expression(f"{name}(x)")
        assert to_sympy(tree) == getattr(sympy, name)(x)
        assert from_sympy(to_sympy(tree)) == tree


def test_sympy_forms_have_readable_trees():
    x, y = sympy.symbols("x y")
    for expression, text in (
        (x / y, "x/y"),
        (1 / y, "y**(-1)"),
        (x / (y * (x + 1) ** 2), "x/y/(1 + x)**2"),
        (sympy.exp(1), "exp(1)"),
        (sympy.Pow(sympy.E, x, evaluate=False), "exp(x)"),
        (x ** sympy.sqrt(2), "exp(sqrt(2)*log(x))"),
        (sympy.Rational(-1, 2) * x, "-1/2*x"),
        (sympy.Mul(1 / x, 1 / y), "1/x/y"),
    ):
        assert to_text(from_sympy(expression)) == text


def refused_by_sympy_bridge():
    x = sympy.Symbol("x")
    return [
        (sympy.Float("0.5") * x, "write an exact one"),
        (sympy.I, "this object is not part of the language"),
        (sympy.oo, "this object"),
        (sympy.zoo, "this object"),
        (sympy.nan, "this object"),
        (sympy.Max(x, 1), "a maximum"),
        (sympy.gamma(x), "'gamma'"),
        (sympy.Function("f")(x), "'f'"),
        (sympy.Piecewise((x, x > 0), (0, True)), "a distinction of cases"),
        (sympy.Eq(x, 1), "this object"),
        (sympy.true, "this object"),
        (sympy.Matrix([[x]]), "this object"),
        (sympy.Derivative(sympy.Function("f")(x), x), "a derivative"),
        (sympy.Dummy("x"), "this object"),
        (3, "this object"),
        ("x", "this object"),
        (x ** sympy.sin(x), "names and numbers"),
        (x**100, "at most 64"),
        (sympy.Integer(10) ** 70, "at most 60 digits"),
        (sympy.sqrt(sympy.Add(-2, -3, evaluate=False), evaluate=False), "not real"),
        (sympy.Pow(0, -1, evaluate=False), "division by zero"),
        (sympy.Symbol("lambda"), "'lambda' is reserved"),
        (sympy.Symbol("\\beta\n"), "is not a name"),
        (sympy.Symbol("\u03b2"), "is not a name"),
        (sympy.Symbol("a", commutative=False), "do not commute"),
        (x + sympy.Symbol("x", positive=True), "called x differ"),
    ]


@pytest.mark.parametrize(("expression", "piece"), refused_by_sympy_bridge())
def test_sympy_beyond_the_language_is_refused(expression, piece):
    assert piece in str(refusal(expression, from_sympy))


def test_what_is_shared_counts_wherever_it_stands():
    shared = sympy.Symbol("x")
    for _ in range(40):
        shared = sympy.Add(sympy.sin(shared), sympy.cos(shared))
    with pytest.raises(LanguageError, match="nodes"):
        from_sympy(shared)


def test_infinite_expression_does_not_reach_sympy():
    with pytest.raises(LanguageError, match="divides by zero"):
        to_sympy(parse_expression("x/(y - y)"))
