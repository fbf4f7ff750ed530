"""A derivation as plain text that is read from top to bottom at 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from itertools import combinations_with_replacement

from sympy import Expr, Integral, Symbol

from derive.derivation import Derivation
from derive.language import to_text
from derive.language.tree import Name
from derive.model.parameterization import Parameterization
from derive.render.algebra import algebra_lines
from derive.render.norms import norms_as_text
from derive.render.plain import INDENT, piece_lines, plain, root_lines
from derive.render.roads import road_lines
from derive.render.sections import (
    Asked,
    Eigenvalues,
    Evidence,
    Headline,
    HessianMap,
    Kernel,
    Laws,
    Model,
    Regularizer,
    Section,
    VectorModel,
    VectorRegularizer,
    Warp,
    sections_of,
)
from derive.render.words import failure_lines, title, wrap
from derive.verdict import Finding, Verdict

KKT = (
    "If gradient flow on |X F(w) - y|^2 converges with X beta = y, its limit meets the"
    " KKT conditions of min Q subject to X beta = y; as Hess Q = g rho is positive definite,"
    " it is the minimiser over every convex part of the domain."
)
NORMALIZED = "up to a positive factor and an additive constant; grad Q(beta_0) = 0"


def render_text(derivation: Derivation, width: int = 80) -> str:
    """Return the whole derivation as text, with |u| for the norm of a vector u."""
    lines: list[str] = []
    for section in sections_of(derivation):
        found = list(lines_of(section))
        if found:
            lines += [*(norms_as_text(line, derivation.direction) for line in found), ""]
    return "\n".join(
        wrapped for line in lines[:-1] for wrapped in (wrap(line, width) if line else [""])
    )


@singledispatch
def lines_of(section: Section) -> Iterator[str]:
    """Yield the lines of a section; none where it has nothing to say."""
    raise AssertionError(f"{type(section).__name__} has no text")


@lines_of.register
def _(section: Headline) -> Iterator[str]:
    if section.verdict is Verdict.PROVED:
        how = "" if section.hessian is Verdict.PROVED else ", in a warped time"
        yield f"Yes: gradient flow on F is a mirror flow{how}; Q is below."
    elif section.verdict is Verdict.REFUTED:
        yield "No: no Q and no warp g > 0 satisfy Hess Q = g rho; F has no mirror potential."
    else:
        yield "Undecided: neither a mirror potential Q nor its absence was proved."


@lines_of.register
def _(section: Model) -> Iterator[str]:
    p = section.parameterization
    yield "Parameterization beta = F(w)"
    for b, tree in zip(section.betas, p.trees, strict=True):
        yield f"{INDENT}{b} = {to_text(tree)}"
    free = [t.name for w, t in p.start if isinstance(t, Name) and t.name.startswith(f"{w}_0")]
    given = [f"{w} = {to_text(t)}" for w, t in p.start if to_text(t) not in free]
    start = ", ".join([*given, *([f"free {', '.join(free)}"] if free else [])])
    weights = f"{p.p} weight" + ("" if p.p == 1 else "s")
    yield f"{INDENT}{weights}, {homogeneity(p)}, J of rank {p.d}; start: {start}"
    yield from _left_out(section.idle, "start at 0 and stay there")
    for w, tree in section.ties:
        yield f"{INDENT}left out: {w} = {to_text(tree)}, from the start and always"
    if section.kernel_factor is not None:
        factor = to_text(section.kernel_factor)
        yield f"{INDENT}K in the weights left is {factor} times K in all weights"
    if len(section.blocks) > 1:
        groups = (", ".join(str(section.betas[i]) for i in outputs) for outputs in section.blocks)
        yield f"{INDENT}independent blocks: {' | '.join(groups)}"


def homogeneity(p: Parameterization) -> str:
    """Say of which degree D of homogeneity F is, a number or a constant of F, or that it is not."""
    D = p.homogeneity
    return "not homogeneous" if D is None else f"homogeneous of degree {D!r}"


def _left_out(idle: Sequence[str], stay: str) -> Iterator[str]:
    if idle:
        stay = "starts at 0 and stays there" if len(idle) == 1 else stay
        yield f"{INDENT}left out: {', '.join(idle)}, which {stay}"


@lines_of.register
def _(section: VectorModel) -> Iterator[str]:
    direction, p, s = section.direction, section.direction.parameterization, section.s
    beta, u = direction.beta, direction.vector
    starts = ", ".join(f"{w} = {to_text(tree)}" for w, tree in p.start)
    turned = f"the direction of {direction.start_vector} is free"
    if p.w0[-1].is_zero():
        turned = f"{u} needs no direction there, as y = {u}"
    yield "Parameterization beta = F(w), for every dimension d >= 2"
    yield f"{INDENT}{beta} = phi {u}, phi = {to_text(direction.coefficient)}, {u} in R^d"
    yield (
        f"{INDENT}rotation-equivariant: with {s} = |{beta}| = |phi| {direction.norm} all is "
        f"known from ({', '.join(p.weights)})"
    )
    yield f"{INDENT}start: {starts}; {turned}"
    yield from _left_out(section.idle, "start and stay at 0")


@lines_of.register
def _(section: Laws) -> Iterator[str]:
    conserved = section.conserved
    algebra = [f"{INDENT}{line}" for b in section.algebras for line in algebra_lines(b)]
    if conserved.bound == 0:
        yield "Conserved quantities: none, the flow reaches every direction"
        yield from algebra
        return
    found = conserved.verdict is Verdict.PROVED
    complete = "all of them" if found else f"at most {conserved.bound} exist"
    yield f"Conserved quantities ({complete})"
    yield from algebra
    yield from (f"{INDENT}{name} = {plain(law)}" for name, law in section.named())


@lines_of.register
def _(section: Kernel) -> Iterator[str]:
    metric, n = section.metric, section.d
    yield "Tangent kernel K = J J^T, induced metric rho = K^-1"
    yield from _entries("K", metric.kernel_in_weights, n)
    if metric.kernel is None:
        yield f"{INDENT}K was not written as a function of beta"
        return
    yield f"{INDENT}as functions of beta:"
    yield from _entries("K", metric.kernel, n)
    if metric.rho is not None and n <= 3:
        yield from _entries("rho", metric.rho, n)
    yield from (f"{INDENT}{line}" for r in metric.roots for line in root_lines(r))
    yield from (f"{INDENT}{name} = {plain(value)}" for name, value in metric.constants)


def _entries(name: str, matrix: Expr, n: int) -> Iterator[str]:
    """Yield the entries on and above the diagonal that are not 0."""
    if n == 1:
        yield f"{INDENT}{name} = {plain(matrix[0, 0])}"
        return
    for i, j in combinations_with_replacement(range(n), 2):
        if matrix[i, j] != 0:
            yield f"{INDENT}{name}{i + 1}{j + 1} = {plain(matrix[i, j])}"


@lines_of.register
def _(section: Eigenvalues) -> Iterator[str]:
    metric, s, b = section.metric, section.s, section.direction.beta
    yield "Tangent kernel K = J J^T, induced metric rho = K^-1"
    yield f"{INDENT}K = T I + (R - T) {b} {b}^T/{s}**2,  rho = I/T + (1/R - 1/T) {b} {b}^T/{s}**2"
    yield from _eigenvalues(metric.kernel_in_weights)
    if metric.kernel is None:
        yield f"{INDENT}T and R were not written as functions of {s}"
        return
    yield f"{INDENT}as functions of {s} = |{b}|:"
    yield from _eigenvalues(metric.kernel)
    yield from (f"{INDENT}{line}" for r in metric.roots for line in root_lines(r))
    yield from (f"{INDENT}{name} = {plain(value)}" for name, value in metric.constants)


def _eigenvalues(matrix: Expr) -> Iterator[str]:
    yield f"{INDENT}T = {plain(matrix[0, 0])}"
    yield f"{INDENT}R = {plain(matrix[1, 1])}"


@lines_of.register
def _(section: HessianMap) -> Iterator[str]:
    yield title("Hessian map (d_k rho_ij = d_i rho_kj)?", section.finding.verdict)
    yield from _finding(section.finding)


@lines_of.register
def _(section: Warp) -> Iterator[str]:
    finding, g = section.decision.finding, section.decision.g
    if not section.needed:
        return
    yield title("Warp g with g rho a Hessian map?", finding.verdict)
    yield from _finding(finding)
    if g is not None:
        yield f"{INDENT}g = {plain(g)}"
        for _, found in section.dual():
            yield from (f"{INDENT}y{i + 1} = {plain(y)}" for i, y in found)
            yield f"{INDENT}<grad y_i, grad F_j> = g delta_ij, so y - y(w_0) = grad Q"
    elif finding.verdict is Verdict.PROVED:
        yield f"{INDENT}g = exp of the integral of H, H_a = <grad F_a, grad log g>:"
        yield from (f"{INDENT}H{i + 1} = {plain(h)}" for i, h in section.slopes())


def _finding(finding: Finding) -> Iterator[str]:
    yield f"{INDENT}{finding.reason}"
    for identity in finding.evidence:
        if not identity.holds:
            yield from (f"{INDENT}{line}" for line in failure_lines(identity))


@lines_of.register
def _(section: Regularizer) -> Iterator[str]:
    potential = section.potential
    if section.refuted:
        return
    yield title("Implicit regularizer Q", potential.finding.verdict)
    if not potential.pieces:
        yield f"{INDENT}{potential.finding.reason}"
        return
    if len(potential.pieces) > 1:
        yield f"{INDENT}Q = {' + '.join(section.names)}"
    for name, piece in zip(section.names, potential.pieces, strict=True):
        yield from (f"{INDENT}{line}" for line in piece_lines(piece, name))
    yield from (f"{INDENT}{line}" for line in road_lines(section))
    yield f"{INDENT}{NORMALIZED}"
    yield f"{INDENT}{KKT}"


@lines_of.register
def _(section: VectorRegularizer) -> Iterator[str]:
    potential, turning = section.potential, section.turning
    yield title("Implicit regularizer Q", potential.finding.verdict)
    (piece,) = potential.pieces
    (s,), b, slope = piece.betas, turning.direction.beta, piece.gradient[0]
    yield f"{INDENT}Q = {plain(piece.value + potential.linear)}"
    if not slope.has(Integral):
        linear = plain(-turning.slope * Symbol(turning.direction.start_vector, real=True))
        yield f"{INDENT}grad Q = q'({s}) {b}/{s} + z, z = {linear}"
    _, *rest = piece_lines(piece, "q")
    prime = f"q'({s}) ="
    yield from (INDENT + line.replace(f"dq/d{s} =", prime) for line in rest)
    yield f"{INDENT}{s} = |{b}|"
    yield from (f"{INDENT}{line}" for line in road_lines(section))
    yield f"{INDENT}{NORMALIZED}"
    yield f"{INDENT}{KKT}"


@lines_of.register
def _(section: Asked) -> Iterator[str]:
    if section.road is not None:
        yield title("The Ansatz asked for", section.road.finding.verdict)
        yield f"{INDENT}{section.road.name}"
        yield from _finding(section.road.finding)


@lines_of.register
def _(section: Evidence) -> Iterator[str]:
    if section.statements:
        yield f"Proved by exact expansion in the {section.where}"
        yield from (f"{INDENT}{statement}" for statement in section.statements)
