"""Witnesses: for each kind of statement, code that tries to refute it.

A witness knows F, the start and the data, and numbers for what the statement says; it derives
nothing. It draws data that try to break the conditions, and returns how many trials it made: 0
where it cannot reach the statement, which is counted.
"""

import functools
import importlib
import pkgutil
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from derive.statement import KINDS, Statement

Witness = Callable[[Any, Statement, random.Random], int]


def load():
    """Import all witnesses, and what draws records for them."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith(("test_", "__")):
            importlib.import_module(f"{__name__}.{module.name}")


class Witnesses(dict[str, Witness]):
    """Witnesses by kind, which are imported where the first is asked for."""

    def __missing__(self, kind):
        load()
        if kind not in self:
            raise KeyError(kind)
        return self[kind]


WITNESSES = Witnesses()


class Unreached(Exception):
    """A run ended early, or left the doubles or what is asked of it: it is no trial."""


def witness(*kinds, each=None):
    """Make a function the witness of some kinds; it raises Refuted where a statement is false.

    What *each* draws of the record, and of the statement, is tried one after the other.
    """

    def add(run):
        @functools.wraps(run)
        def function(record, statement, rng):
            drawn = [()] if each is None else ((x,) for x in each(record, rng, statement))
            trials = 0
            for given in drawn:
                with suppress(Unreached):
                    trials += run(record, statement, rng, *given) or 0
            return trials

        assert KINDS.keys() >= set(kinds)
        others = {WITNESSES[k].__name__ for k in kinds if k in WITNESSES}
        assert others <= {function.__name__}, "one witness a kind"
        WITNESSES.update(dict.fromkeys(kinds, function))
        return function

    return add


class Refuted(AssertionError):
    """A statement is false, for the data that are told."""


def repeated(witness, record, statement, seeds=10):
    """Put a statement to its witness with some seeds, as one that is false has to be refuted."""
    for seed in range(seeds):
        witness(record, statement, random.Random(seed))


def withstood(record, seed):
    """Return how many trials each kind of statement withstood."""
    trials = Counter()
    for s in record.statements:
        if isinstance(s, Statement):
            trials[s.kind] += WITNESSES[s.kind](record, s, random.Random(seed))
    return trials


def changed(statement, **values):
    """Return a statement that says something else."""
    return replace(statement, values={**statement.values, **values})
