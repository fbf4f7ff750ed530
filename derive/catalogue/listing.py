"""The catalogue as a list, as one derived model, and as the table of models in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sympy import Integral

from derive.catalogue.library import Entry
from derive.derivation import Derivation
from derive.errors import DeriveError
from derive.language import parse_expression, to_sympy
from derive.potential.piece import Piece
from derive.printable import renderer
from derive.render.document import Display, Document, Element, Part, literal
from derive.render.page.blocks import set_letters
from derive.render.page.formula import given_words
from derive.render.page.latex import escaped
from derive.render.page.lines import COLUMN, broken
from derive.render.page.printer import latex
from derive.render.plain import plain, wrap
from derive.statement import Items
from derive.verdict import Verdict

LONGEST = 220
"""Characters of a formula in the table; longer ones are left to `derive catalogue ID`."""


def heading(entry: Entry) -> str:
    """Return the title of a model, what it assumes, and the command that derives it."""
    lines = [f"{entry.id}: {entry.title}"]
    if entry.assumptions:
        lines.append(f"  {entry.assumptions}")
    lines.append(f"  {entry.command}")
    return "\n".join(part for line in lines for part in wrap(line, 80))


def printed_lines(entry: Entry) -> str:
    """Return the formulas that were printed of a model, as they were."""
    if not entry.printed:
        return ""
    lines = ["As printed (`derive audit` compares)"]
    for formula in entry.printed:
        lines.append(f"  {formula.place}")
        lines.append(f"    {formula.kind}: {'; '.join(formula.text)}")
        lines += [f"    {meaning}" for meaning in formula.meanings]
        lines += [f"    an instance: {formula.instance}"] if formula.instance else []
        lines.append(f"    read: {formula.reading}")
    return "\n".join(part for line in lines for part in wrap(line, 80))


def entry_page(entry: Entry, derivation: Derivation) -> Document:
    """Return the page of a model, with a remark on what the sources print."""
    page = set_letters(renderer(Derivation, "page")(derivation).select(), {})
    if not entry.printed:
        return page
    # In the letters of the sources: ours have no tilde here.
    head = "{} [@{}], {}, {}:".format
    items: list[tuple[Element, ...]] = [
        (head(given_words(x.source), x.cite, literal(x.kind), x.reading), *map(_formula, x.text))
        for x in entry.printed
    ]
    remark = Part("", (PRINT, Items(tuple(items))), kind="remark")
    return replace(page, parts=(*page.parts, *set_letters(Document((remark,)), {}).parts))


PRINT = "What the sources print, in their own letters:"


def _formula(text: str) -> Display:
    """Return a formula on lines that fit, in words where it is none of the language."""
    try:
        lines = broken(latex(to_sympy(parse_expression(text))), COLUMN - 30)
    except DeriveError:
        lines = [rf"\text{{{escaped(text)}}}"]
    return Display(tuple(f"& {line}" for line in lines) if lines[1:] else tuple(lines))


def markdown(derived: Iterable[tuple[Entry, Derivation]]) -> str:
    """Return the table of models: id, F, verdict, Q, g."""
    rows = [("model", "F", "Q exists?", "Q", "warp g"), ("---",) * 5]
    for entry, derivation in derived:
        Q, g = _shown(entry.id, derivation)
        F = ", ".join(f"`{output}`" for output in entry.outputs)
        if entry.start:
            F += f" from `{entry.start}`"
        rows.append((entry.id, F, derivation.verdict.value.lower(), Q, g))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _shown(name: str, derivation: Derivation) -> tuple[str, str]:
    if derivation.verdict is not Verdict.PROVED:
        return "", ""
    g = derivation.warping.g
    shown = [text.removeprefix("Q = ") for text in formulas(derivation)]
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
        yield from definitions(potential.pieces)


def definitions(pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield what the names in Q stand for."""
    for piece in pieces:
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
