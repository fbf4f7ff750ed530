"""Text, LaTeX and JSON of the regimes of Q."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

import sympy
from sympy import Expr, Symbol

from derive.certificate.writing.limits import certify_limits
from derive.language import to_text
from derive.model.labels import taken_names
from derive.regimes.find import Regimes
from derive.regimes.limit import Limit, LimitingPotential
from derive.render.json import render_json as derivation_json
from derive.render.labels import marked, noted, said
from derive.render.page.printer import latex
from derive.render.phrases import flow_lines
from derive.render.plain import constant_lines, page, plain, shown, title
from derive.render.written_json import Record, brief_finding, json_text
from derive.verdict import Verdict

MEANING = {
    "kernel": "the squared norm of the tangent kernel at the start",
    "rich": "an l1 norm",
    "anti-NTK": "an increasing function of the l2 norm, the same minimizer",
    "intermediate": "neither the kernel norm nor l1 nor l2",
    "unknown": "not decided",
}


def render_text(regimes: Regimes, width: int = 80) -> str:
    """Return the regimes as plain text."""
    limits = (limit_lines(limit, regimes.derivation.beta) for limit in regimes.limits)
    heading = [f"Regimes of Q in {marked(regimes.variable)}"]
    d = regimes.derivation
    taken = taken_names(d.parameterization, (regimes.variable,))
    return page([heading, _start(regimes), *limits, _warped(regimes)], width, taken)


def _warped(r: Regimes) -> Iterator[str]:
    if r.warped is not None:
        yield from ("Warped time tau(t) = int_0^t g ds", f"g = {_warp(r)}")
        for finding in r.warped.findings:
            proved = finding.verdict is Verdict.PROVED
            reason = said(finding.reason)
            yield f"proved: {reason}" if proved else reason


def _warp(r: Regimes) -> str:
    g = r.derivation.warping.g
    return "not written" if g is None else shown(g)


def _start(r: Regimes) -> Iterator[str]:
    yield "Start"
    if r.vector:
        along, rest = r.derivation.beta
        yield f"{along} is the component of beta along {marked(r.vector)} at the start, {rest} the"
        yield "length of the rest, in every dimension"
    matrix, labels = r.kernel.matrix, r.derivation.potential.parameterization.labels
    for (i, a), (j, b) in combinations_with_replacement(enumerate(labels), 2):
        index = f"{a}{b}" if len(labels) > 1 else ""
        yield f"K{index}(w_0) = {shown(matrix[i, j])}"
    yield "K = J J^T is the tangent kernel on predictors"
    yield from flow_lines(r.derivation.parameterization)
    if r.derivation.kernel_factor is not None:
        factor = marked(to_text(r.derivation.kernel_factor))
        yield f"of F in the weights left, {factor} times that in all weights"
    for b, b0 in zip(r.derivation.beta, r.kernel.beta_0, strict=True):
        yield f"{b}_0 = {shown(b0)}"
    for piece in r.derivation.potential.pieces:
        if piece.domain is not None:
            yield noted(f"Q lives on {piece.domain.where}")
    if r.homogeneity is not None:
        D = shown(r.homogeneity.degree)
        yield f"F(c w) = c^D F(w) with D = {D}, by Euler's identity"
        time = shown(r.homogeneity.time)
        yield f"from c w_0 gradient flow is c^({time}) times as fast near its start"
    if r.deciding is not None:
        yield f"{said(r.deciding.reason)}: it decides every joint limit"
    if r.assumptions:
        yield f"assuming {marked('; '.join(r.assumptions))}"


def limit_lines(limit: Limit, betas: Sequence[Symbol]) -> Iterator[str]:
    """Yield where a limit is taken and what it is, line by line."""
    yield title(f"Limit {marked(limit.point.text)}", limit.finding.verdict)
    if limit.potential is None or limit.unit is None:
        yield said(limit.finding.reason)
        return
    yield f"{limit.regime} regime: {MEANING[limit.regime]}"
    yield from (f"{left} -> {shown(right)}" for left, _, right in tending(limit, limit.potential))
    yield f"N = {shown(limit.unit)}"
    yield from constant_lines(in_basis(limit, betas))
    for x, b, b0 in zip(limit.coordinates, betas, moved(limit), strict=False):
        yield f"{x} = {_less(b, b0)}"
    yield from _beyond(limit)
    if limit.error == 0:
        yield f"relative error: smaller than every power of {marked(limit.point.variable)}"
    elif limit.error is not None:
        order = "of order" if limit.sharp else "at most of order"
        yield f"relative error: {order} {shown(limit.error)}"
    yield f"by {said(limit.finding.reason)}"


def tending(limit: Limit, form: LimitingPotential) -> Iterator[tuple[str, str, Expr]]:
    """Yield what has a limit (Q/N or its slopes, beta), as text and as LaTeX, and the limit."""
    if form.Q is not None:
        yield "Q/N", "Q/N", form.Q
    else:
        for x, g in zip(limit.coordinates, form.gradient, strict=True):
            slope = rf"\frac{{1}}{{N}} \frac{{\partial Q}}{{\partial {latex(x)}}}"
            yield f"dQ/d{x}/N", slope, g
    if form.curve is not None:
        yield str(limit.coordinates[0]), latex(limit.coordinates[0]), form.curve


def in_basis(limit: Limit, betas: Sequence[Symbol]) -> Iterator[tuple[Symbol, Expr]]:
    """Yield the coordinates of another basis than that of beta."""
    if limit.basis is not None:
        places = [b - c for b, c in zip(betas, limit.origin or (0,) * len(betas), strict=True)]
        yield from zip(limit.coordinates, limit.basis.inv() * sympy.Matrix(places), strict=True)


def _less(b: Symbol, b0: Expr) -> str:
    """Write b - b0."""
    if b0 == 0:
        return str(b)
    if b0.is_Add:
        return f"{b} - ({shown(b0)})"
    return f"{b} + {shown(-b0)}" if b0.could_extract_minus_sign() else f"{b} - {shown(b0)}"


def _beyond(limit: Limit) -> Iterator[str]:
    """Say on which side of 0 alone Q/N has a finite limit, and what is on the other one."""
    steep = {x: (side, slope) for x, side, slope in limit.steep}
    for x, down in zip(limit.coordinates, limit.below, strict=False):
        if x in steep:
            relation = ">" if steep[x][0] > 0 else "<"
            yield f"for {x} {relation} 0, Q/N -> infinity: dQ/d{x} ~ {shown(steep[x][1])}"
        elif down is None:
            yield f"only {x} > 0 is reached"


def moved(limit: Limit) -> tuple[Expr, ...]:
    """Return the origin of the coordinates, where that is not 0 and the basis is that of beta."""
    origin = limit.origin if limit.basis is None else None
    return origin if origin is not None and any(b != 0 for b in origin) else ()


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
        "assumptions": regimes.assumptions,
        "homogeneity": h and {"degree": h.degree, "time_exponent": h.time},
        "decided_by_kernel_at_start": regimes.deciding and brief_finding(regimes.deciding),
        "limits": [limit_record(limit) for limit in regimes.limits],
        "warped_time": None,
    }
    if warped is not None:
        record["warped_time"] = {
            "g": _warp(regimes),
            "positive": brief_finding(warped.positive),
            "onto": brief_finding(warped.onto),
            "bounded": brief_finding(warped.bounded),
        }
    rates = [None if r is None else plain(r) for r in (x.point.rate for x in regimes.limits)]
    whole = certify_limits(json.loads(json_text("regimes", record)), rates, seconds)
    return json_text("regimes", whole)


def limit_record(limit: Limit) -> Record:
    """Return a limit as it is written in JSON."""
    form = limit.potential
    return {
        "limit": limit.point.text,
        "given": limit.point.conditions,
        "regime": limit.regime,
        "Q": form and form.Q,
        "gradient": form and form.gradient,
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
