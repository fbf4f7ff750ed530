"""The command ``derive explore``: a page with a picture of Q and the flow that one moves."""

from __future__ import annotations

import tempfile
import webbrowser
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from derive.cli.options import Command, OfModel
from derive.cli.output import check_writable
from derive.cli.recorded import EXIT
from derive.cli.running import NO, UNDECIDED, YES, Answer, Enter, finish
from derive.errors import NumericalError
from derive.model.typed import ReadModel
from derive.option import option


@dataclass(frozen=True, kw_only=True)
class Explore(OfModel, Command):
    """Write a page on which one sees what gradient flow on F minimises: one file, no network.

    Of one output: two copies of F, with the level sets of Q(beta_1) + Q(beta_2). Drag the two
    handles of the data line x . beta = y; sliders set the start. In the browser the flow of the
    weights is integrated from F alone, and the minimiser of Q on the line is found from Q alone:
    they meet, and their distance is printed. Several outputs are drawn in a plane of two, with the
    warp g along the path. Where it is proved that there is no Q, two ways to one beta are drawn,
    with what steered them. The theorem stands beside it.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`. Vectors need a
    dimension, as --vector u:2.

    Exit status: 0 Q exists; 1 proved that there is none; 2 bad input; 3 undecided, no formula of
    Q, or out of time (no page is written).

    \b
    Examples:
      derive explore "p**2 - m**2" --start p=alpha,m=alpha -o tied.html --open
      derive explore "a*u1" "a*u2" -o neuron.html
      derive explore "w**2" --open
      derive explore "a**2 + b**2" "a*c + b*d" "c**2 + d**2" -o none.html
    """

    open: bool = option(False, "Open the page in a browser.")

    def read(self) -> ReadModel:
        """Return F and the start."""
        return self.model.read()

    def answer(self, read: ReadModel, enter: Enter) -> Answer:
        """Derive, and write the page."""
        enter("importing the algebra")
        from derive.derivation import derive

        enter("parameterization")
        derivation = derive(read.parameterization(), enter, timeout=enter.share)
        enter("drawing")
        code = EXIT[derivation.verdict.value]
        try:
            return Answer(derivation.explore().text, code)
        except NumericalError as error:
            return Answer("", UNDECIDED, f"derive: {error}")

    def run(self) -> int:
        """Write the page, and open it where that is asked."""
        read, output = self.read(), self.output
        check_writable(output)
        if self.open and output is None:
            output = Path(tempfile.mkdtemp(prefix="derive-")) / "explore.html"
        code = finish(partial(self.answer, read), self.timeout, output)
        if self.open and output is not None and code in (YES, NO):
            webbrowser.open(output.resolve().as_uri())
        return code
