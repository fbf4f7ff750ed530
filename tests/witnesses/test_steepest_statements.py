"""What is said of steepest descent on the weights, put to witnesses, and false claims."""

import functools
import json
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from scipy.integrate import quad, solve_ivp

from derive import InputError, Parameterization, derive, margins, regimes
from derive.certificate.checking.check import NotACertificate, check_text
from derive.model.typed import TypedModel
from derive.verdict import Verdict
from numerics.confirm.steered import _pushed as pushed_in_doubles
from numerics.confirm.steered import check_reached, check_steered
from tests.certificate.certificates import assert_rejected
from tests.cli.commands import run
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted, changed, repeated

SAME = {"p": "alpha", "m": "alpha"}
MODELS = (["u*v"], None), (["p**2 - m**2"], SAME), (["u*v*w"], None), (["p**3 - m**3"], SAME)


def of(outputs, start, norm):
    return derive_once(outputs, start, steepest=norm)


@pytest.mark.every(8)
@pytest.mark.parametrize(
    ("outputs", "norm", "beta"),
    [
        (["u*v"], "oo", "linf"),
        (["u*v"], "3", "l3/2"),
        (["p**2 - m**2"], "4", "l2"),
        (["w**3"], "oo", "linf"),
        (["u*v"], "4/3", "l2/3"),
    ],
)
def test_margins_of_steepest_descent(outputs, norm, beta):
    m = margins(of(outputs, None, norm))
    assert (m.norm, m.verdict) == (beta, Verdict.PROVED)
    for s in m.says("steepest cost", "steepest KKT"):
        assert WITNESSES[s.kind](m, s, random.Random(1)) > 0


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("outputs", "norm", "beta"),
    [
        (["a*u1", "a*u2"], "3", "l3"),
        (["a*u1", "a*u2", "a*u3"], "oo", "linf"),
        (["g**2*u1", "g**2*u2"], "4", "l4"),
        (["a*b*u1", "a*b*u2"], "oo", "linf"),
    ],
)
def test_outputs_that_share_weights_have_margins_without_a_q(outputs, norm, beta):
    m = margins(derive(Parameterization.parse(outputs, steepest=norm)))
    assert (m.norm, m.verdict) == (beta, Verdict.PROVED)
    for s in m.says("fibre cost", "shared margin"):
        assert sum(WITNESSES[s.kind](m, s, random.Random(k)) for k in range(4)) > 0
    (told,) = m.says("shared margin")
    with pytest.raises(Refuted):
        repeated(WITNESSES["shared margin"], m, changed(told, norm="l1"))
    for text in (m.to_text(), m.to_latex(), m.to_html(), m.to_json()):
        assert text


@pytest.mark.every(2)
@pytest.mark.parametrize(("F", "side"), [("w**2", 1), ("-u**2*v**4", -1), ("w**2 + w", 0)])
def test_of_one_sign_the_margin_is_that_among_its_beta(F, side):
    """It has no norm that data could be put to; of a sum of degrees nothing is said."""
    m = margins(of([F], None, "3"))
    assert (m.norm, m.weights.side) == (None, side)
    told = m.says("steepest cost")
    if not side:
        assert not any(hasattr(s, "ground") for s in told)
        return
    (cost,) = told
    assert WITNESSES[cost.kind](m, cost, random.Random(1)) == 2
    wrong = replace(cost, values={**cost.values, "side": 0})
    with pytest.raises(Refuted):
        repeated(WITNESSES[cost.kind], m, wrong)


@pytest.mark.every(3)
def test_false_claims_are_refuted():
    """The Q of another norm; least sums of Q where phi leaves the row space; another margin."""
    d, other = of(["u*v"], None, "oo"), of(["u*v"], None, "4/3")
    (row,) = d.says("one row")
    with pytest.raises(Refuted):
        repeated(WITNESSES["one row"], replace(d, potential=other.potential), row)
    (box,) = d.says("box")
    fast = of(["u*v/8"], None, "oo").potential
    with pytest.raises(Refuted):
        repeated(WITNESSES["box"], replace(d, potential=fast), box)
    m = margins(d)
    (cost,) = m.says("steepest cost")
    with pytest.raises(Refuted):
        repeated(WITNESSES["steepest cost"], m, replace(cost, values={**cost.values, "norm": "l2"}))


