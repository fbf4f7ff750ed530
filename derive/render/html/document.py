"""A finished record as one file for a browser: nothing is fetched, and nothing typed is markup."""

from __future__ import annotations

import base64
import hashlib
import importlib
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from derive.derivation import Derivation
from derive.errors import InputError
from derive.inverse.design import InverseDesign
from derive.language import to_text
from derive.printable import Printable, renderer
from derive.regimes.random_width import RandomWidth
from derive.render.html import mathml
from derive.render.html.passages import as_html, badge
from derive.render.labels import MARK
from derive.render.page.blocks import Page
from derive.render.page.formula import fraction, listed
from derive.render.page.labels import lettered
from derive.render.page.latex import chosen
from derive.render.page.names import latex_name
from derive.verdict import Verdict

TITLES = {
    "Derivation": "The implicit regularizer",
    "Outcome": "The implicit regularizer",
    "Regimes": "Limits of the regularizer",
    "RandomWidth": "The regularizer at random starts",
    "ExplicitCounterpart": "Explicit regularization beside the implicit one",
    "Margins": "The flow on separable data",
    "Perturbation": "What perturbations do to the flow",
    "Optimizer": "An optimizer on linear models",
    "Optimizers": "Optimizers on linear models",
    "VariationalProblem": "What wide nets on the line learn",
    "InverseDesign": "A parameterization of a given regularizer",
}
STAGES = {"conserved": "laws complete", "hessian": "Hessian map", "warping": "warp"}
"""What a record may have a verdict of, beside its own, and how it is called."""
FOLDER = Path(__file__).parent
STYLE = (FOLDER / "style.css").read_text(encoding="utf-8").strip()
SEARCH = (FOLDER / "search.js").read_text(encoding="utf-8").strip()
LOOKS = {Verdict.PROVED: "yes", Verdict.REFUTED: "no", Verdict.UNDECIDED: "open"}


def render_html(record: Printable, rename: Mapping[str, str] | None = None) -> str:
    """Return a finished record as a document."""
    title, typed = TITLES[type(record).__name__], _typed(record)
    page = lettered(chosen(_page(record)), rename or {})
    head = f'<h1>{title}</h1><p class="typed"><code>{escape(typed)}</code></p>'
    return document(f"{title}: {typed}", head + sections(record, page))


def sections(record: Printable, page: Page) -> str:
    """Return what a record says: verdicts, a picture, what is written of it, and all of it."""
    return "\n".join((*_head(record), as_html(page), *_as_text(record)))


def render_card(record: Printable) -> str:
    """Return a finished record as an element of a notebook: the formula, and all else folded."""
    page = _page(record)
    kinds = {passage.kind for passage in page.passages}
    part = next((kind for kind in ("formula", "theorem") if kind in kinds), "")
    whole = as_html(lettered(chosen(page), {})) if part else ""
    rest = f"<details><summary>Derivation</summary>{whole}</details>" if part else ""
    typed = f'<p class="typed"><code>{escape(_typed(record))}</code></p>'
    body = (typed, *_head(record), as_html(lettered(chosen(page, part), {})), rest)
    return f'<style>{STYLE}</style><div class="regderive">{"".join(body)}</div>'


def document(title: str, body: str, script: str = "") -> str:
    """Return a document that fetches nothing, and runs nothing but the script given."""
    scripts = f"; script-src {_hash(script)}" if script else ""
    policy = (
        f"default-src 'none'; style-src {_hash(STYLE)}{scripts}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<meta name="generator" content="regderive">',
            f'<title>{escape(title)}</title>\n<link rel="icon" href="data:,">',
            f'<style>{STYLE}</style>\n</head>\n<body>\n<main class="regderive">',
            f"{body}\n</main>",
            f"<script>{script}</script>" if script else "",
            "</body>\n</html>",
        )
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _page(record: Printable) -> Page:
    found: Page = renderer(type(record), "page")(record)
    return found


def _typed(record: Any) -> str:
    """Return the code that makes what a record is of, the Q that was given, or its first line."""
    subject = getattr(record, "derivation", record)
    if isinstance(subject, InverseDesign):
        return ", ".join(f"Q = {to_text(c.term.tree)}" for c in subject.coordinates)
    if isinstance(subject, RandomWidth):
        return repr(subject.unit)
    if not hasattr(subject, "parameterization"):
        return str(subject.to_text().partition("\n")[0])
    return repr(subject.parameterization)


def _head(record: Any) -> Iterator[str]:
    """Yield the verdicts, and a picture where Q is evaluated."""
    if hasattr(record, "verdict"):
        yield badges(record)
    derivation = getattr(record, "derivation", record)
    if isinstance(derivation, Derivation):
        yield _figure(derivation)


def badges(record: Any) -> str:
    """Return the verdict of a record, and of its stages, in boxes."""
    stages = [(said, getattr(record, x)) for x, said in STAGES.items() if hasattr(record, x)]
    answer = "Q exists" if stages else "answer"
    verdicts = ((said, stage.verdict) for said, stage in ((answer, record), *stages))
    boxes = (badge(f"{said}: {verdict.value}", LOOKS[verdict]) for said, verdict in verdicts)
    return f'<ul class="badges">{"".join(f"<li>{box}</li>" for box in boxes)}</ul>'


def _figure(derivation: Derivation) -> str:
    if derivation.verdict is not Verdict.PROVED:
        return ""
    # Looked up, not imported: symbols do not depend on numbers.
    room = importlib.import_module("numerics.figures.own")
    try:
        found = room.portrait(derivation)
    except InputError as missing:
        return f'<p class="typed">{escape(str(missing))}</p>'
    if found is None:
        return ""
    picture, caption, start = found
    values = ((latex_name(name).replace(MARK, ""), fraction(x)) for name, x in start.items())
    at = [mathml.inline(f"{name} = {value}") for name, value in values]
    where = f" for {listed(at)}" if at else ""
    source = f"data:image/svg+xml;base64,{base64.b64encode(picture).decode()}"
    return (
        f'<figure><img alt="{caption}" src="{source}"/><figcaption>{caption}{where}. '
        "The cross is the start.</figcaption></figure>"
    )


def _as_text(record: Printable) -> Iterator[str]:
    """Yield all that is known, with every identity that was expanded, as text."""
    yield '<details class="record"><summary><h2>The whole record, as text</h2></summary>'
    yield f"<pre>{escape(record.to_text())}</pre></details>"
