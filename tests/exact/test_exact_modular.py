"""Linear algebra modulo a prime and over a function field, and what scalings tell apart."""

from fractions import Fraction
from random import Random

import pytest
import sympy
from flint import nmod
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.errors import InputError
from derive.exact.field.function_field import FunctionField
from derive.exact.field.generators import Generator
from derive.exact.linear import matrix as linear
from derive.exact.linear.implicitization import Coordinates, express, series_along
from derive.exact.linear.modular import (
    PRIME,
    Evaluator,
    Pole,
    _numerators,
    by_monomials,
    inverse,
    nullspace,
    random_point,
    rank,
    reconstruct,
    residue_matrix,
    shows_full_rank,
    supports,
)
from derive.exact.linear.scalings import told_apart
from derive.exact.towers.tower import Tower, build_elements
from derive.language import parse_expression

FIELD = FunctionField(("x", "y"))
x, y = FIELD.gens
small = st.integers(-4, 4)


@given(st.fractions(-1000, 1000, max_denominator=10**6))
def test_reconstruct_inverts_reduction(value):
    assert reconstruct(nmod(value.numerator, PRIME) / value.denominator) == value


def test_reconstruct_never_returns_a_wrong_residue():
    rng = Random(0)
    for _ in range(200):
        residue = rng.randrange(PRIME)
        found = reconstruct(nmod(residue, PRIME))
        if found is not None:
            assert (found.numerator - residue * found.denominator) % PRIME == 0


def test_rows_that_are_independent_at_a_point_are_so():
    assert shows_full_rank([[x, y]])
    assert shows_full_rank([[x, y], [y, x]])
    assert not shows_full_rank([[x, y], [2 * x, 2 * y]])
    assert not shows_full_rank([[x], [y]])


def test_inverse_of_zero_is_a_pole():
    assert inverse(nmod(3, PRIME)) * 3 == 1
    with pytest.raises(Pole):
        inverse(nmod(PRIME, PRIME))


def test_evaluator_agrees_with_exact_values():
    f = (x**3 - 2 * x * y) / (y + 3)
    value = f.at((Fraction(5), Fraction(7)))
    expected = value.numerator * pow(value.denominator, -1, PRIME) % PRIME
    assert Evaluator(f)((5, 7)) == expected
    with pytest.raises(Pole):
        Evaluator(f)((5, PRIME - 3))


@settings(deadline=None, derandomize=True)
@given(st.integers(1, 4), st.data())
def test_rank_and_nullspace_agree_with_sympy(height, data):
    rows = [[data.draw(small) for _ in range(4)] for _ in range(height)]
    matrix = sympy.Matrix(rows)
    assert rank(rows) == matrix.rank()
    basis = nullspace(residue_matrix(rows))
    assert len(basis) == 4 - matrix.rank()
    for vector in basis:
        assert not any(matrix * sympy.Matrix(vector))
    assert supports(residue_matrix(rows)) == [
        tuple(k for k, entry in enumerate(vector) if entry) for vector in basis
    ]


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(1, 3), st.data())
def test_determinant_and_inverse_agree_with_sympy(n, data):
    entries = [x, y, x - y, FIELD.one, FIELD.zero, x / (y + 1), 2 * y]
    rows = tuple(tuple(data.draw(st.sampled_from(entries)) for _ in range(n)) for _ in range(n))
    theirs = sympy.Matrix([[sympy.sympify(repr(e)) for e in r] for r in rows])
    determinant = linear.determinant(rows)
    assert sympy.cancel(sympy.sympify(repr(determinant)) - theirs.det(method="berkowitz")) == 0
    if determinant.is_zero():
        with pytest.raises(ZeroDivisionError):
            linear.inverse(rows)
        return
    found = linear.inverse(rows)
    for i in range(n):
        for j in range(n):
            entry = linear.dot(rows[i], [found[k][j] for k in range(n)])
            assert entry == (FIELD.one if i == j else FIELD.zero)


def root_field(*texts):
    return build_elements([parse_expression(text) for text in texts], ("x",), ("c",))[0].field


@pytest.mark.parametrize(
    "text", ["sqrt(3)*x", "59**(1/12)*x", "sqrt(c)*x", "(c + sqrt(c))**(1/2)*x"]
)
def test_roots_of_constants_are_the_same_at_every_point(text):
    field = root_field(text)
    rng = Random(3)
    points = [random_point(field, rng) for _ in range(6)]
    for position, index, top, _ in field.relations.known:
        values = {int(point[position]) for point in points}
        assert len(values) == 1
        value = Evaluator(field.quotient(top, field.ring.constant(1)))(points[0])
        assert nmod(values.pop(), PRIME) ** index == value
    assert len({point[0] for point in points}) == len(points)


