"""Copies of a parameterization in numbers: where each starts, and the sum of their Qs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain

from derive.copying import Copies
from derive.errors import InputError, NumericalError
from derive.verdict import Verdict
from numerics.evaluate.lowering import lower, side_by_side
from numerics.evaluate.numbers import Number, read_number
from numerics.evaluate.potential import NumericPotential
from numerics.evaluate.start import refuse_missing, refuse_unknown, start_point


def numeric(copies: Copies, start: Mapping[str, Number]) -> NumericPotential:
    """Return Q(beta_1) + ... + Q(beta_n), each at its start; see :func:`lower`."""
    check_clock(copies)
    p, given = copies.one, {**dict(copies.start), **start}
    parameters = {name: given.pop(name) for name in p.parameters if name in given}
    starts = fixed_starts(p.start_symbols, given, copies.count)
    own = [tuple(start.items()) for start in starts]
    known = {
        pairs: lower(copies.derivation.potential, {**dict(pairs), **parameters})
        for pairs in dict.fromkeys(own)
    }
    q = side_by_side([known[pairs] for pairs in own])
    exact: dict[str, Number] = {
        name: read_number(x, f"the parameter {name}") for name, x in parameters.items()
    }
    exact |= {name: tuple(start[name] for start in starts) for name in given}
    return replace(q, start=tuple(exact.items()), source=copies)


def check_clock(copies: Copies) -> None:
    """Raise NumericalError where copies have clocks of their own, so that no Q is minimised.

    Under a warp g each moves as ``dy/dt = g X^T r`` with its own g: grad Q is not in the row space.
    """
    derivation = copies.derivation
    if derivation.verdict is Verdict.PROVED is not derivation.hessian.verdict:
        raise NumericalError(
            f"copies of F minimise no sum of Q(beta): each has a warp of its own, g = "
            f"{derivation.warping.g}; only one F with a warp, or copies without one, have Q"
        )


def start_of_weights(copies: Copies, start: Mapping[str, Number]) -> Mapping[str, Number]:
    """Return a number for each weight: of all copies, of one, or by the start symbols of one."""
    p, count = copies.one, copies.count
    if start and start.keys() <= set(copies.weights):
        return start
    if start and start.keys() <= set(p.weights):
        starts = fixed_starts(p.weights, start, count)
        points = [[own[w] for w in p.weights if w in own] for own in starts]
        known = [prefix + w for prefix in copies.prefixes for w in p.weights if w in start]
    else:
        given = {**dict(copies.start), **start}
        known, symbols = list(copies.weights), p.start_symbols
        refuse_missing(symbols, given)
        points = [list(start_point(p, own)[0]) for own in fixed_starts(symbols, given, count)]
    return dict(zip(known, chain(*points), strict=True))


def fixed_starts(
    known: Sequence[str], start: Mapping[str, object], copies: int
) -> list[dict[str, Fraction]]:
    """Return the given start values of each copy; a sequence of values gives each its own."""
    refuse_unknown(known, start)
    fixed: list[dict[str, Fraction]] = [{} for _ in range(copies)]
    for name, given in start.items():
        values = list(given) if isinstance(given, list | tuple) else [given] * copies
        if len(values) != copies:
            raise InputError(f"the start of {name} has {len(values)} values, not {copies}")
        for copy, value in zip(fixed, values, strict=True):
            copy[name] = read_number(value, f"the start symbol {name}")
    return fixed
