"""The documentation: ``pip install -e '.[docs]' && sphinx-build -W docs docs/_build``.

The gallery is derived while the documentation is built: no formula in it was typed by anyone.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes

from derive import __version__
from derive.render.html import mathml

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

project, author, release = "regderive", "The regderive developers", __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "_pages"]
html_theme, html_title = "furo", "regderive"
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_default_options = {"members": True}

HERE = Path(__file__).parent
PAGES = HERE / "_pages"
PAGES.mkdir(exist_ok=True)
html_extra_path = ["_pages"]
WORDS = {"PROVED": "Q exists", "REFUTED": "no Q exists", "UNDECIDED": "undecided"}
INTRODUCTION = """\
# Gallery

What the program derives for the published models of its catalogue, and what the scripts of
`examples/` print. All of it was computed while this page was made.

`derive catalogue NAME` shows one model beside what its source prints, `derive audit` compares all,
and `derive explore` writes the pages with pictures that move.

## Models

"""


def write_gallery(app: Sphinx) -> None:
    """Write ``gallery.md``: a card of each model, and each example with what it prints."""
    from derive.catalogue.library import derive_entry, entries
    from derive.errors import DeriveError

    parts = [INTRODUCTION]
    (PAGES / "models").mkdir(exist_ok=True)
    for entry in entries():
        derivation = derive_entry(entry)
        style, card = derivation._repr_html_().split("</style>")
        parts += [] if parts[1:] else [raw(f"{style}</style>")]
        parts.append(f"### {entry.id}\n\n{entry.title}: {WORDS[derivation.verdict.name]}\n\n")
        parts.append(f"```sh\n{entry.command}\n```\n\n{raw(card)}")
        with contextlib.suppress(DeriveError):  # of what has no picture
            page = PAGES / "models" / f"{entry.id}.html"
            page.write_text(derivation.explore().text, encoding="utf-8")
            part = "one entry" if derivation.verdict.name == "PROVED" else "a small one"
            what = part if entry.measurements else "it"
            parts.append(raw(f'<p><a href="models/{page.name}">Explore {what}</a></p>'))
    parts.append("## Examples\n\n")
    for script in sorted((HERE.parent / "examples").glob("*.py")):
        shown = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, check=True, timeout=600
        )
        parts.append(f"### {script.stem.replace('_', ' ').capitalize()}\n\n")
        parts.append(f"```python\n{script.read_text(encoding='utf-8')}```\n\n")
        parts.append(f"```text\n{shown.stdout}```\n\n")
    (HERE / "gallery.md").write_text("".join(parts), encoding="utf-8")


def raw(html: str) -> str:
    """Return a block of HTML."""
    return f"````{{raw}} html\n{html}\n````\n\n"


def write_coverage(app: Sphinx) -> None:
    """Write ``coverage.md``: what the sources state and on what ground, and the audit."""
    from derive.catalogue.audit import audit_entry
    from derive.catalogue.audit.coverage import markdown
    from derive.catalogue.library import entries

    audits = [audit for entry in entries() for audit in audit_entry(entry)]
    (HERE / "coverage.md").write_text(markdown(audits), encoding="utf-8")


def as_mathml(translator: HTML5Translator, node: nodes.Node) -> None:
    """Write a formula as MathML, which browsers show without a script."""
    write = mathml.display if isinstance(node, nodes.math_block) else mathml.inline
    translator.body.append(write(node.astext()))
    raise nodes.SkipNode


def keep_bars(*event: object) -> None:
    """Let |beta| in docstrings be a norm, and no substitution."""
    lines: list[str] = event[-1]  # type: ignore[assignment]
    lines[:] = [line if ">>>" in line else line.replace("|", r"\|") for line in lines]


def setup(app: Sphinx) -> None:
    """Connect them."""
    for node in (nodes.math, nodes.math_block):
        app.add_node(node, override=True, html=(as_mathml, None))
    app.connect("builder-inited", write_gallery)
    app.connect("builder-inited", write_coverage)
    app.connect("autodoc-process-docstring", keep_bars)
