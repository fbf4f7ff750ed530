"""Models of open size from the command line: forms, checks, exit codes and refusals."""

import json

from tests.cli.commands import run


def test_softmax_is_checked_by_flows_and_its_record_says_so():
    done = run("regularizer", "exp(v)/sum(exp(v))", "--each", "v", "--check", "--json")
    assert done.returncode == 0
    record = json.loads(done.stdout)
    assert record["laws"] == ["sum(v_k)"]
    assert record["check"]["passed"]
    assert record["check"]["agreement"]["n = 2: y in the row space of X"] is None


def test_a_refutation_of_matrices_is_seen_by_steering():
    done = run("regularizer", "W*T(W)", "--matrix", "W:nxr", "--measurements", "general", "--check")
    assert done.returncode == 1
    assert "it moves" in done.stdout
