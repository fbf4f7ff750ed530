"""What optimizers span and minimise, told, and as a versioned JSON record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Symbol

from derive.language import parse_expression
from derive.optimizers.optimizer import Optimizer, Optimizers
from derive.render.narration import Narration, Part, part
from derive.statement import Equations, Open, Sentence, Statement, Table, each, note


def tell_one(o: Optimizer) -> Narration:
    """Return what is said of one optimizer."""
    heads = (
        ("What the iterates span", "span", o.span),
        ("Losses with a finite root", "optimizer limit", o.finite),
        ("Decreasing losses, at every step", "iterates", o.margins),
    )
    found = (
        Part(f"{o.update.id}: {o.update.title}"),
        part("Update, coordinate by coordinate", _update(o)),
        *(part(head, _with_proofs(o.says(kind)), verdict=f.verdict) for head, kind, f in heads),
        part("Exponential tails", o.says("tail")),
    )
    return Narration(found)


def _with_proofs(claims: Sequence[Statement | Open]) -> Iterator[object]:
    for claim in claims:
        yield claim
        yield from claim.proof if isinstance(claim, Statement) else ()


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
    yield note("start: {starts}", starts=each("`{0} = {1}`", starts))
    free = f", `{'`, `'.join(u.signed)}` of any sign," if u.signed else ""
    yield note(f"`g = X^T l'(X w)`, scalars are positive{free} and may change at each step")
    if u.norm:
        yield note(f"`d` is minus the step of steepest descent in `l{u.norm}`; `eta` is small")
    if u.potential:
        yield note("`z = psi'(w)`, `psi = {psi}`", psi=parse_expression(u.potential))
    if u.where:
        yield note(u.where)
