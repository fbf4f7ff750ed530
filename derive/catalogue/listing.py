"""A model of the catalogue told, with what its sources print; the table of all in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from html import escape

from sympy import Integral

from derive.catalogue.library import Entry, Model, Printed, summand
from derive.derivation import Derivation
from derive.errors import DeriveError
from derive.language import parse_expression
from derive.printable import renderer
from derive.render.document import Document, Part, document
from derive.render.html.page import document as html_document
from derive.render.html.page import sections
from derive.render.page.blocks import set_letters
from derive.render.text import plain
from derive.statement import Items, OnTerminal, Text, tell
from derive.verdict import Verdict

LONGEST = 220
"""Characters of a formula in the table; longer ones are left to `derive catalogue ID`."""


def tell_model(m: Model) -> Document:
    """Return what is said of a model: of its derivation, and what its sources print."""
    told, entry = document(m.derivation), m.entry
    first, *parts = told.parts
    above = [Text(text, "quoted") for text in (entry.assumptions, entry.command) if text]
    title = Text(f"{entry.id}: {entry.title}", "quoted")
    head = Part(title, (OnTerminal((*above, first.heading)),))
    printed = (Items(tuple(map(_printed, entry.printed))),) if entry.printed else ()
    audit = () if m.audit is None else (m.audit,)
    parts += (Part("As printed, in the letters of the sources", printed), Part("Audit", audit))
    return replace(told, parts=(head, *parts))


def _printed(x: Printed) -> tuple[object, ...]:
    """Return a formula as it was printed, with its place."""
    where = {"place": Text(x.source, "theirs"), "cite": Text(x.cite, "cited")}
    head = tell("{kind}: {place} ({cite}), {read}", kind=x.kind, read=x.reading, **where)
    more = (*x.meanings, *(f"an instance: {text}" for text in (x.instance,) if text))
    return (head, *map(_formula, x.text), OnTerminal(tuple(Text(text) for text in more)))


def _formula(text: str) -> object:
    """Return a formula, or words where it is none of the language."""
    try:
        return parse_expression(text)
    except DeriveError:
        return Text(text)


def render_html(m: Model, rename: Mapping[str, str] | None = None) -> str:
    """Return the page of a model, under its title and the command that derives it."""
    page, entry = set_letters(renderer(Model, "page")(m).select(), rename or {}), m.entry
    about = f"<p>Assumptions: {escape(entry.assumptions)}.</p>" * bool(entry.assumptions)
    typed = f'{about}<p class="typed"><code>{escape(entry.command)}</code></p>'
    head = f"<h1>{escape(entry.title)}</h1>{typed}"
    return html_document(f"{entry.id}: {entry.title}", head + sections(m.derivation, page))


def markdown(derived: Iterable[tuple[Entry, Derivation]]) -> str:
    """Return the table of models: id, F, verdict, Q, g."""
    rows = [("model", "F", "Q exists?", "Q", "warp g"), ("---",) * 5]
    for entry, derivation in derived:
        Q, g = _shown(entry.id, derivation)
        F = ", ".join(f"`{output}`" for output in entry.outputs)
        if entry.start:
            F += f" from `{entry.start}`"
        F += f" under {entry.measurements} measurements" * bool(entry.measurements)
        rows.append((entry.id, F, derivation.verdict.value.lower(), Q, g))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _shown(name: str, derivation: Derivation) -> tuple[str, str]:
    if derivation.verdict is not Verdict.PROVED:
        return "", ""
    own = summand(derivation)
    g, of = own.warping.g, "" if own is derivation else "sum_k q(b_k), q = "
    shown = [text.replace("Q = ", of, 1) for text in formulas(own)]
    warp = "" if g is None else f"`{plain(g)}`"
    if any(len(x) > LONGEST for x in shown):
        return f"long: `derive catalogue {name}`", warp
    return "; ".join(f"`{x}`" for x in shown), warp


def formulas(derivation: Derivation) -> Iterator[str]:
    """Yield Q, where there is one, and what the names in it stand for."""
    potential = derivation.potential
    if potential.pieces:
        first, *others = (piece.value for piece in potential.pieces)
        total = (plain(value) for value in (first + potential.linear, *others))
        yield f"Q = {' + '.join(total)}"
    for piece in potential.pieces:
        if (curve := piece.curve) is not None:
            yield f"{piece.betas[0]} = {plain(curve.beta)}"
        for root in piece.roots:
            if root.explicit is not None:
                yield f"{root.symbol} = {plain(root.explicit)}"
            else:
                yield f"{root.symbol} = {root.branch} of {plain(root.polynomial.as_expr())}"
        for name, value in piece.constants:
            if not value.has(Integral):
                yield f"{name} = {plain(value)}"
