"""``derive parameterize`` as a person meets it."""

import json
from functools import partial

import pytest

from tests.cli.commands import assert_answers, refusal_of
from tests.cli.commands import run as run_command

run = partial(run_command, "parameterize")


@pytest.mark.every(8)
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["beta*log(beta) - beta"], 0, ["beta = w**2", "start: w = 1"]),
        (["-log(beta)"], 0, ["beta = exp(w)", "for 0 < beta < infinity"]),
        (["-log(beta)", "--start", "beta=k"], 0, ["w = log(k)", "k > 0", "Bregman"]),
        (
            ["beta*atan(beta) - log(1 + beta**2)/2"],
            0,
            ["beta = sinh(w)", "-infinity < beta < infinity"],
        ),
        (["x*log(x)"], 0, ["x = w**2", "w = exp(-1/2)"]),
        (["k*beta**2", "--positive", "k"], 0, ["beta = w"]),
        (["beta1**2/2", "-log(beta2)"], 0, ["beta1 = w1", "beta2 = exp(w2)"]),
        (["-beta**2"], 1, ["not strictly convex near any point: Q'' = -2"]),
        (["beta**3", "--start", "beta=-1"], 1, ["not strictly convex near beta = -1"]),
        (["beta**4 + beta**2"], 3, ["UNDECIDED", "w = Integral(sqrt(12*beta**2 + 2), beta)"]),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else None,
)
def test_answers(arguments, code, words):
    done = run(*arguments)
    assert_answers(done, code, words)
    assert ("if k > 0, F has" in done.stdout) == ("beta=k" in arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no potential"),
        (["3"], "constant"),
        (["beta1*beta2"], "couples beta1 and beta2"),
        (["relu(beta)"], "not differentiable"),
        (["beta**"], "column"),
        (["beta**2", "--start", "beta"], "--start"),
        (["beta**2", "--start", "gamma=1"], "no coordinate gamma"),
        (["beta**2", "--positive", "k"], "positive"),
        (["beta**2", "--latex", "--json"], "one of"),
        (["beta**2", "--standalone"], "--latex"),
        (["beta**2", "-o", "."], "is a folder"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else None,
)
def test_refusals_are_one_line(arguments, words):
    assert words in refusal_of("parameterize", *arguments)


def test_files_and_forms(tmp_path):
    target = tmp_path / "q.json"
    assert run("-log(beta)", "--json", "-o", str(target)).returncode == 0
    assert json.loads(target.read_text(encoding="utf-8"))["verdict"] == "PROVED"
    assert run("-log(beta)", "--latex", "--standalone").stdout.startswith("\\documentclass")
