"""Stages 5 and 6: is rho a Hessian map, or g rho with a warp g? Decided exactly, in the weights.

The condition d_k rho_ij = d_i rho_kj (all i, j, k), contracted three times with K, is the
identity of functions of the weights

    X_a K_bc = X_b K_ac,   that is   [X_a, X_b] F_c = 0,   X_a = grad F_a,

with no inverse in it. It is necessary, and sufficient when moreover what it defines closes along
the vertical directions (:mod:`derive.weights.witness`).

Whether it, or the condition of a warp, fails is first looked at near starts in numbers: X_a, K, H
and the brackets are computed as Taylor polynomials of F around a start in numbers, with balls where
values are not rational. A condition whose two sides differ there fails on the leaf of that start: a
proof, for which no expression has been multiplied out. That they agree at a point proves nothing.

Where J has rank below d outputs move together, and beta stays on a surface in R^d. The steering
lambda has d components, and beta' = K lambda follows fewer. Dual coordinates y with
y' = g lambda, of which a Q(beta) with grad Q(beta) - grad Q(beta_0) in the row space of every X
is made, need <grad y_i, grad F_j> = g delta_ij. As sum_j n_j grad F_j = 0 for some n(w) that is
not 0, they have g n_i = 0 for every i: there are none with g > 0.

A positive warp g(beta) makes g rho a Hessian where, with H_a = X_a log g,

    H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac = [X_a, X_b] F_c,

linear equations for H whose 2 x 2 minors are Gram determinants, hence positive: there is at most
one H, so at most one g up to a constant. It exists on a leaf exactly when this H solves them all
and the conditions of :mod:`derive.weights.witness` hold.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random

import sympy
from flint import nmod
from sympy import Expr

from derive.exact.balls import Unbounded, Value, is_nonzero, precise, shown, values_of
from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.jets import Jet, jet_of
from derive.exact.linear.implicitization import Coordinates, Relation, RelationSearch
from derive.exact.linear.modular import Evaluator, Pole, random_point, rank
from derive.model.direction import Direction
from derive.model.geometry import Field
from derive.model.labels import quoted
from derive.model.notation import Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.verdict import Decided, Finding, Identity, Verdict
from derive.weights.metric import Metric
from derive.weights.witness import (
    Equation,
    Flow,
    NotProved,
    Sample,
    closure,
    find_failure,
    hessian_conditions,
    is_free,
    require,
    require_equations,
    samples,
    warp_candidate,
    warp_conditions,
)

HIGHEST = 12
"""Weighted degree at which the search for relations stops."""

MAXIMAL_MONOMIALS = 600


@dataclass(frozen=True)
class Dependence:
    """The surface in R^d on which the outputs of a block stay.

    Attributes:
        outputs: their number.
        rank: of J, the dimension of the surface.
        relations: P(beta) with P(F(w)) = 0 identically, each in an output that the others lack.
        missing: in how many more relations no polynomial was found.
        evidence: the identities P(F(w)) = 0.
    """

    outputs: int
    rank: int
    relations: tuple[Expr, ...]
    missing: int
    evidence: tuple[Identity, ...]

    @classmethod
    def of_rank(cls, p: Parameterization) -> Dependence | None:
        """Return what the rank of J alone says."""
        return None if p.rank == p.d else cls(p.d, p.rank, (), p.d - p.rank, ())


def find_dependence(p: Parameterization, notation: Notation) -> Dependence | None:
    """Return the relations among the outputs of a block, proved by expansion; None without any.

    Each output whose differential is spanned by others is tied to these by a polynomial P with
    P(F(w)) = 0.

    Args:
        p: d outputs; notation: names of their coordinates beta.

    Returns:
        d - rank J polynomials in beta and parameters, where they were found.

    Source: the row-space law is that of Gunasekar et al. 2018; that none exists is derived here.
    """
    if p.rank == p.d:
        return None
    named = dict(enumerate(zip((b.name for b in notation.betas), p.F, strict=True)))
    constants = p.field.constants.items()
    coordinates = Coordinates.of([*(named[i] for i in p.independent), *constants])
    relations = []
    for i in sorted(set(named) - set(p.independent)):
        search = RelationSearch(p.F[i], coordinates, limit=MAXIMAL_MONOMIALS)
        found = next(filter(None, map(search.at, range(1, HIGHEST + 1))), None)
        if found is not None:
            relations.append(_written(found, coordinates, notation, i))
    identities = tuple(Identity(f"{relation} = 0", "0", "0") for relation in relations)
    missing = p.d - p.rank - len(relations)
    return Dependence(p.d, p.rank, tuple(relations), missing, identities)


def _written(relation: Relation, coordinates: Coordinates, notation: Notation, i: int) -> Expr:
    """Return a relation in beta, its first term without a minus sign."""
    betas = {b.name: b for b in notation.betas}
    fixed = notation.parameterization.field.constants
    values = {name: to_expr(c, notation.start_symbols) for name, c in fixed.items()}
    images = [{**betas, **values}[name] for name in coordinates.field.names]
    terms = (
        to_expr(c, images) * notation.betas[i] ** n for n, c in enumerate(relation.coefficients)
    )
    found = sympy.expand(sympy.Add(*terms))
    return -found if found.could_extract_minus_sign() else found


def no_row_space_law(p: Parameterization) -> Finding | None:
    """Say why no Q(beta) has a row-space law, where J has rank below d; else None."""
    if p.rank == p.d:
        return None
    reason = (
        f"J has rank {p.rank} < {p.d}: no Q(beta) has grad Q(beta) - grad Q(beta_0) in the row "
        "space of every X; whether limits minimise some Q on the surface was not decided"
    )
    return Finding(Verdict.UNDECIDED, reason)


STARTS = 6
"""Starts at which the conditions are evaluated."""

ORDER = 4
"""Derivatives of F that are known there; the conditions look at 3, and 4 after one bracket."""

LARGE = 12
"""Terms of an entry of K above which a failure is shown in numbers, not in expressions.

