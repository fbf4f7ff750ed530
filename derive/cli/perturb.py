"""The command ``derive perturb``: decay, momentum, steps and noise beside gradient flow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from derive.cli.options import OfModel
from derive.cli.recorded import Checked
from derive.cli.running import Enter
from derive.errors import InputError
from derive.model.typed import ReadModel
from derive.option import option

if TYPE_CHECKING:
    from derive.perturbed.record import Perturbation

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

    by: str = option(..., "What perturbs the flow; several as a,b.", "|".join(KINDS))
    penalty: str | None = option(
        None, "With decay: a penalty h(w), decay -k(t) grad h in place of -k(t) w.", "H"
    )
    process: str | None = option(
        None,
        "With --mirror: steps, noise and momentum of mirror, the default, or of preconditioned.",
        "PROCESS",
    )

    def read(self) -> ReadModel:
        """Return F and its start."""
        if wrong := [kind for kind in self.by.split(",") if kind.strip() not in KINDS]:
            raise InputError(f"--by is one of {', '.join(KINDS)}, not {wrong[0]!r:.40}")
        return self.model.read()

    def find(self, read: ReadModel, enter: Enter) -> Perturbation:
        """Return the drift of laws and dual coordinates."""
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
