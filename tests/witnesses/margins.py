"""Witnesses of what is said of separable data: exponential loss in log time, and brute force."""

import itertools
import re
from contextlib import suppress
from dataclasses import replace

import numpy as np
import sympy
from scipy.optimize import linprog, nnls
from scipy.special import logsumexp, softmax

from derive.verdict import Verdict
from tests.witnesses import Refuted, witness
from tests.witnesses.derivation import NO_TRIAL, cases, function, reached, unseen
from tests.witnesses.flows import Flows, Unreached, end_of, lightest, minima

LEVEL = 3e3
"""log(1/L) at which directions are looked at: gaps are about its inverse."""
CLOSE = 0.06
SMALL = 0.1
"""Of starts of homogeneous F, which are forgotten as |w| grows."""
FAR = (1.0, 1e5, 1e10)


def in_levels(flows, X, level):
    """Return the weights where sum exp(-u) = exp(-level): dw/dl = J^T X^T p/(p^T X K X^T p).

    Far out in log l, implicit: margins of rows that are tight agree to 1/l there.

    Raises:
        Unreached: the data are not separated by then.
    """

    def field(_, w):
        gradient = flows.J(w).T @ X.T @ softmax(-X @ flows.F(w))
        velocity = flows.inverse(w) @ gradient
        return velocity / (gradient @ velocity)

    near, how = min(level, LEVEL), {"rtol": 1e-8, "atol": 1e-10}
    span = (-float(logsumexp(-X @ flows.F(flows.w0))), near)
    end = end_of(field, flows.w0, span, 10_000, method="LSODA", **how)
    if level > near:
        span = (np.log(near), np.log(level))
        end = end_of(lambda t, w: np.exp(t) * field(t, w), end, span, method="Radau", **how)
    if not np.min(X @ flows.F(end)) > level / 2:
        raise Unreached
    return end


SHARP = 0.2


def is_sharp(X):
    """Tell whether the least l1 norm with margins of 1 is at one vertex, and far from others.

    Coordinates that are 0 there have |X^T s|_j < 1 for the multipliers s. Along the path of
    |b|_1 + E(b)/log c, E an entropy, they fall as c to the power |X^T s|_j - 1: slowly where that
    is near 0, at any level that a run reaches.
    """
    m, d = X.shape
    run = linprog(np.ones(2 * d), A_ub=-np.hstack([X, -X]), b_ub=-np.ones(m))
    b, s = run.x[:d] - run.x[d:], -run.ineqlin.marginals
    used, tight = np.abs(b) > 1e-9, s > 1e-9
    slack = 1 - np.abs(X.T @ s)[~used]
    return used.sum() == tight.sum() and slack.min(initial=1) > SHARP


def separable(size, rng, side=0):
    """Draw rows that some beta separates, on a side of 0."""
    b = np.array([rng.gauss(0, 1) for _ in range(size)])
    b = side * np.abs(b) if side else b
    rows = rng.randrange(size, 2 * size + 2)
    X = np.array([[rng.gauss(0, 1) for _ in range(size)] for _ in range(rows)])
    found = X * np.sign(X @ b)[:, None]
    return found


def of_number(expression, names):
    """Return a function of some names, sizes smoothed as SLSQP wants it."""
    smooth = expression.replace(sympy.Abs, lambda x: sympy.sqrt(x**2 + sympy.Float(1e-14)))
    return function(smooth, names, {})


def least(f, X, rng, exact=False):
    """Return min f(b) subject to X b >= 1, or X b = 1 where it is exact."""
    points = ([rng.gauss(0, 2) for _ in range(X.shape[1])] for _ in range(6))
    bound = {"type": "eq" if exact else "ineq", "fun": lambda b: X @ b - 1, "jac": lambda b: X}
    found = minima(f, points, bound, lambda b: np.min(X @ b) > 1 - 1e-6, maxiter=400, ftol=1e-12)
    return min((cost for cost, _ in found), default=np.inf)


def lightest_of_some(flows, beta, rng):
    """Return min |w|^2 subject to F(w) = beta, and w, once three points lead there."""
    flows = flows.in_unit_rates()
    best, again = (np.inf, flows.w0), 0
    points = (np.array([rng.gauss(0, 1.5) for _ in flows.w0]) for _ in range(8))
    for cost, w in lightest(flows, beta, points, maxiter=200, ftol=1e-13):
        again += abs(cost - best[0]) < 1e-9 * cost
        best = min(best, (cost, w), key=lambda end: end[0])
        if again == 2:
            break
    return best


