"""Warps that are exponentials of functions of the weights: weight normalization in components."""

from dataclasses import replace

import pytest
import sympy

from derive import Verdict
from derive.weights import dual_families
from derive.weights.adjoin import find_warp
from derive.weights.dual import find_dual, is_dual
from derive.weights.dual_families import conjugate_family, forms_of_warp
from tests.published import derive_once

NORM = "sqrt(v1**2 + v2**2)"
NORMALIZED = [f"c*v1/{NORM}", f"c*v2/{NORM}"]
WARPS = [
    (NORMALIZED, "c*exp(c**2/(2*v1**2 + 2*v2**2))"),
    ([f"c**2*v1/{NORM}", f"c**2*v2/{NORM}"], "c**2*exp(c**2/(4*v1**2 + 4*v2**2))"),
    ([f"exp(c)*v1/{NORM}", f"exp(c)*v2/{NORM}"], "exp(c)*exp(c/(v1**2 + v2**2))"),
    ([f"c*(v1 + v2)/{NORM}", f"c*v1/{NORM}"], "c*exp(c**2/(2*v1**2 + 2*v2**2))"),
]


def decided(outputs):
    return derive_once(outputs).blocks[0].warping


def read(text, names):
    return sympy.sympify(str(text), locals=names)


@pytest.mark.parametrize(("outputs", "warp"), WARPS)
def test_the_dual_equations_hold_in_another_algebra(outputs, warp):
    """<grad y_i, grad F_j> = g delta_ij, with derivatives by SymPy from the printed text."""
    dual = find_dual(decided(outputs))
    names = {w: sympy.Symbol(w, positive=True) for w in ("c", "v1", "v2")}
    weights = list(names.values())
    F = [read(text, names) for text in outputs]
    y = [read(repr(yi.rational), names) for yi in dual.y]
    g = read(repr(dual.g), names)
    point = dict(zip(weights, map(sympy.Rational, ("3/7", "5/3", "2/5")), strict=True))
    scale = sympy.simplify(g / read(warp, names)).subs(point)
    assert scale > 0
    for i, yi in enumerate(y):
        for j, f in enumerate(F):
            left = sum(yi.diff(w) * f.diff(w) for w in weights) - (g if i == j else 0)
            assert abs(left.subs(point).evalf(60)) < sympy.Rational(1, 10**50)


def test_the_field_grows_by_one_exponential_and_keeps_its_elements():
    warping = decided(NORMALIZED)
    warp = find_warp(warping)
    before, after = (x.metric.parameterization for x in (warping, warp.warping))
    assert after.field.names == (*before.field.names, repr(warp.adjoined))
    assert tuple(after.field.embed(f) for f in before.F) == after.F


@pytest.mark.parametrize("outputs", [["a*u", "a*v"], ["exp(a)*u", "exp(a)*v"], ["w**2", "x"]])
def test_nothing_is_adjoined_where_the_warp_is_in_the_field(outputs):
    warp = find_warp(decided(outputs))
    assert warp.adjoined is None


def test_a_wrong_warp_has_no_dual_coordinates():
    warping = decided(NORMALIZED)
    H = tuple(2 * h for h in warping.H or ())
    assert find_warp(replace(warping, H=H)) is not None
    assert find_dual(replace(warping, H=H)) is None


def test_a_wrong_exponential_is_not_accepted():
    dual = find_dual(decided(NORMALIZED))
    p = dual.parameterization
    c = p.field.named("c")
    assert is_dual(p, dual.y, dual.g)
    assert not is_dual(p, dual.y, dual.g * c)
    assert not is_dual(p, [yi.scaled(c) for yi in dual.y], dual.g)


def test_an_elliptic_norm_has_no_warp():
    norm = "sqrt(2*v1**2 + v2**2)"
    d = derive_once([f"c*v1/{norm}", f"c*v2/{norm}"])
    assert d.warping.verdict is Verdict.REFUTED


@pytest.mark.slow
@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("outputs", "warp"),
    [
        (["tanh(x*y)*u", "tanh(x*y)*v"], "(exp(2*x*y) - 1)/(exp(2*x*y) + 1)"),
        (["log(x)*tanh(x)*u", "log(x)*tanh(x)*v"], None),
    ],
)
def test_a_common_factor_is_the_warp(outputs, warp):
    d = derive_once(outputs)
    assert d.warping.verdict is Verdict.PROVED
    assert d.warping.g is not None
    assert warp is None or str(d.warping.g) == warp


def conserved_of(outputs, start=None):
    return derive_once(outputs, start).blocks[0].conserved


def told(family):
    """Return rational members, and logarithms with their coefficients."""
    plain = {f.rational for f in family if not f.logs}
    logs = {f.logs[0] for f in family if f.logs}
    assert len(plain) + len(logs) == len(family)
    assert all(f.rational.is_zero() for f in family if f.logs)
    return plain, logs


@pytest.mark.parametrize("degree", [-2, -1, 0, 1, 2, 3, 4])
def test_a_family_of_one_degree(degree):
    """F = a u keeps a^2 - u^2, and the signs of a + u and a - u."""
    conserved = conserved_of(["a*u"])
    a, u = conserved.parameterization.w
    (law,) = conserved.laws
    assert {*conserved.darboux} == {a + u, a - u}
    plain, logs = told(conjugate_family(conserved, degree))
    expected = {a**i * u ** (degree - i) for i in range(degree + 1)} if degree > 0 else set()
    if degree <= 0:
        powers = {n for n in range(-2, 3) if n and -2 <= degree - n <= 2}
        mixed = {(n, degree - n) for n in powers if (n > 0) != (degree - n > 0) and degree != n}
        expected = {a**i * u**j for i, j in mixed}
    if degree < 0:
        expected |= {f**degree for f in (a, u, a + u, a - u)}
    assert plain == expected
    weight = {0: a / a, 2: law, 4: law**2}.get(degree)
    assert logs == ({(weight, f) for f in (a + u, a - u)} if weight is not None else set())


def test_members_have_values_at_the_start():
    conserved = conserved_of(["a*u"], {"a": "1", "u": "0"})
    a, u = conserved.parameterization.w
    plain, logs = told(conjugate_family(conserved, -1))
    assert plain == {1 / a, u / a**2, 1 / (a + u), 1 / (a - u)}
    assert logs == set()
    equal = conserved_of(["a*u"], {"a": "1", "u": "1"})
    assert len(told(conjugate_family(equal, 0))[1]) < 2


def test_forms_that_a_warp_asks_for(monkeypatch):
    conserved = conserved_of(["a*u", "a*v"])
    a, u, _ = conserved.parameterization.w
    (law,) = conserved.laws
    assert told(forms_of_warp(conserved, a))[0] == {a**3, a * law}
    found, logs = told(forms_of_warp(conserved, a * u))
    assert found == {a**i * u ** (4 - i) for i in range(5)} | {law * f for f in (a**2, a * u, u**2)}
    assert logs == set()
    assert forms_of_warp(conserved, a + 1) == []
    monkeypatch.setattr(dual_families, "MAXIMAL_COLUMNS", 4)
    assert told(forms_of_warp(conserved, a * u))[0] == {law * f for f in (a**2, a * u, u**2)}


def test_mixed_degrees():
    conserved = conserved_of(["a + u**2"])
    a, u = conserved.parameterization.w
    plain, logs = told(conjugate_family(conserved, None))
    forms = {a**i * u**j for i in range(4) for j in range(4) if 0 < i + j <= 3}
    assert plain == forms | {w**-n for w in (a, u) for n in (1, 2, 3)}
    assert logs == {(a / a, f) for f in conserved.darboux}
