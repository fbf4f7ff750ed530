"""The commands ``derive experiment``: published experiments, predicted and trained."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from derive.cli.forms import Form, offer, rendered
from derive.cli.options import Output, bundle_of
from derive.cli.output import Narrator, check_writable, deliver
from derive.cli.running import use_one_thread
from derive.errors import InputError

if TYPE_CHECKING:
    from numerics.experiments.scaffold import Results
    from numerics.figures.display import Display

Found = TypeVar("Found", bound="Results")
Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """How an experiment is run, and where its results go."""

    seed: Annotated[int, typer.Option(help="Seed of the random numbers.", min=0, metavar="N")] = 0
    jobs: Annotated[
        int, typer.Option(help="Processes, by joblib.", min=1, max=1024, metavar="N")
    ] = 1
    form: Annotated[Form, offer("json", "csv")]
    plot: Annotated[
        Path | None, typer.Option(help="Draw the errors to a PNG, SVG or PDF file.", metavar="FILE")
    ] = None
    output: Output = None

    def prepare(self) -> None:
        """Refuse, before time is spent, what cannot be written; keep NumPy to one thread."""
        check_writable(self.output)
        check_writable(self.plot, "--plot")
        use_one_thread()

    def require_plots(self) -> None:
        """Refuse a plot without matplotlib, before time is spent."""
        if self.plot is not None:
            from numerics.figures.display import require_matplotlib

            require_matplotlib()

    def publish(
        self,
        find: Callable[[Narrator], Found],
        panels: Callable[[Found], list[Display]] | None = None,
    ) -> None:
        """Find, draw where that is asked, and write the results in their form."""
        with closing(Narrator()) as narrator:
            found = find(narrator)
        if self.plot is not None and panels is not None:
            from numerics.figures.display import arranged, save

            save(arranged(panels(found)), self.plot, "--plot")
        deliver(rendered(found, self.form), self.output)


Samples: TypeAlias = Annotated[
    int, typer.Option(help="The number m of measurements.", min=1, max=10**4, metavar="M")
]
Shared: TypeAlias = Annotated[Session, bundle_of(Session)]
WithoutPlot: TypeAlias = Annotated[Session, bundle_of(Session, "plot")]


def read_sizes(text: str, example: str, option: str = "--sizes") -> tuple[int, ...]:
    """Read numbers from 1 on, of samples by default."""
    numbers = read_numbers(text, int, option, example)
    if min(numbers, default=1) < 1:
        raise InputError(f"{option}: {min(numbers)} is too small; give 1 or more")
    return numbers


def read_numbers(
    text: str, kind: Callable[[str], Number], option: str, example: str
) -> tuple[Number, ...]:
    """Read the numbers of an option; *example* says how they are written."""
    try:
        return tuple(kind(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise InputError(f"{option}: {text!r} must be numbers such as {example}") from None


def sparse_regression(
    *,
    dimension: Annotated[
        int, typer.Option(help="The dimension d of the predictor.", min=1, max=10**5, metavar="D")
    ] = 1000,
    samples: Samples = 100,
    sparsity: Annotated[
        int, typer.Option(help="Entries of beta* that are not 0.", min=1, metavar="K")
    ] = 5,
    sizes: Annotated[
        str, typer.Option(help="The m for which the largest good alpha is found.", metavar="M,...")
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
    from numerics.figures import experiments as displays

    session.require_plots()
    setting = SparseSetting(dimension, samples, sparsity, seed=session.seed, sizes=numbers)
    session.publish(
        lambda enter: experiments.sparse_regression(setting, session.jobs, enter),
        displays.sparse_regression,
    )


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
    model: Annotated[
        str, typer.Option(help="What is trained: U*T(U) or U*T(V), from U = V.", metavar="F")
    ] = "U*T(U)",
    truth: Annotated[
        str, typer.Option(help="beta*: psd, or general for U*T(V).", metavar="KIND")
    ] = "psd",
    measurements: Annotated[
        str, typer.Option(help="gaussian, completion or multitask.", metavar="KIND")
    ] = "gaussian",
    session: Shared,
) -> None:
    """Find a low-rank n x n matrix beta* by gradient descent on U U^T or U V^T, of full size.

    y_i = <A_i, beta*> + noise for m Gaussian A_i, fewer than beta* has entries: most matrices that
    fit are far from beta*. For U U^T small starts and small steps lead near it, large starts do
    not (Gunasekar et al. 2017, "Implicit regularization in matrix factorization"). That they lead
    to the least nuclear norm is a conjecture; the excess over it is told for each start. Where
    beta* has not the least norm, ends were seen above the least, however small start and step:
    for U V^T the further, the smaller the start. So it is for U V^T and m = 300: 196 numbers are to
    be found then.

    Descent is on sum (<A_i, U U^T> - y_i)^2/(4m), and ends where |<A_i, U U^T> - y_i| <=
    tolerance |y|. A step three times smaller takes three times as long, and smaller starts take
    longer, too.

    Exit status: 0 the results are printed; 2 bad input; 3 a limit was not found.

    \b
    Examples (the first: about a minute, on one core):
      derive experiment matrix-factorization
      derive experiment matrix-factorization --csv -o errors.csv --plot errors.svg
      derive experiment matrix-factorization --size 20 --samples 60 --sizes 30,60
      derive experiment matrix-factorization --noise 0 --tolerance 1e-5 --json
      derive experiment matrix-factorization --model "U*T(V)" --truth general
      derive experiment matrix-factorization --measurements completion
    """
    session.prepare()
    starts = read_numbers(scales, float, "--scales", "1e-3,1e-2,1")
    paces = read_numbers(steps, float, "--steps", "0.3,0.1")
    numbers = read_sizes(sizes, "100,200,300")
    from numerics.experiments import matrix_factorization as experiments
    from numerics.experiments.matrix_results import MatrixSetting
    from numerics.figures import experiments as displays

    session.require_plots()
    setting = MatrixSetting(
        size,
        samples,
        rank,
        noise,
        session.seed,
        starts,
        paces,
        numbers,
        tolerance,
        model=model,
        truth=truth,
        measurements=measurements,
    )
    session.publish(
        lambda enter: experiments.matrix_factorization(setting, session.jobs, enter),
        displays.matrix_factorization,
    )


def univariate_nets(
    *,
    widths: Annotated[
        str, typer.Option(help="Even widths of the nets.", metavar="N,...")
    ] = "100,400,1600,6400",
    nets: Annotated[
        int, typer.Option(help="Nets drawn for each width.", min=1, max=1000, metavar="N")
    ] = 12,
    session: Shared,
) -> None:
    """Train univariate shallow nets by mirror flow, and compare them with their derived limits.

    f(x) = sum_j a_j sigma(w_j x - b_j) + d with uniform biases. ReLU nets under three unscaled
    potentials tend to one limit, nets with |.| under the same potentials, scaled, to a limit each.
    The error sup |f - h| on [-1, 1] is that of the whole net, all of whose weights move, with
    random biases, and of nets with biases at quantiles whose output weights move (Liang and
    Montufar, implicit bias of mirror flow for shallow nets in univariate regression, figures 1
    and 2). --plot draws six panels: nets and limits, errors, shifted data, |h''|.

    Exit status: 0 the results are printed; 2 bad input; 3 a net was not trained.

    \b
    Examples (the first: about two minutes, on one core):
      derive experiment univariate-nets
      derive experiment univariate-nets --plot panels.pdf --jobs 2
      derive experiment univariate-nets --widths 100,400,1600 --nets 5 --json
    """
    session.prepare()
    sizes = read_numbers(widths, int, "--widths", "100,400,1600")
    from numerics.experiments import univariate as experiments
    from numerics.figures import experiments as displays

    session.require_plots()
    setting = experiments.UnivariateSetting(widths=sizes, nets=nets, seed=session.seed)
    session.publish(
        lambda enter: experiments.univariate(setting, session.jobs, enter), displays.univariate
    )


def experiment() -> None:
    """Repeat a published experiment: what a start leads to, predicted and trained."""
