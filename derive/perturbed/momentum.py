"""Momentum: lam x'' + x' = sum_a lambda_a X_a from rest, or x'' + (r/t) x', Nesterov's damping.

    lam c'' + c' = lam x'^T (Hess_x c) x'
    lam y_i'' + y_i' = g lambda_i + lam x'^T (Hess_x y_i) x'

in the coordinates x = w, or theta = grad psi of mirror descent, so that c(inf) = c(0) + int mu
x'^T (Hess_x c) x' dt, and y(inf) - y(0) - int mu x'^T (Hess_x y) x' dt is in the row space: mu =
lam for constant mass, and mu = t/(r - 1) for the damping r/t, r > 1, of which the integrating
factor is t^r, as t^r int_t^inf s^-r ds = t/(r - 1).

A weight may cross 0 under momentum: what has a pole or a logarithm there is lost, polynomials stay.
Source: Papazov, Pesme, Flammarion 2024, for diagonal networks; in general our own derivation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from sympy import Expr, Symbol

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import Matrix, dot, inverse, rank
from derive.exact.signs import Signs
from derive.model.geometry import Field
from derive.perturbed.drift import Drift, drift_of, open_drift
from derive.perturbed.followed import Followed, Leaf


@dataclass(frozen=True)
class OneSided:
    """A law c, or log |c|, that changes to one side under momentum: 1 or -1.

    Attributes:
        of: c, or log |c|.
        positive: the weights for as long as which are positive.
    """

    of: Followed
    quantity: Expr
    change: Expr
    side: int
    positive: tuple[str, ...]

    @property
    def law(self) -> Symbol:
        """What c is called."""
        return self.of.symbol

    @property
    def in_logarithm(self) -> bool:
        """Is it log |c|, which is followed for as long as c is not 0?"""
        return bool(self.of.function.logs)


def momentum_of(leaf: Leaf, x: Followed, *, alone: bool = True) -> Drift:
    """Return x'^T (Hess_x c) x' in the velocities w_t, closed where it is so in those of c and y.

    From rest it is 0 where c is linear in x along all forces.
    """
    if leaf.coordinates.is_straight(x.gradient, along_steps=alone):
        return drift_of(leaf, x, LogFunction(x.function.rational.field.zero))
    moving = leaf.with_letters({w: leaf.fresh(f"{w}_t") for w in leaf.parameterization.weights})
    v = moving.coordinates.components(velocities(moving))
    H = moving.hessian(x.over(moving.parameterization.field))
    change, own = dot(v, tuple(dot(row, v) for row in H)), _in_own_velocities(leaf, x)
    if own is None:
        why = "needs weights that the laws and dual coordinates do not tell"
        return open_drift(leaf, x, moving.written(change), why)
    within, f = own
    found = drift_of(within, x.over(f.field), LogFunction(f))
    return replace(found, change=moving.written(change))


def velocities(leaf: Leaf) -> Field:
    """Return the letters as functions."""
    return tuple(map(leaf.letter, leaf.letters))


def _in_own_velocities(leaf: Leaf, x: Followed) -> tuple[Leaf, RationalFunction] | None:
    """Return x'^T (Hess_x c) x' in c' and y', where these tell w'; else None."""
    rows = tuple(f.gradient for f in leaf.all)
    if len(rows) != leaf.parameterization.p or rank(rows) < len(rows):
        return None
    within = leaf.with_letters({str(f.symbol): leaf.fresh(f"{f.symbol}_t") for f in leaf.all})
    field, v = within.parameterization.field, velocities(within)
    w = tuple(dot(tuple(map(field.embed, row)), v) for row in inverse(rows))
    moved = within.coordinates.components(w)
    H = (dot(tuple(map(field.embed, row)), moved) for row in leaf.hessian(x))
    return within, dot(moved, tuple(H))


def one_sided(leaf: Leaf) -> Iterator[OneSided]:
    """Yield each law, or its logarithm, that changes to one side while weights keep their signs."""
    p, known = leaf.parameterization, Signs(leaf.notation.positive)
    starts = zip(p.weights, p.w0, strict=True)
    positive = tuple(w for w, value in starts if known.is_positive(value))
    for law in leaf.laws:
        c = law.function.rational
        logarithm = Followed(law.symbol, LogFunction(c.field.zero, ((c.field.one, c),)))
        if leaf.coordinates.is_straight(law.gradient, along_steps=True):
            continue  # c does not change
        zero = p.at_start(c).is_zero()
        for x, signs in product((law,) if zero else (law, logarithm), ((), positive)):
            side = _side(leaf.hessian(x), frozenset(signs))
            if side:
                change = momentum_of(leaf, x).change
                yield OneSided(x, leaf.with_logs(x.function), change, side, signs)
                break


def _side(H: Matrix, positive: frozenset[str]) -> int:
    """Return 1 or -1 for a form that is proved semidefinite, by elimination; else 0."""
    rows, sides = [list(row) for row in H], set[int]()
    for k in range(len(rows)):
        pivot = rows[k][k]
        if pivot.is_zero():
            if any(not x.is_zero() for x in rows[k]):
                return 0
            continue
        signs = [s for s in (1, -1) if Signs(positive).is_nonnegative(s * pivot)]
        sides.update(signs or [0])
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / pivot
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return sides.pop() if len(sides) == 1 else 0
