"""The command ``derive explicit``: what explicit regularization of the weights would give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from derive.errors import DeriveError, InputError, LanguageError
from derive.output import check_writable, deliver
from derive.request import Options, Request, model_of, read_request

Enter = Callable[[str], None]
Run = Callable[[Callable[[Enter], Any], float, bool], Any]
"""Runs a function in a limited child process."""

EXIT = {"PROVED": 0, "UNDECIDED": 3}


@dataclass(frozen=True, slots=True)
class Answer:
    """What is printed, and the exit status."""

    result: str
    code: int


def add_explicit(app: typer.Typer, run: Run) -> None:
    """Add the command to *app*; *run* limits the time and memory of what it computes."""

    @app.command()
    def explicit(
        outputs: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="OUTPUT...",
                help='The components of F(w), one argument each: "u*v".',
                show_default=False,
            ),
        ] = None,
        start: Annotated[
            str,
            typer.Option(
                help="Start values w_0: u=alpha,v=alpha. Others are w_0.", metavar="W=V,..."
            ),
        ] = "",
        positive: Annotated[
            str, typer.Option(help="Weights or start symbols that start positive.", metavar="NAMES")
        ] = "",
        vector: Annotated[
            str,
            typer.Option(
                help="Vectors: u:3, or u alone to leave the dimension open; then u=0 in --start.",
                metavar="U[:D],...",
            ),
        ] = "",
        matrix: Annotated[
            str,
            typer.Option(help="Matrices: W:2x2; then W*T(W) is accepted.", metavar="W:MxN,..."),
        ] = "",
        at: Annotated[
            str,
            typer.Option(help="Certify values at a point: beta=2,alpha=1/2.", metavar="NAME=V,..."),
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
        """Find what explicit l2 regularization of the weights gives, beside the implicit Q.

        R(beta) = min |w - w_0|^2 and R_F(beta) = min |w|^2, both subject to F(w) = beta, for F
        polynomial: the polynomial of all critical values by exact elimination, and which of its
        roots is the minimum, certified in balls. Then where R and the implicit regularizer Q of
        gradient flow differ, and the limits as the start goes to 0 or infinity.

        OUTPUT is written as for "derive regularizer". Where the root depends on several numbers
        it is certified at single points: --at gives one.

        Exit status: 0 R and R_F are printed and proved; 2 bad input; 3 one of them is undecided
        (which step stopped is printed), or out of time.

        \b
        Examples:
          derive explicit "u*v" --start u=alpha,v=alpha
          derive explicit "p**2 - m**2" --start p=alpha,m=alpha --at beta=2,alpha=1
          derive explicit "a*b*u" --vector u --start a=alpha,b=alpha,u=0
          derive explicit "a*u1" "a*u2" --start a=alpha,u1=0,u2=0 --latex
        """
        if latex and json:
            raise InputError("choose one of --latex and --json")
        if standalone and not latex:
            raise InputError("--standalone goes with --latex")
        form = "latex" if latex else "json" if json else "text"
        request = read_request(
            outputs or [], Options(start, positive, vector, matrix, ""), form, standalone
        )
        point = _point(at)
        if output is not None and str(output) != "-":
            check_writable(output)
        answer = run(lambda enter: _regularize(request, point, enter), timeout, output is None)
        deliver(answer.result, output)
        raise typer.Exit(answer.code)


def _point(text: str) -> dict[str, Any]:
    """Read numbers for names."""
    from derive.exact.conversion import to_field
    from derive.exact.field import FunctionField
    from derive.language import parse_assignments

    if not text.strip():
        return {}
    try:
        given = dict(parse_assignments(text))
    except LanguageError as error:
        raise InputError(f"--at: {error}") from None
    point = {}
    for name, tree in given.items():
        try:
            value = to_field(tree, FunctionField(()), name)
        except (DeriveError, KeyError):
            value = None
        if value is None or not value.is_constant():
            raise InputError(f"--at: {name} needs a rational number, such as 1/2")
        point[name] = value.value()
    return point


def _regularize(request: Request, point: dict[str, Any], enter: Enter) -> Answer:
    enter("importing the algebra")
    from derive.explicit.regularize import explicit_counterpart

    enter("parameterization")
    found = explicit_counterpart(model_of(request), enter, point)
    enter("rendering")
    if request.form == "latex":
        result = found.to_latex(request.standalone)
    else:
        result = found.to_json() if request.form == "json" else found.to_text()
    return Answer(result, EXIT[found.verdict.value])