@pytest.mark.parametrize(("norm", "leaves"), [("2", False), ("3", True), ("3/2", True)])
def test_of_two_rows_dual_coordinates_leave_the_row_space(norm, leaves):
    """So the limit is in general not the least Q; of gradient flow they are in it."""
    d = derive_once(["u*v"], {"u": "2", "v": "1"}, steepest=norm)
    X, y, s = np.array([[1.0, 2, -1], [0.5, -1, 1]]), np.array([1.0, 2.0]), 1 / (Fraction(norm) - 1)

    def slope(_, state):
        u, v = state.reshape(2, 3)
        G = X.T @ (y - X @ (u * v)) * np.array([v, u])
        return (np.sign(G) * np.abs(G) ** float(s)).ravel()

    start = np.repeat([2.0, 1.0], 3)
    u, v = solve_ivp(slope, (0, 0.05), start, rtol=1e-10, atol=1e-12).y[:, -1].reshape(2, 3)
    q = d.potential.numeric({})
    moved = np.array([float(np.squeeze(q.gradient(np.array([b])))) for b in u * v])
    off = moved - X.T @ np.linalg.lstsq(X.T, moved, rcond=None)[0]
    assert (np.linalg.norm(off) > 1e-2 * np.linalg.norm(moved)) == leaves
    assert leaves or np.linalg.norm(off) < 1e-6 * np.linalg.norm(moved)


@pytest.mark.parametrize("norm", ["oo", "3", "4/3", "4"])
def test_shared_weights_keep_nothing(norm):
    for outputs in (["a*u1", "a*u2"], ["a*u1", "a*u2", "a*u3"]):
        d = derive(Parameterization.parse(outputs, steepest=norm))
        assert (d.laws.verdict, d.verdict) == (Verdict.REFUTED, Verdict.REFUTED)
        refuted_by_numbers(d)
    assert Parameterization.parse(["a*u1", "a*u2"], steepest="2").geometry.steepest is None
    d = derive(Parameterization.parse(["a + b", "a - b"], steepest=norm))
    assert (d.laws.verdict, d.verdict) == (Verdict.REFUTED, Verdict.UNDECIDED)


def refuted_by_numbers(d):
    """Run short flows, take the rank of Phi(J^T l_i), and compare beta' at both weights."""
    p, phi = d.parameterization.plain, functools.partial(pushed_in_doubles, d.parameterization)
    assert check_reached(d).passed
    w = [sympy.Symbol(x, real=True) for x in p.weights]
    jacobian = sympy.lambdify(w, sympy.Matrix(p.outputs).jacobian(w), "numpy")
    here, there = (jacobian(*(float(x) for _, x in at)) for at in (d.point, d.other))
    M = np.array([phi(here.T @ np.array(steer)) for steer in d.steering])
    assert np.linalg.svd(M / np.linalg.norm(M, axis=1)[:, None])[1].min() > 1e-9
    F = sympy.lambdify(w, p.outputs, "numpy")
    assert np.allclose(*(F(*(float(x) for _, x in at)) for at in (d.point, d.other)))
    pairs = [
        np.concatenate([J @ phi(J.T @ x) for x in np.eye(p.d)[:2] + 0.1]) for J in (here, there)
    ]
    if p.d > 1:
        assert np.linalg.svd(np.array(pairs) / np.linalg.norm(pairs, axis=1)[:, None])[1][1] > 1e-6


@pytest.mark.parametrize(
    ("outputs", "push", "arrays"),
    [
        (["u*v"], "x/sqrt(x**2 + 1)", {}),
        pytest.param(["u*v*w"], "atan(x)", {}, marks=pytest.mark.slow),
        (["U*T(V)"], "spectral", {"U": (2, 2), "V": (2, 2)}),
    ],
)
def test_what_is_no_power_keeps_nothing(outputs, push, arrays):
    d = derive(Parameterization.parse(outputs, steepest=push, arrays=arrays))
    assert (d.laws.verdict, d.verdict) == (Verdict.REFUTED, Verdict.REFUTED)
    refuted_by_numbers(d)
    for text in (d.to_text(), d.to_latex(), d.to_html(), d.to_json()):
        assert "l" in text


