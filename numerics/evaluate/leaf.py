"""The leaf of the weights above Q: how gradient flow moves them, whatever beta is.

For any steering lambda the flow is ``G w' = J^T lambda``, with ``<lambda, beta>' = <lambda, K
lambda>``. It knows nothing of Q.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import starmap
from operator import mul
from typing import ClassVar, TypeAlias

import mpmath
import numpy as np
import sympy
from sympy import Expr, Symbol

from derive.errors import DeriveError
from derive.language import bind, parse_expression
from derive.model.direction import Direction
from derive.model.geometry import Field
from derive.model.notation import Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.potential.piece import Lift, Piece
from numerics.evaluate.doubles.formulas import divergence
from numerics.evaluate.numbers import Array, Number, Real, compiled, read_number
from numerics.evaluate.start import broken_signs
from numerics.integrator.builder import Builder, Register, Tape, compile_forward
from numerics.integrator.jets import Program, bits_of
from numerics.integrator.taylor import integrate

Compiled: TypeAlias = Callable[..., list[float]]
KEPT = 16
"""Compiled functions that are kept, for other starts of the same F."""


class OfCoordinates:
    """The leaf of F in coordinates: the weights as an array w, the outputs as another."""

    def __init__(
        self, p: Parameterization, start: Sequence[Fraction], pieces: Sequence[Piece]
    ) -> None:
        """Keep F, w_0 and what Q assumes of the flow."""
        self.parameterization, self.pieces = p, pieces
        self.start = np.array(list(map(float, start)))

    def outputs(self, w: Array) -> Array:
        """Return F(w)."""
        p = self.parameterization
        return np.asarray(_compiled(p, p.F)(*w), dtype=np.float64)

    def motion(self, steering: Array, w: Array) -> tuple[Array, float]:
        """Return w' and <lambda, K lambda>."""
        *moves, rate = _motion(self.parameterization)(*w, *steering)
        return np.array(moves), float(rate)

    def broken(self, w: Array) -> tuple[str, ...]:
        """Return the functions whose sign is to be kept, and is another at w."""
        names = self.parameterization.weights
        points = (dict(zip(names, x.tolist(), strict=True)) for x in (self.start, w))
        return broken_signs(self.pieces, *points)


class OfVector:
    """The leaf of beta = phi(a, n) u, n = |u|: with s = phi n and R = |grad s|^2,

    (a, n)' = <u/n, lambda> grad s,   (u/n)' = (r phi/n) (lambda - <u/n, lambda> u/n).
    """

    def __init__(
        self,
        direction: Direction,
        start: Sequence[Fraction],
        vector: Array,
        parameters: Sequence[Fraction] = (),
    ) -> None:
        """Keep phi, the scalars at the start without n, u_0, and numbers for parameters of F."""
        self._direction, self._parameters = direction, tuple(map(float, parameters))
        self.start = np.array([*map(float, start), *vector])
        p = direction.parameterization
        exact = (*p.F, direction.turn * direction.n, *p.fields[0], direction.R, direction.T)
        self._scalars, self._known = len(start), _compiled(p, exact)

    def outputs(self, w: Array) -> Array:
        """Return beta."""
        known, unit, _ = self._at(w)
        return np.asarray(self._direction.sign * known[0] * unit)

    def motion(self, steering: Array, w: Array) -> tuple[Array, float]:
        """Return (a, u)' and <lambda, K lambda>."""
        (_, push, *slopes, R, T), unit, _ = self._at(w)
        sign = self._direction.sign
        along = float(unit @ steering)
        across = steering - along * unit
        *moves, growth = (sign * along * x for x in slopes)
        rate = R * along**2 + T * float(across @ across)
        return np.array([*moves, *(growth * unit + sign * push * across)]), rate

    def broken(self, w: Array) -> tuple[str, ...]:
        """Return phi where it has another sign at w."""
        (first, *_), *_ = self._at(self.start)
        (last, *_), *_ = self._at(w)
        return () if first * last > 0 else (f"the coefficient of {self._direction.vector}",)

    def spanned(self) -> Array:
        """Return u_0: u stays in the span of u_0 and of what steers it."""
        return self.start[self._scalars :]

    def within(self, basis: Array) -> OfVector:
        """Return the leaf in an orthonormal basis (d, k) of a space that u does not leave."""
        moved = copy.copy(self)
        u = basis.T @ self.start[self._scalars :]
        moved.start = np.concatenate([self.start[: self._scalars], u])
        return moved

    def _at(self, w: Array) -> tuple[list[float], Array, float]:
        """Return s and what moves it, u/n and n."""
        u = w[self._scalars :]
        n = float(np.linalg.norm(u))
        return self._known(*w[: self._scalars], n, *self._parameters), u / n, n


