"""What a person may set: fields of dataclasses, of which the command line makes its options.

Nothing is computed here, and nothing that computes is imported.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from derive.errors import InputError

HOLDS = {
    "at_least": lambda x, bound: x >= bound,
    "at_most": lambda x, bound: x <= bound,
    "above": lambda x, bound: x > bound,
    "below": lambda x, bound: x < bound,
}
"""The bounds that a number may have."""


def option(default: Any, help: str = "", metavar: str = "", *names: str, **bounds: float) -> Any:
    """Return a field of a dataclass, which is an option where it has a help text.

    Args:
        default: what holds where the option is not given.
        help: a line on it.
        metavar: what its value is called in that line.
        names: of the option, such as ``-o``; by default that of the field.
        bounds: of its number, or of each of its numbers, by the names of :data:`HOLDS`.
    """
    about = {"help": help, "metavar": metavar, "names": names, "bounds": bounds}
    return field(default=default, metadata=about)


def require_bounds(name: str, value: object, bounds: dict[str, float]) -> None:
    """Raise InputError for a number, or one of several, that is out of its bounds."""
    for number in value if isinstance(value, tuple) else (value,):
        for relation, bound in bounds.items():
            if not HOLDS[relation](number, bound):
                words = relation.replace("_", " ")
                raise InputError(f"{name} must be {words} {bound:g}, not {number:g}")
