"""The forms in which results are printed: the table of their options, help texts and renderers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import click

from derive.cli.output import MARK
from derive.errors import InputError


@dataclass(frozen=True, slots=True)
class Form:
    """A form of results, asked for by the option of its name, with the help text of that.

    *of* is the form that this is a kind of, *part* that of a page, *names* are written otherwise.
    """

    name: str
    help: str = ""
    of: str = ""
    part: str = ""
    names: Mapping[str, str] = field(default_factory=dict, hash=False)


FORMS = {
    form.name: form
    for form in (
        Form("text"),
        Form("latex", "Print a LaTeX snippet."),
        Form("standalone", "With --latex: a document that compiles.", of="latex"),
        Form("html", "Print a page for a browser, one file."),
        Form("pdf", "Write a PDF to -o FILE.pdf, by TeX."),
        Form("json", "Print the JSON record."),
        Form("jax", "Print Q and grad Q as a JAX module."),
        Form("torch", "Print Q and grad Q in PyTorch."),
        Form("numpy", "Print Q and what belongs to it in NumPy."),
        Form("js", "Print F, J, K, Q, grad Q in JavaScript."),
        Form("rocq", "Print a theorem that Rocq accepts."),
        Form("csv", "Print a CSV table."),
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
    brief = form.name in ("text", "latex", "standalone", "html", "pdf", "json")
    return replace(form, part="", names={}) if brief else None


def rendered(record: Any, form: Form) -> str:
    """Return a finished record in a form that its command offers."""
    match form.name:
        case "text" | "json" | "csv":
            text: str = getattr(record, f"to_{form.name}")()
        case "latex" | "standalone":
            text = record.to_latex(form.name == "standalone", form.part, form.names)
        case "pdf":
            text = f"{MARK}{record.to_latex(True, form.part, form.names)}"
        case "html":
            text = record.to_html(form.names)
        case "bibtex":
            from derive.printable import renderer
            from derive.sources import bibtex

            text = bibtex(renderer(type(record), "page")(record).sources)
        case _:
            text = record.to_code(form.name)
    return text


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
    paged = form.name in ("latex", "standalone", "pdf") or (form.name == "html" and not part)
    if (part or rename) and not paged:
        raise InputError("--part goes with --latex and --pdf, --rename with --html too")
    return replace(form, part=part, names=names) if part or rename else form
