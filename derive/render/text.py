"""A derivation as plain text that is read from top to bottom at 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sympy import Expr

from derive.derivation import Derivation
from derive.language import to_text
from derive.language.tree import Name
from derive.model.notation import to_expr
from derive.model.parameterization import Parameterization
from derive.records import Block
from derive.render.algebra import algebra_lines
from derive.render.plain import INDENT, constant_lines, piece_lines, plain, root_lines
from derive.render.roads import road_lines
from derive.verdict import Finding, Identity, Number, Verdict


def render_text(derivation: Derivation, width: int = 80) -> str:
    """Return the whole derivation as text."""
    lines: list[str] = []
    for section in (
        _headline(derivation),
        _parameterization(derivation),
        _conserved(derivation),
        _metric(derivation),
        _hessian(derivation),
        _warp(derivation),
        _potential(derivation),
        _asked(derivation),
        _proofs(derivation),
    ):
        if section:
            lines += [*section, ""]
    return "\n".join(
        wrapped for line in lines[:-1] for wrapped in (wrap(line, width) if line else [""])
    )


def wrap(line: str, width: int) -> list[str]:
    """Break a line at spaces, continuation lines indented below the first equals sign.

    >>> wrap("  Q = aaaa + bbbb", 12)
    ['  Q = aaaa +', '      bbbb']
    """
    if len(line) <= width:
        return [line]
    lead = len(line) - len(line.lstrip())
    equals = line.find(" = ")
    indent = equals + 3 if 0 < equals < width // 3 else lead + 2
    words, lines, current = line[lead:].split(" "), [], " " * lead
    for word in words:
        candidate = f"{current} {word}" if current.strip() else current + word
        if len(candidate) > width and current.strip():
            lines.append(current)
            current = " " * indent + word
        else:
            current = candidate
    return [*lines, current]


def title(text: str, verdict: Verdict | None = None, width: int = 80) -> str:
    """Return a heading, with its verdict at the right margin."""
    return (
        text
        if verdict is None
        else f"{text} ".ljust(width - len(verdict.value) - 1, ".") + (f" {verdict.value}")
    )


def _headline(d: Derivation) -> list[str]:
    if d.verdict is Verdict.PROVED:
        how = "" if d.hessian.verdict is Verdict.PROVED else ", in a warped time"
        return [f"Yes: gradient flow on F is a mirror flow{how}; Q is below."]
    if d.verdict is Verdict.REFUTED:
        return ["No: no Q and no warp g > 0 satisfy Hess Q = g rho; F has no mirror potential."]
    return ["Undecided: neither a mirror potential Q nor its absence was proved."]


def _parameterization(d: Derivation) -> list[str]:
    p = d.parameterization
    lines = ["Parameterization beta = F(w)"]
    lines += [f"{INDENT}{b} = {to_text(t)}" for b, t in zip(d.beta, p.trees, strict=True)]
    free = [f"{t.name}" for w, t in p.start if isinstance(t, Name) and t.name.startswith(f"{w}_0")]
    given = [f"{w} = {to_text(t)}" for w, t in p.start if to_text(t) not in free]
    start = ", ".join([*given, *([f"free {', '.join(free)}"] if free else [])])
    lines.append(
        f"{INDENT}{_count(p.p, 'weight')}, {homogeneity(p)}, J of rank {p.d}; start: {start}"
    )
    if d.idle:
        stay = "starts at 0 and stays there" if len(d.idle) == 1 else "start at 0 and stay there"
        lines.append(f"{INDENT}left out: {', '.join(d.idle)}, which {stay}")
    lines += [f"{INDENT}left out: {w} = {to_text(t)}, from the start and always" for w, t in d.ties]
    if d.kernel_factor is not None:
        factor = to_text(d.kernel_factor)
        lines.append(f"{INDENT}K in the weights left is {factor} times K in all weights")
    if len(d.blocks) > 1:
        groups = " | ".join(", ".join(str(d.beta[i]) for i in b.outputs) for b in d.blocks)
        lines.append(f"{INDENT}independent blocks: {groups}")
    return lines


def homogeneity(p: Parameterization) -> str:
    """Say of which degree D of homogeneity F is, a number or a constant of F, or that it is not."""
    D = p.homogeneity
    return "not homogeneous" if D is None else f"homogeneous of degree {D!r}"


def _conserved(d: Derivation) -> list[str]:
    c = d.conserved
    algebra = [f"{INDENT}{line}" for b in d.blocks for line in algebra_lines(b)]
    if c.bound == 0:
        return ["Conserved quantities: none, the flow reaches every direction", *algebra]
    complete = "all of them" if c.verdict is Verdict.PROVED else f"at most {c.bound} exist"
    lines = [f"Conserved quantities ({complete})", *algebra]
    for block in d.blocks:
        for name, law in zip(law_names(block), _laws(block), strict=True):
            lines.append(f"{INDENT}{name} = {law}")
    return lines


def _laws(block: Block) -> list[str]:
    return [plain(to_expr(law, block.notation.weights)) for law in block.conserved.laws]


def law_names(block: Block) -> list[str]:
    """Return the names of a block's conserved quantities."""
    many = len(block.conserved.laws) > 1
    return [
        block.notation.fresh(f"delta{i}" if many else "delta").name
        for i in range(1, len(block.conserved.laws) + 1)
    ]


