"""K in beta, by roots that are numbered, and Q of one output from K alone, by Q'' = 1/K."""

import mpmath
import pytest
import sympy

from derive import Parameterization
from derive.exact.towers.tower import build_elements
from derive.language import parse_expression
from derive.model.notation import Notation
from derive.potential import antiderivative
from derive.potential.kernel_integral import integrate_relation
from derive.weights.coordinate import KernelRelation, find_kernel_relation, find_power
from tests.published import derive_once
from tests.witness_flow import Model, evaluate, number, real_roots

A, B = mpmath.mpf("1.3"), mpmath.mpf("0.7")
HYPERBOLIC = (
    "beta*asinh(beta/(2*a*b))/2 - beta*asinh((a**2 - b**2)/(2*a*b))/2"
    " - sqrt(4*a**2*b**2 + beta**2)/2"
)
CASES = [  # c_0, ..., c_m of c_0 + c_m K^m = 0, then beta_0, K_0 and Q as one would write it
    (["-4*beta**2 - 16*a**2*b**2", "0", "1"], "a**2 - b**2", "2*a**2 + 2*b**2", HYPERBOLIC),
    (["-4*beta**2 - 5", "0", "1"], "1 + 0*a", "3", None),
    (["-9*beta**2 - 6*beta - 3", "0", "1"], "2/3 + 0*a", "sqrt(11)", None),
    (["-2*beta**2 - 2*b*beta - b**2", "0", "1"], "0*a", "b", None),
    (["-a**2*beta**2 - a*b", "0", "1"], "0*a", "sqrt(a*b)", None),
    (["-(beta**2 + 1)", "1"], "a", "a**2 + 1", None),
    (["-(beta**2 - b**2)", "1"], "a + b", "a**2 + 2*a*b", None),
    (["-(beta**2 - 2)", "1"], "2 + a", "a**2 + 4*a + 2", None),
    (["-beta/(beta**2 + 1)", "1"], "a", "a/(a**2 + 1)", None),
    (["-beta**2 + a**2", "0", "1"], "2*a", "sqrt(3)*a", "open"),
]
POWERS = [  # of which K is a multiple of a power of beta - b
    ("w/3", "9*beta**2/2 - 3*beta*w_0"),
    ("w**2/3", "3*beta*log(3*beta/w_0**2)/4 - 3*beta/4"),
    ("exp(w) + 1", "beta*exp(-w_0) - log(beta - 1)"),
    ("-exp(w)", "-beta*exp(-w_0) - log(-beta)"),
    ("-w**4", "-beta/(8*w_0**2) - sqrt(-beta)/4"),
    ("w**3 - 2", "beta/(3*w_0) - (beta + 2)**(2/3)/2"),
    ("w**(5/2)", "-beta**(4/5) + 4*beta/(5*sqrt(w_0))"),
    ("-w**(4/5)", "25*beta*w_0**(6/5)/24 + 5*(-beta)**(5/2)/12"),
    ("1/sqrt(w)", "4*beta*w_0**(5/2)/5 + 1/(5*beta**4)"),
    ("(u + v)**3", "-beta**(2/3)/4 + beta/(6*(u_0 + v_0))"),
    ("(u - 2*v)**8", "-beta**(1/4)/60 + beta/(240*(u_0 - 2*v_0)**6)"),  # K has 15 terms
]


def relation_of(coefficients, beta0, K0):
    """Return c_0 + c_m K^m = 0 where a, b > 0 are the start of a product."""
    p = Parameterization.parse(["p*m"], {"p": "a", "m": "b"}, positive=["p", "m"])
    notation = Notation(p)
    texts = [*coefficients, beta0, K0]
    tower = build_elements([parse_expression(f"({t}) + 0*beta") for t in texts], ("beta", "a", "b"))
    field = tower[0].field
    *found, beta0, K0 = tower
    m, power = len(found) - 1, -found[0] / found[-1]
    return KernelRelation(notation, field, notation.betas[0], (beta0,), (), m, power, K0)


@pytest.mark.parametrize(("F", "Q"), POWERS)
def test_a_power_of_beta_is_integrated_whatever_its_exponent(F, Q):
    assert str(derive_once([F]).potential.Q) == Q


