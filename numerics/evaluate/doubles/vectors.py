"""``Q(beta) = q(|beta|) - slope <u_0, beta>`` in R^d from formulas of q, on doubles (n, d)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from numerics.evaluate.doubles.arithmetic import Array, Constants, Double, Formula, Quantity, sqrt


def column(x: Double) -> Double:
    """Return x with one more axis, to multiply vectors by it."""
    v, d = (y[..., None] if isinstance(y, np.ndarray) else y for y in (x.v, x.d))
    return type(x)(v, d)


def total(x: Double) -> Double:
    """Return the sum over the last axis, by halves."""
    n = x.v.shape[-1]
    more = [(0, 0)] * (x.v.ndim - 1) + [(0, (1 << (n - 1).bit_length()) - n)]
    v, d = np.pad(x.v, more), np.pad(np.broadcast_to(x.d, x.v.shape), more)
    while half := v.shape[-1] // 2:
        added = type(x)(v[..., :half], d[..., :half]) + type(x)(v[..., half:], d[..., half:])
        v, d = added.v, np.broadcast_to(added.d, added.v.shape)
    return type(x)(v[..., 0], d[..., 0])


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

    @staticmethod
    def basis(b: Quantity) -> list[Quantity]:
        """Return the unit vectors."""
        return [b.of(row[None, :]) for row in np.eye(b.v.shape[-1])]

    @staticmethod
    def smooth(slope: Quantity, s: Quantity) -> Quantity:
        """Return q'(s), undefined at a kink in 0."""
        return slope.outside((s.v == 0) & (slope.v != 0), False)

    def forms(self, what: str) -> list[Formula]:
        """Return forms of what is asked for: numbers (n,), vectors (n, d), or d rows of matrices.

        "origin" is beta_0, "pull" the linear term's ``slope u_0``, "product" ``Hess Q(beta) x``;
        the others are as of closed formulas.
        """
        match what:
            case "origin":
                return [lambda c, b: [self._origin(c)[0]]]
            case "pull":
                return [lambda c, b: [c.slope * c.vector]]
            case "value" | "primitive":
                if self.q.value:
                    return [self._above_start]
                return [self._from_origin] if self.q.differences else []
            case "bregman":
                return [self._bregman] if self.q.differences else []
            case "inverse":
                return [] if self.q.inverse is None else [self._inverse]
            case "gradient":
                return [self._gradient]
            case "hessian":
                return [self._hessian]
            case "product":
                return [self._product]
        raise ValueError(f"Q has no {what!r}")

    def _origin(self, c: Constants) -> tuple[Quantity, Quantity, Quantity]:
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
        return [self._product(c, b, e)[0] for e in self.basis(b)]

    def _inverse(self, c: Constants, y: Quantity) -> Sequence[Quantity]:
        dual = y + c.slope * c.vector
        size = self.length(dual)
        (inverse,) = self.q.forms("inverse")
        return [self.column(c.of(inverse(c, size)[0])) * self.unit(dual, size)]

    def _bregman(self, c: Constants, b: Quantity, b0: Quantity) -> Sequence[Quantity]:
        size = self.length(b0)
        return self._divergence(c, b, (size, self.unit(b0, size)))

    def _from_origin(self, c: Constants, b: Quantity) -> Sequence[Quantity]:
        return self._divergence(c, b, self._origin(c)[1:])

    def _divergence(
        self, c: Constants, b: Quantity, at0: tuple[Quantity, Quantity]
    ) -> Sequence[Quantity]:
        """Return that of q from s0 to s, and ``q'(s0) (s - <b, e0>)`` of the directions."""
        (s0, e0), s = at0, self.length(b)
        along, *_ = self.q.differences
        slope = self.smooth(c.of(self.q.gradient(c, s0)[0]), s0)
        return [along(c, s, s0)[0] + slope * (s - self.dot(b, e0))]
