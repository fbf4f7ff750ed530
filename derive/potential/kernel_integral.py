"""Q of a single output from its tangent kernel: Q'' = 1/K(beta), integrated in closed form.

Along the flow of one output beta' = K lambda, so Q''(beta) = 1/K on the leaf, where K is an
function of beta (:mod:`derive.weights.coordinate`). A closed form is accepted only after it
was proved that what is printed has this derivative. Where K is a rational function, Q = beta y -
int beta/K with y = int 1/K, both proposed by SymPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import sympy
from sympy import Expr, Symbol

from derive.errors import DeriveError, InputError
from derive.exact.elementary_signs import with_squares
from derive.exact.field.factors import exact_square_root, factors
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.named_integrals import meanings
from derive.exact.signs import Signs
from derive.exact.towers.reader import refined
from derive.exact.towers.tower import Tower
from derive.language import from_sympy, to_sympy
from derive.language.tree import Call, Tree, names, substituted, walk
from derive.model.condition import Condition, Sign
from derive.model.labels import quoted
from derive.model.notation import Constant, Notation, positive_generators, to_expr, to_factored_expr
from derive.model.parameterization import Parameterization
from derive.model.signs import start_sign
from derive.potential.accept import ZeroTest, accept_explicit, accept_in_beta
from derive.potential.antiderivative import (
    antiderivatives,
    at_start,
    gathered,
    logarithm,
    with_positive,
)
from derive.potential.chart import Chart, base_chart
from derive.potential.entries import with_kernel
from derive.potential.monotone import Layer, outermost
from derive.potential.piece import (
    Integrand,
    Piece,
    Root,
    moving,
    trimmed,
    with_formulas,
    without_roots,
)
from derive.potential.quadrature import integral_by_name, integrate_along_flow, why_not_elementary
from derive.potential.rewriting import (
    beside_logarithms,
    by_radical,
    fewest,
    with_conjugates,
    with_products,
    without_hyperbolic,
)
from derive.verdict import Identity
from derive.weights.coordinate import KernelRelation, Power, find_kernel_relation, find_power
from derive.weights.metric import Metric

OFTEN = 3
"""Places of a function of beta in Q from which on it has a name."""


def integrate_kernel(metric: Metric, notation: Notation) -> Piece | None:
    """Return Q with Q'' = 1/K in closed form, or None where no pattern fits.

    K is a multiple of a power of beta - b, or rational in beta; or K^2 is a quadratic without real
    zeros, whose Q is the hyperbolic entropy.

    Source: Woodworth et al. 2020, for the hyperbolic entropy.
    """
    if (power := find_power(metric)) is not None:
        return integrate_power(metric, notation, power)
    relation = find_kernel_relation(metric, notation, None)
    return None if relation is None else integrate_relation(relation)


def integrate_relation(relation: KernelRelation) -> Piece | None:
    """Return Q with Q'' = 1/K for K rational in beta, or the root of a quadratic; or None."""
    return integrate_rational(relation) if relation.m == 1 else _quadratic_kernel(relation)


def integrate_power(metric: Metric, notation: Notation, power: Power) -> Piece | None:
    """Return Q with Q'' = 1/(kappa t^n), t = |beta - b|, kappa and n of start and parameters."""
    p, (n, b) = metric.parameterization, power
    signed = n.is_constant() and (n.value() % 2 == 0 or n == 1)  # t^n is that of beta - b
    try:
        beta0, K0 = map(p.at_start, (p.F[0], metric.K[0][0]))
        sign, assumed = (1, ()) if signed else start_sign(beta0 - b, notation)
        m, kappa, K = _powers(power, sign * (beta0 - b), K0, sign, notation)
    except (InputError, ZeroDivisionError):
        return None
    field = K.field
    beta0, K0, b, kappa = map(field.embed, (beta0, K0, b, kappa))
    given = notation, field, notation.betas[0], (beta0,), ()
    relation = KernelRelation(*given, m, kappa * K, K0)
    if n == 1:
        return _entropy(relation, kappa, b)
    x, exponent = notation.betas[0], to_expr(n, notation.start_symbols)
    k = relation.expr(kappa) ** sympy.Rational(1, m)
    t, t0 = sign * (x - relation.shorter(b)), sign * relation.factored(beta0 - b)
    if n == 2:
        value = _without_constant((t / t0 - logarithm(relation, t)) / k, x)
        gradient = (1 / t0 - 1 / t) / k
    else:
        first, second = sympy.cancel(1 - exponent), sympy.cancel(2 - exponent)
        start, slope = _power_of_start(t0, first), sympy.factor(sign / (first * k))
        linear = sympy.powsimp(slope * start)
        value = sympy.factor(1 / (first * second * k)) * t**second - linear * x
        minus = slope.could_extract_minus_sign()
        gradient = -slope * (start - t**first) if minus else slope * (t**first - start)
        if linear != slope * start:
            gradient = slope * t**first - linear
    generic = (f for x in (n - 1, n - 2) for f, _ in factors(x) if not f.is_constant())
    shown = (to_expr(f, notation.start_symbols) for f in generic)
    excluded = (Condition(x, Sign.NONZERO) for x in shown)
    piece = Piece(
        (x,), value, (gradient,), assumptions=(*assumed, *excluded), kernel=k * t**exponent
    )
    return accept_explicit(relation, piece)


def _powers(
    power: Power, t0: RationalFunction, K0: RationalFunction, sign: int, notation: Notation
) -> tuple[int, RationalFunction, RationalFunction]:
    """Return m, kappa^m and t^(n m): m is 1 but where kappa^m alone is a number."""
    field = t0.field.extended((notation.betas[0].name,))
    n, t = power.n, sign * (field.gens[0] - field.embed(power.b))
    if n.is_constant():
        m = n.value().denominator
        k = int(n.value() * m)
        kappa = K0**m / t0**k
        if m == 1 or kappa.is_constant():
            return m, kappa, t**k
    below = _real_power(t0.field, t0, n)
    field = below.field.extended(field.names[:1])
    t = sign * (field.gens[0] - field.embed(power.b))
    return 1, below.field.embed(K0) / below, _real_power(field, t, field.embed(n))


def _power_of_start(t0: Expr, n: Expr) -> Expr:
    """Return t0^n, t0 > 0, factor by factor: (2 w^D)^(2/D) = 4^(1/D) w^2.

    Of one factor whose sign is not known it is that of the odd power that it has.
    """
    powers = (x.as_base_exp() for x in sympy.Mul.make_args(t0))
    other = [(b, k) for b, k in powers if not b.is_positive and not b.is_number]
    alone = len(other) == 1 and other[0][1].is_odd
    named = {other[0][0]: sympy.Dummy(positive=True)} if alone else {}
    power = sympy.powdenest(sympy.expand_power_base(t0.xreplace(named) ** n))
    power = power.replace(lambda e: e.is_Pow, lambda e: e.base ** sympy.expand(sympy.cancel(e.exp)))
    return power.xreplace({x: b for b, x in named.items()})


def _entropy(
    relation: KernelRelation, kappa: RationalFunction, shift: RationalFunction
) -> Piece | None:
    """Q'' = 1/(kappa (beta - b)); the logarithm of K/K_0 needs no sign."""
    x, k = relation.notation.betas[0], relation.expr(kappa)
    offset = relation.beta0 - shift
    ratio = relation.field.gens[0] / offset - shift / offset
    argument = relation.factored(ratio)
    if relation.field.relations.known:  # a quotient by roots would bring zeros of its own
        argument = relation.factored(relation.field.gens[0] - shift) / relation.factored(offset)
    logarithm = sympy.log(argument)
    value = (x - relation.expr(shift)) * logarithm / k - x / k
    kernel = k * (x - relation.expr(shift))
    piece = Piece((x,), value, (logarithm / k,), kernel=kernel)
    return accept_explicit(relation, piece)


def _without_constant(value: Expr, x: Symbol) -> Expr:
    """Drop the terms that do not depend on beta."""
    expanded = sympy.Add(*map(sympy.expand_mul, sympy.Add.make_args(value)))
    return sympy.Add(*(t for t in sympy.Add.make_args(expanded) if t.has(x)))


def _quadratic_kernel(relation: KernelRelation) -> Piece | None:
    """K^2 = q2 beta^2 + q1 beta + q0 with 4 q2 q0 > q1^2: the hyperbolic entropy."""
    field, q = relation.field, relation.power
    v = q.partial(0)
    q2 = v.partial(0) / field.constant(2)
    exact, positive = exact_square_root(q2), Signs(relation.positive).is_positive(q2)
    if exact is None and not positive:
        return None
    take_root = _square_root if positive else _named_root
    leading = relation.factored(q2)
    discriminant = 4 * q2 * q - v * v
    if discriminant.is_zero() or not Signs(relation.positive).is_nonnegative(discriminant):
        return None
    square = _square_content(q)
    # Either sign serves where the root of q2 is rational, as asinh is odd.
    scale = sympy.sqrt(leading) if exact is None else relation.factored(exact)
    scale /= square
    x, centre = relation.notation.betas[0], field.gens[0] - v / (2 * q2)
    root, constants = take_root(relation, discriminant / (4 * square**2 * q2))
    t, t0 = x - relation.expr(centre), relation.expr(relation.beta0 - centre)
    argument, start_slope = scale * t / root, sympy.asinh(scale * t0 / root) / (scale * square)
    K = square * sympy.sqrt(scale**2 * t**2 + root**2)
    slope = sympy.asinh(argument) / (scale * square)
    gradient = slope - start_slope
    value = t * slope - K / leading - start_slope * x
    assumptions = tuple(Condition(symbol) for symbol, _ in constants)
    piece = Piece((x,), value, (gradient,), constants, (), assumptions, kernel=K)
    return accept_explicit(relation, piece)


def _square_content(q: RationalFunction) -> int:
    """Return the largest integer s such that s^2 divides q."""
    content = int(q.numerator.primitive()[0])
    return int(sympy.Mul(*(b ** (e // 2) for b, e in sympy.factorint(content).items())))


def _square_root(
    relation: KernelRelation, radicand: RationalFunction
) -> tuple[Expr, tuple[Constant, ...]]:
    """Return sqrt(radicand) in start symbols, or sqrt(k) with k named where it is no square."""
    root, kinds = exact_square_root(radicand), {g.name: g.kind for g in radicand.field.generators}
    nested = root is not None and "root" in {kinds.get(name) for name in root.variables()}
    for candidate in () if root is None or nested else (root, -root):
        if Signs(relation.positive).is_nonnegative(candidate):
            return relation.expr(candidate), ()
    return _named_root(relation, radicand)


def _named_root(
    relation: KernelRelation, radicand: RationalFunction
) -> tuple[Expr, tuple[Constant, ...]]:
    """Return sqrt(k) with a name for k, where that is no number."""
    value = with_squares(relation.factored(radicand))
    if value.is_number:
        return sympy.sqrt(value), ()
    k = relation.notation.fresh("k", positive=True)
    return sympy.sqrt(k), ((k, value),)


def integrate_rational(relation: KernelRelation) -> Piece | None:
    """Return Q = beta y - R for K = kappa * r(beta), y = int 1/K and R = int beta/K."""
    K, x = relation.power, relation.variable
    found = antiderivatives(relation, K, relation.field.gens[0])
    if found is None:
        return None
    first, second, kappa = found
    first, whole = (
        sympy.Add(*(with_positive(relation, term) for term in sympy.Add.make_args(gathered(e, x))))
        for e in (first, x * first - second)
    )
    slope = at_start(relation, first)
    gradient = (first - slope) / kappa
    value = (moving(whole, x) - slope * x) / kappa
    kernel = with_positive(relation, with_conjugates(relation.factored(K)))
    piece = Piece((x,), value, (gradient,), kernel=kernel)
    return accept_explicit(relation, piece)


def _real_power(
    field: FunctionField, base: RationalFunction, n: RationalFunction
) -> RationalFunction:
    """Return base^n, base > 0, in the field or one that has it."""

    def build(units: dict[str, int]) -> RationalFunction:
        tower = Tower.over(field, (repr(base),))
        tower.units |= units
        power = tower.real_power(base, n)
        return tower.field.embed(power)

    return refined(build, "the exponent of K")


def integrate_along_beta(metric: Metric, notation: Notation) -> tuple[Piece, Chart | None]:
    """Return Q = int (beta - b)/K(b) db from beta_0 of a single output.

    K is written in beta where a root allows it; K(b) is |grad F|^2 on the leaf otherwise.
    """
    chart, piece = base_chart(metric, notation), integrate_along_flow(metric, notation)
    rooted = None if chart is None else with_kernel(chart, metric.K[0][0])
    kernel = None if rooted is None else rooted.write(metric.K[0][0])
    if chart is None or rooted is None or kernel is None:
        return piece, chart
    weights = {repr(f): e for _, f, e in rooted.entries if f in metric.parameterization.w}
    if {*metric.K[0][0].variables()} <= weights.keys():  # which are roots
        kernel = to_factored_expr(metric.K[0][0], weights)
    plain = without_roots(kernel, rooted.roots)
    ways = [beside_logarithms(f, plain) for f in (sympy.expand, sympy.factor)]
    ways += [by_radical({}, plain)] if plain.is_algebraic_expr() else []
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
        tree: G as it was typed.
        t: positive, as -t is where G is negative.
        layers: the functions that h consists of, the outermost first.
        where: what t is, in words.
    """

    G: RationalFunction
    tree: Tree
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

    def with_signs(self, e: Expr, p: Parameterization) -> Expr:
        """Return a function of t of any sign, with log |A| of A whose signs are not known.

        What F has logarithms of is positive.
        """
        calls = (x for x in walk(p.trees[0]) if isinstance(x, Call) and x.function == "log")
        known, inside = Signs(p.nonnegative), [_element(x.argument, p) for x in calls]

        def logarithm(A: Expr) -> Expr:
            with suppress(DeriveError):
                f = _element(substituted(from_sympy(A), {self.t.name: self.tree}), p)
                if sign := known.where_positive(f, inside):
                    return sympy.log(sign * A)
            return sympy.log(sympy.Abs(A))

        return (
            sympy.expand_log(e).xreplace({self.t: self.of_any_sign}).replace(sympy.log, logarithm)
        )


