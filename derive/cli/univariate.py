"""The command ``derive univariate``: what wide univariate nets learn under mirror flow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from derive.cli.forms import TEXT, Form, RecordForm, rendered
from derive.cli.margin import text_of
from derive.cli.options import Output, Timeout
from derive.cli.output import check_writable
from derive.cli.running import Answer, Enter, finish, use_one_thread
from derive.errors import InputError

if TYPE_CHECKING:
    from numerics.univariate.limit_function import LimitFunction

Data = Annotated[
    Path | None, typer.Option("--data", help="Rows x,y.", metavar="FILE.csv", show_default=False)
]


def univariate(
    *,
    data: Data = None,
    potential: Annotated[
        str, typer.Option(help="phi, convex, in one name.", metavar="PHI")
    ] = "x**2",
    activation: Annotated[
        str, typer.Option(help="The activation sigma.", metavar="relu|abs")
    ] = "relu",
    density: Annotated[
        str, typer.Option(help="Density of the biases: an even expression.", metavar="P")
    ] = "uniform",
    scaled: Annotated[
        bool, typer.Option("--scaled", help="The potential n^-2 sum phi(n (theta - theta(0))).")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compare with quadrature and a trained net.")
    ] = False,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the limit to a PNG, SVG or PDF file.", metavar="FILE")
    ] = None,
    form: RecordForm,
    output: Output = None,
    timeout: Timeout = 120.0,
) -> None:
    """Find the function that wide shallow nets on the line tend to under mirror flow.

    f(x) = sum_j a_j sigma(w_j x - b_j) + d with n units, w_j = 1 or -1, biases from the density P.
    As n grows, f(x, theta(inf)) - f(x, theta(0)) tends to the h through the data that minimises a
    functional of h'' and of the slopes at both ends. The functional is derived from potential,
    activation and density; without --data it is all that is printed. --latex and --html give it as
    a page.

    Under unscaled potentials, sum phi(theta - theta(0)), all h are that of gradient flow; under
    scaled ones, n^-2 sum phi(n (theta - theta(0))), phi counts. h is a spline with rational
    coefficients where phi is quadratic, or unscaled, and P is piecewise polynomial; else it is
    certified by balls, to 20 digits or more.

    FILE.csv has one row x,y for each example, as decimals or fractions; a first row of names is
    skipped. y is what is still to be learned, y - f(x, theta(0)). P is uniform, an expression on
    [-1, 1], or expressions with their intervals: "1 - abs(b) on [-1, 1]",
    "1/4 on [-2, -1]; 1/2 on [-1, 1]; 1/4 on [1, 2]"; it is scaled to mass 1. All x must be in its
    support.

    Exit status: 0 found; 2 bad input; 3 no solution was certified, or out of time.

    \b
    Examples:
      derive univariate
      derive univariate --data points.csv --check
      derive univariate --data points.csv --density "9 - b**2 on [-3, 3]"
      derive univariate --data points.csv --scaled --potential "cosh(x)"
      derive univariate --scaled --activation abs --potential "x**4" --latex
    """
    if data is None and (check or figure):
        raise InputError("--check and --figure go with --data FILE.csv")
    if data is not None and form.name not in ("text", "json"):
        raise InputError(f"--data is for text and --json: leave out --{form.name}")
    check_writable(output)
    check_writable(figure, "--figure")
    use_one_thread()
    text = None if data is None else text_of(data)
    if figure is not None:
        from numerics.figures.display import require_matplotlib

        require_matplotlib()

    def work(enter: Enter) -> Answer:
        enter("importing the algebra")
        from derive.univariate.activation import read_activation
        from derive.univariate.density import read_density
        from derive.univariate.potential import read_potential
        from derive.univariate.problem import variational_problem

        setting = read_potential(potential), read_activation(activation), read_density(density)
        problem = variational_problem(*setting, scaled)
        if text is None:
            return Answer(rendered(problem, form))
        enter("limit function")
        from numerics.univariate.limit_function import limit_of
        from numerics.univariate.report import read_points

        h = limit_of(problem, *read_points(text))
        if figure is not None:
            from numerics.figures import experiments as displays
            from numerics.figures.display import arranged, save

            save(arranged(displays.limit(h)), figure, "--figure")
        enter("report")
        return _answer(h, form, check)

    finish(work, timeout, output)


def _answer(h: LimitFunction, form: Form, check: bool) -> Answer:
    """Return the problem and the limit on the data, and what a check finds."""
    from numerics.univariate.report import checks, record_of, report

    found = checks(h) if check else {}
    if form is TEXT:
        return Answer("\n\n".join((h.problem.to_text(), report(h, found))))
    record = json.loads(rendered(h.problem, form)) | {"data": record_of(h, found)}
    return Answer(json.dumps(record, indent=2, ensure_ascii=True))
