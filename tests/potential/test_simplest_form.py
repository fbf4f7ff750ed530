"""Of the forms that are found the simplest is printed, whatever a constant is."""

import pickle

import numpy as np
import pytest
import sympy
from sympy import Rational, Symbol

from derive import InputError, Parameterization, derive
from derive.certificate.checking.check import check_text
from derive.model.condition import Sign
from derive.potential import leaf_curve
from derive.potential.accept import ZeroTest
from derive.potential.piece import KINDS, Piece
from derive.potential.shortest import METRIC, Form, count_terms, shortest
from derive.verdict import Verdict
from numerics import crosscheck
from tests.conditions import texts
from tests.published import certified_once, derive_once


@pytest.mark.parametrize("d", [7, pytest.param(16, marks=pytest.mark.slow)])
def test_a_neuron_has_its_radial_form_in_many_components(d):
    found = derive_once([f"a*u{i}" for i in range(d)])
    assert found.potential.kind == "explicit"
    assert len(found.conserved.laws) == 1
    assert all(law.as_poly().total_degree() == 2 for law in found.conserved.laws)
    # In the directions of beta, Q is a function of |beta| beside its linear term.
    (piece,) = found.potential.pieces
    assert len(piece.roots) == 1


def test_a_factor_of_f_that_is_a_parameter_is_one_of_the_integrals():
    """Q by a root is accepted: with the factor in the wrong place only the curve would be left."""
    d = derive_once("q*(w + w**3)", parameters=["q"])
    assert d.potential.kind == "algebraic"
    assert all(crosscheck(d, start={"q": q}, digits=12).passed for q in (Rational(1, 2), 3))


CONVOLVED = ["u*x + v*y", "u*y + v*x"]


@pytest.mark.slow
def test_a_convolution_is_a_sum_over_sums_and_differences():
    found = derive_once(CONVOLVED, start={"u": "a", "v": 0, "x": "a", "y": 0})
    (piece,), (b1, b2) = found.potential.pieces, found.beta
    a = piece.value.free_symbols - {r.symbol for r in piece.roots}
    (a,) = a - set(found.beta)
    q = [x * sympy.log(x / a**2) / 4 - x / 4 for x in (b1 + b2, b1 - b2)]
    assert sympy.expand(sympy.expand_log(found.potential.Q - sum(q), force=True)) == 0
    assert not piece.roots  # whose names would be longer than what they are
    roads = [r.name for r in found.blocks[0].roads if r.finding.verdict is Verdict.PROVED]
    assert roads[0].startswith("weight space")
    assert any(name.startswith("separate coordinates") for name in roads)
    assert "of several forms the shortest is printed" in " ".join(found.to_text().split())


@pytest.mark.parametrize("start", [{"u": "1/2", "v": "0"}, {"u": "-1", "v": "2"}])
@pytest.mark.parametrize("F", ["sinh(u)*sinh(v)", "sin(u)*sin(v)", "cosh(u)*sinh(v)"])
def test_the_ratio_of_the_factors_of_f_closes_q(F, start):
    """With t = sinh(v)/sinh(u), t' = 1 - t^2; where t_0 = 0 the root has no pole."""
    d = derive_once(F, start=start)
    (piece,) = d.potential.pieces
    assert piece.kind == "explicit"
    assert len(piece.roots) == 1
    assert crosscheck(d, digits=12).passed


CUBES = ["x**3 + 3*x*y**2", "3*x**2*y + y**3"]
"""Their sum and difference are cubes of x + y and x - y."""


@pytest.mark.parametrize(("start", "separated"), [(("a", "1-a"), True), (("a", "b"), False)])
def test_one_sign_may_be_assumed_of_a_sum_but_not_two(start, separated):
    """Signs that are assumed one by one need not go together."""
    found = derive_once(CUBES, dict(zip("xy", start, strict=True)))
    roads = [r.name for r in found.blocks[0].roads if r.finding.verdict is Verdict.PROVED]
    assert any(name.startswith("separate coordinates") for name in roads) == separated
    if separated:
        (piece,), (b1, b2) = found.potential.pieces, found.beta
        assert len(piece.assumptions) == 1
        q = -((b1 + b2) ** Rational(2, 3) + sympy.Abs(b1 - b2) ** Rational(2, 3)) / 4
        assert sympy.diff(found.potential.Q - q, b1, 2) == 0


