"""The published road: Hess Q = g rho solved for the unknown functions of an Ansatz.

Q = q(t) + z.beta makes Hess Q = q'' grad t grad t^T + q' Hess t, so with K = rho^-1, r = q''/q'

    K (r grad t grad t^T + Hess t) = (g/q') I.

Pulled back by beta = F(w) these are linear equations for r and g/q' over the functions of the
weights; nothing is eliminated. r must be a function of t on the leaf; then q' = psi solves
X_a psi = psi r X_a t, X_a = grad F_a, and grad Q = psi grad t + z.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import dot
from derive.model.geometry import Field
from derive.roads.ansatz import Ansatz
from derive.roads.on_leaf import is_defined, is_not_zero, log_warp, require_function_of, tangent
from derive.verdict import Decided, Finding, Identity, Verdict
from derive.weights.equations import Equation
from derive.weights.lie import along
from derive.weights.metric import Metric
from derive.weights.witness import NotProved, require_equations


@dataclass(frozen=True)
class PublishedRoad(Decided):
    """What became of one Ansatz Q = sum_k q_k(t_k) + z.beta.

    For one t, psi = q'(t); for d linear forms t_k, psi_k = q_k''(t_k).

    Attributes:
        finding: PROVED with the identities; REFUTED: Q is not of this form; UNDECIDED.
        slopes: grad t_k at beta = F(w), d functions of the weights each.
        ratios: psi_k'/psi_k as functions of the weights; empty unless PROVED.
        factors: g/psi_k as functions of the weights; empty unless PROVED.
    """

    metric: Metric
    ansatz: Ansatz
    finding: Finding
    slopes: tuple[Field, ...] = ()
    ratios: Field = ()
    factors: Field = ()

    @property
    def name(self) -> str:
        """The road in words."""
        form = self.ansatz.describe(self.metric.labels)
        return f"published (Ansatz {form})"

    @functools.cached_property
    def H(self) -> Field | None:
        """H_a = X_a log g, or None unless PROVED."""
        if not self.ratios:
            return None
        return log_warp(self.metric, self.slopes[0], self.ratios[0], self.factors[0])


def follow_published(metric: Metric, ansatz: Ansatz) -> PublishedRoad:
    """Decide whether Hess Q = g rho for a Q of the form of the Ansatz, and find q''/q'.

    Args:
        metric: of a parameterization with d >= 2 outputs.

    Returns:
        PROVED with q''/q' in the weights, a function of t. REFUTED says that Q is not of this
        form; it does not say that there is no Q.

    Raises:
        InputError: the Ansatz does not fit the outputs.

    Source: Azulay et al. 2021, eq. (10)-(12), for the radial Ansatz.
    """
    p = metric.parameterization
    if p.d == 1:
        raise InputError("an Ansatz needs two outputs or more: for one, every Q is a q(beta)")
    functions = ansatz.functions(p.d)
    slopes = tuple(tuple(x.compose(p.F, p.field) for x in t.field.gradient(t)) for t in functions)
    try:
        walked = separate(metric, slopes) if len(functions) > 1 else _solve(metric, functions[0])
        ratios, factors, evidence = walked
        evidence += _one_function_each(metric, slopes, ratios, factors)
    except NotProved as ended:
        return PublishedRoad(metric, ansatz, ended.finding, slopes)
    finding = Finding(Verdict.PROVED, "Q has the form of the Ansatz", evidence)
    return PublishedRoad(metric, ansatz, finding, slopes, ratios, factors)


def _one_function_each(
    metric: Metric, slopes: tuple[Field, ...], ratios: Field, factors: Field
) -> tuple[Identity, ...]:
    """Prove that r_k = psi_k'/psi_k is a function of t_k, and psi_k g/psi_k one g, or NotProved."""
    p, single = metric.parameterization, len(slopes) == 1
    pairs = zip(ratios, factors, strict=True)
    if not all(is_defined(p, r) and is_not_zero(p, factor) for r, factor in pairs):
        reason = "q_k'''/q_k'' is infinite on the leaf of this start, or g/q_k'' is 0 there"
        if single:
            reason = "q''/q' is infinite on the leaf of this start, or g/q' is 0 or infinite there"
        raise NotProved(Finding(Verdict.UNDECIDED, reason))
    H = log_warp(metric, slopes[0], ratios[0], factors[0])
    evidence: tuple[Identity, ...] = ()
    for k, (slope, r) in enumerate(zip(slopes, ratios, strict=True), 1):
        t, name = ("t", "r") if single else (f"t{k}", f"r{k}")
        evidence += require_function_of(metric, (t, slope), (name, r), H)
    return evidence + require_equations(p, _one_warp(metric, slopes, ratios, factors, H), _MORE)


