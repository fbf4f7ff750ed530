"""The command ``derive parameterize``: from a potential to a parameterization."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from derive.cli.options import Json, Latex, Output, Standalone, Timeout
from derive.cli.output import check_writable, chosen_form
from derive.cli.running import Answer, Enter, answer_with, finish
from derive.errors import InputError, LanguageError

Potentials = Annotated[
    list[str] | None, typer.Argument(metavar="Q", hidden=True, show_default=False)
]
Start = Annotated[
    str,
    typer.Option(
        help="Where the flow starts: beta=1/2. By default where Q' = 0.",
        metavar="BETA=V,...",
        show_default=False,
    ),
]
Positive = Annotated[
    str, typer.Option(help="Parameters that are positive.", metavar="NAMES", show_default=False)
]


def parameterize(
    potentials: Potentials = None,
    start: Start = "",
    positive: Positive = "",
    latex: Latex = False,
    standalone: Standalone = False,
    json: Json = False,
    output: Output = None,
    timeout: Timeout = 60.0,
) -> None:
    """Find beta = F(w) whose gradient flow has the implicit regularizer Q, and prove it.

    Q is separable: one argument for each coordinate, in the names beta or beta1, beta2, ...
    Other names are parameters. For one weight F'(w)^2 = 1/Q''(beta), up to the unit of Q.

    Exit status: 0 F is found and proved; 1 proved that there is none (Q is not strictly
    convex); 2 bad input; 3 no closed form was found (F is the inverse of an integral), or out
    of time.

    \b
    Examples:
      derive parameterize "beta*log(beta) - beta"
      derive parameterize "beta*asinh(beta/a) - sqrt(beta**2 + a**2)" --positive a
      derive parameterize "-log(beta1)" "beta2**2/2" --json
    """
    form = chosen_form(latex=latex, json=json, standalone=standalone)
    check_writable(output)
    request = _request(potentials or [], start, positive)
    finish(lambda enter: _design(request, form, standalone, enter), timeout, output)


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


def _design(request: tuple[Any, Any, Any], form: str, standalone: bool, enter: Enter) -> Answer:
    enter("importing the algebra")
    from derive.inverse.parameterize import parameterize

    enter("search for a parameterization")
    trees, starts, names = request
    design = parameterize(trees, None, starts, names)
    enter("rendering")
    return answer_with(design, form, standalone)
