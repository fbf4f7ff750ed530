"""What the sources state, and what this program says of it: records, and a table of each source.

``coverage.toml`` has a list of statements, each with the command that decides it, what it shows
and the verdict; and for each place where a formula of the catalogue was printed, the gravest
outcome of its audit. Tests run the commands, and the audit, and compare.

>>> found = [s for s in statements() if s.command == "derive audit tied-pair"]
>>> len(found) > 10
True
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from derive.catalogue.library import entries
from derive.sources import bibitem

FILE = Path(__file__).parent / "coverage.toml"
VERDICTS = {
    "AGREES": "the printed formula is the derived one.",
    "AGREES UP TO": "the same, but for a factor, a sign, a constant or the unit of time.",
    "NOT CHECKED": "nothing is derived that it could be compared with.",
    "DIFFERS FROM THE TEXT AT HAND": "it is not what is derived; the fault may be of the text "
    "that was extracted from the source.",
    "MISPRINT": "the source contradicts itself, and one of both is what is derived.",
    "PROVED": "the statement is derived, in the form that the command prints.",
    "REFUTED": "the command has a counter-example.",
    "cited": "a theorem that is cited, with its hypotheses; what of them is proved is printed.",
    "only simulated": "numbers agree with it, for what they are worth.",
    "left out": "the program does not decide it, for the reason that is given.",
}
HEADER = """\
---
hide-toc: true
---

# Coverage

What the sources of the catalogue state, and what the program says of it. Formulas are compared by
`derive audit`; of all else there is a command, or a line of Python, that shows it, and the passage
that it prints. The tests of the project run them.

"""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a source states at a place, and the verdict on it.

    *command* is typed in a shell, *python* at the prompt of Python; the first ends with *status*
    and prints the passages *shows*, the other gives the first of them. *derived* stands beside
    what was *printed* where these differ; what is left out has a *reason*.
    """

    text: str
    place: str
    cite: str
    verdict: str
    command: str = ""
    python: str = ""
    shows: tuple[str, ...] = ()
    status: int = 0
    printed: str = ""
    derived: str = ""
    reason: str = ""
    slow: bool = False


def statements() -> tuple[Statement, ...]:
    """Return all statements: those of the file, then the formulas of the catalogue."""
    record = tomllib.loads(FILE.read_text(encoding="utf-8"))
    given = (Statement(**{**x, "shows": tuple(x.get("shows", ()))}) for x in record["statement"])
    return (*given, *_formulas(record["audit"]))


def _formulas(outcomes: dict[str, str]) -> Iterator[Statement]:
    """Each printed formula once, though it may be printed of several models."""
    missing = dict(outcomes)
    for entry in sorted(entries(), key=lambda entry: len(entry.id)):
        for formula in entry.printed:
            if (verdict := missing.pop(formula.place, "")) != "":
                text = f"{formula.kind}: {'; '.join(formula.text)}"
                command = f"derive audit {entry.id}"
                yield Statement(text, formula.place, formula.cite, verdict, command)


def markdown() -> str:
    """Return the page: what the verdicts mean, how often each occurs, and a table by source."""
    found = statements()
    counts = {name: sum(s.verdict == name for s in found) for name in VERDICTS}
    legend = (f"- **{name}** ({counts[name]}): {said}\n" for name, said in VERDICTS.items())
    parts = [HEADER, *legend]
    for cite in dict.fromkeys(s.cite for s in found):
        parts.append(f"\n## {_title(cite)}\n\n")
        parts.append("| statement, place | verdict | shown by |\n|---|---|---|\n")
        parts.extend(_row(s) for s in found if s.cite == cite)
    return "".join(parts)


def _title(cite: str) -> str:
    authors, title = bibitem(cite).split("} ", 1)[1].split("\n")[:2]
    return re.sub(r"\\'|[{}]", "", f"{title} {authors}")


def _row(said: Statement) -> str:
    stated = f"{_text(said.text)}<br>*{_text(said.place)}*"
    return f"| {stated} | {said.verdict} | {_shown(said)} |\n"


def _shown(said: Statement) -> str:
    command = (said.command or said.python).replace("|", r"\|")
    lines = [f"`{command}`"] if command else [_text(said.reason)]
    lines += [_text(x) for x in said.shows]
    if said.derived:
        lines += [f"*printed:* {_text(said.printed)}", f"*derived:* {_text(said.derived)}"]
    return "<br>".join(lines)


def _text(text: str) -> str:
    return re.sub(r"([\\|*_<>\[\]`$~#])", r"\\\1", text)
