"""Witnesses of perturbed flows: laws, dual coordinates and limits, tried on processes that run."""

from dataclasses import replace

import numpy as np
import sympy
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

from derive.statement import Statement
from derive.verdict import Verdict
from tests.witnesses import Refuted, Unreached, witness
from tests.witnesses.derivation import cases
from tests.witnesses.flows import end_of
from tests.witnesses.processes import (
    DAMPING,
    LAM,
    Process,
    agree,
    claims_of,
    crossed,
    flowed,
    number,
    rates_of,
    steps,
    unperturbed,
)


def carried(process, force, w, time, **how):
    """Return the weights after a time under a force by x."""

    def slope(_, state):
        at = state.reshape(w.shape)
        return process.vector(at, force(at)).ravel()

    return end_of(slope, w.ravel(), (0, time), **how).reshape(w.shape)


@witness("drift")
@np.errstate(all="ignore")
def drifts(v, statement, rng):
    """Run the process; laws move by their drifts, and y but for the row space."""
    process = Process.of(v, rng)
    _, quantities, _ = claims_of(v)
    if "step" in v.kinds:
        _, moved, total = steps(process, rng)
        agree(process, v, moved - total, moved, "steps")
        return 1
    if "noise" in v.kinds and "momentum" not in v.kinds:
        return _second_differences(process, rng)
    runs = [(1.8, 0)] if "momentum" not in v.kinds else [(1.6, 0), (1.5, DAMPING)]
    for time, damping in runs:
        w, velocity, total = flowed(process, time, damping=damping)
        if crossed(process, w):
            raise Unreached
        mu = (1 + time) / (damping - 1) if damping else LAM
        moved = np.subtract(*(process.values(quantities, x) for x in (w, process.w0)))
        if "momentum" in v.kinds:
            moved = moved + mu * rates_of(process, quantities, w, velocity)
        agree(process, v, moved - total, moved, f"flow, damping {damping}", 1e-6)
    return len(runs)


def _second_differences(process, rng):
    """Compare drifts with half the second differences along the noise, which takes either sign."""
    v, w = process.record, process.w0
    _, quantities, changes = claims_of(v)
    G = np.array([rng.gauss(0, 1) for _ in range(process.X.shape[1])])
    k = 0.3 * ("decay" in v.kinds)

    def mean_change(h):
        shift = -h * h * k * process.shrinking(w) * ("decay" in v.kinds)
        ends = [process.at(process.x(w) + s * h * process.push(w, G) + shift, w) for s in (1, -1)]
        total = sum(process.values(quantities, x) for x in ends)
        return (total - 2 * process.values(quantities, w)) / (2 * h * h)

    small = 2e-3 / max(1, np.abs(process.push(w, G)).max())
    found = (4 * mean_change(small) - mean_change(2 * small)) / 3
    stated = process.values(changes, w, k=k, **process.covariances(G))
    worst = np.abs(found - stated).max(initial=0)
    if worst > 1e-5 * (1 + np.abs(stated).max(initial=0)):
        raise Refuted(f"second differences: off by {worst:.3g} at {w.tolist()}, {G}")
    return 1


@witness("closed drift")
@np.errstate(all="ignore")
def closed(v, statement, rng):
    """Compare the drift at two points of a leaf; or look at the point that refutes."""
    process = Process.of(v, rng, copies=1)
    if v.closed.verdict is Verdict.REFUTED:
        return _refuting(process)
    kinds = {*v.kinds} & {"momentum", "step"}
    if kinds or not v.of_laws or v.closed.reason.startswith(("h is", "the fields")):
        raise Unreached
    G = np.array([rng.uniform(-1, 1) for _ in range(process.p.d)])
    w = carried(process, lambda w: process.push(w, G), process.w0, 0.3)
    letters = process.covariances(np.ones(process.p.d)) | {"k": 0.4}
    changes = [x.change for x in v.of_laws]
    one, other = (process.values(changes, x, **letters) for x in (process.w0, w))
    if np.abs(one - other).max() > 1e-8 * (1 + np.abs(one).max()):
        raise Refuted(f"the drift of a law changes on a leaf: {one}, {other}")
    return 1


