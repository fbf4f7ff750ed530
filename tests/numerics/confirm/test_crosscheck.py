"""The cross-check: every kind of Q passes, and each witness, on its own, refuses what is wrong.

Conditions that a flow may break are tried: what is found beyond them is told, or refused.
"""

import json
import sys
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy

from derive import InputError, NumericalError
from derive.cli.forms import FORMS
from derive.cli.regularizer import Regularizer
from derive.cli.running import UNDECIDED, Enter
from numerics.confirm import attempts as module
from numerics.confirm.attempts import attempts
from numerics.confirm.crosscheck import crosscheck
from numerics.evaluate.lowering import side_by_side
from numerics.interpolants.interpolant import Solution, Status, polished_interpolant
from tests.published import derive_once

DIGITS = 20
TIED = {"p": "alpha", "m": "alpha"}
NEURON = ("a*u1", "a*u2")
LEFT = "a*u1/(1+a**2)", "a*u2/(1+a**2)"
"""A model whose Q is an integral along curves of the weights."""


def derived(*outputs, **start):
    return derive_once(outputs, start=start)


def tampered(d, change):
    pieces = tuple(change(piece) for piece in d.potential.pieces)
    return crosscheck(replace(d, potential=replace(d.potential, pieces=pieces)), digits=DIGITS)


def of_another_curve(piece):
    beta = piece.curve.beta
    return replace(piece, curve=replace(piece.curve, beta=beta + beta.as_ordered_terms()[-1]))


def squared(piece):
    """Return Q + (q_1 + q_2 + ..)^2, with its gradient: Q scaled by what changes with beta.

    It is without K, as the next, which would be seen to belong to another Q.
    """
    size = sympy.Add(*(b**2 for b in piece.betas))
    gradient = tuple(g + 2 * b for g, b in zip(piece.gradient, piece.betas, strict=True))
    return replace(piece, value=piece.value + size, gradient=gradient, kernel=None)


def of_another_start(piece):
    """Return Q as it is from a start of twice the size."""
    own = {*piece.betas, *(r.symbol for r in piece.roots), *(s for s, _ in piece.constants)}

    def moved(e):
        return e.subs({s: 2 * s for s in e.free_symbols - own})

    return replace(piece.mapped(moved), kernel=None)


def of_another_warp(piece):
    """Return Q of a deeper neuron, whose warp is another, for coordinates of the same names."""
    deep = derived("a*b*u1", "a*b*u2", b="1").potential.pieces[0]
    return replace(deep, assumptions=piece.assumptions)


def of_another_value(piece):
    return replace(piece, value=2 * piece.value)


def of_another_kernel(piece):
    return replace(piece, kernel=2 * piece.kernel)


def lifted_by(part):
    """Return what doubles the first of some functions along curves of the weights."""

    def doubled(functions):
        first = (doubled(f) if isinstance(f, tuple) else 2 * f for f in functions[:1])
        return (*first, *functions[1:])

    return lambda piece: replace(
        piece, lift=replace(piece.lift, **{part: doubled(getattr(piece.lift, part))})
    )


APART = {"interpolation", "stationarity"}  # the interpolant alone, and the limit alone
WRONG = [  # a model, what is changed, and which witnesses see it
    (("w**2",), {}, of_another_value, {"consistency"}),
    (NEURON, {}, squared, APART),
    (("u*v",), {}, of_another_kernel, {"consistency"}),
    (NEURON, {}, of_another_start, APART),
    (("p**3-m**3",), TIED, of_another_curve, {*APART, "consistency"}),
    (("p**2-m**2",), TIED, squared, APART),
    (("w**2",), {}, squared, APART),
    (("a*b*u1", "a*b*u2"), {}, of_another_start, APART),
    (NEURON, {}, of_another_warp, APART),
    (("p**2-m**2",), TIED, of_another_start, APART),
    *(
        pytest.param(LEFT, {}, lifted_by(part), None, marks=pytest.mark.slow)
        for part in ("weights", "log_warp", "rho")
    ),
]


@pytest.mark.every(2)
@pytest.mark.parametrize(("outputs", "start", "change", "seen"), WRONG)
def test_a_wrong_potential_is_refused_by_each_witness(outputs, start, change, seen):
    """Nothing else is wrong: it is a Q, of something else, that was solved."""
    wrong = tampered(derived(*outputs, **start), change)
    agreed = {name: x for name, x in wrong.agreement.items() if x is not None}
    if seen is None:
        assert agreed["stationarity"] < 8
    else:
        assert {name for name, x in agreed.items() if x < 5} == seen
        assert {name for name, x in agreed.items() if x > DIGITS - 5} == agreed.keys() - seen
    assert not wrong.passed
    assert wrong.report().startswith("Flow, interpolant and Q DISAGREE")
    assert wrong.to_record()["passed"] is False


