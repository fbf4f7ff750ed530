"""The regimes of Q told, and as a JSON record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import eq

from sympy import Symbol

from derive.limits.find import Regimes
from derive.limits.limit import Limit
from derive.limits.statements import limit_statements
from derive.model.labels import taken_names
from derive.render.narration import Narration, Part, part
from derive.render.sections import norms_of
from derive.statement import Equations, OnPage, each, note, tell


def tell_regimes(r: Regimes) -> Narration:
    """Return what is said of the regimes of a derivation."""
    d = r.derivation
    setting = Part("Parameterization `beta = F(w)`", (d,))
    heading = Part(tell("Regimes of `Q` in `{x}`", x=Symbol(r.variable)))
    limits = (p for limit in r.limits for p in limit_parts(limit, d.beta))
    clock = r.says("clock runs", "clock is onto", "clock is bounded")
    g = () if not clock or d.warping.g is None else (Equations((("g", d.warping.g),)),)
    warped = part("Warped time `tau(t) = int_0^t g ds`", (*g, *clock))
    kinds = ("start kernel", "homogeneous", "time scale", "kernel decides")
    start = part("Start", (*_plane(r), *r.says(*kinds)))
    given = Part("The regularizer", (OnPage(d.says("regularizer")),), kind="theorem")
    parts = (heading, setting, start, given, *limits, warped)
    taken = taken_names(d.parameterization, (r.variable,))
    return Narration(parts, taken, norms_of(d.direction))


def _plane(r: Regimes) -> Iterator[object]:
    """Yield what the coordinates are, of a vector of open dimension."""
    if r.vector:
        x, y = r.derivation.beta
        along = "`{along}` is the component of `beta` along `{u}` at the start"
        rest = "`{rest}` the length of the rest, in every dimension"
        yield note(f"{along}, {rest}", u=Symbol(r.vector), along=x, rest=y)


def limit_parts(limit: Limit, betas: Sequence[Symbol]) -> Iterator[Part]:
    """Yield where a limit is taken and what it is, and what proves that."""
    heading = tell("Limit `{at}`", at=limit.point)
    yield part(heading, limit_statements(limit, betas), verdict=limit.finding.verdict)
    if limit.potential is not None and limit.unit is not None:
        expansion = OnPage((*limit.finding.evidence, *_slopes(limit)))
        yield part("", (note("{why}", why=limit.finding), expansion), kind="proof")


def _slopes(limit: Limit) -> Iterator[object]:
    """Yield what the slopes of Q/N tend to on each side, whose integral is its limit."""
    if limit.potential is None or limit.potential.Q is None or limit.potential.curve is not None:
        return
    above, below = limit.potential.gradient, limit.slopes_below
    alike = all(map(eq, map(str, above), map(str, below))) and len(above) == len(below)
    for sign, slopes in (("", above),) if alike else ((" > 0", above), (" < 0", below)):
        pairs = zip(limit.coordinates, slopes, strict=False)
        rows = tuple((tell("`(dQ/d{x})/N`", x=x), g) for x, g in pairs if g is not None)
        if rows:
            yield note("for fixed {at} one has", at=each(f"`{{0}}{sign}`", zip(limit.coordinates)))
            yield Equations(rows, "->")
    yield note("so `Q/N` tends to the integral of this")
