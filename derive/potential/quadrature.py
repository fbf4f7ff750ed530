"""Q as an integral: along beta, along a segment of beta, or in the length |beta|."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from math import lcm
from operator import mul
from typing import NamedTuple

import sympy
from sympy import Expr, Symbol
from sympy.integrals.rationaltools import ratint

from derive.errors import DeriveError
from derive.exact.field.factors import factored, linear_terms
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.field.polynomial import factorize
from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import dot
from derive.exact.liouville import not_elementary
from derive.exact.named_integrals import Exponential, meanings
from derive.exact.signs import Signs
from derive.exact.towers.tower import Tower, build_elements, to_field
from derive.language import from_sympy, to_sympy
from derive.model.condition import Sign
from derive.model.labels import quoted
from derive.model.notation import (
    BranchOpen,
    Constant,
    Notation,
    log_expr,
    positive_generators,
    to_expr,
    to_factored_expr,
    without_modulus,
)
from derive.model.parameterization import Parameterization
from derive.potential.accept import ZeroTest, accepted
from derive.potential.chart import Chart, base_chart, exponentials
from derive.potential.entries import Want, extend
from derive.potential.monotone import Layer, outermost
from derive.potential.piece import (
    Curve,
    Integrand,
    Left,
    Lift,
    Piece,
    Root,
    moving,
    trimmed,
    with_formulas,
    without_roots,
)
from derive.potential.rewriting import beside_logarithms, fewest, with_conjugates, with_hyperbolic
from derive.verdict import Identity, Verdict
from derive.weights.adjoin import logarithmic_law
from derive.weights.hessian import WarpVerdict
from derive.weights.metric import Metric
from derive.weights.solved_leaf import POSITIVE

OFTEN = 3
"""Places of a function of beta in Q from which on it has a name."""
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


def integrate_along_beta(metric: Metric, notation: Notation) -> tuple[Piece, Chart | None]:
    """Return Q = int (beta - b)/K(b) db from beta_0 of a single output.

    K is written in beta where a root allows it; K(b) is |grad F|^2 on the leaf otherwise.
    """
    chart = base_chart(metric, notation)
    rooted = None if chart is None else _with_roots(chart, metric.K[0][0])
    kernel = None if rooted is None else rooted.write(metric.K[0][0])
    piece = integrate_along_flow(metric, notation)
    if rooted is None or kernel is None:
        return piece, chart
    plain = without_roots(kernel, rooted.roots)
    ways = (beside_logarithms(f, plain) for f in (sympy.expand, sympy.factor))
    decide = ZeroTest(metric.parameterization, {})
    equal = [with_conjugates(e) for e in (plain, *ways) if decide.vanishes(e - plain)]
    insides = _insides(metric.parameterization)
    equal += filter(None, (_kernel_by(x, chart, metric.K[0][0], plain) for x in insides))
    shown = [r.polynomial if r.explicit is None else r.explicit for r in rooted.roots]
    if (short := fewest([sympy.Add(kernel, *shown), *equal])) in equal:
        kernel = short
    statement, K = f"K = {quoted(kernel, metric.parameterization)}", repr(metric.K[0][0])
    written = Identity(statement, K, str(kernel), kind="kernel", of=("K", str(kernel)))
    evidence = (*piece.evidence, *rooted.evidence, written)
    named = replace(piece, kernel=kernel, constants=rooted.constants, roots=rooted.roots, note="")
    return trimmed(replace(named, evidence=evidence, integrand=Integrand())), rooted


class _Inside(NamedTuple):
    """F = h(G), t = G.

    Attributes:
        t: positive, as -t is where G is negative.
        layers: the functions that h consists of, the outermost first.
        where: what t is, in words.
    """

    G: RationalFunction
    t: Symbol
    layers: tuple[Layer, ...]
    where: str

    def h(self, side: int = 1) -> Expr:
        """Return h(t), or of a negative t."""
        return reduce(lambda e, layer: layer.image(e), reversed(self.layers), side * self.t)

    def inverse(self, beta: Expr) -> Expr:
        """Return G as a function of beta."""
        return reduce(lambda e, layer: layer.inverse(e), self.layers, beta)

    def slope(self, K: Expr, beta: Symbol, side: int = 1) -> Expr:
        """Return h'(t)/K, of which the integral over t is that of 1/K over beta."""
        h = self.h(side)
        return h.diff(self.t) / K.xreplace({beta: h})

    @property
    def of_any_sign(self) -> Symbol:
        """t, of which nothing is known."""
        return Symbol(self.t.name, real=True)

    def with_signs(self, e: Expr, nonnegative: frozenset[str]) -> Expr:
        """Return a function of t of any sign, with log |A| of A whose signs are not known."""
        known, field = Signs(nonnegative), FunctionField((self.t.name,))

        def logarithm(A: Expr) -> Expr:
            with suppress(DeriveError):
                f = to_field(from_sympy(A), field, "a logarithm").compose((self.G,), self.G.field)
                if sign := known.is_nonnegative(f) - known.is_nonnegative(-f):
                    return sympy.log(sign * A)
            return sympy.log(sympy.Abs(A))

        return (
            sympy.expand_log(e).xreplace({self.t: self.of_any_sign}).replace(sympy.log, logarithm)
        )


