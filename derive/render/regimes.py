"""The regimes of Q told, and as a JSON record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from sympy import Symbol

from derive.model.labels import taken_names
from derive.regimes.find import Regimes
from derive.regimes.limit import Limit
from derive.regimes.statements import limit_statements
from derive.render.json import render_json as derivation_json
from derive.render.narration import Narration, Part, part, statement_records
from derive.render.written_json import Record, brief_finding, json_text
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


def render_json(regimes: Regimes, seconds: float) -> str:
    """Return the record with its certificate as JSON text; expressions are strings.

    It has the record of the derivation, whose certificate may take some seconds.
    """
    p, h, warped = regimes.derivation.parameterization, regimes.homogeneity, regimes.warped
    derivation: Record | None = None
    if not regimes.vector:
        derivation = json.loads(derivation_json(regimes.derivation, seconds))
    record: Record = {
        "verdict": regimes.verdict,
        "derivation": derivation,
        "outputs": p.trees,
        "start": dict(p.start),
        "variable": regimes.variable,
        "vector": regimes.vector or None,
        "kernel_at_start": regimes.kernel.matrix,
        "beta_0": regimes.kernel.beta_0,
        "unbiased": regimes.kernel.unbiased,
        "assumptions": [*map(str, regimes.assumptions)],
        "homogeneity": h and {"degree": h.degree, "time_exponent": h.time},
        "decided_by_kernel_at_start": regimes.deciding and brief_finding(regimes.deciding),
        "limits": [limit_record(limit) for limit in regimes.limits],
        "warped_time": None,
    }
    if warped is not None:
        g = regimes.derivation.warping.g
        record["warped_time"] = {
            "g": "not written" if g is None else g,
            "positive": brief_finding(warped.positive),
            "onto": brief_finding(warped.onto),
            "bounded": brief_finding(warped.bounded),
        }
    more: Record = {"statements": statement_records(regimes), "certificate": None}
    return json_text("regimes", record | more)


def limit_record(limit: Limit) -> Record:
    """Return a limit as it is written in JSON."""
    form, signs = limit.potential, {Symbol(x.name, positive=True): -x for x in limit.coordinates}
    below = [None if g is None else g.xreplace(signs) for g in limit.below]
    pairs = zip(below, form.gradient if form else (), strict=False)
    return {
        "limit": limit.point.text,
        "given": limit.point.conditions,
        "regime": limit.regime,
        "Q": form and form.Q,
        "gradient": form and form.gradient,
        "gradient_below_0": below
        if any(g is not None and str(g) != str(up) for g, up in pairs)
        else None,
        "shape": form and form.shape,
        "degree": form and form.degree,
        "curve": form and form.curve,
        "coordinates": limit.coordinates,
        "origin": limit.origin,
        "basis": limit.basis,
        "steep": [
            {"coordinate": x, "side": side, "slope": slope} for x, side, slope in limit.steep
        ],
        "reached_above_0_only": [
            x for x, g in zip(limit.coordinates, limit.below, strict=False) if g is None
        ],
        "unit": limit.unit,
        "relative_error": limit.error,
        "error_is_sharp": limit.sharp,
        **brief_finding(limit.finding),
    }
