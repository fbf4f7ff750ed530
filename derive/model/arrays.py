"""Outputs that are vectors or matrices: their independent entries, one output each."""

from __future__ import annotations

from collections.abc import Sequence

from derive.errors import InputError
from derive.exact.towers.elements import build_elements
from derive.language.arrays import Array
from derive.language.tree import Tree, exponent_names, names


def independent_entries(arrays: Sequence[Array]) -> tuple[Tree, ...]:
    """Return the entries row by row; of a symmetric matrix those on and above the diagonal.

    Symmetric means that entries (i, j) and (j, i) are the same exact function.
    """
    found: list[Tree] = []
    for array in arrays:
        found += array.entries if not _is_symmetric(array) else _upper(array)
    return tuple(found)


def _is_symmetric(array: Array) -> bool:
    if len(array.shape) != 2 or array.shape[0] != array.shape[1]:
        return False
    n = array.shape[0]
    parameters = exponent_names(array.entries)
    weights = [name for name in names(array.entries) if name not in parameters]
    try:
        elements = build_elements(array.entries, weights, parameters)
    except ZeroDivisionError:
        raise InputError("an output divides by an expression that is zero") from None
    return all(elements[i * n + j] == elements[j * n + i] for i in range(n) for j in range(i))


def _upper(array: Array) -> list[Tree]:
    n = array.shape[0]
    return [array.entries[i * n + j] for i in range(n) for j in range(i, n)]
