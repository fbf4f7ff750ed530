"""The table of optimizers: their updates as data, in ``table.toml``, with what each field means."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from derive.folder import find_record
from derive.language import Tree, from_sympy, parse_expression, to_sympy

FILE = Path(__file__).with_name("table.toml")


@dataclass(frozen=True)
class Update:
    """One optimizer; ``table.toml`` says what its fields are."""

    id: str
    title: str
    state: Mapping[str, str]
    update: Mapping[str, str]
    rows: Sequence[str] = ("g",)
    forms: Sequence[str] = ()
    scalars: Sequence[str] = ("eta", "mu")
    signed: Sequence[str] = ()
    space: str = "row(X)"
    where: str = ""
    norm: str = ""
    potential: str = ""
    positive: bool = False
    metric: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    tail: Mapping[str, str] = field(default_factory=dict)

    @property
    def point(self) -> str:
        """The first state: w, or the dual point z."""
        return next(iter(self.state))

    @property
    def slope(self) -> Tree | None:
        """psi'(w), or None without psi."""
        if not self.potential:
            return None
        return from_sympy(to_sympy(parse_expression(self.potential)).diff("w"))

    def read_data(self) -> tuple[list[list[Fraction]], list[Fraction]]:
        """Return X and y."""
        X = [[Fraction(x) for x in row] for row in self.data["X"]]
        return X, [Fraction(b) for b in self.data["y"]]

    @property
    def grades(self) -> dict[str, int]:
        """All names: 1 for vectors, -1 for transposed ones, 0 for operators and scalars."""
        starts = [s for s in self.state.values() if s != "0"]
        vectors = {x for x, s in self.state.items() if s == "0" or s.endswith("_0")}
        grades = dict.fromkeys((*self.state, *starts, *self.scalars, *self.signed), 0)
        grades |= dict.fromkeys((*self.rows, "d", "z", *vectors), 1)
        return grades | {s: 1 for s in starts if s.endswith("_0")} | dict.fromkeys(self.forms, -1)


@functools.cache
def updates() -> tuple[Update, ...]:
    """Return the updates of all optimizers, in the order of the table."""
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return tuple(Update(id=name, **record) for name, record in table.items())


def find_update(name: str) -> Update:
    """Return the optimizer of that name.

    Raises:
        InputError: there is none; the message names the nearest.
    """
    return find_record(updates(), name, "optimizer", "`derive optimizers` lists them")
