"""Groups of outputs that do not see one another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from derive.model.geometry import Field


def used_weights(weights: Sequence[str], covector: Field, field: Field) -> set[str]:
    """Return the weights that dF or the field of F has: through functions in F as well."""
    triples = zip(weights, covector, field, strict=True)
    return {w for w, slope, speed in triples if not (slope.is_zero() and speed.is_zero())}


def independent_blocks(used: Iterable[Set[str]]) -> tuple[tuple[int, ...], ...]:
    """Return the groups of outputs, counted from 0, that share no weight with one another.

    Args:
        used: for each output the weights that it depends on.
    """
    groups: list[tuple[set[int], set[str]]] = []
    for i, weights in enumerate(used):
        members, together = {i}, set(weights)
        for group in [g for g in groups if g[1] & together]:
            groups.remove(group)
            members |= group[0]
            together |= group[1]
        groups.append((members, together))
    return tuple(sorted(tuple(sorted(members)) for members, _ in groups))
