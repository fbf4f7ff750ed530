"""The command ``derive catalogue``: the published models, listed and derived."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from derive.cli.forms import TEXT, Form, offer
from derive.cli.options import Command
from derive.cli.recorded import answer_with
from derive.cli.running import Answer, Enter
from derive.errors import InputError
from derive.option import option

if TYPE_CHECKING:
    from derive.catalogue.library import Entry


@dataclass(frozen=True, kw_only=True)
class Catalogue(Command):
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

    model: str | None = option(None, metavar="[ID]")
    form: Form = offer("bibtex", "markdown", "latex", "standalone", "html", "json")

    def read(self) -> tuple[Entry, ...]:
        """Return the model that is named, or all."""
        if self.model is None and self.form.render is not None and self.form is not TEXT:
            raise InputError(
                "--latex, --html and --json go with an ID: `derive catalogue` lists them"
            )
        if self.model is not None and self.form.name == "markdown":
            raise InputError("--markdown is a table of all models: give no ID")
        from derive.catalogue import entries, find

        return entries() if self.model is None else (find(self.model),)

    def answer(self, read: tuple[Entry, ...], enter: Enter) -> Answer:
        """List the models, or derive one."""
        from derive.catalogue import bibtex

        if self.form.name == "bibtex":
            keys = {key for e in read for key in (*e.cite, *(f.cite for f in e.printed))}
            return Answer(bibtex(sorted(keys)))
        if self.model is not None:
            return _derive(read[0], self.form, enter)
        return _table(read, enter) if self.form.name == "markdown" else Answer(_list(read))


def _list(models: tuple[Entry, ...]) -> str:
    wrapper = textwrap.TextWrapper(80, "  ", "    ", break_long_words=False, break_on_hyphens=False)
    lines = []
    for entry in models:
        outputs = [f'"{output}"' for output in entry.outputs]
        typed = " ".join([*outputs, *(f"--{name} {value}" for name, value in entry.options)])
        lines += [entry.id, *wrapper.wrap(entry.title), *wrapper.wrap(typed)]
    return "\n".join(lines)


def _derive(entry: Entry, form: Form, enter: Enter) -> Answer:
    enter("importing the algebra")
    from derive.catalogue.audit.site import entry_html
    from derive.catalogue.library import derive_entry
    from derive.catalogue.listing import entry_page, heading, printed_lines
    from derive.render.page.latex import document, snippet

    derivation = derive_entry(entry, enter, enter.share)
    answer = answer_with(derivation, form, enter)
    if form.name in ("latex", "standalone"):
        write = document if form.name == "standalone" else snippet
        return Answer(write(entry_page(entry, derivation)), answer.code)
    if form.name == "html":
        return Answer(entry_html(entry, derivation), answer.code)
    if form is not TEXT:
        return answer
    parts = [heading(entry), answer.result, printed_lines(entry)]
    return Answer("\n\n".join(part for part in parts if part), answer.code)


def _table(models: tuple[Entry, ...], enter: Enter) -> Answer:
    enter("importing the algebra")
    from derive.catalogue.library import derive_entry
    from derive.catalogue.listing import markdown

    derived = []
    for entry in models:
        enter(entry.id)
        derived.append((entry, derive_entry(entry)))
    return Answer(markdown(derived))
