"""What the matrix factorization experiment is asked and finds, and its tables."""

from __future__ import annotations

import math
import textwrap
from dataclasses import asdict, dataclass, field
from typing import ClassVar

from derive.errors import InputError
from numerics.experiments.scaffold import Results, Row, require_counts

SCALES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
STEPS = (0.3, 0.1, 0.03)
SIZES = (100, 150, 200, 300)
KINDS = {
    "model": ("U*T(U)", "U*T(V)"),
    "truth": ("psd", "general"),
    "measurements": ("gaussian", "completion", "multitask"),
}


ABREAST = 6
"""Steps beside one another in a table of 80 columns."""
RISE = 1e-3
"""By how much of the least norm an excess has to grow again to be told: above the tolerance."""


@dataclass(frozen=True, slots=True)
class MatrixSetting:
    """What is drawn and asked for.

    Attributes:
        size, samples: n; m, of the grid.
        rank: of beta*, which has ``|beta*|_F = 1``.
        noise: standard deviation of that of the measurements.
        scales, steps: the grid; descent starts at ``U = scale I`` and has a constant step.
        sizes: the m for which descent from the first scale, with the second step if there are more,
            is compared with the least nuclear norm.
        tolerance: ``|<A_i, beta> - y_i|/|y|`` at which descent has ended; the truth has about the
            standard deviation of the noise.
        model: of F, ``U*T(U)`` or ``U*T(V)``.
        truth: ``psd``, or ``general``, which U*T(U) is not.
        measurements: ``gaussian`` matrices, ``completion`` by entries, or ``multitask`` regression.
    """

    size: int = 50
    samples: int = 300
    rank: int = 2
    noise: float = 1e-3
    seed: int = 0
    scales: tuple[float, ...] = SCALES
    steps: tuple[float, ...] = STEPS
    sizes: tuple[int, ...] = SIZES
    tolerance: float = 5e-4
    max_iterations: int = 1_000_000
    model: str = "U*T(U)"
    truth: str = "psd"
    measurements: str = "gaussian"

    @property
    def is_symmetric(self) -> bool:
        """Whether F is, so that the measurements count by their symmetric parts."""
        return self.model == "U*T(U)"

    def __post_init__(self) -> None:
        names = ("size", "samples", "rank", "max_iterations")
        require_counts({name: getattr(self, name) for name in names})
        if self.rank > self.size:
            raise InputError(f"the rank must be at most the size, {self.size}")
        self._require_known()
        n = self.size
        entries, said = (n * (n + 1) // 2, "n (n + 1)/2") if self.is_symmetric else (n * n, "n^2")
        if max(self.samples, *self.sizes, 1) > entries or min(self.sizes, default=1) < 1:
            raise InputError(f"samples and sizes must be from 1 to {said} = {entries}")
        if not self.scales or not self.steps:
            raise InputError("give at least one scale and one step")
        if not all(0 < x < math.inf for x in (*self.scales, *self.steps)):
            raise InputError("scales and steps must be positive and finite")
        if not (0 <= self.noise < math.inf and 0 < self.tolerance < 1):
            raise InputError("the noise must not be negative, the tolerance between 0 and 1")

    def _require_known(self) -> None:
        for name, accepted in KINDS.items():
            if getattr(self, name) not in accepted:
                raise InputError(f"the {name} must be one of {', '.join(accepted)}")
        if self.is_symmetric and self.truth != "psd":
            raise InputError("U*T(U) is positive semidefinite: give the model U*T(V)")


@dataclass(frozen=True, slots=True)
class Descent:
    """The end of a descent, ``|<A_i, beta> - y_i|/|y|`` its residual; None where it diverged."""

    scale: float
    step: float
    error: float | None
    test_error: float | None
    nuclear_norm: float | None
    residual: float | None
    iterations: int
    status: str
    seconds: float = field(compare=False)


@dataclass(frozen=True, slots=True)
class Baseline:
    """An interpolant of least norm: its errors and its nuclear norm."""

    error: float
    test_error: float
    nuclear_norm: float


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """Descent from a small start and the least nuclear norm, for m samples."""

    samples: int
    descent: Descent
    least_nuclear: Baseline


@dataclass(frozen=True, slots=True)
class MatrixResults(Results):
    """What was found: the grid, both baselines at its m, and the comparison for several m."""

    experiment: ClassVar[str] = "matrix-factorization"
    columns: ClassVar[tuple[str, ...]] = ("kind", "samples", *Descent.__match_args__)

    setting: MatrixSetting
    truth_nuclear_norm: float
    least_nuclear: Baseline
    least_frobenius: Baseline
    grid: tuple[Descent, ...]
    sizes: tuple[Reconstruction, ...]

    def rows(self) -> list[Row]:
        """Return one row for each result, baselines first."""
        m = self.setting.samples
        found: list[tuple[str, int, Baseline | Descent]] = [
            ("least nuclear norm", m, self.least_nuclear),
            ("least Frobenius norm", m, self.least_frobenius),
            *(("descent", m, descent) for descent in self.grid),
        ]
        for x in self.sizes:
            found.append(("least nuclear norm", x.samples, x.least_nuclear))
            found.append(("descent", x.samples, x.descent))
        return [{"kind": kind, "samples": n, **asdict(end)} for kind, n, end in found]

    def to_text(self) -> str:
        """Return tables: the errors, then the nuclear norms, then the comparison by m."""
        setting = self.setting
        lines = [
            f"beta = {setting.model}, {setting.truth} beta* of rank {setting.rank}, "
            f"{setting.measurements} measurements, seed {setting.seed}",
            f"n = {setting.size}, m = {setting.samples}, noise {setting.noise:g}, "
            f"fitted to {setting.tolerance:g}",
            "Reconstruction error |beta - beta*|_F/|beta*|_F",
            *self._table("error"),
            f"least nuclear norm {self.least_nuclear.error:.4f}, "
            f"least Frobenius norm {self.least_frobenius.error:.4f}",
            "",
            f"Nuclear norm (beta*: {self.truth_nuclear_norm:.4f}, "
            f"least: {self.least_nuclear.nuclear_norm:.4f})",
            *self._table("nuclear_norm"),
        ]
        lines += ["", *self._claim()]
        if late := [d for d in self.grid if d.status == "iteration limit"]:
            lines += [
                "",
                f"Not at the tolerance {setting.tolerance:g} when the iterations were over",
            ]
            lines += [f"start {d.scale:g}, step {d.step:g}: {d.residual:.1e}" for d in late]
        if self.sizes:
            first = self.sizes[0].descent
            lines += ["", f"Descent from {first.scale:g} with step {first.step:g}, by m"]
            lines += [f"{'m':>6}{'error':>10}{'least nuclear':>15}{'nuclear norm':>14}{'least':>9}"]
        for found in self.sizes:
            least, descent = found.least_nuclear, found.descent
            errors = f"{_cell(descent.error)}{least.error:15.4f}"
            norms = f"{_cell(descent.nuclear_norm):>14}{least.nuclear_norm:9.4f}"
            lines.append(f"{found.samples:6d}{errors}{norms}")
        return "\n".join(lines)

    def _claim(self) -> list[str]:
        """Say what is conjectured of small starts and steps, and what was seen from every start."""
        truth, least = self.truth_nuclear_norm, self.least_nuclear.nuclear_norm
        step = min(self.setting.steps)
        ends = [d for d in self.grid if d.step == step and d.nuclear_norm is not None]
        excess = {d.scale: (d.nuclear_norm or 0.0) / least - 1 for d in ends}
        lines = ["Conjectured (Gunasekar et al. 2017): the least norm, as start and step tend to 0"]
        seen = ", ".join(f"{x:.1%} from {scale:g}" for scale, x in sorted(excess.items())[::-1])
        if seen:
            told = f"Seen with step {step:g}, above the least: {seen}"
            lines += textwrap.wrap(told, 80, subsequent_indent="  ")
            best, smallest = min(excess, key=excess.__getitem__), min(excess)
            if excess[best] < excess[smallest] - RISE:
                lines.append(f"Seen: it is least from {best:g}, not from the smallest start")
        if least < truth * (1 - 1e-2):
            lines.append(
                "Seen: beta* is not the interpolant of least nuclear norm: "
                f"{least:.4f} < {truth:.4f}"
            )
        spent = sorted(d.seconds for d in self.grid)
        lines.append(f"{spent[len(spent) // 2]:.2g} s a descent (median of {len(spent)})")
        return lines

    def _table(self, column: str) -> list[str]:
        by_place, lines = {(d.scale, d.step): d for d in self.grid}, list[str]()
        for first in range(0, len(self.setting.steps), ABREAST):
            steps = self.setting.steps[first : first + ABREAST]
            lines.append("   start" + "".join(f"{f'step {x:g}':>12}" for x in steps))
            for scale in self.setting.scales:
                cells = (getattr(by_place[scale, step], column) for step in steps)
                lines.append(f"{scale:8.1e}" + "".join(f"{_cell(x):>12}" for x in cells))
        return lines


def _cell(value: float | None) -> str:
    return f"{'diverges':>10}" if value is None else f"{value:10.4f}"
