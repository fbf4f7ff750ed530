"""The proof of Q, from the identities that were expanded: one argument for each way to find Q."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from derive.derivation import Derivation
from derive.joint import kernel_in_weights
from derive.model.direction import Direction
from derive.model.notation import log_expr, to_expr
from derive.potential.piece import Piece, Root, trimmed
from derive.potential.rewriting import with_products
from derive.records import Block
from derive.render.arranged import read
from derive.render.document import say
from derive.render.refutation import failing, failure_lines
from derive.render.sections import Row, part_names
from derive.statement import Equations, OnPage, Sentence, Text, tell
from derive.verdict import Argument, Verdict


def proof_lines(d: Derivation) -> Iterator[object]:
    """Yield the proofs for all blocks, what follows from them, and why the clock is needed."""
    for name, block in zip(part_names(d.potential.pieces), d.blocks, strict=True):
        assert block.potential.piece is not None
        evidence = block.potential.finding.evidence
        argument = next((ARGUMENTS[e.kind] for e in evidence if e.kind in ARGUMENTS), _segment)
        piece, warped = block.potential.piece, d.hessian.verdict is not Verdict.PROVED
        yield from argument(block, trimmed(piece), name)
        if argument is not _dual and (warped or piece.kind == "quadrature"):
            yield from _in_weights(block, name)
    steering = d.parameterization.geometry.steering
    if steering.is_gradient:
        yield from say("proof.row_space", steering=steering.formula)
    failure = failing(d.hessian.finding.evidence)
    if d.hessian.verdict is Verdict.REFUTED and failure is not None:
        why = say("proof.no_hessian") if d.direction is None else _no_hessian(d.direction)
        yield OnPage((*why, *failure_lines(d.blocks[0], failure)))


def _of(block: Block, kind: Argument) -> Iterator[tuple[Expr, ...]]:
    """Yield the formulas of the identities of a kind, each once."""
    evidence = block.potential.finding.evidence
    for of in dict.fromkeys(e.of for e in evidence if e.kind == kind and e.of):
        yield tuple(read(str(text)) for text in of)


def _kernel(block: Block, piece: Piece, name: str) -> Iterator[object]:
    """K in beta, Q'' = 1/K and Q'(beta_0) = 0."""
    metric, symbols = block.metric, block.notation.weights
    (b,), kernel = piece.betas, piece.kernel
    slope, ((K,),) = to_expr(metric.along(0, 0, 0), symbols), kernel_in_weights(block)
    rows = [(str(a), K) for a, K in _of(block, "kernel") if not a.is_Symbol]
    return say(
        "kernel.proof",
        weights=(("K", K), ("<grad K, grad F>", slope)),
        along=(*rows, *([] if kernel is None else [("K", kernel)])),
        slope=_gradient(piece, name),
        b=b,
        Q=name,
        start=block.notation.beta_0[0],
    )


def _slope(name: str, b: Expr) -> Sentence:
    return tell("d{Q}/d{b}", Q=name, b=b)


def _gradient(piece: Piece, name: str) -> list[Row]:
    pairs = zip(piece.betas, piece.gradient, strict=True)
    return [(_slope(name, b), g) for b, g in pairs]


def _weight(block: Block, piece: Piece, name: str) -> Iterator[object]:
    """A weight A as the coordinate: beta = f(A), and dmu/dt = lambda for mu = dQ/dbeta."""
    assert block.potential.chart is not None
    (b,), ((f,),) = piece.betas, _of(block, "weight")
    roots = piece.roots or block.potential.chart.roots
    A = roots[-1].symbol if piece.curve is None else piece.curve.parameter
    yield from _chart_lines(block, roots)
    mu = ((tell("mu := {slope}", slope=_slope(name, b)), piece.gradient[0]),)
    how = "stationary" if piece.integrand is None else "integral"
    yield from say(f"weight.{how}", b=b, Q=name, A=A, f=f, mu=mu)
    yield from say("weight.time", A=A)


def _curve(block: Block, piece: Piece, name: str) -> Iterator[object]:
    """The weights along the flow as functions of the dual time."""
    assert piece.curve is not None
    z, mu, own = piece.curve.parameter, piece.gradient[0], block.parameterization.weights
    weights = [(Text(w), x) for w, x in piece.curve.weights if w in own]
    yield from say("curve.time", weights=(*([("mu", mu)] if mu != z else []), *weights))
    if mu == z:
        yield from say("curve.itself", z=z)
    yield from say("curve.so", b=piece.betas[0], Q=name)


def _path(block: Block, piece: Piece, name: str) -> Iterator[object]:
    """All weights as functions of one of them, t, and its flow."""
    assert piece.curve is not None
    ((pace,),), t = _of(block, "path"), piece.curve.parameter
    rows = {"pace": ((tell("d{t}/dmu", t=t), pace),), "mu": (("mu", piece.gradient[0]),)}
    return say("path.proof", t=t, b=piece.betas[0], Q=name, **rows)


