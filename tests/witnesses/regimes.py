"""Witnesses of regimes: grad Q = int g lambda along paths in beta, from starts near the limit."""

import itertools
from contextlib import suppress
from dataclasses import replace

import numpy as np
import sympy
from scipy.integrate import quad
from scipy.optimize import brentq

from derive.language import to_sympy
from derive.limits.random_width import RandomWidth
from tests.witnesses import Refuted, witness
from tests.witnesses.derivation import NO_TRIAL, function, reached
from tests.witnesses.flows import Flows, Unreached, draw_start, draw_steering, end_of

TRIALS = 2
SCALES = (0.2, 0.05, 1e-2, 1e-3, 1e-5)
"""How near the symbol is to its limit, as far as doubles tell beta there."""
PAIRS = ((2.5e-3, 2.5e-4), (0.03, 6e-3), (0.03, 0.015), (0.1, 0.03))
FAR = 0.05
"""Scales from which rates are seen less sharply, next terms of the expansion among them."""
SMALL_ENOUGH = 2e-3
FAST, SETTLED, FARTHER = 1.35, 0.05, 3
"""Powers of what is told that are too fast; how these may rise at scales that much farther out."""


def times(count):
    """Return what counts trials that draw all by themselves."""
    return lambda *_: range(count * TRIALS)


def near(point, e):
    """Return the symbol of the start at a distance e from its limit."""
    if point.rate is not None:
        slow = np.log(1 / e) / abs(
            float(point.rate.subs(dict.fromkeys(point.rate.free_symbols, 1)))
        )
        return float(slow if point.side == "oo" else 1 / slow)
    value = 0.0 if point.side in ("0", "oo") else float(point.value)
    return {"0": e, "oo": 1 / e, "below": value - e, "above": value + e}[point.side]


def starts(r, limit, rng):
    """Yield numbers for the symbols of the start that the limit does not move."""
    if isinstance(r, RandomWidth):
        yield {}
        return
    p = r.derivation.potential.parameterization
    for _ in range(3 * TRIALS):
        # In general position: coefficients may vanish where numbers are equal.
        drawn_at = {n: abs(x) * rng.uniform(0.9, 1.1) for n, x in draw_start(p, rng).items()}
        depths = {D.name: 2.2 + drawn_at[D.name] / 2 for D in limit.depths if D.name in drawn_at}
        start = drawn_at | depths
        given = (function(c, [], {**start, limit.point.variable: 1.0})() for c in limit.point.given)
        if all(float(c) > 0 for c in given):
            yield start


@np.errstate(all="ignore")
def accumulated(r, start, beta):
    """Return int g lambda on the straight path from beta_0 to beta, lambda = K^-1 (beta - beta_0).

    Raises:
        Unreached: K is singular, or the path leaves what is reached.
    """
    if isinstance(r, RandomWidth):
        c, mu = float(r.curvature), start["mu"]
        (b,) = beta
        return np.array([quad(lambda x: (c * x**2 + c * mu**4) ** -0.5, 0, b, points=[0.0])[0]])
    d = r.derivation
    p = d.potential.parameterization
    flows, g = Flows.of(p, start), (lambda *w: 1.0)
    if p.d > 1 and len(d.blocks) == 1:
        if d.warping.g is None:
            raise Unreached
        g = function(d.warping.g, list(p.weights), start)
    first, size = flows.F(flows.w0), len(flows.w0)

    def field(_, x):
        steering = np.linalg.solve(flows.kernel(x[:size]), beta - first)
        return np.concatenate([flows.velocity(x[:size], steering), g(*x[:size]) * steering])

    x0 = np.concatenate([flows.w0, 0 * beta])
    try:
        # int g lambda is as small as K is large: its errors are relative to its first slope.
        slope = np.max(np.abs(field(0.0, x0)[size:]))
    except (ValueError, ArithmeticError):
        raise Unreached from None
    units = np.concatenate([np.ones(size), np.full(len(beta), min(1.0, slope))])
    end = end_of(field, x0, (0, 1), 20_000, method="LSODA", rtol=1e-11, atol=1e-14 * units)
    moved, scale = np.max(np.abs(beta - first)), np.max(flows.w0**2) ** 2 + np.max(np.abs(first))
    off = np.max(np.abs(flows.F(end[:size]) - beta))
    # Where beta_0 is far out, beta itself has to be met, of which grad Q is told.
    met = 1e-7 * min(moved, float(np.max(np.abs(beta))) or moved)
    if not off < met or moved < 1e-8 * scale:
        raise Unreached
    return np.asarray(end[size:])