def _element(tree: Tree, p: Parameterization) -> RationalFunction:
    """Return a function of the weights and the start, in what their field is extended by."""
    field = p.field.extended([x for x in names((tree,)) if x not in p.field.names])
    return Tower.over(field, p.positive).element(tree)


def _insides(p: Parameterization) -> Iterator[_Inside]:
    """Yield what F is a function of, the outermost first."""
    layers, inner = list[Layer](), p
    while (layer := outermost(inner, Notation(inner))) is not None:
        layers, inner = [*layers, layer], layer.inner
        notation = Notation(inner)
        t = Symbol(str(notation.fresh("t")), positive=True)
        G = _element(inner.trees[0], p)
        where = f"with `{t} = {to_expr(inner.F[0], notation.weights)}`, "
        yield _Inside(p.field.embed(G), inner.trees[0], t, tuple(layers), where)


def _places(p: Parameterization, beta: Symbol) -> Iterator[_Inside]:
    """Yield beta itself, and what F is a function of."""
    yield _Inside(p.F[0], p.trees[0], Symbol(beta.name, positive=True), (), "")
    yield from _insides(p)


def _kernel_by(inside: _Inside, chart: Chart, K: RationalFunction, plain: Expr) -> Expr | None:
    """Return K = |grad G|^2/(dG/dbeta)^2 in beta where it is *plain*, or None."""
    p, (beta,), G = chart.parameterization, chart.notation.betas, inside.G
    pairs = zip(p.field.gradient(G), p.field.gradient(p.F[0]), strict=True)
    pace = next(x / y for x, y in pairs if not y.is_zero())
    x = inside.of_any_sign
    inner = replace(chart, entries=((x.name, G, x), *chart.entries[1:]))
    if (rooted := with_kernel(inner, K * pace**2)) is None:
        return None
    t = inside.inverse(beta)
    height = without_roots(rooted.write(K * pace**2), rooted.roots)
    height = fewest([height, sympy.expand(height)])
    kernel = height.xreplace({x: t}) / sympy.factor(t.diff(beta)) ** 2
    known, decide = Signs((*p.nonnegative, *positive_generators(p.field))), ZeroTest(p, {})
    sides = [s for s in (1, -1) if not known.is_nonnegative(-s * G)]
    rests = ((kernel - plain).xreplace({beta: inside.h(side)}) for side in sides)
    return with_conjugates(kernel) if all(map(decide.vanishes, rests)) else None


