"""What the sparse regression experiment is asked and finds, and its tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from numerics.experiments.scaffold import Results, Row, table
from numerics.experiments.settings import SparseSetting


@dataclass(frozen=True, slots=True)
class Prediction:
    """The interpolant of least Q at a start: its error, l1 norm and relative residual."""

    alpha: float
    shape: float
    error: float
    l1_norm: float
    residual: float
    iterations: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Weights trained from a start, and ``|trained - predicted|/|predicted|``."""

    alpha: float
    shape: float
    error: float
    distance: float
    residual: float
    evaluations: int


@dataclass(frozen=True, slots=True)
class Threshold:
    """The largest alpha in [1e-8, 100] with an error below the target for m samples; None: none."""

    samples: int
    shape: float
    alpha: float | None
    l1_error: float


@dataclass(frozen=True, slots=True)
class SparseResults(Results):
    """What was found: the grid, trained points, thresholds and the errors of both baselines."""

    experiment: ClassVar[str] = "sparse-regression"
    columns = ("kind", "samples", "alpha", "shape", "error", "l1_norm", "residual", "distance")

    setting: SparseSetting
    l1_error: float
    l2_error: float
    grid: tuple[Prediction, ...]
    trained: tuple[Comparison, ...]
    thresholds: tuple[Threshold, ...]

    def rows(self) -> list[Row]:
        """Return one row for each result, baselines first."""
        m = self.setting.samples
        least = {"least l1": self.l1_error, "least l2": self.l2_error}
        rows: list[Row] = [{"kind": k, "samples": m, "error": x} for k, x in least.items()]
        rows += [{"kind": "predicted", "samples": m, **asdict(p)} for p in self.grid]
        rows += [{"kind": "trained", "samples": m, **asdict(c)} for c in self.trained]
        error = self.setting.target
        rows += [{"kind": "largest alpha", **asdict(t), "error": error} for t in self.thresholds]
        return rows

    def to_text(self) -> str:
        """Return tables: the predicted limits, then what was trained, then the largest scales."""
        setting = self.setting
        by_place = {(p.alpha, p.shape): p.error for p in self.grid}
        columns = {"alpha": "9.2e", **{f"s = {s:g}": "11.4f" for s in setting.shapes}}
        lines = [
            f"Error |beta - beta*|^2 of the predicted limit: d = {setting.dimension}, "
            f"m = {setting.samples}, k = {setting.sparsity}",
            *table(
                columns, [(a, *(by_place[a, s] for s in setting.shapes)) for a in setting.alphas]
            ),
            f"least l1 norm {self.l1_error:.4f}, least l2 norm {self.l2_error:.4f}",
        ]
        if self.trained:
            lines += ["", "Weights trained by gradient flow: relative distance to the prediction"]
            for c in self.trained:
                place = f"alpha = {c.alpha:.2e}, s = {c.shape:g}"
                lines.append(f"{place}: {c.distance:.1e}, error {c.error:.4f}")
        if self.thresholds:
            lines += ["", f"Largest alpha with a population error below {setting.target:g}"]
            for t in self.thresholds:
                place = f"m = {t.samples}, s = {t.shape:g}"
                alpha = "none" if t.alpha is None else f"{t.alpha:.2e}"
                lines.append(f"{place}: {alpha} (least l1: {t.l1_error:.4f})")
        return "\n".join(lines)
