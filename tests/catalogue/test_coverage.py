"""What the sources state: each row of the table against what its command prints."""

import doctest
import functools
import shlex
from dataclasses import replace

import pytest

from derive.catalogue.audit.coverage import Ground, read_statement, statements
from derive.errors import InputError
from derive.sources import sources
from tests.cli.commands import run

ROWS = [row for row in statements() if row.ground is not Ground.LEFT_OUT]
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


@pytest.mark.every(4)
@pytest.mark.parametrize("row", [row for row in FAST if row.python], ids=lambda row: row.text[:60])
def test_python_shows_what_the_table_says(row):
    assert not disagreement(row)


COMMANDS = [row for row in FAST if row.command]


@pytest.mark.every(4)
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


def test_every_row_cites_sources_that_are_known():
    assert all({*row.cite} <= sources().keys() for row in statements())
    assert {row.ground for row in statements()} == {*Ground}


GOOD = {"text": "t", "place": "p", "cite": ["linear"], "command": "derive", "shows": ["1"]}
SHOWN = GOOD | {"ground": "shown"}
SLIP = SHOWN | {"quoted": "a = b, c = d", "printed": "c = d", "derived": "c = e"}


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (GOOD | {"ground": "shown for an instance"}, "has instance"),
        (GOOD | {"ground": "cited"}, "has theorem"),
        (GOOD | {"ground": "left out", "reason": "r"}, "one command"),
        ({**GOOD, "ground": "simulated", "shows": ["it does"]}, "has figures"),
        ({**SHOWN, "shows": []}, "what it shows"),
        (SHOWN | {"python": "1"}, "one command"),
        (SHOWN | {"instance": "i"}, "no detail"),
        (SHOWN | {"printed": "c = d", "derived": "c = e"}, "go together"),
        (SLIP | {"printed": "c = f"}, "not in what is quoted"),
    ],
)
def test_a_row_without_what_its_ground_asks_for_is_refused(record, why):
    assert read_statement(SLIP).ground is Ground.SHOWN
    assert read_statement(GOOD | {"ground": "cited", "theorem": "x"}).theorem == "x"
    with pytest.raises(InputError, match=why):
        read_statement(record)


def test_there_are_no_other_grounds():
    with pytest.raises(ValueError, match="PROVED"):
        read_statement(GOOD | {"ground": "PROVED"})
