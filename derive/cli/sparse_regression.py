"""The command ``derive experiment sparse-regression``."""

from __future__ import annotations

from typing import Annotated

import typer

from derive.cli.session import Samples, Shared, narrated, read_sizes


def sparse_regression(
    *,
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
    session: Shared,
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
    session.prepare()
    numbers = read_sizes(sizes, "80,100,200")
    from numerics.experiments import sparse_regression as experiments
    from numerics.experiments.sparse_results import SparseSetting
    from numerics.figures.plots import plot_sparse_regression

    session.require_plots()
    setting = SparseSetting(dimension, samples, sparsity, seed=session.seed, sizes=numbers)
    found = narrated(lambda enter: experiments.sparse_regression(setting, session.jobs, enter))
    session.publish(found, plot_sparse_regression)
