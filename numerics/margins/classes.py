"""Rows and classes as they are given, and rows that carry their labels."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from derive.errors import InputError
from numerics.evaluate.numbers import read_matrix, read_number

Rows = list[list[Fraction]]


@dataclass(frozen=True)
class Folded:
    """Rows x_i that carry their labels: all are to have <x_i, w> > 0.

    Attributes:
        rows: whole numbers, those given times *scale*.
        classes: as given, the w of each side by side; () for rows that carried their labels, two
            for w and -w.
    """

    rows: list[list[int]]
    scale: int
    classes: tuple[str, ...] = ()

    @property
    def several(self) -> bool:
        """Whether there is a predictor for each class."""
        return len(self.classes) > 2


def fold(X: object, labels: Iterable[object] | None = None) -> Folded:
    """Return the rows of all examples with their labels.

    Of two classes the greater has label +1. Of more, an example x of class y gives for every other
    class k the row e_y (x) x - e_k (x) x, whose product with w is that of x and w_y - w_k.

    Raises:
        InputError: X is no matrix of finite numbers, labels do not fit, or all are the same.
    """
    rows = read_matrix(X)
    if labels is None:
        return _whole(rows, ())
    given = ["" if label is None else str(label).strip() for label in labels]
    if missing := [i for i, label in enumerate(given, 1) if label.lower() in ("", "nan")]:
        raise InputError(f"the label of row {missing[0]} is missing")
    if len(given) != len(rows):
        raise InputError(f"X has {len(rows)} rows but there are {len(given)} labels")
    classes = sorted(dict.fromkeys(given), key=_order)
    if len(classes) == 1:
        raise InputError(f"all examples are of class {classes[0]}: there is nothing to separate")
    if len(classes) == 2:
        pairs = zip(rows, given, strict=True)
        signed = [x if y == classes[1] else [-c for c in x] for x, y in pairs]
        return _whole(signed, tuple(classes))
    return _whole(list(_lifted(rows, given, classes)), tuple(classes))


def _order(label: str) -> tuple[int, Fraction, str]:
    try:
        return 0, read_number(label, "a label"), label
    except InputError:
        return 1, Fraction(0), label


def _lifted(rows: Rows, given: Sequence[str], classes: Sequence[str]) -> Iterable[list[Fraction]]:
    for x, y in zip(rows, given, strict=True):
        own = classes.index(y)
        for other in range(len(classes)):
            if other != own:
                lifted = [Fraction(0)] * (len(classes) * len(x))
                lifted[own * len(x) : (own + 1) * len(x)] = x
                lifted[other * len(x) : (other + 1) * len(x)] = [-c for c in x]
                yield lifted


def _whole(rows: Rows, classes: tuple[str, ...]) -> Folded:
    scale = math.lcm(*(x.denominator for row in rows for x in row))
    whole = [[x.numerator * (scale // x.denominator) for x in row] for row in rows]
    return Folded(whole, scale, classes)


def read_csv(text: str) -> tuple[Rows, list[str]]:
    """Return the features and the class, in the last column, of each row of a table.

    A first row without any number is one of names; empty lines are skipped.

    Raises:
        InputError: a row has another length than the first, or a feature is no finite number.
    """
    try:
        table = [(i, row) for i, row in enumerate(csv.reader(io.StringIO(text)), 1) if row]
    except csv.Error as error:
        raise InputError(f"--data: {error}") from None
    if table and all(_is_name(cell) for cell in table[0][1][:-1]):
        table = table[1:]
    if not table:
        raise InputError("--data: there are no rows of numbers")
    width = len(table[0][1])
    if width < 2:
        raise InputError("--data: a row needs two entries or more, separated by commas")
    rows = []
    for line, row in table:
        if len(row) != width:
            raise InputError(f"--data: line {line} has {len(row)} entries, others {width}")
        cells = enumerate(row[:-1], 1)
        rows.append([read_number(x.strip(), f"line {line}, entry {j} of --data") for j, x in cells])
    return rows, [row[-1].strip() for _, row in table]


def _is_name(cell: str) -> bool:
    """Tell whether a cell is neither a number nor what stands for a missing one."""
    try:
        read_number(cell.strip(), "a cell")
    except InputError:
        missing = cell.strip().lower() in ("", "nan", "inf", "-inf", "na", "null")
        return not missing and not re.match(r"\s*[-+.]*\d", cell)
    return False
