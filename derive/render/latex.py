r"""A derivation as LaTeX for a paper.

The snippet needs amsmath. Names are restricted by the language to letters, digits and
underscores, so none can carry a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sympy import Symbol

from derive.derivation import Derivation
from derive.language import to_sympy
from derive.model.notation import to_expr
from derive.render.algebra import algebra_sentences
from derive.render.formula import LONG, display, fraction, latex, latex_name, visible
from derive.render.piece_latex import piece_latex
from derive.render.roads import road_name, road_sentences
from derive.render.text import law_names
from derive.verdict import Verdict


def render_latex(derivation: Derivation) -> str:
    """Return the derivation as a snippet."""
    return "\n".join(_body(derivation))


def _body(d: Derivation) -> Iterator[str]:
    yield from _parameterization(d)
    yield from _conserved(d)
    yield from _metric(d)
    yield from _existence(d)
    yield from _potential(d)
    yield from _asked(d)


def _matrix(matrix: Any) -> str:
    """Return a matrix, or its entry when it has one."""
    return latex(matrix[0, 0] if matrix.shape == (1, 1) else matrix)


def _symbols(d: Derivation) -> dict[str, Symbol]:
    p = d.parameterization
    return {x: Symbol(x, real=True) for x in (*p.weights, *p.parameters)}


def _parameterization(d: Derivation) -> Iterator[str]:
    p = d.parameterization
    yield r"\paragraph{Parameterization.} Let $\beta = F(w)$ with"
    symbols = _symbols(d)
    yield from display(
        [(latex(b), latex(to_sympy(t, symbols))) for b, t in zip(d.beta, p.trees, strict=True)]
    )
    starts = ", ".join(f"{latex_name(w)}(0) = {latex(to_sympy(t))}" for w, t in p.start)
    yield f"and start at ${starts}$."
    if d.ties:
        tied = ", ".join(f"{latex_name(w)} = {latex(to_sympy(t))}" for w, t in d.ties)
        yield f"From the start and always ${tied}$; these weights are left out."
    if d.kernel_factor is not None:
        factor = latex(to_sympy(d.kernel_factor))
        yield f"In the weights left, $K$ is ${factor}$ times what it is in all weights."
    if d.idle:
        names = ", ".join(latex_name(name) for name in d.idle)
        yield f"The weights ${names}$ start at $0$, stay there, and are left out."


def _conserved(d: Derivation) -> Iterator[str]:
    where = " ".join(algebra_sentences(d))
    if not d.conserved.laws:
        if where:
            yield rf"\paragraph{{Conserved quantities.}} None was found. {where}"
        return
    count = (
        "all conserved quantities"
        if d.conserved.verdict is Verdict.PROVED
        else (f"conserved quantities (at most {d.conserved.bound} exist)")
    )
    yield rf"\paragraph{{Conserved quantities.}} Up to functions of them, {count} are"
    names = [name for block in d.blocks for name in law_names(block)]
    yield from display(
        [(latex_name(n), latex(law)) for n, law in zip(names, d.conserved.laws, strict=True)]
    )
    if where:
        yield where


def _metric(d: Derivation) -> Iterator[str]:
    metric = d.metric
    rows = [("K", _matrix(metric.kernel_in_weights))]
    named: set[Symbol] = set()
    for name, matrix in (("", metric.kernel), (r"\rho", metric.rho)):
        if matrix is not None and visible(_matrix(matrix)) <= 2 * LONG:
            rows.append((name, _matrix(matrix)))
            named |= matrix.free_symbols & {r.symbol for r in metric.roots}
    below = " and ".join(f"${latex(s)}$" for s in sorted(named, key=str))
    yield (
        r"\paragraph{Metric.} The tangent kernel $K = J J^{\mathsf T}$ and the induced metric "
        r"$\rho = K^{-1}$ are given by" + (f" (with {below} as defined below)" if named else "")
    )
    yield from display(rows)


def _existence(d: Derivation) -> Iterator[str]:
    if d.hessian.verdict is Verdict.PROVED:
        yield r"\paragraph{Mirror flow.} The metric $\rho$ is a Hessian map."
        return
    yield rf"\paragraph{{Mirror flow.}} Is $\rho$ a Hessian map? {_verdict(d.hessian.verdict)}"
    yield from _failures(d.hessian.finding.evidence)
    yield rf"Is $g\rho$ one for some warp $g > 0$? {_verdict(d.warping.verdict)}"
    yield from _failures(d.warping.finding.evidence)
    if d.warping.g is None:
        return
    rows = [("g", latex(d.warping.g))]
    for block in d.blocks:
        dual = block.potential.dual
        if dual is not None:
            rows += [
                (f"y_{{{i + 1}}}", latex(to_expr(y.rational, block.notation.weights)))
                for i, y in zip(block.outputs, dual.y, strict=True)
                if not y.logs
            ]
    yield from display(rows)
    yield (
        r"The dual coordinates satisfy "
        r"$\langle \nabla y_i, \nabla F_j \rangle = g\,\delta_{ij}$ identically in the weights."
    )


def _verdict(verdict: Verdict) -> str:
    return {
        Verdict.PROVED: "Yes.",
        Verdict.REFUTED: "No:",
        Verdict.UNDECIDED: "Undecided.",
    }[verdict]


def _failures(evidence: Sequence[Any]) -> Iterator[str]:
    for identity in evidence:
        if not identity.holds:
            point = ", ".join(f"{latex_name(n)} = {fraction(v)}" for n, v in identity.point)
            yield f"${_statement(identity.statement)}$ is needed, but at ${point}$ the two sides"
            along = ", differentiated along the flow," if identity.derivative else ""
            yield f"{along} differ by ${fraction(identity.residual)}$."


def _statement(statement: str) -> str:
    """Return a statement such as ``<grad F1, grad K21> = ...`` as LaTeX."""
    text = re.sub(r"\b([FKHVXy])(\d+)\b", lambda m: f"{m.group(1)}_{{{m.group(2)}}}", statement)
    text = text.replace("grad ", r"\nabla ").replace("omega", r"\omega").replace("eta", r"\eta")
    return text.replace("<", r"\langle ").replace(">", r" \rangle")


def _potential(d: Derivation) -> Iterator[str]:
    if not d.potential.pieces:
        return
    yield (
        r"\paragraph{Implicit regularizer.} A limit of gradient flow with $X\beta = y$ meets the "
        r"KKT conditions of $\min Q(\beta)$ subject to $X\beta = y$, where, up to a positive "
        r"factor and an additive constant,"
    )
    many = len(d.potential.pieces) > 1
    if many:
        total = " + ".join(f"Q_{{{i}}}" for i in range(1, len(d.potential.pieces) + 1))
        yield from display([("Q", total)])
    for i, piece in enumerate(d.potential.pieces, 1):
        yield from piece_latex(piece, f"Q_{{{i}}}" if many else "Q")
    yield from road_sentences(d)


def _asked(d: Derivation) -> Iterator[str]:
    if d.asked is not None:
        answer = {
            Verdict.PROVED: "It is the form of a solution.",
            Verdict.REFUTED: r"$Q$ is not of this form.",
            Verdict.UNDECIDED: "Undecided.",
        }
        name = road_name(d.asked.name)
        yield rf"\paragraph{{Asked for.}} The road {name}: {answer[d.asked.finding.verdict]}"
