"""The commands ``derive experiment optimizers``, ``controllability``, ``convolution``; the list."""

from __future__ import annotations

from typing import Annotated

import typer

from derive.cli.experiment import (
    Samples,
    WithoutPlot,
    matrix_factorization,
    read_numbers,
    read_sizes,
    sparse_regression,
    univariate_nets,
)


def optimizers(
    *,
    dimension: Annotated[
        int, typer.Option(help="The dimension d of the predictor.", min=2, max=1000, metavar="D")
    ] = 10,
    samples: Samples = 5,
    rounds: Annotated[int, typer.Option(help="Steps of each run.", min=1, metavar="N")] = 10_000,
    adagrad: Annotated[
        str, typer.Option(help="Steps of AdaGrad on regression.", metavar="X,...")
    ] = "3,1,0.3,0.1",
    session: WithoutPlot,
) -> None:
    """Run optimizers from 0 on one Gaussian X: regression, and separable data.

    Quality in a norm is, on regression, the least norm with the predictions of the end over that of
    the end; on separable data the margin of the end over the largest. It is at most 1. Gradient
    descent and its accelerations end at the least l2 norm; steepest descent in another norm does
    not end at the least in it, and AdaGrad at what its step decides. On separable data,
    exponential loss and steps over the loss, each tends to the largest margin in its norm
    (Gunasekar et al. 2018, "Characterizing implicit bias in terms of optimization geometry").
    `derive optimizers` says what of this is proved.

    Exit status: 0 the results are printed; 2 bad input; 3 a limit was not found.

    \b
    Examples (the first: some ten seconds):
      derive experiment optimizers
      derive experiment optimizers --dimension 30 --samples 8 --csv
      derive experiment optimizers --adagrad 1,0.01 --rounds 100000 --seed 3
    """
    session.prepare()
    steps = read_numbers(adagrad, float, "--adagrad", "1,0.1")
    from numerics.experiments import optimizers as experiments

    setting = experiments.OptimizerSetting(samples, dimension, rounds, steps, session.seed)
    session.publish(lambda enter: experiments.optimizers(setting, session.jobs, enter))


def controllability(
    *,
    sizes: Annotated[
        str, typer.Option("--dimensions", help="The sizes n of the matrices.", metavar="N,...")
    ] = "2,3,4,5",
    matrices: Annotated[int, typer.Option(help="How many are drawn.", min=1, metavar="K")] = 2,
    session: WithoutPlot,
) -> None:
    """Find what U' = sum_i s_i(t) A_i U reaches, for random symmetric A_i of whole numbers.

    The dimension of the Lie algebra that the A_i generate is computed exactly. Where it is n^2,
    arbitrary steering s leads U U^T, of full rank, to every positive definite matrix: with two
    measurements nothing but the steering of gradient flow itself regularizes (of singular ones
    only as limits: the rank of U stays).

    Exit status: 0 the results are printed; 2 bad input; 3 a limit was not found.

    \b
    Examples:
      derive experiment controllability
      derive experiment controllability --dimensions 3,6 --matrices 3 --json
    """
    session.prepare()
    numbers = read_sizes(sizes, "2,3,4", "--dimensions")
    from numerics.experiments import controllability as experiments

    session.publish(
        lambda enter: experiments.controllability(
            numbers, matrices, session.seed, session.jobs, enter
        )
    )


def convolution(
    *,
    dimension: Annotated[
        int, typer.Option(help="The dimension d of the predictor.", min=2, max=1000, metavar="D")
    ] = 4,
    samples: Samples = 2,
    layers: Annotated[str, typer.Option(help="Depths L.", metavar="L,...")] = "2,3",
    starts: Annotated[
        int, typer.Option(help="Starts for each depth.", min=1, max=1000, metavar="N")
    ] = 8,
    deviation: Annotated[
        float, typer.Option(help="Standard deviation of the starts.", metavar="X")
    ] = 1.0,
    session: WithoutPlot,
) -> None:
    """Find which critical point linear convolutional nets tend to from each start.

    beta = w_1 * ... * w_L, circular, on separable rows of whole numbers with their labels, under
    exponential loss. Each run ends near a KKT point of min |w|^2 with margins at least 1, which is
    certified in balls: a critical point of |DFT beta|_(2/L). For two layers that norm is convex,
    and all starts agree with bounds of its minimum that are proved; from three on the start
    decides (Gunasekar, Lee, Soudry, Srebro 2018, "Implicit bias of gradient descent on linear
    convolutional networks").

    Exit status: 0 the results are printed; 2 bad input; 3 a limit was not found.

    \b
    Examples (the first: some ten seconds):
      derive experiment convolution
      derive experiment convolution --layers 3,4 --dimension 3 --deviation 0.3
      derive experiment convolution --starts 30 --jobs 2 --csv
    """
    session.prepare()
    depths = read_sizes(layers, "2,3", "--layers")
    from numerics.experiments import convolution as experiments

    setting = experiments.ConvolutionSetting(
        dimension, samples, depths, starts, deviation, seed=session.seed
    )
    session.publish(lambda enter: experiments.convolution(setting, session.jobs, enter))


EXPERIMENTS = (
    ("sparse-regression", sparse_regression, "Sparse beta*, by a diagonal network."),
    ("matrix-factorization", matrix_factorization, "Low-rank beta*, by descent on U U^T."),
    ("univariate-nets", univariate_nets, "Wide shallow nets on the line, by mirror flow."),
    ("optimizers", optimizers, "Ends of optimizers on one linear model."),
    ("convolution", convolution, "Limits of linear convolutional nets, by start."),
    ("controllability", controllability, "What steering reaches, by exact Lie algebras."),
)
"""Name, function and summary of each experiment."""