def number(expression, numbers):
    """Return an expression at numbers."""
    return float(np.real(complex(function(sympy.sympify(expression), [], numbers)())))


class At:
    """A limit at one start and coordinates x: what slopes dQ/dx are, and what they should be."""

    def __init__(self, r, limit, start, x):
        self.r, self.limit, self.start, self.x = r, limit, start, x
        self.places = {s.name: float(v) for s, v in zip(limit.coordinates, x, strict=True)}

    def numbers(self, e):
        """Return the start at a distance from its limit."""
        return {**self.start, self.limit.point.variable: near(self.limit.point, e)}

    def origin(self, e):
        """Return beta at x = 0."""
        return np.array([number(b, self.numbers(e)) for b in self.limit.origin or 0 * self.x])

    def found(self, e):
        """Return dQ/dx over N, by a flow."""
        limit, numbers, size, origin = self.limit, self.numbers(e), len(self.x), self.origin(e)
        basis = np.eye(size)
        if limit.basis is not None:
            basis = np.array(limit.basis.tolist(), dtype=float)
        beta = origin + basis @ self.x
        unit = number(limit.unit, {**numbers, **self.places})
        return np.asarray(basis.T @ accumulated(self.r, numbers, beta) / unit)

    def told(self, z=None):
        """Return the limit of that."""
        form, names = self.limit.potential, [s.name for s in self.limit.coordinates]
        assert form is not None
        places = self.places
        if z is not None:
            places = {s.name: z for g in form.gradient for s in g.free_symbols}
        numbers = {**self.start, **places}
        if form.Q is None:
            return np.array([number(g, numbers) for g in form.gradient])
        steps, slopes = 1e-6, []
        for name in names:
            ends = ({**numbers, name: numbers[name] + s * steps} for s in (1, -1))
            up, down = (number(form.Q, x) for x in ends)
            slopes.append((up - down) / (2 * steps))
        return np.array(slopes)


@witness("growing limit", each=times(2))
def at_large_beta(r, statement, rng, _):
    """Integrate Q' along the flow to beta = N x, at two scales: it comes near its limit."""
    limit, p = statement.values["limit"], r.derivation.potential.parameterization
    index = [b.name for b in r.derivation.beta].index(limit.beta[0].name)
    names = [limit.beta[1].name]
    start = {n: abs(x) * rng.uniform(0.9, 1.1) for n, x in draw_start(p, rng).items()}
    given = (function(f, [], {**start, r.variable: 1.0})() for f in limit.nonzero)
    if any(abs(float(f)) < 0.2 for f in given):
        return 0
    x, off = rng.choice((-1, 1)) * rng.uniform(0.3, 3), list[float]()
    told = float(function(limit.slope, names, start)(x))
    for size in (20.0, 80.0):
        e = np.exp(-size)
        numbers = {**start, r.variable: e if limit.point.side == "0" else 1 / e}
        with suppress(*NO_TRIAL):
            slope = mu_at(Flows.of(p, numbers), index, size * x, e**4) / size
            off.append(abs(slope - told))
    if len(off) < 2:
        return 0
    if off[1] > 0.02 and not off[1] < min(0.08, 0.6 * off[0]):
        raise Refuted(f"Q'/N is {off} off {told} at {x} N, from {start}")
    return 1


