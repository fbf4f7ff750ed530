"""What the sources state: each row of the table against what its command prints."""

import doctest
import functools
import re
import shlex
from dataclasses import replace

import pytest
from sympy import Symbol, log

from derive.catalogue.audit.coverage import BOUND, Ground, compare, read_statement, statements
from derive.errors import InputError
from derive.exact.towers.germ import Unsettled
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


COMPARED = [row for row in FAST if "compare(" in row.python]
LINES = [row for row in FAST if row.python and row not in COMPARED]


@pytest.mark.every(8)
@pytest.mark.parametrize("row", LINES, ids=lambda row: row.text[:60])
def test_python_shows_what_the_table_says(row):
    assert not disagreement(row)


COMMANDS = [row for row in FAST if row.command]


@pytest.mark.every(8)
@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.command + row.shows[0][:20])
def test_a_command_shows_what_the_table_says(row):
    assert not disagreement(row)


@pytest.mark.parametrize("row", [COMMANDS[0], LINES[0]])
def test_what_is_not_shown_is_found(row):
    assert disagreement(replace(row, shows=("there is no such passage",)))
    assert row.python or disagreement(replace(row, status=1))


NUMBER, SIGN = re.compile(r"(?<![\w.])\d+"), re.compile(r" [-+] ")


def corrupted(text):
    """Yield a printed formula with another factor, sign, exponent, number or sign between terms.

    Of a bound O(f) another constant is no other bound, and a weaker one holds, too: f is made less.
    """
    if bound := BOUND.fullmatch(text):
        yield from (f"O(({bound[1]})**3)", f"O(({bound[1]})/log(t)**2)")
        return
    yield from (f"2*({text})", f"-({text})", f"({text})**2")
    for n in NUMBER.finditer(text):
        yield f"{text[: n.start()]}{int(n[0]) + 1}{text[n.end() :]}"
    for sign in SIGN.finditer(text):
        yield f"{text[: sign.start()]}{' + ' if sign[0] == ' - ' else ' - '}{text[sign.end() :]}"


@pytest.mark.parametrize("row", COMPARED, ids=lambda row: row.text[:60])
def test_a_row_shows_what_it_says_and_that_a_corrupted_formula_differs(row):
    """Beside each text that agrees every corruption of it is compared in its place."""
    tried, namespace = [], {}

    def compare_corrupted(derived, *printed, **where):
        outcomes = compare(derived, *printed, **where)
        agreeing = [x for x, outcome in zip(printed, outcomes, strict=True) if outcome == "AGREES"]
        for wrong in (wrong for text in agreeing for wrong in corrupted(text)):
            tried.append((wrong, compare(derived, wrong, **where)))
        return outcomes

    *lines, last = row.python.split("; ")
    for line in lines:
        exec(line, namespace)
        namespace["compare"] = compare_corrupted
    assert [repr(eval(last, namespace))] == [*row.shows]
    assert tried
    assert not [wrong for wrong, outcome in tried if outcome != ["DIFFERS"]]


def test_all_rows_of_printed_formulas_compare_them():
    assert len(COMPARED) == 15
    slips = [row for row in COMPARED if row.quoted]
    assert len(slips) == 10
    assert all("DIFFERS" in row.shows[0] for row in slips)
    assert not any("DIFFERS" in row.shows[0] for row in COMPARED if row not in slips)


def test_what_is_neither_equal_nor_told_apart_is_no_answer():
    t, x = Symbol("t"), Symbol("x")
    with pytest.raises(Unsettled, match="proves nothing"):
        compare(x, "x + log(7 + 4*sqrt(3)) - 2*log(2 + sqrt(3))")
    with pytest.raises(Unsettled, match="no power"):
        compare(1 / log(t), "O(exp(-t))")


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
