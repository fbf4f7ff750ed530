"""Outputs that move together: the relation among them, and outputs that are affine in others."""

import json
from dataclasses import replace

import pytest
import sympy

from derive import Parameterization, Verdict
from derive.certificate.checking.check import check_text
from derive.errors import NumericalError
from derive.explicit.regularize import explicit_counterpart
from derive.limits.find import regimes
from derive.weights import dual_families
from derive.weights.adjoin import find_warp
from derive.weights.dual import find_dual, is_dual
from derive.weights.dual_families import conjugate_family, forms_of_warp
from numerics import crosscheck, flow
from tests.certificate.certificates import assert_rejected
from tests.published import derive_once

RANK_ONE = ["u1*v1", "u1*v2", "u2*v1", "u2*v2"]
AFFINE = ["a*u1", "a*u2", "1 - a*u1 - a*u2"]


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("outputs", "rank", "laws", "relations"),
    [
        (RANK_ONE, 3, 1, ["beta1*beta4 - beta2*beta3"]),
        (["a**2", "c**2", "a*c"], 2, 0, ["beta1*beta2 - beta3**2"]),
        (["x*y", "(x*y)**2 + 1"], 1, 1, ["beta1**2 - beta2 + 1"]),
        (["exp(a)", "exp(b)", "exp(a + 2*b)"], 2, 0, ["beta1*beta2**2 - beta3"]),
        (["cos(w)", "sin(w)"], 1, 0, ["beta1**2 + beta2**2 - 1"]),
        (["T*w", "w**2"], 1, 0, ["T**2*beta2 - beta1**2"]),
        (["exp(w)", "w"], 1, 0, []),
    ],
)
def test_a_relation_is_found_and_holds(outputs, rank, laws, relations):
    p = Parameterization.parse(outputs, parameters=["T"] if "T" in outputs[0] else [])
    d = derive_once(p)
    (found,) = (block.dependence for block in d.blocks)
    assert [str(r) for r in found.relations] == relations
    assert (found.rank, found.missing) == (rank, p.d - rank - len(relations))
    substituted = dict(zip(d.beta, p.outputs, strict=True))
    parameter = {sympy.Symbol("T"): sympy.Symbol("T", real=True)}
    for relation in found.relations:
        whole = relation.subs(substituted).subs(parameter)
        assert sympy.simplify(sympy.expand(whole)) == 0
    assert d.conserved.count == laws
    assert d.conserved.verdict is Verdict.PROVED
    assert d.blocks[0].lie.dimension == p.p - laws
    assert d.metric.kernel_in_weights.rank() <= rank
    assert d.metric.rho is None
    assert d.verdict is Verdict.UNDECIDED
    assert d.potential.Q is None
    assert f"J has rank {rank} < {p.d}" in d.potential.finding.reason
    for form, rank_below in (
        (d.to_text(), f"J has rank {rank} < {p.d}"),
        (d.to_latex(), "$J$ has"),
    ):
        heads = ("Relations among the outputs", "Implicit regularizer", "is singular", rank_below)
        assert [head in form for head in heads] == [True] * 4


@pytest.mark.every(2)
@pytest.mark.parametrize(("rows", "rank", "count"), [(1, 5, 4), (2, 8, 1)])
def test_matrices_of_low_rank(rows, rank, count):
    """All 2 x 2 minors that are independent, and the determinant."""
    u = [[f"u{i}{k}" for k in range(rows)] for i in range(3)]
    v = [[f"v{j}{k}" for k in range(rows)] for j in range(3)]
    products = [[[f"{a}*{b}" for a, b in zip(x, y, strict=True)] for y in v] for x in u]
    outputs = [" + ".join(entry) for row in products for entry in row]
    (found,) = (block.dependence for block in derive_once(outputs).blocks)
    assert (found.rank, len(found.relations), found.missing) == (rank, count, 0)
    if count == 1:
        betas = sympy.Matrix(3, 3, sympy.symbols("beta1:10", real=True))
        assert sympy.expand(found.relations[0] - betas.det()) == 0


def test_a_relation_that_holds_nowhere_is_not_found():
    """One sign in the determinant changed: J has full rank, and there is nothing to relate."""
    d = derive_once(["u1*v1", "u1*v2", "u2*v1", "u2*v2 + u1*v1*u2"])
    assert d.blocks[0].dependence is None
    assert d.metric.kernel_in_weights.det() != 0


