"""Text, LaTeX and JSON of an inverse design: what is said of a term depends on what was found."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from sympy import Expr, Integral

from derive.inverse.design import (
    Coordinate,
    IntegralOnly,
    InverseDesign,
    OneWeight,
    Parameterized,
    WeightPair,
)
from derive.language import to_text
from derive.render.labels import marked, said
from derive.render.plain import page, shown, title
from derive.render.written_json import Record, brief_finding, json_text
from derive.verdict import Verdict

UNIT = "the constant only changes the unit of Q"
FREE = "; the weight is free up to sign and shift"

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


def render_text(design: InverseDesign, width: int = 80) -> str:
    """Return the design as plain text."""
    head = {
        Verdict.PROVED: "Yes: gradient flow on F below has the implicit regularizer Q.",
        Verdict.REFUTED: "No: a mirror potential of gradient flow is strictly convex.",
        Verdict.UNDECIDED: "Undecided: no closed form of F was found and proved.",
    }[design.verdict]
    return page([[head], *map(_section, design.coordinates)], width, taken_by(design))


def taken_by(design: InverseDesign) -> frozenset[str]:
    """Return the names in Q; beta and w are those of these pages."""
    terms = (c.term for c in design.coordinates)
    own = ("beta", "w")
    return frozenset(
        name for t in terms for name in (*t.parameters, t.variable) if not name.startswith(own)
    )


def _section(c: Coordinate) -> Iterator[str]:
    yield title("Parameterization", c.finding.verdict)
    yield f"Q = {marked(to_text(c.term.tree))}"
    if c.second is not None:
        yield f"Q'' = {shown(c.second)}"
    yield from _lines(c)


@singledispatch
def _lines(c: Coordinate) -> Iterator[str]:
    yield said(c.finding.reason)


@_lines.register
def _(c: IntegralOnly) -> Iterator[str]:
    yield said(c.finding.reason)
    yield f"w = {_written(c.w_of_beta)}"


@_lines.register
def _(c: OneWeight) -> Iterator[str]:
    b, w, b_0 = marked(c.term.variable), marked(c.weights[0]), c.start.beta_0
    yield f"{b} = {marked(to_text(c.output))}"
    yield f"{w} = {shown(c.w_of_beta)}"
    if b_0 is None:
        start = f"any {w}_0 with its image in that range, {b}_0 = F({w}_0)"
    else:
        start = f"{w}_0 with F({w}_0) = {marked(to_text(b_0))}"
    yield from _proved(c, start, FREE)


@_lines.register
def _(c: WeightPair) -> Iterator[str]:
    p, m = c.weights
    b = marked(c.term.variable)
    yield f"{b} = {marked(to_text(c.output))}"
    start = f"any {p}, {m} > 0 with the value of {p}*{m} below, {b}_0 = F"
    yield from _proved(c, start, "")


def _proved(c: Parameterized, free_start: str, freedom: str) -> Iterator[str]:
    """Yield what is said below F, for a start that is not known in the weights as it is given."""
    b = marked(c.term.variable)
    where = "where Q'' > 0" if c.smooth else "as far as Q is smooth, where Q'' > 0"
    yield f"for {shown(c.interval[0])} < {b} < {shown(c.interval[1])}, {where}"
    start = free_start
    if c.start.weights is not None and c.start.beta_0 is not None:
        values = [marked(f"{w} = {to_text(t)}") for w, t in c.start.weights]
        start = ", ".join([*values, f"{b}_0 = {marked(to_text(c.start.beta_0))}"])
    yield f"start: {start}"
    if c.assumed:
        yield f"assuming {marked(', '.join(c.assumed))}"
    if c.start.at_minimum:
        yield f"minimises: Q itself, as Q'({b}_0) = 0"
    else:
        yield f"minimises: Q - Q'({b}_0)*{b}, the Bregman divergence of Q from the start"
    yield "proof:"
    yield from (f"  {said(e.statement)}" for e in c.finding.evidence)
    yield UNIT + freedom
    yield f"forward run: {said(c.forward.reason)}"


def _written(expression: Expr) -> str:
    if isinstance(expression, Integral):
        return f"Integral({shown(expression.function)}, {expression.variables[0]})"
    return shown(expression)


def render_json(design: InverseDesign) -> str:
    """Return the record as JSON text; expressions are strings."""
    coordinates = [_record(c) for c in design.coordinates]
    return json_text("inverse", {"verdict": design.verdict, "coordinates": coordinates})


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
    return {"w_of_beta": _written(c.w_of_beta)}


@_fields.register
def _(c: Parameterized) -> Record:
    start, derivation = c.start, c.forward.derivation
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
        "forward": {
            "ran": derivation is not None,
            "verdict": None if derivation is None else derivation.verdict,
            "reason": c.forward.reason,
        },
    }


@_fields.register
def _(c: OneWeight) -> Record:
    return {**_fields.dispatch(Parameterized)(c), "w_of_beta": c.w_of_beta}