def test_roots_of_numbers_that_the_prime_lacks_exist_modulo_another():
    lacking = [n for n in range(60, 200) if pow(n, PRIME // 2, PRIME) == PRIME - 1][:3]
    field = root_field(" + ".join(f"sqrt({n})" for n in lacking) + " + x")
    point = random_point(field, Random(0))
    assert {value.modulus() for value in point} == {point[0].modulus()} != {PRIME}
    for position, index, top, _ in field.relations.known:
        assert point[position] ** index == Evaluator(field.quotient(top, field.ring.constant(1)))(
            point
        )


def test_roots_without_values_modulo_any_prime_are_refused_and_not_sought_forever():
    # -1 is no square modulo the primes that are tried
    tower = Tower.over(FunctionField(("x", "c")))
    for A in (tower.field.gens[1], -tower.field.gens[1]):
        tower.adjoin(Generator(f"sqrt({A!r})", "root", A, 2))
    with pytest.raises(InputError, match="name a root of numbers alone as a parameter"):
        random_point(tower.field, Random(0))


@pytest.mark.parametrize("order", [1, 2, 5])
def test_series_along_a_flow_are_those_of_its_solution(order):
    """Along x' = x^2, y' = y + x: 1/x = 1/x_0 - t, and y' - y = x_0/(1 - x_0 t)."""
    start = (nmod(3, PRIME), nmod(7, PRIME))
    padded = [inverse(start[0]), -1, 0, 0, 0]
    assert series_along((x * x, y), 1 / x, start, order) == tuple(
        int(nmod(0, PRIME) + c) for c in padded[:order]
    )
    (*found,) = series_along((x * x, y + x), y, start, order)
    for k in range(order - 1):
        assert (k + 1) * nmod(found[k + 1], PRIME) == nmod(found[k], PRIME) + 3 ** (k + 1)


def read(texts):
    return build_elements([*map(parse_expression, texts)], ("a", "b", "c"), (), ())


@pytest.mark.parametrize(
    ("target", "functions"),
    [
        ("a", ["a*b", "a**2 - b**2"]),
        ("a*b", ["a**3*b**3", "c"]),
        ("b", ["a*b", "a/b"]),
        ("a*exp(b)", ["exp(2*b)", "a**2 + 1"]),
        ("sqrt(a**2 + b**2)", ["a", "b**2"]),
        ("a*sqrt(a**2 + b**2)", ["a**2", "b"]),
    ],
)
def test_what_a_scaling_moves_is_not_rational_in_what_it_leaves_alone(target, functions):
    target, *functions = read([target, *functions])
    assert told_apart(target, functions)
    assert express(target, Coordinates.of([(f"g{k}", g) for k, g in enumerate(functions)])) is None
    assert not told_apart(target * target / target, [*functions, target])


@pytest.mark.parametrize(
    "functions",
    [
        ["a*b", "a**2 - b**2"],
        ["a**2/b", "b*c", "a + c**2"],
        ["exp(a)*b", "exp(2*a) + b**2"],
        ["sqrt(a**2 + b**2)*a", "b**2"],
        ["(a**2 + b**2)**(1/3)", "a*b"],
    ],
)
def test_what_is_rational_in_functions_is_never_told_apart(functions):
    functions, rng = read(functions), Random(3)
    one = functions[0].field.one
    for _ in range(12):
        top, below = (
            sum((rng.randint(-2, 2) * rng.choice(functions) ** rng.randint(0, 2) for _ in "123"), x)
            for x in (0 * one, 7 * one)
        )
        assert below.is_zero() or not told_apart(top / below, functions)


def test_equations_by_monomials_are_those_of_quotients():
    """Of c_0 a/b + c_1 (a + b)/b + c_2: over one denominator; none where that is long."""
    a, b = FunctionField(("a", "b")).gens
    row = [a / b, (a + b) / b, 0 * a + 1]
    assert nullspace(by_monomials([row])) == [(1, -1, 1)]
    assert nullspace(by_monomials([[*row[:2], a]])) == []
    assert by_monomials([[1 / (a + b + k) for k in range(1, 30)]]) is None
    assert _numerators([a / b, b / a]) == [(a * a).numerator, (b * b).numerator]
