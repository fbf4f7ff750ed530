"""Pictures of Q of a model of one's own: a figure at several starts, and a small one for a page."""

from __future__ import annotations

import io
from fractions import Fraction
from functools import partial

import numpy as np

from derive.derivation import Derivation, derive
from derive.errors import DeriveError, InputError, NumericalError
from derive.language import parse_assignments, to_sympy
from derive.model.typed import TypedModel, read_option
from derive.potential.piece import follows_flow
from derive.verdict import Verdict
from numerics.figures.derived import PotentialDisplay, at_plain_start
from numerics.figures.display import Display, arranged, require_matplotlib, save
from numerics.figures.gallery import Published

SCALES = ("1/2", "1", "2")
CAPTIONS = {
    1: "Q and its derivative",
    2: "Level sets of Q",
    3: "Level sets of Q in the first two coordinates, the others as at the start",
}
_DIGITS, _COARSE = 40, 81


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
    given = dict[str, Fraction]()
    for name, tree in read_option("--values", parse_assignments, values):
        number = to_sympy(tree)
        if number.free_symbols or not number.is_real:
            raise InputError(f"--values: {name} must be a number such as 1/10, not {number}")
        given[name] = Fraction(str(number if number.is_Rational else number.evalf(_DIGITS)))
    start, _ = at_plain_start(derivation.potential, given)
    numbers = ", ".join(f"{name} = {float(x):g}" for name, x in start.items()) or "that of F"
    label, scaled = (numbers, "") if values or not start else ("", ", times the factors shown")
    many, caption = len(model.outputs) > 1, f"The start is {numbers}{scaled}."
    title = f"Level sets of Q of F = ({outputs})" if many else f"Q of F = {outputs}"
    return Published("own", title, caption, (), partial(_panels, derivation, start, label))


def _panels(derivation: Derivation, start: dict[str, Fraction], label: str) -> list[Display]:
    """Show Q at a start that has a label, or else at three scales of it, in one window."""
    kept = derivation.potential.parameterization.parameters
    starts = {
        c: {name: x if name in kept else x * Fraction(c) for name, x in start.items()}
        for c in (("1",) if label else SCALES)
    }
    each = [PotentialDisplay.from_derivation(derivation, start) for start in starts.values()]
    bounds = min(one.x[0] for one in each), max(one.x[-1] for one in each)
    shown = partial(PotentialDisplay.from_derivation, derivation, bounds=bounds)
    panels = list[Display]()
    for c, begin in starts.items():
        panel = shown(begin)
        panels.append(panel.named(label) if label else panel.named(f"start times {c}", c=c))
    if each[0].kind == "levels":
        return panels
    axes = each[0].kind, each[0].xlabel, each[0].ylabel
    return [Display(*axes, series=[panel.series[0] for panel in panels])]


def portrait(
    derivation: Derivation,
) -> tuple[bytes, str, dict[str, Fraction | tuple[Fraction, ...]]] | None:
    """Return SVG of Q at a plain start, what it shows, and that start; None where there is none.

    So it is of several outputs whose Q follows the flow, or is an integral: each point of a level
    set is a flow of its own. InputError without matplotlib.
    """
    require_matplotlib()
    several = [piece for piece in derivation.potential.pieces if piece.betas[1:]]
    if any(piece.integrand is not None or follows_flow(piece) for piece in several):
        return None
    try:
        shown = PotentialDisplay.from_derivation(derivation, points=_COARSE)
    except DeriveError:
        return None
    panels: list[Display] = [shown]
    if shown.value.ndim == 1:
        panels.append(Display("profile", shown.xlabel, "$Q'$"))
        panels[1].add("", shown.x, np.gradient(shown.value, shown.x))
    stream = io.BytesIO()
    save(arranged(panels), stream, format="svg", transparent=True, metadata={"Date": None})
    numbers = {name: x for name, x in shown.start.items() if isinstance(x, Fraction | tuple)}
    return stream.getvalue(), CAPTIONS[min(len(shown.beta0), 3)], numbers
