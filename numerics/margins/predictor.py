"""The predictor of largest margin, exactly, data without one, and rows that carry their labels."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Context
from fractions import Fraction
from typing import Any, ClassVar, Self

import sympy
from flint import fmpq
from sympy import Expr

from derive.errors import InputError
from derive.model.notation import rational
from derive.printable import Held
from derive.separable.rates import ACROSS, MEAN, offsets, tail_rate
from numerics.evaluate.numbers import read_matrix, read_number

FACTORED = 128
"""Bits of numbers whose square factors are taken out of roots."""
LONGEST = 1000
"""Characters of a root or logarithm in JSON."""
SHOWN = 12
"""Rows of a certificate that a report lists."""


@dataclass(frozen=True, repr=False)
class MaxMargin(Held):
    """min |w| subject to X w >= 1, and what certifies it, in rational numbers.

    Attributes:
        norm: l2, l1 or linf.
        value: w, with a margin of 1; with more than two classes those of each side by side.
        multiplier: y >= 0, one for each row, and k - 1 for each row where there are k > 2 classes.
            For l2 w = X^T y; else |X^T y|_* = 1 and sum y = |w|.
        tight: the rows of margin 1, from 0.
        degenerate: for l2, whether some row of margin 1 has multiplier 0 in every choice of them:
            the direction then converges like log log t/log t, the margin as without such rows. For
            l1 and linf whether w is not the only solution, so that no direction is named.
        determined: whether the multipliers are the only ones, up to rows that are the same.
        second: of degenerate data w_2, w(t) = w log t + w_2 log log t + ...; else ().
        classes: as for the rows that carry labels.
        sides: 1 or -1 where an entry of w lies on that side of 0 alone; () where none does.
    """

    norm: str
    value: tuple[Fraction, ...]
    multiplier: tuple[Fraction, ...]
    tight: tuple[int, ...] = ()
    degenerate: bool = False
    determined: bool = False
    second: tuple[Fraction, ...] = ()
    classes: tuple[str, ...] = ()
    sides: tuple[int, ...] = ()
    exact: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"MaxMargin(norm={self.norm!r}, margin={_short(self.margin)}, tight={self.tight})"

    @property
    def support(self) -> tuple[int, ...]:
        """The rows whose multiplier is positive, from 0."""
        return tuple(i for i, y in enumerate(self.multiplier) if y > 0)

    def times(self, s: Fraction) -> Self:
        """Return the solution for rows of which s times are those of this one."""
        scales = {"value": s, "multiplier": s * s if self.norm == "l2" else s, "second": s}
        scaled: dict[str, Any] = {
            k: tuple(c * x for x in getattr(self, k)) for k, c in scales.items()
        }
        return replace(self, **scaled)

    @property
    def _total(self) -> Expr:
        return rational(sum(self.multiplier, Fraction(0)))

    @property
    def margin(self) -> Any:
        """1/|w|, the largest min_i <x_i, w>/|w|."""
        if self.norm != "l2":
            return 1 / self._total
        return sympy.Pow(self._total, -sympy.S.Half, evaluate=_is_short(self._total))

    @property
    def loss_constant(self) -> Expr | None:
        """lim t L(t) of a linear model under l2, L a sum over rows; None elsewhere."""
        return self._total if self.norm == "l2" else None

    @property
    def gap_constant(self) -> Expr | None:
        """lim log t (margin - min_i <x_i, w>/|w|); None where no formula is known."""
        return self.gap_of(Fraction(1))

    @property
    def step_constant(self) -> Expr | None:
        """The same along grad/|grad|, of the sum of small steps, which is log t/margin + ...."""
        return self._relative_gap(Fraction(1), ACROSS)

    @property
    def turn_constant(self) -> Expr | None:
        """lim |w/|w| - its limit| log t/log log t; None where no formula is known."""
        if self.norm != "l2" or not self.determined:
            return None
        square = rational(sum((x * x for x in self.second), Fraction(0))) / self._total
        return sympy.Pow(square, sympy.S.Half, evaluate=_is_short(square))

    def gap_of(self, nu: Fraction, across: Expr = ACROSS) -> Expr | None:
        """Return it under tails exp(-u^nu); *across* is 0 where support vectors span all rows."""
        gap = self._relative_gap(nu, across)
        return sympy.Mul(self.margin, gap, evaluate=_is_short(self._total)) if gap else gap

    def _relative_gap(self, nu: Fraction, across: Expr) -> Expr | None:
        _, constant = tail_rate("margin", nu, across)
        if self.norm != "l2" or not self.determined or constant.has(ACROSS):
            return None
        alpha = [rational(y) for y in self.multiplier if y > 0]
        shares = [a / self._total for a in alpha]
        mean = sympy.Add(*(p * k for p, k in zip(shares, offsets(alpha, nu), strict=True)))
        return constant.xreplace({MEAN: mean})

    def to_text(self) -> str:
        """Return it as text."""
        return "\n".join(_report(self))

    def to_json(self) -> str:
        """Return its record: exact numbers as text, roots and logarithms of very long ones not."""
        names = ("loss_constant", "gap_constant", "step_constant", "turn_constant")
        constants = {name: getattr(self, name) for name in names}
        record = {
            "separable": True,
            "norm": self.norm,
            "classes": list(self.classes),
            "value": [_exact(x) for x in self.value],
            "multiplier": [_exact(y) for y in self.multiplier],
            "margin": _short(self.margin, LONGEST),
            "tight": [i + 1 for i in self.tight],
            "degenerate": self.degenerate,
            **{name: None if x is None else _short(x, LONGEST) for name, x in constants.items()},
        }
        return json.dumps(record, indent=2)


@dataclass(frozen=True)
class Cancelling:
    """Weights y >= 0 with sum 1 at which rows that carry their labels cancel: X^T y = 0.

    Where entries of w lie *on sides* of 0 alone, X^T y has no entry on that side.
    """

    weights: tuple[Fraction, ...]
    on_sides: bool = False

    def to_text(self) -> str:
        """Return it as text."""
        weights = _listed([(i, y) for i, y in enumerate(self.weights, 1) if y])
        one, end = "predictor", "their labels, add up to 0"
        if self.on_sides:
            one, end = "predictor that is reached", "labels, have no positive product with one"
        rows = f"  with these weights the rows, times {end}:"
        return "\n".join([f"On these data: no {one} separates the classes", rows, f"  {weights}"])

    def to_json(self) -> str:
        """Return its record."""
        record = {"separable": False, "weights": [_exact(y) for y in self.weights]}
        return json.dumps(record, indent=2)


def some(texts: Sequence[str]) -> str:
    """Return the first of some texts in a line."""
    return ", ".join(texts[:SHOWN]) + ", ..." * (len(texts) > SHOWN)


def _is_short(x: sympy.Rational) -> bool:
    """Tell whether SymPy may look for square factors, which of long numbers it does without end."""
    return bool(max(x.p, x.q).bit_length() <= FACTORED)


def _report(found: MaxMargin) -> Iterable[str]:
    among = "".join(f", {bound}" for bound in _bounds(found.sides))
    yield f"On these data: largest {found.norm} margin{among}, certified in rational numbers"
    yield f"  margin = {_short(found.margin)}"
    several = len(found.classes) > 2
    size = len(found.value) // len(found.classes) if several else len(found.value)
    for k in range(len(found.value) // size):
        of = f" of class {found.classes[k]}" if several else ""
        own = found.value[k * size : (k + 1) * size]
        yield f"  beta{of} = ({some([*map(_number, own)])})"
    if len(found.classes) == 2:
        yield f"  positive for class {found.classes[1]}, negative for class {found.classes[0]}"
    if several:
        yield "  rows are an example and a class that is not its own, in that order"
    rows = [(i + 1, found.multiplier[i]) for i in found.support]
    yield f"  support vectors: {_listed(rows)}"
    yield f"  rows of margin 1: {len(found.tight)}"
    if found.degenerate:
        told = "one of margin 1 has no multiplier" if found.norm == "l2" else "there are several"
        known = "" if found.turn_constant is None else f"{_short(found.turn_constant)} "
        told += f"; the direction has {known}log log t/log t" * (found.norm == "l2")
        yield f"  degenerate: {told}"
    if found.loss_constant is not None:
        yield f"  linear model: t L(t) -> {_short(found.loss_constant)}"
    if found.gap_constant is not None and found.step_constant is not None:
        yield f"  linear model: log(t) (margin - margin(t)) -> {_short(found.gap_constant)}"
        yield f"  along grad/|grad|: steps * (margin - margin(t)) -> {_short(found.step_constant)}"


def _bounds(sides: Sequence[int]) -> list[str]:
    """Return on which side of 0 beta lies, entry by entry where that is not the same of all."""
    on = {1: ">= 0", -1: "<= 0"}
    if len({*sides}) == 1:
        return [f"beta {on[sides[0]]}"]
    return [f"beta{j} {on[s]}" for j, s in enumerate(sides, 1) if s]


def _listed(rows: Sequence[tuple[int, Fraction]]) -> str:
    more = f", and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return ", ".join(f"row {i}: {_number(y)}" for i, y in rows[:SHOWN]) + more


def _exact(x: Fraction) -> str:
    """Return a fraction as text; Python refuses to write numbers of thousands of digits."""
    return str(fmpq(x.numerator, x.denominator))


def _number(x: Fraction) -> str:
    text = _exact(x)
    return text if len(text) <= 24 else f"{Context(prec=12).divide(*x.as_integer_ratio())}..."


def _short(x: Expr, longest: int = 60) -> str:
    bits = sum(max(r.p.bit_length(), r.q.bit_length()) for r in x.atoms(sympy.Rational))
    return str(x) if bits < 2 * longest and len(str(x)) <= longest else f"{sympy.N(x, 15)}..."


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

    @property
    def features(self) -> int:
        """How many columns were given."""
        return len(self.rows[0]) // (len(self.classes) if self.several else 1)


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
