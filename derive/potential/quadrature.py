"""Q as an integral: along beta, along a segment of beta, or in the length |beta|."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd, lcm

import sympy
from sympy import Expr, Symbol
from sympy.integrals.rationaltools import ratint

from derive.errors import DeriveError
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import dot
from derive.exact.liouville import not_elementary
from derive.exact.named_integrals import Exponential, meanings
from derive.exact.signs import Signs
from derive.exact.towers.tower import build_elements
from derive.language import from_sympy, to_sympy
from derive.model.notation import (
    BranchOpen,
    Constant,
    Notation,
    log_expr,
    to_expr,
    to_factored_expr,
)
from derive.potential.accept import ZeroTest
from derive.potential.chart import Chart
from derive.potential.piece import Curve, Integrand, Left, Lift, Piece, Root, moving, without_roots
from derive.potential.rewriting import fewest, with_hyperbolic
from derive.verdict import Identity, Verdict
from derive.weights.adjoin import logarithmic_law
from derive.weights.hessian import WarpVerdict
from derive.weights.leaf_start import POSITIVE
from derive.weights.metric import Metric

INTEGRAL = "Q'' = 1/K, K = |grad F|^2 on the leaf"
KERNEL_ALONG_FLOW = "$K(b) = |grad F|^2$ where $w' = grad F$ from $w_0$ has $F = b$"


def integrate_along_flow(metric: Metric, notation: Notation, left: Left = "kernel") -> Piece:
    """Return Q = int (beta - b)/K(b) db from beta_0 of one output, K(b) where F = b on the flow."""
    (beta,), (beta0,), b = notation.betas, notation.beta_0, notation.fresh("b")
    K = sympy.Function(notation.fresh("K").name)(b)
    return Piece(
        notation.betas,
        sympy.Integral((beta - b) / K, (b, beta0, beta)),
        (sympy.Integral(1 / K, (b, beta0, beta)),),
        assumptions=notation.assumptions,
        evidence=(Identity(INTEGRAL, "1/Q''", repr(metric.K[0][0]), kind="integral"),),
        note=KERNEL_ALONG_FLOW,
        integrand=Integrand(left),
    )


def integrate_above_weight(
    metric: Metric, R: LogFunction | None, notation: Notation
) -> Piece | None:
    """Return Q = beta mu - R over a weight t, the other one a function A(t) without a formula.

    What the law gives of t is smooth, so that dt/dmu = r(t) is nowhere 0 where the flow is not at
    rest, and mu = int dt/r, R = int f/r dt, f = F(t, A).
    """
    p, found = metric.parameterization, _monotone_law(metric)
    if found is None:
        return None
    law, k, sign = found
    own, other = p.weights[1 - k], p.weights[k]
    t, A = (notation.fresh(n, positive=w in p.nonnegative) for n, w in (("t", own), ("A", other)))
    x, symbols = notation.fresh("x"), {**notation.weights, own: t, other: A}
    r, (beta,) = p.fields[0][1 - k], notation.betas
    try:
        for f in (r, 1 / r, law.rational, *(f for _, f in law.logs)):
            p.at_start(f)
    except ZeroDivisionError:
        return None
    begin = {w: to_expr(p.at_start(p.field.named(w)), notation.start_symbols) for w in p.weights}

    def shown(f: RationalFunction) -> Expr:
        whole = to_expr(f, symbols)
        return fewest([whole, to_factored_expr(f, symbols), with_hyperbolic(whole)])

    def integral(f: RationalFunction) -> Expr:
        moved = {t: x, A: sympy.Function(A.name, real=True)(x)}
        return sympy.Integral(shown(f).xreplace(moved), (x, begin[own], t))

    equation, pace, mu = sign * log_expr(law, symbols), shown(r), integral(1 / r)
    kept = equation.xreplace({symbols[w]: x for w, x in begin.items()})
    left, free = sympy.expand(equation).as_independent(A, as_Add=True)[::-1]
    if R is not None:
        conjugate = moving(log_expr(R, symbols), t, A)
    else:
        slope = shown(p.F[0] / r)
        rate = sympy.cancel(slope / free.diff(t)) if free.has(t) else t
        known = not rate.free_symbols and ZeroTest(p, {}).vanishes(slope - rate * free.diff(t))
        conjugate = moving(rate * free, t) if known else integral(p.F[0] / r)
    height = fewest([to_sympy(p.trees[0], symbols), to_expr(p.F[0], symbols)])
    return Piece(
        (beta,),
        beta * mu - conjugate,
        (mu,),
        assumptions=notation.assumptions,
        evidence=(
            Identity(f"d{t}/dmu = {pace}", str(pace), repr(r), kind="path", of=(str(pace),)),
            Identity("the law is kept", repr(law.along(p.fields[0])), "0"),
        ),
        note=f"`{own} = {t}`, `{other} = {A}`, the one root of `{left} = {kept - free}`, of which "
        f"the left side grows with `{A}`",
        integrand=Integrand("antiderivative"),
        curve=Curve(t, height, weight=own, roots=((other, A, left + free - kept),)),
    )


def _monotone_law(metric: Metric) -> tuple[LogFunction, int, int] | None:
    """Return the law of two weights, the place of one in which it is monotone, and how, or None."""
    p, laws = metric.parameterization, [*map(LogFunction, metric.conserved.laws)]
    laws += [] if laws else filter(None, [logarithmic_law(metric.conserved)])
    if p.p != 2 or len(laws) != 1:
        return None
    (law,), calls = laws, (g.name for g in p.field.generators if g.kind in POSITIVE)
    signs, units = Signs((*p.nonnegative, *calls)), (p.field.one, p.field.zero)
    # Smooth wherever both weights are: on an interval of each.
    inside = [p.field.polynomial(law.rational.denominator), *(f for _, f in law.logs)]
    if any(map(signs.zeros_of, inside)):
        return None
    slopes = [law.along(unit) for unit in (units, units[::-1])]
    return next(((law, k, s) for k, f in enumerate(slopes) if (s := signs.strict(f))), None)


def integrate_along_segment(
    warping: WarpVerdict, notation: Notation, left: Left = "antiderivative"
) -> Piece:
    """Return Q = int_0^1 (1 - t) <b, g rho b> dt above the segment beta_0 + t b."""
    d = warping.parameterization.d
    t, abbreviations = segment(notation)
    steps = [b for b, _ in abbreviations]
    G = [
        [sympy.Function(f"G{min(i, j) + 1}{max(i, j) + 1}")(t) for j in range(d)] for i in range(d)
    ]
    rows = [sympy.Add(*(x * b for x, b in zip(row, steps, strict=True))) for row in G]
    square = sympy.expand(sympy.Add(*(b * r for b, r in zip(steps, rows, strict=True))))
    above = f"at the point of the leaf above {_on_segment(steps)}"
    note = f"$G = g rho$ {above}, $g$ scaled to 1 at the start"
    if warping.hessian.verdict is Verdict.PROVED:
        note = f"$G = rho$ {above}"
    return Piece(
        notation.betas,
        sympy.Integral((1 - t) * square, (t, 0, 1)),
        tuple(sympy.Integral(r, (t, 0, 1)) for r in rows),
        abbreviations=abbreviations,
        integrand=Integrand(left),
        lift=find_lift(warping),
        evidence=warping.finding.evidence or warping.hessian.finding.evidence,
        note=note,
    )


def integrate_gradient(gradient: tuple[Expr, ...], notation: Notation) -> Piece:
    """Return Q = int_0^1 <y(beta_0 + t b), b> dt, y its gradient in closed form."""
    t, steps = segment(notation)
    slope = sympy.Add(*(sympy.Function(f"y{i}")(t) * b for i, (b, _) in enumerate(steps, 1)))
    integral = sympy.Integral(slope, (t, 0, 1))
    note = f"$y_i = dQ/dbeta_i$ at {_on_segment([b for b, _ in steps])}"
    left = Integrand("conjugate")
    return Piece(notation.betas, integral, gradient, note=note, abbreviations=steps, integrand=left)


def segment(notation: Notation) -> tuple[Symbol, tuple[Constant, ...]]:
    """Return t and the steps b = beta - beta_0 of the segment beta_0 + t b, named."""
    steps = tuple(
        (notation.fresh(f"b{i}"), beta - beta0)
        for i, (beta, beta0) in enumerate(zip(notation.betas, notation.beta_0, strict=True), 1)
    )
    return notation.fresh("t"), steps


def _on_segment(steps: Sequence[Symbol]) -> str:
    """Return the point beta_0 + t b in words, b by the names of its entries."""
    return f"$beta_0 + t$ `({', '.join(map(str, steps))})`"


def integral_from(start: Expr, slope: Expr, s: Symbol, notation: Notation) -> Expr:
    """Return the integral of a slope, a function of s, from the start of s."""
    x = notation.fresh("x")
    return sympy.Integral(slope.subs(s, x), (x, start, s))


def integrate_in_length(
    slope: Expr, roots: Sequence[Root], s: Symbol, start: Expr, chart: Chart
) -> Piece:
    """Return q with q' = slope, a function of s, and of roots with a formula or without one."""
    whole, notation = without_roots(slope, roots), chart.notation
    if whole.free_symbols & {r.symbol for r in roots}:
        hidden = integral_from(start, sympy.Function("psi")(s), s, notation)
        return Piece((s,), hidden, (slope,), note="$psi = dq/ds$", integrand=Integrand())
    if (closed := _in_powers(whole, s) or integral_by_name(whole, s, chart)) is not None:
        return Piece((s,), closed, (whole,), note=", ".join(meanings(closed)))
    integral, proof = integral_from(start, whole, s, notation), why_not_elementary(whole, s)
    left = Integrand("not elementary", proof) if proof else Integrand()
    return Piece((s,), integral, (whole,), integrand=left)


