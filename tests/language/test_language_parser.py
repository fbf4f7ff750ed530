"""What the language accepts, the trees it makes of it, and the bounds it keeps."""

import copy
import pickle
import subprocess
import sys
from fractions import Fraction

import pytest

from derive.language import (
    CALLS,
    Budget,
    Call,
    LanguageError,
    Name,
    Number,
    Operation,
    Power,
    parse_expression,
)

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
