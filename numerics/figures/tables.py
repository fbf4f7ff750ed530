"""The data of a figure as JSON, as CSV, and its caption."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from typing import Any

import numpy as np

from numerics.backend import Array
from numerics.figures.data import Plotted
from numerics.figures.specification import Specification

VERSION = 1


def caption(figure: Specification) -> str:
    """Return the title, the caption and where the like was printed, for a terminal."""
    lines = [figure.title, "", figure.caption, *(f"See {place}." for place in figure.cite)]
    return "\n".join(textwrap.fill(line, 80) for line in lines)


def to_json(plotted: Plotted) -> str:
    """Return the versioned JSON record; a number that is not finite is null."""
    figure = plotted.figure
    record: dict[str, Any] = {
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


def to_csv(plotted: Plotted) -> str:
    """Return one row for each point: label, quantity, x, y and, on a grid, the value there."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if plotted.surfaces:
        writer.writerow(("label", "quantity", "x", "y", "value"))
    else:
        writer.writerow(("label", "quantity", "x", "y"))
    for curve in plotted.curves:
        writer.writerows((curve.label, curve.quantity, x, y) for x, y in _pairs(curve.x, curve.y))
    for s in plotted.surfaces:
        x, y = np.meshgrid(s.x, s.y)
        points = zip(x.flat, y.flat, s.value.flat, strict=True)
        writer.writerows((s.label, s.quantity, *map(float, point)) for point in points)
    return stream.getvalue().rstrip("\n")


def _pairs(x: Array, y: Array) -> Any:
    return zip(x.tolist(), y.tolist(), strict=True)


def _numbers(array: Array) -> Any:
    if array.ndim > 1:
        return [_numbers(row) for row in array]
    return [float(v) if np.isfinite(v) else None for v in array]
