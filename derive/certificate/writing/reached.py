"""Write down why all beta of coupled outputs are reached, or move as from another start."""

from __future__ import annotations

from collections.abc import Sequence

from derive.certificate.checking.text import JSON
from derive.exact.field.factors import factors
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.implicitization import Coordinates, find_relation
from derive.exact.linear.matrix import determinant, dot, nullspace_over_constants
from derive.model.equivalent_start import closed_span
from derive.model.parameterization import Parameterization
from derive.potential.branch import stays_away_from_zero
from derive.potential.half_spaces import HIGHEST
from derive.records import Block


def lift(block: Block, betas: Sequence[str], before: int) -> JSON:
    """Return relations of |w|^2 and of the factors of det K with beta and the laws, or {}.

    The laws are "_1", "_2", ...; those of this block come after *before* others.
    """
    p, laws = block.metric.parameterization, block.metric.conserved.laws
    named = list(zip(betas, p.F, strict=True))
    named += [(f"_{n}", law) for n, law in enumerate(laws, before + 1)]
    coordinates = Coordinates.of(named)
    square = _relation(sum((w * w for w in p.w), p.field.zero), coordinates)
    met = (f for f, _ in factors(determinant(block.metric.K)))
    met = (f for f in met if not stays_away_from_zero(block.metric, f))
    found = [{"is": repr(f), "zero": _relation(f, coordinates)} for f in met]
    whole = square is not None and all(entry["zero"] is not None for entry in found)
    return {"reached": {"square": square, "factors": found}} if whole else {}


def _relation(f: RationalFunction, coordinates: Coordinates) -> str | None:
    """Return P with P(f) = 0 as a text in "_x"."""
    relation = find_relation(f, coordinates, highest=HIGHEST)
    if relation is None:
        return None
    terms = enumerate(relation.coefficients)
    return " + ".join(f"({c!r})*_x**{n}" for n, c in terms if not c.is_zero())


def equivalence(p: Parameterization) -> JSON:
    """Return h_1, ..., h_n, of which the first are F, and C with X_a h_i = sum_j C_aij h_j.

    None where the weights that are idle from the start let no such functions be found.
    """
    span = closed_span(p)
    if span is None:
        return None
    h = tuple(span.values())
    gradients = [p.field.gradient(f) for f in h]
    slopes = [[_in_span(h, dot(x, gradient)) for gradient in gradients] for x in p.fields]
    return {"functions": [repr(f) for f in h], "slopes": slopes}


def _in_span(h: Sequence[RationalFunction], f: RationalFunction) -> list[str]:
    """Return the constants c with f = sum_j c_j h_j."""
    ((*c, own),) = nullspace_over_constants([(x,) for x in (*h, f)])
    return [repr(-x / own) for x in c]
