"""Weight decay, momentum, steps and noise: what was derived, against perturbed flows."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy

from derive import InputError, Parameterization, derive, perturb
from numerics import confirm_perturbation
from numerics.confirm.crosscheck import smooth
from numerics.integrator.perturbed import Terms, perturbed_flow
from tests.published import derive_once

pytestmark = pytest.mark.every(2)

parse = Parameterization.parse
PAIR = parse(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}, ["alpha"])
NEURON = parse(["a*u1", "a*u2"])
EXPONENTIATED = parse(["p - m"], mirror="p*log(p) + m*log(m)")
FAST = [PAIR, NEURON, EXPONENTIATED]
SQUARE, WIDTH = parse(["w**2"]), parse(["a*u + b*v"])
slow = pytest.mark.slow
HOMOGENEOUS = [
    *FAST,
    *(
        pytest.param(p, marks=slow)
        for p in (
            parse(["p**3 - m**3"], {"p": "alpha", "m": "alpha"}, ["alpha"]),
            SQUARE,
            WIDTH,
            parse(["u*v"], rates={"u": "eta"}),
            parse(["u*v*w"]),
            parse(["u*v - x*y"]),
            parse(["p**2 - m**2"], rates={"p": "p", "m": "m"}),
            parse(["a*u1", "a*u2", "a*u3"]),  # warped, as NEURON and the next
            parse(["a*b*u1", "a*b*u2"]),
        )
    ),
]


@pytest.mark.slow
@pytest.mark.every(4)
@pytest.mark.parametrize("p", HOMOGENEOUS, ids=lambda p: str(p.texts))
def test_decay_shrinks_the_start_and_does_nothing_else(p):
    found = perturb(derive_once(p), "decay")
    check = confirm_perturbation(found, digits=18)
    assert check.passed, check.report()
    assert check.record["limit"] > 13
    assert check.record["unperturbed"] < 5
    wrong = replace(found, start=tuple((w, x / 2) for w, x in found.start))
    assert confirm_perturbation(wrong, digits=18).record["limit"] < 5


@pytest.mark.every(8)
@pytest.mark.parametrize("by", ["step", "noise", "momentum"])
@pytest.mark.parametrize(
    "p",
    [PAIR, NEURON, *(pytest.param(p, marks=slow) for p in (parse(["u*v"]), SQUARE, WIDTH))],
    ids=lambda p: str(p.texts),
)
def test_laws_and_dual_coordinates_drift_as_derived(p, by):
    found = perturb(derive_once(p), by)
    check = confirm_perturbation(found, digits=18)
    assert check.passed, check.report()
    group = "of_laws" if found.of_laws else "of_dual"
    first, *rest = getattr(found, group)
    if first.change != 0:
        wrong = replace(found, **{group: (replace(first, change=-first.change), *rest)})
        assert not confirm_perturbation(wrong, digits=18).passed


@pytest.mark.slow
def test_nesterov_s_damping_is_confirmed_and_another_is_not(monkeypatch):
    found = perturb(derive(PAIR), "momentum")
    assert confirm_perturbation(found, digits=18).record["damped"] > 20
    monkeypatch.setattr("numerics.confirm.perturbed.UNTIL", Fraction(5, 2))
    assert confirm_perturbation(found, digits=18).record["damped"] > 20
    wrong = replace(found, of_dual=(replace(found.of_dual[0], change=found.of_laws[0].change),))
    assert confirm_perturbation(wrong, digits=18).record["damped"] < 3


def test_paths_of_noise_have_the_drift_in_the_mean():
    found = perturb(derive_once(PAIR), "noise")
    check = confirm_perturbation(found, digits=18)
    (law, y) = check.record["paths"]
    assert law["mean"] < -5 * law["error"]
    assert abs(y["drift"]) < 1e-12
    assert check.passed
    assert "4000 paths" in check.report()
    doubled = replace(found, of_laws=(replace(found.of_laws[0], change=2 * found.laws[0]),))
    assert not confirm_perturbation(doubled, digits=18).record["paths"][0]["agrees"]


@pytest.mark.slow
def test_where_one_block_has_no_dual_coordinates_laws_are_compared_alone():
    found = perturb(derive_once(["a*u1 + p", "a*u2", "q**2 - n**2"]), "decay")
    assert [str(y.symbol) for y in found.of_dual] == ["y3"]
    check = confirm_perturbation(found, digits=12)
    assert (check.passed, check.record["dual"]) == (True, None)


@pytest.mark.parametrize("by", ["decay, momentum", "decay, noise", "decay, momentum, step"])
@pytest.mark.parametrize(
    "outputs",
    [
        ["k*t", "k*mu"],
        *(pytest.param(x, marks=slow) for x in (["w_t*w", "w_t*eta"], ["G_1*S", "G_1*kappa"])),
    ],
)
def test_weights_may_have_the_names_of_our_letters(outputs, by):
    found = perturb(derive_once(outputs), by)
    assert confirm_perturbation(found, digits=12).passed
    assert {str(y.symbol) for y in found.of_dual}.isdisjoint(
        found.derivation.parameterization.weights
    )


def test_decay_and_momentum_go_together_and_constant_decay_leaves_no_interpolant():
    data = [[1, 2]], [3], {"p": "1/2", "m": "1/3", "q": "1/4", "n": "1/5"}
    p = parse(["p**2 - m**2", "q**2 - n**2"])
    from derive.language import parse_expression

    kappa, velocity = parse_expression("kappa"), parse_expression("2*p_t*m_t/20")
    fading = Terms(parse_expression("exp(-t)"), Fraction(1, 20), (kappa, velocity))
    end = perturbed_flow(p, data, fading, 20)
    assert abs(end.limit[0] + 2 * end.limit[1] - 3) < 1e-18
    assert abs(end.along[0] - 1) < 1e-18
    assert end.along[1] < 0
    with pytest.raises(InputError, match="mass"):
        perturbed_flow(p, data, Terms(mass=Fraction(-1)), 20)


@pytest.mark.every(5)
@pytest.mark.parametrize("by", ["noise", "step", "momentum", pytest.param("momentum, step")])
@pytest.mark.parametrize(
    "p",
    [
        EXPONENTIATED,
        pytest.param(parse(["p - m"], mirror="-log(p) - log(m)"), marks=slow),
        pytest.param(parse(["u*v"], mirror="u**4/12 + v**4/12"), marks=slow),
    ],
    ids=lambda p: str(p.geometry.texts),
)
def test_the_process_that_is_named_is_run(p, by):
    found = perturb(derive_once(p), by)
    assert found.process == "mirror"
    check = confirm_perturbation(found, digits=12)
    assert check.passed, check.report()
    assert not confirm_perturbation(replace(found, process="preconditioned"), digits=12).passed


@pytest.mark.parametrize("by", ["noise", "decay", pytest.param("momentum", marks=slow)])
@pytest.mark.parametrize(("outputs", "group"), [("w + w**3", "of_dual"), ("sin(a)*b", "of_laws")])
def test_integrals_and_logarithms_are_followed(outputs, group, by):
    found = perturb(derive_once(outputs), by)
    assert confirm_perturbation(found, digits=12).passed
    (x,) = getattr(found, group)
    wrong = replace(found, **{group: (replace(x, change=-x.change),)})
    assert not confirm_perturbation(wrong, digits=12).passed


def test_the_error_of_steps_is_no_error_of_a_drift():
    """Near cos(y) = 0 Euler's scheme is off by 3% of the drift, which is right to 60 digits."""
    found = perturb(derive_once("sin(y)**2*sin(v)*x"), "noise")
    c, *_ = found.of_laws
    for size, passes in ((1, True), (sympy.Rational(51, 50), False)):
        spoiled = replace(found, of_laws=(replace(c, change=size * c.change),))
        check = confirm_perturbation(spoiled, digits=12, rng=np.random.default_rng(4))
        assert check.record["paths"][0]["agrees"] is passes


