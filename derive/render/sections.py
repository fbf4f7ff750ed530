"""What text and page both say of a derivation: its parts in like order, and sentences on F."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import singledispatch
from itertools import combinations_with_replacement
from operator import eq
from typing import TYPE_CHECKING, TypeAlias

from sympy import Expr, Function, Integral, Symbol
from sympy.core.function import AppliedUndef

from derive.derivation import Derivation
from derive.joint import in_functions, law_in_logarithms, laws_of
from derive.language import to_text
from derive.language.tree import Name
from derive.limits.growing_beta import REASON
from derive.limits.statements import slope_at
from derive.model.direction import Direction
from derive.model.labels import pair, predictor
from derive.model.notation import Notation
from derive.model.parameterization import Parameterization
from derive.potential.block import DirectionTerms
from derive.potential.piece import Piece, Root, trimmed, with_formulas
from derive.records import Block, Conserved, Decision, InducedMetric, Potential
from derive.render.document import Part
from derive.statement import (
    Equations,
    OnPage,
    OnTerminal,
    Open,
    Sentence,
    Statement,
    Text,
    each,
    note,
    tell,
)
from derive.verdict import Verdict
from derive.weights.hessian import Dependence

if TYPE_CHECKING:
    from derive.limits.find import Regimes
    from derive.limits.limit import Limit
    from derive.limits.random_width import RandomWidth


Row: TypeAlias = tuple[object, object]


def named_laws(d: Derivation) -> Iterator[tuple[Symbol, Expr]]:
    """Yield each conserved quantity with its name."""
    for block in d.blocks:
        laws, notation = laws_of(block), block.notation
        for i, law in enumerate(laws, 1):
            name = notation.fresh(f"delta{i}" if len(laws) > 1 else "delta")
            yield name, law_in_logarithms(block.parameterization, law, notation.weights)


def outputs(p: Parameterization) -> Iterator[object]:
    """Yield each output, then those that are affine functions of others, and the metric."""
    notation = Notation(p, tuple(range(p.d)))
    names = (Text(predictor(notation.taken)),) if p.vectors else notation.betas
    yield Equations(tuple(zip(names, map(Text, p.texts), strict=True)))
    yield from (*affine_outputs(p), *metric_of(p))


def affine_outputs(p: Parameterization) -> Iterator[Sentence]:
    """Yield the outputs that are affine functions of others."""
    notation = Notation(p, tuple(range(p.d)))
    for (b, image), output in zip(notation.affine, p.affine, strict=True):
        words = "`{b} = {given} = {image}`: left out of `F`, not of `X beta = y`"
        yield tell(words, b=b, given=output.tree, image=image)


def metric_of(p: Parameterization) -> Iterator[Sentence]:
    """Yield the metric on the weights, where it is another than that of plain gradient flow."""
    G = p.geometry
    if G.psi is not None:
        words = "this is mirror descent on the weights: `G = Hess psi`, `psi = {psi}`"
        yield tell(words, psi=G.psi)
    if not p.rates:
        return
    if not (steering := G.steering).is_gradient:
        yield tell(
            f"this is {steering.flow} on the weights: `w' = phi(-J^T X^T r)`, entry by entry,"
            f" `phi(x) = {steering.phi}`, in some unit of time; as outputs share no weights it is"
            " that of the rates below, steered by `lambda = phi(-X^T r)`"
        )
    kind = "diagonal with the learning rates" if G.is_diagonal else "the matrix with the rows"
    positive = [*map(Symbol, (w for w in p.weights if w in p.positive))]
    where = ", where {signs}" if positive else ""
    yield tell(
        f"here the weights have the flow `w' = G^-1 J^T lambda`, `G^-1` {kind} {{rows}}{where}",
        rows=_rows(p),
        signs=each("`{0} > 0`", zip(positive)),
    )
    yield tell(
        "so `grad f` stands for `G^-1 df`, `<grad f, grad h>` for `df G^-1 dh`,"
        " and `K` for `J G^-1 J^T`"
    )


def _rows(p: Parameterization) -> Sentence:
    """Return the rate of each weight, or its row of G^-1."""
    G, names = p.geometry, {v.norm: v.name for v in p.vectors}
    pairs = zip(p.weights, G.rows, strict=True)
    each_row = ((Symbol(names.get(w, w)), each("{0}", zip(row))) for w, row in pairs)
    return each("`r_{0} = {1}`" if G.is_diagonal else "`({1})` for `{0}`", each_row)


def entries(d: Derivation, name: str, matrix: Expr) -> tuple[Row, ...]:
    """Return the entries on and above the diagonal that are not 0; of a vector both eigenvalues."""
    labels = [*enumerate(d.parameterization.labels)]
    pairs = combinations_with_replacement(labels, 2)
    places = {f"{name}{pair(a, b) if labels[1:] else ''}": (i, j) for (i, a), (j, b) in pairs}
    if d.direction is not None:
        places = {"T": (0, 0), "R": (1, 1)}
    return tuple((x, matrix[at]) for x, at in places.items() if matrix[at] != 0)


def what_stays(d: Derivation) -> Iterator[Sentence]:
    """Yield what follows from the start of some weights, so that fewer are looked at."""
    if left := [*((w, 0) for w in d.idle), *d.ties]:
        values = each("`{0} = {1}`", ((Symbol(w), value) for w, value in left))
        yield tell("left out: {values}, from the start and always", values=values)
    if d.ties and not d.parameterization.rates:
        yield from metric_of(d.potential.parameterization)
    elif d.ties:
        rates = _rows(d.potential.parameterization)
        yield tell("the others have the learning rates {rates} there", rates=rates)


def completeness(d: Derivation, block: Block) -> Iterator[Sentence]:
    """Yield which brackets of gradients are independent, and what follows for the laws."""
    words, found = block.lie.words, block.conserved
    laws = found.laws or found.logarithmic
    if block.lie.point is None:
        return
    so = ", so all other conserved quantities are functions of these (Marcotte et al. 2024)"
    if not laws:
        so = f", and there are {len(words)} weights" if words[1:] else ", and there is one weight"
    if block.conserved.verdict is not Verdict.PROVED:
        so = ""
    shown = words if len(words) < 7 else (words[0], "...", words[-1])
    F = "F" if d.of_coordinates else f"F{words[0][1:]}"
    what = f"with `X_i = grad F_i`, `{'`, `'.join(shown)}` are independent"
    at = each("`{0} = {1}`", ((Symbol(name), value) for name, value in block.lie.point))
    yield tell(f"{what if words[1:] else f'`grad {F} != 0`'} at {{at}}{so}", at=at)


def other_losses(d: Derivation) -> tuple[str, tuple[Statement | Open, ...]]:
    """Return what Q is for beside regression, with a heading."""
    told = d.says("every time", "shrunk start", "one row", "box")
    units = d.says("activation", "idle data", "active unit")
    if not d.parameterization.geometry.steering.is_gradient:
        return "What is minimised", told
    heading = "Other losses" + " and weight decay" * len(told[1:]) + ", and a ReLU" * bool(units)
    return heading, (*told, *units)


def normalization(d: Derivation) -> Sentence:
    """Return what of Q is determined."""
    zero = "`grad Q = 0` at the start"
    if d.potential.other_side is not None:
        zero = "`grad Q = y - y(w_0)`, or `y(w_0) - y`"
    unit = "which is the unit of time"
    return tell(
        f"`Q` is unique up to a positive factor, {unit}, and an additive constant; here {zero}"
    )


def part_names(parts: Sequence[object]) -> list[str]:
    """Return what the parts of Q are called.

    >>> part_names("ab"), part_names("a")
    (['Q_1', 'Q_2'], ['Q'])
    """
    return [f"Q_{i}" if len(parts) > 1 else "Q" for i, _ in enumerate(parts, 1)]


@singledispatch
def expand(_: object) -> Iterable[object] | None:
    """Return the lines that a record or a statement stands for, of others nothing."""
    return None


expand.register(tuple, lambda lines: lines)
expand.register(Statement, lambda line: (*line.above, line.sentence, *line.below))


@expand.register
def _(line: Potential) -> Iterator[object]:
    bare = (replace(piece, gradient=()) for piece in line.pieces)
    return potential_lines(line if line.turning else replace(line, pieces=tuple(bare)))


@expand.register
def _(line: Conserved) -> Iterator[object]:
    yield Equations(tuple((f"delta{i}", law) for i, law in enumerate(line.laws, 1)))


@expand.register
def _(line: InducedMetric) -> Iterator[object]:
    for matrix in filter(None, (line.kernel_in_weights, line.kernel)):
        pairs = ((name, matrix[at]) for name, at in line.places.items())
        yield Equations(tuple((name, entry) for name, entry in pairs if entry != 0))
    yield from definitions(line.constants, line.roots)


@expand.register
def _(line: Decision) -> Iterator[object]:
    yield Equations((("g", line.g),) if line.g is not None else ())


@expand.register
def _(line: Parameterization) -> Iterator[object]:
    degree, start = (
        homogeneity(line),
        each("`{0}(0) = {1}`", ((Symbol(w), t) for w, t in line.start)),
    )
    free = note("{degree}; start w_0: {start}", degree=degree, start=start_words(line))
    yield OnTerminal((*outputs(line), free))
    betas = Notation(line, tuple(range(line.d))).betas
    computed = Equations(tuple(zip(betas, line.outputs, strict=True)))
    typed = next(outputs(line)) if line.vectors else computed  # a vector is computed by its norm
    yield OnPage((typed, *affine_outputs(line)))
    yield OnPage((note("the start is {start}", start=start),))


def homogeneity(p: Parameterization) -> Sentence:
    """Say of which degree D of homogeneity F is, a number or a constant of F, or that it is not."""
    D = p.homogeneity
    return (
        tell("not homogeneous") if D is None else tell("homogeneous of degree {D}", D=Text(str(D)))
    )


def start_words(p: Parameterization) -> Text:
    """Return the values of weights at the start, and those that are free."""
    free = [t.name for w, t in p.start if isinstance(t, Name) and t.name.startswith(f"{w}_0")]
    given = [f"{w} = {to_text(t)}" for w, t in p.start if to_text(t) not in free]
    return Text(", ".join([*given, *([f"free {', '.join(free)}"] if free else [])]))


def flatten(lines: Iterable[object], where: type[OnPage | OnTerminal]) -> Iterator[object]:
    """Yield lines as they stand on a page, or on a terminal."""
    for line in lines:
        if isinstance(line, OnPage | OnTerminal):
            yield from flatten(line.lines, where) if isinstance(line, where) else ()
        elif (inner := expand(line)) is not None:
            yield from flatten(inner, where)
        else:
            yield line


def potential_lines(potential: Potential, label: str = "") -> Iterator[object]:
    """Yield Q of each block, or of a vector, its gradient, and what the names in it are."""
    names, turning = part_names(potential.pieces), potential.turning
    if names[1:]:
        yield OnPage(("put",))
        yield Equations((("Q", " + ".join(names)),), label=label)
    for piece, name in zip(potential.pieces, names, strict=True):
        pairs = zip(piece.betas, piece.gradient, strict=False)
        slopes = [(b, g) for b, g in pairs if not g.has(Integral)]
        rows: Iterable[Row] = ((f"d{name}/d{b}", slope) for b, slope in slopes)
        if turning is not None:
            rows = (row for x in slopes for row in _slopes_of_vector(turning, *x))
        whole = replace(piece, value=piece.value + potential.linear)
        yield from form_lines(whole, name, rows, "" if names[1:] else label)
    if turning is not None:
        yield OnTerminal((Equations(((piece.betas[0], f"|{turning.direction.beta}|"),)),))


def _slopes_of_vector(turning: DirectionTerms, s: Symbol, slope: Expr) -> Iterator[Row]:
    b = turning.direction.beta
    linear = -turning.slope * Symbol(turning.direction.start_vector, real=True)
    yield "grad Q", tell(f"q'({s}) {b}/{s} + z, z = {{z}}", z=linear)
    yield f"q'({s})", slope


def form_lines(
    piece: Piece, name: str, slopes: Iterable[Row] = (), label: str = ""
) -> Iterator[object]:
    """Yield one closed form, called *name*, with some slopes."""
    value, piece = _by_slope(to_print(piece))
    curve, (b, *more) = piece.curve, piece.betas
    opening = tell({"Q": "put", "Q_1": "with"}.get(name, "and"))
    curved = () if curve is None else ((b, curve.beta),)
    if piece.time_curve is not None:
        z, (low, high) = piece.time_curve.parameter, piece.time_curve.interval
        between = tell("`{low} < {z} < {high}`", low=low, z=z, high=high)
        opening = tell("for {between}, where `{b}` is monotone, put", between=between, b=b)
    of_beta = tell(f"{name}({{b}})", b="beta" if more or name == "Q" else b)
    yield OnPage((opening, Equations((*curved, (of_beta, value)), label=label)))
    yield OnTerminal((Equations((*curved, (name, piece.value), *slopes)),))
    if piece.value != value:
        yield OnTerminal((note("with `psi` = {slope}", slope=Text(f"d{name}/d{b}")),))
    if piece.time_curve is not None:
        yield OnTerminal((note("with {between}", between=between),))
    calls = value.atoms(AppliedUndef) if piece.kernel is not None else ()
    inverse = () if curve is None or curve.inverse is None else ((curve.parameter, curve.inverse),)
    kernels = ((K, piece.kernel) for K in calls)
    names = (*inverse, *kernels, *piece.abbreviations, *piece.constants)
    yield from definitions(names, piece.roots)
    yield from _conditions(piece)


def _conditions(piece: Piece) -> Iterator[Sentence | Equations | OnTerminal]:
    """Yield what a form means, where it is, and what it assumes."""
    if means := piece.means:
        words = "{means}" if means.startswith("an integral") else "with {means}"
        yield note(words, means=Text(means, "reason"))
    for case in () if piece.integrand is None else piece.integrand.cases:
        yield note("where {where}", where=Text(case.where, "reason"))
        yield Equations(((case.integral, case.value),))
    if piece.domain:
        yield OnTerminal((note("domain: {words}", words=Text(piece.domain.words, "reason")),))
    if piece.assumptions:
        assumed = each("{0}", ((Text(c.written),) for c in piece.assumptions), "; ")
        yield OnTerminal((note("assuming {assumed}", assumed=assumed),))


def definitions(
    names: Iterable[tuple[Expr, Expr]], roots: Iterable[Root]
) -> Iterator[OnPage | OnTerminal | Equations]:
    """Yield what names in a formula stand for, and which roots of which polynomials."""
    roots = [*roots]
    explicit = ((root.symbol, root.explicit) for root in roots if root.explicit is not None)
    if rows := (*explicit, *((name, in_functions(e)) for name, e in names)):
        yield from (OnPage(("where",)), Equations(rows))
    for root in (root for root in roots if root.explicit is None):
        named = {"A": root.symbol, "branch": Text(root.branch, "reason")}
        yield OnPage((note(f"{'and' if rows else 'where'} `{{A}}` is {{branch}} of", **named),))
        yield OnTerminal((note("`{A}` is {branch} of", **named),))
        yield Equations(((root.polynomial.as_expr(), 0),))


def dependent(d: Derivation) -> tuple[Dependence, ...]:
    """Return what is known of the blocks whose outputs move together."""
    return tuple(b.dependence for b in d.blocks if b.dependence is not None)


def _by_slope(piece: Piece) -> tuple[Expr, Piece]:
    """Return an integral of the slope with the names of roots in it, and the form by psi, for that.

    Of another form it is Q, and the form itself.
    """
    Q = piece.value
    if len(piece.gradient) != 1 or not isinstance(Q, Integral) or piece.gradient[0].has(Integral):
        return Q, piece
    (beta,), (slope,), ((x, *ends),) = piece.betas, piece.gradient, Q.limits
    if Q.function.xreplace({x: beta}) != with_formulas(slope, piece.roots):
        return Q, piece
    at_x = {r.symbol: Symbol(f"{r.symbol}({x})", real=True) for r in piece.roots} | {beta: x}
    named, short = (
        Integral(height, (x, *ends)) for height in (slope.xreplace(at_x), Function("psi")(x))
    )
    return named, replace(piece, value=short)


def to_print(piece: Piece) -> Piece:
    """Return a form without what nothing refers to; K and its roots at b where K(b) is integrated.

    K(b) = 3 A(b)^2 - 2 A(b) delta, where A(b) is a root of a polynomial in A and b.
    """
    piece = trimmed(piece)
    if piece.integrand is None or piece.kernel is None:
        return piece
    (integral,), (beta,) = piece.value.atoms(Integral), piece.betas
    (b,), roots = integral.variables, list[Root]()
    at_b = {beta: b}
    for root in piece.roots:
        at_b[root.symbol] = Symbol(f"{root.symbol}({b})", real=True)
        roots.append(root.mapped(lambda e: e.xreplace(at_b)))
    return replace(piece, kernel=piece.kernel.xreplace(at_b), roots=tuple(roots))


def norms_of(direction: Direction | None) -> dict[str, str]:
    """Return each name that stands for a norm, with that of its vector."""
    if direction is None:
        return {}
    names = {direction.norm: direction.vector}
    start = direction.parameterization.start[-1][1]
    if isinstance(start, Name) and start.name.startswith(f"{direction.norm}_0"):
        names[start.name] = direction.start_vector
    return dict(sorted(names.items(), key=lambda pair: -len(pair[0])))


def parts_of_limits(r: Regimes | RandomWidth) -> Iterator[Part]:
    """Yield where each limit is taken and what it is, and what proves that."""
    for limit in r.limits:
        claims = (s for s in r.statements if s.about == limit.point.text)
        yield Part(tell("Limit `{at}`", at=limit.point), claims, verdict=limit.finding.verdict)
        if limit.potential is not None and limit.unit is not None:
            expansion = OnPage((*limit.finding.evidence, *_slopes(limit)))
            yield Part("", (note("{why}", why=limit.finding), expansion), kind="proof")


def _slopes(limit: Limit) -> Iterator[object]:
    """Yield what the slopes of Q/N tend to on each side, whose integral is its limit."""
    if limit.potential is None or limit.potential.Q is None or limit.potential.curve is not None:
        return
    above, below = limit.potential.gradient, limit.slopes_below
    alike = all(map(eq, map(str, above), map(str, below))) and len(above) == len(below)
    for sign, slopes in (("", above),) if alike else ((" > 0", above), (" < 0", below)):
        pairs = zip(limit.coordinates, slopes, strict=False)
        rows = tuple((slope_at(limit, x), g) for x, g in pairs if g is not None)
        if rows:
            yield note("for fixed {at} one has", at=each(f"`{{0}}{sign}`", zip(limit.coordinates)))
            yield Equations(rows, "->")
    yield note(f"so `Q{limit.over}` tends to the integral of this")


def parts_of_growing(r: Regimes) -> Iterator[Part]:
    """Yield limits at beta that grow, and what proves them."""
    for found in r.growing:
        b, x = found.beta
        heading = tell("Limit `{at}` at `{b} = N {x}`", at=found.point, b=b, x=x)
        yield Part(heading, (found.statement,), verdict=Verdict.PROVED)
        slope = tell("`dQ/d{b}`", b=b)
        curve = Equations(((b, found.curve.beta), (slope, found.gradient)))
        tends = Equations(((tell("`(dQ/d{b})/N`", b=b), found.slope),), "->")
        yield Part("", (note("along the flow"), curve, note(REASON), tends), kind="proof")