def _parts(block: Block, piece: Piece, name: str) -> Iterator[object]:
    """Functions mu and R of the weights of a sum; Q = mu beta - R."""
    (b,), (mu,) = piece.betas, piece.gradient
    rows = (("mu", mu), ("R", -piece.value.xreplace({b: sympy.S.Zero})))
    equations = (("<grad mu, grad F>", sympy.S.One), ("<grad R, grad F>", "F"))
    return say("parts.proof", functions=rows, gradients=equations, b=b, Q=name)


def _integral(block: Block, piece: Piece, name: str) -> Iterator[object]:
    """Q'' = 1/K by the form of Q."""
    b, ((K,),) = piece.betas[0], kernel_in_weights(block)
    yield from say("kernel.monotone", b=b, rows=(("K", K),))
    if rows := tuple((str(a), K) for a, K in _of(block, "kernel")):
        chart = block.potential.chart
        roots = [replace(r, explicit=None) for r in (chart.roots if chart else ())]
        yield from _chart_lines(block, roots)
        yield from say("kernel.there", rows=rows)
    yield from say("kernel.integral", b=b, Q=name)


def _coordinates(block: Block) -> tuple[list[Row], list[Row]] | None:
    """Return g, y and R in the weights, and what holds of their gradients."""
    dual, symbols, labels = (
        block.potential.dual,
        block.notation.weights,
        block.parameterization.labels,
    )
    if dual is None:
        return None
    rows: list[Row] = [("g", to_expr(dual.g, symbols))]
    rows += [(f"y{i}", log_expr(y, symbols)) for i, y in zip(labels, dual.y, strict=True)]
    equations: list[Row] = [("<grad y_i, grad F_j>", "g delta_ij")]
    if dual.R is not None:
        rows.append(("R", log_expr(dual.R, symbols)))
        equations.append(("<grad R, grad F_j>", "g F_j"))
    return rows, equations


def _in_weights(block: Block, name: str) -> Iterator[object]:
    """Q by dual coordinates, in the weights alone."""
    if (found := _coordinates(block)) is None:
        return
    rows, equations = found
    yield from say("dual.alone", Q=name, rows=(*rows, *equations))
    if equations[1:]:
        yield from say("dual.without", Q=name)


def _dual(block: Block, piece: Piece, name: str) -> Iterator[object]:
    """Functions y, g and R of the weights; Q = sum_i (y_i - y_i(w_0)) beta_i - R."""
    found, labels = _coordinates(block), block.parameterization.labels
    assert found is not None
    rows, equations = found
    yield from say("dual.let", functions=rows, gradients=equations)
    if terms := inner_product(rows[1][1], block, 0):
        yield from say("dual.example", i=labels[0], terms=terms)
    yield from say("dual.flow")
    if equations[1:]:
        yield from say("dual.legendre", Q=name)
    yield from _chart_lines(block, piece.roots)
    if not (piece.in_weights or any(g.has(sympy.Integral) for g in piece.gradient)):
        yield from (*say("dual.in_beta", rows=_gradient(piece, name)), *_root_slopes(piece))


def _root_slopes(piece: Piece) -> Iterator[object]:
    """Yield the derivatives of the roots, from their equations."""
    rows: list[Row] = []
    for root in piece.roots:
        P, A = root.polynomial.as_expr(), root.symbol
        slope = sympy.expand(P.diff(A))
        for b in piece.betas:
            right = sympy.expand(-P.diff(b))
            if right != 0 and len(str(slope)) < SHORTER:
                factor = "({c})" if slope.is_Add else "{c}"
                rows.append((tell(f"{factor} d{{A}}/d{{b}}", c=slope, A=A, b=b), right))
    if rows:
        yield from say("dual.slopes", rows=rows)


SHORT, SHORTER = 48, 24
"""Characters of an inner product, and of the slope of a root, that are written out."""


def _chart_lines(block: Block, roots: Sequence[Root]) -> Iterator[object]:
    """Yield the equations of roots, and of weights and functions of them, on the leaf."""
    if (chart := block.potential.chart) is None:
        return
    symbols, weights = block.notation.weights, block.parameterization.weights
    betas, left = {*map(str, block.notation.betas)}, {str(r.symbol): r for r in roots}
    moving, absent = betas | {*left}, {str(r.symbol) for r in chart.roots} - {*left}
    rows: dict[str, Row] = {}
    for name, function, written in chart.entries:
        (base, exponent), uses = written.as_base_exp(), {*map(str, written.free_symbols)}
        what = with_products(to_expr(function, symbols))
        if str(base) in left:
            yield from _root_lines(left.pop(str(base)), what ** (1 / exponent))
        elif name in weights or (moving & uses and name not in betas):
            rows |= {} if absent & uses else {name: (what, written)}
    if rows:
        what = "functions" if rows.keys().isdisjoint(weights) else "weights"
        yield from say(f"dual.{what}", rows=rows.values())


