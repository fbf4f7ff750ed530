"""The command ``derive regimes``: limits of Q in the scale or the shape of the start."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from derive.errors import InputError
from derive.output import check_writable, deliver
from derive.request import Options, Request, model_of, read_request

Enter = Callable[[str], None]
Run = Callable[[Callable[[Enter], Any], float, bool], Any]
"""Runs a function in a limited child process."""
Confirm = Callable[[Any], tuple[str, bool]]
"""Tests limits by numbers: the lines to print, and whether all were confirmed."""

EXIT = {"PROVED": 0, "REFUTED": 1, "UNDECIDED": 3}


def add_regimes(app: typer.Typer, run: Run, confirm: Confirm) -> None:
    """Add the command to *app*; *run* limits its time and memory, *confirm* is for --check."""

    @app.command()
    def regimes(
        outputs: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="OUTPUT...",
                help='The components of F(w), one argument each: "a*u1" "a*u2".',
                show_default=False,
            ),
        ] = None,
        scale: Annotated[
            str,
            typer.Option(
                help="The start symbol that tends to a limit; a new name scales the whole start.",
                metavar="NAME",
            ),
        ] = "alpha",
        to: Annotated[
            str,
            typer.Option(
                help="The limits: 0, oo, or a number and a side, such as 1-.", metavar="V,..."
            ),
        ] = "0,oo",
        start: Annotated[
            str,
            typer.Option(
                help="Start values: a=1/2,p=alpha. Others start at w_0.", metavar="W=V,..."
            ),
        ] = "",
        positive: Annotated[
            str, typer.Option(help="Weights or start symbols that start positive.", metavar="NAMES")
        ] = "",
        vector: Annotated[
            str, typer.Option(help="Vectors with their dimension: u:3.", metavar="U:D,...")
        ] = "",
        matrix: Annotated[
            str, typer.Option(help="Matrices: W:2x2; then W*T(W) is accepted.", metavar="W:MxN,...")
        ] = "",
        parameter: Annotated[
            str,
            typer.Option(help="Names that are constants; those in exponents are.", metavar="NAMES"),
        ] = "",
        check: Annotated[
            bool, typer.Option("--check", help="Confirm each limit by numbers at two scales.")
        ] = False,
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
        """Find what Q tends to as the start is scaled, or in any symbol of the start.

        Kernel regime: Q tends to the squared norm of the tangent kernel at the start. Rich regime:
        to an l1 norm. Anti-NTK regime: to an increasing function of the l2 norm. The start symbol
        is positive; a name that the start does not have scales the whole start. A depth that is a
        symbol, D in p**D, is assumed to be above 2.

        Exit status: 0 all limits are proved; 2 bad input; 3 one was not decided.

        \b
        Examples:
          derive regimes "p**2 - m**2" --start p=alpha,m=alpha
          derive regimes "u*v - x*y" --start u=c,x=c,v=d,y=d --positive c,d --scale c --to oo
          derive regimes "a*u1" "a*u2" --check
          derive regimes "p**D - m**D" --start p=alpha,m=alpha
          derive regimes "p**D - m**D" --start p=1,m=1 --scale D --to oo
        """
        if latex and json:
            raise InputError("choose one of --latex and --json")
        if standalone and not latex:
            raise InputError("--standalone goes with --latex")
        if output is not None and str(output) != "-":
            check_writable(output)
        form = "latex" if latex else "json" if json else "text"
        options = Options(start, positive, vector, matrix, parameter)
        request = read_request(outputs or [], options, form, standalone)
        if request.vectors:
            raise InputError(f"--vector: give {request.vectors[0]} a dimension, such as 2")
        name = _name(scale)
        test = confirm if check else None
        result, code = run(
            lambda enter: _regimes(request, name, to.split(","), test, enter), timeout, not output
        )
        deliver(result, output)
        raise typer.Exit(code)


def _name(text: str) -> str:
    from derive.language import parse_names

    names = parse_names(text)
    if len(names) != 1:
        raise InputError("--scale: give one name")
    return names[0]


def _regimes(
    request: Request, name: str, toward: list[str], confirm: Confirm | None, enter: Enter
) -> tuple[str, int]:
    enter("importing the algebra")
    from derive.asymptotics import regimes
    from derive.derivation import derive
    from derive.stages.scaled_start import with_scale

    enter("parameterization")
    derivation = derive(with_scale(model_of(request), name), enter)
    found = regimes(derivation, name, toward, enter)
    code = EXIT[found.verdict.value]
    enter("rendering")
    if request.form == "latex":
        return found.to_latex(request.standalone), code
    if request.form == "json":
        return found.to_json(), code
    result = found.to_text()
    if confirm is not None:
        enter("numbers at two scales")
        lines, confirmed = confirm(found)
        result += f"\n\n{lines}"
        code = code if confirmed else EXIT["UNDECIDED"]
    return result, code
