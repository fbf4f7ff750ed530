"""The command ``derive perturb``: decay, momentum, steps and noise beside gradient flow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from derive.cli.forms import TEXT, Form, RecordForm
from derive.cli.options import Model, Output, Timeout, text_option
from derive.cli.output import check_writable
from derive.cli.running import UNDECIDED, Answer, Enter, answer_with, finish
from derive.errors import DeriveError, InputError
from derive.model.typed import ReadModel

if TYPE_CHECKING:
    from derive.perturbed.record import Perturbation

KINDS = ("decay", "momentum", "step", "noise")
By = Annotated[
    str,
    typer.Option("--by", help="What perturbs the flow; several as a,b.", metavar="|".join(KINDS)),
]
Check = Annotated[bool, typer.Option("--check", help="Confirm by precise flows of the weights.")]

Penalty = Annotated[
    str | None,
    text_option("H", "With decay: a penalty h(w), decay -k(t) grad h in place of -k(t) w."),
]
Process = Annotated[
    str | None,
    text_option(
        "PROCESS",
        "With --mirror: steps, noise and momentum of mirror, the default, or of preconditioned.",
    ),
]


def perturb(
    *,
    model: Model,
    by: By,
    penalty: Penalty = None,
    process: Process = None,
    check: Check = False,
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
    decay,momentum and the like: several at once.

    With --mirror these are steps, noise and momentum of theta = grad psi(w), mirror descent;
    with --process preconditioned those of w, gradients times (Hess psi)^-1. Their flow is one, and
    their drifts are not.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`. One output stands for
    copies of it, one for each feature.

    Exit status: 0 the drift is a function of the laws alone; 1 it is not, or there is no Q; 2 bad
    input; 3 neither is proved, --check did not confirm it, or out of time. The drift is printed
    all the same, and what the limit minimises has a verdict of its own.

    \b
    Examples:
      derive perturb "p**2 - m**2" --start p=alpha,m=alpha --by decay
      derive perturb "p**2 - m**2" --start p=alpha,m=alpha --by momentum
      derive perturb "p**2 - m**2" --start p=alpha,m=alpha --by noise --check
      derive perturb "p**2 - m**2" --by decay --penalty "(p**2 + 3*m**2)/2"
      derive perturb "a*u" --vector u --by decay
      derive perturb "a*u1" "a*u2" --rates a=eta --by decay,momentum
      derive perturb "p - m" --mirror "p*log(p) + m*log(m)" --by noise
      derive perturb "w" --mirror "w*log(w)" --by noise --process preconditioned
    """
    read = model.read()
    if wrong := [kind for kind in by.split(",") if kind.strip() not in KINDS]:
        raise InputError(f"--by is one of {', '.join(KINDS)}, not {wrong[0]!r:.40}")
    if check and form is not TEXT:
        raise InputError("--check is for text: leave out --json, --html or --latex")
    check_writable(output)
    added = _with_check if check else _alone
    finish(partial(_answer, read, (by, penalty, process), form, added), timeout, output)


Added = Callable[["Perturbation", Answer, Enter], Answer]


def _answer(
    model: ReadModel,
    given: tuple[str, str | None, str | None],
    form: Form,
    added: Added,
    enter: Enter,
) -> Answer:
    enter("importing the algebra")
    from derive.derivation import derive
    from derive.perturbed.find import perturb

    enter("parameterization")
    by, penalty, process = given
    derivation = derive(model.parameterization(), enter)
    found = perturb(derivation, by, enter, penalty=penalty, process=process)
    return added(found, answer_with(found, form, enter), enter)


def _alone(found: Perturbation, answer: Answer, enter: Enter) -> Answer:
    return answer


def _with_check(found: Perturbation, answer: Answer, enter: Enter) -> Answer:
    """Add what perturbed flows of the weights say."""
    enter.keep_unfinished(answer)
    enter("perturbed flow of the weights")
    from numerics.confirm.perturbed import confirm_perturbation

    try:
        check = confirm_perturbation(found)
        lines, code = check.report(), answer.code if check.passed else UNDECIDED
    except DeriveError as error:
        lines, code = f"--check: could not be done: {error}", UNDECIDED
    return replace(answer, result=f"{answer.result}\n\n{lines}", code=code)
