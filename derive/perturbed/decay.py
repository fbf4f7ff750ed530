"""Weight decay: w' = G^-1 J^T lambda - kappa(t) w, or -kappa(t) G^-1 dh for a penalty h.

With a = int kappa dt, per unit of a a law changes by -<dc, w>, and y_i by -<dy_i, w> beside the
steering g lambda_i. Where that is q y_i + f(c), one q for all outputs, y - y(w_0) leaves the row
space by the solution of xi' = kappa (q (y_0 + xi) + f(c)) alone.

Where the fields are homogeneous, X_b(s w) = s^m X_b(w), decay shrinks the start and does nothing
else: w = exp(-a) v has v' = exp((1 - m) a) sum_b lambda_b X_b(v), gradient flow from w_0 with a
steering in the row space. So where a stays finite and the limit interpolates, it is that of
gradient flow from exp(-a) w_0, for every F with a Q, warped or not: our own derivation.
"""

from __future__ import annotations

from dataclasses import replace

from derive.errors import InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.linear.matrix import dot, rank
from derive.exact.towers.tower import build_elements
from derive.language.tree import Tree
from derive.model.geometry import Field
from derive.model.parameterization import Parameterization
from derive.perturbed.drift import Drift, drift_of, in_beta, open_drift
from derive.perturbed.followed import Followed, Leaf
from derive.verdict import Finding, Identity, Verdict

STEERING = Finding(
    Verdict.PROVED,
    "h is a function of `beta`, so this is gradient flow of `L + k(t) h`: no law moves, and "
    "`y' = g (lambda - k dh/dbeta)`",
    (Identity("dh is in the span of the dF_a", "0", "0"),),
)


def decay_of(penalty: Tree | None, leaf: Leaf, x: Followed) -> Drift:
    """Return what weight decay does to a law or dual coordinate, per unit of int kappa."""
    leaf, push = pushed_by(penalty, leaf)
    x = x.over(push[0].field)
    z = LogFunction(-dot(push, x.gradient))
    if x.output is None:
        return drift_of(leaf, x, z)
    q = _factor(leaf, z.rational, x.output)
    if q is None:
        found = open_drift(leaf, x, leaf.with_logs(z), f"is not q {x.symbol} + f(c)")
        return replace(found, in_beta=in_beta(leaf, z.rational))
    found, in_laws = drift_of(leaf, x, z, LogFunction(q)), None
    if q.is_zero() or not x.function.logs:  # z = q y + f(c), where f is affine
        rest = leaf.in_laws(z.rational - q * x.function.rational)
        in_laws = None if rest is None else leaf.written(q) * x.symbol + rest
    return replace(found, in_laws=in_laws, factor=leaf.in_laws(q))


def pushed_by(penalty: Tree | None, leaf: Leaf) -> tuple[Leaf, Field]:
    """Return the weights, or G^-1 dh for a penalty h, and the leaf over the field of that.

    Raises:
        InputError: h is singular at the start.
    """
    p = leaf.parameterization
    if penalty is None:
        return leaf, p.w
    *_, h = build_elements((*p.trees, *p.geometry.trees, penalty), p.weights, p.parameters)
    within, field = leaf, leaf.parameterization.field
    if not set(h.field.names) <= set(field.names):
        within, field = leaf.over(h.field), h.field
    dh = field.gradient(field.embed(h))[: p.p]
    try:
        for x in dh:
            within.parameterization.at_start(x)
    except (ZeroDivisionError, InputError):
        raise InputError("the penalty has no gradient at the start: choose another start") from None
    return within, p.geometry.raised(dh, field.embed)


def is_of_outputs(penalty: Tree, leaf: Leaf) -> bool:
    """Tell whether h is a function of beta: dh = sum_a h_a dF_a, exactly.

    Then -kappa G^-1 dh steers, as loss does: w' = sum_a (lambda_a - kappa h_a) X_a.
    """
    within, push = pushed_by(penalty, leaf)
    fields = within.parameterization.fields
    return rank((*fields, push)) == rank(fields)


def _factor(leaf: Leaf, z: RationalFunction, i: int) -> RationalFunction | None:
    """Return q with z - q y_i conserved: <grad z, grad F_j> = q g delta_ij for all j; or None.

    It is a constant: what changes with laws would differ from one copy of F to the next.
    """
    slopes = [dot(x, z.field.gradient(z)) for x in leaf.parameterization.fields]
    if leaf.g is None or any(not s.is_zero() for j, s in enumerate(slopes) if j != i):
        return None
    q = slopes[i] / leaf.g
    return None if set(q.variables()) - q.field.parameters else q


def field_degree(p: Parameterization) -> RationalFunction | None:
    """Return m with X_b(s w) = s^m X_b(w) for every field, by Euler's identity, or None."""
    entries = [x for row in p.fields for x in row if not x.is_zero()]
    moved = [dot(p.w, p.field.gradient(x)) for x in entries]
    m = moved[0] / entries[0]
    if set(m.variables()) - p.field.parameters:
        return None
    return m if all(z == m * x for z, x in zip(moved, entries, strict=True)) else None
