"""What experiments are asked: numbers with bounds, of which the command line makes options.

What they share: tasks run in stages, and results as text, CSV and JSON. Nothing is computed here,
and nothing that computes is imported.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, TypeAlias, TypeVar

from derive.errors import InputError
from derive.option import option, require_bounds

MOST_PRODUCTS = 1000
"""In an entry of beta of a convolutional net."""
_DIMENSION, _SAMPLES = "The dimension d of the predictor.", "The number m of measurements."
_KINDS = {
    "model": ("U*T(U)", "U*T(V)"),
    "truth": ("psd", "general"),
    "measurements": ("gaussian", "completion", "multitask"),
}


def random_seed() -> Any:
    """Return the field of the seed."""
    return option(0, "Seed of the random numbers.", "N", at_least=0)


@dataclass(frozen=True, slots=True)
class Setting:
    """What is drawn and run; InputError for a number out of its bounds."""

    def __post_init__(self) -> None:
        for one in fields(self):
            require_bounds(one.name, getattr(self, one.name), one.metadata.get("bounds", {}))
        self.refuse()

    def refuse(self) -> None:
        """Raise InputError where numbers do not go together."""


ALPHAS = tuple(10 ** (-5 + 4.4 * k / 19) for k in range(20))
TRAINED = tuple(zip((ALPHAS[i] for i in (0, 6, 9, 13, 19)), (0.0, 0.9, 0.0, 0.7, 0.5), strict=True))


@dataclass(frozen=True, slots=True)
class SparseSetting(Setting):
    """Find a sparse beta* with a diagonal network, from starts of many scales and shapes."""

    dimension: int = option(1000, _DIMENSION, "D", at_least=1, at_most=10**5)
    samples: int = option(100, _SAMPLES, "M", at_least=1, at_most=10**4)
    sparsity: int = option(5, "Entries of beta* that are not 0.", "K", at_least=1)
    variance: float = option(0.01, at_least=0)  # of the noise
    seed: int = random_seed()
    alphas: tuple[float, ...] = option(ALPHAS, above=0)
    shapes: tuple[float, ...] = option((0.0, 0.5, 0.7, 0.9, 0.99), above=-1, below=1)
    trained: tuple[tuple[float, float], ...] = TRAINED  # (alpha, shape), by the weights as well
    sizes: tuple[int, ...] = option(
        (80, 100, 150, 200), "The m for which the largest good alpha is found.", "M", at_least=1
    )
    target: float = option(0.025, above=0)  # the error below which the largest alpha is sought

    def refuse(self) -> None:
        """Raise InputError for more samples, or entries, than dimensions."""
        if max(self.samples, self.sparsity, *self.sizes) > self.dimension:
            text = f"samples and sparsity must be at most the dimension, {self.dimension}"
            raise InputError(text)


@dataclass(frozen=True, slots=True)
class MatrixSetting(Setting):
    """Find a low-rank n x n matrix beta* by gradient descent on U U^T or U V^T, of full size."""

    size: int = option(50, "beta* is N x N.", "N", at_least=1, at_most=300)
    samples: int = option(300, _SAMPLES, "M", at_least=1, at_most=10**4)
    rank: int = option(2, "The rank of beta*.", "R", at_least=1)
    noise: float = option(1e-3, "Standard deviation of the noise.", "X", at_least=0, below=math.inf)
    seed: int = random_seed()
    scales: tuple[float, ...] = option(
        (1e-4, 1e-3, 1e-2, 1e-1, 1.0),
        "Starts: U is each scale times the identity.",
        "X",
        above=0,
        below=math.inf,
    )
    steps: tuple[float, ...] = option(
        (0.3, 0.1, 0.03),
        "Step sizes, constant in each descent; 0 is gradient flow.",
        "X",
        at_least=0,
        below=math.inf,
    )
    sizes: tuple[int, ...] = option(
        (100, 150, 200, 300),
        "The m at which the first scale is compared with the least nuclear norm.",
        "M",
        at_least=1,
    )
    tolerance: float = option(
        5e-4, "Relative residual at which descent ends.", "X", above=0, below=1
    )
    max_iterations: int = option(1_000_000, at_least=1)
    model: str = option("U*T(U)", "What is trained: U*T(U) or U*T(V), from U = V.", "F")
    truth: str = option("psd", "beta*: psd, or general for U*T(V).", "KIND")
    measurements: str = option("gaussian", "gaussian, completion or multitask.", "KIND")

    @property
    def is_symmetric(self) -> bool:
        """Whether F is, so that the measurements count by their symmetric parts."""
        return self.model == "U*T(U)"

    def refuse(self) -> None:
        """Raise InputError for unknown names, no grid, and more of what n x n matrices have."""
        for name, accepted in _KINDS.items():
            if getattr(self, name) not in accepted:
                raise InputError(f"the {name} must be one of {', '.join(accepted)}")
        if self.is_symmetric and self.truth != "psd":
            raise InputError("U*T(U) is positive semidefinite: give the model U*T(V)")
        if self.rank > self.size:
            raise InputError(f"the rank must be at most the size, {self.size}")
        n = self.size
        entries, said = (n * (n + 1) // 2, "n (n + 1)/2") if self.is_symmetric else (n * n, "n^2")
        if max((self.samples, *self.sizes)) > entries:
            raise InputError(f"samples and sizes must be at most {said} = {entries}")
        if not self.scales or not self.steps:
            raise InputError("give at least one scale and one step")


@dataclass(frozen=True, slots=True)
class UnivariateSetting(Setting):
    """Train univariate shallow nets by mirror flow, and compare them with their derived limits."""

    x: tuple[str, ...] = ("-4/5", "-1/3", "1/4", "3/4")
    y: tuple[str, ...] = ("1/2", "-1/4", "1/4", "0")
    widths: tuple[int, ...] = option(
        (100, 400, 1600, 6400), "Even widths of the nets.", "N", at_least=10, at_most=10**6
    )
    nets: int = option(12, "Nets drawn for each width.", "N", at_least=1, at_most=1000)
    seed: int = random_seed()

    def refuse(self) -> None:
        """Raise InputError for odd widths, or none."""
        if not self.widths or any(n % 2 for n in self.widths):
            raise InputError("give one width or more, all of them even")


@dataclass(frozen=True, slots=True)
class OptimizerSetting(Setting):
    """Run optimizers from 0 on one Gaussian X: regression, and separable data."""

    samples: int = option(5, _SAMPLES, "M", at_least=1, at_most=10**4)
    dimension: int = option(10, _DIMENSION, "D", at_least=2, at_most=10**5)
    steps: int = option(10_000, "Steps of each run.", "N", "--rounds", at_least=1)
    adagrad: tuple[float, ...] = option(
        (3.0, 1.0, 0.3, 0.1), "Steps of AdaGrad on regression.", "X", above=0
    )
    seed: int = random_seed()

    def refuse(self) -> None:
        """Raise InputError unless many w fit."""
        if self.samples >= self.dimension:
            raise InputError("samples must be fewer than the dimension")


@dataclass(frozen=True, slots=True)
class ReachSetting(Setting):
    """Find what U' = sum_i s_i(t) A_i U reaches, for random symmetric A_i of whole numbers."""

    sizes: tuple[int, ...] = option(
        (2, 3, 4, 5), "The sizes n of the matrices.", "N", "--dimensions", at_least=1, at_most=12
    )
    matrices: int = option(2, "How many are drawn.", "K", at_least=1)
    seed: int = random_seed()


