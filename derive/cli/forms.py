"""The forms in which results are printed: the table of their options, help texts and renderers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from operator import methodcaller
from typing import Annotated, TypeAlias

import typer

from derive.cli.options import Bundle
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
        Form("json", "Print the JSON record.", methodcaller("to_json")),
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


def rendered(record: object, form: Form) -> str:
    """Return a finished record in a form that its command offers."""
    if form.render is None:
        raise LookupError(f"no record is printed as {form.name}")
    return form.render(record)


def offer(*names: str) -> Bundle:
    """Return the options of some forms; together they make the form that is asked for."""
    return Bundle(tuple(_flag(FORMS[name]) for name in names), chosen_form)


def _flag(form: Form) -> inspect.Parameter:
    hint = Annotated[bool, typer.Option(f"--{form.name}", help=form.help)]
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(form.name, kind, default=False, annotation=hint)


RecordForm: TypeAlias = Annotated[Form, offer("latex", "standalone", "json")]
"""The form of one finished record."""