def mu_at(flows, index, goal, least):
    """Return int lambda until an output has a value, steered along it, by d beta = K lambda dt.

    Weights are told from 0 as far as the *least*.
    """
    first, size = flows.F(flows.w0)[index], len(flows.w0)
    unit = np.eye(len(flows.F(flows.w0)))[index]

    def field(_, s):
        w = s[:size]
        rate = (goal - first) / flows.kernel(w)[index, index]
        return np.append(flows.velocity(w, rate * unit), rate)

    end = end_of(field, np.append(flows.w0, 0.0), (0, 1), method="LSODA", rtol=1e-9, atol=least)
    if abs(flows.F(end[:size])[index] - goal) > 1e-5 * abs(goal):
        raise Unreached
    return float(end[size])


def starting(r, rng, statement):
    """Yield numbers for the start, as often as one is tried."""
    yield from itertools.islice(starts(r, statement.values["limit"], rng), TRIALS)


def places(r, rng, statement):
    """Yield places at which a limit is claimed, with what the slopes tend to."""
    limit = statement.values["limit"]
    for start in starting(r, rng, statement):
        sides = [rng.choice((-1, 1)) for _ in limit.coordinates]
        yield from placed(r, limit, start, sides, rng)


def placed(r, limit, start, sides, rng):
    """Yield a place on these sides of 0, or on those where a limit is claimed."""
    form, size = limit.potential, len(limit.coordinates)
    assert form is not None
    if any(b.has(sympy.Integral) for b in (*form.gradient, limit.unit)):
        return
    x = np.array([side * rng.uniform(0.4, 2) for side in sides])
    for i, (s, below) in enumerate(itertools.zip_longest(limit.coordinates, limit.below[:size])):
        steep = [side for y, side, _ in limit.steep if y == s]
        if below is None and limit.below and not steep:
            x[i] = abs(x[i])
        if steep:
            x[i] = -steep[0] * abs(x[i])
    z = None
    if form.curve is not None:
        (parameter,) = {y for g in form.gradient for y in g.free_symbols}
        z = rng.uniform(0.2, 0.8)
        x = np.array([number(form.curve, {parameter.name: z})])
    at = At(r, limit, start, x)
    with suppress(*NO_TRIAL):
        told = at.told(z)
        if np.isfinite(told).all() and np.max(np.abs(told)) > 1e-9:
            yield at, told


def errors(at, told, scales=SCALES):
    """Return how far dQ/dx over N is from its limit, relative, where it is reached."""
    found = []
    for e in scales:
        with suppress(*NO_TRIAL):
            found.append(float(np.max(np.abs(at.found(e) - told)) / np.max(np.abs(told))))
    return found


@witness("limit", each=places)
def slopes_tend(r, statement, rng, place):
    """Follow flows from starts nearer and nearer to the limit."""
    at, told = place
    off = errors(at, told)
    if len(off) <= 2:  # two that are far from the limit do not show where it is
        return 0
    first, *_, last = off
    if not (last < SMALL_ENOUGH or last < 0.62 * first):
        raise Refuted(f"off by {first}, then {last}, at {at.x.tolist()} from {at.start}")
    return 1


def exponents(at, told, error):
    """Return in which power of what is told errors fall, at the nearest scales that show it.

    Where that is above 1, at scales farther out too. Refuted: it is below 1, or the errors are not
    below every power where that is told.
    """

    def power(pair):
        off = errors(at, told, pair)
        fault = f"off by {off} at {pair}, {at.x.tolist()} from {at.start}"
        # Of beta far out x is a small part.
        least = 1e-8 + 3e-11 * np.max(np.abs(at.origin(pair[1]))) / np.max(np.abs(at.x))
        if len(off) < 2 or (off[1] < least and error != 0):
            return None
        if error == 0:
            return float(off[1] < 1e-6), fault
        sizes = [abs(number(error, {**at.numbers(e), **at.places})) for e in pair]
        return float(np.log(off[1] / off[0]) / np.log(sizes[1] / sizes[0])), fault

    for pair in PAIRS:
        if near := power(pair):
            if near[0] < (0.6 if pair[0] > FAR else 0.75):
                raise Refuted(near[1])
            far = power((FARTHER * pair[0], FARTHER * pair[1])) if near[0] > FAST else None
            return [near, *filter(None, [far])]
    return []


