"""Another start w_1 from which beta moves as from w_0, so that w_1 may stand for w_0.

Functions h_1, ..., h_n, of which the first are F, with X_a h_i = sum_j C_aij h_j for constants C
obey h' = sum_a lambda_a C_a h under every steering lambda, a linear equation. With h(w_0) = h(w_1)
all h, and so beta, take the same values along both flows.
"""

from __future__ import annotations

from collections.abc import Sequence

from derive.certificate.checking.function import Function
from derive.certificate.checking.space import Space
from derive.certificate.checking.text import JSON, require


def move_start(space: Space, F: Sequence[Function], given: JSON, certificate: JSON) -> bool:
    """Put w_1 for w_0; tell whether the certificate shows by some h and C that beta moves alike."""
    weights, start = given["weights"], given["equivalent_start"]
    plain = all(space.is_of_constants(call.argument) for call in space.known)
    plain = plain and "vector" not in given and not set(weights) & set(given["positive"])
    require(plain, "a start is put for another where F has calls, or signs of weights are given")
    require(set(start) == set(weights), "the equivalent start does not give every weight")
    other = [space.read(start[w]) for w in weights]
    require(all(map(space.is_of_constants, other)), "the equivalent start uses a weight")
    if (proof := certificate["equivalence"]) is not None:
        h = [space.read(text) for text in proof["functions"]]
        _is_linear(space, F, h, proof["slopes"])
        at_both = ((f.into(space.w0), f.into(other)) for f in h)
        require(all((x - y).is_zero() for x, y in at_both), "the starts are not equivalent")
    space.w0 = other
    space.start = space.started(certificate["at"])
    return proof is not None


def _is_linear(space: Space, F: Sequence[Function], h: Sequence[Function], C: JSON) -> None:
    """Require that h starts with F, and that the derivatives of h are linear in h."""
    require(all((f - x).is_zero() for f, x in zip(F, h[: len(F)], strict=True)), "h leaves out F")
    divisors = [Function(space, f.bottom, space.one) for f in h]
    require(all(map(space.is_of_constants, divisors)), "h is no polynomial in the weights")
    for x, rows in zip(space.fields, C, strict=True):
        for f, row in zip(h, rows, strict=True):
            c = [space.read(text) for text in row]
            require(all(map(space.is_of_constants, c)), "a coefficient of h is not constant")
            terms = (a * b for a, b in zip(c, h, strict=True))
            left = sum(terms, space.number(0)) - space.along(x, f)
            require(left.is_zero(), "a derivative of h is not the given combination")