Leaf: TypeAlias = OfCoordinates | OfVector
Leaves: TypeAlias = Sequence[tuple[Sequence[int], Leaf]]
"""The coordinates of beta that a leaf is of."""


@functools.lru_cache(maxsize=KEPT)
def _motion(p: Parameterization) -> Compiled:
    """Compile w' and <lambda, K lambda> as functions of the weights and lambda."""
    lam, fields = [Symbol(f"lambda {i}") for i in range(p.d)], (p.fields, p.covectors)
    X, J = ([_dot(lam, x) for x in zip(*_written(p, f), strict=True)] for f in fields)
    return compiled([*X, _dot(X, J)], (*p.weights, *(x.name for x in lam)))


def _dot(left: Sequence[Expr], right: Sequence[Expr]) -> Expr:
    return sympy.Add(*starmap(mul, zip(left, right, strict=True)))


@functools.lru_cache(maxsize=KEPT)
def _compiled(p: Parameterization, functions: Field) -> Compiled:
    return compiled(_written(p, [functions])[0], (*p.weights, *p.parameters))


def _written(p: Parameterization, rows: Sequence[Field]) -> list[list[Expr]]:
    symbols = Notation(p, tuple(range(p.d))).weights
    return [[to_expr(x, symbols) for x in row] for row in rows]


_Q, _WARP = "potential", "warp g"  # with a space: no weight is called so
_DIGITS, _GUARD = 15, 5
_MORE, _TRIES = 8, 5
"""Digits with which an end is compared, doubled where it is another, so many times."""
_STEPS = 15
"""Steps for each digit: towards the edge of a leaf they shrink geometrically, by about 0.86."""
_Motion: TypeAlias = tuple[list[Register], Register, list[Register]]


