"""Limits of Q at beta = N x, N = log(1/e) -> infinity: a linear term beside exponentials.

Let beta = h(z) and dQ/dbeta = mu = c z + O(1), h increasing, with h(z) = p z + o(N) + a sum of
terms A exp(k z), A = e^r (C + o(1)) up to powers of log(1/e), r > 0. At z = N zeta such a term is
exp(N (k zeta - r + o(1))): it tends to 0 where k zeta < r, and to infinity where k zeta > r. So
h(N zeta)/N -> p zeta for -l < zeta < u, with u the least of r/k over k > 0, and l likewise, and to
+-infinity beyond. Functions that increase converge with their inverses. At beta = N x then

    mu/N -> c t,  t = max(-l, min(u, x/p)),     Q/N^2 -> c (x t - p t^2/2),

the infimal convolution of c x^2/(2 p), what the linear term costs, and of c u |x| above 0 and
c l |x| below, what small starts of the others do. Of W + a b it is Huber's function.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.exact.asymptotics import CONSTANT, Unexpanded, written
from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.limits.limit import Point
from derive.model.labels import taken_names
from derive.model.names import unused
from derive.potential.piece import Curve, Piece
from derive.printable import Held
from derive.statement import Equations, Statement, note, tell
from derive.verdict import Finding, Verdict

REASON = (
    "at `z = N zeta` an exponential `e^r exp(k z)` is `exp(N (k zeta - r))`: it tends to `0` or to "
    "`infinity`, and functions that increase converge with their inverses"
)


@dataclass(frozen=True, repr=False)
class GrowingLimit(Held):
    """Q/N^2 -> limit at beta = N x.

    Attributes:
        point: where the start symbol tends to.
        beta: the output, and its coordinate x.
        size: N.
        Q, slope: the limit, and that of dQ/dbeta/N.
        nonzero: functions of the start that are not 0: coefficients of the exponentials.
        terms: of which Q is the infimal convolution, where both sides are alike.
        curve, gradient: beta = h(z), and dQ/dbeta there.
    """

    point: Point
    beta: tuple[Symbol, Symbol]
    size: Expr
    Q: Expr
    slope: Expr
    nonzero: tuple[Expr, ...]
    terms: tuple[Expr, ...]
    curve: Curve
    gradient: Expr

    @property
    def statement(self) -> Statement:
        """What is claimed."""
        b, x = self.beta
        given = tuple(tell("`{f} != 0`", f=f) for f in self.nonzero)
        below = [Equations((("Q/N**2", self.Q),), "->"), "with", Equations((("N", self.size),))]
        if self.terms:
            linear, other = self.terms
            words = "the infimal convolution of `{a}`, of the linear term, and of `{b}`"
            below.append(note(words, a=linear, b=other))
        return Statement(
            "at `{b} = N {x}` and fixed `{x}`, up to an additive constant",
            {"b": b, "x": x, "limit": self},
            kind="growing limit",
            about=f"{self.point.text}, {b}",
            conditions=given,
            by=Finding(Verdict.PROVED, REASON),
            below=tuple(below),
        )


def growing_limits(derivation: Derivation, point: Point) -> Iterator[GrowingLimit]:
    """Yield the limits of those outputs, with weights of their own, that have one of the kind."""
    if point.side not in ("0", "oo") or point.rate is not None:
        return
    taken = taken_names(derivation.parameterization)
    for piece in derivation.potential.pieces:
        curve = piece.time_curve
        if curve is None or len(piece.betas) > 1 or not all(e.is_infinite for e in curve.interval):
            continue
        (b,) = piece.betas
        x = Symbol(unused(f"x{b.name.removeprefix('beta')}", taken), real=True)
        try:
            found = _growing(piece, curve, point, x)
        except Undecided:
            continue
        if found is not None:
            yield found


def _growing(piece: Piece, of: Curve, point: Point, x: Symbol) -> GrowingLimit | None:
    """Return the limit at beta = N x, by p, c, l and u; None where h or mu is of another kind."""
    curve, (b,), (mu,) = of.in_exponentials, piece.betas, piece.gradient
    z = curve.parameter
    names = (s.name for s in (curve.beta.free_symbols | mu.free_symbols) - {z} if s.is_positive)
    decide = point.decisions(names)
    p, ends, nonzero = _along(curve, point, decide)
    c, rest = mu.coeff(z), sympy.expand(mu - mu.coeff(z) * z)
    bounded = rest == 0 or (not rest.has(z) and point.expand(rest, decide).leading >= CONSTANT)
    if not (ends and bounded and all(x.is_Rational and x > 0 for x in (p, c))):
        return None
    low, high, terms = ends.get(-1), ends.get(1), tuple[Expr, ...]()
    size, sign = x, sympy.S.One
    if low == high:
        size, sign = sympy.Abs(x), sympy.sign(x)
        terms = c * x**2 / (2 * p), c * high * size
    t = size / p if high is None else sympy.Min(high, size / p)
    t = t if low in (None, high) else sympy.Max(-low, t)
    Q, N = c * (size * t - p * t**2 / 2), sympy.log(1 / point.small)
    return GrowingLimit(point, (b, x), N, Q, c * sign * t, tuple(nonzero), terms, of, mu)


def _along(
    curve: Curve, point: Point, decide: ElementarySigns
) -> tuple[Expr, dict[int, Expr], dict[Expr, None]]:
    """Return p, l and u by their sides, and what is not 0; Unexpanded of another h."""
    z, p, ends, nonzero = curve.parameter, sympy.S.Zero, dict[int, Expr](), dict[Expr, None]()
    for term in sympy.Add.make_args(sympy.expand_mul(curve.beta, deep=False)):
        A, part = term.as_independent(z, as_Add=False)
        expanded = point.expand(A, decide)
        k = part.exp / z if isinstance(part, sympy.exp) else sympy.S.Zero
        r = written(expanded.leading[0])
        if part == z and expanded.leading == CONSTANT:
            p += expanded.first
        elif k.is_Rational and k != 0 and r.is_Rational and r > 0:
            # beyond zeta = r/k a term exp(k z) e^r grows
            side = 1 if k > 0 else -1
            ends[side] = min(ends.get(side, sympy.oo), r / abs(k))
            nonzero |= dict.fromkeys(may_vanish(expanded.first))
        elif part != 1 or expanded.leading < CONSTANT:
            raise Unexpanded("h is of another kind")
    return p, ends, nonzero


def may_vanish(coefficient: Expr) -> Iterator[Expr]:
    """Yield the factors of a coefficient that may be 0."""
    for factor in sympy.Mul.make_args(sympy.factor(coefficient)):
        base = factor.as_base_exp()[0]
        if not (base.is_number or base.is_positive):
            yield base
