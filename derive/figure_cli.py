"""The command ``derive figure``: pictures of regularizers, every curve derived."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from derive.errors import InputError
from derive.output import check_writable, deliver

Enter = Callable[[str], None]
Run = Callable[[Callable[[Enter], Any], float, bool], Any]
"""Runs a function in a limited child process."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def add_figure(app: typer.Typer, run: Run) -> None:
    """Add the command to *app*; *run* limits the time and memory of what it computes."""

    @app.command()
    def figure(
        name: Annotated[
            str | None,
            typer.Argument(metavar="ID", help="The figure to draw.", show_default=False),
        ] = None,
        output: Annotated[
            Path | None,
            typer.Option("-o", "--output", help="FILE.png, .pdf or .svg (ID.png).", metavar="FILE"),
        ] = None,
        json: Annotated[bool, typer.Option("--json", help="Print the data as JSON.")] = False,
        csv: Annotated[bool, typer.Option("--csv", help="Print the data as CSV.")] = False,
        timeout: Annotated[
            float, typer.Option(help="Give up after S seconds.", min=0.1, max=86400, metavar="S")
        ] = 120.0,
    ) -> None:
        """List the figures, or draw one: Q, unit balls and level sets, and explicit counterparts.

        A figure is a record: parameterizations, starts, and the quantity to draw. Each curve is
        derived from F when it is drawn. Drawing needs matplotlib (pip install 'regderive[plot]');
        --json and --csv, which give the numbers instead, do not; with these -o is a text file.

        Exit status: 0 drawn; 2 bad input, or no matplotlib; 3 a curve was not found, or out of
        time.

        \b
        Examples:
          derive figure
          derive figure diagonal-balls
          derive figure neuron-levels -o neuron.pdf
          derive figure implicit-explicit --csv -o curves.csv
        """
        if json and csv:
            raise InputError("choose one of --json and --csv")
        if name is None and (json or csv or output is not None):
            raise InputError("-o, --json and --csv go with an ID: `derive figure` lists them")
        # The problems are small: threads of one product would wait for each other.
        for variable in _THREADS:
            os.environ.setdefault(variable, "1")
        if name is None:
            deliver(_list(), None)
        elif json or csv:
            if output is not None and str(output) != "-":
                check_writable(output)
            table = "to_json" if json else "to_csv"
            deliver(run(lambda enter: _table(name, table, enter), timeout, output is None), output)
        else:
            _draw(name, output or Path(f"{name}.png"), run, timeout)


def _draw(name: str, path: Path, run: Run, timeout: float) -> None:
    from numerics.display import require_matplotlib
    from numerics.figures import find

    figure = find(name)
    require_matplotlib()
    from numerics.figures.draw import check_suffix, draw
    from numerics.figures.tables import caption

    check_suffix(path)
    check_writable(path)
    begun = time.monotonic()
    draw(run(lambda enter: _data(name, enter), timeout, True), path)
    deliver(f"{caption(figure)}\n\n{path} ({time.monotonic() - begun:.1f} s)", None)


def _data(name: str, enter: Enter) -> Any:
    from numerics.figures import find

    figure = find(name)
    enter("importing the algebra")
    from numerics.figures.data import plotted

    return plotted(figure, enter)


def _table(name: str, table: str, enter: Enter) -> str:
    data = _data(name, enter)
    from numerics.figures import tables

    text: str = getattr(tables, table)(data)
    return text


def _list() -> str:
    from numerics.figures import figures

    shown = figures()
    width = max((len(f.id) for f in shown), default=0)
    return "\n".join(f"{f.id:{width}}  {f.title}" for f in shown)
