"""The options that commands share: one name, one meaning and one help text for each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from derive.cli.bundles import bundle_of
from derive.model.typed import TypedModel

# Each command's text says what its arguments are: a list beside it would say it twice.
Outputs: TypeAlias = Annotated[
    list[str] | None, typer.Argument(metavar="OUTPUT", hidden=True, show_default=False)
]
Start: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Start values: a=1/2,p=alpha. Others start at w_0.",
        metavar="W=V,...",
        show_default=False,
    ),
]
Positive: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Weights or start symbols that start positive.", metavar="NAMES", show_default=False
    ),
]
Vector: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Vectors: u:3, or u alone to leave the dimension open.",
        metavar="U[:D],...",
        show_default=False,
    ),
]
Matrix: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Matrices: W:2x2; then W*T(W) is accepted.", metavar="W:MxN,...", show_default=False
    ),
]
Parameter: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Names that are constants, beside those in exponents.",
        metavar="NAMES",
        show_default=False,
    ),
]
Output: TypeAlias = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write the result to FILE.", metavar="FILE")
]
Timeout: TypeAlias = Annotated[
    float, typer.Option(help="Give up after S seconds.", min=0.1, max=86400, metavar="S")
]


def _typed(
    *,
    outputs: Outputs = None,
    start: Start = "",
    positive: Positive = "",
    vector: Vector = "",
    matrix: Matrix = "",
    parameter: Parameter = "",
) -> TypedModel:
    return TypedModel(tuple(outputs or ()), start, positive, vector, matrix, parameter)


Model: TypeAlias = Annotated[TypedModel, bundle_of(_typed)]
"""F and its start: what every command takes that derives something from them."""
ModelWithoutParameters: TypeAlias = Annotated[TypedModel, bundle_of(_typed, "parameter")]
"""The same for commands that need F to be a polynomial of given degree."""
