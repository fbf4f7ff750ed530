"""Explicit counterparts told."""

from __future__ import annotations

from collections.abc import Iterator

from sympy import Symbol

from derive.explicit.counterpart import BlockCounterpart, ExplicitCounterpart
from derive.model.labels import taken_names
from derive.model.notation import Notation
from derive.render.narration import Narration, Part, part
from derive.statement import Text, each, note, tell
from derive.verdict import Verdict


def tell_explicit(found: ExplicitCounterpart) -> Narration:
    """Return what is said of explicit counterparts."""
    p = found.parameterization
    whole = "" if found.verdict is Verdict.PROVED else " in part"
    head = Part(f"What explicit l2 regularization of the weights gives, proved{whole}.")
    given: list[object] = [p]
    if p.vectors:
        names = each("`{0}`", ((Symbol(v.name),) for v in p.vectors))
        kind = "vectors" if len(p.vectors) > 1 else "a vector"
        length = f"{{names}} {kind} of any dimension; `s = |beta| = |{{F}}|`"
        given.append(note(length, names=names, F=p.trees[0]))
    blocks = (section for block in found.blocks for section in _parts(found, block))
    values = part("Values, in balls", found.says("value"))
    setting = part("Parameterization `beta = F(w)`", given)
    return Narration((head, setting, *blocks, values), taken_names(p))


def _parts(found: ExplicitCounterpart, block: BlockCounterpart) -> Iterator[Part]:
    betas = Notation(found.parameterization, block.outputs).betas
    of = each(", `{0}`", ((b,) for b in betas if len(found.blocks) > 1), "")
    distance, cost, *others = found.of_block(block)
    pairs = (("R", "|w - w_0|", distance, block.distance), ("R_F", "|w|", cost, block.cost))
    for name, length, told, minimum in pairs:
        heading = tell(f"`{name} = min {length}^2` subject to `F(w) = beta`{{of}}", of=of)
        yield part(heading, (told,), verdict=minimum.verdict)
    asked = tell("Is `R` the implicit regularizer `Q` of gradient flow{of}?", of=of)
    beside = (s for s in others if s.kind in ("R beside Q", "R and Q in numbers"))
    verdict = block.contrast.finding.verdict
    yield part(asked, beside, verdict=verdict, title="Comparison with `Q`")
    for limit, s in zip(block.limits, (s for s in others if s.kind == "scale limit"), strict=True):
        start = each("`{0}`", ((Symbol(name),) for name in limit.start))
        what = Text(limit.statement, "reason")
        heading = tell(f"`{{start}} -> {limit.goal}`: {{what}}", start=start, what=what)
        yield part(heading, (s,), verdict=limit.finding.verdict, title="Limit")
