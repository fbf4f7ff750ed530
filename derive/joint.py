"""What blocks of outputs that share no weights say together: verdicts, warp, laws, metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from operator import mul
from typing import TypeAlias

import sympy
from sympy import Expr, Symbol

from derive.clock import LATE
from derive.exact.field.factors import factored
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.families import LogFunction, normalized
from derive.exact.linear.matrix import inverse
from derive.exact.signs import Signs
from derive.exact.towers.tower import build_elements
from derive.language import from_sympy, to_sympy
from derive.language.tree import Tree
from derive.model.geometry import EUCLIDEAN
from derive.model.notation import (
    Constant,
    Images,
    Notation,
    log_expr,
    positive_generators,
    rational,
    to_expr,
    to_shorter_expr,
)
from derive.model.parameterization import Parameterization
from derive.potential.accept import ZeroTest
from derive.potential.block import Eigenvalues
from derive.potential.chart import Chart
from derive.potential.piece import Piece, Root
from derive.potential.rewriting import fewest, with_hyperbolic, with_products
from derive.records import Block, Conserved, InducedMetric, Potential, RadialMetric
from derive.verdict import Finding, Verdict, conclude
from derive.weights.adjoin import find_warp

Entries: TypeAlias = tuple[tuple[Expr, ...], ...]
"""A square matrix by its rows."""


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
        return blocks[0].warping.finding, _warp(blocks[0])
    if hessian.verdict is Verdict.PROVED:
        return Finding(Verdict.PROVED, "g = 1: none is needed"), sympy.Integer(1)
    if hessian.verdict is Verdict.REFUTED:
        reason = (
            "the outputs fall into independent blocks, so a warp would have to be constant, "
            "and one block is not a Hessian map without a warp"
        )
        return Finding(Verdict.REFUTED, reason, hessian.evidence), None
    return Finding(Verdict.UNDECIDED, hessian.reason), None


def _warp(block: Block) -> Expr | None:
    """Return g of a block in its weights, 1 where none is needed."""
    dual, turning = block.potential.dual, block.potential.turning
    if block.hessian.verdict is Verdict.PROVED:
        return sympy.Integer(1)
    if turning is not None:
        return turning.g
    if dual is not None:
        return to_expr(dual.g, block.notation.weights)
    warp = find_warp(block.warping)
    if warp is None:
        return None
    return _of_any_sign(to_expr(warp.g, block.notation.weights))


def _of_any_sign(g: Expr) -> Expr:
    """Return g with the modulus of what stands under a root: nothing is assumed of the start."""
    roots = (x for x in g.atoms(sympy.Pow) if not x.exp.is_integer)
    return g.xreplace({x: sympy.Abs(x.base) ** x.exp for x in roots})


def join_potential(blocks: tuple[Block, ...], warping: Finding, p: Parameterization) -> Potential:
    """Return the Q of F, the sum over blocks, with forms where a warp exists and all are known."""
    finding = warping
    if warping.verdict is Verdict.PROVED:
        finding = join_findings([b.potential.finding for b in blocks])
    known = blocks if finding.verdict is Verdict.PROVED else ()
    pieces = tuple(b.potential.piece for b in known if b.potential.piece is not None)
    found = Potential(finding, pieces, p, blocks[0].potential.turning)
    other = blocks[0].potential.other_side
    if other is None or other.piece is None:
        return found
    return replace(found, other_side=replace(found, pieces=(other.piece,), turning=other.turning))


def join_conserved(blocks: tuple[Block, ...]) -> Conserved:
    """Return the conserved quantities of all blocks."""
    laws: list[Expr] = []
    values: list[Expr | None] = []
    for block in blocks:
        notation, p = block.notation, block.parameterization
        for law in laws_of(block):
            laws.append(law_in_logarithms(p, law, notation.weights))
            values.append(_value_at_start(p, law, notation))
    bound = sum(block.conserved.bound for block in blocks)
    findings = tuple(block.conserved.completeness for block in blocks)
    evidence = tuple(e for f in findings for e in f.evidence)
    late = [f.reason for f in findings if f.reason.startswith(LATE)]
    reason = "; ".join([f"independent laws found: {len(laws)}; at most {bound} exist", *late[:1]])
    found = Finding(conclude(findings), reason, evidence)
    return Conserved(tuple(laws), tuple(values), bound, found)


def laws_of(block: Block) -> list[LogFunction]:
    """Return the laws of a block, rational ones first."""
    found = block.conserved
    return [*map(LogFunction, found.laws), *filter(None, [found.logarithmic])]


def law_in_logarithms(p: Parameterization, law: LogFunction, symbols: Images) -> Expr:
    """Return a law with logarithms, without a modulus of what is positive."""
    known, field = Signs(p.nonnegative | positive_generators(p.field)), p.field
    total = in_functions(to_expr(law.rational, symbols))
    for c, A in law.logs:
        inside = to_expr(A, symbols)
        modulus = inside if known.is_positive(field.embed(A)) else sympy.Abs(inside)
        total += to_expr(c, symbols) * sympy.log(modulus)
    return with_hyperbolic(total)


def in_functions(e: Expr) -> Expr:
    """Return an expression in hyperbolic functions, and products of these, where shorter.

    >>> u, v = sympy.symbols("u v")
    >>> E, G = sympy.exp(u, evaluate=False), sympy.exp(v)
    >>> in_functions((E * G**2 + E) / (E**2 * G + G))
    cosh(v)/cosh(u)
    """
    joined = sympy.powsimp(e, combine="exp", deep=True) if e.has(sympy.exp) else e
    return fewest([with_hyperbolic(e), with_products(joined)])


def _value_at_start(p: Parameterization, law: LogFunction, notation: Notation) -> Expr | None:
    try:
        return in_functions(log_expr(law.mapped(p.at_start), notation.start_symbols))
    except ZeroDivisionError:
        return None


def join_metric(blocks: tuple[Block, ...], d: int) -> InducedMetric:
    """Return K and rho of all *d* outputs; of a vector in the frame across and along beta."""
    where = [b.outputs if b.metric.direction is None else (0, 1) for b in blocks]
    size, made = max(d, *map(len, where)), InducedMetric
    if blocks[0].metric.direction is not None:
        made = RadialMetric
    weights = _assemble(size, where, map(kernel_in_weights, blocks))
    kernels = [b.kernel for b in blocks if b.kernel is not None]
    if len(kernels) < len(blocks):
        return made(weights, None, None, (), ())
    kernel, rho = _assemble(size, where, kernels), None
    if all(b.dependence is None for b in blocks):
        found = [_inverse(kernel) for kernel in kernels]
        inverses = [inverse for inverse in found if inverse is not None]
        rho = _assemble(size, where, inverses) if len(inverses) == len(found) else None
    return made(weights, kernel, rho, *_names_used(blocks, kernel))


def _names_used(
    blocks: tuple[Block, ...], kernel: sympy.ImmutableMatrix
) -> tuple[tuple[Root, ...], tuple[Constant, ...]]:
    """Return the roots and constants that K in beta uses."""
    potentials = [b.potential for b in blocks]
    sources: list[Eigenvalues | Chart | Piece] = [
        *(x.turning.eigenvalues for x in potentials if x.turning and x.turning.eigenvalues),
        *(x.chart for x in potentials if x.chart),
        *(x.piece for x in potentials if x.piece),
    ]
    used = set(kernel.free_symbols)
    roots = tuple(dict.fromkeys(r for x in sources for r in x.roots if r.symbol in used))
    used = used.union(*(r.polynomial.free_symbols for r in roots))
    constants = dict(c for x in sources for c in x.constants)  # each name once
    return roots, tuple(c for c in constants.items() if c[0] in used)


def kernel_in_weights(block: Block) -> Entries:
    """Return K as expressions in the weights; of a vector its eigenvalues, diag(T, R)."""
    K, direction = block.metric.K, block.metric.direction
    if direction is not None:
        zero = direction.R.field.zero
        K = ((direction.T, zero), (zero, direction.R))
    weights = block.notation.weights
    rows = [[with_hyperbolic(to_shorter_expr(x, weights)) for x in row] for row in K]
    p = block.parameterization
    if direction is None and p.field.generators and p.geometry == EUCLIDEAN:
        J = [_typed_gradient(tree, weights, p.weights) for tree in p.trees]
        typed, decide = (sympy.Add(*map(mul, u, v)) for u, v in product(J, J)), ZeroTest(p, {})
        pairs = [[(x, next(typed)) for x in row] for row in rows]
        rows = [
            [y if _is_longer(x, y) and decide.vanishes(x - y) else x for x, y in r] for r in pairs
        ]
    return tuple(map(tuple, rows))


def _is_longer(x: Expr, y: Expr) -> bool:
    return int(x.count_ops()) > int(y.count_ops())


def _typed_gradient(tree: Tree, symbols: Mapping[str, Expr], weights: Sequence[str]) -> list[Expr]:
    """Return the slopes of an output in the functions that were typed, 1/cosh^2 for 1 - tanh^2."""
    output = to_sympy(tree).xreplace({Symbol(name): x for name, x in symbols.items()})
    squares = {1 - t**2: sympy.cosh(t.args[0]) ** -2 for t in output.atoms(sympy.tanh)}
    return [output.diff(symbols[w]).xreplace(squares) for w in weights]


def _assemble(
    d: int, where: Iterable[tuple[int, ...]], parts: Iterable[Entries]
) -> sympy.ImmutableMatrix:
    matrix = sympy.zeros(d, d)
    for outputs, part in zip(where, parts, strict=True):
        for (i, row), j in product(zip(outputs, part, strict=True), range(len(outputs))):
            matrix[i, outputs[j]] = row[j]
    return sympy.ImmutableMatrix(matrix)


LARGEST = 250
"""Operations in K beyond which rho = K^-1 is not expanded: no page would hold it."""

WIDEST = 4
"""Outputs beyond which it is not either: a cofactor of K has as many terms as permutations."""


def _inverse(kernel: Entries) -> Entries | None:
    """Return K^-1, exactly, by cofactors with roots in K; None where K is too large."""
    if _is_large(kernel):
        return None
    found = _inverted(kernel)
    return found if len(kernel) > 1 else ((fewest([found[0][0], 1 / kernel[0][0]]),),)


def _inverted(kernel: Entries) -> Entries:
    """Return K^-1 in factors: of entries without roots in their field, else by cofactors."""
    symbols = sorted(set[Symbol]().union(*(x.free_symbols for row in kernel for x in row)), key=str)
    size, images = len(kernel), {s.name: s for s in symbols}
    if all(x.is_rational_function(*symbols) for row in kernel for x in row):
        flat = build_elements([from_sympy(x) for row in kernel for x in row], tuple(images))
        inverted = inverse(tuple(flat[i * size : (i + 1) * size] for i in range(size)))
        return tuple(tuple(_in_factors(x, images) for x in row) for row in inverted)
    return _by_cofactors(sympy.Matrix(kernel))


def _is_large(kernel: Entries) -> bool:
    return len(kernel) > WIDEST or sum(sympy.count_ops(x) for row in kernel for x in row) > LARGEST


def _by_cofactors(matrix: sympy.Matrix) -> Entries:
    determinant = sympy.factor(sympy.expand(matrix.det(method="berkowitz")))
    adjugate = matrix.adjugate(method="berkowitz")
    entries = adjugate.applyfunc(lambda x: sympy.factor(x / determinant))
    return tuple(map(tuple, entries.tolist()))


def _in_factors(element: RationalFunction, images: dict[str, Symbol]) -> Expr:
    """Return a product of factors whose first terms are positive."""
    number, powers = factored(element)
    sides: tuple[list[Expr], list[Expr]] = ([], [])
    for f, n in powers:
        first = normalized(f)
        number = -number if first != f and n % 2 else number
        sides[n < 0].append(to_expr(first, images) ** abs(n))
    top, bottom = (
        sympy.Mul(rational(Fraction(c)), *x)
        for c, x in zip((number.numerator, number.denominator), sides, strict=True)
    )
    return top / bottom
