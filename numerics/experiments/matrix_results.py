"""What the matrix factorization experiment is asked and finds, and its tables."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass, field
from typing import ClassVar

from numerics.experiments.scaffold import Results, Row, table
from numerics.experiments.settings import MatrixSetting

ABREAST = 6
"""Steps beside one another in a table of 80 columns."""
RISE = 1e-3
"""By how much of the least norm an excess has to grow again to be told: above the tolerance."""


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
            columns = {"m": "6d", "error": "10.4f", "least nuclear": "15.4f"}
            columns |= {"nuclear norm": "14.4f", "least": "9.4f"}
            ends = ((x.samples, x.descent, x.least_nuclear) for x in self.sizes)
            lines += table(
                columns,
                [
                    (
                        m,
                        _or_diverges(d.error),
                        x.error,
                        _or_diverges(d.nuclear_norm),
                        x.nuclear_norm,
                    )
                    for m, d, x in ends
                ],
            )
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
        found = {(d.scale, d.step): _or_diverges(getattr(d, column)) for d in self.grid}
        lines = list[str]()
        for first in range(0, len(self.setting.steps), ABREAST):
            steps = self.setting.steps[first : first + ABREAST]
            columns = {"start": "8.1e", **{f"step {x:g}": "12.4f" for x in steps}}
            rows = [(scale, *(found[scale, x] for x in steps)) for scale in self.setting.scales]
            lines += table(columns, rows)
        return lines


def _or_diverges(value: float | None) -> float | str:
    return "diverges" if value is None else value
