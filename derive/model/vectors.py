"""Vectors of open dimension: an output sum_k phi_k u_k, known from the lengths n_k = |u_k|.

Where all u_k lie on one line, |beta| = |sum_k phi_k n_k|, a function of the scalars and lengths.
An output may be left out, as it is an affine function of others.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypedDict

from derive.errors import DegenerateStart, InputError
from derive.exact.field.function_field import FunctionField
from derive.exact.towers.tower import to_field
from derive.language.arguments import parse_combination
from derive.language.tree import Name, Operation, Tree, exponent_names, names, to_text
from derive.model.geometry import Geometry
from derive.model.names import read_tree


@dataclass(frozen=True)
class AffineOutput:
    """F_i = c_0 + sum_k c_k F_k for all weights, over outputs k that are kept.

    Attributes:
        label: its number i among all outputs.
        tree: F_i as it was given.
        constant: c_0, a number or made of parameters, as the c_k are.
        terms: (k, c_k) for the c_k that are not 0.
    """

    label: int
    tree: Tree
    constant: Tree
    terms: tuple[tuple[int, Tree], ...]

    def mapped(self, image: Callable[[Tree], Tree]) -> AffineOutput:
        """Return the output with another tree for each, as with numbers for parameters."""
        terms = tuple((k, image(tree)) for k, tree in self.terms)
        return AffineOutput(self.label, image(self.tree), image(self.constant), terms)


@dataclass(frozen=True)
class Vector:
    """A vector u of open dimension, which enters beta as phi u; *norm* is the weight |u|."""

    name: str
    norm: str
    coefficient: Tree

    @property
    def text(self) -> str:
        """The term phi u, as one types it."""
        text = to_text(Operation("*", self.coefficient, Name(self.name)))
        return re.sub(rf"\b{self.norm}\b", f"norm({self.name})", text)


class Ingredients(TypedDict, total=False):
    """All or some of them, as the constructor of a parameterization names them."""

    outputs: Sequence[Tree]
    weights: Sequence[str]
    start: Mapping[str, Tree]
    positive: Iterable[str]
    labels: Sequence[int]
    parameters: Iterable[str]
    geometry: Geometry
    vectors: Sequence[Vector]
    affine: Sequence[AffineOutput]


def read_vectors(outputs: Sequence[str], vectors: Sequence[str]) -> tuple[Vector, ...]:
    """Read one output that is linear in vectors of open dimension; nothing where there are none.

    >>> [(v.name, v.norm, v.text) for v in read_vectors(["a*u"], ["u"])]
    [('u', 'norm_u', 'a*u')]
    """
    if not vectors:
        return ()
    if len(outputs) != 1:
        raise InputError("with a vector of open dimension give one output, such as a*u")
    return tuple(Vector(u, *x) for u, x in parse_combination(outputs[0], vectors).items())


def lengths(
    vectors: Sequence[Vector], start: Mapping[str, Any], positive: Iterable[str]
) -> Ingredients:
    """Return the output sum_k phi_k n_k with its weights, the scalars and then the norms.

    The start of a vector u is that of its norm |u|, which is positive unless it starts at 0.
    """
    coefficients = tuple(v.coefficient for v in vectors)
    norms = {v.name: v.norm for v in vectors}
    used, parameters = names(coefficients), exponent_names(coefficients)
    if len(vectors) > 1 and set(norms.values()) & set(used):
        raise InputError(
            f"norms beside several vectors are not covered: give {vectors[0].name} a dimension"
        )
    scalars = tuple(x for x in used if x not in (*norms.values(), *parameters))
    for name in start:
        if name not in (*scalars, *norms):
            known = ", ".join((*scalars, *norms))
            raise InputError(f"start: there is no weight {name} (the weights are {known})")
    starts = {norms.get(k, k): read_tree(v, f"the start of {k}") for k, v in start.items()}
    given = tuple(positive)
    for v in vectors:
        if v.name in given:
            raise InputError(f"positive: {v.name} is a vector")
    terms: list[Tree] = [Operation("*", v.coefficient, Name(v.norm)) for v in vectors]
    return {
        "outputs": [functools.reduce(lambda x, y: Operation("+", x, y), terms)],
        "weights": (*scalars, *norms.values()),
        "start": starts,
        "positive": (*given, *(v.norm for v in vectors if _starts_off_zero(v, starts.get(v.norm)))),
        "vectors": vectors,
    }


def _starts_off_zero(v: Vector, start: Tree | None) -> bool:
    """Tell whether a vector starts away from 0; its norm must not be negative there."""
    if start is None or names((start,)):
        return True
    try:
        value = to_field(start, FunctionField(()), "the start").value()
    except InputError:
        return True
    if value < 0:
        raise InputError(f"start: the norm of {v.name} is {value}, which is negative")
    return value != 0


@contextmanager
def named_as_vectors(vectors: Sequence[Vector]) -> Iterator[None]:
    """Let messages on norms speak of the vectors that the user named."""
    try:
        yield
    except DegenerateStart:
        raise
    except InputError as error:
        message = str(error)
        for v in vectors:
            message = message.replace(v.norm, v.name)
        raise type(error)(message) from None
