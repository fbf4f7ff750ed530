"""Perturbed flows: what is closed, what is refused, how it is said; witnesses try the drifts."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
import sympy

from derive import (
    InputError,
    Parameterization,
    Verdict,
    explicit_counterpart,
    margins,
    perturb,
    regimes,
)
from numerics import confirm_perturbation, crosscheck
from tests.cli.commands import run
from tests.published import derive_once
from tests.witnesses import WITNESSES, Refuted, repeated

pytestmark = pytest.mark.every(3)

SAME = {"p": "alpha", "m": "alpha"}
MODELS = {
    "tied pair": Parameterization.parse(["p**2 - m**2"]),
    "depth 3": Parameterization.parse(["p**3 - m**3"]),
    "exponentiated gradient": Parameterization.parse(["p - m"], mirror="p*log(p) + m*log(m)"),
    "neuron with a rate": Parameterization.parse(["a*u1", "a*u2", "a*u3"], rates={"a": "3"}),
}


def found(name, by):
    return perturb(derive_once(MODELS[name]), by)


@pytest.mark.parametrize(
    ("name", "penalty", "closed"),
    [
        ("tied pair", "(p**2 + 3*m**2)/2", True),
        ("exponentiated gradient", "p + 3*m", True),
        ("tied pair", "p**4 + m**2", False),
        ("neuron with a rate", "(a**2 + u1**2 + u2**2 + u3**2)/2", False),
    ],
)
def test_a_penalty_is_closed_or_not_and_is_called_h(name, penalty, closed):
    v = perturb(derive_once(MODELS[name]), "decay", penalty=penalty)
    assert (v.verdict is Verdict.PROVED) == closed
    assert "of $L + k h$" in v.to_latex()
    assert "of L + k h" in v.to_text().replace("\n    ", " ")
    assert r"\frac k2" not in v.to_latex()


AGAINST = {"by": "momentum, decay", "penalty": "-(p**2 + m**2)/2"}


@pytest.mark.parametrize(
    ("outputs", "start", "given", "sides"),
    [
        (["p**2 - m**2"], SAME, {}, {"log(Abs(m*p))": -1}),  # richer
        (["p**3 - m**3"], SAME, {}, {"1/p + 1/m": 1}),
        (["u*v"], {"u": 1, "v": 1}, {}, {}),  # the law is 0: its logarithm says nothing
        (["a*u1", "a*u2"], {}, {}, {}),
        (["(p + m)**2"], {}, {}, {}),  # a law that never moves
        (["p**2 - m**2"], SAME, {"by": "decay, momentum"}, {"log(Abs(m*p))": -1}),
        (["p**2 - m**2"], SAME, AGAINST, {}),  # decay may move a law against momentum
    ],
)
def test_momentum_changes_some_laws_to_one_side(outputs, start, given, sides):
    d = derive_once(outputs, start, ["alpha"] if start is SAME else [])
    v = perturb(d, **{"by": "momentum", **given})
    assert {str(x.quantity): x.side for x in v.one_sided} == sides


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("outputs", "by", "verdict"),
    [
        (["p**2 - m**2", "q**3 - n**3"], "decay", Verdict.UNDECIDED),  # of two degrees
        (["p**2 + q"], "decay", Verdict.REFUTED),  # of log(p)/2 - q, which changes by q - 1/2
        (["exp(p) - exp(-m)"], "decay", Verdict.REFUTED),
        (["a*u1", "a*u2"], "noise", Verdict.REFUTED),
        (["a*u1", "a*u2"], "momentum", Verdict.REFUTED),
        (["p**3 - m**3"], "noise", Verdict.REFUTED),
        (["p**3 - m**3"], "step", Verdict.REFUTED),
        (["p**2 - m**2"], "momentum, step", Verdict.UNDECIDED),
    ],
)
def test_what_is_not_closed_is_not_called_so(outputs, by, verdict):
    v = perturb(derive_once(outputs), by)
    assert v.verdict is verdict
    assert v.start == ()
    assert (v.effective is None) == ((outputs, by) != (["a*u1", "a*u2"], "momentum"))
    if verdict is Verdict.REFUTED:
        assert any(not e.holds for e in v.closed.evidence)
    assert "no $Q$" not in v.to_latex()


def test_the_start_that_has_the_law_at_the_end_has_it():
    """Where the end is told by the change Delta_c of the law."""
    d = derive_once(["a*u1", "a*u2"])
    v, (law,) = perturb(d, "momentum"), d.conserved.laws
    begin = {s: sympy.Symbol(f"{s.name}_0", real=True) for s in law.free_symbols}
    moved = {s: v.effective[x] for s, x in begin.items()}
    change = sympy.Symbol("Delta_c", real=True)
    assert sympy.cancel(law.xreplace(moved) - law.xreplace(begin) - change) == 0


@pytest.mark.parametrize("before", [0, 1])
def test_a_drift_is_written_in_beta_and_laws(before):
    """Of the neuron alone, and after another block."""
    outputs = [*["p**3 - m**3"] * before, "a*u1", "a*u2"]
    v, rng = perturb(derive_once(outputs), "noise"), np.random.default_rng(2)
    law, i, j = v.of_laws[before], before + 1, before + 2
    for w in rng.uniform(0.5, 2, (4, 3)):
        at = dict(zip(("a", "u1", "u2"), w, strict=True))
        at |= {f"S{i}{i}": 0.3, f"S{i}{j}": -0.2, f"S{j}{j}": 0.7}
        c = w[0] ** 2 - w[1] ** 2 - w[2] ** 2
        at |= {f"beta{i}": w[0] * w[1], f"beta{j}": w[0] * w[2], str(law.symbol): c}
        one, other = (
            float(f.subs({s: at[s.name] for s in f.free_symbols}))
            for f in (law.change, law.in_beta)
        )
        assert abs(one - other) < 1e-12 * abs(one)


def test_without_a_q_the_laws_drift_alone():
    v = perturb(derive_once(["a*u1 + b", "a*u2"]), "decay")
    assert v.verdict is Verdict.REFUTED
    assert (v.dual, v.start) == ((), ())
    assert [str(x) for x in v.laws] == ["-2*a**2 + 2*u1**2 + 2*u2**2"]


def test_a_block_with_a_clock_of_its_own_has_no_dual_coordinates():
    """Of a u, a v y' = a lambda, of b x y' = lambda: with data X in common no y is in its rows."""
    v = perturb(derive_once(["a*u", "a*v", "b*x"]), by="momentum")
    assert [len(v.of_laws), len(v.of_dual)] == [2, 1]
    assert "not all" not in v.to_text()


def test_an_unknown_perturbation_is_refused():
    with pytest.raises(InputError, match="one of decay, momentum, step, noise"):
        perturb(derive_once("w"), "dropout")


@pytest.mark.parametrize("verb", [crosscheck, confirm_perturbation])
def test_what_is_no_record_is_refused(verb):
    for given in ("p**2", None):
        with pytest.raises(InputError, match=r"give a (Derivation|Perturbation),"):
            verb(given)


@pytest.mark.parametrize(
    "verb", [margins, lambda F: perturb(F, "noise"), regimes, explicit_counterpart]
)
def test_what_is_no_model_is_refused(verb):
    """Text is one, as it is for `derive`."""
    assert verb("p**2").verdict is Verdict.PROVED
    for given, message in (
        (None, "output 1 is of type NoneType"),
        (1.5, "output 1 is"),
        ([], "at least"),
    ):
        with pytest.raises(InputError, match=message):
            verb(given)


@pytest.mark.parametrize(
    ("penalty", "verdict"),
    [("a**2", Verdict.REFUTED), ("(a**2 + u1**2 + u2**2)/2", Verdict.UNDECIDED)],
)
def test_a_penalty_that_may_break_a_tie_is_followed_in_all_weights(penalty, verdict):
    start = {"a": 1, "b": 2, "u1": 1, "u2": 0, "v1": 2, "v2": 0}
    tied = derive_once(["a*u1 + b*v1", "a*u2 + b*v2"], start)
    found = perturb(tied, "decay", penalty=penalty)
    assert (len(tied.ties), found.derivation.ties, found.verdict) == (3, (), verdict)
    assert confirm_perturbation(found).passed


@pytest.mark.parametrize(
    ("outputs", "penalty", "verdict"),
    [
        (["u*v"], "u**2*v**2 + exp(u*v)", Verdict.PROVED),
        (["a*u1", "a*u2"], "a**2*(u1**2 + u2**2)", Verdict.PROVED),
        (["u*v"], "u**3*v**2", Verdict.REFUTED),
    ],
)
def test_a_penalty_of_beta_moves_the_weights_as_a_loss_does(outputs, penalty, verdict):
    v = perturb(derive_once(outputs), "decay", penalty=penalty)
    assert v.verdict is verdict
    assert ("as a loss of beta" in v.to_text()) == (verdict is Verdict.PROVED)
    assert all(x.change == 0 for x in v.of_laws) == (verdict is Verdict.PROVED)


def test_a_long_increment_is_written_by_the_weights_after_the_step():
    v = perturb(derive_once("p**4 - m**4"), "decay, step")
    assert max(x.change.count_ops() for x in v.of_laws) < 60
    assert "a system of" not in v.to_text()


def test_a_penalty_knows_no_coordinate_of_a_vector():
    neuron = derive_once("a*u", vectors=["u"])
    assert perturb(neuron, "decay", penalty="a**2").verdict is Verdict.REFUTED
    with pytest.raises(InputError, match="scalars alone"):
        perturb(neuron, "decay", penalty="u1")


def test_a_drift_that_is_not_closed_fails_by_the_derivative_of_itself():
    v = perturb(derive_once("p**k - m**k", SAME, ["alpha"]), "noise")
    c, failure = v.of_laws[0].change, v.of_laws[0].finding.evidence[0]
    numbers = dict(failure.point)
    at = {x: numbers[x.name] for x in c.free_symbols}
    F, w = sympy.sympify("p**k - m**k", {x.name: x for x in at}), [x for x in at if x.name in SAME]
    for _ in range(1 + len(failure.derivative)):
        c = sum(sympy.diff(F, x) * sympy.diff(c, x) for x in w)
    assert c.xreplace(at) == failure.residual != 0
    assert f"is {failure.residual} at" in v.to_text().replace("\n    ", " ")


def test_noise_is_called_vanishing_where_laws_alone_move():
    for outputs, vanishing in (("p**2 - m**2", True), ("p**2 - 4*m**2", False)):
        p = Parameterization.parse([outputs], SAME, ["alpha"])
        assert perturb(derive_once(p), "noise").vanishing == vanishing
    two = perturb(derive_once(["p1**2 - m1**2", "p2**2 - m2**2"]), "noise")
    assert two.vanishing
    for page in (two.to_text(), two.to_latex()):
        assert "noise that does not stop" in " ".join(page.lower().split())


def test_the_record_of_a_step_of_a_vector_has_both_verdicts():
    done = run("perturb", "a*u", "--vector", "u", "--by", "step", "--json")
    record = json.loads(done.stdout)
    found = done.returncode, record["verdict"], record["minimised"], record["laws"][0]["regular"]
    assert found == (1, "REFUTED", "PROVED", True)


@pytest.mark.every(6)
@pytest.mark.parametrize("by", ["decay", "momentum", "step", "noise"])
def test_pages_are_set_for_models_of_every_kind(by):
    for name in ("tied pair", "depth 3", "neuron with a rate"):
        v = found(name, by)
        page = v.to_latex()
        assert "What the limit minimises" in page
        assert "@" not in page
        assert (r"\varepsilon" in page, r"\mathrm{lam}" in page) == (by == "momentum", False)
        assert "What the limit minimises" in v.to_text()
        assert json.loads(v.to_json())["by"] == by


def test_an_integral_whose_kernel_hides_its_start_is_not_rewritten():
    assert perturb(derive_once("x*y**3"), "decay").Q is None
    assert perturb(derive_once("x*y"), "decay").Q is not None


def test_a_penalty_is_followed_in_fewer_weights_where_it_leaves_the_others_so():
    """c = u^2 - v^2 drifts by -8 c (u^2 + v^2): it is 0 from u = -v, and changes from others."""

    def drift(start, penalty):
        d = derive_once("u*v", start)
        return perturb(d, "decay", penalty=penalty)

    (law,) = drift({"u": "2", "v": "1"}, "u**4 + v**4").of_laws
    assert law.finding.verdict is Verdict.REFUTED
    balanced = drift({"u": "2", "v": "-2"}, "u**4 + v**4")
    assert not balanced.of_laws
    assert confirm_perturbation(balanced).passed
    unlike = drift({"u": "2", "v": "-2"}, "u**4 + 2*v**4")
    assert (unlike.of_laws[0].finding.verdict, unlike.derivation.ties) == (Verdict.REFUTED, ())
    assert confirm_perturbation(unlike).passed


@pytest.mark.parametrize(
    ("F", "start", "mirror", "by", "tied"),
    [
        ("(u+v)*w", {"u": "1", "v": "2"}, None, "decay", False),
        ("(u+v)*w", {"u": "1", "v": "2"}, None, "momentum", True),
        ("u*v", {"u": "1", "v": "2"}, "u*log(u) - u + v*log(v) - v", "step", False),
        ("a*(b+1/b)", {"b": "1"}, None, "noise", True),
    ],
)
def test_what_ends_a_tie_is_followed_in_all_weights(F, start, mirror, by, tied):
    """Decay ends v = u + 1, and so do steps of log(v) and log(u)."""
    v = perturb(derive_once(F, start, mirror=mirror), by)
    assert bool(v.derivation.ties) == tied
    assert confirm_perturbation(v).passed


ENTROPY = "p*log(p) + m*log(m)"


def test_mirror_descent_keeps_laws_that_are_linear_in_theta():
    d = derive_once("p - m", mirror=ENTROPY)
    for by in ("step", "noise", "momentum", "momentum, step"):
        v = perturb(d, by)
        assert v.laws == (0,)
        assert v.is_steered
        assert "minimises Q itself" in v.to_text().replace("\n    ", " ")
    (law,) = perturb(d, "step", process="preconditioned").laws
    assert law != 0
    assert str(perturb(d, "step").dual) == "(-G*eta,)"


def test_the_first_lines_say_which_process_it_is():
    given = ("p - m", "--mirror", ENTROPY, "--by", "step")
    heads = [
        run("perturb", *given, *more).stdout.splitlines()[:2]
        for more in ((), ("--process", "preconditioned"))
    ]
    assert heads[0] == [
        "Finite steps, of mirror descent",
        "  theta_next = theta - eta sum_a G_a dF_a, with any gradient G = X^T r, theta =",
    ]
    assert heads[1][0] == "Finite steps, of preconditioned gradient descent"
    assert heads[1][1].startswith("  w_next = w - eta sum_a G_a grad F_a")

    with pytest.raises(InputError, match="process is one of mirror, preconditioned"):
        perturb(derive_once("w"), "step", process="dual")


@pytest.mark.parametrize("by", ["momentum", "noise", "decay, noise"])
def test_a_point_that_refutes_has_no_excluded_depth(by):
    v = perturb(derive_once("p**D - m**D", SAME, ["alpha"]), by)
    assert v.verdict is Verdict.REFUTED
    assert {str(x) for x in v.generic} == {"D", "D - 2"}
    for failure in (e for e in v.closed.evidence if not e.holds):
        assert dict(failure.point)["D"] not in (0, 2)
    assert "D - 2 != 0" in v.to_text()


def test_a_point_that_refutes_is_a_step_that_is_allowed():
    v = perturb(derive_once("p**3 - m**3"), "step")
    (failure, *_) = (e for e in v.closed.evidence if not e.holds)
    at = dict(failure.point)
    for condition in v.conditions:
        assert (
            condition.xreplace({s: sympy.Rational(at[s.name]) for s in condition.free_symbols}) > 0
        )


def test_a_constant_shift_is_put_into_q():
    v = perturb(derive_once("w**2", {"w": "alpha"}, ["alpha"]), "noise")
    assert str(v.effective) == "{alpha: alpha*exp(-2*S)}"
    assert v.shifted
    assert v.Q is not None
    v = perturb(derive_once("w**3"), "noise")
    assert (v.effective, v.shift, v.Q) == (None, None, None)  # of a shift that is not constant


SHIFTED = [
    (["w**2 + w"], "noise", None, "(-S,)", "S*beta"),
    (["asinh(w)"], "decay", "asinh(w)", "(-kappa,)", "beta*kappa"),
    (["w"], "decay", "3*w", "(-3*kappa,)", "3*beta*kappa"),
]


@pytest.mark.parametrize(("outputs", "by", "penalty", "shift", "more"), SHIFTED)
def test_what_no_start_has_of_a_constant_shift_is_put_into_q(outputs, by, penalty, shift, more):
    """Q is that of the start with -<xi, beta>, which the witness measures on the weights alone."""
    v = perturb(derive_once(outputs), by, penalty=penalty)
    assert (str(v.shift), v.shifted, v.vanishing) == (shift, False, False)
    term = v.Q - v.derivation.potential.Q
    assert sympy.expand(term) == sympy.sympify(more, {s.name: s for s in term.free_symbols})
    (start,) = v.says("start of the end")
    assert WITNESSES["start of the end"](v, start, random.Random(1)) == 1
    for size in (0, 2):
        wrong = replace(v, shift=(size * v.shift[0],))
        with pytest.raises(Refuted):
            repeated(WITNESSES["start of the end"], wrong, start)


def test_a_law_that_momentum_takes_through_0_is_that_of_no_start():
    v = perturb(derive_once(["a*u1", "a*u2"]), "momentum")
    (start,) = v.says("start of the end")
    assert "if c_inf has the sign of c(0), c_inf is" in " ".join(v.to_text().split())
    trials = [WITNESSES["start of the end"](v, start, random.Random(k)) for k in range(30)]
    assert {*trials} == {0, 1}


def test_no_start_is_that_of_the_end_where_a_law_is_not_followed():
    """Of log(u) + v**2 that is log|v| - u**2, which noise moves by -2 S - S/u**2 on the way."""
    d = derive_once(Parameterization.parse(["log(u) + v**2"], positive=["u"]))
    assert [str(law) for law in d.conserved.laws] == ["-u**2 + log(Abs(v))"]
    v = perturb(d, "noise")
    assert (str(v.dual), v.effective, v.vanishing) == ("(-S,)", None, False)
    assert not {"start of the end", "noise that stays"} & {x.kind for x in v.statements}


@pytest.mark.parametrize(
    ("outputs", "least"),
    [("p**2 - m**2", "S*Abs(beta)"), ("u*v", "S*Abs(beta)/2"), ("w**2", "S*Abs(beta)")],
)
def test_noise_of_labels_has_a_weight_for_each_column(outputs, least):
    v = perturb(derive_once(outputs), "noise")
    assert str(v.annealed) == least
    text = " ".join(v.to_text().split())
    assert "sum_j h(s_j, beta_j)" in text
    assert "S_j = int sum_i X_ij^2 sigma_i^2 dt" in text


@pytest.mark.every(6)
@pytest.mark.parametrize("output", ["w + w**3", "sinh(w)", "sqrt(1 + w**2)"])
@pytest.mark.parametrize("by", ["noise", "momentum", "decay", "step"])
def test_one_weight_has_a_dual_coordinate_whose_drift_is_told(output, by):
    """It is an integral, and half its second difference along the noise needs its slope alone."""
    v = perturb(derive_once(output), by)
    (y,) = v.of_dual
    assert isinstance(y.quantity, sympy.Integral)
    assert v.minimised is Verdict.PROVED
    (w,) = (s for s in y.quantity.free_symbols if s.name == "w")
    slope = 1 / sympy.diff(sympy.sympify(output, {"w": w}), w)
    assert abs(sympy.N((y.quantity.args[0] - slope).subs(w, 0.7))) < 1e-12
    if by == "noise":
        (S,) = (s for s in y.change.free_symbols if s.name == "S")
        wanted = S / 2 * sympy.diff(slope, w) / slope**2
        assert abs(sympy.N((y.change - wanted).subs({w: 0.7, S: 1.3}))) < 1e-12
    assert "Integral" in v.to_text()
    assert r"\int" in v.to_latex()


def test_a_mirror_is_no_table_of_its_rates():
    """Mirror descent needs psi; so what has the rates of it alone is another record."""
    mirrored = Parameterization.parse(["p**2 - m**2"], mirror=ENTROPY)
    rated = Parameterization.parse(["p**2 - m**2"], rates={"p": "p", "m": "m"})
    assert mirrored.geometry.texts == rated.geometry.texts
    assert mirrored != rated


@pytest.mark.parametrize("name", ["tied pair", "neuron with a rate"])
def test_what_several_add_is_the_sum(name):
    alone = {by: found(name, by) for by in ("decay", "momentum", "noise")}
    k, lam = sympy.symbols("k lam", real=True)
    for sizes in ({"decay": k, "noise": 1}, {"decay": k, "momentum": lam}):
        v = found(name, ", ".join(x for x in ("decay", "momentum", "noise") if x in sizes))
        for i, change in enumerate((*v.laws, *v.dual)):
            terms = (size * (*alone[x].laws, *alone[x].dual)[i] for x, size in sizes.items())
            assert sympy.expand(change - sum(terms)) == 0
    assert found(name, "momentum, noise").laws == tuple(lam * x for x in alone["momentum"].laws)


@pytest.mark.every(4)
@pytest.mark.parametrize("output", ["a*b + c", "W + a*b", "a*b*d + c", "a**2*b + c*d"])
def test_plain_decay_does_more_and_the_metric_that_is_told_does_not(output):
    v = perturb(derive_once(output), "decay")
    assert not v.start
    (told,) = v.says("decay metric")
    assert WITNESSES["decay metric"](v, told, random.Random(1)) > 0


def test_a_decay_of_the_dual_coordinate_is_no_rest():
    """y of p^2 - m^2 drifts by 1/4 under h = p^2/2 + m^2: Q is that of the start with it."""
    v = perturb(derive_once("p**2 - m**2"), "decay", penalty="p**2/2 + m**2")
    assert not v.is_steered
    assert "here `xi = 0`" not in v.to_text()
    assert "only the laws move" not in v.to_text()


def test_unequal_decay_of_a_product_does_not():
    v = perturb(derive_once("u*v"), "decay", penalty="u**2 + 2*v**2")
    assert not v.start
    assert perturb(derive_once("u*v"), "decay", penalty="u**2 + v**2").start


@pytest.mark.parametrize("output", ["a*b + 1", "w + w**3", "sinh(w)"])
def test_without_a_grading_no_metric_is_told(output):
    v = perturb(derive_once(output), "decay")
    assert not v.says("decay metric")


def test_what_is_said_without_laws_and_of_steps_past_two_poles():
    square = perturb(derive_once("w**2"), "noise").to_text()
    assert "minimises Q(beta) - <y(0) + xi, beta>" in square
    assert "c_inf" not in square
    sine = " ".join(perturb(derive_once("sin(w)"), "step").to_text().split())
    assert "if cos(w) has no zero between w and w_next," in sine
    product = perturb(derive_once("u*v"), "step")
    assert "if 1 - G*eta > 0 and G*eta + 1 > 0" in product.to_text()
    assert "Delta y = -atanh(G*eta)" in product.to_text()
