"""Integrals over a weight, as they are printed, against flows of the weights; and what is none."""

import json
import re
from dataclasses import replace
from itertools import chain, product

import numpy as np
import pytest
import sympy
from mpmath import mp, mpf
from sympy.utilities.lambdify import implemented_function

from derive import Parameterization, Verdict, derive
from derive.certificate.checking.check import check_text
from derive.exact.linear.families import LogFunction
from derive.language import parse_expression, to_sympy
from derive.model.condition import Sign
from derive.model.notation import Notation
from derive.potential import antiderivative, separation, substitution
from derive.potential.along_weight import integrate_along_weight
from derive.potential.separation import disjoint_parts
from derive.weights import solved_leaf
from derive.weights.adjoin import logarithmic_law
from derive.weights.conserved import find_conserved, find_lie_structure
from derive.weights.solved_leaf import solved_leaves
from numerics.confirm.crosscheck import crosscheck, on_curve, with_roots
from numerics.evaluate.numbers import evaluated
from tests.certificate.certificates import assert_rejected
from tests.published import certified_once, derive_once
from tests.witness_flow import number, risen

TIME = mpf(1) / 8
OVER_A_WEIGHT = [
    ("w*exp(s)", {"w": "-1/2", "s": "1/3"}),
    ("b**2*exp(b)", {"b": "1/2"}),
    ("log(1 + exp(a**2 + b))", {"a": "-1/2", "b": "1/4"}),
    ("b**2*tanh(a)", {"b": "1", "a": "-1/4"}),
    ("b**3/(b**2 + a**2)", {"b": "1", "a": "-1/2"}),
    ("b**3/(b**2 + a**2)", {"b": "-1", "a": "-1/2"}),
    ("sinh(c + a**2)", {"c": "0", "a": "-1/2"}),
    ("a**2*b/(1 + b**2)", {"a": "-1", "b": "2"}),
    ("log(log(1 + exp(a)) + exp(c))", {"a": "1/2", "c": "1/3"}),
    ("exp(a) + a", {"a": "-1/2"}),
    ("exp(a) - a", {"a": "1/2"}),
    ("exp(a) - a", {"a": "-1/2"}),
    ("log(a) + 1/a", {"a": "3"}),
    ("a*log(a)", {"a": "2"}),
    ("exp(a)/b", {"a": "-1", "b": "2"}),
    ("b**2*exp(a)", {"a": "0", "b": "-1"}),
    ("w/(1 + exp(-s))", {"w": "0", "s": "1/3"}),
    ("w/(1 + exp(-s))", {"w": "-1/2", "s": "1/3"}),
    ("log(a)/(1 + exp(-b))", {"a": "2", "b": "1/2"}),
    ("1/((1 + exp(-a))*(1 + exp(-b)))", {"a": "1", "b": "1/2"}),
    ("1/(exp(a) + exp(b) + exp(c))", {"a": "1/8", "b": "1/2", "c": "-1/4"}),
    ("(1 + a)**3*b", {"a": "-2", "b": "1/4"}),
    ("exp(a)/(1 + exp(a) + exp(b))", {"a": "-1/2", "b": "1/3"}),
    ("w*exp(1/w)", {"w": "-1/2"}),
]
CLOSED = [
    ("w**3 + w**2", {"w": "-1/2"}, {}),
    ("w**3 + w**2", {"w": "-2"}, {}),
    ("w**3 + w**2", {"w": "1/4"}, {}),
    ("w/(1 + w**2)", {"w": "1/2"}, {}),
    ("w/(1 + w**2)", {"w": "-2"}, {}),
    ("w**3 - w", {"w": "3/2"}, {}),
    ("w**3 - w", {"w": "-1/2"}, {}),
    # With log((3 + sqrt(3))/(3 - sqrt(3))) = log(2 + sqrt(3)), which SymPy is long in seeing.
    ("w**3 - w", {"w": "-1"}, {"w": "-1"}),
    ("w**3 - w", {"w": "1/10"}, {"w": "1/10"}),  # on the other side of a zero of the slope
]
OVER_BETA = [
    ("a*sinh(b)", {"a": "1/2", "b": "-1"}),
    ("g*w/sqrt(w**2 + e)", {"g": "1/16", "w": "-1", "e": "1/2"}),
    ("a*tanh(b)", {"a": "-1/16", "b": "1"}),
    ("c*a/(1 + a**2)", {"c": "1/2", "a": "2"}),
]
OVER_BETA_FROM_SYMBOLS = [
    ("v*log(1 + exp(w))", {"v": "1", "w": "-1/2"}),
    ("v*log(1 + exp(w))", {"v": "-1/8", "w": "1"}),  # which passes 0
    ("atan(a)*b", {"a": "1/2", "b": "1"}),
    ("b*exp(log(a)**2)", {"a": "3/2", "b": "1/2"}),
    ("v/(1 + exp(-q*k))", {"v": "1", "q": "1/2", "k": "-1"}),
    ("v/(1 + exp(-q*k))", {"v": "-1/2", "q": "-1", "k": "1/2"}),
    ("a*tanh(b*c)", {"a": "1", "b": "1/2", "c": "1"}),
    ("(1 + a*b)*c", {"a": "1", "b": "1/2", "c": "-1/4"}),
    ("exp(a*b)*c", {"a": "1/2", "b": "-1", "c": "1"}),
    ("a*(b*c + d)", {"a": "-1/2", "b": "1/2", "c": "1", "d": "1/4"}),
    ("a + a*b*c", {"a": "1/2", "b": "1", "c": "-1/2"}),
    ("w*v*exp(s)", {"w": "-1/16", "v": "1", "s": "0"}),
    # Roots in F, and what it divides by, are coordinates in which laws give squares of weights.
    ("a*b/sqrt(1 + a**2 + b**2)", {"a": "1/16", "b": "-1"}),
    ("a**2*b/sqrt(a**2 + b**2)", {"a": "-1", "b": "-1/16"}),
    ("a*b*c/sqrt(a**2 + b**2 + c**2)", {"a": "1", "b": "-1/2", "c": "1/16"}),
    ("c*(a**2 + b**2)**(1/3)", {"a": "-1/2", "b": "1/4", "c": "1/16"}),
    ("c*(a**2 + 3*b**2)**(1/3)", {"a": "1/2", "b": "1/4", "c": "1/16"}),  # 1 and 3 times a rate
]


