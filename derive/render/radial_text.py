"""A dimension-free derivation as plain text at 80 columns."""

from __future__ import annotations

import re

from sympy import Integral

from derive.language import to_text
from derive.language.tree import Name
from derive.model.notation import to_expr
from derive.potential.piece import Quadrature
from derive.render.plain import plain, root_lines, unmarked
from derive.render.text import failure_lines, title, wrap
from derive.vectors.derivation import RadialDerivation
from derive.vectors.reduce import radial_eigenvalue
from derive.verdict import Verdict

INDENT = "  "


def render_text(derivation: RadialDerivation, width: int = 80) -> str:
    """Return the whole derivation as text, with |u| for the norm of a vector u."""
    lines: list[str] = []
    for section in (_model, _conserved, _kernel, _hessian, _warp, _potential, _proofs):
        found = section(derivation)
        if found:
            lines += [*found, ""]
    head = {
        Verdict.PROVED: "Yes: gradient flow on F is a mirror flow"
        + (", in a warped time" if derivation.warping.g != 1 else "")
        + "; Q is below.",
        Verdict.UNDECIDED: "Undecided: neither a mirror potential Q nor its absence was proved.",
    }[derivation.verdict]
    return "\n".join(
        part
        for line in (head, "", *lines[:-1])
        for part in (wrap(with_norms(line, derivation), width) if line else [""])
    )


def with_norms(text: str, derivation: RadialDerivation) -> str:
    """Return text with |u| and |u_0| in place of the names that stand for them."""
    model = derivation.model
    names = {model.norm: f"|{model.vector}|"}
    start = model.reduced.start[-1][1]
    if isinstance(start, Name) and start.name.startswith(f"{model.norm}_0"):
        names[start.name] = f"|{model.start_vector}|"
    pattern = r"\b(" + "|".join(sorted(names, key=len, reverse=True)) + r")\b"
    return re.sub(pattern, lambda found: names[found.group()], text)


def _model(d: RadialDerivation) -> list[str]:
    model, p = d.model, d.model.reduced
    u, s = model.vector, d.s
    starts = ", ".join(f"{w} = {to_text(tree)}" for w, tree in p.start)
    phi = to_text(model.coefficient)
    direction = f"the direction of {model.start_vector} is free"
    if p.w0[-1].is_zero():
        direction = f"{u} needs no direction there, as y = {u}"
    lines = [
        "Parameterization beta = F(w), for every dimension d >= 2",
        f"{INDENT}{model.beta} = phi {u}, phi = {phi}, {u} in R^d",
        f"{INDENT}rotation-equivariant: with {s} = |{model.beta}| = |phi| {model.norm} all is "
        f"known from ({', '.join(p.weights)})",
        f"{INDENT}start: {starts}; {direction}",
    ]
    if model.idle:
        stay = "starts at 0 and stays there" if len(model.idle) == 1 else "start and stay at 0"
        lines.append(f"{INDENT}left out: {', '.join(model.idle)}, which {stay}")
    return lines


def _conserved(d: RadialDerivation) -> list[str]:
    c = d.conserved
    if c.bound == 0:
        return ["Conserved quantities: none, the flow reaches every direction"]
    complete = "all of them" if c.verdict is Verdict.PROVED else f"at most {c.bound} exist"
    names = law_names(d)
    laws = [f"{INDENT}{n} = {plain(law)}" for n, law in zip(names, c.laws, strict=True)]
    return [f"Conserved quantities ({complete})", *(laws or [f"{INDENT}none was found"])]


def law_names(d: RadialDerivation) -> list[str]:
    """Return the names of the conserved quantities."""
    many = len(d.conserved.laws) > 1
    fresh = d.model.notation.fresh
    return [fresh(f"delta{i}" if many else "delta").name for i in range(1, d.conserved.count + 1)]