@dataclass(frozen=True, slots=True)
class IntegratedBlock:
    """Q without a closed form, of a single output or coupled ones, along the leaf above a segment.

    On w(t) above ``beta_0 + t b``, b = beta - beta_0, 0 <= t <= 1, it is
    ``dw/dt = sum_i b_i dw/dbeta_i`` and ``dlog g/dt = sum_i b_i dlog g/dbeta_i`` from w_0 and g_0;
    ``dy/dt = g rho b`` and ``dQ/dt = <y, b>`` from 0. For one output ``dw/dbeta = grad F/K``, g = 1
    and rho = 1/K with K = |grad F|^2.

    Attributes:
        parameterization: F, the d outputs of the block.
        lift: dw/dbeta, dlog g/dbeta and rho, functions of the p weights; None for one output.
        weights: the start w_0.
        beta0: F(w_0), d numbers.
    """

    parameterization: Parameterization
    lift: Lift | None
    weights: tuple[Fraction, ...]
    beta0: tuple[Fraction, ...]
    invertible: ClassVar[bool] = False

    @property
    def in_doubles(self) -> IntegratedBlock:
        """Itself."""
        return self

    def __call__(self, what: str, columns: Sequence[Array], least: float) -> list[Array]:
        """Return what is asked for at points; nan where the leaf does not reach."""
        if what == "bregman":
            value, gradient = (lambda *x, of=of: self(of, x, least) for of in ("value", "gradient"))
            return divergence(value, gradient, columns)
        if what == "stretch":
            return [1 / self("hessian", columns[:1], least)[0]]
        beta0 = self.beta0
        alone = float(0 if what == "inverse" else beta0[0]) if len(beta0) == 1 else None
        points, at = [*zip(*columns, strict=True)], dict[Sequence[Number], Sequence[Real]]()
        for side in _outwards({*points}, alone):
            for point in side:
                at[point] = self.precisely(what, point, _DIGITS)
                if at[point][0] != at[point][0]:
                    break  # it is slow to find that a leaf ends, and nothing lies beyond
        count = {"value": 1, "hessian": len(columns) ** 2}.get(what, len(columns))
        undefined = (np.nan,) * count
        found = np.array([at.get(point, undefined) for point in points], dtype=np.float64)
        return [*found.reshape(-1, count).T]

    def precisely(
        self, what: str, point: Sequence[Number], digits: int, least: float = 0.0
    ) -> list[Real]:
        """Return what is asked for at one point, in mpf."""
        working = digits + _GUARD
        match what:
            case "value" | "primitive":
                return [self._end(point, working)[-1]]
            case "gradient":
                return [*self._end(point, working)[-1 - len(point) : -1]]
            case "hessian":
                return self._hessian(point, working)
            case "inverse":
                return self._inverse(point, working)
        raise ValueError(f"Q has no {what!r}")

    def _hessian(self, beta: Sequence[Number], digits: int) -> list[Real]:
        """Return the d^2 entries of ``g rho`` above beta, row by row; nan off the leaf."""
        end = self._end(beta, digits)[: len(self.weights) + 1]
        if any(x != x for x in end):
            return [mpmath.nan] * len(beta) ** 2
        builder, one = Builder((*self.parameterization.weights, _WARP)), Fraction(1)
        basis = [[one * (i == j) for j in range(len(beta))] for i in range(len(beta))]
        columns = [self._motion(builder, b)[2] for b in basis]
        tape = builder.tape([x for row in zip(*columns, strict=True) for x in row])
        return [*Program(tape, bits_of(digits)).at(end)]

    def _inverse(self, mu: Sequence[Number], digits: int) -> list[Real]:
        """Return the beta with grad Q(beta) = mu, F at the end of the dual flow; nan if it ends.

        ``dw/ds = J^T mu/g`` moves y by mu, as ``dbeta/ds = K mu/g`` and ``dy/dbeta = g rho``.
        """
        p = self.parameterization
        try:
            tape = self._dual_tape([read_number(x, "the mirror map") for x in mu])
        except DeriveError:
            return [mpmath.nan] * p.d

        def beta(digits: int) -> tuple[Number, ...]:
            try:
                origin, steps = [*self.weights, self._warp(digits)], _STEPS * digits
                end = integrate(tape, origin, digits, None, steps, time=Fraction(1)).state[:-1]
                return (*Program(compile_forward(p.trees, p.weights), bits_of(digits)).at(end),)
            except DeriveError:
                return (mpmath.nan,) * p.d

        return [*_settled(beta, digits, p.d)]

    def _warp(self, digits: int) -> Number:
        """Return g at the start: 1, where its unit is not that of a formula."""
        if self.lift is None or self.lift.warp is None:
            return Fraction(1)
        builder = Builder(self.parameterization.weights)
        tape = builder.tape([_function(builder, self.lift.warp, self.lift)])
        return Program(tape, bits_of(digits + _STEPS)).at(self.weights)[0]

    def _end(self, beta: Sequence[Number], digits: int) -> tuple[Number, ...]:
        """Return w (p), g, y (d) and Q above beta; all nan where the segment leaves the leaf."""
        return _settled(lambda more: self._integrated(beta, more), digits, len(self.beta0) + 1)

    def _integrated(self, beta: Sequence[Number], digits: int) -> tuple[Number, ...]:
        """Return the end of the integration with some digits."""
        zeros = [Fraction(0)] * (len(self.beta0) + 1)
        try:
            b = [read_number(x, "beta") - x0 for x, x0 in zip(beta, self.beta0, strict=True)]
            origin, steps = [*self.weights, self._warp(digits), *zeros], _STEPS * digits
            slopes = [f"slope {i + 1}" for i in range(len(b))]
            builder = Builder((*self.parameterization.weights, _WARP, *slopes, _Q))
            moves, growth, rates = self._motion(builder, b)
            pairs = zip(slopes, b, strict=True)
            height = builder.linear((builder.input(y), x) for y, x in pairs)
            tape = builder.tape([*moves, growth, *rates, height])  # of w, g, y and Q in t
            return integrate(tape, origin, digits, None, steps, time=Fraction(1)).state
        except DeriveError:
            return (mpmath.nan,) * (len(self.weights) + 1 + len(zeros))

    def _motion(self, builder: Builder, b: Sequence[Fraction]) -> _Motion:
        """Return dw/dt, dg/dt and dy/dt."""
        if self.lift is None:
            (gradient,), (step,) = self._jacobian(builder), b
            moves = builder.raised(self.parameterization.rates, gradient)
            speed = builder.divide(builder.constant(step), builder.dot(gradient, moves))
            still = builder.constant(Fraction(0))
            return [builder.multiply(move, speed) for move in moves], still, [speed]
        warp, lift = builder.input(_WARP), self.lift

        def along(functions: Field) -> Register:
            return builder.linear(
                (_function(builder, f, lift), c) for f, c in zip(functions, b, strict=True)
            )

        moves = [along(column) for column in zip(*self.lift.weights, strict=True)]
        growth = builder.multiply(warp, along(self.lift.log_warp))
        return moves, growth, [builder.multiply(warp, along(row)) for row in self.lift.rho]

    def _jacobian(self, builder: Builder) -> list[list[Register]]:
        p = self.parameterization
        return [builder.gradient(f)[: p.p] for f in map(builder.tree, p.trees)]

    def _dual_tape(self, mu: Sequence[Fraction]) -> Tape:
        """Compile the dual flow of the weights and g."""
        builder, one = Builder((*self.parameterization.weights, _WARP)), Fraction(1)
        warp, rows = builder.input(_WARP), self._jacobian(builder)
        columns = zip(*rows, strict=True)
        pulled = [builder.linear(zip(column, mu, strict=True)) for column in columns]
        moves = builder.raised(self.parameterization.rates, pulled)
        if self.lift is None:
            return builder.tape([*moves, builder.constant(Fraction(0))])
        moves = [builder.divide(x, warp) for x in moves]
        growth = []
        for slope, row in zip(self.lift.log_warp, rows, strict=True):
            rate = builder.dot(row, moves)
            growth.append((builder.multiply(_function(builder, slope, self.lift), rate), one))
        return builder.tape([*moves, builder.multiply(warp, builder.linear(growth))])