def separated(m, rng, scale=1.0, level=LEVEL):
    """Yield cases with rows and the weights late, from starts that may be scaled.

    Of l1 margins the rows are such that the run shows its limit by then.
    """
    for case in cases(m.derivation, rng):
        size = len(case.flows.F(case.flows.w0))
        X = separable(size, rng)
        while m.norm == "l1" and not is_sharp(X):
            X = separable(size, rng)
        flows = replace(case.flows, w0=scale * case.flows.w0)
        try:
            w = in_levels(flows, X, level)
        except NO_TRIAL:
            continue
        if case.on_this_side(w):
            yield case, X, w


def from_small(m, rng, *_):
    """Yield cases of given dimension with rows and the weights late, from small starts."""
    if m.derivation.direction is None:
        yield from separated(m, rng, SMALL)


def of_copies(m, phi):
    """Return the horizon as a function of beta: of one output, for copies."""
    names = [b.name for b in m.derivation.beta]
    one = of_number(phi, names)
    if len(names) > 1:
        return lambda b: float(one(*b))
    if m.far[0].leading.growth is None:
        return lambda b: float(max(map(one, b)))
    p = float(m.far[0].leading.degree)
    return lambda b: float(sum(one(x) ** p for x in b) ** (1 / p))


def over_margin(phi, case, X, w):
    """Return phi over the margin."""
    beta = case.flows.F(w)
    return phi(beta) / float(np.min(X @ beta))


@witness("direction")
def largest_margin(m, statement, rng):
    """Compare phi over the margin, late, with the least that there is."""
    phi, trials = of_copies(m, statement.values["phi"]), 0
    if m.derivation.direction is not None or m.shape.weighted:
        return 0
    fast = m.shape.norm == "linf"  # then beta is log|w|
    for case, X, w in separated(m, rng, level=LEVEL / 150 if fast else LEVEL):
        best = by_programs(X, "linf") if fast else least(phi, X, rng)
        ratio = over_margin(phi, case, X, w) / best
        for late in (30, 300, 3e4):  # some come late
            if ratio > 1 + CLOSE:
                with suppress(*NO_TRIAL):
                    w = in_levels(case.flows, X, late * LEVEL)
                    ratio = over_margin(phi, case, X, w) / best
        if not 1 - CLOSE < ratio < 1 + CLOSE and not unseen(m.derivation):
            raise Refuted(f"phi over the margin is {ratio} of the least, on {X.tolist()}")
        trials += 1
    return trials


def by_programs(X, norm, side=0):
    """Return the least l_inf norm, or l1 norm on a side of 0 or on both, with margins of 1."""
    (m, d), one = X.shape, np.ones((len(X), 1))
    if norm == "linf":
        box = np.vstack([np.hstack([s * np.eye(d), -np.ones((d, 1))]) for s in (1, -1)])
        rows = np.vstack([np.hstack([-X, 0 * one]), box])
        bound = np.concatenate([-np.ones(m), np.zeros(2 * d)])
        return linprog([0] * d + [1], A_ub=rows, b_ub=bound, bounds=[(None, None)] * (d + 1)).fun
    split = np.hstack([X, -X]) if not side else side * X
    return linprog(np.ones(split.shape[1]), A_ub=-split, b_ub=-np.ones(m)).fun


@witness("direction on half-lines", each=cases)
def on_half_lines(m, statement, rng, case):
    """Compare |beta|_1 over the margin, late, with the least on that side."""
    (side, *others) = [s for _, s in m.shape.sides]
    if others or m.derivation.parameterization.d > 1 or m.far[0].leading.degree != 1:
        return 0
    X = separable(len(case.flows.F(case.flows.w0)), rng, side)
    with reached():
        w = in_levels(case.flows, X, LEVEL)
    phi = lambda b: float(np.abs(b).sum())  # noqa: E731
    ratio = over_margin(phi, case, X, w) / by_programs(X, "l1", side)
    if ratio > 1 + CLOSE:  # some come late
        with suppress(*NO_TRIAL):
            w = in_levels(case.flows, X, 1e6 * LEVEL)
            ratio = over_margin(phi, case, X, w) / by_programs(X, "l1", side)
    if not 1 - CLOSE < ratio < 1 + CLOSE:
        raise Refuted(f"|beta|_1 over the margin is {ratio} of the least, on {X.tolist()}")
    return 1


