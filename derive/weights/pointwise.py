"""The conditions of a Hessian map and of a warp at one start, without expanding them.

All that the conditions consist of, X_a = grad F_a, K, H and the brackets, is computed as Taylor
polynomials of F around a start in numbers, with balls where values are not rational. A condition
whose two sides differ there fails on the leaf of that start: a proof, for which no expression has
been multiplied out. That they agree at a point proves nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from derive.exact.balls import Unbounded, is_nonzero, precise, shown
from derive.exact.field.function_field import RationalFunction
from derive.exact.jets import Jet, evaluate_jet, jets_at
from derive.model.parameterization import Parameterization
from derive.verdict import Identity
from derive.weights.independence import are_independent
from derive.weights.metric import Metric
from derive.weights.witness import Sample, samples

STARTS = 6
"""Starts at which the conditions are evaluated."""

ORDER = 4
"""Derivatives of F that are known there; the conditions look at 3, and 4 after one bracket."""

LARGE = 12
"""Terms of an entry of K above which a failure is shown in numbers, not in expressions."""

Field = tuple[Jet, ...]
Condition = tuple[str, Jet, Jet]


@dataclass(frozen=True)
class Germ:
    """F around one start.

    Attributes:
        labels: the numbers of the outputs.
        covectors: dF_a around the start.
        X: the fields X_a = grad F_a there.
    """

    labels: tuple[int, ...]
    covectors: tuple[Field, ...]
    X: tuple[Field, ...]

    @functools.cached_property
    def K(self) -> tuple[Field, ...]:
        """The tangent kernel."""
        return tuple(tuple(_dot(df, x) for x in self.X) for df in self.covectors)

    @functools.cached_property
    def H(self) -> Field:
        """The only candidate for X_a log g: see :func:`derive.weights.warping.warp_candidate`."""
        return tuple(self._candidate(a, 1 if a == 0 else 0) for a in range(len(self.X)))

    def _candidate(self, a: int, b: int) -> Jet:
        K = self.K
        gram = K[a][a] * K[b][b] - K[a][b] * K[a][b]
        return (K[a][a] * self.B(a, b, b) - K[a][b] * self.B(a, b, a)) / gram

    def B(self, a: int, b: int, c: int) -> Jet:
        """Return X_a K_bc - X_b K_ac."""
        return self.along(self.X[a], self.K[b][c]) - self.along(self.X[b], self.K[a][c])

    def along(self, x: Field, f: Jet) -> Jet:
        """Return the derivative of f along the field x."""
        return _dot(x, tuple(f.derivative(k) for k in range(len(x))))

    def bracket(self, x: Field, y: Field) -> Field:
        """Return [x, y] = (Dy) x - (Dx) y."""
        return tuple(self.along(x, b) - self.along(y, a) for a, b in zip(x, y, strict=True))


def fails_as_hessian(metric: Metric) -> Identity | None:
    """Return a condition of a Hessian map that fails at a start, where K is large, or None."""
    return _first_failure(metric, _hessian_conditions)


def fails_with_warp(metric: Metric) -> Identity | None:
    """Return a condition of the warp that fails at a start, where K is large, or None."""
    return _first_failure(metric, _warp_conditions)


def _first_failure(
    metric: Metric, conditions: Callable[[Germ], Iterator[Condition]]
) -> Identity | None:
    p = metric.parameterization
    entries = [x for row in metric.K for x in row]
    if max(len(x.numerator) + len(x.denominator) for x in entries) <= LARGE:
        return None
    for sample in islice(samples(p), STARTS):
        try:
            with precise():
                found = _failure_at(p, sample, conditions)
        except (ZeroDivisionError, Unbounded):
            continue
        if found is not None:
            return found
    return None


def _failure_at(
    p: Parameterization, sample: Sample, conditions: Callable[[Germ], Iterator[Condition]]
) -> Identity | None:
    point = {name: sample.of(w) for name, w in zip(p.weights, p.w0, strict=True)}
    point |= {name: sample.of(sample.field.named(name)) for name in p.parameters}
    variables = jets_at(p.field, point, ORDER)
    germ = _germ(p, variables)
    if not are_independent([[f.value for f in x] for x in germ.X]):
        return None
    for statement, left, right in conditions(germ):
        residual = (left - right).value
        if is_nonzero(residual):
            sides = str(shown(left.value)), str(shown(right.value))
            return Identity(statement, *sides, sample.point(p), shown(residual))
    return None


def _germ(p: Parameterization, variables: Sequence[Jet]) -> Germ:
    """Return F around the point where the variables of its field are the given ones."""

    def at(function: RationalFunction) -> Jet:
        return evaluate_jet(p.field.embed(function), variables)

    covectors = tuple(tuple(f.derivative(k) for k in range(p.p)) for f in map(at, p.F))
    return Germ(p.labels, covectors, tuple(p.geometry.raised(df, at) for df in covectors))


def _hessian_conditions(germ: Germ) -> Iterator[Condition]:
    """Yield X_a K_bc = X_b K_ac."""
    for a, b in combinations(range(len(germ.X)), 2):
        for c in range(len(germ.X)):
            i, j, k = (germ.labels[n] for n in (a, b, c))
            statement = f"<grad F{i}, grad K{j}{k}> = <grad F{j}, grad K{i}{k}>"
            left = germ.along(germ.X[a], germ.K[b][c])
            yield statement, left, germ.along(germ.X[b], germ.K[a][c])


def _warp_conditions(germ: Germ) -> Iterator[Condition]:
    """Yield the equations for H, then those of :mod:`derive.weights.vertical`, nested once."""
    H, K, d = germ.H, germ.K, len(germ.X)
    for a, b in combinations(range(d), 2) if d > 2 else ():
        for c in range(d):
            i, j, k = (germ.labels[n] for n in (a, b, c))
            statement = (
                f"H{i} K{j}{k} - H{j} K{i}{k} = "
                f"<grad F{i}, grad K{j}{k}> - <grad F{j}, grad K{i}{k}>"
            )
            yield statement, H[a] * K[b][c] - H[b] * K[a][c], germ.B(a, b, c)
    for a, b in combinations(range(d), 2):
        x, y, i, j = germ.X[a], germ.X[b], germ.labels[a], germ.labels[b]
        v = _plus(germ.bracket(x, y), (H[b], x), (-H[a], y))
        omega = germ.along(v, K[0][0]) / K[0][0]
        yield from _closure(germ, v, omega, f"V{i}{j}")
        curl = germ.along(x, H[b]) - germ.along(y, H[a])
        yield f"X{i} H{j} - X{j} H{i} = omega(V{i}{j})", curl, omega
        for m, z in enumerate(germ.X):
            name = f"[X{germ.labels[m]}, V{i}{j}]"
            lifted = _plus(germ.bracket(z, v), (omega, z))
            factor = germ.along(lifted, K[0][0]) / K[0][0]
            yield from _closure(germ, lifted, factor, name)
            left = germ.along(z, omega) - germ.along(v, H[m]) + omega * H[m]
            yield f"d eta(X{germ.labels[m]}, V{i}{j}) = 0", left, factor


def _closure(germ: Germ, v: Field, omega: Jet, name: str) -> Iterator[Condition]:
    """Yield V K = omega(V) K, entry by entry."""
    for m, n in combinations(range(len(germ.X)), 2):
        for s, t in ((m, n), (n, n)):
            i, j = germ.labels[s], germ.labels[t]
            statement = f"{name} K{i}{j} = omega({name}) K{i}{j}"
            yield statement, germ.along(v, germ.K[s][t]), omega * germ.K[s][t]


def _plus(x: Field, *multiples: tuple[Jet, Field]) -> Field:
    """Return x plus multiples of other fields."""
    for factor, y in multiples:
        x = tuple(a + factor * b for a, b in zip(x, y, strict=True))
    return x


def _dot(x: Field, y: Field) -> Jet:
    total = x[0] * y[0]
    for a, b in zip(x[1:], y[1:], strict=True):
        total = total + a * b
    return total
