"""The command ``derive audit``: every printed formula against the derivation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from derive.cli.forms import Form, offer
from derive.cli.options import Command, time_limit
from derive.cli.running import Answer, Enter
from derive.option import option

if TYPE_CHECKING:
    from derive.catalogue.audit.judgement import Audit as Judged
    from derive.catalogue.library import Entry

WIDTH = 24


@dataclass(frozen=True, kw_only=True)
class Audit(Command):
    """Compare every printed formula of the catalogue with what is derived from F alone.

    Each ID is a model, as `derive catalogue` lists them; without one all are compared.

    AGREES: equal. AGREES UP TO: equal but for what is named, such as a factor, a sign, a
    constant, the convention of the loss, or the special case that was compared. DIFFERS FROM THE
    TEXT AT HAND: not equal, as far as the text that was extracted from the source has it right; the
    whole passage, the derived form and a point with both values are printed. MISPRINT: the same,
    where the typeset page was read or the source contradicts itself. NOT CHECKED: nothing compares
    it yet, and why.

    Each formula says where it was read: on the typeset page, in the text at hand, or from memory
    of the published paper, which blames nobody.

    Identities are decided exactly, in a field of elementary functions; what differs is shown
    by values with error bounds.

    Exit status: 0 the audit is complete, whatever it found; 2 bad input; 3 out of time.

    \b
    Examples:
      derive audit
      derive audit tied-pair deep-diagonal
      derive audit --json -o audit.json
    """

    models: tuple[str, ...] = option((), metavar="[ID]...")
    form: Form = offer("latex", "standalone", "html", "json")
    timeout: float = time_limit(300.0)

    def read(self) -> tuple[Entry, ...]:
        """Return the models that are named, or all."""
        from derive.catalogue import entries, find

        return tuple(map(find, dict.fromkeys(self.models))) or entries()

    def answer(self, read: tuple[Entry, ...], enter: Enter) -> Answer:
        """Return the audit of some models."""
        enter("importing the algebra")
        from derive.catalogue.audit.formula_kinds import audit_entry
        from derive.catalogue.audit.report import audit_page, render_json, render_latex, render_text
        from derive.catalogue.audit.site import audit_html
        from derive.render.page.latex import document

        audits: list[Judged] = []
        for done, entry in enumerate(read):
            enter(progress(done, len(read), entry.id))
            audits += audit_entry(entry)
        write = {
            "text": render_text,
            "latex": render_latex,
            "standalone": lambda audits: document(audit_page(audits)),
            "html": audit_html,
            "json": render_json,
        }[self.form.name]
        return Answer(write(audits))


def progress(done: int, total: int, name: str) -> str:
    """Return a bar, what is done of the total, and what is under way.

    >>> progress(1, 2, "square")
    '[############............] 1/2 square'
    """
    filled = WIDTH * done // total
    return f"[{'#' * filled}{'.' * (WIDTH - filled)}] {done}/{total} {name}"
