"""Stage 7: dual coordinates y_1, ..., y_d for the warp g, found by one linear nullspace.

The dual coordinates solve <grad y_i, grad F_j> = g delta_ij. Along gradient flow with steering
lambda(t) they move by y' = g lambda, so y - y(w_0) stays in the row space of the data: y is the
mirror map grad Q, read in the weights. The one g is known by its logarithm, and the equation is
linear in the coefficients of y over any family of functions. A second linear system gives the
conjugate R of Q in the weights,

    <grad R, grad F_j> = g F_j,      Q = sum_i y_i F_i - R,

so that no integral has to be found. Both are accepted by these identities in Q(w).

The families in which they are sought are in :mod:`derive.weights.dual_families`. Where there are as
many weights as outputs, grad y = g (J^T)^-1 is known, and its degrees and poles give the last one.

Of a vector of open dimension grad Q = psi u/|u|: for y = psi u/n, n = |u|, the dual equations <grad
y_i, grad F_j> = g delta_ij hold in every dimension exactly when g = psi r phi/n and <grad psi, grad
s> = g, with the rate r of u. For log psi that is linear,

    <grad log psi, grad s> = r phi/n,

so psi = exp(rational) prod P_k^c_k is found by one nullspace, and accepted by this identity of
rational functions. If moreover <grad t, grad s> + t r phi/n = |grad s|^2 then q = psi t is an
antiderivative of psi along the leaf.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction, monomials
from derive.exact.linear.matrix import Matrix, dot, inverse
from derive.model.condition import Condition, Sign
from derive.model.direction import Direction
from derive.model.geometry import Field
from derive.model.notation import Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.verdict import Identity
from derive.weights.adjoin import WrittenWarp, candidates, find_logarithm, find_warp
from derive.weights.conserved import (
    ConservedQuantities,
    combination,
    has_slopes,
    particular_solutions,
    with_slopes,
)
from derive.weights.dual_families import (
    MAXIMAL_COLUMNS,
    conjugate_family,
    dual_families,
    forms_of_warp,
    integral_family,
    regular,
)
from derive.weights.hessian import WarpVerdict
from derive.weights.metric import Metric
from derive.weights.witness import is_zero_along_flow


@dataclass(frozen=True)
class DualCoordinates:
    """Functions of the weights with <grad y_i, grad F_j> = g delta_ij, each y_i up to a constant.

    Attributes:
        g: the warp; 1 for a Hessian map.
        R: the conjugate potential in the weights, or None when none was found in the families.
    """

    warping: WarpVerdict
    y: tuple[LogFunction, ...]
    g: RationalFunction
    R: LogFunction | None
    evidence: tuple[Identity, ...]

    @property
    def metric(self) -> Metric:
        """K as functions in the field of g."""
        return self.warping.metric

    @property
    def parameterization(self) -> Parameterization:
        """The map F."""
        return self.warping.parameterization


def find_dual(warping: WarpVerdict) -> DualCoordinates | None:
    """Return dual coordinates and warp in the simplest family that has them, or None.

    They solve <grad y_i, grad F_j> = g delta_ij, linear in the coefficients of y.

    Args:
        warping: the verdict on the existence of g.

    Returns:
        d functions y_i, g, and R where found; None means "none in these families": only
        :func:`derive.weights.hessian.decide_warp` says "none at all".

    Source: Li, Wang, Lee, Arora 2022, for g = 1 and commuting fields.
    """
    warp = find_warp(warping)
    if warp is None:
        return None
    p, g = warp.warping.parameterization, warp.g
    y, R, members = _radial(warp), None, list[LogFunction]()
    for family in dual_families(warp):
        if y is None and family.y and p.d * len(family.y) <= 2 * MAXIMAL_COLUMNS:
            y = with_slopes(p, family.y, _sides(p, g))
        if y is not None:
            members = list(family.R)
            R = find_conjugate(p, g, members)
        if R is not None:
            break
    conserved = warp.warping.metric.conserved
    if y is None and p.p == p.d:
        y = with_slopes(p, integral_family(conserved, _differentials(p, g)), _sides(p, g))
    if y is None:
        return None
    R = R or find_conjugate(p, g, [*members, *forms_of_warp(conserved, g)])
    if R is None and p.p == p.d:
        slope = tuple(dot(p.F, column) for column in zip(*_differentials(p, g), strict=True))
        R = find_conjugate(p, g, integral_family(conserved, [slope]))
    return DualCoordinates(warp.warping, y, g, R, _evidence(p, y, g, R))


def _radial(warp: WrittenWarp) -> tuple[LogFunction, ...] | None:
    """Return y = (g/T) F where K = T I + c F F^T, as of a vector, if that is dual; else None."""
    p, radial = warp.warping.parameterization, warp.warping.metric.radial
    if radial is None:
        return None
    y = tuple(LogFunction(warp.g * f / radial[0]) for f in p.F)
    return y if len(regular(p, y)) == len(y) and is_dual(p, y, warp.g) else None


def _differentials(p: Parameterization, g: RationalFunction) -> Matrix:
    """Return grad y_i, which as many outputs as weights determine."""
    return tuple(tuple(g * x for x in row) for row in inverse(tuple(zip(*p.fields, strict=True))))


def _sides(p: Parameterization, g: RationalFunction) -> list[Field]:
    """Return g delta_ij, the slopes of y_i."""
    return [tuple(g if i == j else p.field.zero for j in range(p.d)) for i in range(p.d)]


def is_dual(p: Parameterization, y: Sequence[LogFunction], g: RationalFunction) -> bool:
    """Tell exactly whether <grad y_i, grad F_j> = g delta_ij: the check behind every (y, g)."""
    return all(has_slopes(p, yi, h) for yi, h in zip(y, _sides(p, g), strict=True))


def is_conjugate(p: Parameterization, R: LogFunction, g: RationalFunction) -> bool:
    """Tell exactly whether <grad R, grad F_j> = g F_j for every j."""
    return has_slopes(p, R, [g * f for f in p.F])


def find_conjugate(
    p: Parameterization, g: RationalFunction, family: Iterable[LogFunction]
) -> LogFunction | None:
    """Return R with <grad R, grad F_j> = g F_j, by Euler's identity or in the family, or None."""
    D, square = p.homogeneity, p.geometry.weight_square(p.w)
    if g == p.field.one and D is not None and not D.is_zero() and square is not None:
        R = LogFunction(square / (2 * D))
        if is_conjugate(p, R, g):
            return R
    members = list(family)
    found = with_slopes(p, members, [[g * f for f in p.F]]) if members else None
    return None if found is None else found[0]