def _kernel(piece: Piece) -> Expr | None:
    """Return K in beta, with formulas for all roots; None where one has none."""
    K = None if piece.kernel is None else with_formulas(piece.kernel, piece.roots)
    return None if K is None or K.has(*(root.symbol for root in piece.roots)) else K


def with_reason(piece: Piece, p: Parameterization) -> Piece:
    """Return int dbeta/K with why it is left, over beta or the G of which it is said shortest."""
    if (K := _kernel(piece)) is None:
        return piece
    (beta,), sides, told = piece.betas, (1, -1) if K.has(sympy.Abs) else (1,), list[str]()
    for inside in _places(p, beta):
        proofs = [why_not_elementary(inside.slope(K, beta, side), inside.t) for side in sides]
        told += [inside.where + proofs[0]] if all(proofs) else []
    if not told:
        return piece
    return replace(piece, integrand=Integrand("gradient not elementary", min(told, key=len)))


def in_beta(piece: Piece, chart: Chart | None) -> Piece | None:
    """Return Q = beta mu - R for int dbeta/K, mu = int dt h'/K and R = int h dmu over G; or None.

    G is beta, or is written in beta again.
    """
    if chart is None or (K := _kernel(piece)) is None:
        return None
    p, symbols, (beta,) = chart.parameterization, chart.notation.start_symbols, piece.betas
    for inside in _places(p, beta):
        slope = inside.slope(K, beta)
        t, mu = chart.write(inside.G), integral_by_name(slope, inside.t, chart)
        R = None if mu is None else integral_by_name(inside.h() * slope, inside.t, chart)
        if t is not None and mu is not None and R is not None:
            mu, R = (sympy.powsimp(inside.with_signs(e, p), combine="exp") for e in (mu, R))
            x, typed = inside.of_any_sign, substituted(inside.tree, dict(p.start))
            start = to_sympy(typed, symbols)
            mu, begin, R = mu.xreplace({x: t}), mu.xreplace({x: start}), R.xreplace({x: t})
            for slope in (mu - e for e in _with_products_in_logarithms(begin)):
                if (closed := _accepted(piece, slope, R, chart.notation)) is not None:
                    return _with_name(closed, t, chart.notation)
    return None


