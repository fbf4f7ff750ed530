"""An inverse design told, and as a JSON record: by what was found of each term."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from sympy import Symbol

from derive.inverse.design import (
    Coordinate,
    IntegralOnly,
    InverseDesign,
    OneWeight,
    Parameterized,
    WeightPair,
)
from derive.render.narration import Narration, Part, part
from derive.render.plain import plain
from derive.render.written_json import Record, brief_finding, json_text
from derive.statement import Equations, OnPage, OnTerminal, Text, each, tell
from derive.verdict import Verdict

UNIT = "the constant only changes the unit of `Q`"
FREE = "; the weight is free up to sign and shift"
HEADS = {
    Verdict.PROVED: "Yes: gradient flow on F below has the implicit regularizer Q.",
    Verdict.REFUTED: "No: a mirror potential of gradient flow is strictly convex.",
    Verdict.UNDECIDED: "Undecided: no closed form of F was found and proved.",
}
CLAIM = (
    "for copies `{b}_i = F(w_i)` with weights of their own, a limit of gradient flow on"
    " `|X {b} - y|^2/2` with `X {b} = y` is the minimiser"
)
FLOW = "along `w' = lambda grad F` one has `beta' = |grad F|^2 lambda`, so `Q'(beta)` has the time"
DATA = "with `lambda = X^T (y - X beta)` for all copies, `Q'(beta) - Q'(beta(0))` stays in the row"

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
    yield part("Parameterization", (*given, *_lines(c)), verdict=verdict)
    if isinstance(c, Parameterized):
        yield part("", _proof(c), kind="proof")


@singledispatch
def _lines(c: Coordinate) -> Iterator[object]:
    yield c.finding


@_lines.register
def _(c: IntegralOnly) -> Iterator[object]:
    yield c.finding
    yield Equations((("w", c.w_of_beta),))


@_lines.register
def _(c: OneWeight) -> Iterator[object]:
    b, w, b_0 = Symbol(c.term.variable), Symbol(c.weights[0]), c.start.beta_0
    yield from (OnPage(("then",)), Equations(((b, c.output), (w, c.w_of_beta))))
    if b_0 is None:
        image = "any `{w}(0)` with its image in that range, `{b}(0) = F({w}(0))`"
        start = tell(image, w=w, b=b)
    else:
        start = tell("`{w}(0)` with `F({w}(0)) = {x}`", w=w, x=b_0)
    yield from _proved(c, start)


@_lines.register
def _(c: WeightPair) -> Iterator[object]:
    p, m = map(Symbol, c.weights)
    yield from (OnPage(("then",)), Equations(((Symbol(c.term.variable), c.output),)))
    yield from _proved(c, tell("any `{p}, {m} > 0` with the value of `{p} {m}` below", p=p, m=m))


def _proved(c: Parameterized, free_start: object) -> Iterator[object]:
    """Yield what is said below F, for a start that is not known in the weights as it is given."""
    b, (low, high) = Symbol(c.term.variable), c.interval
    start = free_start
    if c.start.weights is not None and c.start.beta_0 is not None:
        values = ((Symbol(w), tree) for w, tree in c.start.weights)
        known = each("`{0} = {1}`", values)
        start = tell("{known}, `{b}(0) = {x}`", known=known, b=b, x=c.start.beta_0)
    where = "where `Q'' > 0`" if c.smooth else "as far as `Q` is smooth, where `Q'' > 0`"
    valid = tell(f"for `{{low}} < {{b}} < {{high}}`, {where}", low=low, b=b, high=high)
    has = "has the implicit regularizer `Q` {valid}, from {start}"
    yield OnPage((tell(has, valid=valid, start=start),))
    yield OnTerminal((valid, tell("start: {start}", start=start)))
    if c.assumed:
        yield tell("assuming {given}", given=list(map(Text, c.assumed)))
    if c.start.at_minimum:
        least = tell("minimises: `Q` itself, as `Q'({b}(0)) = 0`", b=b)
    else:
        divergence = "the Bregman divergence of `Q` from the start"
        least = tell(f"minimises: `Q - Q'({{b}}(0)) {{b}}`, {divergence}", b=b)
    if c.term.variable.isalpha():
        yield OnPage((tell(CLAIM, b=b), _problem(c)))
        yield OnTerminal((least,))
    else:
        yield least


def _problem(c: Parameterized) -> Equations:
    """Return what a limit minimises over all coordinates."""
    b = tell("`{b}_i`", b=Symbol(c.term.variable))
    rest = "" if c.start.at_minimum else " - Q'({b}(0)) {b}"
    size = "sum_i Q({b})" if not rest else f"sum_i (Q({{b}}){rest})"
    variable = Symbol(c.term.variable)
    goal = tell(f"argmin {size} subject to X {{all}} = y", b=b, all=variable)
    return Equations(((variable, goal),))


def _proof(c: Parameterized) -> Iterator[object]:
    known = dict(zip("wm", map(Symbol, c.weights), strict=False)) | {"c": c.scale}
    if isinstance(c, WeightPair):
        kept = "by expansion `<grad({w} {m}), grad F> = 0`, so `{w} {m} = {x}` is kept"
        norm = "there `<grad F, grad F> Q''(F) = {c}`"
        yield tell(f"{kept}; {norm}", x=c.product, **known)
    else:
        yield tell("by expansion `F'({w})^2 Q''(F({w})) = {c}`", **known)
    rest = c.finding.evidence[1 + isinstance(c, WeightPair) :]
    yield from (tell("{e}", e=e) for e in rest)
    stays = "space of `X`: these are the KKT conditions of the problem, as `Q` is convex"
    yield OnPage(
        (tell(f"{FLOW} derivative `{{slope}}`; {DATA} {stays}", slope=c.scale * Symbol("lambda")),)
    )
    yield UNIT + FREE * isinstance(c, OneWeight)
    yield OnTerminal((tell("forward run: {why}", why=Text(c.forward.reason, "reason")),))


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
    return {"w_of_beta": plain(c.w_of_beta)}


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