def _insides(p: Parameterization) -> Iterator[_Inside]:
    """Yield what F is a function of, the outermost first."""
    layers, inner = list[Layer](), p
    while (layer := outermost(inner, Notation(inner))) is not None:
        layers, inner = [*layers, layer], layer.inner
        notation = Notation(inner)
        t = Symbol(str(notation.fresh("t")), positive=True)
        G = Tower.over(p.field, p.positive).element(inner.trees[0])
        where = f"with `{t} = {to_expr(inner.F[0], notation.weights)}`"
        yield _Inside(p.field.embed(G), t, tuple(layers), where)


def _kernel_by(inside: _Inside, chart: Chart, K: RationalFunction, plain: Expr) -> Expr | None:
    """Return K = |grad G|^2/(dG/dbeta)^2 in beta where it is *plain*, or None."""
    p, (beta,), G = chart.parameterization, chart.notation.betas, inside.G
    pairs = zip(p.field.gradient(G), p.field.gradient(p.F[0]), strict=True)
    pace = next(x / y for x, y in pairs if not y.is_zero())
    x = inside.of_any_sign
    inner = replace(chart, entries=((x.name, G, x), *chart.entries[1:]))
    if (rooted := _with_roots(inner, K * pace**2)) is None:
        return None
    t = inside.inverse(beta)
    height = without_roots(rooted.write(K * pace**2), rooted.roots)
    height = fewest([height, sympy.expand(height)])
    kernel = height.xreplace({x: t}) / sympy.factor(t.diff(beta)) ** 2
    known, decide = Signs((*p.nonnegative, *positive_generators(p.field))), ZeroTest(p, {})
    sides = [s for s in (1, -1) if not known.is_nonnegative(-s * G)]
    rests = ((kernel - plain).xreplace({beta: inside.h(side)}) for side in sides)
    return kernel if all(map(decide.vanishes, rests)) else None


def _kernel(piece: Piece) -> Expr | None:
    """Return K in beta, with formulas for all roots; None where one has none."""
    K = None if piece.kernel is None else with_formulas(piece.kernel, piece.roots)
    return None if K is None or K.has(*(root.symbol for root in piece.roots)) else K


def with_reason(piece: Piece, p: Parameterization) -> Piece:
    """Return int dbeta/K with why it is left, by that over the G of which it is said shortest."""
    if (K := _kernel(piece)) is None:
        return piece
    sides, told = (1, -1) if K.has(sympy.Abs) else (1,), list[str]()
    for inside in _insides(p):
        proofs = [_not_elementary(inside.slope(K, *piece.betas, side), inside.t) for side in sides]
        told += [f"{inside.where}, {proofs[0]}"] if all(proofs) else []
    if not told:
        return piece
    return replace(piece, integrand=Integrand("gradient not elementary", min(told, key=len)))


def in_beta(piece: Piece, chart: Chart | None) -> Piece | None:
    """Return Q = beta mu - R for int dbeta/K, mu = int dt h'/K and R = int h dmu over G; or None.

    G is written in beta again.
    """
    if chart is None or (K := _kernel(piece)) is None:
        return None
    p, names = chart.parameterization, chart.notation.start_symbols
    for inside in _insides(p):
        slope = inside.slope(K, *piece.betas)
        t, mu = chart.write(inside.G), _by_name(slope, inside.t, chart)
        R = None if mu is None else _by_name(inside.h() * slope, inside.t, chart)
        if t is not None and mu is not None and R is not None:
            mu, R = (inside.with_signs(e, p.nonnegative) for e in (mu, R))
            x, start = inside.of_any_sign, to_expr(p.at_start(inside.G), names)
            slope, R = (e.xreplace({x: t}) for e in (mu - mu.xreplace({x: start}), R))
            if (closed := _accepted(piece, slope, R, chart.notation)) is not None:
                return _with_name(closed, t, chart.notation)
    return None


def _with_name(piece: Piece, t: Expr, notation: Notation) -> Piece:
    """Return a form with a name for a function of beta that stands in it often, and is long."""
    t = t.as_coeff_Mul()[1]
    short = t.args[0].is_Symbol if t.is_Function else t.is_Symbol
    if short or str(piece.value).count(str(t)) < OFTEN:
        return piece
    A = notation.fresh("A")
    named = replace(piece, gradient=(piece.gradient[0].xreplace({t: A}),))
    root = Root(A, A - t, t, "the root", 0)
    return replace(named, value=piece.value.xreplace({t: A}), roots=(*piece.roots, root))


