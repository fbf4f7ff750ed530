"""What more is found of F, by ``derive regimes``, ``compare``, ``perturb`` and ``parameterize``.

And of linear models, by ``derive optimizers``.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from derive.cli.options import OfModel, OfPolynomials, Steepest, parameters
from derive.cli.output import contents
from derive.cli.recorded import Checked, Recorded, derived
from derive.cli.running import Enter
from derive.errors import DeriveError, InputError, LanguageError
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
    data: Path | None = option(None, "With --cost trace-K or log-det-K: rows of data.", "FILE.csv")
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
