"""The command ``derive figure``: pictures of regularizers, every curve derived."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from derive.cli.options import Csv, Json, Output, Timeout
from derive.cli.output import check_writable, chosen_form, deliver
from derive.cli.running import Answer, Enter, finish, run, use_one_thread
from derive.errors import InputError

Name = Annotated[str | None, typer.Argument(metavar="ID", hidden=True, show_default=False)]


def figure(
    name: Name = None,
    json: Json = False,
    csv: Csv = False,
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
    form = chosen_form(json=json, csv=csv)
    if name is None and (form != "text" or output is not None):
        raise InputError("-o, --json and --csv go with an ID: `derive figure` lists them")
    use_one_thread()
    if name is None:
        deliver(_list(), None)
    elif form == "text":
        _draw(name, output or Path(f"{name}.png"), timeout)
    else:
        check_writable(output)
        finish(lambda enter: _table(name, form, enter), timeout, output)


def _draw(name: str, path: Path, timeout: float) -> None:
    from numerics.figures import find
    from numerics.figures.experiment_plots import require_matplotlib

    figure = find(name)
    require_matplotlib()
    from numerics.figures.draw import check_suffix, draw
    from numerics.figures.figure_tables import caption

    check_suffix(path)
    check_writable(path)
    begun = time.monotonic()
    draw(run(lambda enter: _data(name, enter), timeout), path)
    deliver(f"{caption(figure)}\n\n{path} ({time.monotonic() - begun:.1f} s)", None)


def _data(name: str, enter: Enter) -> Any:
    from numerics.figures import find

    figure = find(name)
    enter("importing the algebra")
    from numerics.figures.data import plotted

    return plotted(figure, enter)


def _table(name: str, form: str, enter: Enter) -> Answer:
    data = _data(name, enter)
    from numerics.figures import figure_tables

    render = {"json": figure_tables.to_json, "csv": figure_tables.to_csv}[form]
    return Answer(render(data))


def _list() -> str:
    from numerics.figures import figures

    return "\n".join(f"{f.id}\n  {f.title}" for f in figures())
