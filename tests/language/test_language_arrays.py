"""Vectors and matrices as lists of numbers; functions as the libraries and the README have them."""

from pathlib import Path
from random import Random

import mpmath
import pytest
import sympy
from flint import arb, arb_series

from derive import Parameterization, Verdict, derive
from derive.errors import InputError, LanguageError
from derive.language import FUNCTIONS, parse_expression, to_sympy, to_text
from derive.language.arguments import parse_array_outputs, parse_combination, parse_shapes
from derive.language.arrays import entry_names
from derive.language.functions import CALLS, INSTEAD, RECORDS, REFUSED, listed
from derive.language.tree import Call, walk
from tests.language.test_language_refusals import refusal
from tests.published import derive_once

SHAPES = {"W": (2, 3), "V": (3, 2), "u": (3,), "v": (2,)}


def plain(text, rng):
    """Evaluate with nested lists, and give the values of the entries."""
    values = {n: rng.randint(-5, 5) for a, s in SHAPES.items() for n in entry_names(a, s)}
    values |= {"a": 3, "c": 2}

    def array(name):
        shape = SHAPES[name]
        row = [values[n] for n in entry_names(name, shape)]
        if len(shape) == 1:
            return row
        return [row[i * shape[1] : (i + 1) * shape[1]] for i in range(shape[0])]

    return values, array


def times(A, B):
    columns = list(zip(*B, strict=True))
    return [[sum(x * y for x, y in zip(row, col, strict=True)) for col in columns] for row in A]


@pytest.mark.parametrize("seed", range(5))
def test_products_are_those_of_lists(seed):
    values, array = plain("", Random(seed))
    W, V, u = array("W"), array("V"), array("u")
    transposed = [list(row) for row in zip(*W, strict=True)]
    expected = {
        "W*V": times(W, V),
        "W*T(W)": times(W, transposed),
        "a*W - T(V)/c": [[3 * W[i][j] - V[j][i] / 2 for j in range(3)] for i in range(2)],
        "W*u": [[x] for x in (sum(a * b for a, b in zip(row, u, strict=True)) for row in W)],
        "dot(u, u)*v": [[sum(x * x for x in u) * x] for x in array("v")],
    }
    for text, matrix in expected.items():
        (found,) = parse_array_outputs([text], SHAPES)
        flat = [x for row in matrix for x in row]
        ours = [to_sympy(t).subs(values) for t in found.trees]
        assert [float(x) for x in ours] == [float(x) for x in flat], text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("u*u", "cannot be multiplied"),
        ("u + v", "cannot be added"),
        ("W*W", "2x3 matrix and a 2x3 matrix"),
        ("T(u)", "for matrices"),
        ("dot(u)", "two arguments"),
        ("dot(u, v)", "of one length"),
        ("exp(u)", "for numbers"),
        ("u1*u", "entry of an array"),
        ("a/u", "divisor"),
        ("u**2", "power"),
        ("foo(u)", "not a function"),
    ],
)
def test_what_does_not_fit_is_refused(text, message):
    with pytest.raises(LanguageError, match=message):
        parse_array_outputs([text], SHAPES)


@pytest.mark.parametrize("text", ["u:0", "u:100", "W:2x", "W:2x2x2", "1:2", "u:3,u:3", "T:2x2"])
def test_bad_shapes_are_refused(text):
    with pytest.raises(LanguageError):
        parse_shapes(text)


def test_squares_are_powers():
    (found,) = parse_array_outputs(["dot(v, v)"], SHAPES)
    assert [to_text(x) for x in found.trees] == ["v1**2 + v2**2"]


def test_symmetric_outputs_are_given_once():
    p = Parameterization.parse(["W*T(W)"], arrays={"W": (2, 2)})
    assert p.d == 3
    assert derive(p).verdict is Verdict.REFUTED
    q = Parameterization.parse(["U*T(V)"], arrays={"U": (2, 2), "V": (2, 2)})
    assert q.d == 4
    assert derive(q).verdict is Verdict.REFUTED


def test_a_vector_is_its_entries():
    one = derive_once("a*u", arrays={"u": (3,)})
    other = derive_once(["a*u1", "a*u2", "a*u3"])
    assert one.potential.Q == other.potential.Q


def test_a_combination_collects_coefficients():
    terms = parse_combination("a*u - norm(u)**2*u/2 + b*v", ["u", "v"])
    assert {u: (norm, str(to_sympy(phi))) for u, (norm, phi) in terms.items()} == {
        "u": ("norm_u", "a - norm_u**2/2"),
        "v": ("norm_v", "b"),
    }


@pytest.mark.parametrize("text", ["dot(u, v)*u", "u*v", "norm(u)", "exp(u)", "u + 1", "T(u)"])
def test_what_needs_a_dimension_says_so(text):
    with pytest.raises(InputError, match="give a dimension, for instance --vector u:3"):
        parse_combination(text, ["u", "v"])


@pytest.mark.parametrize(
    ("text", "phi"),
    [
        ("c*u/norm(u)", "c/norm_u"),
        ("u*a", "a"),
        ("-u*a*b", "-a*b"),
        ("(u - a*u)*dot(u, u)", "(1 - a)*norm_u**2"),
        ("u/2 + norm_u*norm(u)*u", "1/2 + norm_u*norm_u_"),
    ],
)
def test_a_coefficient_is_as_it_is_written(text, phi):
    ((_, found),) = parse_combination(text, ["u"]).values()
    assert to_text(found) == phi


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