@dataclass(frozen=True, slots=True)
class ConvolutionSetting(Setting):
    """Find which critical point linear convolutional nets tend to from each start."""

    size: int = option(4, _DIMENSION, "D", "--dimension", at_least=2, at_most=10**5)
    samples: int = option(2, _SAMPLES, "M", at_least=1, at_most=10**4)
    layers: tuple[int, ...] = option((2, 3), "Depths L.", "L", at_least=2)
    starts: int = option(8, "Starts for each depth.", "N", at_least=1, at_most=1000)
    scale: float = option(1.0, "Standard deviation of the starts.", "X", "--deviation", above=0)
    steps: int = option(3000, at_least=1)
    seed: int = random_seed()

    def refuse(self) -> None:
        """Raise InputError for depths with too many products."""
        if bad := [L for L in self.layers if self.size ** (L - 1) > MOST_PRODUCTS]:
            text = f"{bad[0]} layers: size^(layers - 1) must be at most {MOST_PRODUCTS}"
            raise InputError(text)


Row: TypeAlias = Mapping[str, object]
"""Cells by the name of their column."""
VERSION = 1
_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


class Stages:
    """Runs the stages of an experiment, in several processes if asked, and tells what is done.

    On a cluster, two lines before switch to dask (and likewise to ray)::

        client = dask.distributed.Client("scheduler:8786")
        joblib.parallel_config("dask")
    """

    def __init__(self, jobs: int = 1, progress: Callable[[str], None] | None = None) -> None:
        """Run so many *jobs* at a time; *progress* is called with what is being done."""
        self._jobs, self.enter = jobs, progress or (lambda stage: None)

    def each(
        self, stage: str, function: Callable[[_Task], _Result], tasks: Sequence[_Task]
    ) -> tuple[_Result, ...]:
        """Return the result of each task, in order; InputError for several jobs without joblib."""
        self.enter(f"{stage} 0/{len(tasks)}")
        found = in_parallel(function, tasks, self._jobs)
        results: list[_Result] = []
        for result in found:
            results.append(result)
            self.enter(f"{stage} {len(results)}/{len(tasks)}")
        return tuple(results)


