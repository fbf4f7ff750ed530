"""Closure along the directions of a leaf that leave beta where it is, the *vertical*

    V_ab = [X_a, X_b] - H_a X_b + H_b X_a,   H_a = X_a log g   (0 for a Hessian map).

On the leaf K changes only by a factor along each vertical field V, V K = omega(V) K, and the
one-form eta with eta(X_a) = H_a and eta(V) = omega(V) is closed; g = exp of its integral. Where
every V_ab is zero the leaf has dimension d, nothing is vertical, and what is left is
X_a H_b = X_b H_a. (Derived here.)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement
from random import Random

from flint import nmod

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.modular import Evaluator, Pole, random_point, rank
from derive.model.geometry import Field
from derive.model.labels import pair
from derive.verdict import Finding, Identity, Verdict
from derive.weights.lie import along, bracket
from derive.weights.metric import Metric
from derive.weights.witness import NotProved, require, require_equations

NOT_CLOSED = "rho is not, up to any factor g, a Hessian in beta on the leaf of the start"


def check_vertical(metric: Metric, H: Sequence[RationalFunction]) -> Finding:
    """Decide whether some g makes g * rho a Hessian, for H that solves its equations, d >= 2."""
    try:
        evidence = _close(metric, H)
    except NotProved as end:
        return end.finding
    reason = "rho is, up to the factor g, a function of beta on every leaf, and a Hessian"
    return Finding(Verdict.PROVED, reason, evidence)


def _close(metric: Metric, H: Sequence[RationalFunction]) -> tuple[Identity, ...]:
    """Span the vertical directions and check the closedness of eta on them."""
    p = metric.parameterization
    fields = p.fields
    evidence: list[Identity] = []
    # Fields V with V F = 0, and omega with V K = omega K.
    spanning: list[tuple[Field, RationalFunction]] = []
    point = random_point(p.field, Random(4))

    def admit(v: Field, name: str) -> RationalFunction:
        """Return omega of a vertical field, extending the span where it is new."""
        factor = _factor(metric, v, name)
        fields = [*(field for field, _ in spanning), v]
        if rank([_values(field, point) for field in fields]) == len(fields):
            spanning.append((v, factor))
        return factor

    for a, b in combinations(range(p.d), 2):
        i, j = p.labels[a], p.labels[b]
        name = f"V{i}{j}"
        z = zip(metric.lie.brackets[a, b], fields[a], fields[b], strict=True)
        omega = admit(tuple(zk - H[a] * yk + H[b] * xk for zk, xk, yk in z), name)
        curl = along(fields[a], H[b]) - along(fields[b], H[a])
        closed = (f"X{i} H{j} - X{j} H{i} = omega({name})", curl, omega)
        evidence += require_equations(p, [closed], NOT_CLOSED)
    # The list grows while it is walked: what a bracket adds is bracketed in its turn.
    for position, (v, factor) in enumerate(spanning, 1):
        for m, x in enumerate(fields):
            label = p.labels[m]
            name = f"[X{label}, V({position})]"
            lifted = tuple(r + factor * xk for r, xk in zip(bracket(x, v), x, strict=True))
            omega = admit(lifted, name)
            left = along(x, factor) - along(v, H[m]) + factor * H[m]
            require(p, [(f"d eta(X{label}, V({position})) = 0", left, omega)], NOT_CLOSED)
    if spanning:
        _certify_span(metric, spanning)
        statement, K = "V K = omega(V) K for every vertical V on a leaf", metric.K[0][0]
        for v, factor in spanning:
            evidence.append(Identity(statement, repr(along(v, K)), repr(factor * K)))
    return tuple(evidence)


def _factor(metric: Metric, v: Field, name: str) -> RationalFunction:
    """Return omega with V K = omega K, or raise what its absence means."""
    p, K = metric.parameterization, metric.K
    if all(x.is_zero() for x in v):
        return p.field.zero
    omega = along(v, K[0][0]) / K[0][0]
    for i, j in combinations_with_replacement(range(p.d), 2):
        entry = f"K{pair(p.labels[i], p.labels[j])}"
        statement = f"{name} {entry} = omega({name}) {entry}"
        require(p, [(statement, along(v, K[i][j]), omega * K[i][j])], NOT_CLOSED)
    return omega


def _certify_span(metric: Metric, spanning: Sequence[tuple[Field, RationalFunction]]) -> None:
    """Require that the vertical fields found are all: d + their number + laws = p."""
    p, laws = metric.parameterization, len(metric.conserved.laws)
    if p.d + len(spanning) + laws != p.p:
        raise _undecided(
            f"{len(spanning)} vertical directions and {laws} conserved quantities leave the "
            f"dimension of the leaf open (d = {p.d}, p = {p.p})"
        )


def _undecided(reason: str) -> NotProved:
    return NotProved(Finding(Verdict.UNDECIDED, reason))


def _values(field: Field, point: Sequence[nmod]) -> list[nmod]:
    try:
        return [Evaluator(x)(point) for x in field]
    except Pole:
        raise _undecided("a vertical field has a pole at a random point") from None
