"""The forms in which results are printed: the table of their options, help texts and renderers."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import methodcaller
from typing import Any

import click

from derive.cli.output import MARK
from derive.errors import InputError


@dataclass(frozen=True, slots=True)
class Form:
    """A form of results, asked for by the option of its name, with the help text of that.

    *render* is None for what the catalogue alone prints; *of* is the form that this is a kind of.
    """

    name: str
    help: str = ""
    render: Callable[[object], str] | None = None
    of: str = ""


FORMS = {
    form.name: form
    for form in (
        Form("text", render=methodcaller("to_text")),
        Form("latex", "Print a LaTeX snippet.", methodcaller("to_latex")),
        Form(
            "standalone",
            "With --latex: a document that compiles.",
            methodcaller("to_latex", standalone=True),
            of="latex",
        ),
        Form("html", "Print a page for a browser, one file.", methodcaller("to_html")),
        Form("pdf", "Write a PDF to -o FILE.pdf, by TeX."),
        Form("json", "Print the JSON record.", methodcaller("to_json")),
        Form("jax", "Print Q and grad Q as a JAX module.", methodcaller("to_code", "jax")),
        Form("torch", "Print Q and grad Q in PyTorch.", methodcaller("to_code", "torch")),
        Form("numpy", "Print Q and what belongs to it in NumPy.", methodcaller("to_code", "numpy")),
        Form("js", "Print F, J, K, Q, grad Q in JavaScript.", methodcaller("to_code", "js")),
        Form("rocq", "Print a theorem that Rocq accepts.", methodcaller("to_code", "rocq")),
        Form("csv", "Print a CSV table.", methodcaller("to_csv")),
        Form("bibtex", "Print the BibTeX of the sources."),
        Form("markdown", "Derive all models and print a table of them."),
    )
}
TEXT = FORMS["text"]


def chosen_form(**asked: bool) -> Form:
    """Return the one form that is asked for, or text; refuse two, and a kind without its form.

    >>> chosen_form(latex=False, json=True).name
    'json'
    """
    offered = [FORMS[name] for name in asked]
    given = [form for form in offered if asked[form.name] and not form.of]
    if len(given) > 1:
        *others, last = (f"--{form.name}" for form in offered if not form.of)
        raise InputError(f"choose one of {', '.join(others)} and {last}")
    chosen = given[0] if given else TEXT
    for form in offered:
        if asked[form.name] and form.of:
            if form.of != chosen.name:
                raise InputError(f"--{form.name} goes with --{form.of}")
            chosen = form
    return chosen


def in_brief(form: Form) -> Form | None:
    """Return the form for a bare verdict, which has no parts; None where it has none of its own."""
    if form.name == "pdf":
        return replace(form, render=functools.partial(_to_set, {}))
    return (
        FORMS[form.name] if form.name in ("text", "latex", "standalone", "html", "json") else None
    )


def rendered(record: object, form: Form) -> str:
    """Return a finished record in a form that its command offers."""
    if form.render is None:
        raise LookupError(f"no record is printed as {form.name}")
    return form.render(record)


def offer(*names: str) -> Any:
    """Return the field of a command for the form that is asked for, by an option for each."""
    flags = [click.Option([f"--{x}"], is_flag=True, help=FORMS[x].help) for x in names]
    return field(default=TEXT, metadata={"parts": flags, "make": chosen_form})


def offer_page(*more: str) -> Any:
    """Return the same for a finished record, whose page has parts and names, and *more* forms."""
    flags = offer(*PAGE, "json", *more).metadata["parts"]
    texts = (
        click.Option(
            ["--part"],
            default="",
            metavar="PART",
            help="Of --latex: theorem, proof or formula alone.",
        ),
        click.Option(
            ["--rename"],
            default="",
            metavar="NAME=LATEX,...",
            help="In --latex and --html: names written otherwise.",
        ),
    )
    return field(default=TEXT, metadata={"parts": (*flags, *texts), "make": _of_record})


PAGE = ("latex", "standalone", "html", "pdf", "bibtex")
"""The forms of a page."""


def _of_record(part: str, rename: str, **asked: bool) -> Form:
    """Return the form that is asked for, of a part of the page, with names written otherwise."""
    form = chosen_form(**asked)
    names = dict[str, str]()
    for pair in filter(None, re.split(r",(?![^{]*\})", rename)):  # commas in braces are its own
        name, equals, latex = pair.partition("=")
        if not equals:
            raise InputError(r"--rename: write NAME=LATEX, such as alpha=\sigma")
        names[name.strip()] = latex.strip()
    page = {"part": part, "rename": names}
    if form.name in ("latex", "standalone"):
        return replace(form, render=methodcaller("to_latex", form.name == "standalone", **page))
    if form.name == "pdf":
        return replace(form, render=functools.partial(_to_set, page))
    if form.name == "html" and not part:
        return replace(form, render=methodcaller("to_html", names))
    if part or rename:
        raise InputError("--part goes with --latex and --pdf, --rename with --html too")
    return replace(form, render=_bibtex) if form.name == "bibtex" else form


def _to_set(page: Mapping[str, Any], record: Any) -> str:
    """Return a document that is to be set by TeX."""
    return f"{MARK}{record.to_latex(True, **page)}"


def _bibtex(record: Any) -> str:
    """Return the BibTeX of what the page of a record cites."""
    from derive.printable import renderer
    from derive.sources import bibtex

    return bibtex(renderer(type(record), "page")(record).sources)
