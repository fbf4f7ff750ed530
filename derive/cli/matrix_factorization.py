"""The command ``derive experiment matrix-factorization``."""

from __future__ import annotations

from typing import Annotated

import typer

from derive.cli.session import Samples, Shared, narrated, read_numbers, read_sizes


def matrix_factorization(
    *,
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
    session: Shared,
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
    session.prepare()
    starts = read_numbers(scales, float, "--scales", "1e-3,1e-2,1")
    paces = read_numbers(steps, float, "--steps", "0.3,0.1")
    numbers = read_sizes(sizes, "100,200,300")
    from numerics.experiments import matrix_factorization as experiments
    from numerics.experiments.matrix_results import MatrixSetting
    from numerics.figures.plots import plot_matrix_factorization

    session.require_plots()
    setting = MatrixSetting(
        size, samples, rank, noise, session.seed, starts, paces, numbers, tolerance
    )
    found = narrated(lambda enter: experiments.matrix_factorization(setting, session.jobs, enter))
    session.publish(found, plot_matrix_factorization)
