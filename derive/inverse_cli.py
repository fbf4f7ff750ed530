"""The command ``derive parameterize``: from a potential to a parameterization."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from derive.errors import InputError, LanguageError
from derive.output import check_writable, deliver

Enter = Callable[[str], None]
Run = Callable[[Callable[[Enter], Any], float, bool], Any]
"""Runs a function in a limited child process."""

EXIT = {"PROVED": 0, "REFUTED": 1, "UNDECIDED": 3}


def add_parameterize(app: typer.Typer, run: Run) -> None:
    """Add the command to *app*; *run* limits the time and memory of what it computes."""

    @app.command()
    def parameterize(
        potentials: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="Q...",
                help='The potential, one argument for each coordinate: "beta*log(beta) - beta".',
                show_default=False,
            ),
        ] = None,
        start: Annotated[
            str,
            typer.Option(
                help="Where the flow starts: beta=1/2. By default where Q' = 0.",
                metavar="BETA=V,...",
            ),
        ] = "",
        positive: Annotated[
            str, typer.Option(help="Parameters that are positive.", metavar="NAMES")
        ] = "",
        latex: Annotated[bool, typer.Option("--latex", help="Print a LaTeX snippet.")] = False,
        json: Annotated[bool, typer.Option("--json", help="Print the JSON record.")] = False,
        standalone: Annotated[
            bool, typer.Option("--standalone", help="With --latex: a document that compiles.")
        ] = False,
        output: Annotated[
            Path | None,
            typer.Option("-o", "--output", help="Write the result to FILE.", metavar="FILE"),
        ] = None,
        timeout: Annotated[
            float, typer.Option(help="Give up after S seconds.", min=0.1, max=86400, metavar="S")
        ] = 60.0,
    ) -> None:
        """Find beta = F(w) whose gradient flow has the implicit regularizer Q, and prove it.

        Q is separable: one argument for each coordinate, in the names beta or beta1, beta2, ...
        Other names are parameters. For one weight F'(w)^2 = 1/Q''(beta), up to the unit of Q.

        Exit status: 0 F is found and proved; 1 proved that there is none (Q is not strictly
        convex); 2 bad input; 3 no closed form was found: F is the inverse of an integral.

        \b
        Examples:
          derive parameterize "beta*log(beta) - beta"
          derive parameterize "beta*asinh(beta/(2*a**2)) - sqrt(beta**2 + 4*a**4)" --positive a
          derive parameterize "-log(beta1)" "beta2**2/2" --json
        """
        if latex and json:
            raise InputError("choose one of --latex and --json")
        if standalone and not latex:
            raise InputError("--standalone goes with --latex")
        if output is not None and str(output) != "-":
            check_writable(output)
        request = _request(potentials or [], start, positive)
        form = "latex" if latex else "json" if json else "text"
        result, code = run(
            lambda enter: _design(request, form, standalone, enter), timeout, not output
        )
        deliver(result, output)
        raise typer.Exit(code)


def _request(potentials: list[str], start: str, positive: str) -> tuple[Any, Any, Any]:
    from derive.language import parse_assignments, parse_names, parse_outputs

    if not potentials:
        raise InputError("no potential: give Q(beta), such as beta*log(beta) - beta")
    try:
        trees = parse_outputs([text.lstrip() for text in potentials])
    except LanguageError as error:
        raise InputError(
            str(error).replace("output", "argument").replace("weight", "beta")
        ) from None
    try:
        option = "--start"
        starts = dict(parse_assignments(start)) if start.strip() else {}
        option = "--positive"
        names = parse_names(positive) if positive.strip() else ()
    except LanguageError as error:
        raise InputError(f"{option}: {error}") from None
    return trees, starts, names


def _design(
    request: tuple[Any, Any, Any], form: str, standalone: bool, enter: Enter
) -> tuple[str, int]:
    enter("importing the algebra")
    from derive.inverse.parameterize import parameterize

    enter("search for a parameterization")
    trees, starts, names = request
    design = parameterize(trees, None, starts, names)
    enter("rendering")
    if form == "latex":
        result = design.to_latex(standalone)
    else:
        result = design.to_json() if form == "json" else design.to_text()
    return result, EXIT[design.verdict.value]
