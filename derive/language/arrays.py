"""Vectors and matrices of expressions, and the names of their entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeAlias, TypeVar

from derive.errors import LanguageError
from derive.language.tree import Tree, names

T = TypeVar("T")
Shape: TypeAlias = tuple[int, ...]
"""() for a scalar, (d,) for a vector, (m, n) for a matrix."""

OPEN: Shape = (0,)
"""A vector whose dimension is left open."""


def places(shape: Shape) -> tuple[tuple[int, ...], ...]:
    """Return the places of the entries, row by row.

    >>> places((2, 2))
    ((1, 1), (1, 2), (2, 1), (2, 2))
    """
    return tuple(product(*(range(1, n + 1) for n in shape)))


def entry_names(name: str, shape: Shape) -> tuple[str, ...]:
    """Return the names of the entries: u1, u2, ...; W11, W12, ... (W1_1 beyond 9).

    >>> entry_names("W", (2, 2))
    ('W11', 'W12', 'W21', 'W22')
    """
    joint = "_" if len(shape) > 1 and max(shape) > 9 else ""
    return tuple(name + joint.join(map(str, place)) for place in places(shape))


def by_entry(values: Mapping[str, T], shapes: Mapping[str, Shape]) -> dict[str, T]:
    """Return values by names of entries; what is given of an array is given of each of its entries.

    >>> by_entry({"u": 2, "u1": 3, "a": 4}, {"u": (2,)})
    {'u1': 3, 'u2': 2, 'a': 4}
    """
    pairs = ((entry_names(x, shapes.get(x, ())), value) for x, value in values.items())
    return {name: value for entries, value in pairs for name in entries}


def refuse_arrays(functions: Sequence[Tree], shapes: Mapping[str, Shape], what: str) -> None:
    """Refuse functions of a whole array, which is neither a weight nor a constant."""
    if met := sorted({*names(tuple(functions))} & {*shapes}):
        entries = ", ".join(entry_names(met[0], shapes[met[0]])[:2])
        raise LanguageError(f"{what}: {met[0]} is an array: name its entries, {entries} and so on")
