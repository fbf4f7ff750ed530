"""The derivation of a vector model beta = phi(a, |u|) u for every dimension d >= 2 at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from derive.errors import NumericalError
from derive.model.notation import to_expr
from derive.potential.piece import Explicit
from derive.printable import Printable
from derive.records import Conserved, Decision
from derive.vectors.components import DimensionCheck, check_dimension, components
from derive.vectors.potential import RadialPotential, find_radial_potential
from derive.vectors.reduce import Equivariant, VectorForm, reduce_vector, start_direction
from derive.verdict import Finding, Identity, Verdict, conclude
from derive.weights.conserved import find_conserved
from derive.weights.hessian import decide_hessian
from derive.weights.lie import find_lie_structure
from derive.weights.metric import Metric, find_metric
from derive.weights.warping import decide_warp
from derive.weights.witness import find_failure

if TYPE_CHECKING:
    from derive.derivation import Derivation


@dataclass(frozen=True)
class RadialDerivation(Printable):
    """Everything that was derived from one vector model, with the verdict.

    Attributes:
        model: phi, the vector and the start.
        metric: that of the reduced model s(a, |u|).
        conserved: the laws, functions of the scalars and the norm.
        hessian: is rho a Hessian map?
        warping: the warp g.
        potential: q and the slope of the linear term.
        checks: what was proved again in components.
    """

    model: Equivariant
    metric: Metric
    conserved: Conserved
    hessian: Decision
    warping: Decision
    potential: RadialPotential
    checks: tuple[DimensionCheck, ...]

    @property
    def verdict(self) -> Verdict:
        """PROVED: Q exists and is given. UNDECIDED otherwise: a warp always exists."""
        return conclude((self.warping.finding, self.potential.finding))

    @property
    def s(self) -> Symbol:
        """The symbol of |beta|."""
        return self.model.notation.betas[0]

    @functools.cached_property
    def Q(self) -> Expr | None:
        """Q in s = |beta| and the inner product <u_0, beta>; roots and constants by name."""
        if self.potential.piece is None:
            return None
        return self.potential.piece.value - self.potential.slope * start_direction(self.model)


def derive_radial(
    form: VectorForm,
    start: Mapping[str, Any] | None = None,
    positive: Iterable[str] = (),
    progress: Callable[[str], None] | None = None,
    dimensions: Iterable[int] = (2,),
) -> RadialDerivation:
    """Derive the implicit regularizer of gradient flow on beta = phi(a, |u|) u, any d >= 2.

    Args:
        form: the model, one vector.
        start: values of scalars at the start; that of the vector is its norm |u_0|.
        positive: start symbols or scalars that start positive.
        progress: called with the name of each stage as it begins.
        dimensions: those in which the statements are proved again in components.

    Raises:
        InputError: d is needed, or names do not fit.
        DegenerateStart: the predictor cannot move from the start.
        ConsistencyError: two derivations disagree; a fault of this program.
    """
    enter = progress or (lambda stage: None)
    enter("reduction to scalars")
    model = reduce_vector(form, start, positive)
    enter("conserved quantities")
    laws = find_conserved(find_lie_structure(model.reduced))
    enter("metric")
    metric = find_metric(laws)
    enter("Hessian-map decision")
    hessian = _decide_hessian(model)
    enter("potential")
    potential = find_radial_potential(model, decide_warp(decide_hessian(metric)))
    warping = _warping(model, hessian, potential)
    enter("components")
    checks = tuple(check_dimension(model, laws, hessian, potential.dual, d) for d in dimensions)
    notation = model.notation
    values = tuple(to_expr(model.reduced.at_start(x), notation.start_symbols) for x in laws.laws)
    conserved = Conserved(
        tuple(to_expr(x, notation.weights) for x in laws.laws),
        values,
        laws.bound,
        laws.completeness,
    )
    return RadialDerivation(model, metric, conserved, Decision(hessian), warping, potential, checks)


def in_components(derivation: RadialDerivation, d: int = 3) -> Derivation:
    """Return the derivation of the same model in R^d with the dimension-free Q as its potential.

    u starts along the first axis. It serves to check Q(beta) by flows of the weights.

    Raises:
        NumericalError: Q was not found.
    """
    from derive.derivation import derive

    model, piece = derivation.model, derivation.potential.piece
    if piece is None:
        raise NumericalError("there is no Q to check")
    if any(x.atoms(AppliedUndef) for x in (piece.value, *piece.gradient)):
        raise NumericalError("Q is an integral of psi(x): give a dimension, --vector u:3, to check")
    explicit = derive(components(model, d, along_axis=True))
    betas = explicit.beta
    length = sympy.sqrt(sympy.Add(*(b**2 for b in betas)))
    s = derivation.s
    first = derivation.potential.slope * to_expr(model.reduced.w0[-1], model.notation.start_symbols)
    slope = piece.gradient[0].subs(s, length) / length
    # With roots named or not, and Q an integral or not, the gradient is a formula in beta.
    expanded = Explicit(
        betas,
        piece.value.subs(s, length) - first * betas[0],
        tuple(slope * b - (first if i == 0 else 0) for i, b in enumerate(betas)),
        piece.constants,
        tuple(root.mapped(lambda e: e.subs(s, length)) for root in piece.roots),
        piece.assumptions,
        piece.evidence,
    )
    potential = replace(
        explicit.potential, finding=derivation.potential.finding, pieces=(expanded,)
    )
    return replace(explicit, potential=potential)


def _decide_hessian(model: Equivariant) -> Finding:
    """Decide whether g = psi phi/n is constant: <grad log g, grad s> = n |grad phi|^2/phi.

    The warp is unique up to a constant for d >= 2, so rho is a Hessian map exactly when it is
    constant on the leaf.
    """
    field, p = model.reduced.field, model.reduced
    slopes = field.gradient(model.phi)
    statement = f"<grad log g, grad s> = {model.norm} |grad phi|**2/phi = 0"
    if all(x.is_zero() for x in slopes):
        reason = "phi is constant, so the only warp g is, too"
        return Finding(Verdict.PROVED, reason, (Identity(statement, "0", "0"),))
    left = model.n * sum((x * x for x in slopes), field.zero) / model.phi
    failure = find_failure(p, statement, left, field.zero)
    if failure is None:
        reason = "the only warp is not constant for general starts, but not visibly on this leaf"
        return Finding(Verdict.UNDECIDED, reason)
    reason = "the only warp g, unique up to a factor for d >= 2, is not constant on the leaf"
    return Finding(Verdict.REFUTED, reason, (failure,))


def _warping(model: Equivariant, hessian: Finding, potential: RadialPotential) -> Decision:
    if hessian.verdict is Verdict.PROVED:
        return Decision(Finding(Verdict.PROVED, "g = 1: none is needed"), sympy.Integer(1))
    if potential.piece is None:
        return Decision(potential.finding)
    reason = (
        f"g = psi phi/{model.norm} with <grad psi, grad s> = g, which has a solution "
        f"on every leaf: <grad y_i, grad F_j> = g delta_ij for y = psi {model.vector}/{model.norm}"
    )
    return Decision(Finding(Verdict.PROVED, reason, potential.finding.evidence), potential.g)
