"""What a command asks for: texts read as far as that needs no algebra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from derive.errors import InputError, LanguageError


@dataclass(frozen=True, slots=True)
class Request:
    """What to derive, checked as far as is possible without algebra."""

    outputs: tuple[Any, ...]
    start: dict[str, Any]
    positive: tuple[str, ...]
    parameters: tuple[str, ...]
    vectors: tuple[str, ...]
    form: str
    standalone: bool


@dataclass(frozen=True, slots=True)
class Options:
    """The texts of options that say what the names in the outputs are."""

    start: str
    positive: str
    vector: str
    matrix: str
    parameter: str


def read_request(outputs: Sequence[str], options: Options, form: str, standalone: bool) -> Request:
    """Read all texts; what needs algebra waits for the child."""
    from derive.language import parse_assignments, parse_names, parse_outputs
    from derive.language.arrays import parse_array_outputs, parse_shapes

    try:
        option = "--start"
        start = dict(parse_assignments(options.start)) if options.start.strip() else {}
        option = "--positive"
        positive = parse_names(options.positive) if options.positive.strip() else ()
        option = "--parameter"
        parameters = parse_names(options.parameter) if options.parameter.strip() else ()
        option = "--vector"
        shapes = parse_shapes(options.vector) if options.vector.strip() else {}
        if wrong := [name for name, shape in shapes.items() if shape and len(shape) != 1]:
            raise LanguageError(f"{wrong[0]} has two dimensions: use --matrix")
        option = "--matrix"
        matrices = parse_shapes(options.matrix) if options.matrix.strip() else {}
        if wrong := [name for name, shape in matrices.items() if not shape or len(shape) != 2]:
            raise LanguageError(f"{wrong[0]} needs two dimensions, such as {wrong[0]}:2x2")
        if wrong := sorted(shapes.keys() & matrices.keys()):
            raise LanguageError(f"{wrong[0]} is a vector already")
    except LanguageError as error:
        raise InputError(f"{option}: {error}") from None
    texts = [text.lstrip() for text in outputs]
    vectors = tuple(name for name, shape in shapes.items() if shape is None)
    if vectors:
        if len(shapes) > len(vectors) or matrices:
            raise InputError(f"--vector: give {vectors[0]} a dimension too, or none to all")
        if parameters:
            raise InputError("--parameter goes with vectors of given dimension only")
        if len(texts) != 1:
            raise InputError("with a vector of open dimension give one output, such as a*u")
        return Request(tuple(texts), start, positive, (), vectors, form, standalone)
    known = {name: shape for name, shape in {**shapes, **matrices}.items() if shape}
    read = parse_array_outputs(texts, known) if known and texts else parse_outputs(texts)
    return Request(tuple(read), start, positive, parameters, (), form, standalone)


def model_of(request: Request) -> Any:
    """Return what is to be derived; this part needs algebra."""
    from derive.model.parameterization import Parameterization
    from derive.vectors.reduce import VectorModel

    if request.vectors:
        text = request.outputs[0]
        return VectorModel.parse(text, request.vectors, request.start, request.positive)
    outputs = request.outputs
    if type(outputs[0]).__name__ == "Array":
        from derive.model.arrays import independent_entries

        outputs = independent_entries(outputs)
    return Parameterization(
        outputs, None, request.start, request.positive, parameters=request.parameters
    )
