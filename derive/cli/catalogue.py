"""``derive catalogue``, ``derive audit`` and ``derive report``: the published models."""

from __future__ import annotations

import textwrap
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from derive.cli.forms import Form, offer_page, rendered
from derive.cli.options import Command, Limited, time_limit
from derive.cli.output import check_writable, deliver, deliver_to_folder
from derive.cli.recorded import Recorded
from derive.cli.running import YES, Answer, Enter, run
from derive.errors import InputError
from derive.option import option

if TYPE_CHECKING:
    from derive.catalogue.audit.judgement import Audit as Judged
    from derive.catalogue.library import Entry, Model
    from derive.derivation import Derivation


@dataclass(frozen=True, kw_only=True)
class Catalogue(Recorded):
    """List the published models, or derive one of them and show what was printed of it."""

    ids = "derive.catalogue:entries"
    model: str | None = option(None, metavar="[ID]")
    form: Form = offer_page("markdown")

    def answer(self, enter: Enter) -> Answer:
        """List the models, or derive one."""
        if self.model is None and self.form.name not in ("text", "bibtex", "markdown"):
            raise InputError(
                "--latex, --html and --json go with an ID: `derive catalogue` lists them"
            )
        if self.model is not None and self.form.name == "markdown":
            raise InputError("--markdown is a table of all models: give no ID")
        from derive.catalogue import bibtex, entries, find

        read = entries() if self.model is None else (find(self.model),)
        if self.form.name == "bibtex":
            keys = {key for e in read for key in (*e.cite, *(f.cite for f in e.printed))}
            return Answer(bibtex(sorted(keys)))
        if self.model is not None:
            return super().answer(enter)
        if self.form.name != "markdown":
            return Answer("\n".join(line for entry in read for line in _listed(entry)))
        enter("importing the algebra")
        from derive.catalogue.library import derive_entry
        from derive.catalogue.listing import markdown

        derived = []
        for entry in read:
            enter(entry.id)
            derived.append((entry, derive_entry(entry)))
        return Answer(markdown(derived))

    def find(self, enter: Enter) -> Model:
        """Derive the model that is named."""
        from derive.catalogue.library import Model, derive_entry, find

        entry = find(self.model or "")
        return Model(entry, derive_entry(entry, enter, enter.share))


def _listed(entry: Entry) -> list[str]:
    wrapper = textwrap.TextWrapper(80, "  ", "    ", break_long_words=False, break_on_hyphens=False)
    outputs = [f'"{output}"' for output in entry.outputs]
    typed = " ".join([*outputs, *(f"--{name} {value}" for name, value in entry.options)])
    return [entry.id, *wrapper.wrap(entry.title), *wrapper.wrap(typed)]


@dataclass(frozen=True, kw_only=True)
class Audit(Command):
    """Compare every printed formula of the catalogue with what is derived from F alone."""

    ids = "derive.catalogue:entries"
    models: tuple[str, ...] = option((), metavar="[ID]...")
    form: Form = offer_page()
    timeout: float = time_limit(300.0)

    def answer(self, enter: Enter) -> Answer:
        """Return the audit of some models, or of all."""
        from derive.catalogue import entries, find

        read = tuple(map(find, dict.fromkeys(self.models))) or entries()
        enter("importing the algebra")
        from derive.catalogue.audit.formula_kinds import audit_entry
        from derive.catalogue.audit.judgement import Audits

        audits: list[Judged] = []
        for done, entry in enumerate(read):
            enter(f"{done}/{len(read)} {entry.id}")
            audits += audit_entry(entry)
        return Answer(rendered(Audits((*audits,)), self.form))


OURS = '<meta name="generator" content="regderive">'


@dataclass(frozen=True, kw_only=True)
class Site(Limited):
    """A command that writes pages for a browser to a folder."""

    output: Path | None = option(None, "Write the pages to DIR.", "DIR", "-o", "--output")

    @abstractmethod
    def pages(self, enter: Enter) -> dict[str, str]:
        """Return the texts of the pages by their names; this runs in a process of its own."""

    def run(self) -> int:
        """Make the pages, and write them to a folder that is new, or holds such pages."""
        if self.output is None:
            raise InputError("give a folder for the pages, as -o DIR")
        _check_folder(self.output)
        pages = run(self.pages, self.timeout)
        deliver_to_folder(pages, self.output)
        deliver(f"{len(pages)} pages: open {self.output / 'index.html'}", None)
        return YES


def _check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made, or that holds what is not ours."""
    check_writable(folder / "index.html" if folder.is_dir() else folder)
    if not folder.is_dir():
        if folder.exists():
            raise InputError(f"-o: {folder} is a file; give a folder")
        return
    index = folder / "index.html"
    ours = index.is_file() and OURS in index.read_text(encoding="utf-8", errors="replace")[:2000]
    if not ours and any(folder.iterdir()):
        raise InputError(f"-o: {folder} holds other files; give a new folder")


@dataclass(frozen=True, kw_only=True)
class Report(Site):
    """Write the catalogue and its audit as a small site: an index, and a page a model."""

    timeout: float = time_limit(300.0)

    def pages(self, enter: Enter) -> dict[str, str]:
        """Derive and audit all models."""
        enter("importing the algebra")
        from derive.catalogue import entries
        from derive.catalogue.audit.formula_kinds import audit_formulas
        from derive.catalogue.audit.germs import Subject
        from derive.catalogue.audit.report import site
        from derive.catalogue.library import derive_entry, summand

        derived: list[tuple[Entry, Derivation]] = []
        audits: list[Judged] = []
        for done, entry in enumerate(entries()):
            enter(f"{done}/{len(entries())} {entry.id}")
            derivation = derive_entry(entry)
            derived.append((entry, derivation))
            audits += audit_formulas(entry, Subject(summand(derivation)))
        enter("writing the pages")
        return site(derived, audits)
