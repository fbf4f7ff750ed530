"""The predictor of largest margin on separable data, exact, and how fast a flow tends to it.

Gradient flow of a linear model on sum_i exp(-u_i) or logistic loss, u = X w: w(t) = w_hat log t +
rho(t) with w_hat = argmin |w|_2 s.t. X w >= 1 = sum_i alpha_i x_i (Soudry et al. 2018). Where the
multipliers are the only ones, on support vectors

    <x_i, rho> -> -log alpha_i,   t L(t) -> sum_i alpha_i,
    log t (gamma - margin) -> gamma sum_i p_i log(alpha_max/alpha_i),

gamma = 1/|w_hat|, margin = min_i u_i/|w|, p = alpha/sum alpha: u_i = log t - log alpha_i + o(1) on
these rows, and |w| = |w_hat| log t - sum_i alpha_i log alpha_i/|w_hat| + o(1). Where rows of margin
1 have no multiplier, rho is w_2 log log t across the others, which changes |w| by o(1): there w_2
has the largest margin of these rows.

The predictor of largest l1 or linf margin, and data that no predictor separates: exact programs.

For min |w| s.t. X w >= 1 a certificate is a y >= 0 with |X^T y|_* <= 1 and sum y = |w|: for every
w' with X w' >= 1, |w'| >= <X^T y, w'> >= sum y. A y >= 0 with X^T y = 0 and sum y = 1 proves that
no w has X w > 0 (Gordan). In doubles X is divided by its largest number M.

The predictor of largest l2 margin: min |w|^2 s.t. X w >= 1, exact.

w = X_S^T alpha with (X_S X_S^T) alpha = 1, alpha > 0 on the support S and X w >= 1 elsewhere: the
Karush-Kuhn-Tucker conditions, which decide for a convex problem. S is found in doubles, from the
point nearest to 0 in the convex hull of the rows: min |X^T a|^2 + (1 - sum a)^2 over a >= 0 has
alpha = a/(1 - sum a). Then it is solved and mended in rational numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
from flint import fmpq_mat, fmpz_mat, nmod_mat
from scipy.optimize import nnls

from derive.errors import InputError, NumericalError
from derive.exact.balls import as_fraction
from derive.optimizers.least_norm import read_norm
from numerics.evaluate.numbers import Array
from numerics.margins.interval import (
    Bounded,
    dft,
    interval,
    largest,
    nuclear,
    on_worst_rows,
    positive,
    power_norm,
)
from numerics.margins.linear_program import (
    NEAR,
    LinearProgram,
    certified,
    has_positive,
    in_doubles,
    is_strict,
    optimum,
    over_one,
    product,
    solve,
    spread,
    zeros_of,
)
from numerics.margins.predictor import Cancelling, Folded, MaxMargin, fold

ROUNDS = 60
"""Exchanges of rows, in rational numbers."""
PRIME = 2**61 - 1


def nearest(rows: Sequence[Sequence[int]]) -> MaxMargin | None:
    """Return the solution, or None where none was certified."""

    def near(X: Array) -> tuple[Array, Array]:
        try:
            a, _ = nnls(np.vstack([X.T, np.ones(len(X))]), np.append(np.zeros(X.shape[1]), 1.0))
        except RuntimeError:  # it did not end within its steps
            a = np.zeros(len(X))
        return X.T @ a, a

    X, found = fmpz_mat([list(row) for row in rows]), on_worst_rows(near, rows)
    support = [] if found is None else positive(found[1]).tolist()
    for _ in range(ROUNDS):
        if not support:
            return None
        chosen = fmpz_mat([list(rows[i]) for i in support])
        alpha = solve(chosen * chosen.transpose(), [1] * len(support))
        if alpha is None:
            return None
        least = min(range(len(alpha)), key=alpha.__getitem__)
        if alpha[least] <= 0:
            del support[least]
            continue
        numerators, q = product(chosen.transpose(), alpha)
        w = tuple(Fraction(x, q) for x in numerators)
        margins, q = product(X, w)
        worst = min(range(len(margins)), key=margins.__getitem__)
        if margins[worst] >= q:
            tight = zeros_of([u - q for u in margins])
            positive_on_all = is_nondegenerate(rows, w, tight, support)
            if positive_on_all is None:
                return None
            y, determined = spread(support, alpha, len(rows)), are_independent(rows, tight)
            second = () if positive_on_all or not determined else _turn(rows, tight, support)
            return MaxMargin("l2", w, y, tight, not positive_on_all, determined, second)
        support = sorted({*support, worst})
    return None


def _turn(
    rows: Sequence[Sequence[int]], tight: Sequence[int], support: Sequence[int]
) -> tuple[Fraction, ...]:
    """Return w_2: the same problem for the other rows of margin 1, across the support vectors."""
    S, across = fmpq_mat(fmpz_mat([list(rows[i]) for i in support])), list[list[Fraction]]()
    for x in (fmpq_mat(len(rows[i]), 1, list(rows[i])) for i in tight if i not in support):
        left = x - S.transpose() * (S * S.transpose()).solve(S * x)
        across.append(list(map(as_fraction, left.entries())))
    folded = fold(across)
    found = nearest(folded.rows)
    return () if found is None else tuple(folded.scale * x for x in found.value)


def is_nondegenerate(
    rows: Sequence[Sequence[int]], w: Sequence[Fraction], tight: Sequence[int], own: Sequence[int]
) -> bool | None:
    """Decide whether some alpha, not that of *own* rows alone, is positive on all *tight* ones."""
    if set(tight) == set(own):
        return True
    if are_independent(rows, tight):
        return False
    # X_T^T alpha = w over one denominator q: alpha solves it with q X_T and the whole q w.
    column, q = over_one(w)
    scaled = [[q * rows[i][j] for i in tight] for j in range(len(rows[0]))]
    largest = max(abs(x) for row in scaled for x in row)
    return has_positive(scaled, list(map(int, column.entries())), largest)


def are_independent(rows: Sequence[Sequence[int]], chosen: Sequence[int]) -> bool:
    """Tell whether some rows are linearly independent: modulo a prime, or else over Q."""
    if len(chosen) > len(rows[0]):
        return False
    own = [list(rows[i]) for i in chosen]
    modular = nmod_mat([[x % PRIME for x in row] for row in own], PRIME)
    return modular.rank() == len(own) or fmpz_mat(own).rank() == len(own)


Rows = Sequence[Sequence[int]]


def least_norm(rows: Rows, norm: str, sides: Sequence[int] = ()) -> MaxMargin | None:
    """Return the solution for l1 or linf, or None where none was certified.

    With v = M w: min sum t s.t. X v >= M, |v_j| <= t_j; of linf there is one t. w is the only
    solution where the program is strictly complementary at it, as some solution always is.
    """
    m, d, unit = len(rows), len(rows[0]), largest(rows)
    sizes = _unit(d) if norm == "l1" else [[1]] * d
    k = len(sizes[0])
    within = [[s * x for x in e] + t for s in (1, -1) for e, t in zip(_unit(d), sizes, strict=True)]
    within += [[*e, *[0] * k] for e in _on_sides(sides)]
    A = [*([*row, *[0] * k] for row in rows), *within]
    right, scales = [unit] * m + [0] * len(within), [unit] * m + [1] * len(within)
    program = LinearProgram(A, right, [0] * d + [1] * k, scales)
    found = optimum(program)
    if found is None:
        return None
    w, tight = tuple(x / unit for x in found.v[:d]), tuple(i for i in found.tight if i < m)
    unique = is_strict(program, found)
    if unique is None:
        return None
    return MaxMargin(norm, w, found.y[:m], tight, not unique, determined=False, sides=tuple(sides))


def cancelling(rows: Rows, sides: Sequence[int] = ()) -> tuple[Fraction, ...] | None:
    """Return y >= 0 with X^T y = 0 and sum y = 1, or None where none was found.

    They are multipliers of max tau s.t. X v >= tau, |v_j| <= 1 where that is 0. Where it is not,
    to doubles, a predictor of positive margin is the proof that there are none.
    """
    m, d, unit = len(rows), len(rows[0]), largest(rows)
    within = [[s * x for x in e] + [0] for s in (1, -1) for e in _unit(d)]
    A = [*([*row, -unit] for row in rows), *within, *([*e, 0] for e in _on_sides(sides))]
    k = len(A) - m
    right, scales = [0] * m + [-1] * (2 * d) + [0] * (k - 2 * d), [unit] * m + [1] * k
    program = LinearProgram(A, right, [0] * d + [-1], scales)
    seen = in_doubles(program)
    if seen is None or seen.value < -NEAR:
        return None
    found = certified(program, seen)
    if found is None or found.v[-1] != 0:
        return None
    return tuple(unit * y for y in found.y[:m])


def _on_sides(sides: Sequence[int]) -> list[list[int]]:
    """Return the rows of s_j v_j >= 0, of entries that have one side alone."""
    return [[s * x for x in e] for e, s in zip(_unit(len(sides)), sides, strict=True) if s]


def _unit(d: int) -> list[list[int]]:
    return [[int(i == j) for j in range(d)] for i in range(d)]


NORMS = ("l2", "l1", "linf")
Solver: TypeAlias = Callable[[Sequence[tuple[int, ...]]], MaxMargin | None]


class NotSeparable(NumericalError):
    """No w has X w > 0; *certificate* proves it."""

    def __init__(self, certificate: Cancelling) -> None:
        what = "turned from these sides" if certificate.on_sides else "0"
        super().__init__(f"the data are not separable: a convex combination of the rows is {what}")
        self.certificate = certificate


def max_margin(
    X: object,
    labels: Iterable[object] | None = None,
    norm: str = "l2",
    shape: tuple[int, int] | None = None,
    *,
    sides: Sequence[int] = (),
) -> MaxMargin:
    """Return the predictor of largest margin with its certificate, exact or between bounds.

    >>> found = max_margin([[1, 2], [2, -1], [5, 5]])
    >>> [str(x) for x in found.value], found.margin, found.loss_constant
    (['3/5', '1/5'], sqrt(10)/2, 2/5)
    >>> found = max_margin([[1, 0, 0, 1], [2, 1, 0, 0]], norm="nuclear", shape=(2, 2))
    >>> found.lower <= 1 <= found.upper < found.lower + Fraction(1, 10**6)
    True

    Args:
        X: m rows of d numbers, each at its exact value; they carry their labels where none are
            given apart. For the nuclear norm each row is a matrix, row by row.
        labels: the class of each row. Of two, the greater is +1; for more there is a predictor for
            each class, and the margins are differences of their scores, as under softmax.
        norm: l2, l1 or linf, exactly; "softmax" is l2 on more than two classes. nuclear or dft,
            sum_k |sum_j w_j exp(-2 pi i j k/d)|, and "l4/3" and so on between two bounds that are
            proved in balls.
        shape: of the matrices, for the nuclear norm.
        sides: for l1 and linf, 1 or -1 for each column where the predictor lies on that side of 0
            alone, 0 where on both.

    Raises:
        InputError: no matrix of finite numbers, labels or a shape that do not fit, one class.
        NotSeparable: with the proof.
        NumericalError: neither was certified; doubles did not tell which rows are tight.
    """
    wanted = "l2" if norm == "softmax" else norm
    if (shape is None) == (wanted == "nuclear"):
        raise InputError("shape=(n, m) goes with the nuclear norm, and the nuclear norm with it")
    folded = fold(X, labels)
    distinct = list(dict.fromkeys(map(tuple, folded.rows)))
    solve = _solver(wanted, shape, folded)
    if any(sides):
        if wanted not in ("l1", "linf") or len(sides) != folded.features:
            raise InputError("sides are of l1 and linf, one for each column of X")
        sides = tuple(sides) * (len(folded.rows[0]) // folded.features)
        solve = partial(least_norm, norm=wanted, sides=sides)
    # Whether some predictor has a positive margin does not depend on the norm.
    if (weights := cancelling(distinct, sides if any(sides) else ())) is not None:
        shared = _shared(folded, dict(zip(distinct, weights, strict=True)))
        raise NotSeparable(Cancelling(tuple(shared), any(sides)))
    if (found := solve(distinct)) is not None:
        return _given(found, distinct, folded)
    why = "the scales of rows or columns are too far apart for doubles"
    raise NumericalError(f"no margin was certified: {why}")


def _solver(norm: str, shape: tuple[int, int] | None, folded: Folded) -> Solver:
    """Return what finds the predictor of separable rows, or refuse the norm."""
    if norm in NORMS:
        return nearest if norm == "l2" else partial(least_norm, norm=norm)
    bounded = _bounded(norm, shape, folded.features)
    if folded.several:
        n = len(folded.classes)
        raise InputError(f"the {norm} margin is that of two classes, and there are {n}")
    return partial(interval, norm, bounded)


def _bounded(norm: str, shape: tuple[int, int] | None, d: int) -> Bounded:
    """Return a norm between two bounds, or refuse its name."""
    if shape is not None:
        return nuclear(shape, d)
    if norm == "dft":
        return dft(d)
    try:
        return power_norm(read_norm(norm))
    except InputError:
        known = ", ".join((*NORMS, "nuclear", "dft"))
        raise InputError(
            f"there is no norm {norm!r}; the norms are {known}, l4/3 and so on, softmax"
        ) from None


def _given(found: MaxMargin, distinct: Sequence[tuple[int, ...]], folded: Folded) -> MaxMargin:
    """Return the solution for the rows that were given: those in whole numbers over *scale*."""
    rows = {distinct[i] for i in found.tight}
    tight = tuple(i for i, x in enumerate(folded.rows) if tuple(x) in rows)
    shared = _shared(folded, dict(zip(distinct, found.multiplier, strict=True)))
    own = replace(found, multiplier=tuple(shared), tight=tight, classes=folded.classes)
    return own.times(Fraction(folded.scale))


def _shared(folded: Folded, of: dict[tuple[int, ...], Fraction]) -> list[Fraction]:
    """Return multipliers of all rows: those that are the same share theirs."""
    keys = [tuple(row) for row in folded.rows]
    copies = Counter(keys)
    return [of[key] / copies[key] for key in keys]
