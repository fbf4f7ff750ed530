"""``derive figure`` and ``derive experiment``: what was published, drawn and repeated."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import click

from derive.cli.forms import TEXT, Form, offer, rendered
from derive.cli.options import Command, Commands, OfModel, command, page, time_limit
from derive.cli.output import Narrator, check_picture, check_writable, deliver
from derive.cli.running import YES, Answer, Enter, finish, use_one_thread
from derive.errors import InputError
from derive.model.typed import TypedModel
from derive.option import option
from numerics.experiments import settings
from numerics.experiments.settings import Setting, Stages

SUFFIXES = (".png", ".pdf", ".svg")


@dataclass(frozen=True, kw_only=True)
class Figure(OfModel, Command):
    """List the figures, or draw one: Q, unit balls and level sets, and explicit counterparts."""

    ids = "numerics.figures.gallery:figures"
    of: bool = option(False, "Draw Q of an F of your own: OUTPUTs follow.")
    values: str = option("", "With --of: numbers for start symbols, alpha=0.1.", "W=V,...")
    form: Form = offer("json", "csv")
    timeout: float = time_limit(120.0)

    def _picture(self) -> Path | None:
        """Return the file of the picture, where one is drawn."""
        typed = self.of or self.values or self.form is not TEXT or self.output is not None
        if not self.outputs and typed:
            raise InputError("--of goes with OUTPUTs; -o, --json and --csv go with an ID too")
        if not self.outputs:
            return None
        use_one_thread()
        name = "figure"
        if self.of:
            self.model.read()  # which refuses what is no F before time is spent
        elif self.values or self.model != TypedModel(self.outputs[:1]):
            raise InputError('give one ID, or --of and an F: derive figure --of "a*u1" "a*u2"')
        else:
            from numerics.figures.gallery import find

            name = find(self.outputs[0]).id
        if self.form is not TEXT:
            return None
        path = self.output or Path(f"{name}.png")
        if path.suffix.lower() not in SUFFIXES:
            raise InputError(f"-o: {path} must end in {', '.join(SUFFIXES)}")
        check_picture(path, "-o")
        return path

    def run(self) -> int:
        """Draw the figure and print its caption, or print what is listed or its numbers."""
        output = None if self.form is TEXT else self.output
        check_writable(output)
        return finish(self.answer, self.timeout, output)

    def answer(self, enter: Enter) -> Answer:
        """List the figures, draw one, or print its numbers."""
        picture = self._picture()
        enter("importing the algebra")
        from numerics.figures.display import arranged, save
        from numerics.figures.gallery import caption, figures, find, to_csv, to_json
        from numerics.figures.own import own_figure

        if not self.outputs:
            return Answer("\n".join(f"{f.id}\n  {f.title}" for f in figures()))
        begun = time.monotonic()
        figure = own_figure(self.model, self.values) if self.of else find(self.outputs[0])
        enter(figure.title)
        panels = figure.panels()
        if picture is not None:
            save(arranged(panels, figure.title), picture)
            return Answer(f"{caption(figure)}\n\n{picture} ({time.monotonic() - begun:.1f} s)")
        return Answer(to_json(figure, panels) if self.form.name == "json" else to_csv(panels))


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
            from numerics.figures import own
            from numerics.figures.display import arranged, save

            save(arranged(getattr(own, name)(results)), self.plot, "--plot")
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

    return command(name, page(f"experiment-{name}"), summary, run, kind, session)


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