def _refuting(process):
    """Look at the point that is shown: its conditions hold, and the drift changes there."""
    v = process.record
    points = [dict(e.point) for e in v.closed.evidence if not e.holds]
    for point in points:
        numbers = {name: float(x) for name, x in point.items()}
        given = (*v.generic, *v.conditions)
        for f in given:
            if {s.name for s in f.free_symbols} <= numbers.keys():
                value = float(f.subs({s: numbers[s.name] for s in f.free_symbols}))
                if value == 0 or (f in v.conditions and value < 0):
                    raise Refuted(f"{f} is {value} at the point that refutes: {point}")
        if {"momentum"} & {*v.kinds} or not {*process.p.weights} <= numbers.keys():
            continue
        process.size = {x: numbers[x] for x in process.p.parameters}
        process.__dict__.pop("_compiled", None)
        w = np.array([[numbers[name]] for name in process.p.weights])
        letters = {n: x for n, x in numbers.items() if n not in process.p.weights}
        if "step" in v.kinds and not {"eta"} <= letters.keys():
            letters["eta"] = 0.01
        followed = [x for x in (*v.of_laws, *v.of_dual) if x.finding.verdict is Verdict.REFUTED]
        for a in range(process.p.d):
            G = np.eye(process.p.d)[a]
            slopes = [_steered(process, followed, w, G, letters, size) for size in (0, 0.01, 0.02)]
            if any(np.abs(s - slopes[0]).max() > 1e-9 for s in slopes[1:]):
                return 1
        raise Refuted(f"no drift changes near {point}")
    return 0 if not points else 1


def _steered(process, followed, w, G, letters, time):
    """Return drifts beside what steers after the weights were steered for a time."""
    w = carried(process, lambda x: process.push(x, G), w, time) if time else w
    return process.values([x.change for x in followed], w, **letters)


@witness("perturbed limit")
@np.errstate(all="ignore")
def limits(v, statement, rng):
    """Run to an interpolant; gradient flow from a start with c_inf and y(0) + xi ends there."""
    process = Process.of(v, rng)
    if not {"decay", "momentum", "step"} & {*v.kinds} or "noise" in v.kinds:
        raise Unreached
    laws, quantities, _ = claims_of(v)
    if "step" in v.kinds:
        w, moved, total = steps(process, rng, count=400, eta=0.05)
        agree(process, v, moved - total, moved, "steps to the end")
        total = total / (1 - 0.4 * ("momentum" in v.kinds))
        total[laws:] = process.beside_rows(moved[laws:] / (1 - 0.4 * ("momentum" in v.kinds)))
    else:
        w, _, total = flowed(process, 60.0)
    beta = process.F(w).ravel()
    if np.abs(process.X @ beta - process.y).max() > 1e-7 or crossed(process, w):
        raise Unreached
    if v.start:
        shrunk = process.w0 * shrinking(v, 0.7)
    else:
        if len(quantities) != len(w):
            raise Unreached
        wanted = process.values(quantities, process.w0) + total

        def off(x):
            try:
                return (process.values(quantities, x.reshape(w.shape)) - wanted).ravel()
            except Unreached:
                return np.full(wanted.size, 1e3)

        found = least_squares(off, process.w0.ravel(), xtol=1e-15, ftol=1e-15, gtol=1e-15)
        slope = np.linalg.svd(found.jac, compute_uv=False)[-1]  # 0 where laws are dependent
        if np.abs(found.fun).max() > 1e-9 * min(slope, 1):
            raise Unreached
        shrunk = found.x.reshape(w.shape)
    plain = unperturbed(process)
    plain.w0 = shrunk
    end, _, _ = flowed(plain, 300.0)
    other = process.F(end).ravel()
    if np.abs(process.X @ other - process.y).max() > 1e-7:
        raise Unreached
    if np.abs(other - beta).max() > 1e-4 * (1 + np.abs(beta).max()):
        raise Refuted(f"the limit is {beta}, gradient flow from {shrunk.tolist()} has {other}")
    return 1


def shrinking(v, time):
    """Return the factor of each weight of the start that is told, at a time integral kappa."""
    names = {x for _, image in v.start for x in image.free_symbols}
    kappa = next(x for x in names if x.name.startswith("kappa"))
    others = {x: sympy.Rational(13, 10) for x in names - {kappa}}
    ends = ((x.subs(others).subs(kappa, 1), x.subs(others).subs(kappa, 0)) for _, x in v.start)
    return np.array([[float(end / x) ** time if x else 0.0] for end, x in ends])