def in_degrees(m, case):
    """Return the entry of Lambda of each weight, and 1 for those that rule and that fade."""
    w, names = m.weights, m.derivation.parameterization.weights
    copies, size = len(case.starts), len(case.flows.w0)
    if w.grading is None:
        return np.full(size, 1 / float(w.degree)), np.ones(size), np.zeros(size)
    lam = {s.name: float(x) for s, x in w.kept.items()}
    fading = {s.name for s in w.fading}
    rule = {s.name for s in w.levels[0].weights}
    rows = [[lam.get(k, 0), k in rule, k in fading] for k in names]
    return (np.tile(column, copies) for column in np.array(rows, float).T)


@witness("KKT", "KKT levels", each=from_small)
def stationary(m, statement, rng, late):
    """Look how far weights are, late, from J^T X^T lambda, lambda >= 0 on the rows of margin 1."""
    case, X, w = late
    if "then" in statement.values:
        return _one_after_another(m, rng, case, X, w)
    w, case = (
        w / np.sqrt(np.diag(case.flows.inverse(w))),
        replace(case, flows=case.flows.in_unit_rates()),
    )
    if m.weights.grading is not None and not costs_something(m, case, X, rng):
        return 0
    off, flows = _off_stationary(m, case, X, w), replace(case.flows, w0=SMALL * case.flows.w0)
    for later in (10, 1e3, 1e5):  # some stay near another point for long
        if off > 2 * CLOSE:
            off = _off_stationary(m, case, X, in_levels(flows, X, later * LEVEL))
    if off > 2 * CLOSE:
        raise Refuted(f"{off} off a KKT point on {X.tolist()}")
    return 1


def costs_something(m, case, X, rng):
    """Tell whether the least sum of squares of the weights that rule is no less than some."""
    _, rule, fading = in_degrees(m, case)

    def over(w):
        return X @ case.flows.F(w * (1 - fading)) - 1

    def slope(w):
        return X @ case.flows.J(w * (1 - fading)) * (1 - fading)

    points = (3 * unit(rng, len(rule)) for _ in range(6))
    fits = {"type": "ineq", "fun": over, "jac": slope}
    met = lambda w: np.min(over(w)) > -1e-6  # noqa: E731
    found = minima(lambda w: rule @ w**2, points, fits, met, jac=lambda w: 2 * rule * w)
    costs = [cost for cost, _ in found]
    return bool(costs) and min(costs) > 1e-2


def _off_stationary(m, case, X, w):
    """Return how far weights are from J^T X^T lambda, as a part of their length.

    That is infinite where the data are not separated without those that fade.
    """
    lam, rule, fading = in_degrees(m, case)
    kept = w * (1 - fading)
    margin = np.min(X @ case.flows.F(kept))
    if margin <= 0:
        return np.inf
    v = kept / margin**lam
    tight = X[X @ case.flows.F(v) < 1.2]
    _, off = nnls((case.flows.J(v).T @ tight.T)[fading == 0], (v * rule)[fading == 0])
    return float(off / np.linalg.norm(v * rule))


def _one_after_another(m, rng, case, X, w):
    """Compare beta over its margin, late, with the least cost of each level given those before."""
    costs = [[c for c in level.costs if c.formula is not None] for level in m.weights.levels]
    betas, bounds = [b.name for b in m.derivation.beta], []
    written = sum(len(c.betas) for level in costs for c in level) == len(betas) > 1
    if not written or any(level.degree < sympy.Rational(1, 2) for level in m.weights.levels):
        return 0
    if not costs_something(m, case, X, rng):
        return 0
    beta = case.flows.F(w)
    beta = beta / np.min(X @ beta)
    for level in costs:
        cost = of_number(sum(c.formula for c in level), betas)
        value = lambda b, cost=cost: float(cost(*b))  # noqa: E731

        def over(b, bounds=tuple(bounds)):
            return np.append(X @ b - 1, [bound(b) for bound in bounds])

        points = (beta, beta * 1.1, beta + 0.1 * np.abs(beta))
        met = lambda b, over=over: np.min(over(b)) > -1e-6  # noqa: E731
        fits = {"type": "ineq", "fun": over}
        least = min((x for x, _ in minima(value, points, fits, met, ftol=1e-14)), default=None)
        if least is None:
            raise Unreached
        if value(beta) > least + CLOSE * (1 + least):
            raise Refuted(f"{value(beta)}, not {least}, on {X.tolist()}")
        bounds.append(lambda b, v=value, s=least: s + 1e-7 * (1 + s) - v(b))
    return 1


