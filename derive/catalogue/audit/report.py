"""An audit as a table in the terminal, as JSON, and as a LaTeX table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby

from derive.catalogue.audit.judgement import Audit, Outcome, Witness
from derive.render.plain import at, wrap
from derive.render.written_json import Record, json_text

DETAILS = "What is not as it was printed:"
NOTES = (
    "Q is defined up to a positive factor and an additive constant, K up to the unit of time, which"
    " the constant of the loss and the scale of the weights change. The dual variable of a path is"
    " grad Q: the time integral of -X^T r for the loss |r|^2/2, twice that for |r|^2. A limit is"
    " that of Q/N at fixed beta, or at a fixed distance from beta_0; N is a factor free of beta."
)


def counts(audits: Sequence[Audit]) -> dict[str, int]:
    """Return how often each outcome occurs."""
    found = Counter(audit.judgement.outcome for audit in audits)
    return {outcome.value: found[outcome] for outcome in Outcome}


def render_text(audits: Sequence[Audit], width: int = 80) -> str:
    """Return a table: outcome, kind and place, one line each, and below what there is to say.

    Of one model everything is said; of several, what the misprints and the unchecked are.
    """
    models = list(dict.fromkeys(audit.model for audit in audits))
    lines = [*_table(audits, width), "", DETAILS, ""] if len(models) > 1 else []
    brief = (Outcome.AGREES, Outcome.UP_TO) if len(models) > 1 else ()
    told = [audit for audit in audits if audit.judgement.outcome not in brief]
    for model, group in groupby(told, lambda audit: audit.model):
        lines.append(model)
        for audit in group:
            lines += _rows(audit, width)
        lines.append("")
    lines += wrap(NOTES, width)
    if len(models) > 1:
        lines += ["", "`derive audit ID` says of one model what agrees, and how it was decided."]
    total = ", ".join(f"{n} {outcome}" for outcome, n in counts(audits).items())
    return "\n".join([*lines, "", total])


def _table(audits: Sequence[Audit], width: int) -> Iterator[str]:
    """Yield a line for each model, and one for each of its formulas, cut to the width."""
    for model, group in groupby(audits, lambda audit: audit.model):
        yield model
        for audit in group:
            outcome, printed = audit.judgement.outcome.value, audit.printed
            line = f"  {outcome:12}  {printed.kind}: {printed.place}"
            yield line if len(line) <= width else line[: width - 3].rstrip() + "..."


def _rows(audit: Audit, width: int) -> Iterator[str]:
    indent = " " * 16
    first, *rest = wrap(f"{audit.printed.kind}: {audit.printed.place}", width - len(indent))
    yield f"  {audit.judgement.outcome.value:12}  {first}"
    yield from (indent + line.strip() for line in rest)
    for line in _details(audit):
        yield from wrap(indent + line, width)


def _details(audit: Audit) -> Iterator[str]:
    judgement = audit.judgement
    yield from judgement.up_to
    if judgement.reason:
        yield judgement.reason
    if judgement.outcome is Outcome.MISPRINT:
        yield f"printed: {'; '.join(audit.printed.text)}"
        yield from (f"  {meaning}" for meaning in audit.printed.meanings)
        if judgement.derived:
            yield f"derived: {judgement.derived}"
        yield from (shown(witness) for witness in judgement.witnesses)
    if judgement.method:
        yield f"[{judgement.method}]"


def shown(witness: Witness) -> str:
    """Return a witness as one line."""
    printed, derived = ", ".join(witness.printed), ", ".join(witness.derived)
    return f"at {at(witness.point)}: printed {printed}; derived {derived}"


def render_json(audits: Sequence[Audit]) -> str:
    """Return the audit as a versioned record; fields are only ever added."""
    records = [_record(audit) for audit in audits]
    return json_text("audit", {"counts": counts(audits), "audits": records})


def _record(audit: Audit) -> Record:
    printed, judgement = audit.printed, audit.judgement
    return {
        "model": audit.model,
        "kind": printed.kind,
        "printed": printed.text,
        "where": dict(printed.where),
        "place": printed.place,
        "cite": printed.cite,
        **asdict(judgement),
        "outcome": judgement.outcome.value,
        "witnesses": [{**asdict(w), "point": dict(w.point)} for w in judgement.witnesses],
    }


def render_latex(audits: Sequence[Audit]) -> str:
    """Return a longtable, which needs the package longtable, with citations by key."""
    lines = [
        r"\begin{longtable}{@{}p{0.34\linewidth}p{0.13\linewidth}p{0.45\linewidth}@{}}",
        r"formula & outcome & \\ \hline \endhead",
    ]
    for audit in audits:
        judgement, printed = audit.judgement, audit.printed
        place = rf"{escaped(audit.model)}: {escaped(printed.kind)}. {escaped(printed.place)}"
        told = [escaped(text) for text in (*judgement.up_to, judgement.reason) if text]
        if judgement.outcome is Outcome.MISPRINT:
            told.append(rf"printed: {code('; '.join(printed.text))}")
            told += [rf"derived: {code(judgement.derived)}"] if judgement.derived else []
            told += [escaped(shown(witness)) for witness in judgement.witnesses]
        rest = ". ".join(told)
        lines.append(rf"{place} \cite{{{printed.cite}}} & {judgement.outcome.value} & {rest} \\")
    return "\n".join([*lines, r"\end{longtable}"])


SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}


def escaped(text: str) -> str:
    """Return text with the characters escaped that mean something to LaTeX."""
    return "".join(SPECIAL.get(c, c) for c in text)


def code(text: str) -> str:
    """Return a formula of the command line in a typewriter face, breakable after operators."""
    marked = "".join(c + "\0" if c in "+*/=" else c for c in text)
    return r"\texttt{" + escaped(marked).replace("\0", r"\allowbreak{}") + "}"
