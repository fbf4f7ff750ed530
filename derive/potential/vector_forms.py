"""q(s) with q' = psi in closed form or as an integral, for the length s of a vector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import sympy
from sympy import Expr

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.model.direction import Direction
from derive.model.notation import BranchOpen, Notation, to_expr
from derive.potential.branch import keeps_sign
from derive.potential.chart import Chart, base_chart
from derive.potential.coupled import write_in_beta
from derive.potential.entries import add_root, add_weights, cheapest_relation
from derive.potential.logarithms import write_logs
from derive.potential.piece import Explicit, Piece, Quadrature, without_roots
from derive.potential.quadrature import power_rule
from derive.verdict import Identity
from derive.weights.dual import DualCoordinates, find_conjugate, is_conjugate, is_dual
from derive.weights.dual_families import conjugate_family
from derive.weights.dual_length import DualLength
from derive.weights.warping import WarpVerdict


def rational_form(
    direction: Direction, scalar: WarpVerdict, psi: RationalFunction, notation: Notation
) -> tuple[Piece, Chart | None] | None:
    """Return q through the conjugate R, <grad R, grad s> = g s, where psi is rational."""
    p = direction.parameterization
    g = psi * direction.phi / direction.n
    if not is_dual(p, (LogFunction(psi),), g):
        raise AssertionError("psi was accepted before")
    homogeneous = p.degree is not None and g.is_homogeneous()
    family = conjugate_family(scalar.metric.conserved, g.degree() + 2 if homogeneous else None)
    R = find_conjugate(p, g, family)
    if R is None or not is_conjugate(p, R, g):
        return None
    y = LogFunction(psi)
    try:
        found = write_in_beta(DualCoordinates(scalar, (y,), g, R, ()), notation)
    except BranchOpen:
        return None
    if found is None or isinstance(found[0], Quadrature):
        return None
    piece, chart = found
    (s,), slope = notation.betas, to_expr(p.at_start(psi), notation.start_symbols)
    along_R, statement = repr(R.along(p.fields[0])), "s <grad psi, grad s> = <grad R, grad s>"
    evidence = (
        Identity("<grad R, grad s> = g s", along_R, repr(g * p.F[0])),
        *chart.evidence,
        Identity(f"{statement}, so q = psi s - R", repr(p.F[0] * y.along(p.fields[0])), along_R),
    )
    value, gradient = piece.value + slope * s, (piece.gradient[0] + slope,)
    return replace(piece, value=value, gradient=gradient, evidence=evidence), chart


def hyperexponential_form(
    direction: Direction, scalar: WarpVerdict, dual: DualLength, notation: Notation
) -> tuple[Piece, Chart | None]:
    """Return q = psi t, or the integral of psi, with psi written in s where a chart allows."""
    (s,) = notation.betas
    metric = scalar.metric
    kept = keeps_sign(metric, direction.phi)
    chart = _complete_chart(base_chart(metric, notation), direction, dual)
    psi = None if chart is None else _write(chart, dual.log_psi)
    if chart is None or psi is None:
        written = in_weights(direction, dual)
        hidden = _quadrature(direction, notation, sympy.Function("psi"))
        note = f"`psi(s) = {written}` where {_curve(direction)}"
        return replace(hidden, note=note, assumptions=(*notation.assumptions, *kept)), None
    ratio = None if dual.ratio is None else chart.write(dual.ratio)
    whole = without_roots(psi, chart.roots)
    piece: Piece
    if ratio is not None:
        piece = Explicit((s,), psi * ratio, (psi,))
    elif whole.free_symbols & {r.symbol for r in chart.roots}:
        hidden = _quadrature(direction, notation, sympy.Function("psi"))
        piece = replace(hidden, gradient=(psi,), note="`psi = dq/ds`")
    elif (closed := power_rule(whole, s)) is not None:
        piece = Explicit((s,), closed, (whole,))
    else:
        piece = _quadrature(direction, notation, lambda x: whole.subs(s, x))
    assumptions = (*notation.assumptions, *chart.assumptions, *kept)
    piece = replace(piece, assumptions=assumptions, evidence=chart.evidence)
    return chart.named(piece), chart


def _complete_chart(chart: Chart | None, direction: Direction, dual: DualLength) -> Chart | None:
    """Extend the chart until psi can be written in it."""
    if chart is None or _write(chart, dual.log_psi) is not None:
        return chart
    functions = [dual.log_psi.rational, *(a for _, a in dual.log_psi.logs)]
    p = direction.parameterization
    needed = [w for w in p.weights if any(w in f.variables() for f in functions)]
    gens = dict(zip(p.weights, p.w, strict=True))
    # A norm that is conserved is known, as a constant of the leaf.
    open_ones = {w: gens[w] for w in needed if chart.write(gens[w]) is None}
    found = cheapest_relation(chart, open_ones)
    if found is None:
        return None
    try:
        rooted = add_root(chart, *found)
        return None if rooted is None else add_weights(rooted, needed)
    except BranchOpen:
        return None


def _write(chart: Chart, log_psi: LogFunction) -> Expr | None:
    """Return psi in s, or None."""
    exponent, logs = chart.write(log_psi.rational), write_logs(chart, log_psi)
    return None if exponent is None or logs is None else exponential(exponent + logs)


def exponential(exponent: Expr) -> Expr:
    """Return exp of a sum of logarithms and other terms, logarithms as powers."""
    return sympy.powdenest(sympy.exp(sympy.expand(exponent)))


def from_eigenvalues(direction: Direction, scalar: WarpVerdict, notation: Notation) -> Piece:
    """Return q' = n_0 exp(int T/(R x) dx), the solution of s q''/q' = T/R with psi_0 = n_0."""
    p = direction.parameterization
    s0 = to_expr(p.at_start(p.F[0]), notation.start_symbols)
    n0 = to_expr(p.w0[-1], notation.start_symbols)
    if s0 == 0:
        raise BranchOpen("s is 0 at the start, where T/(R s) is infinite")
    x = notation.fresh("v")
    T, R = sympy.Function("T"), sympy.Function("R")

    def slope(s: Expr) -> Expr:
        return n0 * sympy.exp(sympy.Integral(T(x) / (x * R(x)), (x, s0, s)))

    note = f"`T = phi^2` and `R = |grad s|^2` where {_curve(direction)}"
    assumptions = (*notation.assumptions, *keeps_sign(scalar.metric, direction.phi))
    ratio = direction.phi**2 / direction.R
    evidence = (Identity("s q''/q' = T/R", "s q''/q'", repr(ratio)),)
    piece = _quadrature(direction, notation, slope)
    return replace(piece, note=note, assumptions=assumptions, evidence=evidence)


def _quadrature(
    direction: Direction, notation: Notation, slope: Callable[[Expr], Expr]
) -> Quadrature:
    """Return q as the integral of psi from s_0."""
    (s,), p = notation.betas, direction.parameterization
    x = notation.fresh("x")
    s0 = to_expr(p.at_start(p.F[0]), notation.start_symbols)
    value = sympy.Integral(slope(x), (x, s0, s))
    return Quadrature((s,), value, (slope(s),))


def _curve(direction: Direction) -> str:
    p = direction.parameterization
    weights = ", ".join(p.weights)
    return f"the curve `({weights})' = grad s` from the start has `{p.F[0]!r} = s`"


def in_weights(direction: Direction, dual: DualLength) -> Expr:
    """Return psi in the scalars and the norm."""
    symbols = direction.notation.weights
    logs = sympy.Add(
        *(to_expr(c, symbols) * sympy.log(to_expr(a, symbols)) for c, a in dual.log_psi.logs)
    )
    return exponential(to_expr(dual.log_psi.rational, symbols) + logs)
