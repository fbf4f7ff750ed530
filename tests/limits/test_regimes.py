"""Regimes of Q: limits are proved, named, and confirmed at two scales, as are random starts."""

from dataclasses import replace

import pytest
import sympy
from sympy import Abs, Rational

from derive import InputError, Parameterization, Verdict, random_width, regimes, scale_start
from derive.language import to_text
from derive.limits.limit import read_point, with_scale
from numerics.confirm.limits import confirm_limits, confirm_width
from tests.cli.commands import run
from tests.models import LIMITS, lines, read
from tests.published import derive_once, regimes_once

pytestmark = pytest.mark.every(3)

alpha = sympy.Symbol("alpha", positive=True)


def found(outputs, start=None, variable="alpha", positive=(), toward=(0, "oo")):
    p = Parameterization.parse(outputs, start, (*positive, variable) if start else positive)
    if variable not in (*p.start_symbols, *p.parameters):
        p = scale_start(p, variable)
    return regimes_once(p, variable, toward)


TIED = {"p": "alpha", "m": "alpha"}


def test_names_of_limits_of_coupled_outputs():
    """(beta1 + beta2)^2/8 has no minimizer alone; psi(|beta|) beta/|beta| has that of |beta|."""
    flat = found(["u + a*v", "u - a*v"], {"u": "0", "a": "0", "v": "alpha"}, toward=("oo",))
    assert "all outputs" in flat.limits[0].finding.reason
    start = {"a": "3/2", "u1": "alpha", "u2": "0"}
    assert found(["a*u1", "a*u2"], start, toward=(0,)).limits[0].regime == "anti-NTK"


UNSEEN = [
    "a*b*c from a=2*alpha, b=alpha, c=3*alpha: intermediate, kernel",
    "c*x/sqrt(x**2 + y**2), c*y/sqrt(x**2 + y**2): anti-NTK, kernel",
]
"""Whose limits at 0 are an integral, or left by less than what flows in doubles tell."""


@pytest.mark.every(24)
@pytest.mark.parametrize("line", [*lines(LIMITS), *UNSEEN])
def test_limits_are_proved_and_confirmed_at_two_scales(line):
    model, _, names = line.partition(": ")
    r = found(*read(model))
    if names != "?":
        assert [limit.regime for limit in r.limits] == names.split(", ")
    confirmed = confirm_limits(r)
    proved = [limit for limit in r.limits if limit.finding.verdict is Verdict.PROVED]
    closed = [x for x in proved if not any(g.has(sympy.Integral) for g in x.potential.gradient)]
    assert [c.record["limit"] for c in confirmed] == [limit.point.text for limit in closed]
    assert closed
    for c in confirmed:
        assert c.passed, c.report()
        assert c.report().splitlines()[0].endswith(": confirmed")


@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (["p**2 - m**2"], TIED),
        (["u*v - x*y"], {"u": "alpha", "x": "alpha", "v": "1", "y": "1"}),
        (["w**3"], {"w": "alpha"}),
        (["a*u1", "a*u2"], {"a": "alpha", "u1": "alpha", "u2": "2*alpha"}),
        (["a*u1", "a*u2"], {"a": "alpha", "u1": "1", "u2": "2"}),
    ],
)
def test_the_evidence_of_an_expansion_is_its_terms_and_a_remainder(outputs, start):
    """What is written after the second term is seen to vanish beside it, at 60 digits."""
    (limit,) = found(outputs, start, toward=(0,)).limits
    names = {s: sympy.Symbol(s, positive=True) for s in ("alpha", "beta", "beta1", "beta2")}
    assert limit.finding.evidence
    for e in limit.finding.evidence:
        left = sympy.sympify(e.left, names)
        known, _, remainder = e.right.rpartition(" + o(")
        right = sympy.sympify(known + ")", names)
        second = sympy.sympify(remainder.removesuffix("))"), names) * limit.unit
        beside = []
        for scale in (Rational(1, 10**4), Rational(1, 10**8)):
            at = {"alpha": scale, "beta": Rational(7, 5), "beta1": Rational(7, 5), "beta2": 2}
            values = {names[n]: v for n, v in at.items()}
            beside.append(abs(sympy.N(((left - right) / second).subs(values), 60)))
        assert beside[1] < beside[0] < Rational(1, 10) or beside == [0, 0]


def confirmed_limit(*given):
    """Return the one limit there is, which two scales confirm."""
    r = found(*given)
    (limit,), (c,) = r.limits, confirm_limits(r)
    assert c.passed, c.report()
    return limit