def test_an_affine_output_is_left_out_and_the_rest_goes_on():
    p = Parameterization.parse(AFFINE)
    d = derive_once(p)
    assert p.d == 3
    assert d.parameterization.d == 2
    assert [str(b) for b in d.beta] == ["beta1", "beta2"]
    ((left, image),) = d.blocks[0].notation.affine
    assert (str(left), str(image)) == ("beta3", "-beta1 - beta2 + 1")
    assert d.verdict is Verdict.PROVED
    assert d.blocks[0].dependence is None
    line = "beta3 = 1 - a*u1 - a*u2 = 1 - beta1 - beta2: left out of F, not of X beta = y"
    assert line in " ".join(d.to_text().split())
    assert "left out of $F$" in d.to_latex()
    assert json.loads(d.to_json())["parameterization"]["affine"][0]["is"] == "1 - beta1 - beta2"
    report = check_text(d.to_json())
    assert report.open == ()
    assert "(1 - a*u1 - a*u2) - (1 - beta1 - beta2) = 0" in report.theorem


def test_one_output_keeps_its_number_where_the_other_is_affine():
    d = derive_once(["w**2", "1 - w**2"], {"w": "1"})
    assert str(d.potential.Q) == "beta1*log(beta1)/4 - beta1/4"


@pytest.mark.parametrize("times", ["sqrt(2)", "pi", "D"])
def test_multiples_by_any_constant_are_left_out(times):
    p = Parameterization.parse(["a*b", "c", f"{times}*a*b - 1"], parameters=["D"] * (times == "D"))
    d = derive_once(p)
    ((_, image),) = d.blocks[0].notation.affine
    assert str(image) in (f"{times}*beta1 - 1", f"beta1*{times} - 1")
    given = {name: k for k, name in enumerate((*p.start_symbols, *p.parameters), 1) if name != "pi"}
    assert crosscheck(d, start=given, digits=15).passed


def test_beside_outputs_that_move_together_nothing_is_refuted():
    """The neuron alone is no Hessian map; of both blocks there is no rho to ask about."""
    d = derive_once(["a*u1", "a*u2", "w**2", "w**4"])
    assert {d.hessian.verdict, d.warping.verdict, d.verdict} == {Verdict.UNDECIDED}
    assert [b.hessian.verdict for b in d.blocks] == [Verdict.REFUTED, Verdict.UNDECIDED]


def test_certificate_and_record_say_what_holds():
    d = derive_once(RANK_ONE)
    report = check_text(d.to_json())
    why = ("the Hessian map", "the warp", "Q")
    assert report.verdict == "UNDECIDED"
    assert report.open == tuple(f"why {what} is undecided" for what in why)
    assert "beta1*beta4 - beta2*beta3 = 0" in report.theorem
    record = json.loads(d.to_json())
    assert record["relations"]["blocks"] == [["beta1*beta4 - beta2*beta3"]]
    record["relations"]["blocks"] = [["beta1*beta4 + beta2*beta3"]]
    assert_rejected(record, "is not 0")
    assert r"\beta_{1} \beta_{4} - \beta_{2} \beta_{3} = 0" in d.to_latex()


def test_limits_and_explicit_costs():
    d = derive_once(RANK_ONE, {"u1": "alpha"})
    for limit in regimes(d, "alpha").limits:
        assert "J has rank 3 < 4" in limit.finding.reason
    (block,) = explicit_counterpart(d.parameterization).blocks
    assert str(block.cost.closed_forms[0]) == "2*sqrt(beta1**2 + beta2**2 + beta3**2 + beta4**2)"
    found = explicit_counterpart(Parameterization.parse(["w", "2*w + 1"], {"w": "0"}))
    assert found.verdict is Verdict.PROVED
    assert "beta2 = 2*w + 1 = 2*beta1 + 1" in found.to_text()


def test_numbers_of_a_model_without_q_are_one_clear_line():
    p = Parameterization.parse(RANK_ONE, {"u1": "1", "u2": "2", "v1": "1", "v2": "0"})
    d = derive_once(p)
    for ask in (lambda: crosscheck(d), lambda: d.potential.numeric({})):
        with pytest.raises(NumericalError, match="there is no Q"):
            ask()
    limit = flow(p, [[1, 0, 0, 1]], [1], {"u1": 1, "u2": 2, "v1": 1, "v2": 0}, digits=15).limit
    assert abs(limit[0] + limit[3] - 1) < 1e-12
    assert abs(limit[0] * limit[3] - limit[1] * limit[2]) < 1e-12


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