def quadrature(output, start=None):
    (piece,) = derive_once(output, start or {}).potential.pieces
    assert piece.integrand is not None or piece.curve.weight
    return piece


def known(piece, start):
    values = {f"{name}_0": number(x) for name, x in start.items()}
    for symbol, value in piece.constants:
        values[symbol.name] = evaluated(value, values)
    return values


FREE = [
    ("(1 + a)**2*b", {"a": "1/2", "b": "-1/4"}),
    ("(1 + a)**2*b", {"a": "-5/2", "b": "1/4"}),
    ("(a + b)**2*c", {"a": "-1", "b": "1/4", "c": "1/2"}),
    ("(a - 2*b)**2*c", {"a": "1", "b": "1/4", "c": "-1/2"}),
    *(("u**2*v", {"u": u, "v": v}) for u in ("1/2", "-1/2") for v in ("1", "-1")),
    *(("u**2*v", {"u": u, "v": v}) for u in ("1", "-1") for v in ("1/2", "-1/2")),
    ("a + b*log(b)", {"a": "1/2", "b": "2"}),
    ("a*b + log(1 + exp(c))", {"a": "1", "b": "1/2", "c": "-1/3"}),
    ("exp(b) + a + b", {"a": "0", "b": "-1/2"}),
    ("a*log(a) - b**2 + c + 3", {"a": "2", "b": "1/2", "c": "1"}),
    ("log(2 + exp(2*c)) - b", {"b": "1/2", "c": "1"}),
    ("log(2 + 3*c) + c + b", {"b": "1/2", "c": "1"}),
    ("log(2 + exp(c)) - log(b)", {"b": "3", "c": "1"}),
    ("u*v*w + log(1 + exp(c))", {"u": "1", "v": "1/2", "w": "-1", "c": "1/3"}),
    ("u*v**3 + c + exp(c)", {"u": "1", "v": "1/2", "c": "1/3"}),
    ("log(b) + a - b", {"a": "1/2", "b": "2"}),
    *(("log(exp(a) + exp(b))", {"a": a, "b": "1/3"}) for a in ("-1", "1/3", "2")),
]
"""Of each one form, from a start in symbols: on either side of a constant beside a weight, of a
delta of either sign, and of sums without common weights."""


