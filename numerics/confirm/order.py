"""Flows on given data with different loss weights: how far apart are their limits?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from mpmath import mpf

from derive.errors import InputError
from derive.perturbed.order import DataOrder
from derive.verdict import Number, Verdict
from numerics.integrator.gradient_flow import flow

HEAVY = 4
"""The factor of one row and its label, whose loss then weighs the square of it."""


@dataclass(frozen=True)
class OrderCheck:
    """How far apart the limits are, and whether that is what was proved."""

    start: Mapping[str, Number]
    distance: mpf
    digits: int
    verdict: Verdict

    @property
    def passed(self) -> bool:
        """Are they one, where that was proved? Where they depend on weights, y may be no such y."""
        return self.verdict is not Verdict.PROVED or self.distance < mpf(10) ** (3 - self.digits)

    def report(self) -> str:
        """Return one line."""
        at = ", ".join(f"{w} = {x}" for w, x in self.start.items())
        apart = f"{float(self.distance):.2g}"
        return f"Flows in which the first loss weighs 1 and {HEAVY**2} end {apart} apart, from {at}"


def check_order(order: DataOrder, y: Iterable[str], digits: int = 15) -> OrderCheck:
    """Run two flows from the start, with numbers for its symbols, or where it was refuted.

    Raises:
        InputError: the start has no rational value, or a label is no number.
        NumericalError: a flow does not fit the data.
    """
    p, evidence = order.derivation.parameterization, order.independent.evidence
    start: dict[str, Number] = dict(evidence[0].point) if evidence else {}
    if not start:
        numbers = [Fraction(3 + k, 4) for k in range(len(p.start_field.names))]
        try:
            start = {w: x.at(numbers) for w, x in zip(p.weights, p.w0, strict=True)}
        except (ArithmeticError, ValueError):
            raise InputError("the start has no rational value") from None
    missing = {w: Fraction(0) for w in p.weights if w not in start}
    rows, labels = [list(row) for row in order.X], [Fraction(x) for x in y]
    first, heavy = rows[0], [HEAVY * x for x in rows[0]]
    ends = [
        flow(p, [row, *rows[1:]], [c * labels[0], *labels[1:]], {**start, **missing}, digits).limit
        for row, c in ((first, 1), (heavy, HEAVY))
    ]
    distance = max(abs(a - b) for a, b in zip(*ends, strict=True))
    return OrderCheck(start, distance, digits, order.verdict)
