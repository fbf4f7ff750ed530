"""What the sources state: each row of the table against what its command prints."""

import doctest
import functools
import shlex
from dataclasses import replace

import pytest

from derive.catalogue.coverage import VERDICTS, markdown, statements
from derive.sources import sources
from tests.cli.commands import run

ROWS = [row for row in statements() if not row.command.startswith("derive audit")]
FAST = [row for row in ROWS if not row.slow]
SLOW = [row for row in ROWS if row.slow]


def squeezed(text):
    """Without line breaks and leaders."""
    return " ".join(word for word in text.split() if word.strip("."))


@functools.cache
def done_once(command):
    """Run a command, of which several rows may tell."""
    return run(*shlex.split(command)[1:])


def disagreement(row):
    """Return what a row says that its command, or its line of Python, does not show."""
    if row.python:
        *lines, last = (*row.python.split("; "), row.shows[0])
        source = "".join(f">>> {line}\n" for line in lines) + f"{last}\n"
        test = doctest.DocTestParser().get_doctest(source, {}, row.text, None, None)
        said = []
        doctest.DocTestRunner(verbose=False).run(test, out=said.append)
        return "".join(said)
    done = done_once(row.command)
    printed = squeezed(done.stdout + done.stderr)
    missing = [text for text in row.shows if squeezed(text) not in printed]
    return missing or ("" if done.returncode == row.status else f"exit status {done.returncode}")


@pytest.mark.parametrize("row", [row for row in FAST if row.python], ids=lambda row: row.text[:60])
def test_python_shows_what_the_table_says(row):
    assert not disagreement(row)


COMMANDS = [row for row in FAST if row.command]


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.command + row.shows[0][:20])
def test_a_command_shows_what_the_table_says(row):
    assert not disagreement(row)


@pytest.mark.parametrize("row", [COMMANDS[0], next(row for row in FAST if row.python)])
def test_what_is_not_shown_is_found(row):
    assert disagreement(replace(row, shows=("there is no such passage",)))
    assert row.python or disagreement(replace(row, status=1))


@pytest.mark.slow
@pytest.mark.parametrize("row", SLOW, ids=lambda row: row.command)
def test_a_long_command_shows_what_the_table_says(row):
    assert not disagreement(row)


def test_every_row_is_shown_by_something_or_has_a_reason():
    for row in statements():
        assert row.verdict in VERDICTS
        assert row.cite in sources()
        assert bool(row.command or row.python) != (row.verdict == "left out") == bool(row.reason)
        assert bool(row.shows) == bool(row in ROWS and not row.reason)
        if row.verdict.startswith("DIFFERS") and row in ROWS:
            assert row.printed
            assert row.derived
    assert markdown().count("\n| ") == len(statements()) + len({row.cite for row in statements()})