WITHIN = [  # an integral over a weight
    ("exp(a**2)/(1 + exp(-b**2))", {"a": "1/2", "b": "1"}),
    ("exp(a**2)/(1 + exp(-b**2))", {"a": "-1/2", "b": "-1"}),
    ("(a*b)**(3/4) + a*b", {"a": "2", "b": "1"}),
    ("(a*b)**(3/4) + a*b", {"a": "-1", "b": "-3/2"}),
    ("a*b + sinh(a*b)", {"a": "1", "b": "-1/2"}),
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("output", "start", "free"), [
    *((output, start, {}) for output, start in FREE),
    *((output, start, start) for output, start in OVER_A_WEIGHT),
])  # fmt: skip
def test_an_integral_over_a_weight_is_the_time_and_q_its_integral(output, start, free):
    """dQ/dbeta = mu, the time of w' = grad F, and Q grows by int mu K dmu."""
    (piece,) = derive_once(output, free).potential.pieces
    summed = len(disjoint_parts(Parameterization.parse([output]))) > 1
    assert summed == (piece.lift is not None) == ("infimal convolution" in piece.note)
    assert summed or piece.integrand is not None or piece.curve.weight
    follow(piece, output, start)


@pytest.mark.every(2)
@pytest.mark.parametrize(("output", "start"), WITHIN)
def test_integrals_over_an_integral_are_the_time_and_q_its_integral(output, start):
    follow(quadrature(output), output, start)


def test_weights_in_proportion_are_known_with_one_of_them():
    piece = quadrature("a*(b**2 + c**2)")
    (t,) = piece.curve.beta.free_symbols - {s for s, _ in piece.constants}
    assert (piece.curve.weight, piece.integrand.left) == ("a", "sign")
    assert piece.curve.beta.is_polynomial(t)
    assert not piece.assumptions
    assert crosscheck(derive_once("a*(b**2 + c**2)"), digits=12).passed


@pytest.mark.every(4)
@pytest.mark.parametrize(("output", "start", "free"), CLOSED)
def test_rational_integrands_over_a_weight_are_integrated(output, start, free):
    piece = quadrature(output, free)
    assert piece.kind == "parametric"
    assert {c.sign for c in piece.assumptions} <= {Sign.NONZERO}
    follow(piece, output, start)
    assert_all_but_ends_is_certified(quadrature(output), check_text(certified_once(output)))


def assert_all_but_ends_is_certified(piece, report):
    """What is said of the ends of beta over a weight has no certificate, and is open for that."""
    where = piece.domain
    of_ends = "the domain of Q of beta"
    assert list(report.open) == [of_ends] * bool(where.walls or not where.undecided)


@pytest.mark.every(2)
@pytest.mark.parametrize("output", ["log(exp(a) + exp(b) + exp(c))", "log(1 + exp(a) + exp(b))"])
def test_integrands_that_are_rational_in_an_exponential_are_integrated(output):
    """dQ/dbeta is closed, and certified; Q is an integral of a logarithm over a sum."""
    piece = quadrature(output)
    assert not piece.gradient[0].has(sympy.Integral)
    assert (piece.kind, piece.integrand.left) == ("quadrature", "conjugate")
    numbers = {"a": "1/2", "b": "-1", "c": "1/4"}
    follow(piece, output, {w: x for w, x in numbers.items() if f"exp({w})" in output})
    assert not check_text(certified_once(output)).open


def test_an_antiderivative_knows_no_weights_of_other_blocks():
    alone = derive("exp(w) - w").potential.numeric({"w_0": "1/2"})
    start = {"u_0": 1, "v_0": "1/2", "w_0": "1/2"}
    beside = derive(["u*v", "exp(w) - w"]).potential.numeric(start)
    for b in (1.1, 1.3, 4.0):
        assert beside.gradient([2.0, b])[1] == pytest.approx(alone.gradient([b])[0], rel=1e-12)
        rise = np.subtract(alone([b]), alone([1.2]))
        assert beside([0.5, b]) - beside([0.5, 1.2]) == pytest.approx(rise, rel=1e-12)


