"""The command ``derive figure``: pictures of regularizers, every curve derived."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from derive.cli.forms import TEXT, Form, offer
from derive.cli.options import Output, Timeout
from derive.cli.output import check_writable, deliver
from derive.cli.running import Answer, Enter, finish, run, use_one_thread
from derive.errors import InputError

if TYPE_CHECKING:
    from numerics.figures.data import PlottedFigure

NumbersForm: TypeAlias = Annotated[Form, offer("json", "csv")]
Name = Annotated[str | None, typer.Argument(metavar="ID", hidden=True, show_default=False)]


def figure(
    name: Name = None,
    *,
    form: NumbersForm,
    output: Output = None,
    timeout: Timeout = 120.0,
) -> None:
    """List the figures, or draw one: Q, unit balls and level sets, and explicit counterparts.

    Without ID the figures are listed. With ID the figure is drawn to FILE.png, FILE.pdf or
    FILE.svg as -o says, else to ID.png; with --json or --csv its numbers are printed instead,
    or written to the text file of -o.

    A figure is a record: parameterizations, starts, and the quantity to draw. Each curve is
    derived from F when it is drawn. Drawing needs matplotlib (pip install 'regderive[plot]');
    --json and --csv do not.

    Exit status: 0 listed, drawn or printed; 2 bad input, or no matplotlib; 3 a curve was not
    found, or out of time.

    \b
    Examples:
      derive figure
      derive figure diagonal-balls
      derive figure neuron-levels -o neuron.pdf
      derive figure implicit-explicit --csv -o curves.csv
    """
    if name is None and (form is not TEXT or output is not None):
        raise InputError("-o, --json and --csv go with an ID: `derive figure` lists them")
    use_one_thread()
    if name is None:
        deliver(_list(), None)
    elif form is TEXT:
        _draw(name, output or Path(f"{name}.png"), timeout)
    else:
        check_writable(output)
        finish(lambda enter: _table(name, form, enter), timeout, output)


def _draw(name: str, path: Path, timeout: float) -> None:
    from numerics.figures import find
    from numerics.figures.plots import require_matplotlib

    figure = find(name)
    require_matplotlib()
    from numerics.figures.data import caption
    from numerics.figures.draw import check_suffix, draw

    check_suffix(path)
    check_writable(path)
    begun = time.monotonic()
    draw(run(lambda enter: _data(name, enter), timeout), path)
    deliver(f"{caption(figure)}\n\n{path} ({time.monotonic() - begun:.1f} s)", None)


def _data(name: str, enter: Enter) -> PlottedFigure:
    from numerics.figures import find

    figure = find(name)
    enter("importing the algebra")
    from numerics.figures.data import plotted

    return plotted(figure, enter)


def _table(name: str, form: Form, enter: Enter) -> Answer:
    data = _data(name, enter)
    from numerics.figures.data import to_csv, to_json

    return Answer({"json": to_json, "csv": to_csv}[form.name](data))


def _list() -> str:
    from numerics.figures import figures

    return "\n".join(f"{f.id}\n  {f.title}" for f in figures())
