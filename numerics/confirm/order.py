"""Flows on given data with different loss weights: how far apart are their limits?"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from mpmath import mpf

from derive.errors import InputError
from derive.perturbed.order import DataOrder
from derive.verdict import Number, Verdict
from numerics.confirm.regression_problem import Check, reweighted

HEAVY = 4
"""The factor of one row and its label, whose loss then weighs the square of it."""


def check_order(order: DataOrder, y: Iterable[str], digits: int = 15) -> Check:
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
    data = order.X, [Fraction(x) for x in y]
    ends = (end.limit for end in reweighted(p, data, {**start, **missing}, HEAVY, digits))
    apart = max(abs(a - b) for a, b in zip(*ends, strict=True))
    # Where limits depend on weights, y may be no such y.
    passed = order.verdict is not Verdict.PROVED or apart < mpf(10) ** (3 - digits)
    at = ", ".join(f"{w} = {x}" for w, x in start.items())
    title = f"Flows in which the first loss weighs 1 and {HEAVY**2} end {float(apart):.2g} apart"
    return Check(passed, f"{title}, from {at}")
