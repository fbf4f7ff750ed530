"""Completion in a shell, and messages for what is typed as on paper."""

import os
import subprocess
import sys

import pytest

from tests.cli.commands import refusal_of


@pytest.mark.parametrize(
    ("words", "found"),
    [("derive reg", ["regularizer", "regimes"]), ("derive regularizer --vec", ["--vector"])],
)
def test_bash_completes(words, found):
    asked = {"_DERIVE_COMPLETE": "bash_complete", "COMP_WORDS": words}
    environment = {**os.environ, **asked, "COMP_CWORD": str(words.count(" "))}
    command = [sys.executable, "-m", "derive"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert [line.partition(",")[2] for line in done.stdout.split()] == found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([r"\frac{a}{b}*u"], r"write (a)/(b) for \frac{a}{b}"),
        (["|x|*u"], "write abs(x) for |x|"),
        (["abs(w)*u"], "declare w positive if it is a name (--positive)"),
        (["a*u", "--vector", "w"], "--vector: w does not occur in a*u"),
        (["a*u1", "--vector", "u:2"], "--vector: u does not occur in a*u1"),
        (["a*u", "--matrix", "W:2x2"], "--matrix: W does not occur in a*u"),
    ],
)
def test_what_is_written_on_paper_is_told_otherwise(arguments, said):
    assert said in refusal_of("regularizer", *arguments)
