"""A derivation told: sections that are read on a terminal, and a page with theorem and proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement

from sympy import Expr

from derive.clock import LATE
from derive.derivation import Derivation
from derive.language import to_text
from derive.model.direction import Direction
from derive.model.labels import pair, taken_names
from derive.model.names import PI
from derive.outcome import HEADLINES
from derive.records import Block, InducedMetric, Potential
from derive.render import sections
from derive.render.labels import mark, mark_quoted, unmark
from derive.render.narration import (
    Made,
    Narration,
    Part,
    flow_lines,
    homogeneity,
    lines_of,
    output_lines,
    start_words,
)
from derive.render.page.derivation import page_parts
from derive.render.plain import (
    constant_lines,
    failure_lines,
    formula_text,
    piece_lines,
    root_lines,
    vector_lines,
)
from derive.render.sections import norms_of, roads_to
from derive.verdict import Finding, Verdict

METRIC = "Tangent kernel K = J J^T, induced metric rho = K^-1"
NORMALIZED = "up to a positive factor and an additive constant; grad Q(beta_0) = 0"
TWO_SIDED = "up to a positive factor and an additive constant; grad Q = y - y(w_0), or y(w_0) - y"


def tell_derivation(d: Derivation) -> Narration:
    """Return what is said of a derivation: sections on a terminal, theorem and proof on a page."""
    taken = taken_names(d.parameterization, (*d.idle, *(name for name, _ in d.ties)))
    return Narration(_sections(d), taken, norms_of(d.direction), page_parts(d))


def _sections(d: Derivation) -> Iterator[Part]:
    """Yield the sections from top to bottom."""
    direction, depends = d.direction, bool(sections.dependent(d))
    of_map = "Parameterization beta = F(w)"
    kernel, hessian = METRIC, d.hessian.verdict
    yield Part(_headline(d))
    if direction is None:
        yield _section(of_map, _predictor_map(d))
        kernel = "Tangent kernel K = J J^T" if depends else METRIC
    else:
        yield _section(f"{of_map}, for every dimension d >= 2", _vector_map(d, direction))
    yield _section(_heading_of_laws(d), _laws(d))
    entries = _kernel_entries(d) if direction is None else _kernel_eigenvalues(d, direction)
    yield _section(kernel, entries)
    if depends:
        yield _section("Relations among the outputs, for all weights", _relations(d))
    else:
        yield _section("Hessian map (d_k rho_ij = d_i rho_kj)?", _hessian_map(d), hessian)
        if hessian is not Verdict.PROVED:
            asked = "Warp g with g rho a Hessian map?"
            yield _section(asked, _warp(d), d.warping.verdict)
    if d.warping.verdict is not Verdict.REFUTED:
        found = d.potential.finding.verdict
        yield _section("Implicit regularizer Q", _regularizer(d), found)
    others = [*_sentences(d, "every time", "shrunk start")]
    yield _section("Other losses, and weight decay" if others[1:] else "Other losses", others)
    if d.asked is not None:
        asked_for = (mark_quoted(d.asked.name), *_finding(d.asked.finding))
        yield _section("The Ansatz asked for", asked_for, d.asked.finding.verdict)
    where = "weights" if direction is None else "scalars and the norm"
    yield _section(f"Proved by exact expansion in the {where}", _evidence(d))


def _section(heading: str, lines: Iterable[str], verdict: Verdict | None = None) -> Part:
    return Part(heading, (Made(lines),), verdict)


def _headline(d: Derivation) -> str:
    head = unmark(HEADLINES[d.verdict])
    if d.verdict is not Verdict.PROVED:
        return f"{head}."
    how = "" if d.hessian.verdict is Verdict.PROVED else ", in a warped time"
    sides = "" if d.potential.other_side is None else " on each side of g = 0"
    return f"{head}{how}; Q{sides} is below."


def _predictor_map(d: Derivation) -> Iterator[str]:
    p = d.parameterization
    yield from output_lines(p)
    weights = f"{p.p} weight" + ("" if p.p == 1 else "s")
    rank = f"{p.d}" if p.rank == p.d else f"{p.rank} < {p.d}"
    yield f"{weights}, {homogeneity(p)}, J of rank {rank}; start: {start_words(p)}"
    if PI in (*p.parameters, *p.start_symbols):
        yield f"{PI} is the number"
    if d.equivalent is not None:
        start = ", ".join(f"{w} = {to_text(t)}" for w, t in d.equivalent.start if w not in d.idle)
        same = ", ".join(d.equivalent.functions)
        yield f"beta moves as from the start {mark(start)} and 0 for all others, used below:"
        yield f"{same} are the same at both, their derivatives along grad F linear in them"
    yield from _left_out(d.idle, "start at 0 and stay there")
    for w, tree in d.ties:
        yield f"left out: {mark(f'{w} = {to_text(tree)}')}, from the start and always"
    if d.ties:
        yield from flow_lines(d.potential.parameterization)
    if len(d.blocks) > 1:
        groups = (", ".join(str(d.beta[i]) for i in block.outputs) for block in d.blocks)
        yield f"independent blocks: {' | '.join(groups)}"


def _left_out(idle: Sequence[str], stay: str) -> Iterator[str]:
    if idle:
        stay = "starts at 0 and stays there" if len(idle) == 1 else stay
        yield f"left out: {mark(', '.join(idle))}, which {stay}"


def _vector_map(d: Derivation, direction: Direction) -> Iterator[str]:
    p, (s,) = direction.parameterization, d.beta
    beta, u = direction.beta, mark(direction.vector)
    starts = mark(", ".join(f"{w} = {to_text(tree)}" for w, tree in p.start))
    turned = f"the direction of {mark(direction.start_vector)} is free"
    if p.w0[-1].is_zero():
        turned = f"{u} needs no direction there, as y = {u}"
    yield f"{beta} = phi {u}, phi = {mark(to_text(direction.coefficient))}, {u} in R^d"
    known = f"all is known from ({mark(', '.join(p.weights))})"
    yield f"rotation-equivariant: with {s} = |{beta}| = |phi| {mark(direction.norm)} {known}"
    yield from flow_lines(p)
    yield f"start: {starts}; {turned}"
    yield from _left_out(d.idle, "start and stay at 0")


def _heading_of_laws(d: Derivation) -> str:
    if d.conserved.bound == 0:
        return "Conserved quantities: none, the flow reaches every direction"
    proved = d.conserved.verdict is Verdict.PROVED
    complete = "all of them" if proved else f"at most {d.conserved.bound} exist"
    return f"Conserved quantities ({complete})"


def _laws(d: Derivation) -> Iterator[str]:
    conserved = d.conserved
    if LATE in conserved.finding.reason:
        yield mark_quoted(conserved.finding.reason)
    for block in d.blocks if d.direction is None else ():
        yield from algebra_lines(block)
    yield from constant_lines(sections.named_laws(d))


def _kernel_entries(d: Derivation) -> Iterator[str]:
    metric, labels = d.metric, d.parameterization.labels
    yield from _entries("K", metric.kernel_in_weights, labels)
    if metric.kernel is None:
        yield "K was not written as a function of beta"
        return
    yield "as functions of beta:"
    yield from _entries("K", metric.kernel, labels)
    if len(labels) <= 3 and metric.rho is not None:
        yield from _entries("rho", metric.rho, labels)
    yield from _names(metric)


def _entries(name: str, matrix: Expr, labels: Sequence[int]) -> Iterator[str]:
    """Yield the entries on and above the diagonal that are not 0."""
    if len(labels) == 1:
        yield f"{name} = {formula_text(matrix[0, 0])}"
        return
    for (i, a), (j, b) in combinations_with_replacement(enumerate(labels), 2):
        if matrix[i, j] != 0:
            yield f"{name}{pair(a, b)} = {formula_text(matrix[i, j])}"


def _names(metric: InducedMetric) -> Iterator[str]:
    for root in metric.roots:
        yield from root_lines(root)
    yield from constant_lines(metric.constants)


def _kernel_eigenvalues(d: Derivation, direction: Direction) -> Iterator[str]:
    metric, (s,), b = d.metric, d.beta, direction.beta
    yield f"K = T I + (R - T) {b} {b}^T/{s}**2,  rho = I/T + (1/R - 1/T) {b} {b}^T/{s}**2"
    yield from _eigenvalues(metric.kernel_in_weights)
    if metric.kernel is None:
        yield f"T and R were not written as functions of {s}"
        return
    yield f"as functions of {s} = |{b}|:"
    yield from _eigenvalues(metric.kernel)
    yield from _names(metric)


def _eigenvalues(matrix: Expr) -> Iterator[str]:
    yield from (f"{name} = {formula_text(matrix[i, i])}" for i, name in enumerate("TR"))


def _relations(d: Derivation) -> Iterator[str]:
    for found in sections.dependent(d):
        yield from (mark_quoted(e.statement) for e in found.evidence)
        if found.missing:
            relations = "one more" if found.missing == 1 else f"{found.missing} more"
            yield f"{relations}, of which no polynomial in beta was found"
        yield (
            f"K is singular and rho is not defined: beta follows {found.rank} components of the "
            f"steering lambda, which has {found.outputs}"
        )
    yield (
        "grad Q(beta) - grad Q(beta_0) in the row space of every X asks for "
        "<grad y_i, grad F_j> = g delta_ij, g > 0; but sum_j n_j grad F_j = 0 for some n != 0, "
        "so g n_i = 0 for all i"
    )


def _hessian_map(d: Derivation) -> Iterator[str]:
    finding = d.hessian.finding
    yield from _finding(finding)
    if finding.verdict is Verdict.PROVED and d.potential.kind == "quadrature":
        yield from _dual(d, "delta_ij")


def _dual(d: Derivation, right: str) -> Iterator[str]:
    for found in sections.dual_coordinates(d):
        yield from (f"{name} = {formula_text(f)}" for name, f in found.items())
        yield f"<grad y_i, grad F_j> = {right}, so y - y(w_0) = grad Q"
        if "R" in found:
            yield "<grad R, grad F_j> = sum_i F_i <grad y_i, grad F_j>, so"
            yield "Q = sum_i (y_i - y_i(w_0)) F_i - R in the weights, without an integral"


def _warp(d: Derivation) -> Iterator[str]:
    finding, g = d.warping.finding, d.warping.g
    yield from _finding(finding)
    if g is not None:
        yield f"g = {formula_text(g)}"
        yield from _dual(d, "g delta_ij")
    elif finding.verdict is Verdict.PROVED:
        yield "g = exp of the integral of H, H_a = <grad F_a, grad log g>:"
        yield from (f"H{i} = {formula_text(h)}" for i, h in sections.warp_slopes(d))


def _finding(finding: Finding) -> Iterator[str]:
    yield mark_quoted(finding.reason)
    for identity in finding.evidence:
        if not identity.holds:
            yield from failure_lines(identity)


def _regularizer(d: Derivation) -> Iterator[str]:
    potential, normalized = d.potential, NORMALIZED
    if not potential.pieces:
        yield mark_quoted(potential.finding.reason)
        return
    yield from (lines := list(_form(potential)))
    if other := [x for x in _form(potential.other_side) if x not in lines]:
        normalized = TWO_SIDED
        yield from ("On the other side:", *other, mark_quoted(potential.finding.reason))
    yield from (*road_lines(d), normalized, *_sentences(d, "minimiser"))


def _sentences(d: Derivation, *kinds: str) -> Iterator[str]:
    """Yield statements of some kinds as sentences."""
    for line in (x for s in d.says(*kinds) for x in lines_of(s)):
        yield f"{line[0].upper()}{line[1:]}."


def _form(potential: Potential | None) -> Iterator[str]:
    """Yield the lines on Q, of one side."""
    if potential is None:
        return
    if potential.turning is not None:
        yield from vector_lines(potential, potential.turning)
        return
    names = sections.part_names(potential.pieces)
    if len(names) > 1:
        yield f"Q = {' + '.join(names)}"
    for piece, name in zip(potential.pieces, names, strict=True):
        yield from piece_lines(piece, name)


def _evidence(d: Derivation) -> Iterator[str]:
    proved = d.blocks if d.verdict is Verdict.PROVED else ()
    evidence = (e for b in proved for e in b.potential.finding.evidence)
    yield from dict.fromkeys(mark_quoted(e.statement) for e in evidence)


def algebra_lines(block: Block) -> Iterator[str]:
    """Yield which brackets span the Lie algebra, and weights at which they are independent."""
    lie = block.lie
    words = ", ".join(lie.words)
    how = {True: "commute; they span", False: "generate", None: "span or generate at least"}
    yield f"the fields X_i = grad F_i {how[lie.commuting]} dimension {lie.dimension}: {words}"
    if lie.point is not None:
        at = ", ".join(f"{mark(name)} = {value}" for name, value in lie.point)
        complete = "complete: " if block.conserved.verdict is Verdict.PROVED else ""
        rank = "are independent" if lie.words[1:] else "is not zero"
        yield f"{complete}{words} {rank} at {at}"


def road_lines(d: Derivation) -> Iterator[str]:
    """Yield one line for each block."""
    for name, roads, note in roads_to(d):
        which = f" on {name}" if len(d.blocks) > 1 else ""
        words = f"Roads that agree{which}: " if len(roads) > 1 else f"Road{which}: "
        yield words + "; ".join(mark_quoted(r.name) for r in roads) + note
