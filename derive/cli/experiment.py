"""The commands ``derive experiment``: published experiments, predicted and trained."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import closing
from dataclasses import Field, dataclass, fields
from importlib import import_module
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

import typer

from derive.cli.forms import Form, offer, rendered
from derive.cli.options import Bundle, Output, bundle_of
from derive.cli.output import Narrator, check_writable, deliver
from derive.cli.running import use_one_thread
from derive.errors import InputError
from numerics.experiments.settings import (
    ConvolutionSetting,
    MatrixSetting,
    OptimizerSetting,
    ReachSetting,
    Setting,
    SparseSetting,
    UnivariateSetting,
    require_bounds,
)

Asked: TypeAlias = Callable[..., Setting]
"""What makes a setting of the seed: the options that are given."""


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

    def run(self, name: str, asked: Asked) -> None:
        """Run the experiment of a module, draw it where that is asked, and write its results.

        What cannot be written is refused before time is spent; NumPy is kept to one thread.
        """
        check_writable(self.output)
        check_writable(self.plot, "--plot")
        use_one_thread()
        setting = asked(seed=self.seed)
        if self.plot is not None:
            from numerics.figures.display import require_matplotlib

            require_matplotlib()
        experiment = getattr(import_module(f"numerics.experiments.{name}"), name)
        with closing(Narrator()) as narrator:
            found = experiment(setting, self.jobs, narrator)
        if self.plot is not None:
            from numerics.figures import experiments
            from numerics.figures.display import arranged, save

            save(arranged(getattr(experiments, name)(found)), self.plot, "--plot")
        deliver(rendered(found, self.form), self.output)


Shared: TypeAlias = Annotated[Session, bundle_of(Session)]
WithoutPlot: TypeAlias = Annotated[Session, bundle_of(Session, "plot")]


def options_of(setting: type[Setting]) -> Bundle:
    """Return the options of a setting, one for each field with a help text."""
    hints = get_type_hints(setting)
    named = [one for one in fields(setting) if one.metadata.get("help")]
    kinds = {one.name: get_args(hints[one.name])[:1] or (hints[one.name],) for one in named}

    def build(**values: Any) -> Asked:
        for one in named:
            if isinstance(one.default, tuple):
                values[one.name] = _read(one, values[one.name], *kinds[one.name])
        return functools.partial(setting, **values)

    return Bundle(tuple(_option(one, hints[one.name]) for one in named), build)


def _option(one: Field[Any], kind: Any) -> Parameter:
    """Return the option of a field; several numbers are one text."""
    default: Any = one.default
    letter, bounds = one.metadata["letter"], one.metadata["bounds"]
    if get_origin(kind) is tuple:
        default, kind = ",".join(f"{x:g}" for x in default), str
        letter, bounds = f"{letter},...", {}
    option = typer.Option(
        _name(one),
        help=one.metadata["help"],
        metavar=letter,
        min=bounds.get("at_least"),
        max=bounds.get("at_most"),
    )
    hint = Annotated[kind, option]
    return Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _name(one: Field[Any]) -> str:
    return one.metadata["option"] or f"--{one.name}"


def _read(one: Field[Any], text: str, kind: Callable[[str], Any]) -> tuple[Any, ...]:
    """Read the numbers of an option."""
    default: Any = one.default
    try:
        numbers = tuple(kind(part) for part in text.split(",") if part.strip())
    except ValueError:
        example = ",".join(map(str, default[:3]))
        raise InputError(f"{_name(one)}: {text!r} must be numbers such as {example}") from None
    require_bounds(f"{_name(one)}: a number", numbers, one.metadata["bounds"])
    return numbers


def sparse_regression(
    *, asked: Annotated[Asked, options_of(SparseSetting)], session: Shared
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
    session.run("sparse_regression", asked)


def matrix_factorization(
    *, asked: Annotated[Asked, options_of(MatrixSetting)], session: Shared
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
    session.run("matrix_factorization", asked)


def univariate_nets(
    *, asked: Annotated[Asked, options_of(UnivariateSetting)], session: Shared
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
    session.run("univariate", asked)


def optimizers(
    *, asked: Annotated[Asked, options_of(OptimizerSetting)], session: WithoutPlot
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
    session.run("optimizers", asked)


def controllability(
    *, asked: Annotated[Asked, options_of(ReachSetting)], session: WithoutPlot
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
    session.run("controllability", asked)


def convolution(
    *, asked: Annotated[Asked, options_of(ConvolutionSetting)], session: WithoutPlot
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
    session.run("convolution", asked)


def experiment() -> None:
    """Repeat a published experiment: what a start leads to, predicted and trained."""


EXPERIMENTS = (
    ("sparse-regression", sparse_regression, "Sparse beta*, by a diagonal network."),
    ("matrix-factorization", matrix_factorization, "Low-rank beta*, by descent on U U^T."),
    ("univariate-nets", univariate_nets, "Wide shallow nets on the line, by mirror flow."),
    ("optimizers", optimizers, "Ends of optimizers on one linear model."),
    ("convolution", convolution, "Limits of linear convolutional nets, by start."),
    ("controllability", controllability, "What steering reaches, by exact Lie algebras."),
)
"""Name, function and summary of each experiment."""
