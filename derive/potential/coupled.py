"""Q of several coupled outputs from the dual coordinates: Q = sum_i y_i beta_i - R."""

from __future__ import annotations

from dataclasses import replace

import sympy
from sympy import Expr, Symbol

from derive.exact.linear.families import LogFunction, normalized
from derive.exact.linear.implicitization import find_relation
from derive.model.notation import BranchOpen, Constant, Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.potential.branch import keeps_sign
from derive.potential.chart import Chart, base_chart
from derive.potential.entries import (
    add_functions,
    add_power,
    add_root,
    add_weights,
    cheapest_relation,
)
from derive.potential.logarithms import (
    at_start,
    definite_logs,
    exponentials_as_logs,
    log_arguments,
    not_zero,
    write_logs,
)
from derive.potential.piece import Explicit, Piece, Quadrature
from derive.verdict import Identity
from derive.weights.dual import DualCoordinates, is_conjugate
from derive.weights.metric import Metric


def write_in_beta(dual: DualCoordinates, notation: Notation) -> tuple[Piece, Chart] | None:
    """Return Q in beta through a chart of the leaf, or None where no chart was found."""
    metric = dual.metric
    p = metric.parameterization
    chart = base_chart(metric, notation)
    if chart is None:
        return None
    if dual.R is not None:
        R = definite_logs(dual, exponentials_as_logs(dual.R, p), notation)
        dual = replace(dual, R=R if is_conjugate(p, R, dual.g) else dual.R)
    chart = replace(chart, warp=dual.g, conditions=(p.at_start(dual.g),))
    completed = _complete(chart, dual, p)
    if completed is None:
        return None
    chart = completed
    gradients = [_write(chart, y) for y in dual.y]
    if any(g is None for g in gradients):
        return None
    slopes = [at_start(p, y, notation) for y in dual.y]
    betas = notation.betas
    gradient = tuple(g - s for g, s in zip(gradients, slopes, strict=True) if g is not None)
    value = _value(chart, dual, p)
    piece: Piece
    if value is None:
        integral, steps = _along_segment(p, notation)
        note = "`y_i = dQ/dbeta_i` at `beta_0 + t b`"
        piece = Quadrature(betas, integral, gradient, note=note, abbreviations=steps)
    else:
        value -= sympy.Add(*(s * b for s, b in zip(slopes, betas, strict=True)))
        moving = {*betas, *(r.symbol for r in chart.roots)}
        value = sympy.Add(*(t for t in sympy.Add.make_args(value) if t.free_symbols & moving))
        piece = Explicit(betas, value, gradient)
    evidence = (*dual.evidence, *chart.evidence, *_legendre(dual, p))
    piece = replace(piece, assumptions=_assumptions(dual, chart), evidence=evidence)
    return chart.named(piece), chart


def _legendre(dual: DualCoordinates, p: Parameterization) -> tuple[Identity, ...]:
    """Return sum_i F_i X_j y_i = X_j R for all j: sum_i y_i beta_i - R has the gradient y."""
    if dual.R is None:
        return ()
    pairs = list(zip(p.F, dual.y, strict=True))
    sides = [
        (sum((f * y.along(x) for f, y in pairs), p.field.zero), dual.R.along(x)) for x in p.fields
    ]
    if any(left != right for left, right in sides):
        raise AssertionError("y and R were accepted before")
    left, right = (", ".join(map(repr, side)) for side in zip(*sides, strict=True))
    return (Identity("sum_i beta_i dy_i = dR, so Q = sum_i y_i beta_i - R", left, right),)


def _along_segment(p: Parameterization, notation: Notation) -> tuple[Expr, tuple[Constant, ...]]:
    """Return int_0^1 <grad Q(beta_0 + t b), b> dt, and b = beta - beta_0."""
    t, named = segment(p, notation)
    slope = sympy.Add(*(sympy.Function(f"y{i}")(t) * b for i, (b, _) in enumerate(named, 1)))
    return sympy.Integral(slope, (t, 0, 1)), named


def segment(p: Parameterization, notation: Notation) -> tuple[Symbol, tuple[Constant, ...]]:
    """Return t and the steps b = beta - beta_0 of the segment beta_0 + t b, named."""
    steps = tuple(
        (notation.fresh(f"b{i}"), beta - to_expr(p.at_start(f), notation.start_symbols))
        for i, (beta, f) in enumerate(zip(notation.betas, p.F, strict=True), 1)
    )
    return notation.fresh("t"), steps


