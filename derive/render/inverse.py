"""An inverse design told, and as a JSON record: by what was found of each term."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from derive.inverse.design import (
    Coordinate,
    IntegralOnly,
    InverseDesign,
    OneWeight,
    Parameterized,
    claims,
)
from derive.render.narration import Narration, Part, part, statement_records
from derive.render.plain import plain
from derive.render.written_json import Record, brief_finding, json_text
from derive.statement import Equations, OnPage, Statement
from derive.verdict import Verdict

HEADS = {
    Verdict.PROVED: "Yes: gradient flow on F below has the implicit regularizer Q.",
    Verdict.REFUTED: "No: a mirror potential of gradient flow is strictly convex.",
    Verdict.UNDECIDED: "Undecided: no closed form of F was found and proved.",
}

NO_F: Record = {
    "output": None,
    "weights": [],
    "w_of_beta": None,
    "interval": None,
    "smooth_in_the_interval": True,
    "scale": None,
    "beta_0": None,
    "minimises_Q_itself": False,
    "start": None,
    "assumed": [],
    "evidence": [],
    "forward": {"ran": False, "verdict": None, "reason": ""},
}
"""What the JSON record says of a term without F."""


def tell_design(design: InverseDesign) -> Narration:
    """Return what is said of a design; beta and w are the letters of these pages."""
    terms = (c.term for c in design.coordinates)
    own = ("beta", "w")
    names = (n for t in terms for n in (*t.parameters, t.variable) if not n.startswith(own))
    parts = (p for c in design.coordinates for p in _parts(c))
    return Narration((Part(HEADS[design.verdict]), *parts), frozenset(names))


def _parts(c: Coordinate) -> Iterator[Part]:
    verdict = c.finding.verdict
    second = () if c.second is None else (("Q''", c.second),)
    given = OnPage(("let",)), Equations((("Q", c.term.tree), *second))
    found = [*claims(c)]
    yield part("Parameterization", (*given, *found), verdict=verdict)
    for claim in found:
        if isinstance(claim, Statement) and claim.proof:
            yield part("", claim.proof, kind="proof")


def render_json(design: InverseDesign) -> str:
    """Return the record as JSON text; expressions are strings."""
    coordinates = [_record(c) for c in design.coordinates]
    found = statement_records(design)
    record: Record = {"verdict": design.verdict, "coordinates": coordinates, "statements": found}
    return json_text("inverse", record)


def _record(c: Coordinate) -> Record:
    return {
        "verdict": c.finding.verdict,
        "reason": c.finding.reason,
        "Q": c.term.tree,
        "coordinate": c.term.variable,
        "second_derivative": c.second,
        "kernel": c.kernel,
        **NO_F,
        **_fields(c),
    }


@singledispatch
def _fields(c: Coordinate) -> Record:
    return {}


@_fields.register
def _(c: IntegralOnly) -> Record:
    return {"w_of_beta": plain(c.w_of_beta)}


@_fields.register
def _(c: Parameterized) -> Record:
    start = c.start
    return {
        "output": c.output,
        "weights": c.weights,
        "interval": c.interval,
        "smooth_in_the_interval": c.smooth,
        "scale": c.scale,
        "beta_0": start.beta_0,
        "minimises_Q_itself": start.at_minimum,
        "start": None if start.weights is None else dict(start.weights),
        "assumed": c.assumed,
        "evidence": brief_finding(c.finding)["evidence"],
    }


@_fields.register
def _(c: OneWeight) -> Record:
    return {**_fields.dispatch(Parameterized)(c), "w_of_beta": c.w_of_beta}
