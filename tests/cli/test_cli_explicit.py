"""``derive explicit`` as a person meets it."""

import json
from functools import partial

import pytest

from tests.cli.commands import run as run_command

run = partial(run_command, "explicit")


TIED = ["p**2 - m**2", "--start", "p=alpha,m=alpha"]


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
