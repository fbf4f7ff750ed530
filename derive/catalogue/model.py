"""From a record to its derivation: the same road as for what a user types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from derive.catalogue.entry import Entry

if TYPE_CHECKING:
    from derive.derivation import Derivation


def derive_entry(entry: Entry, enter: Callable[[str], None] | None = None) -> Derivation:
    """Derive one model.

    >>> from derive.catalogue import find
    >>> derive_entry(find("linear")).verdict.value
    'PROVED'
    """
    from derive.derivation import derive

    return derive(entry.model.read().parameterization(), enter)
