"""The command ``derive experiment``: published experiments, predicted and trained."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from derive.errors import InputError
from derive.output import Narrator, check_writable, deliver

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def add_experiment(app: typer.Typer) -> None:
    """Add the command group to *app*."""
    group = typer.Typer(
        name="experiment", rich_markup_mode=None, help="Run a published experiment."
    )
    app.add_typer(group)

    @group.callback()
    def every() -> None:
        """Run a published experiment: predicted by Q, and trained by gradient flow."""

    @group.command("sparse-regression")
    def sparse_regression(
        dimension: Annotated[int, typer.Option(help="d.", min=1, max=10**5, metavar="D")] = 1000,
        samples: Annotated[int, typer.Option(help="m.", min=1, max=10**4, metavar="M")] = 100,
        sparsity: Annotated[
            int, typer.Option(help="Entries of beta* that are not 0.", min=1, metavar="K")
        ] = 5,
        sizes: Annotated[
            str,
            typer.Option(help="The m for which the largest good alpha is found.", metavar="M,..."),
        ] = "80,100,150,200",
        seed: Annotated[int, typer.Option(help="Of the random numbers.", min=0, metavar="N")] = 0,
        jobs: Annotated[
            int, typer.Option(help="Processes, by joblib.", min=1, max=1024, metavar="N")
        ] = 1,
        json: Annotated[bool, typer.Option("--json", help="Print the JSON record.")] = False,
        csv: Annotated[bool, typer.Option("--csv", help="Print a CSV table.")] = False,
        plot: Annotated[
            Path | None,
            typer.Option(help="Draw the errors to a PNG, SVG or PDF file.", metavar="FILE"),
        ] = None,
        output: Annotated[
            Path | None,
            typer.Option("-o", "--output", help="Write the result to FILE.", metavar="FILE"),
        ] = None,
    ) -> None:
        """Find a sparse beta* with a diagonal network, from starts of many scales and shapes.

        y = <beta*, x> + noise of variance 0.01; the error is that on new data. Each limit is
        predicted by its Q, some are trained by gradient flow in the weights as well
        (Azulay et al. 2021, sections 7.1 and 9; Woodworth et al. 2020, section 6).

        \b
        Examples:
          derive experiment sparse-regression
          derive experiment sparse-regression --csv -o errors.csv --plot errors.svg
          derive experiment sparse-regression --samples 200 --jobs 2 --json
        """
        if json and csv:
            raise InputError("choose one of --json and --csv")
        for path in (output, plot):
            if path is not None and str(path) != "-":
                check_writable(path)
        numbers = _read_sizes(sizes)
        # The problems are small: threads of one product would wait for each other.
        for name in _THREADS:
            os.environ.setdefault(name, "1")
        from numerics.experiments import sparse_regression as experiments
        from numerics.experiments import tables

        if plot is not None:
            from numerics.display import require_matplotlib

            require_matplotlib()
        setting = experiments.Setting(dimension, samples, sparsity, seed=seed, sizes=numbers)
        narrator = Narrator() if sys.stderr.isatty() else None
        try:
            found = experiments.sparse_regression(
                setting, jobs, None if narrator is None else lambda stage: narrator(stage, 2)
            )
        finally:
            if narrator is not None:
                narrator.clear()
        if plot is not None:
            from numerics.display import plot_sparse_regression

            plot_sparse_regression(found, plot)
        render = tables.to_json if json else tables.to_csv if csv else tables.to_text
        deliver(render(found), output)


def _read_sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise InputError(f"--sizes: {text!r} must be numbers such as 80,100,200") from None
