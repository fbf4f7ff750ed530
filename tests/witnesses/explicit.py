"""Witnesses of explicit regularization: SLSQP from many points, and Q by flows of the weights."""

from fractions import Fraction

import numpy as np
import sympy

from derive.explicit.minimum import LENGTH, RootByInterval
from derive.verdict import Verdict
from tests.witnesses import Refuted, witness
from tests.witnesses.derivation import NO_TRIAL, function
from tests.witnesses.flows import Flows, Unreached, draw_start, end_of, lightest

CLOSE = 1e-4


def nearest(flows, beta, origin, rng, points=10):
    """Return min |w - origin|^2 subject to F(w) = beta, of the outputs in beta that are not nan."""
    reach = 0.5 + np.max(np.abs(origin)) + np.nanmax(np.abs(beta)) ** 0.5
    begin = (
        origin + reach * (1 if k else 0.05) * np.array([rng.gauss(0, 1) for _ in origin])
        for k in range(points)
    )
    return min((cost for cost, _ in lightest(flows, beta, begin, origin)), default=np.inf)


def told_at(minimum, beta, start):
    """Return R or R_F as it is told: a formula, or a real root; inf where there are no weights."""
    names = [s.name for s in minimum.variables]
    at = dict(zip(names, map(float, beta), strict=False))
    at |= {n: start[n] for n in names if n not in at}
    scale, alpha = 1.0, minimum.scale
    if alpha is not None:
        scale = start[alpha.name] ** 2
        at[minimum.argument.name] = float(beta[0]) / start[alpha.name] ** minimum.problem.degree
    if isinstance(minimum, RootByInterval):
        b, pairs = (
            at[minimum.argument.name],
            zip(minimum.intervals, minimum.closed_forms, strict=True),
        )
        found = [(x, form) for x, form in pairs if inside(x, b)]
        if not found:
            return None
        ((interval, form),) = found
        if interval.factor is None:
            return np.inf
        if form is None:
            return scale * real_roots(minimum.equations[interval.factor], at)[interval.index]
    else:
        (form,) = minimum.closed_forms or (None,)
        if form is None:
            if "smallest real root" not in minimum.finding.reason:
                return None
            return scale * min(x for e in minimum.equations for x in real_roots(e, at)[:1])
    return scale * float(np.real(complex(function(form, [], at)())))


def inside(interval, b):
    """Tell whether b is well inside."""
    low = -np.inf if interval.low is None else float(interval.low)
    high = np.inf if interval.high is None else float(interval.high)
    return low + 1e-3 < b < high - 1e-3


def real_roots(equation, at):
    """Return the real roots of a polynomial in r, ascending, double ones once or twice."""
    values = {s: at[s.name] for s in equation.free_symbols if s != LENGTH}
    coefficients = [float(c) for c in sympy.Poly(equation.subs(values), LENGTH).all_coeffs()]
    found = np.roots(coefficients)
    size = 1 + np.max(np.abs(found), initial=0)
    return sorted(float(x.real) for x in found if abs(x.imag) < 1e-7 * size)


def drawn(p, outputs, rng, trials):
    """Yield starts, and beta that some weights reach, or of one output any.

    What is said of R holds at almost all starts, which those of small numerators are not.
    """
    for _ in range(trials):
        start = {name: x * rng.uniform(0.95, 1.05) for name, x in draw_start(p, rng).items()}
        try:
            flows = Flows.of(p, start)
        except NO_TRIAL:
            continue
        w = np.array([rng.gauss(0, 1.2) for _ in flows.w0])
        beta = np.full(p.d, np.nan)
        beta[outputs] = flows.F(w)[outputs]
        if len(outputs) == 1 and rng.random() < 0.4:
            beta[outputs] = rng.uniform(-3, 3)
        yield flows, beta, start


@witness("distance", "representation cost")
def least_weights(record, statement, rng):
    """Minimise over weights with F(w) = beta, from many points."""
    p = (
        record.parameterization
        if hasattr(record, "parameterization")
        else record.derivation.parameterization
    )
    values, trials = statement.values, 0
    outputs = list(values["outputs"])
    if p.vectors or getattr(getattr(record, "derivation", None), "idle", ()):
        return 0
    from_start = statement.kind == "distance"
    for flows, beta, start in drawn(p, outputs, rng, 3):
        try:
            if "minimum" in values:
                told = told_at(values["minimum"], beta[outputs], start)
            else:
                names = [b.name for b in values["betas"]]
                told = float(np.real(function(values["R_F"], names, start)(*beta[outputs])))
        except NO_TRIAL:
            continue
        if told is None:
            continue
        flows = flows.in_unit_rates()
        origin = flows.w0 if from_start else 0 * flows.w0
        kept = [k for k, _ in enumerate(origin) if np.any(flows.J(flows.w0 + 0.37)[outputs][:, k])]
        moved = np.zeros_like(origin)
        moved[kept] = origin[kept]
        found = nearest(flows, beta, moved, rng)
        if not np.isfinite(told) or not np.isfinite(found):
            if np.isfinite(found) and "minimum" in values:
                raise Refuted(f"at {beta.tolist()} there are weights, of {found}, from {start}")
            continue
        if abs(found - told) > CLOSE * (1 + abs(found)):
            again = nearest(flows, beta, moved, rng, points=40)
            if abs(again - told) > CLOSE * (1 + abs(again)):
                raise Refuted(f"at {beta.tolist()} it is {again}, not {told}, from {start}")
        trials += 1
    return trials


