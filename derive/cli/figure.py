"""The command ``derive figure``: pictures of regularizers, every curve derived."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from derive.cli.forms import TEXT, Form, offer
from derive.cli.options import Command, OfModel, time_limit
from derive.cli.output import check_writable, deliver
from derive.cli.running import YES, Answer, Enter, finish, run, use_one_thread
from derive.errors import InputError
from derive.model.typed import TypedModel
from derive.option import option

if TYPE_CHECKING:
    from numerics.figures.display import Display
    from numerics.figures.gallery import Published

SUFFIXES = (".png", ".pdf", ".svg")


@dataclass(frozen=True, kw_only=True)
class Figure(OfModel, Command):
    """List the figures, or draw one: Q, unit balls and level sets, and explicit counterparts.

    Without ID the figures are listed. With ID the figure is drawn to FILE.png, FILE.pdf or
    FILE.svg as -o says, else to ID.png; with --json or --csv its numbers are printed instead,
    or written to the text file of -o. With --of the OUTPUTs are an F of your own, one or two
    components: its Q is drawn at the start of --values, or at three scales of a simple one.

    Each curve is derived from F when it is drawn. Drawing needs matplotlib (pip install
    'regderive[plot]'); --json and --csv do not.

    Exit status: 0 listed, drawn or printed; 2 bad input, or no matplotlib; 3 a curve was not
    found, or out of time.

    \b
    Examples:
      derive figure
      derive figure diagonal-balls
      derive figure neuron-levels -o neuron.pdf
      derive figure implicit-explicit --csv -o curves.csv
      derive figure --of "a*u1" "a*u2" -o neuron.png
      derive figure --of "p**3 - m**3" --start p=alpha,m=alpha --values alpha=0.1
    """

    of: bool = option(False, "Draw Q of an F of your own: OUTPUTs follow.")
    values: str = option("", "With --of: numbers for start symbols, alpha=0.1.", "W=V,...")
    form: Form = offer("json", "csv")
    timeout: float = time_limit(120.0)

    def run(self) -> int:
        """List the figures, draw one, or print its numbers."""
        typed = self.of or self.values or self.form is not TEXT or self.output is not None
        if not self.outputs and typed:
            raise InputError("--of goes with OUTPUTs; -o, --json and --csv go with an ID too")
        use_one_thread()
        from numerics.figures.gallery import figures, find

        if not self.outputs:
            deliver("\n".join(f"{f.id}\n  {f.title}" for f in figures()), None)
            return YES
        name = "figure"
        if self.of:
            self.model.read()  # which refuses what is no F before time is spent
        elif self.values or self.model != TypedModel(self.outputs[:1]):
            raise InputError('give one ID, or --of and an F: derive figure --of "a*u1" "a*u2"')
        else:
            name = find(self.outputs[0]).id
        if self.form is TEXT:
            return self.draw(self.output or Path(f"{name}.png"))
        check_writable(self.output)
        return finish(self.table, self.timeout, self.output)

    def draw(self, path: Path) -> int:
        """Draw the figure to a file."""
        from numerics.figures.display import arranged, require_matplotlib, save

        require_matplotlib()
        if path.suffix.lower() not in SUFFIXES:
            raise InputError(f"-o: {path} must end in {', '.join(SUFFIXES)}")
        check_writable(path)
        begun = time.monotonic()
        title, caption, panels = run(self.panels, self.timeout)
        save(arranged(panels, title), path)
        deliver(f"{caption}\n\n{path} ({time.monotonic() - begun:.1f} s)", None)
        return YES

    def panels(self, enter: Enter) -> tuple[str, str, list[Display]]:
        """Return the title, caption and panels of the figure; this runs in the child."""
        from numerics.figures.tables import caption

        figure = self.figure(enter)
        return figure.title, caption(figure), figure.panels()

    def table(self, enter: Enter) -> Answer:
        """Return the numbers of the figure; this runs in the child."""
        from numerics.figures.tables import to_csv, to_json

        figure = self.figure(enter)
        panels = figure.panels()
        json = self.form.name == "json"
        return Answer(to_json(figure, panels) if json else to_csv(panels))

    def figure(self, enter: Enter) -> Published:
        """Return the figure that is asked for."""
        enter("importing the algebra")
        from numerics.figures.gallery import find
        from numerics.figures.own import own_figure

        figure = own_figure(self.model, self.values) if self.of else find(self.outputs[0])
        enter(figure.title)
        return figure
