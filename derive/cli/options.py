"""The options that commands share: one name, one meaning and one help text for each.

Typer reads a command's options off its signature. What several commands share is declared once, as
a bundle that annotates one argument; :func:`spelled_out` writes its options in that place.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from derive.model.typed import TypedModel

Result = TypeVar("Result")


@dataclass(frozen=True)
class Bundle:
    """Options, as Typer reads them, of whose values *build* makes one argument of a command."""

    options: tuple[inspect.Parameter, ...]
    build: Callable[..., object]


def bundle_of(build: Callable[..., object], *left_out: str) -> Bundle:
    """Return the bundle of the options that a function or dataclass takes, but for some."""
    flat = spelled_out(build)
    options = inspect.signature(flat).parameters
    return Bundle(tuple(o for o in options.values() if o.name not in left_out), flat)


def spelled_out(function: Callable[..., Result]) -> Callable[..., Result]:
    """Return a function with the options of each bundle in the place of its argument."""
    bundles: dict[str, Bundle] = {}
    options: list[inspect.Parameter] = []
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        notes = get_args(hints[name]) if get_origin(hints[name]) is Annotated else ()
        if bundle := next((note for note in notes if isinstance(note, Bundle)), None):
            bundles[name] = bundle
            options += bundle.options
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            options.append(parameter.replace(kind=kind, annotation=hints[name]))

    @functools.wraps(function, updated=())
    def flat(**values: object) -> Result:
        for name, bundle in bundles.items():
            given = {o.name: values.pop(o.name) for o in bundle.options}
            values[name] = bundle.build(**given)
        return function(**values)

    flat.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    flat.__annotations__ = {o.name: o.annotation for o in options}
    return flat


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
    rates: Annotated[
        str, text_option("W=R,...", "Learning rates of weights: a=eta,p=p. Others are 1.")
    ] = "",
    mirror: Annotated[
        str, text_option("PSI", "Mirror descent on the weights: p*log(p) + m*log(m).")
    ] = "",
) -> TypedModel:
    given = start, positive, vector, matrix, parameter, rates, mirror
    return TypedModel(tuple(outputs or ()), *given)


Model: TypeAlias = Annotated[TypedModel, bundle_of(_typed)]
"""F and its start: what every command takes that derives something from them."""
ModelWithoutParameters: TypeAlias = Annotated[TypedModel, bundle_of(_typed, "parameter")]
"""The same for commands that need F to be a polynomial of given degree."""
