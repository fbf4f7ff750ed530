"""The proof of Q, from the identities that were expanded: one argument for each way to find Q."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from derive.derivation import Derivation
from derive.model.direction import Direction
from derive.model.notation import log_expr, to_expr
from derive.potential.block import DirectionTerms
from derive.potential.piece import Piece, Root, trimmed
from derive.records import Block
from derive.render.arranged import read
from derive.render.document import Display, Element, say
from derive.render.page.formula import rate_name, statement
from derive.render.page.lines import COLUMN, Row, display, vanishing, width
from derive.render.page.printer import as_latex, bracketed, inline, latex, latex_name
from derive.render.page.refutation import failing, plain_failure
from derive.render.sections import part_names
from derive.verdict import Argument, Verdict


def proof_lines(d: Derivation) -> Iterator[Element]:
    """Yield the proofs for all blocks, what follows from them, and why the clock is needed."""
    for name, block in zip(part_names(d.potential.pieces), d.blocks, strict=True):
        assert block.potential.piece is not None
        evidence = block.potential.finding.evidence
        argument = next((ARGUMENTS[e.kind] for e in evidence if e.kind in ARGUMENTS), _segment)
        yield from argument(block, trimmed(block.potential.piece), as_latex(name))
    if d.parameterization.geometry.steepest is None:
        yield from say("proof.row_space")
    failure = failing(d.hessian.finding.evidence)
    if d.hessian.verdict is Verdict.REFUTED and failure is not None:
        if d.direction is not None:
            s, r = latex(d.beta[0]), _rate(d.direction)
            rate, slope = rf" + \log {r}", rf" + \langle\nabla\log {r}, \nabla {s}\rangle"
            names = {"rate": rate, "slope": slope} if r else {"rate": "", "slope": ""}
            yield from say("direction.no_hessian", n=latex_name(d.direction.norm), s=s, **names)
        else:
            yield from say("proof.no_hessian")
        yield from plain_failure(d.blocks[0], failure)


def _of(block: Block, kind: Argument) -> Iterator[tuple[Expr, ...]]:
    """Yield the formulas of the identities of a kind, each once."""
    evidence = block.potential.finding.evidence
    for of in dict.fromkeys(e.of for e in evidence if e.kind == kind and e.of):
        yield tuple(read(str(text)) for text in of)


def _kernel(block: Block, piece: Piece, name: str) -> Iterator[Element]:
    """K in beta, Q'' = 1/K and Q'(beta_0) = 0."""
    metric, symbols = block.metric, block.notation.weights
    b, kernel = latex(piece.betas[0]), piece.kernel
    yield from say("kernel.weights")
    slope, K = (to_expr(f, symbols) for f in (metric.along(0, 0, 0), metric.K[0][0]))
    yield from display([("K", K), (r"\langle\nabla K, \nabla F\rangle", slope)])
    yield from say("kernel.along", b=b)
    rows = [(latex(a), inline(b)) for a, b in _of(block, "kernel") if not a.is_Symbol]
    yield from display([*rows, *([] if kernel is None else [("K", kernel)])])
    yield from say("kernel.function")
    yield from display(_gradient(piece, name))
    yield from say("kernel.so", b=b, Q=name, start=inline(block.notation.beta_0[0]))


def _gradient(piece: Piece, name: str) -> list[Row]:
    pairs = zip(piece.betas, piece.gradient, strict=True)
    return [(rf"\frac{{\partial {name}}}{{\partial {latex(b)}}}", g) for b, g in pairs]


def _weight(block: Block, piece: Piece, name: str) -> Iterator[Element]:
    """A weight A as the coordinate: beta = f(A), and dmu/dt = lambda for mu = dQ/dbeta."""
    b, A = latex(piece.betas[0]), latex(piece.roots[-1].symbol)
    ((f,),) = _of(block, "weight")
    yield from _chart_lines(block, piece.roots)
    yield from say("weight.stationary", b=b, Q=name, A=A, f=inline(f))
    ((left, slope),) = _gradient(piece, name)
    yield from display([(rf"\mu := {left}", slope)])
    yield from say("weight.so", A=A)


def _curve(block: Block, piece: Piece, name: str) -> Iterator[Element]:
    """The weights along the flow as functions of the dual time."""
    assert piece.curve is not None
    z, mu, own = piece.curve.parameter, piece.gradient[0], block.parameterization.weights
    weights: list[Row] = [(latex_name(w), x) for w, x in piece.curve.weights if w in own]
    yield from say("curve.time")
    yield from display([*([(r"\mu", mu)] if mu != z else []), *weights])
    if mu == z:
        yield from say("curve.itself", z=latex(z))
    yield from say("curve.so", b=latex(piece.betas[0]), Q=name)


