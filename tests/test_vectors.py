"""Vector models beta = phi(a, |u|) u for every d: exact facts, and components of the vector."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
import sympy
from mpmath import mp, mpf

from derive import DegenerateStart, InputError, Parameterization, RankDeficient, Verdict
from tests.published import derive_once
from tests.witness_flow import Model, evaluate, number, random_steering, run
from tests.witnesses import WITNESSES, Refuted, repeated

pytestmark = pytest.mark.every(4)


def derived(phi, start=None):
    """Derive phi u, with phi written in the name of the norm."""
    return derive_once(f"({phi.replace('norm_u', 'norm(u)')})*u", start, vectors=["u"])


START = {"a": "5/4", "b": "3/4", "c": "9/8", "u": "7/8"}


def explicit(phi, d=3):
    square = "(" + "+".join(f"u{i}**2" for i in range(1, d + 1)) + ")"
    phi = phi.replace("norm_u", f"sqrt{square}")
    return [f"({phi})*u{i}" for i in range(1, d + 1)]


@pytest.mark.parametrize(
    "phi",
    [
        "a + norm_u**2",
        "c*norm_u",
        "a**2 + b**2",
        "a - norm_u**2/3",
        "a*norm_u**4",
        "a**2 + norm_u**2",
    ],
)
def test_a_dual_length_in_the_weights_follows_the_flow(phi):
    with mp.workdps(30):
        d = derived(phi)
        assert d.verdict is Verdict.PROVED
        names = [n for n in "abc" if n in phi]
        model = Model.of(explicit(phi), [*names, "u1", "u2", "u3"])
        along = (number(START["u"]) * k / 7 for k in (2, 3, 6))
        w0 = [*(number(START[n]) for n in names), *along]
        steering = random_steering(3, 3, size=0.1)
        read = [*(sympy.Symbol(n, real=True) for n in names), sympy.Symbol("norm_u", positive=True)]
        phi_of = sympy.lambdify(
            read, sympy.sympify(phi, locals={x.name: x for x in read}), "mpmath"
        )
        g_of = sympy.lambdify(read, d.warping.g, "mpmath")

        def at(w):
            return [*w[:-3], mpmath.norm(w[-3:])]

        w1, expected = run(model, w0, steering, lambda *w: g_of(*at(w)))

        def y(w):
            return [g_of(*at(w)) / phi_of(*at(w)) * x for x in w[-3:]]

        moved = [p - q for p, q in zip(y(w1), y(w0), strict=True)]
        assert max(abs(p - q) for p, q in zip(moved, expected, strict=True)) < mpf(10) ** -15
        symbols = {sympy.Symbol(f"{n}_0"): v for n, v in zip(names, w0, strict=False)}
        symbols[sympy.Symbol("norm_u_0")] = mpmath.norm(w0[-3:])
        slope = evaluate(d.potential.turning.slope, symbols)
        assert abs(slope - g_of(*at(w0)) / phi_of(*at(w0))) < mpf(10) ** -20


@pytest.mark.parametrize(("phi", "known"), [("a", True), ("a**2*b + norm_u**2", False)])
def test_eigenvalues_of_k_are_printed_where_a_chart_has_them(phi, known):
    d = derived(phi)
    assert (d.potential.turning.eigenvalues is not None) == known
    assert ("as functions of s = |beta|" in d.to_text()) == known


def test_without_a_dual_length_the_eigenvalues_give_q():
    d = derived("a**2*b + norm_u**2")
    assert d.potential.turning.dual is None
    assert d.verdict is Verdict.PROVED
    assert d.potential.pieces[0].kind == "quadrature"
    assert "s q''/q' = T/R" in d.to_text()


TIED = {"a": "1", "b": "1"}
BOTH_WAYS = [
    *((phi, {}) for phi in ("a", "a*b", "a**2", "a + b", "sqrt(a)", "a**(3/2)", "a**(5/2)", "1/a")),
    *((phi, {}) for phi in ("a**2*b", "a**2 - b**2")),
    *(("a**2 - b**2", start) for start in ({"a": "2", "b": "1"}, TIED, {"a": "1", "b": "-1"})),
    *(("a*b", start) for start in ({"b": "0"}, {"a": "0", "b": "1"}, TIED)),
    *(("a", start) for start in ({"a": "0"}, {"a": "-1"})),
]


@pytest.mark.every(64)
@pytest.mark.parametrize("d", [2, 3, 7])
@pytest.mark.parametrize(("phi", "start"), BOTH_WAYS)
def test_a_vector_and_its_coordinates_have_one_q(phi, start, d):
    ours = derived(phi, start)
    theirs = derive_once(explicit(phi, d), start)
    assert ours.hessian.verdict is theirs.hessian.verdict
    assert ours.verdict is theirs.verdict is Verdict.PROVED
    assert ours.potential.kind == theirs.potential.kind
    ratio = sympy.simplify(ours.warping.g / theirs.warping.g)
    names = {x.name: x for x in ratio.free_symbols}
    # From a*b with a = b it is a = b on the leaf, which coordinates know.
    assert (ratio.subs(names["b"], names["a"]) if start == TIED and names else ratio).is_number
    u0 = [(k + 3) / (3 * d) for k in range(d)]
    known = {
        n: x for n, x in (("a_0", 2), ("b_0", 0.5)) if n in theirs.parameterization.start_symbols
    }
    pairs = [(ours.potential, theirs.potential)]
    if ours.potential.other_side is not None:
        pairs.append((ours.potential.other_side, theirs.potential.other_side))
    for vector, coordinates in pairs:
        q = vector.numeric({**known, "u_0": u0})
        other = coordinates.numeric({**known, **{f"u{i}_0": x for i, x in enumerate(u0, 1)}})
        points = np.array([[(5 * k + 7 * n) % 11 - 4 for k in range(d)] for n in range(3)]) / 3
        assert q.gradient(points) == pytest.approx(other.gradient(points), rel=1e-12, abs=1e-13)


def test_a_wrong_turning_is_refuted():
    d = derived("a*b")
    (statement,) = d.says("regularizer")
    turned = replace(d.potential.turning, slope=-d.potential.turning.slope)
    flipped = replace(d, potential=replace(d.potential, turning=turned))
    with pytest.raises(Refuted):
        repeated(WITNESSES["regularizer"], flipped, statement)


def test_a_hessian_map_exactly_where_phi_stands_still():
    assert derived("2").hessian.verdict is Verdict.PROVED
    # The scalar a never moves from 0.
    d = derived("1 + a**2*b", {"a": 0})
    assert d.hessian.verdict is Verdict.PROVED
    assert d.idle == ("a", "b") or d.potential.pieces[0].value == d.beta[0] ** 2 / 2
    assert derived("1 + a", {"a": 0}).hessian.verdict is Verdict.REFUTED


def test_a_vector_that_starts_at_zero():
    d = derived("a*b", {"u": 0})
    assert d.verdict is Verdict.PROVED
    assert d.potential.turning.slope == 0
    assert "needs no direction" in d.to_text()
    with pytest.raises(DegenerateStart, match="no direction"):
        derived("a + norm_u**2", {"u": 0})
    with pytest.raises(DegenerateStart):
        derived("c/norm_u", {"u": 0})


@pytest.mark.parametrize(
    ("phi", "start", "message"),
    [
        ("a", {"b": 1}, "no weight b .the weights are a, u"),
        ("a", {"u": -1}, "negative"),
        ("1/norm_u", {}, "length of beta is constant"),
        ("a", {"a": 0, "u": 0}, "does not move"),
        ("a", {"norm_u": 1}, "no weight norm_u"),
        ("a", {"u": "a"}, "uses the weight a"),
    ],
)
def test_refusals_are_one_line(phi, start, message):
    with pytest.raises(InputError, match=message) as refused:
        derived(phi, start)
    assert "\n" not in str(refused.value)


def test_two_vectors_ask_for_a_dimension():
    two = Parameterization.parse(["a*u + b*v"], vectors=["u", "v"])
    with pytest.raises(InputError, match="--vector u:3"):
        derive_once(two)
    with pytest.raises(RankDeficient):
        derived("3/norm_u")


def test_names_of_the_user_are_kept():
    d = derived("s*beta", {"s": "u_0"})
    assert d.beta[0].name != "s"
    assert d.direction.start_vector != "u_0"
    assert d.verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("phi", "note"),
    [
        ("a + norm_u**2", r"$\psi(s) = \lVert u \rVert \, e^{- 2 a}$ where the curve "
         r"$(a, \lVert u \rVert)' = \nabla s$ from the start has "),
        ("c*norm_u", r"with $\psi = \mathrm{d}q/\mathrm{d}s$;"),
        ("a**2*b + norm_u**2", r"$T = \varphi^{2}$ and $R = \lvert \nabla s\rvert^{2}$ where "),
    ],
)  # fmt: skip
def test_what_an_integrand_means_is_said_in_prose(phi, note):
    d = derived(phi)
    snippet = d.to_latex()
    assert note in snippet
    assert "texttt" not in snippet
    assert "`" not in snippet + d.to_text() + d.to_json()
    assert snippet.count("$") % 2 == 0


def test_a_norm_that_the_flow_keeps_is_no_unknown_of_psi():
    d = derive_once("a*b*u/norm(u)", vectors=["u"])
    (piece,) = d.potential.pieces
    exponent = "(delta2/2 + sqrt(delta2**2 + 4*x**2)/2)/(2*norm_u_0**2)"
    assert str(piece.value) == f"Integral(exp({exponent}), (x, a_0*b_0, s))"


@pytest.mark.parametrize("start", [{"a": -1}, {"a": "-3/2", "u": "1/4"}])
def test_a_negative_coefficient(start):
    d = derived("a", start)
    assert d.direction.sign == -1
    assert d.potential.turning.slope == -1
    assert d.warping.g == -sympy.Symbol("a", real=True)


@pytest.mark.parametrize(
    ("phi", "names", "power"), [("a", "au", "3/2"), ("a*b", "abu", "4/3"), ("a*b*c", "abcu", "5/4")]
)
def test_balanced_starts_give_powers(phi, names, power):
    d = derived(phi, dict.fromkeys(names, "alpha"))
    power = sympy.Rational(power)
    assert d.potential.pieces[0].value == d.beta[0] ** power / power
    assert d.potential.turning.slope == 1
    assert d.potential.pieces[0].roots == ()
