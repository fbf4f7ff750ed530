"""What a figure shows as numbers: JSON and CSV; and its caption."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Sequence

import numpy as np

from numerics.evaluate.backend import Array
from numerics.figures.display import Display, Series
from numerics.figures.gallery import Published

VERSION = 1


def caption(figure: Published) -> str:
    """Return the title, the caption and where the like was printed, for a terminal."""
    lines = [figure.title, "", figure.caption, *(f"See {place}." for place in figure.cite)]
    return "\n".join(textwrap.fill(line, 80, break_on_hyphens=False) for line in lines)


def to_json(figure: Published, panels: Sequence[Display]) -> str:
    """Return the versioned JSON record; a number that is not finite is null."""
    series = [series for panel in panels for series in panel.series]
    record = {
        "format": "regderive-figure",
        "version": VERSION,
        "figure": figure.id,
        "title": figure.title,
        "caption": figure.caption,
        "cite": figure.cite,
        "kind": panels[0].kind,
        "axes": {"x": panels[0].xlabel, "y": panels[0].ylabel},
        "curves": [_record(one) for one in series if one.value is None],
        "surfaces": [_record(one) for one in series if one.value is not None],
    }
    return json.dumps(record, allow_nan=False, indent=1)


def _record(series: Series) -> dict[str, object]:
    names = ("label", "outputs", "quantity", "measure", "values")
    arrays = {"x": series.x, "y": series.y, "value": series.value}
    numbers = {name: _numbers(array) for name, array in arrays.items() if array is not None}
    return {name: getattr(series, name) for name in names} | numbers


def _numbers(array: Array) -> list[object]:
    if array.ndim > 1:
        return [_numbers(row) for row in array]
    return [float(v) if np.isfinite(v) else None for v in array]


def to_csv(panels: Sequence[Display]) -> str:
    """Return a row for each point: label, quantity, values, x, y and, on a grid, the value."""
    series = [series for panel in panels for series in panel.series]
    names = list(dict.fromkeys(name for one in series for name in one.values))
    last = ("x", "y") if series[0].value is None else ("x", "y", "value")
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("label", "quantity", *names, *last))
    for one in series:
        about = (one.label, one.quantity, *(one.values.get(name, "") for name in names))
        writer.writerows((*about, *point) for point in one.points())
    return stream.getvalue().rstrip("\n")
