"""The catalogue and its audit in a browser: a page a model, one of the audit, and an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from html import escape

from derive.catalogue.audit.judgement import Audit
from derive.catalogue.audit.report import audit_blocks, audit_page, counts
from derive.catalogue.library import Entry
from derive.catalogue.listing import entry_page
from derive.derivation import Derivation
from derive.errors import NumericalError
from derive.render.html.page import LOOKS, OUTCOMES, SEARCH, as_html, badge, document, sections
from derive.render.page.blocks import Page, Passage
from derive.render.page.names import set_letters

NAV = '<nav><a href="index.html">All models</a> &middot; <a href="audit.html">Audit</a></nav>'
AUDIT = "What was printed, compared with what is derived"
ABOUT = (
    "Published parameterizations beta = F(w). Of each, gradient flow on F was derived from F and "
    "the start alone: a regularizer Q with its proof, or a proof that there is none. What the "
    "sources print is compared with that."
)


def entry_html(entry: Entry, derivation: Derivation, audits: Sequence[Audit] | None = None) -> str:
    """Return the page of a model; of a site with what became of the formulas printed."""
    page = entry_page(entry, derivation)
    if audits:
        audit = set_letters(Page((Passage("paragraph", audit_blocks(audits), "Audit"),)), {})
        page = replace(page, passages=(*page.passages, *audit.passages))
    assumed = escape(entry.assumptions)
    about = f"<p>Assumptions: {assumed}.</p>" if assumed else ""
    typed = f'{about}<p class="typed"><code>{escape(entry.command)}</code></p>'
    head = f"{'' if audits is None else NAV}<h1>{escape(entry.title)}</h1>{typed}"
    return document(f"{entry.id}: {entry.title}", head + sections(derivation, page))


def audit_html(audits: Sequence[Audit], nav: str = "") -> str:
    """Return the page of an audit."""
    boxes = (f"<li>{_outcome(name, n)}</li>" for name, n in counts(audits).items() if n)
    head = f'{nav}<h1>{AUDIT}</h1><ul class="badges">{"".join(boxes)}</ul>'
    return document(AUDIT, head + as_html(audit_page(audits)))


def site(derived: Iterable[tuple[Entry, Derivation]], audits: Sequence[Audit]) -> dict[str, str]:
    """Return the files of a site by their names."""
    pages, rows = {"audit.html": audit_html(audits, NAV)}, []
    for entry, derivation in derived:
        own = [audit for audit in audits if audit.model == entry.id]
        pages[f"{entry.id}.html"] = entry_html(entry, derivation, own)
        with suppress(NumericalError):  # of what has no picture that moves
            pages[f"explore-{entry.id}.html"] = derivation.explore().text
        rows.append(_row(entry, derivation, own, f"explore-{entry.id}.html" in pages))
    body = (
        f'<h1>The catalogue</h1><p>{ABOUT} <a href="audit.html">{AUDIT}</a>.</p>'
        '<p hidden><label>Search <input type="search"></label> <output></output></p>'
        '<table class="stacked"><thead><tr><th>Model</th><th>F</th><th>Q</th><th>Audit</th></tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table>"
    )
    return pages | {"index.html": document("The catalogue", body, SEARCH)}


def _row(entry: Entry, derivation: Derivation, audits: Sequence[Audit], moves: bool) -> str:
    F = "<br>".join(f"<code>{escape(output)}</code>" for output in entry.outputs)
    verdict = derivation.verdict
    found = " ".join(_outcome(name, n) for name, n in counts(audits).items() if n)
    picture = f'<br><a href="explore-{entry.id}.html">Explore</a>' * moves
    cells = (
        f'<a href="{entry.id}.html">{entry.id}</a><br>{escape(entry.title)}{picture}',
        F,
        badge(verdict.value, LOOKS[verdict]),
        found,
    )
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>\n"


def _outcome(name: str, number: int) -> str:
    return badge(f"{number} {name}", OUTCOMES[name])
