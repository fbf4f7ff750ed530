"""The command ``derive figure``: pictures of regularizers, every curve derived."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from derive.cli.forms import TEXT, Form, offer
from derive.cli.options import Command, OfModel, time_limit
from derive.cli.output import check_picture, check_writable
from derive.cli.running import Answer, Enter, finish, use_one_thread
from derive.errors import InputError
from derive.model.typed import TypedModel
from derive.option import option

SUFFIXES = (".png", ".pdf", ".svg")


@dataclass(frozen=True, kw_only=True)
class Figure(OfModel, Command):
    """List the figures, or draw one: Q, unit balls and level sets, and explicit counterparts."""

    ids = "numerics.figures.gallery:figures"
    of: bool = option(False, "Draw Q of an F of your own: OUTPUTs follow.")
    values: str = option("", "With --of: numbers for start symbols, alpha=0.1.", "W=V,...")
    form: Form = offer("json", "csv")
    timeout: float = time_limit(120.0)

    def _picture(self) -> Path | None:
        """Return the file of the picture, where one is drawn."""
        typed = self.of or self.values or self.form is not TEXT or self.output is not None
        if not self.outputs and typed:
            raise InputError("--of goes with OUTPUTs; -o, --json and --csv go with an ID too")
        if not self.outputs:
            return None
        use_one_thread()
        name = "figure"
        if self.of:
            self.model.read()  # which refuses what is no F before time is spent
        elif self.values or self.model != TypedModel(self.outputs[:1]):
            raise InputError('give one ID, or --of and an F: derive figure --of "a*u1" "a*u2"')
        else:
            from numerics.figures.gallery import find

            name = find(self.outputs[0]).id
        if self.form is not TEXT:
            return None
        path = self.output or Path(f"{name}.png")
        if path.suffix.lower() not in SUFFIXES:
            raise InputError(f"-o: {path} must end in {', '.join(SUFFIXES)}")
        check_picture(path, "-o")
        return path

    def run(self) -> int:
        """Draw the figure and print its caption, or print what is listed or its numbers."""
        output = None if self.form is TEXT else self.output
        check_writable(output)
        return finish(self.answer, self.timeout, output)

    def answer(self, enter: Enter) -> Answer:
        """List the figures, draw one, or print its numbers."""
        picture = self._picture()
        enter("importing the algebra")
        from numerics.figures.display import arranged, save
        from numerics.figures.gallery import caption, figures, find, to_csv, to_json
        from numerics.figures.own import own_figure

        if not self.outputs:
            return Answer("\n".join(f"{f.id}\n  {f.title}" for f in figures()))
        begun = time.monotonic()
        figure = own_figure(self.model, self.values) if self.of else find(self.outputs[0])
        enter(figure.title)
        panels = figure.panels()
        if picture is not None:
            save(arranged(panels, figure.title), picture)
            return Answer(f"{caption(figure)}\n\n{picture} ({time.monotonic() - begun:.1f} s)")
        return Answer(to_json(figure, panels) if self.form.name == "json" else to_csv(panels))
