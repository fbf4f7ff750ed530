"""A derivation as LaTeX that needs amsmath; names of the language cannot carry a command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import singledispatch

from sympy import Expr, Integral, Symbol

from derive.derivation import Derivation
from derive.language import to_sympy
from derive.model.labels import taken_names
from derive.potential.block import DirectionTerms
from derive.potential.piece import Piece
from derive.render import sections
from derive.render.formula import (
    LONG,
    at_start,
    broken,
    display,
    fraction,
    latex,
    latex_name,
    named_rows,
    piece_latex,
    piece_notes,
    visible,
)
from derive.render.latex_labels import with_tildes
from derive.render.phrases import (
    affine_sentences,
    algebra_sentences,
    norms_as_latex,
    road_name,
    road_sentences,
)
from derive.verdict import Identity, Verdict

ANSWERS = {Verdict.PROVED: "Yes.", Verdict.REFUTED: "No:", Verdict.UNDECIDED: "Undecided."}
KKT = (
    r"\paragraph{Implicit regularizer.} A limit of gradient flow with $X\beta = y$ meets the "
    r"KKT conditions of $\min Q(\beta)$ subject to $X\beta = y$, where, up to a positive "
    r"factor and an additive constant,"
)


def render_latex(derivation: Derivation) -> str:
    """Return the derivation as a snippet, with |u| for the norm of a vector u."""
    lines = (line for section in sections.sections_of(derivation) for line in paragraph(section))
    d, whole = derivation, norms_as_latex("\n".join(lines), derivation.direction)
    return with_tildes(
        whole, taken_names(d.parameterization, (*d.idle, *(name for name, _ in d.ties)))
    )


@singledispatch
def paragraph(section: sections.Section) -> Iterator[str]:
    """Yield the lines of a section; none of those that a paper does not need."""
    yield from ()


@paragraph.register
def _(section: sections.PredictorMap) -> Iterator[str]:
    d, p = section.d, section.d.parameterization
    yield r"\paragraph{Parameterization.} Let $\beta = F(w)$ with"
    symbols = {x: Symbol(x, real=True) for x in (*p.weights, *p.parameters)}
    outputs = zip(d.beta, p.trees, strict=True)
    yield from display([(latex(b), latex(to_sympy(t, symbols))) for b, t in outputs])
    yield f"and start at ${at_start(p.start)}$."
    yield from affine_sentences(p)
    if d.equivalent is not None:
        other = at_start(d.equivalent.start)
        yield f"From there $\\beta$ moves as from ${other}$, the start used below."
    if d.ties:
        tied = ", ".join(f"{latex_name(w)} = {latex(to_sympy(t))}" for w, t in d.ties)
        yield f"From the start and always ${tied}$; these weights are left out."
    if d.kernel_factor is not None:
        factor = latex(to_sympy(d.kernel_factor))
        yield f"In the weights left, $K$ is ${factor}$ times what it is in all weights."
    yield from _left_out(d.idle)


def _left_out(idle: Sequence[str]) -> Iterator[str]:
    if idle:
        names = ", ".join(latex_name(name) for name in idle)
        yield f"The weights ${names}$ start at $0$, stay there, and are left out."


@paragraph.register
def _(section: sections.VectorMap) -> Iterator[str]:
    direction, p = section.direction, section.direction.parameterization
    u, b, s = latex_name(direction.vector), latex(direction.beta), latex(section.d.beta[0])
    phi = latex(to_sympy(direction.coefficient, dict(direction.notation.weights)))
    yield (
        rf"\paragraph{{Parameterization.}} Let ${b} = \varphi {u}$ with $\varphi = {phi}$ and "
        rf"${u} \in \mathbb{{R}}^d$ for any $d \ge 2$, starting at ${at_start(p.start)}$; "
        rf"${s} = \lVert {b} \rVert$."
    )
    yield from _left_out(section.d.idle)


@paragraph.register
def _(section: sections.Laws) -> Iterator[str]:
    where = " ".join(algebra_sentences(section.algebras))
    laws = list(section.named())
    if not laws:
        if where:
            yield rf"\paragraph{{Conserved quantities.}} None was found. {where}"
        return
    conserved = section.d.conserved
    count = "all conserved quantities"
    if conserved.verdict is not Verdict.PROVED:
        count = f"conserved quantities (at most {conserved.bound} exist)"
    yield rf"\paragraph{{Conserved quantities.}} Up to functions of them, {count} are"
    yield from display([(latex_name(name), latex(law)) for name, law in laws])
    if where:
        yield where


@paragraph.register
def _(section: sections.KernelEntries) -> Iterator[str]:
    metric = section.d.metric
    rows = [("K", _matrix(metric.kernel_in_weights))]
    named: set[Symbol] = set()
    for name, matrix in (("", metric.kernel), (r"\rho", metric.rho)):
        if matrix is not None and visible(_matrix(matrix)) <= 2 * LONG:
            rows.append((name, _matrix(matrix)))
            named |= matrix.free_symbols & {r.symbol for r in metric.roots}
    defined = {r.symbol for piece in section.d.potential.pieces for r in piece.roots}
    below = " and ".join(f"${latex(s)}$" for s in sorted(named & defined, key=str))
    given = r" and the induced metric $\rho = K^{-1}$ are given by"
    if sections.dependent(section.d):
        given = " is singular:"
    yield (
        rf"\paragraph{{Metric.}} The tangent kernel $K = J J^{{\mathsf T}}${given}"
        + (f" (with {below} as defined below)" if below else "")
    )
    own = [r for r in metric.roots if r.symbol in named - defined]
    used = {x for r in own for x in r.polynomial.free_symbols}
    yield from display([*rows, *named_rows(own, (c for c in metric.constants if c[0] in used))])


@paragraph.register
def _(section: sections.Relations) -> Iterator[str]:
    found = sections.dependent(section.d)
    relations = [(latex(r), "0") for x in found for r in x.relations]
    if relations:
        yield r"\paragraph{Relations.} For all weights the outputs satisfy"
        yield from display(relations)
    yield (
        r"As $\sum_j n_j \nabla F_j = 0$ for some $n(w) \ne 0$, dual coordinates with "
        r"$\langle \nabla y_i, \nabla F_j \rangle = g\,\delta_{ij}$ have $g\,n_i = 0$ for all $i$: "
        r"with $g > 0$ there are none, and no $Q(\beta)$ has $\nabla Q(\beta) - \nabla Q(\beta_0)$ "
        r"in the row space of every $X$."
    )


def _matrix(matrix: Expr) -> str:
    """Return a matrix, or its entry when it has one."""
    return latex(matrix[0, 0] if matrix.shape == (1, 1) else matrix)


@paragraph.register
def _(section: sections.KernelEigenvalues) -> Iterator[str]:
    metric, b, s = section.d.metric, latex(section.direction.beta), latex(section.d.beta[0])
    yield r"\paragraph{Metric.} The induced metric is $\rho = K^{-1}$ with the tangent kernel"
    rows = [("K", rf"T I + (R - T)\, {b} {b}^{{\mathsf T}} / {s}^2")]
    for i, name in enumerate("TR"):
        written = "" if metric.kernel is None else f" = {broken(metric.kernel[i, i])}"
        rows.append((name, latex(metric.kernel_in_weights[i, i]) + written))
    yield from display(rows)


@paragraph.register
def _(section: sections.HessianMap) -> Iterator[str]:
    finding = section.d.hessian.finding
    if sections.dependent(section.d):
        return
    if finding.verdict is Verdict.PROVED:
        yield r"\paragraph{Mirror flow.} The metric $\rho$ is a Hessian map."
        return
    yield rf"\paragraph{{Mirror flow.}} Is $\rho$ a Hessian map? {ANSWERS[finding.verdict]}"
    yield from _failures(finding.evidence)


@paragraph.register
def _(section: sections.Warp) -> Iterator[str]:
    decision = section.d.warping
    if not section.needed:
        return
    yield rf"Is $g\rho$ one for some warp $g > 0$? {ANSWERS[decision.verdict]}"
    yield from _failures(decision.finding.evidence)
    if decision.g is None:
        return
    dual = list(section.dual())
    known = [(f"y_{{{i}}}", latex(y)) for found in dual for i, y in found]
    yield from display([("g", latex(decision.g)), *known])
    if dual:
        yield (
            r"The dual coordinates satisfy "
            r"$\langle \nabla y_i, \nabla F_j \rangle = g\,\delta_{ij}$ identically in the weights."
        )


def _failures(evidence: Sequence[Identity]) -> Iterator[str]:
    for identity in evidence:
        if not identity.holds:
            point = ", ".join(f"{latex_name(n)} = {fraction(v)}" for n, v in identity.point)
            yield f"${_statement(identity.statement)}$ is needed, but at ${point}$ the two sides"
            along = ", differentiated along the flow," if identity.derivative else ""
            yield f"{along} differ by ${fraction(identity.residual)}$."


def _statement(statement: str) -> str:
    """Return a statement such as ``<grad F1, grad K21> = ...`` as LaTeX."""
    text = re.sub(r"\b([FKHVXy])(\d+)\b", lambda m: f"{m.group(1)}_{{{m.group(2)}}}", statement)
    text = re.sub(r"(\bnorm_\w+) \|grad phi\|\*\*2/phi", _steepness, text)
    text = text.replace("grad log g", r"\nabla \log g")
    text = text.replace("grad ", r"\nabla ").replace("omega", r"\omega").replace("eta", r"\eta")
    return text.replace("`", "").replace("<", r"\langle ").replace(">", r" \rangle")


def _steepness(found: re.Match[str]) -> str:
    return rf"{latex_name(found[1])} \lvert \nabla \varphi \rvert^2 / \varphi"


@paragraph.register
def _(section: sections.Regularizer) -> Iterator[str]:
    pieces = section.d.potential.pieces
    if not pieces:
        return
    yield KKT
    names = [re.sub(r"_(\d+)", r"_{\1}", name) for name in section.names]
    if len(pieces) > 1:
        yield from display([("Q", " + ".join(names))])
    for name, piece in zip(names, pieces, strict=True):
        yield from piece_latex(piece, name)
    if section.d.potential.other_side is not None:
        (other,) = section.d.potential.other_side.pieces
        yield "Where the warp ends on the other side,"
        yield from piece_latex(other, "Q")
    yield from road_sentences(section)


@paragraph.register
def _(section: sections.VectorRegularizer) -> Iterator[str]:
    potential = section.d.potential
    yield KKT
    yield from _of_vector(potential.pieces[0], section.turning)
    other = potential.other_side
    if other is not None and other.turning is not None:
        yield "Where the warp ends on the other side,"
        yield from _of_vector(other.pieces[0], other.turning)
    yield from road_sentences(section)


def _of_vector(piece: Piece, turning: DirectionTerms) -> Iterator[str]:
    """Yield Q = q(s) + <z, beta>."""
    (s,), b = piece.betas, latex(turning.direction.beta)
    rows = [("Q", rf"q({latex(s)}) + \langle z, {b} \rangle"), ("q", broken(piece.value))]
    if not piece.gradient[0].has(Integral):
        rows.append((rf"q'({latex(s)})", broken(piece.gradient[0])))
    rows.append(("z", latex(-turning.slope * Symbol(turning.direction.start_vector))))
    sources = (piece, turning.eigenvalues) if turning.eigenvalues else (piece,)
    roots = tuple(dict.fromkeys(r for x in sources for r in x.roots))
    yield from display(
        [*rows, *named_rows(roots, dict.fromkeys(c for x in sources for c in x.constants))]
    )
    yield from piece_notes(piece, roots)


@paragraph.register
def _(section: sections.Asked) -> Iterator[str]:
    road = section.d.asked
    if road is not None:
        answer = {
            Verdict.PROVED: "It is the form of a solution.",
            Verdict.REFUTED: r"$Q$ is not of this form.",
            Verdict.UNDECIDED: "Undecided.",
        }
        name = road_name(road.name)
        yield rf"\paragraph{{Asked for.}} The road {name}: {answer[road.finding.verdict]}"
