"""Q of one block of outputs far out: Q(c x) = c N(c) (h(x) + o(1)) as c -> infinity.

h is convex and homogeneous, of a degree p >= 1. Where N -> infinity and h > 0 away from 0, Q grows
faster than linearly along every ray, so |grad Q| -> infinity (for convex Q both are the same: the
conjugate is then finite everywhere, and its gradients stay bounded on bounded sets), and the sets
{Q <= r}, scaled to one size, tend to {h <= 1}.

Three shapes are looked for, each by exact identities: Q of one coordinate; grad Q = psi(|beta|)
beta/|beta| + z; Q a sum of functions of other coordinates V^T beta.

How a slope dQ/dx of one coordinate grows as x -> +-infinity, by exact expansions in e = 1/|x|.

A slope that is a formula is expanded, with the largest real roots of polynomials in it, or the
solution z of h(z) = x; of one that is an integral its derivative 1/K is expanded, and integrated
term by term. One that has exponentials is expanded in e = exp(-|x|), of which |x| is the logarithm:
where it grows as exp(k |x|), log Q(c x)/c tends to k |x|, and of a sum to the greatest of these.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

import sympy
from sympy import Expr, Symbol

from derive.exact.asymptotics import (
    CONSTANT,
    SMALL,
    Expander,
    Expansion,
    Growth,
    Unexpanded,
    above_two,
    depths_in,
    leading_order,
    widened,
    written,
)
from derive.exact.elementary_signs import ElementarySigns, Undecided, with_squares
from derive.limits.fixed_beta import ClosedGradient, in_length
from derive.limits.growing_beta import may_vanish
from derive.limits.implicit import expand_along, expand_largest_root, largest_roots
from derive.limits.limit import find_radial
from derive.model.condition import Sign
from derive.potential.chart import length_of
from derive.potential.piece import Curve, Piece, written_out
from derive.potential.separation import Separation, find_separation
from derive.records import Block
from derive.verdict import Finding, Verdict

Shape: TypeAlias = Literal["single", "radial", "sum", "quadratic", "other"]


@dataclass(frozen=True)
class Leading:
    """N and h.

    Attributes:
        growth: (r, -k) of N = c^-r log(c)^k; None where log Q(c x)/c -> h.
        h: in betas, homogeneous of degree p.
        constants: the factors of the norms or powers that h is a sum of.
        side: 1 or -1 where Q lives as far as that side of 0 alone.
        nonzero: functions of the start that are not 0, else Q grows in another way.
    """

    growth: Growth | None
    h: Expr
    constants: tuple[Expr, ...] = ()
    side: int = 0
    nonzero: tuple[Expr, ...] = ()

    @property
    def degree(self) -> Expr:
        """p = 1 - r, or 1."""
        return sympy.S.One if self.growth is None else 1 - written(self.growth[0])


@dataclass(frozen=True)
class Far:
    """How Q of one block grows.

    Attributes:
        betas: its coordinates; the length s of a vector of open dimension.
        coercive: does |grad Q| -> infinity as |beta| -> infinity where Q lives? REFUTED says along
            which rays it stays bounded.
        leading: N and h, where N is one on all sides and both are known.
        forms: V^T of a sum in other coordinates, else None.
        bounded: whether no beta where Q lives is far out.
        depths: exponents, such as D, which are above 2 in what is said.
    """

    betas: tuple[Symbol, ...]
    coercive: Finding
    shape: Shape = "other"
    leading: Leading | None = None
    forms: sympy.ImmutableMatrix | None = None
    bounded: bool = False
    depths: tuple[Symbol, ...] = ()


def far_out(block: Block) -> Far:
    """Return how Q of one block grows; PROVED, REFUTED or UNDECIDED.

    Of one polynomial of degree D > 2 K >= C |beta|^(2 - 2/D) far out, as small starts have it
    (:mod:`derive.limits.small_start`), whatever Q is: dQ/dbeta = int dbeta/K is bounded.
    """
    piece, p = block.potential.piece, block.parameterization
    if piece is None:
        raise AssertionError("this is asked of a Q that was found")
    D, plain = p.degree, not p.field.generators and p.geometry.weight_square(p.w) is not None
    if p.vectors or p.d > 1 or not (plain and p.F[0].is_polynomial() and D and D > 2):
        return _as_written(block, piece)
    ends = "`grad Q` stays bounded as beta -> infinity and as beta -> -infinity, where `Q` is there"
    reason = f"{ends}: `F` of degree {D} > 2 is infinite after a finite time"
    bounded = Far(piece.betas, Finding(Verdict.REFUTED, reason))
    if any(r.explicit is None for r in piece.roots):
        return bounded  # whose limits ask for long expansions of the root
    found = _as_written(block, piece)
    return found if found.coercive.verdict is not Verdict.UNDECIDED else bounded


def _as_written(block: Block, piece: Piece) -> Far:
    """Return the growth of Q by the form in which it is written."""
    written = tuple(written_out(g, piece.roots, piece.constants) for g in piece.gradient)
    if largest_roots([piece]) is None:
        return _open(piece.betas, "`Q` has a root of which it is not known to be the largest")
    if block.potential.turning is not None:
        end = _reached(find_end(_slope(piece, written[0]), 1), None)
        return _radial(piece.betas, end, piece.betas[0])
    if piece.in_weights:
        along = f"`{piece.in_weights}`" if piece.curve is not None else piece.in_weights
        return _open(piece.betas, f"the gradient of `Q` is known along {along}")
    if len(piece.betas) == 1:
        return _single(piece, _slope(piece, written[0]))
    return _coupled(block, piece, written)


def _open(betas: tuple[Symbol, ...], reason: str) -> Far:
    return Far(betas, Finding(Verdict.UNDECIDED, reason))


def _slope(piece: Piece, entry: Expr) -> Slope:
    kernel = piece.kernel
    assumed = {c.of.name for c in piece.assumptions if c.sign is Sign.POSITIVE and c.of.is_Symbol}
    return Slope(
        entry,
        piece.betas[0],
        largest_roots([piece]) or (),
        _positive(entry) | assumed,
        piece.time_curve,
        None if kernel is None else written_out(kernel, piece.roots, piece.constants),
    )


def _positive(*expressions: Expr) -> frozenset[str]:
    return frozenset(s.name for f in expressions for s in f.free_symbols if s.is_positive)


def _single(piece: Piece, slope: Slope) -> Far:
    """Return the growth of Q of one output, from its ends."""
    sides = {side: reaches(piece, side) for side in (1, -1)}
    ends = [_reached(find_end(slope, s), r) for s, r in sides.items() if r is not False]
    (b,) = piece.betas
    if not ends:
        reason = "`Q` lives on a bounded interval, so `beta` stays bounded, and losses that are"
        whole = Finding(Verdict.PROVED, f"{reason} positive everywhere do not tend to 0")
        return Far(piece.betas, whole, "single", bounded=True)
    leading = _both(ends, b)
    if leading is not None and slope.curve is not None:
        leading = replace(leading, nonzero=tuple(_fastest(slope.curve, piece)))
    far = _joined(piece.betas, [(b, end) for end in ends], "single", leading)
    return far if slope.curve is None else replace(far, depths=depths_in(slope.curve.beta))


def _fastest(curve: Curve, piece: Piece) -> Iterator[Expr]:
    """Yield what may be 0 of the coefficients of the exponentials that grow fastest in h(z)."""
    z, factors = curve.parameter, dict[Expr, Expr]()
    for term in sympy.Add.make_args(sympy.expand(curve.in_exponentials.beta)):
        A, part = term.as_independent(z, as_Add=False)
        k = part.exp / z if isinstance(part, sympy.exp) else sympy.S.Zero
        factors[k] = factors.get(k, sympy.S.Zero) + A
    known = () if piece.domain is None else piece.domain.unless
    for k in (max(factors), min(factors)) if all(k.is_Rational for k in factors) else factors:
        open_ = may_vanish(factors[k]) if k != 0 else ()
        yield from (f for f in map(with_squares, open_) if f not in known)


def reaches(piece: Piece, side: int) -> bool | None:
    """Tell whether Q of one output lives as far as side * infinity; None where it is not known."""
    domain = piece.domain
    if domain is not None and piece.time_curve and domain.undecided == ("curve",):
        # Where h(z) = beta is solved out there, h is infinite at its end.
        end = find_end(_slope(piece, piece.gradient[0]), side)
        return None if end.finding.verdict is Verdict.UNDECIDED else True
    if domain is None or not domain.exact:
        return None
    (b,) = domain.betas
    known = [int(w.form.diff(b)) == side for w in domain.walls if w.oriented]
    if not all(known):
        return False
    return True if len(known) == len(domain.walls) else None


def _reached(end: End, known: bool | None) -> End:
    """Return an end, of which nothing is said where a bounded slope may not be reached."""
    if known is None and end.finding.verdict is Verdict.REFUTED:
        reason = f"{_ray('beta', end)}, if `Q` reaches there, which is not decided"
        return replace(end, finding=Finding(Verdict.UNDECIDED, reason))
    return end


def _both(ends: Sequence[End], x: Expr) -> Leading | None:
    """Return h(x) of one coordinate from both of its ends, or the one that there is."""
    rates, side = [end.rate for end in ends if end.rate is not None], ends[0].side
    if len(rates) == len(ends) == 2:
        up, down = rates
        h = up * sympy.Abs(x) if same(rates) else sympy.Max(up * x, -down * x)
        return Leading(None, h, (up,) if same(rates) else (up, down))
    growths = {end.growth for end in ends}
    growth = growths.pop()
    values = [end.side * end.value for end in ends if end.value is not None]
    if len(values) < len(ends) or growths or growth is None:
        return None
    p, size = 1 - written(growth[0]), sympy.Abs(x)
    if len(values) == 1:
        return Leading(growth, values[0] * size**p / p, (values[0],), side)
    up, down = values
    if same((up, down)):
        return Leading(growth, up * size**p / p, (up,))
    even, odd = sympy.factor_terms((up + down) / 2), sympy.factor_terms((up - down) / 2)
    h = (even * size**p + odd * x * size ** (p - 1)) / p
    return Leading(growth, h, (up, down))


def same(constants: Sequence[Expr]) -> bool:
    """Tell whether constants are proved to be the same."""
    decide = ElementarySigns(_positive(*constants))
    try:
        return bool(constants) and all(decide.is_zero(c - constants[0]) for c in constants)
    except Undecided:
        return False


def _radial(betas: tuple[Symbol, ...], end: End, length: Expr) -> Far:
    """Return the growth of Q = q(|beta|) + <z, beta>."""
    leading, growth, value = None, end.growth, end.value
    if growth is not None and value is not None:
        p = 1 - written(growth[0])
        leading = Leading(growth, value * length**p / p, (value,))
    return _joined(betas, [("|beta|", end)], "radial", leading)


def _joined(
    betas: tuple[Symbol, ...],
    ends: Sequence[tuple[object, End]],
    shape: Shape,
    leading: Leading | None,
    forms: sympy.ImmutableMatrix | None = None,
) -> Far:
    """Conclude from the ends of all coordinates in which Q is a sum."""
    verdicts = [end.finding.verdict for _, end in ends]
    if Verdict.REFUTED in verdicts:
        rays = (_ray(name, e) for name, e in ends if e.finding.verdict is Verdict.REFUTED)
        return Far(betas, Finding(Verdict.REFUTED, "; ".join(rays)), shape)
    for _, end in ends:
        if end.finding.verdict is Verdict.UNDECIDED:
            return Far(betas, end.finding, shape)
    return Far(betas, ends[0][1].finding, shape, leading, forms)


def _ray(name: object, end: End) -> str:
    toward = "infinity" if end.side > 0 else "-infinity"
    if end.value is None:
        return f"`grad Q` stays bounded as {name} -> {toward}"
    return f"`grad Q` stays bounded as {name} -> {toward}: it tends to `{end.value}`"


def _coupled(block: Block, piece: Piece, gradient: tuple[Expr, ...]) -> Far:
    """Return the growth of Q of several outputs that share weights."""
    betas = piece.betas
    if any(g.has(sympy.Integral) for g in gradient):
        return _open(betas, "the gradient of `Q` is an integral")
    hessian = sympy.Matrix([[g.diff(b) for b in betas] for g in gradient])
    roots = largest_roots([piece]) or ()
    if not hessian.has(*betas, *dict(roots)):
        return _quadratic(betas, hessian)
    length = Symbol("length_", positive=True)
    polynomials = [(A, in_length(P, betas, length)) for A, P in roots]
    radial = find_radial(gradient, betas, _positive(*gradient))
    if radial is not None and not any(P.has(*betas) for _, P in polynomials):
        slope = Slope(radial.psi, radial.length, tuple(polynomials), _positive(radial.psi))
        end = _reached(find_end(slope, 1), _everywhere(piece) or None)
        return _radial(betas, end, length_of(betas))
    separation = find_separation(block.parameterization) if not polynomials else None
    if separation is None:
        return _open(betas, "`Q` was not found to be radial, or a sum in other coordinates")
    return _separated(piece, gradient, separation)


def _everywhere(piece: Piece) -> bool:
    domain = piece.domain
    return domain is not None and domain.exact and not domain.walls


def _quadratic(betas: tuple[Symbol, ...], hessian: sympy.Matrix) -> Far:
    x = sympy.Matrix(betas)
    round_ = hessian == hessian[0, 0] * sympy.eye(len(betas))
    h = sympy.factor((x.T * hessian * x)[0, 0] / 2)
    finding = Finding(Verdict.PROVED, "`Q` is quadratic, and strictly convex")
    leading = Leading((Fraction(-1), 0), h, (hessian[0, 0],) if round_ else ())
    return Far(betas, finding, "radial" if round_ else "quadratic", leading)


def _separated(piece: Piece, gradient: tuple[Expr, ...], separation: Separation) -> Far:
    """Return the growth of a Q that is a sum of functions of x = V^T beta."""
    betas, everywhere = piece.betas, _everywhere(piece) or None
    x = tuple(Symbol(f"x{k}_", real=True) for k, _ in enumerate(betas, 1))
    closed = ClosedGradient(gradient, betas, (False,) * len(betas), _positive(*gradient), spare=x)
    slopes = closed.separated(separation.basis)
    if slopes is None:
        return _open(betas, "`Q` was not written as a sum in other coordinates")
    ends: list[tuple[object, End]] = []
    parts: list[Leading | None] = []
    forms = separation.forms * sympy.Matrix(betas)
    for own, entry, form in zip(x, slopes.entries, forms, strict=True):
        one = Slope(entry, own, positive=slopes.positive)
        found = [_reached(find_end(one, side), everywhere) for side in (1, -1)]
        ends += [(form, end) for end in found]
        parts.append(_both(found, form))
    known, whole = [part for part in parts if part is not None], None
    if len(known) == len(parts) and len({part.growth for part in known}) == 1:  # they grow alike
        constants = tuple(c for part in known for c in part.constants)
        whole = Leading(known[0].growth, sympy.Add(*(part.h for part in known)), constants)
    return _joined(betas, ends, "sum", whole, separation.forms)


@dataclass(frozen=True)
class Slope:
    """dQ/dx as a function of x and the start.

    Attributes:
        entry: the formula; in z where a curve x = h(z) is given; an integral where *kernel* is.
        roots: symbols in it that are the largest real root of a polynomial.
        positive: names of start symbols that are positive.
        kernel: K with dQ/dx = int dx/K.
    """

    entry: Expr
    variable: Symbol
    roots: tuple[tuple[Symbol, Expr], ...] = ()
    positive: frozenset[str] = frozenset()
    curve: Curve | None = None
    kernel: Expr | None = None


@dataclass(frozen=True)
class End:
    """What a slope does as side * x -> infinity: dQ/dx = N(|x|) (value + o(1)).

    Attributes:
        finding: PROVED where it is unbounded, REFUTED where it is bounded.
        growth: (r, -k) of N = |x|^-r log(|x|)^k; None where only the finding is known.
        value: the limit of the slope over N; of a bounded slope its limit, where known.
        rate: k where it grows as exp(k |x|), up to powers of |x|.
    """

    side: int
    finding: Finding
    growth: Growth | None = None
    value: Expr | None = None
    rate: Expr | None = None


@functools.lru_cache(64)
def find_end(slope: Slope, side: int) -> End:
    """Return what a slope does on one side, +1 or -1."""
    try:
        if not slope.entry.has(sympy.Integral):
            return _concluded(side, *_leading(slope, slope.entry, side))
        if slope.kernel is not None:
            return _integrated(side, *_leading(slope, 1 / slope.kernel, side))
    except Undecided as open_end:
        curve = slope.curve
        if (rate := _rate(slope, side)) is not None:
            return End(side, Finding(Verdict.PROVED, "exact expansion of `grad Q`"), rate=rate)
        if curve is None or any(end.is_infinite for end in curve.interval):
            return End(side, Finding(Verdict.UNDECIDED, str(open_end)))
        if slope.entry.is_polynomial(curve.parameter):
            return End(side, Finding(Verdict.REFUTED, "`z` ends at numbers"))
    return End(side, Finding(Verdict.UNDECIDED, "the gradient of `Q` is an integral"))


def _rate(slope: Slope, side: int) -> Expr | None:
    """Return k of a slope that is a formula and grows as exp(k |x|), e = exp(-|x|); or None."""
    if slope.curve is not None or slope.roots or slope.entry.has(sympy.Integral):
        return None
    in_powers = slope.entry.rewrite(sympy.exp).subs(slope.variable, side * sympy.log(1 / SMALL))
    decide = ElementarySigns(slope.positive)
    try:
        expanded = widened(
            lambda span: leading_order(
                [Expander(SMALL, decide, span).expand(sympy.expand(in_powers))]
            )
        )
    except Undecided:
        return None
    k = -written(expanded[0][0])
    return k if k.is_positive else None


def _along_curve(slope: Slope, curve: Curve, side: int, span: Fraction) -> Expansion:
    """Return the slope where e h(z) = side m, at m = 1; in depths D their x = D - 2 > 0."""
    m, above = Symbol("size_", positive=True), above_two(depths_in(curve.beta))
    back = {image - 2: D - 2 for D, image in above.items()}
    positive, depths = {*slope.positive, m.name, *(x.name for x in back)}, [x.name for x in back]
    known = ElementarySigns(positive, parameters=depths)
    beta, names = _named(curve.in_exponentials.beta.xreplace(above), curve.parameter, known)
    decide = ElementarySigns({*positive, *(x.name for x in names)}, names, depths)
    scaled = replace(curve, beta=SMALL * beta)
    expander, back = Expander(SMALL, decide, span), {**back, **names}
    found = expand_along(scaled, slope.entry.xreplace(above), side * m, expander, decide)
    # the others are not asked for
    leading = {found.leading: sympy.factor(found.first.subs(m, 1).xreplace(back))}
    return Expansion(leading, found.order)


def _named(f: Expr, z: Symbol, decide: ElementarySigns) -> tuple[Expr, dict[Symbol, Expr]]:
    """Return a sum with positive names for its long coefficients, and what these stand for."""
    parts, names = list[Expr](), dict[Symbol, Expr]()
    for k, term in enumerate(sympy.Add.make_args(sympy.expand_mul(f, deep=False))):
        c, part = term.as_independent(z, as_Add=False)
        if c.has(sympy.Add):
            side, name = decide.sign(c), Symbol(f"c{k}_", positive=True)
            names[name], c = side * c, side * name
        parts.append(c * part)
    return sympy.Add(*parts), names


def _concluded(side: int, growth: Growth, value: Expr | None) -> End:
    if growth < CONSTANT:
        return End(side, Finding(Verdict.PROVED, "exact expansion of `grad Q`"), growth, value)
    limit = sympy.S.Zero if growth > CONSTANT else value
    return End(side, Finding(Verdict.REFUTED, "exact expansion of `grad Q`"), growth, limit)


def _integrated(side: int, growth: Growth, value: Expr) -> End:
    """Return the end of int value |x|^-r log^k |x| d|x|, from that of its integrand."""
    r, j = growth
    if r > 1:
        return End(side, Finding(Verdict.REFUTED, "`1/K` is integrable at infinity"))
    if r < 1:
        return _concluded(side, (r - 1, j), value * side / (1 - sympy.Rational(r)))
    if j > 0:
        raise Unexpanded("an inverse power of a logarithm")
    return _concluded(side, (r - 1, j - 1), side * value / (1 - j))


def _leading(slope: Slope, f: Expr, side: int) -> tuple[Growth, Expr]:
    """Return the growth and the coefficient of the leading term of f at side/e, e -> 0."""
    decide = ElementarySigns(slope.positive)

    def at_end(g: Expr) -> Expr:
        return sympy.powdenest(g.subs(slope.variable, side / SMALL))

    def leading(span: Fraction) -> tuple[Growth, list[Expr]]:
        if slope.curve is not None:
            return leading_order([_along_curve(slope, slope.curve, side, span)])
        roots = ((A, at_end(P)) for A, P in slope.roots if f.has(A))
        known = {A: expand_largest_root(P, A, decide, span) for A, P in roots}
        return leading_order([Expander(SMALL, decide, span, known).expand(at_end(f))])

    # e^r log(e)^k is e^r log(1/e)^k up to a sign.
    growth, (value,) = widened(leading)
    return growth, (-1) ** (growth[1] % 2) * value