def test_a_wrong_antiderivative_is_not_printed(monkeypatch):
    own = antiderivative.antiderivative
    for wrong in (lambda mu, t: 2 * mu, lambda mu, t: mu + t, lambda mu, t: -mu):
        broken = lambda leaf, f: wrong(own(leaf, f), leaf.variable)  # noqa: B023, E731
        for room in (substitution, antiderivative):
            monkeypatch.setattr(room, "antiderivative", broken)
        (piece,) = derive(Parameterization.parse(["w**3 + w**2"])).potential.pieces
        assert piece.curve is None  # Q is in the weights, where y and R need no antiderivative
        assert piece.lift is not None


def follow(piece, output, start):
    """Compare dQ/dbeta with mu, the time of w' = grad F, and Q with int mu K dmu, both ways."""
    path, (slope,), (beta,) = piece.curve, piece.gradient, piece.betas

    def at(w, F):
        values = known(piece, start) | (w if path is None else on_curve(path, w)) | {beta.name: F}
        return values | {G.name: evaluated(f, values) for G, f in piece.abbreviations}

    def value(e, values):
        e = e if path is None else with_roots(e, path, here)
        for G, f in piece.abbreviations:

            def integral(x, f=f):
                return evaluated(f, {**values, path.parameter.name: x})

            found = implemented_function(G.name, integral)
            e = e.replace(sympy.Function(G.name, real=True), found)
        return evaluated(e, values)

    close = 1e-11 if piece.abbreviations else 1e-12
    with mp.workdps(15 if piece.abbreviations else 20):
        here = at(*risen(output, start, 0)[:2])
        for time in (TIME, -TIME / 2):
            w, F, _, expected = risen(output, start, time)
            there = at(w, F)
            assert path is None or abs(value(path.beta, there) - F) < close
            assert abs(value(slope, there) - time) < close
            rise = value(piece.value, there) - value(piece.value, here)
            assert abs(rise - expected) < 1e-9
            assert abs(expected) > 1e-5


def test_what_a_term_integrates_over_is_no_weight_of_another():
    start = {"a": "1", "b": "2", "c": "1", "x": "3"}
    d = derive_once("a*(b**2 + c**2) + (a*(b**2 + c**2))**3 + x**2", start=start)
    assert d.verdict is Verdict.PROVED


def test_logarithms_of_weights_of_either_sign_are_real():
    """K of x log(a b) is log(a b)^2 + x^2/a^2 + x^2/b^2, also where both a and b are negative."""
    (piece,) = derive_once("x*log(a*b)").potential.pieces
    ((_, kernel),) = piece.abbreviations
    start = {"a_0": sympy.Integer(-1), "b_0": -sympy.Rational(1, 2), "x_0": sympy.Integer(1)}
    at = {
        str(s): c.xreplace({x: start[x.name] for x in c.free_symbols}) for s, c in piece.constants
    }
    shown = kernel.xreplace({s: at.get(s.name, start["a_0"]) for s in kernel.free_symbols})
    assert abs(sympy.N(shown - (sympy.log(2) ** 2 + 5))) < 1e-12


@pytest.mark.parametrize("output", ["a*b + b*log(b)", "exp(a*b) + c*log(a)", "log(a*b*c + d**3)"])
def test_terms_with_common_weights_are_no_parts(output):
    assert len(disjoint_parts(Parameterization.parse([output]))) == 1


def test_parts_are_the_connected_terms():
    p = Parameterization.parse(["a*b + c + 3 + b*d - 2*c**2 + e"], {"a": "1"})
    found = sorted(sorted(part.weights) for part in disjoint_parts(p))
    assert found == [["a", "b", "d"], ["c"], ["e"]]


def test_a_wrong_part_is_not_printed(monkeypatch):
    for wrong in (lambda e: 2 * e, lambda e: -e):
        broken = lambda *part: find_part(*part)._replace(R=wrong(find_part(*part).R))  # noqa: B023, E731
        monkeypatch.setattr(separation, "_part_in_weights", broken)
        (piece,) = derive(Parameterization.parse(["a + b*log(b)"])).potential.pieces
        assert piece.lift is None


