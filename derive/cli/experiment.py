"""The commands ``derive experiment``: published experiments, predicted and trained."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import click

from derive.cli.forms import Form, offer, rendered
from derive.cli.options import Commands, command
from derive.cli.output import Narrator, check_writable, deliver
from derive.cli.running import YES, use_one_thread
from derive.option import option
from numerics.experiments import settings
from numerics.experiments.settings import Setting


@dataclass(frozen=True, kw_only=True)
class Session:
    """How an experiment is run, and where its results go."""

    jobs: int = option(1, "Processes, by joblib.", "N", at_least=1, at_most=1024)
    form: Form = offer("json", "csv")
    output: Path | None = option(None, "Write the result to FILE.", "FILE", "-o", "--output")
    plot: Path | None = None

    def run(self, name: str, setting: Setting) -> int:
        """Run an experiment, draw it where that is asked, and write its results.

        What cannot be written is refused before time is spent; NumPy is kept to one thread.
        """
        check_writable(self.output)
        check_writable(self.plot, "--plot")
        use_one_thread()
        if self.plot is not None:
            from numerics.figures.display import require_matplotlib

            require_matplotlib()
        experiment = getattr(import_module(f"numerics.experiments.{name}"), name)
        with closing(Narrator()) as narrator:
            results = experiment(setting, self.jobs, narrator)
        if self.plot is not None:
            from numerics.figures import experiments
            from numerics.figures.display import arranged, save

            save(arranged(getattr(experiments, name)(results)), self.plot, "--plot")
        deliver(rendered(results, self.form), self.output)
        return YES


@dataclass(frozen=True, kw_only=True)
class Plotted(Session):
    """One of an experiment whose results are drawn by the function of its name in figures."""

    plot: Path | None = option(None, "Draw the errors to a PNG, SVG or PDF file.", "FILE")


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment: its setting, a line on it, its page of help, and how it is run.

    The module of its name in ``numerics/experiments`` has the function of its name, which runs it.
    """

    setting: type[Setting]
    summary: str
    text: str
    session: type[Session] = Session


def experiment() -> click.Group:
    """Return the commands of all experiments."""
    summaries = {name: one.summary for name, one in EXPERIMENTS.items()}
    text = "Repeat a published experiment: what a start leads to, predicted and trained."
    return Commands(summaries, _command, name="experiment", help=text)


def _command(name: str) -> click.Command:
    one, module = EXPERIMENTS[name], name.replace("-", "_")

    def run(setting: Setting, session: Session) -> int:
        return session.run(module, setting)

    return command(name, one.text, one.summary, run, one.setting, one.session)


EXPERIMENTS = {
    "sparse-regression": Experiment(
        settings.SparseSetting,
        "Sparse beta*, by a diagonal network.",
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
    """,
        Plotted,
    ),
    "matrix-factorization": Experiment(
        settings.MatrixSetting,
        "Low-rank beta*, by descent on U U^T.",
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
    """,
        Plotted,
    ),
    "univariate-nets": Experiment(
        settings.UnivariateSetting,
        "Wide shallow nets on the line, by mirror flow.",
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
    """,
        Plotted,
    ),
    "optimizers": Experiment(
        settings.OptimizerSetting,
        "Ends of optimizers on one linear model.",
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
    """,
    ),
    "convolution": Experiment(
        settings.ConvolutionSetting,
        "Limits of linear convolutional nets, by start.",
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
    """,
    ),
    "controllability": Experiment(
        settings.ReachSetting,
        "What steering reaches, by exact Lie algebras.",
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
    """,
    ),
}
"""The experiments by their names."""
