"""Whether equations between functions of the weights hold on the leaf that the start reaches.

A function that is not zero in Q(w) may still vanish on the leaf through w_0, the set that
gradient flow can reach from there, and a refutation must hold on that leaf. The function is
analytic, so it vanishes on the leaf exactly when it and all its iterated derivatives along the
fields grad F_1, ..., grad F_d vanish at w_0. Points of the leaf are shown in exact numbers.

The equations are those of a warp and of a Hessian map, in any representation of functions. With
X_a = grad F_a, B_abc = X_a K_bc - X_b K_ac and H_a = X_a log g, 0 for a Hessian map,

    H_a K_bc - H_b K_ac = B_abc

for all a < b and c. They determine H. What is left is closure along the directions of a leaf that
leave beta where it is, the *vertical*

    V_ab = [X_a, X_b] - H_a X_b + H_b X_a.

On the leaf K changes only by a factor along each vertical field V, V K = omega(V) K, and the
one-form eta with eta(X_a) = H_a and eta(V) = omega(V) is closed; g = exp of its integral. Where
every V_ab is zero the leaf has dimension d, nothing is vertical, and what is left is
X_a H_b = X_b H_a. (Derived here.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from random import Random
from typing import Generic, NamedTuple, TypeVar

from flint import arb, arb_mat

from derive.exact.balls import (
    Unbounded,
    Value,
    ball,
    evaluate_any,
    is_nonzero,
    precise,
    shown,
    values_of,
)
from derive.exact.field.factors import to_shorter_text
from derive.exact.field.function_field import FunctionField, RationalFunction
from derive.exact.linear.implicitization import series_along
from derive.exact.linear.matrix import dot
from derive.exact.linear.modular import Evaluator, Pole, random_point
from derive.model.geometry import Field, Scalar
from derive.model.labels import pair, quoted
from derive.model.names import PI
from derive.model.parameterization import Parameterization
from derive.verdict import Argument, Finding, Identity, Number, Verdict

S = TypeVar("S", bound=Scalar)


class Equation(NamedTuple, Generic[S]):
    """A statement and its two sides; of which kind it is, and the outputs that it is about."""

    statement: str
    left: S
    right: S
    kind: Argument = ""
    of: tuple[int, ...] = ()


class Flow(ABC, Generic[S]):
    """The fields X_a = grad F_a and K, with derivatives, in any representation of functions."""

    K: tuple[tuple[S, ...], ...]

    @property
    @abstractmethod
    def labels(self) -> tuple[int, ...]:
        """The numbers of the outputs."""

    @property
    @abstractmethod
    def X(self) -> tuple[tuple[S, ...], ...]:
        """The fields."""

    @abstractmethod
    def slope(self, x: tuple[S, ...], f: S) -> S:
        """Return the derivative of f along the field x."""

    def change(self, v: tuple[S, ...], b: int, c: int) -> S:
        """Return V K_bc."""
        return self.slope(v, self.K[b][c])

    def along(self, a: int, b: int, c: int) -> S:
        """Return X_a K_bc."""
        return self.change(self.X[a], b, c)

    def bracket(self, x: tuple[S, ...], y: tuple[S, ...]) -> tuple[S, ...]:
        """Return [x, y] = (Dy) x - (Dx) y."""
        return tuple(self.slope(x, b) - self.slope(y, a) for a, b in zip(x, y, strict=True))

    def commutator(self, a: int, b: int) -> tuple[S, ...]:
        """Return [X_a, X_b]."""
        return self.bracket(self.X[a], self.X[b])


def hessian_conditions(flow: Flow[S]) -> Iterator[Equation[S]]:
    """Yield X_a K_bc = X_b K_ac, each as it is asked for."""
    for a, b, c in _triples(flow):
        i, j, k = (flow.labels[n] for n in (a, b, c))
        statement = f"<grad F{i}, grad K{pair(j, k)}> = <grad F{j}, grad K{pair(i, k)}>"
        yield Equation(statement, flow.along(a, b, c), flow.along(b, a, c))


def warp_conditions(flow: Flow[S], H: Sequence[S]) -> Iterator[Equation[S]]:
    """Yield H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac, each as it is asked for."""
    K = flow.K
    for a, b, c in _triples(flow):
        i, j, k = (flow.labels[n] for n in (a, b, c))
        first, second = f"K{pair(j, k)}", f"K{pair(i, k)}"
        slopes = f"<grad F{i}, grad {first}> - <grad F{j}, grad {second}>"
        statement = f"H{i} {first} - H{j} {second} = {slopes}"
        left = H[a] * K[b][c] - H[b] * K[a][c]
        yield Equation(statement, left, _B(flow, a, b, c), "candidate", (i, j, k))


def _triples(flow: Flow[S]) -> Iterator[tuple[int, int, int]]:
    d = len(flow.labels)
    return ((a, b, c) for a, b in combinations(range(d), 2) for c in range(d))


def warp_candidate(flow: Flow[S]) -> tuple[S, ...]:
    """Return the only possible gradient of log g along the fields, H_a = <grad F_a, grad log g>.

    H_a (K_aa K_bb - K_ab^2) = K_aa B_abb - K_ab B_aba for any b != a; there are d >= 2 outputs.

    Raises:
        ZeroDivisionError: the minor of K is zero at the start.

    Source: derived here; Azulay et al. 2021, equations (10) to (12), for an Ansatz.
    """
    K, found = flow.K, list[S]()
    for a in range(len(flow.labels)):
        b = int(a == 0)
        gram = K[a][a] * K[b][b] - K[a][b] * K[a][b]
        found.append((K[a][a] * _B(flow, a, b, b) - K[a][b] * _B(flow, a, b, a)) / gram)
    return tuple(found)


def _B(flow: Flow[S], a: int, b: int, c: int) -> S:
    return flow.along(a, b, c) - flow.along(b, a, c)


def closure(
    flow: Flow[S], H: Sequence[S], is_new: Callable[[tuple[S, ...]], bool]
) -> Iterator[Equation[S]]:
    """Yield V K = omega(V) K and d eta = 0 for the vertical fields, as far as these *are new*.

    That X_a H_b - X_b H_a = k_ab is omega(V_ab) is asked of two outputs alone. Of more it follows:
    the cyclic sum of [X_a, [X_b, X_c]], which is 0, is on F_m that of (k_ab - omega(V_ab)) K_cm, as
    V_ab F = 0 and V K = omega(V) K, and K is regular.

    With V also [X_m, V] + omega(V) X_m is vertical.
    """
    X, labels, spanning = flow.X, flow.labels, list[tuple[str, tuple[S, ...], S]]()
    for a, b in combinations(range(len(X)), 2):
        i, j = labels[a], labels[b]
        name, z = f"V{pair(i, j)}", zip(flow.commutator(a, b), X[a], X[b], strict=True)
        v = tuple(zk - H[a] * yk + H[b] * xk for zk, xk, yk in z)
        omega = flow.change(v, 0, 0) / flow.K[0][0]
        for e in _scaled(flow, name, v, omega):
            yield e._replace(kind="vertical", of=(i, j, *e.of))
        if len(X) == 2:
            curl = flow.slope(X[a], H[b]) - flow.slope(X[b], H[a])
            yield Equation(f"X{i} H{j} - X{j} H{i} = omega({name})", curl, omega, "closed")
        if is_new(v):
            spanning.append((name, v, omega))
    # The list grows while it is walked: what a bracket adds is bracketed in its turn.
    for name, v, omega in spanning:
        for m, x in enumerate(X):
            lifted = tuple(r + omega * xk for r, xk in zip(flow.bracket(x, v), x, strict=True))
            own, factor = f"[X{labels[m]}, {name}]", flow.change(lifted, 0, 0) / flow.K[0][0]
            yield from _scaled(flow, own, lifted, factor)
            left = flow.slope(x, omega) - flow.slope(v, H[m]) + omega * H[m]
            yield Equation(f"d eta(X{labels[m]}, {name}) = 0", left, factor)
            if is_new(lifted):
                spanning.append((own, lifted, factor))


def _scaled(flow: Flow[S], name: str, v: tuple[S, ...], omega: S) -> Iterator[Equation[S]]:
    """Yield V K = omega(V) K, entry by entry, but for the first, by which omega is defined."""
    for a, b in [*combinations_with_replacement(range(len(flow.X)), 2)][1:]:
        of = flow.labels[a], flow.labels[b]
        statement = f"{name} K{pair(*of)} = omega({name}) K{pair(*of)}"
        yield Equation(statement, flow.change(v, a, b), omega * flow.K[a][b], of=of)


def independent_point(
    p: Parameterization, fields: Sequence[Field]
) -> tuple[tuple[str, Fraction], ...] | None:
    """Return numbers for the names of F at which the fields are proved independent, or None."""
    names = _free((*p.weights, *p.parameters))
    for numbers in small_points(len(names)):
        images = dict(zip(names, numbers, strict=True))
        try:
            values = values_of(p.field, {**images, **known(p)})
            if are_independent([[evaluate_any(x, values) for x in field] for field in fields]):
                return tuple(images.items())
        except (ZeroDivisionError, Unbounded):
            continue
    return None


def _free(names: Iterable[str]) -> list[str]:
    return [name for name in names if name != PI]


def known(p: Parameterization) -> dict[str, Value]:
    """Return the names of F that are numbers, with these: pi, if F has it."""
    with precise():
        return {PI: arb.pi()} if PI in (*p.parameters, *p.start_symbols) else {}


def small_points(size: int) -> Iterator[tuple[Fraction, ...]]:
    """Yield numbers for weights, small positive integers first."""
    patterns = dict.fromkeys(
        tuple(1 + (k * stride + shift) % spread for k in range(size))
        for spread in (1, 2, 3, 5, 7, 11, 31, 101)
        for stride in range(1, min(spread, 6) + 1)
        for shift in range(min(spread, 4))
    )
    for pattern in patterns:
        yield tuple(map(Fraction, pattern))


def are_independent(rows: Sequence[Sequence[Value]]) -> bool:
    """Tell whether rows R of numbers and balls are proved independent, by det(R R^T) > 0."""
    with precise():
        R = arb_mat([[ball(x) for x in row] for row in rows])
        return bool((R * R.transpose()).det() > 0)


DEPTH = 4
"""Iterated derivatives tried before the answer is left open."""

MAXIMAL_TERMS = 5000
"""Size of these derivatives at which the answer is left open."""

ORDER = 24
"""Order of the Taylor series along the flow in which a function is looked for."""


def find_failure(
    p: Parameterization,
    equation: Equation[RationalFunction],
    positive: Sequence[RationalFunction] = (),
) -> Identity | None:
    """Return the proof that left = right fails on the leaf of the start, or None.

    It is a start where left - right, times its denominator, or an iterated derivative along the
    flow is not 0, and functions are *positive*. None means "equal as far as was looked", never
    "equal".
    """
    claim, left, right, kind, of = equation
    found = differ_at_start(p, (left, right), positive)
    if found is not None:
        return Identity(
            claim, to_shorter_text(left), to_shorter_text(right), *found, kind=kind, of=of
        )
    common = left.denominator * right.denominator / left.denominator.gcd(right.denominator)
    factor = left.field.polynomial(common)
    left, right = left * factor, right * factor
    times = "" if factor == 1 else quoted(repr(factor), p)
    candidates: list[tuple[tuple[str, ...], RationalFunction]] = [((), left - right)]
    for _ in range(DEPTH + 1):
        for path, candidate in candidates:
            found = differ_at_start(p, (candidate, p.field.zero), positive)
            if found is not None:
                return Identity(
                    claim, to_shorter_text(left), to_shorter_text(right), *found, path, times
                )
        if sum(len(c.numerator.monoms()) for _, c in candidates) > MAXIMAL_TERMS:
            return None
        candidates = [
            ((*path, f"grad F{j}"), dot(row, p.field.gradient(candidate)))
            for path, candidate in candidates
            for j, row in zip(p.labels, p.fields, strict=True)
        ]
    return None


def is_zero_along_flow(p: Parameterization, function: RationalFunction) -> bool:
    """Tell whether a polynomial vanishes to order 24 along a flow; False proves it not zero."""
    rng = Random(9)
    steering = [1 + 2 * j for j in range(p.d)]
    components = [
        sum((c * row[k] for c, row in zip(steering, p.flow, strict=True)), p.field.zero)
        for k in range(len(p.field.names))
    ]
    images = [Evaluator(p.at_start(x)) for x in p.field.gens]
    for _ in range(3):
        try:
            symbols = random_point(p.start_field, rng)
            start = [image(symbols) for image in images]
            if any(series_along(components, function, start, ORDER)):
                return False
        except Pole:
            continue
    return True


def differ_at_start(
    p: Parameterization,
    sides: tuple[RationalFunction, RationalFunction],
    positive: Sequence[RationalFunction] = (),
) -> tuple[tuple[tuple[str, Number], ...], Number] | None:
    """Return a start where the sides differ, and by how much; with J of full rank if possible.

    That is looked at first: the difference may have a hundred thousand terms. There functions are
    *positive*.
    """
    try:
        difference = p.at_start(sides[0]) - p.at_start(sides[1])
        given = [p.at_start(f) for f in positive]
        if difference.is_zero():
            return None
    except ZeroDivisionError:
        return None
    for sample in _free_first(p):
        try:
            value = sample.of(difference)
            allowed = all(bool(sample.of(f) > 0) for f in given)
        except (ZeroDivisionError, Unbounded):
            continue
        if allowed and is_nonzero(value):
            return sample.point(p), shown(value)
    return None


def _free_first(p: Parameterization) -> Iterator[Sample]:
    """Yield starts, those last from which the outputs do not move independently."""
    bound = []
    for sample in samples(p):
        if is_free(p, sample):
            yield sample
        else:
            bound.append(sample)
    yield from bound


@dataclass(frozen=True)
class Sample:
    """A start in numbers for all variables of its field: exact where rational, else balls."""

    field: FunctionField
    values: tuple[Value, ...]

    def of(self, function: RationalFunction) -> Value:
        """Return the value of a function of the start, exact or as a ball."""
        return evaluate_any(function, self.values)

    def point(self, p: Parameterization) -> tuple[tuple[str, Number], ...]:
        """Return the weights and the parameters at this start."""
        weights = [(w, shown(self.of(x))) for w, x in zip(p.weights, p.w0, strict=True)]
        constants = [(name, shown(self.of(self.field.named(name)))) for name in _free(p.parameters)]
        return (*weights, *constants)


def samples(p: Parameterization) -> Iterator[Sample]:
    """Yield starts of the family in small rational symbols, positive integers first."""
    field = p.start_field
    names = _free((*p.start_symbols, *p.parameters))
    for symbols in small_points(len(names)):
        try:
            values = values_of(field, {**dict(zip(names, symbols, strict=True)), **known(p)})
        except (ZeroDivisionError, Unbounded):
            continue
        yield Sample(field, values)


def is_free(p: Parameterization, start: Sample) -> bool:
    """Tell whether J is proved to have full rank at a start in numbers."""
    try:
        return are_independent([list(map(start.of, row)) for row in p.start_covectors])
    except (ZeroDivisionError, Unbounded):
        return False


class NotProved(Exception):
    """A necessary equation fails, or is not decided: no need to look at others."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.reason)
        self.finding = finding


