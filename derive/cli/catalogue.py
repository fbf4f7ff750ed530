"""The command ``derive catalogue``: the published models, listed and derived."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Annotated, TypeAlias

from derive.cli.forms import TEXT, Form, offer
from derive.cli.options import Output, Timeout, argument
from derive.cli.output import check_writable, deliver
from derive.cli.running import Answer, Enter, answer_with, finish
from derive.errors import InputError

if TYPE_CHECKING:
    from derive.catalogue.library import Entry

Model = Annotated[str | None, argument("ID")]
ListForm: TypeAlias = Annotated[
    Form, offer("bibtex", "markdown", "latex", "standalone", "html", "json")
]


def catalogue(
    model: Model = None, *, form: ListForm, output: Output = None, timeout: Timeout = 60.0
) -> None:
    """List the published models, or derive one of them and show what was printed of it.

    Without ID the models are listed. A model is a record: F and the start as one types them,
    and formulas as they were printed. Nothing that is derived comes from the record but F and
    the start. --latex, --html and --json go with an ID.

    Exit status: 0 listed; with ID as for `derive regularizer`.

    \b
    Examples:
      derive catalogue
      derive catalogue linear-neuron
      derive catalogue tied-pair --bibtex
      derive catalogue --markdown
    """
    if model is None and form.render is not None and form is not TEXT:
        raise InputError("--latex, --html and --json go with an ID: `derive catalogue` lists them")
    if model is not None and form.name == "markdown":
        raise InputError("--markdown is a table of all models: give no ID")
    check_writable(output)
    from derive.catalogue import bibtex, entries, find

    chosen = entries() if model is None else (find(model),)
    if form.name == "bibtex":
        keys = {key for e in chosen for key in (*e.cite, *(f.cite for f in e.printed))}
        deliver(bibtex(sorted(keys)), output)
    elif form.name == "markdown":
        finish(lambda enter: _table(chosen, enter), timeout, output)
    elif model is None:
        deliver(_list(chosen), output)
    else:
        finish(lambda enter: _derive(chosen[0], form, enter), timeout, output)


def _list(chosen: tuple[Entry, ...]) -> str:
    wrapper = textwrap.TextWrapper(80, "  ", "    ", break_long_words=False, break_on_hyphens=False)
    lines = []
    for entry in chosen:
        outputs = [f'"{output}"' for output in entry.outputs]
        typed = " ".join([*outputs, *(f"--{name} {value}" for name, value in entry.options)])
        lines += [entry.id, *wrapper.wrap(entry.title), *wrapper.wrap(typed)]
    return "\n".join(lines)


def _derive(entry: Entry, form: Form, enter: Enter) -> Answer:
    enter("importing the algebra")
    from derive.catalogue.library import derive_entry
    from derive.catalogue.listing import entry_page, heading, printed_lines

    derivation = derive_entry(entry, enter, enter.share)
    answer = answer_with(derivation, form, enter)
    if form.name in ("latex", "standalone"):
        from derive.render.page.latex import document, snippet

        write = document if form.name == "standalone" else snippet
        return Answer(write(entry_page(entry, derivation)), answer.code)
    if form.name == "html":
        from derive.catalogue.audit.site import entry_html

        return Answer(entry_html(entry, derivation), answer.code)
    if form is not TEXT:
        return answer
    parts = [heading(entry), answer.result, printed_lines(entry)]
    return Answer("\n\n".join(part for part in parts if part), answer.code)


def _table(chosen: tuple[Entry, ...], enter: Enter) -> Answer:
    enter("importing the algebra")
    from derive.catalogue.library import derive_entry
    from derive.catalogue.listing import markdown

    derived = []
    for entry in chosen:
        enter(entry.id)
        derived.append((entry, derive_entry(entry)))
    return Answer(markdown(derived))
