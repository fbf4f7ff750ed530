"""Audit one model: derive it once, then compare every formula that was printed of it."""

from __future__ import annotations

from collections.abc import Iterator

from derive.catalogue.audit.formula_kinds import KINDS
from derive.catalogue.audit.judgement import Audit, Judgement, unchecked
from derive.catalogue.audit.subject import Subject, Trial
from derive.catalogue.entry import Entry, Printed
from derive.catalogue.library import derive_entry
from derive.errors import DeriveError
from derive.exact.towers.germ import Unsettled


def audit_entry(entry: Entry, trial: Trial | None = None) -> Iterator[Audit]:
    """Yield the answer to each printed formula of a model; *trial* tries rates by numbers.

    >>> from derive.catalogue import find
    >>> [audit.judgement.outcome.value for audit in audit_entry(find("exponential"))]
    ['AGREES UP TO']
    """
    if not entry.printed:
        return
    subject = Subject(derive_entry(entry), trial)
    for printed in entry.printed:
        yield Audit(entry.id, printed, compare_printed(subject, printed))


def compare_printed(subject: Subject, printed: Printed) -> Judgement:
    """Return the answer to one formula; NOT CHECKED where nothing compares it."""
    check = KINDS.get(printed.kind)
    if check is None:
        return unchecked(f"nothing compares the kind {printed.kind!r}")
    try:
        return check(subject, printed)
    except (DeriveError, Unsettled) as error:
        return unchecked(str(error))