def _path(block: Block, piece: Piece, name: str) -> Iterator[Element]:
    """All weights as functions of one of them, t, and its flow."""
    path = piece.curve
    assert path is not None
    t, b = latex(path.parameter), latex(piece.betas[0])
    yield from say("path.leaf", t=t)
    ((pace,),) = _of(block, "path")
    yield from display([(rf"\frac{{\mathrm{{d}} {t}}}{{\mathrm{{d}} \mu}}", inline(pace))])
    yield from say("path.time", t=t)
    yield from display([(r"\mu", piece.gradient[0])])
    yield from say("path.so", b=b, Q=name)


def _integral(block: Block, piece: Piece, name: str) -> Iterator[Element]:
    """Q'' = 1/K by the form of Q."""
    names = {"b": latex(piece.betas[0]), "Q": name}
    yield "The kernel"
    yield from display([("K", to_expr(block.metric.K[0][0], block.notation.weights))])
    yield from say("kernel.monotone", **names)
    if rows := [(inline(a), b) for a, b in _of(block, "kernel")]:
        chart = block.potential.chart
        roots = [replace(r, explicit=None) for r in (chart.roots if chart else ())]
        yield from _chart_lines(block, roots)
        yield from say("kernel.there")
        yield from display(rows)
    yield from say("kernel.integral", **names)


def _dual(block: Block, piece: Piece, name: str) -> Iterator[Element]:
    """Functions y, g and R of the weights; Q = sum_i (y_i - y_i(w_0)) beta_i - R."""
    dual, symbols = block.potential.dual, block.notation.weights
    assert dual is not None
    y = [log_expr(f, symbols) for f in dual.y]
    labels, R = block.parameterization.labels, dual.R and log_expr(dual.R, symbols)
    rows: list[Row] = [("g", to_expr(dual.g, symbols))]
    rows += [(f"y_{{{i}}}", x) for i, x in zip(labels, y, strict=True)]
    equations: list[Row] = [(r"\langle\nabla y_i, \nabla F_j\rangle", r"g\,\delta_{ij}")]
    if R is not None:
        rows.append(("R", R))
        equations.append((r"\langle\nabla R, \nabla F_j\rangle", "g F_j"))
    yield from say("dual.let")
    yield from display(rows)
    yield from say("dual.expansion")
    yield from display(equations)
    if terms := inner_product(y[0], block, 0):
        yield from say("dual.example", i=labels[0], terms=terms)
    yield from say("dual.flow")
    if R is not None:
        yield from say("dual.legendre", Q=name)
    yield from _chart_lines(block, piece.roots)
    if not any(g.has(sympy.Integral) for g in piece.gradient):
        yield from say("dual.in_beta")
        yield from display(_gradient(piece, name))
        yield from _root_slopes(piece)


def _root_slopes(piece: Piece) -> Iterator[Element]:
    """Yield the derivatives of the roots, from their equations."""
    rows: list[Row] = []
    for root in piece.roots:
        P = root.polynomial.as_expr()
        slope, A = bracketed(sympy.expand(P.diff(root.symbol))), latex(root.symbol)
        for b in piece.betas:
            right = sympy.expand(-P.diff(b))
            left = rf"{slope} \frac{{\partial {A}}}{{\partial {latex(b)}}}"
            if right != 0 and width(left) < COLUMN / 2:
                rows.append((left, right))
    if rows:
        yield from say("dual.slopes")
        yield from display(rows)


def _chart_lines(block: Block, roots: Sequence[Root]) -> Iterator[Element]:
    """Yield the equations of roots, and of weights and functions of them, on the leaf."""
    if (chart := block.potential.chart) is None:
        return
    symbols, weights = block.notation.weights, block.parameterization.weights
    betas, left = {*map(str, block.notation.betas)}, {str(r.symbol): r for r in roots}
    moving, absent = betas | {*left}, {str(r.symbol) for r in chart.roots} - {*left}
    rows: dict[str, Row] = {}
    for name, function, written in chart.entries:
        (base, exponent), uses = written.as_base_exp(), {*map(str, written.free_symbols)}
        what = to_expr(function, symbols)
        if str(base) in left:
            yield from _root_lines(left.pop(str(base)), inline(what ** (1 / exponent)))
        elif name in weights or (moving & uses and name not in betas):
            rows |= {} if absent & uses else {name: (latex(what), written)}
    if rows:
        yield from say("dual.functions" if rows.keys().isdisjoint(weights) else "dual.weights")
        yield from display([*rows.values()])