def test_a_condition_says_on_which_side_of_an_end_the_start_is():
    (piece,) = derive_once(["(u + v)**3"]).potential.pieces
    assert [str(c) for c in piece.assumptions] == ["u_0 + v_0 > 0"]
    (wall,) = piece.domain.walls
    assert wall.oriented
    assert piece.domain.where == "`beta > 0`"


def test_a_factor_of_k_that_is_a_number_needs_no_power_of_the_start():
    """K = 2 sqrt(beta + (u_0 - v_0)^2/4) under sign descent."""
    Q = "-beta*(u_0/2 + v_0/2) + 2*(beta + (u_0 - v_0)**2/4)**(3/2)/3"
    assert str(derive_once(["u*v"], steepest="oo").potential.Q) == Q


@pytest.mark.every(8)
@pytest.mark.parametrize(("coefficients", "beta0", "K0", "Q"), CASES, ids=str)
def test_q_has_the_second_derivative_one_over_k(coefficients, beta0, K0, Q):
    relation = relation_of(coefficients, beta0, K0)
    piece = integrate_relation(relation)
    if Q == "open":
        assert piece is None
        return
    if Q is not None:
        names = {s.name: s for s in piece.value.free_symbols}
        gap = sympy.sympify(Q, locals=names) - piece.value
        assert sympy.expand(sympy.powsimp(sympy.factor_terms(gap))) == 0
    symbols = relation.notation.start_symbols
    numbers = {symbols["a"]: A, symbols["b"]: B}
    numbers |= {symbol: text.subs(numbers) for symbol, text in piece.constants}
    x = relation.variable
    start = float(relation.expr(relation.beta0).subs(numbers))
    with mpmath.workdps(40):
        value, slope, K = (
            sympy.lambdify(x, f.subs(numbers), "mpmath")
            for f in (piece.value, piece.gradient[0], piece.kernel)
        )
        assert abs(slope(mpmath.mpf(start))) < 1e-12
        assert abs(K(mpmath.mpf(start)) - relation.expr(relation.K0).subs(numbers)) < 1e-12
        at = start + 0.1
        k = K(mpmath.mpf(at))
        power = relation.expr(relation.power).subs({**numbers, x: at})
        assert abs(k**relation.m - power) < 1e-9
        assert mpmath.almosteq(mpmath.diff(value, at), slope(mpmath.mpf(at)), 1e-9, 1e-9)
        assert mpmath.almosteq(mpmath.diff(slope, at) * k, 1, 1e-9)


@pytest.mark.parametrize("F", ["u*v - x*y", "u*v + 3*u", "sin(2*w)", "tan(w)", "u**2 + u"])
def test_the_square_of_k_is_read_off_its_slope(F):
    """Of K, a function of beta and the start, nothing changes along the flow, and it is K there."""
    p, (block,) = Parameterization.parse([F]), derive_once(F).blocks
    relation = find_kernel_relation(block.metric, Notation(p), find_power(block.metric))
    w = [sympy.Symbol(name, real=True) for name in p.weights]
    beta = sympy.sympify(F, locals={x.name: x for x in w})
    K = sum(beta.diff(x) ** 2 for x in w)
    left = K**relation.m - relation.expr(relation.power)
    left = left.subs(relation.variable, beta)
    slope = sum(beta.diff(x) * left.diff(x) for x in w)
    begin = {f"{x}_0": sympy.Rational(k + 2, 7) for k, x in enumerate(w)}
    known = {s: begin[s.name] for s in left.free_symbols if s.name in begin}
    at_start = {x: begin[f"{x}_0"] for x in w}
    moved = {x: sympy.Rational(2 * k + 3, 11) for k, x in enumerate(w)}
    assert abs(sympy.N(left.subs(known).subs(at_start))) < 1e-12
    assert abs(sympy.N(slope.subs(known).subs(moved))) < 1e-12
    assert relation.power.depends_on(0)


