"""What the sparse regression experiment is asked and finds, and its tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from derive.errors import InputError
from numerics.experiments.scaffold import Results, Row, require_counts

ALPHAS = tuple(float(a) for a in np.logspace(-5, -0.6, 20))
SHAPES = (0.0, 0.5, 0.7, 0.9, 0.99)
TRAINED = tuple(zip((ALPHAS[i] for i in (0, 6, 9, 13, 19)), (0.0, 0.9, 0.0, 0.7, 0.5), strict=True))
SIZES = (80, 100, 150, 200)


@dataclass(frozen=True, slots=True)
class SparseSetting:
    """What is drawn and asked for.

    Attributes:
        dimension, samples: d; m, of the grid.
        sparsity: k; beta* has k entries 1/sqrt(k).
        variance: that of the noise.
        alphas, shapes: the grid.
        trained: the pairs (alpha, shape) at which weights are trained as well.
        sizes: the m for which the largest alpha with a population error below *target* is sought.
        target: that error.
    """

    dimension: int = 1000
    samples: int = 100
    sparsity: int = 5
    variance: float = 0.01
    seed: int = 0
    alphas: tuple[float, ...] = ALPHAS
    shapes: tuple[float, ...] = SHAPES
    trained: tuple[tuple[float, float], ...] = TRAINED
    sizes: tuple[int, ...] = SIZES
    target: float = 0.025

    def __post_init__(self) -> None:
        names = ("dimension", "samples", "sparsity")
        require_counts({f"the {name}": getattr(self, name) for name in names})
        require_counts({"sizes": min(self.sizes, default=1)})
        if max(self.samples, *self.sizes, 1) > self.dimension or self.sparsity > self.dimension:
            raise InputError(
                f"samples and sparsity must be at most the dimension, {self.dimension}"
            )
        if not all(a > 0 for a in (*self.alphas, self.target)) or self.variance < 0:
            text = "scales and the target error must be positive, the variance not negative"
            raise InputError(text)
        if not all(-1 < s < 1 for s in self.shapes):
            raise InputError("shapes must lie between -1 and 1")


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
        lines = [
            f"Error |beta - beta*|^2 of the predicted limit: d = {setting.dimension}, "
            f"m = {setting.samples}, k = {setting.sparsity}",
            "   alpha" + "".join(f"{f's = {s:g}':>11}" for s in setting.shapes),
        ]
        for a in setting.alphas:
            cells = "".join(f"{by_place[a, s]:11.4f}" for s in setting.shapes)
            lines.append(f"{a:8.2e}{cells}")
        lines.append(f"least l1 norm {self.l1_error:.4f}, least l2 norm {self.l2_error:.4f}")
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
