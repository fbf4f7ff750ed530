"""One output along its leaf: what a theorist would write, and the flow, for each coordinate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import mpmath
import pytest
import sympy

from derive import InputError
from derive.certificate.checking.check import check
from derive.exact.named_integrals import Li2
from derive.potential.leaf_curve import along_itself, leaf_curves
from derive.potential.piece import written_out
from derive.verdict import Verdict
from derive.weights.conserved import along
from numerics.confirm.crosscheck import crosscheck
from tests.certificate.certificates import assert_rejected
from tests.published import derive_once, record_once

AT = {"a_0": 0.5, "b_0": 0.25, "c_0": 0.125, "d_0": 0.375, "m_0": 0.25, "n_0": 0.5, "p_0": 0.75}
AT |= {"q_0": 0.5, "u_0": 0.75, "v_0": 0.5, "w_0": 0.75, "W_0": -0.5, "k": 1.5, "beta": 0.4}
AT |= {"z": 0.125}
DELTA = "(u_0**2 - v_0**2)"
ANGLE = f"(asinh(2*G/{DELTA}) - asinh(2*u_0*v_0/{DELTA}))"
HEIGHT = f"(sqrt(4*G**2 + {DELTA}**2) - (u_0**2 + v_0**2))/4"
HEIGHT_2 = f"(G*sqrt(4*G**2 + {DELTA}**2) - u_0*v_0*(u_0**2 + v_0**2))/8"
SIZE = "sqrt(4*beta + (u_0**2 - v_0**2)**2)"


TWO_THIRDS, NORM = "Rational(2, 3)", "a_0**2 + b_0**2 + c_0**2 + d_0**2"
CONIC = "((a_0 - b_0)**2 + (c_0 - d_0)**2)*((a_0 + b_0)**2 + (c_0 + d_0)**2)"


class Row(NamedTuple):
    """F with options, and dQ/dbeta in beta, or beta in z = dQ/dbeta times a constant.

    Where Q is an integral of what is written, its kind is *quadrature*.
    """

    F: str
    slope: str = ""
    curve: str = ""
    options: Mapping[str, Any] = {}
    kind: str = "explicit"


ROWS = [
    Row("atan(w)", "tan(beta) + tan(beta)**3/3 - (w_0 + w_0**3/3)"),
    Row(
        "u**2*v**2",
        f"log(({SIZE} - u_0**2 + v_0**2)/({SIZE} + u_0**2 - v_0**2)*u_0**2/v_0**2)"
        "/(4*(u_0**2 - v_0**2))",
    ),
    Row(
        "u**3*v**3",
        f"((u_0**2 + v_0**2)/(u_0*v_0) - sqrt(4*beta**{TWO_THIRDS} + (u_0**2 - v_0**2)**2)"
        "/beta**Rational(1, 3))/(3*(u_0**2 - v_0**2)**2)",
    ),
    Row(
        "(a*b + c*d)**2",
        "(log((sqrt(4*beta + k) - sqrt(k))/(sqrt(4*beta + k) + sqrt(k)))"
        " - log((S - sqrt(k))/(S + sqrt(k))))/(4*sqrt(k))".replace("S", f"({NORM})").replace(
            "k", CONIC
        ),
    ),
    Row("u**2 + u**4", "log((1 - 1/sqrt(4*beta + 1))*(1 + 1/(2*u_0**2)))/4"),
    Row("tanh(w)", "(beta/(1 - beta**2) + atanh(beta) - w_0 - sinh(2*w_0)/2)/2"),
    Row(
        "a/(a**2 + b**2)",
        "beta/(2*c**2*(beta**2 + c**2)) + atan(beta/c)/(2*c**3)"
        " - a_0/(2*c**2) - atan(a_0/b_0)/(2*c**3)".replace("c", "(b_0/(a_0**2 + b_0**2))"),
    ),
    Row(
        "a*b/(a**2 + b**2)**2",
        "(beta/sqrt(4*beta**2 + c**2) - a_0*b_0/(a_0**2 + b_0**2))/c**2".replace(
            "c**2", "((a_0**2 - b_0**2)/(a_0**2 + b_0**2)**2)**2"
        ),
    ),
    Row("sinh(w)", "atan(beta) - atan(sinh(w_0))"),
    Row("w", "sinh(beta) - sinh(w_0)", options={"mirror": "cosh(w)"}),
    Row("k*log(w)", "(exp(2*beta/k) - w_0**2)/(2*k)", options={"parameters": ["k"]}),
    Row("exp(-w**2)", "(Ei(w_0**2) - Ei(-log(beta)))/4"),
    Row("log(1 + u*v)", f"{HEIGHT} + {ANGLE}/2".replace("G", "(exp(beta) - 1)"), kind="quadrature"),
    Row(
        "atan(u*v)",
        f"{HEIGHT_2} + (8 - {DELTA}**2)*{ANGLE}/16".replace("G", "tan(beta)"),
        kind="quadrature",
    ),
    Row("sigmoid(w)", "2*log(beta/(1 - beta)) + 1/(1 - beta) - 1/beta - 2*w_0 - 2*sinh(w_0)"),
    Row("W + a*b", "", "W_0 + z + a_0*b_0*cosh(2*z) + (a_0**2 + b_0**2)*sinh(2*z)/2"),
    Row("exp(a) + exp(b)", "", "exp(a_0)/(1 - z) + exp(b_0)/(1 - z*exp(b_0 - a_0))"),
    Row("u**5", "", "(1 + sqrt(3))**5*(1 - z)**Rational(-5, 3)", {"start": {"u": "1 + sqrt(3)"}}),
    Row(
        "p*q - m*n",
        "",
        "p_0*q_0*(p_0 - q_0)**2*exp((p_0 - q_0)*z)/(p_0 - q_0*exp((p_0 - q_0)*z))**2"
        " - m_0*n_0*(m_0 - n_0)**2*exp((n_0 - m_0)*z)/(m_0 - n_0*exp((n_0 - m_0)*z))**2",
        {"mirror": "p*log(p) + q*log(q) + m*log(m) + n*log(n)"},
    ),
]  # fmt: skip
LAWS = [
    ("a/(a**2 + b**2)", {}, "b/(a**2 + b**2)"),
    ("g*w/sqrt(w**2 + e)", {"parameters": ["e"]}, "2*e*g**2 - w**4 - 2*e*w**2"),
    ("u*v", {"rates": {"u": "1/(1 + u**2)", "v": "1/(1 + v**2)"}}, "u**4 - v**4 + 2*u**2 - 2*v**2"),
    ("exp(a) + exp(b)", {}, "exp(-a) - exp(-b)"),
    ("a + a*b**2", {}, "b**2 - 2*a**2 + 2*log(Abs(b))"),
    ("log(exp(a) + exp(b))", {}, "exp(-a) - exp(-b)"),
    (
        [f"g*{x}/sqrt(u**2 + v**2 + w**2)" for x in "uv"],
        {},
        "u**2 + v**2 + w**2; g**2/(u**2 + v**2 + w**2) + 2*log(Abs(w))",
    ),
    ("w*exp(s)", {}, "w**2 - 2*s"),
]


def of(text):
    names = (*AT, "u", "v", "w", "g", "e", "a", "b", "s")
    return sympy.sympify(text, locals={name: sympy.Symbol(name, real=True) for name in names})


def number(expression, at=AT):
    return float(sympy.N(of(str(expression)).subs({of(name): x for name, x in at.items()})))


def derived(row):
    d = derive_once(row.F, **row.options)
    assert d.verdict is Verdict.PROVED
    (piece,) = d.potential.pieces
    return d, piece


@pytest.mark.every(3)
@pytest.mark.parametrize("row", [r for r in ROWS if r.slope], ids=lambda r: r.F)
def test_the_gradient_is_what_a_theorist_writes(row):
    _, piece = derived(row)
    assert piece.kind == row.kind
    assert not piece.gradient[0].has(sympy.Integral)
    slopes = [written_out(piece.gradient[0], piece.roots, piece.constants)]
    if row.kind == "explicit":
        slopes += [written_out(piece.value, piece.roots, piece.constants).diff(piece.betas[0])]
    for beta in (0.4, 0.3, 0.7):
        at = AT | {"beta": beta}
        assert all(abs(number(s, at) - number(of(row.slope), at)) < 1e-12 for s in slopes)


@pytest.mark.every(2)
@pytest.mark.parametrize("row", [r for r in ROWS if r.curve], ids=lambda r: r.F)
def test_the_curve_is_what_a_theorist_writes(row):
    _, piece = derived(row)
    assert piece.time_curve is not None
    assert abs(number(piece.curve.beta) - number(of(row.curve))) < 1e-12
    z = piece.curve.parameter
    assert (piece.gradient[0] / z).is_constant(z)


def test_a_composition_has_the_curve_of_what_it_is_of():
    """Of h(u v) it is that of u v by t = u + v, in which G = u v has dmu = (1 + G)^2 dt/t."""
    _, piece = derived(Row("u*v/(1 + u*v)"))
    assert piece.kind == "explicit"
    slope = written_out(piece.gradient[0], piece.roots, piece.constants)
    ends = [0.375, 0.4 / 0.6]
    known = mpmath.quad(lambda G: (1 + G) ** 2 / mpmath.sqrt(4 * G**2 + 0.3125**2), ends)
    assert abs(number(slope) - float(known)) < 1e-12


def test_q_is_along_a_function_of_the_weights_where_no_root_has_a_branch():
    """Of G + G^2, G = a b, it is along A = (a + b)^2, and int dG/((1 + 2 G) sqrt(4 G^2 + c^2))."""
    d, piece = derived(Row("(a*b)**2 + a*b"))
    assert (piece.kind, piece.in_weights) == ("parametric", "(a + b)**2")
    assert [str(c) for c in piece.assumptions] == ["a_0 + b_0 != 0"]
    G, c = 0.25, 0.5**2 - 0.25**2
    at = AT | {str(piece.curve.parameter): 2 * G + mpmath.sqrt(4 * G**2 + c**2)}
    beta, slope = (
        number(written_out(e, (), piece.constants), at)
        for e in (piece.curve.beta, piece.gradient[0])
    )
    assert abs(beta - (G + G**2)) < 1e-12
    mu = mpmath.quad(lambda x: 1 / ((1 + 2 * x) * mpmath.sqrt(4 * x**2 + c**2)), [0.125, G])
    assert abs(slope - float(mu)) < 1e-12
    assert crosscheck(d, digits=15).passed


@pytest.mark.parametrize("start", [{}, {"a": "1", "b": "0", "c": "2"}], ids=str)
def test_the_norm_of_weights_in_proportion_is_a_coordinate(start):
    """Of r = |(b, c)| exp(a) r has 2 a - r^2 = delta, dr/dmu = exp(a), and Q' = int dr/exp(a)."""
    options = {"start": start} if start else {}
    d, piece = derived(Row("exp(a)*sqrt(b**2 + c**2)", options=options))
    assert (piece.kind, piece.in_weights) == ("parametric", "sqrt(b**2 + c**2)")
    assert {str(c) for c in piece.assumptions} <= {"b_0**2 + c_0**2 > 0"}
    a, r, t = (1, 2, 2.5) if start else (AT["a_0"], mpmath.hypot(AT["b_0"], AT["c_0"]), 0.5)
    slope = written_out(piece.gradient[0], (), piece.constants)
    known = mpmath.quad(lambda x: mpmath.exp(-(2 * a - r**2 + x**2) / 2), [r, t])
    assert abs(number(slope, AT | {"t": t}) - float(known)) < 1e-12
    assert crosscheck(d, digits=15).passed


