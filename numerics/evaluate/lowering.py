"""Numbers from a derived Q: float64 arrays in NumPy, or any precision in mpmath.

Both run one program of the printed form, names in the order of their definition: on doubles with
bounds of their errors, on balls of python-flint, and, for searches, on doubles alone.

In float64 every result is right to 1e-14, or nan: doubles are tried, and where their bound is too
large the bits of balls are doubled until 50 are right. Tests compare all functions of the proved
models of the catalogue with the formulas in many digits. Exceptions to 1e-14, where the true value
is a normal double:

* The inverse mirror map of a model for which no formula of it is found, of which the catalogue
  has none: Newton's method in doubles, to 1e-9.
* Q whose gradient is an integral (``a*b*c`` of three scalars), of which the catalogue has none
  either: the results are those of an ODE, without a bound.
* Q that is an integral of its gradient, at points so far or so near the end of its domain that
  its integrand is evaluated too often.
* Weight normalization with c_0 > 37 |v_0|: the slope exp(c_0^2/(2 |v_0|^2)) at the start is no
  double, nor is any slope of Q.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import chain

import mpmath
import sympy

from derive.copying import Copies
from derive.errors import InputError, NumericalError
from derive.potential.piece import Piece, follows_flow, of_the_flow
from derive.programming import NoSource
from derive.records import Potential
from derive.verdict import Verdict
from numerics.evaluate.blocks import Blocks, FormulaBlock, Part, Start
from numerics.evaluate.leaf import IntegratedBlock, Leaf, OfCoordinates
from numerics.evaluate.numbers import Number, exact, read_number
from numerics.evaluate.potential import NumericPotential, NumericVectorPotential, lower_vector
from numerics.evaluate.program import program
from numerics.evaluate.start import at_start, refuse_missing, refuse_unknown, start_point

_CHECK_DIGITS = 40


def numeric(
    potential: Potential | Copies, start: Mapping[str, Number]
) -> NumericPotential | NumericVectorPotential:
    """Return Q as :func:`lower` or, of copies, of_copies, or of vectors lower_vector does."""
    if isinstance(potential, Copies):
        return of_copies(potential, start)
    return (lower_vector if potential.parameterization.vectors else lower)(potential, start)


def lower(
    potential: Potential, start: Mapping[str, Number], digits: int = _CHECK_DIGITS
) -> NumericPotential:
    """Return Q with numbers for its start symbols, in float64.

    Args:
        potential: a derived Q.
        start: an integer, fraction, text such as "1/3", float or mpf for each start symbol.
        digits: to which grad Q = 0 is looked for at the start, or as many as a multiple root
            leaves, which tells wrong branches of roots.

    Returns:
        Q, its derivatives, its inverse mirror map and its Bregman divergence, as functions of beta.

    Raises:
        InputError: a symbol has no value, a name is unknown, or Q assumes another start.
        NumericalError: there is no Q, it has no numeric form, or grad Q is not 0 at the start.
    """
    q, beta0 = _bound(potential, start)
    # Where J has lower rank there, beta_0 is at the end of the domain of Q.
    if potential.parameterization.starts_regular:
        least = 10.0 ** (-digits // 5)
        size = max(map(abs, q.precise_gradient(beta0, digits, least)))
        if not size <= least:
            shown = mpmath.nstr(size, 3)
            raise NumericalError(
                f"the chosen branch of Q gives |grad Q| = {shown} at the start, where it must be 0"
            )
    return q


def side_by_side(potentials: Sequence[NumericPotential]) -> NumericPotential:
    """Return the sum of Qs, each of coordinates of its own, in their order."""
    parts: list[Part] = []
    leaves: list[tuple[Sequence[int], Leaf]] = []
    shift = 0
    for q in potentials:
        parts += [(tuple(shift + i for i in positions), f) for positions, f in q.functions.blocks]
        leaves += [([shift + i for i in places], f) for places, f in q.functions.leaves]
        shift += q.d
    start = tuple(pair for q in potentials for pair in q.start)
    beta0 = tuple(b for q in potentials for b in q.beta0)
    bounds = tuple(pair for q in potentials for pair in q.functions.bounds)
    known = leaves if all(q.functions.leaves for q in potentials) else []
    return NumericPotential(shift, start, beta0, Blocks(parts, bounds, known))


def joint(
    potential: Potential, starts: Iterable[Mapping[str, Number]], digits: int
) -> tuple[NumericPotential, Callable[[Sequence[Number]], list[Number]]]:
    """Return the sum of Q at several starts, unchecked, and its gradient to so many digits."""
    q = side_by_side([unchecked(potential, start) for start in starts])
    return q, partial(q.precise_gradient, digits=digits)


def unchecked(potential: Potential, start: Mapping[str, Number]) -> NumericPotential:
    """Return Q at a start, without a test that grad Q = 0 there."""
    return _bound(potential, start)[0]


def _bound(
    potential: Potential, start: Mapping[str, Number]
) -> tuple[NumericPotential, tuple[Fraction, ...]]:
    """Return Q at a start, and beta_0 in exact numbers."""
    potential, values, weights, beta0 = at_start(potential, start)
    p = potential.parameterization
    parts: list[Part] = []
    bounds = [(-math.inf, math.inf)] * p.d
    for i, outputs in enumerate(p.blocks):
        own = tuple(beta0[k] for k in outputs)
        bounds[outputs[0]] = _bounds(potential.pieces[i], own, values)
        parts.append((outputs, _block(potential, i, values, weights, own)))
    # Beta alone may not say where Q is Q: that depends on the leaf, or on the flow.
    on_leaf = any(
        len(piece.betas) > 1
        and (piece.domain is None or not piece.domain.exact or of_the_flow(piece))
        for piece in potential.pieces
    )
    leaves = [(range(p.d), OfCoordinates(p, weights, potential.pieces))] if on_leaf else []
    blocks, given = Blocks(parts, bounds, leaves), tuple(values.items())
    q = NumericPotential(len(beta0), given, tuple(map(_float, beta0)), blocks, potential)
    return q, beta0


def _float(x: Fraction) -> float:
    """Return the nearest double; inf where it overflows."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def _bounds(
    piece: Piece, beta0: Sequence[Fraction], values: Mapping[str, Fraction]
) -> tuple[float, float]:
    """Return the ends of the domain next to beta_0 of one output, infinite where none is known."""
    if piece.domain is None or len(piece.betas) > 1:
        return -math.inf, math.inf
    (beta,), (start,) = piece.betas, beta0
    ends = [float(exact(wall.end(beta), values)) for wall in piece.domain.walls]
    low, high = ([x for x in ends if (x > start if side > 0 else x < start)] for side in (-1, 1))
    return max(low, default=-math.inf), min(high, default=math.inf)


