"""Of several proved forms of one Q, the one that is printed: closed, of fewest terms, shortest.

A value is compared with the gradient that was proved in numbers, which flint computes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from random import Random
from typing import Any, TypeAlias

import sympy
from flint import acb, acb_poly, acb_series, arb, ctx, fmpq
from sympy import Expr
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.hyperbolic import HyperbolicFunction

from derive.model.condition import Sign
from derive.model.notation import without_modulus
from derive.potential.chart import Chart
from derive.potential.piece import Piece

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
