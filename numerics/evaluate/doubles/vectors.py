"""``Q(beta) = q(|beta|) - slope <u_0, beta>`` in R^d from formulas of q, on doubles (n, d)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np

from numerics.evaluate.doubles.arithmetic import (
    Array,
    Constants,
    Double,
    Formula,
    Quantity,
    sqrt,
    tighter,
)


def column(x: Double) -> Double:
    """Return x with one more axis, to multiply vectors by it."""
    v, d = (y[..., None] if isinstance(y, np.ndarray) else y for y in (x.v, x.d))
    return type(x)(v, d)


def total(x: Double) -> Double:
    """Return the sum over the last axis, by halves."""
    while (n := x.v.shape[-1]) > 1:
        half = n // 2
        added = _span(x, 0, half) + _span(x, half, 2 * half)
        x = added if n == 2 * half else _joined(added, _span(x, 2 * half, n))
    v, d = (y[..., 0] if isinstance(y, np.ndarray) else y for y in (x.v, x.d))
    return type(x)(v, d)


def _span(x: Double, low: int, high: int) -> Double:
    return type(x)(x.v[..., low:high], x.d[..., low:high] if isinstance(x.d, np.ndarray) else x.d)


def _joined(x: Double, y: Double) -> Double:
    d = [np.broadcast_to(np.asarray(z.d, dtype=z.v.dtype), z.v.shape) for z in (x, y)]
    return type(x)(np.concatenate([x.v, y.v], axis=-1), np.concatenate(d, axis=-1))


def dot(x: Double, y: Double) -> Double:
    """Return the inner product."""
    return total(x * y)


def length(x: Double) -> Double:
    """Return the Euclidean norm; squares neither overflow nor vanish."""
    exponents: Array = np.frexp(np.max(np.abs(x.v), axis=-1))[1]
    scale = np.ldexp(1.0, np.clip(exponents, -1000, 1000))
    part = type(x)(x.v / scale[..., None], x.d / scale[..., None])
    root = sqrt(dot(part, part))
    return type(x)(root.v * scale, root.d * scale + x.tiny)


def unit(x: Double, size: Double) -> Double:
    """Return ``x/size``, and 0 for the zero vector."""
    still = size.v == 0
    v, d = np.where(still, 1.0, size.v), np.where(still, 0.0, size.d)
    return x / column(type(x)(v, d))


Polar: TypeAlias = tuple[Quantity, Quantity, Quantity]
"""A vector, its length and its direction."""
Ray: TypeAlias = Callable[[Constants, Quantity, Quantity, Quantity], Quantity]


@dataclass(frozen=True)
class VectorFormulas:
    """Q from q, where ``Hess Q = T I + (R - T) beta beta^T/s^2``, T = q'(s)/s, R = q''(s).

    The constants c hold u_0 as ``vector``, (1, d) in doubles, s_0 as ``origin[0]``, and ``slope``.

    Attributes:
        q: the formulas of q, functions of s = |beta|.
        tangential: T.
        sign: that of <beta_0, u_0>.
    """

    q: Any
    tangential: Formula
    sign: int

    column: ClassVar[Callable[..., Any]] = staticmethod(column)
    dot: ClassVar[Callable[..., Any]] = staticmethod(dot)
    length: ClassVar[Callable[..., Any]] = staticmethod(length)
    unit: ClassVar[Callable[..., Any]] = staticmethod(unit)

    def forms(self, what: str) -> list[Formula]:
        """Return forms of what is asked for: numbers (n,), vectors (n, d) or matrices (n, d, d).

        "origin" is beta_0, "pull" the linear term's ``slope u_0``, "product" ``Hess Q(beta) x``;
        the others are as of closed formulas.
        """
        match what:
            case "origin":
                return [lambda c, b: [self._origin(c)[0]]]
            case "pull":
                return [lambda c, b: [c.slope * c.vector]]
            case "value" | "primitive":
                return self._from_start()
            case "bregman":
                return [
                    lambda c, b, b0, a=a: self._bregman(c, self._polar(b), self._polar(b0), a)
                    for a in self._rays()
                ]
            case "inverse":
                return [] if self.q.inverse is None else [self._inverse]
            case "gradient":
                return [self._gradient]
            case "hessian":
                return [self._hessian]
            case "product":
                return [self._product]
        raise ValueError(f"Q has no {what!r}")

    def _polar(self, b: Quantity) -> Polar:
        size = self.length(b)
        return b, size, self.unit(b, size)

    def _from_start(self) -> list[Formula]:
        """Return forms of ``Q(beta) - Q(beta_0)``, a divergence where grad Q(beta_0) = 0."""
        from_start = [
            lambda c, b, a=a: self._bregman(c, self._polar(b), self._origin(c), a)
            for a in self._rays()
        ]
        above = [self._above_start] if self.q.value else []
        return [*above, *from_start] if self.q.divergence is None else [*from_start, *above]

    def _rays(self) -> list[Ray]:
        """Return forms of the divergence of q from s_0 to s, functions of c, s, s_0, s - s_0."""
        if not self.q.differences:
            return []
        first, *_ = self.q.differences
        return [
            lambda c, s, s0, _: first(c, s, s0)[0],
            lambda c, _, s0, step: self.q.segment(c, [s0], [step]),
        ]

    def _origin(self, c: Constants) -> Polar:
        """Return beta_0, its length, which is known better than from its entries, and direction."""
        s0: Quantity = c.origin[0]
        e0 = self.unit(c.vector, self.length(c.vector)) * self.sign
        return e0 * s0, s0, e0

    def _above_start(self, c: Constants, b: Quantity) -> Sequence[Quantity]:
        b0, s0, _ = self._origin(c)
        (top,), (low,) = self.q.value(c, self.length(b)), self.q.value(c, s0)
        return [top - low - self.dot(c.slope * c.vector, b - b0)]

    def _gradient(self, c: Constants, b: Quantity) -> Sequence[Quantity]:
        (T,) = self.tangential(c, self.length(b))
        return [self.column(c.of(T)) * b - c.slope * c.vector]

    def _spectrum(self, c: Constants, s: Quantity) -> list[Quantity]:
        """Return T and R, the eigenvalues of the Hessian across and along beta."""
        (hessian, *_) = self.q.forms("hessian")
        return [c.of(x) for x in (*self.tangential(c, s), *hessian(c, s))]

    def _product(self, c: Constants, b: Quantity, x: Quantity) -> Sequence[Quantity]:
        s = self.length(b)
        T, R = self._spectrum(c, s)
        e = self.unit(b, s)
        return [self.column(T) * x + self.column((R - T) * self.dot(e, x)) * e]

    def _hessian(self, c: Constants, b: Quantity) -> Sequence[Quantity]:
        s = length(b)
        T, R = (column(column(x)) for x in self._spectrum(c, s))
        e, identity = unit(b, s), np.eye(b.v.shape[-1])
        parts = (y[..., None, :] if isinstance(y, np.ndarray) else y for y in (e.v, e.d))
        outer = column(e) * type(b)(*parts)
        return [T * (b.of(identity) - outer) + R * outer]

    def _inverse(self, c: Constants, y: Quantity) -> Sequence[Quantity]:
        dual = y + c.slope * c.vector
        size = self.length(dual)
        (inverse,) = self.q.forms("inverse")
        return [self.column(c.of(inverse(c, size)[0])) * self.unit(dual, size)]

    def _bregman(self, c: Constants, at: Polar, at0: Polar, along: Ray) -> Sequence[Quantity]:
        """Return what q gives along the ray, and ``q'(s0) s |e - e0|^2/2`` of directions e.

        Neither part is negative. |e - e0|^2/2 is 1 - <e, e0>.
        """
        (b, s, e), (b0, s0, e0) = at, at0
        step = tighter(dot(b - b0, unit(b + b0, s + s0)), s - s0)
        turn = e - e0
        (slope,) = self.q.gradient(c, s0)
        across = b.of(slope) * s * total(turn * turn) * b.of(Fraction(1, 2))
        across = across.outside((s0.v == 0) & (b.of(slope).v != 0), False)
        sum_ = across + along(c, s, s0, step)
        if np.any(b.d != 0) or np.any(b0.d != 0):
            return [sum_]
        same = np.all(np.asarray(b.v == b0.v, dtype=bool), axis=-1)
        return [type(b)(*(np.where(same, 0.0, x) for x in (sum_.v, sum_.d)))]
