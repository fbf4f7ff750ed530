"""The command ``derive optimizers``: what they span and minimise on linear models."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from derive.cli.forms import RecordForm
from derive.cli.options import Output, Timeout, argument
from derive.cli.output import check_writable
from derive.cli.running import Concluded, Enter, find_and_answer, finish

Name = Annotated[str | None, argument("NAME")]


def optimizers(
    name: Name = None, *, form: RecordForm, output: Output = None, timeout: Timeout = 60.0
) -> None:
    """Say what an optimizer on a linear model X w spans, and what its limits minimise.

    Without NAME all are listed. An optimizer is a record: its update, as formulas. What is said of
    it is computed from these: whether the iterates, or their dual points, stay in w_0 + row(X), as
    an identity modulo the rows of X; if so what a limit with X w = y minimises, and whether each
    iterate does so among those with margins at least its own; if not, residuals at which the first
    steps are independent, which no potential allows, and data on which the limit is not the
    interpolant of least norm, with one that is shorter. What is known of the direction under losses
    with an exponential tail is cited, with its hypotheses.

    Exit status: 0 listed; with NAME 0 there is such a law, 1 there is none; 2 bad input;
    3 undecided or out of time.

    \b
    Examples:
      derive optimizers
      derive optimizers momentum
      derive optimizers coordinate-descent --json
      derive optimizers adagrad --latex --standalone
    """
    check_writable(output)

    def find(enter: Enter) -> Concluded:
        from derive.optimizers import optimizer as found

        enter("optimizers")
        return found.optimizers() if name is None else found.optimizer(name)

    finish(partial(find_and_answer, find, form, None), timeout, output)