def test_terms_are_counted_with_products_multiplied_out():
    x, y = sympy.symbols("x y")
    assert count_terms(x * (y + 1)) == count_terms(x * y + sympy.log(x) ** 2 * y) == 2


def test_of_as_many_terms_those_of_fewer_operations_come_first():
    x, y = sympy.symbols("x y")
    values = (x + sympy.sqrt(y) * x, x + y, sympy.exp(x * y + x + sympy.log(y)))
    forms = [Form(METRIC, Piece((x,), value, ()), None) for value in values]
    assert shortest(forms) == [forms[2], forms[1], forms[0]]


PRINTED = [
    ("w**D", {}, "-beta**(2/D)/(2*(D - 2)) + beta*w_0**(2 - D)/(D*(D - 2))"),
    ("w**4 + 1", {}, "beta/(8*w_0**2) - sqrt(beta - 1)/4"),
    # Logarithms say on which side of their pole beta is.
    ("1 - exp(-w)", {}, "-beta*exp(w_0) - log(1 - beta)"),
    ("sigmoid(w)", {"w": "0"}, "(2*beta - 1)*log(beta/(1 - beta))"),
    # The entropy of Burg: K = 4 (beta - b)^2.
    ("exp(2*w)", {"w": "a"}, "beta*exp(-2*a)/4 - log(beta)/4"),
    ("exp(-2*w)", {"w": "0"}, "beta/4 - log(beta)/4"),
    ("-exp(2*w)", {"w": "0"}, "-beta/4 - log(-beta)/4"),
    ("3 + exp(2*w)", {"w": "0"}, "beta/4 - log(beta - 3)/4"),
]


@pytest.mark.parametrize(("F", "start", "Q"), PRINTED)
def test_what_is_explicit_is_printed_as_one_would_write_it(F, start, Q):
    potential = derive_once(F, start).potential
    assert (potential.kind, str(potential.Q)) == ("explicit", Q)


def test_what_is_printed_in_a_weight_is_what_was_shown(monkeypatch):
    known = leaf_curve.antiderivatives

    def broken(*given):
        first, second, kappa = known(*given)
        return first, second + given[0].variable, kappa

    monkeypatch.setattr(leaf_curve, "antiderivatives", broken)
    assert not derive(Parameterization.parse(["w + w**3"])).potential.pieces[0].roots


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("one", "other", "given"),
    [
        ("w*sqrt(5 + 2*sqrt(6))", "w*(sqrt(2) + sqrt(3))", {}),
        ("w*sqrt(3 - 2*sqrt(2))", "w*(sqrt(2) - 1)", {}),
        ("(a + b)**2", "a**2 + 2*a*b + b**2", None),
        ("log(1 - w**2)", "log(1 - w) + log(1 + w)", {"start": {"w": "1/2"}}),
        ("sinh(w)", "(exp(w) - exp(-w))/2", {}),
        ("sqrt(8)", "2*sqrt(2)", None),
        ("(a*b)**D", "a**D*b**D", {"positive": ["a", "b"], "parameters": ["D"]}),
    ],
)
def test_the_same_function_in_other_words_has_the_same_q(one, other, given):
    """Be it F, or where p starts in p**2 - m**2."""
    first, second = (
        derive_once("p**2 - m**2", {"p": x, "m": "a"}) if given is None else derive_once(x, **given)
        for x in (one, other)
    )
    assert str(first.potential.Q) == str(second.potential.Q)
    assert first.potential.pieces[0].domain == second.potential.pieces[0].domain


@pytest.mark.parametrize("written", ["log(w + sqrt(w**2 + 1))", "log(sqrt(1 + w**2) + w)"])
def test_asinh_and_its_logarithm_are_one_function(written):
    given = Parameterization.parse(["asinh(w)"])
    assert Parameterization.parse([written]).trees == given.trees
    starts = [{"w": x.replace("w", "a")} for x in ("asinh(w)", written)]
    first, second = (derive_once("w**2", start=s) for s in starts)
    assert first.potential.Q == second.potential.Q
    # The square of another number makes another function.
    other = Parameterization.parse([written.replace("w**2", "4*w**2")])
    assert other.trees != given.trees


