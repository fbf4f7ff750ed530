"""Q as an integral: along beta, along a segment of beta, or in the length |beta|.

Where the dual coordinates of coupled outputs have y_i F_j = y_j F_i for all i and j, grad Q =
m beta + z with m a function of s = |beta| alone, because m beta is a gradient. So Q = q(s) + z.beta
with q' = s m, and q is its integral even where no conjugate R of Q has a closed form.
"""

from __future__ import annotations

from dataclasses import replace

import sympy
from sympy import Expr, Symbol

from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.implicitization import express, find_relation
from derive.exact.linear.matrix import dot
from derive.model.notation import (
    FUNCTIONS,
    AssumePositive,
    BranchOpen,
    Constant,
    Notation,
    rational,
    to_expr,
    to_factored_expr,
)
from derive.potential.branch import keeps_sign
from derive.potential.chart import Chart, at_start, base_chart
from derive.potential.entries import add_power, add_root, cheapest_relation, simple_entry
from derive.potential.piece import Explicit, Lift, Piece, Quadrature, Root, with_formulas
from derive.verdict import Identity, Verdict
from derive.weights.dual import DualCoordinates
from derive.weights.metric import Metric
from derive.weights.warping import WarpVerdict

KERNEL_ALONG_FLOW = "`K(b) = |grad F|^2` where `w' = grad F` from `w_0` has `F = b`"


def integrate_along_beta(metric: Metric, notation: Notation) -> tuple[Quadrature, Chart | None]:
    """Return Q = int (beta - b)/K(b) db from beta_0 of a single output.

    K is written in beta where a root allows it; K(b) is |grad F|^2 on the leaf otherwise.
    """
    (beta,), (beta0,) = notation.betas, notation.beta_0
    chart = base_chart(metric, notation)
    rooted = None if chart is None else _with_root(chart)
    kernel = None if rooted is None else rooted.write(metric.K[0][0])
    b = notation.fresh("b")
    K = sympy.Function(notation.fresh("K").name)(b)
    statement = "Q'' = 1/K, K = |grad F|^2 on the leaf"
    piece = Quadrature(
        notation.betas,
        sympy.Integral((beta - b) / K, (b, beta0, beta)),
        (sympy.Integral(1 / K, (b, beta0, beta)),),
        assumptions=notation.assumptions,
        evidence=(Identity(statement, "1/Q''", repr(metric.K[0][0])),),
    )
    if rooted is None or kernel is None:
        return replace(piece, note=KERNEL_ALONG_FLOW, left="kernel"), chart
    return replace(piece, kernel=kernel, constants=rooted.constants, roots=rooted.roots), rooted


def _with_root(chart: Chart) -> Chart | None:
    """Add a power of a weight as root variable, where its branch is proved without assumptions."""
    p = chart.parameterization
    found = cheapest_relation(chart, dict(zip(p.weights, p.w, strict=True)))
    if found is None:
        return None
    try:
        added = add_power(chart, *found)
    except (AssumePositive, BranchOpen):
        return None
    return None if added is None or added[0].assumptions else added[0]


def integrate_along_segment(warping: WarpVerdict, notation: Notation) -> Quadrature:
    """Return Q = int_0^1 (1 - t) <b, g rho b> dt on the lift of the segment beta_0 + t b."""
    d = warping.parameterization.d
    lift = _lift(warping)
    t, abbreviations = segment(notation)
    steps = [b for b, _ in abbreviations]
    G = [
        [sympy.Function(f"G{min(i, j) + 1}{max(i, j) + 1}")(t) for j in range(d)] for i in range(d)
    ]
    rows = [sympy.Add(*(x * b for x, b in zip(row, steps, strict=True))) for row in G]
    square = sympy.expand(sympy.Add(*(b * r for b, r in zip(steps, rows, strict=True))))
    note = "`G = g rho` at the point of the leaf above `beta_0 + t b`, `g` scaled to 1 at the start"
    if warping.hessian.verdict is Verdict.PROVED:
        note = "`G = rho` at the point of the leaf above `beta_0 + t b`"
    return Quadrature(
        notation.betas,
        sympy.Integral((1 - t) * square, (t, 0, 1)),
        tuple(sympy.Integral(r, (t, 0, 1)) for r in rows),
        abbreviations=abbreviations,
        evidence=warping.finding.evidence or warping.hessian.finding.evidence,
        note=note,
        lift=lift,
    )


