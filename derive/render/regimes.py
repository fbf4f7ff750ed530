"""The regimes of Q told, and as a JSON record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sympy import Symbol

from derive.model.labels import taken_names
from derive.regimes.find import Regimes
from derive.regimes.limit import Limit
from derive.regimes.statements import limit_statements
from derive.render.narration import Narration, Part, part
from derive.statement import Equations, OnPage, note, tell


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
    parts = (heading, setting, start, *limits, warped)
    return Narration(parts, taken_names(d.parameterization, (r.variable,)))


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
        proof = (note("by {why}", why=limit.finding), OnPage(limit.finding.evidence))
        yield part("", proof, kind="proof")
