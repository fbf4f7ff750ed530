"""A small picture of a derived Q at a plain start, as SVG: Q and its derivative, or level sets."""

from __future__ import annotations

import io
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from derive.derivation import Derivation
from derive.errors import DeriveError
from numerics.figures.derived import PotentialDisplay
from numerics.figures.display import Display, arranged, require_matplotlib, save

CAPTIONS = {
    1: "Q and its derivative",
    2: "Level sets of Q",
    3: "Level sets of Q in the first two coordinates, the others as at the start",
}
_POINTS = 81


@dataclass(frozen=True, slots=True)
class Portrait:
    """A picture as SVG, what it shows, and the numbers of the symbols there."""

    picture: bytes
    caption: str
    start: tuple[tuple[str, Fraction], ...]


def portrait(derivation: Derivation) -> Portrait | None:
    """Return a picture of Q at the first plain start that Q allows; None where there is none.

    InputError without matplotlib.
    """
    require_matplotlib()
    try:
        shown = PotentialDisplay.from_derivation(derivation, points=_POINTS)
    except DeriveError:
        return None
    panels: list[Display] = [shown]
    if shown.value.ndim == 1:
        panels.append(Display("profile", r"$\beta$", "$Q'$"))
        panels[1].add("", shown.x, np.gradient(shown.value, shown.x))
    stream = io.BytesIO()
    save(arranged(panels, ""), stream, format="svg", transparent=True, metadata={"Date": None})
    numbers = ((k, v) for k, v in shown.start.items() if isinstance(v, Fraction))
    return Portrait(stream.getvalue(), CAPTIONS[min(len(shown.beta0), 3)], tuple(numbers))
