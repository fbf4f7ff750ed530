"""Gradient flow in the weights: the witness of what is derived, which knows nothing but F."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias, get_args

import mpmath

from derive.copying import Copies
from derive.errors import DegenerateStart, InputError, NumericalError
from derive.language import parse_expression
from derive.language.tree import Tree
from derive.printable import Held
from numerics.evaluate.lowering import start_of_weights
from numerics.evaluate.numbers import Real, check_digits, rational, read_data, read_number
from numerics.evaluate.start import refuse_missing
from numerics.integrator.builder import Builder, Register, Tape, compile_slopes
from numerics.integrator.implicit import Automatic
from numerics.integrator.jets import Program, bits_of
from numerics.integrator.taylor import STEP_GUARD, Stepper, integrate


class FlowModel(Protocol):
    """What the flow needs of beta = F(w): the d expressions of F and the p names of w.

    The rate of each weight is 1 if it has no ``rates``; see :func:`rates_of`.
    """

    @property
    def trees(self) -> tuple[Tree, ...]: ...  # noqa: D102

    @property
    def weights(self) -> tuple[str, ...]: ...  # noqa: D102


def rates_of(p: FlowModel) -> tuple[Tree, ...]:
    """Return the learning rates of the weights, functions of these; () where all are 1.

    Raises:
        InputError: it is steepest descent in another norm, which is no flow of rates on data.
    """
    if getattr(getattr(getattr(p, "one", p), "geometry", None), "steepest", None) is not None:
        raise InputError("flows are gradient flows: leave out steepest")
    found: tuple[Tree, ...] = getattr(p, "rates", ())
    return found


def read_start(p: FlowModel, start: Mapping[str, object], digits: int) -> list[Fraction]:
    """Return the start of each weight; InputError for a name, a number or *digits* of no sense."""
    check_digits(digits)
    weights = p.weights
    if isinstance(p, Copies):
        start = start_of_weights(p, start)
    refuse_missing(weights, start)
    if unknown := [str(name) for name in start if name not in weights]:
        raise InputError(f"the start names {', '.join(unknown)}, not among {', '.join(weights)}")
    return [read_number(start[name], f"the start of {name}") for name in weights]


def check_start(tape: Tape, origin: list[Fraction], digits: int) -> None:
    """Raise DegenerateStart where a program of F and J is undefined at the start."""
    try:
        Program(tape, bits_of(digits)).at(origin)
    except NumericalError as error:
        text = "F or its derivative is undefined at the start; start inside the domain of F"
        raise DegenerateStart(text) from error


Progress: TypeAlias = Callable[[int, Real], None]
"""Called with the number of a step and the residual after it."""
_REST = 200  # steps without visible motion after which a flow counts as stalled


class ConvergenceWatch:
    """Stops a flow at its tolerance, and tells a critical point from slow progress."""

    def __init__(
        self, tape: Tape, target: Sequence[Fraction], digits: int, share: Fraction
    ) -> None:
        """Observe beta and one slope for each target, whose norm falls to *share* of its scale."""
        self._program, self._d = Program(tape, bits_of(digits)), len(tape.outputs) - len(target)
        self._digits, self._share = digits, share
        with mpmath.workprec(self._program.bits):
            self.scale, self.tolerance = mpmath.norm(list(map(rational, target))), mpmath.mpf(0)
        self.residual: Real = mpmath.inf
        self.beta: tuple[Real, ...] = ()
        self.start: tuple[Real, ...] = ()
        self.steps, self._rest, self._peak = -1, 0, mpmath.mpf(0)
        self._state: tuple[Real, ...] = ()

    def __call__(self, run: Stepper) -> bool:
        """Observe the state of *run*, and tell whether it has converged.

        Raises:
            NumericalError: the weights and the loss have both been at rest for long.
        """
        with mpmath.workprec(self._program.bits):
            return self._observed(run.state)

    def _observed(self, state: tuple[Real, ...]) -> bool:
        values = self._program.at(state)
        norm = mpmath.norm(values[self._d :])
        self.beta, before, self.residual = values[: self._d], self.residual, norm
        self.steps += 1
        if not self.steps:
            self.start, self.scale = state, max(self.scale, norm) or mpmath.mpf(1)
            self.tolerance = rational(self._share) * self.scale
        if norm <= self.tolerance:
            return True
        # Rest is relative to the largest weight or move so far, as weights that fall to a critical
        # point 0 never cease to halve. It must last, as a small start grows unseen for many steps.
        moves = (abs(new - old) for new, old in zip(state, self._state, strict=False))
        move = max(moves, default=mpmath.inf)
        self._peak, self._state = max(self._peak, *map(abs, state)), state
        small = mpmath.mpf(10) ** -(self._digits + STEP_GUARD - 2)
        rest = move <= small * self._peak and abs(before - norm) <= small * before
        self._rest = self._rest + 1 if rest else 0
        if self._rest >= _REST:
            raise NumericalError("the weights have come to rest at a critical point")
        return False


class DriftWatch:
    """The largest changes of laws c along a flow, relative to ``|c| + sum_j |w_j dc/dw_j|``."""

    def __init__(self, laws: Sequence[Tree], weights: tuple[str, ...], digits: int) -> None:
        self._bits = bits_of(digits)
        self._programs = [Program(compile_slopes(law, weights), self._bits) for law in laws]
        self._start: list[tuple[Real, Real]] = []
        self.drift: tuple[Real, ...] = (mpmath.mpf(0),) * len(laws)

    def observe(self, state: Sequence[Real]) -> None:
        """Compare with the first state that was observed."""
        here = list[tuple[Real, Real]]()
        with mpmath.workprec(self._bits):
            for program in self._programs:
                c, *slopes = program.at(state)
                size = abs(c) + sum(abs(w * x) for w, x in zip(state, slopes, strict=True))
                here.append((c, size))
            self._start = self._start or here
            pairs = zip(here, self._start, strict=True)
            changes = (abs(c - c0) / (max(size, size0) or 1) for (c, size), (c0, size0) in pairs)
            self.drift = tuple(map(max, self.drift, changes))


Terms: TypeAlias = Iterable[tuple[Register, Fraction]]
"""A prediction ``z = sum c_i beta_i`` as its pairs (beta_i, c_i)."""
Slope: TypeAlias = Callable[[Builder, Terms, Fraction], Register]
"""Writes dL/dz of a prediction and its target."""
# The residual of the squared loss and of the others, and what to do where it does not vanish.
_SQUARED = "|X beta - y|", "try another start or better conditioned X"
_LABELS = "|dL/dz|", "there may be no beta that separates the labels; give a time at which to end"


@dataclass(frozen=True, slots=True, repr=False)
class Flow(Held):
    """The end of a gradient flow, in mpf with guard digits.

    Attributes:
        limit: beta = F(w) at the end (d).
        weights, start: w at the end and at the start (p).
        residual: the norm of the slopes dL/dz at the end; of X beta - y for the squared loss.
        scale, tolerance: what it is relative to; the residual at which the flow has converged.
        time: the time it took.
        steps, smallest, largest, order: the number, least and largest size, and greatest order of
            its steps.
        digits: those asked for.
        drift: the largest change on the way of each conserved quantity that was given, relative to
            what a change of the weights may make of it.
    """

    limit: tuple[Real, ...]
    weights: tuple[Real, ...]
    start: tuple[Real, ...]
    residual: Real
    scale: Real
    tolerance: Real
    time: Real
    steps: int
    smallest: Real
    largest: Real
    order: int
    digits: int
    drift: tuple[Real, ...]

    @property
    def converged(self) -> bool:
        """Whether the residual is within the tolerance; else the time was over first."""
        return bool(self.residual <= self.tolerance)


def flow(
    p: FlowModel,
    X: Iterable[object],
    y: Iterable[object],
    start: Mapping[str, object] | None = None,
    digits: int = 50,
    *,
    loss: str = "squared",
    tolerance: object = None,
    time: object = None,
    conserved: Iterable[object] = (),
    max_steps: int = 10_000,
    progress: Progress | None = None,
) -> Flow:
    """Run gradient flow until it fits the data.

    ``w' = -G^-1 J(w)^T X^T s``, ``w(0) = start``, with slopes ``s_i = dL/dz_i``, z = X F(w), until
    ``|s| <= tolerance scale`` in the Euclidean norm; scale is the larger of |y| and |s| at the
    start, or 1 if both are 0. The losses are squared, ``(z - y)^2/2`` with ``s = z - y``; logistic,
    ``log(1 + exp(-y z))``, and exponential, ``exp(-y z)``, for labels y = 1 or -1. Those two have
    no limit on separable data: beta grows like a power of log(time), and its direction converges.

    Args:
        p: the parameterization, with the learning rates G^-1 = diag(r(w)) that it has, or 1; or
            copies of it.
        X, y: m rows of d numbers, and m numbers. Integers, fractions, strings such as "1/3" or
            "0.1", floats and mpf all count at their exact value.
        start: a number for every weight. Of copies, which bring theirs along, also for the weights
            or start symbols of one: a number for all of them, or a sequence.
        digits: those of the weights, which carry guard digits besides.
        loss: squared, logistic or exponential.
        tolerance: of the residual, relative to its scale; 10^-digits by default.
        time: at which to end at the latest, converged or not.
        conserved: functions of the weights, as text, trees or SymPy expressions, to be monitored.
        max_steps: the steps after which to give up.
        progress: called with the step and the residual, at the start and after each step.

    Returns:
        The end of the flow: beta (d), w (p), the residual, the time and the steps taken.

    Raises:
        InputError: a number, a shape or a name is wrong.
        DegenerateStart: F or J is undefined at the start.
        NumericalError: the flow stalls at a critical point, leaves the domain of F, or is too slow.

    Source: Soudry et al. 2018, "The implicit bias of gradient descent on separable data", for the
    limit of the direction.

    >>> from derive.language.tree import Name
    >>> @dataclass
    ... class Linear:
    ...     trees: tuple[Tree, ...] = (Name("a"), Name("b"))
    ...     weights: tuple[str, ...] = ("a", "b")
    >>> end = flow(Linear(), X=[[1, 2]], y=[1], start={"a": 0, "b": 0}, digits=20)
    >>> [mpmath.nstr(x, 15) for x in end.limit]
    ['0.2', '0.4']
    """
    if not isinstance(max_steps, int) or max_steps < 1:
        raise InputError(f"max_steps must be a whole number from 1 on, not {max_steps!r:.40}")
    rows, target = read_data(X, y, len(p.trees))
    slope, origin = read_loss(loss, target), read_start(p, start or {}, digits)
    least, until = Fraction(1, 10**digits), None if time is None else _positive(time, "time")
    share = least if tolerance is None else _positive(tolerance, "the tolerance")
    if not least <= share < 1:
        raise InputError(f"the tolerance must be at least 10^-digits = 1e-{digits}, and below 1")
    trees = [f if isinstance(f, get_args(Tree)) else parse_expression(str(f)) for f in conserved]
    laws = DriftWatch(trees, p.weights, digits)
    builder = Steered(p, (rows, target), slope)
    field = builder.tape(builder.raised(rates_of(p), builder.pulled))
    observed = builder.tape([*builder.beta, *builder.slopes])
    check_start(field, origin, digits)
    watch = ConvergenceWatch(observed, target, digits, share)

    def stop(run: Stepper) -> bool:
        done = watch(run)
        laws.observe(run.state)
        if progress is not None:
            progress(watch.steps, watch.residual)
        return done

    try:
        end = integrate(field, origin, digits, stop, max_steps, time=until, engine=Automatic)
    except NumericalError as error:
        residual, advice = _SQUARED if loss == "squared" else _LABELS
        raise NumericalError(
            f"gradient flow did not reach {residual} <= {mpmath.nstr(watch.tolerance, 3)} "
            f"but {mpmath.nstr(watch.residual, 3)}: {error}; {advice}"
        ) from error
    reached = watch.residual, watch.scale, watch.tolerance
    steps = end.time, end.steps, end.smallest, end.largest, end.order
    return Flow(watch.beta, end.state, watch.start, *reached, *steps, digits, laws.drift)


def _positive(value: object, what: str) -> Fraction:
    number = read_number(value, what)
    if number <= 0:
        raise InputError(f"{what} must be positive")
    return number


def _squared(builder: Builder, z: Terms, y: Fraction) -> Register:
    """``L = (z - y)^2 / 2``."""
    return builder.linear(z, -y)


def _exponential(builder: Builder, z: Terms, y: Fraction) -> Register:
    """``L = exp(-y z)``."""
    margin = builder.linear((x, -y * c) for x, c in z)
    return builder.linear([(builder.call("exp", margin), -y)])


def _logistic(builder: Builder, z: Terms, y: Fraction) -> Register:
    """``L = log(1 + exp(-y z))``."""
    growth = builder.call("exp", builder.linear((x, y * c) for x, c in z))
    top, one = builder.constant(-y), Fraction(1)
    return builder.divide(top, builder.linear([(growth, one)], one))


LOSSES: dict[str, Slope] = {"squared": _squared, "logistic": _logistic, "exponential": _exponential}


class Steered(Builder):
    """A flow of the weights of F under a loss, as a program that is being built.

    Attributes:
        beta: F (d).
        slopes: dL/dz, z = X beta (m).
        steering: ``-X^T dL/dz`` (d).
        pulled: J^T of that (p), a covector.
    """

    def __init__(
        self,
        p: FlowModel,
        data: tuple[Sequence[Sequence[Fraction]], Sequence[Fraction]],
        slope: Slope = _squared,
        extra: Iterable[str] = (),
    ) -> None:
        """Write it for X and y, with more inputs than the weights."""
        super().__init__((*p.weights, *extra))
        X, y = data
        self.beta = tuple(map(self.tree, p.trees))
        rows = zip(X, y, strict=True)
        self.slopes = [slope(self, zip(self.beta, x, strict=True), t) for x, t in rows]
        columns = zip(*X, strict=True)
        self.steering = [
            self.linear((s, -x) for s, x in zip(self.slopes, column, strict=True))
            for column in columns
        ]
        self.pulled = self.reverse(self.beta, self.steering)[: len(p.weights)]


def read_loss(name: str, target: Sequence[Fraction]) -> Slope:
    """Return the slope of the loss of that name; InputError for targets that are no labels."""
    if name not in LOSSES:
        raise InputError(f"there is no loss {name!r}; the losses are {', '.join(LOSSES)}")
    for i, y in enumerate(target, 1):
        if name != "squared" and abs(y) != 1:
            raise InputError(f"number {i} of y must be a label 1 or -1 for the {name} loss")
    return LOSSES[name]
