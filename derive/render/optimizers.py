"""What optimizers span and minimise, told, and as a versioned JSON record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from sympy import Symbol

from derive.language import parse_expression
from derive.optimizers.optimizer import Optimizer, Optimizers
from derive.render.labels import unmarked
from derive.render.narration import Narration, Part, Table, part
from derive.render.written_json import Record, brief_finding, json_text
from derive.statement import Equations, Sentence, Text, each, tell
from derive.verdict import Finding, Verdict


def tell_one(o: Optimizer) -> Narration:
    """Return what is said of one optimizer."""
    finite = "Losses with a finite root, where `w` tends to an interpolant"
    found = (
        Part(f"{o.update.id}: {o.update.title}"),
        part("Update, coordinate by coordinate", _update(o)),
        part("What the iterates span", _said(o.span), verdict=o.span.verdict),
        part(finite, _finite(o), verdict=o.finite.verdict),
        part("Decreasing losses, at every step", _margins(o), verdict=o.margins.verdict),
        part("Exponential tails", _tail(o)),
    )
    return Narration(found)


def tell_all(found: Optimizers) -> Narration:
    """Return the table of what a limit minimises, and of what is cited of tails."""
    rows = tuple(
        (o.update.id, o.word, (o.update.tail or {}).get("norm", ""), Sentence(o.finite.reason))
        for o in found.found
    )
    head = ("optimizer", "law", "tails", "a limit with `X w = y`")
    heading = "Optimizers on `X w`: what limits minimise; tails: largest margins, cited"
    return Narration((Part(heading, (Table(head, rows),)),))


def _update(o: Optimizer) -> Iterator[object]:
    u = o.update
    yield Equations(tuple((f"{x}_next", parse_expression(text)) for x, text in u.update.items()))
    starts = ((Symbol(x), 0 if s == "0" else Symbol(s)) for x, s in u.state.items())
    yield tell("start: {starts}", starts=each("`{0} = {1}`", starts))
    free = f", `{'`, `'.join(u.signed)}` of any sign," if u.signed else ""
    yield f"`g = X^T l'(X w)`, scalars are positive{free} and may change at each step"
    if u.norm:
        yield f"`d` is minus the step of steepest descent in `l{u.norm}`; `eta` is small"
    if u.potential:
        yield tell("`z = psi'(w)`, `psi = {psi}`", psi=parse_expression(u.potential))
    if u.where:
        yield u.where


def _finite(o: Optimizer) -> Iterator[object]:
    yield from _said(o.finite)
    if e := o.example:
        limit, other = f"`({', '.join(e.limit)})`", f"`({', '.join(e.shorter)})`"
        yield (
            f"from 0, on `X = {e.X}`, `y = {e.y}`: limit {limit} of norm `{e.norms[0]}`,"
            f" but {other} has norm `{e.norms[1]}`"
        )


def _margins(o: Optimizer) -> Iterator[object]:
    yield o.margins.reason
    if o.margins.verdict is Verdict.PROVED and o.finite.verdict is Verdict.PROVED:
        also = "" if o.update.space == "row(X)" else " and `A w = b`"
        yield f"so each iterate minimises the same among those with margins at least its own{also}"


def _tail(o: Optimizer) -> Iterator[object]:
    if not (tail := o.update.tail):
        yield "no theorem is cited"
        return
    largest = f"the direction tends to the largest margin in {tail['norm']}"
    words = f"cited {{source}}: {largest}, given separable rows; {tail['given']}"
    yield tell(words, source=Text(tail["cite"], "cited"))


def _said(finding: Finding) -> Iterator[object]:
    yield finding.reason
    for e in finding.evidence:
        if e.holds:
            yield f"{e.statement}: `{e.left} = {e.right}`"
        else:
            point = each("`{0} = {1}`", e.point)
            yield tell(
                f"{e.statement}, but {e.left} is `{e.residual}`, not 0, at {{point}}", point=point
            )


def render_json(o: Optimizer) -> str:
    """Return one optimizer as JSON text."""
    return json_text("optimizer", _record(o))


def render_table_json(found: Optimizers) -> str:
    """Return all optimizers as JSON text."""
    return json_text("optimizers", {"optimizers": [_record(o) for o in found.found]})


def _record(o: Optimizer) -> Record:
    u = o.update
    return {
        "name": u.id,
        "title": u.title,
        "verdict": o.word,
        "start": dict(u.state),
        "update": dict(u.update),
        "where": unmarked(u.where),
        **{name: _finding(getattr(o, name)) for name in ("span", "finite", "margins")},
        "tail": {k: unmarked(v) for k, v in u.tail.items()} | {"status": "cited"}
        if u.tail
        else None,
        "example": o.example and asdict(o.example),
    }


def _finding(finding: Finding) -> Record:
    """Return a verdict with its evidence: of what fails the point, and the residual."""
    record = brief_finding(finding)
    failing = [
        {"point": dict(e.point), "residual": str(e.residual)}
        for e in finding.evidence
        if not e.holds
    ]
    return record | {"witness": failing[0] if failing else None}