def test_asinh_starts_where_its_root_is_rational():
    p = Parameterization.parse(["asinh(w)"], start={"w": "3/4"})
    (beta0,) = (p.at_start(f) for f in p.F)
    assert "log(2)" in repr(beta0)
    assert derive_once(p).verdict is Verdict.PROVED


def test_a_sine_stays_between_its_bounds():
    """0 < 1 - beta < 2 from all starts but those at rest: no modulus, one form."""
    for F, low, high in (("sin(w)", -1, 1), ("2*cos(w) + 3", 1, 5)):
        found = derive_once(F).potential
        (piece,), (beta,) = found.pieces, found.pieces[0].betas
        assert not piece.value.has(sympy.Abs)
        w0 = sympy.Symbol("w_0", real=True)
        at_rest = [sympy.sin(w0) ** 2 - 1, sympy.cos(w0) ** 2 - 1][F != "sin(w)"]
        assert {c.sign for c in piece.assumptions} == {Sign.NONZERO}
        product = sympy.Mul(*(sympy.sympify(str(c.of)) for c in piece.assumptions))
        assert sympy.expand(product - at_rest.subs(w0, sympy.Symbol("w_0"))) == 0
        assert piece.domain.bounds == ((low,), (high,))
        w0 = sympy.Symbol("w_0", real=True)
        at = {beta: low + sympy.Rational(3, 2), w0: sympy.Rational(1, 3)}
        slope = sympy.diff(piece.gradient[0], beta).subs(at)
        K = {-1: 1 - beta**2, 1: (beta - 1) * (5 - beta)}[low].subs(at)
        assert abs(float(slope * K) - 1) < 1e-12
        beta0 = {-1: sympy.sin(w0), 1: 2 * sympy.cos(w0) + 3}[low].subs(at)
        assert abs(float(piece.gradient[0].subs(beta, beta0).subs(at))) < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, pytest.param(24, marks=pytest.mark.slow)])
def test_many_products_have_the_closed_form_of_one(count):
    products = " + ".join(f"u{i}*v{i}" for i in range(count))
    d = derive_once(products)
    assert d.potential.kind == "explicit"
    assert d.potential.Q.has(sympy.asinh)


def test_polar_coordinates_have_a_named_integral_over_the_length():
    found = derive_once(["r*cos(t)", "r*sin(t)"])
    Q, (b1, b2) = found.potential.Q, found.beta
    assert found.potential.kind == "explicit"
    (named,) = Q.atoms(sympy.erfi)
    assert named.args[0] == sympy.sqrt(b1**2 + b2**2) / sympy.sqrt(2)
    numeric = found.potential.numeric({"r_0": 1, "t_0": 0})
    points, step = np.array([[2.0, 0.5], [1.5, -0.7]]), np.array([0, 1e-4])
    slopes = (numeric(points + step) - numeric(points - step)) / 2e-4
    length = np.hypot(*points.T)
    assert np.allclose(slopes, points[:, 1] * np.exp(length**2 / 2) / length, rtol=1e-7)


@pytest.mark.parametrize(("F", "ends"), [("exp(2*p) - 3*m", 1), ("exp(2*p) - 3*log(m)", 2)])
def test_only_a_weight_that_f_ends_at_ends_the_curve(F, ends):
    found = derive_once([F]).potential.pieces[0]
    low, high = found.curve.interval
    assert (low, high == 1) == (-sympy.oo, ends == 1)
    assert ("m_0 > 0" in texts(found)) == (ends == 2)
    if ends == 1:
        q = derive_once(F, {"p": 0, "m": "-1/2"}).potential.numeric({})
        h = 1e-4
        assert np.allclose((q(h - 3.5) - q(-h - 3.5)) / (2 * h), q.gradient(-3.5), rtol=1e-6)


