"""R beside the implicit regularizer Q: the same function, or where they part.

Power series of beta tell, in exact rationals. With grad R = 2 tau e at beta(tau), the least w
solves w = w_0 + tau J(w)^T e; with grad Q = 2 tau e and Hess Q = 2 K^-1 at the start, w solves
dw/dtau = (g(w_0)/g) J(w)^T e. One is a step of implicit Euler for the other: both start with slope
K e, and then part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from flint import arb, fmpq, fmpq_series

from derive.derivation import Derivation, derive
from derive.errors import DeriveError
from derive.exact.balls import as_fmpq, as_fraction
from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import evaluate
from derive.explicit.minimum import CriticalRoot, SquaredDistance, decimal, named
from derive.model.parameterization import Parameterization
from derive.statement import Open, Statement, Table, each, note, tell
from derive.verdict import Finding, Identity, Verdict
from derive.weights.dual import DualCoordinates

STEPS = (Fraction(-5), Fraction(-1), Fraction(-1, 4), Fraction(1, 4), Fraction(1), Fraction(5))
"""Where on a line through beta_0 both are evaluated."""
ORDER = 7
"""Highest power of tau."""


@dataclass(frozen=True)
class ComparedValues:
    """Both at one beta: R in a ball that was certified, Q in double precision."""

    beta: tuple[Fraction, ...]
    explicit: arb = field(compare=False)
    implicit: float


@dataclass(frozen=True)
class Contrast:
    """R and Q, scaled and shifted so that both are 0 and flat with the same Hessian at beta_0.

    PROVED: R is Q. REFUTED: it is not, or there is no Q. The rows are values of both from a start
    at these numbers, where both were found; *implicit* derives Q, None where it was not run.
    """

    implicit: Derivation | None
    finding: Finding
    start: tuple[tuple[str, Fraction], ...] = ()
    rows: tuple[ComparedValues, ...] = ()


def contrast_with(
    p: Parameterization, distance: SquaredDistance, enter: Callable[[str], None]
) -> Contrast:
    """Return R beside the Q that gradient flow on F minimises, on outputs that share weights."""
    if p.vectors:
        reason = "the vector's dimension is open: give one, as in --vector u:2"
        return Contrast(None, Finding(Verdict.UNDECIDED, reason))
    if not isinstance(distance, CriticalRoot):
        return Contrast(None, Finding(Verdict.UNDECIDED, "R was not found"))
    enter("the implicit regularizer")
    implicit = derive(p)
    if implicit.verdict is Verdict.REFUTED:
        reason = "F has no implicit regularizer Q; R exists all the same"
        return Contrast(implicit, Finding(Verdict.REFUTED, reason))
    dual, moving = _coordinates(implicit)
    found = dual is not None or implicit.hessian.verdict is Verdict.PROVED
    if implicit.verdict is Verdict.UNDECIDED or not found:
        return Contrast(implicit, Finding(Verdict.UNDECIDED, "Q was not found"))
    if moving.d < p.d:
        reason = "from this start some outputs are affine functions of others, of which alone Q is"
        return Contrast(implicit, Finding(Verdict.UNDECIDED, reason))
    enter("implicit beside explicit")
    names = p.start_field.names
    start = {name: Fraction(len(names) - k) for k, name in enumerate(names)}
    g = moving.field.one if dual is None else dual.g
    finding = _compare(p, moving, g, start)
    rows = tuple(_rows(p, implicit, g, start, distance))
    return Contrast(implicit, finding, tuple(start.items()), rows)


def _coordinates(implicit: Derivation) -> tuple[DualCoordinates | None, Parameterization]:
    """Return the dual coordinates, and the weights that move: of one block, or g = 1 of several."""
    if len(implicit.blocks) > 1:
        return None, implicit.potential.parameterization
    (block,) = implicit.blocks
    return block.potential.dual, block.parameterization


def _compare(
    p: Parameterization,
    moving: Parameterization,
    g: RationalFunction,
    start: Mapping[str, Fraction],
) -> Finding:
    if p.degree == 1 or all(x.is_constant() for row in p.covectors for x in row):
        return Finding(Verdict.PROVED, "F is linear: both are <b, K^-1 b> with b = beta - beta_0")
    if g.field.generators or moving.start_field.generators:
        reason = "their series were not compared: g or the start has functions"
        return Finding(Verdict.UNDECIDED, reason)
    try:
        identity = _first_difference(p, moving, g, start)
    except ZeroDivisionError:
        return Finding(Verdict.UNDECIDED, "their series have a pole at the start")
    if identity is None:
        return Finding(Verdict.UNDECIDED, f"their series agree to order {ORDER}")
    return Finding(Verdict.REFUTED, "their Taylor series at the start differ", (identity,))


def _first_difference(
    p: Parameterization,
    moving: Parameterization,
    g: RationalFunction,
    start: Mapping[str, Fraction],
) -> Identity | None:
    """Return where the series of beta part along the first direction in which they do."""
    directions = [tuple(range(1, p.d + 1))] if p.d > 1 else []
    directions += [tuple(int(i == k) for i in range(p.d)) for k in range(p.d)]
    tau = _series([0, 1])
    for e in directions:
        explicit = _picard(p, p.field.one, start, e, lambda slope: tau * slope)
        implicit = _picard(moving, g, start, e, lambda slope: slope.integral())
        for i, n in product(range(p.d), range(ORDER + 1)):
            a, b = explicit[i][n], implicit[i][n]
            if a != b:
                several = p.d > 1
                along = f"2 tau ({', '.join(map(str, e))})" if several else "2 tau"
                where = f"where grad R = {along}, or grad Q = {along}"
                beta = f"beta{p.labels[i]}" if several else "beta"
                statement = f"{where}, the coefficient of tau^{n} in {beta}"
                point = tuple(start.items()) or (("tau", Fraction(0)),)
                return Identity(statement, str(a), str(b), point, a - b)
    return None


def _rows(
    p: Parameterization,
    implicit: Derivation,
    g: RationalFunction,
    start: Mapping[str, Fraction],
    distance: CriticalRoot,
) -> Iterator[ComparedValues]:
    _, moving = _coordinates(implicit)
    try:
        potential = implicit.potential.numeric({n: start[n] for n in moving.start_field.names})
        unit = 2 / float(g.at(_start_point(moving, start)))
        origin = [f.at(_start_point(p, start)) for f in p.F]
    except (DeriveError, ZeroDivisionError):
        return
    names = [str(s) for s in distance.variables]
    for step in STEPS:
        beta = [b + step * (k + 1) for k, b in enumerate(origin)]
        # Of one output its numbers, of several their lists are passed.
        points = [[float(b) for b in point] for point in (beta, origin)]
        try:
            least = distance.at({**dict(zip(names, beta, strict=False)), **start})
            implied = unit * float(potential.bregman(*(x[0] if p.d == 1 else x for x in points)))
        except DeriveError:
            continue
        if least is not None and implied == implied:
            yield ComparedValues(tuple(beta), least.ball, implied)


def _start_point(p: Parameterization, start: Mapping[str, Fraction]) -> list[Fraction]:
    """Return w_0 at numbers for the start symbols."""
    values = [start[name] for name in p.start_field.names]
    return [x.at(values) for x in p.w0]


def _picard(
    p: Parameterization,
    g: RationalFunction,
    start: Mapping[str, Fraction],
    e: Sequence[int],
    step: Callable[[fmpq_series], fmpq_series],
) -> list[list[Fraction]]:
    """Return F(w) for w = w_0 + ..., the coefficients for each output.

    Each pass is right to one order more: of a step J(w)^T e where grad R = 2 tau e, and where grad
    Q is, for Q with the warp g and Hess Q = 2 K^-1 at w_0.
    """
    origin = _start_point(p, start)
    warp = _series([as_fmpq(g.at(origin))])
    field = [
        sum((c * row[k] for c, row in zip(e, p.fields, strict=True)), p.field.zero) / g
        for k in range(p.p)
    ]
    w_0 = [_series([as_fmpq(x)]) for x in origin]
    w = w_0
    for _ in range(ORDER):
        w = [x + step(_at(slope, w) * warp) for x, slope in zip(w_0, field, strict=True)]
    beta = [_at(f, w) for f in p.F]
    return [[as_fraction(b[n]) for n in range(ORDER + 1)] for b in beta]


def _series(coefficients: Sequence[int | fmpq]) -> fmpq_series:
    return fmpq_series(coefficients, prec=ORDER + 1)


def _at(f: RationalFunction, w: Sequence[fmpq_series]) -> fmpq_series:
    """Return the series of a rational function."""
    top, bottom = (evaluate(part, w, lambda c: _series([c])) for part in f.parts)
    if not bottom[0]:
        raise ZeroDivisionError("a pole at the start")
    return top / bottom


def contrast_of(contrast: Contrast, about: str) -> Iterator[Statement | Open]:
    """Yield whether R is Q, and values of both."""
    finding = contrast.finding
    if finding.verdict is Verdict.UNDECIDED:
        yield Open("{why}", {"why": finding}, kind="R beside Q", about=about)
        return
    below = list[object]()
    if contrast.implicit is not None and contrast.implicit.potential.pieces:
        flat = "flat at `beta_0 = F(w_0)`, with Hessian `2 K(w_0)^-1` there"
        below += [contrast.implicit.potential, note(f"for the comparison both are `0` and {flat}")]
    point = each("`{0} = {1}`", named(contrast.start))
    for e in finding.evidence:
        at = tell(", at {point}" * bool(contrast.start), point=point)
        below.append(tell(f"{{e}} is `{e.left}` for `R` and `{e.right}` for `Q`{{at}}", e=e, at=at))
    no = " not" * (finding.verdict is Verdict.REFUTED)
    words = f"`R` is{no} the implicit regularizer `Q` of gradient flow: {{why}}"
    told = {"why": finding, "contrast": contrast}
    yield Statement(words, told, kind="R beside Q", about=about, by=finding, below=tuple(below))
    if contrast.rows:
        cells = (
            (
                f"`{x.beta[0]}`" if len(x.beta) == 1 else f"`({', '.join(map(str, x.beta))})`",
                decimal(x.explicit, 14),
                f"{x.implicit:.12g}",
            )
            for x in contrast.rows
        )
        table = Table(("`beta`", "`R`, certified", "`Q`, in doubles"), tuple(cells))
        words = "values of both{at}:"
        at = tell(" at {point}" * bool(contrast.start), point=point)
        told = {"at": at, "contrast": contrast}
        yield Statement(words, told, kind="R and Q in numbers", about=about, below=(table,))
