"""Stage 7: dual coordinates y_1, ..., y_d and the warp g, found by one linear nullspace.

The dual coordinates solve <grad y_i, grad F_j> = g delta_ij. Along gradient flow with steering
lambda(t) they move by y' = g lambda, so y - y(w_0) stays in the row space of the data: y is the
mirror map grad Q, read in the weights. The equation is linear in the coefficients of y and g
over any family of functions. A second linear system gives the conjugate R of Q in the weights,

    <grad R, grad F_j> = g F_j,      Q = sum_i y_i F_i - R,

so that no integral has to be found. Both are accepted by these identities in Q(w).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import factorize
from derive.exact.linear.constants import nullspace_over_constants
from derive.exact.linear.families import LogFunction
from derive.exact.linear.modular import PRIME, Evaluator, Pole, nullspace, random_point, supports
from derive.model.notation import Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.verdict import Identity, Verdict
from derive.weights.adjoin import adjoin_warp
from derive.weights.dual_families import MAXIMAL_COLUMNS, adjoined_families, ansatz_families
from derive.weights.lie import along
from derive.weights.metric import Metric
from derive.weights.warping import WarpVerdict


@dataclass(frozen=True)
class DualCoordinates:
    """Functions of the weights with <grad y_i, grad F_j> = g delta_ij, proved.

    Attributes:
        warping: the verdict on existence.
        y: the dual coordinates, each up to an additive constant.
        g: the warp; 1 for a Hessian map.
        R: the conjugate potential in the weights, or None when none was found in the families.
        evidence: the identities, each expanded to zero.
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

    None means "none in these families"; only :func:`derive.weights.warping.decide_warp` says
    "none at all".
    """
    if warping.verdict is Verdict.REFUTED:
        return None
    adjoined = adjoin_warp(warping)
    families = ansatz_families(warping)
    if adjoined is not None:
        warping, families = adjoined.warping, adjoined_families(adjoined)
    p = warping.parameterization
    for y_family, g_family, R_family in families:
        solution = _solve(warping, y_family, g_family)
        if solution is None:
            continue
        y, g = solution
        R = find_conjugate(p, g, R_family)
        return DualCoordinates(warping, y, g, R, _evidence(p, y, g, R))
    return None


def _solve(
    warping: WarpVerdict, y_family: list[LogFunction], g_family: list[RationalFunction]
) -> tuple[tuple[LogFunction, ...], RationalFunction] | None:
    """Return the (y, g) of the families with g not zero, proved, or None.

    Where the leaf has more than d dimensions the dual equations alone admit y that are no
    functions of beta; X_a g = H_a g, H from the exact decision, leaves only those that are.
    """
    p = warping.parameterization
    size = len(y_family)
    if not size or not g_family or p.d * size + len(g_family) > 2 * MAXIMAL_COLUMNS:
        return None
    derivatives = [[Evaluator(f.along(x)) for f in y_family] for x in p.fields]
    warps = [Evaluator(g) for g in g_family]
    drifts = [
        [Evaluator(along(x, g) - h * g) for g in g_family]
        for x, h in zip(p.fields, _log_derivatives(warping), strict=True)
    ]

    def rows_at(point: tuple[int, ...]) -> list[list[int]]:
        along_fields = [[e(point) for e in row] for row in derivatives]
        g_values = [e(point) for e in warps]
        rows = []
        for i in range(p.d):
            for j in range(p.d):
                row = [0] * (p.d * size)
                row[i * size : (i + 1) * size] = along_fields[j]
                rows.append(row + [-x % PRIME if i == j else 0 for x in g_values])
        rows += [[0] * (p.d * size) + [e(point) for e in row] for row in drifts]
        return rows

    def columns(k: int) -> list[RationalFunction]:
        """Return the terms of unknown k in all equations, exactly."""
        zero = p.field.zero
        terms = [zero] * (p.d * p.d + p.d)
        if k < p.d * size:
            i, member = divmod(k, size)
            for j, x in enumerate(p.fields):
                terms[i * p.d + j] = y_family[member].along(x)
            return terms
        g, H = g_family[k - p.d * size], _log_derivatives(warping)
        for i, (x, h) in enumerate(zip(p.fields, H, strict=True)):
            terms[i * p.d + i] = -g
            terms[p.d * p.d + i] = along(x, g) - h * g
        return terms

    vectors = _nullspace(p, rows_at, size + len(g_family), columns)
    for vector in sorted(vectors, key=lambda v: sum(1 for c in v if c != 0)):
        g = sum(
            (c * f for c, f in zip(vector[p.d * size :], g_family, strict=True) if c != 0),
            p.field.zero,
        )
        if g.is_zero():
            continue
        # A constant warp is the choice of the unit of time: make it 1.
        scale = g.field.one / g if _is_number(g) else _unit(g)
        y = tuple(
            _combine(vector[i * size : (i + 1) * size], y_family, p).scaled(scale)
            for i in range(p.d)
        )
        g = g * scale
        if is_dual(p, y, g) and is_warp(warping, g):
            return y, g
    return None


def _log_derivatives(warping: WarpVerdict) -> Sequence[RationalFunction]:
    if warping.H is None:
        raise AssertionError("there is no warp to look for")
    return warping.H


def is_warp(warping: WarpVerdict, g: RationalFunction) -> bool:
    """Tell exactly whether <grad F_a, grad g> = H_a g: the nullspace's g is the one decided on."""
    p = warping.parameterization
    return all(
        along(x, g) == h * g for x, h in zip(p.fields, _log_derivatives(warping), strict=True)
    )


