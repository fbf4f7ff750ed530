"""Displays, in the manner of scikit-learn: they keep their numbers, and plot them by matplotlib."""

from __future__ import annotations

import importlib.util
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

from derive.derivation import Derivation
from derive.errors import InputError
from derive.language import to_text
from derive.printable import Held
from numerics.evaluate.numbers import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LIGHTEST = 0.88
"""Cividis up to here: its lightness is monotone and seen alike with any colour vision."""
_DASHES: Sequence[Any] = ("-", "--", "-.", (0, (1, 1)))
_FEW, _LEVELS = 12, 9


@dataclass(eq=False, slots=True)
class Series:
    """A curve through points (x, y), or a function on their grid.

    Attributes:
        label: in mathtext.
        x, y: (n,) each, or (n,) and (m,) of a grid.
        quantity: "Q"; "R", the explicit counterpart; "limit", "data", or what else was computed.
        measure: what of the quantity y is.
        values: the numbers of symbols, as text.
        outputs: F.
        value: on a grid, (m, n).
    """

    label: str
    x: Array
    y: Array
    quantity: str = "Q"
    measure: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    value: Array | None = None


@dataclass(eq=False, repr=False)
class Display(Held):
    """Series on one pair of axes, with ``ax_`` and ``figure_`` once they are plotted.

    Attributes:
        kind: profile, ball, levels, sweep, rate, nets, flow or path.
        xlabel, ylabel, title: in mathtext.
        scale: "linear" or "log", of both axes, and of a path of the first alone.
    """

    kind: str
    xlabel: str
    ylabel: str
    scale: str = "linear"
    title: str = ""
    series: list[Series] = field(default_factory=list)

    def add(
        self,
        label: str,
        x: Array,
        y: Array,
        *,
        of: Derivation | None = None,
        quantity: str = "Q",
        measure: str = "",
        **values: str,
    ) -> None:
        """Add a curve: the quantity of a derivation, at numbers for symbols."""
        outputs = () if of is None else tuple(map(to_text, of.parameterization.trees))
        self.series.append(Series(label, x, y, quantity, measure, values, outputs))

    def level(self, label: str, x: Sequence[float], height: float) -> None:
        """Add a level line, of what other curves are compared with."""
        self.add(label, np.array([min(x), max(x)]), np.full(2, height), quantity="limit")

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on the axes given, or on new ones; InputError without matplotlib."""
        require_matplotlib()
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots(layout="constrained")[1]
        for series, style in zip(self.series, _styles(self.series), strict=True):
            if series.value is None:
                ax.plot(series.x, series.y, label=series.label, **style)
            else:  # at levels that a quadratic spaces evenly
                levels = np.linspace(0, 1, _LEVELS + 1) ** 2 * np.nanmax(series.value)
                grid = series.x, series.y, series.value
                ax.contourf(*grid, levels=levels, cmap="cividis", extend="max")
                ax.contour(*grid, levels=levels[1:], colors="white", linewidths=0.6)
                ax.set_title(series.label)
        height = "linear" if self.kind == "path" else self.scale
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel, xscale=self.scale, yscale=height)
        if self.kind in ("ball", "levels"):
            ax.set_aspect("equal")
        if self.kind != "levels":
            ax.set_title(self.title)
            ax.grid(color="0.9", linewidth=0.6)
            if any(series.label for series in self.series):
                ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        self.ax_, self.figure_ = ax, ax.get_figure()
        return self


def _styles(series: Sequence[Series]) -> Iterator[dict[str, Any]]:
    """Yield how to draw each: lightness for its place in its group, dashes for the group."""
    from matplotlib import colormaps

    groups: dict[tuple[str, str], list[Series]] = {}
    for one in series:
        groups.setdefault((one.quantity, one.measure), []).append(one)
    shown = [key for key in groups if key[0] not in ("limit", "data")]
    for one in series:
        key, group = (one.quantity, one.measure), groups[one.quantity, one.measure]
        place = group.index(one)
        if one.quantity == "data":
            yield {"color": "black", "linestyle": "", "marker": "x"}
        elif one.quantity == "limit":
            yield {"color": "black", "linestyle": _DASHES[1 + place % 3]}
        else:
            n = shown.index(key)
            share = place / (len(group) - 1) if len(group) > 1 else n / len(shown)
            colour, marker = colormaps["cividis"](_LIGHTEST * share), "." * (len(one.x) < _FEW)
            yield {"color": colour, "linestyle": _DASHES[n % 4], "marker": marker}


def require_matplotlib() -> None:
    """Raise InputError unless matplotlib can be imported."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("plots need matplotlib: pip install 'regderive[plot]'")


def arranged(panels: Sequence[Display], title: str = "") -> Figure:
    """Return a figure of displays beside one another, in as many rows as columns or fewer."""
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    rows, plane = math.isqrt(len(panels)), panels[0].kind == "levels"
    columns = -(-len(panels) // rows)
    wide, high = (6.4, 4.2) if columns == 1 else (2.6, 2.7) if plane else (4.8, 3.4)
    with matplotlib.rc_context({"font.size": 9, "axes.titlesize": 9}):
        figure = Figure(figsize=(wide * columns, high * rows), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, sharex=plane, sharey=plane).flat
        for ax, panel in zip(axes, panels, strict=True):
            panel.plot(ax)
            if plane:
                ax.label_outer()
        figure.suptitle(textwrap.fill(title, int(12 * wide * columns)), fontsize=10)
    return figure


def save(figure: Figure, file: Path | IO[bytes], option: str = "-o", **how: Any) -> None:
    """Write a figure to a file; InputError, which names the *option*, where that fails."""
    import matplotlib

    try:
        with matplotlib.rc_context({"svg.hashsalt": "regderive"}):
            figure.savefig(file, dpi=160, **how)
    except (OSError, ValueError) as error:
        raise InputError(f"{option}: {file}: {error}") from None
