"""Groups of outputs that do not see one another."""

from __future__ import annotations

from collections.abc import Iterable, Set


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
