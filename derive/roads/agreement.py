"""Two roads must agree on what holds of Q; where they do not, one of them is at fault."""

from __future__ import annotations

from collections.abc import Iterable

from derive.errors import ConsistencyError
from derive.verdict import Identity
from derive.weights.necessary import Equation


def require_agreement(
    first: str, second: str, equations: Iterable[Equation]
) -> tuple[Identity, ...]:
    """Return the identities on which two roads agree.

    Args:
        first, second: names of the roads.
        equations: what holds of Q on both.

    Raises:
        ConsistencyError: one of them fails, so one road is at fault.
    """
    found = []
    for statement, left, right in equations:
        if left != right:
            raise disagreement(first, second, f"{statement} fails: {left!r} and {right!r}")
        found.append(Identity(statement, repr(left), repr(right)))
    return tuple(found)


def disagreement(first: str, second: str, why: str) -> ConsistencyError:
    """Return the error that two roads do not lead to one Q."""
    return ConsistencyError(f"two roads disagree, {first} and {second}: {why}")
