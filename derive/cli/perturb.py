"""The command ``derive perturb``: decay, momentum, steps and noise beside gradient flow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from derive.cli.forms import RecordForm, refuse_check
from derive.cli.options import Model, Output, Timeout, text_option
from derive.cli.output import check_writable
from derive.cli.running import Enter, find_and_answer, finish
from derive.errors import InputError

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
    if check:
        refuse_check(form)
    check_writable(output)

    def find(enter: Enter) -> Perturbation:
        from derive.derivation import derive
        from derive.perturbed import find as perturbed

        enter("parameterization")
        derivation = derive(read.parameterization(), enter)
        return perturbed.perturb(derivation, by, enter, penalty=penalty, process=process)

    work = partial(find_and_answer, find, form, _confirm if check else None)
    finish(work, timeout, output)


def _confirm(found: Perturbation, enter: Enter) -> tuple[str, bool]:
    """Test the drift by perturbed flows of the weights."""
    enter("perturbed flow of the weights")
    from numerics.confirm.perturbed import confirm_perturbation

    confirmed = confirm_perturbation(found)
    return confirmed.report(), confirmed.passed