UNDECIDED = "{} fails for general starts, but not visibly on the leaf of this one"


def require_equations(
    p: Parameterization,
    equations: Iterable[Equation[RationalFunction]],
    refuted: str,
    undecided: str = UNDECIDED,
) -> tuple[Identity, ...]:
    """Return the identities, all of which hold for all weights.

    Raises:
        NotProved: REFUTED, with a point of the leaf where one fails; UNDECIDED without one.
    """
    found = require(p, equations, refuted, undecided)
    return tuple(Identity(e.statement, repr(e.left), repr(e.right)) for e in found)


def require(
    p: Parameterization,
    equations: Iterable[Equation[RationalFunction]],
    refuted: str,
    undecided: str = UNDECIDED,
) -> list[Equation[RationalFunction]]:
    """Return the equations as they are where they hold; see :func:`require_equations`."""
    found: list[Equation[RationalFunction]] = []
    open_ = None
    for equation in equations:
        if equation.left == equation.right:
            found.append(equation)
            continue
        failure = find_failure(p, equation)
        if failure is not None:
            raise NotProved(Finding(Verdict.REFUTED, refuted, (failure,)))
        open_ = open_ or equation.statement
    if open_ is not None:
        raise NotProved(Finding(Verdict.UNDECIDED, undecided.format(open_)))
    return found