@witness("limit error")
def as_fast(r, statement, rng):
    """Compare logarithms of errors with those of what is told, which they nowhere exceed.

    A term that is there vanishes almost nowhere on one side of 0 at least. So errors that fall
    faster at all places on both sides, from a start in general position, show that it is not
    there; but for where it is small, and the power nears 1 as the start nears its limit.
    """
    limit = statement.values["limit"]
    trials, size = 0, len(limit.coordinates)
    for start in starting(r, rng, statement):
        faults = []
        for side in (1, -1, 1, -1):
            if len(faults) > 1 and "" in faults:
                break
            for at, told in placed(r, limit, start, (side,) * size, rng):
                seen = exponents(at, told, statement.values["error"])
                trials += bool(seen)
                settled = len(seen) > 1 and seen[1][0] < seen[0][0] + SETTLED
                faults += [fault if settled else "" for _, fault in seen[:1]]
        if limit.sharp and len(faults) > 2 and "" not in faults:
            raise Refuted(faults[0])
    return trials


def beginning(r, start):
    """Return J J^T at the start, or sqrt(kappa) of a wide one, and beta there."""
    if isinstance(r, RandomWidth):
        return np.array([[np.sqrt(float(r.curvature)) * start["mu"] ** 2]]), np.zeros(1)
    flows = Flows.of(r.derivation.potential.parameterization, start)
    return flows.kernel(flows.w0), flows.F(flows.w0)


@witness("regime", each=places)
def is_called_so(r, statement, rng, place):
    """Ask the limit, as a function, and K at a start near the limit, for what the name says."""
    limit = statement.values["limit"]
    name = statement.words.partition(" ")[0]
    at, told = place
    numbers, size, form = at.numbers(1e-3), len(at.x), limit.potential
    with reached():
        (K, _), (_, first) = beginning(r, numbers), beginning(r, at.numbers(1e-5))
    basis = np.eye(size) if limit.basis is None else np.array(limit.basis.tolist(), dtype=float)
    # The norm is that of beta - beta_0.
    x0 = 0 * at.x if limit.origin else np.linalg.solve(basis, first)
    if np.linalg.matrix_rank(K) < size and name == "kernel":
        raise Refuted("K(w_0) is singular")
    lazy = basis.T @ np.linalg.pinv(K) @ basis @ (at.x - x0)
    half, middle = (
        At(r, limit, at.start, x).told() if form.curve is None else 0 * told
        for x in (at.x / 2, (at.x + x0) / 2)
    )
    is_kernel = bool(np.allclose(2 * middle, told, rtol=1e-4)) and alike(told, lazy, 3e-2)
    if form.curve is not None:
        is_rich = is_round = False
    else:
        single = (np.where(np.arange(size) == i, at.x, 1.0) for i in range(size))
        alone = [At(r, limit, at.start, x).told()[i] for i, x in enumerate(single)]
        is_rich = all(np.allclose(x, told, rtol=1e-4) for x in (half, alone))
        both = all(x is not None for x in limit.below) if limit.below else True
        if both and not limit.steep:
            other = At(r, limit, at.start, -at.x).told()
            is_rich = is_rich and bool(np.allclose(other, -told, rtol=1e-4))
        is_round = size > 1 and alike(told, at.x, 1e-4) and not is_kernel
    holds = {
        "kernel": is_kernel,
        "rich": is_rich,
        "anti-NTK": is_round,
        "intermediate": not (is_kernel or is_rich or is_round),
    }
    if not holds[name]:
        raise Refuted(f"{name}: slopes {told.tolist()} at {at.x.tolist()}, K(w_0) {K.tolist()}")
    return 1