def integrate_gradient(gradient: tuple[Expr, ...], notation: Notation) -> Quadrature:
    """Return Q = int_0^1 <y(beta_0 + t b), b> dt, y its gradient in closed form."""
    t, steps = segment(notation)
    slope = sympy.Add(*(sympy.Function(f"y{i}")(t) * b for i, (b, _) in enumerate(steps, 1)))
    integral = sympy.Integral(slope, (t, 0, 1))
    note = "`y_i = dQ/dbeta_i` at `beta_0 + t b`"
    return Quadrature(
        notation.betas, integral, gradient, note=note, left="conjugate", abbreviations=steps
    )


def segment(notation: Notation) -> tuple[Symbol, tuple[Constant, ...]]:
    """Return t and the steps b = beta - beta_0 of the segment beta_0 + t b, named."""
    steps = tuple(
        (notation.fresh(f"b{i}"), beta - beta0)
        for i, (beta, beta0) in enumerate(zip(notation.betas, notation.beta_0, strict=True), 1)
    )
    return notation.fresh("t"), steps


def integral_from(start: Expr, slope: Expr, s: Symbol, notation: Notation) -> Expr:
    """Return the integral of a slope, a function of s, from the start of s."""
    x = notation.fresh("x")
    return sympy.Integral(slope.subs(s, x), (x, start, s))


def power_rule(slope: Expr, s: Symbol) -> Expr | None:
    """Return the antiderivative of a slope c s^m, m > -1, or c exp(k s); None of another."""
    if any(s in x.free_symbols for x in slope.atoms(sympy.Add)):
        return None
    coefficient, power = sympy.powdenest(slope).as_independent(s, as_Add=False)
    base, exponent = power.as_base_exp()
    if base is sympy.E:
        rate = exponent / s
        return None if rate.has(s) else coefficient * power / rate
    if base != s or exponent.has(s) or not (exponent + 1).is_positive:
        return None
    return coefficient * s ** (exponent + 1) / (exponent + 1)


def _lift(warping: WarpVerdict) -> Lift:
    """Return dw/dbeta = rho J, dlog g/dbeta = rho H and rho."""
    p, rho = warping.parameterization, warping.metric.rho
    if warping.H is None:
        raise AssertionError("there is no Q to lift")
    H = warping.H
    columns = tuple(zip(*p.fields, strict=True))
    weights = tuple(tuple(dot(row, column) for column in columns) for row in rho)
    log_warp = tuple(dot(row, H) for row in rho)
    try:
        for function in (*(x for row in (*weights, *rho) for x in row), *log_warp):
            p.at_start(function)
    except ZeroDivisionError:
        raise BranchOpen("rho or grad log g is infinite at the start") from None
    return Lift(weights, log_warp, rho)


SQUARE = "|beta|**2"
HIGHEST = 6


def write_in_length(dual: DualCoordinates, notation: Notation) -> tuple[Piece, Chart] | None:
    """Return Q = q(s) + z.beta, s = |beta|, closed or an integral; None unless y = m beta."""
    metric, p = dual.metric, dual.parameterization
    m = _multiple(dual)
    base = base_chart(metric, notation)
    if m is None or base is None:
        return None
    s = notation.fresh("s", positive=True)
    chart = _with_functions(_with_length(base, dual, s), m)
    written = _write(chart, m)
    formulas = [r.explicit for r in chart.roots if r.explicit is not None]
    if written is None or len(formulas) < len(chart.roots):
        return None
    slopes = [at_start(p, y, notation) for y in dual.y]
    slope = with_formulas(written * s, chart.roots[1:])
    closed = power_rule(slope, s) or _through_conjugate(chart, dual, written, s)
    if (q := closed) is None:
        start = sympy.sqrt(to_factored_expr(p.at_start(dot(p.F, p.F)), notation.start_symbols))
        q = integral_from(start, sympy.powdenest(slope), s, notation)
    kind = Quadrature if closed is None else Explicit
    used = written.free_symbols.union(*(f.free_symbols for f in formulas))
    kept = keeps_sign(metric, dual.g)
    radial = Identity("y_i = m beta_i, so that Q = q(s) + z.beta with q' = s m", "m", repr(m))
    piece: Piece = kind(
        notation.betas,
        q - sympy.Add(*(z * b for z, b in zip(slopes, notation.betas, strict=True))),
        tuple(written * b - z for z, b in zip(slopes, notation.betas, strict=True)),
        tuple(c for c in chart.constants if c[0] in used),
        chart.roots,
        assumptions=(*notation.assumptions, *chart.assumptions, *kept),
        evidence=(*dual.evidence, *chart.evidence, radial),
    )
    return piece, base


