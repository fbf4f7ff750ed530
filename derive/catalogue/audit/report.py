"""An audit told: what became of each printed formula, and the catalogue with it as a site."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from html import escape
from itertools import groupby

from derive.catalogue.audit.judgement import Audit, Audits, Witness
from derive.catalogue.library import Entry, Model
from derive.derivation import Derivation
from derive.errors import DeriveError
from derive.render.document import Document, Part
from derive.render.html.page import LOOKS, OUTCOMES, badge, index
from derive.render.sections import expand
from derive.statement import Items, OnPage, OnTerminal, Sentence, Table, Text, each, note, tell
from derive.verdict import Verdict

AUDIT = "What was printed, compared with what is derived"
DIGITS = re.compile(r"[-+.\de]+")
ROOM = 54
"""Characters that a formula has in the table of all."""
NOTES = (
    "DIFFERS means: from the text at hand, which was extracted from the source; the fault may be of"
    " the text. MISPRINT is kept for a typeset page that was read, and for what the source itself"
    " contradicts. What is remembered of a published paper, or not quoted, agrees or is not"
    " checked: it accuses nobody. "
    "`Q` is defined up to a positive factor and an additive constant, `K` up to the unit of time,"
    " which the constant of the loss and the scale of the weights change. A limit is that of `Q/N`"
    " at fixed `beta`, or at a fixed distance from `beta_0`; `N` is a factor free of `beta`."
)


def tell_audits(found: Audits) -> Document:
    """Return what became of printed formulas; of several models a table, and what differs."""
    models = {model: [*own] for model, own in groupby(found.audits, lambda audit: audit.model)}
    read = Counter(audit.printed.reading for audit in found.audits)
    where = ", ".join(f"{n} {name}" for name, n in read.items())
    counts = each("{0} {1}", ((n, Text(x, "quoted")) for x, n in found.counts.items() if n))
    known = (counts, note(f"read: {where}")) if read else ("no printed formula is known",)
    parts = [Part(AUDIT, known)]
    if len(models) > 1:
        wholes = (f"{a.printed.kind}: {a.printed.place}" for a in found.audits)
        briefs = (x if len(x) <= ROOM else f"{x[: ROOM - 3].rstrip()}..." for x in wholes)
        rows = (
            (a.judgement.outcome.short, a.printed.read, brief)
            for a, brief in zip(found.audits, briefs, strict=True)
        )
        table = Table(("outcome", "read", "formula"), tuple(rows))
        parts.append(Part("All formulas", (OnTerminal((table,)),)))
    for model, own in models.items():
        differing = [a for a in own if len(models) == 1 or not a.judgement.agrees]
        lines = (OnTerminal((Audits((*differing,)),)), OnPage((Audits((*own,)),)))
        parts.append(Part(model, lines))
    return Document((*parts, Part("How this is meant", (NOTES,))))


expand.register(Audits, lambda found: (Items(tuple(tuple(_account(x)) for x in found.audits)),))


def _account(audit: Audit) -> Iterator[object]:
    """Yield what became of one formula: what it is, what it differs by, or why, with values."""
    found, printed = audit.judgement, audit.printed
    yield tell(
        "{outcome}: {kind}, {place} ({cite}), {reading}",
        outcome=Text(found.outcome.value, "quoted"),
        kind=printed.kind,
        place=Text(printed.source, "theirs"),
        cite=Text(printed.cite, "cited"),
        reading=printed.reading,
    )
    yield from map(_difference, found.up_to)
    yield from (Text(x, "reason") for x in (found.reason, found.fault) if x)
    if found.differs:
        yield tell("quoted: {x}", x=Text(printed.quote, "quoted"))
        yield tell("printed: {x}", x=Text("; ".join(printed.text), "typed"))
        yield OnTerminal(tuple(map(Text, printed.meanings)))
        yield from (tell("derived: {x}", x=Text(x, "typed")) for x in (found.derived,) if x)
        yield from map(values_at, found.witnesses)
    yield OnTerminal((f"[{found.method}]",) if found.method else ())


FACTOR = re.compile(r"(.*): printed = (.*?) ?\* ?derived(.*)")
"""How a comparison names a factor."""


def _difference(words: str) -> object:
    """Return what a printed formula may differ by.

    >>> _difference("scale: printed = 1/4 * derived (the unit of time)").words
    '{scale}: what is printed is {factor} times what is derived{why}'
    """
    if (found := FACTOR.fullmatch(words)) is None:
        return Text(words, "reason")
    scale, factor, why = found.groups()
    given = {"scale": Text(scale, "reason"), "factor": Text(factor), "why": why}
    return tell("{scale}: what is printed is {factor} times what is derived{why}", **given)


def values_at(witness: Witness) -> Sentence:
    """Return the values of a witness."""
    point = each("{0} = {1}", ((Text(name), Text(x, "typed")) for name, x in witness.point))
    printed, derived = (
        each("{0}", ((Text(x, "digits" if DIGITS.fullmatch(x) else "reason"),) for x in side))
        for side in (witness.printed, witness.derived)
    )
    words = "at {point}: printed {printed}; derived {derived}"
    return tell(words, point=point, printed=printed, derived=derived)


NAV = '<nav><a href="index.html">All models</a> &middot; <a href="audit.html">Audit</a></nav>'
MAIN = '<main class="regderive">'
ABOUT = (
    "Published parameterizations beta = F(w). Of each, gradient flow on F was derived from F and "
    "the start alone: a regularizer Q with its proof, or a proof that there is none. What the "
    "sources print is compared with that."
)


def site(derived: Iterable[tuple[Entry, Derivation]], audits: Iterable[Audit]) -> dict[str, str]:
    """Return the files of a site by their names."""
    every = Audits((*audits,))
    pages, rows = {"audit.html": every.to_html()}, []
    for entry, derivation in derived:
        own = Audits(tuple(audit for audit in every.audits if audit.model == entry.id))
        pages[f"{entry.id}.html"] = Model(entry, derivation, own if own.audits else None).to_html()
        with suppress(DeriveError):  # of what has no picture that moves
            pages[f"explore-{entry.id}.html"] = derivation.explore().text
        rows.append(_row(entry, derivation, own, f"explore-{entry.id}.html" in pages))
    pages = {name: text.replace(MAIN, f"{MAIN}{NAV}") for name, text in pages.items()}
    about = f'{ABOUT} <a href="audit.html">{AUDIT}</a>.'
    return pages | {"index.html": index("The catalogue", about, TABLE, rows)}


TABLE = (
    '<table class="stacked"><thead><tr><th>Model</th><th>F</th><th>Q</th><th>Audit</th></tr>'
    "</thead>"
)


def _row(entry: Entry, derivation: Derivation, audits: Audits, moves: bool) -> tuple[str, ...]:
    F = "<br>".join(f"<code>{escape(output)}</code>" for output in entry.outputs)
    verdict = derivation.verdict
    found = " ".join(badge(f"{n} {x}", OUTCOMES[x]) for x, n in audits.counts.items() if n)
    part = " one entry" if verdict is Verdict.PROVED else " a small one"
    what = f"Explore{part * bool(entry.measurements)}"
    picture = f'<br><a href="explore-{entry.id}.html">{what}</a>' * moves
    title = f'<a href="{entry.id}.html">{entry.id}</a><br>{escape(entry.title)}{picture}'
    return title, F, badge(verdict.value, LOOKS[verdict]), found
