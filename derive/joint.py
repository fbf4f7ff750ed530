"""What blocks of outputs that share no weights say together: verdicts, warp, laws, metric."""

from __future__ import annotations

from collections.abc import Sequence

import sympy
from sympy import Expr

from derive.exact.field.function_field import RationalFunction
from derive.model.notation import Constant, Notation, to_expr
from derive.model.parameterization import Parameterization
from derive.potential.piece import Piece, Root
from derive.records import Block, Conserved, InducedMetric
from derive.verdict import Finding, Verdict, conclude


def join_findings(findings: Sequence[Finding]) -> Finding:
    """Return the joint verdict, with the reasons and the evidence of those that decide it."""
    verdict = conclude(tuple(findings))
    deciding = [f for f in findings if f.verdict is verdict]
    reason = "; ".join(dict.fromkeys(f.reason for f in deciding))
    return Finding(verdict, reason, tuple(e for f in deciding for e in f.evidence))


def join_warps(blocks: tuple[Block, ...], hessian: Finding) -> tuple[Finding, Expr | None]:
    """Return the joint verdict and warp: independent blocks must all be Hessian maps.

    For k in one block and i, j in another rho_kj = 0 and T_kij = 0, so h_k rho_ij = 0 and h = 0:
    a warp would have to be constant.
    """
    if len(blocks) == 1:
        block = blocks[0]
        finding = block.warping.finding
        if block.hessian.verdict is Verdict.PROVED:
            return finding, sympy.Integer(1)
        dual, turning = block.potential.dual, block.potential.turning
        if turning is not None:
            return finding, turning.g
        return finding, None if dual is None else to_expr(dual.g, block.notation.weights)
    if hessian.verdict is Verdict.PROVED:
        return Finding(Verdict.PROVED, "g = 1: none is needed"), sympy.Integer(1)
    if hessian.verdict is Verdict.REFUTED:
        reason = (
            "the outputs fall into independent blocks, so a warp would have to be constant, "
            "and one block is not a Hessian map without a warp"
        )
        return Finding(Verdict.REFUTED, reason, hessian.evidence), None
    return Finding(Verdict.UNDECIDED, hessian.reason), None


def join_potentials(blocks: tuple[Block, ...], warping: Finding) -> Finding:
    """Return whether Q is known: of every block, where a warp exists."""
    if warping.verdict is not Verdict.PROVED:
        return warping
    return join_findings([b.potential.finding for b in blocks])


def join_pieces(blocks: tuple[Block, ...], potential: Finding) -> tuple[Piece, ...]:
    """Return the blocks' forms, whose sum is Q; none where not all are known."""
    if potential.verdict is not Verdict.PROVED:
        return ()
    return tuple(b.potential.piece for b in blocks if b.potential.piece is not None)


def join_conserved(blocks: tuple[Block, ...]) -> Conserved:
    """Return the conserved quantities of all blocks."""
    laws: list[Expr] = []
    values: list[Expr | None] = []
    for block in blocks:
        notation, p = block.notation, block.parameterization
        for law in block.conserved.laws:
            laws.append(to_expr(law, notation.weights))
            values.append(_value_at_start(p, law, notation))
    bound = sum(block.conserved.bound for block in blocks)
    findings = tuple(block.conserved.completeness for block in blocks)
    evidence = tuple(e for f in findings for e in f.evidence)
    reason = f"independent laws found: {len(laws)}; at most {bound} exist"
    return Conserved(
        tuple(laws), tuple(values), bound, Finding(conclude(findings), reason, evidence)
    )


def _value_at_start(p: Parameterization, law: RationalFunction, notation: Notation) -> Expr | None:
    try:
        return to_expr(p.at_start(law), notation.start_symbols)
    except ZeroDivisionError:
        return None


def join_metric(blocks: tuple[Block, ...], d: int) -> InducedMetric:
    """Return K and rho of all *d* outputs; of a vector in the frame across and along beta."""
    where = [b.outputs if b.metric.direction is None else (0, 1) for b in blocks]
    size = max(d, *(len(o) for o in where))
    weights = _assemble(size, [(o, _in_weights(b)) for o, b in zip(where, blocks, strict=True)])
    kernels = [(o, b.kernel) for o, b in zip(where, blocks, strict=True)]
    kernel = rho = None
    if all(k is not None for _, k in kernels):
        kernel = _assemble(size, [(o, k) for o, k in kernels if k is not None])
        rho = _assemble(size, [(o, _inverse(k)) for o, k in kernels if k is not None])
    named = _names_used(blocks, kernel)
    return InducedMetric(weights, kernel, rho, *named)


def _names_used(
    blocks: tuple[Block, ...], kernel: sympy.ImmutableMatrix | None
) -> tuple[tuple[Root, ...], tuple[Constant, ...]]:
    """Return the roots and constants that K in beta uses."""
    if kernel is None:
        return (), ()
    potentials = [b.potential for b in blocks]
    sources = [
        source
        for named in (
            [x.turning.eigenvalues for x in potentials if x.turning],
            [x.chart for x in potentials],
            [x.piece for x in potentials],
        )
        for source in named
        if source is not None
    ]
    used = set(kernel.free_symbols)
    roots = tuple(dict.fromkeys(r for source in sources for r in source.roots))
    roots = tuple(r for r in roots if r.symbol in used)
    used = used.union(*(r.polynomial.free_symbols for r in roots))
    constants = dict.fromkeys(c for source in sources for c in source.constants)
    return roots, tuple(c for c in constants if c[0] in used)


def _in_weights(block: Block) -> tuple[tuple[Expr, ...], ...]:
    """Return K as expressions in the weights; of a vector its eigenvalues, diag(T, R)."""
    K, direction = block.metric.K, block.metric.direction
    if direction is not None:
        zero = direction.R.field.zero
        K = ((direction.phi * direction.phi, zero), (zero, direction.R))
    return tuple(tuple(to_expr(x, block.notation.weights) for x in row) for row in K)


def _assemble(
    d: int, parts: list[tuple[tuple[int, ...], tuple[tuple[Expr, ...], ...]]]
) -> sympy.ImmutableMatrix:
    matrix = sympy.zeros(d, d)
    for outputs, part in parts:
        for i, row in zip(outputs, part, strict=True):
            for j, x in zip(outputs, row, strict=True):
                matrix[i, j] = x
    return sympy.ImmutableMatrix(matrix)


def _inverse(kernel: tuple[tuple[Expr, ...], ...]) -> tuple[tuple[Expr, ...], ...]:
    """Return K^-1 by cofactors over a common denominator (division-free, exact)."""
    matrix = sympy.Matrix(kernel)
    determinant = sympy.factor(sympy.expand(matrix.det(method="berkowitz")))
    adjugate = matrix.adjugate(method="berkowitz")
    return tuple(
        tuple(sympy.factor(adjugate[i, j] / determinant) for j in range(matrix.cols))
        for i in range(matrix.rows)
    )
