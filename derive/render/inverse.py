"""An inverse design told, and as a JSON record: by what was found of each term."""

from __future__ import annotations

from collections.abc import Iterator

from derive.inverse.design import Coordinate, InverseDesign, claims
from derive.render.narration import Narration, Part, part
from derive.statement import Equations, OnPage, Statement
from derive.verdict import Verdict

HEADS = {
    Verdict.PROVED: "Yes: gradient flow on F below has the implicit regularizer Q.",
    Verdict.REFUTED: "No: a mirror potential of gradient flow is strictly convex.",
    Verdict.UNDECIDED: "Undecided: no closed form of F was found and proved.",
}


def tell_design(design: InverseDesign) -> Narration:
    """Return what is said of a design; beta and w are the letters of these pages."""
    terms = (c.term for c in design.coordinates)
    own = ("beta", "w")
    names = (n for t in terms for n in (*t.parameters, t.variable) if not n.startswith(own))
    parts = (p for c in design.coordinates for p in _parts(c))
    return Narration((Part(HEADS[design.verdict]), *parts), frozenset(names))


def _parts(c: Coordinate) -> Iterator[Part]:
    verdict = c.finding.verdict
    second = () if c.second is None else (("Q''", c.second),)
    given = OnPage(("let",)), Equations((("Q", c.term.tree), *second))
    found = [*claims(c)]
    yield part("Parameterization", (*given, *found), verdict=verdict)
    for claim in found:
        if isinstance(claim, Statement) and claim.proof:
            yield part("", claim.proof, kind="proof")
