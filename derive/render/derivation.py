"""A derivation told: setting, laws, kernel, whether there is a Q and what it is, and the proof."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import sympy
from sympy import Expr, Symbol

from derive.clock import LATE
from derive.derivation import Derivation
from derive.language import to_text
from derive.language.tree import Name
from derive.model.condition import Condition
from derive.model.direction import Direction
from derive.model.geometry import EUCLIDEAN
from derive.model.labels import taken_names
from derive.model.names import PI
from derive.model.notation import to_shorter_expr
from derive.model.parameterization import Parameterization
from derive.outcome import headline
from derive.potential.domain import CONVEX
from derive.render import sections
from derive.render.document import Document, Part, say
from derive.render.proof import inner_product, proof_lines
from derive.render.refutation import failing, refuted_proof, values_at
from derive.render.sections import norms_of
from derive.render.text import MARK, mark, mark_quoted, text_lines, unmark
from derive.statement import (
    Equations,
    OnPage,
    OnTerminal,
    Sentence,
    Text,
    each,
    listing,
    note,
    tell,
)
from derive.verdict import Finding, Verdict

METRIC = "Tangent kernel K = J J^T, induced metric rho = K^-1"
LONG, MANY = 60, 30
"""Characters of F, and of weights with what parts them, that a line has room for."""


def tell_derivation(d: Derivation) -> Document:
    """Return what is said of a derivation."""
    taken = taken_names(d.parameterization, (*d.idle, *(name for name, _ in d.ties)))
    return Document(_parts(d), taken, norms_of(d.direction))


def _parts(d: Derivation) -> Iterator[Part]:
    """Yield the parts from top to bottom."""
    depends = bool(sections.dependent(d))
    head, hessian = unmark(headline(d.verdict, d.parameterization)), d.hessian.verdict
    if d.verdict is Verdict.PROVED:
        how = "" if hessian is Verdict.PROVED else ", in a warped time"
        sides = "" if d.potential.other_side is None else " on each side of g = 0"
        head = f"{head}{how}; Q{sides} is below"
    yield Part(f"{head}.")
    every = "" if d.direction is None else ", for every dimension d >= 2"
    yield Part(f"Parameterization beta = F(w){every}", setting(d), title="Setting")
    yield Part(*_laws(d), title="Conserved quantities")
    kernel = METRIC if d.direction is None and not depends else "Tangent kernel K = J J^T"
    yield Part(kernel, (OnTerminal((*_kernel(d),)),))
    yield from _questions(d)
    yield from _results(d)
    if d.asked is not None:
        name = d.asked.name.replace("z.beta", "z^T beta")
        form = tell(re.sub(r"(?<=Ansatz )(.*)(?=\))", r"`\1`", name))
        found = d.asked.finding
        told = (*say(f"asked.{found.verdict.value}", form=form), *_finding(found))
        yield Part(ASKED, told, verdict=found.verdict, kind="remark", title=ASKED)


ASKED = "The Ansatz asked for"


def setting(d: Derivation) -> Iterator[object]:
    """Yield F and its start, what is left out of these, and on a page the data and the flow."""
    p, steering = d.parameterization, d.parameterization.geometry.steering
    kind = "one" if d.of_coordinates else "outputs" if d.direction is None else "vector"
    if d.direction is None:
        names = ("F(w)",) if d.of_coordinates else d.beta
        typed = (*say(f"setting.{kind}"), _typed(p, names), *sections.affine_outputs(p))
        yield from (OnTerminal((*sections.outputs(p), *_summary(d))), OnPage(typed))
    else:
        yield from _vector(d, d.direction)
    flow = Text(f"{steering.flow[0].upper()}{steering.flow[1:]}", "reason")
    known = say("setting.flow" if steering.is_gradient else "setting.rates", flow=flow)
    follows = say(f"setting.{kind}_flow", start=_start(d), steering=steering.formula)
    metric = sections.metric_of((d.direction or d).parameterization)
    yield OnPage((*known, *follows, *metric))
    yield from sections.what_stays(d)
    if len(d.blocks) > 1:
        groups = (", ".join(str(d.beta[i]) for i in block.outputs) for block in d.blocks)
        yield OnTerminal((f"independent blocks: {' | '.join(groups)}",))


def _typed(p: Parameterization, names: Sequence[object]) -> Equations:
    """Return F as it was typed, and its weights, if these have other names than w."""
    rows = [*zip(names, p.trees, strict=True)]
    weights = each("{0}", ((Text(w),) for w in p.weights))
    if sum(len(w) + 1 for w in p.weights) > MANY:
        weights = tell("{w}, ...", w=Text(p.weights[0]))
    several = f"({{all}}) in R^{p.p}" if p.weights[1:] else "{all} in R"
    named = [("w", tell(several, all=weights))] if p.weights != ("w",) else []
    return Equations((*rows, *named))


def _start(d: Derivation) -> Sentence:
    """Return the start, a vector by itself where only its norm is named."""
    norms, rows = norms_of(d.direction), list[tuple[object, object]]()
    for w, value in d.parameterization.start:
        name = norms.get(value.name, "") if isinstance(value, Name) and w in norms else ""
        rows.append((Text(norms[w]), Text(name)) if name else (Text(w), value))
    return listing("`{0}(0) = {1}`", rows)


def _vector(d: Derivation, direction: Direction) -> Iterator[object]:
    """Yield beta = phi u, and its start."""
    p, (s,), phi, u = direction.parameterization, d.beta, direction.coefficient, direction.vector
    scalars = [(Text(w),) for w in p.weights if w != direction.norm]
    kind = ("no scalars", "a scalar ", "scalars ")[min(2, len(scalars))]
    named = tell(f"{kind}{{all}}", all=listing("`{0}`", scalars))
    given = {"u": Text(u), "phi": phi, "s": s, "beta": direction.beta}
    yield OnPage((*say("setting.vector", scalars=named, **given),))
    turned = f"the direction of {mark(direction.start_vector)} is free"
    if p.w0[-1].is_zero():
        turned = f"{mark(u)} needs no direction there, as y = {mark(u)}"
    weights, starts = (each(x, ((Text(w), t) for w, t in p.start)) for x in ("{0}", "{0} = {1}"))
    known = {"weights": weights, "n": Text(direction.norm), **given}
    yield OnTerminal(
        (
            note("{beta} = phi {u}, phi = {phi}, {u} in R^d", **given),
            note(ROTATION, **known),
            *sections.metric_of(p),
            note(f"start: {{starts}}; {turned}", starts=starts),
        )
    )


ROTATION = "rotation-equivariant: with {s} = |{beta}| = |phi| {n} all is known from ({weights})"


def _summary(d: Derivation) -> Iterator[object]:
    """Yield the degree of F, the rank of J, and the start."""
    p = d.parameterization
    weights = f"{p.p} weight" + ("" if p.p == 1 else "s")
    rank = f"{p.d}" if p.rank == p.d else f"{p.rank} < {p.d}"
    words = f"{weights}, {{degree}}, J of rank {rank}; start: {{start}}"
    yield note(words, degree=sections.homogeneity(p), start=sections.start_words(p))
    if PI in (*p.parameters, *p.start_symbols):
        yield f"{PI} is the number"


def _laws(d: Derivation) -> tuple[str, list[object]]:
    """Return how many laws there are, and which, and why."""
    conserved, heading = d.conserved, "Conserved quantities: none, the flow reaches every direction"
    if conserved.bound:
        complete = conserved.verdict is Verdict.PROVED
        how_many = "all of them" if complete else f"at most {conserved.bound} exist"
        heading = f"Conserved quantities ({how_many})"
    late = [mark_quoted(conserved.finding.reason)] * (LATE in conserved.finding.reason)
    blocks = d.blocks if d.direction is None else ()
    how = {True: "commute; they span", False: "generate", None: "span or generate at least"}
    why, algebra = list[object](), list[object]()
    for block in blocks:
        words, known = ", ".join(block.lie.words), how[block.lie.commuting]
        fields = f"the fields X_i = grad F_i {known} dimension {block.lie.dimension}: {words}"
        found = [*sections.completeness(d, block)]
        algebra += [fields, *found]
        why += found
    laws = [*sections.named_laws(d)]
    none = say("laws.open" if conserved.bound else "laws.none", bound=conserved.bound)
    on_page = [*(_law_lines(d, laws) if laws else none if why else ()), *why]
    return heading, [OnTerminal((*late, *algebra, Equations((*laws,)))), OnPage((*on_page,))]


def _law_lines(d: Derivation, laws: Sequence[tuple[Symbol, Expr]]) -> Iterator[object]:
    """Yield the laws, and why the flow keeps the first."""
    name, law = laws[0]
    reason = next((x for b in d.blocks if (x := inner_product(law, b, 0)) is not None), None)
    yield from say("laws.are", rows=laws)
    scaled = d.parameterization.geometry == EUCLIDEAN and all(_is_balance(x) for _, x in laws)
    yield from say("laws.balance" if scaled else "laws.whatever")
    if reason is None:
        gradients = "their gradients are" if laws[1:] else "its gradient is"
        yield from say("laws.expansion", gradients=tell(gradients))
        return
    of = d.beta[0] if d.direction is not None else "F" if d.of_coordinates else "F_1"
    if d.direction is not None:
        yield from say("laws.turning", law=name, of=of)
    yield from say("laws.terms", law=name, of=of, terms=reason)
    if laws[1:] or d.parameterization.d > 1:
        yield from say("laws.likewise")


def _is_balance(law: Expr) -> bool:
    """Tell whether a law c is a difference of squared norms: sum_k c_k w_k^2 with c_k = 1, -1.

    As sum_k c_k w_k dF/dw_k = 0 then, F does not change where w_k becomes exp(c_k t) w_k.
    """
    terms = [term.as_coeff_Mul() for term in sympy.Add.make_args(law)]
    squares = all(c**2 == 1 and x.is_Pow and x.exp == 2 and x.base.is_Symbol for c, x in terms)
    return squares and {c for c, _ in terms} == {1, -1}


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
    """Yield whether rho, or g rho, is a Hessian map; on a page where no theorem says more."""
    hessian, told = d.hessian.verdict, d.verdict is Verdict.REFUTED or d.potential.pieces

    def part(heading: str, lines: Iterable[object], verdict: Verdict | None = None) -> Part:
        return Part(heading, (OnTerminal((*lines,)),) if told else lines, verdict=verdict)

    if sections.dependent(d):
        of = "that are not left out" if d.idle or d.ties else ""
        heading = f"Relations among the outputs, for all weights {of}".rstrip()
        yield part(heading, _relations(d))
    else:
        lines = (OnPage(("let `rho = K^-1`",)), *_finding(d.hessian.finding))
        yield part("Hessian map (`d_k rho_ij = d_i rho_kj`)?", lines, hessian)
        if hessian is not Verdict.PROVED:
            yield part("Warp `g` with `g rho` a Hessian map?", _warp(d), d.warping.verdict)
    if d.warping.verdict is not Verdict.REFUTED and not d.potential.pieces:
        finding = d.potential.finding
        yield Part("Implicit regularizer `Q`", (finding,), verdict=finding.verdict)


def _relations(d: Derivation) -> Iterator[object]:
    """Yield what holds of outputs that move together, and why no Q is for all data."""
    for found in sections.dependent(d):
        yield Equations(tuple((relation, 0) for relation in found.relations))
        if found.missing:
            relations = "one more" if found.missing == 1 else f"{found.missing} more"
            yield note(f"{relations}, of which no polynomial in `beta` was found")
        yield note(
            f"`K` is singular and `rho` is not defined: of the {found.outputs} dimensions of the"
            f" steering `lambda` `beta` follows {found.rank}"
        )
    yield note(
        "`grad Q(beta) - grad Q(beta_0)` in the row space of every `X` asks for"
        " `<grad y_i, grad F_j> = g delta_ij`, `g > 0`; but `sum_j n_j grad F_j = 0` for some"
        " `n != 0`, so `g n_i = 0` for all `i`"
    )


def _warp(d: Derivation) -> Iterator[object]:
    finding, g = d.warping.finding, d.warping.g
    yield from _finding(finding)
    if g is not None:
        yield Equations((("g", g),))
    elif finding.verdict is Verdict.PROVED:
        yield note("`g = exp` of the integral of `H`, `H_a = <grad F_a, grad log g>`:")
        for block in d.blocks:
            pairs = zip(block.parameterization.labels, block.warping.H or (), strict=False)
            weights = block.notation.weights
            yield Equations(tuple((f"H{i}", to_shorter_expr(h, weights)) for i, h in pairs))


def _finding(finding: Finding) -> Iterator[object]:
    yield from (finding, *(e for e in finding.evidence if not e.holds))


def _results(d: Derivation) -> Iterator[Part]:
    """Yield Q, or that there is none, with its proof, and what follows for other losses."""
    if d.verdict is Verdict.REFUTED:
        failure = failing(d.warping.finding.evidence)
        start = "`w_0`" if failure is None else values_at(failure)
        claim = (*_model(d), *say("theorem.refuted", start=start))
        title = "No implicit regularizer `Q`"
        yield Part(title, _with_letters(d, claim), kind="theorem", label=LABEL)
        yield Part("Proof", refuted_proof(d), kind="proof")
    elif d.potential.pieces:
        verdict, title = d.potential.finding.verdict, "Implicit regularizer `Q`"
        theorem = _with_letters(d, _theorem(d))
        yield Part(title, theorem, verdict=verdict, label=LABEL, title=title)
        yield Part("Proof", proof_lines(d), kind="proof")
        yield Part("", (OnPage((d.potential,)),), kind="formula")
        yield Part(*sections.other_losses(d), kind="remark")


LABEL = "thm:regularizer"


LETTERS = {
    "leaf": re.compile("leaf"),
    "kernel": re.compile(rf"(?<![A-Za-z{MARK}])([KJ](?![A-Za-z])|rho)"),
    "rho": re.compile(f"(?<!{MARK})rho"),
    "steering": re.compile(f"(?<!{MARK})lambda"),
}
"""What letters of the setting look like, by the texts that define them."""


def _with_letters(d: Derivation, theorem: Iterable[object]) -> Iterator[object]:
    """Yield a theorem, which may stand alone, and what the letters of the setting are in it."""
    yield from (lines := [*theorem])
    whole = " ".join(text_lines(lines, OnPage))
    steering = d.parameterization.geometry.steering.formula
    letters = [
        (*say(f"theorem.{name}", steering=steering),)
        for name, pattern in LETTERS.items()
        if pattern.search(whole)
    ]
    if letters:
        yield OnPage((*say("theorem.letters", letters=listing("{0}", letters)),))


def _model(d: Derivation, start: object = "") -> Iterator[object]:
    """Yield the model in a sentence, as far as it is short: a theorem stands alone."""
    p, G = d.parameterization, d.parameterization.geometry
    if d.direction is not None:
        phi, u = d.direction.coefficient, Text(d.direction.vector)
        words = "`{b} = phi {u}` with `phi = {phi}`" if re.search("[-+/]", to_text(phi)) else SIMPLE
        F = tell(words, b=d.direction.beta, phi=phi, u=u)
    elif sum(len(to_text(tree)) for tree in p.trees) > LONG:
        F = tell("`beta = F(w)`, as above,")
    elif d.of_coordinates:
        F = tell("`beta_i = F(w_i)` with `F(w) = {F}`", F=p.trees[0])
    else:
        F = listing("`{0} = {1}`", zip(d.beta, p.trees, strict=True))
    rates = ", at their rates" * bool(G.trees and G.steering.is_gradient)
    flow = Text(G.steering.flow, "reason")
    yield OnPage((*say("theorem.model", F=F, flow=flow, rates=rates, start=start),))


SIMPLE = "`{b} = {phi} {u}`"


def _theorem(d: Derivation) -> Iterator[object]:
    """Yield the assumptions, Q with the names in it, where it lives, and what it is for."""
    short = len(d.parameterization.start) < 4
    yield from _model(d, tell(", from {start}", start=_start(d) if short else "`w_0`"))
    pieces, opposite = d.potential.pieces, d.potential.other_side
    assumed = dict.fromkeys(a for piece in pieces for a in piece.assumptions)
    put = {str(symbol) for piece in pieces for symbol, _ in piece.constants}
    late = [a for a in assumed if put & a.names]
    yield from _assumed([a for a in assumed if a not in late])
    if d.direction is not None:
        yield OnPage((*say("theorem.length", s=d.beta[0], beta=d.direction.beta),))
    yield from (lines := [*sections.potential_lines(d.potential, "eq:Q")])
    if opposite is not None:
        more = ((a,) for piece in opposite.pieces for a in piece.assumptions if a not in assumed)
        there = [*sections.potential_lines(opposite)]
        yield OnPage((*say("theorem.other_side", assumed=listing("{0}", more)), *there))
        known = {*text_lines(lines)}
        rest = [x for x in text_lines(there) if x not in known]
        why = mark_quoted(d.potential.finding.reason)
        yield OnTerminal(("On the other side:", *rest, why) if rest else ())
    yield from _assumed(late)
    yield OnPage((*_use(d),))
    yield OnTerminal((*_roads(d),))
    yield sections.normalization(d)
    yield from d.says("minimiser")
    yield OnPage((*_clock(d),))


def _clock(d: Derivation) -> Iterator[object]:
    """Yield in which time beta follows a mirror flow, if not in its own."""
    if d.hessian.verdict is Verdict.REFUTED:
        g = d.warping.g
        shown = "" if g is None else ", `g` as below" if len(str(g)) > LONG / 2 else ", `g = {g}`"
        yield from say("theorem.clock", g=tell(shown, g=g))


def _assumed(what: Sequence[Condition]) -> Iterator[object]:
    if what:
        yield OnPage((*say("theorem.assume", assumed=listing("{0}", ((c,) for c in what))),))


def _use(d: Derivation) -> Iterator[object]:
    """Yield what the gradient of Q does along the flow, and where Q lives."""
    steering = d.parameterization.geometry.steering
    yield from say("theorem.row_space" if steering.is_gradient else "theorem.steepest")
    domains = [piece.domain for piece in d.potential.pieces if piece.domain is not None]
    if domains:
        where, convex = (
            listing("{0}", ((Text(x, "reason"),) for x in dict.fromkeys(words)))
            for words in (
                (domain.where for domain in domains),
                (CONVEX[domain.convex].replace(" (below)", "") for domain in domains),
            )
        )
        yield tell("`Q` is defined on {where}; {convex}", where=where, convex=convex)
    if d.direction is not None and d.metric.kernel is not None:
        yield from say("theorem.R", R=d.metric.kernel[1, 1])
    if steering.is_gradient and d.of_coordinates:
        yield from say("theorem.copies")


def _roads(d: Derivation) -> Iterator[str]:
    """Yield the roads that gave the same Q."""
    for name, block in zip(sections.part_names(d.blocks), d.blocks, strict=True):
        roads = [r.name for r in block.roads if r.finding.verdict is Verdict.PROVED]
        which = f" on {name}" if len(d.blocks) > 1 else ""
        words = f"Roads that agree{which}: " if len(roads) > 1 else f"Road{which}: "
        several = len({form.road for form in block.potential.forms}) > 1
        shortest = "; of several forms the shortest is printed" * several
        if roads:
            yield words + "; ".join(map(mark_quoted, roads)) + shortest
