"""Whether gradient flow on F is defined at the start and can move every output.

Functions of a start are exact in numbers such as exp(1), log(2), atan(1) and pi, which are taken to
be independent but for what the tower of functions knows. By Schanuel's conjecture all relations of
such numbers come from linear ones, with rational coefficients, of logarithms of real numbers, and
of angles and pi, as 4 atan(1) = pi. Where one is found, in high-precision values, the start is
refused: neither a yes nor a no may rest on numbers that are related.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

import mpmath

from derive.errors import DegenerateStart, InputError, RankDeficient
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.generators import images_of
from derive.exact.field.polynomial import evaluate
from derive.exact.signs import Signs, is_number
from derive.exact.towers.tower import Tower
from derive.language import to_text
from derive.language.tree import Name, Tree, names
from derive.model.exact_map import ExactMap
from derive.model.names import PI, bases


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
    beside = names(tuple(output.tree for output in p.affine))
    for k, name in enumerate(p.weights):
        if name not in beside and all(row[k].is_zero() for row in p.covectors):
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


DIGITS, LARGEST = 120, 10**5
"""Of the values, and the coefficients of the relations that are looked for."""
ANGLES = ("sin", "cos", "atan")
FUNCTIONS = {
    **{name: getattr(mpmath, name) for name in ("exp", "asinh", *ANGLES)},
    "log": lambda x: mpmath.log(abs(x)),  # as in a field
    "root": mpmath.root,
    "power": mpmath.power,
}


def check_numbers(p: ExactMap) -> None:
    """Refuse a start in numbers between which a relation is found that was not taken up."""
    field = p.start_field
    made = field.made_of([PI])
    numbers = [g for g in field.generators if g.kind in FUNCTIONS and g.name in made]
    calls = [g for g in numbers if g.kind not in ("root", "power")]
    with mpmath.workdps(DIGITS):
        angles = {PI: +mpmath.pi} if PI in (*p.start_symbols, *p.parameters) else {}
        if len(calls) + len(angles) < 2:
            return
        values = images_of(numbers, {PI: +mpmath.pi}, _at, FUNCTIONS)
        real: dict[str, mpmath.mpf] = {}
        for g in calls:
            inner = g.kind in ("exp", "sin", "cos")  # the logarithm or angle is the argument
            x = _at(g.argument, values) if inner else values[g.name]
            kept = angles if g.kind in ANGLES else real
            if not (g.kind == "cos" and g.partner in values):
                kept[g.name] = x
        _refuse_relation(real)
        _refuse_relation(angles)


def _at(element: RationalFunction, known: Mapping[str, mpmath.mpf]) -> mpmath.mpf:
    point = [known.get(name, mpmath.mpf(0)) for name in element.field.names]
    top, bottom = (evaluate(x, point, mpmath.mpf) for x in element.parts)
    return top / bottom


def _refuse_relation(numbers: Mapping[str, mpmath.mpf]) -> None:
    names = [name for name, x in numbers.items() if x != 0]
    if len(names) < 2:
        return
    found = mpmath.pslq([numbers[name] for name in names], maxcoeff=LARGEST, maxsteps=10**5)
    if found is not None:
        used = ", ".join(name for name, n in zip(names, found, strict=True) if n)
        raise InputError(
            f"the numbers {used:.100} of the start are related: write them by one another, "
            "or give numbers or symbols for their values"
        )