def test_powers_are_not_refuted_as_functions():
    """Of one output phi(x) = x^3 keeps u^4 - v^4: ranks show nothing, and flows reach a curve."""
    d = derive(Parameterization.parse(["u*v"], steepest="x**3"))
    assert (d.laws.verdict, d.verdict) == (Verdict.UNDECIDED, Verdict.UNDECIDED)
    at = tuple(zip(("u", "v"), (Fraction(2), Fraction(3)), strict=True))
    assert not check_reached(replace(d, point=at)).passed


@pytest.mark.parametrize(
    ("outputs", "start", "norm", "words"),
    [
        (["u*v"], {"u": "-1"}, "oo", "put -u for u"),
        (["u*v"], {"u": "0"}, "oo", "start elsewhere"),
        (["(u - v)*w"], None, "oo", "start at numbers"),
        (["u*v"], None, "1", "above 1"),
        (["u*v"], None, "1/0", "above 1"),
    ],
)
def test_refusals(outputs, start, norm, words):
    with pytest.raises(InputError, match=words):
        Parameterization.parse(outputs, start, steepest=norm)


@pytest.mark.parametrize(
    ("outputs", "given", "slope"),
    [
        (["exp(w)"], {}, 1.4),
        (["c*u"], {"positive": ["c"], "parameters": ["c"]}, 1.4),
        (["sinh(w)"], {}, np.sqrt(1 + 1.4**2)),
    ],
)
def test_signs_of_functions_and_parameters_are_known(outputs, given, slope):
    """Under sign descent Q'' = 1/|F'|, here where beta, and c, are 1.4."""
    d = derive_once(outputs, steepest="oo", **given)
    second = d.potential.Q.diff(d.beta[0], 2)
    found = float(second.subs(dict.fromkeys(second.free_symbols, 1.4)))
    assert abs(found * slope - 1) < 1e-12


def test_a_map_survives_being_shown_and_copied():
    p = Parameterization.parse(["u*v"], steepest="4/3")
    assert eval(repr(p)) == p
    assert p.with_(labels=[1]).geometry == p.geometry
    assert Parameterization.parse(["u*v"], steepest="3") != p


@pytest.mark.parametrize(
    ("norm", "code", "words"), [("oo", 0, "546/275"), ("4/3", 3, "not convex")]
)
def test_the_command_computes_margins_in_norms_alone(norm, code, words):
    done = run("margin", "u*v", "--steepest", norm, "--data", "examples/iris.csv")
    assert (done.returncode, words in done.stdout + done.stderr) == (code, True)


@pytest.mark.parametrize("norm", ["oo", "4/3", "3"])
def test_certificates_and_checks_are_of_phi(norm):
    """The checker reads phi and the rates off the record; a flow of phi and its steps agree."""
    d = of(["u*v"], None, norm)
    text = d.to_json(60)
    report = check_text(text)
    assert report.verdict == "PROVED"
    assert any("(grad Q)' = c g phi(-X^T r)" in line for line in report.theorem)
    changes = ("rates", {"u": "2*v"}), ("flow", {"|x|^3": "|x|^2", "|x|^(1/2)": "|x|^(1/3)"})
    record = json.loads(text)["parameterization"]
    for key, change in changes if norm != "oo" else changes[:1]:
        forged = json.loads(text)
        flow = functools.reduce(lambda t, x: t.replace(*x), change.items(), str(record[key]))
        forged["parameterization"][key] = flow if key == "flow" else record[key] | change
        assert_rejected(forged, "not those of phi")
    assert check_steered(d, 15).passed
    other = of(["u*v"], None, "3/2").potential
    assert not check_steered(replace(d, potential=other), 15).passed


NEURON = ["a*u1", "a*u2"], {}
FACTORS = ["U*T(V)"], {"U": (2, 2), "V": (2, 2)}


TIED = ["a*b*c**2", "(a - b)**2*c**2 + d"]
"""Outputs that are a^2 c^2 and d where a = b, as the flow has it that starts so."""


