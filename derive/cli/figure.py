"""The command ``derive figure``: pictures of regularizers, every curve derived."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from derive.cli.forms import TEXT, Form, offer
from derive.cli.options import Output, Timeout, argument
from derive.cli.output import check_writable, deliver
from derive.cli.running import Answer, Enter, finish, run, use_one_thread
from derive.errors import InputError

if TYPE_CHECKING:
    from numerics.figures.data import PlottedFigure
    from numerics.figures.specification import Specification

NumbersForm: TypeAlias = Annotated[Form, offer("json", "csv")]
Name = Annotated[str | None, argument("ID")]


def figure(
    name: Name = None, *, form: NumbersForm, output: Output = None, timeout: Timeout = 120.0
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
    from numerics.figures import figures, find

    if name is None:
        deliver("\n".join(f"{f.id}\n  {f.title}" for f in figures()), None)
    elif form is TEXT:
        _draw(find(name), output or Path(f"{name}.png"), timeout)
    else:
        check_writable(output)
        chosen = find(name)
        finish(lambda enter: _table(chosen, form, enter), timeout, output)


def _draw(figure: Specification, path: Path, timeout: float) -> None:
    from numerics.figures.plots import require_matplotlib

    require_matplotlib()
    from numerics.figures.data import caption
    from numerics.figures.draw import check_suffix, draw

    check_suffix(path)
    check_writable(path)
    begun = time.monotonic()
    draw(run(lambda enter: _data(figure, enter), timeout), path)
    deliver(f"{caption(figure)}\n\n{path} ({time.monotonic() - begun:.1f} s)", None)


def _data(figure: Specification, enter: Enter) -> PlottedFigure:
    enter("importing the algebra")
    from numerics.figures.data import plotted

    return plotted(figure, enter)


def _table(figure: Specification, form: Form, enter: Enter) -> Answer:
    data = _data(figure, enter)
    from numerics.figures.data import to_csv, to_json

    return Answer({"json": to_json, "csv": to_csv}[form.name](data))
