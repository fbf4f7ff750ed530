"""A derivation told: sections that are read on a terminal, and a page with theorem and proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from derive.clock import LATE
from derive.derivation import Derivation
from derive.language import to_text
from derive.model.direction import Direction
from derive.model.labels import taken_names
from derive.model.names import PI
from derive.model.notation import log_expr, to_expr
from derive.outcome import headline
from derive.render import sections
from derive.render.document import Document, Part
from derive.render.page.derivation import page_parts
from derive.render.plain import mark, mark_quoted, unmark
from derive.render.sections import norms_of
from derive.render.text import text_lines
from derive.statement import Equations, OnPage, Open, Statement, note
from derive.verdict import Finding, Verdict

METRIC = "Tangent kernel K = J J^T, induced metric rho = K^-1"


def tell_derivation(d: Derivation) -> Document:
    """Return what is said of a derivation: sections on a terminal, theorem and proof on a page."""
    taken = taken_names(d.parameterization, (*d.idle, *(name for name, _ in d.ties)))
    told = d.verdict is Verdict.REFUTED or d.potential.pieces
    page = chain(page_parts(d), () if told else _questions(d))
    return Document(_sections(d), taken, norms_of(d.direction), page)


def _sections(d: Derivation) -> Iterator[Part]:
    """Yield the sections from top to bottom."""
    direction, depends = d.direction, bool(sections.dependent(d))
    of_map, head = "Parameterization beta = F(w)", unmark(headline(d.verdict, d.parameterization))
    kernel, hessian = METRIC, d.hessian.verdict
    if d.verdict is Verdict.PROVED:
        how = "" if hessian is Verdict.PROVED else ", in a warped time"
        sides = "" if d.potential.other_side is None else " on each side of g = 0"
        head = f"{head}{how}; Q{sides} is below"
    yield Part(f"{head}.")
    if direction is None:
        yield Part(of_map, _predictor_map(d))
        kernel = "Tangent kernel K = J J^T" if depends else METRIC
    else:
        yield Part(f"{of_map}, for every dimension d >= 2", _vector_map(d, direction))
    yield Part(*_laws(d))
    yield Part(kernel, _kernel(d))
    yield from _questions(d)
    heading, others = sections.other_losses(d)
    yield Part(heading, _sentences(others))
    if d.asked is not None:
        asked_for = (mark_quoted(d.asked.name), *_finding(d.asked.finding))
        yield Part("The Ansatz asked for", asked_for, verdict=d.asked.finding.verdict)
    where = "weights" if direction is None else "scalars and the norm"
    proved = d.blocks if d.verdict is Verdict.PROVED else ()
    evidence = (mark_quoted(e.statement) for b in proved for e in b.potential.finding.evidence)
    yield Part(f"Proved by exact expansion in the {where}", dict.fromkeys(evidence))


def _predictor_map(d: Derivation) -> Iterator[object]:
    p = d.parameterization
    yield from sections.outputs(p)
    weights = f"{p.p} weight" + ("" if p.p == 1 else "s")
    rank = f"{p.d}" if p.rank == p.d else f"{p.rank} < {p.d}"
    words = f"{weights}, {{degree}}, J of rank {rank}; start: {{start}}"
    yield note(words, degree=sections.homogeneity(p), start=sections.start_words(p))
    if PI in (*p.parameters, *p.start_symbols):
        yield f"{PI} is the number"
    yield from sections.what_stays(d)
    if len(d.blocks) > 1:
        groups = (", ".join(str(d.beta[i]) for i in block.outputs) for block in d.blocks)
        yield f"independent blocks: {' | '.join(groups)}"


def _vector_map(d: Derivation, direction: Direction) -> Iterator[object]:
    p, (s,) = direction.parameterization, d.beta
    beta, u = direction.beta, mark(direction.vector)
    starts = mark(", ".join(f"{w} = {to_text(tree)}" for w, tree in p.start))
    turned = f"the direction of {mark(direction.start_vector)} is free"
    if p.w0[-1].is_zero():
        turned = f"{u} needs no direction there, as y = {u}"
    yield f"{beta} = phi {u}, phi = {mark(to_text(direction.coefficient))}, {u} in R^d"
    known = f"all is known from ({mark(', '.join(p.weights))})"
    yield f"rotation-equivariant: with {s} = |{beta}| = |phi| {mark(direction.norm)} {known}"
    yield from sections.metric_of(p)
    yield f"start: {starts}; {turned}"
    yield from sections.what_stays(d)


def _laws(d: Derivation) -> tuple[str, list[object]]:
    """Return how many laws there are, and which."""
    conserved, heading = d.conserved, "Conserved quantities: none, the flow reaches every direction"
    if conserved.bound:
        complete = conserved.verdict is Verdict.PROVED
        how_many = "all of them" if complete else f"at most {conserved.bound} exist"
        heading = f"Conserved quantities ({how_many})"
    late = [mark_quoted(conserved.finding.reason)] * (LATE in conserved.finding.reason)
    blocks = d.blocks if d.direction is None else ()
    how = {True: "commute; they span", False: "generate", None: "span or generate at least"}
    algebra = list[object]()
    for block in blocks:
        words, known = ", ".join(block.lie.words), how[block.lie.commuting]
        algebra.append(
            f"the fields X_i = grad F_i {known} dimension {block.lie.dimension}: {words}"
        )
        algebra += sections.completeness(d, block)
    return heading, [*late, *algebra, Equations((*sections.named_laws(d),))]


def _kernel(d: Derivation) -> Iterator[object]:
    """Yield K in the weights and in beta; of a vector what K is across beta, T, and along it, R."""
    metric, rho, where = d.metric, d.metric.rho, "`beta`"
    missing = "`K` was not written as a function of `beta`"
    if d.direction is not None:
        (s,), b, rho = d.beta, d.direction.beta, None
        where, missing = f"`{s} = |{b}|`", f"`T` and `R` were not written as functions of `{s}`"
        K = f"K = T I + (R - T) {b} {b}^T/{s}**2"
        yield note(f"`{K},  rho = I/T + (1/R - 1/T) {b} {b}^T/{s}**2`")
    yield Equations(sections.entries(d, "K", metric.kernel_in_weights))
    if metric.kernel is None:
        yield note(missing)
        return
    yield note(f"as functions of {where}:")
    yield Equations(sections.entries(d, "K", metric.kernel))
    if len(d.beta) <= 3 and rho is not None:
        yield Equations(sections.entries(d, "rho", rho))
    yield from sections.definitions(metric.constants, metric.roots)


def _questions(d: Derivation) -> Iterator[Part]:
    """Yield whether rho, or g rho, is a Hessian map, or why there is no rho; and what Q is."""
    hessian = d.hessian.verdict
    if sections.dependent(d):
        yield Part("Relations among the outputs, for all weights", _relations(d))
    else:
        lines = [OnPage(("let `rho = K^-1`",)), *_finding(d.hessian.finding)]
        if hessian is Verdict.PROVED and d.potential.kind == "quadrature":
            lines += _dual(d, "delta_ij")
        yield Part("Hessian map (`d_k rho_ij = d_i rho_kj`)?", lines, verdict=hessian)
        if hessian is not Verdict.PROVED:
            asked = "Warp `g` with `g rho` a Hessian map?"
            yield Part(asked, _warp(d), verdict=d.warping.verdict)
    if d.warping.verdict is not Verdict.REFUTED:
        verdict = d.potential.finding.verdict
        yield Part("Implicit regularizer `Q`", _regularizer(d), verdict=verdict)


def _relations(d: Derivation) -> Iterator[object]:
    """Yield what holds of outputs that move together, and why no Q is for all data."""
    for found in sections.dependent(d):
        yield Equations(tuple((relation, 0) for relation in found.relations))
        if found.missing:
            relations = "one more" if found.missing == 1 else f"{found.missing} more"
            yield note(f"{relations}, of which no polynomial in `beta` was found")
        yield note(
            f"`K` is singular and `rho` is not defined: `beta` follows {found.rank} components"
            f" of the steering `lambda`, which has {found.outputs}"
        )
    yield note(
        "`grad Q(beta) - grad Q(beta_0)` in the row space of every `X` asks for"
        " `<grad y_i, grad F_j> = g delta_ij`, `g > 0`; but `sum_j n_j grad F_j = 0` for some"
        " `n != 0`, so `g n_i = 0` for all `i`"
    )


def _dual(d: Derivation, right: str) -> Iterator[object]:
    for block in d.blocks:
        dual, piece, weights = block.potential.dual, block.potential.piece, block.notation.weights
        if dual is None:
            continue
        R = dual.R if piece is not None and piece.kind == "quadrature" else None
        pairs = zip(block.parameterization.labels, dual.y, strict=True)
        rows = [(f"y{i}", log_expr(y, weights)) for i, y in pairs]
        rows += [] if R is None else [("R", log_expr(R, weights))]
        yield Equations(tuple(rows))
        yield note(f"`<grad y_i, grad F_j> = {right}`, so `y - y(w_0) = grad Q`")
        if R is not None:
            yield note(
                "`<grad R, grad F_j> = sum_i F_i <grad y_i, grad F_j>`, so"
                " `Q = sum_i (y_i - y_i(w_0)) F_i - R` in the weights, without an integral"
            )


def _warp(d: Derivation) -> Iterator[object]:
    finding, g = d.warping.finding, d.warping.g
    yield from _finding(finding)
    if g is not None:
        yield Equations((("g", g),))
        yield from _dual(d, "g delta_ij")
    elif finding.verdict is Verdict.PROVED:
        yield note("`g = exp` of the integral of `H`, `H_a = <grad F_a, grad log g>`:")
        for block in d.blocks:
            pairs = zip(block.parameterization.labels, block.warping.H or (), strict=False)
            weights = block.notation.weights
            yield Equations(tuple((f"H{i}", to_expr(h, weights)) for i, h in pairs))


def _finding(finding: Finding) -> Iterator[object]:
    yield from (finding, *(e for e in finding.evidence if not e.holds))


def _regularizer(d: Derivation) -> Iterator[object]:
    potential = d.potential
    if not potential.pieces:
        yield potential.finding
        return
    yield from (lines := [*text_lines(sections.potential_lines(potential))])
    opposite = potential.other_side
    lines_there = text_lines(sections.potential_lines(opposite)) if opposite else ()
    other = [x for x in lines_there if x not in lines]
    if other:
        yield from ("On the other side:", *other, mark_quoted(potential.finding.reason))
    for name, block in zip(sections.part_names(d.blocks), d.blocks, strict=True):
        roads = [r.name for r in block.roads if r.finding.verdict is Verdict.PROVED]
        which = f" on {name}" if len(d.blocks) > 1 else ""
        words = f"Roads that agree{which}: " if len(roads) > 1 else f"Road{which}: "
        several = len({form.road for form in block.potential.forms}) > 1
        shortest = "; of several forms the shortest is printed" * several
        if roads:
            yield words + "; ".join(map(mark_quoted, roads)) + shortest
    yield sections.normalization(d)
    yield from _sentences(d.says("minimiser"))


def _sentences(claims: Iterable[Statement | Open]) -> Iterator[str]:
    """Yield statements as sentences."""
    for line in text_lines(claims):
        yield f"{line[0].upper()}{line[1:]}."
