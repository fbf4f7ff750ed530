"""A small picture of a derived Q at plain start values, as SVG: Q and grad Q, or level sets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from scipy.integrate import solve_ivp

from derive.errors import DeriveError
from derive.language import to_sympy
from derive.model.notation import to_expr
from derive.records import Potential
from numerics.evaluate.backend import Array
from numerics.evaluate.blocks import Blocks
from numerics.evaluate.integrated_block import IntegratedBlock, LeafOde
from numerics.evaluate.lowering import numeric
from numerics.evaluate.potential import AnyPotential
from numerics.figures.svg import curve_panel, level_panel

STARTS = (
    (Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(3, 4)),
    (Fraction(1),),
    (Fraction(1), Fraction(2), Fraction(3)),
    (Fraction(1, 2), Fraction(1), Fraction(-1)),
)
"""What start symbols are, in turn; the first of these that Q allows."""
CONSTANT = Fraction(3)
"""What a parameter is first tried to be, such as a depth."""
WIDTH = 2.5
"""How far from beta_0 is drawn, in units of 1 or of the largest |beta_0|."""
CAPTIONS = {
    1: "Q and its derivative",
    2: "Level sets of Q",
    3: "Level sets of Q in the first two coordinates, the others as at the start",
}
CURVE, GRID, LEVELS = 161, 49, 8


@dataclass(frozen=True, slots=True)
class Portrait:
    """Pictures as SVG, what they show, and the numbers of the symbols there."""

    pictures: tuple[str, ...]
    caption: str
    start: tuple[tuple[str, Fraction], ...]


def portrait(potential: Potential) -> Portrait | None:
    """Return pictures of Q at the first plain start that Q allows; None where there is none."""
    for start in _starts(potential):
        try:
            q = numeric(potential, start).in_doubles
            pictures = _of(q)
        except DeriveError:
            continue
        if pictures:
            shown = ((k, v) for k, v in start.items() if isinstance(v, Fraction))
            return Portrait(pictures, CAPTIONS[min(q.d, 3)], tuple(shown))
    return None


def _starts(potential: Potential) -> Iterator[dict[str, Any]]:
    p = potential.parameterization
    vectors = {f"{vector.name}_0": (1, 0) for vector in p.vectors}
    lengths = {f"{vector.norm}_0" for vector in p.vectors}
    names = [n for n in p.start_symbols if n not in lengths.union(p.parameters)]
    for values in STARTS:
        for constant in (CONSTANT, Fraction(1, 2)):
            start: dict[str, Any] = {n: values[i % len(values)] for i, n in enumerate(names)}
            yield start | dict.fromkeys(p.parameters, constant) | vectors
            if not p.parameters:
                break


def _of(q: AnyPotential) -> tuple[str, ...]:
    if isinstance(q.functions, Blocks):
        blocks = [block for _, block in q.functions.parts if isinstance(block, IntegratedBlock)]
        if blocks:
            return _curves(*along_leaf(blocks[0].ode)) if q.d == 1 else ()
    return _one(q) if q.d == 1 else _two(q)


def _reach(beta0: Sequence[float] | Array) -> float:
    return WIDTH * max(1.0, float(np.max(np.abs(beta0))))


def _one(q: AnyPotential) -> tuple[str, ...]:
    (origin,), reach = q.beta0, _reach(q.beta0)
    beta = np.linspace(origin - reach, origin + reach, CURVE)
    value = np.asarray(q.bregman(beta[:, None], np.array([origin])))
    return _curves(beta, value, np.asarray(q.gradient(beta[:, None]))[:, 0])


def along_leaf(ode: LeafOde) -> tuple[Array, Array, Array]:
    """Return beta, Q and Q' of one output: dw/dbeta = G^-1 grad F/K, d2Q/dbeta2 = 1/K."""
    p, (origin,) = ode.parameterization, map(float, ode.beta0)
    symbols = {w: sympy.Symbol(w, real=True) for w in p.weights}
    slopes = [sympy.diff(to_sympy(p.trees[0], symbols), w) for w in symbols.values()]
    moves = p.geometry.raised(slopes, lambda r: to_expr(r, symbols))
    field = sympy.lambdify([[*symbols.values()]], [sympy.Matrix(slopes).dot(moves), *moves], "math")

    def right(beta: float, state: Array) -> list[float]:
        try:
            K, *steps = field(state[:-2].tolist())
            return [*(x / K for x in steps), 1 / K, state[-2]]
        except (ArithmeticError, ValueError):
            return [math.nan] * len(state)

    begin, halves = [*map(float, ode.weights), 0.0, 0.0], []
    for side in (-1, 1):
        beta = np.linspace(origin, origin + side * _reach([origin]), CURVE // 2)
        found = solve_ivp(right, (beta[0], beta[-1]), begin, t_eval=beta, rtol=1e-7).y[-2:]
        missing = np.full((2, len(beta) - found.shape[1]), np.nan)
        halves.append(np.vstack([beta, np.hstack([found, missing])])[:, ::side])
    beta, slope, value = np.hstack(halves)
    return beta, value, slope


def _curves(beta: Array, value: Array, slope: Array) -> tuple[str, ...]:
    panels = (("Q", value), ("Q\u2032", slope))
    inside = np.isfinite(value)
    if inside.sum() < CURVE // 8:
        return ()
    origin = float(beta[np.nanargmin(value)])
    window = float(beta[inside].min()), float(beta[inside].max())
    return tuple(curve_panel(name, beta, y, origin, window) for name, y in panels)


def _two(q: AnyPotential) -> tuple[str, ...]:
    """Draw level sets in the first two outputs; others are as at the start."""
    origin, reach = np.array(q.beta0, dtype=float), _reach(q.beta0)
    x, y = (np.linspace(b - reach, b + reach, GRID) for b in origin[:2])
    points = np.broadcast_to(origin, (GRID, GRID, q.d)).copy()
    points[..., 0], points[..., 1] = np.meshgrid(x, y)
    value = np.asarray(q.bregman(points, origin))
    if np.isfinite(value).sum() < GRID**2 // 16:
        return ()
    heights = np.linspace(0, 1, LEVELS + 1)[1:] ** 2 * np.nanpercentile(value, 95)
    contours = [segments(x, y, value, height) for height in heights]
    return (level_panel(x, y, contours, (origin[0], origin[1])),)


def segments(x: Array, y: Array, value: Array, height: float) -> Array:
    """Return where a function on a grid has a value: segments (n, 2, 2), on triangles.

    >>> line = np.array([0.0, 1.0])
    >>> segments(line, line, np.array([[0.0, 0.0], [1.0, 1.0]]), 0.5)[:, :, 1].tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    corners = np.stack([*np.meshgrid(x, y), value - height], axis=-1)
    a, b, c, d = corners[:-1, :-1], corners[:-1, 1:], corners[1:, :-1], corners[1:, 1:]
    triangles = np.concatenate(
        [np.stack(three, axis=2).reshape(-1, 3, 3) for three in ((a, b, c), (d, c, b))]
    )
    triangles = triangles[np.isfinite(triangles).all(axis=(1, 2))]
    above = triangles[:, :, 2] > 0
    cut = triangles[(above.any(axis=1)) & (~above).any(axis=1)]
    above = cut[:, :, 2] > 0
    # The corner that is alone on its side, whose two edges are crossed.
    alone = np.where(above.sum(axis=1) == 1, above.argmax(axis=1), (~above).argmax(axis=1))
    at = np.arange(len(cut))
    tip, ends = cut[at, alone], [cut[at, (alone + k) % 3] for k in (1, 2)]
    return np.stack([_crossing(tip, end) for end in ends], axis=1)


def _crossing(a: Array, b: Array) -> Array:
    share = (a[:, 2] / (a[:, 2] - b[:, 2]))[:, None]
    found: Array = a[:, :2] + share * (b - a)[:, :2]
    return found