Of a denominator the factors count, not their powers: they make no work.
"""

JetField = tuple[Jet, ...]


class LocalFlow(Flow[Jet]):
    """F around one start, given by the values there of all variables of its field."""

    def __init__(self, p: Parameterization, values: Sequence[Value]) -> None:
        """Take the Taylor polynomials of F and of what the geometry is made of."""

        def at(function: RationalFunction) -> Jet:
            return jet_of(p.field.embed(function), values, ORDER)

        covectors = [tuple(map(f.derivative, range(p.p))) for f in map(at, p.F)]
        self._labels, self._X = p.labels, tuple(p.geometry.raised(df, at) for df in covectors)
        self.K = tuple(tuple(_dot(df, x) for x in self._X) for df in covectors)

    @property
    def labels(self) -> tuple[int, ...]:
        """The numbers of the outputs."""
        return self._labels

    @property
    def X(self) -> tuple[JetField, ...]:
        """The fields grad F_a."""
        return self._X

    def slope(self, x: JetField, f: Jet) -> Jet:
        """Return the derivative of f along the field x."""
        return _dot(x, tuple(map(f.derivative, range(len(x)))))


Conditions = Callable[[LocalFlow], Iterator[Equation[Jet]]]


def find_failing_condition(metric: Metric, conditions: Conditions) -> Identity | None:
    """Return a condition that fails at a start, for a metric whose K is large, or None."""
    p, sizes = metric.parameterization, list[int]()
    for x in (x for row in metric.K for x in row):
        below = factors(x.field.polynomial(x.denominator))
        sizes.append(len(x.numerator) + sum(len(f.numerator) for f, _ in below))
    if max(sizes) <= LARGE:
        return None
    for sample in islice(filter(functools.partial(is_free, p), samples(p)), STARTS):
        try:
            with precise():
                found = _failure_at(p, sample, conditions)
        except (ZeroDivisionError, Unbounded):
            continue
        if found is not None:
            return found
    return None


def _failure_at(p: Parameterization, sample: Sample, conditions: Conditions) -> Identity | None:
    point = {name: sample.of(w) for name, w in zip(p.weights, p.w0, strict=True)}
    point |= {name: sample.of(sample.field.named(name)) for name in p.parameters}
    local = LocalFlow(p, values_of(p.field, point))
    for claim, left, right, kind, of in conditions(local):
        residual = (left - right).value
        if is_nonzero(residual):
            sides = str(shown(left.value)), str(shown(right.value))
            at = sample.point(p), shown(residual)
            return Identity(claim, *sides, *at, kind=kind, of=of)
    return None


def warp_and_closure(local: LocalFlow) -> Iterator[Equation[Jet]]:
    """Yield the equations for H, then closure as far as derivatives of F are known."""
    H = warp_candidate(local)
    if len(H) > 2:  # for d = 2 the candidate solves them
        yield from warp_conditions(local, H)
    yield from closure(local, H, lambda v: v[0].order > 1)


def _dot(x: JetField, y: JetField) -> Jet:
    total = x[0] * y[0]
    for a, b in zip(x[1:], y[1:], strict=True):
        total = total + a * b
    return total


FAILS = "d_k rho_ij = d_i rho_kj fails on the leaf of the start"
OPEN = (
    "d_k rho_ij = d_i rho_kj fails for general starts, but not visibly on the leaf of this one, "
    "whose closure was not decided"
)
NOT_CLOSED = "rho is not, up to any factor g, a Hessian in beta on the leaf of the start"


@dataclass(frozen=True)
class HessianVerdict(Decided):
    """Whether rho is the Hessian of some Q(beta) on the leaf of the start, with the identities."""

    metric: Metric
    finding: Finding


def decide_hessian(metric: Metric) -> HessianVerdict:
    """Decide whether gradient flow on F is a mirror flow beta' = (Hess Q)^-1 lambda.

    It is where X_a K_bc = X_b K_ac for all a, b, c and K closes on the leaf.

    Args:
        metric: K of d outputs.

    Returns:
        PROVED with the expanded identities; REFUTED with one that fails at a named start;
        UNDECIDED where one fails, but not visibly on the leaf of this start, or J has rank below d.

    Source: Gunasekar, Woodworth, Srebro 2020 (Hessian-map condition); Li, Wang, Lee, Arora 2022
    (commuting fields).
    """
    p = metric.parameterization
    if metric.direction is not None:
        return HessianVerdict(metric, _needs_no_warp(metric.direction))
    if p.d == 1:
        reason = "one output: beta is monotone along grad F, so K > 0 is a function of beta"
        return HessianVerdict(metric, Finding(Verdict.PROVED, reason))
    singular = no_row_space_law(p)
    if singular is not None:
        return HessianVerdict(metric, singular)
    failure = find_failing_condition(metric, hessian_conditions)
    if failure is not None:
        return HessianVerdict(metric, Finding(Verdict.REFUTED, FAILS, (failure,)))
    try:
        equations = require_equations(p, hessian_conditions(metric), FAILS, OPEN)
    except NotProved as end:
        return HessianVerdict(metric, end.finding)
    if metric.lie.commuting:
        reason = "the fields grad F_a commute, so d_k rho_ij = d_i rho_kj on every leaf"
        return HessianVerdict(metric, Finding(Verdict.PROVED, reason, equations))
    closed = check_closure(metric, (p.field.zero,) * p.d)
    if closed.verdict is Verdict.PROVED:
        closed = replace(closed, evidence=(*equations, *closed.evidence))
    return HessianVerdict(metric, closed)


def check_closure(metric: Metric, H: Field) -> Finding:
    """Decide whether some g makes g * rho a Hessian, for H that solves its equations, d >= 2."""
    p, point = metric.parameterization, random_point(metric.parameterization.field, Random(4))
    vertical, values = list[Field](), list[list[nmod]]()

    def is_new(v: Field) -> bool:
        try:
            rows = [*values, [Evaluator(x)(point) for x in v]]
        except Pole:
            raise _undecided("a vertical field has a pole at a random point") from None
        if rank(rows) < len(rows):
            return False
        vertical.append(v)
        values.append(rows[-1])
        return True

    try:
        equations = [e for e in closure(metric, H, is_new) if require(p, [e], NOT_CLOSED)]
        laws = len(metric.conserved.laws)
        if vertical and p.d + len(vertical) + laws != p.p:
            raise _undecided(
                f"{len(vertical)} vertical directions and {laws} conserved quantities leave the "
                f"dimension of the leaf open (d = {p.d}, p = {p.p})"
            )
    except NotProved as end:
        return end.finding
    evidence = [
        Identity(e.statement, repr(e.left), repr(e.right)) for e in equations if e.kind == "closed"
    ]
    statement = "V K = omega(V) K for every vertical V on a leaf"
    factors = (repr(metric.change(v, 0, 0)) for v in vertical)
    evidence += [Identity(statement, factor, factor) for factor in factors]
    reason = "rho is, up to the factor g, a function of beta on every leaf, and a Hessian"
    return Finding(Verdict.PROVED, reason, tuple(evidence))


def _undecided(reason: str) -> NotProved:
    return NotProved(Finding(Verdict.UNDECIDED, reason))


def _needs_no_warp(direction: Direction) -> Finding:
    """Decide whether the warp g = psi r phi/n, unique up to a factor for d >= 2, is constant."""
    p, H = direction.parameterization, direction.H
    forced = f"{direction.norm} |grad phi|**2/phi"
    if any(not x.is_zero() for x in p.field.gradient(direction.rate)[: p.p]):
        forced += f" + <grad log rate({direction.vector}), grad s>"
    statement = f"<grad log g, grad s> = {forced} = 0"
    if H.is_zero():
        reason = "phi is constant, so the only warp g is, too"
        return Finding(Verdict.PROVED, reason, (Identity(statement, "0", "0"),))
    failure = find_failure(p, Equation(statement, H, p.field.zero))
    if failure is None:
        reason = "the only warp is not constant for general starts, but not visibly on this leaf"
        return Finding(Verdict.UNDECIDED, reason)
    reason = "the only warp g, unique up to a factor for d >= 2, is not constant on the leaf"
    return Finding(Verdict.REFUTED, reason, (failure,))


NO_CANDIDATE = "the only candidate for H_a = <grad F_a, grad log g> fails: no scalar warp exists"
NOT_VISIBLY = "the equations for the warp fail for general starts, but not visibly on this leaf"


@dataclass(frozen=True)
class WarpVerdict(Decided):
    """Whether a warp exists, and the derivatives of its logarithm.

    Attributes:
        H: H_a = <grad F_a, grad log g>, functions of the weights; None where refuted.
    """

    hessian: HessianVerdict
    finding: Finding
    H: Field | None

    @property
    def metric(self) -> Metric:
        """The metric decided on."""
        return self.hessian.metric

    @property
    def parameterization(self) -> Parameterization:
        """The map F."""
        return self.metric.parameterization


def decide_warp(hessian: HessianVerdict) -> WarpVerdict:
    """Decide whether gradient flow on F is a mirror flow in a warped time.

    It is where the only candidate H solves H_a K_bc - H_b K_ac = X_a K_bc - X_b K_ac for all
    a, b, c, and the closedness conditions hold.

    Args:
        hessian: the verdict without a warp, for d outputs.

    Returns:
        PROVED, REFUTED or UNDECIDED as for a Hessian map; H with the first and the last.

    Source: Azulay et al. 2021, section 5, for the warp; the exact test is derived here.
    """
    metric = hessian.metric
    p = metric.parameterization
    zero = (p.field.zero,) * p.d
    if metric.direction is not None and hessian.verdict is not Verdict.PROVED:
        return WarpVerdict(hessian, _of_direction(metric.direction), (metric.direction.H,))
    if hessian.verdict is Verdict.PROVED:
        return WarpVerdict(hessian, Finding(Verdict.PROVED, "g = 1: none is needed"), zero)
    if p.rank < p.d:
        return WarpVerdict(hessian, hessian.finding, None)
    if p.d == 1:
        raise AssertionError("a single output is always a Hessian map")
    failure = find_failing_condition(metric, warp_and_closure)
    if failure is not None:
        reason = NO_CANDIDATE if failure.kind == "candidate" else NOT_CLOSED
        return WarpVerdict(hessian, Finding(Verdict.REFUTED, reason, (failure,)), None)
    H = warp_candidate(metric)
    try:
        solved = require_equations(p, warp_conditions(metric, H), NO_CANDIDATE, NOT_VISIBLY)
        closure = check_closure(metric, H)
        finding = replace(closure, evidence=(*solved, *closure.evidence))
    except NotProved as end:
        finding = end.finding
    return WarpVerdict(hessian, finding, None if finding.verdict is Verdict.REFUTED else H)


def _of_direction(direction: Direction) -> Finding:
    """Say that g = psi r phi/n is a warp: s grows along the leaf, a curve, so psi is psi(s)."""
    p = direction.parameterization
    n, u = quoted(direction.norm, p), quoted(direction.vector, p)
    reason = (
        f"g = psi {direction.pushed}/{n} with <grad psi, grad s> = g, which has a solution on "
        f"every leaf: <grad y_i, grad F_j> = g delta_ij for y = psi {u}/{n}"
    )
    return Finding(Verdict.PROVED, reason)
