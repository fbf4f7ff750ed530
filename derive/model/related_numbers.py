"""Numbers among the values at the start that are related in a way that no algebra here sees.

Functions of a start are exact in numbers such as exp(1), log(2), atan(1) and pi, which are taken to
be independent but for what the tower of functions knows. By Schanuel's conjecture all relations of
such numbers come from linear ones, with rational coefficients, of logarithms of real numbers, and
of angles and pi, as 4 atan(1) = pi. Where one is found, in high-precision values, the start is
refused: neither a yes nor a no may rest on numbers that are related.
"""

from __future__ import annotations

from collections.abc import Mapping

import mpmath

from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.generators import images_of
from derive.exact.field.polynomial import evaluate
from derive.model.exact_map import ExactMap
from derive.model.names import PI

DIGITS, LARGEST = 120, 10**5
"""Of the values, and the coefficients of the relations that are looked for."""
ANGLES = ("sin", "cos", "atan")
FUNCTIONS = {
    **{name: getattr(mpmath, name) for name in ("exp", "log", "asinh", *ANGLES)},
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
