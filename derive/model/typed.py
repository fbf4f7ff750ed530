"""A model as it is typed: the texts of a command or of a record, and what they say.

Reading needs no algebra, so that bad input is refused before any is imported; and the help pages,
which name what is typed, import no language either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from derive.errors import InputError, LanguageError

if TYPE_CHECKING:
    from derive.language import Tree
    from derive.language.arrays import Shape
    from derive.model.parameterization import Parameterization

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TypedModel:
    """F and its start as texts, each as one types it after ``derive regularizer``.

    Attributes:
        outputs: the components of F.
        start, positive, vector, matrix, parameter, rates, mirror, steepest, penalty, each,
            measurements: the options of these names; "" where not given.

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
    steepest: str = ""
    penalty: str | None = ""
    each: str = ""
    measurements: str = ""

    def read(self) -> ReadModel:
        """Return what the texts say; InputError names the option of a text that is not accepted."""
        if self.measurements:
            return self._read_matrices()
        return self._read_indexed() if self.each else self._read_outputs()

    def _read_outputs(self) -> ReadModel:
        from derive.language import parse_assignments, parse_expression, parse_names
        from derive.language.arguments import parse_array_outputs
        from derive.language.arrays import OPEN, by_entry, refuse_arrays

        start = dict(read_option("--start", parse_assignments, self.start))
        positive = read_option("--positive", parse_names, self.positive)
        parameters = read_option("--parameter", parse_names, self.parameter)
        vectors = _read_shapes("--vector", self.vector, 1, "has two dimensions: use --matrix")
        matrices = _read_shapes("--matrix", self.matrix, 2, "needs two dimensions, such as W:2x2")
        if twice := sorted(vectors.keys() & matrices.keys()):
            raise InputError(f"--matrix: {twice[0]} is a vector already")
        texts = tuple(text.lstrip() for text in self.outputs)
        shapes = {**vectors, **matrices}
        for name in shapes:
            if any(texts) and not any(re.search(rf"\b{name}\b", text) for text in texts):
                option = "--vector" if name in vectors else "--matrix"
                raise InputError(f"{option}: {name} does not occur in {', '.join(texts)}")
        known = {name: shape for name, shape in shapes.items() if shape != OPEN}
        rates = by_entry(dict(read_option("--rates", parse_assignments, self.rates)), known)
        mirror = read_option("--mirror", lambda text: (parse_expression(text),), self.mirror)
        refuse_arrays(tuple(rates.values()), known, "--rates")
        refuse_arrays(tuple(mirror), known, "--mirror")
        if len(known) == len(shapes):
            parse_array_outputs(texts, known)
            self._use(parameters)
            given = texts, start, positive, parameters, known
            return ReadModel(*given, rates=rates, mirror=mirror, steepest=self.steepest)
        for option in ("mirror", "steepest", "parameter"):
            if getattr(self, option).strip():
                raise InputError(f"--{option} goes with vectors of given dimension only")
        open_vectors = tuple(name for name, shape in vectors.items() if shape == OPEN)
        if known:
            raise InputError(f"--vector: give {open_vectors[0]} a dimension too, or none to all")
        if len(texts) != 1:
            raise InputError("with a vector of open dimension give one output, such as a*u")
        return ReadModel(texts, start, positive, vectors=open_vectors, rates=rates)

    def _use(self, parameters: Iterable[str]) -> None:
        """Require that something uses each parameter."""
        using = " ".join((*self.outputs, self.rates, self.mirror, self.penalty or ""))
        for name in parameters:
            if not re.search(rf"\b{name}\b", using):
                raise InputError(f"--parameter: nothing uses {name}")

    def _read_matrices(self) -> ReadModel:
        """Return what the texts say of matrices of open size."""
        for name in ("start", "positive", "parameter", "vector", "rates", "mirror", "each"):
            if getattr(self, name):
                raise InputError(f"--{name} does not go with --measurements")
        given = dict[str, str]()
        for item in self.matrix.split(","):
            name, colon, size = (part.strip() for part in item.partition(":"))
            if not colon or name in given:
                raise InputError("--matrix: with --measurements write W:nxr, or U:nxr,V:mxr")
            given[name] = size
        return ReadModel(self.outputs, {}, (), matrices=given, measurements=self.measurements)

    def _read_indexed(self) -> ReadModel:
        """Return what the texts say of a map of open size."""
        from derive.language import parse_assignments, parse_name, parse_names
        from derive.language.arguments import parse_entrywise

        for name in ("start", "vector", "matrix", "mirror", "steepest"):
            if getattr(self, name):
                raise InputError(f"--{name} does not go with --each")
        if len(self.outputs) != 1:
            raise InputError("--each goes with one output, that of every entry")
        parse_entrywise(self.outputs[0], parse_name(self.each.partition(":")[0], "indexed weight"))
        return ReadModel(
            self.outputs,
            {},
            read_option("--positive", parse_names, self.positive),
            read_option("--parameter", parse_names, self.parameter),
            rates=dict(read_option("--rates", parse_assignments, self.rates)),
            each=(self.each.strip(),),
        )


@dataclass(frozen=True, slots=True)
class ReadModel:
    """What the texts of a model say; the outputs are known to be expressions of the language."""

    outputs: tuple[str, ...]
    start: dict[str, Tree]
    positive: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    arrays: dict[str, Shape] = field(default_factory=dict)
    vectors: tuple[str, ...] = ()
    rates: dict[str, Tree] = field(default_factory=dict)
    mirror: tuple[Tree, ...] = ()
    steepest: str = ""
    each: tuple[str, ...] = ()
    matrices: dict[str, str] = field(default_factory=dict)
    measurements: str | tuple[tuple[Fraction, ...], ...] = ""

    def parameterization(self) -> Parameterization:
        """Return what is to be derived; this part needs algebra."""
        from derive.model.parameterization import Parameterization

        found: Parameterization = Parameterization.parse(
            self.outputs,
            self.start,
            self.positive,
            self.parameters,
            arrays=self.arrays,
            vectors=self.vectors,
            rates=self.rates,
            mirror=self.mirror[0] if self.mirror else None,
            steepest=self.steepest or None,
            each=self.each,
            matrices=self.matrices,
            measurements=self.measurements,
        )
        return found


def read_option(option: str, parse: Callable[[str], tuple[T, ...]], text: str) -> tuple[T, ...]:
    """Return what an option's text says, () where it is not given; InputError names the option."""
    try:
        return parse(text) if text.strip() else ()
    except LanguageError as error:
        raise InputError(f"{option}: {error}") from None


def _read_shapes(option: str, text: str, dimensions: int, otherwise: str) -> dict[str, Shape]:
    """Return the vectors or matrices of an option by their names."""
    from derive.language.arguments import parse_shapes

    shapes = read_option(option, parse_shapes, text)
    for name, shape in shapes:
        if len(shape) != dimensions:
            raise InputError(f"{option}: {name} {otherwise}")
    return dict(shapes)
