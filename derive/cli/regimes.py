"""The command ``derive regimes``: limits of Q in the scale or the shape of the start."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from derive.cli.options import (
    Json,
    Latex,
    Matrix,
    Output,
    Outputs,
    Parameter,
    Positive,
    Standalone,
    Start,
    Timeout,
    Vector,
)
from derive.cli.output import check_writable, chosen_form
from derive.cli.request import Options, Request, model_of, read_request
from derive.cli.running import UNDECIDED, Answer, Enter, answer_with, finish
from derive.errors import InputError

Scale = Annotated[
    str,
    typer.Option(
        help="The start symbol that tends to a limit; a new name scales the whole start.",
        metavar="NAME",
    ),
]
To = Annotated[
    str,
    typer.Option(help="The limits: 0, oo, or a number and a side, such as 1-.", metavar="V,..."),
]
Width = Annotated[
    str,
    typer.Option(
        help="Sum NAME copies of F, their weights drawn from N(0, sigma^2).",
        metavar="NAME",
        show_default=False,
    ),
]
Check = Annotated[bool, typer.Option("--check", help="Confirm each limit by numbers.")]


def regimes(
    outputs: Outputs = None,
    scale: Scale = "alpha",
    to: To = "0,oo",
    width: Width = "",
    start: Start = "",
    positive: Positive = "",
    vector: Vector = "",
    matrix: Matrix = "",
    parameter: Parameter = "",
    check: Check = False,
    latex: Latex = False,
    standalone: Standalone = False,
    json: Json = False,
    output: Output = None,
    timeout: Timeout = 60.0,
) -> None:
    """Find what Q tends to as the start is scaled, or in any symbol of the start.

    Kernel regime: Q tends to the squared norm of the tangent kernel at the start. Rich regime:
    to an l1 norm. Anti-NTK regime: to an increasing function of the l2 norm. The start symbol
    is positive; a name that the start does not have scales the whole start. A depth that is a
    symbol, D in p**D, is assumed to be above 2. With --width the start is random, and the sum of
    many copies of F is in one regime or the other with a probability that tends to 1.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`; with a vector of open
    dimension the limits hold in every one.

    Exit status: 0 all limits are proved; 2 bad input; 3 one was not decided, or --check did not
    confirm it, or out of time.

    \b
    Examples:
      derive regimes "p**2 - m**2" --start p=alpha,m=alpha
      derive regimes "u*v - x*y" --start u=c,x=c,v=d,y=d --scale c --to oo
      derive regimes "a*u1" "a*u2" --check
      derive regimes "a*u" --vector u
      derive regimes "p**D - m**D" --start p=alpha,m=alpha
      derive regimes "p**D - m**D" --start p=1,m=1 --scale D --to oo
      derive regimes "u*v" --width k --check
    """
    form = chosen_form(latex=latex, json=json, standalone=standalone)
    if check and form != "text":
        raise InputError("--check is for text: leave out --json or --latex")
    check_writable(output)
    options = Options(start, positive, vector, matrix, parameter)
    request = read_request(outputs or [], options, form, standalone)
    name = _name(scale, "--scale")
    toward = to.split(",")
    if width:
        if start or (scale, to) != ("alpha", "0,oo"):
            raise InputError(
                "--width draws the start: leave out --start, --scale, --to and open dimensions"
            )
        if request.vectors:
            raise InputError(
                f"--width goes with one number as output: {request.vectors[0]} is open"
            )
        copies = _name(width, "--width")
        finish(lambda enter: _wide(request, copies, check, enter), timeout, output)
    finish(lambda enter: _regimes(request, name, toward, check, enter), timeout, output)


def _name(text: str, option: str) -> str:
    from derive.language import parse_names

    names = parse_names(text)
    if len(names) != 1:
        raise InputError(f"{option}: give one name")
    return names[0]


def _regimes(request: Request, name: str, toward: list[str], check: bool, enter: Enter) -> Answer:
    enter("importing the algebra")
    from derive.derivation import derive
    from derive.regimes.find import regimes
    from derive.regimes.scaled_start import with_scale
    from derive.regimes.vectors import radial_regimes

    enter("parameterization")
    model = model_of(_positive(request, name))
    if request.vectors:
        found = radial_regimes(model, name, toward, enter)
    else:
        found = regimes(derive(with_scale(model, name), enter), name, toward, enter)
    enter("rendering")
    answer = answer_with(found, request.form, request.standalone)
    if not check:
        return answer
    enter("numbers at two scales")
    lines, confirmed = _confirm(found)
    return Answer(f"{answer.result}\n\n{lines}", answer.code if confirmed else UNDECIDED)


def _wide(request: Request, name: str, check: bool, enter: Enter) -> Answer:
    enter("importing the algebra")
    from derive.regimes.width import random_width

    enter("moments")
    found = random_width(model_of(request), name)
    answer = answer_with(found, request.form, request.standalone)
    if not check:
        return answer
    enter("random draws")
    from numerics.confirm.wide_starts import confirm_width

    confirmed = confirm_width(found)
    code = answer.code if confirmed.passed else UNDECIDED
    return Answer(f"{answer.result}\n\n{confirmed.report()}", code)


def _positive(request: Request, name: str) -> Request:
    """Return the request with a scale that the start uses among what is positive."""
    from derive.language import names

    if name not in names(tuple(request.start.values())):
        return request
    return replace(request, positive=tuple(dict.fromkeys((*request.positive, name))))


def _confirm(found: Any) -> tuple[str, bool]:
    """Test the limits of Q by numbers: its gradient, and where its interpolants tend to."""
    from numerics.confirm.limit_gradients import confirm_limits
    from numerics.confirm.limit_interpolants import confirm_minimizers

    confirmations = (*confirm_limits(found), *confirm_minimizers(found))
    lines = [c.report() for c in confirmations] or ["there is no limit to check"]
    return "\n".join(lines), all(c.passed for c in confirmations)