@witness("level cost", each=cases)
def least_of_some(m, statement, rng, case):
    """Minimise the squares of these weights above drawn beta, where those that fade are 0."""
    p, cost = m.derivation.parameterization, statement.values["cost"]
    if m.derivation.direction is not None:
        return 0
    own = [w in {x.name for x in cost.square.free_symbols} for w in p.weights]
    fading = {s.name for s in m.weights.fading}
    kept = np.array([w not in fading for w in p.weights], float)
    weighed = np.array(own, float) + 1e-7
    R = function(statement.values["R"], [b.name for b in cost.betas], {})
    flows = Flows.of(p, case.starts[0]).in_unit_rates()
    goal = flows.F(kept * unit(rng, p.p))[list(cost.outputs)]

    def off(w):
        return flows.F(kept * w)[list(cost.outputs)] - goal

    def slope(w):
        return flows.J(kept * w)[list(cost.outputs)] * kept

    found = minima(
        lambda w: weighed @ w**2,
        (unit(rng, p.p) for _ in range(8)),
        {"type": "eq", "fun": off, "jac": slope},
        lambda w: np.max(np.abs(off(w))) < 1e-7,
        jac=lambda w: 2 * weighed * w,
        ftol=1e-13,
        maxiter=400,
    )
    least = min((float(np.array(own) @ w**2) for _, w in found), default=np.inf)
    told = float(R(*goal))
    if np.isfinite(least) and not np.isclose(least, told, rtol=1e-3, atol=1e-4):
        raise Refuted(f"the least is {least}, not {told}, at {goal.tolist()}")
    return np.isfinite(least)


@witness("graded", "homogeneous", each=cases)
def scales(record, statement, rng, case):
    """Evaluate F at scaled weights, F(c^Lambda w) = c F(w); where all scale alike, in every d."""
    d, values = record.derivation, statement.values
    p, alike = d.parameterization, "D" in values
    if d.direction is not None and not alike:
        return 0
    flows = case.flows if d.direction is not None else Flows.of(p, case.starts[0])
    c, power = rng.uniform(1.2, 3), 1.0
    if alike:
        power, scale = float(function(values["D"], [], case.starts[0])()), c
    else:
        lam = {s.name: float(x) for s, x in values["lam"].items()}
        scale = c ** np.array([lam.get(w, 0.0) for w in p.weights])  # some stay at 0
    for w in (flows.w0, flows.w0 * np.array([rng.uniform(0.5, 2) for _ in flows.w0])):
        a, b = flows.F(w), flows.F(scale * w)
        if np.isfinite(a).all() and not np.allclose(b, c**power * a, rtol=1e-9, atol=1e-12):
            raise Refuted(f"F is {b} at the scaled weights, not {c**power * a}")
    return 2


@witness("KKT law", each=from_small)
def vanishes(m, statement, rng, late):
    """Evaluate the law at directions of flows, and at drawn ones."""
    (case, X, w), names = late, m.derivation.parameterization.weights
    law, k = function(statement.values["law"], list(names), case.starts[0]), len(names)
    size = np.max([abs(law(*unit(rng, len(w))[:k])) for _ in range(50)])
    for v in np.split(w / np.linalg.norm(w), len(case.starts)):
        if abs(law(*v)) > CLOSE * size:
            raise Refuted(f"it is {law(*v)} at {v.tolist()}, on {X.tolist()}")
    return 1


def unit(rng, size):
    """Draw a direction."""
    v = np.array([rng.gauss(0, 1) for _ in range(size)])
    found = v / np.linalg.norm(v)
    return found


