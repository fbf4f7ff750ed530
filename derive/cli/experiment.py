"""The command ``derive experiment``: published experiments, predicted and trained."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

import typer

from derive.cli.options import Csv, Json, Output
from derive.cli.output import Narrator, check_writable, chosen_form, deliver
from derive.cli.running import use_one_thread
from derive.errors import InputError

_Found = TypeVar("_Found")

Samples: TypeAlias = Annotated[
    int, typer.Option(help="The number m of measurements.", min=1, max=10**4, metavar="M")
]
Seed: TypeAlias = Annotated[
    int, typer.Option(help="Seed of the random numbers.", min=0, metavar="N")
]
Jobs: TypeAlias = Annotated[
    int, typer.Option(help="Processes, by joblib.", min=1, max=1024, metavar="N")
]
Plot: TypeAlias = Annotated[
    Path | None, typer.Option(help="Draw the errors to a PNG, SVG or PDF file.", metavar="FILE")
]

experiment = typer.Typer(
    name="experiment", rich_markup_mode=None, short_help="Repeat a published experiment."
)


@experiment.callback()
def every() -> None:
    """Repeat a published experiment: what a start leads to, predicted and trained."""


@experiment.command(short_help="Sparse beta*, by a diagonal network.")
def sparse_regression(
    dimension: Annotated[
        int, typer.Option(help="The dimension d of beta*.", min=1, max=10**5, metavar="D")
    ] = 1000,
    samples: Samples = 100,
    sparsity: Annotated[
        int, typer.Option(help="Entries of beta* that are not 0.", min=1, metavar="K")
    ] = 5,
    sizes: Annotated[
        str,
        typer.Option(help="The m for which the largest good alpha is found.", metavar="M,..."),
    ] = "80,100,150,200",
    seed: Seed = 0,
    jobs: Jobs = 1,
    json: Json = False,
    csv: Csv = False,
    plot: Plot = None,
    output: Output = None,
) -> None:
    """Find a sparse beta* with a diagonal network, from starts of many scales and shapes.

    y = <beta*, x> + noise of variance 0.01; the error is that on new data. Each limit is
    predicted by its Q, some are trained by gradient flow in the weights as well
    (Azulay et al. 2021, sections 7.1 and 9; Woodworth et al. 2020, section 6).

    Exit status: 0 the results are printed; 2 bad input; 3 a limit was not found.

    \b
    Examples:
      derive experiment sparse-regression
      derive experiment sparse-regression --csv -o errors.csv --plot errors.svg
      derive experiment sparse-regression --samples 200 --jobs 2 --json
    """
    form = _prepare(json, csv, output, plot)
    numbers = _read_sizes(sizes, "80,100,200")
    from numerics.experiments import sparse_regression as experiments
    from numerics.experiments import tables

    _require_plots(plot)
    setting = experiments.Setting(dimension, samples, sparsity, seed=seed, sizes=numbers)
    found = _narrated(lambda enter: experiments.sparse_regression(setting, jobs, enter))
    if plot is not None:
        from numerics.figures.experiment_plots import plot_sparse_regression

        plot_sparse_regression(found, plot)
    deliver(_renderer(tables, form)(found), output)


@experiment.command(short_help="Low-rank beta*, by descent on U U^T.")
def matrix_factorization(
    size: Annotated[int, typer.Option(help="beta* is N x N.", min=1, max=300, metavar="N")] = 50,
    samples: Samples = 300,
    rank: Annotated[int, typer.Option(help="The rank of beta*.", min=1, metavar="R")] = 2,
    noise: Annotated[
        float, typer.Option(help="Standard deviation of the noise.", min=0, metavar="X")
    ] = 1e-3,
    scales: Annotated[
        str, typer.Option(help="Starts: U is each scale times the identity.", metavar="X,...")
    ] = "1e-4,1e-3,1e-2,1e-1,1",
    steps: Annotated[
        str, typer.Option(help="Step sizes, constant in each descent.", metavar="X,...")
    ] = "0.3,0.1,0.03",
    tolerance: Annotated[
        float, typer.Option(help="Relative residual at which descent ends.", metavar="X")
    ] = 5e-4,
    sizes: Annotated[
        str,
        typer.Option(
            help="The m at which the first scale is compared with the least nuclear norm.",
            metavar="M,...",
        ),
    ] = "100,150,200,300",
    seed: Seed = 0,
    jobs: Jobs = 1,
    json: Json = False,
    csv: Csv = False,
    plot: Plot = None,
    output: Output = None,
) -> None:
    """Find a low-rank n x n matrix beta* by gradient descent on beta = U U^T, U of full size.

    y_i = <A_i, beta*> + noise for m Gaussian A_i, fewer than beta* has entries: most matrices that
    fit are far from beta*. Small starts and small steps lead near it, and near the least nuclear
    norm; large starts do not (Gunasekar et al. 2017, "Implicit regularization in matrix
    factorization"). Descent is on sum (<A_i, U U^T> - y_i)^2/(4m), and ends where
    |<A_i, U U^T> - y_i| <= tolerance |y|. A step three times smaller takes three times as
    long, and smaller starts take longer, too.

    Exit status: 0 the results are printed; 2 bad input; 3 a limit was not found.

    \b
    Examples (the first: about a minute, on one core):
      derive experiment matrix-factorization
      derive experiment matrix-factorization --csv -o errors.csv --plot errors.svg
      derive experiment matrix-factorization --size 20 --samples 60 --sizes 30,60
      derive experiment matrix-factorization --noise 0 --tolerance 1e-5 --json
    """
    form = _prepare(json, csv, output, plot)
    starts = _read_numbers(scales, float, "--scales", "1e-3,1e-2,1")
    paces = _read_numbers(steps, float, "--steps", "0.3,0.1")
    numbers = _read_sizes(sizes, "100,200,300")
    from numerics.experiments import matrix_factorization as experiments
    from numerics.experiments import matrix_tables

    _require_plots(plot)
    setting = experiments.Setting(
        size, samples, rank, noise, seed, starts, paces, numbers, tolerance
    )
    found = _narrated(lambda enter: experiments.matrix_factorization(setting, jobs, enter))
    if plot is not None:
        from numerics.figures.experiment_plots import plot_matrix_factorization

        plot_matrix_factorization(found, plot)
    deliver(_renderer(matrix_tables, form)(found), output)


def _prepare(json: bool, csv: bool, output: Path | None, plot: Path | None) -> str:
    """Return the form of the result; refuse, before time is spent, what cannot be written."""
    form = chosen_form(json=json, csv=csv)
    check_writable(output)
    check_writable(plot, "--plot")
    use_one_thread()
    return form


def _require_plots(plot: Path | None) -> None:
    """Refuse a plot without matplotlib, before time is spent."""
    if plot is not None:
        from numerics.figures.experiment_plots import require_matplotlib

        require_matplotlib()


def _renderer(tables: Any, form: str) -> Callable[[Any], str]:
    """Return what writes the results in that form."""
    render: Callable[[Any], str] = getattr(tables, f"to_{form}")
    return render


def _narrated(run: Callable[[Callable[[str], None] | None], _Found]) -> _Found:
    """Run with a line on the terminal that says what is being done."""
    narrator, begun = Narrator() if sys.stderr.isatty() else None, time.monotonic()
    try:
        if narrator is None:
            return run(None)
        return run(lambda stage: narrator(stage, time.monotonic() - begun))
    finally:
        if narrator is not None:
            narrator.clear()


_Number = TypeVar("_Number", int, float)


def _read_sizes(text: str, example: str) -> tuple[int, ...]:
    numbers = _read_numbers(text, int, "--sizes", example)
    if min(numbers, default=1) < 1:
        raise InputError(f"--sizes: {min(numbers)} is no number of samples; give 1 or more")
    return numbers


def _read_numbers(
    text: str, kind: Callable[[str], _Number], option: str, example: str
) -> tuple[_Number, ...]:
    try:
        return tuple(kind(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise InputError(f"{option}: {text!r} must be numbers such as {example}") from None
