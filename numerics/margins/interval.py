"""Largest margins in norms without exact predictors, between two bounds proved in balls.

For all w with X w >= 1 and y >= 0, not all 0,

    sum y/|X^T y|_* <= min |w| <= |w|:

whatever doubles find, the bounds are those of the numbers that they found, y < 0 taken for 0.

Of many rows few decide, and these are looked for. In l_p the dual min |X^T y|_q^2/2 - sum y over
y >= 0 is smooth; w = grad(|.|_q^2/2)(X^T y) there.

Largest margins in the nuclear norm and in |DFT beta|_1, between two bounds proved in balls.

Both norms are sums of the singular values of blocks that are linear in beta: one matrix, or the
numbers of its discrete Fourier transform. The dual norm is the largest singular value.

Programs of positive matrices, followed along their central path:

    max <b, y>    s.t. S = 1 - sum_i y_i F_i >= 0,          y_i >= 0 for bounded i,
    min trace P   s.t. <F_i, P> - t_i = b_i, P >= 0, t >= 0, t_i = 0 for the others,

are <P, S> + <t, y> apart, and P S = mu, t y = mu on the path. Of blocks F = -[[0, X], [X*, 0]] the
trace is the sum of the singular values of B = -2 P_12, and <F, P> = <X, B>.

Source: Mehrotra 1992, "On the implementation of a primal-dual interior point method".
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context
from fractions import Fraction
from typing import ClassVar, Self, TypeAlias

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpz_mat
from scipy.optimize import minimize

from derive.errors import InputError
from derive.exact.balls import ball, fraction, identity, precise
from derive.optimizers.least_norm import Norm
from derive.printable import Held
from numerics.evaluate.numbers import Array
from numerics.margins.linear_program import product
from numerics.margins.predictor import MaxMargin, some

Near: TypeAlias = Callable[[Array], tuple[Array, Array] | None]
"""From X to w of nearly the largest margin, and y; None if not found."""
WORKING = 400
"""Rows at a time."""
ROUNDS = 60


def largest(rows: Sequence[Sequence[int]]) -> int:
    """Return the largest number in absolute value, at least 1."""
    return max(1, *(abs(x) for row in rows for x in row))


def on_worst_rows(near: Near, rows: Sequence[Sequence[int]]) -> tuple[Array, Array] | None:
    """Return w and y of X over its largest number, from rows that grow by the worst ones."""
    unit = largest(rows)
    X = np.array([[x / unit for x in row] for row in rows])
    working = np.sort(np.argsort(X @ X.mean(axis=0), kind="stable")[:WORKING])
    for _ in range(ROUNDS):
        found = near(X[working])
        if found is None:
            return None
        w, y = found[0], np.zeros(len(X))
        y[working] = found[1]
        margins = X @ w
        least = float(margins[working].min())
        worse = np.flatnonzero(margins < least - 1e-9 * max(least, 1e-6))
        if least <= 0 or not len(worse):
            break
        kept = working if len(working) < 2 * WORKING else positive(y)
        added = worse[np.argsort(margins[worse], kind="stable")[:WORKING]]
        working = np.union1d(kept, added)
    return w, y


def positive(y: Array) -> Array:
    """Return the places of multipliers that are not 0 but for rounding."""
    return np.flatnonzero(y > np.max(y, initial=0) * 1e-12)


@dataclass(frozen=True)
class Bounded:
    """A norm in doubles and in balls.

    Attributes:
        near: what finds w and y.
        bounds: upper bounds of the norm and of the dual norm, in balls.
    """

    near: Near
    bounds: Callable[[Sequence[Fraction]], tuple[arb, arb]]


@dataclass(frozen=True, repr=False)
class MarginInterval(MaxMargin):
    """A predictor of nearly the largest margin, and proved bounds of the least norm.

    Attributes:
        norm: l4/3 and so on, nuclear, or dft: sum_k |sum_j w_j exp(-2 pi i j k/d)|.
        lower, upper: lower <= min |w| <= |value| <= upper.
    """

    lower: Fraction = Fraction(0)
    upper: Fraction = Fraction(0)
    exact: ClassVar[bool] = False
    __repr__ = Held.__repr__

    def _shown(self) -> list[tuple[str, object]]:
        return [(x, getattr(self, x)) for x in ("norm", "value", "multiplier", "lower", "upper")]

    def times(self, s: Fraction) -> Self:
        """Return the solution for rows of which s times are those of this one."""
        return replace(super().times(s), lower=s * self.lower, upper=s * self.upper)

    @property
    def margin(self) -> tuple[Fraction, Fraction]:
        """Bounds of the largest margin, 1/min |w|."""
        return 1 / self.upper, 1 / self.lower

    def to_text(self) -> str:
        """Return it as text."""
        lines = [f"On these data: largest {self.norm} margin, between two bounds proved in balls"]
        lines += [f"  {_between(*self.margin)} (margin)"]
        lines += [f"  {_between(self.lower, self.upper)} (min |beta|, all margins at least 1)"]
        return "\n".join([*lines, f"  beta near ({some([_rounded(x, 9) for x in self.value])})"])

    def to_json(self) -> str:
        """Return its record."""
        low, high = _decimals(self.lower, self.upper)
        values = {"value": self.value, "multiplier": self.multiplier}
        record = {
            "separable": True,
            "norm": self.norm,
            "classes": list(self.classes),
            "least": [low, high],
            **{name: [_rounded(x, 17) for x in numbers] for name, numbers in values.items()},
        }
        return json.dumps(record, indent=2)


def _between(low: Fraction, high: Fraction) -> str:
    return "[{}, {}]".format(*_decimals(low, high))


def _decimals(low: Fraction, high: Fraction) -> tuple[str, str]:
    """Return decimals, rounded so that what is between the numbers is between them."""
    return _rounded(low, 14, ROUND_FLOOR), _rounded(high, 14, ROUND_CEILING)


def _rounded(x: Fraction, digits: int, rounding: str = ROUND_HALF_EVEN) -> str:
    return str(Context(prec=digits, rounding=rounding).divide(*x.as_integer_ratio()))


def interval(name: str, norm: Bounded, rows: Sequence[Sequence[int]]) -> MarginInterval | None:
    """Return what was found for a norm; None where no w of positive margin was."""
    unit, some = largest(rows), any(map(any, rows))
    found = on_worst_rows(norm.near, rows) if some else None
    if found is None:
        return None
    w, y = ([Fraction(float(x)) for x in numbers] for numbers in found)
    X, y = fmpz_mat([list(row) for row in rows]), [max(x, Fraction(0)) for x in y]
    margins, q = product(X, w)
    least = Fraction(min(margins), q * unit)
    if least <= 0 or not any(y):
        return None
    w = [x / least for x in w]
    pulled, q = product(X.transpose(), y)
    with precise(128):  # of X over its largest number: balls may be found by way of doubles
        upper, _ = norm.bounds(w)
        _, dual = norm.bounds([Fraction(x, q * unit) for x in pulled])
        lower = ball(sum(y, Fraction(0))) / dual
        ends = fraction(lower.lower()) / unit, fraction(upper.upper()) / unit
    value, multiplier = (tuple(x / unit for x in numbers) for numbers in (w, y))
    return MarginInterval(name, value, multiplier, lower=ends[0], upper=ends[1])


def power_norm(norm: Norm) -> Bounded:
    """Return l_p in doubles, by the dual, and in balls."""
    q = float(norm.dual.p or 1)

    def near(A: Array) -> tuple[Array, Array] | None:
        def objective(y: Array) -> tuple[float, Array]:
            g = A.T @ y
            return float(np.linalg.norm(g, q) ** 2 / 2 - y.sum()), A @ dual_slope(g, norm) - 1

        options = {"ftol": 1e-16, "gtol": 1e-13, "maxiter": 10_000, "maxfun": 10**5}
        start, limits = np.full(len(A), 1 / len(A)), [(0, None)] * len(A)
        y = minimize(objective, start, jac=True, bounds=limits, options=options).x
        return dual_slope(A.T @ y, norm), y

    def bounds(w: Sequence[Fraction]) -> tuple[arb, arb]:
        x = list(map(ball, w))
        return norm.value(x), norm.dual.value(x)

    return Bounded(near, bounds)


def dual_slope(g: Array, norm: Norm) -> Array:
    """Return grad(|.|_*^2/2)(g), minus the step of steepest descent; of ties the first."""
    if norm.dual.p is None:
        return np.asarray(np.where(np.arange(len(g)) == np.argmax(np.abs(g)), g, 0.0))
    q = float(norm.dual.p)
    size = np.linalg.norm(g, q) or 1.0
    return np.asarray(np.sign(g) * (np.abs(g) / size) ** (q - 1) * size)


System: TypeAlias = Callable[[list[arb]], tuple[arb_mat, arb_mat]]
"""From n numbers or balls to the values of n functions, a column, and their derivatives."""

BITS = 256
RADIUS = 120
"""Bits of zeros that are enclosed."""
NEWTON = 12


def enclose(system: System, near: Sequence[float]) -> list[arb] | None:
    """Return balls that contain exactly one zero of a system, or None where that is not proved."""
    with precise(BITS):
        x = solve_near(system, [arb(float(v)) for v in near])
        if x is None:
            return None
        return contracted(system, x, [(1 + abs(a)).upper() / arb(2) ** RADIUS for a in x])


def solve_near(system: System, x: Sequence[arb]) -> list[arb] | None:
    """Return what Newton's method finds from some numbers, with nothing proved."""
    found = list(x)
    try:
        for _ in range(NEWTON):
            values, slopes = system(found)
            steps = slopes.mid().solve(values.mid()).mid().entries()
            found = [(a - b).mid() for a, b in zip(found, steps, strict=True)]
            scale = max(abs(a) for a in found)
            if max(abs(b) for b in steps) <= scale * arb(2) ** (-ctx.prec * 3 // 4):
                break
    except ZeroDivisionError:
        return None
    return found if all(a.is_finite() for a in found) else None


def contracted(system: System, x: Sequence[arb], radii: Sequence[arb]) -> list[arb] | None:
    """Return a box about x with exactly one zero for each value of what balls the system has.

    x - Y f(x) + (1 - Y Df(Z)) (Z - x) lies in the interior of the box Z about x, Y near Df(x)^-1.
    """
    middle = list(x)
    values, slopes = system(middle)
    try:
        Y = slopes.mid().inv().mid()
    except ZeroDivisionError:
        return None
    offsets = arb_mat([[arb(0, r)] for r in radii])
    _, around = system([a + z for a, z in zip(middle, offsets.entries(), strict=True)])
    image = (arb_mat(identity(len(x))) - Y * around) * offsets - Y * values
    if not all(abs(z) < r for z, r in zip(image.entries(), radii, strict=True)):
        return None
    return [a + z for a, z in zip(middle, image.entries(), strict=True)]


STEPS = 40
AHEAD = 0.95
"""The part of the way to where a matrix is no longer positive that a step goes."""


@dataclass(frozen=True)
class Point:
    """P, S, t and y, or a step of them; t and y of the bounded rows are positive."""

    P: Array
    S: Array
    t: Array
    y: Array


@dataclass(frozen=True)
class PositiveProgram:
    """F_i = sum_j C_ij E_j.

    Attributes:
        C: (m, k).
        E: (k, K, n, n), K blocks that are Hermitian.
        b: (m,).
        bounded: the rows with y_i >= 0.
    """

    C: Array
    E: Array
    b: Array
    bounded: Array

    def path(self) -> Iterator[Point]:
        """Yield points ever nearer to the optimum, as far as doubles lead."""
        sizes = np.abs(self.C) @ np.linalg.norm(self.E, 2, axis=(2, 3)).max(axis=1)
        y = np.zeros(len(sizes))
        y[self.bounded] = 0.5 / sizes.sum()
        one = np.broadcast_to(np.eye(self.E.shape[2]), self.E.shape[1:])
        P, S = max(1.0, y.sum()) / 2 * one, one + self._slack(y)
        at = Point(P, S, np.ones(len(self.bounded)), y)
        for _ in range(STEPS):
            yield at
            try:
                with np.errstate(all="ignore"):
                    at = self._moved(at, self._step(at))
            except np.linalg.LinAlgError:
                return
            if not np.isfinite(self.gap(at)):
                return

    def gap(self, at: Point) -> float:
        """Return what is between both programs where their constraints hold."""
        return float(np.real(np.vdot(at.P, at.S)) + at.t @ at.y[self.bounded])

    def paired(self, P: Array) -> Array:
        """Return <F_i, P>."""
        return np.asarray(self.C @ np.real(self.E.reshape(len(self.E), -1).conj() @ P.ravel()))

    def _slack(self, y: Array) -> Array:
        """Return S - 1."""
        return np.asarray(-np.tensordot(self.C.T @ y, self.E, axes=1))

    def _step(self, at: Point) -> Point:
        """Return a step: what mu = 0 leaves of second order, and how far it goes, decide it."""
        V, y, k = hermitian(np.linalg.inv(at.S)), at.y[self.bounded], self.bounded
        mu = self.gap(at) / (at.S[..., 0].size + len(y))
        rows = self.E.reshape(len(self.E), -1)
        bend = np.real(rows.conj() @ (at.P @ self.E @ V).reshape(rows.shape).T)
        H = self.C @ bend @ self.C.T
        H[k, k] += at.t / y

        def toward(P: Array, t: Array) -> Point:
            """Return the step to P and t but for the part that is linear in that of S and y."""
            rest = self.b - self.paired(P)
            rest[k] += t
            move = np.linalg.solve(H, rest)
            S = self._slack(move)
            return Point(P - at.P - hermitian(at.P @ S @ V), S, t - at.t - at.t / y * move[k], move)

        first = toward(0 * V, 0 * at.t)
        left = np.clip(self.gap(self._moved(at, first)) / self.gap(at), 0.1, 1)
        aim = left**3 * mu
        return toward(aim * V - hermitian(first.P @ first.S @ V), (aim - first.y[k] * first.t) / y)

    def _moved(self, at: Point, by: Point) -> Point:
        """Return what lies ahead, nearly as far as all stays positive."""
        y, step = at.y[self.bounded], by.y[self.bounded]
        h = min(_reach(at.P, by.P), _reach(at.t[:, None, None], by.t[:, None, None]))
        k = min(_reach(at.S, by.S), _reach(y[:, None, None], step[:, None, None]))
        P, S = hermitian(at.P + h * by.P), at.S + k * by.S
        return Point(P, S, at.t + h * by.t, at.y + k * by.y)


def corners(X: Array) -> Array:
    """Return the blocks -[[0, X], [X*, 0]]."""
    *shape, a, b = X.shape
    found = np.zeros((*shape, a + b, a + b), X.dtype)
    found[..., :a, a:], found[..., a:, :a] = -X, -np.swapaxes(X.conj(), -1, -2)
    return found


def hermitian(A: Array) -> Array:
    """Return (A + A*)/2."""
    return np.asarray((A + np.swapaxes(A.conj(), -1, -2)) / 2)


def _reach(A: Array, step: Array) -> float:
    """Return how far A + h step stays positive, nearly, and at most 1."""
    L = np.linalg.inv(np.linalg.cholesky(A))
    turned = hermitian(L @ step @ np.swapaxes(L.conj(), -1, -2))
    least = float(np.min(np.linalg.eigvalsh(turned), initial=0))
    return 1.0 if least > -AHEAD else -AHEAD / least


CLOSE = 1e-11
"""What is between the bounds at the end, relative."""


def nuclear(shape: tuple[int, int], d: int) -> Bounded:
    """Return the nuclear norm of matrices of a shape, row by row."""
    if len(shape) != 2 or not all(isinstance(k, int) for k in shape):
        raise InputError(f"shape must be two whole numbers, not {shape!r}")
    n, m = shape
    if n * m != d or min(n, m) < 1:
        raise InputError(f"rows of {d} numbers are no {n} x {m} matrices")
    return Bounded(
        _central(lambda X: X.reshape(-1, 1, n, m), lambda B: B.reshape(-1)),
        lambda w: _singular([w[i * m : (i + 1) * m] for i in range(n)]),
    )


def dft(d: int) -> Bounded:
    """Return |DFT beta|_1; of real beta the frequencies k and d - k have one block."""
    both = np.array([2 - (2 * k % d == 0) for k in range(d // 2 + 1)])
    blocks = _central(
        lambda X: (np.fft.rfft(X, axis=1) / d)[:, :, None, None],
        lambda B: np.fft.irfft(B[:, 0, 0] / both, d),
    )
    return Bounded(blocks, _frequencies)


def _central(blocks: Callable[[Array], Array], joined: Callable[[Array], Array]) -> Near:
    """Return what finds w and lambda by the central path.

    Args:
        blocks: from an array (m, d) to one (m, K, a, b), with the pairing Re sum conj(A) B.
        joined: from blocks B to beta, whose pairing with rows is that of blocks.
    """

    def near(X: Array) -> tuple[Array, Array] | None:
        """Return the best of both on the way."""
        m, d = X.shape
        C, parts = (X, blocks(np.eye(d))) if d < m else (np.eye(m), blocks(X))
        program, a = PositiveProgram(C, corners(parts), np.ones(m), np.arange(m)), parts.shape[2]
        best, multiplier, least, most = None, None, np.inf, 0.0
        for at in program.path():
            B = -2 * at.P[:, :a, a:]
            norm, margin = (
                np.linalg.svd(B, compute_uv=False).sum(),
                float(program.paired(at.P).min()),
            )
            if margin > 0 and norm < least * margin:
                best, least = B, norm / margin
            if at.y.sum() > most:
                multiplier, most = at.y, at.y.sum()
            if program.gap(at) <= CLOSE * most:
                break
        return None if best is None or multiplier is None else (joined(best), multiplier)

    return near


def _singular(rows: Sequence[Sequence[Fraction]]) -> tuple[arb, arb]:
    """Bound the sum and the largest of the singular values of A = U S V + E, E small.

    |A|_* <= |U| |V| sum S + sqrt(n) |E| and likewise without the sum: U and V need not be exact.
    """
    U, s, V = np.linalg.svd(
        np.array([[float(x) for x in row] for row in rows]), full_matrices=False
    )
    A = arb_mat([[ball(x) for x in row] for row in rows])
    E = A - _balls(U * s) * _balls(V)
    size = _operator(_balls(U).transpose()) * _operator(_balls(V))
    rest = sum((x * x for x in E.entries()), arb(0)).upper().sqrt()
    total = sum((arb(float(x)) for x in s), arb(0))
    return size * total + arb(len(s)).sqrt() * rest, size * arb(float(s[0])) + rest


def _operator(A: arb_mat) -> arb:
    """Bound the operator norm by the row sums of A A^T."""
    sums = (sum((abs(x) for x in row), arb(0)) for row in (A * A.transpose()).tolist())
    return functools.reduce(arb.max, sums).sqrt()


def _frequencies(w: Sequence[Fraction]) -> tuple[arb, arb]:
    """Return sum_k |DFT w|_k and the dual norm, max_k |DFT w|_k/d."""
    d = len(w)
    values = [ball(x) for x in w]
    turns = [arb.sin_cos_pi_fmpq(fmpq(2 * j, d)) for j in range(d)]
    sizes = []
    for k in range(d):
        parts = ((x * turns[j * k % d][0], x * turns[j * k % d][1]) for j, x in enumerate(values))
        sine, cosine = (sum(part, arb(0)) for part in zip(*parts, strict=True))
        sizes.append((sine * sine + cosine * cosine).upper().sqrt())
    return sum(sizes, arb(0)), functools.reduce(arb.max, sizes) / d


def _balls(A: Array) -> arb_mat:
    return arb_mat([[arb(float(x)) for x in row] for row in A])