def test_the_shape_alone_decides_as_well():
    # The scale is fixed: |s| -> 1 is a kernel regime of the untied pair, with K(w_0) -> infinity.
    u, v = (f"sqrt(alpha)*sqrt((1 {a} s)/(1 {b} s))" for a, b in ("-+", "+-"))
    start = {"u": u, "x": u, "v": v, "y": v}
    assert confirmed_limit(["u*v - x*y"], start, "s", ("alpha",), ("1-",)).regime == "kernel"


def test_the_limit_of_depth_is_parametric():
    form = confirmed_limit(["p**D - m**D"], {"p": "1", "m": "1"}, "D", (), ("oo",)).potential
    (z,) = form.curve.free_symbols
    assert sympy.simplify(form.curve - 2 * z / (1 - z**2)) == 0
    assert form.gradient == (z,)


def test_two_constants_that_both_matter_are_not_called_one():
    # A biased pair depends on beta_0 as well, and this one on p and m through other functions.
    r = found(["w**3 - z**2"], {"w": "c", "z": "d"}, "c", ("d",), (0,))
    assert r.deciding is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: found(["w**2"], {"w": "alpha"}, toward=("soon",)), "is not read"),
        (lambda: found(["w**2"], {"w": "alpha"}, toward=("1",)), "is not read"),
        (lambda: regimes(derive_once("w**2"), "gamma"), "no symbol of the"),
        (lambda: scale_start(Parameterization.parse(["w**2"]), "w"), "a name already"),
        (lambda: confirm_limits(found(["w**2"], {"w": "alpha"}), digits=0), "digits"),
    ],
)
def test_bad_input_is_one_line(call, message):
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_points_are_read():
    assert [read_point("s", t).text for t in (0, "oo", "1-", "-1+", "1/2-")] == [
        "s -> 0+",
        "s -> infinity",
        "s -> 1-",
        "s -> -1+",
        "s -> 1/2-",
    ]


@pytest.mark.parametrize(
    ("outputs", "start", "reason"),
    [
        (["a*c", "a**2 + c**3"], None, "there is no Q"),
        (["u*exp(v)"], {"u": "1/2", "v": "alpha"}, "expansion is not written"),
    ],
)
def test_without_a_closed_form_or_a_sign_nothing_is_claimed(outputs, start, reason):
    r = found(outputs, start, toward=(0,))
    assert all(reason in limit.finding.reason for limit in r.limits)
    assert {limit.finding.verdict for limit in r.limits} == {Verdict.UNDECIDED}
    assert confirm_limits(r) == ()


def test_where_q_lives_on_ever_fewer_beta_there_is_no_limit():
    # |beta| < 4 alpha^(4/3), on which Q is quadratic.
    near_zero, far = found(["p**(4/3) - m**(4/3)"], TIED).limits
    assert "no beta is left" in near_zero.finding.reason
    assert far.regime == "kernel"


@pytest.mark.parametrize(
    ("outputs", "given", "units"),
    [
        (["exp(-w)"], ("w_0 > 0", "w_0 < 0"), ("exp(alpha*w_0)", "1")),
        (["sinh(w)"], ("w_0 > 0", "w_0 < 0"), ("1", "1")),
        (
            ["exp(u+v)"],
            ("u_0 + v_0 > 0", "u_0 + v_0 < 0"),
            ("1", "exp(-alpha*u_0)*exp(-alpha*v_0)"),
        ),
    ],
)
def test_exponentials_of_the_scale_are_orders_and_signs_are_told_apart(outputs, given, units):
    limits = found(outputs, toward=("oo",)).limits
    assert tuple(c for limit in limits for c in limit.point.conditions) == given
    assert tuple(str(sympy.expand(limit.unit)) for limit in limits) == units
    power = f"alpha*({given[0].removesuffix(' > 0')})"
    errors = [str(sympy.expand(limit.error)) for limit in limits]
    assert errors == [str(sympy.expand(f"exp({sign}{power})")) for sign in ("-", "")]
    assert all(c.passed for c in confirm_limits(found(outputs, toward=("oo",))))


def test_the_larger_of_two_starts_decides():
    first, second, _ = found(["p**3 + m**3"]).limits
    p_0, m_0 = sympy.symbols("p_0 m_0", positive=True)
    beta = sympy.Symbol("beta", real=True)
    assert Abs(beta) / (3 * p_0) == first.potential.Q
    assert Abs(beta) / (3 * m_0) == second.potential.Q
    assert first.below == second.below == (None,)