def test_integrals_start_at_f_as_it_was_typed():
    (integral,) = derive_once(["a*tanh(b)"]).potential.Q.atoms(sympy.Integral)
    assert str(integral.limits[0][1]) == "a_0*tanh(b_0)"


@pytest.mark.parametrize(("F", "ends"), [("sinh(w)**2", {0}), ("sqrt(w**2 + 1) - 2", {-1})])
def test_of_two_ends_on_one_side_the_nearer_one_is_kept(F, ends):
    found = derive_once([F])
    assert {w.end(*found.beta) for w in found.potential.pieces[0].domain.walls} == ends


@pytest.mark.slow
def test_a_sum_of_tangents_is_closed_along_a_weight():
    found = derive(Parameterization.parse(["tan(a)/2 + tan(b) + tan(c)"]), timeout=20)
    assert (found.verdict.value, found.potential.kind) == ("PROVED", "parametric")
    assert not found.potential.pieces[0].gradient[0].has(sympy.Integral)
    assert check_text(found.to_json()).open == ()


OF_KIND = {
    "explicit": ["w**3", "u**2*v**2"],
    "parametric": ["p**3 - m**3", "w**2 + w**3"],
    "algebraic": ["w + w**3"],
    "quadrature": ["w + w**5", "u**2*v", "u*v*w"],  # their leaves are no rational curves
}


def of(*outputs):
    (piece,) = derive_once(outputs).potential.pieces
    return piece


@pytest.mark.parametrize(("kind", "outputs"), OF_KIND.items())
def test_the_kind_is_what_the_form_uses_and_can_be_kept(kind, outputs):
    assert tuple(OF_KIND) == KINDS
    for output in outputs:
        piece = of(output)
        assert piece.kind == kind
        assert pickle.loads(pickle.dumps(piece)) == piece
        assert hash(pickle.loads(pickle.dumps(piece))) == hash(piece)
        assert (piece.kernel is not None) is (output in ("w**3", "w + w**5"))
        assert (piece.time_curve is not None) is (output == "p**3 - m**3")


def shares(f):
    """Return the first two of f(w_i)/sum_j f(w_j) of three."""
    terms = [f.replace("w", w) for w in "abc"]
    outputs = [f"{x}/({' + '.join(terms)})" for x in terms[:2]]
    return Parameterization.parse(outputs, positive=["a", "b", "c"] * (f != "exp(w)"))


SHARES = [
    ("w", "sqrt(delta)*sqrt(beta1**2 + beta2**2 + (1 - beta1 - beta2)**2)"),
    ("w**2", "delta*(beta1*log(beta1) + beta2*log(beta2) + last*log(last))/4"),
    ("w**3", "-(beta1**(2/3) + beta2**(2/3) + last**(2/3))**(3/2)/(3*sqrt(delta))"),
    ("w**4", "-(sqrt(beta1) + sqrt(beta2) + sqrt(last))**2/(8*delta)"),
    ("exp(w)", "-3*(beta1*beta2*last)**(1/3)*exp(-delta/3)"),
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("f", "Q"), SHARES)
def test_normalized_models_have_the_form_of_a_norm_or_an_entropy(f, Q):
    """Up to linear terms, and without a name for what is a quotient."""
    (piece,) = derive_once(shares(f)).potential.pieces
    names = {s.name: s for s in (*piece.betas, *(law for law, _ in piece.constants))}
    rest = piece.value - sympy.sympify(Q, names | {"last": 1 - sympy.Add(*piece.betas)})
    start = sorted(rest.free_symbols - {*piece.betas}, key=str)
    curved = sympy.hessian(rest.subs({s: k for k, s in enumerate(start, 2)}), piece.betas)
    at = dict(zip(piece.betas, (Rational(1, 5), Rational(1, 3)), strict=True))
    assert max(abs(sympy.N(x.subs(at), 30)) for x in curved) < 1e-20
    assert not piece.roots
    assert len(str(piece.value)) < 160
    open_ = check_text(certified_once(shares(f))).open
    assert not any(what.startswith("Q of") for what in open_), open_