def test_a_flow_of_another_model_is_refused_by_both():
    """The weights of w**3 from starts whose beta_0 is another: Q and its interpolant agree."""
    square, cube = derived("w**2"), derived("w**3")
    wrong = crosscheck(replace(square, parameterization=cube.parameterization), digits=DIGITS)
    assert wrong.agreement["interpolation"] is not None
    assert wrong.agreement["optimality"] is not None
    assert max(wrong.agreement["interpolation"], wrong.agreement["stationarity"]) < 5
    assert wrong.agreement["optimality"] > DIGITS - 5


def test_a_quantity_that_is_not_conserved_is_found():
    d = derived(*NEURON)
    for law, kept in (
        (d.conserved.laws[0] ** 2, True),
        (d.conserved.laws[0] + sympy.Symbol("a", real=True), False),
    ):
        changed = replace(d)
        vars(changed)["conserved"] = replace(d.conserved, laws=(law,))
        check = crosscheck(changed, digits=DIGITS)
        assert check.passed is kept
        assert check.agreement["drift"] is not None
        assert (check.agreement["drift"] > DIGITS - 5) is kept


def test_without_an_interpolant_nothing_is_confirmed():
    def concave(piece):
        gradient = tuple(-g for g in piece.gradient)
        return replace(piece, value=-piece.value, gradient=gradient)

    wrong = tampered(derived(*NEURON), concave)
    assert wrong.agreement["stationarity"] > DIGITS - 5  # -grad Q is in the row space too
    assert wrong.interpolant is None
    assert "not convex" in wrong.missing
    assert not wrong.passed
    assert wrong.report().startswith("NOT CONFIRMED: the minimizer of Q was not found")
    assert wrong.to_record()["interpolant"] is None


def test_the_command_fails_where_the_witnesses_disagree(monkeypatch):
    wrong = tampered(derived("w**2"), squared)
    module = sys.modules[
        "numerics.confirm.crosscheck"
    ]  # the package shows the function of that name
    monkeypatch.setattr(module, "crosscheck", lambda *args, **kwargs: wrong)
    for form in ("text", "json", "latex"):
        command = Regularizer(outputs=("w**2",), check=True, digits=DIGITS, form=FORMS[form])
        answer = command.answer(Enter(lambda told: None, 60))
        assert answer.code == UNDECIDED
        alarm = answer.narration.splitlines()[-1]
        assert alarm.startswith("derive: --check: Flow, interpolant and Q DISAGREE")
        assert ("DISAGREE" in answer.result) is (form == "text")
        if form == "json":
            check = json.loads(answer.result)["check"]
            assert check["passed"] is False
            assert check["agreement"]["interpolation"] < 5


def test_rows_may_depend_on_each_other():
    X = [[1, 2, 0], [2, 4, 0], [0, 1, 1]]
    check = crosscheck(derived("w**2"), X, [3, 6, 2], {"w_0": 1}, digits=DIGITS)
    assert check.agreement["interpolation"] is not None
    assert check.agreement["interpolation"] > DIGITS


def test_what_cannot_be_reached_is_refused():
    q = side_by_side([derived("w**2").potential.numeric({"w_0": 1})] * 2)
    one = Fraction(1)
    with pytest.raises(InputError, match="out of reach"):
        polished_interpolant(q, lambda beta: beta, [[one, one]], [-one], 20)
    with pytest.raises(NumericalError, match="did not improve"):
        polished_interpolant(q, lambda beta: [mpmath.nan] * 2, [[one, one]], [one], 20)


def test_a_weight_that_changes_its_sign_is_reported():
    start = {"a_0": "1/10", "u1_0": 1, "u2_0": "1/2"}
    check = crosscheck(derived("a*u1", "a*u2"), [[1, "1/2"]], [-4], start, digits=15)
    assert check.broken == ("a",)
    assert "a was assumed to keep its sign and did not" in check.report()


@pytest.mark.every(3)
@pytest.mark.parametrize("size", ["1/1000", "1/1000000", "1e-20"])
def test_a_small_problem_is_as_exact(size):
    check = crosscheck(derived("a*b", a=size, b=size), digits=30)
    assert check.digits >= 30
    assert abs(check.end.limit[0]) < 10 * float(Fraction(size)) ** 2


def test_cancellation_is_no_error():
    """Terms of size 1 leave a gradient of 1e-18 of a conserved quantity that starts from 1e-18."""
    start = {"a": "1/1000000007", "u1": "22/7", "u2": "-355/113"}
    check = crosscheck(derived("a*u1", "a*u2", **start), digits=30)
    assert check.passed
    assert check.agreement["drift"] is not None
    assert check.agreement["drift"] > 30


