"""Write down why beta moves as from another start: functions whose slopes are linear in them."""

from __future__ import annotations

from collections.abc import Sequence

from derive.certificate.checking.text import JSON
from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import dot, nullspace_over_constants
from derive.model.equivalent_start import closed_span
from derive.model.parameterization import Parameterization


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
