"""Figures of matplotlib (the extra ``plot``), by its object interface.

It needs no display and leaves the state of pyplot alone.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from derive.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def require_matplotlib() -> None:
    """Raise InputError unless matplotlib can be imported."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("plots need matplotlib: pip install 'regderive[plot]'")


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of that size in inches; InputError without matplotlib."""
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path, option: str, dpi: float | str = "figure") -> None:
    """Write a figure to a file; InputError, which names the *option*, where that fails."""
    try:
        figure.savefig(path, dpi=dpi)
    except (OSError, ValueError) as error:
        raise InputError(f"{option}: {path}: {error}") from None
