"""The results of the sparse regression experiment as text, CSV and JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from numerics.experiments.formats import csv_table, json_record
from numerics.experiments.sparse_regression import Experiment

_COLUMNS = ("kind", "samples", "alpha", "shape", "error", "l1_norm", "residual", "distance")


def to_json(experiment: Experiment) -> str:
    """Return the versioned JSON record; alpha is null where no scale reaches the target."""
    return json_record("sparse-regression", experiment)


def to_csv(experiment: Experiment) -> str:
    """Return one row for each result, with empty cells where a column does not apply."""
    return csv_table(_COLUMNS, _rows(experiment))


def _rows(experiment: Experiment) -> list[dict[str, Any]]:
    m = experiment.setting.samples
    rows: list[dict[str, Any]] = [
        {"kind": "least l1", "samples": m, "error": experiment.l1_error},
        {"kind": "least l2", "samples": m, "error": experiment.l2_error},
    ]
    for kind, results in (("predicted", experiment.grid), ("trained", experiment.trained)):
        for result in results:
            cells = {k: v for k, v in asdict(result).items() if k in _COLUMNS}
            rows.append({"kind": kind, "samples": m, **cells})
    for threshold in experiment.thresholds:
        cells = {k: v for k, v in asdict(threshold).items() if k in _COLUMNS}
        rows.append({"kind": "largest alpha", **cells, "error": experiment.setting.target})
    return rows


def to_text(experiment: Experiment) -> str:
    """Return tables for a person to read."""
    setting = experiment.setting
    by_place = {(p.alpha, p.shape): p.error for p in experiment.grid}
    lines = [
        f"Error |beta - beta*|^2 of the predicted limit: d = {setting.dimension}, "
        f"m = {setting.samples}, k = {setting.sparsity}",
        "   alpha" + "".join(f"{f's = {s:g}':>11}" for s in setting.shapes),
    ]
    for alpha in setting.alphas:
        cells = "".join(f"{by_place[alpha, s]:11.4f}" for s in setting.shapes)
        lines.append(f"{alpha:8.2e}{cells}")
    lines.append(
        f"least l1 norm {experiment.l1_error:.4f}, least l2 norm {experiment.l2_error:.4f}"
    )
    if experiment.trained:
        lines += ["", "Weights trained by gradient flow: relative distance to the prediction"]
        lines += [
            f"alpha = {c.alpha:.2e}, s = {c.shape:g}: {c.distance:.1e}, error {c.error:.4f}"
            for c in experiment.trained
        ]
    if experiment.thresholds:
        lines += ["", f"Largest alpha with a population error below {setting.target:g}"]
        lines += [
            f"m = {t.samples}, s = {t.shape:g}: {_scale(t.alpha)} (least l1: {t.l1_error:.4f})"
            for t in experiment.thresholds
        ]
    return "\n".join(lines)


def _scale(alpha: float | None) -> str:
    return "none" if alpha is None else f"{alpha:.2e}"