def in_parallel(
    function: Callable[[_Task], _Result], tasks: Iterable[_Task], jobs: int
) -> Iterable[_Result]:
    """Return the results of tasks, in order, as they come; InputError where joblib is missing."""
    if jobs == 1:
        return map(function, tasks)
    try:
        import joblib
    except ImportError:
        raise InputError(
            "several jobs need joblib: pip install 'regderive[parallel]', or leave one job"
        ) from None
    backend, _ = joblib.parallel.get_active_backend()
    # Backends that others register, such as that of ray, may give a list only.
    form = "generator" if getattr(backend, "supports_return_generator", False) else "list"
    parallel = joblib.Parallel(n_jobs=jobs, return_as=form)
    results: Iterable[_Result] = parallel(joblib.delayed(function)(task) for task in tasks)
    return results


def table(
    columns: Mapping[str, str], rows: Iterable[Iterable[object]], lacking: str = ""
) -> list[str]:
    """Return a line of heads and one for each row, texts aligned to the right but for ``<``.

    What is wider than its column stands apart all the same; *lacking* is written for None.

    >>> table({"of": "<4", "error": "8.2f"}, [("l1", 0.5), ("l2", "none")])
    ['of     error', 'l1      0.50', 'l2      none']
    """

    def cell(value: object, form: str) -> str:
        value = lacking if value is None else value
        width = re.sub(r"\..*|[a-z]$", "", form)
        aligned = width if width.startswith("<") else f">{width}"
        text = format(value, aligned if isinstance(value, str) else form)
        return text if form[0] == "<" or text[0] == " " else f" {text}"

    lines = (map(cell, row, columns.values()) for row in (columns, *rows))
    return ["".join(cells).rstrip() for cells in lines]


@dataclass(frozen=True, slots=True)
class Results(ABC):
    """What an experiment found; the fields of a subclass are its JSON record."""

    columns: ClassVar[tuple[str, ...]] = ()
    """Those of the table, where rows have several kinds of cells."""
    listed: ClassVar[str]
    """The field with the results that are the rows."""

    def rows(self) -> Sequence[Row]:
        """Return one row for each result; cells may lack, and others than *columns* are dropped."""
        rows: Sequence[Row] = asdict(self)[self.listed]
        return rows

    @abstractmethod
    def to_text(self) -> str:
        """Return tables for a person to read."""

    def to_csv(self) -> str:
        """Return a header and the rows, with empty cells where a row lacks a column."""
        stream, rows = io.StringIO(), self.rows()
        names = self.columns or [*rows[0]]
        writer = csv.DictWriter(stream, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return stream.getvalue().rstrip("\n")

    def to_json(self) -> str:
        """Return the versioned JSON record; numbers that do not exist are null."""
        name = type(self).__module__.rpartition(".")[2].replace("_", "-")
        record = {"experiment": name, "version": VERSION, **asdict(self)}
        return json.dumps(record, indent=2, allow_nan=False)
