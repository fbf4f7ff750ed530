"""The records of the elementary functions agree with the libraries, the help and the README."""

from pathlib import Path

import mpmath
import pytest
import sympy
from flint import arb, arb_series

from derive.language import FUNCTIONS, parse_expression, to_sympy, to_text
from derive.language.functions import CALLS, INSTEAD, RECORDS, REFUSED, listed
from derive.language.tree import Call, walk
from tests.language.test_language_refusals import refusal

X = sympy.Symbol("x", positive=True)
OWN = {"sigmoid": 1 / (1 + sympy.exp(-X)), "softplus": sympy.log(1 + sympy.exp(X))}
README = Path(__file__).parents[2] / "README.md"


def formula(text):
    return to_sympy(parse_expression(text), {"x": X, **{n: sympy.Symbol(n) for n in "fp"}})


@pytest.mark.parametrize("name", [name for name in CALLS if name not in OWN])
def test_the_libraries_have_it_under_its_name(name):
    at = mpmath.mpf(3) / 7
    value = getattr(mpmath, name)(at)
    assert abs(getattr(sympy, name)(sympy.Rational(3, 7)).evalf(20) - value) < 1e-15
    assert abs(float(getattr(arb(3) / 7, name)()) - value) < 1e-14


@pytest.mark.parametrize("name", [f.name for f in RECORDS.values() if f.derivative])
def test_the_derivative_is_that_of_sympy(name):
    record, f = RECORDS[name], getattr(sympy, name)(X)
    rule = formula(record.derivative).subs({"f": f, "p": formula(record.partner or "x")})
    for at in (sympy.Rational(2, 7), sympy.Rational(9, 4)):
        assert abs((rule - f.diff(X)).subs(X, at).evalf(30)) < 1e-25


def softplus(x):
    return mpmath.log1p(mpmath.exp(x))


@pytest.mark.parametrize("name", [f.name for f in RECORDS.values() if f.rewritten or f.logarithm])
def test_what_it_is_rewritten_to_has_its_values(name):
    record, at = RECORDS[name], sympy.Rational(2, 7) if name == "atanh" else sympy.Rational(5, 3)
    own = {"sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)), "softplus": softplus, "abs": abs}
    value = own.get(name, getattr(mpmath, name, None))(mpmath.mpf(at.p) / at.q)
    for text in filter(None, (record.rewritten, record.logarithm)):
        assert abs(formula(text).subs(X, at).evalf(30) - value) < 1e-14


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - set(CALLS)))
def test_a_function_that_is_no_call_is_gone_once_it_is_read(name):
    tree = parse_expression(f"{name}(a*b + 1)")
    assert all(node.function in CALLS for node in walk(tree) if isinstance(node, Call))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_refusal_gives_the_reason(name):
    assert name not in RECORDS
    refused = refusal(f"1+{name}(w)")
    assert (refused.column, REFUSED[name] in str(refused)) == (3, True)


def test_a_refusal_in_a_rewritten_function_names_the_column_of_its_call():
    assert refusal("x + sqrt(-4)").column == 5


@pytest.mark.parametrize("name", OWN)
def test_a_function_that_sympy_has_not_stays_in_trees_and_is_written_out_there(name):
    tree = parse_expression(f"{name}(x)")
    assert to_text(tree) == f"{name}(x)"
    assert to_sympy(tree, {"x": X}) == OWN[name]


def test_other_spellings_are_answered_by_functions_there_are():
    for name, instead in INSTEAD.items():
        assert name not in RECORDS
        parse_expression(instead)


def test_series_of_flint_have_all_but_those_that_are_integrated():
    lacking = {f.name for f in RECORDS.values() if f.derivative and not hasattr(arb_series, f.name)}
    assert lacking == {"asinh"}


def test_the_readme_lists_them():
    assert listed(" and ") in README.read_text()
    # Written out there: a help page imports no language.
    page = (README.parent / "derive" / "cli" / "pages" / "regularizer.txt").read_text()
    assert " ".join(FUNCTIONS) in " ".join(page.split())
