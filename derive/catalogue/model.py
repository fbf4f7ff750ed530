"""From a record to its derivation: the same road as for what a user types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from derive.catalogue.entry import Entry

if TYPE_CHECKING:
    from derive.derivation import Derivation
    from derive.vectors.derivation import RadialDerivation

    AnyDerivation: TypeAlias = Derivation | RadialDerivation


def derive_entry(entry: Entry, enter: Callable[[str], None] | None = None) -> AnyDerivation:
    """Derive one model.

    >>> from derive.catalogue import find
    >>> derive_entry(find("linear")).verdict.value
    'PROVED'
    """
    from derive.derivation import derive

    return derive(entry.model.read().parameterization(), enter)