def why_not_elementary(slope: Expr, s: Symbol) -> str:
    """Return why the integral of a slope is not elementary, for one free constant or none."""
    names = sorted(x.name for x in slope.free_symbols - {s})
    try:
        (f,) = build_elements([from_sympy(slope)], [s.name, *names], (), {s.name})
    except (DeriveError, ZeroDivisionError):
        return ""
    return not_elementary(f, lambda names: len(names) < 2)  # the start may relate others


def _in_powers(slope: Expr, s: Symbol) -> Expr | None:
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


def integral_by_name(slope: Expr, s: Symbol, chart: Chart) -> Expr | None:
    """Return the antiderivative of what is rational in a root t of s, and in one exponential.

    None of another, and where signs are needed that are not known.
    """
    below = (x.exp.q for x in slope.atoms(sympy.Pow) if x.base == s and x.exp.is_Rational)
    n, t = lcm(*below), Symbol(str(chart.notation.fresh("t")), positive=True)
    integrand = slope.xreplace({s: t**n}) * n * t ** (n - 1)
    images = {x.name: x for x in integrand.free_symbols | {t}}
    try:
        names = sorted(images.keys() - {t.name})
        (f,) = build_elements([from_sympy(integrand)], [t.name, *names], (), {t.name})
    except (DeriveError, ZeroDivisionError):
        return None
    found = _by_exponential(f, images, t, chart)
    if found is None or (found.has(sympy.pi) and "pi" in chart.notation.taken):
        return None
    found = found.xreplace({t: s ** sympy.Rational(1, n)})
    proved = ZeroTest(chart.parameterization, {}).vanishes(found.diff(s) - slope)
    return found if proved else None


