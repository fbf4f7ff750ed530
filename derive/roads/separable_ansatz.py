"""The published road for Q = sum_k q_k(t_k) with d independent linear forms t_k.

Hess Q = sum_k q_k'' grad t_k grad t_k^T, so Hess Q = g rho reads M_kl q_l'' = g delta_kl with
M_kl = <grad t_k, grad t_l> in the weights: M is diagonal, and q_k'' = g/M_kk must be a function
of t_k alone. Along Y_l = grad t_l, which leaves the other t_k where they are, this asks for
Y_l log g = Y_l log M_kk for every k other than l.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import dot
from derive.model.geometry import Field
from derive.roads.on_leaf import is_defined, is_not_zero, log_warp, require_function_of, tangent
from derive.verdict import Finding, Identity, Verdict
from derive.weights.lie import along
from derive.weights.metric import Metric
from derive.weights.necessary import Equation, NotProved, require_equations


def separate(
    metric: Metric, slopes: tuple[Field, ...]
) -> tuple[Field, Field, tuple[Identity, ...]]:
    """Return r_k = q_k'''/q_k'', M_kk = g/q_k'' and the identities.

    Args:
        metric: K and the flow.
        slopes: grad t_k, d independent vectors of numbers.

    Raises:
        NotProved: Q is not of this form, or that was not decided.
    """
    p = metric.parameterization
    # dt_k = sum_b (dt_k/dbeta_b) dF_b, and Y_k = grad t_k in the weights.
    covectors = tuple(
        tuple(dot(slope, column) for column in zip(*p.covectors, strict=True)) for slope in slopes
    )
    fields = p.geometry.fields(covectors)
    d = range(p.d)
    products = (
        (f"<grad t{k + 1}, grad t{n + 1}> = 0", dot(fields[k], covectors[n]), p.field.zero)
        for k, n in combinations(d, 2)
    )
    evidence = require_equations(p, products, "grad t_k are not orthogonal: Q is not of this form")
    M = tuple(dot(y, dt) for y, dt in zip(fields, covectors, strict=True))
    logs = [[along(y, m) / m for m in M] for y in fields]
    others = [0 if n else 1 for n in d]
    refuted = "q_k'' = g/M_kk depends on more than t_k for any g: Q is not of this form"
    evidence += require_equations(p, _warp_along_others(logs, others), refuted)
    ratios = tuple((logs[k][others[k]] - logs[k][k]) / M[k] for k in d)
    if not all(is_defined(p, r) and is_not_zero(p, m) for r, m in zip(ratios, M, strict=True)):
        reason = "q_k'''/q_k'' is infinite on the leaf of this start, or g/q_k'' is 0 there"
        raise NotProved(Finding(Verdict.UNDECIDED, reason))
    H = log_warp(metric, slopes[0], ratios[0], M[0])
    for k in d:
        evidence += require_function_of(
            metric, (f"t{k + 1}", slopes[k]), (f"r{k + 1}", ratios[k]), H
        )
    evidence += require_equations(p, _one_warp(metric, slopes, ratios, M, H), refuted)
    return ratios, M, evidence


def _warp_along_others(
    logs: Sequence[Sequence[RationalFunction]], others: Sequence[int]
) -> Iterator[Equation]:
    """Yield Y_n log g = Y_n log M_kk, one and the same for every k other than n."""
    for n, row in enumerate(logs):
        for k, log in enumerate(row):
            if k not in (n, others[n]):
                statement = f"Y{n + 1} log M{k + 1} = Y{n + 1} log M{others[n] + 1}"
                yield statement, log, row[others[n]]


def _one_warp(
    metric: Metric, slopes: tuple[Field, ...], ratios: Field, M: Field, H: Field
) -> Iterator[Equation]:
    """Yield Z log(q_k'' M_kk) = Z log(q_1'' M_11), both log g, along the whole leaf."""
    p = metric.parameterization
    if all(r.is_zero() for r in ratios) and all((m / M[0]).is_constant() for m in M):
        return
    fields = tangent(metric, H)

    def along_leaf(z: Field, k: int) -> RationalFunction:
        t = dot([dot(z, df) for df in p.covectors], slopes[k])
        return ratios[k] * t + along(z, M[k]) / M[k]

    for z in fields:
        for k in range(1, p.d):
            yield f"Z log(q{k + 1}'' M{k + 1}) = Z log(q1'' M1)", along_leaf(z, k), along_leaf(z, 0)