def _settled(
    run: Callable[[int], tuple[Number, ...]], digits: int, size: int
) -> tuple[Number, ...]:
    """Return what a run with more digits has, of which the last entries are the same with fewer.

    Errors grow where leaves flow apart, as beside one on which weights vanish. It is nan where no
    number of digits is seen to be enough.
    """
    ends = [run(digits)]
    for more in (digits + _MORE * 2**k for k in range(_TRIES)):
        if any(x != x for x in ends[-1]):
            break
        ends.append(run(more))
        pairs = zip(*(end[-size:] for end in ends[-2:]), strict=True)
        if all(abs(x - y) <= abs(y) * 10 ** (_GUARD - digits) for x, y in pairs):
            return ends[-1]
    return (mpmath.nan,) * len(ends[-1])


def _outwards(points: Iterable[Sequence[Number]], origin: Number) -> list[list[Sequence[Number]]]:
    """Return the finite points, those on each side of the origin from there outwards.

    Without an origin, as for several coordinates, each point is a side of its own.
    """
    inside = [point for point in points if all(x - x == 0 for x in point)]
    if origin is None:
        return [[point] for point in inside]
    ordered = sorted(inside, key=lambda point: abs(point[0] - origin))
    above = [point for point in ordered if point[0] >= origin]
    return [above, [point for point in ordered if point[0] < origin]]


def _function(builder: Builder, f: Number, lift: Lift) -> Register:
    """Write a rational function of the weights, with the numbers of a lift for parameters."""
    names = (bind(parse_expression(name), dict(lift.numbers)) for name in f.field.names)
    generators = [*map(builder.tree, names)]

    def polynomial(g: Number) -> Register:
        terms = []
        for exponents, c in zip(g.monoms(), g.coeffs(), strict=True):
            product = builder.constant(Fraction(1))
            for generator, e in zip(generators, map(int, exponents), strict=True):
                product = builder.multiply(product, builder.power(generator, Fraction(e)))
            terms.append((product, Fraction(int(c))))
        return builder.linear(terms)

    return builder.divide(polynomial(f.numerator), polynomial(f.denominator))
