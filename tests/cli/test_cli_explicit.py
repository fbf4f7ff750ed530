"""``derive explicit`` as a person meets it."""

import json
from functools import partial

import pytest

from tests.cli.commands import assert_answers, refusal_of
from tests.cli.commands import run as run_command

run = partial(run_command, "explicit")


TIED = ["p**2 - m**2", "--start", "p=alpha,m=alpha"]


@pytest.mark.every(8)
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            [*TIED, "--at", "beta=2,alpha=1"],
            0,
            ["smallest real root of P", "(2*b**2 - 12)*r**2", "R_F = 2.000", "R_F = -beta for"],
        ),
        (["u*v", "--start", "u=alpha,v=alpha"], 0, ["r = 1 - 2*b for b < 1/4", "Q = beta*log"]),
        (["-u*v + w", "--start", "u=1,v=0,w=0"], 0, ["REFUTED", "grad R = 2 tau"]),
        (["a*u", "--vector", "u", "--start", "a=alpha,u=0"], 0, ["any dimension", "R_F = 2*"]),
        (["a*u + b*v", "--vector", "u,v"], 3, ["u, v vectors of any dimension", "R_F = 2*abs(s)"]),
        (
            ["u1*v1 + x1*y1", "u1*v2 + x1*y2", "u2*v1 + x2*y1", "u2*v2 + x2*y2"],
            3,
            ["2*abs(beta1*beta4", "Lagrange", "checked: B(F(w)) = U V^T"],
        ),
        (["a*u1", "a*u2"], 0, ["real root, for almost", "R_F = 2*sqrt(beta1**2 + beta2**2)"]),
        (["a*b*u1", "a*b*u2"], 3, ["proved in part", "R_F = 3*(beta1**2 + beta2**2)**(1/3)"]),
        (["exp(w)"], 3, ["needs polynomials", "UNDECIDED"]),
        (["p1**2-m1**2", "w"], 0, [", beta1 ", ", beta2 ", "R_F = beta2**2"]),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else None,
)
def test_answers(arguments, code, words):
    done = run(*arguments)
    assert_answers(done, code, words)
    assert done.stderr == ""


@pytest.mark.every(8)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "output"),
        (["u*"], "column"),
        (["3"], "constant"),
        ([*TIED, "--at", "beta"], "--at"),
        ([*TIED, "--at", "beta=alpha"], "rational number"),
        ([*TIED, "--at", "alpha=1"], "give a number for beta"),
        ([*TIED, "--at", "gamma=1"], "no gamma"),
        ([*TIED, "--latex", "--json"], "one of"),
        ([*TIED, "--standalone"], "--latex"),
        ([*TIED, "-o", "."], "is a folder"),
        (["norm(u)*u", "--vector", "u"], "odd powers"),
        (["a*norm(u)**2*u + b*v", "--vector", "u,v"], "give u a dimension"),
        (["dot(u, v)", "--vector", "u,v"], "give a dimension"),
    ],
    ids=lambda value: " ".join(value)[-30:] if isinstance(value, list) else None,
)
def test_refusals_are_one_line(arguments, words):
    assert words in refusal_of("explicit", *arguments)


def test_json_says_what_the_text_says(tmp_path):
    target = tmp_path / "r.json"
    assert run(*TIED, "--json", "--at", "beta=2,alpha=1", "-o", str(target)).returncode == 0
    record = json.loads(target.read_text(encoding="utf-8"))
    assert (record["format"], record["version"], record["verdict"]) == (
        "regderive-explicit",
        2,
        "PROVED",
    )
    (block,) = record["blocks"]
    (branch,) = block["R"]["branches"]
    assert (branch["low"], branch["high"], branch["root_from_below"]) == (None, None, 0)
    assert [b["closed_form"] for b in block["R_F"]["branches"]] == ["-beta", "beta"]
    assert block["contrast"]["evidence"][0]["left"] == "64"
    assert [v["of"] for v in record["values"]] == ["R", "R_F"]


@pytest.mark.parametrize("output", ["p**2 - m**2"])
def test_latex_is_balanced(output):
    done = run(output, "--start", "p=alpha,m=alpha", "--latex", "--standalone")
    assert done.stdout.startswith("\\documentclass")
    for name in ("align*", "center", "tabular", "theorem", "document"):
        assert done.stdout.count(f"\\begin{{{name}}}") == done.stdout.count(f"\\end{{{name}}}") > 0
    assert done.stdout.count("{") == done.stdout.count("}")


def test_out_of_time_is_one_line():
    done = run("p**5 - m**5", "--start", "p=alpha,m=alpha", "--timeout", "0.8")
    assert done.returncode == 3
    (line,) = done.stderr.strip().splitlines()
    assert "out of time" in line
