"""Q = q(|beta|) + z.beta of coupled outputs whose dual coordinates are y = m beta.

Where y_i F_j = y_j F_i for all i and j, grad Q = m beta + z with m a function of s = |beta| alone,
because m beta is a gradient. So q' = s m, and q is its integral even where no conjugate R of Q has
a closed form.
"""

from __future__ import annotations

from dataclasses import replace

import sympy
from sympy import Expr, Symbol

from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.implicitization import express, find_relation
from derive.exact.linear.matrix import dot
from derive.model.notation import FUNCTIONS, Notation, rational, to_expr, to_factored_expr
from derive.potential.branch import keeps_sign
from derive.potential.chart import Chart, at_start, base_chart
from derive.potential.entries import add_root, simple_entry
from derive.potential.piece import Explicit, Piece, Quadrature, Root, without_roots
from derive.potential.quadrature import integral_from, power_rule
from derive.verdict import Identity
from derive.weights.dual import DualCoordinates

SQUARE = "|beta|**2"
HIGHEST = 6


def write_in_length(dual: DualCoordinates, notation: Notation) -> tuple[Piece, Chart] | None:
    """Return Q = q(s) + z.beta, s = |beta|, in closed form or an integral; None unless y = m beta.

    Raises:
        AssumePositive, BranchOpen: the start does not select the branch of a root.
    """
    metric, p = dual.metric, dual.parameterization
    m = _multiple(dual)
    base = base_chart(metric, notation)
    if m is None or base is None:
        return None
    s = notation.fresh("s", positive=True)
    chart = _with_functions(_with_length(base, dual, s), m)
    written = _write(chart, m)
    if written is None or any(r.explicit is None for r in chart.roots):
        return None
    slopes = [at_start(p, y, notation) for y in dual.y]
    slope = without_roots(written * s, chart.roots[1:])
    closed = power_rule(slope, s)
    start = sympy.sqrt(to_factored_expr(p.at_start(dot(p.F, p.F)), notation.start_symbols))
    q = integral_from(start, slope, s, notation) if closed is None else closed
    kind = Quadrature if closed is None else Explicit
    used = written.free_symbols.union(*(r.explicit.free_symbols for r in chart.roots if r.explicit))
    kept = keeps_sign(metric, dual.g)
    assumptions = dict.fromkeys((*notation.assumptions, *chart.assumptions, *kept))
    radial = Identity("y_i = m beta_i, so that Q = q(s) + z.beta with q' = s m", "m", repr(m))
    piece: Piece = kind(
        notation.betas,
        q - sympy.Add(*(z * b for z, b in zip(slopes, notation.betas, strict=True))),
        tuple(written * b - z for z, b in zip(slopes, notation.betas, strict=True)),
        tuple(c for c in chart.constants if c[0] in used),
        chart.roots,
        assumptions=tuple(assumptions),
        evidence=(*dual.evidence, *chart.evidence, radial),
    )
    return piece, base


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
        entries=((SQUARE, dot(p.F, p.F), s**2), *base.without_outputs().entries),
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
