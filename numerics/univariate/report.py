"""A limit function as text and for JSON, with what confirms it from outside.

The least sum |c_j| of ReLU nets sum_j c_j (w_j x - b_j)_+ + d that are a piecewise linear f.

    R(f) = max(int |f''|, |f'(-inf) + f'(inf)|),  w_j = 1 or -1, biases and offset free,

the cost of f under l2 regularization of all weights but biases. Both sides of a linear program
certify it: the units of a net of that cost, and a linear functional that is at most 1 in absolute
value on every unit, (x - b)_+ or (-x - b)_+, and R(f) on f: the sum of jumps of f', each with its
sign, or f'(-inf) + f'(inf) (Savarese et al. 2019).
"""

from __future__ import annotations

import itertools
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np

from derive.errors import InputError
from numerics.evaluate.numbers import Array, read_vector
from numerics.margins.predictor import read_csv
from numerics.univariate.dual import Law
from numerics.univariate.limit_function import (
    LimitFunction,
    MirrorFlow,
    Piece,
    quantile_net,
    supremum_distance,
    train,
)


@dataclass(frozen=True)
class Unit:
    """c (w x - b)_+ with w = 1 or -1."""

    c: Fraction
    w: int
    b: Fraction

    def __call__(self, x: Fraction) -> Fraction:
        """Return its value."""
        return self.c * max(self.w * x - self.b, Fraction(0))


@dataclass(frozen=True)
class Cost:
    """R(f) with its certificate.

    Attributes:
        bending: int |f''|.
        slopes: f'(-inf) + f'(inf).
        units, offset: a net that is f.
        signs: the functional: one factor for each jump of f', none for the sum of the slopes.
    """

    bending: Fraction
    slopes: Fraction
    units: tuple[Unit, ...]
    offset: Fraction
    signs: tuple[int, ...]

    @property
    def value(self) -> Fraction:
        """R(f)."""
        return max(self.bending, abs(self.slopes))


def _read(
    x: Sequence[Fraction], y: Sequence[Fraction], ends: Sequence[Fraction] | None
) -> tuple[list[tuple[Fraction, Fraction]], list[Fraction]]:
    """Return the points in order, and the slopes before, between and after them."""
    places, values = read_vector(x, "x"), read_vector(y, "y")
    beyond = [] if ends is None else read_vector(ends, "ends")
    if len(places) != len(values):
        raise InputError(f"there are {len(places)} points x but {len(values)} values y")
    if len(beyond) not in (0, 2):
        raise InputError(f"ends must be two slopes, not {len(beyond)}")
    points = sorted(zip(places, values, strict=True))
    if len(points) < (1 if beyond else 2):
        raise InputError("a piecewise linear function needs two points")
    if any(a == b for (a, _), (b, _) in pairwise(points)):
        raise InputError("two points have the same x")
    inner = [(v - u) / (b - a) for (a, u), (b, v) in pairwise(points)]
    first, last = beyond or (inner[0], inner[-1])
    return points, [first, *inner, last]


def relu_cost(
    x: Sequence[Fraction], y: Sequence[Fraction], ends: tuple[Fraction, Fraction] | None = None
) -> Cost:
    """Return R of the f that is linear between points, with slopes *ends* beyond them.

    >>> relu_cost([Fraction(0), Fraction(1)], [Fraction(0), Fraction(1)]).value
    Fraction(2, 1)

    Args:
        x, y: the points, in any order, two or more; one where slopes are given.
        ends: f'(-inf) and f'(inf); those of the first and last interval if not given.

    Raises:
        InputError: too few points, two at the same x, not two *ends*, or what is no finite number.
    """
    points, slopes = _read(x, y, ends)
    jumps = [b - a for a, b in pairwise(slopes)]
    bending, total = sum(map(abs, jumps), Fraction(0)), slopes[0] + slopes[-1]
    units = []
    for j, ((t, _), v) in enumerate(zip(points, jumps, strict=True)):
        share = abs(v) / bending if bending else Fraction(int(j == 0))
        right, left = (v + total * share) / 2, (v - total * share) / 2
        units += [Unit(c, w, w * t) for c, w in ((right, 1), (left, -1)) if c]
    offset = points[0][1] - sum(unit(points[0][0]) for unit in units)
    signs = tuple((v > 0) - (v < 0) for v in jumps) if bending >= abs(total) else ()
    return Cost(bending, total, tuple(units), offset, signs)


WIDTH = 1600
_DIGITS, _LONG, _VALUES, _NODES = 20, 24, 9, 60


def read_points(text: str) -> tuple[list[Fraction], list[str]]:
    """Return x and y of a table with rows x,y; InputError for any other."""
    rows, y = read_csv(text)
    if len(rows[0]) != 1:
        raise InputError(f"--data: rows are x,y; the first has {len(rows[0]) + 1} entries")
    return [row[0] for row in rows], y


