"""Q of a single output through a coordinate t of its leaf, along which the flow is rational.

Along w' = grad F let dt/dmu = r(t) and dbeta/dmu = K(t). The mirror map is mu = int dt/r, and t of
beta is the solution of dt/dbeta = r/K from the start. Where beta = f(t) is rational, Q = beta mu -
R with the conjugate R = int f/r dt, and t is the root of f(t) = beta on which the flow is. Where f
= c log G + b or c atan G + b, with G of degree 1 or 2, t is an elementary function of beta, and Q
is int mu df.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, permutations
from typing import NamedTuple

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import with_squares
from derive.exact.field.factors import factored, factors
from derive.exact.field.function_field import RationalFunction, names_in
from derive.exact.linear.families import LogFunction, normalized
from derive.exact.linear.implicitization import Coordinates, express, find_relation
from derive.exact.linear.matrix import dot
from derive.exact.named_integrals import NAMED, meanings
from derive.exact.signs import Signs
from derive.exact.towers.tower import to_field
from derive.language import from_sympy
from derive.model.condition import Condition, Sign
from derive.model.notation import AssumePositive, BranchOpen, Notation, to_expr, to_factored_expr
from derive.model.parameterization import Parameterization
from derive.potential.accept import ZeroTest, accept_curve, accept_in_beta
from derive.potential.antiderivative import (
    antiderivative,
    antiderivatives,
    at_start,
    collected,
    gathered,
    known_sign,
)
from derive.potential.chart import HIGHEST, Chart, Entry, base_chart, named_chart
from derive.potential.coupled import write_in_beta
from derive.potential.domain import Domain
from derive.potential.entries import add_root
from derive.potential.half_spaces import exceptions
from derive.potential.kernel_integral import in_beta
from derive.potential.monotone import Outer, find_outer
from derive.potential.piece import Curve, Integrand, Piece, moving, poles
from derive.potential.quadrature import integral_from
from derive.potential.rewriting import by_radical, fewest, log_of, with_hyperbolic, with_products
from derive.potential.shortest import METRIC, WEIGHT_SPACE, Form, operations, shortest
from derive.potential.substitution import beside_logarithms
from derive.verdict import Identity
from derive.weights.coordinate import Coordinate
from derive.weights.dual import DualCoordinates, is_conjugate, is_dual
from derive.weights.hessian import WarpVerdict
from derive.weights.metric import Metric

HALF = sympy.Rational(1, 2)
FAR = 30
"""Weighted degree at which searches for relations of two functions stop, as HIGHEST of more."""


@dataclass(frozen=True)
class LeafCurve(Coordinate):
    """The leaf in a coordinate t in which r and K are rational.

    Attributes:
        chart: of beta and of what is constant on the leaf.
        t: the coordinate in the weights.
        r, K: dt/dmu and dbeta/dmu along the flow.
        f: beta where it is a rational function of t, None of another.
        outer: beta as a function of one, where it is none.
    """

    warping: WarpVerdict
    chart: Chart
    t: RationalFunction
    r: RationalFunction
    K: RationalFunction
    f: RationalFunction | None
    outer: Outer | None

    @property
    def rates(self) -> tuple[Expr, Expr]:
        """dt/dmu and dbeta/dmu."""
        return self.expr(self.r), self.expr(self.K)

    @property
    def begin(self) -> dict[Symbol, Expr]:
        """What t and the constants are at the start."""
        names = (self.variable, *self.constants)
        return dict(zip(names, map(self.shorter, self.values), strict=True))

    @property
    def short(self) -> LeafCurve:
        """The same with the values of constants that have no sums in place of their names."""
        return self._without_names(lambda value: not value.has(sympy.Add))

    @property
    def valued(self) -> LeafCurve:
        """The same with the values of constants in place of their names."""
        return self._without_names(lambda _: True)

    def _without_names(self, short: Callable[[Expr], bool]) -> LeafCurve:
        t, *rest = self.field.gens
        named = zip(self.named, self.values[1:], rest, strict=False)
        known = [value if short(written) else name for (_, written), value, name in named]
        images = (t, *known, *rest[len(known) :])
        r, K = (x.compose(images, self.field) for x in (self.r, self.K))
        f = self.f and self.f.compose(images, self.field)
        h = self.outer and self.outer._replace(G=self.outer.G.compose(images, self.field))
        return replace(self, chart=self.chart.without_names(short), r=r, K=K, f=f, outer=h)


def leaf_curves(warping: WarpVerdict, notation: Notation) -> Iterator[LeafCurve]:
    """Yield the leaf in the coordinates in which it is rational."""
    if (chart := named_chart(warping.metric, notation)) is not None:
        outer = find_outer(chart.parameterization)
        for t in _coordinates(warping.metric, outer):
            with suppress(AssumePositive, BranchOpen, ZeroDivisionError):
                yield from filter(None, [_find_curve(warping, chart, t, outer)])


def first_form(
    curves: Iterable[LeafCurve], present: Callable[[LeafCurve], Form | None]
) -> Form | None:
    """Return Q through the first coordinate in which it can be presented, or None."""
    for curve in curves:
        with suppress(AssumePositive, BranchOpen, ZeroDivisionError):
            if (form := present(curve)) is not None:
                return form
    return None


def _coordinates(metric: Metric, outer: Outer | None) -> Iterator[RationalFunction]:
    """Yield what F is a function of, and what the flow cannot cross."""
    p = metric.parameterization
    yield from () if outer is None else (outer.G,)
    if metric.conic is not None:
        yield from filter(None, (normalized(metric.conic.K), metric.conic.exponential))
    for w in dict.fromkeys((*p.w, *metric.conserved.darboux)):
        yield from (w * w, w)
    pairs = (permutations(x[:3], 2) for x in (p.w, _by_weights(p)))
    yield from dict.fromkeys(v / w for v, w in chain.from_iterable(pairs))
    yield from (
        p.field.named(g.name) for g in p.field.generators if g.kind not in ("parameter", "power")
    )


def _by_weights(p: Parameterization) -> list[RationalFunction]:
    """Return what F is the product of, sinh(u) and sinh(v), by the weights that are in it."""
    found = dict[frozenset[str], RationalFunction]()
    for f, n in factored(p.F[0])[1]:
        own = frozenset({*p.weights} & names_in(f))
        found[own] = found.get(own, p.field.one) * f**n
    apart = sum(map(len, found)) == len(frozenset().union(*found))
    return [*found.values()] if apart else []


def _find_curve(
    warping: WarpVerdict, chart: Chart, t: RationalFunction, known: Outer | None
) -> LeafCurve | None:
    """Return the leaf in a coordinate in which r, and beta or K, are rational, or None."""
    p, A = chart.parameterization, chart.notation.fresh("A")
    own, kept = _kept(chart, t)
    highest = HIGHEST if kept[1:] else FAR
    field = p.start_field.extended((A.name, *(symbol.name for symbol in own)))

    def start(f: RationalFunction) -> RationalFunction:
        return p.at_start(f).compose(field.gens[1 + len(own) :], field)

    coordinates = Coordinates.of([("_t", t), *((n, f) for n, f, _ in kept)])
    values = (field.gens[0], *(field.named(n) if x in own else start(f) for n, f, x in kept))

    def written(f: RationalFunction) -> RationalFunction | None:
        found = express(f, coordinates, highest)
        return None if found is None else found.compose(values, field)

    r = written(dot(p.fields[0], p.field.gradient(t)))
    if r is None or r.is_zero():
        return None
    f, outer = written(p.F[0]), None
    if f is not None:
        K = f.partial(0) * r
    elif known is not None and (G := written(known.G)) is not None:
        outer, image = known._replace(G=G), known.inverse(chart.notation)
        chart = chart.extended(f"({known.G!r})", known.G, image)
        K = outer.slope * G.partial(0) * r
    else:
        return None
    laws = {x: f for _, f, x in kept}
    if not laws.keys() >= {*own}:  # of a constant no law is the value, but a function of it is
        return None
    at_start = (start(t), *(start(laws[x]) for x in own))
    given = chart.notation, field, A, at_start, tuple(own), warping, chart
    return LeafCurve(*given, t, r, K, f, outer)


def _kept(chart: Chart, t: RationalFunction) -> tuple[list[Symbol], list[Entry]]:
    """Return the constants and the entries of what is constant on the leaf, beside t.

    Beside the exponential of a conic its law is enough.
    """
    kept, conic = [*chart.entries[1:]], chart.metric.conic
    fixed = [*chart.parameterization.field.constants.values()]
    if conic is not None and t == conic.exponential:
        few = [entry for entry in kept if entry[1] in (conic.law, *fixed)]
        kept = few if len(few) > len(fixed) else kept
    names = {name for name, _, _ in kept}
    return [symbol for symbol, _ in chart.constants if symbol.name in names], kept


class _Integrated(NamedTuple):
    """mu and Q in t.

    Attributes:
        f: beta.
        gradient: mu, 0 at the start.
        value: Q = beta mu - R, None where it was not found.
        mu, whole, line: the same as mu - line and whole - beta line.
        evidence: that mu is the time from the start, and dQ = mu dbeta.
    """

    f: Expr
    gradient: Expr
    value: Expr | None
    mu: Expr
    whole: Expr | None
    line: Expr
    evidence: tuple[Identity, ...]


def _integrated(curve: LeafCurve) -> _Integrated | None:
    """Return mu = int dt/r and Q in closed form, accepted, or None."""
    if curve.f is not None:
        found = _of_rational(curve, curve.f)
    else:
        found = curve.outer and _of_outer(curve, curve.outer)
    if found is None:
        return None
    along = (found.f, *curve.rates)
    evidence = accept_curve(curve, curve.begin, along, found.gradient, found.value)
    return None if evidence is None else found._replace(evidence=evidence)


def _of_rational(curve: LeafCurve, f: RationalFunction) -> _Integrated | None:
    """Return what may be mu and Q = beta mu - R, R = int f/r dt, or None."""
    found, A, (beta,) = antiderivatives(curve, curve.r, f), curve.variable, curve.notation.betas
    if found is None:
        return None
    first, second, kappa = gathered(found[0], A), gathered(found[1], A), found[2]
    start = at_start(curve, first)
    gradient = (first - start) / kappa
    value = beta * gradient - moving(second, A) / kappa
    whole = (beta * first - second) / kappa
    return _Integrated(curve.expr(f), gradient, value, first / kappa, whole, start / kappa, ())


def _of_outer(curve: LeafCurve, outer: Outer) -> _Integrated | None:
    """Return what may be mu and, where that is found, Q = int mu df, for f = c h(G) + b; or None.

    Of mu = rest + k h(G) it is int rest df and half a square.
    """
    notation, ratio, x = curve.notation, curve.K / curve.r, curve.variable
    (beta,), (beta0,) = notation.betas, notation.beta_0
    if (mu := antiderivative(curve, 1 / curve.r)) is None:
        return None
    c, b = outer.line(notation)
    s, G = (beta - b) / c, curve.expr(outer.G)
    call, bare = outer.h(G), {sympy.log(sympy.Abs(G)): sympy.log(G)}  # G > 0 of logarithms
    mu = mu.xreplace(bare)
    k = mu.coeff(call)
    rest = mu - k * call
    start = at_start(curve, rest) + k * s.xreplace({beta: beta0})
    gradient, value = collected(mu, x) - start, None
    if not rest.has(sympy.log, sympy.atan):
        rest = to_field(from_sympy(rest), curve.field, "dQ/dbeta")
        if (whole := antiderivative(curve, rest * ratio)) is not None:
            whole = collected(whole, x).xreplace(bare)
            linear = whole.coeff(call)
            others, line = whole.xreplace({call: sympy.S.Zero}), sympy.expand(linear / c - start)
            value = others + c * k * s**2 / 2 + line * beta
    elif (whole := beside_logarithms(curve, rest, ratio)) is not None:
        value = whole + c * k * s**2 / 2 - start * beta
    return _Integrated(c * call + b, gradient, value, mu, None, start, ())


def through_root(curve: LeafCurve) -> Form | None:
    """Return Q(beta, A), A the root of f(A) = beta on which the flow is, or None."""
    curve = curve.short
    chart = curve.chart
    solved = find_relation(curve.t, chart.coordinates)
    # Where t is rational in beta so is K.
    if solved is None or solved.degree == 1:
        return None
    rooted = add_root(chart, curve.t, solved, 1)
    if rooted is None or rooted.assumptions or (found := _integrated(curve)) is None:
        return None
    evidence, chart = (*rooted.evidence, *found.evidence), rooted
    t = chart.roots[-1].explicit
    if found.value is None and t is None:
        return None
    piece = _in_outputs(curve, found, t)
    piece = chart.named(replace(piece, evidence=evidence, domain=_domain(curve)))
    if found.whole is not None and not found.whole.has(sympy.log, sympy.atan):
        parts = found.whole, found.mu, found.line
        piece = min(piece, chart.named(_without_root(piece, curve, *parts)), key=operations)
    piece = _given(piece, chart)
    more = len(piece.assumptions) > len(chart.notation.assumptions)
    # Other integrals ask less of the start.
    return None if piece.integrand and more else Form(METRIC, piece, chart)


def _in_outputs(curve: LeafCurve, found: _Integrated, t: Expr | None) -> Piece:
    """Return Q in beta and t, which has the value *t* there; an integral where Q is not found."""
    (beta,), (beta0,), x = curve.notation.betas, curve.notation.beta_0, curve.variable
    slope, value = found.gradient, found.value
    if curve.outer is not None:
        c, b = curve.outer.line(curve.notation)
        inner = {curve.outer.h(curve.expr(curve.outer.G)): (beta - b) / c}
        slope, value = slope.xreplace(inner), None if value is None else value.xreplace(inner)
    if value is None:
        value = integral_from(beta0, slope.xreplace({x: t}), beta, curve.notation)
        return Piece((beta,), value, (slope,), integrand=Integrand("conjugate"))
    return Piece((beta,), moving(value, beta, x), (slope,), note=", ".join(meanings(value)))


def along_itself(curve: LeafCurve) -> Form | None:
    """Return Q = beta mu(t) - R(t) on beta = f(t), where no root of that is known, or None.

    As t is smooth wherever F is, dt/dmu = r(t) has no zero and no pole along the flow.
    """
    curve = curve.short
    chart, t, (beta,) = curve.chart, curve.variable, curve.notation.betas
    below = (normalized(P) for P, _ in factors(curve.t.field.polynomial(curve.t.denominator)))
    smooth = {*below} <= {*chart.metric.conserved.darboux}
    found = _integrated(curve) if smooth and curve.f is not None else None
    if curve.f is None or found is None:
        return None
    own = with_squares(to_factored_expr(curve.t, curve.notation.weights))
    path = Curve(t, curve.shorter(curve.f), weight=str(own))
    piece = Piece(
        (beta,),
        found.value,
        (found.gradient,),
        assumptions=(*chart.notation.assumptions, *_regular(curve, curve.f)),
        evidence=found.evidence,
        domain=_domain(curve),
        curve=path,
        note=f"`{t} = {own}`",
    )
    return Form(METRIC, _with_named_root(chart.named(piece), curve), chart)


def _with_named_root(piece: Piece, curve: LeafCurve) -> Piece:
    """Return the form with a name for the root of constants that is in it often."""
    fixed, whole = {*curve.constants}, sympy.Tuple(piece.value, *piece.gradient)
    bases = {x.base for x in whole.atoms(sympy.Pow) if abs(x.exp) == HALF}
    own = (b for b in sorted(bases, key=str) if b.free_symbols <= fixed)
    base = next((b for b in own if known_sign(curve, b) > 0), None)
    if base is None:
        return piece
    s, value = curve.notation.fresh("s", positive=True), base.xreplace(dict(piece.constants))
    powers = {x: s ** (2 * x.exp) for x in whole.atoms(sympy.Pow) if x.base == base}
    named = piece.mapped(lambda e: e.xreplace(powers))
    return replace(named, constants=(*piece.constants, (s, sympy.sqrt(value))))


def _regular(curve: LeafCurve, f: RationalFunction) -> Iterator[Condition]:
    """Yield that t and beta are smooth at the start, and t moves there, where K is not 0."""
    field, known, at = curve.field, Signs(curve.positive), curve.notation.start_symbols
    sides = (*curve.r.parts, f.denominator)
    zeros = (g for side in sides for g in known.zeros_of(curve.start(field.polynomial(side))))
    left = (g for g in dict.fromkeys(zeros) if repr(g) not in curve.chart.metric.rests_at)
    yield from (Condition(to_expr(g, at), Sign.NONZERO) for g in left)


def _given(piece: Piece, chart: Chart) -> Piece:
    """Return the piece with what is assumed of the start: that of the chart, and no pole."""
    generic = poles(piece, {symbol.name for symbol, _ in piece.constants})
    generic = tuple(condition.within(piece.constants) for condition in generic)
    return replace(piece, assumptions=(*chart.notation.assumptions, *generic))


def _without_root(piece: Piece, curve: LeafCurve, value: Expr, mu: Expr, line: Expr) -> Piece:
    """Return Q = value - beta line, with its slope mu - line, by the formula of its root."""
    roots = {r.symbol: r.explicit for r in piece.roots if r.explicit is not None}
    if not roots:
        return piece
    (beta,), K = piece.betas, curve.expr(curve.K)
    whole, slope, kernel = (by_radical(roots, e) for e in (value, mu, K))
    known = None if kernel.is_Add else kernel
    value = moving(whole, beta, *roots) - beta * line
    return replace(piece, value=value, gradient=(slope - line,), kernel=known)


def through_weights(curve: LeafCurve) -> Form | None:
    """Return Q = beta mu - R with mu and R rational in t, and so in the weights, or None."""
    chart, p = curve.chart, curve.chart.parameterization
    integrals = None if curve.f is None else antiderivatives(curve, curve.r, curve.f)
    if integrals is None or any(e.has(sympy.log, sympy.atan) for e in integrals):
        return None
    laws = {name: f for name, f, _ in chart.entries}
    known = [curve.t, *(laws[symbol.name] for symbol in curve.constants)]
    images = (*known, *[p.field.zero] * (len(curve.field.names) - len(known)))

    def in_weights(e: Expr) -> RationalFunction:
        element = to_field(from_sympy(e / integrals[2]), curve.field, "an integral")
        return element.compose(images, p.field)

    mu, R = integrals[0], LogFunction(in_weights(integrals[1]))
    forms = list[Form]()
    # Where a symmetry swaps t = 0 with infinity, mu less the mean of the two is odd.
    ends = [e for e in (sympy.cancel(mu).subs(curve.variable, 0),) if not e.has(sympy.zoo)]
    for middle in dict.fromkeys((sympy.S.Zero, *(e / 2 for e in ends))):
        y = LogFunction(in_weights(mu - middle))
        if is_dual(p, (y,), p.field.one) and is_conjugate(p, R, p.field.one):
            written = write_in_beta(
                DualCoordinates(curve.warping, (y,), p.field.one, R, ()), chart.notation
            )
            forms += [] if written is None else [Form(WEIGHT_SPACE, *written)]
    return next(iter(shortest(forms)), None)


def _domain(curve: LeafCurve) -> Domain | None:
    """Return all of R where F is a polynomial and K = f' r has no zero, or None.

    The polynomial f then maps R onto R, and beta and A are bounded together.
    """
    K, f, notation, p = curve.K, curve.f, curve.notation, curve.notation.parameterization
    if (
        f is None
        or p.field.generators
        or p.parameters
        or not (f.is_polynomial() and p.F[0].is_polynomial())
    ):
        return None
    met = {g for g, _ in factors(curve.start(K))}
    for g, _ in factors(K):
        middle = exceptions(g, 1, notation.positive)
        # What is 0 nowhere but for a start with K = 0 is no end.
        if g.depends_on(0) and (middle is None or not {*middle} <= met):
            return None
    return Domain(notation.betas, "slope")


def through_call(curve: LeafCurve) -> Form | None:
    """Return Q in beta where t is a function of that by logarithms or angles, or None."""
    if curve.outer is None:
        return None
    curve = curve.valued
    x, (beta,), (beta0,) = curve.variable, curve.notation.betas, curve.notation.beta_0
    t, chart = curve.chart.write(curve.t), base_chart(curve.chart.metric, curve.notation)
    if t is None or (found := _integrated(curve)) is None:
        return None
    decide = ZeroTest(curve.notation.parameterization, {})

    def written(e: Expr) -> Expr:
        return with_hyperbolic(e.xreplace({x: t}))

    kernel = fewest(map(written, (curve.factored(curve.K), curve.expr(curve.K))))
    shorter = with_products(kernel)
    kernel = shorter if decide.vanishes(shorter - kernel) else kernel
    piece = _in_outputs(curve, found, t)
    (slope,), value = map(written, piece.gradient), written(piece.value).replace(sympy.log, log_of)
    if piece.integrand is None:
        value = fewest([moving(e, beta) for e in (value, sympy.expand_mul(value))])
    assumed = curve.notation.assumptions
    piece = replace(piece, value=value, gradient=(slope,), kernel=kernel, assumptions=assumed)
    evidence = accept_in_beta(decide, piece, kernel, {beta: beta0}, "kernel")
    if not evidence:
        return None
    piece = replace(piece, evidence=evidence)
    over_beta = in_beta(piece, chart)
    if over_beta and (piece.integrand or _named(over_beta) < _named(piece)):
        piece = over_beta
    return Form(METRIC, piece, chart)


def _named(piece: Piece) -> int:
    """Return how many integrals in Q have a name."""
    return len(piece.value.atoms(*NAMED))
