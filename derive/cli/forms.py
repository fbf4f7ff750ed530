"""The forms in which results are printed: the table of their options, help texts and renderers."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Annotated, Any, TypeAlias

import typer

from derive.cli.options import Bundle, text_option
from derive.cli.pdf import MARK
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


def refuse_check(form: Form) -> None:
    """Refuse --check beside other forms than text."""
    if form is not TEXT:
        raise InputError("--check is for text: leave out --json, --html or --latex")


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


def offer(*names: str) -> Bundle:
    """Return the options of some forms; together they make the form that is asked for."""
    hints = {x: Annotated[bool, typer.Option(f"--{x}", help=FORMS[x].help)] for x in names}
    options = (_parameter(x, default=False, annotation=hint) for x, hint in hints.items())
    return Bundle(tuple(options), chosen_form)


_parameter = functools.partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)


def _of_record(part: str, rename: str, **asked: bool) -> Form:
    """Return the form that is asked for, of a part of the page, with names written otherwise."""
    form = chosen_form(**asked)
    page = {"part": part, "rename": dict(_renames(rename))}
    if form.name in ("latex", "standalone"):
        return replace(form, render=methodcaller("to_latex", form.name == "standalone", **page))
    if form.name == "pdf":
        return replace(form, render=functools.partial(_to_set, page))
    if form.name == "html" and not part:
        return replace(form, render=methodcaller("to_html", page["rename"]))
    if part or rename:
        raise InputError("--part goes with --latex and --pdf, --rename with --html too")
    return replace(form, render=_bibtex) if form.name == "bibtex" else form


def _to_set(page: Mapping[str, Any], record: Any) -> str:
    """Return a document that is to be set by TeX."""
    return f"{MARK}{record.to_latex(True, **page)}"


def _renames(text: str) -> Iterator[tuple[str, str]]:
    """Read NAME=LATEX, ..., with commas in braces as they are."""
    for pair in filter(None, re.split(r",(?![^{]*\})", text)):
        name, equals, latex = pair.partition("=")
        if not equals:
            raise InputError(r"--rename: write NAME=LATEX, such as alpha=\sigma")
        yield name.strip(), latex.strip()


def _bibtex(record: Any) -> str:
    """Return the BibTeX of what the page of a record cites."""
    from derive.printable import renderer
    from derive.sources import bibtex

    return bibtex(renderer(type(record), "page")(record).sources)


def _record_form(*more: str) -> Bundle:
    offered = offer("latex", "standalone", "html", "pdf", "bibtex", "json", *more)
    texts = {
        "part": text_option("PART", "Of --latex: theorem, proof or formula alone."),
        "rename": text_option("NAME=LATEX,...", "In --latex and --html: names written otherwise."),
    }
    options = (_parameter(x, default="", annotation=Annotated[str, o]) for x, o in texts.items())
    return Bundle((*offered.options, *options), _of_record)


RecordForm: TypeAlias = Annotated[Form, _record_form()]
"""The form of one finished record."""
DerivationForm: TypeAlias = Annotated[Form, _record_form("jax", "torch", "rocq")]
"""The form of a derivation, which other programs read too."""