def test_problems_repeat_and_differ():
    d = derived("w**2")
    first, second = crosscheck(d, digits=10), crosscheck(d, digits=10)
    assert first == second
    assert crosscheck(d, digits=10, rng=np.random.default_rng(1)).problem != first.problem


def test_refusals():
    d, neuron = derived("p**2-m**2", **TIED), derived(*NEURON)
    for given, options, kind, why in (
        (d, {"X": [[1, 2]]}, InputError, "X and y together"),
        (d, {"start": {"beta": 1}}, InputError, "names beta"),
        (d, {"start": {"alpha": [1, 2]}}, InputError, "2 values, not 3"),
        (d, {"X": [[1, 2, 3], [1, 0, 0]], "y": [1]}, InputError, "2 rows but y has 1"),
        (d, {"X": 3, "y": [1]}, InputError, "sequence of rows"),
        (neuron, {"start": {"a_0": -1}}, InputError, "derive again"),
        (derived(*NEURON, "w**2"), {}, NumericalError, "there is no Q"),
        (
            derived("w**2"),
            {"X": [[1, 1]], "y": [-1], "start": {"w_0": 1}},
            NumericalError,
            "gradient flow",
        ),
    ):
        with pytest.raises(kind, match=why):
            crosscheck(given, **options, digits=10)
    with pytest.raises(NumericalError, match="no numeric form"):
        tampered(derived(*LEFT), lambda piece: replace(piece, lift=None))


def test_a_start_that_interpolates_has_nothing_to_satisfy():
    d = derive_once(["u1/a", "-u2/a"], start={"u1": "2"})
    check = crosscheck(d, X=[[-1, -2]], y=["14/29"], start={"a_0": "29/16", "u2_0": "23/16"})
    assert check.passed
    assert check.end.steps == 0
    drawn = crosscheck(d, digits=20)
    assert drawn.passed
    assert drawn.end.steps > 0


BROKEN = {"a": Fraction(29, 16), "u": Fraction(23, 16), "v": Fraction(5, 4)}


def test_a_sign_that_the_flow_changes_is_tried_and_told():
    check = crosscheck(derived("a*u", "a*v"), digits=20)
    (tried,) = check.tried
    assert tried.condition == "that a keeps its sign"
    assert tried.sound
    assert tried.outcome.startswith("it is broken, the interpolant is refused")
    assert check.passed
    text = " ".join(check.report().split())
    assert "tried to break that a keeps its sign: X = -1 -3/4, y = 23/32: it is broken" in text
    assert max(map(len, check.report().splitlines())) <= 80
    assert json.loads(json.dumps(check.to_record()))["tried"] == [tried.told()]


def test_an_interpolant_that_is_given_behind_a_zero_fails_the_check(monkeypatch):
    """As it was before: CONVERGED wherever both equations hold."""

    def careless(q, X, y):
        found = module_interpolate(q, X, y)
        return replace(found, status=Status.CONVERGED)

    module_interpolate = module.interpolate
    monkeypatch.setattr(module, "interpolate", careless)
    check = crosscheck(derived("a*u", "a*v"), digits=20)
    assert not check.passed
    assert check.tried[0].outcome == "it is broken, flow and interpolant DISAGREE"
    assert check.report().startswith("Flow, interpolant and Q DISAGREE where a condition is broken")


def test_a_wrong_refusal_fails_the_check(monkeypatch):
    def refused(q, X, y):
        zeros = np.zeros(2)
        return Solution(zeros, zeros, 0.0, 0.0, 0, Status.BEYOND, "")

    monkeypatch.setattr(module, "interpolate", refused)
    d = derived("a*u**2", "a*v")
    (tried,) = attempts(d.potential, {f"{n}_0": x for n, x in BROKEN.items()})
    assert tried.outcome.startswith("it holds, the interpolant is refused")
    assert not tried.sound


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("outputs", "conditions"),
    [
        (("w**2",), ["beta > 0"]),
        (("w",), []),
        (("a/(a+b+c)", "b/(a+b+c)"), []),
        (("x**2+y**2", "x*y"), ["beta1 + 2*beta2 > 0", "beta1 - 2*beta2 > 0"]),
        (("a*b*u", "a*b*v"), ["that a keeps its sign", "that b keeps its sign"]),
    ],
)
def test_every_condition_and_wall_is_tried(outputs, conditions):
    d = derived(*outputs)
    start = {name: Fraction(k + 5, 4) for k, name in enumerate(d.parameterization.start_symbols)}
    found = attempts(d.potential, start)
    assert {attempt.condition for attempt in found} == {*conditions}
    assert all(attempt.sound for attempt in found)
    for attempt in found:
        assert len(attempt.row) == len(outputs)
        assert "the interpolant is refused" in attempt.outcome