def test_the_form_does_not_ask_how_outputs_are_signed_and_scaled():
    """Powers split by any affine function of the outputs that has a sign."""
    below = "(a**3 + b**3 + c**3)"
    p = Parameterization.parse([f"-2*a**3/{below}", f"3*b**3/{below}"], positive=["a", "b", "c"])
    (piece,) = derive_once(p).potential.pieces
    names = {s.name: s for s in (*piece.betas, *(law for law, _ in piece.constants))}
    Q = "(3*beta1 - 2*beta2 + 6)**(2/3) + 2**(2/3)*beta2**(2/3) + 3**(2/3)*(-beta1)**(2/3)"
    assert piece.value.has(sympy.sympify(f"({Q})**(3/2)", names))
    assert not piece.roots


def test_a_sign_that_is_open_is_why_an_integral_is_left():
    assert of("a**2*b").integrand.left == "sign"
    closed = derive_once("a**2*b", start={"a": "1", "b": "2"})
    assert closed.potential.kind != "quadrature"


def test_a_norm_that_the_flow_reaches_zero_of_ends_f():
    """|(a, b)| = r falls to 0 in finite time where r' = 1, or r' = d: there is no curve beyond."""
    curve = of("sqrt(a**2 + b**2) + exp(c)").time_curve
    assert not any(end.is_infinite for end in curve.interval)
    assert of("d*sqrt(a**2 + b**2) + c").time_curve is None


def test_a_quotient_of_degree_two_is_inverted():
    d = derive_once("exp(p) - exp(m)", start={"p": "alpha", "m": "alpha"})
    curve = d.potential.pieces[0].time_curve
    beta, alpha = d.potential.pieces[0].betas[0], Symbol("alpha", real=True)
    E = sympy.exp(alpha)
    assert curve.inverse == beta / (sympy.sqrt(beta**2 + E**2) + E)
    assert f"{curve.parameter} = {curve.inverse}" in d.to_text()
    for z in (-0.9, 0.4):
        x = curve.beta.subs({alpha: 0.3, curve.parameter: z})
        assert abs(curve.inverse.subs({alpha: 0.3, beta: x}) - z) < 1e-12


@pytest.mark.parametrize(
    ("F", "given", "K", "rho"),
    [
        ("atan(w)", {}, "cos(beta)**4", "cos(beta)**(-4)"),
        ("asinh(w)", {}, "cosh(beta)**(-2)", "cosh(beta)**2"),
        ("asinh(w)", {"start": {"w": "3"}}, "cosh(beta)**(-2)", "cosh(beta)**2"),
        ("softplus(w)", {}, "(1 - exp(-beta))**2", "(1 - exp(-beta))**(-2)"),
        ("log(cosh(w))", {}, "1 - exp(-2*beta)", "1/(1 - exp(-2*beta))"),
        ("log(1 + w**2)", {}, "(4*exp(beta) - 4)*exp(-2*beta)", "exp(2*beta)/(4*(exp(beta) - 1))"),
        ("tanh(w)", {}, "(1 - beta**2)**2", "(1 - beta**2)**(-2)"),
        ("log(k*w)", {"parameters": ["k"]}, "k**2*exp(-2*beta)", "exp(2*beta)/k**2"),
        ("log(k + w) + 1", {"parameters": ["k"]}, "exp(2 - 2*beta)", "exp(2*beta - 2)"),
    ],
)
def test_k_is_written_as_one_would(F, given, K, rho):
    d = derive_once(F, **given)
    assert (str(d.metric.kernel[0, 0]), str(d.metric.rho[0, 0])) == (K, rho)
    assert d.potential.pieces[0].kernel == d.metric.kernel[0, 0]


def test_the_hypentropy_of_a_shifted_norm_from_zero():
    p = Parameterization.parse(["c + c*sqrt(a**2 + b**2)"], start={"c": "0"})
    (piece,) = derive_once(p).potential.pieces
    assert [str(value) for _, value in piece.constants] == ["(sqrt(a_0**2 + b_0**2) + 1)**4"]


