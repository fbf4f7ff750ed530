"""Stage 8: the mirror potential Q, in the most explicit kind that was proved.

Q is fixed by grad Q(beta_0) = 0 and left open up to a positive factor (the unit of g) and an
additive constant. Then grad Q(beta(t)) stays in the row space of the data along gradient flow,
and the limit solves min Q(beta) subject to X beta = y.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import sympy
from sympy import Expr

from derive.exact.linear.matrix import dot
from derive.model.notation import AssumePositive, BranchOpen, Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.model.signs import start_sign
from derive.potential.branch import keeps_sign
from derive.potential.chart import Chart, base_chart
from derive.potential.coupled import segment, write_in_beta
from derive.potential.domain import describe_domain
from derive.potential.entries import add_power, cheapest_relation
from derive.potential.length import write_in_length
from derive.potential.parametric import parametrize
from derive.potential.piece import Lift, Piece, Quadrature
from derive.potential.scalar import integrate_kernel
from derive.verdict import Finding, Identity, Verdict
from derive.weights.dual import DualCoordinates, find_dual, generic_parameters, orient
from derive.weights.kernel_relation import find_kernel_relation
from derive.weights.metric import Metric
from derive.weights.warping import WarpVerdict

Built = TypeVar("Built")

KERNEL_ALONG_FLOW = "`K(b) = |grad F|^2` where `w' = grad F` from `w_0` has `F = b`"


@dataclass(frozen=True)
class BlockPotential:
    """Q of one block of outputs.

    Attributes:
        warping: the verdict on existence; in a larger field where g had to be adjoined.
        dual: dual coordinates and warp in the weights, where found.
        piece: Q in closed form or as a quadrature; None where no Q exists or none was found.
        chart: how functions of the weights are written in beta on the leaf, where found.
        finding: PROVED with the identities behind the piece; the reason otherwise.
    """

    warping: WarpVerdict
    dual: DualCoordinates | None
    piece: Piece | None
    chart: Chart | None
    finding: Finding


def find_potential(warping: WarpVerdict, notation: Notation) -> BlockPotential:
    """Return Q on one block, the simplest form first, with grad Q(beta_0) = 0."""
    if warping.verdict is not Verdict.PROVED:
        return BlockPotential(warping, None, None, None, warping.finding)
    dual = find_dual(warping)
    assumed: tuple[str, ...] = ()
    build = _scalar if warping.parameterization.d == 1 else _vector
    try:
        if dual is not None:
            dual, assumed, notation = _positive_warp(dual, notation)
        piece, chart = assuming(lambda n: build(warping, dual, n), notation)
    except BranchOpen as undetermined:
        finding = Finding(Verdict.UNDECIDED, str(undetermined))
        warping = warping if dual is None else dual.warping
        return BlockPotential(warping, dual, None, None, finding)
    warping = warping if dual is None else dual.warping
    generic = () if dual is None else generic_parameters(dual, notation)
    assumptions = dict.fromkeys((*assumed, *piece.assumptions, *generic))
    piece = replace(piece, assumptions=tuple(assumptions))
    piece = describe_domain(piece, warping.metric, dual, notation)
    reason = f"grad Q = y - y(w_0), {piece.kind} form"
    finding = Finding(Verdict.PROVED, reason, piece.evidence)
    return BlockPotential(warping, dual, piece, chart, finding)


def _positive_warp(
    dual: DualCoordinates, notation: Notation
) -> tuple[DualCoordinates, tuple[str, ...], Notation]:
    """Return (y, g) with g > 0 at the start, and what that rests on."""
    start = dual.parameterization.at_start(dual.g)
    try:
        sign, assumed = start_sign(start, notation)
    except AssumePositive as request:
        notation = replace(notation, assumed=notation.assumed | request.names)
        sign, assumed = start_sign(start, notation)
    return orient(dual, sign), assumed, notation


def assuming(build: Callable[[Notation], Built], notation: Notation) -> Built:
    """Build; where a branch asks for the sign of start symbols, assume them positive and retry."""
    for _ in range(len(notation.start_symbols) + 1):
        try:
            return build(notation)
        except AssumePositive as request:
            notation = replace(notation, assumed=notation.assumed | request.names)
    raise AssertionError("assumptions on the start do not settle the branch")


def _scalar(
    warping: WarpVerdict, dual: DualCoordinates | None, notation: Notation
) -> tuple[Piece, Chart | None]:
    metric = warping.metric
    relation = find_kernel_relation(metric, notation)
    piece: Piece | None = None if relation is None else integrate_kernel(relation)
    if piece is None and dual is not None:
        piece = parametrize(dual, notation)
    if piece is not None:
        assumed = tuple(f"{name} > 0" for name in sorted(notation.assumed))
        assumptions = tuple(dict.fromkeys((*assumed, *piece.assumptions)))
        return replace(piece, assumptions=assumptions), base_chart(metric, notation)
    return _scalar_quadrature(metric, notation)


def _vector(
    warping: WarpVerdict, dual: DualCoordinates | None, notation: Notation
) -> tuple[Piece, Chart | None]:
    if dual is not None:
        for write in (write_in_beta,) if dual.R is not None else (write_in_length, write_in_beta):
            try:
                found = write(dual, notation)
            except BranchOpen:
                continue
            if found is not None:
                return found
    piece = _segment_quadrature(warping, notation)
    kept = () if dual is None else keeps_sign(dual.metric, dual.g)
    assumed = tuple(f"{name} > 0" for name in sorted(notation.assumed))
    piece = replace(piece, assumptions=(*assumed, *kept))
    return piece, base_chart(warping.metric, notation)


def _scalar_quadrature(metric: Metric, notation: Notation) -> tuple[Piece, Chart | None]:
    """Q = int (beta - b)/K(b) db from beta_0, with K written in beta where a root allows it."""
    beta = notation.betas[0]
    p = metric.parameterization
    chart = base_chart(metric, notation)
    kernel = None
    if chart is not None:
        rooted = _with_root(chart, p)
        kernel = None if rooted is None else rooted.write(metric.K[0][0])
        chart = chart if kernel is None else rooted
    b = notation.fresh("b")
    beta0 = to_expr(p.at_start(p.F[0]), notation.start_symbols)
    K = sympy.Function(notation.fresh("K").name)(b)
    value = sympy.Integral((beta - b) / K, (b, beta0, beta))
    gradient = sympy.Integral(1 / K, (b, beta0, beta))
    statement = "Q'' = 1/K, K = |grad F|^2 on the leaf"
    evidence = (Identity(statement, "1/Q''", repr(metric.K[0][0])),)
    constants = () if chart is None or kernel is None else chart.constants
    roots = () if chart is None or kernel is None else chart.roots
    assumed = tuple(f"{name} > 0" for name in sorted(notation.assumed))
    piece = Quadrature(
        notation.betas,
        value,
        (gradient,),
        constants,
        roots,
        assumptions=assumed,
        evidence=evidence,
        kernel=kernel,
        note=KERNEL_ALONG_FLOW if kernel is None else "",
    )
    return piece, chart


def _with_root(chart: Chart, p: Parameterization) -> Chart | None:
    """Add a power of a weight as root variable, where its branch is proved without assumptions."""
    candidates = dict(zip(p.weights, p.w, strict=True))
    found = cheapest_relation(chart, candidates)
    if found is None:
        return None
    name, relation = found
    try:
        added = add_power(chart, name, candidates[name], relation)
    except (AssumePositive, BranchOpen):
        return None
    return None if added is None or added[0].assumptions else added[0]


def _segment_quadrature(warping: WarpVerdict, notation: Notation) -> Quadrature:
    """Q = int_0^1 (1 - t) <b, g rho b> dt on the lift of the segment beta_0 + t b."""
    p = warping.parameterization
    lift = _lift(warping)
    t, abbreviations = segment(p, notation)
    steps = [b for b, _ in abbreviations]
    G = [
        [sympy.Function(f"G{min(i, j) + 1}{max(i, j) + 1}")(t) for j in range(p.d)]
        for i in range(p.d)
    ]
    rows = [sympy.Add(*(x * b for x, b in zip(row, steps, strict=True))) for row in G]
    form: Expr = sympy.expand(sympy.Add(*(b * r for b, r in zip(steps, rows, strict=True))))
    g = "" if warping.hessian.verdict is Verdict.PROVED else "g "
    return Quadrature(
        notation.betas,
        sympy.Integral((1 - t) * form, (t, 0, 1)),
        tuple(sympy.Integral(r, (t, 0, 1)) for r in rows),
        abbreviations=abbreviations,
        evidence=warping.finding.evidence or warping.hessian.finding.evidence,
        note=f"`G = {g}rho` at the point of the leaf above `beta_0 + t b`"
        + (", `g` scaled to 1 at the start" if g else ""),
        lift=lift,
    )


def _lift(warping: WarpVerdict) -> Lift:
    """Return dw/dbeta = rho J, dlog g/dbeta = rho H and rho.

    Raises:
        BranchOpen: one of them is infinite at the start.
    """
    metric = warping.metric
    p = metric.parameterization
    if warping.H is None:
        raise AssertionError("there is no Q to lift")
    H = warping.H
    columns = tuple(zip(*p.fields, strict=True))
    weights = tuple(tuple(dot(row, column) for column in columns) for row in metric.rho)
    log_warp = tuple(dot(row, H) for row in metric.rho)
    try:
        for function in (*(x for row in (*weights, *metric.rho) for x in row), *log_warp):
            p.at_start(function)
    except ZeroDivisionError:
        raise BranchOpen("rho or grad log g is infinite at the start") from None
    return Lift(weights, log_warp, metric.rho)