@witness("KKT minimizer", each=cases)
def least_or_not(m, statement, rng, case):
    """Of linear F look at sums; else at the KKT conditions at the point, and at its rival."""
    flows = case.flows if len(case.starts) == 1 else Flows.of(
        m.derivation.parameterization, case.starts[0]
    )  # fmt: skip
    if "s" not in statement.values:
        moves = [w not in m.derivation.idle for w in m.derivation.parameterization.weights]
        v, w = (unit(rng, len(flows.w0)) * moves for _ in range(2))
        if not np.allclose(flows.F(v + w), flows.F(v) + flows.F(w)):
            raise Refuted("F is not linear")
        return 1
    s = float(statement.values["s"])
    (cost, w), (half, _) = (lightest_of_some(flows, np.array([b]), rng) for b in (s, s / 2))
    if not np.isfinite(cost):
        raise Refuted(f"no w has F(w) = {s}")
    grad = s * flows.in_unit_rates().J(w)[0]
    _, off = nnls(grad[:, None], w)
    still = np.max(np.abs(flows.J(0 * w)))
    if off > 1e-3 or still > 1e-9 or not half < cost * 0.99:
        raise Refuted(f"off by {off}, dF(0) = {still}, costs {half} and {cost}")
    return 1


@witness("agreement")
def alike(m, statement, rng):
    """Order drawn beta by the horizon and by the least |w|^2: both are alike, or they are not."""
    if m.derivation.direction is not None or m.horizon is None or m.shape.weighted:
        return 0
    phi, agree = of_copies(m, m.horizon), m.agreement.verdict is Verdict.PROVED
    trials, differ = 0, 0.0
    for case in cases(m, rng):
        size = len(case.flows.F(case.flows.w0))
        ends = [case.flows.F(2 * unit(rng, len(case.flows.w0))) for _ in range(4)]
        pairs = [(phi(b), lightest_of_some(case.flows, b, rng)[0]) for b in ends]
        for (h, R), (k, S) in itertools.combinations(pairs, 2):
            if h > k * 1.01 and np.isfinite(R + S):
                differ = max(differ, S / R - 1)
        trials += size > 1
    if agree and differ > 1e-3 and trials:
        raise Refuted(f"R_F is greater by {differ} where the horizon is less")
    return trials


def slopes_far_out(flows, side):
    """Return mu = int d beta/K at |beta| as FAR, on one side, along w' = +-grad F."""

    def field(_, x):
        w = x[:-1]
        rate = side * (1 + abs(flows.F(w)[0])) / flows.kernel(w)[0, 0]
        return np.concatenate([flows.velocity(w, np.array([rate])), [rate]])

    first = float(flows.F(flows.w0)[0])
    x, found, at = np.append(flows.w0, 0.0), [], first
    for size in FAR:
        beta = side * (size + abs(first))
        # d beta = side (1 + |beta|) ds.
        x = end_of(field, x, (0, _length(at, beta)), method="LSODA", rtol=1e-10, atol=1e-12)
        at = beta
        if not np.isclose(flows.F(x[:-1])[0], beta, rtol=1e-4):
            raise Unreached
        found.append(float(x[-1]))
    return found


def _length(a, b):
    """Return |int_a^b dx/(1 + |x|)|."""
    return abs(np.sign(b) * np.log1p(abs(b)) - np.sign(a) * np.log1p(abs(a)))


def ends(m, rng, *_):
    """Yield starts of one output, sides, and mu far out there."""
    if len(m.derivation.beta) > 1 or m.derivation.direction is not None:
        return
    for case in cases(m.derivation, rng):
        flows = Flows.of(m.derivation.parameterization, case.starts[0])
        for side in (1, -1):
            try:
                yield case.starts[0], side, slopes_far_out(flows, side)
            except NO_TRIAL:
                continue