@dataclass(frozen=True)
class DataReport:
    """A limit on its data, with distances that were measured, by what they are of."""

    h: LimitFunction
    checks: Mapping[str, float]

    def to_text(self) -> str:
        """Return it as text."""
        values = [f"  {name}: {value:.1e}" for name, value in self.checks.items()]
        lines = [*_limit(self.h), *_cost(self.h), *(["", "Check", *values] if values else [])]
        wrap = partial(textwrap.fill, width=80, subsequent_indent="    ", break_on_hyphens=False)
        return "\n".join(map(wrap, lines))

    def to_json(self) -> str:
        """Return its record: exact numbers as text, others to 20 digits."""
        h, cost = self.h, _cost_of(self.h)
        record = {
            "x": [str(x) for x in h.dual.x],
            "y": [str(y) for y in h.dual.y],
            "exact": h.exact,
            "digits": h.digits,
            "coefficients": [_number(c) for c in h.coefficients],
            "pieces": [
                {
                    "left": None if p.left is None else str(p.left),
                    "right": None if p.right is None else str(p.right),
                    "coefficients": [str(c) for c in p.coefficients],
                }
                for p in h.pieces
            ],
            "values": {str(t): _number(h(t)) for t in _places(h)},
            "functionals": {name: _number(value) for name, value in h.functionals.items()},
            "relu_cost": None if cost is None else str(cost.value),
            "checks": {name: f"{value:.3e}" for name, value in self.checks.items()},
        }
        return json.dumps(record, indent=2)


def checks(h: LimitFunction) -> dict[str, float]:
    """Return distances from a quadrature in doubles, and from a net with biases at quantiles."""
    gaps = [abs(_by_quadrature(h, float(t)) - float(h(t))) for t in _places(h)]
    found = {"largest |h - quadrature| at nine points": max(gaps)}
    problem = h.problem
    if problem.potential.strict:
        net = quantile_net(WIDTH, problem.density, problem.activation)
        x, y = ([float(v) for v in values] for values in (h.dual.x, h.dual.y))
        flow = MirrorFlow(Law(problem.potential), WIDTH if problem.scaled else 1, "a")
        end = train(net, x, y, flow).net
        found[f"sup |h - net of width {WIDTH}|, biases at quantiles"] = supremum_distance(h, end)
    return found


def _by_quadrature(h: LimitFunction, t: float) -> float:
    """Return E alpha sigma(w t - b) from lambda alone, by a double exponential rule."""
    dual, c = h.dual, np.array([float(v) for v in h.coefficients])
    x, e, o = np.array([float(v) for v in dual.x]), dual.activation.even, dual.activation.odd
    k = np.arange(-_NODES, _NODES + 1) * (3.2 / _NODES)
    unit = np.tanh(np.pi / 2 * np.sinh(k))
    rule = np.pi / 2 * np.cosh(k) / np.cosh(np.pi / 2 * np.sinh(k)) ** 2 * (3.2 / _NODES)

    def sigma(z: Array) -> Array:
        return float(e) * np.abs(z) + float(o) * z

    total, norm = 0.0, 0.0
    for piece, w in itertools.product(dual.density.pieces, (1.0, -1.0)):
        low, high = float(piece.left), float(piece.right)
        kinks = np.unique([low, high, *(z for z in (*(w * x), w * t) if low < z < high)])
        s = c @ sigma(w * x[:, None] - kinks)
        turns = s[1:] * s[:-1] < 0  # where alpha may have a branch point
        zeros = (kinks[:-1] - s[:-1] * np.diff(kinks) / np.where(turns, np.diff(s), 1))[turns]
        for a, b in pairwise(np.sort(np.r_[kinks, zeros])):
            at, weight = (a + b + (b - a) * unit) / 2, (b - a) / 2 * rule
            p = weight * piece.formula.on_arrays(at)
            alpha = dual.law.on_arrays(c @ sigma(w * x[:, None] - at))
            total, norm = total + float(p @ (alpha * sigma(w * t - at))), norm + float(p.sum())
    return total / norm


def _limit(h: LimitFunction) -> Iterator[str]:
    if h.exact:
        yield "Limit on these data, exact: a spline with rational coefficients"
        for p in h.pieces:
            domain = f"[{p.left}, {p.right}]" if p.right is not None else f"x > {p.left}"
            domain = domain if p.left is not None else f"x < {p.right}"
            yield f"  {domain}: {_polynomial(p)}"
    else:
        yield f"Limit on these data, lambda certified by balls to {h.digits} digits"
        known = dict(zip(h.dual.x, h.dual.y, strict=True))
        for t in _places(h):
            value = known[t] if t in known else h.ball(t).str(_DIGITS, radius=False)
            yield f"  h({t}) = {value}"
    yield f"  lambda = ({', '.join(map(_number, h.coefficients))})"
    yield from (f"  {name} = {_number(value)}" for name, value in h.functionals.items())


def _cost(h: LimitFunction) -> Iterator[str]:
    found = _cost_of(h)
    if found is not None:
        side = "int |f''|" if found.signs else "|f'(-inf) + f'(inf)|"
        yield ""
        yield "Explicit l2 regularization of ReLU nets, biases free"
        yield f"  R(f) = {_number(found.value)} = {side} for f linear between the data,"
        yield f"  certified by a net of {len(found.units)} units and a dual functional"


def _cost_of(h: LimitFunction) -> Cost | None:
    relu = h.problem.activation.name == "relu" and len(h.dual.x) > 1
    return relu_cost(h.dual.x, h.dual.y) if relu else None


def _places(h: LimitFunction) -> list[Fraction]:
    low, high = h.dual.density.support
    return [low + (high - low) * Fraction(k, _VALUES - 1) for k in range(_VALUES)]


def _polynomial(p: Piece) -> str:
    powers = ("", " x", *(f" x^{k}" for k in range(2, len(p.coefficients))))
    terms = [f"{_number(c)}{x}" for c, x in zip(p.coefficients, powers, strict=False) if c]
    return " + ".join(terms).replace("+ -", "- ") or "0"


def _number(x: Any) -> str:
    if isinstance(x, Fraction):
        return str(x) if len(str(x)) <= _LONG else f"{float(x):.15g}..."
    return str(mpmath.nstr(x, _DIGITS))
