"""Q = q(|beta|) + <z, beta> of a rotation-equivariant vector model, for every d at once.

grad Q = psi u/n - psi_0 u_0/n_0 with the dual length psi, so q'(s) = psi and
z = -(psi_0/n_0) u_0. Equivalently s q''/q' = T/R, which always has a solution: the leaf is a
curve on which s grows, so psi is a function of s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import sympy
from sympy import Expr

from derive.exact.families import LogFunction
from derive.exact.field import RationalFunction
from derive.stages.ansatz import conjugate_family
from derive.stages.branch import keeps_sign
from derive.stages.chart import Chart, base_chart
from derive.stages.dual import DualCoordinates, find_conjugate, is_conjugate, is_dual
from derive.stages.leaf import add_root, add_weights, cheapest_relation
from derive.stages.logs import at_start, write_logs
from derive.stages.notation import BranchOpen, Constant, Notation, to_expr
from derive.stages.piece import Piece, Root
from derive.stages.potential import assuming
from derive.stages.radial import Equivariant, radial_eigenvalue
from derive.stages.radial_dual import RadialDual, find_radial_dual
from derive.stages.vector import write_in_beta
from derive.stages.warping import WarpVerdict
from derive.verdict import Finding, Identity, Verdict


@dataclass(frozen=True)
class Spectrum:
    """The eigenvalues T and R of K as functions of s, with the names that they use."""

    tangential: Expr
    radial: Expr
    roots: tuple[Root, ...]
    constants: tuple[Constant, ...]


@dataclass(frozen=True)
class RadialPotential:
    """Q = q(s) - slope <u_0, beta>, s = |beta|.

    Attributes:
        model: the vector model.
        dual: log psi in the weights, where found in the families.
        g: the warp psi phi/n in the scalars and the norm; None where psi was not found.
        piece: q in s, with q' = psi; None where the start leaves its branch open.
        slope: psi_0/n_0, with the sign of phi.
        spectrum: T and R in s, where they were written so.
        chart: how functions of the weights are written in s, where found.
        finding: PROVED with the identities behind q; the reason otherwise.
    """

    model: Equivariant
    dual: RadialDual | None
    g: Expr | None
    piece: Piece | None
    slope: Expr
    spectrum: Spectrum | None
    chart: Chart | None
    finding: Finding


def find_radial_potential(model: Equivariant, scalar: WarpVerdict) -> RadialPotential:
    """Return q(s) and z in the simplest form that was proved.

    Args:
        model: the vector model.
        scalar: the decisions on its reduced model s(a, n).
    """
    conserved = scalar.hessian.metric.conserved
    if model.sign == 0:
        reason = f"the coefficient of {model.vector} is 0 at the start: its sign selects Q"
        return _open(model, Finding(Verdict.UNDECIDED, reason))
    dual = find_radial_dual(model, conserved)
    try:
        (piece, chart), slope = assuming(
            lambda notation: _build(model, scalar, dual, notation), model.notation
        )
    except BranchOpen as undetermined:
        return _open(model, Finding(Verdict.UNDECIDED, str(undetermined)))
    assumptions = (*model.assumptions, *piece.assumptions)
    piece = _tidied(replace(piece, assumptions=tuple(dict.fromkeys(assumptions))))
    evidence = (*(dual.evidence if dual else ()), *piece.evidence)
    reason = f"grad Q = psi u/|u| - psi_0 u_0/|u_0|, {piece.kind} form"
    spectrum = _spectrum(model, chart)
    finding = Finding(Verdict.PROVED, reason, evidence)
    g = None if dual is None else _warp(model, dual)
    return RadialPotential(model, dual, g, piece, model.sign * slope, spectrum, chart, finding)


def _spectrum(model: Equivariant, chart: Chart | None) -> Spectrum | None:
    if chart is None:
        return None
    T, R = chart.write(model.phi**2), chart.write(radial_eigenvalue(model.reduced))
    if T is None or R is None:
        return None
    short = _short_roots(chart.roots)
    T, R = (_without_roots(x, short) for x in (T, R))
    used = T.free_symbols | R.free_symbols
    roots = tuple(r for r in chart.roots if r.symbol in used)
    used = used.union(*(r.polynomial.free_symbols for r in roots))
    return Spectrum(T, R, roots, tuple(c for c in chart.constants if c[0] in used))


def _short_roots(roots: Sequence[Root]) -> list[Root]:
    """Return the roots that are a power of s, times a constant: not worth a name."""
    return [
        r
        for r in roots
        if r.explicit is not None
        and not sympy.sympify(r.explicit).is_Add
        and all(not x.is_Add for x in sympy.Mul.make_args(r.explicit))
    ]


def _open(model: Equivariant, finding: Finding) -> RadialPotential:
    return RadialPotential(model, None, None, None, sympy.Integer(0), None, None, finding)


def _build(
    model: Equivariant, scalar: WarpVerdict, dual: RadialDual | None, notation: Notation
) -> tuple[tuple[Piece, Chart | None], Expr]:
    """Return q with the chart it was written in, and psi_0/n_0."""
    if dual is None:
        return (_from_eigenvalues(model, scalar, notation), None), sympy.Integer(1)
    psi = dual.psi
    if psi is not None:
        slope = to_expr(model.reduced.at_start(psi / model.n), notation.start_symbols)
        found = _rational(model, scalar, psi, notation)
        if found is not None:
            return found, slope
    shortened = dual.log_psi + LogFunction(
        psi.field.zero if psi else model.n.field.zero, ((-model.n.field.one, model.n),)
    )
    slope = _exponential(at_start(model.reduced, shortened, notation))
    return _hyperexponential(model, scalar, dual, notation), slope


def _rational(
    model: Equivariant, scalar: WarpVerdict, psi: RationalFunction, notation: Notation
) -> tuple[Piece, Chart | None] | None:
    """Return q through the conjugate R, <grad R, grad s> = g s, where psi is rational."""
    p = model.reduced
    g = psi * model.phi / model.n
    if not is_dual(p, (LogFunction(psi),), g):
        raise AssertionError("psi was accepted before")
    homogeneous = p.degree is not None and g.is_homogeneous()
    family = conjugate_family(
        scalar.hessian.metric.conserved, g.degree() + 2 if homogeneous else None
    )
    R = find_conjugate(p, g, family)
    if R is None or not is_conjugate(p, R, g):
        return None
    y = LogFunction(psi)
    try:
        found = write_in_beta(DualCoordinates(scalar, (y,), g, R, ()), notation)
    except BranchOpen:
        return None
    if found is None or found[0].kind == "quadrature":
        return None
    piece, chart = found
    (s,), slope = notation.betas, to_expr(p.at_start(psi), notation.start_symbols)
    evidence = (
        Identity("<grad R, grad s> = g s", repr(R.along(p.jacobian[0])), repr(g * p.F[0])),
        *chart.evidence,
        Identity("q = psi s - R", "q", "q"),
    )
    piece = replace(
        piece,
        value=piece.value + slope * s,
        gradient=(piece.gradient[0] + slope,),
        evidence=evidence,
    )
    return piece, chart


def _hyperexponential(
    model: Equivariant, scalar: WarpVerdict, dual: RadialDual, notation: Notation
) -> tuple[Piece, Chart | None]:
    """Return q = psi t, or the integral of psi, with psi written in s where a chart allows."""
    (s,) = notation.betas
    metric = scalar.hessian.metric
    kept = keeps_sign(metric, model.phi)
    chart = _complete_chart(base_chart(metric, notation), model, dual)
    psi = None if chart is None else _write(chart, dual.log_psi)
    if chart is None or psi is None:
        written = _in_weights(model, dual)
        piece = _quadrature(model, notation, sympy.Function("psi"))
        note = f"psi(s) = {written} where {_curve(model)}"
        return replace(piece, note=note, assumptions=(*_assumed(notation), *kept)), None
    ratio = None if dual.ratio is None else chart.write(dual.ratio)
    whole = _without_roots(psi, chart.roots)
    symbols = {r.symbol for r in chart.roots}
    value = None if ratio is None else psi * ratio
    if value is None and not whole.free_symbols & symbols:
        value = _power_rule(whole, s)
    if value is not None:
        piece = Piece("explicit", (s,), value, (psi if ratio is not None else whole,))
    elif whole.free_symbols & symbols:
        integral = _quadrature(model, notation, sympy.Function("psi"))
        piece = replace(integral, gradient=(psi,), note="psi = dq/ds")
    else:
        piece = _quadrature(model, notation, lambda x: whole.subs(s, x))
    used = piece.gradient[0].free_symbols | piece.value.free_symbols
    roots = tuple(r for r in chart.roots if r.symbol in used)
    used = used.union(*(r.polynomial.free_symbols for r in roots))
    if piece.kind == "explicit" and any(r.explicit is None for r in roots):
        piece = replace(piece, kind="algebraic")
    assumptions = (*_assumed(notation), *chart.assumptions, *kept)
    constants = tuple(c for c in chart.constants if c[0] in used)
    piece = replace(
        piece, roots=roots, constants=constants, assumptions=assumptions, evidence=chart.evidence
    )
    return piece, chart


def _complete_chart(chart: Chart | None, model: Equivariant, dual: RadialDual) -> Chart | None:
    """Extend the chart until psi can be written in it."""
    if chart is None or _write(chart, dual.log_psi) is not None:
        return chart
    functions = [dual.log_psi.rational, *(a for _, a in dual.log_psi.logs)]
    p = model.reduced
    needed = [w for w in p.weights if any(w in f.variables() for f in functions)]
    found = cheapest_relation(chart, {w: p.field.gens[p.weights.index(w)] for w in needed})
    if found is None:
        return None
    function = p.field.gens[p.weights.index(found[0])]
    try:
        rooted = add_root(chart, found[0], function, found[1])
        return None if rooted is None else add_weights(rooted, needed)
    except BranchOpen:
        return None


def _write(chart: Chart, log_psi: LogFunction) -> Expr | None:
    """Return psi in s, or None."""
    exponent, logs = chart.write(log_psi.rational), write_logs(chart, log_psi)
    return None if exponent is None or logs is None else _exponential(exponent + logs)


def _exponential(exponent: Expr) -> Expr:
    return sympy.powdenest(sympy.exp(sympy.expand(exponent)))


def _tidied(piece: Piece) -> Piece:
    """Return the piece without names for powers of s."""
    short = _short_roots(piece.roots)
    return replace(
        piece,
        value=_without_roots(piece.value, short),
        gradient=tuple(_without_roots(g, short) for g in piece.gradient),
        roots=tuple(r for r in piece.roots if r not in short),
    )


def _without_roots(expression: Expr, roots: Sequence[Root]) -> Expr:
    """Return the expression with every root that has a formula replaced by it."""
    for root in reversed(roots):
        if root.explicit is not None:
            expression = expression.xreplace({root.symbol: root.explicit})
    return sympy.powdenest(expression)


def _power_rule(psi: Expr, s: sympy.Symbol) -> Expr | None:
    """Return the antiderivative of c s^m, m > -1, with c in start symbols; None for others."""
    coefficient, power = psi.as_independent(s, as_Add=False)
    base, exponent = power.as_base_exp()
    if base != s or exponent.has(s) or not (exponent + 1).is_positive:
        return None
    return coefficient * s ** (exponent + 1) / (exponent + 1)


def _from_eigenvalues(model: Equivariant, scalar: WarpVerdict, notation: Notation) -> Piece:
    """Return q' = n_0 exp(int T/(R x) dx), the solution of s q''/q' = T/R with psi_0 = n_0."""
    p = model.reduced
    s0 = to_expr(p.at_start(p.F[0]), notation.start_symbols)
    n0 = to_expr(p.w0[-1], notation.start_symbols)
    if s0 == 0:
        raise BranchOpen("s is 0 at the start, where T/(R s) is infinite")
    x = notation.fresh("v")
    T, R = sympy.Function("T"), sympy.Function("R")

    def slope(s: Expr) -> Expr:
        return n0 * sympy.exp(sympy.Integral(T(x) / (x * R(x)), (x, s0, s)))

    note = f"T = phi**2 and R = |grad s|**2 where {_curve(model)}"
    assumptions = (*_assumed(notation), *keeps_sign(scalar.hessian.metric, model.phi))
    evidence = (Identity("s q''/q' = T/R", "s q''/q'", "T/R"),)
    return replace(
        _quadrature(model, notation, slope), note=note, assumptions=assumptions, evidence=evidence
    )


def _quadrature(model: Equivariant, notation: Notation, slope: Callable[[Expr], Expr]) -> Piece:
    """Return q as the integral of psi from s_0."""
    (s,), p = notation.betas, model.reduced
    x = notation.fresh("x")
    s0 = to_expr(p.at_start(p.F[0]), notation.start_symbols)
    value = sympy.Integral(slope(x), (x, s0, s))
    return Piece("quadrature", (s,), value, (slope(s),))


def _assumed(notation: Notation) -> tuple[str, ...]:
    return tuple(f"{name} > 0" for name in sorted(notation.assumed))


def _curve(model: Equivariant) -> str:
    p = model.reduced
    weights = ", ".join(p.weights)
    return f"the curve ({weights})' = grad s from the start has {p.F[0]!r} = s"


def _in_weights(model: Equivariant, dual: RadialDual) -> Expr:
    """Return psi in the scalars and the norm."""
    symbols = _symbols(model)
    logs = sympy.Add(
        *(to_expr(c, symbols) * sympy.log(to_expr(a, symbols)) for c, a in dual.log_psi.logs)
    )
    return _exponential(to_expr(dual.log_psi.rational, symbols) + logs)


def _symbols(model: Equivariant) -> dict[str, Expr]:
    found = dict(model.notation.weights)
    found[model.norm] = sympy.Symbol(model.norm, positive=True)
    return found


def _warp(model: Equivariant, dual: RadialDual) -> Expr:
    """Return g = psi phi/n in the scalars and the norm, as given: phi with its sign."""
    psi = dual.psi
    symbols = _symbols(model)
    if psi is not None:
        return to_expr(psi * model.phi / model.n, symbols)
    n = symbols[model.norm]
    return sympy.powsimp(_in_weights(model, dual) / n) * to_expr(model.phi, symbols)
