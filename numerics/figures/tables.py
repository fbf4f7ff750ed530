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
    about = {name: getattr(figure, name) for name in ("title", "caption", "cite")}
    series = [_record(one) for panel in panels for one in panel.series]
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


def _record(series: Series) -> dict[str, object]:
    names = ("label", "outputs", "quantity", "measure", "values")
    arrays = {"x": series.x, "y": series.y, "value": series.value}
    numbers = {name: _numbers(array) for name, array in arrays.items() if array is not None}
    return {name: getattr(series, name) for name in names} | numbers


def _numbers(array: Array) -> object:
    return np.where(np.isfinite(array), array, np.array(None)).tolist()


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
