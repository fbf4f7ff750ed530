"""KKT points of the margin problem in the weights, proved in balls.

Of min |w|^2/2 subject to <x_i, F(w)> >= 1, F polynomial, a KKT point has rows S with

    w = sum_S lambda_i grad u_i,   u_i = <x_i, F(w)> = 1 and lambda_i > 0 on S,   u_i > 1 elsewhere.

Newton's steps propose w and lambda, a step of Krawczyk's proves that a zero is there. Rotations of
the weights that leave F alone, w' = A w with A^T = -A and J A w = 0, make whole orbits of zeros:
with E = w - sum_S lambda_i grad u_i,  <A w, E> = 0 whatever w and lambda are. Hence as many weights
are held fixed as there are independent A_k w, as many equations of E left out, and these hold as
well where the matrix of the A_k w on them is regular, in balls.
Weights that are 0 together with all slopes along them are left out. Of rows that depend on each
other only some have a multiplier: it is not the only one.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import sympy
from flint import arb, arb_mat, fmpz_mat
from numpy.typing import ArrayLike
from scipy.linalg import qr
from scipy.optimize import OptimizeResult, minimize, nnls
from sympy import Expr, Poly
from sympy.polys.matrices import DomainMatrix

from derive.copying import copies
from derive.errors import InputError, NumericalError
from derive.exact.balls import ball, precise
from derive.exact.elementary_signs import ball_of
from derive.model.parameterization import Parameterization
from numerics.evaluate.numbers import Array, read_matrix
from numerics.margins.interval import BITS, enclose
from numerics.margins.linear_program import solve
from numerics.margins.predictor import fold, some

Rotation = tuple[tuple[int, int, arb], ...]
"""Entries k < l of a skew matrix."""
_FOLD = textwrap.TextWrapper(80, subsequent_indent=" " * 4, break_on_hyphens=False)
TRIALS = 8
"""Random weights from which a local minimum is looked for."""


class Margins:
    """u = X F(w), its gradients and second derivatives, in balls."""

    def __init__(self, F: Sequence[Poly], X: arb_mat) -> None:
        self.polynomials, self.X = F, X
        self.symbols = F[0].gens
        self.n = len(self.symbols)
        slopes = [[f.diff(x) for x in self.symbols] for f in F]
        self.F = [[f.as_expr()] for f in F]
        self.slopes = [[g.as_expr() for g in row] for row in slopes]
        self.bends = [[[g.diff(x) for x in self.symbols] for g in row] for row in self.slopes]
        self.rotations = _rotations(slopes, [Poly(x, *self.symbols) for x in self.symbols])

    def without(self, idle: Sequence[int]) -> Margins | None:
        """Return the same where some weights are 0, or None where some slope along them is not."""
        at_zero = {self.symbols[k]: sympy.S.Zero for k in idle}
        left = [x for x in self.symbols if x not in at_zero]

        def restricted(f: Expr) -> Poly:
            return Poly(f.xreplace(at_zero), *left, domain="QQ")

        if not left or any(restricted(row[k]) for row in self.slopes for k in idle):
            return None
        return Margins([restricted(f) for (f,) in self.F], self.X)

    def _at(self, rows: Sequence[Sequence[Expr]], w: Sequence[arb]) -> arb_mat:
        point = dict(zip(self.symbols, w, strict=True))
        return arb_mat([[ball_of(f, point) for f in row] for row in rows])

    def beta(self, w: Sequence[arb]) -> arb_mat:
        """Return F(w), a column."""
        return self._at(self.F, w)

    def gradients(self, w: Sequence[arb]) -> arb_mat:
        """Return the gradients of the margins, as rows."""
        return self.X * self._at(self.slopes, w)

    def bend(self, w: Sequence[arb], pull: Sequence[arb]) -> arb_mat:
        """Return the second derivatives of <pull, F>."""
        parts = (x * self._at(rows, w) for x, rows in zip(pull, self.bends, strict=True))
        return sum(parts, arb_mat(self.n, self.n))

    def least(self, rng: np.random.Generator) -> Array:
        """Return a local minimum of |w|^2 with margins of at least 1, in doubles."""
        for _ in range(TRIALS):
            found = shortest(
                lambda w: in_floats(self.X * self.beta(in_balls(w))).ravel(),
                lambda w: in_floats(self.gradients(in_balls(w))),
                rng.normal(size=self.n),
            )
            if found.success:
                return np.asarray(found.x)
        raise NumericalError("no weights with margins of at least 1 were found")


def shortest(
    margins: Callable[[Array], Array], slopes: Callable[[Array], Array], w: Array
) -> OptimizeResult:
    """Return a local minimum of |w|^2 with margins of at least 1, from weights near to it."""
    constraint = {"type": "ineq", "fun": lambda v: margins(v) - 1, "jac": slopes}
    return minimize(
        lambda v: (v @ v / 2, v), w, jac=True, constraints=constraint, tol=1e-14, method="SLSQP"
    )


def polynomials(p: Parameterization) -> list[Poly]:
    """Return F as polynomials in the weights; InputError where it is none."""
    symbols = [sympy.Symbol(name, real=True) for name in p.weights]
    named = dict(zip(p.weights, symbols, strict=True))
    known = [f.xreplace({x: named.get(x.name, x) for x in f.free_symbols}) for f in p.outputs]
    try:
        return [Poly(f, *symbols, domain="QQ") for f in known]
    except (sympy.PolynomialError, sympy.CoercionFailed):
        raise InputError("F must be a polynomial in the weights over the rationals") from None


def _rotations(slopes: Sequence[Sequence[Poly]], w: Sequence[Poly]) -> list[Rotation]:
    """Return a basis of the A with A^T = -A and <grad F_j, A w> = 0, by exact linear algebra."""
    pairs = list(combinations(range(len(w)), 2))
    rows: dict[tuple[int, tuple[int, ...]], dict[int, Expr]] = {}
    for place, (k, m) in enumerate(pairs):
        for j, g in enumerate(slopes):
            for exponents, c in (g[k] * w[m] - g[m] * w[k]).terms():
                rows.setdefault((j, exponents), {})[place] = c
    if not pairs:
        return []
    matrix = sympy.Matrix(len(rows), len(pairs), lambda i, k: list(rows.values())[i].get(k, 0))
    basis = DomainMatrix.from_Matrix(matrix).to_field().nullspace().to_Matrix().tolist()
    entries = ([(k, m, ball_of(c, {})) for (k, m), c in zip(pairs, a, strict=True)] for a in basis)
    return [tuple(entry for entry in a if entry[2] != 0) for a in entries]


def moved_by(A: Rotation, w: Sequence[arb]) -> list[arb]:
    """Return A w."""
    moved = [arb(0)] * len(w)
    for k, m, x in A:
        moved[k], moved[m] = moved[k] + x * w[m], moved[m] - x * w[k]
    return moved


def in_balls(w: Array) -> list[arb]:
    """Return doubles as balls."""
    return [arb(float(x)) for x in w]


def in_floats(A: arb_mat) -> Array:
    """Return the middles of balls as doubles."""
    return np.array([[float(x.mid()) for x in row] for row in A.tolist()])


ACTIVE, TIGHT, IDLE = 1e-6, 1e-4, 1e-6
"""Of multipliers and weights, relative to the largest, and of margins above the smallest."""


@dataclass(frozen=True)
class KKTPoint:
    """Weights and multipliers in balls that contain a KKT point.

    Attributes:
        weights: by name, those of copies of one output as by :func:`derive.copies`.
        multiplier: lambda, one for each row; 0 off the support.
        beta, margins: F(w) and X F(w) there.
        rotations: the dimension of the orbit of KKT points that it is one of.
    """

    weights: Mapping[str, arb]
    multiplier: tuple[arb, ...]
    beta: tuple[arb, ...]
    margins: tuple[arb, ...]
    rotations: int

    @property
    def cost(self) -> arb:
        """|w|^2."""
        return sum((x * x for x in self.weights.values()), arb(0))

    @property
    def support(self) -> tuple[int, ...]:
        """The rows whose multiplier is positive, from 0."""
        return tuple(i for i, y in enumerate(self.multiplier) if y > 0)

    def to_text(self) -> str:
        """Return it as text."""
        named = some([f"{name} = {_digits(x)}" for name, x in self.weights.items()])
        rows = some([f"row {i + 1}: {_digits(self.multiplier[i])}" for i in self.support])
        lines = (
            "On these data: a KKT point of min |w|^2, margins at least 1, proved in balls",
            f"  |w|^2 = {_digits(self.cost)}",
            f"  beta = ({some([*map(_digits, self.beta)])})",
            f"  weights: {named}",
            f"  multipliers: {rows}",
            "  there may be others",
        )
        orbit = f"  in an orbit of dimension {self.rotations} of rotations that leave F alone"
        shown = [*lines, *[orbit] * bool(self.rotations)]
        return "\n".join(part for line in shown for part in _FOLD.wrap(line))

    def to_json(self) -> str:
        """Return its record, balls as text with their radius."""
        record = {
            "kkt": True,
            "cost": _ball(self.cost),
            "weights": {name: _ball(x) for name, x in self.weights.items()},
            "multiplier": [*map(_ball, self.multiplier)],
            "beta": [*map(_ball, self.beta)],
            "margins": [*map(_ball, self.margins)],
            "rotations": self.rotations,
        }
        return json.dumps(record, indent=2)


def _digits(x: arb) -> str:
    return str(x.str(12, radius=False))


def _ball(x: arb) -> str:
    return str(x.str(30))


def kkt_point(
    outputs: object,
    X: object,
    near: ArrayLike | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> KKTPoint:
    """Return a KKT point of the margin problem in the weights.

    >>> point = kkt_point("p**2 - m**2", [[2, 1]], [0, 0, 1, 0])
    >>> [x.str(5, radius=False) for x in point.margins], float(point.cost)
    (['1.0000'], 1.0)

    Args:
        outputs: a parameterization, polynomial; of a single output there are copies of it, one for
            each column of X.
        X: rows that carry their labels.
        near: weights, copy by copy, near which it is looked for; otherwise a local minimum is.
        rng: from which the search begins where *near* is not given.

    Raises:
        InputError: F is no polynomial over the rationals, or X or *near* do not fit.
        NumericalError: none was proved to be where doubles look.
    """
    one = Parameterization.of(outputs)
    rows = read_matrix(X)
    columns = len(rows[0])
    p = one
    if one.d == 1 and columns > 1:
        p = Parameterization(copies(one, columns).trees, parameters=one.parameters)
    if p.d != columns:
        raise InputError(f"X has {columns} columns, but F has {p.d} outputs")
    with precise(BITS):
        balls = arb_mat([[ball(x) for x in row] for row in rows])
        margins = Margins(polynomials(p), balls)
        if near is None:
            w = margins.least(rng or np.random.default_rng(0))
        else:
            try:
                w = np.asarray(near, object).astype(float).ravel()
            except (TypeError, ValueError, OverflowError):
                w = np.empty(0)
            if w.shape != (p.p,) or not np.isfinite(w).all():
                raise InputError(f"near must be {p.p} numbers, one for each weight")
        kept = np.abs(w) > IDLE * np.abs(w).max()
        fewer = None if kept.all() else margins.without(np.flatnonzero(~kept).tolist())
        if fewer is None:
            return _certified(margins, rows, w, p.weights)
        point = _certified(fewer, rows, w[kept], [str(x) for x in fewer.symbols])
        weights = {name: point.weights.get(name, arb(0)) for name in p.weights}
        return replace(point, weights=weights)


@dataclass(frozen=True)
class _Stationary:
    """E = 0 and u = 1 on some rows, in lambda and the weights that are not held."""

    margins: Margins
    rows: Sequence[int]
    held: Mapping[int, arb]

    @property
    def free(self) -> list[int]:
        return [k for k in range(self.margins.n) if k not in self.held]

    def whole(self, x: Sequence[arb]) -> tuple[list[arb], list[arb]]:
        """Return all weights, and lambda on the rows."""
        known = {**self.held, **dict(zip(self.free, x, strict=False))}
        return [known[k] for k in range(self.margins.n)], list(x[len(self.free) :])

    def __call__(self, x: list[arb]) -> tuple[arb_mat, arb_mat]:
        (w, y), m, free = self.whole(x), self.margins, self.free
        X = arb_mat([[m.X[i, j] for j in range(m.X.ncols())] for i in self.rows])
        gradients = m.gradients(w).tolist()
        G = [gradients[i] for i in self.rows]
        column = arb_mat([[v] for v in y])
        bend = m.bend(w, (X.transpose() * column).entries())
        pulled = (arb_mat(G).transpose() * column).entries()
        values = [w[k] - pulled[k] for k in free] + [u - 1 for u in (X * m.beta(w)).entries()]
        top = [[int(k == j) - bend[k, j] for j in free] + [-g[k] for g in G] for k in free]
        bottom = [[g[j] for j in free] + [arb(0)] * len(G) for g in G]
        return arb_mat([[v] for v in values]), arb_mat(top + bottom)


def _certified(
    margins: Margins, exact: Sequence[Sequence[Fraction]], w: Array, names: Sequence[str]
) -> KKTPoint:
    """Prove a KKT point near weights in doubles."""
    moved, held = _fixed(margins, w)
    rows, weights, own = _solved(margins, w, {k: arb(float(w[k])) for k in held})
    beta = margins.beta(weights).entries()
    u = (margins.X * arb_mat([[b] for b in beta])).entries()
    for i in {*range(len(u))} - {*rows}:
        u[i] = u[i] if u[i] > 1 else _combined(margins, fold(exact).rows, rows, i)
    turned = [moved_by(A, weights) for A in moved]
    if held and arb_mat([[row[k] for k in held] for row in turned]).det().contains(0):
        raise NumericalError("the rotations of the weights were not told apart")
    of = dict(zip(rows, own, strict=True))
    multiplier = tuple(of.get(i, arb(0)) for i in range(len(u)))
    return KKTPoint(
        dict(zip(names, weights, strict=True)), multiplier, tuple(beta), tuple(u), len(held)
    )


def _combined(margins: Margins, X: Sequence[Sequence[int]], rows: Sequence[int], new: int) -> arb:
    """Return the margin, 1 or more, of a row that is a combination of rows of margin 1."""
    seen = [j for j, f in enumerate(margins.polynomials) if f]
    sums = solve(fmpz_mat([[X[i][j] for i in rows] for j in seen]), [X[new][j] for j in seen])
    if sums is None or sum(sums) < 1:
        raise NumericalError(f"the margin of row {new + 1} is not told from 1")
    return ball(sum(sums, Fraction(0)))


def _solved(
    margins: Margins, w: Array, held: Mapping[int, arb]
) -> tuple[list[int], list[arb], list[arb]]:
    """Return rows, weights and lambda > 0; rows whose multiplier turns negative are left."""
    near = in_floats(margins.X * margins.beta(in_balls(w))).ravel()
    tight = near <= near.min() + TIGHT * np.abs(near).max()
    y, _ = nnls(in_floats(margins.gradients(in_balls(w))).T * tight, w)
    rows = [i for i, v in enumerate(y) if tight[i] and v > ACTIVE * y.max()]
    while rows:
        system = _Stationary(margins, rows, held)
        start = [*(float(w[k]) for k in system.free), *(float(y[i]) for i in rows)]
        found = enclose(system, start)
        if found is None:
            raise NumericalError("no KKT point was proved near the weights that were found")
        weights, own = system.whole(found)
        if all(v > 0 for v in own):
            return rows, weights, own
        del rows[min(range(len(rows)), key=lambda k: float(own[k].mid()))]
    raise NumericalError("no row has a positive multiplier where weights were found")


def _fixed(margins: Margins, w: Array) -> tuple[list[Rotation], list[int]]:
    """Return rotations whose A w are independent, and as many weights on which they are."""
    if not margins.rotations:
        return [], []
    T = np.array([[float(x) for x in moved_by(A, in_balls(w))] for A in margins.rotations])
    _, R, chosen = qr(T.T, pivoting=True)
    rank = int(np.sum(np.abs(np.diag(R)) > 1e-7 * max(np.abs(w).max(), 1e-300)))
    _, _, places = qr(T[chosen[:rank]], pivoting=True) if rank else (0, 0, np.zeros(0, int))
    return [margins.rotations[k] for k in chosen[:rank]], sorted(int(k) for k in places[:rank])
