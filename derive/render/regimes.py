"""The regimes of Q told, and as a JSON record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

import sympy
from sympy import Expr, Symbol

from derive.certificate.writing.limits import certify_limits
from derive.model.labels import pair, taken_names
from derive.regimes.find import Regimes
from derive.regimes.kernel_regime import Homogeneity
from derive.regimes.limit import Limit, LimitingPotential
from derive.render.arranged import tidy
from derive.render.json import render_json as derivation_json
from derive.render.narration import Narration, Part, part
from derive.render.plain import plain
from derive.render.written_json import Record, brief_finding, json_text
from derive.statement import Equations, OnPage, Text, tell
from derive.verdict import Verdict

MEANING = {
    "kernel": "the squared norm of the tangent kernel at the start",
    "rich": "an `l1` norm",
    "anti-NTK": "an increasing function of the `l2` norm, the same minimizer",
    "intermediate": "neither the kernel norm nor `l1` nor `l2`",
    "unknown": "not decided",
}


def tell_regimes(r: Regimes) -> Narration:
    """Return what is said of the regimes of a derivation."""
    d = r.derivation
    setting = Part("Parameterization `beta = F(w)`", (d,))
    heading = Part(tell("Regimes of `Q` in `{x}`", x=Symbol(r.variable)))
    limits = (p for limit in r.limits for p in limit_parts(limit, d.beta))
    warped = part("Warped time `tau(t) = int_0^t g ds`", _warped(r))
    parts = (heading, setting, part("Start", _start(r)), *limits, warped)
    return Narration(parts, taken_names(d.parameterization, (r.variable,)))


def _warped(r: Regimes) -> Iterator[object]:
    if r.warped is not None:
        yield "`g` is not written" if (g := r.derivation.warping.g) is None else _equal("g", g)
        for finding in r.warped.findings:
            proved = finding.verdict is Verdict.PROVED
            yield tell("proved: {why}", why=finding) if proved else finding


def _equal(left: object, right: object) -> Equations:
    return Equations(((left, right),))


def _start(r: Regimes) -> Iterator[object]:
    if r.vector:
        x, y = r.derivation.beta
        along = "`{along}` is the component of `beta` along `{u}` at the start"
        rest = "`{rest}` the length of the rest, in every dimension"
        yield tell(f"{along}, {rest}", u=Symbol(r.vector), along=x, rest=y)
    labels = r.derivation.potential.parameterization.labels
    entries = combinations_with_replacement(enumerate(labels), 2)
    names = ((pair(a, b) * (len(labels) > 1), r.kernel.matrix[i, j]) for (i, a), (j, b) in entries)
    values = zip(r.derivation.beta, r.kernel.beta_0, strict=True)
    starts = ((tell("`{b}(0)`", b=b), value) for b, value in values)
    yield Equations((*((f"K{index}(w_0)", value) for index, value in names), *starts))
    yield "`K = J J^T` is the tangent kernel on predictors"
    for piece in r.derivation.potential.pieces:
        if piece.domain is not None:
            yield tell("`Q` lives on {where}", where=Text(piece.domain.where, "note"))
    yield from () if r.homogeneity is None else _homogeneity(r.homogeneity)
    if r.deciding is not None:
        yield tell("{why}: it decides every joint limit", why=r.deciding)
    if r.assumptions:
        yield tell("assuming {given}", given=list(map(Text, r.assumptions)))
        used = {*re.findall(r"\w+", " ".join(r.assumptions))}
        named = (c for piece in r.derivation.potential.pieces for c in piece.constants)
        yield Equations(tuple((symbol, value) for symbol, value in named if symbol.name in used))


def _homogeneity(found: Homogeneity) -> Iterator[object]:
    yield tell("`F(c w) = c^D F(w)` with `D = {D}`, by Euler's identity", D=found.degree)
    if found.time != 0:
        power = "c^{e}" if found.time.is_Atom else "c^({e})"
        faster = f"from `c w_0` gradient flow is `{power}` times as fast near its start"
        yield tell(faster, e=found.time)


def limit_parts(limit: Limit, betas: Sequence[Symbol]) -> Iterator[Part]:
    """Yield where a limit is taken and what it is, and what proves that."""
    heading = tell("Limit `{at}`", at=limit.point)
    yield part(heading, _limit(limit, betas), verdict=limit.finding.verdict)
    if limit.potential is not None and limit.unit is not None:
        proof = (tell("by {why}", why=limit.finding), OnPage(limit.finding.evidence))
        yield part("", proof, kind="proof")


def _limit(limit: Limit, betas: Sequence[Symbol]) -> Iterator[object]:
    if limit.potential is None or limit.unit is None:
        yield limit.finding
        return
    yield f"{limit.regime} regime: {MEANING[limit.regime]}"
    yield Equations(tuple(_tending(limit, limit.potential)), "->")
    yield OnPage(("with",))
    moved = zip(limit.coordinates, betas, _moved(limit), strict=False)
    places = ((x, _less(b, b0)) for x, b, b0 in moved)
    yield Equations((("N", limit.unit), *_in_basis(limit, betas), *places))
    yield from _beyond(limit)
    if limit.error == 0:
        small = "relative error: smaller than every power of `{x}`"
        yield tell(small, x=Symbol(limit.point.variable))
    elif limit.error is not None:
        order = "of order" if limit.sharp else "at most of order"
        yield tell(f"relative error: {order} `{{error}}`", error=limit.error)


def _tending(limit: Limit, form: LimitingPotential) -> Iterator[tuple[object, Expr]]:
    """Yield what has a limit, Q/N or its slopes, and beta, with the limit."""
    if form.Q is not None:
        yield "Q/N", form.Q
    else:
        for x, g in zip(limit.coordinates, form.gradient, strict=True):
            yield tell("`dQ/d{x}/N`", x=x), _with_asinh(g)
    if form.curve is not None:
        yield limit.coordinates[0], form.curve


def _with_asinh(g: Expr) -> Expr:
    """Return a formula with asinh x for log(x + sqrt(x^2 + 1))."""

    def written(A: Expr) -> Expr:
        pairs = ((A - root, root) for root in A.atoms(sympy.Pow))
        found = (sympy.asinh(x) for x, root in pairs if sympy.expand(root**2 - x**2) == 1)
        return next(found, sympy.log(A))

    return g.replace(sympy.log, written)


def _in_basis(limit: Limit, betas: Sequence[Symbol]) -> Iterator[tuple[Symbol, Expr]]:
    """Yield the coordinates of another basis than that of beta."""
    if limit.basis is not None:
        places = [b - c for b, c in zip(betas, limit.origin or (0,) * len(betas), strict=True)]
        yield from zip(limit.coordinates, limit.basis.inv() * sympy.Matrix(places), strict=True)


def _less(b: Symbol, b0: Expr) -> object:
    """Return b - b0 in this order."""
    minus = b0.could_extract_minus_sign()
    shift = tidy(-b0 if minus else b0)
    amount = tell("`({x})`" if shift.is_Add else "`{x}`", x=shift)
    return b if b0 == 0 else tell(f"`{{b}} {'+' if minus else '-'} {{amount}}`", b=b, amount=amount)


def _beyond(limit: Limit) -> Iterator[object]:
    """Say on which side of 0 alone Q/N has a finite limit, and what is on the other one."""
    steep = {x: (side, slope) for x, side, slope in limit.steep}
    for x, down in zip(limit.coordinates, limit.below, strict=False):
        if x in steep:
            side, slope = steep[x]
            where = f"for `{{x}} {'>' if side > 0 else '<'} 0`, `Q/N -> infinity`"
            yield tell(f"{where}: `dQ/d{{x}} ~ {{slope}}`", x=x, slope=slope)
        elif down is None:
            yield tell("only `{x} > 0` is reached", x=x)


def _moved(limit: Limit) -> tuple[Expr, ...]:
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
        g = regimes.derivation.warping.g
        record["warped_time"] = {
            "g": "not written" if g is None else g,
            "positive": brief_finding(warped.positive),
            "onto": brief_finding(warped.onto),
            "bounded": brief_finding(warped.bounded),
        }
    rates = [None if r is None else plain(r) for r in (x.point.rate for x in regimes.limits)]
    whole = certify_limits(json.loads(json_text("regimes", record)), rates, seconds)
    return json_text("regimes", whole)


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