def test_what_vanishes_faster_than_every_power_is_said():
    (limit,) = found(["exp(w)"], {"w": "alpha**2"}, toward=("oo",)).limits
    assert limit.error == 0
    assert all(c.passed for c in confirm_limits(found(["exp(w)"], {"w": "alpha**2"})))


def test_the_side_that_is_left_out_has_its_slope():
    (limit,) = found(["p**3 - m**3"], {"p": "alpha", "m": "alpha**2"}, toward=(0,)).limits
    beta = sympy.Symbol("beta", real=True)
    assert limit.below == (None,)
    assert limit.steep == ((beta, -1, -(alpha**-2) / 3),)
    # Outputs of two scales have no limit of one order.
    apart = found(["p**2 - m**2", "q**2 - r**2"], {**TIED, "q": "1", "r": "1"})
    assert all("their scales differ" in limit.finding.reason for limit in apart.limits)


@pytest.mark.parametrize("spoiled", ["unit", "form", "error", "below"])
def test_a_wrong_limit_is_not_confirmed(spoiled):
    r = found(["p**2 - m**2"], TIED)
    rich, kernel = r.limits
    assert rich.potential is not None
    assert rich.unit is not None
    wrong = {
        "unit": replace(rich, unit=2 * rich.unit),
        "form": replace(rich, potential=kernel.potential),
        "error": replace(kernel, error=alpha**-6),
        "below": replace(rich, below=(None,)),
    }[spoiled]
    (c,) = confirm_limits(replace(r, limits=(wrong,)))
    assert not c.passed
    assert "NOT CONFIRMED" in c.report()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["p**2 - m**2", "--start", "p=alpha,m=alpha"],
         ["rich regime", "kernel regime", "Q/N -> abs(beta)/2", "alpha -> 0+: confirmed"]),
        (["u*v", "--width", "k"],
         ["E kappa = 4*k**2*sigma**4", "mu = alpha*k**(1/4)", "random starts: confirmed"]),
    ],
)  # fmt: skip
def test_the_command_prints_and_checks_limits(typed, said):
    done = run("regimes", *typed, "--check")
    assert done.returncode == 0, done.stderr
    assert [words for words in said if words not in done.stdout] == []
    assert "NOT" not in done.stdout


@pytest.mark.parametrize(
    ("output", "start"),
    [("u*v", {"u": "pi*alpha", "v": "alpha"}), ("sigmoid(w)", {"w": "alpha*w_0"})],
)
def test_starts_with_pi_and_ranges_that_end_are_confirmed(output, start):
    r = found([output], start)
    assert [c.title for c in confirm_limits(r) if not c.passed] == []
    assert len(confirm_limits(r)) == len(r.limits)


@pytest.mark.parametrize(
    ("output", "Q"),
    [
        ("sigmoid(w)", "(2*b - 1)*(log(b) - log(1 - b))"),
        ("tanh(w)", "b*log((1 + b)/(1 - b))/4"),
        ("sinh(w)", "b*atan(b) - log(b**2 + 1)/2"),
        ("atan(w)", None),
    ],
)
def test_limits_whose_slopes_have_an_integral_are_written(output, Q):
    (limit,) = found([output], {"w": "alpha"}, toward=(0,)).limits
    if Q is None:
        assert limit.potential.Q is None
        return
    (beta,) = limit.coordinates
    gap = limit.potential.Q.diff(beta) - sympy.sympify(Q).diff(sympy.Symbol("b"))
    assert abs(gap.subs({beta: 0.3, sympy.Symbol("b"): 0.3})) < 1e-12
    assert abs(limit.potential.Q.diff(beta).subs(beta, 0.3)) > 0.01


def test_beside_an_exponential_a_linear_term_takes_both_signs():
    """beta = z + alpha^2 exp(2 z) takes every value: the limit is beta^2/2 on both sides."""
    r = found(["w + a*b"], {"w": "0", "a": "alpha", "b": "alpha"})
    limit = r.limits[0]
    assert limit.regime == "kernel"
    assert [str(g) for g in limit.slopes_below] == ["beta"]
    assert all(c.passed for c in confirm_limits(r))
    away = replace(limit, below=tuple(2 * g for g in limit.below))
    assert not confirm_limits(replace(r, limits=(away,)))[0].passed


