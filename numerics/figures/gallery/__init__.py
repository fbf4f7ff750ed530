"""The gallery: scripts that derive what published figures show, as ``captions.toml`` says.

>>> find("diagonal-balls").cite
('Woodworth et al. (2020): Q_alpha and its limits in alpha',)
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import textwrap
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from derive.folder import find_record

if TYPE_CHECKING:
    from numerics.figures.display import Display


VERSION = 1


@dataclass(frozen=True, slots=True)
class Published:
    """A figure: what is said of it, where the like was printed, and what derives its panels."""

    id: str
    title: str
    caption: str
    cite: tuple[str, ...]
    panels: Callable[..., list[Display]]


@cache
def figures() -> tuple[Published, ...]:
    """Return all figures, by id."""
    tables = tomllib.loads((Path(__file__).parent / "captions.toml").read_text(encoding="utf-8"))
    return tuple(
        Published(name, of["title"], of["caption"], tuple(of["cite"]), partial(_run, name))
        for name, of in sorted(tables.items())
    )


def find(name: str) -> Published:
    """Return the figure of that id; InputError, which names the nearest, where there is none."""
    return find_record(figures(), name, "figure", "`derive figure` lists them")


def _run(name: str, **sizes: object) -> list[Display]:
    """Run a script with its own sizes, or others; the algebra is imported now."""
    script = getattr(importlib.import_module(f"{__name__}.scripts"), name.replace("-", "_"))
    panels: list[Display] = script(**sizes)
    return panels


def caption(figure: Published) -> str:
    """Return the title, the caption and where the like was printed, for a terminal."""
    lines = [figure.title, "", figure.caption, *(f"See {place}." for place in figure.cite)]
    return "\n".join(textwrap.fill(line, 80, break_on_hyphens=False) for line in lines)


def to_json(figure: Published, panels: Sequence[Display]) -> str:
    """Return the versioned JSON record; a number that is not finite is null."""
    about = {name: getattr(figure, name) for name in ("title", "caption", "cite")}
    names = ("label", "outputs", "quantity", "measure", "values")
    series = []
    for one in (one for panel in panels for one in panel.series):
        arrays = {"x": one.x, "y": one.y, "value": one.value}
        numbers = {
            name: np.where(np.isfinite(array), array, np.array(None)).tolist()
            for name, array in arrays.items()
            if array is not None
        }
        series.append({name: getattr(one, name) for name in names} | numbers)
    record = {
        "format": "regderive-figure",
        "version": VERSION,
        "figure": figure.id,
        **about,
        "kind": panels[0].kind,
        "axes": {"x": panels[0].xlabel, "y": panels[0].ylabel},
        "curves": [one for one in series if "value" not in one],
        "surfaces": [one for one in series if "value" in one],
    }
    return json.dumps(record, allow_nan=False, indent=1)


def to_csv(panels: Sequence[Display]) -> str:
    """Return a row for each point: label, quantity, values, x, y and, on a grid, the value."""
    series = [series for panel in panels for series in panel.series]
    names = dict.fromkeys(name for one in series for name in one.values)
    columns = ("label", "quantity", *names, "x", "y", "value")
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns if series[0].value is not None else columns[:-1])
    for one in series:
        about = (one.label, one.quantity, *(one.values.get(name, "") for name in names))
        grid = (one.x, one.y) if one.value is None else (*np.meshgrid(one.x, one.y), one.value)
        points = zip(*(column.ravel().tolist() for column in grid), strict=True)
        writer.writerows((*about, *point) for point in points)
    return stream.getvalue().rstrip("\n")