@pytest.mark.parametrize(
    ("F", "options"),
    [
        ("exp(a)*sqrt(b**2 + 2*c**2)", {}),
        ("a*b*exp(c)*sqrt(D)", {"parameters": ["D"]}),  # a root without weights
        ("b*sqrt(exp(a) + a**2)", {}),
    ],
)
def test_what_is_no_norm_of_weights_in_proportion_is_no_coordinate(F, options):
    _, piece = derived(Row(F, options=options))
    assert "sqrt" not in piece.in_weights


FORGED = {
    "another function of the weights": {"curve": {"is": "(a - b)**2"}},
    "another beta": {"beta": "A"},
    "another Q": {"Q": "A"},
    "no condition": {"assumptions": []},
}


@pytest.mark.parametrize("forged", FORGED)
def test_it_is_certified_and_another_is_refused(forged):
    record = record_once("(a*b)**2 + a*b")
    report = check(record)
    assert any("along the flow from the start" in line for line in report.theorem)
    (piece,) = record["potential"]["pieces"]
    (proof,) = record["certificate"]["pieces"]
    changed = FORGED[forged]
    if "curve" in changed:
        own = next(entry for entry in proof["definitions"] if entry.get("name") == "A")
        own |= changed["curve"]
    elif "beta" in changed:
        piece["curve"] |= changed
    else:
        piece |= changed
    assert_rejected(record)


