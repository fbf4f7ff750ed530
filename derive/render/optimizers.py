"""What optimizers span and minimise, as plain text and as a versioned JSON record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from derive.optimizers.optimizer import Optimizer, Optimizers
from derive.render.plain import page, title, wrap
from derive.render.written_json import Record, brief_finding, json_text
from derive.verdict import Finding, Verdict


def render_text(o: Optimizer, width: int = 80) -> str:
    """Return one optimizer as text."""
    parts = (_update, _span, _finite, _margins, _tail)
    head = [f"{o.update.id}: {o.update.title}"]
    return page([head, *(part(o) for part in parts)], width, frozenset())


def render_table(found: Optimizers, width: int = 80) -> str:
    """Return all optimizers as text: what a limit minimises, and what is cited of tails."""
    lines = ["Optimizers on X w: what limits with X w = y minimise; tails: largest margins, cited"]
    for o in found.found:
        tail = f"tails: {o.update.tail['norm']}" if o.update.tail else ""
        lines += ["", f"{o.update.id:<24}{o.word:<20}{tail}".rstrip()]
        lines += wrap(f"  {o.finite.reason}", width)
    return "\n".join(lines)


def _update(o: Optimizer) -> Iterator[str]:
    yield "Update, coordinate by coordinate"
    for state, text in o.update.update.items():
        yield f"{state}_next = {text}"
    yield f"start: {', '.join(f'{x} = {s}' for x, s in o.update.state.items())}"
    yield "g = X^T l'(X w), scalars are positive and may change at each step"
    if o.update.norm:
        yield f"d is minus the step of steepest descent in l{o.update.norm}; eta is small"
    if o.update.potential:
        yield f"z = psi'(w), psi = {o.update.potential}"
    if o.update.where:
        yield o.update.where


def _span(o: Optimizer) -> Iterator[str]:
    yield title("What the iterates span", o.span.verdict)
    yield from _said(o.span)


def _finite(o: Optimizer) -> Iterator[str]:
    yield title("Losses with a finite root, where w tends to an interpolant", o.finite.verdict)
    yield from _said(o.finite)
    if e := o.example:
        yield f"on X = {e.X}, y = {e.y}, from 0:"
        yield f"limit ({', '.join(e.limit)}) of norm {e.norms[0]}"
        yield f"but ({', '.join(e.shorter)}) of norm {e.norms[1]}"


def _margins(o: Optimizer) -> Iterator[str]:
    yield title("Decreasing losses, at every step", o.margins.verdict)
    yield o.margins.reason
    if o.margins.verdict is Verdict.PROVED and o.finite.verdict is Verdict.PROVED:
        objective = o.finite.reason.partition(" s.t. ")[0]
        also = "" if o.update.space == "row(X)" else ", A w = b"
        yield f"so it is {objective} s.t. margins at least its own{also}"


def _tail(o: Optimizer) -> Iterator[str]:
    if not (tail := o.update.tail):
        yield "Exponential tails: no theorem is cited"
        return
    yield f"Exponential tails: cited ({tail['cite']})"
    yield f"the direction tends to the largest margin in {tail['norm']}"
    yield f"given: separable rows; {tail['given']}"


def _said(finding: Finding) -> Iterator[str]:
    yield finding.reason
    for e in finding.evidence:
        yield f"{e.statement}{':' if e.holds else ', but'}"
        if e.holds:
            yield f"  {e.left} = {e.right}"
        else:
            where = ", ".join(f"{n} = {x}" for n, x in e.point)
            yield f"  {e.left} is {e.residual}, not {e.right}, at {where}"


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
        "where": u.where,
        **{name: _finding(getattr(o, name)) for name in ("span", "finite", "margins")},
        "tail": dict(u.tail) | {"status": "cited"} if u.tail else None,
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