@pytest.mark.parametrize("output", ["v*log(1 + exp(w))", "v/(1 + exp(-q*k))"])
def test_a_wrong_last_weight_is_not_printed(monkeypatch, output):
    p = Parameterization.parse([output])
    conserved = find_conserved(find_lie_structure(p))
    assert leaves_of(conserved, p)
    own = solved_leaf.Generator
    wrong = lambda name, kind, a, *n: own(name, kind, 2 * a, *n)  # noqa: E731
    monkeypatch.setattr(solved_leaf, "Generator", wrong)
    assert not leaves_of(conserved, p)


@pytest.mark.parametrize(
    ("output", "closed"), [("exp(a*b)*c", "log"), ("(1 + a*b)*c", "log"), ("atan(a)*b", "atan")]
)
def test_the_integral_of_a_root_or_an_angle_is_closed(output, closed):
    (piece,) = derive_once(output).potential.pieces
    (_, G), _ = piece.abbreviations
    assert not G.has(sympy.Integral)
    assert G.has(getattr(sympy, closed))


def test_the_root_of_a_quadratic_is_in_the_time():
    """Of asinh(a) + b along a, dmu = sqrt(a^2 + 1) da is closed as well, but Q is not."""
    (piece,) = derive_once("asinh(a) + b").potential.pieces
    assert not piece.gradient[0].has(sympy.Integral)


find_part = separation._part_in_weights


@pytest.mark.parametrize(
    "output", ["b*exp(1/a)", "b*exp(a**3)", "b*exp(exp(a))", "sinh(c + a**2) + b*log(b)"]
)
def test_what_has_no_named_integral_and_parts_that_ask_a_sign_keep_the_verdict(output):
    d = derive_once(output)
    assert d.verdict is Verdict.PROVED
    assert d.potential.kind == "quadrature"


@pytest.mark.every(2)
@pytest.mark.parametrize(("output", "start", "free"), [
    *((output, start, start) for output, start in OVER_BETA),
    *((output, start, {}) for output, start in OVER_BETA_FROM_SYMBOLS),
])  # fmt: skip
def test_a_kernel_in_a_weight_is_that_of_the_flow(output, start, free):
    """K(b), G(b) = int a ds to t(b), and what b^2 is, with t there, on both sides of a zero."""
    piece = quadrature(output, free)
    assert piece.curve is None
    *integrals, (_, kernel) = piece.abbreviations
    pattern = r"`(t\(\w+\)) = ([^`]+)` where `F = \w+`, so that `(.+) = \w+\*\*2`"
    t, place, square = re.match(pattern, piece.note).groups()
    names = {t: "t_b"} | {G.name: "G_b" for G, _ in integrals}
    for name, plain in names.items():
        square = square.replace(name, plain)
    square = sympy.sympify(square.replace("abs(", "Abs("))
    with mp.workdps(20):
        for time in (0, TIME, -TIME / 2):
            w, F, K, _ = risen(output, start, time)
            there = known(piece, start)
            there[t] = there["t_b"] = evaluated(to_sympy(parse_expression(place)), w)
            for G, integral in integrals:
                there[G.name] = there["G_b"] = evaluated(integral, there)
            assert abs(evaluated(kernel, there) - K) < 1e-12
            assert abs(evaluated(square, there) - F**2) < 1e-12


@pytest.mark.parametrize(
    ("output", "start", "positive", "beta"),
    [
        ("a*b*c", {"a": "1", "b": "2", "c": "3"}, [], "t*sqrt(t**2 + 3)*sqrt(t**2 + 8)"),
        ("a*b*c", {"c": "0"}, ["a_0", "b_0"], "t*sqrt(a_0**2 + t**2)*sqrt(b_0**2 + t**2)"),
        ("a*tanh(b)", {"a": "2", "b": "1"}, [], "sqrt(delta/4 + cosh(2*t)/2)*tanh(t)"),
        ("w*sinh(b)", {"b": "0"}, ["w_0"], "sqrt(w_0**2 + 2*log(cosh(t)))*sinh(t)"),
        ("w*sin(b)", {"w": "1", "b": "0"}, [], "sqrt(1 - 2*log(cos(t)))*sin(t)"),
        ("w**p*sinh(b)", {"b": "0"}, ["w_0"], "(2*G + w_0**2)**(p/2)*sinh(t)"),
        # It starts beside a zero of w, which it may pass.
        ("w*sinh(b)", {"w": "1/8", "b": "-1"}, [], None),
    ],
)
def test_a_weight_that_has_no_zero_from_this_start_is_a_root(output, start, positive, beta):
    """Its square is positive at all t, or least at the start, where F is 0 and w dw/dmu = k F."""
    d = derive_once(output, start, positive)
    (piece,) = d.potential.pieces
    assert (None if piece.curve is None else str(piece.curve.beta)) == beta
    assert crosscheck(d, digits=20).passed


