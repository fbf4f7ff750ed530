"""One finite step w -> w - eta G^-1 J^T G with any gradient G = X^T r, of all data or of a batch.

The increments c(w+) - c(w) and y(w+) - y(w) are exact functions of the weights and eta G; to first
order they are 0 and -eta g G. So y - y(w_0), less the sum of what is beyond that, stays in the row
space. They hold while nothing at which c or y is singular changes its sign in a step.

Source: Even, Pesme, Gunasekar, Flammarion 2023, for diagonal networks; in general our own.
"""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Expr

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.model.geometry import Field
from derive.perturbed.drift import Drift, drift_of, open_drift
from derive.perturbed.followed import Followed, Leaf


def step_of(leaf: Leaf, x: Followed) -> Drift:
    """Return the increment of a law or dual coordinate in one step, in eta and G."""
    leaf, after = _stepped(leaf)
    quantity = leaf.with_logs(x.function)
    if leaf.parameterization.field.kinds:
        moved = zip(leaf.parameterization.w, after, strict=False)
        plus = {leaf.written(w): leaf.written(image) for w, image in moved}
        change = quantity.subs(plus, simultaneous=True) - quantity
        return open_drift(leaf, x, change, "is decided for rational F alone")
    x = x.over(leaf.parameterization.field)
    f = x.function
    ratios = tuple((c, _after(a, after) / a) for c, a in f.logs)
    change = LogFunction(_after(f.rational, after) - f.rational, ratios)
    beyond = change
    if x.output is not None and leaf.g is not None:
        beyond = LogFunction(change.rational + _size(leaf, x.output) * leaf.g, ratios)
    return drift_of(leaf, x, change, beyond)


def conditions(leaf: Leaf) -> Iterator[Expr]:
    """Yield what has to stay positive in a step: P(w+)/P(w) of each P where c or y is singular."""
    leaf, after = _stepped(leaf)
    if not leaf.parameterization.field.kinds:
        for P in leaf.poles():
            yield leaf.written(_after(P, after) / P)


def _stepped(leaf: Leaf) -> tuple[Leaf, Field]:
    """Return the leaf with eta and G, and the images of all names: w - eta sum_a G_a X_a."""
    d = leaf.parameterization.d
    leaf = leaf.with_letters(
        *(leaf.fresh(f"G{leaf.number(a)}") for a in range(d)), leaf.fresh("eta")
    )
    p = leaf.parameterization
    images = list(p.field.gens)
    for a, row in enumerate(p.fields):
        images[: p.p] = [w - _size(leaf, a) * x for w, x in zip(images, row, strict=False)]
    return leaf, tuple(images)


def _size(leaf: Leaf, a: int) -> RationalFunction:
    """Return eta G_a."""
    *G, eta = map(leaf.parameterization.field.named, leaf.letters)
    return G[a] * eta


def _after(f: RationalFunction, images: Field) -> RationalFunction:
    return f.compose(images, f.field)