@pytest.mark.parametrize(
    ("top", "bottom", "elementary"),
    [
        ("1", "x**4 + 1", True),  # residues with roots of roots
        ("3*x**2 - 1", "x**3 - x + 1", True),  # log of the denominator
        ("1", "5*x**4 + 1", True),
        ("1", "x**3 - x + 1", False),  # residues that are roots of a cubic
        ("x", "x**5 + x + 3", False),
    ],
)
def test_residues_that_are_no_square_roots_are_seen_before_an_antiderivative_is_sought(
    top, bottom, elementary
):
    x = sympy.Symbol("x")
    parts = (sympy.Poly(sympy.sympify(text), x) for text in (top, bottom))
    assert antiderivative._has_residues(*parts) is elementary


@pytest.mark.parametrize("start", [{}, {"p": "1", "m": "1"}, {"p": "2", "m": "1"}])
def test_a_linear_model_has_the_square_from_beta_0_as_from_elsewhere(start):
    """K = 2 wherever the flow begins, at beta_0 = 0 too."""
    (piece,) = derive_once("p - m", start).potential.pieces
    (beta,) = piece.betas
    assert piece.kind == "explicit"
    assert piece.value.diff(beta, 2) == sympy.Rational(1, 2)


SCALAR = ("y/(1+y**2)", "-2*y/(1+y**2)", "y**3-12*y", "y**3-y/12")
POINTS = [  # outputs, their start, the weights there, and whether K has roots with numbers
    (["y/(1+y**2)"], {"y": "1/2"}, ["1/2"], True),
    (["-2*y/(1+y**2)"], {"y": "2"}, ["2"], True),
    (["x*y*z", "z"], {"x": "1", "y": "1/2", "z": "-1"}, ["1", "1/2", "-1"], True),
    (["x*y*z", "z"], {"x": "1", "y": "1/2", "z": "1"}, ["1", "1/2", "1"], True),
    (["a*u1", "a*u2"], {"a": "-2", "u1": "1", "u2": "3"}, ["-2", "1", "3"], True),
    (["w + w**3"], {"w": "1/2"}, ["1/2"], True),
    (["w + w**3"], {"w": "alpha"}, ["-2"], True),
    (["x**2*y"], {}, ["1", "-2"], False),
    *(([F], {"y": "alpha"}, [y], False) for y in ("1/2", "2", "-1/2", "-2") for F in SCALAR),
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("outputs", "start", "w", "rooted"), POINTS)
def test_the_kernel_holds_and_the_number_of_a_root_names_that_of_its_formula(
    outputs, start, w, rooted
):
    """No K in beta is an honest answer, a wrong branch is not."""
    d = derive_once(outputs, start)
    model, kernel = Model.of(outputs, d.parameterization.weights), d.metric.kernel
    with mpmath.workdps(30):
        weights = [number(x) for x in w]
        values, readings = on_leaf(d, model, weights)
        assert readings or not rooted
        for explicit, numbered in readings:
            assert explicit is None or abs(explicit - numbered) < 1e-12
        if kernel is not None:
            expected, point = model.kernel(weights), {sympy.Symbol(n): v for n, v in values.items()}
            for i in range(model.d):
                for j in range(model.d):
                    assert abs(evaluate(kernel[i, j], point) - expected[i][j]) < 1e-12


def on_leaf(d, model, weights):
    """Return the values at a point, and each root by its formula and by its number."""
    values = dict(zip(d.parameterization.start_symbols, weights, strict=False))
    values |= {b.name: x for b, x in zip(d.beta, model.F(*weights), strict=True)}

    def at(expression):
        return evaluate(expression, {sympy.Symbol(n): v for n, v in values.items()})

    for symbol, value in d.metric.constants:
        values[symbol.name] = at(value)
    readings = []
    for root in d.metric.roots:
        real = real_roots([at(c) for c in sympy.Poly(root.polynomial, root.symbol).all_coeffs()])
        explicit = None if root.explicit is None else at(root.explicit)
        if root.from_above is None:
            # Only the formula says which root it is: it must be one.
            numbered = min(real, key=lambda x: abs(x - explicit))
        else:
            assert root.from_above < len(real), "there is no such real root"
            numbered = real[root.from_above]
        readings.append((explicit, numbered))
        values[root.symbol.name] = numbered if explicit is None else explicit
    return values, readings