def _nullspace(
    p: Parameterization,
    rows_at: Callable[[tuple[int, ...]], list[list[int]]],
    unknowns: int,
    columns: Callable[[int], list[RationalFunction]],
) -> Sequence[Sequence[int | RationalFunction]]:
    """Return the nullspace of the rows at enough random points for blocks of *unknowns*.

    With parameters, vectors have functions of them as entries, found from the exact *columns*.
    """
    rng = Random(5)
    rows: list[list[int]] = []
    for _ in range(unknowns // p.d + 6):
        try:
            rows += rows_at(random_point(p.field, rng))
        except Pole:
            continue
    if not rows:
        return []
    if not p.parameters:
        return nullspace(rows)
    found: list[list[RationalFunction]] = []
    width = len(rows[0])
    for support in supports(rows):
        for vector in nullspace_over_constants([columns(k) for k in support]):
            entries = dict(zip(support, vector, strict=True))
            found.append([entries.get(k, p.field.zero) for k in range(width)])
    return found


def _combine(
    vector: Sequence[int | RationalFunction], family: Sequence[LogFunction], p: Parameterization
) -> LogFunction:
    total = LogFunction(p.field.zero)
    for c, member in zip(vector, family, strict=True):
        if c != 0:
            factor = p.field.constant(c) if isinstance(c, int) else c
            total = total + member.scaled(factor)
    return total


def _is_number(g: RationalFunction) -> bool:
    """Tell whether a function is made of numbers and parameters."""
    return set(g.variables()) <= g.field.parameters


def _unit(g: RationalFunction) -> RationalFunction:
    """Return the number that makes g primitive."""
    content = Fraction(int(g.numerator.content()), int(g.denominator.content()))
    return g.field.constant(1 / content)


def is_dual(p: Parameterization, y: Sequence[LogFunction], g: RationalFunction) -> bool:
    """Tell exactly whether <grad y_i, grad F_j> = g delta_ij: the check behind every (y, g)."""
    zero = p.field.zero
    return all(
        yi.along(x) == (g if i == j else zero)
        for i, yi in enumerate(y)
        for j, x in enumerate(p.fields)
    )


def is_conjugate(p: Parameterization, R: LogFunction, g: RationalFunction) -> bool:
    """Tell exactly whether <grad R, grad F_j> = g F_j for every j."""
    return all(R.along(x) == g * f for x, f in zip(p.fields, p.F, strict=True))


def find_conjugate(
    p: Parameterization, g: RationalFunction, family: list[LogFunction]
) -> LogFunction | None:
    """Return R in the family with <grad R, grad F_j> = g F_j, proved, or None."""
    if p.homogeneity is not None and not p.homogeneity.is_zero() and g == p.field.one:
        # Euler's identity for a D-homogeneous F: R = |w|^2 / (2 D).
        square = p.geometry.weight_square(p.w)
        R = None if square is None else LogFunction(square / (2 * p.homogeneity))
        if R is not None and is_conjugate(p, R, g):
            return R
    if not family:
        return None
    derivatives = [[Evaluator(f.along(x)) for f in family] for x in p.fields]
    right = [Evaluator(g * f) for f in p.F]

    def rows_at(point: tuple[int, ...]) -> list[list[int]]:
        return [
            [*(e(point) for e in row), -r(point) % PRIME]
            for row, r in zip(derivatives, right, strict=True)
        ]

    def columns(k: int) -> list[RationalFunction]:
        if k < len(family):
            return [family[k].along(x) for x in p.fields]
        return [-g * f for f in p.F]

    for vector in _nullspace(p, rows_at, len(family) + 1, columns):
        if vector[-1] != 0:
            scale = p.field.one / vector[-1]
            R = _combine(vector[:-1], family, p).scaled(scale)
            if is_conjugate(p, R, g):
                return R
    return None


def generic_parameters(dual: DualCoordinates, notation: Notation) -> tuple[str, ...]:
    """Say which values of the parameters are poles of y or R: there the solution is another."""
    field = dual.g.field
    functions = [*dual.y, *([] if dual.R is None else [dual.R])]
    elements = [x for f in functions for x in (f.rational, *(c for c, _ in f.logs))]
    poles: dict[str, None] = {}
    for element in elements:
        for factor, _ in factorize(element.denominator)[1]:
            whole = field.quotient(factor, field.ring.constant(1))
            if set(whole.variables()) <= field.parameters:
                poles[f"{to_expr(whole, notation.start_symbols)} != 0"] = None
    return tuple(poles)


def orient(dual: DualCoordinates, sign: int) -> DualCoordinates:
    """Return (y, g, R), or for sign -1 all three with the opposite sign, which solves as well."""
    if sign > 0:
        return dual
    p = dual.parameterization
    minus = p.field.constant(-1)
    y = tuple(yi.scaled(minus) for yi in dual.y)
    R = None if dual.R is None else dual.R.scaled(minus)
    return DualCoordinates(dual.warping, y, -dual.g, R, _evidence(p, y, -dual.g, R))


def _evidence(
    p: Parameterization, y: Sequence[LogFunction], g: RationalFunction, R: LogFunction | None
) -> tuple[Identity, ...]:
    found = [
        Identity(
            f"<grad y{i}, grad F{j}> = {'g' if i == j else '0'}",
            repr(yi.along(x)),
            repr(g) if i == j else "0",
        )
        for i, yi in zip(p.labels, y, strict=True)
        for j, x in zip(p.labels, p.fields, strict=True)
    ]
    if R is not None:
        found += [
            Identity(f"<grad R, grad F{j}> = g F{j}", repr(R.along(x)), repr(g * f))
            for j, x, f in zip(p.labels, p.fields, p.F, strict=True)
        ]
    return tuple(found)
