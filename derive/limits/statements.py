"""What is claimed of the regimes of Q: at the start, of each limit, and of the warped time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations_with_replacement

import sympy
from sympy import Expr, Symbol

from derive.claims import graded as scaling
from derive.derivation import Derivation
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.language import to_sympy
from derive.limits.kernel_regime import Homogeneity, TangentKernel
from derive.limits.limit import Limit, LimitingPotential
from derive.limits.warped_time import WarpedTime
from derive.model.condition import Condition
from derive.model.labels import pair
from derive.potential.rewriting import fewest
from derive.statement import Equations, Open, Sentence, Statement, each, note, tell
from derive.verdict import Finding, Verdict

MEANING = {
    "kernel": "the squared norm of the tangent kernel at the start",
    "rich": "an `l1` norm",
    "anti-NTK": "an increasing function of the `l2` norm, so of the same minimizer",
    "intermediate": "neither the kernel norm nor `l1` nor `l2`",
}


def at_start(d: Derivation, kernel: TangentKernel, given: Sequence[Condition]) -> Statement:
    """Return K and beta at the start, under what Q assumes of it."""
    labels = d.potential.parameterization.labels
    entries = combinations_with_replacement(enumerate(labels), 2)
    start = {w: to_sympy(tree) for w, tree in d.parameterization.start}
    K, F = d.metric.kernel_in_weights, map(to_sympy, d.parameterization.trees)

    decide = ElementarySigns(s.name for s in kernel.matrix.free_symbols if s.is_positive)

    def shorter(value: Expr, typed: Expr) -> Expr:
        """Return a value at the start, or what is typed there where that is proved equal."""
        known = {s: start[s.name] for s in typed.free_symbols if s.name in start}
        there = typed.xreplace(known)
        same = {s: Symbol(s.name) for s in value.free_symbols | there.free_symbols}
        equal = False
        with suppress(Undecided):
            equal = decide.is_zero((value - there).xreplace(same))
        return fewest([value, there]) if equal else value

    values = (
        *(
            (f"K{pair(a, b) * (len(labels) > 1)}(w_0)", shorter(kernel.matrix[i, j], K[i, j]))
            for (i, a), (j, b) in entries
        ),
        *(
            (tell("`{b}(0)`", b=b), shorter(value, typed))
            for b, value, typed in zip(d.beta, kernel.beta_0, F, strict=True)
        ),
    )
    notes: list[object] = []
    if given:
        notes.append(note("assuming {given}", given=given))
        used = frozenset[str]().union(*(c.names for c in given))
        named = (c for piece in d.potential.pieces for c in piece.constants)
        rows = tuple((s, value) for s, value in named if s.name in used)
        notes += [Equations(rows)] if rows else []
    words = "the tangent kernel on predictors, `K = J J^T`, and `beta` at the start are"
    below = (Equations(values), *notes)
    return Statement(words, {"kernel": kernel}, kind="start kernel", below=below)


def homogeneous(homogeneity: Homogeneity, flow: str) -> Iterator[Statement]:
    """Yield the degree of F, and how fast scaled starts move at first."""
    words = "`F(c w) = c^D F(w)` with `D = {D}`, by Euler's identity"
    given = () if homogeneity.degree.is_number else ("`c > 0`",)
    D = {"D": homogeneity.degree}
    yield Statement(words, D, kind="homogeneous", conditions=given, by=homogeneity.finding)
    if homogeneity.time != 0:
        plain = homogeneity.time.is_Integer or homogeneity.time.is_Symbol
        power = "c" if homogeneity.time == 1 else "c^{e}" if plain else "c^({e})"
        words = f"from `c w_0` {flow} is `{power}` times as fast near its start"
        yield Statement(words, {"e": homogeneity.time}, kind="time scale", conditions=given)


def graded(lam: Mapping[Expr, Expr]) -> Iterator[Statement]:
    """Yield the grading of F, and what the flow from scaled starts is.

    For F(c^Lambda v) = c F(v) gives J(c^Lambda v)^T = c^(1 - Lambda) J(v)^T; the rest is the
    continuity of flows in their parameters: the rates of the others tend to 0.
    """
    yield scaling(lam)
    words = (
        "from `c^Lambda w_0` gradient flow is `w = c^Lambda v`, `beta = c F(v)`, where"
        " `v' = c^(1 - 2 Lambda) J(v)^T lambda` from `w_0`; at times `c^(2 l - 1) tau`, bounded"
        " `tau` and `lambda`, it tends to gradient flow of {first} alone as `c -> 0` with"
        " `l = {high}`, and of {last} alone as `c -> infinity` with `l = {low}`, the other weights"
        " kept"
    )
    high, low = max(lam.values()), min(lam.values())
    first, last = (each("`{0}`", ((w,) for w in lam if lam[w] == x)) for x in (high, low))
    values = {"lam": lam, "high": high, "low": low, "first": first, "last": last}
    yield Statement(words, values, kind="ruling weights")


def limit_statements(
    limit: Limit, betas: Sequence[Symbol], along: Sequence[Condition] = ()
) -> tuple[Statement | Open, ...]:
    """Return what Q tends to, what that is called, and how fast, given what holds along flows."""
    return tuple(replace(s, about=limit.point.text) for s in _limit(limit, betas, along))


def _limit(
    limit: Limit, betas: Sequence[Symbol], along: Sequence[Condition]
) -> Iterator[Statement | Open]:
    form = limit.potential
    if form is None or limit.unit is None:
        yield Open("{why}", {"why": limit.finding}, kind="limit")
        return
    values = {"limit": limit, "betas": tuple(betas)}
    given = tuple(tell("`{D} > 2`", D=D) for D in limit.depths)
    words = f"{limit.regime} regime: the limit is {MEANING[limit.regime]}"
    yield Statement(words, values, kind="regime", conditions=given, by=limit.finding)
    # A symbol of the start may be known to be positive in some places and not in others.
    unit = limit.unit.xreplace({s: Symbol(s.name, real=True) for s in limit.unit.free_symbols})
    where = (*((("N", unit),) if limit.over else ()), *_places(limit, betas))
    letters = ("with", Equations(where)) if where else ()
    fixed = "`, `".join(map(str, limit.coordinates))
    words = f"at fixed `{fixed}`" + (", up to an additive constant" if form.Q is not None else "")
    below = (Equations(tuple(_tending(limit, form)), "->"), *letters)
    yield Statement(words, values, kind="limit", conditions=given, by=limit.finding, below=below)
    yield from _beyond(limit, values, along)
    if limit.error is not None:
        error = {**values, "error": limit.error, "x": Symbol(limit.point.variable)}
        order = "of order `{error}`" if limit.sharp else "at most of order `{error}`"
        small = "smaller than every power of `{x}`" if limit.error == 0 else order
        words = f"the relative error of the gradient is {small}"
        yield Statement(words, error, kind="limit error", conditions=given)


def _tending(limit: Limit, form: LimitingPotential) -> Iterator[tuple[object, Expr]]:
    """Yield what has a limit, Q/N or its slopes, and beta, with the limit."""
    if form.Q is not None:
        yield f"Q{limit.over}", form.Q
    else:
        for x, g in zip(limit.coordinates, form.gradient, strict=True):
            yield slope_at(limit, x), g
    if form.curve is not None:
        yield limit.coordinates[0], form.curve


def slope_at(limit: Limit, x: Symbol) -> Sentence:
    """Return what has the slopes of the limit as its own."""
    return tell("`(dQ/d{x})/N`" if limit.over else "`dQ/d{x}`", x=x)


def _places(limit: Limit, betas: Sequence[Symbol]) -> Iterator[tuple[Symbol, object]]:
    """Yield the coordinates where they are not beta itself."""
    origin = limit.origin or (sympy.S.Zero,) * len(betas)
    if limit.basis is not None:
        moved = sympy.Matrix([b - c for b, c in zip(betas, origin, strict=True)])
        yield from zip(limit.coordinates, limit.basis.inv() * moved, strict=True)
    elif any(origin):
        pairs = zip(betas, origin, strict=True)
        yield from zip(limit.coordinates, (_less(b, c) for b, c in pairs), strict=False)


def _less(b: Symbol, b0: Expr) -> object:
    """Return b - b0 in this order."""
    minus = b0.could_extract_minus_sign()
    shift = sympy.factor_terms(-b0 if minus else b0)
    amount = tell("`({x})`" if shift.is_Add else "`{x}`", x=shift)
    return b if b0 == 0 else tell(f"`{{b}} {'+' if minus else '-'} {{amount}}`", b=b, amount=amount)


def _beyond(
    limit: Limit, values: dict[str, object], along: Sequence[Condition]
) -> Iterator[Statement]:
    """Say on which side of 0 alone Q/N has a finite limit, and what is on the other one."""
    steep = {x: (side, slope) for x, side, slope in limit.steep}
    for x, down in zip(limit.coordinates, limit.below, strict=False):
        if x in steep:
            side, slope = steep[x]
            where = f"for `{{x}} {'>' if side > 0 else '<'} 0`, `Q{limit.over} -> infinity`"
            told = {**values, "x": x, "slope": slope, "side": side}
            yield Statement(f"{where}: `dQ/d{{x}} ~ {{slope}}`", told, kind="steep side")
        elif down is None:
            told = {**values, "x": x}
            words, given = "only `{x} > 0` is reached", tuple(along)
            yield Statement(words, told, kind="side reached", conditions=given)


def deciding(finding: Finding) -> Statement:
    """Return that K(w_0) decides every joint limit."""
    words = "{why}: it decides every joint limit"
    return Statement(words, {"why": finding}, kind="kernel decides", by=finding)


def clock(time: WarpedTime, g: Expr | None) -> Iterator[Statement | Open]:
    """Yield what is known of tau(t) = int_0^t g ds."""
    asked = ("clock runs", "clock is onto", "clock is bounded")
    for kind, finding in zip(asked, time.findings, strict=True):
        if finding.verdict is Verdict.PROVED:
            values = {"why": finding, "floor": time.floor, "g": g}
            yield Statement("{why}", values, kind=kind, by=finding)
        else:
            yield Open("{why}", {"why": finding}, kind=kind)
