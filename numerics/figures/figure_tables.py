"""The data of a figure as JSON, as CSV, and its caption."""

from __future__ import annotations

import csv
import io
import json
import textwrap

import numpy as np

from numerics.evaluate.backend import Array
from numerics.figures.data import PlottedCurve, PlottedFigure, PlottedSurface
from numerics.figures.specification import Specification

VERSION = 1


def caption(figure: Specification) -> str:
    """Return the title, the caption and where the like was printed, for a terminal."""
    lines = [figure.title, "", figure.caption, *(f"See {place}." for place in figure.cite)]
    return "\n".join(textwrap.fill(line, 80, break_on_hyphens=False) for line in lines)


def to_json(plotted: PlottedFigure) -> str:
    """Return the versioned JSON record; a number that is not finite is null."""
    figure = plotted.figure
    record: dict[str, object] = {
        "format": "regderive-figure",
        "version": VERSION,
        "figure": figure.id,
        "title": figure.title,
        "caption": figure.caption,
        "cite": list(figure.cite),
        "kind": figure.kind,
        "axes": {"x": figure.axes.x, "y": figure.axes.y},
    }
    for name in ("curves", "surfaces"):
        record[name] = [
            {
                "label": item.label,
                "outputs": list(figure.models[figure.series[item.series].model].outputs),
                "quantity": item.quantity,
                "measure": figure.series[item.series].measure,
                "values": item.values,
                "x": _numbers(item.x),
                "y": _numbers(item.y),
                **({"value": _numbers(item.value)} if name == "surfaces" else {}),
            }
            for item in getattr(plotted, name)
        ]
    return json.dumps(record, allow_nan=False, indent=1)


def to_csv(plotted: PlottedFigure) -> str:
    """Return a row for each point: label, quantity, values, x, y and, on a grid, the value."""
    items: list[PlottedCurve | PlottedSurface] = [*plotted.curves, *plotted.surfaces]
    names = list(dict.fromkeys(name for item in items for name in item.values))
    last = ("x", "y", "value") if plotted.surfaces else ("x", "y")
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("label", "quantity", *names, *last))
    for item in items:
        about = (item.label, item.quantity, *(item.values.get(name, "") for name in names))
        writer.writerows((*about, *point) for point in item.points())
    return stream.getvalue().rstrip("\n")


def _numbers(array: Array) -> list[object]:
    if array.ndim > 1:
        return [_numbers(row) for row in array]
    return [float(v) if np.isfinite(v) else None for v in array]
