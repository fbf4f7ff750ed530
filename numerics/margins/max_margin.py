"""The predictor of largest margin on separable data, exact, and how fast a flow tends to it.

Gradient flow of a linear model on sum_i exp(-u_i) or logistic loss, u = X w: w(t) = w_hat log t +
rho(t) with w_hat = argmin |w|_2 s.t. X w >= 1 = sum_i alpha_i x_i (Soudry et al. 2018). Where the
multipliers are the only ones, on support vectors

    <x_i, rho> -> -log alpha_i,   t L(t) -> sum_i alpha_i,
    log t (gamma - margin) -> gamma sum_i p_i log(alpha_max/alpha_i),

gamma = 1/|w_hat|, margin = min_i u_i/|w|, p = alpha/sum alpha: u_i = log t - log alpha_i + o(1) on
these rows, and |w| = |w_hat| log t - sum_i alpha_i log alpha_i/|w_hat| + o(1). Where rows of margin
1 have no multiplier, rho is log log t across the others, which changes |w| by o(1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Literal, TypeAlias, overload

from derive.errors import InputError, NumericalError
from derive.optimizers.norms import read_norm
from numerics.margins.classes import Folded, fold
from numerics.margins.euclidean import nearest
from numerics.margins.interval import Bounded, MarginInterval, interval
from numerics.margins.polyhedral import cancelling, least_norm
from numerics.margins.power_norm import power_norm
from numerics.margins.predictor import Cancelling, MaxMargin
from numerics.margins.spectral import dft, nuclear

NORMS = ("l2", "l1", "linf")
Solver: TypeAlias = Callable[[Sequence[tuple[int, ...]]], MaxMargin | MarginInterval | None]


class NotSeparable(NumericalError):
    """No w has X w > 0; *certificate* proves it."""

    def __init__(self, certificate: Cancelling) -> None:
        super().__init__("the data are not separable: a convex combination of the rows is 0")
        self.certificate = certificate


@overload
def max_margin(
    X: object,
    labels: Iterable[object] | None = None,
    norm: Literal["l1", "l2", "linf", "softmax"] = "l2",
) -> MaxMargin: ...
@overload
def max_margin(
    X: object,
    labels: Iterable[object] | None = None,
    norm: str = "l2",
    shape: tuple[int, int] | None = None,
) -> MaxMargin | MarginInterval: ...
def max_margin(
    X: object,
    labels: Iterable[object] | None = None,
    norm: str = "l2",
    shape: tuple[int, int] | None = None,
) -> MaxMargin | MarginInterval:
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
    # Whether some predictor has a positive margin does not depend on the norm.
    if (weights := cancelling(distinct)) is not None:
        shared = _shared(folded, dict(zip(distinct, weights, strict=True)))
        raise NotSeparable(Cancelling(tuple(shared)))
    if (found := solve(distinct)) is not None:
        return _given(found, distinct, folded)
    why = "the scales of rows or columns are too far apart for doubles"
    raise NumericalError(f"no margin was certified: {why}")


def _solver(norm: str, shape: tuple[int, int] | None, folded: Folded) -> Solver:
    """Return what finds the predictor of separable rows, or refuse the norm."""
    if norm in NORMS:
        return nearest if norm == "l2" else partial(least_norm, norm=norm)
    features = len(folded.rows[0]) // (len(folded.classes) if folded.several else 1)
    bounded = _bounded(norm, shape, features)
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


def _given(
    found: MaxMargin | MarginInterval, distinct: Sequence[tuple[int, ...]], folded: Folded
) -> MaxMargin | MarginInterval:
    """Return the solution for the rows that were given: those in whole numbers over *scale*."""
    s = folded.scale
    of = s * s if found.norm == "l2" else s
    shared = _shared(folded, dict(zip(distinct, found.multiplier, strict=True)))
    value, multiplier = tuple(s * x for x in found.value), tuple(of * y for y in shared)
    found = replace(found, value=value, multiplier=multiplier, classes=folded.classes)
    if isinstance(found, MarginInterval):
        return replace(found, lower=s * found.lower, upper=s * found.upper)
    rows = {distinct[i] for i in found.tight}
    return replace(found, tight=tuple(i for i, x in enumerate(folded.rows) if tuple(x) in rows))


def _shared(folded: Folded, of: dict[tuple[int, ...], Fraction]) -> list[Fraction]:
    """Return multipliers of all rows: those that are the same share theirs."""
    keys = [tuple(row) for row in folded.rows]
    copies = dict.fromkeys(keys, 0)
    for key in keys:
        copies[key] += 1
    return [of[key] / copies[key] for key in keys]