def _root_lines(root: Root, what: str) -> Iterator[Element]:
    yield from say("dual.root", A=latex(root.symbol), what=what)
    yield from vanishing(root.polynomial.as_expr())
    if root.explicit is None:
        yield from say("dual.which", branch=root.branch.removeprefix("is "))


def inner_product(f: Expr, block: Block, output: int) -> str:
    """Return <grad f, grad F_j> term by term, where that is short; else nothing."""
    p, symbols = block.parameterization, block.notation.weights
    F, terms = to_expr(p.F[output], symbols), list[str]()
    slopes = [F.diff(symbols[name]) for name in p.weights]
    pushed = p.geometry.raised(slopes, lambda r: to_expr(r, symbols))
    for name, push in zip(p.weights, pushed, strict=True):
        pair = [sympy.powsimp(x) for x in (f.diff(symbols[name]), push)]
        if 0 not in pair:
            minus = [x.could_extract_minus_sign() for x in pair]
            both = (bracketed(-x if m else x) for x, m in zip(pair, minus, strict=True))
            sign = "- " if minus[0] != minus[1] else "+ " if terms else ""
            terms.append(sign + r" \cdot ".join(both))
    whole = " ".join(terms)
    return whole if width(whole) < COLUMN - 75 else ""


def _direction(block: Block, piece: Piece, name: str) -> Iterator[Element]:
    """y = psi u/n with <grad psi, grad s> = g = psi phi/n, and q' = psi."""
    turning = block.potential.turning
    assert turning is not None
    u, n = latex_name(turning.direction.vector), latex_name(turning.direction.norm)
    if turning.direction.sign < 0:
        yield from say("direction.signs", u=u)
    names = {"s": latex(piece.betas[0]), "Q": name}
    yield from say("direction.functions", u=u, n=n, r=_rate(turning.direction), **names)
    yield from _psi(turning)
    yield from _chart_lines(block, piece.roots)
    (slope,) = piece.gradient
    if not slope.has(sympy.Integral) and not slope.atoms(AppliedUndef):
        slopes = [*_root_slopes(piece)]
        yield from say("direction.so", **names)
        yield from display([(r"\psi", slope)])
        yield from say("direction.slope", end="," if slopes else ".", **names)
        yield from slopes


def _rate(direction: Direction) -> str:
    """Return the name of the rate of u, "" where it is 1."""
    return "" if direction.pushed == "phi" else rate_name(direction.vector)


def _psi(turning: DirectionTerms) -> Iterator[Element]:
    """Yield psi and the clock in the scalars and the norm."""
    if turning.g is None:
        yield from say("direction.unwritten")
        return
    symbols, direction = turning.direction.notation.weights, turning.direction
    pushed = to_expr(direction.rate * direction.phi, symbols)
    psi = turning.g * symbols[direction.norm] / pushed * direction.sign
    yield from say("direction.here")
    yield from display([("g", turning.g), (r"\psi", sympy.powsimp(psi))])


def _segment(block: Block, piece: Piece, name: str) -> Iterator[Element]:
    """Taylor's formula on a segment, for a Hessian that is known."""
    yield from say("segment.identities")
    evidence = block.potential.finding.evidence[:6]
    yield from (Display((statement(e.claim),)) for e in evidence)
    yield from say("segment.so", Q=name)


def _separate(block: Block, piece: Piece, name: str) -> Iterator[Element]:
    """Q = sum_k q_k(x_k), each x_k = <v_k, beta> with a clock of its own, K_k = |grad x_k|^2."""
    rows: list[Row] = [(latex(r.symbol), r.explicit) for r in piece.roots if r.explicit is not None]
    yield from say("separate.coordinates")
    yield from display(rows)
    yield from say("separate.kernels", Q=name)
    pairs = zip(_of(block, "kernel"), _of(block, "slope"), strict=True)
    for k, ((power, kernel), (x, slope)) in enumerate(pairs, 1):
        yield from display([(latex(power).replace("K", f"K_{{{k}}}"), inline(kernel))])
        yield from display([(rf"\frac{{\partial {name}}}{{\partial {latex(x)}}}", slope)])
    yield from say("separate.so", Q=name)


ARGUMENTS: Mapping[Argument, Callable[[Block, Piece, str], Iterator[Element]]] = {
    "separate": _separate,
    "kernel": _kernel,
    "path": _path,
    "weight": _weight,
    "curve": _curve,
    "integral": _integral,
    "length": _direction,
    "dual": _dual,
}
"""The argument made of the identities that were expanded, by the first kind that has one."""