def _complete(chart: Chart, dual: DualCoordinates, p: Parameterization) -> Chart | None:
    """Extend the chart until y, g and R can be written in it."""
    if any(y.logs for y in dual.y):
        for argument in log_arguments(dual.y):
            relation = find_relation(argument, chart.coordinates)
            # Only log |P| is needed, which a power of P gives whatever its sign.
            name = f"_P{len(chart.roots)}"
            added = None if relation is None else add_power(chart, name, argument, relation)
            if added is None:
                return None
            start = p.at_start(argument)
            nonzero = () if start.is_constant() else (not_zero(start, chart.notation),)
            chart = replace(added[0], assumptions=(*added[0].assumptions, *nonzero))
        return chart
    if _suffices(chart, dual):
        return chart
    functions = [*(y.rational for y in dual.y), dual.g]
    if dual.R is not None:
        functions += [dual.R.rational, *(a for _, a in dual.R.logs)]
    needed = [w for w in p.weights if any(w in f.variables() for f in functions)]
    # Weights of the warp first: the others follow from beta and them.
    needed.sort(key=lambda w: w not in dual.g.variables())
    try:
        # With a single y, the length of a vector, the root of the warp gives the shorter Q.
        own = _own_roots(chart, dual) if p.d > 1 else None
    except BranchOpen:
        own = None
    if own is not None:
        return own
    candidates = {w: p.w[p.weights.index(w)] for w in needed}
    candidates = {"_g": dual.g, **candidates} if not dual.g.is_constant() else candidates
    found = cheapest_relation(chart, candidates)
    rooted = None if found is None else add_root(chart, found[0], candidates[found[0]], found[1])
    if rooted is None or _suffices(rooted, dual):
        return rooted
    rooted = add_functions(rooted)
    return rooted if _suffices(rooted, dual) else add_weights(rooted, needed)


def _own_roots(chart: Chart, dual: DualCoordinates) -> Chart | None:
    """Make each dual coordinate, or its inverse, a root variable, where that is explicit."""
    # Multiples of the warp first: their sign is known.
    ordered = sorted(enumerate(dual.y, 1), key=lambda e: not (e[1].rational / dual.g).is_constant())
    for i, y in ordered:
        if chart.write(y.rational) is not None:
            continue
        function = normalized(1 / y.rational if y.rational.degree() < 0 else y.rational)
        relation = find_relation(function, chart.coordinates, highest=6)
        if relation is None:
            return None
        extended = add_root(chart, f"_y{i}", function, relation)
        if extended is None or extended.roots[-1].explicit is None:
            return None
        chart = extended
    return chart if _suffices(chart, dual) else None


def _suffices(chart: Chart, dual: DualCoordinates) -> bool:
    """Tell whether Q can be written in the chart as it is."""
    plain = not chart.parameterization.field.generators
    if dual.R is None or (dual.R.logs and plain):
        return False
    targets = [*(y.rational for y in dual.y), dual.R.rational]
    if any(chart.write(t) is None for t in targets):
        return False
    return not dual.R.logs or write_logs(chart, dual.R) is not None


def _write(chart: Chart, y: LogFunction) -> Expr | None:
    rational = chart.write(y.rational)
    if rational is None:
        return None
    logs = write_logs(chart, y)
    return None if logs is None else rational + logs


def _value(chart: Chart, dual: DualCoordinates, p: Parameterization) -> Expr | None:
    """Return sum_i y_i F_i - R in beta, the shortest way that is found."""
    if dual.R is None:
        return None
    total = -dual.R.rational
    for y, f in zip(dual.y, p.F, strict=True):
        total += y.rational * f
    rational = (chart.write(total, without_beta=True) if chart.roots else None) or chart.write(
        total
    )
    if rational is None:
        known = {name: image for name, _, image in chart.entries}
        if not all(name in known for name in total.variables()):
            return None
        rational = to_expr(total, [known.get(n, sympy.Integer(0)) for n in p.weights])
    logs = write_logs(chart, dual.R)
    if logs is None:
        return None
    result = rational - logs
    for y, beta in zip(dual.y, chart.notation.betas, strict=True):
        part = write_logs(chart, y)
        if part is None:
            return None
        result += part * beta
    return result


def _assumptions(dual: DualCoordinates, chart: Chart) -> tuple[str, ...]:
    """Say what the branches of the roots and the sign of the warp rest on."""
    found = [f"{name} > 0" for name in sorted(chart.notation.assumed)]
    return tuple(dict.fromkeys((*found, *chart.assumptions, *keeps_sign(chart.metric, dual.g))))


def kernel_in_beta(metric: Metric, chart: Chart | None) -> tuple[tuple[Expr, ...], ...] | None:
    """Return K in beta, entry by entry, each proved by expansion; None where K was not written."""
    if chart is None:
        return None
    d = metric.parameterization.d
    entries: dict[tuple[int, int], Expr] = {}
    for i in range(d):
        for j in range(i, d):
            written = chart.write(metric.K[i][j])
            if written is None:
                return None
            entries[i, j] = entries[j, i] = written
    return tuple(tuple(entries[i, j] for j in range(d)) for i in range(d))
