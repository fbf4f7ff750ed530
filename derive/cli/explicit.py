"""The command ``derive explicit``: what explicit regularization of the weights would give."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from derive.cli.options import (
    Json,
    Latex,
    Matrix,
    Output,
    Outputs,
    Positive,
    Standalone,
    Start,
    Timeout,
    Vector,
)
from derive.cli.output import check_writable, chosen_form
from derive.cli.request import Options, Request, model_of, read_request
from derive.cli.running import Answer, Enter, answer_with, finish
from derive.errors import DeriveError, InputError, LanguageError

At = Annotated[
    str,
    typer.Option(
        help="Certify values at a point: beta=2,alpha=1/2.",
        metavar="NAME=V,...",
        show_default=False,
    ),
]


def explicit(
    outputs: Outputs = None,
    start: Start = "",
    positive: Positive = "",
    vector: Vector = "",
    matrix: Matrix = "",
    at: At = "",
    latex: Latex = False,
    standalone: Standalone = False,
    json: Json = False,
    output: Output = None,
    timeout: Timeout = 60.0,
) -> None:
    """Find what explicit l2 regularization of the weights gives, beside the implicit Q.

    R(beta) = min |w - w_0|^2 and R_F(beta) = min |w|^2, both subject to F(w) = beta, for F
    polynomial: the polynomial of all critical values by exact elimination, and which of its
    roots is the minimum, certified in balls. Then where R and the implicit regularizer Q of
    gradient flow differ, and the limits as the start goes to 0 or infinity.

    Each OUTPUT is a component of F(w), written as for `derive regularizer`. Where the root
    depends on several numbers it is certified at single points: --at gives one. Outputs that are
    products of vectors or matrices may have R_F in closed form. A vector of open dimension starts
    at 0: give u=0 in --start.

    Exit status: 0 R and R_F are printed and proved; 2 bad input; 3 one of them is undecided
    (which step stopped is printed), or out of time.

    \b
    Examples:
      derive explicit "u*v" --start u=alpha,v=alpha
      derive explicit "p**2 - m**2" --start p=alpha,m=alpha --at beta=2,alpha=1
      derive explicit "a*b*u" --vector u --start a=alpha,b=alpha,u=0
      derive explicit "U*T(V)" --matrix U:2x2,V:2x2
      derive explicit "a*u1" "a*u2" --start a=alpha,u1=0,u2=0 --latex
    """
    form = chosen_form(latex=latex, json=json, standalone=standalone)
    options = Options(start, positive, vector, matrix, "")
    request = read_request(outputs or [], options, form, standalone)
    point = _point(at)
    check_writable(output)
    finish(lambda enter: _regularize(request, point, enter), timeout, output)


def _point(text: str) -> dict[str, Any]:
    """Read numbers for names."""
    from derive.exact.field.conversion import to_field
    from derive.exact.field.function_field import FunctionField
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
    return answer_with(found, request.form, request.standalone)
