"""The command ``derive catalogue``: the published models, listed and derived."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from derive.errors import InputError
from derive.output import deliver

if TYPE_CHECKING:
    from derive.catalogue.entry import Entry

Enter = Callable[[str], None]
Run = Callable[[Callable[[Enter], Any], float, bool], Any]
"""Runs a function in a limited child process."""

EXIT = {"PROVED": 0, "REFUTED": 1, "UNDECIDED": 3}


def add_catalogue(app: typer.Typer, run: Run) -> None:
    """Add the command to *app*; *run* limits the time and memory of what it computes."""

    @app.command()
    def catalogue(
        model: Annotated[
            str | None,
            typer.Argument(metavar="ID", help="The model to derive.", show_default=False),
        ] = None,
        bibtex: Annotated[
            bool, typer.Option("--bibtex", help="Print the BibTeX of the sources.")
        ] = False,
        markdown: Annotated[
            bool, typer.Option("--markdown", help="Derive all; print a table of models.")
        ] = False,
        latex: Annotated[bool, typer.Option("--latex", help="With ID: print LaTeX.")] = False,
        json: Annotated[bool, typer.Option("--json", help="With ID: print JSON.")] = False,
        timeout: Annotated[
            float, typer.Option(help="Give up after S seconds.", min=0.1, max=86400, metavar="S")
        ] = 60.0,
    ) -> None:
        """List the published models, or derive one of them and show what was printed of it.

        A model is a record: F and the start as one types them, and formulas as they were printed.
        Nothing that is derived comes from the record but F and the start.

        Exit status with ID: as for `derive regularizer`.

        \b
        Examples:
          derive catalogue
          derive catalogue linear-neuron
          derive catalogue tied-pair --bibtex
          derive catalogue --markdown
        """
        if bibtex + markdown + latex + json > 1:
            raise InputError("choose one of --bibtex, --markdown, --latex and --json")
        if model is None and (latex or json):
            raise InputError("--latex and --json go with an ID: `derive catalogue` lists them")
        if model is not None and markdown:
            raise InputError("--markdown is a table of all models: give no ID")
        from derive.catalogue import bibtex as sources_of
        from derive.catalogue import entries, find

        chosen = entries() if model is None else (find(model),)
        if bibtex:
            keys = [k for e in chosen for k in (*e.cite, *(f.cite for f in e.printed))]
            deliver(sources_of(sorted(set(keys))), None)
        elif markdown:
            deliver(run(lambda enter: _table(chosen, enter), timeout, True), None)
        elif model is None:
            deliver(_list(chosen), None)
        else:
            form = "latex" if latex else "json" if json else "text"
            result, code = run(lambda enter: _derive(chosen[0], form, enter), timeout, True)
            deliver(result, None)
            raise typer.Exit(code)


def _list(chosen: tuple[Entry, ...]) -> str:
    lines = []
    for entry in chosen:
        options = " ".join(f"--{name} {value}" for name, value in entry.options)
        outputs = " ".join(f'"{output}"' for output in entry.outputs)
        lines.append(entry.id)
        for text in (entry.title, f"{outputs} {options}".rstrip()):
            lines += textwrap.wrap(
                text,
                80,
                initial_indent="  ",
                subsequent_indent="    ",
                break_long_words=False,
                break_on_hyphens=False,
            )
    return "\n".join(lines)


def _derive(entry: Entry, form: str, enter: Enter) -> tuple[str, int]:
    enter("importing the algebra")
    from derive.catalogue.listing import heading, printed_lines
    from derive.catalogue.model import derive_entry

    derivation = derive_entry(entry, enter)
    enter("rendering")
    code = EXIT[derivation.verdict.value]
    if form == "latex":
        return derivation.to_latex(), code
    if form == "json":
        return derivation.to_json(), code
    parts = [heading(entry), derivation.to_text(), printed_lines(entry)]
    return "\n\n".join(part for part in parts if part), code


def _table(chosen: tuple[Entry, ...], enter: Enter) -> str:
    enter("importing the algebra")
    from derive.catalogue.listing import markdown
    from derive.catalogue.model import derive_entry

    derived = []
    for entry in chosen:
        enter(entry.id)
        derived.append((entry, derive_entry(entry)))
    return markdown(derived)
