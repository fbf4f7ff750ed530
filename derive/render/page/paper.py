"""Pages of mathematics: a list of passages, written as a snippet, a part of it, or a document.

What a record has to say is data: a setting, laws, a theorem, its proof, remarks. Every record that
prints LaTeX hands such a page over, and all of them are written here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from derive.errors import InputError
from derive.printable import Printable, renderer
from derive.render.page.labels import renamed, with_tildes
from derive.sources import bibitem

Kind: TypeAlias = Literal["paragraph", "theorem", "proof", "remark", "formula"]
PARTS: tuple[Kind, ...] = ("theorem", "proof", "formula")
"""What may be asked for alone."""


@dataclass(frozen=True)
class Passage:
    """Lines of LaTeX under a heading, in an environment of that kind.

    Attributes:
        heading: of a paragraph; of a theorem and a proof what stands in brackets.
        label: of a theorem, to refer to it.
    """

    kind: Kind
    lines: tuple[str, ...]
    heading: str = ""
    label: str = ""


@dataclass(frozen=True)
class Page:
    """The passages of one record, from top to bottom, and the names given before which ours yield.

    Those of the kind ``formula`` repeat what a theorem says, for who asks for them alone.
    """

    passages: tuple[Passage, ...]
    taken: frozenset[str] = frozenset()


NEEDS = "% needs amsmath, amssymb, amsthm; the environments theorem and remark are yours"
HEAD = r"""\documentclass{article}
\usepackage{amsmath,amssymb,amsthm}
\usepackage[margin=1in]{geometry}
\newtheorem{theorem}{Theorem}
\theoremstyle{remark}\newtheorem*{remark}{Remark}
\allowdisplaybreaks\emergencystretch=3em
\begin{document}"""


def render_latex(
    record: Printable, standalone: bool, part: str = "", rename: Mapping[str, str] | None = None
) -> str:
    """Return a finished record as LaTeX.

    Args:
        record: what a renderer of the form ``page`` is known of.
        standalone: a document that compiles by itself, with its references.
        part: one of theorem, proof and formula; all of them where it is empty.
        rename: LaTeX for names of the record, as ``{"alpha": r"\\sigma"}``.

    Raises:
        InputError: there is no such part, or the LaTeX is no letter with an index.
    """
    page: Page = renderer(type(record), "page")(record)
    snippet = written(page, part, rename or {})
    return document(snippet) if standalone else f"{NEEDS}\n{snippet}"


def written(page: Page, part: str = "", rename: Mapping[str, str] | None = None) -> str:
    """Return the passages of a page, or those of one kind."""
    if part and part not in PARTS:
        raise InputError(f"there is no part {part}: choose one of {', '.join(PARTS)}")
    chosen = [p for p in page.passages if p.kind == part or (not part and p.kind != "formula")]
    if not chosen:
        raise InputError(f"this page has no {part}")
    whole = "\n\n".join("\n".join(_environment(p)) for p in chosen)
    return with_tildes(renamed(whole, page.taken, rename or {}), page.taken)


def _environment(passage: Passage) -> Iterable[str]:
    heading, (first, *rest) = passage.heading, punctuated("\n".join(passage.lines)).split("\n")
    if passage.kind == "formula":
        return (first, *rest)
    if passage.kind == "paragraph":
        return (rf"\paragraph{{{heading}.}} {first}", *rest)
    begin = rf"\begin{{{passage.kind}}}" + (f"[{heading}]" if heading else "")
    label = rf"\label{{{passage.label}}}" if passage.label else ""
    return (f"{begin}{label}", first, *rest, rf"\end{{{passage.kind}}}")


END = re.compile(
    r"(?<![.,;:\s])(?P<end>\s*(?:\\end\{split\}\s*)?(?:\\\]|\\end\{(?:align\*|equation)\}))"
    r"(?P<next>\s*(?:\\\[|\\begin\{align|[a-z]+)?)"
)
"""How a displayed formula without a full stop or comma ends, and what goes on after it."""
VERBS = frozenset(("are", "has", "have", "is"))


def punctuated(text: str) -> str:
    r"""Return passages in which displayed formulas end as parts of their sentences do.

    >>> punctuated("\\[ a = b \\]\nwith $c$ in \\[ d \\]\nThe")
    '\\[ a = b , \\]\nwith $c$ in \\[ d . \\]\nThe'
    """

    def ended(found: re.Match[str]) -> str:
        following = found["next"].strip()
        mark = "" if following in VERBS else " ," if following else " ."
        return f"{mark}{found['end']}{found['next']}"

    return END.sub(ended, text)


def cited(snippet: str) -> list[str]:
    """Return the keys that a snippet cites, each once.

    >>> cited(r"as in \\cite{amid2020,du2018}")
    ['amid2020', 'du2018']
    """
    found = re.findall(r"\\cite(?:\[[^\]]*\])?\{([^}]*)\}", snippet)
    return sorted({key for keys in found for key in keys.split(",")})


def document(snippet: str) -> str:
    """Return a document around a snippet, with the sources that it cites."""
    keys = cited(snippet)
    sources = []
    if keys:
        items = (bibitem(key) for key in keys)
        sources = [r"\begin{thebibliography}{9}", *items, r"\end{thebibliography}"]
    return "\n".join([HEAD, snippet, *sources, r"\end{document}"])