@pytest.mark.parametrize(
    ("start", "verdict"),
    [("alpha", "UNDECIDED"), ("alpha + 1", "REFUTED"), ("2*alpha", "REFUTED"), (None, "REFUTED")],
)
def test_a_no_is_of_weights_that_are_a_start(start, verdict):
    given = {"a": "alpha", **({"b": start} if start else {})}
    d = derive(Parameterization.parse(TIED, given, steepest="3"))
    assert d.verdict.value == verdict
    if d.point:
        w = dict(d.point)
        known = {"alpha": w["a"], "b_0": w["b"]}
        assert w["b"] == sympy.sympify(start or "b_0").subs(known)
        assert check_text(d.to_json()).verdict == verdict
    separate = Parameterization.parse(["a**2*c**2", "d"], steepest="3")
    assert derive(separate).verdict.value == "PROVED"


def test_the_spectral_norm_is_of_matrices():
    arrays = {"W": (2, 2), "a": (2,)}
    with pytest.raises(InputError, match="of matrices"):
        Parameterization.parse(["W*a"], steepest="spectral", arrays=arrays)


@pytest.mark.parametrize(
    ("model", "push"), [(NEURON, "3"), (NEURON, "oo"), (NEURON, "4/3"), (FACTORS, "spectral")]
)
def test_a_no_has_a_certificate_and_mutants_are_refused(model, push):
    """Ranks and minors in balls: of other F, Phi, weights or steering they do not hold."""
    outputs, arrays = model
    d = derive(Parameterization.parse(outputs, steepest=push, arrays=arrays))
    text = d.to_json()
    report = check_text(text)
    assert (report.verdict, report.open) == ("REFUTED", [])
    assert any("keeps no function of the weights" in line for line in report.theorem)
    first, (one, two) = d.parameterization.plain.weights[0], d.velocities
    other = "2" if push == "spectral" else "5"
    changed = [
        ("verdict", "PROVED"), ("laws", "UNDECIDED"), ("push", other), ("flow", "sign descent"),
        ("outputs", [*json.loads(text)["outputs"][:-1], f"{first} + 1"]),
        ("point", json.loads(text)["point"] | {first: "0"}),
        ("point", json.loads(text)["point"] | {first: "7"}),
        ("other", json.loads(text)["other"] | {first: "7"}),
        ("steering", [list(d.steering[0])] * len(d.steering)),
        ("steering", [list(x) for x in d.steering[1:]]),
        ("steering", [[9 - d.steering[0][0], *d.steering[0][1:]], *map(list, d.steering[1:])]),
        ("start", json.loads(text)["start"] | {first: "7"}),
        ("start", json.loads(text)["start"] | {first: f"{first}_0 + 1"}),
        ("reason", "it was tried"),
        ("statements", json.loads(text)["statements"][::-1]),
        ("statements", json.loads(text.replace(" keeps no ", " keeps one "))["statements"]),
        ("statements", json.loads(text.replace("the other w", "near w"))["statements"]),
    ]  # fmt: skip
    for key, value in changed:
        assert_rejected(json.loads(text) | {key: value})
    for key, value in (
        ("velocities", [list(one)]),
        ("velocities", [list(one), [0] * len(two)]),
        ("velocities", [list(one), [*two[:-1], "1"]]),
        ("scaling", [0] * len(d.scaling)),
        ("scaling", [n + 1 for n in d.scaling]),
    ):
        forged = json.loads(text)
        forged["certificate"][key] = value
        assert_rejected(forged)


@pytest.mark.parametrize(
    ("model", "ends"),
    [(MODELS[0], ["beta > 0"]), (MODELS[1], ["4*alpha**2 + beta > 0", "4*alpha**2 - beta > 0"])],
)
def test_where_q_lives_is_certified(model, ends):
    """What vanishes at a wall is a power of it but for what the flow keeps; another does not."""
    text = of(*model, "oo").to_json(60)
    report = check_text(text)
    assert report.open == ()
    assert all(
        any(line.endswith(f"at least where {end}") for line in report.theorem) for end in ends
    )
    forged = json.loads(text)
    (piece,) = forged["potential"]["pieces"]
    for wall in piece["domain"]["walls"]:
        wall["vanishing"] = forged["parameterization"]["weights"][0]
    assert_rejected(forged, "does not vanish at the wall alone")