@pytest.mark.parametrize("F", ["D*(a**2 - b**2)**-2", "D*(a*b)**-2"])
def test_q_keeps_the_conjugate_where_its_root_stays(F):
    _, piece = derived(Row(F, options={"parameters": ["D"]}))
    value, slope = (
        written_out(e, piece.roots, piece.constants) for e in (piece.value, *piece.gradient)
    )
    at = AT | {"D": 1.5, "beta": 30}
    assert abs(number(value.diff(piece.betas[0]), at) - number(slope, at)) < 1e-12


def test_a_quotient_by_what_may_be_0_on_the_way_is_no_coordinate():
    d, _ = derived(Row("(a*b + c*d)**2"))
    (block,) = d.blocks
    curves = leaf_curves(block.warping, block.notation)
    quotients = [c for c in curves if c.f is not None and not c.t.is_polynomial()]
    assert "a/b" in [repr(c.t) for c in quotients]
    assert not any(map(along_itself, quotients))


@pytest.mark.parametrize(
    ("F", "kernel"),
    [
        ("tanh(a*b + c*d)", "(1 - beta**2)**2*sqrt(4*atanh(beta)**2 + k)"),
        ("exp(a*b + c*d)", "beta**2*sqrt(4*log(beta)**2 + k)"),
        ("sqrt(a*b + c*d)", "sqrt(4*beta**4 + k)/(4*beta**2)"),
        ("a*b + c*d", "sqrt(4*beta**2 + k)"),
        ("sigmoid(a*b + c*d)", "(beta*(1 - beta))**2*sqrt(4*log(beta/(1 - beta))**2 + k)"),
        # A difference of exponents is known by the ratio of terms.
        ("sigmoid(a*b - c*d)", "(beta*(1 - beta))**2*sqrt(4*log(beta/(1 - beta))**2 + k)"),
    ],
)
def test_the_leaf_of_a_function_of_a_quadratic_form_is_that_of_the_form(F, kernel):
    """There |grad G|^2 = sqrt(4 G^2 + k) for G = a b + c d, so K = h'(G)^2 sqrt(4 G^2 + k)."""
    d, piece = derived(Row(F))
    shown = written_out(piece.kernel, piece.roots, piece.constants)
    k = CONIC.replace("(c_0 ", "(-c_0 ") if "-" in F else CONIC
    assert abs(number(shown) - number(of(kernel.replace("k", k)))) < 1e-12
    conic = d.blocks[0].metric.conic
    assert all(along(x, conic.law).is_zero() for x in d.blocks[0].metric.X)


