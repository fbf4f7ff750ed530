"""The dimension-free statements on beta = phi(a, |u|) u, proved again in components for one d."""

from __future__ import annotations

from fractions import Fraction

from derive.errors import ConsistencyError, InputError
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction
from derive.exact.towers.tower import to_field
from derive.model.direction import Direction
from derive.roads.components import (
    component_names,
    components,
    components_along_axis,
    written_in_components,
)
from derive.verdict import Finding, Identity, Verdict
from derive.weights.conserved import ConservedQuantities, along, find_conserved, find_lie_structure
from derive.weights.dual import DualLength
from derive.weights.hessian import WarpVerdict, decide_hessian, decide_warp
from derive.weights.metric import find_metric


def check_dimension(
    direction: Direction,
    conserved: ConservedQuantities,
    hessian: Finding,
    dual: DualLength | None,
    d: int,
) -> Finding:
    """Prove the verdicts, H_a = u_a |grad phi|^2/phi, the dual coordinates and laws for one d."""
    try:
        at = _Components(direction, d)
        structure = find_conserved(find_lie_structure(at.parameterization))
        explicit = decide_warp(decide_hessian(find_metric(structure)))
        ours, theirs = hessian.verdict, explicit.hessian.verdict
        if Verdict.UNDECIDED not in (ours, theirs) and ours is not theirs:
            raise ConsistencyError(f"Hessian map: {ours.value}, but {theirs.value} at d = {d}")
        if explicit.verdict is Verdict.REFUTED:
            raise ConsistencyError(f"warp: PROVED, but REFUTED at d = {d}")
        identities = (
            *_warp_identities(at, explicit),
            *_law_identities(at, conserved),
            *(() if dual is None else _dual_identities(at, dual)),
        )
    except InputError as refused:
        return Finding(Verdict.UNDECIDED, f"the norm in components: {refused}")
    reason = f"the same warp, dual coordinates and laws in components, d = {d}"
    return Finding(Verdict.PROVED, reason, identities)


def _proved(statement: str, left: RationalFunction, right: RationalFunction) -> Identity:
    """Return the identity, or raise because it fails."""
    if left != right:
        raise ConsistencyError(f"{statement} fails in components")
    return Identity(statement, repr(left), repr(right))


class _Components:
    """F_i = phi u_i with the vector in components; the sign of phi is that near the start."""

    def __init__(self, direction: Direction, d: int) -> None:
        self.direction = direction
        self.vector = component_names(direction, d)
        from_zero = direction.parameterization.w0[-1].is_zero()
        axis = components_along_axis(direction, d) if from_zero else None
        self.parameterization = axis or components(direction, d, {})

    def lift(self, function: RationalFunction) -> RationalFunction:
        """Return a function of (a, n) as one of the components; InputError without a root."""
        tree = written_in_components(self.direction, self.vector, function)
        return to_field(tree, self.parameterization.field, "a function of the norm")

    @property
    def positions(self) -> range:
        """Where the components are among the weights."""
        p = self.parameterization
        return range(p.p - p.d, p.p)


def _warp_identities(at: _Components, explicit: WarpVerdict) -> tuple[Identity, ...]:
    """Compare the decided H_a = <grad F_a, grad log g> with u_a H/n, u_a |grad phi|^2/phi."""
    rate = at.lift(at.direction.H / at.direction.n)
    gens = at.parameterization.field.gens
    return tuple(
        _proved(f"H{i} = {at.vector[i - 1]} |grad phi|**2/phi", h, gens[k] * rate)
        for i, (h, k) in enumerate(zip(explicit.H or (), at.positions, strict=True), 1)
    )


def _law_identities(at: _Components, conserved: ConservedQuantities) -> tuple[Identity, ...]:
    p, n = at.parameterization, at.direction.n
    even = [at.lift(law * law if law == n else law) for law in conserved.laws]
    return tuple(
        _proved(f"<grad c, grad F{j}> = 0, c = {law!r}", along(x, law), p.field.zero)
        for law in even
        for j, x in enumerate(p.fields, 1)
    )


def _dual_identities(at: _Components, dual: DualLength) -> tuple[Identity, ...]:
    """Expand <grad y_i, grad F_j> = g delta_ij, divided by psi/n, for y_i = (psi/n) u_i."""
    p, n = at.parameterization, at.direction.n
    half = n.field.constant(Fraction(1, 2))
    logs = [(c * half, a * a) if a == n else (c, a) for c, a in dual.log_psi.logs]
    logs.append((-half, n * n))
    lifted = tuple((p.field.constant(c.value()), at.lift(a)) for c, a in logs)
    scale = LogFunction(at.lift(dual.log_psi.rational), lifted)
    phi = at.lift(at.direction.rate * at.direction.phi)
    identities = []
    for i, k in enumerate(at.positions, 1):
        for j, x in enumerate(p.fields, 1):
            left = x[k] + p.field.gens[k] * scale.along(x)
            right = phi if i == j else p.field.zero
            what = f"<grad y{i}, grad F{j}> = {'g' if i == j else '0'}"
            identities.append(_proved(what, left, right))
    return tuple(identities)
