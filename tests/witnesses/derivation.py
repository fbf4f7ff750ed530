"""Witnesses of derivations: flows with drawn steering, data and weights of the loss."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import sympy
from scipy.optimize import nnls
from sympy import Symbol

from derive.errors import DeriveError, NumericalError
from derive.language import to_sympy
from derive.potential.piece import of_the_flow, written_out
from derive.verdict import Verdict
from tests.witnesses import Refuted, witness
from tests.witnesses.flows import (
    Flows,
    Unreached,
    draw_start,
    draw_steering,
    end_of,
    reached_dimension,
)

CLOSE = 1e-6
AT_LIMITS = 1e-4
ATTEMPTS = 16
TRIALS = 2
COPIES = 3
"""Of a single output, so that data do not determine beta."""

DIMENSION = 3
"""Of vectors of open dimension."""
ACUTE = 1.0
"""Of which sign the products of rows are on which a unit stays active."""

NO_TRIAL = (
    Unreached, DeriveError, NumericalError, TypeError, ValueError, ArithmeticError, NameError
)  # fmt: skip


Path = list[tuple[np.ndarray, np.ndarray]]


@contextmanager
def reached():
    """Take what fails here for a run that is no trial."""
    try:
        yield
    except NO_TRIAL:
        raise Unreached from None


def function(expression, names, numbers):
    """Return a NumPy function of some names, with numbers for others."""
    named = {s: Symbol(s.name, real=True) for s in expression.free_symbols}
    values = {Symbol(n, real=True): x for n, x in numbers.items() if n not in names}
    own = expression.xreplace(named).subs(values)
    return sympy.lambdify([Symbol(n, real=True) for n in names], own, "numpy")


@dataclass(frozen=True)
class Case:
    """F from drawn starts, copies of it side by side where it has one output.

    Attributes:
        starts: of each copy, the symbols in numbers.
        flows: in the weights.
        gradient: grad Q as claimed; None without Q.
        g: the clock in the weights as claimed; None where it is not written.
    """

    starts: list[dict[str, float]]
    flows: Flows
    gradient: Callable[[np.ndarray], np.ndarray] | None
    g: Callable[[np.ndarray], float] | None

    def on_this_side(self, w):
        """Tell whether g has the sign that it has at the start, as far as it is known."""
        with np.errstate(over="ignore"):
            return self.g is None or self.g(w) * self.g(self.flows.w0) > 0


def draw_case(d, rng):
    """Draw starts at which Q may be asked for; a vector of open dimension has DIMENSION entries."""
    if d.direction is not None:
        return draw_vector(d, d.direction, rng)
    p = d.parameterization
    for _ in range(ATTEMPTS):
        starts = [draw_start(p, rng) for _ in range(COPIES if p.d == 1 else 1)]
        try:
            copies = [Flows.of(p, start) for start in starts]
            qs = [d.potential.numeric(start) for start in starts] if d.potential.pieces else []
            g = None
            if p.d > 1 and d.warping.g is not None:
                g = function(d.warping.g, list(p.weights), starts[0])
            elif d.verdict is Verdict.PROVED:
                g = None if p.d > 1 else (lambda *w: 1.0)
        except NO_TRIAL:
            continue

        def gradient(b, qs=qs):
            parts = np.split(b, len(qs))
            return np.concatenate([q.gradient(x) for q, x in zip(qs, parts, strict=True)])

        flows = Flows.side_by_side(copies)
        clock = None if g is None else (lambda w, g=g: float(g(*w)))
        return Case(starts, flows, gradient if qs else None, clock)
    return None


def draw_vector(d, direction, rng):
    """Draw a start of beta = phi u, u in R^3."""
    if direction.parameterization.rates:
        return None
    scalars = len(direction.parameterization.weights) - 1
    for _ in range(ATTEMPTS):
        start = draw_start(direction.parameterization, rng)
        said = to_sympy(dict(direction.parameterization.start)[direction.norm])
        length = abs(float(said.subs({s: start[s.name] for s in said.free_symbols})))
        drawn = np.array([rng.uniform(-1, 1) for _ in range(DIMENSION)])
        u_0 = [*map(float, length * drawn / np.linalg.norm(drawn))]
        known = {n: x for n, x in start.items() if not n.startswith(direction.norm)}
        try:
            q = d.potential.numeric({**known, direction.start_vector: u_0})
            flows = Flows.of_vector(direction, known, u_0)
            g = None
            if d.warping.g is not None:
                g = function(d.warping.g, list(direction.parameterization.weights), known)
        except NO_TRIAL:
            continue

        def clock(w, g=g):
            return float(g(*w[:scalars], np.linalg.norm(w[scalars:])))

        return Case([known], flows, q.gradient, clock if g else None)
    return None


def cases(d, rng, *_):
    """Draw cases, as far as there are any; of records that are made of a derivation, its cases."""
    d = getattr(d, "derivation", d)
    drawn = (draw_case(d, rng) for _ in range(TRIALS))
    yield from (case for case in drawn if case is not None)


def steered(d, rng, *_):
    """Yield cases with weights and int g lambda along drawn steering, while g keeps its sign."""
    for case in cases(d, rng):
        if case.g is None:
            continue

        def clocked(w, piece, case=case):
            return np.asarray(case.g(w) * piece)

        try:
            steering = draw_steering(len(case.flows.F(case.flows.w0)), rng)
            run = case.flows.steered(steering, 0.3, clocked)
            crossed = [i for i, (w, _) in enumerate(run) if not case.on_this_side(w)]
        except NO_TRIAL:
            continue
        if path := run[: crossed[0] if crossed else len(run)]:
            yield case, path


def unseen(d):
    """Tell whether something is assumed along the flow of which g does not show that it holds."""
    return d.warping.g is None and any(map(of_the_flow, d.potential.pieces))


def fitting(case, rng, least=1):
    """Draw data with fewer rows than columns, fitted by some beta that flows reach."""
    size = len(case.flows.F(case.flows.w0))
    rows = rng.randrange(min(least, size - 1), size)
    X = np.array([[rng.uniform(-2, 2) for _ in range(size)] for _ in range(rows)])
    return X, X @ case.flows.F(case.flows.steered(draw_steering(size, rng, 2))[-1][0])


@witness("regularizer", "dual", each=steered)
def gradient_is_accumulated(d, statement, rng, run):
    """Compare grad Q(beta(t)) with int g lambda, up to one positive factor for each start."""
    case, path = run
    if case.gradient is None or case.g is None:
        return 0
    with reached():
        slopes = np.array([case.gradient(case.flows.F(w)) for w, _ in path])
    ys = np.array([y for _, y in path])
    size = np.sum(ys * ys)
    if not np.all(np.isfinite(slopes)) or size < 1e-12:
        return 0
    factor = np.sum(slopes * ys) / size
    error = np.max(np.abs(slopes - factor * ys)) / np.max(np.abs(factor * ys))
    if not (error < CLOSE and factor * case.g(case.flows.w0) > 0):
        raise Refuted(f"grad Q is off by {error} from {case.starts}")
    return 1


@witness("kernel", each=steered)
def kernel_in_beta(d, statement, rng, run):
    """Compare K(beta) with J J^T along flows."""
    metric, (case, path) = d.metric, run
    if d.direction or metric.kernel is None or any(r.explicit is None for r in metric.roots):
        return 0
    for i, start in enumerate(case.starts):
        entries = [written_out(e, metric.roots, metric.constants) for e in metric.kernel]
        K = [function(e, [b.name for b in d.beta], start) for e in entries]
        part = slice(i, i + 1) if len(case.starts) > 1 else slice(None)
        for w, _ in path:
            true = case.flows.kernel(w)[part, part].ravel()
            with np.errstate(all="ignore"):
                claimed = np.array([k(*case.flows.F(w)[part]) for k in K], dtype=complex)
            if not np.allclose(claimed, true, rtol=CLOSE, atol=CLOSE * np.max(np.abs(true))):
                raise Refuted(f"K is {claimed.tolist()}, not {true.tolist()}, from {start}")
    return len(path) * len(case.starts)


@witness("conserved", each=cases)
def laws_are_kept(d, statement, rng, case):
    """Evaluate the laws along flows of one copy, and count the directions that flows reach."""
    if d.direction is not None:
        return laws_of_a_vector(d, rng, case)
    p, idle = d.parameterization, len(d.idle) + len(d.ties)
    # In general position: leaves have fewer dimensions where numbers are equal.
    start = {n: x * rng.uniform(0.9, 1.1) for n, x in case.starts[0].items()}
    with reached():
        flows = Flows.of(p, start)
        path = [flows.w0, *(w for w, _ in flows.steered(draw_steering(p.d, rng)))]
        laws = [function(law, list(p.weights), start) for law in d.conserved.laws]
        directions = reached_dimension(p, start, rng)
        with np.errstate(all="ignore"):
            values = [np.array([law(*w) for w in path], dtype=float) for law in laws]
    decided = d.conserved.verdict is Verdict.PROVED
    if decided and directions != len(p.weights) - idle - len(laws):
        raise Refuted(f"flows reach {directions} directions, beside {len(laws)} laws: {start}")
    return decided + sum(map(is_kept, d.conserved.laws, values))


def laws_of_a_vector(d, rng, case):
    """Evaluate the laws of a vector and scalars along flows."""
    with reached():
        run = case.flows.steered(draw_steering(DIMENSION, rng))
    path = [
        (*w[:-DIMENSION], np.linalg.norm(w[-DIMENSION:]))
        for w in (case.flows.w0, *(w for w, _ in run))
    ]
    trials = 0
    for law in d.conserved.laws:
        at = function(law, list(d.parameterization.weights), case.starts[0])
        trials += is_kept(law, np.array([at(*w) for w in path], dtype=float))
    return trials


def is_kept(law, values):
    """Count values of a law along a flow as a trial, if they are finite; Refuted: they differ."""
    if not np.all(np.isfinite(values)):
        return 0
    if np.ptp(values) > CLOSE * (1 + np.max(np.abs(values))):
        raise Refuted(f"{law} goes through {values.tolist()}")
    return 1


@witness("domain", each=cases)
def stays_in_the_domain(d, statement, rng, case):
    """Look for a wall that flows with strong steering go through, and for ends out of reach."""
    trials, p, start, names = 0, d.parameterization, case.starts[0], [b.name for b in d.beta]
    if d.direction is not None:
        return 0
    with reached():
        flows = Flows.of(p, start)
        run = flows.steered(draw_steering(p.d, rng))
    for piece in d.potential.pieces:
        for wall in piece.domain.walls if piece.domain else ():
            form = function(written_out(wall.form, piece.roots, piece.constants), names, start)
            values = [form(*flows.F(w)) for w in (flows.w0, *(w for w, _ in run))]
            if any(x * values[0] <= 0 for x in values):
                raise Refuted(f"{wall.form} changes its sign, {values}, from {start}")
            trials += 1
        if piece.domain and piece.domain.exact and p.d == 1 and not piece.domain.interval:
            trials += _reaches_the_ends(flows, piece, start)
    return trials


def _reaches_the_ends(flows, piece, start):
    """Follow dw/dbeta = grad F/K nearly to both ends, or far out."""
    beta = float(flows.F(flows.w0)[0])
    ends = []
    for side, bounds in zip((-1, 1), piece.domain.bounds, strict=True):
        own = [written_out(e, piece.roots, piece.constants) for e in bounds]
        numbers = [float(function(e, [], start)()) for e in own]
        ends.append(min(numbers, key=lambda x: abs(x - beta)) if numbers else side * np.inf)
    if any(not wall.oriented for wall in piece.domain.walls):
        return 0
    for end in ends:
        goal = beta + 0.98 * (end - beta) if np.isfinite(end) else beta + np.sign(end) * 20
        try:
            reached = flows.F(flows.at(goal))[0]
        except Unreached:
            raise Refuted(f"beta = {goal} is not reached from {start}") from None
        if abs(reached - goal) > CLOSE * 100 * (1 + abs(goal)):
            raise Refuted(f"at beta = {goal} the curve has {reached}, from {start}")
    return len(ends)


@witness("mirror flow")
def limits_know_no_weights(d, statement, rng):
    """Run two losses with other weights of the rows: with a Q both end at the same beta.

    Where none is claimed to exist, some two of three or more outputs have to differ.
    """
    trials, worst, d = 0, 0.0, getattr(d, "derivation", d)
    for case in cases(d, rng):
        try:
            X, y = fitting(case, rng, 2)
            ends = [
                case.flows.fitted(X, y, np.array([rng.uniform(0.3, 4) for _ in y]))
                for _ in range(2)
            ]
            inside = all(map(case.on_this_side, ends))
        except NO_TRIAL:
            continue
        if inside and len(X) > 1:
            one, two = map(case.flows.F, ends)
            worst = max(worst, float(np.max(np.abs(one - two)) / (1 + np.max(np.abs(one)))))
            trials += 1
    if d.verdict is Verdict.PROVED and worst > AT_LIMITS and not unseen(d):
        raise Refuted(f"limits differ by {worst} with the weights of the loss")
    if d.verdict is Verdict.REFUTED and trials and worst < 1e-9 and len(d.blocks) == 1:
        raise Refuted("limits did not depend on the weights of the loss")
    return trials


def require_in_rows(d, X, slope, case):
    """Refute that a gradient of Q is in the row space of X."""
    nu, *_ = np.linalg.lstsq(X.T, slope, rcond=None)
    off = np.max(np.abs(X.T @ nu - slope)) / (1e-2 + np.max(np.abs(slope)))
    if off > AT_LIMITS and not unseen(d):
        raise Refuted(f"grad Q is {off} off the rows {X.tolist()} from {case.starts}")


@witness("minimiser", each=cases)
def kkt_at_the_limit(d, statement, rng, case):
    """Look whether grad Q at the limit of a flow of the weights is in the row space of X."""
    with reached():
        X, y = fitting(case, rng)
        w = case.flows.fitted(X, y)
        slope = case.gradient(case.flows.F(w))
        inside = case.on_this_side(w)
    if np.all(np.isfinite(slope)) and inside:
        require_in_rows(d, X, slope, case)
        return 1


@witness("every time", each=cases)
def gradient_in_the_cone(d, statement, rng, case):
    """Run the logistic loss for some time: grad Q is X^T s with s >= 0."""
    d = getattr(d, "derivation", d)
    size = len(case.flows.F(case.flows.w0))
    X = np.array([[rng.uniform(-2, 2) for _ in range(size)] for _ in range(max(1, size - 1))])
    with reached():
        w = case.flows.logistic(X, rng.uniform(0.2, 3.0))
        slope = case.gradient(case.flows.F(w))
        inside = case.on_this_side(w)
        sign = 1.0 if case.g is None else np.sign(case.g(case.flows.w0))
    if np.all(np.isfinite(slope)) and inside:
        _, off = nnls(X.T, sign * slope)
        if off > CLOSE * 10 * (1 + np.max(np.abs(slope))) and not unseen(d):
            raise Refuted(f"grad Q is {off} off the cone of {X.tolist()} from {case.starts}")
        return 1


@witness("shrunk start", each=cases)
def decay_shrinks(d, statement, rng, case):
    """Run decay that fades, and gradient flow from the shrunken start: both end at one beta."""
    rate = rng.uniform(0.1, 1.0)
    shrunk = replace(case.flows, w0=np.exp(-rate) * case.flows.w0)
    with reached():
        X, y = fitting(case, rng)
        one = case.flows.fitted(X, y, decay=lambda t, k=rate: k * np.exp(-t))
        two = shrunk.fitted(X, y)
        inside = case.on_this_side(one) and case.on_this_side(two)
    off = np.max(np.abs(case.flows.F(one) - case.flows.F(two)))
    if off > AT_LIMITS * (1 + np.max(np.abs(y))) and inside and not unseen(d):
        raise Refuted(f"decay by {rate} ends {off} off on {X.tolist()} from {case.starts}")
    return inside


def fitted_by_a_relu(flows, X, y, c, scale):
    """Return the weights at the limit of gradient flow of sigma(X F(w)), sigma(t) = max(t, c t)."""

    def field(_, w):
        outputs = X @ flows.F(w)
        slope = np.where(outputs > 0, 1.0, c)
        return flows.velocity(w, -X.T @ (scale * slope * (slope * outputs - y)))

    w = end_of(field, flows.w0, (0, 1e4), method="LSODA", rtol=1e-9, atol=1e-11)
    outputs = X @ flows.F(w)
    if not np.max(np.abs(np.maximum(outputs, c * outputs) - y)) < 1e-7 * (1 + np.max(np.abs(y))):
        raise Unreached
    return w


def is_along(flows, w):
    """Tell whether phi > 0 in beta = phi u."""
    return flows.F(w) @ w[-DIMENSION:] > 0


@witness("activation", each=cases)
def relu_stays_in_the_rows(d, statement, rng, case):
    """Fit data by a leaky ReLU, and by a ReLU where all y > 0: grad Q is in the row space of X."""
    trials, X = 0, np.array([[rng.uniform(-2, 2) for _ in range(DIMENSION)] for _ in range(2)])
    for c in (rng.uniform(0.1, 0.9), 0.0):
        aim = np.array([rng.uniform(0.2 if c == 0 else -1.5, 1.5) for _ in X])
        try:
            w = fitted_by_a_relu(case.flows, X, aim, c, np.ones(2))
            slope = case.gradient(case.flows.F(w))
        except NO_TRIAL:
            continue
        alike = is_along(case.flows, w) and is_along(case.flows, case.flows.w0)
        if np.all(np.isfinite(slope)) and case.on_this_side(w) and alike:
            require_in_rows(d, X, slope, case)
            trials += 1
    return trials


@witness("idle data")
def relu_with_idle_data_is_moved_by_loss_weights(d, statement, rng):
    """Find data with a y_i = 0 of which two loss weights have limits that fit and differ."""
    trials = 0
    for case in cases(d, rng):
        beta = case.flows.F(case.flows.w0)
        if not is_along(case.flows, case.flows.w0):
            continue
        for _ in range(ATTEMPTS):
            x = np.array([rng.uniform(-1, 1) for _ in range(DIMENSION)])
            z = np.array([rng.uniform(-1, 1) for _ in range(DIMENSION)])
            X = np.array([x * np.sign(x @ beta), z])
            if X[0] @ z > 0 or z @ beta < 0:
                continue
            y = np.array([0, (z @ beta) * rng.uniform(1.5, 3)])
            try:
                ends = [
                    case.flows.F(fitted_by_a_relu(case.flows, X, y, 0.0, np.array(scale)))
                    for scale in ((1.0, 0.01), (0.01, 1.0))
                ]
            except NO_TRIAL:
                continue
            trials += 1
            if np.max(np.abs(ends[1] - ends[0])) > 1e-3 * np.max(np.abs(ends[0] - beta)):
                return trials
    if trials > ATTEMPTS // 4:
        raise Refuted("loss weights moved no limit")
    return trials


@witness("active unit", each=cases)
def active_units_stay_active(d, statement, rng, case):
    """Run losses from starts with all <u_0, x_i> > 0, until a unit would be passive."""
    trials, flows = 0, case.flows
    u, beta = flows.w0[-DIMENSION:], flows.F(flows.w0)
    turned, _ = np.linalg.qr(np.array([[rng.gauss(0, 1) for _ in u] for _ in u]))
    orthogonal = (turned * np.sign(turned.T @ u)).T[:2]
    acute = orthogonal + ACUTE * rng.uniform(0, 0.5) * orthogonal[::-1]
    aim = np.array([rng.uniform(0.2, 3) for _ in range(2)]) * (orthogonal @ beta)
    for X, pull in (
        (orthogonal, lambda outputs: (outputs > 0) * (aim - outputs)),
        (acute, lambda outputs: (outputs > 0) / (1 + np.exp(outputs))),
    ):

        def field(_, w, X=X, pull=pull):
            return flows.velocity(w, X.T @ pull(X @ flows.F(w)))

        try:
            ends = [end_of(field, flows.w0, (0, t)) for t in (0.3, 1.0, 3.0)]
        except NO_TRIAL:
            continue
        if all(is_along(flows, w) for w in (flows.w0, *ends)):
            if any(np.min(X @ w[-DIMENSION:]) <= 0 for w in ends):
                raise Refuted(f"a unit turns off on {X.tolist()} from {case.starts}")
            trials += 1
    return trials