def test_a_half_line_on_which_the_limit_is_the_kernel_norm():
    r = found(["sqrt(u**2 + v**2)"], {"u": "3*alpha", "v": "4*alpha"})
    limit = r.limits[0]
    assert (limit.regime, limit.potential.shape, limit.below) == ("kernel", "l2", (None,))
    assert "only beta > 0 is reached" in r.to_text()


def test_a_limit_without_a_scale_has_none_and_zeros_are_not_scaled():
    r = found(["a*u1", "a*u2"], {"a": "alpha", "u1": "0", "u2": "0"})
    assert [x.over for x in r.limits] == ["", "/N"]
    assert "Q -> 2*(beta1**2" in r.to_text()
    scaled = with_scale(Parameterization.parse(["u*v*w"], {"u": "-2", "v": "0", "w": "1"}), "c")
    assert [to_text(tree) for _, tree in scaled.start] == ["-2*c", "0", "c"]
    with pytest.raises(InputError, match="all weights start at 0"):
        with_scale(Parameterization.parse(["w + a*b"], {"w": "0", "a": "0", "b": "0"}), "c")


@pytest.mark.slow
@pytest.mark.parametrize(("outputs", "vectors"), [(["a*u1", "a*u2"], ()), (["a*u"], ("u",))])
def test_limits_with_rates_are_proved_in_the_scale_and_in_the_rate(outputs, vectors):
    p = Parameterization.parse(outputs, vectors=vectors, rates={"a": "eta"})
    for variable in ("eta", "alpha"):
        r = regimes(derive_once(with_scale(p, variable)), variable)
        assert r.verdict is Verdict.PROVED, variable


@pytest.mark.parametrize(
    ("start", "toward", "fails"),
    [
        ({"a": "2*alpha", "u": "1"}, "0", "2*alpha - 1 > 0"),
        ({"a": "1", "u": "2*alpha"}, "oo", "1 - 2*alpha > 0"),
        ({"a": "1", "u": "2*alpha"}, "0", ""),
    ],
)
def test_no_limit_is_claimed_where_q_is_another(start, toward, fails):
    """Q of a*u, a + u is one for a > u and another for a < u: grad Q vanishes at its start."""
    d = derive_once(["a*u", "a + u"], start)
    (limit,) = regimes(d, "alpha", [toward]).limits
    said = f"`Q` assumes `{fails}`, which fails near this limit"
    assert (limit.finding.verdict is Verdict.PROVED) == (not fails)
    assert (limit.finding.reason == said) == bool(fails)


def test_homogeneity_and_the_time_of_the_flow_and_what_is_assumed_of_a_depth():
    r = found(["p**3 - m**3"], TIED)
    assert (r.homogeneity.degree, r.homogeneity.time) == (3, 4)
    assert found(["w + w**3"], {"w": "alpha"}).homogeneity is None
    assert all("D" in map(str, limit.depths) for limit in found(["p**D - m**D"], TIED).limits)


@pytest.mark.slow
def test_random_width():
    wide = random_width()
    assert wide.finding.verdict is Verdict.PROVED
    k, sigma = sympy.symbols("k sigma", positive=True)
    assert wide.mu.subs(sigma, alpha / k ** Rational(1, 4)) == alpha * k ** Rational(1, 4)
    assert sympy.limit(wide.kappa_variance, k, sympy.oo) == 0 == sympy.limit(wide.bias, k, sympy.oo)
    # At width 2 the pipeline finds the same kappa.
    d = derive_once("u1*v1 + u2*v2")
    (kernel,) = d.metric.kernel
    (constant,) = d.metric.constants
    beta = d.beta[0]
    assert sympy.expand(kernel**2 - 4 * beta**2 - constant[0]) == 0


@pytest.mark.every(4)
@pytest.mark.parametrize("unit", ["u*v", "p**2 - m**2", "3*u*v + 3*x*y/2 + 3*x*y/2"])
def test_wide_starts_are_confirmed_by_draws(unit):
    wide = random_width(Parameterization.parse([unit]), "n")
    assert [limit.regime for limit in wide.limits] == ["rich", "kernel"]
    assert sympy.diff(wide.kappa_mean, wide.width) != 0
    c = confirm_width(wide)
    assert c.passed, c.report()
    doubled = replace(wide, kappa_mean=2 * wide.kappa_mean)
    narrow = replace(wide, kappa_variance=wide.kappa_variance / 400)
    wrong = replace(wide, limits=wide.limits[::-1], gradient=2 * wide.gradient)
    for broken in (doubled, narrow, wrong):
        assert not confirm_width(broken).passed
