"""What is claimed of an optimizer: what it spans, what its limits and its iterates minimise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from derive.optimizers.span import Update
from derive.statement import Ground, Open, Sentence, Statement, Text, each, note, tell
from derive.verdict import Finding, Verdict

ONE_ROW = "on one row from 0: `argmin |w|_inf` s.t. `X w = y`"
NOTHING = "no clean statement"
INTERPOLATES = "the loss has a finite root and `w` tends to an interpolant"


def spanned(found: Finding) -> Statement | Open:
    """Return where the iterates stay, or that they have no such law."""
    return _decided(found, found.reason, "span")


def limits(found: Finding, example: Sentence | None) -> Iterator[Statement | Open]:
    """Yield what a limit that interpolates minimises; or data on which it does not.

    Where only one row is decided, that is claimed of one row.
    """
    refuted = found.verdict is Verdict.REFUTED
    words = f"{'in general ' * refuted}the limit is {found.reason}"
    claimed = _decided(found, words, "optimizer limit")
    if isinstance(claimed, Open) and found.evidence:
        yield replace(claimed, words=NOTHING)
        proof, given = tuple(_evidence(found)), (INTERPOLATES,)
        yield Statement(ONE_ROW, kind="optimizer limit", about="row", conditions=given, proof=proof)
    elif isinstance(claimed, Open):
        yield claimed
    else:
        shown = () if example is None else (example,)
        yield replace(claimed, conditions=(INTERPOLATES,), below=shown)


def every_iterate(update: Update, found: Finding, law: Finding) -> Statement | Open:
    """Return what each iterate minimises, for decreasing losses."""
    also = "" if update.space == "row(X)" else " and `A w = b`"
    least = f"each iterate minimises the same among those with margins at least its own{also}"
    claimed = _decided(found, found.reason, "iterates")
    if isinstance(claimed, Open) or law.verdict is not Verdict.PROVED:
        return claimed
    return replace(claimed, below=(note(f"so {least}"),))


def tail(update: Update) -> Statement | Open:
    """Return what is cited of the direction under exponential tails."""
    if not (known := update.tail):
        return Open("no theorem is cited", kind="tail")
    return Statement(
        f"the direction tends to the largest margin in {known['norm']}",
        kind="tail",
        ground=Ground.CITED,
        conditions=(f"the rows are separable, with {known['given']}",),
        by=Text(known["cite"], "cited"),
    )


def _decided(found: Finding, words: str, kind: str) -> Statement | Open:
    """Return what is decided, with the identities behind it."""
    if found.verdict is Verdict.UNDECIDED:
        return Open(found.reason, kind=kind)
    return Statement(words, kind=kind, by=found, proof=tuple(_evidence(found)))


def _evidence(found: Finding) -> Iterator[Sentence]:
    for e in found.evidence:
        if e.holds:
            yield note(f"{e.statement}: `{e.left} = {e.right}`")
        else:
            point = each("`{0} = {1}`", e.point)
            words = f"{e.statement}, but {e.left} is `{e.residual}`, not 0, at {{point}}"
            yield tell(words, point=point)
