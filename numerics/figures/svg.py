"""Panels of curves and of level sets as SVG, whose colours the page gives by class."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from numerics.evaluate.backend import Array

WIDE, HIGH, MARGIN, BELOW = 320, 220, 42, 34
Window = tuple[float, float]


class _Frame:
    """From numbers to places in a picture, with ticks at round numbers."""

    def __init__(self, x: Window, y: Window, size: tuple[int, int]) -> None:
        self.windows, self.size = (x, y), size
        self.width, self.height = size[0] - MARGIN - 10, size[1] - BELOW - 16

    def at(self, points: Array) -> Array:
        """Return the places of points (..., 2)."""
        (left, right), (low, high) = self.windows
        across = MARGIN + (points[..., 0] - left) / (right - left) * self.width
        down = 16 + (high - points[..., 1]) / (high - low) * self.height
        return np.stack([across, down], axis=-1)

    def picture(self, title: str, names: tuple[str, str], drawn: Sequence[str]) -> str:
        """Return the whole picture, with axes that have names."""
        (left, right), (low, high) = self.windows
        (x0, y0), (x1, y1) = self.at(np.array([[left, low], [right, high]]))
        parts = [f'<rect class="frame" x="{x0}" y="{y1}" width="{x1 - x0}" height="{y0 - y1}"/>']
        for value in ticks(left, right):
            x, _ = self.at(np.array([value, low]))
            kind = "zero" if value == 0 else "grid"
            parts.append(f'<path class="{kind}" d="M{x:.1f} {y0}V{y1}"/>')
            parts.append(_text(x, y0 + 13, "middle", f"{value:g}"))
        for value in ticks(low, high):
            _, y = self.at(np.array([left, value]))
            kind = "zero" if value == 0 else "grid"
            parts.append(f'<path class="{kind}" d="M{x0} {y:.1f}H{x1}"/>')
            parts.append(_text(x0 - 4, y + 3.5, "end", f"{value:g}"))
        parts += [
            _text((x0 + x1) / 2, y0 + 28, "middle", names[0], "name"),
            _text(x0, y1 - 5, "middle", names[1], "name"),
            *drawn,
        ]
        box = f'viewBox="0 0 {self.size[0]} {self.size[1]}"'
        return f'<svg {box} role="img" aria-label="{title}">{"".join(parts)}</svg>'


def curve_panel(name: str, x: Array, y: Array, origin: float, window: Window) -> str:
    """Return a function of one coordinate, nan where it is not, with the start marked."""
    finite = y[np.isfinite(y)]
    # Of a function that is unbounded the part is shown that tells its shape.
    middle = np.percentile(finite, [3, 97])
    spread = 0.35 * float(middle[1] - middle[0]) or 1.0
    low, high = max(finite.min(), middle[0] - spread), min(finite.max(), middle[1] + spread)
    pad = 0.05 * (high - low) or 1.0
    frame = _Frame(window, (float(low - pad), float(high + pad)), (WIDE, HIGH))
    shown = np.where((y > low - pad) & (y < high + pad), y, np.nan)
    places = frame.at(np.stack([x, shown], axis=-1))
    dot = frame.at(np.array([origin, 0.0]))
    path = f'<path class="curve" d="{"".join(_runs(places))}"/>'
    title = f"{name} as a function of beta"
    return frame.picture(title, ("\u03b2", name), [path, _dot(dot)])


def _runs(places: Array) -> Iterator[str]:
    """Yield the path through places, broken where there is none."""
    pen = "M"
    for x, y in places.tolist():
        if math.isnan(y):
            pen = "M"
            continue
        yield f"{pen}{x:.1f} {y:.1f}"
        pen = "L"


def level_panel(x: Array, y: Array, contours: Sequence[Array], origin: tuple[float, float]) -> str:
    """Return level sets on a square as segments (n, 2, 2) each, with the start marked."""
    square = WIDE, WIDE - MARGIN - 10 + BELOW + 16
    frame = _Frame((x[0], x[-1]), (y[0], y[-1]), square)
    lines = []
    for number, contour in enumerate(contours):
        ends = frame.at(contour).reshape(-1, 4).tolist()
        path = "".join(f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" for a, b, c, d in ends)
        lines.append(f'<path class="level level{number}" d="{path}"/>')
    names = ("\u03b2\u2081", "\u03b2\u2082")
    title = "Level sets of Q in beta1 and beta2"
    return frame.picture(title, names, [*lines, _dot(frame.at(np.array(origin)))])


def _dot(place: Array) -> str:
    return f'<circle class="start" cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="4"/>'


def _text(x: float, y: float, anchor: str, words: str, kind: str = "tick") -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    minus = words.replace("-", "\u2212")
    return f'<text class="{kind}" {where}>{minus}</text>'


def ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two, about five.

    >>> ticks(-2.5, 2.5)
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((m * power for m in (1, 2, 5, 10)), key=lambda s: abs(s - rough))
    first, last = math.ceil(low / step), math.floor(high / step)
    return [round(k * step, 12) for k in range(first, last + 1)]
