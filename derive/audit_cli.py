"""The command ``derive audit``: every printed formula against the derivation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from derive.errors import InputError
from derive.output import check_writable, deliver

if TYPE_CHECKING:
    from derive.audit.finding import Audit
    from derive.catalogue.entry import Entry

Enter = Callable[[str], None]
Run = Callable[[Callable[[Enter], Any], float, bool], Any]
"""Runs a function in a limited child process."""

WIDTH = 24


def add_audit(app: typer.Typer, run: Run, trial: Callable[..., Any]) -> None:
    """Add the command to *app*; *run* limits its time and memory, *trial* tries printed rates."""

    @app.command()
    def audit(
        models: Annotated[
            list[str] | None,
            typer.Argument(metavar="[ID]...", help="Models; all by default.", show_default=False),
        ] = None,
        latex: Annotated[bool, typer.Option("--latex", help="Print a LaTeX longtable.")] = False,
        json: Annotated[bool, typer.Option("--json", help="Print a JSON record.")] = False,
        output: Annotated[
            Path | None,
            typer.Option("-o", "--output", help="Write the result to FILE.", metavar="FILE"),
        ] = None,
        timeout: Annotated[
            float, typer.Option(help="Give up after S seconds.", min=0.1, max=86400, metavar="S")
        ] = 300.0,
    ) -> None:
        """Compare every printed formula of the catalogue with what is derived from F alone.

        AGREES: equal. AGREES UP TO: equal but for what is named, such as a factor, a sign, a
        constant or the convention of the loss. MISPRINT: not equal; the derived form and a point
        with both values are printed. NOT CHECKED: nothing compares it yet, and why.

        Identities are decided exactly, in a field of elementary functions; what differs is shown
        by values with error bounds.

        Exit status: 0 the audit is complete, whatever it found; 2 bad input; 3 out of time.

        \b
        Examples:
          derive audit
          derive audit tied-pair deep-diagonal
          derive audit --json -o audit.json
        """
        if latex and json:
            raise InputError("choose one of --latex and --json")
        if output is not None and str(output) != "-":
            check_writable(output)
        from derive.catalogue import entries, find

        chosen = tuple(find(name) for name in dict.fromkeys(models)) if models else entries()
        form = "latex" if latex else "json" if json else "text"
        result = run(lambda enter: _audit(chosen, form, trial, enter), timeout, True)
        deliver(result, output)


def _audit(chosen: tuple[Entry, ...], form: str, trial: Callable[..., Any], enter: Enter) -> str:
    enter("importing the algebra")
    from derive.audit.report import render_json, render_latex, render_text
    from derive.audit.run import audit_entry

    audits: list[Audit] = []
    for done, entry in enumerate(chosen):
        enter(progress(done, len(chosen), entry.id))
        audits += audit_entry(entry, trial)
    render = {"latex": render_latex, "json": render_json, "text": render_text}[form]
    return render(audits)


def progress(done: int, total: int, name: str) -> str:
    """Return a bar, what is done of the total, and what is under way.

    >>> progress(1, 2, "square")
    '[############............] 1/2 square'
    """
    filled = WIDTH * done // total
    return f"[{'#' * filled}{'.' * (WIDTH - filled)}] {done}/{total} {name}"
