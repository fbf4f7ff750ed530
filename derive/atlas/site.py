"""An atlas in a browser: a table that sorts and filters, and the page of each entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from derive.atlas.store import FAULT, Entry
from derive.catalogue.library import Entry as Published
from derive.catalogue.library import Model
from derive.derivation import derive
from derive.render.html.page import LOOKS, badge, index
from derive.verdict import Verdict

SORT = (Path(__file__).parent / "sort.js").read_text(encoding="utf-8").strip()
COLUMNS = ("F", "start", "answer", "Q", "kind", "warp g", "laws", "horizon", "class")
ABOUT = (
    "Small parameterizations, one of each class under renaming, signs and a common scale of the "
    "weights and affine changes of the outputs. Of each, gradient flow was derived: Q with its "
    "proof, or a proof that there is none. A click on a heading sorts."
)


def site(entries: Sequence[Entry], progress: Callable[[str], None]) -> dict[str, str]:
    """Return the files of a site by their names; each entry is derived again."""
    pages = dict[str, str]()
    for done, entry in enumerate(entries):
        progress(f"{done}/{len(entries)} pages, {entry.outputs}")
        if entry.verdict != FAULT:
            outputs = tuple(entry.outputs.split(", "))
            title = f"Entry {entry.id} of the atlas"
            own = Published(outputs, entry.start, id=entry.id, title=title, verdict=entry.verdict)
            model = Model(own, derive(entry.parameterization()))
            pages[f"{entry.id}.html"] = model.to_html()
    table = f"<table><thead><tr>{''.join(f'<th>{name}</th>' for name in COLUMNS)}</tr></thead>"
    return pages | {"index.html": index("The atlas", ABOUT, table, map(_row, entries), SORT)}


def _row(entry: Entry) -> tuple[str, ...]:
    Q, *_ = entry.Q.splitlines() or [""]
    short = Q.removeprefix("Q = ")
    verdict = badge(entry.verdict, LOOKS.get(Verdict[entry.verdict], "open"))
    return (
        f'<a href="{entry.id}.html">{escape(entry.outputs)}</a>',
        escape(entry.start),
        verdict,
        f"<code>{escape(short if len(short) < 90 else f'{short[:90]} ...')}</code>" * bool(short),
        entry.kind,
        escape(entry.g),
        escape(entry.laws),
        escape(entry.horizon),
        entry.class_id,
    )