def _root_lines(root: Root, what: Expr) -> Iterator[object]:
    equation = ((root.polynomial.as_expr(), 0),)
    yield from say("dual.root", A=root.symbol, what=what, equation=equation)
    if root.explicit is None:
        yield from say("dual.which", branch=Text(root.branch.removeprefix("is "), "reason"))


def inner_product(f: Expr, block: Block, output: int) -> Sentence | None:
    """Return <grad f, grad F_j> term by term, where that is short."""
    p, symbols = block.parameterization, block.notation.weights
    F, words, values = to_expr(p.F[output], symbols), "", dict[str, object]()
    slopes = [F.diff(symbols[name]) for name in p.weights]
    pushed = p.geometry.raised(slopes, lambda r: to_expr(r, symbols))
    for name, push in zip(p.weights, pushed, strict=True):
        pair = [sympy.powsimp(x) for x in (f.diff(symbols[name]), push)]
        if 0 in pair:
            continue
        minus = [x.could_extract_minus_sign() for x in pair]
        sizes = [-x if m else x for x, m in zip(pair, minus, strict=True)]
        keys = {f"x{len(values) + i}": x for i, x in enumerate(sizes) if x != 1 or sizes == [1, 1]}
        factors = (f"({{{key}}})" if x.is_Add else f"{{{key}}}" for key, x in keys.items())
        words += f" {'+-'[minus[0] != minus[1]]} {'*'.join(factors)}"
        values |= keys
    words = words.removeprefix(" + ").replace(" - ", "-", words.startswith(" - "))
    short = sum(len(str(x)) for x in values.values()) < SHORT
    return Sentence(words, values) if values and short else None


def _direction(block: Block, piece: Piece, name: str) -> Iterator[object]:
    """y = psi u/n with <grad psi, grad s> = g = psi phi/n, and q' = psi."""
    turning = block.potential.turning
    assert turning is not None
    direction, s = turning.direction, piece.betas[0]
    u, n = Text(direction.vector), Text(direction.norm)
    if direction.sign < 0:
        yield from say("direction.signs", u=u)
    r = tell("r_{u} ", u=u) if _has_rate(direction) else ""
    yield from say("direction.functions", u=u, n=n, r=r, s=s, Q=name)
    if turning.g is None:
        yield from say("direction.unwritten")
    else:  # psi in the scalars and the norm
        symbols = direction.notation.weights
        pushed = to_expr(direction.rate * direction.phi, symbols)
        psi = turning.g * symbols[direction.norm] / pushed * direction.sign
        yield from say("direction.here", rows=(("g", turning.g), ("psi", sympy.powsimp(psi))))
    yield from _chart_lines(block, piece.roots)
    (slope,) = piece.gradient
    if not slope.has(sympy.Integral) and not slope.atoms(AppliedUndef):
        slopes = [*_root_slopes(piece)]
        yield from say("direction.so", s=s, rows=(("psi", slope),))
        yield from say("direction.slope", end="," if slopes else ".", s=s, Q=name)
        yield from slopes


def _has_rate(direction: Direction) -> bool:
    """Tell whether u has a rate other than 1."""
    return direction.pushed != "phi"


def _no_hessian(direction: Direction) -> Iterator[object]:
    """Yield what makes the clock of a vector constant."""
    s, u, rate, slope = direction.notation.betas[0], Text(direction.vector), "", ""
    if _has_rate(direction):
        rate, slope = " + log r_{u}", " + <grad log r_{u}, grad {s}>"
    more = {"rate": tell(rate, u=u), "slope": tell(slope, u=u, s=s)}
    return say("direction.no_hessian", n=Text(direction.norm), s=s, **more)


def _segment(block: Block, piece: Piece, name: str) -> Iterator[object]:
    """Taylor's formula on a segment, for a Hessian that is known."""
    sides = (e.claim.split(" = ", 1) for e in block.potential.finding.evidence[:6])
    rows = ((Text(a, "claim"), Text(b, "claim")) for a, b in sides)
    return say("segment.proof", Q=name, rows=rows)


def _separate(block: Block, piece: Piece, name: str) -> Iterator[object]:
    """Q = sum_k q_k(x_k), each x_k = <v_k, beta> with a clock of its own, K_k = |grad x_k|^2."""
    rows = [(r.symbol, r.explicit) for r in piece.roots if r.explicit is not None]
    yield from say("separate.coordinates", Q=name, rows=rows)
    pairs = zip(_of(block, "kernel"), _of(block, "slope"), strict=True)
    for k, ((power, kernel), (x, slope)) in enumerate(pairs, 1):
        of_k = str(power).replace("K", f"K_{k}")
        yield Equations(((of_k, kernel), (_slope(name, x), slope)))
    yield from say("separate.so", Q=name)


ARGUMENTS: Mapping[Argument, Callable[[Block, Piece, str], Iterator[object]]] = {
    "separate": _separate,
    "kernel": _kernel,
    "path": _path,
    "weight": _weight,
    "parts": _parts,
    "curve": _curve,
    "integral": _integral,
    "length": _direction,
    "dual": _dual,
}
"""The argument made of the identities that were expanded, by the first kind that has one."""
