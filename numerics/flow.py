"""Gradient flow in the weights, run at high precision: the witness of what is derived by algebra.

It knows the expressions of F and nothing of any regularizer. Time stepping: :mod:`numerics.taylor`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import mpmath

from derive.errors import DegenerateStart, InputError, NumericalError
from derive.language.tree import Tree
from numerics.numbers import read_matrix, read_number, read_vector
from numerics.tape import Builder, Register, Tape, compile_gradient
from numerics.taylor import Arithmetic, Real, integrate, propagate

_REST = 200  # steps without visible motion after which a flow counts as stalled
_Progress: TypeAlias = Callable[[int, Real], None]


class Parameterization(Protocol):
    """What the flow needs of beta = F(w): the d expressions of F and the p names of w."""

    @property
    def trees(self) -> tuple[Tree, ...]: ...  # noqa: D102

    @property
    def weights(self) -> tuple[str, ...]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Flow:
    """The end of a gradient flow, in mpf with guard digits.

    ``limit`` is beta = F(w) at the end (d), ``weights`` is w at the end and ``start`` at the start
    (p), ``residual`` the Euclidean norm of X beta - y at the end, ``scale`` what it is relative to,
    and ``time`` the time it took.
    """

    limit: tuple[Real, ...]
    weights: tuple[Real, ...]
    start: tuple[Real, ...]
    residual: Real
    scale: Real
    time: Real
    steps: int
    order: int
    digits: int


@dataclass(frozen=True, slots=True)
class DualFlow:
    """The end of a dual flow: the weights w(1) (p) and beta = F(w(1)) (d), as mpf."""

    weights: tuple[Real, ...]
    beta: tuple[Real, ...]


def flow(
    p: Parameterization,
    X: Iterable[Any],
    y: Iterable[Any],
    start: Mapping[str, Any],
    digits: int = 50,
    *,
    max_steps: int = 10_000,
    progress: _Progress | None = None,
) -> Flow:
    """Run gradient flow of the squared loss until it interpolates.

    ``w' = -J(w)^T X^T (X F(w) - y)``, ``w(0) = start``, until ``|X F(w) - y| <= 10^-digits scale``
    in the Euclidean norm; scale is the larger of |y| and ``|X F(start) - y|``, or 1 if both are 0.

    Args:
        p: the parameterization.
        X: m rows of d numbers. Integers, fractions, strings such as "1/3" or "0.1", floats and
            mpf all count at their exact value.
        y: m numbers.
        start: a number for every weight.
        digits: the digits of the residual; the weights carry guard digits besides.
        max_steps: the Taylor steps after which to give up.
        progress: called with the step and the residual, at the start and after each step.

    Raises:
        InputError: a number, a shape or a name is wrong.
        DegenerateStart: F or J is undefined at the start.
        NumericalError: the flow stalls at a critical point, leaves the domain of F, or is too slow.

    >>> from derive.language.tree import Name
    >>> @dataclass
    ... class Linear:
    ...     trees: tuple[Tree, ...] = (Name("a"), Name("b"))
    ...     weights: tuple[str, ...] = ("a", "b")
    >>> end = flow(Linear(), X=[[1, 2]], y=[1], start={"a": 0, "b": 0}, digits=20)
    >>> [mpmath.nstr(x, 15) for x in end.limit]
    ['0.2', '0.4']
    """
    d, rows, target = len(p.trees), read_matrix(X, len(p.trees)), read_vector(y, "y")
    if len(rows) != len(target):
        raise InputError(f"X has {len(rows)} rows but y has {len(target)} numbers")
    origin = _start(start, p.weights, digits)
    residuals = _residuals(rows, target)

    def seed(builder: Builder, beta: tuple[Register, ...]) -> list[Register]:
        left = residuals(builder, beta)
        return [
            builder.linear(zip(left, (-x for x in column), strict=True))
            for column in zip(*rows, strict=True)
        ]

    tape = compile_gradient(p.trees, p.weights, seed)
    _check_start(tape, origin, digits)
    field = tape.take(range(d, d + len(p.weights)))
    watch = _Watch(_observed(p, residuals), d, target, digits, progress)
    try:
        end = integrate(field, origin, digits, watch, max_steps)
    except NumericalError as error:
        raise NumericalError(
            f"gradient flow did not reach |X beta - y| <= {mpmath.nstr(watch.tolerance, 3)} but "
            f"{mpmath.nstr(watch.residual, 3)}: {error}; try another start or better conditioned X"
        ) from error
    begin, left, scale = watch.start, watch.residual, mpmath.mp.make_mpf(watch.scale._mpf_)
    return Flow(watch.beta, end.state, begin, left, scale, end.time, end.steps, end.order, digits)


def dual_flow(
    p: Parameterization,
    multiplier: Iterable[Any],
    start: Mapping[str, Any],
    digits: int = 50,
    *,
    max_steps: int = 10_000,
) -> DualFlow:
    """Run the weights along a fixed dual vector for unit time.

    ``w' = J(w)^T mu``, ``w(0) = start``, to time 1; where the flows of the rows of J commute,
    ``h(mu) = F(w(1))`` is the inverse of the mirror map.

    Args:
        p: the parameterization.
        multiplier: mu, d numbers.
        start: a number for every weight.
        digits: the digits of the result, to the condition of the flow.
        max_steps: the number of Taylor steps after which to give up.

    Raises:
        InputError: a number, a shape or a name is wrong.
        DegenerateStart: F or J is undefined at the start.
        NumericalError: the flow blows up or leaves the domain of F before time 1.
    """
    d, mu = len(p.trees), read_vector(multiplier, "the multiplier")
    if len(mu) != d:
        raise InputError(f"the multiplier has {len(mu)} numbers but F has {d} outputs")
    origin = _start(start, p.weights, digits)
    tape = compile_gradient(p.trees, p.weights, lambda b, _: [b.constant(x) for x in mu])
    _check_start(tape, origin, digits)
    field = tape.take(range(d, d + len(p.weights)))
    try:
        end = integrate(field, origin, digits, None, max_steps, time=Fraction(1))
    except NumericalError as error:
        raise NumericalError(f"dual flow did not reach time 1: {error}; scale mu down") from error
    beta = propagate(tape.take(range(d)), [[x] for x in end.state], digits)
    return DualFlow(end.state, tuple(x for (x,) in beta))


_Residuals: TypeAlias = Callable[[Builder, tuple[Register, ...]], list[Register]]


def _residuals(rows: list[list[Fraction]], target: list[Fraction]) -> _Residuals:
    """Return what writes X beta - y, with exact X and y, on the registers of beta."""
    return lambda builder, beta: [
        builder.linear(zip(beta, row, strict=True), -value)
        for row, value in zip(rows, target, strict=True)
    ]


def _observed(p: Parameterization, residuals: _Residuals) -> Tape:
    """Return the tape of F and of the residuals of the loss, d + m outputs."""
    builder = Builder(p.weights)
    beta = tuple(builder.tree(tree) for tree in p.trees)
    return builder.tape([*beta, *residuals(builder, beta)])


class _Watch:
    """Stops a flow at its tolerance, and tells a critical point from slow progress."""

    def __init__(
        self, tape: Tape, d: int, target: list[Fraction], digits: int, progress: _Progress | None
    ) -> None:
        self._tape, self._d, self._digits, self._progress = tape, d, digits, progress
        self._context = mpmath.MPContext()
        self._context.prec = Arithmetic(digits).bits
        y = [self._context.mpf(x.numerator) / x.denominator for x in target]
        self.scale, self.tolerance = self._context.norm(y), self._context.zero
        self.residual: Real = self._context.inf
        self.beta: tuple[Real, ...] = ()
        self.start: tuple[Real, ...] = ()
        self._step, self._rest, self._peak = -1, 0, self._context.zero
        self._state: tuple[Real, ...] = ()

    def __call__(self, state: tuple[Real, ...]) -> bool:
        values = [x for (x,) in propagate(self._tape, [[w] for w in state], self._digits)]
        norm = self._context.norm([self._context.mpf(x) for x in values[self._d :]])
        self.beta, before, self.residual = tuple(values[: self._d]), self.residual, norm
        self._step += 1
        if not self._step:
            self.start, self.scale = state, max(self.scale, norm) or self._context.one
            self.tolerance = self._context.mpf(10) ** -self._digits * self.scale
        if self._progress is not None:
            self._progress(self._step, mpmath.mp.make_mpf(norm._mpf_))
        if norm > self.tolerance:
            self._check_motion(tuple(self._context.mpf(w) for w in state), before)
            return False
        self.residual = mpmath.mp.make_mpf(norm._mpf_)
        return True

    def _check_motion(self, state: tuple[Real, ...], before: Real) -> None:
        """Raise where the weights and the loss have both been at rest for long.

        Rest is relative to the largest weight or move so far, as weights that fall to a critical
        point 0 never cease to halve. It must last, as a small start grows unseen for many steps.
        """
        moves = (abs(new - old) for new, old in zip(state, self._state, strict=False))
        move = max(moves, default=self._context.inf)
        self._peak, self._state = max(self._peak, *map(abs, state)), state
        small = self._context.mpf(10) ** -(self._digits + 5)
        rest = move <= small * self._peak and abs(before - self.residual) <= small * before
        self._rest = self._rest + 1 if rest else 0
        if self._rest >= _REST:
            raise NumericalError("the weights have come to rest at a critical point")


def _check_start(tape: Tape, origin: list[Fraction], digits: int) -> None:
    try:
        propagate(tape, [[x] for x in origin], digits)
    except NumericalError as error:
        raise DegenerateStart(
            "F or its derivative is undefined at the start; start inside the domain of F"
        ) from error


def _start(start: Mapping[str, Any], weights: tuple[str, ...], digits: int) -> list[Fraction]:
    if isinstance(digits, bool) or not isinstance(digits, int) or digits < 1:
        raise InputError(f"digits must be a positive whole number, not {digits!r}")
    if missing := [name for name in weights if name not in start]:
        raise InputError(f"the start gives no value for {', '.join(missing)}")
    if unknown := [str(name) for name in start if name not in weights]:
        raise InputError(f"the start names {', '.join(unknown)}, not among {', '.join(weights)}")
    return [read_number(start[name], f"the start of {name}") for name in weights]
