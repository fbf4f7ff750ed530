"""Q = q(|beta|) + <z, beta> of one vector of open dimension, for every d at once.

grad Q = psi u/n - psi_0 u_0/n_0 with the dual length psi, so q'(s) = psi and
z = -(psi_0/n_0) u_0. Equivalently s q''/q' = T/R, which always has a solution: the leaf is a
curve on which s grows, so psi is a function of s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy
from sympy import Expr

from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.model.condition import Condition, Sign
from derive.model.direction import Direction
from derive.model.notation import AssumePositive, BranchOpen, Notation, assuming, to_expr
from derive.model.signs import Premises, start_conditions, start_sign
from derive.potential.block import BlockPotential, DirectionTerms, Eigenvalues
from derive.potential.branch import keeps_sign, with_guards
from derive.potential.chart import Chart, at_start, base_chart, write_function
from derive.potential.coupled import write_in_beta
from derive.potential.domain import Domain
from derive.potential.entries import Want, extend
from derive.potential.piece import Integrand, Piece, Root, poles, without_roots
from derive.potential.quadrature import integral_from, integrate_in_length
from derive.verdict import Finding, Identity, Verdict
from derive.weights.adjoin import WrittenWarp
from derive.weights.adjoin import exponential as rational_exponential
from derive.weights.dual import (
    DualCoordinates,
    DualLength,
    find_conjugate,
    find_dual_length,
    is_conjugate,
    is_dual,
)
from derive.weights.dual_families import conjugate_family, dual_families
from derive.weights.hessian import WarpVerdict


def find_radial_potential(warping: WarpVerdict, direction: Direction) -> BlockPotential:
    """Return q(s) and the slope of the linear term in the simplest form that was proved.

    Args:
        warping: the decisions on s(a, n) = |beta|.
        direction: how beta = phi u turns with u.

    Returns:
        q with q' = psi, PROVED; without it where the start leaves its branch open (UNDECIDED).

    Source: Azulay et al. 2021, Theorem 2, for phi = a; every other phi is derived here.
    """
    found = find_dual_length(direction, warping.metric.conserved)
    try:
        built = assuming(lambda n: _build(direction, warping, found, n), direction.notation)
        dual, piece, chart, slope = built
        known = _premises(direction, piece)
    except BranchOpen as undetermined:
        finding = Finding(Verdict.UNDECIDED, str(undetermined))
        return BlockPotential(warping, None, None, None, finding)
    piece = replace(_tidied(piece), assumptions=with_guards(known.irredundant, warping.metric))
    evidence = (*(dual.evidence if dual else ()), *piece.evidence)
    reason = f"grad Q = psi u/|u| - psi_0 u_0/|u_0|, {piece.kind} form"
    g = None if dual is None else _warp(direction, dual)
    # u_0 = 0: there is no linear term, and y = u has no pole
    at_rest = direction.parameterization.w0[-1].is_zero()
    slope = sympy.Integer(0) if at_rest else direction.sign * slope
    piece = replace(piece, domain=Domain(piece.betas, "length", undecided=("length",)))
    turning = DirectionTerms(direction, dual, g, slope, _eigenvalues(direction, chart))
    finding = Finding(Verdict.PROVED, reason, evidence)
    return BlockPotential(warping, None, piece, chart, finding, turning)


def _premises(direction: Direction, piece: Piece) -> Premises:
    """Return what is assumed of the start and the flow; BranchOpen where that cannot be."""
    notation, p = direction.notation, direction.parameterization
    told = [*start_conditions(p, notation), *direction.assumptions, *piece.assumptions]
    told += poles(piece, notation.start_symbols)
    zeros = (to_expr(f, notation.start_symbols) for f, _ in factors(p.at_start(direction.phi)))
    told += (Condition(f, Sign.NONZERO) for f in zeros)
    return Premises(told, notation, piece.constants)


def _eigenvalues(direction: Direction, chart: Chart | None) -> Eigenvalues | None:
    if chart is None:
        return None
    T, R = chart.write(direction.T), chart.write(direction.R)
    if T is None or R is None:
        return None
    short = _short_roots(chart.roots)
    T, R = (without_roots(x, short) for x in (T, R))
    return Eigenvalues(T, R, *chart.names_in(T, R))


def _short_roots(roots: Sequence[Root]) -> list[Root]:
    """Return the roots that are a power of s, times a constant: not worth a name."""
    return [
        r
        for r in roots
        if r.explicit is not None
        and not any(x.is_Add for x in (r.explicit, *sympy.Mul.make_args(r.explicit)))
    ]


def _tidied(piece: Piece) -> Piece:
    """Return the piece without names for powers of s."""
    short = _short_roots(piece.roots)
    return replace(
        piece,
        value=without_roots(piece.value, short),
        gradient=tuple(without_roots(g, short) for g in piece.gradient),
        roots=tuple(r for r in piece.roots if r not in short),
    )


def _build(
    direction: Direction, scalar: WarpVerdict, dual: DualLength | None, notation: Notation
) -> tuple[DualLength | None, Piece, Chart | None, Expr]:
    """Return log psi, positive at the start, q with the chart it is written in, and psi_0/n_0."""
    if dual is None:
        return None, _from_eigenvalues(direction, scalar, notation), None, sympy.Integer(1)
    p = direction.parameterization
    dual, assumed = _oriented(direction, dual, notation)
    psi = _rational_psi(direction, dual)
    found = None if psi is None else _rational_form(direction, scalar, psi, notation)
    if psi is not None and found is not None:
        slope = to_expr(p.at_start(psi / direction.n), notation.start_symbols)
    else:
        shortened = dual.log_psi + LogFunction(p.field.zero, ((-p.field.one, direction.n),))
        slope = _exponential(at_start(p, shortened, notation))
        found = _hyperexponential_form(direction, scalar, dual, notation)
    piece, chart = found
    return dual, replace(piece, assumptions=(*assumed, *piece.assumptions)), chart, slope


def _oriented(
    direction: Direction, dual: DualLength, notation: Notation
) -> tuple[DualLength, tuple[Condition, ...]]:
    """Return log psi with arguments that are positive at the start, and what that rests on."""
    logs = []
    assumed: list[Condition] = []
    for coefficient, argument in dual.log_psi.logs:
        sign = 1
        if argument != direction.n:
            sign, found = start_sign(direction.parameterization.at_start(argument), notation)
            assumed += found
        logs.append((coefficient, argument if sign > 0 else -argument))
    return replace(dual, log_psi=LogFunction(dual.log_psi.rational, tuple(logs))), tuple(assumed)


def _rational_psi(direction: Direction, dual: DualLength) -> RationalFunction | None:
    """Return psi where it is rational; a constant warp, the unit of time, is 1."""
    psi = rational_exponential(dual.log_psi)
    g = None if psi is None else psi * direction.turn
    return psi if psi is None or g is None or not g.is_constant() else psi / g


def _warp(direction: Direction, dual: DualLength) -> Expr:
    """Return g = psi phi/n in the scalars and the norm, as given: phi with its sign."""
    psi, symbols = _rational_psi(direction, dual), direction.notation.weights
    if psi is not None:
        return to_expr(psi * direction.turn, symbols)
    n, pushed = symbols[direction.norm], direction.rate * direction.phi
    return sympy.powsimp(_in_weights(direction, dual) / n) * to_expr(pushed, symbols)


def _rational_form(
    direction: Direction, scalar: WarpVerdict, psi: RationalFunction, notation: Notation
) -> tuple[Piece, Chart | None] | None:
    """Return q through the conjugate R, <grad R, grad s> = g s, where psi is rational."""
    p, y = direction.parameterization, LogFunction(psi)
    g = psi * direction.turn
    if not is_dual(p, (y,), g):
        raise AssertionError("psi was accepted before")
    homogeneous = p.degree is not None and g.is_homogeneous()
    families = [conjugate_family(scalar.metric.conserved, g.degree() + 2 if homogeneous else None)]
    if p.field.kinds:  # with y = psi u/n in coordinates, R is of the family that goes with y there
        found_there = dual_families(WrittenWarp(scalar, scalar, g))
        families += [list(family.R) for family in found_there]
    R = next(filter(None, (find_conjugate(p, g, family) for family in families)), None)
    if R is None or not is_conjugate(p, R, g):
        return None
    try:
        found = write_in_beta(DualCoordinates(scalar, (y,), g, R, ()), notation)
    except BranchOpen:
        return None
    if found is None or found[0].integrand is not None:
        return None
    piece, chart = found
    _without_more(chart, notation)
    (s,), slope = notation.betas, to_expr(p.at_start(psi), notation.start_symbols)
    along_R, statement = repr(R.along(p.fields[0])), "s <grad psi, grad s> = <grad R, grad s>"
    evidence = (
        Identity("<grad R, grad s> = g s", along_R, repr(g * p.F[0])),
        *chart.evidence,
        Identity(f"{statement}, so q = psi s - R", repr(p.F[0] * y.along(p.fields[0])), along_R),
    )
    value, gradient = piece.value + slope * s, (piece.gradient[0] + slope,)
    return replace(piece, value=value, gradient=gradient, evidence=evidence), chart


def _hyperexponential_form(
    direction: Direction, scalar: WarpVerdict, dual: DualLength, notation: Notation
) -> tuple[Piece, Chart | None]:
    """Return q = psi t, or the integral of psi, with psi written in s where a chart allows."""
    (s,), p = notation.betas, direction.parameterization
    s0 = to_expr(p.at_start(p.F[0]), notation.start_symbols)
    kept = keeps_sign(scalar.metric, direction.phi)
    chart = _complete_chart(base_chart(scalar.metric, notation), direction, dual)
    psi = None if chart is None else _write(chart, dual.log_psi)
    named = sympy.Function("psi")(s)
    integral = integral_from(s0, named, s, notation)
    hidden = Piece((s,), integral, (named,), integrand=Integrand())
    if chart is None or psi is None:
        note = f"`psi(s) = {_in_weights(direction, dual)}` where {_curve(direction)}"
        return replace(hidden, note=note, assumptions=(*notation.assumptions, *kept)), None
    ratio = None if dual.ratio is None else chart.write(dual.ratio)
    if ratio is None:
        piece = integrate_in_length(psi, chart.roots, s, s0, chart)
    else:
        piece = Piece((s,), psi * ratio, (psi,))
    assumptions = (*notation.assumptions, *chart.assumptions, *kept)
    piece = replace(piece, assumptions=assumptions, evidence=chart.evidence)
    return chart.named(piece), chart


def _complete_chart(chart: Chart | None, direction: Direction, dual: DualLength) -> Chart | None:
    """Extend the chart until psi can be written in it."""
    if chart is None:
        return None
    functions = [dual.log_psi.rational, *(a for _, a in dual.log_psi.logs)]
    p = direction.parameterization
    used = {name for f in functions for name in f.variables()}
    wants = [Want(x) for w, x in zip(p.weights, p.w, strict=True) if w in used]
    grown = extend(chart, wants, lambda grown: _write(grown, dual.log_psi) is not None)
    return _without_more(grown, chart.notation)


def _without_more(chart: Chart, notation: Notation) -> Chart:
    """Return a chart whose start symbols are those of the notation; else ask for its own."""
    if more := chart.notation.assumed - notation.assumed:
        raise AssumePositive(more)
    return chart


def _write(chart: Chart, log_psi: LogFunction) -> Expr | None:
    """Return psi in s, or None."""
    exponent = write_function(chart, log_psi)
    return None if exponent is None else _exponential(exponent)


def _exponential(exponent: Expr) -> Expr:
    """Return exp of a sum of logarithms and other terms, logarithms as powers."""
    return sympy.powdenest(sympy.exp(sympy.expand(exponent)))


def _in_weights(direction: Direction, dual: DualLength) -> Expr:
    """Return psi in the scalars and the norm."""
    symbols = direction.notation.weights
    logs = (to_expr(c, symbols) * sympy.log(to_expr(a, symbols)) for c, a in dual.log_psi.logs)
    return _exponential(sympy.Add(to_expr(dual.log_psi.rational, symbols), *logs))


def _from_eigenvalues(direction: Direction, scalar: WarpVerdict, notation: Notation) -> Piece:
    """Return q' = n_0 exp(int T/(R x) dx), the solution of s q''/q' = T/R with psi_0 = n_0."""
    (s,), p = notation.betas, direction.parameterization
    s0 = to_expr(p.at_start(p.F[0]), notation.start_symbols)
    n0 = to_expr(p.w0[-1], notation.start_symbols)
    if s0 == 0:
        raise BranchOpen("s is 0 at the start, where T/(R s) is infinite")
    v = notation.fresh("v")
    T, R = sympy.Function("T"), sympy.Function("R")
    slope = n0 * sympy.exp(sympy.Integral(T(v) / (v * R(v)), (v, s0, s)))
    rate = direction.pushed.removesuffix("phi")
    return Piece(
        (s,),
        integral_from(s0, slope, s, notation),
        (slope,),
        note=f"$T = {rate}phi^2$ and $R = |grad s|^2$ where {_curve(direction)}",
        assumptions=(*notation.assumptions, *keeps_sign(scalar.metric, direction.phi)),
        evidence=(
            Identity("s q''/q' = T/R", "s q''/q'", repr(direction.T / direction.R), kind="length"),
        ),
        integrand=Integrand(),
    )


def _curve(direction: Direction) -> str:
    p = direction.parameterization
    weights = ", ".join(p.weights)
    return f"the curve `({weights})' = grad s` from the start has `{p.F[0]!r} = s`"