@witness("decay metric")
def unlike_shrinking(v, statement, rng):
    """Plain decay ends off the limit from the shrunk start, somewhere; in the metric nowhere."""
    lam = {s.name: float(x) for s, x in v.grading.items()}
    names, trials, furthest = v.derivation.parameterization.weights, 0, 0.0
    for case in cases(v.derivation, rng):
        degrees = np.tile([lam[w] for w in names], len(case.starts))
        flows = replace(case.flows, w0=np.abs(case.flows.w0) + 0.3)
        X = np.array([[rng.uniform(0.3, 1) for _ in flows.F(flows.w0)]])
        y, k = 1.3 * X @ flows.F(flows.w0), rng.uniform(0.2, 0.5)
        plain = replace(flows, w0=np.exp(-k) * flows.w0)
        rated = replace(flows, inverse=lambda w, e=2 - 1 / degrees: np.diag(np.abs(w) ** e))
        shrunk = replace(rated, w0=np.exp(-k * degrees) * flows.w0)

        def fading(t, k=k):
            return k * np.exp(-t)

        try:
            ends = [flows.fitted(X, y, decay=fading), plain.fitted(X, y)]
            ends += [rated.fitted(X, y, decay=lambda t, e=degrees: fading(t) * e)]
            ends += [shrunk.fitted(X, y)]
        except Unreached:
            continue
        if np.min(np.sign(ends) * np.sign(flows.w0)) < 1:
            continue
        one, two, three, four = map(flows.F, ends)
        furthest, trials = max(furthest, np.abs(one - two).max()), trials + 1
        if not np.allclose(three, four, rtol=1e-5, atol=1e-6):
            raise Refuted(f"in the metric the limits are {three} and {four}, from {flows.w0}")
    if trials and furthest < 1e-4:
        raise Refuted("plain decay shrank the start")
    return trials


@witness("start of the end")
@np.errstate(all="ignore")
def effective(v, statement, rng):
    """Compare laws at the start that is said with those at the end of a path, and Q' with y."""
    process = Process.of(v, rng, copies=1)
    (symbols,) = process.numbers["starts"]
    laws = [x.quantity for x in v.of_laws]
    S, steered = 0.3, 0.0
    letters, w = {}, process.w0
    if "step" in v.kinds:
        if len(v.kinds) > 1:
            raise Unreached
        letters = process.steering(np.array([rng.uniform(-1, 1) for _ in range(process.p.d)]))
        letters |= {"eta": 0.05}
        G = np.array([float(letters[f"G{a}"][0]) for a in process.labels])
        w = process.at(process.x(w) - 0.05 * process.push(w, G), w)
    elif "momentum" in v.kinds:
        return _of_change(process, symbols)
    elif "noise" in v.kinds:
        if process.p.d > 1:
            raise Unreached
        count, k = 4000, 0.4 * ("decay" in v.kinds)
        for _ in range(count):
            sign = rng.choice((-1.0, 1.0))
            steered += sign * np.sqrt(S / count)
            kick = sign * np.sqrt(S / count) * process.push(w, np.ones(1))
            kick = kick - (k / count * process.shrinking(w) if k else 0)
            w = process.at(process.x(w) + kick, w)
        letters = {"S": S, "kappa": k}
    else:
        letters = {"kappa": 0.7}
        w = carried(process, lambda x: -0.7 * process.shrinking(x), w, 1)
    begin = _start_after(process, symbols, letters)
    one, other, origin = (process.values(laws, x) for x in (begin, w, process.w0))
    if np.abs(one - other).max(initial=0) > 0.02 * np.abs(one - origin).max(initial=0) + 1e-6:
        raise Refuted(
            f"laws are {other.ravel()} at the end, {one.ravel()} at the start that is said"
        )
    _slope_of_Q(process, begin, {**symbols, **letters}, (w, steered))
    return 1


def _start_after(process, symbols, letters):
    """Return the weights at the start that is said."""
    numbers = {**symbols, **letters, **process.size}
    moved = dict(symbols)
    for s, f in process.record.effective.items():
        at = {x: float(np.squeeze(numbers[x.name])) for x in f.free_symbols}
        value = complex(f.subs(at))
        if value.imag:  # the change drawn takes the law through 0
            raise Unreached
        moved[s.name] = value.real
    rows = [number(tree, {**moved, **process.size}) for _, tree in process.p.start]
    return np.array(rows).reshape(-1, 1)


def _of_change(process, symbols):
    """Under momentum the start has c_inf = c(0) + Delta_c, or log |c| by that more."""
    v = process.record
    logs = {x.law.name for x in v.one_sided if x.in_logarithm}
    names = {f.name for x in v.effective.values() for f in x.free_symbols} - {*symbols}
    change = -0.2
    begin = _start_after(process, symbols, dict.fromkeys(names, change))
    laws = [x.quantity for x in v.of_laws]
    one, origin = (process.values(laws, x)[:, 0] for x in (begin, process.w0))
    for x, a, b in zip(v.of_laws, one, origin, strict=True):
        wanted = b * np.exp(change) if x.symbol.name in logs else b + change
        if abs(a - wanted) > 1e-9 and abs(a - b) > 1e-9:
            raise Refuted(f"{x.symbol} is {a} there, not {wanted}")
    return 1