def alike(x, y, tolerance):
    """Tell whether vectors have one direction; of one coordinate, whether they are linear alike."""
    if len(x) == 1:
        return bool(x[0] * y[0] > 0)
    cosine = x @ y / np.linalg.norm(x) / np.linalg.norm(y)
    return bool(1 - cosine < tolerance**2)


@witness("steep side", each=starting)
def steep(r, statement, rng, start):
    """Compare the slope there with what it is told to be like."""
    limit = statement.values["limit"]
    size = len(limit.coordinates)
    i = list(limit.coordinates).index(statement.values["x"])
    x = np.full(size, rng.uniform(0.4, 2)) * float(statement.values["side"])
    if size > 1:
        return 0
    at = At(r, limit, start, x)
    with reached():
        off = []
        for e in SCALES[2:]:
            numbers = {**at.numbers(e), limit.coordinates[i].name: float(x[i])}
            slope = at.found(e)[i] * number(limit.unit, numbers)
            off.append(abs(slope / number(statement.values["slope"], numbers) - 1))
    if not (off[2] < SMALL_ENOUGH or off[2] < 0.62 * off[0]):
        raise Refuted(f"off by {off} at {x.tolist()} from {start}")
    return 1


@witness("side reached", each=starting)
def one_side(r, statement, rng, start):
    """Steer the weights to the other side, from starts near the limit."""
    limit = statement.values["limit"]
    size = len(limit.coordinates)
    i = list(limit.coordinates).index(statement.values["x"])
    basis = np.eye(size) if limit.basis is None else np.array(limit.basis.tolist(), dtype=float)
    p = r.derivation.potential.parameterization
    numbers = {**start, limit.point.variable: near(limit.point, 0.05)}
    with reached():
        flows = Flows.of(p, numbers)
        origin = np.array([number(b, numbers) for b in limit.origin or (0,) * size])
        run = flows.steered([-s * np.abs(rng.uniform(1, 3)) for s in [basis[:, i]] * 3])
        run += flows.steered(draw_steering(size, rng))
    kept, trials = [function(c.of, list(p.weights), numbers) for c in statement.conditions], 0
    for w, _ in run:
        x = np.linalg.solve(basis, flows.F(w) - origin)[i]
        if any(f(*w) * f(*flows.w0) <= 0 for f in kept):
            break
        if x < -1e-9:
            raise Refuted(f"{statement.values['x']} is {x} from {numbers}")
        trials += 1
    return trials


@witness("start kernel", each=times(1))
def kernel_there(r, statement, rng, _):
    """Evaluate J J^T and F at drawn starts."""
    kernel = statement.values["kernel"]
    p = r.derivation.potential.parameterization
    numbers = {n: abs(x) for n, x in draw_start(p, rng).items()}
    with reached():
        flows = Flows.of(p, numbers)
        K, beta = flows.kernel(flows.w0), flows.F(flows.w0)
    told = np.array([number(x, numbers) for x in kernel.matrix]).reshape(K.shape)
    at = np.array([number(x, numbers) for x in kernel.beta_0])
    if not (np.allclose(K, told, rtol=1e-9) and np.allclose(beta, at, rtol=1e-9)):
        raise Refuted(f"K is {K.tolist()}, beta {beta.tolist()} from {numbers}")
    return 1


@witness("time scale", each=times(1))
def as_fast_at_first(r, statement, rng, _):
    """Evaluate J J^T at multiples of starts."""
    p = r.derivation.potential.parameterization
    numbers, c = {n: abs(x) for n, x in draw_start(p, rng).items()}, rng.uniform(1.2, 2.5)
    flows = Flows.of(p, numbers)
    e = number(statement.values["e"], numbers)
    if not np.allclose(flows.kernel(c * flows.w0), c**e * flows.kernel(flows.w0), rtol=1e-9):
        raise Refuted(f"K(c w_0) is not c^{e} K(w_0) from {numbers}")
    return 1


