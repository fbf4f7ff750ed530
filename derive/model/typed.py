"""A model as it is typed: the texts of a command or of a record, and what they say.

Reading needs no algebra, so that bad input is refused before any is imported; and the help pages,
which name what is typed, import no language either.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from derive.errors import InputError, LanguageError

if TYPE_CHECKING:
    from derive.language import Tree
    from derive.language.arrays import Array, Shape
    from derive.model.parameterization import Parameterization

Shapes: TypeAlias = "tuple[tuple[str, Shape | None], ...]"
"""Names of vectors and matrices; None for a dimension that is left open."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TypedModel:
    """F and its start as texts, each as one types it after ``derive regularizer``.

    Attributes:
        outputs: the components of F.
        start, positive, vector, matrix, parameter, rates, mirror: the options of these names; ""
            where not given.

    >>> TypedModel(("a*u",), vector="u:2").read().parameterization().weights
    ('a', 'u1', 'u2')
    """

    outputs: tuple[str, ...]
    start: str = ""
    positive: str = ""
    vector: str = ""
    matrix: str = ""
    parameter: str = ""
    rates: str = ""
    mirror: str = ""

    def read(self) -> ReadModel:
        """Return what the texts say; InputError names the option of a text that is not accepted."""
        from derive.language import parse_assignments, parse_names
        from derive.language.arrays import by_entry, parse_array_outputs, refuse_arrays

        start = dict(read_option("--start", parse_assignments, self.start))
        positive = read_option("--positive", parse_names, self.positive)
        parameters = read_option("--parameter", parse_names, self.parameter)
        vectors = dict(read_option("--vector", _parse_vectors, self.vector))
        matrices = dict(read_option("--matrix", _parse_matrices, self.matrix))
        if twice := sorted(vectors.keys() & matrices.keys()):
            raise InputError(f"--matrix: {twice[0]} is a vector already")
        texts = tuple(text.lstrip() for text in self.outputs)
        shapes = {**vectors, **matrices}
        for name in shapes:
            if any(texts) and not any(re.search(rf"\b{name}\b", text) for text in texts):
                option = "--vector" if name in vectors else "--matrix"
                raise InputError(f"{option}: {name} does not occur in {', '.join(texts)}")
        known = {name: shape for name, shape in shapes.items() if shape is not None}
        rates = by_entry(dict(read_option("--rates", parse_assignments, self.rates)), known)
        mirror = read_option("--mirror", _parse_mirror, self.mirror)
        refuse_arrays(tuple(rates.values()), known, "--rates")
        refuse_arrays(tuple(mirror), known, "--mirror")
        if len(known) == len(shapes):
            read = parse_array_outputs(texts, known)
            return ReadModel(read, start, positive, parameters, rates=rates, mirror=mirror)
        if mirror:
            raise InputError("--mirror goes with vectors of given dimension only")
        open_vectors = [name for name, shape in vectors.items() if shape is None]
        if known:
            raise InputError(f"--vector: give {open_vectors[0]} a dimension too, or none to all")
        if parameters:
            raise InputError("--parameter goes with vectors of given dimension only")
        if len(texts) != 1:
            raise InputError("with a vector of open dimension give one output, such as a*u")
        return ReadModel((), start, positive, (), texts[0], tuple(open_vectors), rates)


@dataclass(frozen=True, slots=True)
class ReadModel:
    """What the texts of a model say; *text* and *vectors* only with vectors of open dimension."""

    outputs: tuple[Array, ...]
    start: dict[str, Tree]
    positive: tuple[str, ...]
    parameters: tuple[str, ...]
    text: str = ""
    vectors: tuple[str, ...] = ()
    rates: dict[str, Tree] = field(default_factory=dict)
    mirror: tuple[Tree, ...] = ()

    def parameterization(self) -> Parameterization:
        """Return what is to be derived; this part needs algebra."""
        from derive.model.names import independent_entries
        from derive.model.parameterization import Parameterization

        if self.vectors:
            return Parameterization.parse(
                [self.text], self.start, self.positive, vectors=self.vectors, rates=self.rates
            )
        trees = independent_entries(self.outputs)
        return Parameterization(
            trees,
            None,
            self.start,
            self.positive,
            parameters=self.parameters,
            rates=self.rates,
            mirror=self.mirror[0] if self.mirror else None,
        )


def read_option(option: str, parse: Callable[[str], tuple[T, ...]], text: str) -> tuple[T, ...]:
    """Return what an option's text says, () where it is not given; InputError names the option."""
    try:
        return parse(text) if text.strip() else ()
    except LanguageError as error:
        raise InputError(f"{option}: {error}") from None


def _parse_mirror(text: str) -> tuple[Tree]:
    from derive.language import parse_expression

    return (parse_expression(text),)


def _parse_vectors(text: str) -> Shapes:
    from derive.language.arrays import parse_shapes

    shapes = parse_shapes(text)
    for name, shape in shapes.items():
        if shape is not None and len(shape) != 1:
            raise LanguageError(f"{name} has two dimensions: use --matrix")
    return tuple(shapes.items())


def _parse_matrices(text: str) -> Shapes:
    from derive.language.arrays import parse_shapes

    shapes = parse_shapes(text)
    for name, shape in shapes.items():
        if shape is None or len(shape) != 2:
            raise LanguageError(f"{name} needs two dimensions, such as {name}:2x2")
    return tuple(shapes.items())
