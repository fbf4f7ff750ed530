"""Relations, families of functions, nonnegativity and real roots."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
import sympy
from flint import fmpq, fmpq_mat
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from derive.exact.balls import branch_from_above, real_roots
from derive.exact.field.factors import factored, factors
from derive.exact.field.function_field import FunctionField
from derive.exact.linear.families import darboux_factors, eigenvectors, linear_part
from derive.exact.linear.implicitization import Coordinates, find_relation, holds
from derive.exact.signs import Signs
from derive.exact.towers.tower import build_elements
from derive.language import parse_expression

FIELD = FunctionField(("u", "v", "w"))
u, v, w = FIELD.gens


def test_coordinates_are_equal_by_content():
    one, again, other = (Coordinates.of([("c", f)]) for f in (u * v, v * u, u * w))
    assert one == again
    assert hash(one) == hash(again)
    assert one != other
    assert one != Coordinates.of([("b", u * v)])
    assert one != (u * v,)


def test_tampered_relation_is_rejected():
    coordinates = Coordinates.of([("beta", u**2 - v**2), ("c", u * v)])
    relation = find_relation(u**2 + v**2, coordinates)
    assert holds(relation, coordinates)
    for n, extra in product(range(relation.degree + 1), coordinates.field.gens):
        coefficients = list(relation.coefficients)
        coefficients[n] += extra
        assert not holds(replace(relation, coefficients=tuple(coefficients)), coordinates)


@pytest.mark.parametrize("target", [w, u * w, u + v + w, w**2 + u])
def test_no_relation_among_independent_functions(target):
    """A relation among the coordinates says nothing of the target."""
    for of in ((u * v, u + v), (u, u**2, v)):
        coordinates = Coordinates.of(zip("abc", of, strict=False))
        assert find_relation(target, coordinates, highest=8) is None


@pytest.mark.parametrize(
    "texts", [("cos(w)", "sin(w)"), ("sin(w)", "cos(w)"), ("cos(2*w)", "sin(w)")]
)
def test_a_sine_is_tied_to_its_cosine(texts):
    """The argument is in the name of a sine alone, which is no reason to leave it out."""
    target, other = build_elements(list(map(parse_expression, texts)), ("w",))
    relation = find_relation(target, Coordinates.of([("b", other)]))
    assert relation.degree == (1 if texts[0] == "cos(2*w)" else 2)


def test_eigenvectors_that_matrices_share():
    swap, double = fmpq_mat([[0, 1, 0], [1, 0, 0], [0, 0, 5]]), fmpq_mat(3, 3)
    for k in range(3):
        double[k, k] = 2
    vectors = eigenvectors([double, swap])
    assert {tuple(abs(c) // max(map(abs, v)) for c in v) for v in vectors} == {(1, 1, 0), (0, 0, 1)}
    assert len(vectors) == 3
    for v in vectors:
        column = fmpq_mat([[c] for c in v])
        image = swap * column
        assert any(image == value * column for value in (1, -1, 5))
    assert eigenvectors([fmpq_mat([[0, 2], [1, 0]])]) == []  # irrational ones
    field = FunctionField(("u", "v"))
    a, b = field.gens
    assert linear_part(field, (2 * a - b / 3, field.zero)) == fmpq_mat([[2, fmpq(-1, 3)], [0, 0]])
    for f in (a * b, a + 1, a**2 / b, a / (b - 1)):
        assert linear_part(field, (a, f)) is None


def test_darboux_factors_keep_their_sign():
    field_of_pair = ((2 * u, -2 * v, FIELD.zero),)
    factors = darboux_factors(FIELD, field_of_pair, ())
    assert u in factors
    assert v in factors
    assert u + v not in factors
    product_field = ((v, u, FIELD.zero),)
    factors = darboux_factors(FIELD, product_field, ())
    assert u + v in factors
    assert u - v in factors
    assert u not in factors


forms = st.lists(st.integers(-4, 4), min_size=6, max_size=6)


@settings(deadline=None, derandomize=True)
@given(forms)
def test_nonnegative_is_exact_on_quadratic_forms(c):
    """True exactly on semidefinite forms, judged by SymPy's eigenvalues."""
    f = c[0] * u**2 + c[1] * v**2 + c[2] * w**2 + c[3] * u * v + c[4] * u * w + c[5] * v * w
    half = sympy.Rational(1, 2)
    gram = sympy.Matrix(
        [
            [c[0], c[3] * half, c[4] * half],
            [c[3] * half, c[1], c[5] * half],
            [c[4] * half, c[5] * half, c[2]],
        ]
    )
    minors = [
        gram.extract(list(s), list(s)).det()
        for s in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
    ]
    assert Signs().is_nonnegative(f) == all(m >= 0 for m in minors)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(st.integers(-3, 3), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4
    ),
    st.sets(st.sampled_from(["u", "v"])),
)
def test_never_true_where_a_value_is_negative(terms, positive):
    f = sum((c * u**i * v**j for c, i, j in terms), FIELD.zero)
    assume(Signs(positive).is_nonnegative(f))
    values = [Fraction(n, 3) for n in range(-7, 8)]
    for a, b in product(values, values):
        if ("u" in positive and a <= 0) or ("v" in positive and b <= 0):
            continue
        assert f.at((a, b, Fraction(0))) >= 0


integer_roots = st.lists(st.integers(-6, 6), min_size=1, max_size=4)


@given(integer_roots, st.sampled_from([1, -2, 3]))
def test_branch_counts_the_roots_above(roots, leading):
    t = sympy.Symbol("t")
    polynomial = sympy.Poly(leading * sympy.prod([t - r for r in roots]) * (t**2 + 1), t)
    coefficients = [Fraction(int(c)) for c in reversed(polynomial.all_coeffs())]
    distinct = sorted(set(roots), reverse=True)
    assert len(real_roots(coefficients)) == len(distinct)
    for position, root in enumerate(distinct):
        assert branch_from_above(coefficients, Fraction(root)) == position
    assert branch_from_above(coefficients, Fraction(13, 2)) is None


@pytest.mark.parametrize("near", [1 + Fraction(1, 10**n) for n in (30, 40)])
def test_close_roots_are_told_apart(near):
    """1 and 1 + 10**-40 have one ball in common at any precision below 130 bits."""
    coefficients = [near, -1 - near, Fraction(1)]
    lower, upper = real_roots(coefficients)
    assert lower < upper
    assert branch_from_above(coefficients, Fraction(1)) == 1
    assert branch_from_above(coefficients, near) == 0


@pytest.mark.parametrize(
    ("text", "number", "powers"),
    [
        ("-12*x**2*(x - y)/(5*y**3)", Fraction(-12, 5), {"x": 2, "x - y": 1, "y": -3}),
        ("7/3", Fraction(7, 3), {}),
        ("(x**2 - y**2)/(x**2 + y**2)", Fraction(1), {"x + y": 1, "x - y": 1, "x**2 + y**2": -1}),
        ("sqrt(x)/(y - x)", Fraction(-1), {"sqrt(x)": 1, "x - y": -1}),
    ],
)
def test_the_product_of_the_factors_is_the_function(text, number, powers):
    (f,) = build_elements([parse_expression(text)], ("x", "y"))
    content, found = factored(f)
    assert content == number
    assert {repr(x): n for x, n in found} == powers
    product = f.field.constant(content)
    for x, n in found:
        product *= x**n
    assert product == f
    assert factors(f) == [(x, n) for x, n in found if n > 0]
