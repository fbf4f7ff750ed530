"""The command ``derive optimizers``: what they span and minimise on linear models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from derive.cli.recorded import Recorded
from derive.cli.running import Enter
from derive.option import option


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

    Exit status: 0 listed; with NAME 0 there is such a law, 1 there is none; 2 bad input;
    3 undecided or out of time.

    \b
    Examples:
      derive optimizers
      derive optimizers momentum
      derive optimizers coordinate-descent --json
      derive optimizers adagrad --latex --standalone
    """

    name: str | None = option(None, metavar="[NAME]")

    def find(self, read: None, enter: Enter) -> Any:
        """Return the record of one, or of all."""
        from derive.optimizers import optimizer as of_table

        enter("optimizers")
        return of_table.optimizers() if self.name is None else of_table.optimizer(self.name)
