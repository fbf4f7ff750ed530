"""The command ``derive report``: the catalogue and its audit as pages for a browser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from derive.cli.audit import progress
from derive.cli.options import Limited, time_limit
from derive.cli.output import check_writable, deliver, deliver_to_folder
from derive.cli.running import YES, Enter, run
from derive.errors import InputError
from derive.option import option

if TYPE_CHECKING:
    from derive.catalogue.audit.judgement import Audit
    from derive.catalogue.library import Entry
    from derive.derivation import Derivation

OURS = '<meta name="generator" content="regderive">'


@dataclass(frozen=True, kw_only=True)
class Report(Limited):
    """Write the catalogue and its audit as a small site: an index, and a page a model.

    DIR is new, empty, or holds such a site, which is replaced. The pages fetch nothing: open
    DIR/index.html in a browser. Of each model they show Q and its proof or why there is none, a
    picture of Q, what its sources print, and whether that agrees; and as `derive explore` does, a
    picture that moves.

    Exit status: 0 the pages are written; 2 bad input; 3 out of time.

    \b
    Examples:
      derive report -o site
    """

    output: Path | None = option(None, "Write the pages to DIR.", "DIR", "-o", "--output")
    timeout: float = time_limit(300.0)

    def run(self) -> int:
        """Derive and audit all models, and write their pages."""
        if self.output is None:
            raise InputError("give a folder for the pages, as -o DIR")
        _check(self.output)
        pages = run(_pages, self.timeout)
        deliver_to_folder(pages, self.output)
        deliver(f"{len(pages)} pages: open {self.output / 'index.html'}", None)
        return YES


def _check(folder: Path) -> None:
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


def _pages(enter: Enter) -> dict[str, str]:
    enter("importing the algebra")
    from derive.catalogue import entries
    from derive.catalogue.audit.formula_kinds import audit_formulas
    from derive.catalogue.audit.germs import Subject
    from derive.catalogue.audit.site import site
    from derive.catalogue.library import derive_entry

    derived: list[tuple[Entry, Derivation]] = []
    audits: list[Audit] = []
    for done, entry in enumerate(entries()):
        enter(progress(done, len(entries()), entry.id))
        derivation = derive_entry(entry)
        derived.append((entry, derivation))
        audits += audit_formulas(entry, Subject(derivation))
    enter("writing the pages")
    return site(derived, audits)
