"""An audit as a table in the terminal, as JSON, and as a list in LaTeX.

The catalogue and its audit in a browser: a page a model, one of the audit, and an index.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from html import escape
from itertools import groupby

from derive.catalogue.audit.judgement import Audit, Outcome, Witness
from derive.catalogue.library import Entry
from derive.catalogue.listing import entry_page
from derive.derivation import Derivation
from derive.errors import DeriveError, NumericalError
from derive.render.document import Document, Element, Part, literal
from derive.render.html.page import LOOKS, OUTCOMES, SEARCH, as_html, badge, document, sections
from derive.render.json import json_text
from derive.render.page.blocks import set_letters
from derive.render.page.formula import given_words, relation, sentence
from derive.render.page.latex import snippet
from derive.render.page.printer import latex_name
from derive.render.plain import at, unmark, wrap
from derive.statement import Items

DETAILS = "What is not as it was printed:"
HEAD = "Outcome, where it was read (typeset page, text at hand, memory), kind and place"
NOTES = (
    "DIFFERS means: from the text at hand, which was extracted from the source; the fault may be of"
    " the text. MISPRINT is kept for a typeset page that was read, and for what the source itself"
    " contradicts. What is remembered of a published paper, or not quoted, agrees or is not"
    " checked: it accuses nobody. "
    "`Q` is defined up to a positive factor and an additive constant, `K` up to the unit of time,"
    " which the constant of the loss and the scale of the weights change. The dual variable of a"
    " path is `grad Q`: the time integral of `-X^T r` for the loss `|r|^2/2`, twice that for"
    " `|r|^2`. A limit is that of `Q/N` at fixed `beta`, or at a fixed distance from `beta_0`; `N`"
    " is a factor free of `beta`."
)


def counts(audits: Sequence[Audit]) -> dict[str, int]:
    """Return how often each outcome occurs."""
    found = Counter(audit.judgement.outcome for audit in audits)
    return {outcome.value: found[outcome] for outcome in Outcome}


def render_text(audits: Sequence[Audit], width: int = 80) -> str:
    """Return a table: outcome, reading, kind and place, and below what there is to say.

    Of one model everything is said; of several, what differs and what is not checked.
    """
    several = len({audit.model for audit in audits}) > 1
    lines = [HEAD, "", *_table(audits, width), "", DETAILS, ""] if several else []
    brief = (Outcome.AGREES, Outcome.AGREES_UP_TO) if several else ()
    told = [audit for audit in audits if audit.judgement.outcome not in brief]
    for model, group in groupby(told, lambda audit: audit.model):
        lines += [model, *(line for audit in group for line in _rows(audit, width)), ""]
    lines += wrap(unmark(NOTES), width)
    if several:
        lines += ["", "`derive audit ID` says of one model what agrees, and how it was decided."]
    total = ", ".join(f"{n} {outcome}" for outcome, n in counts(audits).items() if n)
    read = Counter(audit.printed.reading for audit in audits)
    total += f"; read: {', '.join(f'{n} {where}' for where, n in read.items())}"
    return "\n".join([*lines, "", *wrap(total, width)])


def _table(audits: Sequence[Audit], width: int) -> Iterator[str]:
    """Yield a line for each model, and one for each of its formulas, cut to the width."""
    for model, group in groupby(audits, lambda audit: audit.model):
        yield model
        for audit in group:
            outcome, printed = audit.judgement.outcome.short, audit.printed
            line = f"  {outcome:12}  {printed.read:6}  {printed.kind}: {printed.place}"
            yield line if len(line) <= width else line[: width - 3].rstrip() + "..."


def _rows(audit: Audit, width: int) -> Iterator[str]:
    indent = " " * 16
    first, *rest = wrap(f"{audit.printed.kind}: {audit.printed.place}", width - len(indent))
    yield f"  {audit.judgement.outcome.short:12}  {first}"
    yield from (indent + line.strip() for line in rest)
    for line in (*_details(audit), f"read: {audit.printed.reading}"):
        yield from wrap(indent + line, width)


def _details(audit: Audit) -> Iterator[str]:
    judgement = audit.judgement
    yield from judgement.up_to
    yield from filter(None, (judgement.reason, judgement.fault))
    if judgement.differs:
        yield f"quoted: {audit.printed.quote}"
        yield f"printed: {'; '.join(audit.printed.text)}"
        yield from (f"  {meaning}" for meaning in audit.printed.meanings)
        if judgement.derived:
            yield f"derived: {judgement.derived}"
        yield from (shown(witness) for witness in judgement.witnesses)
    if judgement.method:
        yield f"[{judgement.method}]"


def shown(witness: Witness) -> str:
    """Return a witness as one line."""
    printed, derived = ", ".join(witness.printed), ", ".join(witness.derived)
    return f"at {unmark(at(witness.point))}: printed {printed}; derived {derived}"


def render_json(audits: Sequence[Audit]) -> str:
    """Return the audit as a versioned record; fields are only ever added."""
    return json_text("audit", 1, {"counts": counts(audits), "audits": audits})


def audit_blocks(audits: Sequence[Audit]) -> tuple[Element, ...]:
    """Return a list, which may stand in columns, with citations by key."""
    if not audits:
        return ("No printed formula is known.",)
    return (Items(tuple((_item(audit),) for audit in audits)),)


def _item(audit: Audit) -> str:
    """Return the kind and place of a formula, where it was read, and what became of it."""
    judgement, printed = audit.judgement, audit.printed
    told = [sentence(text) for text in (judgement.reason, judgement.fault) if text]
    if judgement.differs:
        told.append(f"Quoted: [emph:{literal(printed.quote)}]")
        told.append(f"Printed: {'; '.join(map(mathematics, printed.text))}")
        told += [f"Derived: {mathematics(judgement.derived)}"] if judgement.derived else []
        told += map(_at, judgement.witnesses)
    up_to = ", ".join(map(_difference, judgement.up_to))
    told.insert(0, f"[emph:{judgement.outcome.value.capitalize()}] {up_to}".rstrip())
    place = f"{given_words(printed.source)} [@{printed.cite}] ({printed.reading})"
    return (
        f"[emph:{literal(printed.kind)}], {place}. {'. '.join(x[0].upper() + x[1:] for x in told)}."
    )


FACTOR = re.compile(r"(.*): printed = (.*?) ?\* ?derived(.*)")
"""How a comparison names a factor."""


def _difference(words: str) -> str:
    """Return what a printed formula may differ by, as words of a page.

    >>> _difference("scale: printed = 1/4 * derived (the unit of time)")
    'scale: what is printed is $1/4$ times what is derived (the unit of time)'
    """
    if (found := FACTOR.fullmatch(words)) is None:
        return sentence(words)
    scale, factor, why = found.groups()
    return f"{sentence(scale)}: what is printed is ${relation(factor)}$ times what is derived{why}"


def _at(witness: Witness) -> str:
    """Return a witness as a part of a sentence."""
    point = ", ".join(f"${latex_name(name)} = {_value(x)}$" for name, x in witness.point)
    printed, derived = (", ".join(map(_values, x)) for x in (witness.printed, witness.derived))
    return f"at {point}: printed {printed}; derived {derived}"


def _value(text: str) -> str:
    r"""Return an exact number or a matrix, as LaTeX.

    >>> _value("[[1], [2]]")
    '\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}'
    """
    if not text.startswith("[["):
        return text
    rows = (row.replace(", ", " & ") for row in text[2:-2].split("], ["))
    return r"\begin{pmatrix} " + r" \\ ".join(rows) + r" \end{pmatrix}"


def _values(text: str) -> str:
    """Return leading digits as a formula, and what is none in words."""
    return f"${text}$" if re.fullmatch(r"[-+.\de]+", text) else sentence(text)


def mathematics(text: str) -> str:
    """Return formulas with semicolons between them, what is none in a typewriter face.

    That is breakable after its operators.
    """
    parts = text.split("; ")
    for i, part in enumerate(parts):
        try:
            parts[i] = f"${relation(part)}$"
        except DeriveError:
            breakable = re.sub(r"\*\*|[+*/=]", lambda sign: f"{sign[0]}\u200b", part)
            parts[i] = f"[code:{literal(breakable)}]"
    return "; ".join(parts)


def audit_page(audits: Sequence[Audit]) -> Document:
    """Return the audit as a page, with a list for each model, and how outcomes are meant."""
    lists = (
        Part(literal(model), audit_blocks(tuple(group)))
        for model, group in groupby(audits, lambda audit: audit.model)
    )
    parts = (*lists,) or (Part("", audit_blocks(())),)
    meant = Part("How this is meant", (given_words(NOTES),))
    return set_letters(Document((*parts, meant)), {})


def render_latex(audits: Sequence[Audit]) -> str:
    """Return a list, which may stand in columns, with citations by key."""
    return snippet(audit_page(audits))


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
        audit = set_letters(Document((Part("Audit", audit_blocks(audits)),)), {})
        page = replace(page, parts=(*page.parts, *audit.parts))
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