@witness("coercive", each=ends)
def grows_or_not(m, statement, rng, end):
    """Follow mu = Q' along the curve of weights to beta = 1e10, and to its limit if it has one."""
    tends = m.coercive.verdict is Verdict.PROVED
    told = dict(re.findall(r"-> (-?infinity)(?:: it tends to `([^`]*)`)?", m.coercive.reason))
    start, side, (near, middle, far) = end
    if any(start[D.name] <= 2.2 for f in m.far for D in f.depths):
        return 0
    grew = abs(far - middle) / abs(middle - near)
    name = "infinity" if side > 0 else "-infinity"
    if tends and grew < 0.1:
        raise Refuted(f"mu is {near}, {middle}, {far} on side {side} from {start}")
    if not tends and name not in told:
        return 0
    if not tends and grew > 0.5:
        raise Refuted(f"mu is {near}, {middle}, {far} on side {side} from {start}")
    if not tends and told[name]:
        named = {n: sympy.Symbol(n) for n in start}
        limit = float(function(sympy.sympify(told[name], named), [], start)())
        if abs(far - limit) > 0.1 * abs(limit - near) + 1e-9:
            raise Refuted(f"mu is {far}, not {limit}, on side {side} from {start}")
    return 1


@witness("growth", each=ends)
def grows_as_told(m, statement, rng, end):
    """Compare differences of mu with those of N h'."""
    start, side, (_, middle, far) = end
    (b,) = m.derivation.beta
    h = function(statement.values["h"], [b.name], start)
    N = function(statement.values["N"], ["c"], start)
    slope = (h(side * (1 + 1e-6)) - h(side * (1 - 1e-6))) / (side * 2e-6)
    told = slope * (N(FAR[2]) - N(FAR[1]))
    if abs(far - middle - told) > 0.05 * abs(told):
        raise Refuted(f"mu grows by {far - middle}, not {told}, on side {side} from {start}")
    return 1


def from_scaled(m, rng, *_):
    """Yield cases, copies with parameters in common, and D where it is as the condition says."""
    p = m.derivation.parameterization
    for case in cases(m.derivation, rng):
        shared = {name: case.starts[0][name] for name in p.parameters}
        starts = [{**start, **shared} for start in case.starts]
        flows = Flows.side_by_side([Flows.of(p, start) for start in starts])
        D = float(function(m.scaled.degree, [], starts[0])())
        if D > 0.4:
            yield replace(case, starts=starts, flows=flows), D


@witness("large starts", each=from_scaled)
def linear_at_first(m, statement, rng, of_start):
    """Run the exponential loss from c w_0 and from 0 in the linear model, to the same tau."""
    case, _ = of_start
    flows, X = case.flows, separable(len(case.flows.F(case.flows.w0)), rng)
    J0, tau = flows.J(flows.w0), 0.3 / np.linalg.norm(X @ flows.J(flows.w0)) ** 2
    scaled = statement.values["scaled"]
    time, late = (
        float(function(x, [], case.starts[0])()) for x in (scaled.time, scaled.displacement)
    )  # fmt: skip

    def run(F, J, w, t, X=X):
        def field(_, w):
            return np.asarray(J(w).T @ X.T @ np.exp(-X @ F(w)))

        return end_of(field, w, (0, t), rtol=1e-10, atol=1e-13)

    with reached():
        v = run(lambda v: J0 @ v, lambda v: J0, 0 * flows.w0, tau)
        off = []
        for c in (16.0, 64.0):
            w = run(flows.F, flows.J, c * flows.w0, tau / c**time)
            off.append(np.linalg.norm((w - c * flows.w0) * c**late - v) / np.linalg.norm(v))
    if not (off[1] < 0.7 * off[0] + 1e-4 and off[1] < 0.3):
        raise Refuted(f"off the linear model by {off} from {case.starts}")
    return 1


@witness("large starts, late", each=from_scaled)
def margin_of_the_kernel(m, statement, rng, of_start):
    """Run the exponential loss from c w_0 for so long that c^D is much more than log(1/L)."""
    case, D = of_start
    flows, X = case.flows, separable(len(case.flows.F(case.flows.w0)), rng)
    inverse = np.linalg.inv(flows.kernel(flows.w0))
    c = 1e6 ** (1 / D)
    with reached():
        large = Flows(c * flows.w0, flows.F, flows.J, flows.inverse)
        beta = flows.F(in_levels(large, X, 300.0))

    def cost(b, inverse=inverse):
        return float(np.sqrt(b @ inverse @ b))

    ratio = cost(beta) / np.min(X @ beta) / least(cost, X, rng)
    if not 1 - CLOSE < ratio < 1 + CLOSE:
        raise Refuted(f"{ratio} of the least on {X.tolist()} from {case.starts}")
    return 1
