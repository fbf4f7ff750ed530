"""From a record to its derivation: the same road as for what a user types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from derive.catalogue.entry import Entry
from derive.cli.request import Options, Request, model_of, read_request

if TYPE_CHECKING:
    from derive.derivation import Derivation
    from derive.vectors.derivation import RadialDerivation

    AnyDerivation: TypeAlias = Derivation | RadialDerivation


def request_for(entry: Entry, form: str = "text", standalone: bool = False) -> Request:
    """Return what the command line would read from the record's texts.

    Raises:
        InputError: a text is not accepted.
    """
    options = Options(entry.start, entry.positive, entry.vector, entry.matrix, entry.parameter)
    return read_request(entry.outputs, options, form, standalone)


def derive_entry(entry: Entry, enter: Callable[[str], None] | None = None) -> AnyDerivation:
    """Derive one model.

    >>> from derive.catalogue import find
    >>> derive_entry(find("linear")).verdict.value
    'PROVED'
    """
    from derive.derivation import derive

    found: AnyDerivation = derive(model_of(request_for(entry)), enter)
    return found
