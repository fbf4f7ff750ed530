"""The table of optimizers: what is proved of an update holds for its iterates, in fractions."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from derive.errors import InputError
from derive.optimizers.optimizer import decide, optimizer, optimizers
from derive.optimizers.span import find_update, updates
from derive.verdict import Verdict
from tests.cli.commands import refusal_of, run

FOUND = {o.update.id: o for o in optimizers().found}


@pytest.mark.parametrize(
    "update",
    [
        {"w": "w - eta*g + mu*(2*w - before)", "before": "w"},
        {"w": "w - eta*g + mu*w", "before": "w"},
        {"w": "w - eta*g*g", "before": "w"},
        {"w": "w/(1 + g) + before - before", "before": "w"},
        {"w": "w - eta*g", "before": "w + g*g - w"},
        {"w": "w - eta*exp(g)", "before": "w"},
    ],
    ids=["affine", "decay", "square", "quotient", "other state", "exponential"],
)
def test_a_broken_update_is_not_proved(update):
    broken = replace(find_update("momentum"), update=update)
    found = decide(broken)
    assert found.span.verdict is Verdict.UNDECIDED
    assert found.finite.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("update", updates(), ids=lambda u: u.id)
def test_every_verdict_rests_on_the_update(update):
    """A first state that is scaled, or not linear in g, has no law; one that ascends no margins."""
    name, text = next(iter(update.update.items()))
    for wrong in (f"2*({text})", f"({text})*(1 + g)"):
        found = decide(replace(update, update={**update.update, name: wrong}))
        assert (found.span.verdict, found.finite.verdict) == (Verdict.UNDECIDED,) * 2
    ascends = {**update.update, name: re.sub(r"\bg\b", "(-g)", text)}
    found = decide(replace(update, update=ascends))
    assert found.span.verdict is FOUND[update.id].span.verdict
    assert found.margins.verdict is Verdict.UNDECIDED


def test_steps_of_one_sign_are_none_of_signs():
    even = {"w": "w - eta*g*g/(S + g*g)", "S": "S + g*g"}
    assert "on one row" in FOUND["adagrad"].finite.reason
    assert "on one row" not in decide(replace(find_update("adagrad"), update=even)).finite.reason


def test_a_limit_of_least_norm_is_not_refuted():
    data = {"X": [[1, 0, 0], [0, 1, 0]], "y": [1, 2]}
    found = decide(replace(find_update("coordinate-descent"), data=data))
    assert (found.finite.verdict, found.example) == (Verdict.UNDECIDED, None)


def test_the_pullback_has_to_be_the_identity(monkeypatch):
    assert optimizer("natural-gradient").finite.verdict is Verdict.PROVED
    monkeypatch.setattr("derive.optimizers.optimizer.PULLED", ("J", "H", "J^T"))
    finite = optimizer("natural-gradient").finite
    assert finite.verdict is Verdict.UNDECIDED
    assert "J J^T^-1 H^-1 J^-1 J^T H" in finite.evidence[0].right


def test_momentum_of_the_other_sign_has_no_margins():
    update = {"w": "w - eta*g - mu*(w - before)", "before": "w"}
    found = decide(replace(find_update("momentum"), update=update))
    assert found.span.verdict is Verdict.PROVED
    assert found.margins.verdict is Verdict.UNDECIDED


def test_a_potential_that_is_not_the_updates_is_not_proved():
    wrong = replace(find_update("exponentiated-gradient"), potential="w**2/2")
    assert decide(wrong).span.verdict is Verdict.UNDECIDED
    concave = replace(
        find_update("exponentiated-gradient"), potential="-w*log(w)", update={"w": "w*exp(eta*g)"}
    )
    assert decide(concave).finite.verdict is Verdict.UNDECIDED


def test_verdicts_and_their_witnesses():
    refuted = {"steepest-descent", "coordinate-descent", "signed", "adagrad"}
    assert {name for name, o in FOUND.items() if o.verdict is Verdict.REFUTED} == refuted
    assert {o.word for o in FOUND.values()} == {"PROVED", "REFUTED", "no clean statement"}
    for name in refuted:
        (witness,) = FOUND[name].span.evidence
        assert witness.residual != 0
        assert len(witness.point) == 3
    example = FOUND["coordinate-descent"].example
    assert (example.limit, example.norms) == (("-1/4", "5/12", "-1/4"), ("11/12", "5/6"))
    linear = replace(find_update("steepest-descent"), norm="2")
    assert decide(linear).span.verdict is Verdict.UNDECIDED  # its steps are dependent


def test_conjugate_gradients_minimise_at_their_margins_where_beta_is_not_negative():
    """By Polak and Ribiere's rule, on logistic loss, the first multiplier falls below 0."""
    said = FOUND["conjugate-gradients"].margins
    assert said.verdict is Verdict.PROVED
    assert said.reason.endswith("where `beta >= 0` at each step")
    free = replace(find_update("conjugate-gradients"), scalars=["alpha", "beta"], signed=())
    assert "beta" not in decide(free).margins.reason
    X, w = np.array([[10.0, 0.0], [1.0, 1.0]]), np.zeros(2)
    slope = lambda w: X.T @ (-1 / (1 + np.exp(X @ w)))  # noqa: E731
    first = slope(w)
    p, w = -first, w - 0.1 * first
    g = slope(w)
    for beta, sign in ((g @ (g - first) / (first @ first), -1), (g @ g / (first @ first), 1)):
        s = np.linalg.solve(X @ X.T, X @ (w + 2 * (beta * p - g)))
        assert np.sign(beta) == np.sign(s[0]) == sign


def test_the_command():
    done = run("optimizers", "adagrad", "--json")
    record = json.loads(done.stdout)
    assert done.returncode == 1
    assert record["verdict"] == "no clean statement"
    assert record["span"]["witness"]["residual"] == "4"
    assert run("optimizers", "bfgs").returncode == 0
    assert "nesterov" in refusal_of("optimizers", "nestrov")
    page = run("optimizers", "--latex", "--standalone").stdout
    assert page.count(r"\item ") == len(FOUND)
    assert "longtable" not in page  # LaTeX refuses it in two columns
    for name in FOUND:
        page = optimizer(name).to_text()
        assert max(map(len, page.splitlines())) <= 80
        assert r"\begin{theorem}" in optimizer(name).to_latex()
    with pytest.raises(InputError, match="no optimizer"):
        optimizer("adam")


def test_the_documentation_shows_this_table():
    page = Path(__file__).parents[2] / "docs" / "howto" / "optimizers.md"
    assert optimizers().to_text() in page.read_text(encoding="utf-8")
