"""What text says: expressions as trees, and arguments of options."""

import contextlib
import copy
import pickle
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings
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
    parse_assignments,
    parse_expression,
    parse_name,
    parse_names,
    parse_outputs,
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
