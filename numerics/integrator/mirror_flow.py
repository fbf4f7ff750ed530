"""Mirror flow of a derived Q as a straight-line program: it knows Q, and nothing of the weights.

``d/dtau grad Q(beta) = lambda``, written in coordinates x in which Q is given by formulas: beta
itself and the roots that Q names, or the parameter z of a parametric form. With G = d grad Q/dx,
``x' = G^-1 lambda``; roots move by implicit differentiation of their polynomials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from sympy import Expr, Symbol

from derive.errors import LanguageError, NumericalError
from derive.language.budget import Budget
from derive.language.symbolic import from_sympy
from derive.potential.piece import Parametric, Piece, follows_flow
from derive.records import Potential
from numerics.evaluate.backend import exact
from numerics.evaluate.blocks import precise_roots
from numerics.evaluate.start import check_assumptions, constants_of, start_point
from numerics.integrator.builder import Builder, Seed
from numerics.integrator.tape import Register, Tape
from numerics.reals import Real

_ONE = Fraction(1)
_WIDE = Budget(depth=2000, digits=5000, exponent=4096, bits=10**6, terms=10**9, degree=4096)
"""Bounds for formulas that this program wrote itself."""


@dataclass(frozen=True, slots=True)
class MirrorFlow:
    """Mirror flow of Q: ``x' = field(x)`` from *start*; ``beta = output(x)``.

    The field has n inputs and outputs, the output n inputs and d outputs; start is that of beta_0.
    """

    field: Tape
    output: Tape
    start: tuple[Fraction | Real, ...]


@dataclass(frozen=True, slots=True)
class _Chart:
    """Coordinates of one piece: free ones, roots that follow them, and Q's formulas in both."""

    free: tuple[str, ...]
    roots: tuple[tuple[str, Expr], ...]
    beta: tuple[Expr, ...]
    gradient: tuple[Expr, ...]
    start: tuple[Fraction | Real, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.free, *(name for name, _ in self.roots))


def mirror_flow(
    potential: Potential, values: Mapping[str, Fraction], steering: Seed, digits: int
) -> MirrorFlow:
    """Return mirror flow of a closed Q in its own time, ``d/dtau grad Q(beta) = lambda(beta)``.

    The *steering* writes lambda, d registers, on those of beta; *digits* are those of the start.
    InputError where Q assumes another start, NumericalError without Q or its gradient.
    """
    if not potential.pieces:
        raise NumericalError(f"there is no Q to flow along: {potential.finding.words}")
    check_assumptions(potential, values)
    p = potential.parameterization
    _, beta0 = start_point(p, values)
    charts: list[_Chart] = []
    for i, block in enumerate(p.blocks):
        first = sum(len(chart.names) for chart in charts)
        origin = tuple(beta0[k] for k in block)
        roots = precise_roots(potential, i, values, origin, digits)
        charts.append(_chart(potential.pieces[i], values, origin, roots, first))
    builder = Builder(tuple(name for chart in charts for name in chart.names))
    beta = [_compile(builder, b) for chart in charts for b in chart.beta]
    by_place = dict(zip(chain(*p.blocks), beta, strict=True))
    outputs = tuple(by_place[i] for i in range(p.d))
    steer = steering(builder, outputs)
    pairs = zip(p.blocks, charts, strict=True)
    rates = chain(*(_rates(builder, chart, [steer[i] for i in block]) for block, chart in pairs))
    start = tuple(chain(*(chart.start for chart in charts)))
    return MirrorFlow(builder.tape([*rates]), builder.tape(outputs), start)


def _chart(
    piece: Piece,
    values: Mapping[str, Fraction],
    beta0: tuple[Fraction, ...],
    roots_at_start: Sequence[Real],
    first: int,
) -> _Chart:
    """Return coordinates x<first>, x<first + 1>, ... of a piece, with numbers for constants."""
    if follows_flow(piece):
        raise NumericalError("the mirror flow needs grad Q in beta; here that is no formula")
    constants = constants_of(piece, values)

    def known(e: Expr) -> Expr:
        e = exact(e, values)
        return e.xreplace({s: constants[s.name] for s in e.free_symbols if s.name in constants})

    if isinstance(piece, Parametric):
        z = Symbol(f"x{first}")
        renamed: dict[Symbol, Symbol] = {piece.curve.parameter: z}
        beta: tuple[Expr, ...] = (known(piece.curve.beta).xreplace(renamed),)
        start: tuple[Fraction | Real, ...] = (Fraction(0),)  # grad Q is a multiple of z
        roots: tuple[tuple[str, Expr], ...] = ()
    else:
        symbols = (*piece.betas, *(root.symbol for root in piece.roots))
        renamed = {s: Symbol(f"x{k}") for k, s in enumerate(symbols, first)}
        beta = tuple(renamed[b] for b in piece.betas)
        roots = tuple(
            (renamed[r.symbol].name, known(r.polynomial).xreplace(renamed)) for r in piece.roots
        )
        start = (*beta0, *roots_at_start)
    free = tuple(str(x) for x in renamed.values())[: len(piece.betas)]
    gradient = tuple(known(g).xreplace(renamed) for g in piece.gradient)
    return _Chart(free, roots, beta, gradient, start)


def _compile(builder: Builder, expression: Expr) -> Register:
    try:
        return builder.tree(from_sympy(expression, _WIDE))
    except LanguageError as error:
        raise NumericalError(f"the mirror flow cannot use this form of Q: {error}") from None


def _slopes(builder: Builder, expression: Expr, names: Sequence[str]) -> list[Register]:
    found = builder.gradient(_compile(builder, expression))
    return [found[builder.inputs.index(name)] for name in names]


def _rates(builder: Builder, chart: _Chart, steer: Sequence[Register]) -> list[Register]:
    """Return x' of one piece: free coordinates from G x' = lambda, then the roots."""
    n = len(chart.free)
    moves: list[list[Register]] = []
    for k, (_, polynomial) in enumerate(chart.roots):
        slopes = _slopes(builder, polynomial, chart.names)
        total = _total(builder, slopes[: n + k], moves, n)
        moves.append([builder.linear([(builder.divide(t, slopes[n + k]), -_ONE)]) for t in total])
    rows = (_slopes(builder, g, chart.names) for g in chart.gradient)
    rates = _solved(builder, [_total(builder, row, moves, n) for row in rows], list(steer))
    return [*rates, *(builder.dot(row, rates) for row in moves)]


def _total(
    builder: Builder, slopes: Sequence[Register], moves: Sequence[Sequence[Register]], n: int
) -> list[Register]:
    """Return derivatives by the n free coordinates, through the roots by the chain rule."""
    return [
        builder.total([slopes[j], *map(builder.multiply, slopes[n:], (move[j] for move in moves))])
        for j in range(n)
    ]


def _solved(
    builder: Builder, matrix: list[list[Register]], right: list[Register]
) -> list[Register]:
    """Solve by elimination without pivots, as Hess Q is positive definite."""
    n = len(right)
    for k in range(n):
        for i in range(k + 1, n):
            factor = builder.divide(matrix[i][k], matrix[k][k])
            pairs = zip(matrix[i], matrix[k], strict=True)
            matrix[i] = [_less(builder, a, factor, b) for a, b in pairs]
            right[i] = _less(builder, right[i], factor, right[k])
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            right[k] = _less(builder, right[k], matrix[k][j], right[j])
        right[k] = builder.divide(right[k], matrix[k][k])
    return right


def _less(builder: Builder, a: Register, factor: Register, b: Register) -> Register:
    return builder.linear([(a, _ONE), (builder.multiply(factor, b), -_ONE)])
