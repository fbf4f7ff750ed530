"""What the sources state, on what ground this program says the same, and what they misprint.

``coverage.toml`` has the statements, each with what shows it and what that prints; tests run these
and compare. What became of the formulas that are printed in the catalogue is the audit's to say:
the page has a table of it, made from the audit itself.

>>> sorted({s.ground.value for s in statements()})
['cited', 'left out', 'shown', 'shown for an instance', 'simulated']
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sympy import Expr

from derive.catalogue.audit.germs import Germs
from derive.catalogue.audit.judgement import Audit, Audits
from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.towers.germ import Unsettled
from derive.folder import read_table
from derive.language import parse_expression
from derive.language.tree import Name
from derive.sources import reference

COVERAGE = read_table(str(Path(__file__).parent), "coverage.toml")
"""The statements, and what their page says beside them."""
BOUND = re.compile(r"O\((.*)\)")


class Ground(enum.Enum):
    """On what ground a statement of a source is repeated; the closed list of them."""

    SHOWN = "shown"
    INSTANCE = "shown for an instance"
    CITED = "cited"
    SIMULATED = "simulated"
    LEFT_OUT = "left out"


DETAIL = {Ground.INSTANCE: "instance", Ground.CITED: "theorem", Ground.LEFT_OUT: "reason"}
"""The field that a ground asks for; no other ground has it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What sources state at a place, and the ground for it.

    *command* is typed in a shell, *python* at the prompt of Python; the first ends with *status*
    and prints the passages *shows*, the other gives the first of them. Of a slip of the pen there
    is the whole passage *quoted*, the part *printed* that is meant, and what is *derived*.
    """

    text: str
    place: str
    cite: tuple[str, ...]
    ground: Ground
    instance: str = ""
    theorem: str = ""
    reason: str = ""
    command: str = ""
    python: str = ""
    shows: tuple[str, ...] = ()
    status: int = 0
    quoted: str = ""
    printed: str = ""
    derived: str = ""
    slow: bool = False


def read_statement(record: Mapping[str, Any]) -> Statement:
    """Return the statement of a record, or refuse one that lacks what its ground asks for."""
    lists = {name: tuple(record.get(name, ())) for name in ("cite", "shows")}
    said = Statement(**{**record, **lists, "ground": Ground(record["ground"])})
    wanted = DETAIL.get(said.ground)
    given = [name for name in DETAIL.values() if getattr(said, name)]
    if given != [wanted] * (wanted is not None):
        raise InputError(f"{said.text}: what is {said.ground.value} has {wanted or 'no detail'}")
    run = said.ground is not Ground.LEFT_OUT
    if (bool(said.command) + bool(said.python), bool(said.shows)) != (run, run):
        raise InputError(f"{said.text}: one command or line of Python, and what it shows")
    if said.ground is Ground.SIMULATED and not any(re.search(r"\d|True", x) for x in said.shows):
        raise InputError(f"{said.text}: what is simulated has figures")
    if not (bool(said.quoted) == bool(said.printed) == bool(said.derived)):
        raise InputError(f"{said.text}: quoted, printed and derived go together")
    if said.printed not in said.quoted:
        raise InputError(f"{said.text}: what is accused is not in what is quoted")
    return said


def statements() -> tuple[Statement, ...]:
    """Return all statements of the file."""
    return tuple(map(read_statement, COVERAGE["statement"]))


def compare(derived: Expr, *printed: str, **where: str) -> list[str]:
    """Return for each printed text AGREES or DIFFERS: whether it is what was derived.

    Names are independent, but for those that *where* defines. Equal is what an exact identity
    shows, near a point where all names are positive, unlike what balls there tell apart; O(f) is a
    bound as t -> infinity, f a power of log(t) up to a factor, as what was derived is.

    >>> from sympy.abc import k, sigma
    >>> compare(k * sigma**4, "alpha**4", "alpha**2", sigma="alpha/k**(1/4)")
    ['AGREES', 'DIFFERS']

    Raises:
        Unsettled: neither was shown.
    """
    bounds = [BOUND.fullmatch(text) for text in printed]
    texts = (x[1] if x else text for x, text in zip(bounds, printed, strict=True))
    names = sorted(x.name for x in derived.free_symbols)
    trees = [*map(Name, names), *map(parse_expression, texts)]
    germs = Germs.independent(trees, where.items(), lambda k, name: Fraction(5 + 2 * k, 3))
    value, given = germs.read(derived), germs.texts[-len(printed) :]
    agree = (
        _is_bounded(germs, germs.tower.tidy(value / x)) if bound else germs.vanish([x - value])
        for x, bound in zip(given, bounds, strict=True)
    )
    return ["AGREES" if same else "DIFFERS" for same in agree]


def _is_bounded(germs: Germs, quotient: RationalFunction) -> bool:
    """Tell whether the exponent of log t in a power of it is not positive."""
    slope = germs.tower.derivative(quotient, [*germs.point].index("t"))
    exponent = germs.tower.tidy(germs.read(parse_expression("t*log(t)")) * slope / quotient)
    if not germs.is_constant(exponent):
        raise Unsettled("the printed bound is no power of log(t)")
    return germs.tower.sign(exponent) <= 0


def markdown(audits: Sequence[Audit]) -> str:
    """Return the page: the grounds and how often each occurs, and a table by source and one of
    the audit."""
    found = statements()
    number = Counter(said.ground for said in found)
    legend = (f"- **{x.value}** ({number[x]}): {COVERAGE['grounds'][x.value]}\n" for x in Ground)
    slips = COVERAGE["page"]["slips"].format(sum(bool(said.quoted) for said in found))
    parts = [COVERAGE["page"]["head"], *legend, "\n", slips]
    for cite in dict.fromkeys(key for said in found for key in said.cite):
        authors, title, _ = reference(cite)
        heading = re.sub(r"\\'|[{}]", "", f"{title}. {authors}.")
        parts.append(f"\n## {heading}\n\n")
        parts.append("| statement, place | ground | shown by |\n|---|---|---|\n")
        for said in (said for said in found if cite in said.cite):
            detail = _text(said.instance or said.theorem)
            ground = f"{said.ground.value}: {detail}" if detail else said.ground.value
            shown = "<br>".join(_shown(said))
            parts.append(f"| {_stated(said.text, said.place)} | {ground} | {shown} |\n")
    return "".join((*parts, *_formulas(audits)))


def _stated(text: str, place: str) -> str:
    return f"{_text(text)}<br>*{_text(place)}*"


def _shown(said: Statement) -> Iterator[str]:
    if said.quoted:
        yield from _slip(said.quoted, said.printed, said.derived)
    command = said.command or said.python
    yield f"`{command}`".replace("|", r"\|") if command else _text(said.reason)
    yield from map(_text, said.shows)


def _slip(quoted: str, printed: str, derived: str) -> Iterator[str]:
    yield f"*quoted:* {_text(quoted)}"
    yield f"*printed:* {_text(printed)}"
    yield f"*derived:* {_text(derived)}"


def _formulas(audits: Sequence[Audit]) -> Iterator[str]:
    """Yield the table of the audit."""
    outcomes = ", ".join(f"{n} {name}" for name, n in Audits((*audits,)).counts.items() if n)
    read = Counter(audit.printed.reading for audit in audits)
    where = ", ".join(f"{n} {name}" for name, n in read.items())
    yield COVERAGE["page"]["formulas"].format(len(audits), outcomes, where)
    for audit in audits:
        printed, judgement = audit.printed, audit.judgement
        formula = "; ".join(printed.text)
        found = (*judgement.up_to, judgement.reason, judgement.method and f"[{judgement.method}]")
        told = [judgement.outcome.value, *map(_text, found)]
        if judgement.differs:
            told += _slip(printed.quote, formula, judgement.derived)
        said = _stated(f"{printed.kind}: {formula}", printed.place)
        yield f"| {said} | {'<br>'.join(filter(None, told))} | {printed.reading} |\n"


def _text(text: str) -> str:
    return re.sub(r"([\\|*_<>\[\]`$~#])", r"\\\1", text)