def bregman(d, start, beta):
    """Return twice int (beta - b)/K(b) db from beta_0, K along w' = grad F, of one output.

    Raises:
        Unreached: the path leaves what is reached.
    """
    with np.errstate(all="ignore"):
        flows = Flows.of(d.parameterization, start)
        span, size = beta - float(flows.F(flows.w0)[0]), len(flows.w0)

    def field(_, x):
        rate = span / flows.kernel(x[:size])[0, 0]
        return np.concatenate([flows.velocity(x[:size], np.array([rate])), [rate, x[size] * span]])

    x0 = np.concatenate([flows.w0, [0.0, 0.0]])
    end = end_of(field, x0, (0, 1), 10_000, method="LSODA", rtol=1e-10, atol=1e-14)
    if not abs(flows.F(end[:size])[0] - beta) < 1e-6 * abs(span):
        raise Unreached
    return 2 * float(end[-1])


@witness("R beside Q")
def same_or_not(record, statement, rng):
    """Compare the least distance with Q by flows of the weights, of one output."""
    contrast, trials = statement.values["contrast"], 0
    d = contrast.implicit
    if d is None or d.verdict is not Verdict.PROVED or d.parameterization.d > 1:
        return 0
    gaps = []
    for _ in range(3):
        start = {n: abs(x) for n, x in draw_start(d.parameterization, rng).items()}
        try:
            flows = Flows.of(d.parameterization, start)
            first = float(flows.F(flows.w0)[0])
            beta = first + rng.choice((-1, 1)) * rng.uniform(0.3, 0.7) * max(1.0, abs(first))
            Q = bregman(d, start, beta)
        except NO_TRIAL:
            continue
        R = nearest(flows, np.array([beta]), flows.w0, rng, points=10)
        if np.isfinite(R + Q) and Q > 1e-9:
            gaps.append(abs(R / Q - 1))
            trials += 1
    same = contrast.finding.verdict is Verdict.PROVED
    if gaps and (max(gaps) > 1e-4 if same else max(gaps) < 1e-5):
        raise Refuted(f"R and Q differ by {max(gaps)}")
    return trials


@witness("R and Q in numbers")
def values_of_both(record, statement, rng):
    """Minimise over weights, and follow flows, at the beta that are told."""
    contrast, trials = statement.values["contrast"], 0
    d = contrast.implicit
    p = d.parameterization
    start = {n: float(x) for n, x in contrast.start}
    flows = Flows.of(p, start)
    for row in contrast.rows:
        beta = np.array([float(b) for b in row.beta])
        R = nearest(flows, beta, flows.w0, rng, points=10)
        if np.isfinite(R):
            if abs(R - float(row.explicit)) > CLOSE * R:
                raise Refuted(f"R({beta.tolist()}) is {R}, not {row.explicit}")
            trials += 1
        if p.d > 1:
            continue
        try:
            Q = bregman(d, start, float(beta[0]))
        except NO_TRIAL:
            continue
        if abs(Q - row.implicit) > CLOSE * abs(Q):
            raise Refuted(f"Q({beta.tolist()}) is {Q}, not {row.implicit}")
        trials += 1
    return trials


@witness("scale limit")
def tends(record, statement, rng):
    """Minimise over weights, from starts nearer and nearer to the limit."""
    p = record.parameterization
    if p.vectors or p.d > 1 or not all(f.is_polynomial() for f in p.F):
        return 0
    start = {n: abs(x) for n, x in draw_start(p, rng).items()}
    beta, off = np.array([rng.uniform(0.4, 2.0) * rng.choice((-1, 1))]), []
    for e in (0.1, 1e-2, 1e-3):
        flows = Flows.of(p, {n: x * e for n, x in start.items()})
        try:
            R, R_F = (nearest(flows, beta, w, rng, points=10) for w in (flows.w0, 0 * flows.w0))
        except NO_TRIAL:
            continue
        if np.isfinite(R) and np.isfinite(R_F):
            off.append(abs(R / R_F - 1) if R_F else abs(R))
    if len(off) > 1 and not (off[-1] < 0.02 or off[-1] < 0.7 * off[0]):
        raise Refuted(f"off by {off} at {beta.tolist()} from {start}")
    return len(off) > 1


@witness("value")
def value_there(record, statement, rng):
    """Minimise over weights at the numbers that are told."""
    p, point = record.parameterization, dict(statement.values["point"])
    value, start = statement.values["value"], draw_start(p, rng)
    if p.vectors:
        return 0
    start |= {n: float(x) for n, x in point.items() if n in start}
    names = [f"beta{i}" for i in p.labels] if p.d > 1 else ["beta"]
    beta = np.array([float(point.get(n, Fraction(0))) if n in point else np.nan for n in names])
    flows = Flows.of(p, start)
    origin = flows.w0 if statement.values["of"] == "R" else 0 * flows.w0
    found = nearest(flows, beta, origin, rng, points=12)
    if value is None:
        if np.isfinite(found):
            raise Refuted(f"there are weights at {point}")
        return 1
    told = float(value.ball)
    if np.isfinite(found) and abs(found - told) > CLOSE * (1 + found):
        raise Refuted(f"it is {found} at {point}, not {told}")
    return int(np.isfinite(found))