@witness("ruling weights")
def some_alone(r, statement, rng):
    """Run the flow from scaled starts, and that of the weights that are said to rule."""
    trials, p = 0, r.derivation.potential.parameterization
    lam = {s.name: float(x) for s, x in statement.values["lam"].items()}
    degrees = np.array([lam[w] for w in p.weights])
    high, low = statement.values["high"], statement.values["low"]
    for entry, c in ((high, 1e-8), (low, 1e8)) * TRIALS:
        flows = Flows.of(p, {n: abs(x) for n, x in draw_start(p, rng).items()})
        steering = np.array([rng.uniform(0.2, 1) for _ in range(p.d)])
        own = np.abs(degrees - float(entry)) < 1e-12
        tau = 0.4 / (1 + np.abs(flows.velocity(flows.w0, steering)).max())
        scaled = replace(flows, w0=c**degrees * flows.w0)
        alone = replace(flows, inverse=lambda w, own=own: np.diag(own * 1.0))
        try:
            ((w, _),) = scaled.steered([steering], tau * c ** (2 * float(entry) - 1))
            ((v, _),) = alone.steered([steering], tau)
        except NO_TRIAL:
            continue
        if not np.allclose(flows.F(w) / c, flows.F(v), rtol=0.01, atol=1e-3):
            raise Refuted(f"{flows.F(w) / c}, not {flows.F(v)}, from {flows.w0} at l = {entry}")
        trials += 1
    return trials


@witness("kernel decides", each=times(4))
def only_the_kernel(r, statement, rng, _):
    """Compare slopes from two starts with one K(w_0)."""
    p = r.derivation.potential.parameterization
    numbers = {n: abs(x) for n, x in draw_start(p, rng).items()}
    names = sorted(numbers)

    def K(changes, numbers=numbers):
        flows = Flows.of(p, {**numbers, **changes})
        return float(flows.kernel(flows.w0)[0, 0])

    a, b = rng.sample(names, 2)
    moved = {a: numbers[a] * rng.uniform(1.02, 1.15)}

    def gap(x, moved=moved, b=b, K=K):
        return K({**moved, b: x}) - K({})

    with reached():
        moved[b] = brentq(gap, 1e-3, 50)
        beta = np.array([rng.uniform(0.5, 2)])
        one, two = (accumulated(r, x, beta) for x in (numbers, {**numbers, **moved}))
    if not np.allclose(one, two, rtol=1e-5):
        raise Refuted(f"slopes {one}, {two} from {numbers} and {moved}")
    return 1


@witness("clock runs", "clock is onto", "clock is bounded", each=times(2))
def clock_on_flows(r, statement, rng, _):
    """Run the squared loss and drawn steering: g > 0, int g >= m t, g bounded where beta is."""
    d = r.derivation
    p = d.potential.parameterization
    if statement.values["g"] is None or r.vector:
        return 0
    numbers = draw_start(p, rng)
    with reached():
        d.potential.numeric(numbers)
        flows = Flows.of(p, numbers)
        g = function(statement.values["g"], list(p.weights), numbers)
        run = flows.steered(draw_steering(p.d, rng), 0.3)
        values = [float(g(*w)) for w in (flows.w0, *(w for w, _ in run))]
    floor = statement.values["floor"]
    m = 0.0 if floor is None else np.sqrt(max(number(floor, numbers), 0.0))
    sizes = [1 + np.linalg.norm(flows.F(w)) + np.linalg.norm(flows.w0) for w, _ in run]
    if values[0] <= 0:  # Q is of the other side
        return 0
    if statement.kind != "clock is bounded" and min(values) < max(m * (1 - 1e-9), 1e-300):
        raise Refuted(f"g is {values}, not above {m}, from {numbers}")
    pairs = zip(values[1:], sizes, strict=True)
    if max(np.log(max(abs(v), 1.0)) / np.log(s + 1) for v, s in pairs) > 10:
        raise Refuted(f"g is {values} where beta is of size {sizes}")
    return 1


