"""Regimes of a derived Q: its limits in the scale, or any other symbol, of the start.

Two roads. For homogeneous F and a start that is scaled as a whole, the kernel regime follows from
the covariance of Q (:mod:`derive.limits.kernel_regime`), closed form or not. For every symbol of
the start the gradient of the closed form is expanded exactly (:mod:`derive.limits.fixed_beta`).

Limits of Q at a fixed predictor beta: which expansion fits the kind of Q.

Of coupled outputs let Q = q(|beta|) + <z, beta> in which q outgrows the linear term, whatever its
growth: grad Q = psi(s) beta/s + z with s = |beta| and psi = q' > 0. Where z/psi(s) -> 0 at every s
> 0, grad Q/psi -> beta/|beta|, the gradient of the l2 norm, uniformly on compact sets without 0,
because psi is increasing. Minimizers of Q on {X beta = y}, y != 0, stay bounded, and the optimality
conditions of their limits are those of least l2 norm. psi may outgrow every power.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, combinations
from string import ascii_lowercase

import sympy
from sympy import Expr, Symbol

from derive.claims import assumed
from derive.components import in_components
from derive.derivation import Derivation, Model, derived, map_of
from derive.errors import InputError, NumericalError
from derive.exact.asymptotics import depths_in
from derive.exact.elementary_signs import ElementarySigns, OpenSign, Undecided
from derive.exact.field.function_field import RationalFunction
from derive.language import to_sympy
from derive.limits import statements as claims
from derive.limits.fixed_beta import ClosedGradient, closed_form_limit
from derive.limits.growing_beta import GrowingLimit, growing_limits
from derive.limits.implicit import largest_roots, parametric_limit
from derive.limits.kernel_regime import (
    Homogeneity,
    ScaledStart,
    TangentKernel,
    find_homogeneity,
    find_scaled_start,
    find_tangent_kernel,
    kernel_limit,
    near_start,
)
from derive.limits.limit import (
    Limit,
    LimitingPotential,
    Point,
    find_radial,
    read_point,
    undecided,
    with_scale,
)
from derive.limits.small_start import small_start_limit
from derive.limits.warped_time import WarpedTime, find_warped_time
from derive.model.condition import Condition, Sign
from derive.model.direction import Direction
from derive.model.geometry import EUCLIDEAN, Field
from derive.model.grading import entries, find_gradings
from derive.model.notation import Notation, rational, to_expr
from derive.potential.chart import length_of
from derive.potential.piece import start_signs
from derive.potential.separation import find_separation
from derive.printable import Certified, Plotted
from derive.statement import Claims, Open, Statement
from derive.verdict import Finding, Identity, Verdict, conclude

_CASES = 2
"""Functions of the start of which either sign is tried."""


@dataclass(frozen=True, repr=False)
class Regimes(Claims, Plotted, Certified):
    """Where Q tends to, in one symbol of the start.

    Attributes:
        derivation: of Q.
        variable: the start symbol.
        kernel: the tangent kernel at the start.
        homogeneity: F(c w) = c^D F(w), or None.
        grading: where it is None, F(c^Lambda w) = c F(w) for diagonal Lambda, by weight; or None.
        deciding: that Q depends on the start through K(w_0) alone, which then decides every joint
            limit; None where that was not proved, or there is no second symbol.
        limits: what Q tends to.
        warped: what is proved of the warped time; None where g = 1, or is not known.
        growing: limits at beta that grow as the start tends there.
        vector: of open dimension: beta1 is along its start, beta2 the length of the rest; or "".
    """

    derivation: Derivation
    variable: str
    kernel: TangentKernel
    homogeneity: Homogeneity | None
    deciding: Finding | None
    limits: tuple[Limit, ...]
    warped: WarpedTime | None = None
    vector: str = ""
    grading: Mapping[Expr, Expr] | None = field(default=None, hash=False)
    growing: tuple[GrowingLimit, ...] = ()

    @functools.cached_property
    def statements(self) -> tuple[Statement | Open, ...]:
        """What is claimed at the start, of each limit, and of the warped time."""
        d = self.derivation
        flow = (
            "gradient flow"
            if d.parameterization.geometry.steering.is_gradient
            else "the flow under one `lambda`"
        )
        claimed: list[Statement | Open] = [claims.at_start(d, self.kernel, self.assumptions)]
        claimed += () if self.homogeneity is None else claims.homogeneous(self.homogeneity, flow)
        claimed += () if self.grading is None else claims.graded(self.grading)
        claimed += () if self.deciding is None else [claims.deciding(self.deciding)]
        along = [x for x in self.assumptions if x.sign is Sign.KEPT]
        for limit in self.limits:
            claimed += claims.limit_statements(limit, d.beta, along)
        claimed += [x.statement for x in self.growing]
        warped = () if self.warped is None else claims.clock(self.warped, d.warping.g)
        return (*claimed, *warped)

    @property
    def verdict(self) -> Verdict:
        """PROVED where every limit is."""
        return conclude(tuple(limit.finding for limit in self.limits))

    @property
    def assumptions(self) -> tuple[Condition, ...]:
        """What Q assumes of the start."""
        return assumed(self.derivation)


def regimes(
    model: Model,
    variable: str = "alpha",
    toward: Iterable[str | int] = (0, "oo"),
    progress: Callable[[str], None] | None = None,
) -> Regimes:
    """Return the limits of Q as a positive start symbol tends to 0 and to infinity.

    At fixed beta grad Q = N (G + o(1)), so Q/N tends to a convex function with gradient G. Where
    the whole start is c^m w_1, also Q -> x^T K(w_0)^-1 x/2 at fixed x = beta - beta_0, up to a
    factor: the kernel regime.

    >>> from derive import Parameterization
    >>> p = Parameterization.parse(["p**2 - m**2"], {"p": "alpha", "m": "alpha"}, ["alpha"])
    >>> [limit.regime for limit in regimes(p).limits]
    ['rich', 'kernel']

    Args:
        model: a derivation, or F, whose start a new name scales; the limits of a vector of open
            dimension hold in every one.
        variable: a start symbol, or a parameter such as the depth.
        toward: the limits: 0, "oo", or a number with - or + behind it for one side, "1-".
        progress: called with the name of each step as it begins.

    Returns:
        a limit for each entry of *toward*, in its order, PROVED or UNDECIDED on its own; two where
        the sign of a function of the start decides.

    Raises:
        InputError: there is no such symbol, or a limit is not read.

    Source: Chizat, Oyallon, Bach 2019; Woodworth et al. 2020; Azulay et al. 2021, section 7.
    """
    if not isinstance(model, Derivation):
        model = with_scale(map_of(model), variable)
    derivation, enter = derived(model, progress), progress or (lambda step: None)
    direction = derivation.direction
    if direction is not None:
        derivation = in_plane(derivation, direction)
    p = derivation.potential.parameterization
    if variable not in (*p.start_symbols, *p.parameters):
        symbols = ", ".join((*p.start_symbols, *p.parameters)) or "none"
        raise InputError(f"{variable} is no symbol of the start; its symbols are: {symbols}")
    points = [read_point(variable, text) for text in toward]
    enter("tangent kernel")
    flow = _Flow.of(derivation, variable)
    limits: list[Limit] = []
    for point in points:
        enter(f"limit {point.text}")
        limits += _limits(flow, point)
    decided = _decided_by_kernel(derivation, flow.kernel)
    result = Regimes(derivation, variable, flow.kernel, flow.homogeneity, decided, tuple(limits))
    given = derivation.parameterization
    if flow.homogeneity is None and given.geometry == EUCLIDEAN:
        result = replace(result, grading=entries(given, find_gradings(given).one) or None)
    growing = (growing_limits(derivation, point) for point in points)
    result = replace(result, growing=tuple(chain.from_iterable(growing)))
    if direction is not None:
        # What holds of the warped time in the plane was not proved in other dimensions.
        return replace(result, vector=direction.vector)
    enter("warped time")
    return replace(result, warped=warped_time(derivation))


@dataclass(frozen=True)
class _Flow:
    """What all limits are taken of: *scaled* where the start is, H_a = X_a log g, and g(w_0)."""

    derivation: Derivation
    kernel: TangentKernel
    homogeneity: Homogeneity | None
    scaled: ScaledStart | None
    H: Field
    g: Expr

    @classmethod
    def of(cls, derivation: Derivation, variable: str) -> _Flow:
        p, g = derivation.potential.parameterization, derivation.warping.g
        notation = Notation(p, tuple(range(p.d)))
        # F on tied weights may be so where F of all is not
        whole = derivation.parameterization.homogeneity is not None
        homogeneity = find_homogeneity(p, notation) if whole else None
        # Several blocks need no warp.
        alone = len(derivation.blocks) == 1
        H = (derivation.blocks[0].warping.H if alone else None) or (p.field.zero,) * p.d
        if {*H[0].field.names} < {*p.field.names}:  # followed in fewer weights, from ties
            H = tuple(map(p.field.embed, H))
        scaled = None
        if homogeneity is not None and derivation.warping.verdict is Verdict.PROVED:
            scaled = find_scaled_start(p, homogeneity, variable, H)
        unit = sympy.S.One if g is None or not alone else g
        start = {w: to_sympy(tree, notation.start_symbols) for w, tree in p.start}
        at = {s: start[s.name] for s in unit.free_symbols if s.name in start}
        unit = unit.subs(at, simultaneous=True)
        return cls(derivation, find_tangent_kernel(p, notation), homogeneity, scaled, H, unit)


def _limits(flow: _Flow, point: Point) -> tuple[Limit, ...]:
    """Return the limit, or one for each sign of a function of the start that decides it."""
    kernel, p = flow.kernel, flow.derivation.potential.parameterization
    positive = {s.name for s in kernel.matrix.free_symbols if s.is_positive}
    decide = point.decisions(positive)
    start = {s.name: s for s in Notation(p, tuple(range(p.d))).start_symbols.values()}
    for condition, sign in chain.from_iterable(map(start_signs, flow.derivation.potential.pieces)):
        if sign.names <= start.keys() and _fails(sign, start, point):
            reason = f"`Q` assumes `{condition}`, which fails near this limit"
            return (undecided(point, reason),)
    try:
        limit = _limit(flow, point.in_exponentials((*kernel.matrix, *kernel.beta_0), positive))
    except OpenSign as fault:
        limit = undecided(point, fault)
    decisive = _open_factor(limit.open_sign, {*start, *p.parameters}, decide)
    if decisive is None or len(point.given) == _CASES:
        return (limit,)
    cases = [replace(point, given=(*point.given, sign * decisive)) for sign in (1, -1)]
    by_sign = [x for case in cases for x in _limits(flow, case)]
    return tuple(by_sign) if any(x.finding.verdict is Verdict.PROVED for x in by_sign) else (limit,)


def _fails(condition: Condition, start: Mapping[str, Symbol], point: Point) -> bool:
    """Tell whether f > 0, which Q assumes, is false at all starts near a limit: Q is another there.

    Where that is not decided, by the leading term of f, the assumption stands beside the limit.
    """
    f = condition.of.xreplace({s: start[s.name] for s in condition.of.free_symbols})
    names = {s.name for s in f.free_symbols}
    if condition.sign is not Sign.POSITIVE or point.variable not in names:
        return False
    decide = point.decisions(s.name for s in f.free_symbols if s.is_positive)
    try:
        expansion = point.expand(f, decide)
        if expansion.is_zero:
            return True
        return bool(decide.sign(expansion.first) * (-1) ** expansion.leading[1] < 0)
    except Undecided:
        return False


def _open_factor(f: Expr | None, names: set[str], decide: ElementarySigns) -> Expr | None:
    """Return a factor of a function of the start whose sign is not known, or None."""
    if f is None or not {s.name for s in f.free_symbols} <= names:
        return None
    sizes = (size.args[0] for size in sorted(f.atoms(sympy.Abs), key=str))
    factors = sympy.Mul.make_args(sympy.factor(sympy.numer(sympy.together(f))))
    for base in (*sizes, *(factor.as_base_exp()[0] for factor in factors)):
        try:
            decide.sign(base)
        except OpenSign:
            return base
        except Undecided:
            return None
    return None


def _limit(flow: _Flow, point: Point) -> Limit:
    """Return the limit at fixed beta; the one near beta_0 where that is all that was proved."""
    derivation, kernel = flow.derivation, flow.kernel
    p, near = derivation.potential.parameterization, None
    if flow.scaled is not None:
        near = kernel_limit(point, kernel, flow.scaled, Notation(p, tuple(range(p.d))), flow.g)
        near = near or small_start_limit(derivation.blocks, point, kernel, flow.scaled)
    if near is not None and near.regime == "kernel" and not kernel.unbiased:
        return near  # As beta_0 -> infinity there is nothing to see at fixed beta.
    fixed = predictor_limit(derivation, point, kernel)
    if fixed.finding.verdict is Verdict.PROVED:
        return fixed
    if near is None and derivation.warping.verdict is Verdict.PROVED:
        near = near_start(p, kernel, (flow.H, flow.g), point)
    return near or fixed


def warped_time(
    derivation: Derivation, start: Mapping[str, Fraction] | None = None
) -> WarpedTime | None:
    """Return what is proved of tau(t) = int_0^t g ds at numbers *start* or every start, or None."""
    if len(derivation.blocks) > 1:
        return None
    (block,) = derivation.blocks
    dual = block.potential.dual
    if block.hessian.verdict is Verdict.PROVED or dual is None:
        return None
    return find_warped_time(dual, block.notation, start)


def _decided_by_kernel(derivation: Derivation, kernel: TangentKernel) -> Finding | None:
    """Decide by dQ' and dK(w_0) being parallel whether Q' is a function of beta and K(w_0)."""
    potential = derivation.potential
    if potential.kind != "explicit" or potential.gradient is None or not kernel.unbiased:
        return None
    (slope, *others), K = potential.gradient, kernel.matrix[0, 0]
    symbols = sorted(K.free_symbols | (slope.free_symbols - {derivation.beta[0]}), key=str)
    if others or len(symbols) < 2:
        return None
    dQ, dK = ({s: sympy.diff(f, s) for s in symbols} for f in (slope, K))
    equations = [
        (f"dQ'/d{s} dK/d{t} = dQ'/d{t} dK/d{s}", dQ[s] * dK[t], dQ[t] * dK[s])
        for s, t in combinations(symbols, 2)
    ]
    decide = ElementarySigns({s.name for s in symbols if s.is_positive})
    try:
        parallel = all(decide.is_zero(left - right) for _, left, right in equations)
    except Undecided:
        return None
    evidence = tuple(Identity(name, str(left), str(right)) for name, left, right in equations)
    reason = "Q depends on the start through K(w_0) alone"
    return Finding(Verdict.PROVED, reason, evidence) if parallel else None


PLANE = 2


def in_plane(derivation: Derivation, direction: Direction) -> Derivation:
    """Return the derivation in the plane of u_0 and the rest of beta; InputError for no Q(s)."""
    g, u = derivation.warping.g, direction.vector
    refusal = f"Q has no form that can be expanded in every dimension: give {u} one, {u}:2"
    if g is None:
        raise InputError(refusal)
    try:
        plane = in_components(derivation, PLANE)
    except NumericalError:
        raise InputError(refusal) from None
    entries = [sympy.Symbol(w, real=True) for w in plane.parameterization.weights[-PLANE:]]
    norms = {s: length_of(entries) for s in g.free_symbols if s.name == direction.norm}
    return replace(plane, warping=replace(plane.warping, g=g.subs(norms)))


def predictor_limit(derivation: Derivation, point: Point, kernel: TangentKernel) -> Limit:
    """Return the limit of Q at fixed beta by the first expansion that proves one, or UNDECIDED."""
    potential = derivation.potential
    entries = potential.gradient if potential.pieces else None
    if entries is None:
        return undecided(point, f"there is no Q to take the limit of: {potential.finding.reason}")
    if any(g.has(sympy.Integral) for g in entries):
        return undecided(point, "Q is given by an integral, and so is its gradient")
    gradient = _closed_gradient(derivation, entries, point)
    limit = undecided(
        point, f"Q is given in a form whose expansion is not written: {potential.kind}"
    )
    limits = () if gradient is None else _of_closed_form(derivation, gradient, point, kernel)
    for limit in limits:
        if limit.finding.verdict is Verdict.PROVED:
            break
    return limit


def _of_closed_form(
    derivation: Derivation, gradient: ClosedGradient, point: Point, kernel: TangentKernel
) -> Iterator[Limit]:
    """Yield the limit along a curve, in coordinates in which Q is a sum, in beta, or in |beta|."""
    p, (piece, *others) = derivation.potential.parameterization, derivation.potential.pieces
    coupled = len(p.blocks) == 1 < p.d
    if coupled and derivation.hessian.verdict is Verdict.PROVED and not gradient.roots:
        separation = find_separation(p)
        slopes = None if separation is None else gradient.separated(separation.basis)
        if separation is not None and slopes is not None:
            limit = closed_form_limit(slopes, point, kernel.matrix)
            evidence = (*separation.evidence, *limit.finding.evidence)
            yield replace(limit, finding=replace(limit.finding, evidence=evidence))
    origin = [_origin(gradient, point, i, f) for i, f in enumerate(p.F)]
    gradient = gradient.turned(sympy.eye(p.d), origin) if any(origin) else gradient
    yield closed_form_limit(gradient, point, kernel.matrix)
    if piece.time_curve is not None and not others:
        along = parametric_limit(
            piece.time_curve.in_exponentials, piece.gradient[0], piece.betas[0], point
        )
        yield from () if along is None else (along,)
    if coupled:
        along = norm_limit(gradient.entries, gradient.coordinates, point, gradient.positive)
        yield from () if along is None else (replace(along, origin=gradient.origin or None),)


def _closed_gradient(
    derivation: Derivation, entries: tuple[Expr, ...], point: Point
) -> ClosedGradient | None:
    """Return grad Q and its symbols, or None where one of them has another meaning."""
    pieces, p = derivation.potential.pieces, derivation.potential.parameterization
    roots = largest_roots(pieces)
    curves = {x.betas[0]: x.time_curve.in_exponentials for x in pieces if x.time_curve is not None}
    written = (*entries, *(curve.beta for curve in curves.values()))
    symbols = sympy.Tuple(*written).free_symbols
    own = {*derivation.beta, *dict(roots or ()), *(c.parameter for c in curves.values())}
    names = {*p.start_symbols, *p.parameters, *(symbol.name for symbol in own)}
    if roots is None or not {s.name for s in symbols} <= names:
        return None
    notation = Notation(p, tuple(range(p.d)))
    fixed = {*p.parameters} - {point.variable}
    return ClosedGradient(
        entries,
        derivation.beta,
        tuple((i,) in p.blocks for i in range(p.d)),
        frozenset({s.name for s in symbols if s.is_positive} | {point.variable}),
        roots,
        tuple(wall for piece in pieces if piece.domain for wall in piece.domain.walls),
        tuple(to_expr(p.at_start(f), notation.start_symbols) for f in p.F),
        tuple(map(curves.get, derivation.beta)),
        tuple(notation.fresh(f"x{b.name.lstrip(ascii_lowercase)}") for b in derivation.beta),
    ).at_depths(depths_in(*written, names=fixed))


def _origin(gradient: ClosedGradient, point: Point, i: int, f: RationalFunction) -> Expr:
    """Return the end of the domain of an output f that beta_0 tends to; F(0) where that is none."""
    (x, beta_0), decide = (gradient.coordinates[i], gradient.start[i]), gradient.signs(point)
    ends = {w.end(x) for w in gradient.walls if gradient.single[i] and w.form.has(x)}
    for end in (x for x in ends if x.is_number):
        with suppress(Undecided):
            if point.expand(beta_0 - end, decide).limit == 0:
                return end
    plain = f.is_polynomial() and not f.field.generators
    return rational(f.at([Fraction(0)] * len(f.field.names))) if plain else sympy.S.Zero


def norm_limit(
    gradient: Sequence[Expr], betas: Sequence[Symbol], point: Point, positive: frozenset[str]
) -> Limit | None:
    """Return the limit |beta| of a Q whose linear term is outgrown, or None."""
    radial = find_radial(gradient, betas, positive)
    if radial is None:
        return None
    psi, slopes, length = radial.psi, radial.offset, length_of(betas)
    decide = ElementarySigns({*positive, radial.length.name})
    try:
        # psi/s is an eigenvalue of the Hessian of Q, and so nowhere 0; what is flat is any power.
        rests = [point.expand(z / psi, decide).limit for z in slopes]
        outgrown = decide.sign(psi) > 0 and not any(rests)
    except Undecided:
        outgrown = False
    if not outgrown:
        return None
    factor = psi.xreplace({radial.length: length})
    size = sympy.sqrt(sympy.factor(sympy.Add(*(z**2 for z in slopes))))
    evidence = tuple(
        Identity(f"dQ/d{b} = N {b}/|beta| + z", str(g), f"({factor})*{b}/{length} + ({z})")
        for b, g, z in zip(betas, gradient, slopes, strict=True)
    )
    reason = "`grad Q = N beta/|beta| + z` with `N > 0` a function of `|beta|`, and `z/N -> 0`"
    potential = LimitingPotential("l2", None, tuple(b / length for b in betas), sympy.S.One)
    moving = (s for s in (size / factor).free_symbols if s.name == point.variable)
    error = None if size == 0 else (size / factor).as_independent(*moving, *betas, as_Add=False)[1]
    finding, at, below = Finding(Verdict.PROVED, reason, evidence), tuple(betas), potential.gradient
    return Limit(point, finding, "anti-NTK", at, None, factor, potential, below, error, True)
