"""Figures of a model of one's own: Q of one output, or level sets of Q of more, at some starts."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from derive.derivation import Derivation, derive
from derive.errors import InputError, NumericalError
from derive.language import parse_assignments, to_sympy
from derive.model.typed import TypedModel, read_option
from derive.verdict import Verdict
from numerics.figures.derived import PotentialDisplay, at_plain_start
from numerics.figures.display import Display
from numerics.figures.gallery import Published

SCALES = ("1/2", "1", "2")
_DIGITS = 40


def own_figure(model: TypedModel, values: str = "") -> Published:
    """Return the figure of Q at three scales of a simple start, or at the numbers that are given.

    Raises:
        InputError: a name of *values* is no start symbol.
        NumericalError: no Q was proved.
    """
    derivation, outputs = derive(model.read().parameterization()), ", ".join(model.outputs)
    if derivation.verdict is not Verdict.PROVED:
        raise NumericalError(f"{outputs} has no Q to draw")
    if derivation.direction is not None:
        raise InputError("Q of coordinates is drawn: give vectors a dimension, u:2")
    start, _ = at_plain_start(derivation.potential, _numbers(values))
    numbers = ", ".join(f"{name} = {float(x):g}" for name, x in start.items())
    kept, starts, said = derivation.potential.parameterization.parameters, {numbers: start}, ""
    if not values:
        said = ", times the factors shown"
        starts = {
            f"start times {c}": {n: x * Fraction(1 if n in kept else c) for n, x in start.items()}
            for c in SCALES
        }
    many = len(model.outputs) > 1
    title = f"Level sets of Q of F = ({outputs})" if many else f"Q of F = {outputs}"
    caption = f"The start is {numbers or 'that of F'}{said}."
    return Published("own", title, caption, (), partial(_panels, derivation, starts))


def _panels(derivation: Derivation, starts: Mapping[str, dict[str, Fraction]]) -> list[Display]:
    """Show Q at some starts, all in the same window."""
    each = [PotentialDisplay.from_derivation(derivation, start) for start in starts.values()]
    bounds = min(one.x[0] for one in each), max(one.x[-1] for one in each)
    panels = list[Display]()
    for label, start in starts.items():
        panels.append(PotentialDisplay.from_derivation(derivation, start, bounds=bounds))
        panels[-1].series[0].label = label
    if each[0].kind == "levels":
        return panels
    axes = each[0].kind, each[0].xlabel, each[0].ylabel
    return [Display(*axes, series=[panel.series[0] for panel in panels])]


def _numbers(text: str) -> dict[str, Fraction]:
    """Read numbers for names."""
    found = {}
    for name, tree in read_option("--values", parse_assignments, text):
        number = to_sympy(tree)
        if number.free_symbols or not number.is_real:
            raise InputError(f"--values: {name} must be a number such as 1/10, not {number}")
        found[name] = Fraction(str(number if number.is_Rational else number.evalf(_DIGITS)))
    return found