def _kernel(d: RadialDerivation) -> list[str]:
    p, s, b = d.model.reduced, d.s, d.model.beta
    symbols = d.model.notation.weights
    T, R = (plain(to_expr(x, symbols)) for x in (d.model.phi**2, radial_eigenvalue(p)))
    lines = [
        "Tangent kernel K = J J^T, induced metric rho = K^-1",
        f"{INDENT}K = T I + (R - T) {b} {b}^T/{s}**2,  rho = I/T + (1/R - 1/T) {b} {b}^T/{s}**2",
        f"{INDENT}T = {T}",
        f"{INDENT}R = {R}",
    ]
    spectrum = d.potential.spectrum
    if spectrum is None:
        return [*lines, f"{INDENT}T and R were not written as functions of {s}"]
    lines.append(f"{INDENT}as functions of {s} = |{b}|:")
    lines += [f"{INDENT}T = {plain(spectrum.tangential)}", f"{INDENT}R = {plain(spectrum.radial)}"]
    lines += [f"{INDENT}{line}" for root in spectrum.roots for line in root_lines(root)]
    return lines + [f"{INDENT}{name} = {plain(value)}" for name, value in spectrum.constants]


def _hessian(d: RadialDerivation) -> list[str]:
    finding = d.hessian.finding
    lines = [title("Hessian map (d_k rho_ij = d_i rho_kj)?", finding.verdict)]
    lines.append(f"{INDENT}{finding.reason}")
    for identity in finding.evidence:
        if not identity.holds:
            lines += [f"{INDENT}{line}" for line in failure_lines(identity)]
    return lines


def _warp(d: RadialDerivation) -> list[str]:
    if d.hessian.verdict is Verdict.PROVED:
        return []
    finding = d.warping.finding
    lines = [title("Warp g with g rho a Hessian map?", finding.verdict)]
    lines.append(f"{INDENT}{finding.reason}")
    if d.warping.g is not None:
        lines.append(f"{INDENT}g = {plain(d.warping.g)}")
    return lines


def _potential(d: RadialDerivation) -> list[str]:
    finding, piece = d.potential.finding, d.potential.piece
    lines = [title("Implicit regularizer Q", finding.verdict)]
    if piece is None or d.Q is None:
        return [*lines, f"{INDENT}{finding.reason}"]
    s, b = d.s, d.model.beta
    lines.append(f"{INDENT}Q = {plain(d.Q)}")
    gradient = piece.gradient[0]
    if not gradient.has(Integral):
        u0 = d.model.start_vector
        linear = plain(-d.potential.slope * type(s)(u0))
        lines.append(f"{INDENT}grad Q = q'({s}) {b}/{s} + z, z = {linear}")
        lines.append(f"{INDENT}q'({s}) = {plain(gradient)}")
    lines.append(f"{INDENT}{s} = |{b}|")
    lines += [f"{INDENT}{line}" for root in piece.roots for line in root_lines(root)]
    lines += [f"{INDENT}{name} = {plain(value)}" for name, value in piece.constants]
    if isinstance(piece, Quadrature) and piece.note:
        lines.append(f"{INDENT}with {unmarked(piece.note)}")
    if piece.assumptions:
        lines.append(f"{INDENT}assuming {'; '.join(piece.assumptions)}")
    lines.append(f"{INDENT}up to a positive factor and an additive constant; grad Q(beta_0) = 0")
    return lines


def _proofs(d: RadialDerivation) -> list[str]:
    if d.verdict is not Verdict.PROVED:
        return []
    statements = dict.fromkeys(e.statement for e in d.potential.finding.evidence)
    lines = ["Proved by exact expansion in the scalars and the norm"]
    lines += [f"{INDENT}{statement}" for statement in statements]
    done = [str(c.d) for c in d.checks if not c.skipped]
    if done:
        lines.append(
            f"{INDENT}the same warp, dual coordinates and laws in components, d = "
            + ", ".join(done)
        )
    lines += [f"{INDENT}not in components, d = {c.d}: {c.skipped}" for c in d.checks if c.skipped]
    return lines
