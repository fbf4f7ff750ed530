"""The command ``derive perturb``: decay, momentum, steps and noise beside gradient flow."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from derive.cli.forms import Form, RecordForm
from derive.cli.options import Model, Output, Timeout, text_option
from derive.cli.output import check_writable
from derive.cli.running import Answer, Enter, answer_with, finish
from derive.errors import InputError
from derive.model.typed import ReadModel

KINDS = ("decay", "momentum", "step", "noise")
By = Annotated[str, typer.Option("--by", help="What perturbs the flow.", metavar="|".join(KINDS))]

Penalty = Annotated[
    str, text_option("H", "With decay: a penalty h(w), decay -k(t) grad h in place of -k(t) w.")
]


def perturb(
    *,
    model: Model,
    by: By,
    penalty: Penalty = "",
    form: RecordForm,
    output: Output = None,
    timeout: Timeout = 60.0,
) -> None:
    """Find what weight decay, momentum, finite steps or noise do to the regularizer of F.

    Each moves the conserved quantities c and the dual coordinates y = grad Q of gradient flow, and
    their drift is an exact function of the weights. Where it closes, the start from which plain
    gradient flow has the same laws is printed: its Q is what the limit minimises, apart from a
    shift xi of y. Otherwise the drift is printed as it is.

    decay: w' = grad part - k(t) w. For homogeneous F it shrinks the start, and does nothing else.
    momentum: lam w'' + w' = grad part, or Nesterov's damping; which laws grow or fall.
    step: one step of any size along any gradient, so gradient descent and SGD.
    noise: of the residuals, as of SGD or of labels: its covariance moves c and y.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`. One output stands for
    copies of it, one for each feature.

    Exit status: 0 c and y follow a system of their own; 1 there is no Q; 2 bad input; 3 neither is
    proved, or out of time: the drift is printed all the same.

    \b
    Examples:
      derive perturb "p**2 - m**2" --start p=alpha,m=alpha --by decay
      derive perturb "p**2 - m**2" --start p=alpha,m=alpha --by momentum
      derive perturb "p**2 - m**2" --start p=alpha,m=alpha --by noise
      derive perturb "p**2 - m**2" --by decay --penalty "(p**2 + 3*m**2)/2"
      derive perturb "a*u" --vector u --by decay
      derive perturb "a*u1" "a*u2" --rates a=eta --by step
    """
    read = model.read()
    if by not in KINDS:
        raise InputError(f"--by is one of {', '.join(KINDS)}, not {by!r:.40}")
    check_writable(output)
    finish(partial(_find, read, by, penalty, form), timeout, output)


def _find(model: ReadModel, by: str, penalty: str, form: Form, enter: Enter) -> Answer:
    enter("importing the algebra")
    from derive.derivation import derive
    from derive.perturbed.find import perturb

    enter("parameterization")
    derivation = derive(model.parameterization(), enter)
    found = perturb(derivation, by, enter, penalty=penalty or None)
    return answer_with(found, form, enter)
