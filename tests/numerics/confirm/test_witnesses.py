"""Negative controls: each witness of Q, on its own, refuses what is wrong."""

import json
import sys
from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
import sympy

from derive import InputError, NumericalError
from derive.cli.forms import FORMS
from derive.cli.regularizer import Regularizer
from derive.cli.running import UNDECIDED, Enter
from numerics.confirm.crosscheck import crosscheck
from numerics.evaluate.lowering import side_by_side
from numerics.interpolants.interpolant import polished_interpolant
from tests.published import derive_once

DIGITS = 20
TIED = {"p": "alpha", "m": "alpha"}
NEURON = ("a*u1", "a*u2")
WEIGHT = sympy.Symbol("a", real=True)


def derived(*outputs, **start):
    return derive_once(outputs, start=start)


def checked_with(d, change):
    pieces = tuple(change(piece) for piece in d.potential.pieces)
    return crosscheck(replace(d, potential=replace(d.potential, pieces=pieces)), digits=DIGITS)


def without_kernel(piece):
    """Return the form without K, which would be seen to belong to another Q."""
    return replace(piece, kernel=None)


def squared(piece):
    """Return Q + (q_1 + q_2 + ..)^2, with its gradient: Q scaled by what changes with beta."""
    size = sympy.Add(*(b**2 for b in piece.betas))
    gradient = tuple(g + 2 * b for g, b in zip(piece.gradient, piece.betas, strict=True))
    return without_kernel(replace(piece, value=piece.value + size, gradient=gradient))


def of_another_start(piece):
    """Return Q as it is from a start of twice the size."""
    own = {*piece.betas, *(r.symbol for r in piece.roots), *(s for s, _ in piece.constants)}

    def moved(e):
        return e.subs({s: 2 * s for s in e.free_symbols - own})

    return without_kernel(piece.mapped(moved))


def of_another_warp(piece):
    """Return Q of a deeper neuron, whose warp is another, for coordinates of the same names."""
    deep = derived("a*b*u1", "a*b*u2", b="1").potential.pieces[0]
    return replace(deep, assumptions=piece.assumptions)


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("outputs", "start", "change"),
    [
        (("w**2",), {}, squared),
        (("p**2-m**2",), TIED, squared),
        (NEURON, {}, squared),
        (("a*b*u1", "a*b*u2"), {}, of_another_start),
        (("p**2-m**2",), TIED, of_another_start),
        (NEURON, {}, of_another_start),
        (NEURON, {}, of_another_warp),
    ],
)
def test_a_wrong_potential_is_refused_by_each_witness(outputs, start, change):
    wrong = checked_with(derived(*outputs, **start), change)
    assert wrong.agreement["interpolation"] is not None
    assert wrong.agreement["interpolation"] < 5  # the interpolant alone
    assert wrong.agreement["stationarity"] < 5  # the optimality of the limit alone
    # Nothing else is wrong: it is a Q, of something else, that was solved.
    assert wrong.agreement["optimality"] is not None
    assert wrong.agreement["optimality"] > DIGITS - 5
    assert wrong.agreement["consistency"] is None or wrong.agreement["consistency"] > DIGITS - 5
    assert wrong.agreement["feasibility"] > DIGITS - 5
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
    for law, kept in ((d.conserved.laws[0] ** 2, True), (d.conserved.laws[0] + WEIGHT, False)):
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

    wrong = checked_with(derived(*NEURON), concave)
    assert wrong.agreement["stationarity"] > DIGITS - 5  # -grad Q is in the row space too
    assert wrong.interpolant is None
    assert "not convex" in wrong.missing
    assert not wrong.passed
    assert wrong.report().startswith("NOT CONFIRMED: the minimizer of Q was not found")
    assert wrong.to_record()["interpolant"] is None


def test_the_command_fails_where_the_witnesses_disagree(monkeypatch):
    wrong = checked_with(derived("w**2"), squared)
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