def _block(
    potential: Potential,
    i: int,
    values: Mapping[str, Fraction],
    weights: Sequence[Fraction],
    beta0: tuple[Fraction, ...],
) -> FormulaBlock | IntegratedBlock:
    """Make a piece ready to evaluate: Q on one block of outputs."""
    p, piece = potential.parameterization, potential.pieces[i]
    refuse_integrals([piece])
    along = None
    followed = piece.integrand is not None or follows_flow(piece)
    if followed and (len(piece.betas) == 1 or piece.lift is not None):
        own = p if len(p.blocks) == 1 else p.restrict(p.blocks[i])
        at = dict(zip(p.weights, weights, strict=True))
        lift = piece.lift if piece.betas[1:] else None  # of one output F alone says how it moves
        along = IntegratedBlock(own, lift, tuple(at[w] for w in own.weights), beta0)
    try:
        written = program(potential, i)
        numbers = dict(zip(written.names, (values[n] for n in p.start_symbols), strict=True))
        return FormulaBlock(written, Start(numbers, written.constants), beta0, along)
    except NoSource as reason:
        if along is None:
            raise NumericalError(f"Q has no numeric form: {reason}") from None
        return along


def refuse_integrals(pieces: Iterable[Piece]) -> None:
    """Raise NumericalError for a piece that cannot be evaluated."""
    for piece in pieces:
        lifted = piece.lift is not None
        integral = any(g.has(sympy.Integral) for g in piece.gradient)
        if len(piece.betas) > 1 and not lifted and integral:
            names = ", ".join(b.name for b in piece.betas)
            raise NumericalError(f"no numeric form of Q on {names}: its gradient is an integral")


def of_copies(copies: Copies, start: Mapping[str, Number]) -> NumericPotential:
    """Return Q(beta_1) + ... + Q(beta_n), each at its start; see :func:`lower`."""
    check_clock(copies)
    p, given = copies.one, {**dict(copies.start), **start}
    parameters = {name: given.pop(name) for name in p.parameters if name in given}
    starts = fixed_starts(p.start_symbols, given, copies.count)
    own = [tuple(start.items()) for start in starts]
    known = {
        pairs: lower(copies.derivation.potential, {**dict(pairs), **parameters})
        for pairs in dict.fromkeys(own)
    }
    q = side_by_side([known[pairs] for pairs in own])
    exact: dict[str, Number] = {
        name: read_number(x, f"the parameter {name}") for name, x in parameters.items()
    }
    exact |= {name: tuple(start[name] for start in starts) for name in given}
    return replace(q, start=tuple(exact.items()), source=copies)


def check_clock(copies: Copies) -> None:
    """Raise NumericalError where copies have clocks of their own, so that no Q is minimised.

    Under a warp g each moves as ``dy/dt = g X^T r`` with its own g: grad Q is not in the row space.
    """
    derivation = copies.derivation
    if derivation.verdict is Verdict.PROVED is not derivation.hessian.verdict:
        raise NumericalError(
            f"copies of F minimise no sum of Q(beta): each has a warp of its own, g = "
            f"{derivation.warping.g}; only one F with a warp, or copies without one, have Q"
        )


def start_of_weights(copies: Copies, start: Mapping[str, Number]) -> Mapping[str, Number]:
    """Return a number for each weight: of all copies, of one, or by the start symbols of one."""
    p, count = copies.one, copies.count
    if start and start.keys() <= set(copies.weights):
        return start
    if start and start.keys() <= set(p.weights):
        starts = fixed_starts(p.weights, start, count)
        points = [[own[w] for w in p.weights if w in own] for own in starts]
        known = [prefix + w for prefix in copies.prefixes for w in p.weights if w in start]
    else:
        given = {**dict(copies.start), **start}
        known, symbols = list(copies.weights), p.start_symbols
        refuse_missing(symbols, given)
        points = [list(start_point(p, own)[0]) for own in fixed_starts(symbols, given, count)]
    return dict(zip(known, chain(*points), strict=True))


def fixed_starts(
    known: Sequence[str], start: Mapping[str, object], copies: int
) -> list[dict[str, Fraction]]:
    """Return the given start values of each copy; a sequence of values gives each its own."""
    refuse_unknown(known, start)
    fixed: list[dict[str, Fraction]] = [{} for _ in range(copies)]
    for name, given in start.items():
        values = list(given) if isinstance(given, list | tuple) else [given] * copies
        if len(values) != copies:
            raise InputError(f"the start of {name} has {len(values)} values, not {copies}")
        for copy, value in zip(fixed, values, strict=True):
            copy[name] = read_number(value, f"the start symbol {name}")
    return fixed
