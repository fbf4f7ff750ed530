"""Texts are read or refused, and read back with the same value."""

import ast
import contextlib
import copy
import operator
import pickle
import subprocess
import sys
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
    parse_assignments,
    parse_expression,
    parse_name,
    parse_names,
    parse_outputs,
    to_sympy,
    to_text,
)
from tests.language.test_language_refusals import refusal

X, Y, Z = Name("x"), Name("y"), Name("z")
HALF = Fraction(1, 2)


def number(numerator, denominator=1):
    return Number(Fraction(numerator, denominator))


def minus(tree):
    return Operation("*", number(-1), tree)


ACCEPTED = [
    ("12", number(12)),
    ("0", number(0)),
    ("-3", number(-3)),
    ("--3", number(3)),
    ("0.1", number(1, 10)),
    ("5.", number(5)),
    (".5", number(1, 2)),
    ("1.5e-3", number(3, 2000)),
    ("2E+3", number(2000)),
    ("0.1234567890123456789012345", Number(Fraction("0.1234567890123456789012345"))),
    ("1e59", Number(Fraction(10**59))),
    ("x", X),
    ("w_1a", Name("w_1a")),
    ("E", Name("E")),
    ("match", Name("match")),
    ("  x  ", X),
    ("+x", X),
    ("-x", minus(X)),
    ("x + y", Operation("+", X, Y)),
    ("x - y", Operation("+", X, minus(Y))),
    ("x - 3", Operation("+", X, number(-3))),
    ("x - y - z", Operation("+", Operation("+", X, minus(Y)), minus(Z))),
    ("x*y*z", Operation("*", Operation("*", X, Y), Z)),
    ("x*(y*z)", Operation("*", X, Operation("*", Y, Z))),
    ("x/y/z", Operation("/", Operation("/", X, Y), Z)),
    ("1/2", Operation("/", number(1), number(2))),
    ("x + y*z", Operation("+", X, Operation("*", Y, Z))),
    ("-x*y", Operation("*", minus(X), Y)),
    ("-x**2", minus(Power(X, Fraction(2)))),
    ("(-x)**2", Power(minus(X), Fraction(2))),
    ("x**2**3", Power(X, Fraction(8))),
    ("(x**2)**3", Power(Power(X, Fraction(2)), Fraction(3))),
    ("x**-2", Power(X, Fraction(-2))),
    ("x**(1/2)", Power(X, HALF)),
    ("x**(4/2)", Power(X, Fraction(2))),
    ("x**(3 - 2*0.25)", Power(X, Fraction(5, 2))),
    ("x**0.5", Power(X, HALF)),
    ("x**0", Power(X, Fraction(0))),
    ("2**64", Power(number(2), Fraction(64))),
    ("sqrt(x)", Power(X, HALF)),
    ("sqrt( 2 )*x", Operation("*", Power(number(2), HALF), X)),
    ("exp(-x)", Call("exp", minus(X))),
    ("x/(y - y)", Operation("/", X, Operation("+", Y, minus(Y)))),
    *((f"{name}(x)", Call(name, X)) for name in CALLS),
]


@pytest.mark.parametrize(("text", "tree"), ACCEPTED)
def test_accepted_text_has_exactly_this_tree(text, tree):
    assert parse_expression(text) == tree


def test_bounds_can_be_narrowed():
    assert parse_expression("x + y", Budget(names=2, nodes=3, depth=2))
    for budget in (Budget(names=1), Budget(nodes=2), Budget(depth=1), Budget(text=4)):
        with pytest.raises(LanguageError):
            parse_expression("x + y", budget)


def test_bounds_allow_what_they_say():
    for text in (
        "(" * 50 + "x" + ")" * 50,
        "-" * 50 + "x",
        "1**-" * 25 + "1",
        "(-" * 25 + "x" + ")" * 25,
        "+".join(["x"] * 200),
        "*".join(f"x{i}" for i in range(64)),
        "(x + y)**64",
        "(" + "+".join(f"x{i}" for i in range(64)) + ")**2",
        "9" * 60,
        "x**(1/64)",
        "(2**64)**64",
    ):
        parse_expression(text)


