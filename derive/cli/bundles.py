"""Bundles: several options that stand in a command's signature as one argument.

Typer reads a command's options off its signature. What several commands share is declared once, as
a bundle that annotates one argument; :func:`spelled_out` writes its options in that place.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar, get_args, get_origin, get_type_hints

Result = TypeVar("Result")


@dataclass(frozen=True)
class Bundle:
    """Options that make one argument of a command: ``Annotated[Thing, Bundle(...)]``.

    Attributes:
        options: what is typed, each annotated as Typer reads it.
        build: makes the argument of the options' values, given by name.
    """

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