@pytest.mark.parametrize(
    ("output", "start", "compared"), [("w", {}, True), ("u*softplus(v)", {}, False)]
)
def test_what_agrees_exactly_agrees_and_nothing_is_nothing(output, start, compared):
    check = confirm_perturbation(perturb(derive(parse([output], start)), "noise"), digits=12)
    assert check.passed is compared
    assert ("agree exactly" if compared else "nothing to compare") in check.title


@pytest.mark.parametrize(
    ("outputs", "start"),
    [
        (["a*u1", "a*u2"], {"a": "1", "u1": "1", "u2": "0"}),  # c stays 0 but for rounding
        (["p**2 - m**2"], {"p": "alpha", "m": "0"}),  # m is left out of F, not of the check
    ],
)
def test_laws_that_stay_0_and_weights_that_do(outputs, start):
    check = confirm_perturbation(perturb(derive(parse(outputs, start)), "decay"), digits=12)
    assert check.passed, check.report()
    assert check.record["limit"] > 9


def test_paths_move_from_0():
    found = perturb(derive_once(parse(["tanh(w)"], {"w": "0"})), "noise")
    check = confirm_perturbation(found, digits=12)
    assert check.record["paths"][0]["error"] > 0
    assert check.passed


def test_moduli_are_smooth_under_logarithms():
    """log |a b| as half the logarithm of a square, also where both are negative."""
    a, b = sympy.symbols("a b", real=True)
    at = {a: -2, b: 3}
    for f in (sympy.log(sympy.Abs(a * b)), sympy.log(sympy.Abs(a) + 1), sympy.log(b), abs(a)):
        found = smooth(f)
        assert not found.has(sympy.Abs)
        assert sympy.N(found.subs(at) - f.subs(at)) == pytest.approx(0, abs=1e-12)
        # a logarithm of what has no modulus is left as it is
        assert (found == f) == (f == sympy.log(b))
