"""Pictures of Q of a model of one's own: a figure at several starts, and a small one for a page.

And of one's own experiments and univariate limits.
"""

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
from numerics.experiments.matrix_factorization import MatrixResults, step_name
from numerics.experiments.sparse_regression import SparseResults
from numerics.experiments.univariate_nets import Task, UnivariateResults
from numerics.figures.derived import PotentialDisplay, at_plain_start
from numerics.figures.display import Display, arranged, require_matplotlib, save
from numerics.figures.gallery import Published, figures
from numerics.univariate.limit_function import LimitFunction

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


def sparse_regression(found: SparseResults) -> list[Display]:
    """Show the population error against the scale for each shape, crosses for trained weights."""
    shown, scales = Display("sweep", "scale alpha", "population error", "log"), found.setting.alphas
    for shape in found.setting.shapes:
        errors = [p.error for p in found.grid if p.shape == shape]
        shown.add(f"s = {shape:g}", np.array(scales), np.array(errors))
    ends = np.array([(c.alpha, c.error) for c in found.trained]).reshape(-1, 2)
    shown.add("trained", *ends.T, quantity="data")
    for norm, error in (("l1", found.l1_error), ("l2", found.l2_error)):
        shown.level(f"least {norm}", scales, error)
    return [shown]


def matrix_factorization(found: MatrixResults) -> list[Display]:
    """Show error and nuclear norm against the scale for each step, and how many runs diverged."""
    panels = []
    for column, label in (("error", "relative error"), ("nuclear_norm", "nuclear norm")):
        shown = Display("sweep", "scale of the start", label, "log")
        for step in found.setting.steps:
            runs = [d for d in found.grid if d.step == step]
            ends = [d for d in runs if d.error is not None]
            lost = f", {len(runs) - len(ends)} of {len(runs)} diverged" * (ends != runs)
            points = np.array([(d.scale, getattr(d, column)) for d in ends]).reshape(-1, 2)
            shown.add(f"{step_name(step)}{lost}", *points.T)
        for norm, least in (("nuclear", found.least_nuclear), ("Frobenius", found.least_frobenius)):
            shown.level(f"least {norm} norm", found.setting.scales, getattr(least, column))
        panels.append(shown)
    return panels


def univariate_nets(found: UnivariateResults) -> list[Display]:
    """Show the panels of nets in the gallery, with the setting and errors of an experiment."""
    medians = {Task(e.potential, e.kind, e.biases, e.width): e.median for e in found.errors}
    panels = []
    for figure in (figure for figure in figures() if figure.id.startswith("univariate-")):
        known = {"error": lambda _, task: medians[task]} if figure.id.endswith("errors") else {}
        (panel,) = figure.panels(setting=found.setting, **known)
        panel.title = figure.title
        panels.append(panel)
    return panels


def limit(h: LimitFunction) -> list[Display]:
    """Show a limit function with its data, beyond the support of the biases, too."""
    low, high = map(float, h.dual.density.support)
    reach = (high - low) / 8
    t = np.linspace(low - reach, high + reach, 801)
    shown, y = Display("nets", "x", "h(x)"), h.on_arrays(t)
    shown.add(f"h, phi = {h.problem.potential.text}", t, y)
    shown.add("data", *np.array([h.dual.x, h.dual.y], float), quantity="data")
    ends, heights = [low, low, np.nan, high, high], [y.min(), y.max(), np.nan, y.min(), y.max()]
    shown.add("", np.array(ends), np.array(heights), quantity="limit")
    return [shown]
