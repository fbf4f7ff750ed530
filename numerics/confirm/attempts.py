"""Data that are drawn to break the conditions under which Q is Q, one attempt at each.

Where a function is assumed to keep its sign, the datum is the one along which the flow takes it
to 0 fastest, with a target behind that zero, if the flow gets there; where Q lives on one side of
a wall, the target is behind it. An attempt fails where the flow ends elsewhere than at what
:func:`interpolate` calls the interpolant.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.integrate

from derive.errors import DeriveError, InputError
from derive.model.parameterization import Parameterization
from derive.potential.piece import Piece
from derive.records import Potential
from numerics.evaluate.leaf import OfCoordinates
from numerics.evaluate.lowering import unchecked
from numerics.evaluate.numbers import Array, compiled, exact
from numerics.evaluate.potential import NumericPotential
from numerics.evaluate.start import broken_signs, kept_signs, start_point
from numerics.integrator.gradient_flow import flow
from numerics.interpolants.interpolant import Status, interpolate

_DIGITS, _CLOSE, _STEPS, _LONGEST = 10, 1e-6, 400, 200
_FAR = 3.0
"""Length of the way in the weights, relative to theirs, on which a sign is looked for."""
_LARGE, _LARGEST = 10.0, 1e3
"""Sizes of beta, relative to the start, up to which targets are drawn, and it is followed."""
_BEHIND = 0.25
"""Where the target is behind a wall, relative to beta_0 before it."""
_UNITS = 64
_OPEN = (Status.BOUNDARY, Status.STALLED, Status.ITERATION_LIMIT)
"""Refusals that claim nothing beyond what doubles show."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A datum that was to break a condition, and what became of it.

    Attributes:
        condition: what Q assumes, or the wall of its domain.
        row, target: the datum <row, beta> = target.
        outcome: what the flow and the interpolant did.
        sound: whether they agree, or the interpolant is refused.
    """

    condition: str
    row: tuple[Fraction, ...]
    target: Fraction
    outcome: str
    sound: bool

    def told(self) -> str:
        """Return the attempt in one line."""
        row = " ".join(map(str, self.row))
        return f"tried to break {self.condition}: X = {row}, y = {self.target}: {self.outcome}"


def attempts(potential: Potential, start: Mapping[str, Fraction]) -> tuple[Attempt, ...]:
    """Return one attempt at each condition of the flow and each wall, from a start.

    None where Q of several outputs is an integral: each of its gradients is a flow of its own, and
    an interpolant takes hundreds.
    """
    p = potential.parameterization
    if p.vectors:
        return ()
    q, weights = unchecked(potential, start), start_point(p, start)[0]
    begin = dict(zip(p.weights, weights, strict=True))
    found = []
    for outputs, piece in zip(p.blocks, potential.pieces, strict=True):
        if piece.kind == "quadrature" and len(outputs) > 1:
            continue
        for condition, row, target in _data(p, outputs, piece, begin, start):
            whole = [Fraction(0)] * p.d
            for i, x in zip(outputs, row, strict=True):
                whole[i] = x
            outcome, sound = _outcome(potential, q, begin, whole, target)
            if sound is None:  # no flow was followed: behind a wall there is no limit
                sound = not condition.endswith(" 0")
            found.append(Attempt(condition, tuple(whole), target, outcome, sound))
    return tuple(found)


def _data(
    p: Parameterization,
    outputs: tuple[int, ...],
    piece: Piece,
    begin: Mapping[str, Fraction],
    start: Mapping[str, Fraction],
) -> Iterator[tuple[str, list[Fraction], Fraction]]:
    """Yield conditions of a block, each with the datum that is to break it."""
    own = p if len(p.blocks) == 1 else p.restrict(outputs)
    leaf = OfCoordinates(own, [begin[w] for w in own.weights], [piece])
    for kept in kept_signs(piece):
        if {s.name for s in kept.free_symbols} <= {*own.weights}:
            yield f"that {kept} keeps its sign", *_against(leaf, compiled([kept], own.weights))
    at_start = dict(zip(piece.betas, leaf.outputs(leaf.start).tolist(), strict=True))
    for wall in () if piece.domain is None else piece.domain.walls:
        form = exact(wall.form, start)
        slopes = [exact(form.diff(b), {}) for b in piece.betas]
        before = float(form.subs(at_start))
        if before and all(x.is_Rational for x in slopes):
            row = [Fraction(int(x.p), int(x.q)) for x in slopes]
            level = sum(float(x) * b for x, b in zip(row, at_start.values(), strict=True))
            side = ">" if before > 0 else "<"
            yield f"{wall.form} {side} 0", row, _short(level - (1 + _BEHIND) * before)


def _short(x: float) -> Fraction:
    return Fraction(round(x * _UNITS), _UNITS)


def _against(
    leaf: OfCoordinates, functions: Callable[..., list[Array]]
) -> tuple[list[Fraction], Fraction]:
    """Return a datum on which f changes its sign; where none is found, that of steepest change."""

    def f(w: Array) -> float:
        return float(functions(*w)[0])

    w0, h = leaf.start, 1e-6
    units = np.eye(leaf.parameterization.d)
    slopes = np.array([f(w0 + h * leaf.motion(e, w0)[0]) - f(w0) for e in units])
    steepest = -np.sign(f(w0)) * np.round(4 * slopes / (np.abs(slopes).max() or 1)) / 4
    first: tuple[Array, Array] | None = None
    for row in itertools.chain([steepest], units, -units):
        if not row.any():
            continue
        crossed, end = _follow(leaf, row, f)
        first = first or (row, end)
        if crossed:
            first = row, end
            break
    row, end = first or (units[0], w0)
    before, after = (float(row @ leaf.outputs(w)) for w in (w0, end))
    # What comes near a zero without crossing it may end there.
    level = after if f(end) * f(w0) < 0 else (before + after) / 2
    return [Fraction(x) for x in row.tolist()], _short(level)


def _follow(leaf: OfCoordinates, row: Array, f: Callable[[Array], float]) -> tuple[bool, Array]:
    """Follow flow on a datum; tell whether f changes its sign, and where it is a little later.

    Else where beta is still near.
    """

    def velocity(_: float, w: Array) -> Array:
        X, _ = leaf.motion(row, w)
        return np.asarray(X / np.linalg.norm(X))

    w0, crossed = leaf.start, 0.0
    size, unit = float(np.linalg.norm(w0)), float(1 + np.abs(leaf.outputs(w0)).max())
    last = near = w0
    with np.errstate(all="ignore"):
        run = scipy.integrate.DOP853(
            velocity, 0.0, w0, _FAR * size, max_step=size / 16, rtol=1e-8, atol=1e-9 * size
        )
        for _ in range(_STEPS):
            run.step()
            length = np.abs(leaf.outputs(run.y)).max() / unit
            if run.status == "failed" or not length < _LARGEST:
                break
            last, near = run.y, run.y if length < _LARGE else near
            crossed = crossed or (run.t if f(last) * f(w0) < 0 else 0.0)
            if run.status == "finished" or (crossed and run.t > 1.25 * crossed):
                break
    behind = bool(crossed and f(last) * f(w0) < 0)
    return behind, last if behind else near


def _outcome(
    potential: Potential,
    q: NumericPotential,
    begin: Mapping[str, Fraction],
    row: list[Fraction],
    target: Fraction,
) -> tuple[str, bool | None]:
    """Return what flow and interpolant do, and whether they agree or the latter is refused."""
    p = potential.parameterization
    try:
        with warnings.catch_warnings():  # of singular steps, where the flow has no limit
            warnings.simplefilter("ignore")
            end = flow(p, [row], [target], begin, _DIGITS, max_steps=_LONGEST)
    except DeriveError:
        end = None
    try:
        found = interpolate(q, [list(map(float, row))], [float(target)])
        refusal, value = ("" if found.converged else found.status.value), found.value
    except InputError:
        found, refusal, value = None, "there is none", np.array(q.beta0)
    refused = f"the interpolant is refused: {refusal}"
    if end is None:
        told = refused if refusal else "the interpolant is given"
        return f"the flow was not seen to interpolate, {told}", bool(refusal) or None
    broken = broken_signs(potential.pieces, begin, dict(zip(begin, end.weights, strict=True)))
    told = "it is broken" if broken else "it holds"
    if refusal:
        return f"{told}, {refused}", bool(broken) or (found is not None and found.status in _OPEN)
    limit = np.array(end.limit, dtype=float)
    size = max(np.abs(limit).max(), np.abs(np.array(q.beta0)).max())
    same = np.abs(limit - value).max() <= _CLOSE * size
    return f"{told}, flow and interpolant {'agree' if same else 'DISAGREE'}", bool(same)
