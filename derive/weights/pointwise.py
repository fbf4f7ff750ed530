"""The equations of a Hessian map and of a warp, and whether they fail at one start in numbers.

With X_a = grad F_a, B_abc = X_a K_bc - X_b K_ac and H_a = X_a log g they are

    X_a K_bc = X_b K_ac,        H_a K_bc - H_b K_ac = B_abc,

for all a < b and c. The second determine H.

X_a, K, H and the brackets are computed as Taylor polynomials of F around a start in numbers, with
balls where values are not rational. A condition whose two sides differ there fails on the leaf of
that start: a proof, for which no expression has been multiplied out. That they agree at a point
proves nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Protocol, TypeVar

from derive.exact.balls import Unbounded, is_nonzero, precise, shown, values_of
from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.jets import Jet, jet_of
from derive.model.geometry import Scalar
from derive.model.labels import pair
from derive.model.parameterization import Parameterization
from derive.verdict import Identity
from derive.weights.metric import Metric
from derive.weights.witness import Sample, is_free, samples

S = TypeVar("S", bound=Scalar)
S_co = TypeVar("S_co", bound=Scalar, covariant=True)
Condition = tuple[str, S, S]
"""A statement and its two sides."""


class Kernel(Protocol[S_co]):
    """K and its derivatives along the fields, in any representation of functions."""

    @property
    def labels(self) -> tuple[int, ...]:
        """The numbers of the outputs."""

    @property
    def K(self) -> tuple[tuple[S_co, ...], ...]:
        """The tangent kernel."""

    def along(self, a: int, b: int, c: int) -> S_co:
        """Return X_a K_bc."""


def hessian_conditions(kernel: Kernel[S]) -> Iterator[Condition[S]]:
    """Yield X_a K_bc = X_b K_ac, each as it is asked for."""
    for a, b, c in _triples(kernel):
        i, j, k = (kernel.labels[n] for n in (a, b, c))
        statement = f"<grad F{i}, grad K{pair(j, k)}> = <grad F{j}, grad K{pair(i, k)}>"
        yield statement, kernel.along(a, b, c), kernel.along(b, a, c)


def warp_conditions(kernel: Kernel[S], H: tuple[S, ...]) -> Iterator[Condition[S]]:
    """Yield H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac, each as it is asked for."""
    K = kernel.K
    for a, b, c in _triples(kernel):
        i, j, k = (kernel.labels[n] for n in (a, b, c))
        first, second = f"K{pair(j, k)}", f"K{pair(i, k)}"
        slopes = f"<grad F{i}, grad {first}> - <grad F{j}, grad {second}>"
        statement = f"H{i} {first} - H{j} {second} = {slopes}"
        yield statement, H[a] * K[b][c] - H[b] * K[a][c], _B(kernel, a, b, c)


def _triples(kernel: Kernel[S]) -> Iterator[tuple[int, int, int]]:
    d = len(kernel.labels)
    return ((a, b, c) for a, b in combinations(range(d), 2) for c in range(d))


def warp_candidate(kernel: Kernel[S]) -> tuple[S, ...]:
    """Return the only possible gradient of log g along the fields, H_a = <grad F_a, grad log g>.

    H_a (K_aa K_bb - K_ab^2) = K_aa B_abb - K_ab B_aba for any b != a; there are d >= 2 outputs.

    Raises:
        ZeroDivisionError: the minor of K is zero at the start.

    Source: derived here; Azulay et al. 2021, equations (10) to (12), for an Ansatz.
    """
    return tuple(_component(kernel, a, 1 if a == 0 else 0) for a in range(len(kernel.labels)))


def _component(kernel: Kernel[S], a: int, b: int) -> S:
    K = kernel.K
    gram = K[a][a] * K[b][b] - K[a][b] * K[a][b]
    return (K[a][a] * _B(kernel, a, b, b) - K[a][b] * _B(kernel, a, b, a)) / gram


def _B(kernel: Kernel[S], a: int, b: int, c: int) -> S:
    return kernel.along(a, b, c) - kernel.along(b, a, c)


STARTS = 6
"""Starts at which the conditions are evaluated."""

ORDER = 4
"""Derivatives of F that are known there; the conditions look at 3, and 4 after one bracket."""

LARGE = 12
"""Terms of an entry of K above which a failure is shown in numbers, not in expressions.

