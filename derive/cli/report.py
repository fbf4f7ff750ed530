"""The command ``derive report``: the catalogue and its audit as pages for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from derive.cli.audit import progress, try_norm_bound
from derive.cli.options import Timeout
from derive.cli.output import check_writable, deliver
from derive.cli.running import Enter, run
from derive.errors import InputError

if TYPE_CHECKING:
    from derive.catalogue.audit.judgement import Audit
    from derive.catalogue.library import Entry
    from derive.derivation import Derivation

OURS = '<meta name="generator" content="regderive">'
Folder = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write the pages to DIR.", metavar="DIR")
]


def report(*, output: Folder = None, timeout: Timeout = 300.0) -> None:
    """Write the catalogue and its audit as a small site: an index, and a page a model.

    DIR is new, empty, or holds such a site, which is replaced. The pages fetch nothing: open
    DIR/index.html in a browser. Of each model they show Q and its proof or why there is none, a
    picture of Q, what its sources print, and whether that agrees.

    Exit status: 0 the pages are written; 2 bad input; 3 out of time.

    \b
    Examples:
      derive report -o site
    """
    if output is None:
        raise InputError("give a folder for the pages, as -o DIR")
    _check(output)
    pages = run(_pages, timeout)
    try:
        output.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"-o: {output}: {error.strerror}") from None
    for name, page in pages.items():
        deliver(page, output / name)
    deliver(f"{len(pages)} pages: open {output / 'index.html'}", None)


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
    from derive.catalogue.audit.site import site
    from derive.catalogue.audit.subject import Subject
    from derive.catalogue.library import derive_entry

    derived: list[tuple[Entry, Derivation]] = []
    audits: list[Audit] = []
    for done, entry in enumerate(entries()):
        enter(progress(done, len(entries()), entry.id))
        derivation = derive_entry(entry)
        derived.append((entry, derivation))
        audits += audit_formulas(entry, Subject(derivation, try_norm_bound))
    enter("writing the pages")
    return site(derived, audits)
