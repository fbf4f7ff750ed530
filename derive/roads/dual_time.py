"""The dual road for several outputs: beta = h(mu) = grad H(mu), H = Q*, along commuting fields.

Where the gradient fields commute, one flow w(mu) follows all of them, and h(mu) = F(w(mu)) has the
symmetric derivative dh_b/dmu_a = <grad F_a, grad F_b> = K_ab. So h is the gradient of some H, and
Q = mu.h(mu) - H(mu) at beta = h(mu), with dQ/dbeta = mu: the Legendre transform of H. None of this
uses a metric in beta or dual coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator

from derive.exact.field.function_field import RationalFunction
from derive.model.parameterization import Parameterization
from derive.roads.agreement import require_agreement
from derive.roads.commuting_flow import CommutingFlow, find_commuting_flow
from derive.verdict import Finding, Identity, Verdict
from derive.weights.dual import DualCoordinates
from derive.weights.metric import Metric
from derive.weights.necessary import Equation

COMMUTING_TIME = "dual time (beta = h(mu) along commuting fields)"
"""The weights are written in one dual time for each output."""


def follow_dual_time(metric: Metric, dual: DualCoordinates | None) -> Finding | None:
    """Return what the joint flow of commuting fields gives, or None where it was not written.

    Args:
        metric: of d >= 2 outputs.
        dual: the main road's y and R, which must be mu and H along the flow; g = 1.

    Returns:
        PROVED with w(mu), h(mu) and H(mu), where H was found, and the identities behind them.

    Raises:
        ConsistencyError: the two roads disagree.

    Source: Li, Wang, Lee, Arora 2022, section 4; the Legendre transform of H is Q.
    """
    p = metric.parameterization
    if not metric.lie.commuting or (dual is not None and dual.g != p.field.one):
        return None
    flow = find_commuting_flow(p, _times(p), dual, metric.conserved.laws)
    if flow is None:
        return None
    h = tuple(flow.pull_back(f) for f in p.F)
    H = _potential(flow, h, dual)
    weights, outputs = zip(p.weights, flow.weights, strict=True), zip(p.labels, h, strict=True)
    evidence = (
        *(Identity(f"{n} along the flow", n, repr(w)) for n, w in weights),
        *(Identity(f"h{b} = F{b}(w(mu))", f"h{b}", repr(x)) for b, x in outputs),
    )
    equations = [*_equations(metric, flow, h), *_gradient(flow, h, H), *_agreement(flow, dual, H)]
    evidence += require_agreement("weight space", COMMUTING_TIME, equations)
    written = "" if H is None else f", H = {H!r}"
    reason = f"beta = h(mu) = grad H(mu){written}; Q = mu.h(mu) - H(mu) and dQ/dbeta = mu"
    return Finding(Verdict.PROVED, reason, evidence)


def _times(p: Parameterization) -> tuple[str, ...]:
    """Return a new name for each dual time."""
    taken = {*p.weights, *p.start_symbols, *p.parameters}
    names = ("mu", "nu", "tau", *(f"t{k}x" for k in range(100)))
    base = next(n for n in names if not any(t.startswith(n) for t in taken))
    return tuple(f"{base}{a}" for a in p.labels)


def _potential(
    flow: CommutingFlow, h: tuple[RationalFunction, ...], dual: DualCoordinates | None
) -> RationalFunction | None:
    """Return H: |w|^2/(2 D) for F of degree D, by Euler's identity, or a rational R(w(mu))."""
    p = flow.parameterization
    square = p.geometry.weight_square(p.w)
    if p.degree and square is not None:
        return flow.pull_back(square) / (2 * p.degree)
    if dual is not None and dual.R is not None and not dual.R.logs:
        return flow.pull_back(dual.R.rational)
    return None


def _equations(
    metric: Metric, flow: CommutingFlow, h: tuple[RationalFunction, ...]
) -> Iterator[Equation]:
    """Yield dh_b/dmu_a = K_ab."""
    labels = flow.parameterization.labels
    for a, i in enumerate(labels):
        for b, j in enumerate(labels):
            slope = flow.field.derivative(h[b], a)
            yield f"dh{j}/dmu{i} = K{i}{j}", slope, flow.pull_back(metric.K[a][b])


def _gradient(
    flow: CommutingFlow, h: tuple[RationalFunction, ...], H: RationalFunction | None
) -> Iterator[Equation]:
    """Yield dH/dmu_a = h_a."""
    if H is not None:
        for a, i in enumerate(flow.parameterization.labels):
            yield f"dH/dmu{i} = h{i}", flow.field.derivative(H, a), h[a]


def _agreement(
    flow: CommutingFlow, dual: DualCoordinates | None, H: RationalFunction | None
) -> Iterator[Equation]:
    """Yield d y_b(w(mu))/dmu_a = delta_ab and, where both are known, dR(w(mu))/dmu_a = dH/dmu_a."""
    if dual is None:
        return
    field, labels = flow.field, flow.parameterization.labels
    for a, i in enumerate(labels):
        for b, j in enumerate(labels):
            right = field.one if a == b else field.zero
            yield f"dy{j}/dmu{i} = {int(a == b)}", flow.slope(dual.y[b], a), right
        if dual.R is not None and H is not None:
            yield f"dR/dmu{i} = dH/dmu{i}", flow.slope(dual.R, a), field.derivative(H, a)