def test_the_mirror_map_of_an_odd_power_is_odd():
    """From G < 0, without a sum below the bar: mu = -sqrt(4 G^2 + 9)/(27 G) - 5/54, beta = G^3."""
    _, piece = derived(Row("u**3*v**3", options={"start": {"u": "-1", "v": "2"}}))
    (slope,), G = piece.gradient, -1.5
    assert not any(e.exp == -1 and e.base.is_Add for e in slope.atoms(sympy.Pow))
    known = -((4 * G**2 + 9) ** 0.5) / (27 * G) - 5 / 54
    assert abs(number(slope, {"beta": G**3}) - known) < 1e-12


@pytest.mark.parametrize("F", ["a*b*c", "a*b + c*d*e", "a**3 - 3*a*b**2", "a**2 + 2*b**2"])
def test_other_forms_have_no_conic(F):
    assert derived(Row(F))[0].blocks[0].metric.conic is None


CERTIFIED = [
    {"start": {"a": "1", "b": "2", "c": "3", "d": "1"}},
    {"start": {"a": "1", "b": "1", "c": "-1", "d": "2"}},
]


@pytest.mark.parametrize("options", CERTIFIED, ids=str)
def test_its_constant_is_certified_in_numbers(options):
    record = record_once("(a*b + c*d)**2", **options)
    assert not check(record).open
    (piece,) = record["potential"]["pieces"]
    (root,) = piece["roots"]
    _, size = root["polynomial"].rsplit("- ", 1)
    forged = json.loads(json.dumps(record).replace(size, str(int(size) + 1)))
    assert_rejected(forged)


@pytest.mark.parametrize(
    ("F", "start"),
    [
        *(("a*b**3", s) for s in ({"a": "alpha", "b": "alpha"}, {"a": "0"}, {"a": "1", "b": "2"})),
        # At the start, atan(sqrt(3) a_0/b_0), it has a root that the field of the leaf has not.
        ("2*b**3/(2*b**3 - a)", {}),
    ],
)
def test_a_start_of_its_own_leaves_no_integral(F, start):
    _, piece = derived(Row(F, options={"start": start}))
    assert piece.kind == "algebraic"
    assert F == "a*b**3" or piece.value.has(sympy.atan)


