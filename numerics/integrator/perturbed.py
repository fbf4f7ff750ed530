"""Perturbed flows of the weights: decay and momentum as more terms of one field, and finite steps.

    mass w'' + w' = -G^-1 J^T X^T r - kappa(t) w,    w(0) = start,  w'(0) = 0

(or - kappa(t) G^-1 dh for a penalty h) is, for mass > 0, w' = (u - w)/mass and u' = the right side
for u = w + mass w', as all digits of w', which falls to 0, would count. Beside the weights run the
time and integrals of what is asked for.
With Nesterov's damping w'' + (r/t) w' takes the place of mass w'' + w', from t = 1.
A step is w -> w - eta (G^-1 J^T X^T r + k w) + mu v, v the step before; r of some rows.

Mirror descent with a mirror psi has theta = grad psi(w), G = Hess psi, in the place of w:

    mass theta'' + theta' = -J^T X^T r - kappa(t) e,    w' = G^-1 theta',
    theta(w_next) = theta(w) - eta (J^T X^T r + k e) + mu (theta(w) - theta(w - v)),

e = G w or dh, and w_next is found by Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import mpmath

from derive.errors import InputError, NumericalError
from derive.language.tree import Number, Tree
from derive.model.names import unused
from numerics.evaluate.numbers import Real, rational, read_data
from numerics.integrator.builder import Builder, Register, Tape, compile_forward
from numerics.integrator.gradient_flow import (
    ConvergenceWatch,
    FlowModel,
    Steered,
    check_start,
    rates_of,
    read_start,
)
from numerics.integrator.implicit import Automatic
from numerics.integrator.jets import Program, bits_of
from numerics.integrator.taylor import integrate

Registers = list[Register]
NONE = Number(Fraction(0))
_TIME = " t"
"""No name of a weight has a blank."""
_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Terms:
    """What is added to gradient flow, and what is integrated along it.

    Attributes:
        decay: kappa(t), an expression in t.
        mass: 0 without momentum.
        along: integrands, in weights w, velocities w_t, t and kappa, as names left free have these.
        penalty: h, of all weights; () where decay is that of the weights.
        damping: r, 0 without.
        mirror: psi of all weights, of mirror descent with momentum.
    """

    decay: Tree = NONE
    mass: Fraction = Fraction(0)
    along: tuple[Tree, ...] = ()
    penalty: tuple[Tree, ...] = ()
    damping: Fraction = Fraction(0)
    mirror: tuple[Tree, ...] = ()


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The end of a perturbed flow: beta = F(w) and w, integrals or sums along it, and its steps.

    The *velocities* are those of the weights, or the last step.
    """

    limit: tuple[Real, ...]
    weights: tuple[Real, ...]
    along: tuple[Real, ...]
    steps: int
    velocities: tuple[Real, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its size eta, the rows of X that it uses (all, if none), k and mu."""

    eta: Fraction
    rows: tuple[int, ...] = ()
    decay: Fraction = Fraction(0)
    momentum: Fraction = Fraction(0)


LONGEST = 800
"""Steps of a flow after which to give up."""
NEWTON = 60
"""Steps of Newton's method at most."""
Move = Callable[[Sequence[Real]], Sequence[Real]]
"""The weights after a step."""
Problem = tuple[Iterable[object], Iterable[object], Mapping[str, object]]
"""X, y and the start of every weight, as for :func:`numerics.integrator.gradient_flow.flow`."""


def perturbed_flow(
    p: FlowModel, problem: Problem, terms: Terms, digits: int = 30, *, until: Fraction | None = None
) -> Perturbed:
    """Run gradient flow with decay and momentum until it fits the data, and is at rest.

    Args:
        p: F with its learning rates; or copies of it.
        problem: X, y and the start of every weight.
        terms: what is added. A decay that does not fade leaves no interpolant to converge to.
        until: a time at which to end: with damping r/t, from rest at t = 1, it comes to rest too
            slowly.

    Raises:
        InputError: a number, a shape or a name is wrong, or the mass is negative.
        DegenerateStart: F or J is undefined at the start.
        NumericalError: it does not converge, or meets a pole, as where a weight crosses 0.

    >>> import mpmath
    >>> from derive import Parameterization
    >>> p = Parameterization.parse(["p*m"])
    >>> data = [[1]], [2], {"p": 1, "m": "1/2"}
    >>> end = perturbed_flow(p, data, Terms(mass=Fraction(1, 10)), digits=15)
    >>> mpmath.nstr(end.limit[0], 12)
    '2.0'
    """
    rows, target = read_data(problem[0], problem[1], len(p.trees))
    origin, n = read_start(p, problem[2], digits), len(p.weights)
    if terms.mass < 0:
        raise InputError("the mass of momentum must not be negative")
    field, observed, moved = _programs(p, terms, rows, target)
    lifted: list[Real] = [Fraction(0)] * n if terms.damping else []
    if terms.mass and not terms.damping:
        theta = terms.mirror and Mirror.of(p, terms.mirror, bits_of(digits)).theta.at(origin)
        lifted = [*(theta or origin)]
    begun = Fraction(1 if terms.damping else 0)
    # Integrals that stay 0 but for rounding have no digits: from 1 their errors are beside 1.
    start = [*origin, *lifted, begun, *[_ONE] * len(terms.along)]
    check_start(field, start, digits)
    rest = [*target, *[Fraction(0)] * (len(observed.outputs) - len(p.trees) - len(target))]
    watch = ConvergenceWatch(observed, rest, digits, Fraction(1, 10**digits))
    stop, time = (watch, None) if until is None else (None, until - begun)
    end = integrate(field, start, digits, stop, LONGEST, time=time, engine=Automatic)
    beta, velocities = (Program(x, bits_of(digits)).at(end.state) for x in (observed, moved))
    state = end.state
    with mpmath.workprec(bits_of(digits)):
        sums = tuple(x - 1 for x in state[len(state) - len(terms.along) :])
    return Perturbed(beta[: len(p.trees)], state[:n], sums, end.steps, velocities)


def _programs(
    p: FlowModel, terms: Terms, X: list[list[Fraction]], y: list[Fraction]
) -> tuple[Tape, Tape, Tape]:
    """Return the field, beta with the residuals and velocities, which all fall to 0, and these."""
    lifted = [f" u {w}" for w in p.weights] if terms.mass or terms.damping else []
    sums = (f" integral {i}" for i in range(len(terms.along)))
    builder = Steered(p, (X, y), extra=(*lifted, _TIME, *sums))
    time, u = builder.input(_TIME), list(map(builder.input, lifted))
    kappa = builder.tree(terms.decay, {"t": time})
    pushed, shrinking = _forces(p, builder, builder.pulled, terms.penalty, terms.mirror)
    moved = force = _differences(builder, pushed, kappa, shrinking)
    if terms.damping:
        rate = builder.divide(builder.constant(terms.damping), time)
        moved, force = u, _differences(builder, force, rate, u)
    elif terms.mass:
        share, one = builder.constant(1 / terms.mass), builder.constant(_ONE)
        gaps = _differences(builder, u, one, theta_of(builder, p, terms.mirror))
        moved = [builder.multiply(share, gap) for gap in gaps]
    if terms.mirror:
        moved = builder.raised(rates_of(p), moved)
    resting = moved if lifted and not terms.damping else []
    names = (unused(x, p.weights) for x in (*(f"{w}_t" for w in p.weights), "t", "kappa"))
    known = dict(zip(names, (*moved, time, kappa), strict=True))
    along = [builder.tree(f, known) for f in terms.along]
    field = [*moved, *(force if lifted else ()), builder.constant(_ONE), *along]
    tapes = [field, [*builder.beta, *builder.slopes, *resting], moved]
    return tuple(map(builder.tape, tapes))  # type: ignore[return-value]


def _differences(builder: Builder, x: Registers, factor: Register, z: Registers) -> Registers:
    """Write out x - factor z."""
    pairs = zip(x, z, strict=True)
    return [builder.linear([(a, _ONE), (builder.multiply(factor, b), -_ONE)]) for a, b in pairs]


def _forces(
    p: FlowModel,
    builder: Builder,
    slopes: Registers,
    penalty: Sequence[Tree],
    mirror: Sequence[Tree],
) -> tuple[Registers, Registers]:
    """Return slopes, J^T seeds, and what decay is along, w or dh; raised but for mirror descent."""
    n, one, rates = len(p.weights), builder.constant(_ONE), rates_of(p)
    w = list(map(builder.input, p.weights))
    h = [builder.tree(tree) for tree in penalty]
    dh = builder.reverse(h, [one] * len(h))[:n]
    if not mirror:
        raised = builder.raised(rates, slopes)
        return raised, builder.raised(rates, dh) if penalty else w
    if not penalty and len(rates) > n:
        raise NumericalError("decay of the weights is not run with a mirror that couples them")
    over = zip(w, rates, strict=False)
    return slopes, dh if penalty else [builder.divide(x, builder.tree(r)) for x, r in over]


def take_steps(
    p: FlowModel,
    problem: Problem,
    steps: Iterable[Step],
    along: Sequence[Tree] = (),
    digits: int = 30,
    *,
    penalty: Sequence[Tree] = (),
    mirror: Sequence[Tree] = (),
) -> Perturbed:
    """Take steps one after the other until the residual is 0 to these digits, or none are left.

    Args:
        p: F with its learning rates; or copies of it.
        problem: X, y and the start of every weight.
        steps: their sizes and rows; drawn by the caller, by a generator with a seed.
        along: what is summed, in the weights w before a step, the step before w_t, eta, k, mu and
            G_1, G_2, ..., G = X^T r, as names left free have these; and w_next after it.
        penalty: h of decay, one for each copy; that of the weights without.
        mirror: psi of mirror descent, one for each copy.

    Raises:
        InputError: a number, a shape or a name is wrong.
        NumericalError: a step leaves the domain of F.

    >>> p, data = __import__("derive").Parameterization.parse(["w"]), ([[1]], [2], {"w": 0})
    >>> float(take_steps(p, data, [Step(Fraction(1, 2))] * 3).limit[0])
    1.75
    """
    rows, target = read_data(problem[0], problem[1], len(p.trees))
    origin, bits = read_start(p, problem[2], digits), bits_of(digits)
    F, moves, sums_of = stepper(p, along, bits, penalty, mirror)
    with mpmath.workprec(bits):
        X, y = [list(map(rational, row)) for row in rows], list(map(rational, target))
        w, v = list(map(rational, origin)), [mpmath.mpf(0)] * len(origin)
        total, taken = [mpmath.mpf(0)] * len(along), 0
        small = mpmath.mpf(10) ** -digits * max(1, mpmath.norm(y))
        for step in steps:
            beta = F.at(w)
            r = [mpmath.fdot(row, beta) - t for row, t in zip(X, y, strict=True)]
            if mpmath.norm(r) <= small:
                break
            batch = step.rows or range(len(X))
            G = [sum(X[i][k] * r[i] for i in batch) for k in range(len(X[0]))]
            given = [*w, *v, *G, *map(rational, (step.eta, step.decay, step.momentum))]
            found = list(moves(given))
            added = sums_of.at([*given, *found])
            v = [a - b for a, b in zip(found, w, strict=True)]
            w, taken = found, taken + 1
            total = [a + b for a, b in zip(total, added, strict=True)]
        return Perturbed(F.at(w), tuple(w), tuple(total), taken, tuple(v))


def stepper(
    p: FlowModel,
    along: Sequence[Tree],
    bits: int,
    penalty: Sequence[Tree] = (),
    mirror: Sequence[Tree] = (),
) -> tuple[Program, Move, Program]:
    """Return F, the weights after a step from w, v, G, eta, k, mu, and what is summed in it.

    What is summed has the weights after the step, too.
    """
    letters = [unused(f"G_{i}", p.weights) for i in range(1, len(p.trees) + 1)]
    last = [unused(f"{w}_t", p.weights) for w in p.weights]
    sizes = [unused(x, p.weights) for x in ("eta", "k", "mu")]
    after = [unused(f"{w}_next", p.weights) for w in p.weights]
    builder = Builder((*p.weights, *last, *letters, *sizes, *after))
    sums = Program(builder.tape([builder.tree(tree) for tree in along]), bits)
    builder = Builder((*p.weights, *last, *letters, *sizes))
    beta = tuple(builder.tree(tree) for tree in p.trees)
    (eta, k, mu), G = map(builder.input, sizes), list(map(builder.input, letters))
    steered = builder.reverse(beta, G)[: len(p.weights)]
    pairs = zip(*_forces(p, builder, steered, penalty, mirror), strict=True)
    forces = [builder.total([x, builder.multiply(k, h)]) for x, h in pairs]
    pushed = [builder.multiply(eta, f) for f in forces]
    F = Program(compile_forward(p.trees, p.weights), bits)
    if mirror:
        return F, Mirror.of(p, mirror, bits).mover(Program(builder.tape(pushed), bits)), sums
    rows = zip(map(builder.input, p.weights), pushed, map(builder.input, last), strict=True)
    moved = [
        builder.linear([(w, _ONE), (x, -_ONE), (builder.multiply(mu, v), _ONE)]) for w, x, v in rows
    ]
    return F, Program(builder.tape(moved), bits).at, sums


def theta_of(builder: Builder, p: FlowModel, psi: Sequence[Tree]) -> list[Register]:
    """Write out theta = grad psi(w), w itself without a mirror."""
    if not psi:
        return list(map(builder.input, p.weights))
    values = [builder.tree(tree) for tree in psi]
    return builder.reverse(values, [builder.constant(_ONE)] * len(values))[: len(p.weights)]


@dataclass(frozen=True, slots=True)
class Mirror:
    """theta = grad psi(w), and G^-1 times a covector, of w and that."""

    theta: Program
    raised: Program
    size: int

    @classmethod
    def of(cls, p: FlowModel, psi: Sequence[Tree], bits: int) -> Mirror:
        """Return psi of all weights, one for each copy, in numbers."""
        forward, n = Builder(p.weights), len(p.weights)
        theta = theta_of(forward, p, psi)
        covector = tuple(f" d {w}" for w in p.weights)
        builder = Builder((*p.weights, *covector))
        raised = builder.raised(rates_of(p), list(map(builder.input, covector)))
        return cls(Program(forward.tape(theta), bits), Program(builder.tape(raised), bits), n)

    def mover(self, pushed: Program) -> Move:
        """Return how w moves as theta moves by -pushed + mu (theta - theta before)."""

        def move(given: Sequence[Real]) -> Sequence[Real]:
            w, v, mu = given[: self.size], given[self.size : 2 * self.size], given[-1]
            target = [x - f for x, f in zip(self.theta.at(w), pushed.at(given), strict=True)]
            if mu:
                before = self.theta.at([a - b for a, b in zip(w, v, strict=True)])
                now = self.theta.at(w)
                target = [t + mu * (a - b) for t, a, b in zip(target, now, before, strict=True)]
            return self.inverse(target, w)

        return move

    def inverse(self, target: Sequence[Real], w: Sequence[Real]) -> Sequence[Real]:
        """Return the weights with this theta by Newton's method from others, near them."""
        last = mpmath.inf
        for _ in range(NEWTON):
            off = [a - b for a, b in zip(target, self.theta.at(w), strict=True)]
            size = mpmath.norm(off)
            if not size or size >= last < mpmath.mpf(10) ** -10:
                return w  # to all digits
            moves, last = self.raised.at([*w, *off]), size
            w = [a + b for a, b in zip(w, moves, strict=True)]
        raise NumericalError("no weights were found with the theta of a step: take smaller steps")
