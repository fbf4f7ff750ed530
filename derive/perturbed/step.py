"""One finite step w -> w - eta G^-1 J^T G with any gradient G = X^T r, of all data or of a batch.

The increments c(w+) - c(w) and y(w+) - y(w) are exact functions of the weights and eta G; to first
order they are 0 and -eta g G. So y - y(w_0), less the sum of what is beyond that, stays in the row
space. They hold while nothing at which c or y is singular changes its sign in a step.

With decay and momentum w+ = w - eta (G^-1 J^T G + k w) + mu v, v = w - w_- the step before, and the
increment is c(w+) - c(w) - mu (c(w) - c(w - v)): its sum from rest is (1 - mu) times the change.

Source: Even, Pesme, Gunasekar, Flammarion 2023, for diagonal networks; in general our own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from sympy import Expr

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import dot
from derive.language.tree import Tree
from derive.model.geometry import Field
from derive.model.notation import to_factored_expr
from derive.perturbed.decay import pushed_by
from derive.perturbed.drift import Drift, drift_of, not_closed, open_drift
from derive.perturbed.followed import Followed, Leaf
from derive.verdict import Verdict


def step_of(kinds: Collection[str], penalty: Tree | None, leaf: Leaf, x: Followed) -> Drift:
    """Return the increment of a law or dual coordinate in one step, in eta and G.

    Args:
        kinds: what there is beside the gradient: decay, of a penalty if that is given, momentum.
    """
    leaf, after, before = _stepped(leaf, kinds, penalty)
    quantity = leaf.with_logs(x.function)
    whole = _substituted(leaf, quantity, after) - quantity
    if "momentum" in kinds:
        whole -= leaf.letters["mu"] * (quantity - _substituted(leaf, quantity, before))
    if not leaf.parameterization.is_rational:
        return open_drift(leaf, x, whole, "is decided for rational F alone")
    x = x.over(leaf.parameterization.field)
    f = x.function
    ratios = tuple((c, _after(a, after) / a) for c, a in f.logs)
    change = LogFunction(_after(f.rational, after) - f.rational, ratios)
    if "momentum" in kinds:
        ratios = tuple((c, a / _after(a, before)) for c, a in f.logs)
        last = LogFunction(f.rational - _after(f.rational, before), ratios)
        change += last.scaled(-leaf.letter("mu"))
    beyond = change
    if x.output is not None and leaf.g is not None:
        beyond = LogFunction(change.rational + _size(leaf, x.output) * leaf.g, change.logs)
    found = drift_of(leaf, x, change, beyond)
    if 2 * whole.count_ops() < found.change.count_ops():
        found = replace(found, change=whole)
    mixed = "momentum" in kinds or ("decay" in kinds and x.output is not None)
    if found.finding.verdict is Verdict.REFUTED and mixed:
        # v is the weights' too, and decay may add q y
        return replace(found, finding=not_closed(x, "is not seen to be a function of laws"))
    return found


def conditions(kinds: Collection[str], penalty: Tree | None, leaf: Leaf) -> Iterator[Expr]:
    """Yield what has to stay positive in a step: P(w+)/P(w) of each P where c or y is singular."""
    leaf, after, _ = _stepped(leaf, kinds, penalty)
    if leaf.parameterization.is_rational:
        for P in leaf.poles():
            yield leaf.written(_after(P, after) / P)


def _stepped(leaf: Leaf, kinds: Collection[str], penalty: Tree | None) -> tuple[Leaf, Field, Field]:
    """Return the leaf with letters, and the images of all names after a step and before it."""
    G = [f"G{leaf.number(a)}" for a in range(leaf.parameterization.d)]
    velocities = [f"{w}_t" for w in leaf.parameterization.weights]
    names = [*G, "eta", *["k"] * ("decay" in kinds)]
    names += [*velocities, "mu"] if "momentum" in kinds else []
    leaf, push = pushed_by(penalty, leaf)
    leaf = leaf.with_letters({name: leaf.fresh(name) for name in names})
    p, at = leaf.parameterization, leaf.letter
    force = [dot(list(map(at, G)), column) for column in zip(*p.fields, strict=True)]
    if "decay" in kinds:
        force = [f + at("k") * p.field.embed(x) for f, x in zip(force, push, strict=True)]
    after, before = [w - at("eta") * f for w, f in zip(p.w, force, strict=True)], list(p.w)
    if "momentum" in kinds:
        v = list(map(at, velocities))
        after = [w + at("mu") * x for w, x in zip(after, v, strict=True)]
        before = [w - x for w, x in zip(p.w, v, strict=True)]
    rest = p.field.gens[p.p :]
    return leaf, (*after, *rest), (*before, *rest)


def _substituted(leaf: Leaf, f: Expr, images: Field) -> Expr:
    moved = zip(leaf.parameterization.w, images, strict=False)
    return f.xreplace({leaf.written(w): to_factored_expr(x, leaf.symbols) for w, x in moved})


def _size(leaf: Leaf, a: int) -> RationalFunction:
    """Return eta G_a."""
    return leaf.letter("eta") * leaf.letter(f"G{leaf.number(a)}")


def _after(f: RationalFunction, images: Field) -> RationalFunction:
    return f.compose(images, f.field)
