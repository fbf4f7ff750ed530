"""A walk from the leaves to the root that needs no recursion, for trees of any kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Node = TypeVar("Node")
Result = TypeVar("Result")


def fold(
    root: Node,
    parts: Callable[[Node], Sequence[Node]],
    combine: Callable[[Node, list[Result]], Result],
) -> Result:
    """Compute a result for *root* from the results for its *parts*, and so on downwards.

    *parts* sees every node before its subtrees do, so that it can refuse one early.

    >>> fold((1, (2, 3)), lambda n: n if isinstance(n, tuple) else (), lambda n, r: sum(r) or n)
    6
    """
    pending: list[tuple[Node, int]] = [(root, -1)]
    results: list[Result] = []
    while pending:
        node, count = pending.pop()
        if count < 0:
            below = parts(node)
            pending.append((node, len(below)))
            pending.extend((part, -1) for part in reversed(below))
        else:
            start = len(results) - count
            results[start:] = [combine(node, results[start:])]
    return results[0]
