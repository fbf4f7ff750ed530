"""Witnesses of what holds on given data without a Q: weighted flows, and two ways to one beta."""

import numpy as np
from scipy.optimize import least_squares

from derive.verdict import Verdict
from tests.witnesses import Refuted, witness
from tests.witnesses.derivation import NO_TRIAL
from tests.witnesses.flows import Flows, draw_start

SEEN = 1e-6
TRIALS = 3


def flows_of(o, rng):
    """Return F from a drawn start, or from the one at which something was refuted."""
    p = o.derivation.parameterization
    return Flows.of(p, {n: abs(x) for n, x in draw_start(p, rng).items()})


@witness("data order")
def weighted(o, statement, rng):
    """Fit labels near X beta_0 with three loss weightings: limits are one, or not of all labels."""
    X, furthest, trials = np.array(o.X, float), 0.0, 0
    for _ in range(TRIALS):
        flows = flows_of(o, rng)
        beta = flows.F(flows.w0)
        y = X @ (beta + np.array([rng.uniform(-0.2, 0.2) for _ in beta]))
        scales = [np.ones(len(X)), np.geomspace(1, 20, len(X)), np.geomspace(20, 1, len(X))]
        try:
            ends = [flows.F(flows.fitted(X, y, rows=s)) for s in scales]
        except NO_TRIAL:
            continue
        furthest, trials = max(furthest, np.ptp(ends, axis=0).max()), trials + 1
    one = o.independent.verdict is Verdict.PROVED
    if trials and one != (furthest < SEEN):
        raise Refuted(f"limits are up to {furthest} apart on {X.tolist()}")
    return trials


@witness("closed kernel")
def same_beta(o, statement, rng):
    """Steer to one beta in two ways, and compare K."""
    furthest, trials = 0.0, 0
    for _ in range(TRIALS):
        flows = flows_of(o, rng)
        d = len(flows.F(flows.w0))
        pieces = [np.array([rng.uniform(-1, 1) for _ in range(d)]) for _ in range(6)]
        try:
            one = flows.steered(pieces[:3])[-1][0]

            def off(last, flows=flows, pieces=pieces, one=one):
                return flows.F(flows.steered([*pieces[3:5], last])[-1][0]) - flows.F(one)

            found = least_squares(off, pieces[5], xtol=1e-14, ftol=1e-14, gtol=1e-14)
            other = flows.steered([*pieces[3:5], found.x])[-1][0]
        except NO_TRIAL:
            continue
        if np.abs(found.fun).max() > 1e-9:
            continue
        furthest = max(furthest, np.abs(flows.kernel(one) - flows.kernel(other)).max())
        trials += 1
    if trials and (o.closed.verdict is Verdict.PROVED) != (furthest < SEEN):
        raise Refuted(f"K changes by {furthest} where beta does not")
    return trials