def _through_conjugate(chart: Chart, dual: DualCoordinates, m: Expr, s: Symbol) -> Expr | None:
    """Return q = sum_i y_i F_i - R = m s^2 - R, where R can be written in s."""
    if dual.R is None or dual.R.logs:
        return None
    R = _write(chart, dual.R.rational)
    return None if R is None else m * s**2 - R


def _multiple(dual: DualCoordinates) -> RationalFunction | None:
    """Return m with y_i = m F_i for every i, proved, or None."""
    F = dual.parameterization.F
    if any(y.logs for y in dual.y) or len(F) < 2:
        return None
    m = dual.y[0].rational / F[0]
    return m if all(y.rational == m * f for y, f in zip(dual.y, F, strict=True)) else None


def _with_length(base: Chart, dual: DualCoordinates, s: Symbol) -> Chart:
    """Return the chart of s^2 = |beta|^2 and the conserved values, without beta itself."""
    p, betas = base.parameterization, base.notation.betas
    square = sympy.Add(*(b**2 for b in betas))
    root = Root(s, s**2 - square, sympy.sqrt(square), "the length of beta", 0)
    return replace(
        base,
        entries=((SQUARE, dot(p.F, p.F), s**2), *base.with_outputs().entries),
        roots=(root,),
        warp=dual.g,
        conditions=(p.at_start(dual.g),),
    )


def _with_functions(chart: Chart, m: RationalFunction) -> Chart:
    """Add weights and functions until m can be written, as far as that goes."""
    pending = _names(m, chart.warp or m)
    while _write(chart, m) is None:
        found = next(((n, c) for n in pending if (c := _with_function(chart, n)) is not None), None)
        if found is None:
            break
        name, chart = found
        pending.remove(name)
    return chart


def _names(m: RationalFunction, warp: RationalFunction) -> list[str]:
    """Return what m is made of: weights that are factors of the warp, functions, other weights."""
    names = set(m.variables())
    for g in m.field.generators:
        if g.name in names and g.kind != "parameter":
            names |= set(g.argument.variables())
    of_warp = {repr(f) for f, _ in factors(warp)}
    ranked = {name: (name not in of_warp, name in m.field.weights) for name in names}
    return sorted((n for n in m.field.names if n in names), key=lambda n: ranked[n])


def _with_function(chart: Chart, name: str) -> Chart | None:
    """Return the chart with one more weight or generator, or None."""
    field = chart.parameterization.field
    element = field.named(name)
    image: Expr | None = None
    for g in field.generators:
        if g.name == name and g.kind in ("exp", "root"):
            argument = _write(chart, field.embed(g.argument))
            if argument is not None:
                images = {"exp": (argument,), "root": (argument, g.index)}
                image = FUNCTIONS[g.kind](*images[g.kind])
        elif g.kind == "exp" and (known := chart.image(g.name)) is not None:
            rate = field.embed(g.argument) / element
            if rate.is_constant():
                image = sympy.expand_log(sympy.log(known)) / rational(rate.value())
    if image is not None:
        return chart.extended(name, element, image)
    found = simple_entry(chart, {name: element}, (1, 2, 3, 4))
    if found is not None:
        return found[1]
    relation = find_relation(element, chart.coordinates, highest=HIGHEST)
    return None if relation is None else add_root(chart, name, element, relation)


def _write(chart: Chart, function: RationalFunction) -> Expr | None:
    """Return a function of the weights in s, powers of exponentials taken out first, or None."""
    factor: Expr = sympy.Integer(1)
    rest = function
    for g in function.field.generators:
        image = chart.image(g.name)
        if g.kind == "exp" and g.name in rest.variables():
            if image is None:
                return None
            position = function.field.positions[g.name]
            n = int(rest.numerator.degrees()[position]) - int(rest.denominator.degrees()[position])
            rest = rest / function.field.named(g.name) ** n
            factor *= image**n
    if rest.is_constant():
        return factor * to_expr(rest, [])
    written = express(rest, chart.coordinates, HIGHEST)
    return None if written is None else factor * to_expr(written, chart.images)