@pytest.mark.every(6)
@pytest.mark.parametrize(("F", "options", "laws"), LAWS)
def test_laws_are_all(F, options, laws):
    conserved = derive_once(F, **options).conserved
    assert conserved.verdict is Verdict.PROVED
    for found, law in zip(conserved.laws, laws.split("; "), strict=True):
        assert sympy.simplify(of(str(found)) / of(law)).is_number


CLOSED = {
    "log(w)": "exp(2*beta)/4 - beta*w_0**2/2",
    "3*log(2*w + 1)": "exp(2*beta/3)/16 - beta*(2*w_0 + 1)**2/24",
    "log(u**2 + v**2)": "exp(beta)/4 - beta*(u_0**2 + v_0**2)/4",
    "log(p) - log(m) + 1": "(p_0**2 + m_0**2)*log(1 + exp(2*beta - 2))/4 - beta*p_0**2/2",
    "asinh(w)": "beta**2/4 + cosh(2*beta)/8 - beta*(w_0*sqrt(1 + w_0**2) + asinh(w_0))/2",
}
DILOGARITHMS = ("softplus(w)", "log(1 + w**2)", "log(cosh(w))", "log(sinh(w))", "-log(1 - w**2)")


@pytest.mark.every(3)
@pytest.mark.parametrize("text", CLOSED)
def test_q_is_closed_and_as_a_theorist_would_write_it(text):
    (piece,) = derive_once(text).potential.pieces
    difference = (of(str(piece.value)) - of(CLOSED[text])).rewrite(sympy.exp)
    assert sympy.simplify(sympy.expand(difference, force=True)).diff(of("beta")) == 0
    assert piece.kind == "explicit"
    assert piece.domain.where == "all real $beta$"


@pytest.mark.every(2)
@pytest.mark.parametrize("text", DILOGARITHMS)
def test_the_gradient_is_closed_where_q_is_a_dilogarithm(text):
    (piece,) = derive_once(text).potential.pieces
    assert piece.kind == "explicit"
    assert piece.value.has(Li2)

    assert piece.domain.where == ("all real $beta$" if "sinh" in text else "`beta > 0`")
    assert piece.domain.exact


@pytest.mark.every(2)
@pytest.mark.parametrize("text", ["log(w)", "asinh(w)", "softplus(w)"])
def test_all_is_certified_and_another_gradient_is_not(text):
    record = record_once(text)
    assert not check(record).open
    piece = record["potential"]["pieces"][0]
    piece["gradient"] = [f"{piece['gradient'][0]} + exp(beta) - exp(beta_0)"]
    assert_rejected(record)


@pytest.mark.every(4)
@pytest.mark.parametrize("text", ["log(u*v)", "w + exp(w)", "2*log(p) - log(m)", "atan(w)"])
def test_other_outputs_are_left_to_other_roads(text):
    (piece,) = derive_once(text).potential.pieces
    assert not any(
        slope.has(sympy.exp(sympy.Symbol("beta", real=True))) for slope in piece.gradient
    )


@pytest.mark.parametrize("text", ["log(-1 - w**2)", "log(w) + log(-w)", "sqrt(-1 - w**2)"])
def test_what_is_defined_nowhere_is_refused(text):
    with pytest.raises(InputError, match="F is defined nowhere"):
        derive_once(text)


def test_a_domain_without_the_zero_of_its_kernel_is_refused():
    """K = beta^2 of exp(w), written as (sqrt(beta^2 + 1) - 1)(sqrt(beta^2 + 1) + 1), is 0 at 0."""
    record = record_once("exp(w)")
    piece, proof = record["potential"]["pieces"][0], record["certificate"]["pieces"][0]
    root = "sqrt(beta**2 + 1)"
    log = f"log({root} + 1)"
    piece["kernel"] = f"({root} - 1)*exp({log})"
    proof["definitions"] = [
        {"name": "g1", "of": root},
        {"name": "g2", "of": log},
        {"of": f"exp({log})", "is": "g1 + 1", "from": [[log, "1"]]},
        *proof["definitions"],
    ]
    calls = (root, log, f"exp({log})")
    proof["domain"] = [{"name": f"h{n}", "of": call} for n, call in enumerate(calls)]
    assert not check(record).open
    piece["domain"]["walls"] = []
    assert_rejected(record, "of all beta there it is not shown")
