"""A derivation as a page of mathematics: setting, laws, theorem, proof, remarks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import sympy
from sympy import Expr, Symbol

from derive.derivation import Derivation
from derive.language import to_sympy
from derive.model.condition import Condition
from derive.model.direction import Direction
from derive.model.geometry import EUCLIDEAN
from derive.potential.domain import CONVEX
from derive.render import sections
from derive.render.document import Element, Part, phrase, say
from derive.render.page.blocks import norms_as_latex, paragraph
from derive.render.page.formula import assumption, at_start, listing, prose, typeset
from derive.render.page.lines import COLUMN, display, width
from derive.render.page.printer import inline, latex, latex_name
from derive.render.page.proof import inner_product, proof_lines
from derive.render.page.refutation import refuted_claim, refuted_proof
from derive.render.plain import MARK
from derive.render.sections import norms_of
from derive.statement import OnPage, OnTerminal
from derive.verdict import Verdict


def page_parts(d: Derivation) -> Iterator[Part]:
    """Yield the setting, what is conserved, the theorem with its proof, and remarks."""
    yield Part("Setting", _setting(d))
    yield Part("Conserved quantities", _laws(d))
    yield from _results(d)


def setting(d: Derivation) -> tuple[OnTerminal, OnPage]:
    """Return what F, the data and the flow are, with the letters of a page."""
    return OnTerminal((d.parameterization,)), OnPage((*_setting(d),))


def _setting(d: Derivation) -> Iterator[object]:
    kind = "one" if d.of_coordinates else "outputs"
    yield from _of_outputs(d, kind) if d.direction is None else _of_vector(d, d.direction)
    yield from sections.what_stays(d)


def _outputs(d: Derivation) -> list[tuple[str, Expr]]:
    """Return the outputs, with what they are called."""
    names = ["F(w)"] if d.of_coordinates else [latex(b) for b in d.beta]
    p = d.parameterization
    symbols = {x: Symbol(x, real=True) for x in (*p.weights, *p.parameters)}
    return [(n, to_sympy(t, symbols)) for n, t in zip(names, p.trees, strict=True)]


def _of_outputs(d: Derivation, kind: str) -> Iterator[object]:
    p, outputs = d.parameterization, _outputs(d)
    yield from say(f"setting.{kind}")
    (left, F), *rest = outputs
    weights = [("w", _tuple(p.weights))]
    if p.weights == ("w",):
        outputs, weights = [(left, rf"{latex(F)} , \qquad w \in \mathbb{{R}}"), *rest], []
    yield from display([*outputs, *weights])
    yield from sections.affine_outputs(p)
    steepest = p.geometry.steepest is not None
    yield from say("setting.steepest" if steepest else "setting.flow", flow=_flow(d))
    yield from say(f"setting.{kind}_flow", start=_start(d), steering=_steering(d))
    yield from sections.metric_of(p)


def _flow(d: Derivation) -> str:
    """Return what the flow is called."""
    return re.sub("`(.*?)`", lambda m: f"${typeset(m[1])}$", d.parameterization.geometry.flow)


def _steering(d: Derivation) -> str:
    """Return what steers, of data X and y."""
    steered = r"X^{\mathsf T}(y - X\beta)"
    plain = d.parameterization.geometry.steepest is None
    return steered if plain else rf"\varphi({steered})"


def _model(d: Derivation, start: str) -> str:
    """Return the model in a sentence, as far as it is short: a theorem stands alone."""
    if d.direction is not None:
        phi, u = _phi(d.direction), latex_name(d.direction.vector)
        simple = not re.search("[-+/]", phi)
        F = rf"{phi}\,{u}$" if simple else rf"\varphi\,{u}$ with $\varphi = {phi}$"
        F = f"${latex(d.direction.beta)} = {F}"
    elif d.of_coordinates:
        F = rf"$\beta_i = F(w^{{(i)}})$ with $F(w) = {inline(_outputs(d)[0][1])}$"
    else:
        F = listing(f"${name} = {inline(f)}$" for name, f in _outputs(d))
    F = F if width(F) < COLUMN else r"$\beta = F(w)$, as above,"
    G = d.parameterization.geometry
    rates = ", at their rates" * bool(G.trees and G.steepest is None)
    return phrase("theorem.model", F=F, weights=rates + start, flow=_flow(d))


def _start(d: Derivation) -> str:
    """Return the start, a vector by itself where only its norm is named."""
    shown = norms_as_latex(at_start(d.parameterization.start), norms_of(d.direction))
    return re.sub(r"\\lVert (\S+) \\rVert\(0\) = \\lVert (\S+) \\rVert", r"\1(0) = \2", shown)


def _of_vector(d: Derivation, direction: Direction) -> Iterator[object]:
    scalars = [w for w in direction.parameterization.weights if w != direction.norm]
    kind = {0: "no scalars", 1: "a scalar "}.get(len(scalars), "scalars ")
    named = [f"${latex_name(name)}$" for name in scalars]
    yield from say(
        "setting.vector",
        u=latex_name(direction.vector),
        phi=_phi(direction),
        scalars=kind + (listing(named) if named else ""),
        s=latex(d.beta[0]),
        beta=latex(direction.beta),
    )
    yield from say("setting.flow")
    yield from say("setting.vector_flow", start=_start(d))
    yield from sections.metric_of(direction.parameterization)


def _phi(direction: Direction) -> str:
    return inline(to_sympy(direction.coefficient, dict(direction.notation.weights)))


def _tuple(weights: Sequence[str]) -> str:
    names = ", ".join(map(latex_name, weights))
    if width(names) > COLUMN - 70:
        names = rf"{latex_name(weights[0])}, \dots"
    several = rf"({names}) \in \mathbb{{R}}^{{{len(weights)}}}"
    return several if weights[1:] else rf"{names} \in \mathbb{{R}}"


def _laws(d: Derivation) -> Iterator[object]:
    found, blocks = list(sections.named_laws(d)), d.blocks if d.direction is None else ()
    why = [words for block in blocks for words in sections.completeness(d, block)]
    none = say("laws.open" if d.conserved.bound else "laws.none", bound=d.conserved.bound)
    yield from _law_lines(d, found) if found else none if why else ()
    yield from why


def _law_lines(d: Derivation, laws: Sequence[tuple[Symbol, Expr]]) -> Iterator[Element]:
    name, law = laws[0]
    reasons = [x for x in (inner_product(law, block, 0) for block in d.blocks) if x]
    several = len(laws) > 1 or d.parameterization.d > 1
    yield from say("laws.are")
    yield from display([(latex(name), law) for name, law in laws])
    scaled = d.parameterization.geometry == EUCLIDEAN and all(_is_balance(x) for _, x in laws)
    yield from say("laws.balance" if scaled else "laws.whatever")
    if not reasons:
        yield from say("laws.expansion")
        return
    of = latex(d.beta[0]) if d.direction is not None else "F" if d.of_coordinates else "F_1"
    names = {"law": latex(name), "of": of}
    since = "since" if d.direction is None else phrase("laws.turning", **names)
    yield from say("laws.since", since=since, terms=reasons[0], **names)
    if several:
        yield from say("laws.likewise")


def _is_balance(law: Expr) -> bool:
    """Tell whether a law c is a difference of squared norms: sum_k c_k w_k^2 with c_k = 1, -1.

    As sum_k c_k w_k dF/dw_k = 0 then, F does not change where w_k becomes exp(c_k t) w_k.
    """
    terms = [term.as_coeff_Mul() for term in sympy.Add.make_args(law)]
    squares = all(c**2 == 1 and x.is_Pow and x.exp == 2 and x.base.is_Symbol for c, x in terms)
    return squares and {c for c, _ in terms} == {1, -1}


def _results(d: Derivation) -> Iterator[Part]:
    if d.verdict is Verdict.REFUTED:
        claim = refuted_claim(d, _model(d, ""))
        yield Part("", _with_letters(d, claim), kind="theorem", label="thm:regularizer")
        yield Part("", refuted_proof(d), kind="proof")
    elif d.verdict is Verdict.PROVED and d.potential.pieces:
        yield Part("", _with_letters(d, _theorem(d)), kind="theorem", label="thm:regularizer")
        yield Part("", proof_lines(d), kind="proof")
        yield Part("", sections.potential_lines(d.potential), kind="formula")
        integrals = (p.integrand for p in d.potential.pieces if p.kind == "quadrature")
        left = dict.fromkeys(integrand.why for integrand in integrals if integrand is not None)
        why = (say("remark.integral", why=prose(x)) for x in left)
        yield Part("", chain([sections.normalization(d)], *why), kind="remark")
        yield Part(*sections.other_losses(d), kind="remark")
    if d.asked is not None:
        name = d.asked.name.replace("z.beta", "z^T beta")
        form = prose(re.sub(r"(?<=Ansatz )(.*)(?=\))", r"`\1`", name))
        yield Part("", say(f"asked.{d.asked.finding.verdict.value}", form=form), kind="remark")


LETTERS = {
    "leaf": re.compile("leaf"),
    "kernel": re.compile(rf"(?<![A-Za-z\\{MARK}])[KJ](?![A-Za-z])|\\rho"),
    "rho": re.compile(r"\\rho"),
    "steering": re.compile(r"\\lambda"),
}
"""What letters of the setting look like, by the texts that define them."""


def _with_letters(d: Derivation, theorem: Iterable[object]) -> Iterator[Element]:
    """Yield a theorem, which may stand alone, and what the letters of the setting are in it."""
    blocks = [*paragraph(theorem)]
    whole = "\n".join(map(str, blocks))
    letters = [
        phrase(f"theorem.{name}", steering=_steering(d))
        for name, mark in LETTERS.items()
        if mark.search(whole)
    ]
    yield from (*blocks, *(say("theorem.letters", letters=listing(letters)) if letters else ()))


def _theorem(d: Derivation) -> Iterator[object]:
    """Yield the assumptions, Q with the names in it, and what it is for."""
    yield _model(d, f", from {_start(d) if len(d.parameterization.start) < 4 else '$w_0$'}")
    assumed = dict.fromkeys(a for piece in d.potential.pieces for a in piece.assumptions)
    put = {str(symbol) for piece in d.potential.pieces for symbol, _ in piece.constants}
    late = [a for a in assumed if put & a.names]
    yield from _assumed([a for a in assumed if a not in late])
    if d.direction is not None:
        yield from say("theorem.length", s=latex(d.beta[0]), beta=latex(d.direction.beta))
    yield from sections.potential_lines(d.potential, "eq:Q")
    if (other := d.potential.other_side) is not None:
        more = (a for piece in other.pieces for a in piece.assumptions if a not in assumed)
        yield from say("theorem.other_side", assumed=listing(map(assumption, more)))
        yield from sections.potential_lines(other)
    yield from _assumed(late)
    yield from _use(d)


def _use(d: Derivation) -> Iterator[Element]:
    """Yield what the gradient of Q does along the flow, where Q lives, and what follows."""
    plain = d.parameterization.geometry.steepest is None
    use = "steepest" if not plain else "one" if d.of_coordinates else "outputs"
    yield from say(f"theorem.{use}")
    yield from _where(d)
    if plain and d.of_coordinates:
        yield from say("theorem.copies")
    if d.hessian.verdict is Verdict.REFUTED:
        g = "" if d.warping.g is None else f", $g = {inline(d.warping.g)}$"
        yield from say("theorem.clock", g=g if width(g) < COLUMN / 2 else ", $g$ as below")


def _assumed(what: Sequence[Condition]) -> Iterator[Element]:
    if what:
        yield from say("theorem.assume", assumed=listing(map(assumption, what)))


def _where(d: Derivation) -> Iterator[Element]:
    """Yield where Q lives and what uniqueness that gives."""
    domains = [piece.domain for piece in d.potential.pieces if piece.domain is not None]
    if not domains:
        return
    where = listing(dict.fromkeys(prose(domain.where) for domain in domains))
    convex = listing(dict.fromkeys(prose(CONVEX[domain.convex]) for domain in domains))
    yield from say("theorem.lives", where=where, convex=convex.replace(" (below)", ""))
    if d.direction is not None and d.metric.kernel is not None:
        yield from say("theorem.R", R=inline(d.metric.kernel[1, 1]))
    if d.parameterization.geometry.steepest is not None:
        return
    surely = all(x.exact or (len(x.betas) == 1 and x.convex != "length") for x in domains)
    over = "there" if surely else "on every convex subset of this set that contains it"
    yield from say("theorem.only", over=over)