GENERIC = [
    *dict.fromkeys(output for output, _ in (*OVER_A_WEIGHT, *OVER_BETA)),
    "log(1 + exp(b + a*b))",
    "exp(u*v) + u*v",
    "a*exp(b**2)",
    "tanh(u*v)",
]


@pytest.mark.every(12)
@pytest.mark.parametrize("output", GENERIC)
def test_forms_of_a_start_in_symbols_hold_for_all_of_its_signs(output):
    """A root in a weight that may have either sign must not be hidden in an exponential."""
    (piece,) = derive_once(output).potential.pieces
    if piece.time_curve or not (piece.curve or piece.abbreviations):
        return
    names = Parameterization.parse([output]).weights
    with mp.workdps(20):
        for signs in product((1, -1), repeat=len(names)):
            numbers = zip(names, signs, (5, 7, 9), strict=False)
            start = {name: f"{sign * n}/8" for name, sign, n in numbers}
            values = {f"{name}_0": number(x) for name, x in start.items()}
            positive = (c.of for c in piece.assumptions if c.sign is Sign.POSITIVE)
            if not all(evaluated(f, values) > 0 for f in positive):
                continue
            w, F, K, _ = risen(output, start, TIME / 4)
            values = known(piece, start)
            if (path := piece.curve) is not None:
                begin, *_ = risen(output, start, 0)
                there = values | on_curve(path, w) | {piece.betas[0].name: F}
                mu = with_roots(piece.gradient[0], path, values | on_curve(path, begin))
                assert abs(evaluated(path.beta, there) - F) < 1e-12 * (1 + abs(F))
                assert abs(evaluated(mu, there) - TIME / 4) < 1e-12
                if path.roots:  # of which the slope is not written
                    continue
                # Q = beta mu - R is stationary in t, as R' = f mu'
                assert abs(evaluated(piece.value.diff(path.parameter), there)) < 1e-9 * (1 + abs(F))
                continue
            ((_, kernel),) = piece.abbreviations
            weight = re.findall(r"= (\w+)` where", piece.note)[0]
            t = {s.name: w[weight] for s in kernel.free_symbols if s.name.startswith("t(")}
            assert abs(evaluated(kernel, {**values, **t}) - K) < 1e-12 * (1 + K)


def laws_of(output):
    return derive_once(output).blocks[0].conserved


def test_laws_are_found_where_the_weights_separate():
    for output in ("sinh(c + a**2)", "a*sinh(b)", "c*a/(1 + a**2)", "a*b**2/sqrt(1 + b**2)"):
        conserved = laws_of(output)
        law = logarithmic_law(conserved)
        assert law.along(conserved.parameterization.fields[0]).is_zero()
    for output in ("exp(a*b)*tanh(a)", "b**2*tanh(a) + b", "sigmoid(a)*atan(b)", "a**2*sigmoid(a)"):
        assert logarithmic_law(laws_of(output)) is None  # log exp(a) - a is no law


def leaves_of(conserved, p):
    return [*chain.from_iterable(solved_leaves(conserved, Notation(p)))]


@pytest.mark.parametrize("output", ["w*exp(s)", "u**2*v", "b**2*tanh(a)"])
def test_what_is_no_law_gives_no_leaf(output):
    conserved = laws_of(output)
    p = conserved.parameterization
    assert leaves_of(conserved, p)
    (law,) = conserved.laws
    for wrong in (law + p.w[1], 2 * law + p.w[0] ** 2, law * p.w[0]):
        broken = replace(conserved, laws=(wrong,))
        # what is known by an integral needs no law
        assert all(leaf.integrals and not leaf.laws for leaf in leaves_of(broken, p))