def _slope_of_Q(process, begin, numbers, path):
    """Compare Q' with y on the leaf of the start that is said, and there with y(0) + xi.

    On the path y moves by what steers, where g = 1, and by xi.
    """
    v = process.record
    if v.Q is None or len(v.of_dual) != 1 or "step" in v.kinds:
        return
    plain = unperturbed(process)
    plain.w0 = begin
    w = carried(plain, lambda x: plain.push(x, np.ones(1) * 0.5), begin, 0.5)
    (b,) = v.derivation.beta
    letters = {
        s: float(np.squeeze({**numbers, **process.size}[s.name]))
        for s in v.Q.free_symbols
        if s != b
    }
    Q = sympy.lambdify([b], v.Q.diff(b).subs(letters), "mpmath")
    ends = [float(Q(process.F(x).ravel()[0])) for x in (w, begin)]
    places = (w, begin, path[0], process.w0)
    y = [process.values([v.of_dual[0].quantity], x)[0, 0] for x in places]
    moved, lacks, far = y[0] - y[1], 0.0, 1e-7
    if v.derivation.hessian.verdict is Verdict.PROVED and not v.start:
        xi = y[2] - y[3] - path[1]
        lacks, far = y[1] - y[3] - xi, 0.02 * (1 + abs(xi)) if path[1] else 1e-7
    if abs(ends[0] - ends[1] - moved) > 1e-7 or abs(ends[1] - lacks) > far:
        raise Refuted(
            f"Q' changes by {ends[0] - ends[1]} and y by {moved}; at the start Q' is {ends[1]},"
            f" not {lacks}"
        )


@witness("noise that stays")
@np.errstate(all="ignore")
def vanishes(v, statement, rng):
    """With much noise the start that is said is near 0."""
    process = Process.of(v, rng, copies=1)
    (symbols,) = process.numbers["starts"]
    names = {f.name for x in v.effective.values() for f in x.free_symbols}
    variances = dict.fromkeys(names - {*symbols, *process.size}, 60.0)
    if np.abs(_start_after(process, symbols, variances)).max() > 1e-3:
        raise Refuted("the start does not tend to 0")
    return 1


@witness("annealed noise")
@np.errstate(all="ignore")
def annealed(v, statement, rng):
    """Run label noise of steps for long, then none; the limit is near the least sum of h."""
    process = Process.of(v, rng)
    process.X = np.array([[1.0, rng.choice((1.5, 2.0))]])
    if rng.random() < 0.5:
        process.X = process.X[:, ::-1]
    process.y = np.array([1.0])
    eta, w = 0.05, process.w0
    for t in range(6000):
        sigma = rng.choice((-1.0, 1.0)) if t < 4000 else 0.0
        G = process.X.T @ (process.X @ process.F(w).ravel() - process.y + sigma)
        w = process.at(process.x(w) - eta * process.push(w, G), w)
        if not np.isfinite(w).all():
            raise Unreached
    beta = process.F(w).ravel()
    if np.abs(process.X @ beta - process.y).max() > 1e-6:
        raise Unreached
    h, s = statement.values["h"], process.X[0] ** 2
    (b,) = v.derivation.beta
    of = sympy.lambdify(
        [sympy.Symbol("S"), sympy.Symbol("b")],
        h.xreplace({x: sympy.Symbol("b" if x == b else "S") for x in h.free_symbols}),
        "numpy",
    )
    grid = np.linspace(-0.2, 1.2, 1401) / process.X[0, 0]
    other = (process.y[0] - process.X[0, 0] * grid) / process.X[0, 1]
    if (
        process.F(
            np.random.default_rng(0).uniform(-2, 2, w.shape) if not process.mirrored else w
        ).min()
        >= 0
    ):
        grid, other = (x[(grid >= 0) & (other >= 0)] for x in (grid, other))
    costs = of(s[0], grid) + of(s[1], other)
    least = np.array([grid[costs.argmin()], other[costs.argmin()]])
    if np.abs(beta - least).max() > 0.15:
        raise Refuted(f"the limit is {beta}, the least sum is at {least} for X = {process.X}")
    return 1


