"""The command ``derive figure``: pictures of regularizers, every curve derived."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from derive.cli.forms import TEXT, Form, offer
from derive.cli.options import Model, Output, Timeout, text_option
from derive.cli.output import check_writable, deliver
from derive.cli.running import Answer, Enter, finish, run, use_one_thread
from derive.errors import InputError
from derive.model.typed import TypedModel

if TYPE_CHECKING:
    from numerics.figures.display import Display
    from numerics.figures.gallery import Published

SUFFIXES = (".png", ".pdf", ".svg")
Make: TypeAlias = Callable[[], "Published"]
NumbersForm: TypeAlias = Annotated[Form, offer("json", "csv")]
Own = Annotated[bool, typer.Option("--of", help="Draw Q of an F of your own: OUTPUTs follow.")]
Values = Annotated[str, text_option("W=V,...", "With --of: numbers for start symbols, alpha=0.1.")]


def figure(
    *,
    model: Model,
    of: Own = False,
    values: Values = "",
    form: NumbersForm,
    output: Output = None,
    timeout: Timeout = 120.0,
) -> None:
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
    if not model.outputs and (of or values or form is not TEXT or output is not None):
        raise InputError("--of goes with OUTPUTs; -o, --json and --csv go with an ID too")
    use_one_thread()
    from numerics.figures.gallery import figures

    if not model.outputs:
        deliver("\n".join(f"{f.id}\n  {f.title}" for f in figures()), None)
        return
    name, make = _own(model, values) if of else _published(model, values)
    if form is TEXT:
        _draw(make, output or Path(f"{name}.png"), timeout)
    else:
        check_writable(output)
        finish(lambda enter: _table(make, form, enter), timeout, output)


def _published(model: TypedModel, values: str) -> tuple[str, Make]:
    """Return the name of a figure, and what makes it."""
    from numerics.figures.gallery import find

    if values or model != TypedModel(model.outputs[:1]):
        raise InputError('give one ID, or --of and an F: derive figure --of "a*u1" "a*u2"')
    chosen = find(model.outputs[0])
    return chosen.id, lambda: chosen


def _own(model: TypedModel, values: str) -> tuple[str, Make]:
    model.read()  # which refuses what is no F before time is spent

    def make() -> Published:
        from numerics.figures.own import own_figure

        return own_figure(model, values)

    return "figure", make


def _draw(make: Make, path: Path, timeout: float) -> None:
    from numerics.figures.display import arranged, require_matplotlib, save

    require_matplotlib()
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"-o: {path} must end in {', '.join(SUFFIXES)}")
    check_writable(path)
    begun = time.monotonic()
    title, caption, panels = run(lambda enter: _derived(make, enter), timeout)
    save(arranged(panels, title), path)
    deliver(f"{caption}\n\n{path} ({time.monotonic() - begun:.1f} s)", None)


def _derived(make: Make, enter: Enter) -> tuple[str, str, list[Display]]:
    enter("importing the algebra")
    from numerics.figures.tables import caption

    figure = make()
    enter(figure.title)
    return figure.title, caption(figure), figure.panels()


def _table(make: Make, form: Form, enter: Enter) -> Answer:
    enter("importing the algebra")
    from numerics.figures.tables import to_csv, to_json

    figure = make()
    enter(figure.title)
    panels = figure.panels()
    return Answer(to_json(figure, panels) if form.name == "json" else to_csv(panels))
