"""Write the proof of a representation cost: a bound on |w|^2, and weights that attain it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from itertools import islice, product

from flint import fmpq

from derive.certificate.checking.check import FORMAT, VERSION
from derive.certificate.checking.further import cost as checking
from derive.certificate.checking.shape import keys_of
from derive.certificate.checking.signs import Conditions
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, NotACertificate, Rejected
from derive.certificate.writing.bounds import Proposal, proposals
from derive.certificate.writing.products import text_of
from derive.certificate.writing.roots import Roots
from derive.explicit.constrained import ConstrainedProblem
from derive.explicit.counterpart import ExplicitCounterpart
from derive.explicit.minimum import CriticalRoot

TRIED, POINTS = 60, 20_000
FAULTS = (Rejected, NotACertificate, ValueError, ArithmeticError, KeyError)


def certify_costs(found: ExplicitCounterpart, record: JSON, seconds: float) -> JSON:
    """Return the record of explicit costs with its certificate, which has the proofs of R_F.

    Of an R_F that is certified the record says what the certificate is about, and nothing else.
    """
    given, blocks, proofs = record["parameterization"], [], list[JSON]()
    end = time.monotonic() + seconds
    for block, entry in zip(found.blocks, record["blocks"], strict=True):
        problem = block.cost.problem if isinstance(block.cost, CriticalRoot) else None
        said = _brief(entry["R_F"])
        late = given["vector"] or time.monotonic() >= end
        proofs.append(None if late else _proof(problem, given, entry, said))
        blocks.append(entry if proofs[-1] is None else {**entry, "R_F": said})
    head = {"format": FORMAT, "version": VERSION}
    return {**record, "blocks": blocks, "certificate": {**head, "blocks": proofs}}


def _brief(said: JSON) -> JSON:
    branches = [{k: x[k] for k in keys_of("branch")} for x in said["branches"]]
    return {**{k: said[k] for k in keys_of("R_F")}, "branches": branches}


def _proof(problem: ConstrainedProblem | None, given: JSON, block: JSON, said: JSON) -> JSON:
    """Return the proof of a cost that the checker accepts, or None."""
    if problem is None or said["verdict"] != "PROVED":
        return None
    try:
        cost = checking.Cost(given, block["outputs"], said["variables"])
        proof = [_first(problem, cost, branch, said) for branch in checking.branches(said)]
        checking.proved(cost, said, proof)
    except FAULTS:
        return None
    return proof


def _first(problem: ConstrainedProblem, cost: checking.Cost, branch: JSON, said: JSON) -> JSON:
    """Return the sides of a branch by the first proposal that the checker accepts."""
    for proposal in islice(proposals(problem, cost, branch), TRIED):
        try:
            sides = _sides(cost, proposal, branch)
            for side in sides:
                cost.side(side, branch["closed_form"])
            return sides
        except FAULTS:
            continue
    raise Rejected("no proof of the cost was found")


def _sides(cost: checking.Cost, proposal: Proposal, branch: JSON) -> JSON:
    """Return a side of a branch for each choice of the signs of linear forms."""
    where = checking.between(branch, cost.betas)
    forms = list(_odd(cost, proposal)) if branch["closed_form"] is not None else []
    forms = [
        f for f in forms if not any(w.removesuffix(s) == f for w in where for s in (" < 0", " > 0"))
    ]
    found = []
    for signs in product((" < 0", " > 0"), repeat=len(forms)):
        conditions = [*where, *(f + sign for f, sign in zip(forms, signs, strict=True))]
        found.append(_side(cost, proposal, branch["closed_form"], conditions))
    return found


def _odd(cost: checking.Cost, proposal: Proposal) -> dict[str, None]:
    """Return the linear factors of what roots are taken of."""
    space = Space([], cost.betas, 0)
    found = (p for b in proposal.bounds for p, _ in space.read(b.q).top.factor()[1])
    linear = [p for p in found if p.total_degree() == 1 and proposal.weights]
    return dict.fromkeys(text_of(space.of(p)) for p in linear)


def _side(cost: checking.Cost, proposal: Proposal, text: str | None, where: list[str]) -> JSON:
    at = _point(cost, where)
    side: JSON = {"where": where, "at": at, "definitions": [], "bounds": [], "weights": None}
    if text is None:
        return side
    roots = Roots(cost.betas, at, proposal.degree)
    roots.read(text)
    for bound in proposal.bounds:
        n = len(bound.parts) * bound.power
        root = bound.q if n == 1 else roots.power(bound.q, Fraction(1, n))
        root = text_of(roots.space.read(root))
        side["bounds"].append({**bound._asdict(), "root": root})
    if proposal.weights is not None:
        found = proposal.weights(roots).items()
        side["weights"] = {w: text_of(roots.space.read(text)) for w, text in found}
    return {**side, "definitions": roots.entries}


def _point(cost: checking.Cost, where: Sequence[str]) -> dict[str, str]:
    """Return beta in small numbers that satisfy conditions."""
    numbers = (3, -3, 2, -2, 7, -7, 12, -12, 21, -21)
    for values in islice(product(numbers, repeat=len(cost.betas)), POINTS):
        if len({*map(abs, values)}) < len(values):
            continue  # where forms are likely to vanish
        space = Space([], cost.betas, 0)
        space.start = [fmpq(x) for x in values]
        try:
            Conditions(space, where)
        except Rejected:
            continue
        return {b: str(x) for b, x in zip(cost.betas, values, strict=True)}
    raise Rejected("no beta was found on a side")
