"""What text and LaTeX say in like words: what fields generate, roads to Q, norms of a vector."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from derive.derivation import Derivation
from derive.language import to_sympy, to_text
from derive.language.tree import Name
from derive.model.direction import Direction
from derive.model.labels import predictor
from derive.model.notation import Notation
from derive.model.parameterization import Parameterization
from derive.potential.shortest import SEPARATE
from derive.records import Block
from derive.render.labels import marked, said
from derive.render.page.formula import listed, values_at
from derive.render.page.names import as_latex, latex_name
from derive.render.page.notation import typeset
from derive.render.page.printer import latex
from derive.render.plain import shown
from derive.render.sections import roads_to
from derive.verdict import Verdict


def algebra_lines(block: Block) -> Iterator[str]:
    """Yield which brackets span the Lie algebra, and weights at which they are independent."""
    lie = block.lie
    words = ", ".join(lie.words)
    how = {True: "commute; they span", False: "generate", None: "span or generate at least"}
    yield f"the fields X_i = grad F_i {how[lie.commuting]} dimension {lie.dimension}: {words}"
    if lie.point is not None:
        at = ", ".join(f"{marked(name)} = {value}" for name, value in lie.point)
        complete = "complete: " if block.conserved.verdict is Verdict.PROVED else ""
        rank = "are independent" if lie.words[1:] else "is not zero"
        yield f"{complete}{words} {rank} at {at}"


def algebra_words(block: Block) -> Iterator[str]:
    """Yield the same as a LaTeX sentence."""
    if block.lie.point is None:
        return
    words = [re.sub(r"X(\d+)", r"X_{\1}", f"${word}$") for word in block.lie.words]
    shown = listed(words) if len(words) < 7 else f"{words[0]}, $\\dots$, {words[-1]}"
    room = ", so all other conserved quantities are functions of these"
    if not block.conserved.laws:
        room = f", and there are {len(words)} weights" if words[1:] else ", and there is one weight"
    so = room if block.conserved.verdict is Verdict.PROVED else ""
    at = f"at {values_at(block.lie.point)}{so}"
    if words[1:]:
        yield f"With $X_i = \\nabla F_i$, {shown} are independent {at}."
    else:
        yield rf"$\nabla F_{{{block.lie.words[0][1:]}}} \neq 0$ {at}."


def output_lines(p: Parameterization) -> Iterator[str]:
    """Yield each output, then those that are affine functions of others."""
    notation = Notation(p, tuple(range(p.d)))
    names = (predictor(notation.taken),) if p.vectors else notation.betas
    yield from (f"{b} = {marked(text)}" for b, text in zip(names, p.texts, strict=True))
    for (b, written), output in zip(notation.affine, p.affine, strict=True):
        given = marked(to_text(output.tree))
        yield f"{b} = {given} = {shown(written)}: left out of F, not of X beta = y"
    yield from flow_lines(p)


def homogeneity(p: Parameterization) -> str:
    """Say of which degree D of homogeneity F is, a number or a constant of F, or that it is not."""
    D = p.homogeneity
    return "not homogeneous" if D is None else f"homogeneous of degree {marked(D)}"


def flow_lines(p: Parameterization) -> Iterator[str]:
    """Yield the flow and what its metric changes, where the weights have rates."""
    if p.rates:
        pairs = zip(p.weights, p.geometry.texts, strict=True)
        vectors = {v.norm: v.name for v in p.vectors}
        rates = ", ".join(f"{vectors.get(w, w)}: {rate}".replace("'", "") for w, rate in pairs)
        if p.geometry.psi is not None:
            psi = marked(to_text(p.geometry.psi))
            yield f"mirror descent on the weights: G = Hess psi, psi = {psi}"
        of, G = ("rates", "diag(rates)") if p.geometry.is_diagonal else ("rows of G^-1", "G^-1")
        yield f"flow: {p.geometry.statement}, with the {of} {marked(rates)}"
        yield f"so grad F stands for {G} dF, and K for J {G} J^T"


def start_words(p: Parameterization) -> str:
    """Return the values of weights at the start, and those that are free."""
    free = [t.name for w, t in p.start if isinstance(t, Name) and t.name.startswith(f"{w}_0")]
    given = [f"{w} = {to_text(t)}" for w, t in p.start if to_text(t) not in free]
    return marked(", ".join([*given, *([f"free {', '.join(free)}"] if free else [])]))


def affine_sentences(p: Parameterization) -> Iterator[str]:
    """Yield the last as LaTeX sentences."""
    notation = Notation(p, tuple(range(p.d)))
    for (b, written), output in zip(notation.affine, p.affine, strict=True):
        given = latex(to_sympy(output.tree, notation.weights))
        equation = f"{latex(b)} = {given} = {latex(written)}"
        yield rf"Left out of $F$, not of $X\beta = y$, is ${equation}$."


FORMULAS = {
    "metric in beta (Q'' = 1/K)": r"metric in $\beta$ ($Q'' = 1/K$)",
    SEPARATE: r"separate coordinates ($Q = \sum_k q_k(x_k)$)",
    "dual length psi": r"dual length $\psi$",
    "eigenvalues of K (s q''/q' = T/R)": r"eigenvalues of $K$ ($s q''/q' = T/R$)",
    "components, d = 2": "components, $d = 2$",
    "dual time (beta = h(mu))": r"dual time ($\beta = h(\mu)$)",
}
"""Names of roads with their formulas set as mathematics."""


def road_lines(d: Derivation) -> Iterator[str]:
    """Yield one line for each block."""
    for name, roads, note in roads_to(d):
        which = f" on {name}" if len(d.blocks) > 1 else ""
        words = f"Roads that agree{which}: " if len(roads) > 1 else f"Road{which}: "
        yield words + "; ".join(said(r.name) for r in roads) + note


def road_words(d: Derivation) -> Iterator[str]:
    """Yield one LaTeX sentence for each block with several roads."""
    for name, roads, note in roads_to(d):
        if len(roads) > 1:
            which = f"${as_latex(name)}$" if len(d.blocks) > 1 else "It"
            names = listed((road_name(r.name) for r in roads), "and")
            yield f"{which} was derived on {len(roads)} roads, which agree: {names}{note}."


def road_name(name: str) -> str:
    r"""Return the name of a road as LaTeX.

    >>> road_name("published (Ansatz q(|beta|) + z.beta)")
    'published (Ansatz $q(\\lvert \\beta \\rvert) + z^{\\top} \\beta$)'
    """
    matched = re.fullmatch(r"(?P<words>.*\(Ansatz )(?P<form>.*)\)", name)
    if matched is None:
        return FORMULAS.get(name, name)
    return f"{matched['words']}${typeset(matched['form'].replace('z.beta', 'z^T beta'))}$)"


def norms_of(direction: Direction | None) -> dict[str, str]:
    """Return each name that stands for a norm, with that of its vector."""
    if direction is None:
        return {}
    names = {direction.norm: direction.vector}
    start = direction.parameterization.start[-1][1]
    if isinstance(start, Name) and start.name.startswith(f"{direction.norm}_0"):
        names[start.name] = direction.start_vector
    return dict(sorted(names.items(), key=lambda pair: -len(pair[0])))


def norms_as_text(text: str, norms: Mapping[str, str]) -> str:
    """Return plain text with |u| where the name of a norm stands."""
    if not norms:
        return text
    return re.sub(rf"\b({'|'.join(norms)})\b", lambda found: f"|{norms[found[0]]}|", text)


def norms_as_latex(text: str, norms: Mapping[str, str]) -> str:
    """Return LaTeX likewise."""
    for name, vector in norms.items():
        text = text.replace(latex_name(name), rf"\lVert {latex_name(vector)} \rVert")
    return text
