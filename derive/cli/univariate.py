"""The command ``derive univariate``: what wide univariate nets learn under mirror flow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from derive.cli.forms import Form, offer_page, rendered
from derive.cli.options import Command, time_limit
from derive.cli.output import check_picture, text_of
from derive.cli.recorded import with_data
from derive.cli.running import Answer, Enter, use_one_thread
from derive.errors import InputError
from derive.option import option


@dataclass(frozen=True, kw_only=True)
class Univariate(Command):
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

    data: Path | None = option(None, "Rows x,y.", "FILE.csv")
    potential: str = option("x**2", "phi, convex, in one name.", "PHI")
    activation: str = option("relu", "The activation sigma.", "relu|abs")
    density: str = option("uniform", "Density of the biases: an even expression.", "P")
    scaled: bool = option(False, "The potential n^-2 sum phi(n (theta - theta(0))).")
    check: bool = option(False, "Compare with quadrature and a trained net.")
    figure: Path | None = option(None, "Draw the limit to a PNG, SVG or PDF file.", "FILE")
    form: Form = offer_page()
    timeout: float = time_limit(120.0)

    def read(self) -> str | None:
        """Return the text of the data, if they are given."""
        if self.data is None and (self.check or self.figure):
            raise InputError("--check and --figure go with --data FILE.csv")
        if self.data is not None and self.form.name not in ("text", "json"):
            raise InputError(f"--data is for text and --json: leave out --{self.form.name}")
        use_one_thread()
        check_picture(self.figure, "--figure")
        return None if self.data is None else text_of(self.data)

    def answer(self, read: str | None, enter: Enter) -> Answer:
        """Return the variational problem, and with data its solution on their rows."""
        enter("importing the algebra")
        from derive.univariate.potential import read_density, read_potential
        from derive.univariate.problem import read_activation, variational_problem

        potential, activation = read_potential(self.potential), read_activation(self.activation)
        density = read_density(self.density)
        problem = variational_problem(potential, activation, density, self.scaled)
        if read is None:
            return Answer(rendered(problem, self.form))
        enter("limit function")
        from numerics.univariate.limit_function import limit_of
        from numerics.univariate.report import Report, checks, read_points

        h = limit_of(problem, *read_points(read))
        if self.figure is not None:
            from numerics.figures import experiments as displays
            from numerics.figures.display import arranged, save

            save(arranged(displays.limit(h)), self.figure, "--figure")
        enter("report")
        report = Report(h, checks(h) if self.check else {})
        return with_data(Answer(rendered(problem, self.form)), report, self.form)