def _accepted(piece: Piece, slope: Expr, R: Expr, notation: Notation) -> Piece | None:
    """Return Q = beta mu - R with mu = dQ/dbeta for an integral over 1/K, where it is proved."""
    (beta,), (beta0,), constants = piece.betas, notation.beta_0, dict(piece.constants)
    value = beta * slope - moving(R, beta)
    K = with_formulas(piece.kernel, piece.roots)
    if sympy.Tuple(value, slope, K).has(*(root.symbol for root in piece.roots)):
        return None  # which moves with beta
    shown = (
        ("Q'' K = 1", without_modulus(slope).diff(beta) * K, sympy.S.One),
        (f"dQ/d{beta} = {slope}", without_modulus(value).diff(beta), without_modulus(slope)),
        (f"dQ/d{beta} = 0 at the start", slope.xreplace({beta: beta0, **constants}), sympy.S.Zero),
    )
    if (evidence := accepted(ZeroTest(notation.parameterization, {}), shown, "kernel")) is None:
        return None
    evidence, note = (*piece.evidence, *evidence), ", ".join(meanings(value))
    closed = {"value": value, "gradient": (slope,), "integrand": None, "note": note}
    return trimmed(replace(piece, evidence=evidence, **closed))


def _with_roots(chart: Chart, K: RationalFunction) -> Chart | None:
    """Return the chart with functions of F and weights, until K is written; None without that.

    Their branches are proved without assumptions.
    """
    p = chart.parameterization
    inner = [p.field.named(g.name) for g in p.field.generators if g.kind != "parameter"]
    below = [p.field.polynomial(f) for f, _ in factorize(p.F[0].denominator)[1]]
    terms = [[t.monomial for t in linear_terms(f)] for f in below]
    ratios = (x / first for first, *others in terms for x in others)
    inner += [exponentials(x) for x in (*p.fields[0], *ratios)] + below
    inner = [f for f in dict.fromkeys(inner) if not f.is_constant()]
    wants = [*map(Want, (*_roots_of_output(p), K))]
    own = [f for f, _ in factored(K)[1]]
    wants += [Want(f, exact=False) for f in (*inner, *p.w, *own)]
    wants += map(Want, own)
    grown = extend(chart, wants, lambda c: c.write(K) is not None, [frozenset(Sign)])
    return None if grown.write(K) is None else grown


def _roots_of_output(p: Parameterization) -> Iterator[RationalFunction]:
    """Yield the roots of F, a product of powers of weights, that are in the field of the weights.

    As under steepest descent, whose rates have roots of weights that are positive.
    """
    inside = {repr(g.argument): g for g in p.field.generators if g.kind == "root"}
    _, powers = factored(p.F[0])
    for n in sorted({g.index for g in inside.values()}):
        known = [(inside.get(repr(w)), w, *divmod(e, n)) for w, e in powers]
        if all(not rest or (g is not None and g.index == n) for g, _, _, rest in known):
            parts = [w**e * (p.field.named(g.name) ** rest if g else 1) for g, w, e, rest in known]
            yield reduce(mul, parts)


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
    if (closed := _in_powers(whole, s) or _by_name(whole, s, chart)) is not None:
        return Piece((s,), closed, (whole,), note=", ".join(meanings(closed)))
    integral, proof = integral_from(start, whole, s, notation), _not_elementary(whole, s)
    left = Integrand("not elementary", proof) if proof else Integrand()
    return Piece((s,), integral, (whole,), integrand=left)


def _not_elementary(slope: Expr, s: Symbol) -> str:
    """Return why the integral of a slope, with one free constant or none, is not elementary."""
    names = sorted(x.name for x in slope.free_symbols - {s})
    if names[1:]:
        return ""  # which the start may relate
    try:
        (f,) = build_elements([from_sympy(slope)], [s.name, *names], (), {s.name})
    except (DeriveError, ZeroDivisionError):
        return ""
    return not_elementary(f, names)


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


def _by_name(slope: Expr, s: Symbol, chart: Chart) -> Expr | None:
    """Return the antiderivative of what is rational in a root t of s, and in one exponential.

    None of another, and where signs are needed that are not known.
    """
    roots = (x.exp.q for x in slope.atoms(sympy.Pow) if x.base == s and x.exp.is_Rational)
    n, E = lcm(*roots), sympy.Dummy("E", positive=True)
    t = Symbol(str(chart.notation.fresh("t")), positive=True)
    integrand = slope.xreplace({s: t**n}) * n * t ** (n - 1)
    images = {x.name: x for x in integrand.free_symbols | {t}}
    try:
        names = sorted(images.keys() - {t.name})
        (f,) = build_elements([from_sympy(integrand)], [t.name, *names], (), {t.name})
    except (DeriveError, ZeroDivisionError):
        return None
    used = (g for g in f.field.generators if g.name in f.variables())
    calls = [g for g in used if not f.field.derivative(f.field.named(g.name), 0).is_zero()]
    if [g.kind for g in calls] not in (["exp"], []):
        return None
    A = to_expr(calls[0].argument, images) if calls else t
    g = to_expr(f, {**images, **{call.name: E for call in calls}})
    found = Exponential(t, E, A, lambda x, part: _rational(part, x), chart.sign).integral(g)
    if found is None or (found.has(sympy.pi) and "pi" in chart.notation.taken):
        return None
    found = found.xreplace({E: sympy.exp(A)}).xreplace({t: s ** sympy.Rational(1, n)})
    proved = ZeroTest(chart.parameterization, {}).vanishes(found.diff(s) - slope)
    return found if proved else None


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
