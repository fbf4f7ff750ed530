"""What more is found of F, by ``derive regimes``, ``compare``, ``perturb`` and ``parameterize``.

And of linear models, by ``derive optimizers``.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from derive.cli.options import OfModel, OfPolynomials, Steepest, parameters
from derive.cli.recorded import Checked, Recorded
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
    from derive.model.parameterization import Parameterization
    from derive.perturbed.record import Perturbation

SCALE, TO = "alpha", "0,oo"


def scaled(model: ReadModel, name: str) -> Parameterization:
    """Return F from the start that a name scales, which is positive where the start uses it."""
    from derive.language import names
    from derive.limits.limit import with_scale

    if name in names(tuple(model.start.values())):
        model = replace(model, positive=tuple(dict.fromkeys((*model.positive, name))))
    return with_scale(model.parameterization(), name)


@dataclass(frozen=True, kw_only=True)
class Regimes(Steepest, OfModel, Checked):
    """Find what Q tends to as the start is scaled, or in any symbol of the start.

    Kernel regime: Q tends to the squared norm of the tangent kernel at the start. Rich regime:
    to an l1 norm. Anti-NTK regime: to an increasing function of the l2 norm. The start symbol
    is positive; a name that the start does not have scales the whole start. A depth that is a
    symbol, D in p**D, is assumed to be above 2. With --width the start is random, and the sum of
    many copies of F is in one regime or the other with a probability that tends to 1.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`; with a vector of open
    dimension the limits hold in every one. Of the record of --json `derive check` certifies Q; the
    limits are shown by the expansions that their page prints.
    """

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
        from derive.derivation import derive
        from derive.limits.find import regimes

        enter("parameterization")
        return regimes(derive(scaled(model, name), enter), name, self.to.split(","), enter)

    def confirm(self, record: Any, enter: Enter) -> tuple[str, bool]:
        """Test the limits of grad Q at two scales, or by random draws how often Q is in either."""
        from numerics.confirm.limits import confirm_limits, confirm_width

        if self.width:
            enter("random draws")
            confirmed = confirm_width(record)
            return confirmed.report(), confirmed.passed
        enter("numbers at two scales")
        confirmations = confirm_limits(record)
        lines = [c.report() for c in confirmations] or ["there is no limit to check"]
        return "\n".join(lines), all(c.passed for c in confirmations)


@dataclass(frozen=True, kw_only=True)
class _OneModel(Steepest, OfModel):
    """The options that one of several models may have."""


@dataclass(frozen=True, kw_only=True)
class Compare(Recorded):
    """Show models, or one from several starts, side by side.

    Of each: Q, K, the warp, what Q tends to as the start is scaled by alpha, the horizon, which
    norm has the margin on separable data, and what one step of gradient descent does to the laws.

    Each MODEL is an ID of `derive catalogue`, or F as a text: its outputs with ; between them,
    and behind them its options, as those of `derive regularizer`.
    """

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
            return str(number), TypedModel(tuple(outputs.split(";")), **given.params).read()
    except (ValueError, click.UsageError) as error:
        why = error.format_message() if isinstance(error, click.UsageError) else error
        raise InputError(f"{text:.60}: {why}") from None


KINDS = ("decay", "momentum", "step", "noise")


@dataclass(frozen=True, kw_only=True)
class Perturb(OfModel, Checked):
    """Find what weight decay, momentum, finite steps or noise do to the regularizer of F.

    Each moves the conserved quantities c and the dual coordinates y = grad Q of gradient flow, and
    their drift is an exact function of the weights. Where it closes, the start from which plain
    gradient flow has the same laws is printed: its Q is what the limit minimises, apart from a
    shift xi of y. Otherwise the drift is printed as it is.

    decay: w' = grad part - k(t) w. For homogeneous F it shrinks the start, and does nothing else.
    momentum: lam w'' + w' = grad part, or Nesterov's damping; which laws grow or fall.
    step: one step of any size along any gradient, so gradient descent and SGD.
    noise: of the residuals, as of SGD or of labels: its covariance moves c and y.
    decay,momentum and the like: several at once.

    With --mirror these are steps, noise and momentum of theta = grad psi(w), mirror descent;
    with --process preconditioned those of w, gradients times (Hess psi)^-1. Their flow is one, and
    their drifts are not.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`. One output stands for
    copies of it, one for each feature.
    """

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
        read = self.model.read()
        from derive.derivation import derive
        from derive.perturbed.find import perturb

        enter("parameterization")
        derivation = derive(read.parameterization(), enter)
        more = {"penalty": self.penalty, "process": self.process}
        return perturb(derivation, self.by, enter, **more)

    def confirm(self, record: Perturbation, enter: Enter) -> tuple[str, bool]:
        """Test the drift by perturbed flows of the weights."""
        enter("perturbed flow of the weights")
        from numerics.confirm.perturbed import confirm_perturbation

        confirmed = confirm_perturbation(record)
        return confirmed.report(), confirmed.passed


@dataclass(frozen=True, kw_only=True)
class Explicit(OfPolynomials, Recorded):
    """Find what explicit l2 regularization of the weights gives, beside the implicit Q.

    R(beta) = min |w - w_0|^2 and R_F(beta) = min |w|^2, both subject to F(w) = beta, for F
    polynomial: the polynomial of all critical values by exact elimination, and which of its
    roots is the minimum, certified in balls. Then where R and the implicit regularizer Q of
    gradient flow differ, and the limit of R as the start goes to 0.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`. Where the root
    depends on several numbers it is certified at single points: --at gives one. Outputs that are
    products of vectors or matrices may have R_F in closed form. A vector of open dimension starts
    at 0: give u=0 in --start. With --cost it is the least of another cost, a sum of c*abs(w)**p,
    or of tr K, where F is a sum of monomials without common weights.
    """

    cost: str = option("", "Another cost than |w|^2: 3*u**2 + 5*v**2, or trace-K.", "H")
    at: str = option("", "Certify values at a point: beta=2,alpha=1/2.", "NAME=V,...")

    def find(self, enter: Enter) -> ExplicitCounterpart | FibreCost:
        """Return the costs of F, with their values at the point."""
        from derive.exact.field.function_field import FunctionField
        from derive.exact.towers.tower import to_field
        from derive.language import parse_assignments

        model, point = self.model.read(), dict[str, Fraction]()
        if self.cost and self.at:
            raise InputError("--at is for R and R_F: leave it out with --cost")
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
            return explicit_counterpart(model.parameterization(), cost=self.cost)
        return explicit_counterpart(model.parameterization(), enter, point)


@dataclass(frozen=True, kw_only=True)
class Optimizers(Recorded):
    """Say what an optimizer on a linear model X w spans, and what its limits minimise.

    Without NAME all are listed. An optimizer is a record: its update, as formulas. What is said of
    it is computed from these: whether the iterates, or their dual points, stay in w_0 + row(X), as
    an identity modulo the rows of X; if so what a limit with X w = y minimises, and whether each
    iterate does so among those with margins at least its own; if not, residuals at which the first
    steps are independent, which no potential allows, and data on which the limit is not the
    interpolant of least norm, with one that is shorter. What is known of the direction under losses
    with an exponential tail is cited, with its hypotheses.
    """

    ids = "derive.optimizers.span:updates"
    name: str | None = option(None, metavar="[NAME]")

    def find(self, enter: Enter) -> Any:
        """Return the record of one, or of all."""
        from derive.optimizers import optimizer as of_table

        enter("optimizers")
        return of_table.optimizers() if self.name is None else of_table.optimizer(self.name)


@dataclass(frozen=True, kw_only=True)
class Parameterize(Recorded):
    """Find beta = F(w) whose gradient flow has the implicit regularizer Q, and prove it.

    Q is separable: one argument for each coordinate, in the names beta or beta1, beta2, ...
    Other names are parameters. For one weight F'(w)^2 = 1/Q''(beta), up to the unit of Q.
    """

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