def test_deepest_tree_is_safe_for_recursive_operations():
    tree, same = (parse_expression("+".join(["x"] * 200)) for _ in range(2))
    assert tree == same
    assert hash(tree) == hash(same)
    assert pickle.loads(pickle.dumps(tree)) == copy.deepcopy(tree)
    assert repr(tree) == repr(same)


def test_package_imports_neither_sympy_nor_numpy():
    program = (
        "import sys, derive.language as language;"
        "language.to_text(language.parse_expression('x**2 - sqrt(y)'));"
        "sys.exit(bool({'sympy', 'numpy', 'scipy', 'mpmath'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_lists_of_names_keep_their_order():
    assert parse_name(" w_1 ", "weight") == "w_1"
    assert parse_names("p") == ("p",)
    assert parse_names("p, m ,a1") == ("p", "m", "a1")


def test_assignments_are_trees_in_order():
    found = parse_assignments("b=a0, a = 1/2,c=sqrt(2)*alpha")
    assert [name for name, _ in found] == ["b", "a", "c"]
    assert found[0][1] == Name("a0")
    assert found[1][1] == parse_expression("1/2")
    assert found[2][1] == Operation(
        "*", Power(parse_expression("2"), Fraction(1, 2)), Name("alpha")
    )


def test_outputs_are_trees_in_order():
    assert parse_outputs(["x*y", "x"]) == (parse_expression("x*y"), Name("x"))
    assert parse_outputs("x*y") == (parse_expression("x*y"),)


REFUSED = [
    (parse_names, "", "column 1: a name is missing"),
    (parse_names, "p,,m", "column 3: a name is missing"),
    (parse_names, "p,", "column 3: a name is missing"),
    (parse_names, "p, p", "column 4: p is given twice"),
    (parse_names, "p, 2", "column 4: '2' is not a name"),
    (parse_names, "p, sin", "column 4: 'sin' is a function"),
    (parse_names, "lambda", "column 1: 'lambda' is reserved"),
    (parse_names, "p\n", "column 2: U+000A"),
    (parse_names, ",".join(f"x{i}" for i in range(65)), "at most 64 names"),
    (parse_assignments, "", "column 1: expected an assignment such as a=1/2"),
    (parse_assignments, "a=1, b", "column 6: expected an assignment"),
    (parse_assignments, "a=1, b=", "column 8: expected a number, a name"),
    (parse_assignments, "a=1, b=2x", "column 9: write * between factors"),
    (parse_assignments, "a=1, b =  sin(x, y)", "column 14: sin takes exactly one argument"),
    (parse_assignments, "a=1,a=2", "column 5: a is given twice"),
    (parse_assignments, "a==1", "column 1: expected an assignment"),
    (parse_assignments, "=1", "column 1: a name is missing"),
    (parse_assignments, "2=1", "column 1: '2' is not a name"),
    (parse_assignments, "a=),b=(", "column 3: expected"),
    (parse_assignments, "a=1/0", "column 5: division by zero"),
    (parse_assignments, "a=1," * 2000, "at most 4000 characters"),
    (parse_outputs, [], "no outputs"),
    (parse_outputs, ["x + "], "column 4: expected"),
    (parse_outputs, ["x", "  y + "], "output 2, column 6: expected"),
    (parse_outputs, ["x", "y\n"], "output 2, column 2: U+000A"),
    (parse_outputs, ["2*3"], "output 1 is a constant"),
    (parse_outputs, ["x", "exp(1)"], "output 2 is a constant"),
    (parse_outputs, ["x"] * 65, "at most 64 outputs"),
    (parse_outputs, [*(f"x{i}" for i in range(63)), "y + z"], "output 64, column 5: at most"),
    (parse_outputs, ["x**64" + "+x" * 150] * 64, "nodes of the expression tree"),
]


@pytest.mark.parametrize(("parse", "text", "piece"), REFUSED)
def test_refusals_say_where(parse, text, piece):
    assert piece in str(refusal(text, parse))


def test_error_of_a_later_output_keeps_its_column():
    assert refusal(["x", "y^2"], parse_outputs).column == 2


@pytest.mark.parametrize("parse", [parse_names, parse_assignments])
@settings(max_examples=150, deadline=None)
@given(text=st.text("ab1=,()+*/ .\n\u03b2", max_size=30))
def test_any_text_is_read_or_refused(parse, text):
    with contextlib.suppress(LanguageError):
        parse(text)


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