@witness("decay kept on")
@np.errstate(all="ignore")
def kept_on(v, statement, rng):
    """Run decay that does not end: J^T lambda is k w at the end, or k dh."""
    process = Process.of(v, rng)
    shape = process.w0.shape

    def force(w):
        return -process.push(w, process.gradient(w)) - 0.2 * process.shrinking(w)

    w = carried(process, force, process.w0, 1000, rtol=1e-9, atol=1e-11, method="LSODA")
    if np.abs(process.vector(w, force(w))).max() > 1e-5:
        raise Unreached
    J = np.einsum(
        "apn,na->pn", process.at_columns("J", w), process.gradient(w).reshape(shape[1], -1)
    )
    words = statement.words
    if "L + k h" in words:
        off = J + 0.2 * process.at_columns("dh", w)[:, 0]
    elif "|w|^2" in words:
        off = J + 0.2 * w
    else:
        off = process.raised(w, J) + 0.2 * w
    if np.abs(off).max() > 1e-3:
        raise Refuted(f"{off.ravel()} is not 0 at the end {w.tolist()}")
    return 1


@witness("crossing")
@np.errstate(all="ignore")
def crossing(v, statement, rng):
    """Momentum passes a zero; what is said to hold is compared."""
    process = Process.of(v, rng)
    if "step" in v.kinds or "noise" in v.kinds:
        raise Unreached
    process.y, process.mass = -process.y * rng.choice((1, 2)), 1.0
    told = [x for x in (*v.of_laws, *v.of_dual) if x.regular]
    plain = unperturbed(process)
    plain.record.kinds, plain.record.by, plain.record.of_laws = v.kinds, v.by, tuple(told)
    plain.record.penalty = v.penalty
    w, velocity, total = flowed(plain, 4.0)
    if not told or not crossed(process, w):
        raise Unreached
    quantities = [x.quantity for x in told]
    moved = np.subtract(*(process.values(quantities, x) for x in (w, process.w0)))
    off = moved + process.mass * rates_of(process, quantities, w, velocity) - total
    laws = sum(x in v.of_laws for x in told)
    if np.abs(off[:laws]).max(initial=0) > 1e-5 * (1 + np.abs(moved).max()):
        raise Refuted(f"{quantities} are off by {off.ravel()} after a zero")
    return 1


@witness("damped rest")
@np.errstate(all="ignore")
def damped_rest(v, statement, rng):
    """Nesterov's velocities fall as t^(-r/2)."""
    process = Process.of(v, rng)
    shape, n = process.w0.shape, process.w0.size

    def slope(t, state):
        w, z = state.reshape(2, *shape)
        force = -process.push(w, process.gradient(w)) - DAMPING / t * z
        return np.concatenate([process.vector(w, z).ravel(), force.ravel()])

    windows = [(20, 23), (80, 83)]
    times = np.concatenate([np.linspace(a, b, 40) for a, b in windows])
    begin = np.concatenate([process.w0.ravel(), np.zeros(n)])
    run = solve_ivp(slope, (1, 83), begin, t_eval=times, rtol=1e-6, atol=1e-8)
    if not run.success or not np.isfinite(run.y).all():
        raise Unreached
    ends = run.y[:, -1].reshape(2, *shape)
    if crossed(process, ends[0]):
        raise Unreached
    early, late = (np.abs(part).max() for part in np.split(run.y[n:], 2, axis=1))
    if late > 0.4 * early:
        raise Refuted(f"velocities are {early} and {late}")
    return 1


@witness("one side")
@np.errstate(all="ignore")
def one_side(v, statement, rng):
    """Run momentum: the law moves to that side."""
    process = Process.of(v, rng)
    if "step" in v.kinds or "noise" in v.kinds:
        raise Unreached
    (x,) = [s for s in v.one_sided if s.quantity == statement.values["q"]]
    times = [1.01, 1.3, 1.7]
    before = process.values([x.quantity], process.w0)[0]
    for time in times:
        w, _, _ = flowed(process, time)
        positive = [list(process.p.weights).index(name) for name in x.positive]
        if crossed(process, w) or (w[positive] <= 0).any():
            raise Unreached
        now = process.values([x.quantity], w)[0]
        if (x.side * (now - before) < -1e-9).any():
            raise Refuted(f"{x.quantity} moved from {before} to {now}")
        before = now
    return 1


def kinds_of(record):
    """Return the statements of a record by kind."""
    return {s.kind: s for s in record.statements if isinstance(s, Statement)}
