"""What is refused is printed on one line of less than 200 characters, however long it is."""

from __future__ import annotations

import pytest

from tests.cli.commands import run

LONG = "x + " * 500


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["regularizer", "a", "--timeout", LONG], "--timeout"),
        (["regularizer", "a", "-o", LONG], "-o"),
        (["regularizer", "a", "--numpy", LONG], "--numpy"),
        (["regularizer", "a", f"--{LONG}"], "No such option"),
        (["check", LONG], "x + x"),
        (["catalogue", LONG], "x + x"),
        (["audit", LONG], "x + x"),
        (["figure", LONG], "x + x"),
        ([LONG], "is no command"),
    ],
)
def test_a_hostile_option_is_echoed_at_both_ends(arguments: list[str], words: str) -> None:
    done = run(*arguments)
    (line,) = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert line.startswith("derive: ")
    assert words in line
    assert len(line) < 200
    assert LONG.strip() not in line


def test_what_is_short_is_printed_whole() -> None:
    (line,) = run("check", "no-such-file.json").stderr.splitlines()
    assert line == "derive: no-such-file.json: No such file or directory"
