"""What is said of each record but a derivation: its statements, under headings, with proofs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sympy import Symbol

from derive.comparison import SCALE
from derive.folder import read_table
from derive.language import parse_expression
from derive.model.labels import taken_names
from derive.model.notation import Notation
from derive.outcome import CUT, Outcome, headline
from derive.render.derivation import setting
from derive.render.document import Document, Kind, Part
from derive.render.sections import entries, norms_of, parts_of_growing, parts_of_limits
from derive.statement import (
    Equations,
    Ground,
    Note,
    OnPage,
    OnTerminal,
    Open,
    Sentence,
    Statement,
    Table,
    Text,
    each,
    note,
    tell,
)
from derive.verdict import Verdict

if TYPE_CHECKING:
    from derive.comparison import Column, Comparison
    from derive.derivation import Derivation
    from derive.explicit.fibre_cost import FibreCost
    from derive.explicit.regularize import BlockCounterpart, ExplicitCounterpart
    from derive.inverse.design import Coordinate, InverseDesign
    from derive.limits.find import Regimes
    from derive.limits.random_width import RandomWidth
    from derive.optimizers.optimizer import Optimizer, Optimizers
    from derive.optimizers.pushed import PushedDerivation
    from derive.optimizers.saddle_path import SaddlePath
    from derive.perturbed.record import Perturbation
    from derive.printable import Shown
    from derive.separable.find import Margins, SharedMargins
    from derive.univariate.problem import VariationalProblem

F = "Parameterization `beta = F(w)`"
ACCOUNTS: Mapping[str, Sequence[Mapping[str, Any]]] = read_table(__file__, "accounts.toml")
"""Under which heading the claims of a record stand."""


def claims_of(record: Any, **names: object) -> Iterator[Part]:
    """Yield the parts in which a record makes its claims; in headings there are some names."""
    for row in ACCOUNTS[type(record).__name__]:
        if not (claims := record.says(*row["says"])):
            continue
        proved = row.get("theorem") and isinstance(claims[0], Statement)
        yield Part(
            tell(row["heading"], **names),
            claims,
            verdict=attrgetter(row["verdict"])(record) if "verdict" in row else None,
            kind="theorem" if proved else "paragraph",
            label=row.get("label", ""),
            title=row.get("title", ""),
        )
        if "proof" in row:
            yield Part("", (OnPage((*proofs(claims),)),), kind="proof")


def proofs(claims: Iterable[Statement | Open]) -> Iterator[object]:
    """Yield the lines that show why."""
    for claim in claims:
        yield from claim.proof if isinstance(claim, Statement) else ()


def on_derivation(record: Any, first: Part, *more: str, **names: object) -> Document:
    """Return a document on what is claimed of a derivation, with some more names given."""
    d = record.derivation
    parts = (first, Part(F, setting(d)), *claims_of(record, **names))
    return of_derivation(d, parts, *more)


def of_derivation(d: Derivation, parts: Sequence[Part], *more: str) -> Document:
    """Return a document on a derivation, in its names and some more."""
    return Document(parts, taken_names(d.parameterization, more), norms_of(d.direction))


def tell_part(part: Shown) -> Document:
    """Return what is said of a part of a derivation: why, and its formulas."""
    finding = getattr(part, "finding", None)
    return Document((Part("", (*filter(None, (finding,)), part)),))


def tell_outcome(o: Outcome) -> Document:
    """Return what is said of a verdict that had no time for more: F, and why."""
    why: list[object] = [o.finding if o.potential is None else o.potential]
    why += () if o.failure is None else (o.failure,)
    parts = (
        Part(headline(o.verdict, o.parameterization), (o.parameterization,)),
        Part("Implicit regularizer `Q`", why, verdict=o.verdict),
        Part("The rest", (note(CUT),)),
    )
    return Document(parts, taken_names(o.parameterization))


def tell_pushed(d: PushedDerivation) -> Document:
    """Return what is said of a flow that is no gradient flow: what it keeps, and whether of Q."""
    p = d.parameterization
    head = f"Undecided: what {p.flow} on `F` does to `beta`"
    if d.verdict is Verdict.REFUTED:
        head = f"No: {p.flow} on `F` is no mirror flow of `beta`"
    verdict = Verdict.PROVED if d.laws.verdict is Verdict.REFUTED else d.laws.verdict
    parts = (
        Part(head),
        Part(F, (p.plain, note(p.statement))),
        Part("Conserved quantities: are there none?", d.says("conserved"), verdict=verdict),
        Part("Implicit regularizer `Q`", d.says("mirror flow"), verdict=d.verdict),
    )
    return Document(parts, taken_names(p.plain))


def tell_regimes(r: Regimes) -> Document:
    """Return what is said of the regimes of a derivation."""
    d, clock = r.derivation, r.says("clock runs", "clock is onto", "clock is bounded")
    g = () if not clock or d.warping.g is None else (Equations((("g", d.warping.g),)),)
    start: list[object] = []
    if r.vector:
        x, y = d.beta
        along = "`{along}` is the component of `beta` along `{u}` at the start"
        rest = "`{rest}` the length of the rest, in every dimension"
        start.append(note(f"{along}, {rest}", u=Symbol(r.vector), along=x, rest=y))
    start += r.says("start kernel", "homogeneous", "time scale", "graded", "ruling weights")
    start += r.says("kernel decides")
    parts = (
        Part(tell("Regimes of `Q` in `{x}`", x=Symbol(r.variable))),
        Part(F, setting(d)),
        Part("Start", start),
        Part("The regularizer", (OnPage(d.says("regularizer")),), kind="theorem"),
        *parts_of_limits(r),
        *parts_of_growing(r),
        Part("What is minimised", d.says("one row")),
        Part("Warped time `tau(t) = int_0^t g ds`", (*g, *clock)),
    )
    u = r.vector
    norms = {f"norm_{u}_0": f"{u}_0", f"norm_{u}": u} if u else {}
    return replace(of_derivation(d, parts, r.variable), norms=norms)


def tell_comparison(c: Comparison) -> Document:
    """Return models side by side: tables of what has a name, then F, Q, K and steps of each."""
    count = f"{len(c.columns)} models" if c.columns[1:] else c.columns[0].label
    parts = [Part(f"{count}, side by side", (_beside(c.columns),))]
    for heading, lines in OF_EACH.items():
        told = [(note(f"of {m.label}:"), *found) for m in c.columns if (found := [*lines(m)])]
        parts += map(Part, (heading, *repeat("", len(told) - 1)), told)
    ds = [m.derivation for m in c.columns]
    taken = frozenset[str]().union(*(taken_names(d.parameterization, (SCALE,)) for d in ds))
    return Document(parts, taken, {k: v for d in ds for k, v in norms_of(d.direction).items()})


def _beside(columns: Sequence[Column]) -> Table:
    points = dict.fromkeys(x.point for m in columns if m.regimes for x in m.regimes.limits)
    rows = [(says, *map(cell, columns)) for says, cell in BESIDE.items()]
    for point in points:
        limits = (m.regimes.limits if m.regimes else () for m in columns)
        rows.append(
            (point, *(next((x.regime for x in found if x.point == point), "-") for found in limits))
        )
    return Table(("", *(m.label for m in columns)), tuple(rows))


def _warp_beside(m: Column) -> object:
    warping, g = m.derivation.warping, m.derivation.warping.g
    if warping.verdict is not Verdict.PROVED:
        return "none" if warping.verdict is Verdict.REFUTED else "not known"
    return "not needed" if g == 1 else "an integral" if g is None else g


def _kernel_beside(m: Column) -> Iterator[object]:
    K, named = m.named_kernel
    yield Equations((*entries(m.derivation, "K", K), *named))


DRIFTS = {
    Verdict.PROVED: "by the laws",
    Verdict.REFUTED: "by `beta` too",
    Verdict.UNDECIDED: "not known",
}
BESIDE: Mapping[str, Callable[[Column], object]] = {
    "`Q` exists": lambda m: m.derivation.verdict.value.lower(),
    "form of `Q`": lambda m: m.derivation.potential.kind or "-",
    "warp `g`": _warp_beside,
    "horizon of `Q`": lambda m: (
        tell(f"`{m.margins.shape.norm}`")
        if m.margins.shape.norm
        else m.margins.horizon or "not known"
    ),
    # where there are none of these, REFUTED says that there is no Q
    "drift in a step": lambda m: (
        DRIFTS[m.step.verdict] if m.step and (m.step.of_laws or m.step.of_dual) else "-"
    ),
}
"""The rows of the table of models beside one another, before the limits of Q."""
OF_EACH: Mapping[str, Callable[[Column], Iterable[object]]] = {
    "Parameterization `beta = F(w)`": lambda m: (m.derivation.parameterization,),
    "Implicit regularizer `Q`": lambda m: (
        (OnTerminal((m.derivation.potential,)), OnPage(m.derivation.says("regularizer")))
        if m.derivation.potential.pieces
        else m.derivation.says("mirror flow")
    ),
    "Tangent kernel `K = J J^T`": _kernel_beside,
    "One step `w_next = w - eta sum_a G_a grad F_a`": lambda m: (
        m.step.says("drift") if m.step else ()
    ),
}
"""What is written of each model, under a heading for all."""


def tell_width(r: RandomWidth) -> Document:
    """Return what is said of wide random starts."""
    (unit,), k = r.unit.trees, r.width
    drawn = note("weights at the start: independent, `N(0, {s}^2)`", s=r.deviation)
    heading = tell("Regimes of the sum of `{k}` copies of `F`, from random starts", k=k)
    first = Part(heading, (Equations((("F", unit),)), drawn))
    return Document((first, *claims_of(r, k=k), *parts_of_limits(r)))


def tell_explicit(found: ExplicitCounterpart) -> Document:
    """Return what is said of explicit counterparts."""
    p = found.parameterization
    whole = "" if found.verdict is Verdict.PROVED else " in part"
    given: list[object] = [p]
    if p.vectors:
        names = each("`{0}`", ((Symbol(v.name),) for v in p.vectors))
        kind = "vectors" if len(p.vectors) > 1 else "a vector"
        length = f"{{names}} {kind} of any dimension; `s = |beta| = |{{F}}|`"
        given.append(note(length, names=names, F=p.trees[0]))
    parts = (
        Part(f"What explicit l2 regularization of the weights gives, proved{whole}."),
        Part(F, given),
        *(section for block in found.blocks for section in _counterpart(found, block)),
        Part("Values, in balls", found.says("value")),
    )
    return Document(parts, taken_names(p), {v.norm: v.name for v in p.vectors})


def _counterpart(found: ExplicitCounterpart, block: BlockCounterpart) -> Iterator[Part]:
    betas = Notation(found.parameterization, block.outputs).betas
    of = each(", `{0}`", ((b,) for b in betas if len(found.blocks) > 1), "")
    distance, cost, *others = found.of_block(block)
    pairs = (("R", "|w - w_0|", distance, block.distance), ("R_F", "|w|", cost, block.cost))
    for name, length, told, minimum in pairs:
        heading = tell(f"`{name} = min {length}^2` subject to `F(w) = beta`{{of}}", of=of)
        yield Part(heading, (told,), verdict=minimum.verdict)
    asked = tell("Is `R` the implicit regularizer `Q` of gradient flow{of}?", of=of)
    beside = (s for s in others if s.kind in ("R beside Q", "R and Q in numbers"))
    verdict = block.contrast.finding.verdict
    yield Part(asked, beside, verdict=verdict, title="Comparison with `Q`")
    for limit, s in zip(block.limits, (s for s in others if s.kind == "scale limit"), strict=True):
        start = each("`{0}`", ((Symbol(name),) for name in limit.start))
        heading = tell("`{start} -> 0`: `R -> R_F`", start=start)
        yield Part(heading, (s,), verdict=limit.finding.verdict, title="Limit")


def tell_fibre(f: FibreCost) -> Document:
    """Return what is said of another cost over the weights."""
    parts = (
        Part("The least cost of weights with `F(w) = beta`"),
        Part(F, (f.parameterization,)),
        *claims_of(f),
    )
    return Document(parts, taken_names(f.parameterization))


def tell_shared_margin(m: SharedMargins) -> Document:
    """Return what is said of separable data where outputs share weights."""
    p = m.parameterization
    head = Part(f"{p.flow[0].upper()}{p.flow[1:]} on separable data, under an exponential loss")
    parts = (head, Part(F, (p.plain, note(p.statement))), *claims_of(m))
    return Document(parts, taken_names(p.plain))


def tell_margin(m: Margins) -> Document:
    """Return what is said of separable data."""
    steering = m.derivation.parameterization.geometry.steering
    flow = f"{steering.flow[0].upper()}{steering.flow[1:]}"
    first = Part(f"{flow} on separable data, under losses that decrease")
    plain = "|w|^2" if m.weights.square is None else "sum_k w_k^2/r_k"
    size = tell(plain if steering.is_gradient else "|w|_p")
    norm = tell(f": `{m.shape.norm}`" if m.shape.norm else "")
    alone = not steering.is_gradient and m.norm
    margin = tell(f": the margin in `{m.norm}`" if alone else "")
    return on_derivation(m, first, size=size, norm=norm, margin=margin)


ADDED = {"decay": "weight decay", "momentum": "momentum", "step": "finite steps", "noise": "noise"}
ASKED = "Do laws `c` and dual coordinates `y` drift by functions of `c` alone?"
STEERED = "Does the penalty move the weights as a loss of `beta` does?"


def tell_perturbation(v: Perturbation) -> Document:
    """Return what is said of a perturbation."""
    from derive.perturbed.continuous import STEERING

    *most, last = (ADDED[kind] for kind in v.kinds)
    name = f"{', '.join(most)} and {last}" if most else last
    flow = "mirror descent" if v.process == "mirror" else "preconditioned gradient descent"
    of = "" if v.derivation.parameterization.geometry.psi is None else f", of {flow}"
    first = Part(f"{name}{of}".capitalize(), (note(_process(v)), *_letters(v)))
    return on_derivation(v, first, asked=tell(STEERED if v.closed == STEERING else ASKED))


def _process(v: Perturbation) -> str:
    """Return the equation of what is perturbed."""
    kinds, mirrored = v.kinds, v.process == "mirror"
    x, gradient = ("theta", "dF_a") if mirrored else ("w", "grad F_a")
    pushed = ("Hess psi w" if mirrored else "w") if v.penalty is None else "grad h"
    if v.penalty is not None and mirrored:
        pushed = "dh"
    decay, momentum = "decay" in kinds, "momentum" in kinds
    if "step" in kinds:
        force = f"(sum_a G_a {gradient} + k {pushed})" if decay else f"sum_a G_a {gradient}"
        last = f" + mu ({x} - {x}_before)" * momentum
        process = f"`{x}_next = {x} - eta {force}{last}`, with any gradient `G = X^T r`"
    elif "noise" in kinds:
        left = f"lam d{x}' + d{x}" if momentum else f"d{x}"
        noise = f"sum_a (lambda dt + X^T sigma dB)_a {gradient}"
        process = f"`{left} = {noise}{f' - k {pushed} dt' * decay}`, in the sense of Ito"
    else:
        left = f"lam {x}'' + {x}'" if momentum else f"{x}'"
        process = f"`{left} = sum_a lambda_a {gradient}{f' - k(t) {pushed}' * decay}`"
    return process + ", `theta = grad psi(w)`" * mirrored + ", from rest" * momentum


def _letters(v: Perturbation) -> Iterator[Note | OnTerminal]:
    """Yield what is meant by letters in the statements below."""
    d = v.derivation
    if d.parameterization.geometry.psi is not None:
        other = "preconditioned" if v.process == "mirror" else "mirror"
        yield note("`dF_a`: the differential, and `grad F_a = (Hess psi)^-1 dF_a`")
        yield OnTerminal((f"the other process of this flow: --process {other}",))
    if v.penalty is not None:
        yield note("decay by the penalty `h = {h}`", h=v.penalty)
    if d.direction is not None:
        u, a, b = (Symbol(f"{d.direction.vector}{i}") for i in ("", 1, 2))
        yield note("`{u} = ({a}, {b})` in the plane of `{u}` and of what moves it", u=u, a=a, b=b)
        if v.by == "noise":
            yield note("where `{b} = 0`, coordinate 2 is any across `{u}`", u=u, b=b)
    if d.parameterization.affine:
        yield note(
            "`X` below is `X M`, where `beta = M beta' + b` for the outputs `beta'` that are kept"
        )


tell_run = partial(on_derivation, first=Part("A training run against the flow of `F`"))
tell_order = partial(
    on_derivation, first=Part("Loss weights and the order of batches, on given data")
)


def tell_path(s: SaddlePath) -> Document:
    """Return what is said of the path from saddle to saddle."""
    first = Part(tell("From saddle to saddle, as `{x} -> 0`", x=Symbol(s.variable)))
    return on_derivation(s, first, s.variable)


HEADS = {
    Verdict.PROVED: "Yes: gradient flow on F below has the implicit regularizer Q.",
    Verdict.REFUTED: "No: a mirror potential of gradient flow is strictly convex.",
    Verdict.UNDECIDED: "Undecided: no closed form of F was found and proved.",
}


CURVED = "No: no F with as many weights as outputs has it without a warp."


def tell_inverse(design: InverseDesign) -> Document:
    """Return what is said of a design; beta and w are the letters of these pages."""
    terms, own = (c.term for c in design.coordinates), ("beta", "w")
    names = (n for t in terms for n in (*t.parameters, t.variable) if not n.startswith(own))
    parts = (p for c in design.coordinates for p in _coordinate(design, c))
    refused = any(c.finding.verdict is Verdict.REFUTED for c in design.coupled)
    head = CURVED if refused else HEADS[design.verdict]
    sums = (
        "in coordinates `u`, `beta = B u`, `Q` is a sum; of data `X` the rows of `X B` are those:",
        Equations(design.change),
    )
    return Document((Part(head, sums if design.change else ()), *parts), frozenset(names))


def _coordinate(design: InverseDesign, c: Coordinate) -> Iterator[Part]:
    second = () if c.second is None else (("Q''", c.second),)
    given = OnPage(("let",)), Equations((("Q", c.term.tree), *second))
    claims = [s for s in design.statements if s.about == c.term.variable]
    yield Part("Parameterization", (*given, *claims), verdict=c.finding.verdict)
    for claim in claims:
        if isinstance(claim, Statement) and claim.proof:
            yield Part("", claim.proof, kind="proof")


def tell_optimizer(o: Optimizer) -> Document:
    """Return what is said of one optimizer."""
    heads = (
        ("What the iterates span", "span", o.span),
        ("Losses with a finite root", "optimizer limit", o.finite),
        ("Decreasing losses, at every step", "iterates", o.margins),
    )
    parts = (
        Part(f"{o.update.id}: {o.update.title}"),
        Part("Update, coordinate by coordinate", _update(o)),
        *(
            Part(head, (x for s in o.says(kind) for x in (s, *proofs((s,)))), verdict=f.verdict)
            for head, kind, f in heads
        ),
        Part("Exponential tails", o.says("tail")),
    )
    return Document(parts)


def tell_optimizers(found: Optimizers) -> Document:
    """Return the table of what a limit minimises, and of what is cited of tails."""
    rows = tuple(
        (o.update.id, o.word, (o.update.tail or {}).get("norm", ""), Sentence(o.finite.reason))
        for o in found.found
    )
    head = ("optimizer", "law", "tails", "a limit with `X w = y`")
    heading = "Optimizers on `X w`: what limits minimise; tails: largest margins, cited"
    return Document((Part(heading, (Table(head, rows),)),))


def _update(o: Optimizer) -> Iterator[object]:
    u = o.update
    yield Equations(tuple((f"{x}_next", parse_expression(text)) for x, text in u.update.items()))
    starts = ((Symbol(x), 0 if s == "0" else Symbol(s)) for x, s in u.state.items())
    yield note("start: {starts}", starts=each("`{0} = {1}`", starts))
    free = f", `{'`, `'.join(u.signed)}` of any sign," if u.signed else ""
    yield note(f"`g = X^T l'(X w)`, scalars are positive{free} and may change at each step")
    if u.norm:
        yield note(f"`d` is minus the step of steepest descent in `l{u.norm}`; `eta` is small")
    if u.potential:
        yield note("`z = psi'(w)`, `psi = {psi}`", psi=parse_expression(u.potential))
    if u.where:
        yield note(u.where)


def tell_univariate(p: VariationalProblem) -> Document:
    """Return what is said of univariate nets; a limit that is formal is no theorem."""
    (limit,) = p.statements
    kind: Kind = "theorem" if limit.ground is Ground.CITED else "paragraph"
    net = "Univariate shallow net of width `n`, trained by mirror flow"
    words = "Liang and Montúfar ({source}), implicit bias of mirror flow"
    source = note(words, source=Text("liang-slides", "cited"))
    parts = (
        Part(net, _setting(p)),
        Part("The limit", p.statements, kind=kind),
        Part("Derivation", limit.proof),
        Part("Source", (source,)),
    )
    return Document(parts)


def _setting(p: VariationalProblem) -> Iterator[object]:
    from derive.univariate.problem import shown

    sigma = "max(z, 0)" if p.activation.odd else "|z|"
    way = "n^-2 sum phi(n (theta - theta(0)))" if p.scaled else "sum phi(theta - theta(0))"
    signs = "`w_j` is `1` or `-1`"
    yield note(f"`f(x) = sum_j a_j sigma(w_j x - b_j) + d`, `sigma(z) = {sigma}`, {signs}")
    text, square = p.density.text, f"`E b^2 = {shown(p.density.moment(2))}`"
    density = text if text.isalpha() else f"`{text}`"
    yield note(f"biases `b_j` from the density `p`: {density}, {square}")
    yield note(f"potential `{way}`, `phi = {{phi}}`", phi=Text(p.potential.text))
