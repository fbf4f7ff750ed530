"""Whether gradient flow on F is defined at the start and can move every output."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from derive.errors import DegenerateStart, InputError, RankDeficient
from derive.exact.field.function_field import RationalFunction
from derive.exact.signs import Signs, is_number
from derive.exact.towers.tower import Tower
from derive.language import to_text
from derive.language.tree import Name, Tree
from derive.model.exact_map import ExactMap
from derive.model.names import bases


def validate(p: ExactMap) -> None:
    """Refuse a map that is constant, or undefined, or at rest, at its start."""
    if p.vectors:
        _check_length(p)
        return
    _check_dependence(p)
    _check_positive(p)
    _check_start(p)
    _check_bases(p)


def _check_dependence(p: ExactMap) -> None:
    """Refuse an output that is constant, and a weight on which no output depends."""
    for i, (f, gradient) in enumerate(zip(p.F, p.covectors, strict=True), 1):
        if all(g.is_zero() for g in gradient):
            raise InputError(f"output {i} is the constant {f!r}: it cannot move")
    for k, name in enumerate(p.weights):
        if all(row[k].is_zero() for row in p.covectors):
            raise InputError(f"no output depends on the weight {name}: leave it out")


def _check_start(p: ExactMap) -> None:
    """Refuse a start where F or its Jacobian is undefined, or where a block cannot move."""
    try:
        rows = p.start_covectors
        for f in p.F:
            p.at_start(f)
    except ZeroDivisionError:
        raise DegenerateStart(
            "F or its gradient is undefined at the start: choose a start off its poles"
        ) from None
    for block in p.blocks:
        if all(x.is_zero() for i in block for x in rows[i]):
            which = ", ".join(str(i + 1) for i in block)
            raise DegenerateStart(
                f"the start is a critical point of output {which}: the gradient is zero there, "
                "so gradient flow never moves; choose another start"
            )


def _check_length(p: ExactMap) -> None:
    """Refuse vectors of open dimension whose beta has a constant length s, or cannot move."""
    s, slopes = p.F[0], p.covectors[0]
    if all(x.is_zero() for x in slopes):
        raise RankDeficient(
            "the length of beta is constant, so the outputs move together: "
            "give outputs that can move independently"
        )
    if len(p.vectors) == 1:
        (u,) = p.vectors
        n = s.field.named(u.norm)
        if p.at_start(n).is_zero() and u.norm in (s / n).variables():
            raise DegenerateStart(
                f"{u.name} starts at 0, where F has no direction; choose another start"
            )
    try:
        p.at_start(s)
        (moved,) = p.start_covectors
    except ZeroDivisionError:
        raise DegenerateStart("F is undefined at the start: choose another start") from None
    if all(x.is_zero() for x in moved):
        raise DegenerateStart(
            "the length of beta does not move from the start: choose another start"
        )


def _check_positive(p: ExactMap) -> None:
    """Refuse a weight that is declared positive, or has to be, but starts at or below zero."""
    for weight, value in zip(p.weights, p.w0, strict=True):
        if weight in p.positive and (value.is_zero() or Signs(p.positive).of(value) < 0):
            if weight in p.nonnegative:
                raise DegenerateStart(
                    f"F is defined only where {weight} > 0, but {weight} starts at {value!r}"
                )
            raise InputError(f"positive: {weight} starts at {value!r}, which is not positive")


def _check_bases(p: ExactMap) -> None:
    """Refuse a start in numbers where what is under a root, or in a logarithm, is not positive."""
    for tree, value in bases_at_start(p):
        if not isinstance(tree, Name) and is_number(value) and Signs().of(value) < 0:
            raise DegenerateStart(
                f"F is defined only where {to_text(tree)} > 0, which starts at {value!r}"
            )


def bases_at_start(p: ExactMap) -> Iterator[tuple[Tree, RationalFunction]]:
    """Yield what has to be positive, under roots and in logarithms, with its value at the start."""
    for tree in bases(p.trees):
        with suppress(InputError, ValueError, ZeroDivisionError):
            base = p.field.embed(Tower.over(p.field, p.positive).element(tree))
            yield tree, p.at_start(base)
