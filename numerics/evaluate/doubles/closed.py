"""Q of one block in closed form: its formulas, and integrals of its Hessian that never cancel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from numerics.evaluate.doubles.arithmetic import Constants, Double, Formula, Quantity, pairwise_sum

_RULES = [np.polynomial.legendre.leggauss(n) for n in (16, 10)]


@dataclass(frozen=True)
class ClosedFormulas:
    """Q of one block in closed form, by functions of the constants and d numbers of any kind.

    Attributes:
        gradient: dQ/dbeta_i.
        hessian: d^2 Q/dbeta_i dbeta_j, row by row.
        value: Q, up to a constant; of an integral there is none.
        inverse: the beta with grad Q = y.
        divergence: that of Bregman, of 2 d numbers, where terms cancel in its formula.
        walls: what keeps on the domain of Q the sign that it has at the start; None: nothing.
    """

    gradient: Formula
    hessian: Formula
    value: Formula | None = None
    inverse: Formula | None = None
    divergence: Formula | None = None
    walls: Formula | None = None

    def forms(self, what: str) -> list[Formula]:
        """Return forms of what is asked for; its functions are of the constants and d numbers.

        "value" is 0 at the start, "primitive" is Q up to a constant, "bregman" is ``Q(b) - Q(b0) -
        <grad Q(b0), b - b0>`` of 2 d numbers, "stretch" dbeta/dy of one output at beta and y =
        Q'(beta). Of "inverse" there are none where it is not known, nor in doubles of Q as an
        integral. The first needs no doubles.
        """
        inside, inverse, value = self._inside, self.inverse, self.value
        match what:
            case "value":
                return self._from_start()
            case "primitive":
                return [inside(value)] if value else []
            case "gradient":
                return [inside(f) for f in (self.gradient, self._rise)]
            case "hessian":
                return [inside(self.hessian)]
            case "stretch":
                return [lambda c, b, y: [1 / c.of(inside(self.hessian)(c, b)[0])]]
            case "bregman":
                return [inside(f) for f in self.differences]
            case "inverse":
                return [] if inverse is None else [lambda c, *y: self._kept(c, inverse(c, *y))]
        raise ValueError(f"Q has no {what!r}")

    @property
    def differences(self) -> list[Formula]:
        """Forms of the divergence: by subtraction, by an integral; none where Q is one."""
        return [self.divergence or self._difference, self._segment] if self.value else []

    def _from_start(self) -> list[Formula]:
        """Return forms of Q(beta) - Q(beta_0).

        Where J has lower rank at the start grad Q has no value there, and needs none.
        """
        from_start = [lambda c, *b, f=f: f(c, *b, *c.origin) for f in self.forms("bregman")]
        above = [self._inside(self._above_start)] if self.value else []
        return [*above, *from_start] if self.divergence is None else [*from_start, *above]

    def _inside(self, formula: Formula) -> Formula:
        """Return a formula that is undefined outside the domain."""
        if self.walls is None:
            return formula
        return lambda c, *points: formula(c, *self._kept(c, points))

    def _kept(self, c: Constants, points: Sequence[Quantity]) -> Sequence[Quantity]:
        """Return the points, undefined where one of d numbers has certainly left the domain."""
        if self.walls is None:
            return points
        d, at_start = len(c.origin), self.walls(c, *c.origin)
        kept: list[Quantity] = []
        for first in range(0, len(points), d):
            b = points[first : first + d]
            for wall, start in zip(self.walls(c, *b), at_start, strict=True):
                b = self._on_side(b, wall, start)
            kept += b
        return kept

    @staticmethod
    def _on_side(b: Sequence[Quantity], wall: Quantity, start: Quantity) -> Sequence[Quantity]:
        """Return a point, undefined where a wall has certainly another sign than at the start."""
        certain = (abs(wall.v) > wall.d) & (abs(start.v) > start.d)
        beyond = np.asarray(certain & ((wall.v < 0) != (start.v < 0)), dtype=bool)
        return [x.outside(beyond, False) for x in b] if np.any(beyond) else b

    def _above_start(self, c: Constants, *b: Quantity) -> Sequence[Quantity]:
        assert self.value is not None
        return [self.value(c, *b)[0] - self.value(c, *c.origin)[0]]

    def _difference(self, c: Constants, *points: Quantity) -> Sequence[Quantity]:
        assert self.value is not None
        d = len(points) // 2
        b, b0 = points[:d], points[d:]
        (top,), (low,), slopes = self.value(c, *b), self.value(c, *b0), self.gradient(c, *b0)
        total = top - low
        for slope, x, x0 in zip(slopes, b, b0, strict=True):
            total = total - slope * (x - x0)
        return [total]

    def _segment(self, c: Constants, *points: Double) -> Sequence[Double]:
        """Integrate ``(1-t) s^T H(b0 + t s) s``: no terms cancel, as H > 0."""
        d = len(points) // 2
        s = [x - x0 for x, x0 in zip(points[:d], points[d:], strict=True)]
        rows = self._integrals(c, points[d:], s, lambda t: 1 - t)
        return [sum(x * row for x, row in zip(s, rows, strict=True))]  # type: ignore[list-item]

    def _rise(self, c: Constants, *b: Double) -> Sequence[Double]:
        """Integrate ``H(beta_0 + t s) s``."""
        s = [x - x0 for x, x0 in zip(b, c.origin, strict=True)]
        return self._integrals(c, c.origin, s, lambda t: 1.0)

    def _integrals(
        self,
        c: Constants,
        b0: Sequence[Double],
        s: Sequence[Double],
        factor: Callable[[float], float],
    ) -> list[Double]:
        """Return ``sum_j (int_0^1 factor(t) H_ij dt) s_j`` as :func:`integrate` does."""
        d = len(s)

        def entries(t: float) -> Sequence[Double]:
            at = (y + x.of(t) * x for y, x in zip(b0, s, strict=True))
            return [s[0].of(x) for x in self.hessian(c, *at)]

        found = integrate(entries, factor, range(0, d * d, d + 1))
        return [pairwise_sum([found[i * d + j] * s[j] for j in range(d)]) for i in range(d)]


def integrate(
    function: Callable[[float], Sequence[Double]],
    factor: Callable[[float], float],
    positive: Sequence[int],
) -> list[Double]:
    """Return ``int_0^1 factor(t) f_i(t) dt`` by two Gauss-Legendre rules.

    Their distance is added to the running error: an estimate of the error of the finer one, which
    is far better, and no proof. There is no bound where the f_i that are *positive* vary by more
    than a factor of 4: a rule may step over what happens close to an end.
    """
    totals, even = [], np.ones(1, dtype=bool)
    for nodes, weights in _RULES:
        columns = list(zip(*(function((1 + x) / 2) for x in nodes), strict=True))
        factors = [w / 2 * factor((1 + x) / 2) for x, w in zip(nodes, weights, strict=True)]
        for i in positive:
            sizes = np.broadcast_arrays(*(abs(x.v) for x in columns[i]))
            even = even & (np.maximum.reduce(sizes) <= 4 * np.minimum.reduce(sizes))
        terms = ([x.of(w) * x for w, x in zip(factors, column, strict=True)] for column in columns)
        totals.append(list(map(pairwise_sum, terms)))
    scale, found = sum(abs(totals[0][i].v) for i in positive), []
    for fine, coarse in zip(*totals, strict=True):
        distance = abs(fine.v - coarse.v)
        far = ~np.asarray(distance * 2**20 < scale, dtype=bool)  # which shows no agreement
        d = np.where(far & (distance != 0), np.inf, fine.d + distance)
        found.append(type(fine)(fine.v, d).outside(False, ~even))
    return found