def _with_products_in_logarithms(e: Expr) -> list[Expr]:
    """Return ways to write an expression with products in logarithms, the shortest first."""

    def logarithm(A: Expr) -> Expr:
        ways = (with_products(with_conjugates(sympy.factor(x))) for x in (A, without_hyperbolic(A)))
        return sympy.expand_log(sympy.log(fewest(ways)))

    rest, products = sympy.S.Zero, dict[Expr, Expr]()
    for term in sympy.Add.make_args(sympy.expand(e)):
        c, log = term.as_independent(sympy.log)
        if isinstance(log, sympy.log):
            products[c] = products.get(c, sympy.S.One) * log.args[0]
        else:
            rest += term
    joined = rest + sympy.Add(*(c * logarithm(A) for c, A in products.items()))
    return sorted((e, e.replace(sympy.log, logarithm), joined), key=lambda x: int(x.count_ops()))


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
    value = fewest([value, moving(sympy.expand_mul(value), beta)])
    K = with_formulas(piece.kernel, piece.roots)
    if sympy.Tuple(value, slope, K).has(*(root.symbol for root in piece.roots)):
        return None  # which moves with beta
    note = ", ".join(meanings(value))
    closed = replace(piece, value=value, gradient=(slope,), integrand=None, note=note)
    decide = ZeroTest(notation.parameterization, {})
    found = accept_in_beta(decide, closed, K, {beta: beta0, **constants})
    return trimmed(replace(closed, evidence=(*piece.evidence, *found))) if found else None
