"""Of several proved forms of one Q, the one that is printed: closed, of fewest terms, shortest.

A value is compared with the gradient that was proved in numbers, which flint computes.

Q of coupled outputs is written in the shortest way that is proved equal. Where outputs, laws and an
affine function of the outputs have signs, as 1 - sum_i beta_i > 0 of softmax, powers and logarithms
of quotients are those of the factors: what the chart wrote in ratios of outputs, and in roots that
are quotients, becomes (sum_i beta_i^(2/p))^(p/2), or sum_i beta_i log beta_i. Two forms are equal
if they are in n-th roots of what has a sign, in which their radicals are rational.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, reduce
from math import lcm, prod
from random import Random
from typing import Any, TypeAlias

import sympy
from flint import acb, acb_poly, acb_series, arb, ctx, fmpq
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.hyperbolic import HyperbolicFunction

from derive.model.condition import Sign
from derive.model.notation import without_modulus
from derive.potential.accept import ZeroTest
from derive.potential.antiderivative import joined
from derive.potential.chart import Chart
from derive.potential.piece import Piece, moving
from derive.potential.rewriting import fewest

METRIC = "metric in beta (Q'' = 1/K)"
"""K is written in beta and integrated twice."""
DUAL_TIME = "dual time (beta = h(mu))"
"""The weights are written in the dual time mu, in which beta = h(mu) = grad Q*(mu)."""
WEIGHT_SPACE = "weight space (dual coordinates)"
"""The main road: (y, g) with <grad y_i, grad F_j> = g delta_ij."""
SEPARATE = "separate coordinates (Q = sum_k q_k(x_k))"
"""Q of each output x_k = <v_k, beta> alone, where their gradients are orthogonal."""

Key: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Form:
    """One proved form of Q, and the road to it.

    Attributes:
        chart: how functions of the weights are written in beta on that road, where found.
    """

    road: str
    piece: Piece
    chart: Chart | None


def shortest(forms: Sequence[Form]) -> list[Form]:
    """Return the forms with the one to print first, the first given of equal ones.

    Integrals come after closed forms, those of functions that are not written out after others,
    and what rests on a sign along the flow that is only assumed after all like it.
    """
    return _ranked(forms, (_is_open, _terms, operations))


def _ranked(forms: Sequence[Form], keys: Sequence[Callable[[Piece], Key]]) -> list[Form]:
    """Return the forms by the first key, those of the same by the next."""
    shown = {(x.value, x.gradient, x.roots, x.assumptions) for x in (f.piece for f in forms)}
    if len(shown) < 2 or not keys:
        return [*forms]
    known = [(keys[0](form.piece), form) for form in forms]
    groups = ([f for k, f in known if k == key] for key in sorted({k for k, _ in known}))
    return [form for group in groups for form in _ranked(group, keys[1:])]


def _is_open(piece: Piece) -> Key:
    assumed = any(c.sign is Sign.KEPT for c in piece.assumptions)
    return piece.kind == "quadrature", bool(piece.value.atoms(AppliedUndef)), assumed


def used(piece: Piece) -> list[Expr]:
    """Return Q and the roots that it uses."""
    roots = (r.polynomial if r.explicit is None else r.explicit for r in piece.roots)
    return [piece.value, *roots]


def _terms(piece: Piece) -> Key:
    return (sum(map(count_terms, used(piece))),)


def operations(piece: Piece) -> Key:
    """Return the number of operations in Q, the roots that it uses, and its gradient."""
    return (sum(int(e.count_ops()) for e in (*used(piece), *piece.gradient)),)


def count_terms(expression: Expr) -> int:
    """Return the number of terms, of products multiplied out.

    >>> from sympy.abc import x, y
    >>> count_terms(x * (y + 1) - 3), count_terms(x * y)
    (3, 1)
    """
    return len(sympy.Add.make_args(sympy.expand_mul(expression)))


TRIES, BITS, CLOSE, FINE = 3, 160, 1e-12, arb(2) ** -120


def has_gradient(piece: Piece) -> bool:
    """Tell whether a value may have the gradient that was proved: False is certain.

    It refuses what was put together wrongly: there is a point in numbers, among a few, at which
    both agree. Roots T of P(T, beta) = 0, of which any may be taken, move by dT = -dP/(dP/dT).
    """
    try:
        with ctx.workprec(BITS):
            near = 3 * len(piece.betas)  # in a simplex
            return any(_agrees(piece, Random(k), near if k % 2 else 1) for k in range(TRIES))
    except ValueError:  # the roots, or a function, have no numbers
        return True


def _agrees(piece: Piece, rng: Random, near: int) -> bool:
    value, point = without_modulus(piece.value), _point(piece, rng, near)
    for b, slope in zip(piece.betas, piece.gradient, strict=True):
        known = point | {b: acb_series([point[b], 1], 2)}
        for T, P in ((root.symbol, root.polynomial) for root in piece.roots):
            own_rate = _slope(P, point | {T: acb_series([point[T], 1], 2)})
            known[T] = acb_series([point[T], -_slope(P, known) / own_rate], 2)
        size = _value(slope, point)
        if not abs(_slope(value, known) - size) < CLOSE * (1 + abs(size)):
            return False
    return True


def _point(piece: Piece, rng: Random, near: int) -> dict[Expr, Any]:
    """Return numbers for all symbols of a form, the outputs divided by *near*."""
    shown = (piece.value, *piece.gradient, *piece.betas, *(x for _, x in piece.constants))
    own = {*(s for s, _ in piece.constants), *(root.symbol for root in piece.roots)}
    free = sorted(set().union(*(e.free_symbols for e in shown)) - own, key=str)
    point: dict[Expr, Any] = {s: acb(fmpq(rng.randint(20, 90), 37)) for s in free}
    point |= {b: point[b] / near for b in piece.betas}
    point |= {symbol: _value(constant, point) for symbol, constant in piece.constants}
    for root in piece.roots:
        found = _value(root.polynomial, point | {root.symbol: acb_poly([0, 1])}).roots(FINE)
        real = [acb(x.real.mid()) for x in found if x.imag.contains(0)]
        point[root.symbol] = max(real or [x.mid() for x in found], key=lambda x: x.real)
    return point


def _slope(e: Expr, symbols: Mapping[Expr, Any]) -> Any:
    found = _value(e, symbols)
    return found[1] if isinstance(found, acb_series) else acb(0)


def _value(e: Expr, symbols: Mapping[Expr, Any]) -> Any:
    """Return what an expression is where symbols are numbers, polynomials or series."""
    known = dict(symbols)

    def at(e: Expr) -> Any:
        if e not in known:
            parts = [at(x) for x in e.args]
            if e.is_Add or e.is_Mul:
                known[e] = reduce(operator.add if e.is_Add else operator.mul, parts)
            elif e.is_Pow:
                known[e] = parts[0] ** (int(e.exp) if e.exp.is_Integer else parts[1])
            elif isinstance(e, HyperbolicFunction | sympy.asinh):
                known[e] = at(e.rewrite(sympy.log if isinstance(e, sympy.asinh) else sympy.exp))
            else:
                known[e] = _called(type(e).__name__, *parts) if parts else _number(e)
        return known[e]

    return at(e)


def _number(e: Expr) -> acb:
    if not isinstance(e, Expr):
        raise ValueError(f"{e} is no number")
    return acb(fmpq(int(e.p), int(e.q)) if e.is_Rational else str(e.evalf(BITS)))


def _real(x: acb | acb_series) -> arb:
    return (x[0] if isinstance(x, acb_series) else x).real


def _called(function: str, x: Any, *others: Any) -> Any:
    if function == "Abs":
        return x if _real(x) > 0 else -x
    if function == "log" and _real(x) < 0:
        return (-x).log()  # log |A|
    f = None if others else getattr(x, function.replace("sign", "sgn"), None)
    if f is not None:
        return f()
    raise ValueError(f"no numbers of {function} are known")


LONGEST = 2000
"""Characters of Q and its gradient beyond which it is left as it is."""


def shorter(form: Form) -> Form:
    """Return Q with logarithms joined, and quotients in the place of roots, if that is shorter."""
    piece = form.piece
    texts = map(_length, (piece.value, *piece.gradient))
    if form.chart is None or piece.integrand is not None or sum(texts) > LONGEST:
        return form
    chart = form.chart.in_outputs()
    quotients = {r.symbol: r.explicit for r in piece.roots if r.polynomial.diff(r.symbol, 2) == 0}
    shorten = _Shortening(piece, chart)
    value = shorten(piece.value.xreplace(quotients))
    slopes = zip(piece.gradient, map(value.diff, piece.betas), strict=True)
    gradient = [shorten(g.xreplace(quotients), slope, roots=value) for g, slope in slopes]
    value = moving(value, *piece.betas, *(r.symbol for r in piece.roots))
    written = chart.named(replace(piece, value=value, gradient=tuple(gradient)))
    sizes = [[sum(map(_length, e)) for e in (used(x), x.gradient)] for x in (written, piece)]
    better = sizes[0] < sizes[1] and has_gradient(written)
    return replace(form, piece=written) if better else form


@lru_cache(maxsize=256)
def _length(expression: Expr) -> int:
    return len(str(expression))


def _by_outputs(expression: Expr, betas: Sequence[Symbol], moving: Sequence[Symbol]) -> Expr:
    """Return a sum with one term for all that are linear in an output, with constant slopes."""
    terms = sympy.Add.make_args(expression)
    linear = [t for t in terms if any(not (t / b).has(*moving) for b in betas)]
    rest = sympy.Add(*(t for t in terms if t not in linear))
    return rest + sympy.collect(sympy.expand_mul(sympy.Add(*linear)), betas)


class _Shortening:
    """One step of rewriting after the other, as long as what is proved equal gets shorter."""

    def __init__(self, piece: Piece, chart: Chart) -> None:
        self.betas, self.sign = piece.betas, cache(chart.sign)
        self.moving = (*piece.betas, *(root.symbol for root in piece.roots))
        self.affine = next(filter(self.sign, _affine(piece)), sympy.S.Zero)
        self.decide = ZeroTest(chart.parameterization, {})
        self.signed = [*self.images(piece, chart)]
        self.laws = {value: symbol for symbol, value in chart.constants if value.is_Add}

    def __call__(self, e: Expr, *others: Expr, roots: Expr | None = None) -> Expr:
        """Return the shortest way to write e, which others equal, with the radicals of *roots*.

        A way is compared with e when no shorter one is left.
        """
        found = (way for x in (e, *others) for way in self.ways(x))
        ways = (way for x in found for way in (x, _by_outputs(x, self.betas, self.moving)))
        fewer = (way for way in ways if roots is None or _radicals(way) <= _radicals(roots))
        named = {way: way.xreplace(self.laws) for way in fewer if _length(way) < _length(e)}
        by_length = sorted(named, key=lambda way: _length(named[way]))
        candidates = (way for way in by_length if _length(named[way]) < _length(e))
        shortest = next((named[way] for way in candidates if self.vanishes(way - e)), e)
        return e if shortest == e else self(shortest, roots=roots)

    def vanishes(self, e: Expr) -> bool:
        """Tell whether an expression is proved zero where outputs and laws have their signs."""
        images = (split_powers(e.xreplace(images), sign_of) for images in self.signed)
        return any(map(self.decide.vanishes, images))

    def ways(self, e: Expr) -> Iterator[Expr]:
        """Yield an expression with powers split, its terms factored, and its logarithms joined."""
        a, last = self.affine, sympy.Dummy("last", positive=True)
        image = self.sign(a) * last
        named = {a: image, -a: -image} if a else {}
        c = sympy.expand(a).as_coeff_Add()[0]
        whole = sympy.expand(image - a + c)
        relation = {whole: c, -whole: -c}
        for rooted in dict.fromkeys((e, split_powers(e, self.sign))):
            terms = map(sympy.factor, sympy.Add.make_args(rooted.xreplace(named)))
            factored = sympy.Add(*(sympy.powsimp(term.xreplace(relation)) for term in terms))
            yield from (rooted, factored.subs(last, self.sign(a) * a))
            yield from map(by_logarithms, (rooted, split_logarithms(rooted, self.sign)))

    def images(self, piece: Piece, chart: Chart) -> Iterator[dict[Expr, Expr]]:
        """Yield what has a sign in positive symbols: laws; beside these outputs as +-t_i^n.

        Where an affine function of the outputs is a = c - sum_i c_i beta_i, and a and all
        c_i beta_i have the sign of c, they are c t_j^n/sum_k t_k^n.
        """
        laws = (law for law, _ in chart.constants if self.sign(law) > 0)
        signed: dict[Expr, Expr] = {law: Symbol(law.name, positive=True) for law in laws}
        yield signed
        n = root_index(piece)
        betas = [b for b in piece.betas if self.sign(b)]
        fresh = (chart.notation.fresh(f"t{i}", positive=True) for i, _ in enumerate(betas, 1))
        roots = {b: t**n for b, t in zip(betas, fresh, strict=True)}
        a, c = self.affine, sympy.expand(self.affine).as_coeff_Add()[0]
        slopes = {b: -a.diff(b) for b in betas}
        terms = [self.sign(a), *(slope * self.sign(b) for b, slope in slopes.items())]
        if len(betas) < len(piece.betas) or not all(c * x > 0 for x in terms):
            yield signed | {b: self.sign(b) * power for b, power in roots.items()}
            return
        share = c / (1 + sympy.Add(*roots.values()))
        own = {b: share * power / slopes[b] for b, power in roots.items()}
        yield signed | own | {a: share, -a: -share}


def _affine(piece: Piece) -> Iterator[Expr]:
    """Yield the affine functions of the outputs in Q, with numbers."""
    sums = {x for x in piece.value.atoms(sympy.Add) if x.free_symbols <= {*piece.betas}}
    for x in sorted(sums, key=_length):
        if x.is_polynomial(*piece.betas) and sympy.Poly(x, *piece.betas).total_degree() == 1:
            yield x


def _radicals(expression: Expr) -> set[Expr]:
    """Return what is under roots."""
    return {x.base for x in expression.atoms(sympy.Pow) if not x.exp.is_Integer}


def root_index(piece: Piece) -> int:
    """Return n such that radicals of outputs in Q and its gradient are rational in n-th roots."""
    shown = (piece.value, *piece.gradient)
    powers = (x for e in shown for x in e.atoms(sympy.Pow) if x.base.has(*piece.betas))
    rational = (x for x in powers if x.exp.is_Rational and x.base.is_rational_function())
    return lcm(*(int(x.exp.q) for x in rational))


def by_logarithms(expression: Expr) -> Expr:
    """Return what is linear in logarithms with one for each coefficient, which is in lowest terms.

    >>> x, y = Symbol("x"), Symbol("y")
    >>> by_logarithms(x * (y * sympy.log(x) / x + sympy.log(y) * y / x - 1) / y)
    -x/y + log(x*y)
    """
    names = {log: sympy.Dummy(real=True) for log in expression.atoms(sympy.log)}
    named = expression.xreplace(names)
    slopes = {log: sympy.factor(named.diff(name)) for log, name in names.items()}
    if not names or any(slope.has(*names.values()) for slope in slopes.values()):
        return expression
    units = dict[Expr, list[tuple[Expr, Expr]]]()
    for log, slope in sorted(((x, y) for x, y in slopes.items() if y != 0), key=str):
        number, unit = slope.as_coeff_Mul()
        sign = -1 if unit.could_extract_minus_sign() else 1
        units.setdefault(sign * unit, []).append((log.args[0], sign * number))
    logs = (
        number * unit * sympy.log(sympy.Mul(*(A**n for A, n in powers)))
        for unit, numbers in units.items()
        for number, powers in joined(numbers)
    )
    rest = named.xreplace(dict.fromkeys(names.values(), sympy.S.Zero))
    rests = (rest, sympy.cancel(rest), sympy.expand_mul(sympy.cancel(rest)))
    return sympy.Add(*logs, fewest(rests))


def split_logarithms(expression: Expr, sign: Callable[[Expr], int]) -> Expr:
    """Return the logarithms of products as those of the factors, where these have a sign.

    >>> x, y = Symbol("x"), Symbol("y")
    >>> split_logarithms(sympy.log(x / (x * y - 2 * y)), lambda factor: 1)
    log(x) - log(y) - log(x - 2)
    """

    def split(argument: Expr) -> Expr:
        factors = [x.as_base_exp() for x in sympy.Mul.make_args(sympy.factor(argument))]
        if not all(sign(b) for b, _ in factors):
            return sympy.log(argument)
        return sympy.Add(*(n * sympy.log(sign(b) * b) for b, n in factors))

    return expression.replace(sympy.log, split)


@lru_cache(maxsize=2048)
def split_powers(expression: Expr, sign: Callable[[Expr], int]) -> Expr:
    """Return the powers (A^m/B^n)^e of quotients as those of factors, where all have a sign.

    >>> x, y = Symbol("x"), Symbol("y")
    >>> split_powers(sympy.sqrt(x / y) * y, lambda factor: 1)
    sqrt(x)*sqrt(y)
    """
    if not expression.args:
        return expression
    whole = expression.func(*(split_powers(x, sign) for x in expression.args))
    if not whole.is_Pow or whole.exp.is_Integer:
        return whole
    parts, signs = list[Expr](), list[int]()
    for b, n in (x.as_base_exp() for x in sympy.Mul.make_args(sympy.factor(whole.base))):
        signs.append(abs(sign(b)) if n.is_even else sign(b))
        parts.append((sign(b) * b) ** (n * whole.exp))
    return sympy.Mul(*parts) if prod(signs) == 1 else whole


def sign_of(expression: Expr) -> int:
    """Return the sign of an expression by those of its symbols; 0 where none is known."""
    return int(bool(expression.is_positive)) - int(bool(expression.is_negative))