def test_the_flow_is_asked_of_every_weight(monkeypatch):
    """Without that identity a law that is none passes, so nothing else refuses it."""
    conserved = laws_of("w*exp(s)")
    p, (law,) = conserved.parameterization, conserved.laws
    broken = replace(conserved, laws=(law + p.w[1],))
    monkeypatch.setattr(solved_leaf, "_is_the_flow", lambda *_: True)
    assert leaves_of(broken, p)
    assert LogFunction(law).along(p.fields[0]).is_zero()


INTEGRAL = (
    "b**2*tanh(a)",
    [
        ("x = a_0 .. t", "x = b_0 .. t"),
        ("delta/2 + cosh(2*x)", "delta/3 + cosh(2*x)"),
        ("- cosh(2*t)/4", "- cosh(2*t)/5"),
        ('"is": "a"', '"is": "b"'),
    ],
)
NAMED = [
    (
        "w*exp(s)",
        [
            ("- t**2/2", "- t**2/3"),
            ("t*exp(t**2/2 - delta/2)", "t*exp(t**2/2 - delta/3)"),
            ('"is": "w"', '"is": "s"'),
            ("erf(sqrt(2)*t/2)", "erf(sqrt(2)*t/3)"),
            ("sqrt(2)*sqrt(pi)*(erf", "sqrt(2)*pi*(erf"),
            ("erf", "erfi"),
        ],
    ),
    ("a*log(a)", [("Ei(log(t) + 1)", "Ei(log(t) + 2)"), ("exp(-1)", "exp(-2)"), ("Ei", "erf")]),
    ("exp(a) + a", [("Li2(-exp(t))", "Li2(exp(t))"), ("+ Li2", "- Li2"), ("Li2", "Ei")]),
    # Over X = exp(-t), and over one over t; a sum of logarithms each by itself.
    (
        "exp(a)/(1 + exp(a) + exp(b))",
        [("Ei(-exp(-t))", "Ei(exp(-t))"), ("Ei", "Li2"), ("2*exp(-t) + exp", "3*exp(-t) + exp")],
    ),
    ("w*exp(1/w)", [("Ei(1 - 1/t)", "Ei(1 + 1/t)"), ("exp(-1)*Ei", "exp(-2)*Ei")]),
    (
        "log(exp(a) + exp(b))",
        [("2*Li2(-delta*exp(t)/2)", "2*Li2(-delta*exp(t))"), ("t*log(2)", "t*log(3)")],
    ),
]
IN_BETA = [
    ("exp(a**2)", [("Ei(-log(beta))", "Ei(log(beta))"), ("log(log(beta))/4", "log(beta)/4")]),
    ("exp(1/a)", [("Ei(-log(beta))", "Ei(log(beta))"), ("1/(3*log(beta)**3)", "1/log(beta)")]),
    ("log(1 + a*b)", [("log(A)/2", "log(A)/3"), ("delta**2/(8*A)", "delta**2/A")]),
    ("sigmoid(a**2)", [("log(beta/(1 - beta))", "log(1 - beta)"), ("Ei(-A)", "Ei(-2*A)")]),
]
"""What is written in beta again, without a weight."""


@pytest.mark.every(2)
@pytest.mark.parametrize(("output", "broken"), [INTEGRAL, *NAMED, *IN_BETA])
def test_the_certificate_has_the_weight_and_refuses_others(output, broken):
    """The integrals, the weight, beta in it and the law are all read from the weights."""
    text, (piece,) = certified_once(output), derive_once(output).potential.pieces
    report = check_text(text)
    if output == "exp(a**2)":  # which ends where log(beta) does, at 1
        assert not report.open
    else:
        assert_all_but_ends_is_certified(piece, report)
    for old, new in broken:
        assert old in text
        assert_rejected(text.replace(old, new))
    over = any("along the flow from the start" in line for line in report.theorem)
    assert over == (piece.curve is not None) == ((output, broken) not in IN_BETA)
    if over:
        record = json.loads(text)
        record["potential"]["pieces"][0]["curve"] = None
        assert_rejected(record)


def test_a_number_asks_nothing_of_the_start():
    """The pi before an erf is 4 atan(1), which is positive."""
    assert not check_text(certified_once("exp(u)*v")).open


