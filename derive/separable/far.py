"""Q of one block of outputs far out: Q(c x) = c N(c) (h(x) + o(1)) as c -> infinity.

h is convex and homogeneous, of a degree p >= 1. Where N -> infinity and h > 0 away from 0, Q grows
faster than linearly along every ray, so |grad Q| -> infinity (for convex Q both are the same: the
conjugate is then finite everywhere, and its gradients stay bounded on bounded sets), and the sets
{Q <= r}, scaled to one size, tend to {h <= 1}.

Three shapes are looked for, each by exact identities: Q of one coordinate; grad Q = psi(|beta|)
beta/|beta| + z; Q a sum of functions of other coordinates V^T beta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

import sympy
from sympy import Expr, Symbol

from derive.exact.elementary_signs import ElementarySigns, Undecided
from derive.limits.asymptotics import Growth
from derive.limits.exponents import depths_in, written
from derive.limits.fixed_beta import ClosedGradient, in_length
from derive.limits.initialization import norm
from derive.limits.predictor_limit import find_radial
from derive.model.condition import Sign
from derive.potential.piece import Parametric, Piece, curve_of, kernel_of, written_out
from derive.potential.separation import Separation, find_separation
from derive.records import Block
from derive.separable.ends import End, Slope, find_end
from derive.verdict import Finding, Verdict

Shape: TypeAlias = Literal["single", "radial", "sum", "quadratic", "other"]


@dataclass(frozen=True)
class Leading:
    """N and h.

    Attributes:
        growth: (r, -k) of N = c^-r log(c)^k.
        h: in betas, homogeneous of degree p.
        constants: the factors of the norms or powers that h is a sum of.
    """

    growth: Growth
    h: Expr
    constants: tuple[Expr, ...] = ()

    @property
    def degree(self) -> Expr:
        """p = 1 - r."""
        return 1 - written(self.growth[0])


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
    """Return how Q of one block grows; PROVED, REFUTED or UNDECIDED."""
    piece = block.potential.piece
    if piece is None:
        raise AssertionError("this is asked of a Q that was found")
    written = tuple(written_out(g, piece.roots, piece.constants) for g in piece.gradient)
    if any(r.explicit is None and r.from_above != 0 for r in piece.roots):
        return _open(piece.betas, "`Q` has a root of which it is not known to be the largest")
    if block.potential.turning is not None:
        end = _reached(find_end(_slope(piece, written[0]), 1), None)
        return _radial(piece.betas, end, piece.betas[0])
    if (curve := curve_of(piece)) is not None and curve.weight:
        return _open(piece.betas, f"the gradient of `Q` is known along `{curve.weight}`")
    if len(piece.betas) == 1:
        return _single(piece, _slope(piece, written[0]))
    return _coupled(block, piece, written)


def _open(betas: tuple[Symbol, ...], reason: str) -> Far:
    return Far(betas, Finding(Verdict.UNDECIDED, reason))


def _slope(piece: Piece, entry: Expr) -> Slope:
    kernel = kernel_of(piece)
    assumed = {c.of.name for c in piece.assumptions if c.sign is Sign.POSITIVE and c.of.is_Symbol}
    return Slope(
        entry,
        piece.betas[0],
        _roots(piece),
        _positive(entry) | assumed,
        piece.curve if isinstance(piece, Parametric) else None,
        None if kernel is None else written_out(kernel, piece.roots, piece.constants),
    )


def _roots(piece: Piece) -> tuple[tuple[Symbol, Expr], ...]:
    named = (r for r in piece.roots if r.explicit is None)
    return tuple((r.symbol, written_out(r.polynomial, (), piece.constants)) for r in named)


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
    far = _joined(piece.betas, [(b, end) for end in ends], "single", _both(ends, b))
    return far if slope.curve is None else replace(far, depths=depths_in(slope.curve.beta))


def reaches(piece: Piece, side: int) -> bool | None:
    """Tell whether Q of one output lives as far as side * infinity; None where it is not known."""
    domain = piece.domain
    if domain is not None and isinstance(piece, Parametric) and domain.undecided == ("curve",):
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
    """Return h(x) of one coordinate from both of its ends."""
    growths = {end.growth for end in ends}
    growth = growths.pop()
    values = [end.side * end.value for end in ends if end.value is not None]
    if len(values) != 2 or growths or growth is None:
        return None
    (up, down), p, size = values, 1 - written(growth[0]), sympy.Abs(x)
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
    if not hessian.has(*betas, *dict(_roots(piece))):
        return _quadratic(betas, hessian)
    length = Symbol("length_", positive=True)
    polynomials = [(A, in_length(P, betas, length)) for A, P in _roots(piece)]
    radial = find_radial(gradient, betas, _positive(*gradient))
    if radial is not None and not any(P.has(*betas) for _, P in polynomials):
        slope = Slope(radial.psi, radial.length, tuple(polynomials), _positive(radial.psi))
        end = _reached(find_end(slope, 1), _everywhere(piece) or None)
        return _radial(betas, end, norm(betas))
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
    whole = ClosedGradient(gradient, betas, (False,) * len(betas), _positive(*gradient), spare=x)
    slopes = whole.separated(separation.basis)
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
    return _joined(betas, ends, "sum", _sum(parts), separation.forms)


def _sum(parts: Sequence[Leading | None]) -> Leading | None:
    """Return the sum of what grows alike."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({part.growth for part in known}) > 1:
        return None
    constants = tuple(c for part in known for c in part.constants)
    return Leading(known[0].growth, sympy.Add(*(part.h for part in known)), constants)
