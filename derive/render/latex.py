r"""A derivation as LaTeX for a paper.

The snippet needs amsmath. Names are restricted by the language to letters, digits and
underscores, so none can carry a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.language import parse_expression, to_sympy
from derive.render.algebra import algebra_sentences
from derive.render.formula import latex, latex_name, ordered_terms, visible
from derive.render.roads import road_name, road_sentences
from derive.render.text import law_names
from derive.stages.notation import to_expr
from derive.stages.piece import Piece, Root
from derive.verdict import Number, Verdict

NOTE_FORMULAS = {
    "G = g rho": r"$G = g\rho$",
    "G = rho": r"$G = \rho$",
    "y_i = dQ/dbeta_i": r"$y_i = \partial Q/\partial\beta_i$",
    "beta_0 + t b": r"$\beta_0 + t b$",
    "K(b) = |grad F|^2": r"$K(b) = |\nabla F|^2$",
    "w' = grad F": r"$w' = \nabla F$",
    " from w_0": r" from $w_0$",
    "F = b": "$F = b$",
}
"""The formulas in the notes of integrals, set as mathematics."""

LONG = 70
"""Visible characters after which a sum goes on several lines."""


def render_latex(derivation: Derivation, standalone: bool = False) -> str:
    """Return the derivation as a snippet, or as a document when *standalone*."""
    body = "\n".join(_body(derivation))
    return document(body) if standalone else body


def document(body: str) -> str:
    """Return a document around a snippet."""
    return "\n".join(
        [
            r"\documentclass{article}",
            r"\usepackage{amsmath,amssymb}",
            r"\usepackage[margin=2.5cm]{geometry}",
            r"\allowdisplaybreaks",
            r"\begin{document}",
            body,
            r"\end{document}",
        ]
    )


def _body(d: Derivation) -> Iterator[str]:
    yield from _parameterization(d)
    yield from _conserved(d)
    yield from _metric(d)
    yield from _existence(d)
    yield from _potential(d)
    yield from _asked(d)


def display(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield an align* environment of equations left = right."""
    if not rows:
        return
    yield r"\begin{align*}"
    yield " \\\\\n".join(f"  {left} &= {right}" for left, right in rows)
    yield r"\end{align*}"


def broken(expression: Expr) -> str:
    """Return LaTeX with long sums broken into lines of an aligned block."""
    whole = latex(expression)
    if visible(whole) <= LONG or not expression.is_Add:
        return whole
    lines: list[str] = []
    current = ""
    for term in ordered_terms(expression):
        piece = latex(term)
        piece = piece if piece.startswith("-") or not (lines or current) else f"+ {piece}"
        if current and visible(current + piece) > LONG:
            lines.append(current)
            current = piece
        else:
            current = f"{current} {piece}".strip()
    lines.append(current)
    inner = r" \\ &\quad ".join(lines)
    return rf"\begin{{aligned}}[t] & {inner} \end{{aligned}}"


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


def fraction(value: Number) -> str:
    """Return an exact number, or leading decimal digits, as LaTeX."""
    if isinstance(value, str):
        return rf"{value}\ldots"
    return latex(sympy.Rational(value.numerator, value.denominator))


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


def piece_latex(piece: Piece, name: str) -> Iterator[str]:
    """Yield one closed form, called *name*."""
    rows: list[tuple[str, str]] = []
    if piece.curve is not None:
        rows.append((latex(piece.betas[0]), broken(piece.curve.beta)))
    rows.append((name, broken(piece.value)))
    rows += [
        (rf"\frac{{\partial {name}}}{{\partial {latex(b)}}}", broken(g))
        for b, g in zip(piece.betas, piece.gradient, strict=True)
        if not g.has(sympy.Integral)
    ]
    if piece.kind == "quadrature" and piece.kernel is not None:
        rows.append(("K", broken(piece.kernel)))
    rows += [(latex(r.symbol), broken(r.explicit)) for r in piece.roots if r.explicit is not None]
    named = (*piece.abbreviations, *piece.constants)
    rows += [(latex(symbol), broken(value)) for symbol, value in named]
    yield from display(rows)
    notes = [root_note(r) for r in piece.roots if r.explicit is None]
    if piece.curve is not None:
        low, high = (latex(end) for end in piece.curve.interval)
        notes.append(f"${low} < {latex(piece.curve.parameter)} < {high}$")
    if piece.note:
        note = piece.note
        for words, formula in NOTE_FORMULAS.items():
            note = note.replace(words, formula)
        notes.append(note)
    if notes:
        yield f"with {' and '.join(notes)}."
    if piece.domain:
        yield f"Domain: {_in_words(piece.domain)}."
    if piece.assumptions:
        yield f"Assumed: {'; '.join(assumption(a) for a in piece.assumptions)}."


def _in_words(text: str) -> str:
    """Return words with the formulas in backticks set as mathematics."""
    return re.sub("`([^`]*)`", lambda m: f"${_relation(m[1])}$", text)


def _relation(text: str) -> str:
    """Return equations and inequalities as LaTeX, side by side."""
    fixed = {
        "Q''": "Q''",
        "Hess Q": r"\nabla^2 Q",
        "g rho": r"g\,\rho",
        "rho": r"\rho",
        "beta_0": r"\beta_0",
        "w_0": "w_0",
    }
    parts = re.split(r" (=|<|>) ", text)
    sides = [fixed.get(p) or (_formula(p) if i % 2 == 0 else p) for i, p in enumerate(parts)]
    return " ".join(sides)


def root_note(root: Root) -> str:
    """Return in words which root of its polynomial a symbol is."""
    return f"${latex(root.symbol)}$ {root.branch} of ${latex(root.polynomial)} = 0$"


def assumption(text: str) -> str:
    """Return an assumption with its formulas set as mathematics."""
    matched = re.fullmatch(
        r"(?P<what>.+?)(?P<sign> > 0| != 0| keeps its sign along the flow)"
        r"( \(automatic when (?P<when>.+) > 0 at the start\))?",
        text,
    )
    if matched is None:
        return text.replace("_", r"\_")
    what = _formula(matched["what"])
    signs = {" > 0": f"${what} > 0$", " != 0": rf"${what} \neq 0$"}
    sentence = signs.get(matched["sign"], f"${what}${matched['sign']}")
    if matched["when"]:
        sentence += f" (automatic when ${_formula(matched['when'])} > 0$ at the start)"
    return sentence


def _formula(text: str) -> str:
    return latex(to_sympy(parse_expression(text)))