def conjugate_in_time(
    conserved: ConservedQuantities, dual: DualCoordinates | None
) -> LogFunction | None:
    """Return R with <grad R, grad F> = F of one output, also where y was not found, or None."""
    if dual is not None:
        return dual.R
    p = conserved.parameterization
    return find_conjugate(p, p.field.one, conjugate_family(conserved, None))


def generic_parameters(dual: DualCoordinates, notation: Notation) -> tuple[Condition, ...]:
    """Say which values of the parameters are poles of y or R: there the solution is another."""
    field = dual.g.field
    functions = [*dual.y, *([] if dual.R is None else [dual.R])]
    elements = [x for f in functions for x in (f.rational, *(c for c, _ in f.logs))]
    denominators = (field.polynomial(x.denominator) for x in elements)
    constants = field.constants.keys()
    poles = (f for x in denominators for f, _ in factors(x) if {*f.variables()} <= constants)
    written = (to_expr(f, notation.start_symbols) for f in poles)
    return tuple(Condition(f, Sign.NONZERO) for f in written)


def positive_radicands(
    dual: DualCoordinates, before: Parameterization, notation: Notation
) -> tuple[Condition, ...]:
    """Say which radicands of the roots that g brought have to be positive at the start."""
    p = dual.parameterization
    brought = (g for g in p.field.generators if g.name not in before.field.names)
    starts = (p.at_start(p.field.embed(g.argument)) for g in brought if g.kind == "root")
    return tuple(Condition(to_expr(x, notation.start_symbols)) for x in starts)


def leaves_zero(dual: DualCoordinates) -> bool:
    """Tell whether g is 0 at the start, and is not all along the flow: it takes either sign."""
    p, g = dual.parameterization, dual.g
    if not p.at_start(g).is_zero():
        return False
    return not is_zero_along_flow(p, p.field.polynomial(g.numerator))


