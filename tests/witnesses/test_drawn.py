"""Statements of drawn records of each room withstand their witnesses, and no witness fails."""

import pytest

from tests.witnesses.__main__ import load, main
from tests.witnesses.drawn import DRAWN

load()


@pytest.mark.slow
@pytest.mark.parametrize("room", DRAWN)
def test_no_drawn_statement_is_refuted(room, capsys):
    assert main(60, 17, room, 2) == 0, capsys.readouterr().out


def test_the_command_counts_what_it_draws(capsys):
    assert main(3, 1, "designs", 1) == 0
    *_, total = (line for line in capsys.readouterr().out.splitlines() if "refuted" in line)
    assert int(total.split()[0]) >= 3