def _by_exponential(
    f: RationalFunction, images: Mapping[str, Expr], t: Symbol, chart: Chart
) -> Expr | None:
    """Return what may be an antiderivative of a function of t and E, of one exponential, or None.

    E is the greatest power of the exponential that f is rational in.
    """
    used = (g for g in f.field.generators if g.name in f.variables())
    calls = [g for g in used if not f.field.derivative(f.field.named(g.name), 0).is_zero()]
    if [g.kind for g in calls] not in (["exp"], []):
        return None
    A, E = t, sympy.Dummy("E", positive=True)
    for call in calls:
        k = _common_power(f, call.name)
        A = k * to_expr(call.argument, images)
        images = {**images, call.name: E ** sympy.Rational(1, k)}
    integrand = to_expr(f, images)
    found = Exponential(t, E, A, lambda x, part: _rational(part, x), chart.sign).integral(integrand)
    return None if found is None else found.xreplace({E: sympy.exp(A)})


def _common_power(f: RationalFunction, name: str) -> int:
    """Return the greatest n with f rational in the n-th power of a name."""
    k = f.field.positions[name]
    return gcd(*(int(e[k]) for side in f.parts for e in side.monoms()))


def _rational(f: Expr, x: Symbol) -> Expr | None:
    """Return an antiderivative of a rational function by logarithms of linear ones; or None."""
    found = ratint(f, x)
    return None if found.has(sympy.RootSum, sympy.I) else found


def find_lift(warping: WarpVerdict) -> Lift:
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