def test_what_is_a_square_beside_a_constant_is_told_by_it():
    """With a root of either sign a + 1 is one, and not a."""
    (piece,) = derive_once("(1 + a)**2*b").potential.pieces
    assert piece.note == "`(a + 1)**2 = delta + 2*t**2 + 1`, `b = t`"
    assert [case.where for case in piece.integrand.cases][-1] == "`delta = -1`"


CONSTANTS = [{"delta": d, "delta1": 2, "delta2": e} for d in (3, -3, 0, -1) for e in (1, 9, -9)]
SIGNS = ["`2*delta = s**2`, `s > 0`", "`2*delta = -s**2`, `s > 0`", "`delta = 0`"]


def root_where(condition, numbers):
    """Return s > 0 of `f = c*s**2`, 1 where that is `f = c`; None where it is not so."""
    f, right = (sympy.sympify(x) for x in re.match("`([^`]*) = ([^`]*)`", condition).groups())
    if not (c := right.coeff("s", 2)):
        return 1 if f.subs(numbers) == right else None
    square = f.subs(numbers) / c
    return sympy.sqrt(square) if square > 0 else None


@pytest.mark.parametrize(
    ("output", "signs"),
    [
        ("a*b**2", SIGNS),
        *((F, ()) for F in ("a**2*(b + c)", "a**4*b", "(1 + a)**2*b", "(a + b)**2*c")),
    ],
)
def test_each_case_of_an_open_sign_is_an_antiderivative(output, signs):
    """Of what is integrated in dQ/dbeta, at constants of which it is said."""
    (piece,) = derive_once(output).potential.pieces
    x, (of,) = sympy.Symbol("x", real=True), piece.gradient[0].atoms(sympy.Integral)
    for case in piece.integrand.cases:
        roots = ((numbers, root_where(case.where, numbers)) for numbers in CONSTANTS)
        known = next({**numbers, "s": s} for numbers, s in roots if s is not None)
        f, whole, same = (
            e.subs({s: known[s.name] for s in e.free_symbols - {x}})
            for e in (case.integral.function, case.value, of.function)
        )
        assert sympy.expand(f - same) == 0
        assert all(abs((whole.diff(x) - f).subs(x, at).n()) < 1e-9 for at in (0.3, 1.7))
    wheres = [case.where for case in piece.integrand.cases]
    assert wheres == signs if signs else len(wheres) >= 2


@pytest.mark.parametrize("output", ["q**2*sqrt(1 + (b*c)**2)", "q*exp((b*c)**2)"])
def test_a_weight_that_stays_at_zero_is_no_coordinate(output):
    """From b = 0 neither b nor c moves, and an integral over b is infinite."""
    (piece,) = derive_once(output, {"b": "0"}).potential.pieces
    assert (piece.abbreviations, piece.curve) == ((), None)


def test_a_weight_with_a_pole_at_the_start_is_no_coordinate():
    assert derive_once("w*b*k + w", {"b": "0"}).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("F", "said"),
    [
        ("(2 + a)*softplus(b)", "\n    (a + 2)**2 = 2*G + "),
        ("(a - 1)**2*atan(b)", " (a - 1)**2 = 2*G + "),
    ],
)
def test_the_last_weight_may_be_shifted(F, said):
    """With x = a + 2 it is x^2 = x_0^2 + 2 G; a itself is of either sign."""
    for start in ({"a": "1/2", "b": "1/3"}, {"a": "-3", "b": "1/3"}):
        d = derive_once(F, start=start)
        (piece,) = d.potential.pieces
        assert piece.abbreviations
        assert crosscheck(d, digits=12).passed
    text = derive_once(F).to_text()
    assert said in text
    assert "\n    a**2 = " not in text


def test_nothing_is_said_of_beta_by_what_its_own_integral_is_not_in():
    """Of beta = G + t exp(t^2), G = int 1/r dt, that G is not elementary in t says nothing."""
    (block,) = derive_once("a + b*exp(b**2)").blocks
    pieces = integrate_along_weight(block.metric, None, block.notation)
    (piece,) = filter(None, pieces)
    assert "G" in str(piece.curve.beta)
    assert piece.integrand.left == "antiderivative"
    assert not piece.integrand.proof
