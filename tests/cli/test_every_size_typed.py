"""Models of open size from the command line: forms, checks, exit codes and refusals."""

import json

import pytest

from tests.cli.commands import run


def test_softmax_is_checked_by_flows_and_its_record_says_so():
    done = run("regularizer", "exp(v)/sum(exp(v))", "--each", "v", "--check", "--json")
    assert done.returncode == 0
    record = json.loads(done.stdout)
    assert record["laws"] == ["sum(v_k)"]
    assert record["check"]["passed"]
    assert record["check"]["agreement"]["n = 2: y in the row space of X"] is None


@pytest.mark.parametrize(("text", "code"), [("gam*v/sum(v)", 1), ("v + sum(v)", 3)])
def test_the_exit_code_is_the_verdict(text, code):
    assert run("regularizer", text, "--each", "v").returncode == code


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--start", "v=1"), "--start does not go with --each"),
        (("--matrix", "W:2x2"), "--matrix does not go with --each"),
        (("--rocq",), "--each goes with"),
        (("--rates", "u=1"), "no weight u"),
    ],
)
def test_what_does_not_go_with_open_size_is_refused_in_a_line(options, words):
    done = run("regularizer", "v/sum(v)", "--each", "v", *options)
    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize(("kind", "code"), [("commuting", 0), ("one", 0), ("general", 1)])
def test_matrices_of_open_size(kind, code):
    done = run("regularizer", "W*T(W)", "--matrix", "W:nxr", "--measurements", kind)
    assert done.returncode == code
    assert "of every size" in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--matrix", "W:nxr", "--measurements", "some"), "choose one of commuting"),
        (("--matrix", "W", "--measurements", "one"), "write W:nxr"),
        (("--measurements", "one"), "write W:nxr"),
        (("--matrix", "W:nxr", "--measurements", "one", "--start", "W=1"), "--start does not go"),
    ],
)
def test_matrices_of_open_size_are_refused_in_a_line(options, words):
    done = run("regularizer", "W*T(W)", *options)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_refutation_of_matrices_is_seen_by_steering():
    done = run("regularizer", "W*T(W)", "--matrix", "W:nxr", "--measurements", "general", "--check")
    assert done.returncode == 1
    assert "it moves" in done.stdout
