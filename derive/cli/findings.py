"""What more is found of F, by ``derive regimes``, ``compare``, ``perturb`` and ``parameterize``.

Of linear models, by ``derive optimizers``; on data, by ``margin`` and ``path``, of a log by
``run``, of points by ``univariate``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

import click

from derive.cli.forms import FORMS, TEXT, Form, offer_page, rendered
from derive.cli.options import Command, OfModel, OfPolynomials, Steepest, parameters, time_limit
from derive.cli.output import check_picture, contents
from derive.cli.recorded import Checked, Recorded, answer_with, derived, with_data
from derive.cli.running import NO, Answer, Enter, use_one_thread
from derive.errors import DeriveError, InputError, LanguageError, NumericalError
from derive.model.typed import ReadModel, TypedModel, read_option
from derive.option import option

if TYPE_CHECKING:
    from derive.comparison import Comparison
    from derive.explicit.fibre_cost import FibreCost
    from derive.explicit.regularize import ExplicitCounterpart
    from derive.inverse.design import InverseDesign
    from derive.limits.find import Regimes as Limits
    from derive.limits.random_width import RandomWidth
    from derive.perturbed.record import Perturbation
    from numerics.confirm.regression_problem import Check

SCALE, TO = "alpha", "0,oo"


@dataclass(frozen=True, kw_only=True)
class Regimes(Steepest, OfModel, Checked):
    """Find what Q tends to as the start is scaled, or in any symbol of the start."""

    scale: str = option(
        SCALE, "The start symbol that tends to a limit; a new name scales the whole start.", "NAME"
    )
    to: str = option(TO, "The limits: 0, oo, or a number and a side, such as 1-.", "V,...")
    width: str = option("", "Sum NAME copies of F, their weights drawn from N(0, sigma^2).", "NAME")
    check: bool = option(False, "Confirm each limit by numbers.")

    def find(self, enter: Enter) -> Limits | RandomWidth:
        """Return the limits in the scale, or those of many copies with random starts."""
        from derive.language import parse_names

        model = self.model.read()
        option, text = ("--width", self.width) if self.width else ("--scale", self.scale)
        names = parse_names(text)
        if len(names) != 1:
            raise InputError(f"{option}: give one name")
        if self.width and (self.start or (self.scale, self.to) != (SCALE, TO)):
            raise InputError(
                "--width draws the start: leave out --start, --scale, --to and open dimensions"
            )
        if self.width and model.vectors:
            raise InputError(f"--width goes with one number as output: {model.vectors[0]} is open")
        (name,) = names
        if self.width:
            from derive.limits.random_width import random_width

            enter("moments")
            return random_width(model.parameterization(), name)
        from derive.limits.find import regimes

        return regimes(derived(self.model, enter, name), name, self.to.split(","), enter)

    def confirm(self, record: Any, enter: Enter) -> Check:
        """Test the limits of grad Q at two scales, or by random draws how often Q is in either."""
        from numerics.confirm.limits import confirm_limits, confirm_width
        from numerics.confirm.regression_problem import Check

        if self.width:
            enter("random draws")
            return confirm_width(record)
        enter("numbers at two scales")
        checks = sorted(confirm_limits(record), key=lambda check: check.passed)
        told = "\n".join(check.report() for check in checks) or "there is no limit to check"
        return Check(all(check.passed for check in checks), told)


@dataclass(frozen=True, kw_only=True)
class _OneModel(Steepest, OfModel):
    """The options that one of several models may have."""


@dataclass(frozen=True, kw_only=True)
class Compare(Recorded):
    """Show models, or one from several starts, side by side."""

    ids = "derive.catalogue:entries"
    models: tuple[str, ...] = option((), metavar="MODEL...")

    def find(self, enter: Enter) -> Comparison:
        """Return what is found of each model, by its name in the catalogue, or a number."""
        if not self.models:
            raise InputError("give models, such as tied-pair or 'a*u1; a*u2'")
        models = (x.strip() for x in self.models)
        read = dict(_named_model(i, x) for i, x in enumerate(models, 1))
        from derive.comparison import compare

        return compare({x: model.parameterization() for x, model in read.items()}, enter)


def _named_model(number: int, text: str) -> tuple[str, ReadModel]:
    """Return a model of the catalogue, or one of a text: outputs with ; between, and options."""
    from derive.catalogue import find

    if text.replace("-", "").isalnum():
        return text, find(text).read()
    outputs, dashes, options = text.partition("--")
    own = [x for x in parameters(_OneModel) if isinstance(x, click.Option)]
    one = click.Command("MODEL", params=[*own], add_help_option=False)
    try:
        with one.make_context("MODEL", shlex.split(dashes + options)) as given:
            return f"model {number}", TypedModel(tuple(outputs.split(";")), **given.params).read()
    except (ValueError, click.UsageError) as error:
        why = error.format_message() if isinstance(error, click.UsageError) else error
        raise InputError(f"{text:.60}: {why}") from None


KINDS = ("decay", "momentum", "step", "noise")


@dataclass(frozen=True, kw_only=True)
class Perturb(OfModel, Checked):
    """Find what weight decay, momentum, finite steps or noise do to the regularizer of F."""

    by: str = option(..., "What perturbs the flow; several as a,b.", "|".join(KINDS))
    penalty: str | None = option(
        None, "With decay: a penalty h(w), decay -k(t) grad h in place of -k(t) w.", "H"
    )
    process: str | None = option(
        None,
        "With --mirror: steps, noise and momentum of mirror, the default, or of preconditioned.",
        "PROCESS",
    )

    def find(self, enter: Enter) -> Perturbation:
        """Return the drift of laws and dual coordinates."""
        if wrong := [kind for kind in self.by.split(",") if kind.strip() not in KINDS]:
            raise InputError(f"--by is one of {', '.join(KINDS)}, not {wrong[0]!r:.40}")
        from derive.perturbed.find import perturb

        more = {"penalty": self.penalty, "process": self.process}
        return perturb(derived(self.model, enter), self.by, enter, **more)

    def confirm(self, record: Perturbation, enter: Enter) -> Check:
        """Test the drift by perturbed flows of the weights."""
        enter("perturbed flow of the weights")
        from numerics.confirm.perturbed import confirm_perturbation

        return confirm_perturbation(record)


@dataclass(frozen=True, kw_only=True)
class Explicit(OfPolynomials, Recorded):
    """Find what explicit l2 regularization of the weights gives, beside the implicit Q."""

    cost: str = option(
        "", "Another cost than |w|^2: 3*u**2 + 5*v**2, max, trace-K, or log-det-K.", "H"
    )
    data: File | None = option(None, "With --cost trace-K or log-det-K: rows of data.", "FILE.csv")
    at: str = option("", "Certify values at a point: beta=2,alpha=1/2.", "NAME=V,...")

    def find(self, enter: Enter) -> ExplicitCounterpart | FibreCost:
        """Return the costs of F, with their values at the point."""
        from derive.exact.field.function_field import FunctionField
        from derive.exact.towers.tower import to_field
        from derive.language import parse_assignments

        model, point = self.model.read(), dict[str, Fraction]()
        if self.cost and self.at:
            raise InputError("--at is for R and R_F: leave it out with --cost")
        if self.data is not None and not self.cost:
            raise InputError("--data goes with --cost trace-K or log-det-K")
        for name, tree in read_option("--at", parse_assignments, self.at):
            try:
                value = to_field(tree, FunctionField(()), name)
            except (DeriveError, KeyError):
                value = None
            if value is None or not value.is_constant():
                raise InputError(f"--at: {name} needs a rational number, such as 1/2")
            point[name] = value.value()
        from derive.explicit.regularize import explicit_counterpart

        enter("parameterization")
        if self.cost:
            from numerics.margins.predictor import read_csv

            rows = () if self.data is None else read_csv(contents(self.data))[0]
            return explicit_counterpart(model.parameterization(), cost=self.cost, X=rows)
        return explicit_counterpart(model.parameterization(), enter, point)


@dataclass(frozen=True, kw_only=True)
class Optimizers(Recorded):
    """Say what an optimizer on a linear model X w spans, and what its limits minimise."""

    ids = "derive.optimizers.span:updates"
    name: str | None = option(None, metavar="[NAME]")

    def find(self, enter: Enter) -> Any:
        """Return the record of one, or of all."""
        from derive.optimizers import optimizer as of_table

        enter("optimizers")
        return of_table.optimizers() if self.name is None else of_table.optimizer(self.name)


@dataclass(frozen=True, kw_only=True)
class Parameterize(Recorded):
    """Find beta = F(w) whose gradient flow has the implicit regularizer Q, and prove it."""

    potentials: tuple[str, ...] = option((), metavar="[Q]...")
    start: str = option(
        "", "Where the flow starts: beta=1/2. By default where Q' = 0.", "BETA=V,..."
    )
    positive: str = option("", "Parameters that are positive.", "NAMES")

    def find(self, enter: Enter) -> InverseDesign:
        """Return F, or why there is none."""
        from derive.language import parse_assignments, parse_names, parse_outputs

        if not self.potentials:
            raise InputError("no potential: give Q(beta), such as beta*log(beta) - beta")
        try:
            terms = parse_outputs([text.lstrip() for text in self.potentials])
        except LanguageError as error:
            words = str(error).replace("output", "argument").replace("weight", "beta")
            raise InputError(words) from None
        starts = dict(read_option("--start", parse_assignments, self.start))
        positive = read_option("--positive", parse_names, self.positive)
        from derive.inverse.parameterize import parameterize

        enter("search for a parameterization")
        return parameterize(terms, None, starts, positive)


if TYPE_CHECKING:
    from derive.optimizers.saddle_path import SaddlePath
    from derive.perturbed.run import AuditedRun
    from derive.separable.find import Margins
    from numerics.margins.kkt import KKTPoint

NORMS = ("l1", "l2", "linf", "softmax", "dft", "nuclear", "l4/3")


@dataclass(frozen=True, kw_only=True)
class Margin(Steepest, OfModel, Recorded):
    """Find what gradient flow on F tends to on separable data, as in classification."""

    data: File | None = option(
        None,
        "Rows of features and a class, for the predictor of largest margin on them.",
        "FILE.csv",
    )
    norm: str = option(
        "", "With --data: the norm, where not that of the horizon of Q.", "|".join(NORMS)
    )
    shape: str = option("", "With --norm nuclear: features are matrices, by rows.", "NxM")
    kkt: bool = option(False, "With --data: a KKT point of the margin problem in the weights.")

    def find(self, enter: Enter) -> Margins:
        """Return what the flow tends to on separable data."""
        from derive.separable.find import margins

        return margins(derived(self.model, enter), enter)

    def _shape(self) -> tuple[int, int] | None:
        """Return the shape of features that are matrices; refuse options that do not fit."""
        if self.norm and self.data is None:
            raise InputError(f"--norm is {', '.join(NORMS)}, and goes with --data FILE.csv")
        if self.kkt and (self.data is None or self.norm or self.steepest):
            raise InputError("--kkt goes with --data FILE.csv, without --norm and --steepest")
        if (self.norm == "nuclear") != bool(self.shape):
            raise InputError(
                "--shape, such as 2x3, goes with --norm nuclear, and that with --shape"
            )
        size = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", self.shape)
        if self.shape and size is None:
            raise InputError(f"--shape must be two whole numbers such as 2x3, not {self.shape!r}")
        return size and (int(size[1]), int(size[2]))

    def answer(self, enter: Enter) -> Answer:
        """Add the predictor of largest margin on the data, or that they are not separable."""
        self.model.read()  # which refuses what is no F before data are read
        shape = self._shape()
        if self.data is None:
            return super().answer(enter)
        if self.form not in (TEXT, FORMS["json"]):
            raise InputError("--data is for text and --json: leave out --latex and --html")
        data = contents(self.data, "--data: ")
        enter("data")
        from numerics.margins.max_margin import NotSeparable, max_margin
        from numerics.margins.predictor import read_csv

        X, labels = read_csv(data)
        enter("importing the algebra")
        record = self.find(enter)
        p, features = record.derivation.parameterization, len(X[0])
        if p.affine:
            words = "outputs that are affine functions of others have no data here"
            raise InputError(f"--data: {words}")
        if p.d > 1 and p.d != features:  # one output, or a vector, stands for any number of them
            raise InputError(f"--data has {features} features, but F has {p.d} outputs")
        answer = answer_with(record, self.form, enter)
        enter.keep_unfinished(answer)
        if self.kkt:
            return with_data(answer, _kkt_point(record, X, labels, enter), self.form)
        enter("largest margin")
        try:
            copies = features // p.d
            sides = () if self.norm else record.sides * copies
            norm = self.norm or ("l1" if sides else _norm(record))
            found = max_margin(X, labels, norm, shape, sides=sides)
            return with_data(answer, found, self.form)
        except NotSeparable as none:
            return replace(with_data(answer, none.certificate, self.form), code=NO)


def _kkt_point(record: Margins, X: object, labels: Sequence[str], enter: Enter) -> KKTPoint:
    """Return a KKT point of the margin problem in the weights on rows of two classes."""
    from derive.model.restriction import leave_out
    from numerics.margins.kkt import kkt_point
    from numerics.margins.predictor import fold

    p = leave_out(record.derivation.parameterization, record.derivation.idle)
    folded, graded = fold(X, labels), record.weights.grading is not None
    if folded.several or p.vectors or p.geometry.functions or graded:
        words = "weights of given number that are scaled alike, and gradient flow without rates"
        raise InputError(f"--kkt is of two classes, {words}")
    enter("a KKT point")
    return kkt_point(p, [[Fraction(x, folded.scale) for x in row] for row in folded.rows])


def _norm(record: Margins) -> str:
    """Return the norm of the horizon, or of steepest descent, where margins are computed in it."""
    if re.fullmatch(r"l[0-9]+/[0-9]+", record.norm or "") and Fraction(str(record.norm)[1:]) < 1:
        raise NumericalError(
            f"{record.norm} is no norm, as it is not convex: no margin is computed"
        )
    if re.fullmatch(r"l(?:[0-9/]+|inf)|\|DFT\|_1", record.norm or ""):
        return "dft" if record.norm == "|DFT|_1" else str(record.norm)
    shape, none = record.shape, "Q has no horizon"
    if shape.cone is not None:
        cone = str(shape.cone).replace("Abs(", "abs(")
        none = f"the horizon of Q is {cone} on the beta that are reached alone"
    what = none if record.norm is None else f"the horizon of Q is {record.norm}"
    raise NumericalError(
        f"{what}: give a norm in which margins are computed, --norm {', '.join(NORMS)}"
    )


@dataclass(frozen=True, kw_only=True)
class Path(OfModel, Recorded):
    """Follow gradient flow on data as its start tends to 0: plateaus, jumps, and where it ends."""

    data: File | None = option(None, "Rows of features and y.", "FILE.csv")
    scale: str = option(
        SCALE, "The start symbol that tends to a limit; a new name scales the whole start.", "NAME"
    )
    figure: File | None = option(None, "Draw the limit to a PNG, SVG or PDF file.", "FILE")

    def find(self, enter: Enter) -> SaddlePath:
        """Return the path on the data."""
        from derive.language import parse_names

        if self.data is None:
            raise InputError("give the data: --data FILE.csv")
        check_picture(self.figure, "--figure")
        (name,) = parse_names(self.scale)[:1] or ("",)
        self.model.read()
        text = contents(self.data, "--data: ")
        from numerics.margins.predictor import read_csv
        from numerics.optimizers.steepest import saddle_path

        X, y = read_csv(text)
        return saddle_path(derived(self.model, enter, name), X, y, name)

    def complete(self, record: SaddlePath, answer: Answer, enter: Enter) -> Answer:
        """Draw the path where that is asked for."""
        if self.figure is None:
            return answer
        enter("flows from three starts")
        from numerics.figures.derived import plateaus
        from numerics.figures.display import arranged, save

        save(arranged([plateaus(record)]), self.figure)
        return answer.saying(f"{self.figure}")


@dataclass(frozen=True, kw_only=True)
class Run(OfModel, Recorded):
    """Audit a training run: is it gradient descent on F, what drifted, and where does it lead?"""

    log: File | None = option(None, "The weights after each step.", "FILE.npz")
    data: File | None = option(None, "The arrays X and y.", "FILE.npz")
    every: int | None = option(None, "The log has every N-th step alone.", "N", at_least=1)

    def find(self, enter: Enter) -> AuditedRun:
        """Return what the log shows."""
        if self.log is None or self.data is None:
            raise InputError("give the log and the data: --log FILE.npz --data FILE.npz")
        for file, name in ((self.log, "--log"), (self.data, "--data")):
            if not file.is_file():
                raise InputError(f"{name}: there is no file {file}")
        model = self.model.read()
        from numerics.confirm.audit import audit_run, read_arrays

        enter("parameterization")
        p = model.parameterization()
        arrays, given = read_arrays(self.log, "--log"), read_arrays(self.data, "--data")
        if missing := [name for name in ("X", "y") if name not in given]:
            raise InputError(f"--data: {self.data} has no array {' nor '.join(missing)}")
        enter("the log")
        weights: Any = arrays.get("weights", arrays)
        every = 1 if self.every is None else self.every
        if self.every is None and "every" in arrays and "every" not in p.weights:
            if arrays["every"].size != 1 or arrays["every"].dtype.kind != "i":
                raise InputError(f"--log: every in {self.log} is no whole number")
            every = arrays["every"].item()
        return audit_run(p, weights, given["X"], given["y"], arrays.get("steps"), every=every)


@dataclass(frozen=True, kw_only=True)
class Univariate(Command):
    """Find the function that wide shallow nets on the line tend to under mirror flow."""

    data: File | None = option(None, "Rows x,y.", "FILE.csv")
    potential: str = option("x**2", "phi, convex, in one name.", "PHI")
    activation: str = option("relu", "The activation sigma.", "relu|abs")
    density: str = option("uniform", "Density of the biases: an even expression.", "P")
    scaled: bool = option(False, "The potential n^-2 sum phi(n (theta - theta(0))).")
    check: bool = option(False, "Compare with quadrature and a trained net.")
    figure: File | None = option(None, "Draw the limit to a PNG, SVG or PDF file.", "FILE")
    form: Form = offer_page()
    timeout: float = time_limit(120.0)

    def answer(self, enter: Enter) -> Answer:
        """Return the variational problem, and with data its solution on their rows."""
        if self.data is None and (self.check or self.figure):
            raise InputError("--check and --figure go with --data FILE.csv")
        if self.data is not None and self.form.name not in ("text", "json"):
            raise InputError(f"--data is for text and --json: leave out --{self.form.name}")
        use_one_thread()
        check_picture(self.figure, "--figure")
        text = "" if self.data is None else contents(self.data, "--data: ")
        enter("importing the algebra")
        from derive.univariate.problem import (
            read_activation,
            read_density,
            read_potential,
            variational_problem,
        )

        potential, activation = read_potential(self.potential), read_activation(self.activation)
        density = read_density(self.density)
        problem = variational_problem(potential, activation, density, self.scaled)
        if self.data is None:
            return Answer(rendered(problem, self.form))
        enter("limit function")
        from numerics.univariate.limit_function import limit_of
        from numerics.univariate.report import DataReport, checks, read_points

        h = limit_of(problem, *read_points(text))
        if self.figure is not None:
            from numerics.figures import own as displays
            from numerics.figures.display import arranged, save

            save(arranged(displays.limit(h)), self.figure, "--figure")
        enter("report")
        report = DataReport(h, checks(h) if self.check else {})
        return with_data(Answer(rendered(problem, self.form)), report, self.form)