Of a denominator the factors count, not their powers: they make no work.
"""

JetField = tuple[Jet, ...]


@dataclass(frozen=True)
class LocalFields:
    """F around one start: covectors dF_a, and the fields X_a = grad F_a."""

    labels: tuple[int, ...]
    covectors: tuple[JetField, ...]
    X: tuple[JetField, ...]

    @functools.cached_property
    def K(self) -> tuple[JetField, ...]:
        """The tangent kernel."""
        return tuple(tuple(_dot(df, x) for x in self.X) for df in self.covectors)

    def along(self, a: int, b: int, c: int) -> Jet:
        """Return X_a K_bc."""
        return self.slope(self.X[a], self.K[b][c])

    def slope(self, x: JetField, f: Jet) -> Jet:
        """Return the derivative of f along the field x."""
        return _dot(x, tuple(map(f.derivative, range(len(x)))))

    def bracket(self, x: JetField, y: JetField) -> JetField:
        """Return [x, y] = (Dy) x - (Dx) y."""
        return tuple(self.slope(x, b) - self.slope(y, a) for a, b in zip(x, y, strict=True))


Conditions = Callable[[LocalFields], Iterator[Condition[Jet]]]


def find_failing_condition(metric: Metric, conditions: Conditions) -> Identity | None:
    """Return a condition that fails at a start, for a metric whose K is large, or None."""
    p = metric.parameterization
    if max(_terms(x) for row in metric.K for x in row) <= LARGE:
        return None
    for sample in islice(filter(functools.partial(is_free, p), samples(p)), STARTS):
        try:
            with precise():
                found = _failure_at(p, sample, conditions)
        except (ZeroDivisionError, Unbounded):
            continue
        if found is not None:
            return found
    return None


def _terms(f: RationalFunction) -> int:
    """Return the number of terms of the numerator, and of the factors of the denominator."""
    below = factors(f.field.polynomial(f.denominator))
    return len(f.numerator) + sum(len(factor.numerator) for factor, _ in below)


def _failure_at(p: Parameterization, sample: Sample, conditions: Conditions) -> Identity | None:
    point = {name: sample.of(w) for name, w in zip(p.weights, p.w0, strict=True)}
    point |= {name: sample.of(sample.field.named(name)) for name in p.parameters}
    values = values_of(p.field, point)

    def at(function: RationalFunction) -> Jet:
        return jet_of(p.field.embed(function), values, ORDER)

    covectors = tuple(tuple(map(f.derivative, range(p.p))) for f in map(at, p.F))
    fields = tuple(p.geometry.raised(df, at) for df in covectors)
    local = LocalFields(p.labels, covectors, fields)
    for statement, left, right in conditions(local):
        residual = (left - right).value
        if is_nonzero(residual):
            sides = str(shown(left.value)), str(shown(right.value))
            return Identity(statement, *sides, sample.point(p), shown(residual))
    return None


def warp_and_closure(local: LocalFields) -> Iterator[Condition[Jet]]:
    """Yield the equations for H, then those of :mod:`derive.weights.vertical`, nested once."""
    H, K, d = warp_candidate(local), local.K, len(local.X)
    if d > 2:  # for d = 2 the candidate solves them
        yield from warp_conditions(local, H)
    for a, b in combinations(range(d), 2):
        x, y, i, j = local.X[a], local.X[b], local.labels[a], local.labels[b]
        v = _plus(local.bracket(x, y), (H[b], x), (-H[a], y))
        omega = local.slope(v, K[0][0]) / K[0][0]
        yield from _closure(local, v, omega, f"V{pair(i, j)}")
        curl = local.slope(x, H[b]) - local.slope(y, H[a])
        yield f"X{i} H{j} - X{j} H{i} = omega(V{pair(i, j)})", curl, omega
        for m, z in enumerate(local.X):
            name = f"[X{local.labels[m]}, V{pair(i, j)}]"
            lifted = _plus(local.bracket(z, v), (omega, z))
            factor = local.slope(lifted, K[0][0]) / K[0][0]
            yield from _closure(local, lifted, factor, name)
            left = local.slope(z, omega) - local.slope(v, H[m]) + omega * H[m]
            yield f"d eta(X{local.labels[m]}, V{pair(i, j)}) = 0", left, factor


def _closure(local: LocalFields, v: JetField, omega: Jet, name: str) -> Iterator[Condition[Jet]]:
    """Yield V K = omega(V) K, entry by entry."""
    for m, n in combinations(range(len(local.X)), 2):
        for s, t in ((m, n), (n, n)):
            i, j = local.labels[s], local.labels[t]
            statement = f"{name} K{pair(i, j)} = omega({name}) K{pair(i, j)}"
            yield statement, local.slope(v, local.K[s][t]), omega * local.K[s][t]


def _plus(x: JetField, *multiples: tuple[Jet, JetField]) -> JetField:
    """Return x plus multiples of other fields."""
    for factor, y in multiples:
        x = tuple(a + factor * b for a, b in zip(x, y, strict=True))
    return x


def _dot(x: JetField, y: JetField) -> Jet:
    total = x[0] * y[0]
    for a, b in zip(x[1:], y[1:], strict=True):
        total = total + a * b
    return total