def test_symbols_of_ours_are_no_names_of_the_user():
    """What a zero test puts a symbol for is not what the user calls by that name."""
    p = Parameterization.parse(["u*v"])
    a, b = sympy.symbols("a_0 b_0", real=True)
    decide = ZeroTest(p, {})
    for opaque in (sympy.log(a / sympy.sqrt(a**2 + b**2) + 1), sympy.atan(a)):
        for name in ("log_0", "opaque_0"):
            assert not decide.vanishes(opaque - Symbol(name, real=True))
        assert decide.vanishes((1 / (1 - a) - 1 / (1 + a) - 2 * a / (1 - a**2)) * opaque)


ROOTS, NAMED = ("2", "sqrt(2)", "2**(1/3)"), ("pi", "D")
MODELS = [
    (["c*a*u1", "a*u2 + c"], {}, (*ROOTS, *NAMED)),
    (["a + c*b", "a*b"], {}, (*ROOTS, *NAMED)),
    (["c*x*y", "y**2 - x**2"], {}, (*ROOTS, *NAMED)),
    (["x + y", "(x**2 - y**2)/c"], {}, (*ROOTS, *NAMED)),
    (["c*a*b", "k**2*a"], {}, ROOTS),
    (["c*u*v*w"], {"u": "1", "v": "2", "w": "3"}, ROOTS),
    (["c*p**3 - m**3"], {}, ("2", *NAMED)),
    (["c*u*v + c"], {}, ("2", *NAMED)),
]


def with_constant(outputs, start, c):
    parameters = ["D"] if c == "D" else []
    return Parameterization.parse([f.replace("c", c) for f in outputs], start, (), parameters)


@pytest.mark.every(8)
@pytest.mark.parametrize(("outputs", "start", "constants"), MODELS)
def test_any_constant_leaves_the_form(outputs, start, constants):
    found = [derive_once(with_constant(outputs, start, c)).potential for c in constants]
    assert len({(q.kind, len(q.pieces[0].roots)) for q in found}) == 1


def test_the_flow_confirms_a_form_with_a_constant():
    assert crosscheck(derive_once(with_constant(*MODELS[0][:2], "sqrt(2)")), digits=15).passed


@pytest.mark.every(3)
@pytest.mark.parametrize("at", ["alpha", "alpha + 1", "alpha - 1", "2*alpha + 3", "alpha + gamma"])
def test_q_has_the_gradient_that_is_printed_from_starts_that_are_sums(at):
    p = Parameterization.parse(["a*b*u1", "a*b*u2"], {"a": at, "b": at, "u1": "0", "u2": "0"})
    q = derive_once(p).potential.numeric(dict.fromkeys(p.start_symbols, 3))
    b, step = np.array([1.5, -0.5]), 1e-6
    slopes = [(q(b + step * e) - q(b - step * e)) / (2 * step) for e in np.eye(2)]
    assert slopes == pytest.approx(q.gradient(b), rel=1e-6)


@pytest.mark.every(2)
@pytest.mark.parametrize("output", ["p**D + q", "p**D - q**D"])
def test_a_square_under_an_open_exponent_is_that_of_something_positive(output):
    p = Parameterization.parse([output], {"p": "alpha**2", "q": "alpha**2"})
    d = derive_once(p)

    q = d.potential.numeric({"alpha": 2, "D": 3})
    assert float(q.gradient(q.beta0[0])) == pytest.approx(0, abs=1e-12)
    with pytest.raises(InputError, match="alpha > 0"):
        d.potential.numeric({"alpha": -2, "D": 3})


def test_relations_among_outputs_may_have_constants():
    d = derive_once(["sqrt(2)*a*c", "a*d", "b*c", "D*b*d"], parameters=["D"])
    (relation,) = d.blocks[0].dependence.relations
    values = {"beta1": 2**0.5 * 3 * 5, "beta2": 3 * 7, "beta3": 2 * 5, "beta4": 11 * 2 * 7, "D": 11}
    at = {s: values[s.name] for s in relation.free_symbols}
    assert float(relation.xreplace(at)) == pytest.approx(0, abs=1e-9)
    moved = {s: x + 1 for s, x in at.items()}
    assert float(relation.xreplace(moved)) != pytest.approx(0, abs=1e-3)
