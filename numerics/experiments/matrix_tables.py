"""The results of the matrix factorization experiment as text, CSV and JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from numerics.experiments.formats import csv_table, json_record
from numerics.experiments.matrix_factorization import Experiment

_COLUMNS = (
    "kind",
    "samples",
    "scale",
    "step",
    "error",
    "test_error",
    "nuclear_norm",
    "residual",
    "iterations",
    "status",
)


def to_json(experiment: Experiment) -> str:
    """Return the versioned JSON record; numbers of what diverged are null."""
    return json_record("matrix-factorization", experiment)


def to_csv(experiment: Experiment) -> str:
    """Return one row for each result, with empty cells where a column does not apply."""
    return csv_table(_COLUMNS, _rows(experiment))


def _rows(experiment: Experiment) -> list[dict[str, Any]]:
    m = experiment.setting.samples
    rows: list[dict[str, Any]] = [
        {"kind": "least nuclear norm", "samples": m, **asdict(experiment.least_nuclear)},
        {"kind": "least Frobenius norm", "samples": m, **asdict(experiment.least_frobenius)},
    ]
    rows += [{"kind": "descent", "samples": m, **asdict(d)} for d in experiment.grid]
    for found in experiment.sizes:
        least = asdict(found.least_nuclear)
        rows.append({"kind": "least nuclear norm", "samples": found.samples, **least})
        rows.append({"kind": "descent", "samples": found.samples, **asdict(found.descent)})
    return rows


def to_text(experiment: Experiment) -> str:
    """Return tables for a person to read."""
    setting, grid = experiment.setting, experiment.grid
    lines = [
        f"Reconstruction error |beta - beta*|_F/|beta*|_F: n = {setting.size}, "
        f"m = {setting.samples}, rank {setting.rank}, noise {setting.noise:g}, "
        f"fitted to {setting.tolerance:g}",
        *_table(experiment, "error"),
        f"least nuclear norm {experiment.least_nuclear.error:.4f}, "
        f"least Frobenius norm {experiment.least_frobenius.error:.4f}",
        "",
        f"Nuclear norm (beta*: {experiment.truth_nuclear_norm:.4f}, "
        f"least: {experiment.least_nuclear.nuclear_norm:.4f})",
        *_table(experiment, "nuclear_norm"),
    ]
    late = [d for d in grid if d.status == "iteration limit"]
    if late:
        lines += ["", f"Not at the tolerance {setting.tolerance:g} when the iterations were over"]
        lines += [f"start {d.scale:g}, step {d.step:g}: {d.residual:.1e}" for d in late]
    if experiment.sizes:
        first = experiment.sizes[0].descent
        lines += ["", f"Descent from {first.scale:g} with step {first.step:g}, by m"]
        lines.append(f"{'m':>6}{'error':>10}{'least nuclear':>15}{'nuclear norm':>14}{'least':>9}")
    for found in experiment.sizes:
        least, descent = found.least_nuclear, found.descent
        lines.append(
            f"{found.samples:6d}{_cell(descent.error)}{least.error:15.4f}"
            f"{_cell(descent.nuclear_norm):>14}{least.nuclear_norm:9.4f}"
        )
    return "\n".join(lines)


def _table(experiment: Experiment, column: str) -> list[str]:
    steps, by_place = experiment.setting.steps, {(d.scale, d.step): d for d in experiment.grid}
    lines = ["   start" + "".join(f"{f'step {x:g}':>12}" for x in steps)]
    for scale in experiment.setting.scales:
        cells = (getattr(by_place[scale, step], column) for step in steps)
        lines.append(f"{scale:8.1e}" + "".join(f"{_cell(x):>12}" for x in cells))
    return lines


def _cell(value: float | None) -> str:
    return f"{'diverges':>10}" if value is None else f"{value:10.4f}"