@pytest.mark.parametrize("norm", ["4/3", "3/2", "3", "5"])
def test_the_kernel_of_a_product_is_certified_with_its_domain(norm):
    """K^2 = c^2 + 4 beta^q; weights are finite where beta is not 0, and nothing less is shown."""
    d = of(["u*v"], None, norm)
    q, (piece,) = 1 / (1 - 1 / Fraction(norm)), d.potential.pieces
    beta, (c, at_start) = piece.betas[0], piece.constants[0]
    power = 4 * sympy.Symbol("b", positive=True) ** sympy.Rational(q)
    square = (piece.kernel**2).subs(beta, sympy.Symbol("b", positive=True))
    assert sympy.expand(square - c**2 - power) == 0
    assert "u_0" in map(str, at_start.free_symbols)
    text = d.to_json(60)
    report = check_text(text)
    assert report.open == ()
    ends = "every beta is reached" if norm == "4/3" else "at least where beta > 0"
    assert any(line.endswith(ends) for line in report.theorem)
    forged = json.loads(text)
    (said,) = forged["potential"]["pieces"]
    if said["domain"]["walls"]:
        said["domain"]["walls"] = []
        assert_rejected(forged)


@pytest.mark.parametrize(("norm", "k"), [("3", "3/4"), ("5", "5/8"), ("3/2", "3/2"), ("4/3", "2")])
def test_small_starts_of_a_product(norm, k):
    """K tends to 2 beta^k: dQ/dbeta to its integral, or for k > 1 to the time to infinity."""
    p = Parameterization.parse(["u*v"], {"u": "alpha", "v": "2*alpha"}, ["alpha"], steepest=norm)
    (limit,) = regimes(derive(p), toward=(0,)).limits
    assert limit.finding.verdict is Verdict.PROVED
    q, k, b = float(1 / (1 - 1 / Fraction(norm))), float(Fraction(k)), 0.7

    def time(start, end, c):
        """Return int 1/K from a start, K by the law |u|^q - |v|^q at alpha = 1."""
        K = lambda x: np.sqrt((c * (2**q - 1)) ** 2 + 4 * x**q)  # noqa: E731
        return quad(lambda s: np.exp(s) / K(np.exp(s)), np.log(start), np.log(end), limit=400)[0]

    alpha = sympy.Symbol("alpha", positive=True)
    if k < 1:
        (slope,) = limit.potential.gradient
        limits = float(slope.subs(dict.fromkeys(slope.free_symbols, b)))
        assert limits == pytest.approx(b ** (1 - k) / (2 * (1 - k)))
        assert time(2e-12, b, 1e-6**q) == pytest.approx(limits, rel=1e-2)
        return
    unit = limit.unit.replace(sympy.Integral, lambda *_: sympy.S.One)
    assert unit == alpha ** (-2 * sympy.Rational(k) + 2)
    found = time(2e-8, b, 1e-4**q) * 1e-4 ** (2 * (k - 1))
    assert found == pytest.approx(time(2, 1e12, 1), rel=1e-3)
    assert (limit.regime == "rich") == (norm == "3/2")


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("F", "norm"),
    [
        ("u*v*w", "3"),
        ("u*v*w", "oo"),
        ("u**2*v", "3"),
        ("-2*u**2*v", "4"),
        ("u*v**2*w", "4"),
        ("u**2*v**3", "6"),
    ],
)
def test_products_of_more_powers_have_limits_from_small_starts(F, norm):
    """From c w_1 the flow has at beta = 1 the K that Q'' = 1/K needs, N = 1 or D log(1/c)."""
    start = dict(zip("uvw", ("alpha", "2*alpha", "alpha/2"), strict=True))
    start = {w: x for w, x in start.items() if w in F}
    d = derive(Parameterization.parse([F], start, ["alpha"], steepest=norm))
    (limit,) = regimes(d, toward=(0,)).limits
    assert limit.finding.verdict is Verdict.PROVED
    alpha = sympy.Symbol("alpha", positive=True)
    weights = d.parameterization.weights
    f = sympy.sympify(F)
    slopes = sympy.lambdify(weights, [sympy.diff(f, w) for w in weights])
    s = float(d.parameterization.geometry.steepest)
    sign = -1 if F.startswith("-") else 1

    def rates(_, w):  # of log beta
        g = np.array(slopes(*w))
        move = sign * np.sign(g) * np.abs(g) ** s
        return move * abs(beta(w)) / abs(g @ move)

    beta = lambda w: float(f.subs(dict(zip(weights, w, strict=True))))  # noqa: E731
    w0 = 1e-9 * np.array([float(sympy.sympify(start[w]).subs("alpha", 1)) for w in weights])
    run = solve_ivp(rates, (np.log(abs(beta(w0))), 0), w0, "LSODA", rtol=1e-9, atol=0)
    g = np.array(slopes(*run.y[:, -1]))
    unit = abs(sympy.Poly(sympy.diff(f, weights[0])).LC()) ** (s - 1)  # that of time
    (slope,), t = limit.potential.gradient, sympy.Symbol("t", positive=True)
    slope = slope.subs(dict.fromkeys(slope.free_symbols, t))
    if limit.unit == 1:
        second = slope.diff(t).subs(t, 1)
    else:
        second = slope * limit.unit / d.parameterization.degree / sympy.log(1 / alpha)
    assert float(unit / second) == pytest.approx(np.sum(np.abs(g) ** (1 + s)), rel=1e-4)