def orient(dual: DualCoordinates, sign: int) -> DualCoordinates:
    """Return (y, g, R), or for sign -1 all three with the opposite sign, which solves as well."""
    if sign > 0:
        return dual
    p = dual.parameterization
    minus = p.field.constant(-1)
    y, g = tuple(yi.scaled(minus) for yi in dual.y), -dual.g
    R = None if dual.R is None else dual.R.scaled(minus)
    return replace(dual, y=y, g=g, R=R, evidence=_evidence(p, y, g, R))


def _evidence(
    p: Parameterization, y: Sequence[LogFunction], g: RationalFunction, R: LogFunction | None
) -> tuple[Identity, ...]:
    right = {True: ("g", repr(g)), False: ("0", "0")}
    found = [
        Identity(f"<grad y{i}, grad F{j}> = {symbol}", repr(yi.along(x)), value, kind="dual")
        for i, yi in zip(p.labels, y, strict=True)
        for j, x in zip(p.labels, p.fields, strict=True)
        for symbol, value in (right[i == j],)
    ]
    if R is not None:
        found += [
            Identity(f"<grad R, grad F{j}> = g F{j}", repr(R.along(x)), repr(g * f))
            for j, x, f in zip(p.labels, p.fields, p.F, strict=True)
        ]
    return tuple(found)


REACH = 4
"""The largest degree in the scalars, and the largest power of 1/n or n, of a term."""


@dataclass(frozen=True)
class DualLength:
    """log psi, up to a constant, and t with q = psi t where one was found, with the identities."""

    log_psi: LogFunction
    ratio: RationalFunction | None
    evidence: tuple[Identity, ...]


def find_dual_length(direction: Direction, conserved: ConservedQuantities) -> DualLength | None:
    """Return psi with <grad log psi, grad s> = r phi/n, and q = psi t, or None.

    Args:
        direction: of a vector u of open dimension, n = |u|.
        conserved: the laws of s, whose factors may occur in psi.

    Returns:
        log psi in families of Laurent monomials and logarithms, accepted by the identity.

    Source: derived here.
    """
    p, rate = direction.parameterization, direction.turn
    exponents = [f for f in _laurent(direction, 0) if not f.is_constant()]
    log_psi = find_logarithm(p, candidates(conserved, [rate]), [rate], exponents)
    if log_psi is None:
        return None
    ratio = _ratio(direction, rate)
    left = repr(log_psi.along(p.fields[0]))
    claim = f"<grad log psi, grad s> = {direction.pushed}/{direction.norm}"
    evidence = [Identity(claim, left, repr(rate), kind="length")]
    if ratio is not None:
        both = (repr(_growth(direction, ratio, rate)), repr(direction.R))
        evidence.append(Identity("<grad q, grad s> = psi |grad s|**2", *both))
    return DualLength(log_psi, ratio, tuple(evidence))


def _ratio(direction: Direction, rate: RationalFunction) -> RationalFunction | None:
    """Return t with <grad t, grad s> + t r phi/n = |grad s|^2, proved, or None."""
    p = direction.parameterization
    family = list(_laurent(direction, p.degree))
    row = [*(_growth(direction, f, rate) for f in family), direction.R]
    for *multiples, scale in particular_solutions(p, [row]):
        t = combination(p, multiples, family) / -scale
        if _growth(direction, t, rate) == direction.R:
            return t
    return None


def _growth(direction: Direction, t: RationalFunction, rate: RationalFunction) -> RationalFunction:
    p = direction.parameterization
    return dot(p.fields[0], p.field.gradient(t)) + t * rate


def _laurent(direction: Direction, degree: int | None) -> Iterator[RationalFunction]:
    """Yield monomials in the scalars times powers of n, of one degree where s is homogeneous."""
    p = direction.parameterization
    found: list[tuple[int, ...]] = []
    for total, power in product(range(REACH + 1), range(-REACH, REACH + 1)):
        if p.degree is None or degree is None or total + power == degree:
            found += [(*e, power) for e in monomials(p.p - 1, total)]
    found.sort(key=lambda e: sum(map(abs, e)))
    for e in found[:MAXIMAL_COLUMNS]:
        yield p.field.monomial(e)