def _metric(d: Derivation) -> list[str]:
    metric = d.metric
    n = d.parameterization.d
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    lines = ["Tangent kernel K = J J^T, induced metric rho = K^-1"]
    lines += _entries("K", metric.kernel_in_weights, pairs, n)
    if metric.kernel is None:
        lines.append(f"{INDENT}K was not written as a function of beta")
        return lines
    lines.append(f"{INDENT}as functions of beta:")
    lines += _entries("K", metric.kernel, pairs, n)
    if metric.rho is not None and n <= 3:
        lines += _entries("rho", metric.rho, pairs, n)
    lines += [f"{INDENT}{line}" for r in metric.roots for line in root_lines(r)]
    lines += constant_lines(metric.constants)
    return lines


def _entries(name: str, matrix: Expr, pairs: Sequence[tuple[int, int]], n: int) -> list[str]:
    if n == 1:
        return [f"{INDENT}{name} = {plain(matrix[0, 0])}"]
    return [
        f"{INDENT}{name}{i + 1}{j + 1} = {plain(matrix[i, j])}"
        for i, j in pairs
        if matrix[i, j] != 0
    ]


def _hessian(d: Derivation) -> list[str]:
    finding = d.hessian.finding
    return [title("Hessian map (d_k rho_ij = d_i rho_kj)?", finding.verdict), *_finding(finding)]


def _warp(d: Derivation) -> list[str]:
    if d.hessian.verdict is Verdict.PROVED:
        return []
    finding = d.warping.finding
    lines = [title("Warp g with g rho a Hessian map?", finding.verdict), *_finding(finding)]
    if d.warping.g is not None:
        lines.append(f"{INDENT}g = {plain(d.warping.g)}")
    elif finding.verdict is Verdict.PROVED:
        lines.append(f"{INDENT}g = exp of the integral of H, H_a = <grad F_a, grad log g>:")
        lines += [
            f"{INDENT}H{i + 1} = {plain(to_expr(h, block.notation.weights))}"
            for block in d.blocks
            for i, h in zip(block.outputs, block.warping.H or (), strict=True)
        ]
    for block in d.blocks:
        dual = block.potential.dual
        if dual is not None and d.warping.g is not None:
            for i, y in zip(block.outputs, dual.y, strict=True):
                if not y.logs:
                    written = plain(to_expr(y.rational, block.notation.weights))
                    lines.append(f"{INDENT}y{i + 1} = {written}")
            lines.append(f"{INDENT}<grad y_i, grad F_j> = g delta_ij, so y - y(w_0) = grad Q")
    return lines


def _finding(finding: Finding) -> list[str]:
    lines = [f"{INDENT}{finding.reason}"]
    for identity in finding.evidence:
        if not identity.holds:
            lines += [f"{INDENT}{line}" for line in failure_lines(identity)]
    return lines


def failure_lines(identity: Identity) -> Iterator[str]:
    """Yield the lines that show where an identity fails."""
    yield f"needed: {identity.statement}"
    yield f"left  = {identity.left}"
    yield f"right = {identity.right}"
    along = "".join(f", differentiated along {name}," for name in identity.derivative)
    yield f"left - right{along} = {identity.residual} at {at(identity.point)}"


def at(point: Iterable[tuple[str, Number]]) -> str:
    """Return ``a = 1, b = 2`` for a point."""
    return ", ".join(f"{name} = {value}" for name, value in point)


def _potential(d: Derivation) -> list[str]:
    finding = d.potential.finding
    if d.warping.verdict is Verdict.REFUTED:
        return []
    lines = [title("Implicit regularizer Q", finding.verdict)]
    if not d.potential.pieces:
        return [*lines, f"{INDENT}{finding.reason}"]
    many = len(d.potential.pieces) > 1
    if many:
        lines.append(f"{INDENT}Q = " + " + ".join(f"Q_{i}" for i, _ in enumerate(d.blocks, 1)))
    for i, piece in enumerate(d.potential.pieces, 1):
        lines += [f"{INDENT}{line}" for line in piece_lines(piece, f"Q_{i}" if many else "Q")]
    lines += [f"{INDENT}{line}" for line in road_lines(d)]
    lines.append(f"{INDENT}up to a positive factor and an additive constant; grad Q(beta_0) = 0")
    lines.append(
        f"{INDENT}If gradient flow on |X F(w) - y|^2 converges with X beta = y, its limit meets the"
        " KKT conditions of min Q subject to X beta = y; as Hess Q = g rho is positive definite,"
        " it is the minimiser over every convex part of the domain."
    )
    return lines


def _asked(d: Derivation) -> list[str]:
    if d.asked is None:
        return []
    finding = d.asked.finding
    heading = title("The Ansatz asked for", finding.verdict)
    return [heading, f"{INDENT}{d.asked.name}", *_finding(finding)]


def _proofs(d: Derivation) -> list[str]:
    """Say what was proved and how."""
    if d.verdict is not Verdict.PROVED:
        return []
    identities = [e for b in d.blocks for e in b.potential.finding.evidence]
    if not identities:
        return []
    lines = ["Proved by exact expansion in the weights"]
    seen = dict.fromkeys(e.statement for e in identities)
    return lines + [f"{INDENT}{statement}" for statement in seen]


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "s")
