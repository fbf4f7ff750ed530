"""A derivation for every n told: what holds in generic entries, with sums as symbols."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sympy import Symbol

from derive.entrywise import EntrywiseDerivation
from derive.language import to_text
from derive.outcome import HEADLINES
from derive.render.narration import Narration, Part
from derive.statement import Equations, Statement, Text, each, note, tell
from derive.verdict import Finding, Identity, Verdict

NAMED = {"1": "i", "2": "j", "3": "k"}
"""The three outputs that stand for all."""


def tell_entrywise(d: EntrywiseDerivation) -> Narration:
    """Return what is said of a map of open size."""
    parts = (
        Part(tell(_headline(d), n=Text(d.parameterization.size))),
        Part("Parameterization `beta = F(w)`, for every `n`", _map(d)),
        Part(*_laws(d)),
        Part("Tangent kernel `K = J J^T`, for `i != j`", (Equations(d.kernel),)),
        Part("Hessian map (`d_k rho_ij = d_i rho_kj`)?", _hessian(d), verdict=d.hessian.verdict),
        Part("Warp `g` with `g rho` a Hessian map?", _warp(d), verdict=d.verdict),
        Part("Implicit regularizer `Q`", _regularizer(d), verdict=d.verdict),
        Part("Proved in generic entries, with sums as symbols", _evidence(d), kind="proof"),
    )
    return Narration(parts, d.parameterization.taken)


def _headline(d: EntrywiseDerivation) -> str:
    head, every = HEADLINES[d.verdict], f", for every `{{n}} >= {d.size}`"
    if d.verdict is Verdict.UNDECIDED:
        return f"{head}."
    if d.verdict is Verdict.REFUTED:
        return f"{head}{every}, from almost every start."
    warped = "" if d.hessian.verdict is Verdict.PROVED else ", in a warped time"
    return f"{head}{warped}{every}; `Q` is below."


def _map(d: EntrywiseDerivation) -> Iterator[object]:
    p = d.parameterization
    at = d.notation
    yield Equations(((at.shown(at.beta), at.shown(at.F)),))
    most = f"`{p.entry('1')}, ..., {p.entry(p.size)}`"
    yield note(f"`i = 1, ..., {d.outputs}`, and sums are over {most}")
    for name, rate in p.rates:
        yield note("the learning rate of `{w}` is `{r}`", w=Text(name), r=Text(to_text(rate)))
    if d.left_out:
        yield note("the sum of all outputs is constant: `{b}` is left out", b=at.shown(at.last))
    free = each("`{0}`", ((Symbol(x),) for x in (p.indexed, *p.scalars)))
    yield note("the start of {free} is free", free=free)


def _laws(d: EntrywiseDerivation) -> tuple[str, tuple[object, ...]]:
    if d.potential is None:
        return "", ()
    if not d.conserved.laws:
        return "Conserved quantities: none, the flow reaches every direction", ()
    rows = Equations(tuple(("c_1", law) for law in d.conserved.laws))
    words = "the flow keeps the functions below"
    by = d.finding
    return "Conserved quantities (all of them)", (
        Statement(words, kind="conserved", by=by, below=(rows,)),
    )


def _hessian(d: EntrywiseDerivation) -> Iterator[object]:
    if d.verdict is Verdict.PROVED:
        yield from _finding(d.hessian.finding)


def _warp(d: EntrywiseDerivation) -> Iterator[object]:
    yield from _finding(d.finding)
    if d.y is not None:
        yield Equations((("g", d.warping.g), ("y_i", d.y)))


def _finding(finding: Finding) -> Iterator[object]:
    yield finding
    yield from (_lettered(e) for e in finding.evidence if not e.holds)


def _lettered(identity: Identity) -> Identity:
    """Return an identity of outputs 1, 2, 3 as one of i, j, k."""

    def letters(m: re.Match[str]) -> str:
        return f"{m[1]}_" + "".join(NAMED[x] for x in m[2])

    return replace(identity, claim=re.sub(r"\b([FKHX])([123]+)\b", letters, identity.claim))


def _regularizer(d: EntrywiseDerivation) -> Iterator[object]:
    found = d.potential
    if found is None:
        return
    at = d.notation
    yield Equations(found.written)
    if found.follows:
        follows = each("`{0}`", ((at.shown(x),) for x in found.follows))
        yield note("where {these} are those of the flow", these=follows)
    words = "`{y0}` is `y_i` at the start; up to a positive factor and a constant"
    yield note(words, y0=at.shown(at.y0))
    asked = (*d.conditions, tell("`g > 0` along the flow"))
    yield note("assuming {all}", all=each("{0}", ((x,) for x in asked), "; "))
    words = (
        "its limit meets the KKT conditions of `min Q` subject to `X beta = y`, for every `n >= 2`"
    )
    given = ("gradient flow on `|X F(w) - y|^2` converges with `X beta = y`",)
    yield Statement(words, kind="minimiser", conditions=given)


def _evidence(d: EntrywiseDerivation) -> Iterator[object]:
    """Yield what the dual coordinates are made of, and what was expanded, divided by E."""
    if d.argument:
        words = "`dy_i = E (dh(v_i) + k(v_i) dtau)` with `dE = mu E dtau` and, in `{v}`,"
        yield note(words, v=Text(d.parameterization.indexed))
        yield Equations(d.argument)
    yield from (
        x for e in d.finding.evidence if e.holds for x in (Finding(d.verdict, e.statement), e)
    )