def test_records_without_a_proof_have_no_certificate():
    """Of phi in x it is not checked to be odd; where ranks show nothing there is no proof."""
    for push in ("x/sqrt(x**2 + 1)", "x**3"):
        d = derive(Parameterization.parse(["u*v"], steepest=push))
        with pytest.raises(NotACertificate, match="no certificate is written"):
            check_text(d.to_json())
    d = derive(Parameterization.parse(["a + b", "a - b"], steepest="3"))
    report = check_text(d.to_json())
    assert (report.verdict, report.open) == ("UNDECIDED", ["whether there is a Q"])
    forged = json.loads(d.to_json()) | {"verdict": "REFUTED"}
    assert_rejected(forged, "proves UNDECIDED")


def test_matrices_that_may_lose_their_ranks_are_not_continued():
    """Scalings by rows and columns keep them: others, as of one entry, may not."""
    p = Parameterization.parse(["U*T(V)"], steepest="spectral", arrays=FACTORS[1])
    places = {name: k for k, name in enumerate(p.plain.weights)}
    k = [0] * len(places)
    for name in ("U11", "U21"):
        k[places[name]] = 1
    assert p.keeps_ranks(k)
    k[places["U21"]] = 0
    assert not p.keeps_ranks(k)


@pytest.mark.parametrize(
    ("phi", "known"), [("x/sqrt(x**2 + 1)", True), ("x*sqrt(x**2 - 1)", False)]
)
def test_velocities_are_continued_where_phi_is_analytic(phi, known):
    """Of phi with gaps a minor that is not 0 far away says nothing of one nearby."""
    d = derive(Parameterization.parse(["u*v"], steepest=phi))
    assert (d.verdict is Verdict.REFUTED) == known


def test_products_of_matrices_have_the_margin_in_the_operator_norm():
    def found(output, matrices):
        p = TypedModel((output,), matrix=matrices, steepest="spectral").read().parameterization()
        return margins(derive(p))

    m = found("U*T(V)", "U:2x2,V:2x2")
    assert (m.norm, m.verdict) == ("op", Verdict.PROVED)
    (told,) = m.says("shared margin")
    assert sum(WITNESSES["shared margin"](m, told, random.Random(k)) for k in range(3)) > 0
    with pytest.raises(Refuted):
        repeated(WITNESSES["shared margin"], m, changed(told, norm="l1"))
    assert "among matrices of rank at most 1" in found("U*T(V)", "U:2x1,V:2x1").to_text()
    assert "U V Z, a matrix" in found("U*V*Z", "U:2x2,V:2x2,Z:2x2").to_text()
    assert found("W*T(W)", "W:2x2").verdict is Verdict.UNDECIDED
