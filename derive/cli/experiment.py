"""The commands ``derive experiment``: published experiments, predicted and trained."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import click

from derive.cli.forms import Form, offer, rendered
from derive.cli.options import Commands, command
from derive.cli.output import Narrator, check_picture, check_writable, deliver
from derive.cli.running import YES, use_one_thread
from derive.option import option
from numerics.experiments import settings
from numerics.experiments.settings import Setting, Stages


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
        use_one_thread()
        check_picture(self.plot, "--plot")
        experiment = getattr(import_module(f"numerics.experiments.{name}"), name)
        with closing(Narrator()) as narrator:
            results = experiment(setting, Stages(self.jobs, narrator))
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


def experiment() -> click.Group:
    """Return the commands of all experiments."""
    summaries = {name: summary for name, (_, summary, _) in EXPERIMENTS.items()}
    text = "Repeat a published experiment: what a start leads to, predicted and trained."
    return Commands(summaries, _command, name="experiment", help=text)


def _command(name: str) -> click.Command:
    (kind, summary, session), module = EXPERIMENTS[name], name.replace("-", "_")

    def run(setting: Setting, given: Session) -> int:
        return given.run(module, setting)

    return command(name, kind.__doc__ or "", summary, run, kind, session)


EXPERIMENTS: dict[str, tuple[type[Setting], str, type[Session]]] = {
    "sparse-regression": (settings.SparseSetting, "Sparse beta*, by a diagonal network.", Plotted),
    "matrix-factorization": (
        settings.MatrixSetting,
        "Low-rank beta*, by descent on U U^T.",
        Plotted,
    ),
    "univariate-nets": (
        settings.UnivariateSetting,
        "Wide shallow nets on the line, by mirror flow.",
        Plotted,
    ),
    "optimizers": (settings.OptimizerSetting, "Ends of optimizers on one linear model.", Session),
    "convolution": (
        settings.ConvolutionSetting,
        "Limits of linear convolutional nets, by start.",
        Session,
    ),
    "controllability": (
        settings.ReachSetting,
        "What steering reaches, by exact Lie algebras.",
        Session,
    ),
}
"""The setting of each experiment, whose text is its page of help; a line on it; how it is run.

The module of its name in ``numerics/experiments`` has the function of its name, which runs it.
"""
