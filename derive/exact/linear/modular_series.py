"""Power series modulo a prime: a function along a flow."""

from __future__ import annotations

from collections.abc import Sequence

from flint import nmod_poly

from derive.exact.field.function_field import RationalFunction
from derive.exact.field.polynomial import Polynomial, terms
from derive.exact.linear.modular import PRIME, Pole, inverse


def series_along(
    flow: Sequence[RationalFunction], function: RationalFunction, start: Sequence[int], order: int
) -> tuple[int, ...]:
    """Return Taylor coefficients modulo the prime of function(w(t)), w' = flow, w(0) = start.

    All variables of the field move: the flow has a component for each, generators too.

    Picard iteration on truncated power series; a coefficient that is not 0 is not 0 over Q.

    Raises:
        Pole: the start is a pole of the field or of the function, modulo the prime.
    """
    initial = [x % PRIME for x in start]
    weights = [nmod_poly([x], PRIME) for x in initial]
    for known in range(1, order):
        slopes = [_along(component, weights, known) for component in flow]
        weights = [
            nmod_poly([x, *(c * inverse(k + 1) for k, c in enumerate(_list(slope, known)))], PRIME)
            for x, slope in zip(initial, slopes, strict=True)
        ]
    return tuple(_list(_along(function, weights, order), order))


def _along(function: RationalFunction, weights: Sequence[nmod_poly], order: int) -> nmod_poly:
    top = _polynomial_along(function.numerator, weights, order)
    if function.denominator.is_one():
        return top
    bottom = _polynomial_along(function.denominator, weights, order)
    if int(bottom[0]) == 0:
        raise Pole
    return top.mul_low(bottom.inverse_series_trunc(order), order)


def _polynomial_along(
    polynomial: Polynomial, weights: Sequence[nmod_poly], order: int
) -> nmod_poly:
    total = nmod_poly([0], PRIME)
    for exponents, coefficient in terms(polynomial):
        product = nmod_poly([coefficient % PRIME], PRIME)
        for w, e in zip(weights, exponents, strict=True):
            if e:
                product = product.mul_low(w.pow_trunc(e, order), order)
        total += product
    return total


def _list(polynomial: nmod_poly, size: int) -> list[int]:
    coefficients = [int(c) for c in polynomial.coeffs()[:size]]
    return coefficients + [0] * (size - len(coefficients))