def _solve(metric: Metric, t: RationalFunction) -> tuple[Field, Field, tuple[Identity, ...]]:
    """Return r = q''/q', g/q' and the identities for one unknown q."""
    p = metric.parameterization
    s = tuple(x.compose(p.F, p.field) for x in t.field.gradient(t))
    v = tuple(dot(row, s) for row in metric.K)
    hessian = [[x.compose(p.F, p.field) for x in t.field.gradient(y)] for y in t.field.gradient(t)]
    constant = [[dot(row, column) for column in hessian] for row in metric.K]
    conditions = _conditions(p.labels, [tuple(x * y for y in s) for x in v], constant)
    # One exists: K is positive definite and grad t is not zero, so (K grad t) grad t^T is no
    # multiple of the identity.
    name, a0, b0 = next(c for c in conditions if not c[1].is_zero())
    equations = (
        Equation(f"{n} with r from {name}, N = K (r grad t grad t^T + Hess t)", b0 * a, b * a0)
        for n, a, b in conditions
    )
    refuted = "q''/q' would have to be two different functions: Q is not of this form"
    evidence = require_equations(p, equations, refuted)
    r = -b0 / a0
    factor = r * v[0] * s[0] + constant[0][0]
    if factor.is_zero():
        zero = Identity("K (r grad t grad t^T + Hess t) = 0", repr(factor), "0")
        reason = "Hess Q = g rho holds with g = 0 only: Q is not of this form"
        raise NotProved(Finding(Verdict.REFUTED, reason, (*evidence, zero)))
    return (r,), (factor,), evidence


def _conditions(
    labels: Sequence[int], linear: Sequence[Field], constant: Sequence[Sequence[RationalFunction]]
) -> list[tuple[str, RationalFunction, RationalFunction]]:
    """Return (name, a, b) for each r a + b = 0 by which r *linear* + *constant* is round."""
    places = list(enumerate(labels))
    off = [
        (f"N{m}{n} = 0", linear[i][j], constant[i][j]) for (i, m), (j, n) in permutations(places, 2)
    ]
    first, a, b = f"N{labels[0]}{labels[0]}", linear[0][0], constant[0][0]
    return off + [
        (f"N{n}{n} = {first}", linear[i][i] - a, constant[i][i] - b) for i, n in places[1:]
    ]


_MORE = "q_k'' = g/M_kk depends on more than t_k for any g: Q is not of this form"


def separate(
    metric: Metric, slopes: tuple[Field, ...]
) -> tuple[Field, Field, tuple[Identity, ...]]:
    """Return r_k = q_k'''/q_k'', M_kk = g/q_k'' and the identities, or raise NotProved."""
    p = metric.parameterization
    # dt_k = sum_b (dt_k/dbeta_b) dF_b, and Y_k = grad t_k in the weights.
    covectors = tuple(
        tuple(dot(slope, column) for column in zip(*p.covectors, strict=True)) for slope in slopes
    )
    fields = p.geometry.fields(covectors)
    d = range(p.d)
    products = (
        Equation(f"<grad t{k + 1}, grad t{n + 1}> = 0", dot(fields[k], covectors[n]), p.field.zero)
        for k, n in combinations(d, 2)
    )
    evidence = require_equations(p, products, "grad t_k are not orthogonal: Q is not of this form")
    M = tuple(dot(y, dt) for y, dt in zip(fields, covectors, strict=True))
    logs = [[along(y, m) / m for m in M] for y in fields]
    others = [0 if n else 1 for n in d]
    evidence += require_equations(p, _warp_along_others(logs, others), _MORE)
    ratios = tuple((logs[k][others[k]] - logs[k][k]) / M[k] for k in d)
    return ratios, M, evidence


def _warp_along_others(
    logs: Sequence[Sequence[RationalFunction]], others: Sequence[int]
) -> Iterator[Equation[RationalFunction]]:
    """Yield Y_n log g = Y_n log M_kk, one and the same for every k other than n."""
    for n, row in enumerate(logs):
        for k, log in enumerate(row):
            if k not in (n, others[n]):
                statement = f"Y{n + 1} log M{k + 1} = Y{n + 1} log M{others[n] + 1}"
                yield Equation(statement, log, row[others[n]])


def _one_warp(
    metric: Metric, slopes: tuple[Field, ...], ratios: Field, M: Field, H: Field
) -> Iterator[Equation[RationalFunction]]:
    """Yield Z log(q_k'' M_kk) = Z log(q_1'' M_11), both log g, along the whole leaf."""
    p = metric.parameterization
    if all(r.is_zero() for r in ratios) and all((m / M[0]).is_constant() for m in M):
        return
    fields = tangent(metric, H)

    def along_leaf(z: Field, k: int) -> RationalFunction:
        t = dot([dot(z, df) for df in p.covectors], slopes[k])
        return ratios[k] * t + along(z, M[k]) / M[k]

    for z in fields:
        for k in range(1, len(slopes)):
            statement = f"Z log(q{k + 1}'' M{k + 1}) = Z log(q1'' M1)"
            yield Equation(statement, along_leaf(z, k), along_leaf(z, 0))