def copies(r, k, sigma, draws, rng):
    """Return beta and K of sums of k copies from drawn starts."""
    unit, seed = r.unit, np.random.default_rng(rng.randrange(2**32))
    symbols = [sympy.Symbol(w, real=True) for w in unit.weights]
    f = to_sympy(unit.trees[0], dict(zip(unit.weights, symbols, strict=True)))
    slope = sympy.Add(*(f.diff(s) ** 2 for s in symbols))
    w = seed.normal(0, sigma, (len(symbols), draws, k))
    evaluated = (sympy.lambdify(symbols, x, "numpy")(*w) for x in (f, slope))
    beta, K = (np.broadcast_to(x, (draws, k)).sum(axis=1) for x in evaluated)
    return beta, K


@witness("width law", each=times(1))
def kept_by_copies(r, statement, rng, _):
    """Follow K^2 - c beta^2 of three copies along steered flows."""
    c = float(statement.values["c"])
    one = {f"{w}_0": rng.uniform(-1, 1) for w in r.unit.weights}
    flows = replace(Flows.of(r.unit, one), w0=np.array(list(one.values())))
    three = Flows.side_by_side([replace(flows, w0=f * flows.w0) for f in (1.0, -0.7, 1.3)])
    total = replace(three, F=lambda w, g=three: np.sum(g.F(w), keepdims=True),
                    J=lambda w, g=three: np.sum(g.J(w), axis=0, keepdims=True))  # fmt: skip
    run = total.steered(draw_steering(1, rng))
    points = (total.w0, *(w for w, _ in run))
    kappa = [float(total.kernel(w)[0, 0] ** 2 - c * total.F(w)[0] ** 2) for w in points]
    if np.ptp(kappa) > 1e-6 * max(map(abs, kappa)):
        raise Refuted(f"K^2 - {c} beta^2 goes through {kappa}")
    return 1


@witness("width moments")
def moments_of_draws(r, statement, rng):
    """Compare means over drawn starts, within what such means vary."""
    k, sigma, draws = rng.choice((2, 4)), rng.uniform(0.5, 1.5), 200_000
    beta, K = copies(r, k, sigma, draws, rng)
    kappa = K**2 - float(r.curvature) * beta**2
    at = {str(r.width): float(k), "sigma": sigma}
    told = {name: number(x, at) for name, x in statement.values.items()}
    mean = float(kappa.mean())
    found = {
        "E kappa": mean,
        "Var kappa/(E kappa)^2": float(kappa.var() / mean**2),
        "E beta_0^2": float((beta**2).mean()),
        "E beta_0^2/E kappa": float((beta**2).mean() / mean),
    }
    for name, x in found.items():
        if abs(x - told[name]) > 0.15 * abs(told[name]):
            raise Refuted(f"{name} is {x}, not {told[name]}, of {k} copies")
    return len(found)


@witness("wide starts")
def slopes_of_wide_starts(r, statement, rng):
    """Integrate 1/K from drawn wide starts at one mu."""
    k, c = 4000, float(r.curvature)
    sigma = rng.uniform(0.5, 2) / number(r.mu, {str(r.width): k, "sigma": 1.0})
    mu = number(statement.values["mu"], {str(r.width): k, "sigma": sigma})
    beta, K = copies(r, k, sigma, 100, rng)
    root = np.sqrt(K**2 - c * beta**2)
    x = mu**2 * rng.uniform(0.5, 2)
    slopes = (np.arcsinh(np.sqrt(c) * x / root) - np.arcsinh(np.sqrt(c) * beta / root)) / np.sqrt(c)
    told = number(statement.values["g"], {"beta": x, "mu": mu})
    if abs(np.median(slopes) / told - 1) > 0.05:
        raise Refuted(f"slopes are {np.median(slopes)}, not {told}")
    return 1
