"""Polynomials in two functions of the weights that a flow conserves."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from derive.exact.field.function_field import RationalFunction
from derive.exact.linear.matrix import dot
from derive.exact.linear.modular import PRIME, Evaluator, nullspace
from derive.exact.linear.monomials import Grading, extend


def conserved_polynomial(
    flow: Sequence[RationalFunction], f: RationalFunction, g: RationalFunction
) -> dict[tuple[int, int], int] | None:
    """Return a polynomial C(f, g), as {(i, j): c_ij}, that is constant along a field, or None.

    It contains f, has no constant term, and is accepted by <grad C, flow> = 0 expanded exactly.
    """
    field = f.field
    slopes = [dot(flow, field.gradient(x)) for x in (f, g)]
    grading = Grading.of((f, g))
    evaluators = [Evaluator(x) for x in (f, g, *slopes)]
    samples: list[tuple[int, ...]] = []
    rng = Random(6)
    for total in range(1, (24 if grading.exact else 10) + 1):
        exponents = [(i, j) for i, j in grading.monomials(total) if i or j]
        if all(i == 0 for i, _ in exponents):
            continue
        extend(samples, len(exponents) + 4, evaluators, field, rng)
        rows = [[_slope(i, j, s) for i, j in exponents] for s in samples[: len(exponents) + 4]]
        for vector in sorted(nullspace(rows), key=lambda v: sum(map(bool, v))):
            found = {e: c for e, c in zip(exponents, vector, strict=True) if c}
            if _is_conserved(found, f, g, slopes):
                return found
    return None


def _slope(i: int, j: int, sample: Sequence[int]) -> int:
    f, g, df, dg = sample
    left = i * pow(f, i - 1, PRIME) * df * pow(g, j, PRIME) if i else 0
    right = j * pow(g, j - 1, PRIME) * dg * pow(f, i, PRIME) if j else 0
    return (left + right) % PRIME


def _is_conserved(
    polynomial: dict[tuple[int, int], int],
    f: RationalFunction,
    g: RationalFunction,
    slopes: Sequence[RationalFunction],
) -> bool:
    """Tell whether a polynomial in f, with f in it, has no slope along the flow."""
    if all(i == 0 for i, _ in polynomial):
        return False
    total = f.field.zero
    for (i, j), c in polynomial.items():
        if i:
            total += c * i * f ** (i - 1) * g**j * slopes[0]
        if j:
            total += c * j * f**i * g ** (j - 1) * slopes[1]
    return total.is_zero()
