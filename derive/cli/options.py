"""The options that commands share: one name, one meaning and one help text for each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from typer.models import ArgumentInfo, OptionInfo

from derive.cli.bundles import bundle_of
from derive.model.typed import TypedModel


def text_option(metavar: str, help: str) -> OptionInfo:
    """Return an option whose text is read by the command, "" where it is not given."""
    found: OptionInfo = typer.Option(help=help, metavar=metavar, show_default=False)
    return found


def argument(metavar: str) -> ArgumentInfo:
    """Return an argument; the command's text says what it is: a list would say it twice."""
    found: ArgumentInfo = typer.Argument(metavar=metavar, hidden=True, show_default=False)
    return found


Output: TypeAlias = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write the result to FILE.", metavar="FILE")
]
Timeout: TypeAlias = Annotated[
    float, typer.Option(help="Give up after S seconds.", min=0.1, max=86400, metavar="S")
]


def _typed(
    *,
    outputs: Annotated[list[str] | None, argument("OUTPUT")] = None,
    start: Annotated[
        str, text_option("W=V,...", "Start values: a=1/2,p=alpha. Others start at w_0.")
    ] = "",
    positive: Annotated[
        str, text_option("NAMES", "Weights or start symbols that start positive.")
    ] = "",
    vector: Annotated[
        str, text_option("U[:D],...", "Vectors: u:3, or u alone to leave the dimension open.")
    ] = "",
    matrix: Annotated[
        str, text_option("W:MxN,...", "Matrices: W:2x2; then W*T(W) is accepted.")
    ] = "",
    parameter: Annotated[
        str, text_option("NAMES", "Names that are constants, beside those in exponents.")
    ] = "",
) -> TypedModel:
    return TypedModel(tuple(outputs or ()), start, positive, vector, matrix, parameter)


Model: TypeAlias = Annotated[TypedModel, bundle_of(_typed)]
"""F and its start: what every command takes that derives something from them."""
ModelWithoutParameters: TypeAlias = Annotated[TypedModel, bundle_of(_typed, "parameter")]
"""The same for commands that need F to be a polynomial of given degree."""
